"""Opens the stores of a knowledge base: those in a folder, with vectors there or elsewhere, or those in Postgres."""

import os
import re
import threading
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from urllib.parse import unquote

from langgraph_rag.errors import KnowledgeBaseError
from langgraph_rag.tools.stores.collections import Collections
from langgraph_rag.tools.stores.folder import (
    RECORDS,
    Access,
    WriteLock,
    checked_folder,
    file_number,
    is_read_only,
    needing_to_write,
    working_copy,
)
from langgraph_rag.tools.stores.protocols import VectorStore
from langgraph_rag.tools.stores.records import INDEXES, Records, RecordStore
from langgraph_rag.tools.stores.vector_files import open_vectors

_ADDRESS = re.compile(r"(postgres(?:ql)?):/{1,2}(?!/)")  # of a `Path`, one stroke is left
DEFAULT = "default"  # the name of a knowledge base in Postgres
_CACHE = "LANGGRAPH_RAG_CACHE"  # the variable with the folder of local indexes of knowledge bases on servers


@dataclass(frozen=True)
class Stores:
    """The stores of one opening.

    Attributes:
        name: where they are, for people.
        folder: of what lies beside them on this machine: indexes, a trained aligner.
        access: who may use them.
        records: the truth.
        vectors: those of passages and facts.
        may_index: returns whether this opening may write indexes on this machine.
        copy: the temporary copy of a folder that cannot be written.
        listen: has a function called after each change by others, if the store can tell.
    """

    name: str
    folder: Path
    access: Access
    records: Records
    vectors: VectorStore
    may_index: Callable[[], bool]
    copy: "TemporaryDirectory[str] | None" = None
    listen: Callable[[Callable[[], None]], None] | None = None


def is_address(given: object) -> bool:
    """Return whether a place is the address of a Postgres server, and not a folder."""
    return isinstance(given, str | Path) and bool(_ADDRESS.match(str(given)))


def open_stores(
    place: str | Path,
    opened: ExitStack,
    *,
    create: bool,
    read_only: bool,
    name: str | None = None,
    chroma: str | None = None,
    vectors: Collections | None = None,
) -> Stores:
    """Open a folder, or a knowledge base in Postgres; what was opened before an error is closed by `opened`.

    Args:
        place: the folder, or `postgresql://user@host/database`, which may end in `#` and the name.
        opened: closes it.
        create: whether to create a missing one.
        read_only: whether no changes are made.
        name: of the knowledge base in Postgres, by default "default".
        chroma: where the vectors of a folder are.
        vectors: the same, as collections.

    Raises:
        KnowledgeBaseError, StoreServerError, MissingExtraError: as `open_folder` and `open_postgres`; and when what
            only one of them has is given for the other.
    """
    if not is_address(place):
        if name is not None:
            raise KnowledgeBaseError(f"only a knowledge base in Postgres has a name, got {name!r} for {place}")
        return open_folder(place, opened, create=create, read_only=read_only, chroma=chroma, vectors=vectors)
    if chroma is not None or vectors is not None:
        raise KnowledgeBaseError("a knowledge base in Postgres has its vectors there, got another place for them")
    address, _, named = _ADDRESS.sub(r"\1://", str(place), count=1).partition("#")
    if name and named:
        raise KnowledgeBaseError(f"expected one name, got {name!r} and {named!r} at the end of the address")
    return open_postgres(address, name or unquote(named) or DEFAULT, opened, create=create, read_only=read_only)


def open_folder(
    given: str | Path,
    opened: ExitStack,
    *,
    create: bool,
    read_only: bool,
    chroma: str | None,
    vectors: Collections | None = None,
) -> Stores:
    """Open a folder; what was opened before an error is closed by `opened`.

    Raises:
        KnowledgeBaseError: when it is missing and must not be created, cannot be read or written, has other contents or
            another format, or the server of its vectors cannot be reached.
    """
    path = checked_folder(given, create=create and not read_only)
    with needing_to_write(path):
        path.mkdir(parents=True, exist_ok=True)
        copy = working_copy(path) if read_only and is_read_only(path) else None
        files = Path(copy.name) if copy else path
        lock = WriteLock(files)
        if not read_only:
            lock.acquire()
    opened.callback(lock.release)
    records = RecordStore(files / RECORDS, path / INDEXES)
    opened.callback(records.close)
    found: VectorStore = vectors or open_vectors(files, records, chroma, writable=lock.held)
    opened.callback(found.close)
    folder, number = path.resolve(), file_number(path)  # the working directory may change
    access = Access(path, lock, lambda: file_number(folder) == number, read_only=read_only)
    return Stores(str(path), path, access, records, found, lambda: access.may_write, copy)


def open_postgres(address: str, name: str, opened: ExitStack, *, create: bool, read_only: bool) -> Stores:
    """Open a knowledge base in Postgres; what was opened before an error is closed by `opened`.

    Raises:
        KnowledgeBaseError: when it is missing and must not be created, its name cannot be used, or the database has no
            pgvector.
        StoreServerError: when the server cannot be reached.
        MissingExtraError: when the client of Postgres is not installed.
    """
    from langgraph_rag.tools.stores.postgres import PostgresRecords, PostgresVectors
    from langgraph_rag.tools.stores.postgres_database import PostgresDatabase, schema_of

    db = PostgresDatabase(address, schema_of(name), create=create and not read_only)
    opened.callback(db.close)
    records = PostgresRecords(db, partial(_cache, name))
    lock = WriteLock(records.folder)
    lock.acquire()
    opened.callback(lock.release)
    access = Access(db.name, _Shared(lock), lambda: True, read_only=read_only)
    return Stores(db.name, records.folder, access, records, PostgresVectors(db), lambda: lock.held, listen=db.listen)


def _cache(name: str, history: str) -> Path:
    """Make the folder of the indexes on this machine of a knowledge base elsewhere.

    Raises:
        KnowledgeBaseError: when it cannot be made.
    """
    own = os.environ.get(_CACHE)
    base = Path(own) if own else Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "langgraph-rag"
    folder = base / f"{re.sub(r'[^A-Za-z0-9_-]', '_', name)}-{history[:12]}"
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise KnowledgeBaseError(
            f"{folder}, for indexes on this machine, cannot be made ({error.strerror or error}): name another folder "
            f"in {_CACHE}"
        ) from error
    return folder


class _Shared:
    """Instead of a lock for changes, where the server puts them in order; in one process, one thread changes.

    Args:
        cache: the lock on the indexes of this machine, which one process writes.
    """

    held = True

    def __init__(self, cache: WriteLock) -> None:
        self._cache, self.writing = cache, threading.Lock()

    def acquire(self) -> bool:
        """Return True."""
        return True

    def release(self) -> None:
        """Release the indexes of this machine."""
        self._cache.release()
