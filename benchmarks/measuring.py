"""Shared by the benchmarks: reading data, timing on a shared machine, the table and the results file.

Other processes increase the measured time, also processor time, because threads that wait for each other keep spinning.
So each round records the load of other processes. Only this load decides whether a round is quiet, never its results.
All rounds are written down; the figures come from the quiet ones.
"""

import json
import math
import os
import platform
import re
import shlex
import statistics
import subprocess
import sys
import threading
import time
from argparse import ArgumentParser
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import date
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Generic, TypeVar

from langchain_core.embeddings import Embeddings

from langgraph_rag.evaluation.questions import load_questions
from langgraph_rag.tools.documents.files import read_documents
from langgraph_rag.tools.knowledge_base import KnowledgeBase

Figures = Mapping[str, object]
RESULTS = Path(__file__).parent / "results"
_QUIET = 0.05  # a round is quiet if others use no more than this share of the processor time
_PATIENCE = 90  # seconds to wait for a quiet moment
_CORES = os.cpu_count() or 1
_PACKAGES = ["torch", "sentence-transformers", "chromadb", "langgraph", "langchain-core"]


T = TypeVar("T")


@dataclass(frozen=True)
class Round(Generic[T]):
    """The measurement of one round, and the share of the machine that other processes used."""

    measured: T
    others: float

    @property
    def quiet(self) -> bool:
        """Return whether other processes used little of the machine."""
        return self.others <= _QUIET


def rounds(measure: Callable[[], T], wanted: int) -> list[Round[T]]:
    """Measure until the wanted number of rounds were quiet, in at most three times as many rounds."""
    done: list[Round[T]] = []
    while sum(r.quiet for r in done) < wanted and len(done) < 3 * wanted:
        _wait_for_quiet()
        started, busy = time.perf_counter(), _others()
        measured = measure()
        share = (_others() - busy) / (time.perf_counter() - started) / _CORES
        done.append(Round(measured, round(max(share, 0.0), 3)))
        print(f"round {len(done)}: others {done[-1].others:.1%}", file=sys.stderr)
    return done


def quiet(done: Sequence[Round[T]]) -> list[T]:
    """Return the measurements of the quiet rounds, or of all rounds if none was quiet."""
    return [r.measured for r in done if r.quiet] or [r.measured for r in done]


def counted(done: Sequence[Round[T]]) -> str:
    """Return a text with the number of rounds behind the figures."""
    calm = sum(r.quiet for r in done)
    return f"{calm} of {len(done)}" if calm else f"none of {len(done)}: figures are of disturbed rounds"


def forget() -> None:
    """Clear the caches of the package in this process, so that no round profits from an earlier one."""
    for name, module in list(sys.modules.items()):
        if name.partition(".")[0] == "langgraph_rag":
            for value in vars(module).values():
                if callable(getattr(value, "cache_clear", None)) and value.cache_parameters()["maxsize"] is not None:
                    value.cache_clear()  # unlimited caches hold what is loaded once, such as the text pipeline


def timed(work: Callable[[], object], clock: Callable[[], float] = time.perf_counter) -> float:
    """Return the duration of some work in seconds."""
    started = clock()
    work()
    return clock() - started


def _wait_for_quiet() -> None:
    for _ in range(_PATIENCE):
        busy = _others()
        time.sleep(1)
        if (_others() - busy) / _CORES <= _QUIET:
            return


def _others() -> float:
    """Return the processor seconds used so far by all processes except this one and its finished children.

    Zero if the system does not provide them; then every round counts as quiet.
    """
    statistics_file = Path("/proc/stat")
    if not statistics_file.exists():
        return 0.0
    ticks = [int(field) for field in statistics_file.read_text(encoding="utf-8").split("\n", 1)[0].split()[1:9]]
    idle, waiting = ticks[3], ticks[4]
    return (sum(ticks) - idle - waiting) / os.sysconf("SC_CLK_TCK") - sum(os.times()[:4])


def data_sets(root: Path) -> list[Path]:
    """Return the folders with questions in a folder, by name."""
    return sorted(file.parent for file in root.glob("*/questions.jsonl"))


def corpus(data: Path, limit: int | None = None) -> list[dict[str, str]]:
    """Read the documents of a folder's `corpus.jsonl`, without its path."""
    documents = read_documents([data / "corpus.jsonl"])[:limit]
    return [{name: str(document[name]) for name in ("id", "title", "text")} for document in documents]


def questions(data: Path, limit: int | None = None) -> list[str]:
    """Read the questions of a folder's `questions.jsonl`."""
    return [question["question"] for question in load_questions(data / "questions.jsonl", limit)]


