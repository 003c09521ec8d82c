"""Every store passes the suite that the package has for those of others."""

from collections.abc import Iterator
from hashlib import blake2b
from pathlib import Path
from typing import Any
from uuid import NAMESPACE_URL, uuid5

import pytest
import pytest_socket
from langchain_core.vectorstores import InMemoryVectorStore
from servers import ChromaServer

from langgraph_rag.testing import KnowledgeBaseTests, RecordStoreTests, VectorCollectionTests, WordEmbeddings
from langgraph_rag.tools.knowledge_base import KnowledgeBase
from langgraph_rag.tools.stores.chroma import VectorIndex, in_folder, on_server
from langgraph_rag.tools.stores.postgres import PostgresDatabase, PostgresRecords, PostgresVectors
from langgraph_rag.tools.stores.protocols import PassageStore, VectorCollection
from langgraph_rag.tools.stores.records import RecordStore
from langgraph_rag.tools.stores.triples import TripleRecords
from langgraph_rag.tools.stores.vector_files import Collections, GivenVectors, LangChainCollection, VectorFiles


class _Passages:
    """The vectors of passages in a vector store, as a collection."""

    def __init__(self, store: Any, *held: Any) -> None:
        self.add, self.nearest, self.fetch, self.ids = store.put, store.search, store.passages, store.ids
        self.delete, self._held = store.delete, (store, *held)

    def close(self) -> None:
        for one in self._held:
            one.close()


class _Triples(_Passages):
    def __init__(self, store: Any, *held: Any) -> None:
        super().__init__(store, *held)
        self.add, self.nearest, self.ids = store.put_triples, store.search_triples, store.triple_ids
        self.fetch = TripleRecords(held[0]).vectors
        self.delete = lambda ids: store.delete([], ids)


class TestFiles(VectorCollectionTests):
    def open(self, folder: Path) -> VectorCollection:
        records = RecordStore(folder / "records.sqlite")
        return _Passages(VectorFiles(in_folder(folder / "chroma"), records.vector_changes), records)


@pytest.fixture(scope="module")
def chroma_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Name a Chroma server."""
    pytest_socket.enable_socket()
    server = ChromaServer(tmp_path_factory.mktemp("server"))
    server.start()
    yield server.url
    server.stop()


class _OnChromaServer:
    @pytest.fixture(autouse=True)
    def _server(self, chroma_server: str, localhost: None) -> None:
        self.url = chroma_server


class TestChromaServer(_OnChromaServer, VectorCollectionTests):
    def open(self, folder: Path) -> VectorCollection:
        records = RecordStore(folder / "records.sqlite")
        place = on_server(self.url, f"of-{blake2b(str(folder).encode(), digest_size=8).hexdigest()}")
        return _Passages(VectorIndex(place), records)


class TestKnowledgeBaseOnChromaServer(_OnChromaServer, KnowledgeBaseTests):
    def open(self, folder: Path) -> KnowledgeBase:
        return KnowledgeBase.open(folder, WordEmbeddings(), pipeline="rules", chroma=self.url)


class TestFileRecords(RecordStoreTests):
    def open(self, folder: Path) -> PassageStore:
        return RecordStore(folder / "records.sqlite")


def qdrant(folder: Path, name: str) -> LangChainCollection:
    from langchain_qdrant import QdrantVectorStore
    from qdrant_client import QdrantClient
    from qdrant_client.models import Distance, VectorParams

    client = QdrantClient(path=str(folder / name))
    if not client.collection_exists(name):
        client.create_collection(name, vectors_config=VectorParams(size=SIZES[name], distance=Distance.COSINE))
    store = QdrantVectorStore(client, name, embedding=GivenVectors(), validate_collection_config=False)

    def listed() -> list[str]:
        points, _ = client.scroll(name, limit=1_000_000, with_payload=False)
        return [str(point.id) for point in points]

    return LangChainCollection(store, listed, client.close, lambda id_: str(uuid5(NAMESPACE_URL, id_)))


SIZES = {"vectors": 24, "passages": 64, "facts": 64}


class TestQdrant(VectorCollectionTests):
    def open(self, folder: Path) -> VectorCollection:
        return qdrant(folder, "vectors")


KEPT: dict[Path, InMemoryVectorStore] = {}


class TestLangChainInMemory(VectorCollectionTests):
    def open(self, folder: Path) -> VectorCollection:
        store = KEPT.setdefault(folder, InMemoryVectorStore(GivenVectors()))
        return LangChainCollection(store, lambda: list(store.store))


class TestPostgresPassages(VectorCollectionTests):
    @pytest.fixture(autouse=True)
    def _server(self, database: str) -> None:
        self.database = database

    def open(self, folder: Path) -> VectorCollection:
        db = PostgresDatabase(self.database, f"kb_{folder.parent.name[-12:]}_{folder.name[-40:]}")
        return _Triples(PostgresVectors(db), db)


class TestPostgresRecords(RecordStoreTests):
    @pytest.fixture(autouse=True)
    def _server(self, database: str) -> None:
        self.database = database

    def open(self, folder: Path) -> PassageStore:
        db = PostgresDatabase(self.database, f"kb_{folder.parent.name[-12:]}_{folder.name[-40:]}")
        return PostgresRecords(db, lambda _: folder)


class TestKnowledgeBaseWithQdrant(KnowledgeBaseTests):
    def open(self, folder: Path) -> KnowledgeBase:
        vectors = Collections(qdrant(folder / "qdrant", "passages"), qdrant(folder / "qdrant", "facts"), "Qdrant")
        return KnowledgeBase.open(folder / "kb", WordEmbeddings(), pipeline="rules", vectors=vectors)


class TestKnowledgeBaseInPostgres(KnowledgeBaseTests):
    @pytest.fixture(autouse=True)
    def _server(self, database: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.database = database
        monkeypatch.setenv("LANGGRAPH_RAG_CACHE", str(tmp_path / "cache"))

    def open(self, folder: Path) -> KnowledgeBase:
        name = f"{folder.parent.name[-30:]}_{folder.name}"
        return KnowledgeBase.open(self.database, WordEmbeddings(), pipeline="rules", name=name)
