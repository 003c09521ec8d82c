"""Connects to Chroma, in the files of a folder or on a server. No other module imports `chromadb`."""

import ctypes
import errno
import os
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any
from weakref import WeakSet

from httpx import TransportError
from pydantic import ValidationError

from langgraph_rag.arguments import expect
from langgraph_rag.errors import EmbeddingsMismatchError, KnowledgeBaseError, VectorServerError
from langgraph_rag.naming import wrong_field

FOLDER = "folder"  # instead of the address of a server
_ADDRESS = re.compile(r"https?://[^\s/?#@]+(/[^\s?#@]*)?")
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

    def close(self) -> None:
        self._api._session.close()
