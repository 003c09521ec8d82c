"""Opens the stores of a knowledge base: those of a folder, or Postgres; and who may write there."""

import os
import re
import threading
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from shutil import copyfile
from tempfile import TemporaryDirectory, TemporaryFile
from urllib.parse import unquote

from filelock import FileLock, Timeout

from langgraph_rag.arguments import expect
from langgraph_rag.errors import KnowledgeBaseError
from langgraph_rag.tools.stores.chroma import FORKED, NEEDS_WRITING, UNWRITABLE
from langgraph_rag.tools.stores.protocols import VectorStore
from langgraph_rag.tools.stores.records import INDEXES, Records, RecordStore
from langgraph_rag.tools.stores.vector_files import VECTORS, Collections, open_vectors

LOCK = "lock"  # a file in the folder

_counting = threading.Lock()  # the counter of FileLock is not thread-safe
_writing: defaultdict[Path, threading.Lock] = defaultdict(threading.Lock)


class WriteLock:
    """The lock of one open knowledge base on its folder; a process may open a folder more than once.

    Attributes:
        held: whether this opening has the lock.
        writing: held by the thread that changes the folder; the same for all openings.
    """

    def __init__(self, folder: Path) -> None:
        self._file = FileLock(folder.resolve() / LOCK, blocking=False, thread_local=False, is_singleton=True)
        self.held = False
        with _counting:
            self.writing = _writing[folder.resolve()]

    def acquire(self) -> bool:
        """Take the lock unless another process has it; return whether it is held now."""
        with _counting:
            if not self.held:
                with suppress(Timeout):
                    self._file.acquire()
                    self.held = True
            return self.held

    def release(self) -> None:
        """Release the lock; other openings keep theirs."""
        with _counting:
            if self.held:
                self._file.release()
            self.held = False


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


RECORDS = "records.sqlite"


def checked_folder(given: str | Path, *, create: bool) -> Path:
    """Return a path, after a check that it is a knowledge base, or that one may be created there."""
    expect(str | os.PathLike, given, "the path of a folder", "a knowledge base is one folder")
    if given == "":  # which a variable that is not set leaves; it would be the current folder
        raise KnowledgeBaseError("expected the path of a folder, got ''")
    path = Path(os.path.expanduser(given))  # noqa: PTH111 - `Path` raises where `~name` is no user but a folder
    with needing_to_write(path):
        missing = not (path / RECORDS).exists()
        in_the_way = missing and path.exists() and (not path.is_dir() or _holds_something_else(path))
    if missing and not create:
        raise KnowledgeBaseError(
            f"there is no knowledge base in {path}: make one with `langgraph-rag index FILES --kb {path}`"
        )
    if in_the_way:
        raise KnowledgeBaseError(f"{path} is not a knowledge base and not an empty folder")
    return path


def file_number(path: Path) -> tuple[int, int]:
    """Return what tells the records of a knowledge base from others at the same path; (0, 0) if there are none."""
    try:
        records = (path / RECORDS).stat()
    except OSError:
        return 0, 0
    return records.st_dev, records.st_ino


def _holds_something_else(path: Path) -> bool:
    names = {entry.name for entry in path.iterdir()}
    return RECORDS not in names and not names <= {LOCK}  # another process may be creating one


def is_read_only(path: Path) -> bool:
    """Return whether files of a folder cannot be written; permissions alone do not tell of a read-only volume."""
    try:
        with TemporaryFile(dir=path):
            return not os.access(path / RECORDS, os.W_OK)
    except OSError as error:
        return error.errno in UNWRITABLE


def working_copy(path: Path) -> "TemporaryDirectory[str]":
    """Copy records and vectors to a temporary folder, as SQLite and Chroma also write where they are only asked."""
    copy = TemporaryDirectory(prefix="langgraph-rag-", ignore_cleanup_errors=True)
    for folder in (path, path / VECTORS):
        there = Path(copy.name) / folder.relative_to(path)
        for file in folder.rglob("*") if folder != path else folder.glob(f"{RECORDS}*"):
            if file.is_file():
                target = there / file.relative_to(folder)
                target.parent.mkdir(parents=True, exist_ok=True)
                copyfile(file, target)
    return copy


