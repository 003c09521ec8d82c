"""A folder of entries, one line of JSON each: a run can be stopped at any moment and continued, and stops by itself."""

import json
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from filelock import FileLock, Timeout
from pydantic import TypeAdapter, ValidationError

from langgraph_rag.concurrency.tasks import map_limited
from langgraph_rag.errors import ModelAccessError, ModelCallError, ProcessEndedError, RagError, RequestRefusedError
from langgraph_rag.naming import wrong_field
from langgraph_rag.tools.stores.opening import LOCK

Item = TypeVar("Item")
Entry = TypeVar("Entry", bound=Mapping[str, Any])


class OutcomesError(RagError):
    """A folder of outcomes is damaged, cannot be written to, or belongs to another run."""


@contextmanager
def writing(out: Path) -> Iterator[None]:
    """Report a folder that cannot be written to, for example because the disk is full.

    Raises:
        OutcomesError: instead of the system's error.
    """
    try:
        yield
    except OSError as error:
        reason = error.strerror or error
        raise OutcomesError(f"expected a folder that can be written to at {out}, got: {reason}") from error


@contextmanager
def alone(out: Path) -> Iterator[None]:
    """Create a folder if it is missing, and lock it: several runs would overwrite each other's entries."""
    lock = FileLock(out / LOCK, blocking=False, thread_local=False)
    with writing(out):
        out.mkdir(parents=True, exist_ok=True)
        try:
            lock.acquire()
        except Timeout as error:
            raise OutcomesError(
                f"expected a folder for this run alone, got {out}, where another one is under way: wait for that, or "
                "give another folder"
            ) from error
    try:
        yield
    finally:
        lock.release()


def is_new(out: Path) -> bool:
    """Return whether a folder is missing or empty, so that nothing in it can be overwritten."""
    return not out.exists() or out.is_dir() and all(path.name == LOCK for path in out.iterdir())


@contextmanager
def keeping(path: Path, entries: Iterable[Mapping[str, Any]]) -> Iterator[Callable[[Mapping[str, Any]], None]]:
    """Write the entries so far to a file, a line of JSON each, and yield a function that appends one and flushes it."""
    with writing(path.parent):
        replace_file(path, [json.dumps(entry, ensure_ascii=False) for entry in entries])
        # Models can reply with half a surrogate pair, which UTF-8 cannot encode.
        file = path.open("a", encoding="utf-8", errors="replace", newline="\n")

    def keep(entry: Mapping[str, Any]) -> None:
        with writing(path.parent):
            file.write(json.dumps(entry, ensure_ascii=False, default=str) + "\n")
            file.flush()

    try:
        yield keep
    finally:
        with suppress(OSError):  # already reported by `writing`
            file.close()


def read_entries(path: Path, reader: TypeAdapter[Entry], what: str, without: str) -> list[Entry]:
    """Read a file of entries; blank lines and an incomplete last line, as after a kill, are skipped.

    Args:
        path: the file; without it there are no entries.
        reader: the type of an entry.
        what: the name of an entry in messages.
        without: what happens after its line is deleted, for messages.
    """
    try:
        entries, lines = [], path.read_bytes().split(b"\n") if path.exists() else []
    except OSError as error:
        raise OutcomesError(f"{path} cannot be read: {error.strerror or error}") from error
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        try:
            entries.append(reader.validate_json(line))
        except ValidationError as error:
            if number < len(lines) or _is_json(line):  # valid JSON of another form was not cut off
                raise OutcomesError(
                    f"{path}, line {number}: expected {what}, got {line[:200]!r} ({wrong_field(error, 'line')}); "
                    f"once the line is deleted, {without}"
                ) from error
    return entries


def _is_json(line: bytes) -> bool:
    try:
        json.loads(line)
    except ValueError:
        return False
    return True


async def work_through(
    items: Iterable[Item],
    work: Callable[[Item], Awaitable[Entry]],
    concurrency: int,
    keep: Callable[[Entry], None],
    on_result: Callable[[Entry], None] | None,
) -> list[Entry]:
    """Do the work of each item, `concurrency` at once; keep each result before `on_result` is called."""

    async def kept(item: Item) -> Entry:
        entry = await work(item)
        keep(entry)
        if on_result is not None:
            on_result(entry)
        return entry

    return await map_limited(kept, items, concurrency)


def replace_file(path: Path, lines: Iterable[str]) -> None:
    """Write a new file, then rename it, so that the file is never missing or incomplete."""
    beside = path.with_name(path.name + ".new")
    beside.write_text("".join(line + "\n" for line in lines), encoding="utf-8", newline="\n")
    beside.replace(path)


_MOST_UNREACHED = 10  # failed calls in a row


@dataclass
class CircuitBreaker:
    """Counts for how many questions or answers in a row a model could not be called."""

    unreached: int = 0

    def reset(self) -> None:
        """Record that the model replied."""
        self.unreached = 0

    def trips(self, error: BaseException) -> bool:
        """Record an error, and return whether all later calls would fail, too."""
        reached = not isinstance(error, ModelCallError) or isinstance(error, RequestRefusedError)
        self.unreached = 0 if reached else self.unreached + 1
        return isinstance(error, ModelAccessError | ProcessEndedError) or self.unreached >= _MOST_UNREACHED
