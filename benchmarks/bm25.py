"""Compares the word index with FTS5's own BM25, tantivy, bm25s and an earlier checkout of this package, as it grows.

python benchmarks/bm25.py ROOT --before CHECKOUT   (after: pip install tantivy bm25s)

The passages of the data sets in ROOT are repeated as needed, each time with other names in them. Each candidate makes
its files in one process and answers in another one: all questions twice, and once more after a passage was added. Times
are of the processor, as other programs disturb all others. What is not installed or not given is left out.
"""
# ruff: noqa: D102 - described at `Candidate`

import argparse
import json
import os
import sqlite3
import statistics
import subprocess
import sys
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from importlib import import_module
from importlib.util import find_spec
from itertools import islice
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from measuring import data_sets, questions, report
from scaling import repeated

from langgraph_rag.records import Record, ids_of

_SIZES = (20_000, 80_000)
_QUESTIONS = 100
_DEPTH = 50
_AT_ONCE = 2_000  # passages
_FTS5 = """
SELECT id FROM (SELECT rowid AS found, bm25(words, 3.0, 1.0) AS score FROM words WHERE words MATCH ?)
JOIN passages ON number = found ORDER BY score, id LIMIT ?
"""
_WORDS = """
CREATE TABLE passages (number INTEGER PRIMARY KEY, id TEXT);
CREATE VIRTUAL TABLE words USING fts5(title, text, content='',
    tokenize="porter unicode61 remove_diacritics 2 categories 'L* N* Co Mn Mc'");
"""
Passage = dict[str, str]


class Candidate(ABC):
    """Makes files of passages in a folder, and answers questions from them."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.load()

    @abstractmethod
    def load(self) -> None:
        """Import what it needs, which is not measured."""

    @abstractmethod
    def make(self, passages: Iterator[Passage]) -> None:
        """Make the files."""

    @abstractmethod
    def open(self) -> None:
        """Open the files."""

    @abstractmethod
    def ask(self, question: str) -> list[str]:
        """Return the ids of the first passages."""

    @abstractmethod
    def add(self, passage: Passage) -> None:
        """Add a passage."""


class Package(Candidate):
    """This package, or an earlier checkout of it."""

    def load(self) -> None:
        if find_spec("langgraph_rag.tools.stores"):
            from langgraph_rag.tools.index import words
            from langgraph_rag.tools.stores import records

            self._kind: Any = records.RecordStore
            words.words_to_search("what is loaded once")
        else:
            from langgraph_rag.tools.storage import record_store  # type: ignore[import-not-found]

            self._kind = record_store.RecordStore
            record_store.words_to_search("what is loaded once")

    def _store(self) -> Any:
        store = self._kind(self.folder / "records.sqlite")
        if hasattr(store, "written_by"):
            store.written_by(lambda: True)
        return store

    def make(self, passages: Iterator[Passage]) -> None:
        store = self._store()
        while some := list(islice(passages, _AT_ONCE)):
            self._insert(store, some)
        store.bm25("what is made", 1)
        store.close()

    def _insert(self, store: Any, some: Sequence[Passage]) -> None:
        records = [Record(**one, hash=one["id"], sentences=[], phrases=[]) for one in some]  # type: ignore[typeddict-item]
        store.insert(records, np.zeros((len(records), 1), np.float32))

    def open(self) -> None:
        self._opened = self._store()

    def ask(self, question: str) -> list[str]:
        return ids_of(self._opened.bm25(question, _DEPTH))

    def add(self, passage: Passage) -> None:
        self._insert(self._opened, [passage])


class Fts5(Candidate):
    """SQLite's FTS5 with its own function, with the words of this package."""

    def load(self) -> None:
        from langgraph_rag.tools.index import words

        self._words = words
        words.words_to_search("what is loaded once")

    def make(self, passages: Iterator[Passage]) -> None:
        self.open()
        self._connection.executescript(_WORDS)
        for number, passage in enumerate(passages):
            self._insert(number, passage)
        self._connection.commit()
        self._connection.close()

    def _insert(self, number: int, passage: Passage) -> None:
        title = self._words.title_to_index(passage["title"], passage["text"]) or passage["title"]
        words = (number, title, self._words.words_to_index(passage["text"]) or passage["text"])
        self._connection.execute("INSERT INTO words (rowid, title, text) VALUES (?, ?, ?)", words)
        self._connection.execute("INSERT INTO passages VALUES (?, ?)", (number, passage["id"]))

    def open(self) -> None:
        self._connection = sqlite3.connect(self.folder / "words.sqlite")
        self._connection.execute(f"PRAGMA mmap_size={2**30}")

    def ask(self, question: str) -> list[str]:
        words = " OR ".join(f'"{word}"' for word in self._words.words_to_search(question))
        return [id_ for (id_,) in self._connection.execute(_FTS5, (words, _DEPTH))]

    def add(self, passage: Passage) -> None:
        self._insert(2**31, passage)
        self._connection.commit()


