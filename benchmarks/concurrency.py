"""Asks 64 questions at once with CIRAG and a scripted model: against the slowest alone, and in processor time.

python benchmarks/concurrency.py DATA
"""

import argparse
import asyncio
import gc
import statistics
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypedDict

from measuring import Round, asked_and_others, counted, forget, indexed, quiet, report, rounds, verdict
from scripted import ScriptedModel, hops

from langgraph_rag import KnowledgeBase, create_cirag
from langgraph_rag.tools.ingest.embeddings import MiniLMEmbeddings

WALL_GOAL, PROCESSOR_GOAL = 1.3, 0.040
_AT_ONCE = 64
_CALLS = {
    "Chroma searches": ("_vectors", "search"),
    "reads of triple vectors": ("_records", "triple_vectors"),
    "passage reads": ("_records", "passages"),
    "triple reads": ("_records", "triples"),
    "BM25 searches": ("_records", "bm25"),
}


class CountedMiniLM(MiniLMEmbeddings):
    """Counts the batches that it embeds, of queries and of triples."""

    batches = 0

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        """Count a batch of triples."""
        self.batches += 1
        return super().embed_documents(texts)

    def embed_queries(self, texts: list[str]) -> list[list[float]]:
        """Count a batch of queries."""
        self.batches += 1
        return super().embed_queries(texts)


class Run(TypedDict):
    """The cost of some questions asked at once: seconds and model calls of each, and calls of the components."""

    wall: float
    processor: float
    model_calls: list[int]
    part_calls: dict[str, int]


class Measured(TypedDict):
    """One round: the sample alone, all at once, and all at once with a model without latency."""

    alone: list[float]
    chain: int
    together: Run
    immediate: Run


