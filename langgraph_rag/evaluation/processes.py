"""Worker processes that run graphs in parallel, because one Python process uses little more than one core."""

import asyncio
import os
import pickle
import signal
from collections.abc import Awaitable, Callable, Iterator
from concurrent.futures import Future
from contextlib import AbstractContextManager, ExitStack, contextmanager, suppress
from dataclasses import dataclass
from functools import cache
from itertools import count
from multiprocessing import get_context
from multiprocessing.connection import Connection
from threading import RLock, Thread
from typing import Any, Self

from tqdm import tqdm

from langgraph_rag.concurrency.tasks import is_own_cancellation
from langgraph_rag.concurrency.threads import in_new_thread
from langgraph_rag.errors import ProcessEndedError

_SPAWN = get_context("spawn")  # knowledge bases and embedders do not survive a fork
_THREADS = "OMP_NUM_THREADS"
_KILLED = -9
_OPENED = 0  # number of the first reply, which answers no request

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

    Call it in the main thread, which receives Ctrl-C. Call it in a script under `if __name__ == "__main__"`, because
    each process imports the script again.

    Raises:
        Exception: any error of opening the graphs in a process.
        ProcessEndedError: when a process ended unexpectedly; later requests raise it, too.
    """
    with ExitStack() as stack:
        with _sharing_cores(number), _ignoring_ctrl_c():
            processes = [stack.enter_context(_Process(open_graphs)) for _ in range(number)]
        for process in processes:
            process.opened.result()

        async def ask(name: str, given: Any, context: Any) -> Any:
            least = min(processes, key=lambda process: len(process.waiting))
            return await asyncio.wrap_future(least.ask(name, given, context))

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


@contextmanager
def _ignoring_ctrl_c() -> Iterator[None]:
    """Let new processes ignore Ctrl-C from their start; the parent process handles it and ends them."""
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


class _Process:
    """A process and its unanswered requests by number; the end of the `with` block ends it."""

    def __init__(self, open_graphs: OpenGraphs) -> None:
        self._connection, theirs = _SPAWN.Pipe()
        self._numbers = count(_OPENED + 1)
        self.opened = _begun()
        self.waiting: dict[int, Future[Any]] = {_OPENED: self.opened}
        self._process = _SPAWN.Process(target=_serve, args=(theirs, open_graphs), daemon=True)
        self._process.start()
        theirs.close()  # else the end of the process would not be noticed
        self._listener = Thread(target=self._listen, name="langgraph-rag", daemon=True)
        self._listener.start()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._process.terminate()  # safe: its files survive a kill
        self._listener.join()
        self._connection.close()

    def ask(self, *request: Any) -> "Future[Any]":
        number = next(self._numbers)
        reply = self.waiting[number] = _begun()
        try:
            self._connection.send((number, *request))
        except OSError:  # the process has ended, and the listener may have failed the unanswered requests already
            self._listener.join()
            self._give_up()
        return reply

    def _listen(self) -> None:
        with suppress(EOFError, OSError):
            while True:
                number, failed, packed = self._connection.recv()
                _settle(self.waiting.pop(number), failed, packed)
        self._process.join()
        self._give_up()

    def _give_up(self) -> None:
        code = self._process.exitcode
        told = f"expected a process to go on, got its end with exit code {code}"
        if code == _KILLED:
            told += ", which is a kill, as for lack of memory: fewer processes need less"
        while self.waiting:
            self.waiting.popitem()[1].set_exception(ProcessEndedError(told))


def _settle(reply: "Future[Any]", failed: bool, packed: bytes) -> None:
    try:
        found = unpacked(packed)
    except Exception as error:  # fails one request, not the listener
        reply.set_exception(error)
        return
    reply.set_exception(found) if failed else reply.set_result(found)


def unpacked(packed: bytes) -> Any:
    """Return what another process of this package packed."""
    return pickle.loads(packed)  # noqa: S301 - it is our own


def _begun() -> "Future[Any]":
    future = Future[Any]()
    future.set_running_or_notify_cancel()  # so it cannot be cancelled, and a late reply can still be set
    return future


def _serve(connection: Connection, open_graphs: OpenGraphs) -> None:
    """Answer requests until the connection closes."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # not inherited on Windows
    tqdm.set_lock(RLock())  # its own is one for all processes, and would not be released by a terminated one
    with ExitStack() as stack, suppress(OSError):  # the connection is closed
        try:
            graph = stack.enter_context(open_graphs())
        except Exception as error:
            connection.send((_OPENED, True, _packed_error(error)))
            return
        connection.send((_OPENED, False, pickle.dumps(None)))
        asyncio.run(_answer(connection, cache(graph)))


async def _answer(connection: Connection, graph: Callable[[str], Any]) -> None:
    """Run the requested graphs; cancel running ones when the connection closes."""
    tasks = set[asyncio.Task[None]]()

    async def run(number: int, name: str, given: Any, context: Any) -> None:
        reply = await packed_reply(graph, name, given, context)
        with suppress(OSError):  # the connection is closed
            connection.send((number, *reply))

    with suppress(EOFError):
        while True:
            request = await in_new_thread(connection.recv)
            task = asyncio.create_task(run(*request))
            tasks.add(task)
            task.add_done_callback(tasks.discard)


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
