"""Asks questions over HTTP of a model server with 30 % broken replies, and checks how the questions end.

python benchmarks/faults.py [--questions 200]
"""

import argparse
import asyncio
import gc
import os
import time
from collections import Counter
from collections.abc import Sequence
from importlib import resources
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, TypedDict

from faulty_server import MARK
from measuring import report, served, verdict

from langgraph_rag import KnowledgeBase, load_model
from langgraph_rag.errors import RagError
from langgraph_rag.evaluation.questions import load_questions
from langgraph_rag.methods import create
from langgraph_rag.models.bindings import ChatModel
from langgraph_rag.tools.documents.files import read_documents

METHODS = ("cirag", "kirag", "dualrag", "mgranrag", "par_rag")
DEADLINE_S = 30.0
GRACE_S = 5.0  # for searching, ranking and other work without model calls
_SHARE = 0.3  # of replies that are broken
_AT_ONCE = 8
_FILES_MORE = 32
_MEMORY_MORE = 1.25
_OBJECTS_MORE = 1.01


class Ending(TypedDict):
    """How a question ended: its answer or its error, and after how many seconds."""

    method: str
    answer: str
    error: str
    typed: bool
    stopped_by: str
    repairs: int
    seconds: float


class Level(TypedDict):
    """The resources of the process: resident memory in MiB, objects of the garbage collector, and open files."""

    memory: float
    objects: int
    files: int


def faulty_model(url: str, deadline_s: float) -> ChatModel:
    """Return the model of the faulty server."""
    return load_model("vllm:faulty", base_url=url, timeout=deadline_s / 10, max_retries=2)


async def ask_all(
    base: KnowledgeBase,
    llm: ChatModel,
    questions: Sequence[str],
    methods: Sequence[str],
    deadline_s: float,
    at_once: int = _AT_ONCE,
) -> list[Ending]:
    """Ask the questions, each with the next method, several at once."""
    graphs = {name: create(name, llm, base).compile() for name in methods}
    gate = asyncio.Semaphore(at_once)

    async def ask(method: str, question: str) -> Ending:
        async with gate:
            started = time.monotonic()
            ending = Ending(method=method, answer="", error="", typed=True, stopped_by="", repairs=0, seconds=0.0)
            try:
                found = await graphs[method].ainvoke({"question": question}, context={"deadline_s": deadline_s})
                usage = found["usage"]
                ending |= {"answer": found["answer"], "stopped_by": usage["stopped_by"], "repairs": usage["repairs"]}
            except Exception as error:
                ending |= {"error": f"{type(error).__name__}: {error}", "typed": isinstance(error, RagError)}
            return Ending(**{**ending, "seconds": round(time.monotonic() - started, 3)})

    asked = [(methods[place % len(methods)], question) for place, question in enumerate(questions)]
    return list(await asyncio.gather(*(ask(*one) for one in asked)))


def faulty(endings: Sequence[Ending], deadline_s: float) -> dict[str, list[Ending]]:
    """Return the questions that ended in a forbidden way."""
    return {
        "neither answer nor typed error": [e for e in endings if not (e["answer"] or e["error"]) or not e["typed"]],
        "after the deadline": [e for e in endings if e["seconds"] > deadline_s + GRACE_S],
        "with a fault for an answer": [e for e in endings if MARK in e["answer"]],
    }


def level() -> Level:
    """Return the resources that this process holds, after a garbage collection."""
    gc.collect()
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    files = len(list(Path("/proc/self/fd").iterdir()))
    memory = round(pages * os.sysconf("SC_PAGE_SIZE") / 2**20, 1)
    return Level(memory=memory, objects=len(gc.get_objects()), files=files)


def main() -> None:
    """Run the benchmark."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--questions", type=int, default=200)
    number = parser.parse_args().questions
    with (
        resources.as_file(resources.files("langgraph_rag") / "sample") as sample,
        TemporaryDirectory() as folder,
        KnowledgeBase.open(folder) as base,
        served("faulty_server.py", _SHARE) as url,
    ):
        base.add(read_documents([sample / "corpus.jsonl"]), progress=False)
        asked = [question["question"] for question in load_questions(sample / "questions.jsonl")]
        asked = [asked[place % len(asked)] for place in range(number)]
        endings, levels = asyncio.run(_ask_in_parts(base, url, asked))
    _report(sample, endings, levels)


async def _ask_in_parts(base: KnowledgeBase, url: str, asked: Sequence[str]) -> tuple[list[Ending], list[Level]]:
    llm = faulty_model(url, DEADLINE_S)
    endings: list[Ending] = []
    levels: list[Level] = []
    for start in range(0, len(asked), 40):
        endings += await ask_all(base, llm, asked[start : start + 40], METHODS, DEADLINE_S)
        levels.append(level())
    return endings, levels


def _report(data: Path, endings: list[Ending], levels: list[Level]) -> None:
    wrong = {name: len(found) for name, found in faulty(endings, DEADLINE_S).items()}
    first, last = levels[0], levels[-1]
    level_files = last["files"] <= first["files"] + _FILES_MORE
    level_memory = last["memory"] <= first["memory"] * _MEMORY_MORE
    level_objects = last["objects"] <= first["objects"] * _OBJECTS_MORE
    errors = Counter(ending["error"].split(":")[0] for ending in endings if ending["error"])
    figures: dict[str, Any] = {
        "questions": len(endings),
        "share_of_faults": _SHARE,
        "deadline_s": DEADLINE_S,
        "answered": sum(bool(ending["answer"]) for ending in endings),
        "errors": dict(errors),
        "stopped_by_deadline": sum(ending["stopped_by"] == "deadline_s" for ending in endings),
        "repairs": sum(ending["repairs"] for ending in endings),
        "longest_seconds": max(ending["seconds"] for ending in endings),
        "wrong": wrong,
        "levels_after_every_40": levels,
    }
    rows = [
        ("figure", "value", "goal"),
        ("questions", str(len(endings)), ""),
        ("answered", str(figures["answered"]), ""),
        *((f"typed error: {name}", str(count), "") for name, count in errors.items()),
        *((f"ended {name}", str(count), f"none: {verdict(not count)}") for name, count in wrong.items()),
        ("longest, seconds", f"{figures['longest_seconds']:.1f}", f"at most {DEADLINE_S:.0f} + {GRACE_S:.0f}"),
        ("open files, first and last", f"{first['files']}, {last['files']}", f"level: {verdict(level_files)}"),
        ("objects, first and last", f"{first['objects']}, {last['objects']}", f"level: {verdict(level_objects)}"),
        ("memory in MiB, first and last", f"{first['memory']}, {last['memory']}", f"level: {verdict(level_memory)}"),
    ]
    report("faults", data, figures, rows)


if __name__ == "__main__":
    main()