def main() -> None:
    """Run the benchmark."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", type=Path, help="folder with corpus.jsonl and questions.jsonl (more than 64)")
    parser.add_argument("--rounds", type=int, default=5, help="quiet rounds")
    parser.add_argument("--sample", type=int, default=8, help="questions also asked alone")
    parser.add_argument("--seconds", type=float, default=0.5, help="what the model takes for a reply")
    parser.add_argument("--kb", type=Path, help="folder to keep the index in for the next run")
    arguments = parser.parse_args()
    asked, others = asked_and_others(arguments.data, _AT_ONCE, parser)

    minilm = CountedMiniLM()
    with indexed(arguments.data, arguments.kb, minilm, embed_triples=True) as kb:
        done = rounds(
            lambda: _measure(kb, minilm, asked, others, arguments.sample, arguments.seconds), arguments.rounds
        )

    calm = quiet(done)
    ratio = statistics.median(_ratio(one) for one in calm)
    floor = statistics.median(one["together"]["wall"] / (one["chain"] * arguments.seconds) for one in calm)
    processor = statistics.median(one["together"]["processor"] for one in calm)
    immediate = statistics.median(one["immediate"]["processor"] for one in calm)
    calls = calm[0]["together"]["part_calls"]
    report(
        "concurrency",
        arguments.data,
        {
            "questions": len(asked),
            "model_seconds": arguments.seconds,
            "ratio": round(ratio, 3),
            "ratio_to_model_seconds_of_the_longest_chain": round(floor, 3),
            "processor_ms_per_question": round(processor * 1000, 1),
            "processor_ms_per_question_without_waiting": round(immediate * 1000, 1),
            "rounds": [_written(one) for one in done],
        },
        [
            ("figure", "value", "goal"),
            ("64 at once / slowest alone", f"{ratio:.2f}", f"at most {WALL_GOAL}: {verdict(ratio <= WALL_GOAL)}"),
            ("64 at once / model seconds of the longest chain", f"{floor:.2f}", ""),
            ("slowest alone, seconds", f"{statistics.median(max(one['alone']) for one in calm):.2f}", ""),
            ("64 at once, seconds", f"{statistics.median(one['together']['wall'] for one in calm):.2f}", ""),
            (
                "processor time per question, ms",
                f"{processor * 1000:.1f}",
                f"under {PROCESSOR_GOAL * 1000:.0f}: {verdict(processor < PROCESSOR_GOAL)}",
            ),
            ("the same, model without waiting, ms", f"{immediate * 1000:.1f}", ""),
            ("model calls", str(sum(calm[0]["together"]["model_calls"])), ""),
            *((name, str(number), "") for name, number in calls.items()),
            ("quiet rounds", counted(done), ""),
        ],
    )


def _measure(
    kb: Path, minilm: CountedMiniLM, asked: list[str], others: list[str], sample: int, seconds: float
) -> Measured:
    """Ask the questions with the most calls alone, one after the other, then all at once."""
    chosen = sorted(asked, key=hops, reverse=True)[:sample]
    alone = _runs(kb, minilm, [[question] for question in chosen], others, seconds)
    (together,) = _runs(kb, minilm, [asked], others, seconds)
    (immediate,) = _runs(kb, minilm, [asked], others, 0.0)
    chain = max(max(run["model_calls"]) for run in alone)
    if chain < max(together["model_calls"]):
        raise SystemExit("the sample holds none of the questions with most model calls: take a larger --sample")
    return Measured(alone=[run["wall"] for run in alone], chain=chain, together=together, immediate=immediate)


def _runs(kb: Path, minilm: CountedMiniLM, groups: list[list[str]], others: list[str], seconds: float) -> list[Run]:
    """Ask group after group, the questions of each group at once, in a process that has asked only other questions."""
    forget()
    with KnowledgeBase.open(kb, minilm) as base:
        asyncio.run(_ask_all(base, others, 0.0))
        gc.freeze()  # as docs/deployment.md recommends for processes that answer many questions
        return [_run(base, minilm, group, seconds) for group in groups]


def _run(base: KnowledgeBase, minilm: CountedMiniLM, asked: list[str], seconds: float) -> Run:
    calls, batches = _count_calls(base), minilm.batches
    started, used = time.perf_counter(), time.process_time()
    results = asyncio.run(_ask_all(base, asked, seconds))
    return Run(
        wall=time.perf_counter() - started,
        processor=(time.process_time() - used) / len(asked),
        model_calls=[result["usage"]["calls"] for result in results],
        part_calls={"embedder batches": minilm.batches - batches, **calls},
    )


async def _ask_all(base: KnowledgeBase, asked: list[str], seconds: float) -> list[dict[str, Any]]:
    graph = create_cirag(ScriptedModel(seconds=seconds), base).compile()
    return list(await asyncio.gather(*(graph.ainvoke({"question": question}) for question in asked)))


def _count_calls(base: KnowledgeBase) -> dict[str, int]:
    """Count how often the components of a knowledge base are called from now on."""
    calls = dict.fromkeys(_CALLS, 0)

    def counting(name: str, work: Callable[..., Any]) -> Callable[..., Any]:
        def call(*values: Any) -> Any:
            calls[name] += len(values[0]) > 0  # for empty input, they return without further calls
            return work(*values)

        return call

    for name, (part, method) in _CALLS.items():
        owner = getattr(base, part)
        setattr(owner, method, counting(name, getattr(owner, method)))
    return calls


def _ratio(measured: Measured) -> float:
    return measured["together"]["wall"] / max(measured["alone"])


def _written(one: Round[Measured]) -> dict[str, object]:
    measured = one.measured
    return {
        "ratio": round(_ratio(measured), 3),
        "alone": [round(value, 3) for value in measured["alone"]],
        "model_calls_in_the_longest_chain": measured["chain"],
        **{
            name: {"wall": round(run["wall"], 3), "processor_ms_per_question": round(run["processor"] * 1000, 1)}
            for name, run in (("together", measured["together"]), ("immediate", measured["immediate"]))
        },
        "part_calls": measured["together"]["part_calls"],
        "others": one.others,
    }


if __name__ == "__main__":
    main()