def asked_and_others(data: Path, asked: int, parser: ArgumentParser) -> tuple[list[str], list[str]]:
    """Return a number of questions of a folder, and the others; without others, exit with an error of the parser."""
    every = questions(data)
    if len(every) <= asked:
        parser.error(f"expected more than {asked} questions, got {len(every)}")
    return every[:asked], every[asked:]


@contextmanager
def indexed(data: Path, kept: Path | None, embeddings: Embeddings, *, embed_triples: bool = False) -> Iterator[Path]:
    """Yield the folder of a knowledge base with the corpus: a temporary one, or one that is kept for the next run."""
    with TemporaryDirectory() as temporary:
        folder = kept or Path(temporary) / "kb"
        with KnowledgeBase.open(folder, embeddings) as kb:
            kb.add(corpus(data))
            if embed_triples:
                kb.embed_triples()
        yield folder


@contextmanager
def served(script: str, *arguments: object) -> Iterator[str]:
    """Run a server of this folder, which prints its port, in its own process, and yield its URL."""
    command = [sys.executable, str(Path(__file__).with_name(script)), *map(str, arguments)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        try:
            yield f"http://127.0.0.1:{int(process.stdout.readline())}/v1"
        finally:
            process.kill()


@contextmanager
def computing_beside() -> Iterator[None]:
    """Run Python computations in another thread."""
    done = threading.Event()

    def compute() -> None:
        while not done.is_set():
            sum(range(1000))

    thread = threading.Thread(target=compute)
    thread.start()
    try:
        yield
    finally:
        done.set()
        thread.join()


def percentile(values: Sequence[float], share: float) -> float:
    """Return the smallest value such that at least this share of the values are no larger."""
    return sorted(values)[math.ceil(share * len(values)) - 1]


def seconds(values: Sequence[float]) -> dict[str, float]:
    """Summarise durations."""
    return {
        "median": round(statistics.median(values), 4),
        "p90": round(percentile(values, 0.9), 4),
        "longest": round(max(values), 4),
    }


def verdict(reached: bool) -> str:
    """Return a text that says whether a goal is met."""
    return "met" if reached else "missed"


def report(name: str, data: Path, figures: Figures, rows: Sequence[tuple[str, str, str]]) -> None:
    """Print the rows (figure, value, goal) and write them with all figures to `results/NAME.json`."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    print()
    for row in rows:
        print("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip())
    content = {
        "benchmark": name,
        "command": command(),
        "data": data.resolve().name,
        "commit": COMMIT,
        "date": date.today().isoformat(),
        "machine": machine(),
        "figures": figures,
        "table": [dict(zip(("figure", "value", "goal"), row, strict=True)) for row in rows],
    }
    RESULTS.mkdir(exist_ok=True)
    (RESULTS / f"{name}.json").write_text(json.dumps(content, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")


def command() -> str:
    """Return the command that was run, with only the last part of each path, as paths are private."""
    script, *arguments = sys.argv
    named = [re.sub(r"^(--[\w-]+=)?[/.~].*/(?=.)", r"\1", argument) for argument in arguments]
    return shlex.join(["python", f"benchmarks/{Path(script).name}", *named])


def _commit() -> str:
    """Return the measured commit, with a plus if the package has uncommitted changes."""
    head, changes = (
        subprocess.run(["git", *command], cwd=RESULTS.parent, capture_output=True, text=True).stdout.strip()
        for command in (["rev-parse", "--short", "HEAD"], ["status", "--porcelain", "--", "../langgraph_rag"])
    )
    return f"{head}+" if changes else head


COMMIT = _commit()  # determined at the start, because the imported code is measured


def machine() -> dict[str, object]:
    """Describe the machine."""
    return {
        "cpu": _cpu("model name") or platform.processor() or platform.machine(),
        "cpu_number_formats": [flag for flag in ("avx512_bf16", "amx_bf16") if flag in _cpu("flags").split()],
        "cores": os.cpu_count(),
        "memory_gib": round(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30, 1),
        "system": platform.system(),
        "python": platform.python_version(),
        **{package: _version(package) for package in _PACKAGES},
    }


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return "not installed"


def _cpu(field: str) -> str:
    """Return a field of the first processor; empty if the system does not provide it."""
    information = Path("/proc/cpuinfo")
    if not information.exists():
        return ""
    lines = (line.partition(":") for line in information.read_text(encoding="utf-8").splitlines())
    return next((value.strip() for name, _, value in lines if name.strip() == field), "")
