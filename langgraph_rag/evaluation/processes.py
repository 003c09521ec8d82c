"""Worker processes that run graphs in parallel, because one Python process uses little more than one core."""

import asyncio
import os
import pickle
from collections.abc import Awaitable, Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager, suppress
from dataclasses import dataclass
from functools import cache, partial
from multiprocessing import get_context
from multiprocessing.managers import BaseManager
from threading import RLock
from typing import Any, Self

from tqdm import tqdm

from langgraph_rag.concurrency.background import run_in_background
from langgraph_rag.concurrency.tasks import gather, is_own_cancellation
from langgraph_rag.concurrency.threads import in_new_thread
from langgraph_rag.errors import ProcessEndedError

_SPAWN = get_context("spawn")  # knowledge bases and embedders do not survive a fork
_THREADS = "OMP_NUM_THREADS"
_KILLED = -9

OpenGraphs = Callable[[], AbstractContextManager[Callable[[str], Any]]]
"""Opens a function that returns compiled graphs by name; it is pickled, and called in each process."""
Ask = Callable[[str, Any, Any], Awaitable[Any]]
"""Runs a graph by name, with an input and a context."""


@dataclass(frozen=True)
class RemoteGraph:
    """A compiled graph that runs in other processes, for `evaluate`; its prompts are read from `builder`."""

    name: str
    builder: Any
    ask: Ask

    async def ainvoke(self, input: Any, /, *, context: Any = None) -> Any:
        """Run the graph in the process with the fewest unanswered requests."""
        return await self.ask(self.name, input, context)


@contextmanager
def worker_processes(number: int, open_graphs: OpenGraphs) -> Iterator[Ask]:
    """Start processes, wait until each has opened its graphs, and send each request to the least busy one.

    Call it in a script under `if __name__ == "__main__"`, because each process imports the script again. After Ctrl-C
    they end with this process.

    Raises:
        Exception: any error of opening the graphs in a process.
        ProcessEndedError: when a process ended unexpectedly; later requests raise it, too.
    """
    with ExitStack() as stack:
        processes = [stack.enter_context(_Process()) for _ in range(number)]
        with _sharing_cores(number):
            run_in_background(gather(process.open(open_graphs) for process in processes))

        async def ask(name: str, given: Any, context: Any) -> Any:
            return await min(processes, key=lambda process: process.busy).call("ask", name, given, context)

        yield ask


@contextmanager
def _sharing_cores(number: int) -> Iterator[None]:
    """Limit the threads of new processes to their share of the cores: more torch threads would wait for each other."""
    given = os.environ.get(_THREADS)
    os.environ.setdefault(_THREADS, str(max(1, (os.cpu_count() or 1) // number)))
    try:
        yield
    finally:
        if given is None:
            del os.environ[_THREADS]


class _Graphs:
    """What a process serves: graphs, which it opens first."""

    def __init__(self) -> None:
        self._opened = ExitStack()

    def open(self, open_graphs: OpenGraphs) -> tuple[bool, bytes]:
        """Open the graphs; return whether that failed, and the error."""
        try:
            self._graph = cache(self._opened.enter_context(open_graphs()))
        except Exception as error:
            return True, _packed_error(error)
        return False, pickle.dumps(None)

    def ask(self, name: str, given: Any, context: Any) -> tuple[bool, bytes]:
        """Run a graph beside others; return whether it failed, and its output or error."""
        return run_in_background(packed_reply(self._graph, name, given, context))


class _Manager(BaseManager):
    """Starts a process, with a thread in it for each request."""


_Manager.register("graphs", _Graphs)


def _begin() -> None:
    tqdm.set_lock(RLock())  # its own is one for all processes, and would not be released by a terminated one


class _Process:
    """A process and the number of its unanswered requests; the end of the `with` block ends it."""

    def __init__(self) -> None:
        self.busy = 0
        self._manager: Any = _Manager(ctx=_SPAWN)

    async def open(self, open_graphs: OpenGraphs) -> None:
        """Start the process, and let it open its graphs."""
        await in_new_thread(partial(self._manager.start, _begin))
        self._graphs = self._manager.graphs()
        await self.call("open", open_graphs)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if process := getattr(self._manager, "_process", None):
            process.terminate()  # safe: its files survive a kill
            self._manager.shutdown()

    async def call(self, method: str, *values: Any) -> Any:
        """Call a method of the graphs in the process."""
        self.busy += 1
        try:
            failed, packed = await in_new_thread(partial(getattr(self._graphs, method), *values))
        except (EOFError, OSError) as error:
            raise ProcessEndedError(await in_new_thread(self._end)) from error
        finally:
            self.busy -= 1
        found = unpacked(packed)
        if failed:
            raise found
        return found

    def _end(self) -> str:
        process = self._manager._process
        process.join()
        told = f"expected a process to go on, got its end with exit code {process.exitcode}"
        if process.exitcode == _KILLED:
            told += ", which is a kill, as for lack of memory: fewer processes need less"
        return told


def unpacked(packed: bytes) -> Any:
    """Return what another process of this package packed."""
    return pickle.loads(packed)  # noqa: S301 - it is our own


async def packed_reply(graph: Callable[[str], Any], name: str, given: Any, context: Any) -> tuple[bool, bytes]:
    """Run a graph, and return whether it failed, and its output or error packed for another process."""
    try:
        return False, pickle.dumps(await graph(name).ainvoke(given, context=context))
    except (Exception, asyncio.CancelledError) as error:
        if is_own_cancellation(error):
            raise
        return True, _packed_error(error)


def _packed_error(error: BaseException) -> bytes:
    """Pickle an error; as text if it would be unpickled as another error, or not at all."""
    with suppress(Exception):
        packed = pickle.dumps(error)
        if str(pickle.loads(packed)) == str(error):  # noqa: S301 - it is our own
            return packed
    told = RuntimeError(f"{type(error).__name__}: {error}")
    for note in getattr(error, "__notes__", []):
        told.add_note(note)
    return pickle.dumps(told)
