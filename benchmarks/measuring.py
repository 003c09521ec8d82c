"""What the benchmarks share: reading the data, percentiles, the printed table, the file of results."""

import json
import math
import os
import platform
import statistics
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import date
from importlib.metadata import version
from pathlib import Path
from tempfile import TemporaryDirectory

from langgraph_rag.evaluation.questions import load_questions
from langgraph_rag.tools.files import read_documents
from langgraph_rag.tools.knowledge_base import KnowledgeBase

Figures = Mapping[str, object]
RESULTS = Path(__file__).parent / "results"
_PACKAGES = ["torch", "sentence-transformers", "chromadb", "langgraph", "langchain-core"]


def corpus(data: Path, limit: int | None = None) -> list[dict[str, str]]:
    """Read the documents of a folder's `corpus.jsonl`, without the path they come from."""
    documents = read_documents([data / "corpus.jsonl"])[:limit]
    return [{name: str(document[name]) for name in ("id", "title", "text")} for document in documents]


def questions(data: Path, limit: int | None = None) -> list[str]:
    """Read the questions of a folder's `questions.jsonl`."""
    return [question["question"] for question in load_questions(data / "questions.jsonl", limit)]


@contextmanager
def indexed(data: Path, kept: Path | None) -> Iterator[Path]:
    """Yield the folder of a knowledge base that holds the corpus: a temporary one, or one kept for the next run."""
    with TemporaryDirectory() as temporary:
        folder = kept or Path(temporary) / "kb"
        with KnowledgeBase.open(folder) as kb:
            kb.add(corpus(data))
        yield folder


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
        "data": data.resolve().name,
        "date": date.today().isoformat(),
        "machine": _machine(),
        "figures": figures,
        "table": [dict(zip(("figure", "value", "goal"), row, strict=True)) for row in rows],
    }
    RESULTS.mkdir(exist_ok=True)
    (RESULTS / f"{name}.json").write_text(json.dumps(content, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")


def _machine() -> dict[str, object]:
    return {
        "cpu": _cpu("model name") or platform.processor() or platform.machine(),
        "cpu_number_formats": [flag for flag in ("avx512_bf16", "amx_bf16") if flag in _cpu("flags").split()],
        "cores": os.cpu_count(),
        "memory_gib": round(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30, 1),
        "system": platform.system(),
        "python": platform.python_version(),
        **{package: version(package) for package in _PACKAGES},
    }


def _cpu(field: str) -> str:
    """Return a field of the first processor, nothing where the system does not tell."""
    information = Path("/proc/cpuinfo")
    if not information.exists():
        return ""
    lines = (line.partition(":") for line in information.read_text(encoding="utf-8").splitlines())
    return next((value.strip() for name, _, value in lines if name.strip() == field), "")