class Tantivy(Candidate):
    """tantivy with its English stemmer."""

    def load(self) -> None:
        self._library: Any = import_module("tantivy")

    def make(self, passages: Iterator[Passage]) -> None:
        schema = self._library.SchemaBuilder()
        schema.add_text_field("id", stored=True, tokenizer_name="raw")
        for field in ("title", "text"):
            schema.add_text_field(field, tokenizer_name="en_stem")
        writer = self._library.Index(schema.build(), str(self.folder)).writer()
        for passage in passages:
            writer.add_document(self._library.Document(**passage))
        writer.commit()
        writer.wait_merging_threads()

    def open(self) -> None:
        self._index = self._library.Index.open(str(self.folder))

    def ask(self, question: str) -> list[str]:
        plain = "".join(one if one.isalnum() else " " for one in question)  # its parser drops text after some marks
        query, _ = self._index.parse_query_lenient(plain, ["title", "text"], {"title": 3.0})
        searcher = self._index.searcher()
        return [str(searcher.doc(at)["id"][0]) for _, at in searcher.search(query, _DEPTH).hits]

    def add(self, passage: Passage) -> None:
        writer = self._index.writer()
        writer.add_document(self._library.Document(**passage))
        writer.commit()
        self._index.reload()


class Bm25s(Candidate):
    """bm25s, memory-mapped; it makes all files again for one passage."""

    def load(self) -> None:
        self._library: Any = import_module("bm25s")

    def make(self, passages: Iterator[Passage]) -> None:
        every = list(passages)
        texts = [" ".join([*([one["title"]] * 3), one["text"]]) for one in every]
        retriever = self._library.BM25(k1=1.2, b=0.75)
        retriever.index(self._library.tokenize(texts, show_progress=False), show_progress=False)
        retriever.save(str(self.folder), corpus=[{"id": one["id"]} for one in every])
        (self.folder / "every.json").write_text(json.dumps(every), encoding="utf-8")

    def open(self) -> None:
        self._retriever = self._library.BM25.load(str(self.folder), mmap=True, load_corpus=True)

    def ask(self, question: str) -> list[str]:
        found, scores = self._retriever.retrieve(
            self._library.tokenize(question, show_progress=False), k=_DEPTH, show_progress=False
        )
        return [one["id"] for one, score in zip(found[0], scores[0], strict=True) if score > 0]

    def add(self, passage: Passage) -> None:
        every = json.loads((self.folder / "every.json").read_text(encoding="utf-8"))
        self.make(iter([*every, passage]))
        self.open()


_CANDIDATES: dict[str, Callable[[Path], Candidate]] = {
    "ours": Package,
    "before": Package,
    "fts5": Fts5,
    "tantivy": Tantivy,
    "bm25s": Bm25s,
}


