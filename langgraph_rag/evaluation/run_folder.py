"""Entries kept in a folder, one line of JSON each, so that a run can be stopped at any moment and taken up again."""

import asyncio
import json
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, TypeVar

from filelock import FileLock, Timeout
from pydantic import TypeAdapter, ValidationError

from langgraph_rag.concurrency.tasks import gather
from langgraph_rag.errors import RagError
from langgraph_rag.evaluation.problems import first_problem
from langgraph_rag.tools.storage.write_lock import LOCK

Item = TypeVar("Item")
Entry = TypeVar("Entry", bound=Mapping[str, Any])


class OutcomesError(RagError):
    """A folder of outcomes is damaged, cannot be written to, or belongs to another run."""


@contextmanager
def writing(out: Path) -> Iterator[None]:
    """Report a folder that cannot be written to, such as on a full disk.

    Raises:
        OutcomesError: in place of the system's error.
    """
    try:
        yield
    except OSError as error:
        reason = error.strerror or error
        raise OutcomesError(f"expected a folder that can be written to at {out}, got: {reason}") from error


@contextmanager
def alone(out: Path) -> Iterator[None]:
    """Make a folder where it is missing, and keep other runs out of it: each would undo what another one keeps.

    Raises:
        OutcomesError: when another run has the folder, or it cannot be written to.
    """
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


@contextmanager
def keeping(path: Path, entries: Iterable[Mapping[str, Any]]) -> Iterator[Callable[[Mapping[str, Any]], None]]:
    """Make a file hold what there is so far, a line of JSON each, and open it for adding more, written out at once.

    Raises:
        OutcomesError: when its folder cannot be written to.
    """
    with writing(path.parent):
        replace_file(path, [json.dumps(entry, ensure_ascii=False) for entry in entries])
        # Models can reply with half a surrogate pair, which is not UTF-8.
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
    """Read a file of entries, none where there is no file; blank lines and a last one cut off by a kill are left out.

    Args:
        path: the file.
        reader: what an entry is.
        what: what messages call one.
        without: what a message says happens once its line is deleted.

    Raises:
        OutcomesError: when any other line is no such entry, or the file cannot be read.
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
            if number < len(lines) or _is_json(line):  # a whole line of something else was not cut off
                raise OutcomesError(
                    f"{path}, line {number}: expected {what}, got {line[:200]!r} ({first_problem(error, 'line')}); "
                    f"once the line is deleted, {without}"
                ) from error
    return entries


def _is_json(line: bytes) -> bool:
    try:
        json.loads(line)
    except ValueError:
        return False
    return True


async def settle(
    items: Iterable[Item],
    work: Callable[[Item], Awaitable[Entry]],
    concurrency: int,
    keep: Callable[[Entry], None],
    on_result: Callable[[Entry], None] | None,
) -> list[Entry]:
    """Do the work of each item, so many at once; keep what comes of it before telling of it."""
    gate = asyncio.Semaphore(concurrency)

    async def settled(item: Item) -> Entry:
        async with gate:
            entry = await work(item)
        keep(entry)
        if on_result is not None:
            on_result(entry)
        return entry

    return await gather(map(settled, items))


def replace_file(path: Path, lines: Iterable[str]) -> None:
    """Write beside the file, then move: at no moment is it missing or half written."""
    beside = path.with_name(path.name + ".new")
    beside.write_text("".join(line + "\n" for line in lines), encoding="utf-8", newline="\n")
    beside.replace(path)
