"""A connection to a Ray cluster, results of its workers as they are done, and an error where none can come."""

import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from queue import Empty, Queue
from typing import Any

from langgraph_rag.errors import ClusterError, MissingExtraError, RagError

PATIENCE = 60.0  # seconds without a sign of life of any worker
_BEAT = 5.0  # seconds between signs of life of one worker
_POLL = 0.5


def imported_ray() -> Any:
    """Return the module of Ray.

    Raises:
        MissingExtraError: when it is not installed.
    """
    try:
        import ray
        import ray.data
    except ImportError as error:
        raise MissingExtraError("the engine ray", "ray") from error
    return ray


@contextmanager
def cluster(address: str | None = None) -> Iterator[None]:
    """Connect to a Ray cluster until the end of the block; if there is none, start one on this machine.

    Args:
        address: that of the head node, such as `10.0.0.1:6379`, or `auto`; by default that of `RAY_ADDRESS`, or of a
            cluster on this machine, or a new one. An existing connection of this process is used as it is.

    Raises:
        ClusterError: when there is no cluster at the address, or it is of another version of Ray or Python.
    """
    ray = imported_ray()
    if ray.is_initialized():
        yield
        return
    try:
        ray.init(address=address, log_to_driver=False, logging_level="ERROR", include_dashboard=False)
    except Exception as error:  # of many kinds, also plain ones
        there = f"a Ray cluster at {address}" if address else "a Ray cluster"
        raise ClusterError(f"{there} cannot be reached: {_first_line(error)}") from error
    try:
        yield
    finally:
        ray.shutdown()


def started_pulse() -> Any:
    """Start an actor on this machine that is told that workers are alive, and sums what they count."""
    ray = imported_ray()
    from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

    class Pulse:  # in a function, so that it is pickled as it is, and its process need not import this package
        def __init__(self) -> None:
            self._last, self._counts = time.monotonic(), dict[str, float]()

        def beat(self, counts: Mapping[str, float] | None = None) -> None:
            self._last = time.monotonic()
            for name, number in (counts or {}).items():
                self._counts[name] = self._counts.get(name, 0) + number

        def state(self) -> tuple[float, dict[str, float]]:
            return time.monotonic() - self._last, self._counts

    here = NodeAffinitySchedulingStrategy(ray.get_runtime_context().get_node_id(), soft=True)
    return ray.remote(num_cpus=0, scheduling_strategy=here)(Pulse).remote()


def kept_alive(function: Callable[[Any], Any], pulse: Any) -> Callable[[Any], Iterator[Any]]:
    """Return a function that a worker runs with signs of life, from before it imports this package, which takes long.

    It yields what the function returns or yields.
    """
    packed, each = imported_ray().cloudpickle.dumps(function), _BEAT

    def call(batch: Any) -> Iterator[Any]:
        import pickle
        import threading

        ended = threading.Event()

        def beats() -> None:
            while True:
                pulse.beat.remote()
                if ended.wait(each):
                    return

        threading.Thread(target=beats, daemon=True).start()
        try:
            found = pickle.loads(packed)(batch)  # noqa: S301 - it is our own
            if hasattr(found, "__next__"):
                yield from found
            else:
                yield found
        finally:
            ended.set()

    return call


class Watch:
    """Waits for workers as long as one gives signs of life.

    Args:
        pulse: of the job.
        needs: what one worker needs, in words for the error.
        patience: seconds without a sign of life.
        on_counts: called with what the workers counted, about twice a second.
    """

    def __init__(
        self,
        pulse: Any,
        needs: str,
        patience: float = PATIENCE,
        on_counts: Callable[[Mapping[str, float]], None] | None = None,
    ) -> None:
        self._pulse, self._needs, self._patience, self._on_counts = pulse, needs, patience, on_counts

    def look(self, since: float) -> dict[str, float]:
        """Return what the workers counted.

        Raises:
            ClusterError: when nothing has happened for longer than the patience, `since` on the monotonic clock.
        """
        ray = imported_ray()
        try:
            quiet, counts = ray.get(self._pulse.state.remote(), timeout=self._patience)
        except ray.exceptions.GetTimeoutError:
            quiet, counts = self._patience + 1, {}
        except (ray.exceptions.RayError, ConnectionError) as error:
            raise ClusterError(f"the connection to the Ray cluster was lost: {_first_line(error)}") from error
        if self._on_counts:
            self._on_counts(counts)
        if min(quiet, time.monotonic() - since) > self._patience:
            raise ClusterError(
                f"no worker has done anything for {self._patience:.0f} s: each needs {self._needs}; the cluster has "
                f"{_amounts(ray.cluster_resources())}, of which {_amounts(ray.available_resources())} are free"
            )
        return dict(counts)

    def batches(self, dataset: Any) -> Iterator[Any]:
        """Yield the Arrow tables of a dataset as they are done.

        Raises:
            ClusterError: when no worker can start, or one fails with an error that is not of this package.
            RagError: when a worker fails with it.
        """
        done: Queue[Any] = Queue(maxsize=1)
        ended = threading.Event()

        def read() -> None:
            try:
                for batch in dataset.iter_batches(batch_size=None, batch_format="pyarrow", prefetch_batches=0):
                    if not _put(done, batch, ended):
                        return
                _put(done, None, ended)
            except BaseException as error:
                _put(done, error, ended)

        thread = threading.Thread(target=read, name="langgraph-rag ray", daemon=True)
        thread.start()
        last = time.monotonic()
        try:
            while True:
                try:
                    batch = done.get(timeout=_POLL)
                except Empty:
                    self.look(last)
                    continue
                if batch is None:
                    return
                if isinstance(batch, BaseException):
                    raise as_own(batch) from batch
                yield batch
                last = time.monotonic()
        finally:
            ended.set()
            if executor := getattr(dataset, "_current_executor", None):  # else the workers go on for nobody
                with suppress(Exception):
                    executor.shutdown(force=True)


def _put(queue: Queue[Any], item: Any, ended: threading.Event) -> bool:
    """Hand over an item, unless nobody takes it any more."""
    from queue import Full

    while not ended.is_set():
        with suppress(Full):
            queue.put(item, timeout=_POLL)
            return True
    return False


def as_own(error: BaseException) -> RagError:
    """Return the error of this package that a worker failed with, or else a `ClusterError` that quotes it."""
    cause: BaseException | None = error
    while cause is not None:
        inner = getattr(cause, "cause", None) or cause.__cause__
        for found in (inner, cause):
            if isinstance(found, RagError) and type(found).__module__.startswith("langgraph_rag"):
                return found
        cause = inner
    return ClusterError(f"a worker failed: {_last_line(error)}")


def _amounts(resources: Mapping[str, float]) -> str:
    return f"{resources.get('CPU', 0):g} CPUs and {resources.get('GPU', 0):g} GPUs"


def _first_line(error: BaseException) -> str:
    return (str(error).strip() or type(error).__name__).splitlines()[0]


def _last_line(error: BaseException) -> str:
    return (str(error).strip() or type(error).__name__).splitlines()[-1]
