"""What the benchmarks share: reading the data, timing on a machine shared with others, the table, the results file.

Other processes lengthen what is timed, also its processor time, because threads that wait for each other keep spinning.
So each round notes what they used meanwhile. Rounds are told apart by that alone, never by what came out of them; all
are written down, and the figures come from the quiet ones.
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
from langgraph_rag.tools.knowledge_base import KnowledgeBase
from langgraph_rag.tools.reading.files import read_documents

Figures = Mapping[str, object]
RESULTS = Path(__file__).parent / "results"
_QUIET = 0.05  # of the machine's processor time: more used by others, and a round is not quiet
_PATIENCE = 90  # seconds to wait for a quiet moment
_CORES = os.cpu_count() or 1
_PACKAGES = ["torch", "sentence-transformers", "chromadb", "langgraph", "langchain-core"]


T = TypeVar("T")


@dataclass(frozen=True)
class Round(Generic[T]):
    """What one round measured, and the share of the machine that other processes used meanwhile."""

    measured: T
    others: float

    @property
    def quiet(self) -> bool:
        """Tell whether other processes left the machine alone."""
        return self.others <= _QUIET


def rounds(measure: Callable[[], T], wanted: int) -> list[Round[T]]:
    """Measure until so many rounds were quiet, three times as often at most."""
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
    """Return what the quiet rounds measured, or all where none was quiet."""
    return [r.measured for r in done if r.quiet] or [r.measured for r in done]


def counted(done: Sequence[Round[T]]) -> str:
    """Say how many rounds the figures come from."""
    calm = sum(r.quiet for r in done)
    return f"{calm} of {len(done)}" if calm else f"none of {len(done)}: figures are of disturbed rounds"


def forget() -> None:
    """Empty what the package remembers in this process, so that no round profits from the one before."""
    for name, module in list(sys.modules.items()):
        if name.partition(".")[0] == "langgraph_rag":
            for value in vars(module).values():
                if callable(getattr(value, "cache_clear", None)) and value.cache_parameters()["maxsize"] is not None:
                    value.cache_clear()  # those without a limit hold what is loaded once, such as the text pipeline


def timed(work: Callable[[], object], clock: Callable[[], float] = time.perf_counter) -> float:
    """Return the seconds a piece of work takes by a clock."""
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
    """Return the processor seconds used so far by all but this process and those it has started and awaited.

    Zero where the system does not tell: every round counts as quiet then.
    """
    statistics_file = Path("/proc/stat")
    if not statistics_file.exists():
        return 0.0
    ticks = [int(field) for field in statistics_file.read_text(encoding="utf-8").split("\n", 1)[0].split()[1:9]]
    idle, waiting = ticks[3], ticks[4]
    return (sum(ticks) - idle - waiting) / os.sysconf("SC_CLK_TCK") - sum(os.times()[:4])


def corpus(data: Path, limit: int | None = None) -> list[dict[str, str]]:
    """Read the documents of a folder's `corpus.jsonl`, without the path they come from."""
    documents = read_documents([data / "corpus.jsonl"])[:limit]
    return [{name: str(document[name]) for name in ("id", "title", "text")} for document in documents]


def questions(data: Path, limit: int | None = None) -> list[str]:
    """Read the questions of a folder's `questions.jsonl`."""
    return [question["question"] for question in load_questions(data / "questions.jsonl", limit)]


def asked_and_others(data: Path, asked: int, parser: ArgumentParser) -> tuple[list[str], list[str]]:
    """Return so many questions of a folder, and all others; where there are no others, end with the parser's error."""
    every = questions(data)
    if len(every) <= asked:
        parser.error(f"expected more than {asked} questions, got {len(every)}")
    return every[:asked], every[asked:]


@contextmanager
def indexed(data: Path, kept: Path | None, embeddings: Embeddings, *, embed_triples: bool = False) -> Iterator[Path]:
    """Yield the folder of a knowledge base that holds the corpus: a temporary one, or one kept for the next run."""
    with TemporaryDirectory() as temporary:
        folder = kept or Path(temporary) / "kb"
        with KnowledgeBase.open(folder, embeddings) as kb:
            kb.add(corpus(data))
            if embed_triples:
                kb.embed_triples()
        yield folder


@contextmanager
def computing_beside() -> Iterator[None]:
    """Keep another thread computing in Python."""
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
    """Return the smallest value that at least this share of the values do not exceed."""
    return sorted(values)[math.ceil(share * len(values)) - 1]


def seconds(values: Sequence[float]) -> dict[str, float]:
    """Sum up some durations."""
    return {
        "median": round(statistics.median(values), 4),
        "p90": round(percentile(values, 0.9), 4),
        "longest": round(max(values), 4),
    }


def verdict(reached: bool) -> str:
    """Say whether a goal is met."""
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
    """Say what was run. Where folders lie on this machine is nobody's business: the last name of each will do."""
    script, *arguments = sys.argv
    named = [re.sub(r"^(--[\w-]+=)?[/.~].*/(?=.)", r"\1", argument) for argument in arguments]
    return shlex.join(["python", f"benchmarks/{Path(script).name}", *named])


def _commit() -> str:
    """Name the commit that was measured, with a plus where the package has been changed since."""
    head, changes = (
        subprocess.run(["git", *command], cwd=RESULTS.parent, capture_output=True, text=True).stdout.strip()
        for command in (["rev-parse", "--short", "HEAD"], ["status", "--porcelain", "--", "../langgraph_rag"])
    )
    return f"{head}+" if changes else head


COMMIT = _commit()  # at the start: the code that is measured is the code that was imported


def machine() -> dict[str, object]:
    """Say what the figures were measured on."""
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
    """Return a field of the first processor, nothing where the system does not tell."""
    information = Path("/proc/cpuinfo")
    if not information.exists():
        return ""
    lines = (line.partition(":") for line in information.read_text(encoding="utf-8").splitlines())
    return next((value.strip() for name, _, value in lines if name.strip() == field), "")
