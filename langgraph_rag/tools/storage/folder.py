"""The folder of a knowledge base: the check that a path is one, or that one may be created there."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from shutil import copyfile
from tempfile import TemporaryDirectory, TemporaryFile

from langgraph_rag.arguments import expect
from langgraph_rag.errors import KnowledgeBaseError
from langgraph_rag.tools.storage.chroma import NEEDS_WRITING, UNWRITABLE
from langgraph_rag.tools.storage.write_lock import LOCK

RECORDS, VECTORS = "records.sqlite", "chroma"


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
