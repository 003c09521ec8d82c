"""Passages, vectors and facts go from one knowledge base to another, and facts from other systems into one."""

import json
import logging
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest
from conftest import DOCUMENTS
from fakes import ArithmeticEmbeddings
from test_cli import run

from langgraph_rag import KnowledgeBase
from langgraph_rag.errors import DocumentError, UnknownNameError
from langgraph_rag.exchange import Form, export, import_from

STATED = ["The Salt Road", "was produced by", "Casper Holm"]
INVENTED = ["The Salt Road", "was produced by", "Ines Barrow"]


@pytest.fixture
def other(tmp_path: Path, embeddings: ArithmeticEmbeddings) -> Iterator[KnowledgeBase]:
    with KnowledgeBase.open(tmp_path / "other", embeddings) as kb:
        yield kb


@pytest.mark.parametrize("form", ["jsonl", "parquet"])
def test_an_export_is_imported_as_it_was(kb: KnowledgeBase, tmp_path: Path, form: Form) -> None:
    if form == "parquet":
        pytest.importorskip("pyarrow")
    tern = {"id": "tern", "text": "The Arctic tern is a seabird.", "year": 2020, "tags": ["a", "b"]}
    kb.add([{**tern, "source": "birds.md"}, {**tern, "source": "terns.md", "year": 2021}], progress=False)
    kb.add([{"title": "Long", "text": "The long word stands here. " * 200, "source": "long.md"}], progress=False)
    written, counting = export(kb, tmp_path / "out", form), ArithmeticEmbeddings()

    with KnowledgeBase.open(tmp_path / "other", counting) as copy:
        added = import_from(copy, tmp_path / "out", progress=False)
        assert added["added"] == len(kb.ids()) == written["vectors"] == written["passages"] - 1
        assert len(counting.embedded) <= 2  # the probe, and the first passage to compare
        assert sorted(copy.ids()) == sorted(kb.ids())
        assert {one["id"]: one for one in copy.passages(kb.ids())} == {one["id"]: one for one in kb.passages(kb.ids())}
        assert copy.sources() == kb.sources()
        assert copy.passages(["tern"], filter={"source": "terns.md"})[0]["metadata"]["year"] == 2021
        for id_, vector in kb.vectors(kb.ids()).items():
            assert copy.vectors([id_])[id_] == pytest.approx(vector, abs=1e-6)
        assert copy.triples(kb.ids()) == kb.triples(kb.ids())
        (first, *_) = kb.ids("long.md")
        assert [one["id"] for one in copy.neighbours(first)] == [one["id"] for one in kb.neighbours(first)]


def test_facts_in_an_export_have_their_sentences(kb: KnowledgeBase, tmp_path: Path) -> None:
    export(kb, tmp_path / "out")
    rows = [json.loads(line) for line in (tmp_path / "out" / "facts.jsonl").read_text(encoding="utf-8").splitlines()]

    produced = next(row for row in rows if row["passage_id"] == "salt-road" and row["tail"] == "Casper Holm")
    assert produced["sentences"] == ["It was produced by Casper Holm."]
    assert produced["extractor"] == kb.extractor.version


def test_facts_of_another_extractor_are_kept_under_its_name(
    kb: KnowledgeBase, other: KnowledgeBase, tmp_path: Path
) -> None:
    write(tmp_path / "mine.jsonl", [{"passage_id": "salt-road", "triples": [STATED]}])
    import_from(kb, tmp_path / "mine.jsonl", progress=False)
    export(kb, tmp_path / "out")
    import_from(other, tmp_path / "out", progress=False)

    assert other.extractor.version == kb.extractor.version != "rules"
    assert other.triples(kb.ids()) == kb.triples(kb.ids())


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("mine.jsonl", [{"passage_id": "salt-road", "entities": [], "triples": [STATED, INVENTED, ["odd"]]}]),
        (
            "rows.jsonl",
            [
                dict(zip(("passage_id", "head", "relation", "tail"), ["salt-road", *t], strict=True))
                for t in (STATED, INVENTED)
            ],
        ),
        (
            "openie_results_ner_x.json",
            {
                "docs": [
                    {
                        "idx": "chunk-1",
                        "passage": f"The Salt Road\n{DOCUMENTS[1]['text']}",
                        "extracted_entities": ["The Salt Road"],
                        "extracted_triples": [STATED, INVENTED],
                    }
                ],
                "avg_ent_chars": 3.5,
            },
        ),
    ],
)
def test_facts_from_elsewhere_are_checked_like_all_others(
    kb: KnowledgeBase, tmp_path: Path, name: str, content: Any
) -> None:
    write(tmp_path / name, content)

    added = import_from(kb, tmp_path / name, name="theirs", progress=False)

    assert added["dropped"] == 1
    assert kb.extractor.version.startswith("theirs-")
    (fact,) = kb.triples(["salt-road"])
    assert fact["triple"] == STATED
    assert fact["sources"] == [{"passage_id": "salt-road", "sentences": [1]}]
    assert kb.triples(["vint"])  # by rules
    with KnowledgeBase.open(kb.path, ArithmeticEmbeddings(), read_only=True) as again:
        assert [entry["triple"] for entry in again.triples(["salt-road"])] == [STATED]


