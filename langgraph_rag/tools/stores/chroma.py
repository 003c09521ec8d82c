"""Vectors in Chroma, in the files of a folder or on a server. No other module imports `chromadb`."""

import ctypes
import errno
import os
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from functools import cache, partial
from importlib import import_module
from pathlib import Path
from typing import Any
from weakref import WeakSet

import numpy as np
from httpx import TransportError
from pydantic import ValidationError

from langgraph_rag.arguments import expect
from langgraph_rag.errors import EmbeddingsMismatchError, KnowledgeBaseError, VectorServerError
from langgraph_rag.naming import wrong_field
from langgraph_rag.tools.stores.protocols import Matrix

FOLDER = "folder"  # instead of the address of a server
_ADDRESS = re.compile(r"https?://[^\s/?#@]+(/[^\s?#@]*)?")
_LOOKED_AT = 1000  # vectors that a server's index compares; with Chroma's 100, of 50 nearest of 7,000 one is missed
_TIMEOUT = 30.0  # seconds to wait for each answer of a server
NEEDS_WRITING = "a knowledge base needs a folder that can be written to, unless it is opened with `read_only=True`"
UNWRITABLE = {errno.EROFS, errno.EACCES, errno.EPERM}
_READ_ONLY = "attempt to write a readonly database"  # as SQLite says it
_SHOWN = 300  # characters of an error, as another server may respond with a whole page


@dataclass(frozen=True)
class Place:
    """The place of vectors.

    Attributes:
        name: the folder, or the address of the server.
        collections: the names of the collections of passages and of triples.
        remedy: what to do if it cannot be used.
        connect: creates a client of Chroma.
    """

    name: str
    collections: tuple[str, str]
    remedy: str
    connect: Callable[[], Any]

    @contextmanager
    def usable(self) -> Iterator[None]:
        """Raise Chroma's errors as errors of this package."""
        other_dimensions = _errors().InvalidArgumentError
        try:
            yield
        except KnowledgeBaseError:  # already converted
            raise
        except other_dimensions as error:
            raise EmbeddingsMismatchError(f"{self.name} holds vectors of another embedder: {error}") from error
        except Exception as error:  # a plain one for unexpected responses
            came = f"{type(error).__name__}: {error}"[:_SHOWN]
            if getattr(error, "errno", None) in UNWRITABLE or _READ_ONLY in came:
                raise KnowledgeBaseError(f"{self.name} cannot be opened: {came} ({NEEDS_WRITING})") from error
            kind = VectorServerError if isinstance(error, TransportError) else KnowledgeBaseError
            raise kind(f"the vectors in {self.name} cannot be read or written ({came}): {self.remedy}") from error


def _errors() -> Any:
    """Import the errors of `chromadb`, which reads its settings meanwhile."""
    try:
        return import_module("chromadb.errors")
    except ValidationError as error:
        raise KnowledgeBaseError(
            "Chroma cannot read its settings from the environment or the file .env of the current folder: "
            f"{wrong_field(error, 'settings')}"
        ) from error


def in_folder(path: Path) -> Place:
    """Return a folder as the place of vectors."""
    remedy = (
        "open the knowledge base again; where that does not help and the disk is not full, close it in all processes, "
        "remove that folder and open it again, which makes them anew"
    )
    return Place(str(path), ("passages", "triples"), remedy, partial(_Files, path.resolve()))


def on_server(address: str, owner: str) -> Place:
    """Return a server as the place of vectors, separate from those of other owners."""
    remedy = (
        "start that server, or name another one (`chroma`, on the command line `index --chroma`), and open the "
        "knowledge base again, which makes lost vectors anew"
    )
    return Place(address, (f"{owner}-passages", f"{owner}-triples"), remedy, partial(_Server, address))


def checked_address(address: str) -> str:
    """Return the address of a server as it is stored.

    Raises:
        KnowledgeBaseError: when it is not a plain address. The message does not repeat it, as it may contain a secret.
        TypeError: when it is not text.
    """
    expect(str, address, "the address of a Chroma server (chroma)", f"http://HOST:PORT, or {FOLDER!r}")
    if address != FOLDER and not _ADDRESS.fullmatch(address):
        raise KnowledgeBaseError(
            f"expected {FOLDER!r}, or the address of a Chroma server as http://HOST:PORT, without user name, password "
            "or query, as it is stored: secrets go into the environment, as CHROMA_SERVER_HEADERS"
        )
    return address.rstrip("/")