@contextmanager
def needing_to_write(path: Path) -> Iterator[None]:
    """Raise a `KnowledgeBaseError` for an error of the file system."""
    try:
        yield
    except OSError as error:
        raise KnowledgeBaseError(f"{path} cannot be opened: {error.strerror or error} ({NEEDS_WRITING})") from error


class Access:
    """One opening of a knowledge base, with its lock for changes."""

    def __init__(
        self, name: object, lock: WriteLock | _Shared, is_there: Callable[[], bool], *, read_only: bool
    ) -> None:
        self._path, self._lock, self._read_only = name, lock, read_only
        self._process, self._is_there = os.getpid(), is_there
        self._changing_here = threading.RLock()  # reentrant, as a change may close the knowledge base
        self._closing = self._closed = False

    @property
    def is_there(self) -> bool:
        """Whether what was opened is still there, such as the files of a folder."""
        return self._is_there()

    @property
    def may_write(self) -> bool:
        """Whether this opening is the one that may change the folder."""
        return self._lock.held and not self._read_only and self.is_there

    def check_open(self) -> None:
        """Check that it was not closed.

        Raises:
            KnowledgeBaseError: when it was, or this process is a fork of the one that opened it.
        """
        if self._process != os.getpid():  # a fork has no threads
            raise KnowledgeBaseError(f"{self._path} {FORKED}")
        if self._closed:
            raise KnowledgeBaseError(f"{self._path} was closed: open it again")

    def check_not_closing(self) -> None:
        """Check, during a change, that nobody waits for its end.

        Raises:
            KnowledgeBaseError: when another thread closes it.
        """
        if self._closing:
            raise KnowledgeBaseError(
                f"{self._path} was closed meanwhile: what was stored by then stays, and the same call stores the rest "
                "when it is open again"
            )

    def check_writable(self) -> None:
        """Check that changes are possible; from the first one on, other processes can make none.

        Raises:
            KnowledgeBaseError: when it is closed, replaced, read-only, or open for changes in another process.
        """
        self.check_open()
        if not self.is_there:
            raise KnowledgeBaseError(f"{self._path} was moved, removed or replaced after it was opened: open it again")
        if self._read_only:
            raise KnowledgeBaseError(f"{self._path} was opened read-only: open it without `read_only` to change it")
        if not self._lock.acquire():
            raise KnowledgeBaseError(
                f"{self._path} can only be asked here while another process, such as `langgraph-rag chat`, has it open "
                "to change it: close it there, or open it there with `read_only=True` where it is only asked"
            )

    @contextmanager
    def changing(self) -> Iterator[None]:
        """Hold the locks for changes of the folder."""
        with self._changing_here:
            self.check_writable()
            with self._lock.writing:
                yield

    def if_free(self, repair: Callable[[], None]) -> None:
        """Run a repair, also of a read-only opening, unless another process or thread makes changes."""
        if not self._lock.acquire():
            return
        if self._lock.writing.acquire(blocking=False):
            try:
                repair()
            finally:
                self._lock.writing.release()
        if self._read_only:
            self._lock.release()

    def end(self, release: Callable[[], None]) -> None:
        """Close it, release what it holds after a running change, and then the lock; a forked process holds nothing."""
        self._closing = True
        if self._process != os.getpid():
            self._closed = True
            return
        with self._changing_here:
            self._closed = True
            try:
                release()
            finally:
                self._lock.release()


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
    """Open a folder; what was opened before an error is closed by `opened`."""
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
    """Open a knowledge base in Postgres; what was opened before an error is closed by `opened`."""
    from langgraph_rag.tools.stores.postgres import PostgresDatabase, PostgresRecords, PostgresVectors, schema_of

    db = PostgresDatabase(address, schema_of(name), create=create and not read_only)
    opened.callback(db.close)
    records = PostgresRecords(db, partial(_cache, name))
    lock = WriteLock(records.folder)
    lock.acquire()
    opened.callback(lock.release)
    access = Access(db.name, _Shared(lock), lambda: True, read_only=read_only)
    return Stores(db.name, records.folder, access, records, PostgresVectors(db), lambda: lock.held, listen=db.listen)


def _cache(name: str, history: str) -> Path:
    """Make the folder of the indexes on this machine of a knowledge base elsewhere."""
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