@pytest.mark.parametrize(
    ("row", "told"),
    [
        ({"passage_id": "nobody", "triples": [STATED, INVENTED]}, "2 facts of 1 passage that are not stored"),
        ({"id": "gone", "triples": [STATED]}, "1 fact of 1 passage that are not stored were left out: 'gone'"),
        ({"passage": "Nowhere at all", "extracted_triples": [STATED]}, "left out: 'Nowhere at all ...'"),
    ],
)
def test_facts_of_passages_that_are_not_stored_are_counted(
    kb: KnowledgeBase, tmp_path: Path, row: dict[str, Any], told: str, caplog: pytest.LogCaptureFixture
) -> None:
    write(tmp_path / "mine.jsonl", [{"passage_id": "salt-road", "triples": [STATED]}, row])

    import_from(kb, tmp_path / "mine.jsonl", progress=False)

    assert told in caplog.text


@pytest.mark.parametrize(
    ("name", "content", "told"),
    [
        ("facts.jsonl", "{", "cannot be read"),
        ("facts.jsonl", [[1]], "row 1"),
        ("facts.jsonl", [{"passage_id": "vint", "triples": "x"}], "row 1: triples"),
        ("facts.jsonl", [{"passage_id": "nobody", "triples": [STATED]}], "none of those that are stored"),
        ("facts.json", [{"passage": "Nowhere", "extracted_triples": [STATED]}], "none of those that are stored"),
        ("facts.jsonl", [], "none of those that are stored"),
    ],
)
def test_what_cannot_be_imported_is_an_error(
    kb: KnowledgeBase, tmp_path: Path, name: str, content: Any, told: str
) -> None:
    write(tmp_path / name, content)
    with pytest.raises(DocumentError, match=told):
        import_from(kb, tmp_path / name)
    with pytest.raises(DocumentError, match="no export"):
        import_from(kb, tmp_path)
    with pytest.raises(DocumentError, match="cannot be read"):
        import_from(kb, tmp_path / "missing.jsonl")


def test_vectors_of_another_embedder_are_made_anew(
    kb: KnowledgeBase, other: KnowledgeBase, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    export(kb, tmp_path / "out")
    write(tmp_path / "out" / "vectors.jsonl", [{"id": id_, "vector": [1.0, 0.0]} for id_ in kb.ids()])
    with caplog.at_level(logging.WARNING):
        import_from(other, tmp_path / "out", progress=False)

    assert "embedded again" in caplog.text
    for id_, vector in kb.vectors(kb.ids()).items():
        assert np.allclose(other.vectors([id_])[id_], vector, atol=1e-6)


def test_an_export_overwrites_nothing_and_has_known_forms(kb: KnowledgeBase, tmp_path: Path) -> None:
    with pytest.raises(DocumentError, match="exists already"):
        export(kb, tmp_path)
    with pytest.raises(UnknownNameError):
        export(kb, tmp_path / "out", "csv")  # type: ignore[arg-type]


def test_the_commands_export_and_import(kb: KnowledgeBase, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    kb.close()
    monkeypatch.setattr("langgraph_rag.cli.exchanging.embedder_of", lambda *_: ArithmeticEmbeddings())

    assert "8 passages, 8 vectors" in run("export", tmp_path / "out", "--kb", kb.path).stdout
    assert "8 passages added" in run("import", tmp_path / "out", "--kb", tmp_path / "new").stdout
    run("export", tmp_path / "facts.graphml", "--kb", kb.path, "--format", "graphml")
    assert ElementTree.parse(tmp_path / "facts.graphml").getroot().tag.endswith("graphml")


def write(file: Path, content: Any) -> None:
    if isinstance(content, list) and file.suffix == ".jsonl":
        content = "".join(json.dumps(row) + "\n" for row in content)
    file.write_text(content if isinstance(content, str) else json.dumps(content), encoding="utf-8")