class _Client:
    """Replaces the clients of `chromadb`, which share one per folder that reads the files only once.

    Args:
        api: the API of `chromadb`.
    """

    def __init__(self, api: Any) -> None:
        self._api = api
        self.get_max_batch_size = api.get_max_batch_size

    def collection(self, name: str) -> Any:
        """Return a collection with cosine distances; create an empty one if there is none."""
        from chromadb.api.models.Collection import Collection

        model = self._api.get_or_create_collection(name, configuration={"hnsw": {"space": "cosine"}})
        return Collection(self._api, model, embedding_function=None)


_in_use: "WeakSet[Any]" = WeakSet()  # APIs with open files in this process


def _keep_for_good() -> None:
    """Destroy nothing in a forked process: Chroma would wait forever for threads that a fork does not copy."""
    for api in _in_use:
        ctypes.pythonapi.Py_IncRef(ctypes.py_object(getattr(api, "bindings", None)))


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_keep_for_good)


class _Files(_Client):
    def __init__(self, path: Path) -> None:
        from chromadb.api.rust import RustBindingsAPI  # here, because importing it takes most of a second
        from chromadb.config import Settings, System

        settings = Settings(is_persistent=True, persist_directory=str(path), anonymized_telemetry=False)
        api = RustBindingsAPI(System(settings))
        api.start()
        _in_use.add(api)
        super().__init__(api)

    def close(self) -> None:
        self._api.stop()


class _Server(_Client):
    """Unlike `chromadb.HttpClient`, it has a time-out and closes its connections."""

    def __init__(self, address: str) -> None:
        from chromadb.api import ServerAPI
        from chromadb.config import Settings, System

        settings = Settings(
            chroma_api_impl="chromadb.api.fastapi.FastAPI",
            chroma_server_host=address,
            chroma_server_http_port=0,  # needed, but the address has it
            anonymized_telemetry=False,
        )
        api: Any = System(settings).instance(ServerAPI)
        api._session.timeout = _TIMEOUT
        super().__init__(api)

    def collection(self, name: str) -> Any:
        """Return a collection whose index compares more vectors than Chroma has it do."""
        collection = super().collection(name)
        hnsw = collection._model.configuration_json.get("hnsw")  # none in Chroma's cloud, which has another index
        if hnsw and hnsw["ef_search"] < _LOOKED_AT:
            collection.modify(configuration={"hnsw": {"ef_search": _LOOKED_AT}})
        return collection

    def close(self) -> None:
        self._api._session.close()


_LARGEST_WRITE = 128  # rows: a write blocks the process, and a server refuses 40 MB at once

FORKED = (
    "cannot be used in a process forked from one that had a knowledge base open, because threads do not survive a "
    "fork: start processes by spawn, and open it in each"
)


@cache
def _first_process() -> int:
    return os.getpid()


@dataclass(frozen=True)
class Opened:
    """A client of Chroma and the collections of passages and of triples."""

    client: Any
    passages: Any
    triples: Any

    @classmethod
    def of(cls, place: Place) -> "Opened":
        """Open a place."""
        client = place.connect()
        return cls(client, *map(client.collection, place.collections))