def main() -> None:
    """Run the benchmark, each step of each candidate in its own process."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("root", type=Path, help="folder with data sets, each with corpus.jsonl and questions.jsonl")
    parser.add_argument("--sizes", type=int, nargs="+", default=_SIZES, help="passages")
    parser.add_argument("--before", type=Path, help="an earlier checkout of this package")
    parser.add_argument("--step", nargs=2, help=argparse.SUPPRESS)  # of a candidate, in a folder of the rest
    arguments = parser.parse_args()
    if arguments.step:
        name, step = arguments.step
        print(json.dumps(_STEPS[step](_CANDIDATES[name], arguments.root, name)))
        return
    names = [name for name in _CANDIDATES if name in ("ours", "fts5") or find_spec(name)]
    names += ["before"] if arguments.before else []
    every = [question for folder in data_sets(arguments.root) for question in questions(folder)]
    asked = every[:: max(1, len(every) // _QUESTIONS)]
    figures: dict[str, dict[str, dict[str, Any]]] = {}
    for size in arguments.sizes:
        with TemporaryDirectory() as temporary:
            folder = Path(temporary)
            (folder / "questions.json").write_text(json.dumps(asked), encoding="utf-8")
            with (folder / "passages.jsonl").open("w", encoding="utf-8") as file:
                for passage in islice(repeated(data_sets(arguments.root)), size + 1):
                    file.write(json.dumps(passage) + "\n")
            done = figures[str(size)] = dict[str, dict[str, Any]]()
            for name in names:
                done[name] = {}
                for step in _STEPS:
                    done[name] |= _run(folder, name, step, arguments.before)
                print(f"{size} passages, {name}: {done[name] | {'found': '...'}}", file=sys.stderr)
            first = done["fts5"].pop("found")
            for of in done.values():
                found = of.pop("found", first)
                of["same order, % of questions"] = 100 * statistics.mean(
                    one == other for one, other in zip(first, found, strict=True)
                )
    rows = [
        (f"{size} passages: {what}", " / ".join(f"{of[what]:.3g}" for of in done.values()), "")
        for size, done in figures.items()
        for what in done["ours"]
    ]
    report("bm25", arguments.root, figures, [("figure", " / ".join(names), ""), *rows])


def _run(folder: Path, name: str, step: str, before: Path | None) -> dict[str, Any]:
    path = [str(before)] if name == "before" else [str(Path(__file__).parents[1])]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([*path, *os.environ.get("PYTHONPATH", "").split(":")])}
    command = [sys.executable, __file__, str(folder), "--step", name, step]
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True, env=environment)
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return found


def _make(kind: Callable[[Path], Candidate], root: Path, name: str) -> dict[str, Any]:
    (root / name).mkdir()
    started = time.process_time()
    kind(root / name).make(islice(_passages(root), _count(root) - 1))
    seconds = time.process_time() - started
    size = sum(file.stat().st_size for file in (root / name).rglob("*") if file.name not in ("every.json",))
    return {"making the files, ms a passage": 1000 * seconds / _count(root), "files, MB": size / 1e6}


def _ask(kind: Callable[[Path], Candidate], root: Path, name: str) -> dict[str, Any]:
    asked, (*_, last) = json.loads((root / "questions.json").read_text(encoding="utf-8")), _passages(root)
    candidate = kind(root / name)
    before, started = _memory(), time.process_time()
    candidate.open()
    candidate.ask(asked[0])
    opened = time.process_time() - started
    times: list[list[float]] = [[], []]
    for of in times:
        found = []
        for question in asked:
            started = time.process_time()
            found.append(candidate.ask(question))
            of.append(1000 * (time.process_time() - started))
    memory = [now - was for now, was in zip(_memory(), before, strict=True)]
    started = time.process_time()
    candidate.add(last)
    added = time.process_time()
    candidate.ask(asked[0])
    return {
        "opening and a question, ms": 1000 * opened,
        "a question, ms": statistics.mean(times[0]),
        "the same again, ms": statistics.mean(times[1]),
        "memory with mapped files, MB": memory[0],
        "memory of its own, MB": memory[1],
        "adding a passage, ms": 1000 * (added - started),
        "a question after it, ms": 1000 * (time.process_time() - added),
        "found": found,
    }


_STEPS = {"make": _make, "ask": _ask}


def _passages(root: Path) -> Iterator[Passage]:
    with (root / "passages.jsonl").open(encoding="utf-8") as file:
        yield from map(json.loads, file)


def _count(root: Path) -> int:
    return sum(1 for _ in _passages(root))


def _memory() -> tuple[float, float]:
    """Return the resident memory of this process, and that which is not of mapped files, in MB."""
    fields = dict(line.split(":", 1) for line in Path("/proc/self/status").read_text(encoding="utf-8").splitlines())
    return int(fields["VmRSS"].split()[0]) / 1e3, int(fields["RssAnon"].split()[0]) / 1e3


if __name__ == "__main__":
    main()
