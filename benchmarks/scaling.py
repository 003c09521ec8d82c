"""Measures the cost of adding, opening, searching and asking as a knowledge base grows.

python benchmarks/scaling.py ROOT

The passages of the data sets in ROOT are repeated as needed, each time with other names in them. They are embedded by
hashes of their words, which takes almost no time; `indexing.py` measures embedding.
"""

import argparse
import json
import os
import re
import statistics
import subprocess
import sys
import zlib
from collections.abc import Callable, Iterator
from functools import lru_cache, partial
from itertools import count, islice
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
from langchain_core.embeddings import Embeddings
from langchain_core.language_models import BaseChatModel
from measuring import corpus, questions, report, timed

from langgraph_rag import KnowledgeBase, load_model
from langgraph_rag.methods import METHODS, create

_SIZES = (5_000, 20_000, 80_000)
_QUESTIONS = 12
_NAME = re.compile(r"\b[A-Z][a-z]{3,}\b")
Seconds = dict[str, float]


class HashEmbeddings(Embeddings):
    """The mean of a random vector for each word."""

    model_name = "hashes"

    def embed_query(self, text: str) -> list[float]:
        """Embed one text."""
        words = text.lower().split()[:128] or [""]
        vector: list[float] = np.mean([_vector(word) for word in words], axis=0).tolist()
        return vector

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        """Embed texts."""
        return [self.embed_query(text) for text in texts]


def main() -> None:
    """Run the benchmark, each size in its own process."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("root", type=Path, help="folder with data sets, each with corpus.jsonl and questions.jsonl")
    parser.add_argument("--sizes", type=int, nargs="+", default=_SIZES, help="passages")
    parser.add_argument("--one", action="store_true", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.one:
        print(json.dumps(_grown(arguments.root, arguments.sizes[0])))
        return
    done = {}
    for size in arguments.sizes:
        command = [sys.executable, __file__, str(arguments.root), "--sizes", str(size), "--one"]
        done[size] = json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout)
        print(f"{size} passages: done", file=sys.stderr)
    rows = [(what, *(f"{done[size][what]:.3g}" for size in done)) for what in done[arguments.sizes[0]]]
    report(
        "scaling",
        arguments.root,
        {str(size): measured for size, measured in done.items()},
        [("figure", " / ".join(map(str, done)), ""), *((what, " / ".join(values), "") for what, *values in rows)],
    )


def _grown(root: Path, size: int) -> Seconds:
    """Measure a knowledge base with a number of passages, in the order of a user's steps."""
    folders = sorted(file.parent for file in root.glob("*/corpus.jsonl"))
    asked, llm = questions(folders[0], _QUESTIONS), load_model("offline")
    documents = list(islice(repeated(folders), size))
    found: Seconds = {}
    with TemporaryDirectory() as folder:
        with KnowledgeBase.open(folder, HashEmbeddings()) as kb:
            found["adding a passage, ms"] = timed(lambda: kb.add(documents, progress=False)) * 1000 / size
        found["opening, s"] = timed(lambda: KnowledgeBase.open(folder, HashEmbeddings()).close())
        kb = KnowledgeBase.open(folder, HashEmbeddings())
        kb.search("what is loaded once")
        found["hybrid search, ms"] = 1000 * _median(lambda question: kb.search(question, by="hybrid"), asked)
        found["entity graph, s"] = timed(lambda: kb.entities)
        found["graph search, ms"] = 1000 * _median(lambda question: kb.search(question, by="graph"), asked)
        found["hierarchy graph, s"] = timed(lambda: kb.hierarchy)
        for name in METHODS:
            ask = _asking(name, llm, kb)
            ask(asked[0])
            found[f"{name}, ms"] = 1000 * _median(ask, asked[1:])
        found["deleting a passage, ms"] = 1000 * timed(lambda: kb.delete([documents[0]["id"]]))
        found["adding it again, ms"] = 1000 * timed(lambda: kb.add(documents[:1], progress=False))
        found["mgranrag after a change, s"] = timed(partial(_asking("mgranrag", llm, kb), asked[0]))
        kb.delete([documents[0]["id"]])
        found["cirag after a change, s"] = timed(partial(_asking("cirag", llm, kb), asked[0]))
        found["adding all again, s"] = timed(lambda: kb.add(documents, progress=False))
        found["memory, GiB"] = _memory()
        kb.close()
        found["on disk, GiB"] = sum(file.stat().st_size for file in Path(folder).rglob("*") if file.is_file()) / 2**30
    return {what: round(value, 3) for what, value in found.items()}


def _asking(name: str, llm: BaseChatModel, kb: KnowledgeBase) -> Callable[[str], object]:
    graph = create(name, llm, kb).compile()
    return lambda question: graph.invoke({"question": question})


def repeated(folders: list[Path]) -> Iterator[dict[str, str]]:
    """Yield the passages of the data sets repeatedly, with other names each time."""
    passages = [
        {**document, "id": f"{folder.name} {document['id']}"} for folder in folders for document in corpus(folder)
    ]
    for turn in count():
        ending = "aeiou"[turn % 5] * (turn // 5 + 1) if turn else ""
        for passage in passages:
            yield {
                "id": f"{turn} {passage['id']}",
                "title": _NAME.sub(rf"\g<0>{ending}", passage["title"]),
                "text": _NAME.sub(rf"\g<0>{ending}", passage["text"]),
            }


@lru_cache(maxsize=200_000)
def _vector(word: str) -> "np.ndarray[tuple[int], np.dtype[np.float64]]":
    return np.random.default_rng(zlib.crc32(word.encode())).standard_normal(384)


def _median(ask: Callable[[str], object], asked: list[str]) -> float:
    return statistics.median(timed(partial(ask, question)) for question in asked)


def _memory() -> float:
    """Return the memory of this process in GiB; 0 if the system does not report it."""
    status = Path("/proc/self/statm")
    pages = int(status.read_text(encoding="utf-8").split()[1]) if status.exists() else 0
    return pages * os.sysconf("SC_PAGE_SIZE") / 2**30


if __name__ == "__main__":
    main()
