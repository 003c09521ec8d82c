"""Asks 64 questions at once over HTTP, with each method: against the slowest alone, and in processor time.

python benchmarks/serving.py DATA
"""

import argparse
import asyncio
import gc
import os
import statistics
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from itertools import cycle
from multiprocessing import get_context
from pathlib import Path
from threading import Barrier
from typing import Any, TypedDict

from langchain_core.language_models import BaseChatModel
from measuring import Round, asked_and_others, counted, indexed, quiet, report, rounds, served, verdict

from langgraph_rag import KnowledgeBase, load_model
from langgraph_rag.llm import ask
from langgraph_rag.methods import METHODS, create
from langgraph_rag.prompts.answering import ANSWER_FROM_PASSAGES
from langgraph_rag.tools.ingest.embeddings import MiniLMEmbeddings

WALL_GOAL, CALL_GOAL = 1.3, 0.020
_SERVER = "scripted_server.py"
_AT_ONCE = 64
_PATIENCE = 600  # seconds in which all processes must be ready
_CALLS = 512  # calls for measuring the processor time of one
_PASSAGE = {"title": "Tolmar Bridge", "text": "The Tolmar Bridge spans the River Ister at Tolmar. " * 12}


class Measured(TypedDict):
    """One method: seconds of all questions at once, and of those with most calls alone; processor seconds per call."""

    together: float
    alone: list[float]
    model_calls: int
    processor: float


class Run(TypedDict):
    """Questions asked at once by one process: seconds of a clock that all processes share; model calls by question."""

    started: float
    ended: float
    processor: float
    calls: dict[str, int]


