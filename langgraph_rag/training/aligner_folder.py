"""The folder of a trained aligner, which replaces an earlier one only when it is complete."""

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from filelock import FileLock, Timeout

from langgraph_rag.errors import RagError

_IN_PROGRESS = ".part"
_MARK = "trained_by_langgraph_rag"  # a file, locked during training; a folder without it is not ours to replace


@contextmanager
def in_place_of(folder: Path) -> Iterator[Path]:
    """Yield a new folder that replaces another one at the end, so that nobody loads an incomplete aligner.

    Raises:
        RagError: when one of the two folders holds something else, cannot be written to, or another training is there.
    """
    written = folder.with_name(folder.name + _IN_PROGRESS)
    mark = written / _MARK
    for there in (folder, written):
        if there.exists() and not (there / _MARK).exists():
            raise RagError(f"expected a new folder for the aligner, or that of an earlier one, got {there}")
    lock = FileLock(mark, blocking=False)
    with writing(folder):
        written.mkdir(parents=True, exist_ok=True)
        try:
            lock.acquire()
        except Timeout as error:
            raise RagError(f"another aligner is being trained for {folder}: wait, or give another folder") from error
    try:
        with writing(folder):
            _empty(written)  # a killed run may have left something
        yield written
        lock.release()
        with writing(folder):
            shutil.rmtree(folder, ignore_errors=True)
            written.rename(folder)
    finally:
        lock.release()
        shutil.rmtree(written, ignore_errors=True)


@contextmanager
def writing(folder: Path) -> Iterator[None]:
    """Convert the errors of writing an aligner.

    Raises:
        RagError: when the folder cannot be written to.
    """
    try:
        yield
    except OSError as error:
        raise RagError(f"the aligner cannot be written to {folder}: {error.strerror or error}") from error


def _empty(folder: Path) -> None:
    for left in folder.iterdir():
        if left.is_dir():
            shutil.rmtree(left)
        elif left.name != _MARK:
            left.unlink()