class VectorIndex:
    """Cosine search over vectors, in float32."""

    in_records = False

    def __init__(self, place: Place) -> None:
        if _first_process() != os.getpid():
            raise KnowledgeBaseError(f"{place.name} {FORKED}")
        self.place = place
        with place.usable():
            self._opened = self._open()
            self._largest_write = min(_LARGEST_WRITE, self._opened.client.get_max_batch_size())

    @property
    def name(self) -> str:
        """The folder, or the address of the server."""
        return self.place.name

    def settle(self) -> None:
        """Do nothing: Chroma indexes vectors as it stores them."""

    def close(self) -> None:
        """Release the files or connections."""
        self._opened.client.close()

    def count(self) -> int:
        """Return the number of passage vectors."""
        with self._reading() as opened:
            return self._size(opened.passages)

    def ids(self) -> list[str]:
        """Return the ids of all passage vectors."""
        with self._reading() as opened:
            return _ids(opened.passages)

    def put(self, ids: Sequence[str], vectors: Matrix) -> None:
        """Store passage vectors (shape: ids x dimensions); existing ones are replaced."""
        with self._changing(ids) as opened:
            self._upsert(opened.passages, ids, vectors)

    def search(self, vectors: Matrix, k: int, among: frozenset[str] | None = None) -> list[list[tuple[str, float]]]:
        """Return the k nearest passages (of all, or among some) of each query vector with their cosine, best first."""
        with self._reading() as opened:
            return self._nearest(opened.passages, vectors, k, among)

    def search_triples(
        self, vectors: Matrix, k: int, among: frozenset[str] | None = None
    ) -> list[list[tuple[str, float]]]:
        """Return the k nearest triples (of all, or among some) of each query vector with their cosine, best first."""
        with self._reading() as opened:
            return self._nearest(opened.triples, vectors, k, among)

    def passages(self, ids: Sequence[str]) -> dict[str, Matrix]:
        """Return the passage vectors that are stored."""
        vectors: dict[str, Matrix] = {}
        with self._reading() as opened:
            for some in self._batches(ids):
                found = opened.passages.get(ids=list(ids[some]), include=["embeddings"])
                vectors.update(zip(found["ids"], np.asarray(found["embeddings"], dtype=np.float32), strict=True))
        return vectors

    def delete(self, passages: Sequence[str], triples: Sequence[str] = ()) -> None:
        """Remove vectors, those of passages last: as long as they exist, a kill can be detected."""
        with self._changing([*triples, *passages]) as opened:
            for collection, ids in ((opened.triples, triples), (opened.passages, passages)):
                for some in self._batches(ids):
                    collection.delete(ids=list(ids[some]))

    def put_triples(self, ids: Sequence[str], vectors: Matrix) -> None:
        """Index triples (vectors: ids x dimensions) for search; existing ones are replaced."""
        with self._changing(ids) as opened:
            self._upsert(opened.triples, ids, vectors)

    def triple_ids(self) -> list[str]:
        """Return the ids of the indexed triples."""
        with self._reading() as opened:
            return _ids(opened.triples)

    def _open(self) -> Opened:
        return Opened.of(self.place)

    @contextmanager
    def _reading(self) -> Iterator[Opened]:
        with self.place.usable():
            yield self._opened

    def _changing(self, ids: Sequence[str]) -> AbstractContextManager[Opened]:
        return self._reading()  # a server handles concurrent reads by itself

    def _nearest(
        self, collection: Any, vectors: Matrix, k: int, among: frozenset[str] | None
    ) -> list[list[tuple[str, float]]]:
        some = None if among is None else self._known(collection, list(among))
        k = min(k, self._size(collection, k) if some is None else len(some))
        if k == 0:
            return [[] for _ in vectors]
        found = collection.query(query_embeddings=vectors, ids=some, n_results=k, include=["distances"])
        return [
            [(id_, 1.0 - distance) for distance, id_ in sorted(zip(distances, ids, strict=True))]
            for ids, distances in zip(found["ids"], found["distances"], strict=True)
        ]

    def _known(self, collection: Any, ids: Sequence[str]) -> list[str]:
        """Return the ids that have vectors; Chroma fails at a query among others, such as those being added."""
        return [id_ for some in self._batches(ids) for id_ in collection.get(ids=list(ids[some]), include=[])["ids"]]

    def _size(self, collection: Any, enough: int | None = None) -> int:
        """Return the number of vectors; another number above `enough`, if there are more than that."""
        return int(collection.count())

    def _upsert(self, collection: Any, ids: Sequence[str], vectors: Matrix) -> None:
        for some in self._batches(ids):
            collection.upsert(ids=list(ids[some]), embeddings=vectors[some])

    def _batches(self, ids: Sequence[str]) -> Iterator[slice]:
        return (slice(start, start + self._largest_write) for start in range(0, len(ids), self._largest_write))


def _ids(collection: Any) -> list[str]:
    return list(collection.get(include=[])["ids"])
