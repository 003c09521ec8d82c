"""Where Chroma keeps vectors: in files of a folder, or in a server. Nothing else imports it."""

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from httpx import TransportError

from langgraph_rag.errors import EmbeddingsMismatchError, KnowledgeBaseError, VectorServerError

FOLDER = "folder"  # in place of the address of a server
_ADDRESS = re.compile(r"https?://[^\s/?#@]+(/[^\s?#@]*)?")
_PATIENCE = 30.0  # seconds to wait for each answer of a server
_SHOWN = 300  # characters of an error: a server that is not Chroma may answer with a whole page


@dataclass(frozen=True)
class Place:
    """Where vectors lie.

    Attributes:
        name: the folder, or the address of the server.
        collections: the names of the collections of passages and of triples.
        remedy: what to do when it cannot be used.
        connect: makes a client of Chroma.
    """

    name: str
    collections: tuple[str, str]
    remedy: str
    connect: Callable[[], Any]

    @contextmanager
    def usable(self) -> Iterator[None]:
        """Tell what Chroma complains of in words of our own."""
        from chromadb.errors import InvalidArgumentError

        try:
            yield
        except InvalidArgumentError as error:
            raise EmbeddingsMismatchError(f"{self.name} holds vectors of another embedder: {error}") from error
        except Exception as error:  # a plain one, where a server answers what Chroma does not expect
            came = f"{type(error).__name__}: {error}"[:_SHOWN]
            kind = VectorServerError if isinstance(error, TransportError) else KnowledgeBaseError
            raise kind(f"the vectors in {self.name} cannot be read or written ({came}): {self.remedy}") from error


def in_folder(path: Path) -> Place:
    """Keep vectors in a folder of their own."""
    remedy = (
        "where the disk is not full, remove that folder and open the knowledge base in a new process, which makes them "
        "anew"
    )
    return Place(str(path), ("passages", "triples"), remedy, partial(_files, path))


def on_server(address: str, owner: str) -> Place:
    """Keep vectors in a server, apart from those of other owners."""
    remedy = (
        "start that server, or name another one (`chroma`, on the command line `index --chroma`), and open the "
        "knowledge base again, which makes lost vectors anew"
    )
    return Place(address, (f"{owner}-passages", f"{owner}-triples"), remedy, partial(_Server, address))


def checked(address: str) -> str:
    """Return the address of a server as it is stored.

    Raises:
        KnowledgeBaseError: when it is none, or more than that; what came is not told, as it may hold a secret.
    """
    if address != FOLDER and not _ADDRESS.fullmatch(address):
        raise KnowledgeBaseError(
            f"expected {FOLDER!r}, or the address of a Chroma server as http://HOST:PORT, without user name, password "
            "or query, as it is stored: secrets go into the environment, as CHROMA_SERVER_HEADERS"
        )
    return address.rstrip("/")


def _files(path: Path) -> Any:
    import chromadb  # here, because importing it takes most of a second

    settings = chromadb.Settings(anonymized_telemetry=False)
    return chromadb.PersistentClient(str(path.resolve()), settings=settings)  # it is shared by path


class _Server:
    """Stands in for `chromadb.HttpClient`, which waits for an answer without end, and leaves connections open."""

    def __init__(self, address: str) -> None:
        from chromadb.api import ServerAPI
        from chromadb.config import Settings, System

        settings = Settings(
            chroma_api_impl="chromadb.api.fastapi.FastAPI",
            chroma_server_host=address,
            chroma_server_http_port=0,  # needed, but the address has it
            anonymized_telemetry=False,
        )
        self._api: Any = System(settings).instance(ServerAPI)
        self._api._session.timeout = _PATIENCE
        self.get_max_batch_size = self._api.get_max_batch_size

    def get_or_create_collection(self, name: str, configuration: Any, embedding_function: None) -> Any:
        from chromadb.api.models.Collection import Collection

        model = self._api.get_or_create_collection(name, configuration=configuration)
        return Collection(self._api, model, embedding_function=embedding_function)

    def close(self) -> None:
        self._api._session.close()
