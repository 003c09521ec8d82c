"""Graphs that answer in actors of a Ray cluster, as `langgraph_rag.evaluation.processes` runs them on one machine."""

import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from functools import cache
from typing import Any

from langgraph_rag.distributed.cluster import PATIENCE, Watch, as_own, imported_ray, kept_alive, started_pulse
from langgraph_rag.errors import ProcessEndedError
from langgraph_rag.evaluation.processes import Ask, OpenGraphs, unpacked

_AT_ONCE = 1_000  # requests of one actor; the evaluation sets the real limit
_RETRIES = 3  # of a question whose actor died


@contextmanager
def graphs_on_ray(number: int, open_graphs: OpenGraphs, patience: float = PATIENCE) -> Iterator[Ask]:
    """Start actors, wait until each has opened its graphs, and send each request to the least busy one.

    An actor that dies is started again, and what it was asked is asked again.

    Args:
        number: how many actors, of one CPU each.
        open_graphs: opens the graphs, in each actor; the knowledge base must be there on each machine.
        patience: seconds without any sign of life of an actor.

    Raises:
        ClusterError: when there is no room for the actors.
        Exception: any error of opening the graphs.
        ProcessEndedError: when an actor died several times at the same question.
    """
    ray, pulse = imported_ray(), started_pulse()
    options = {"num_cpus": 1, "max_restarts": -1, "max_task_retries": _RETRIES, "max_concurrency": _AT_ONCE}

    def opened(_: None) -> tuple[ExitStack, Callable[[str], Any]]:
        stack = ExitStack()
        return stack, cache(stack.enter_context(open_graphs()))

    opened_alive = kept_alive(opened, pulse)

    class GraphActor:  # in a function, so that it is pickled as it is, and lives before it imports this package
        def __init__(self) -> None:
            ((self._stack, self._graph),) = opened_alive(None)

        async def ready(self) -> None:
            """Return when the graphs are open."""

        async def ask(self, name: str, given: Any, context: Any) -> tuple[bool, bytes]:
            from langgraph_rag.evaluation.processes import packed_reply

            return await packed_reply(self._graph, name, given, context)

    actors = [ray.remote(**options)(GraphActor).remote() for _ in range(number)]
    waiting = Counter[int]()

    async def ask(name: str, given: Any, context: Any) -> Any:
        least = min(range(number), key=lambda place: waiting[place])
        waiting[least] += 1
        try:
            failed, packed = await actors[least].ask.remote(name, given, context)
        except ray.exceptions.RayError as error:
            raise ProcessEndedError(f"expected an actor to go on, got its end: {as_own(error)}") from error
        finally:
            waiting[least] -= 1
        if failed:
            raise unpacked(packed)
        return unpacked(packed)

    try:
        _wait(actors, Watch(pulse, f"1 CPU for each of {number} processes that ask", patience))
        yield ask
    finally:
        for actor in [*actors, pulse]:
            ray.kill(actor)


def _wait(actors: Sequence[Any], watch: Watch) -> None:
    ray, began = imported_ray(), time.monotonic()
    opening = [actor.ready.remote() for actor in actors]
    while opening:
        done, opening = ray.wait(opening, timeout=1.0)
        if not done:
            watch.look(began)
        try:
            ray.get(done)
        except ray.exceptions.RayError as error:
            raise as_own(error) from error