def main() -> None:
    """Run the benchmark."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path, help="folder with corpus.jsonl and questions.jsonl (more than 64)")
    parser.add_argument("--rounds", type=int, default=3, help="quiet rounds")
    parser.add_argument("--sample", type=int, default=4, help="questions also asked alone, those of most calls")
    parser.add_argument("--seconds", type=float, default=0.5, help="what the server takes for a reply")
    parser.add_argument("--methods", nargs="+", default=list(METHODS), choices=METHODS)
    parser.add_argument("--processes", type=int, default=1, help="processes that share the questions")
    parser.add_argument("--kb", type=Path, help="folder to keep the index in for the next run")
    arguments = parser.parse_args()
    asked, others = asked_and_others(arguments.data, _AT_ONCE, parser)

    minilm = MiniLMEmbeddings()
    with indexed(arguments.data, arguments.kb, minilm, embed_triples=True) as kb:
        with served(_SERVER, 0.0) as url:
            calls = rounds(lambda: processor_of_a_call(load_model("vllm:scripted", base_url=url)), arguments.rounds)
        with served(_SERVER, arguments.seconds) as url:
            done = {
                name: rounds(
                    partial(measure, name, url, kb, asked, others, arguments.sample, arguments.processes),
                    arguments.rounds,
                )
                for name in arguments.methods
            }

    call = statistics.median(quiet(calls))
    report(
        "serving" if arguments.processes == 1 else f"serving_{arguments.processes}_processes",
        arguments.data,
        {
            "questions": len(asked),
            "processes": arguments.processes,
            "model_seconds": arguments.seconds,
            "processor_ms_per_call": round(call * 1000, 2),
            "methods": {name: [{**one.measured, "others": one.others} for one in of] for name, of in done.items()},
        },
        [
            ("figure", "value", "goal"),
            ("processor time of a call, ms", f"{call * 1000:.1f}", _goal(call, CALL_GOAL, f"{CALL_GOAL * 1000:.0f}")),
            ("quiet rounds", counted(calls), ""),
            *(row for name, of in done.items() for row in _rows(name, of)),
        ],
    )


def processor_of_a_call(llm: BaseChatModel) -> float:
    """Return the processor seconds of one call out of many, for `ask` and the HTTP client together."""

    async def calls(number: int) -> None:
        passages = [_PASSAGE] * 5
        await asyncio.gather(
            *(ask(llm, ANSWER_FROM_PASSAGES, question=f"Question {n}?", passages=passages) for n in range(number))
        )

    async def warm_then_timed() -> float:
        await calls(_AT_ONCE)
        used = time.process_time()
        await calls(_CALLS)
        return time.process_time() - used

    return asyncio.run(warm_then_timed()) / _CALLS


def measure(
    name: str, url: str, kb: Path, asked: Sequence[str], others: Sequence[str], sample: int, processes: int
) -> Measured:
    """Ask all at once, then those with the most calls alone, both in processes that have asked only other questions."""
    shares = [asked[number::processes] for number in range(processes)]
    runs = _in_processes(partial(_runs, name, url, kb, others), [[share] for share in shares])
    together = [run for (run,) in runs]
    calls = {question: number for run in together for question, number in run["calls"].items()}
    longest = sorted(asked, key=lambda question: -calls[question])[:sample]
    (alone,) = _in_processes(partial(_runs, name, url, kb, others), [[[question] for question in longest]])
    wall = max(run["ended"] for run in together) - min(run["started"] for run in together)
    return Measured(
        together=round(wall, 3),
        alone=[round(run["ended"] - run["started"], 3) for run in alone],
        model_calls=sum(calls.values()),
        processor=round(sum(run["processor"] for run in together) / sum(calls.values()), 5),
    )


def _in_processes(run: Callable[..., list[Run]], groups: Sequence[Sequence[Sequence[str]]]) -> list[list[Run]]:
    """Run each item in a new process, several on a core each; all begin to measure at the same moment."""
    new = get_context("spawn")
    every = os.sched_getaffinity(0)
    cores = [{core} for core in every] if len(groups) > 1 else [every]
    with new.Manager() as manager, ProcessPoolExecutor(len(groups), mp_context=new) as pool:
        ready = manager.Barrier(len(groups), timeout=_PATIENCE)
        return list(pool.map(run, [ready] * len(groups), groups, cycle(cores)))


def _runs(
    name: str,
    url: str,
    kb: Path,
    others: Sequence[str],
    ready: Barrier,
    groups: Sequence[Sequence[str]],
    cores: set[int],
) -> list[Run]:
    """Ask group after group on these cores, the questions of each group at once."""
    os.sched_setaffinity(0, cores)  # as docs/deployment.md recommends for several processes

    async def all_groups() -> list[Run]:
        graph = create(name, load_model("vllm:scripted", base_url=url), base).compile()
        await _ask_all(graph, others)
        gc.freeze()  # as docs/deployment.md recommends for processes that answer many questions
        await asyncio.to_thread(ready.wait)
        return [await _ask_all(graph, group) for group in groups]

    with KnowledgeBase.open(kb, MiniLMEmbeddings()) as base:
        return asyncio.run(all_groups())


async def _ask_all(graph: Any, asked: Sequence[str]) -> Run:
    started, used = time.monotonic(), time.process_time()
    results = await asyncio.gather(*(graph.ainvoke({"question": question}) for question in asked))
    calls = {question: result["usage"]["calls"] for question, result in zip(asked, results, strict=True)}
    return Run(started=started, ended=time.monotonic(), processor=time.process_time() - used, calls=calls)


def _rows(name: str, of: Sequence[Round[Measured]]) -> list[tuple[str, str, str]]:
    calm = quiet(of)
    ratio = statistics.median(one["together"] / max(one["alone"]) for one in calm)
    processor = statistics.median(one["processor"] for one in calm)
    return [
        (f"{name}: 64 at once / slowest alone", f"{ratio:.2f}", _goal(ratio, WALL_GOAL, f"{WALL_GOAL}")),
        (f"{name}: slowest alone, seconds", f"{statistics.median(max(one['alone']) for one in calm):.2f}", ""),
        (f"{name}: processor time per model call, searching included, ms", f"{processor * 1000:.1f}", ""),
        (f"{name}: quiet rounds", counted(of), ""),
    ]


def _goal(value: float, goal: float, shown: str) -> str:
    return f"at most {shown}: {verdict(value <= goal)}"


if __name__ == "__main__":
    main()
