"""Asks all questions of several data sets with every method and ablation, and writes the results into the docs.

python benchmarks/comparing.py ROOT

ROOT holds a folder with corpus.jsonl and questions.jsonl for each data set. A stopped run can be continued.
"""

import argparse
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from datetime import date
from pathlib import Path
from typing import Any

from measuring import COMMIT, RESULTS, command, data_sets, machine
from results_page import DENSE, IMAGES, methods_of, name_of, results_page, write_pages

from langgraph_rag.evaluation.pictures import draw_comparison
from langgraph_rag.evaluation.questions import load_questions
from langgraph_rag.methods import parse_methods

_NOT_SHOWN = {"types", "compared", "origin"}  # left out, as they make a report several times as long


def main() -> None:
    """Run what is missing, then write the figures and the pages with them."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("root", type=Path, help="folder with a folder for each data set")
    parser.add_argument("--out", type=Path, default=Path("runs/comparing"), help="folder for indexes and outcomes")
    parser.add_argument("--method", default="ablations", help="as eval takes them; all is without ablations")
    parser.add_argument("--limit", type=int, help="ask only the first so many questions, and leave the docs alone")
    parser.add_argument("--processes", type=int, default=os.cpu_count() or 1, help="processes that ask")
    arguments = parser.parse_args()
    data = sorted(data_sets(arguments.root), key=_size, reverse=True)
    if not data:
        parser.error(f"expected folders with corpus.jsonl and questions.jsonl in {arguments.root}, got none")

    signal.signal(signal.SIGTERM, signal.default_int_handler)  # else the running command would continue
    out, names = arguments.out, parse_methods(arguments.method)
    run = _begin(out)
    asked = sum(len(load_questions(folder / "questions.jsonl", arguments.limit)) for folder in data)
    phases = {
        DENSE: ["native_rag"],
        "methods": [name for name in names if "/" not in name],
        "ablations": [name for name in names if "/" in name],
    }
    for folder in data:
        _run("index", folder / "corpus.jsonl", "--kb", out / folder.name / "kb")
    for phase, chosen in phases.items():
        if chosen:
            started = time.perf_counter()
            try:
                for folder in data:
                    _ask(folder, out / folder.name, phase, chosen, arguments)
            finally:  # a stopped run reports its time, too
                minutes = (time.perf_counter() - started) / 60
                run["minutes"][phase] = round(run["minutes"].get(phase, 0.0) + minutes, 1)
                _write(out / "run.json", run)

    figures = {
        **run,
        "command": command(),
        "questions": asked,
        "data": {folder.name: _rows(out / folder.name) for folder in data},
    }
    print(results_page(figures))
    if arguments.limit is None:
        _write(RESULTS / "comparing.json", figures)
        for name, rows in figures["data"].items():
            (IMAGES / name).mkdir(parents=True, exist_ok=True)
            draw_comparison(methods_of(rows), IMAGES / name, name_of(name))
        write_pages(figures)


def _ask(folder: Path, out: Path, phase: str, names: Sequence[str], arguments: argparse.Namespace) -> None:
    """Ask the questions that no earlier run has asked."""
    places = ["--kb", out / "kb", "--questions", folder / "questions.jsonl", "--out", out / phase]
    limit = ["--limit", arguments.limit] if arguments.limit else []
    search = ["--search", "dense"] if phase == DENSE else []
    _run("eval", *places, "--method", ",".join(names), "--processes", arguments.processes, *limit, *search)


def _run(*arguments: object) -> None:
    subprocess.run([sys.executable, "-m", "langgraph_rag", *map(str, arguments)], check=True)


def _begin(out: Path) -> dict[str, Any]:
    """Return the identity of a run; a run continues only with the code that started it."""
    file = out / "run.json"
    if file.exists():
        run: dict[str, Any] = json.loads(file.read_text(encoding="utf-8"))
        if run["commit"] != COMMIT:
            raise SystemExit(f"{out} holds a run of commit {run['commit']}, this is {COMMIT}: delete it to start again")
        return run
    run = {"commit": COMMIT, "date": date.today().isoformat(), "machine": machine(), "minutes": {}}
    _write(file, run)
    return run


def _rows(out: Path) -> dict[str, Any]:
    """Return the summaries of a data set: the dense baseline first, then each method followed by its ablations."""
    reports = {file.parent.name: json.loads(file.read_text(encoding="utf-8")) for file in out.glob("*/report.json")}
    dense = reports.pop(DENSE)["native_rag"]
    found = {name: row for report in reports.values() for name, row in report.items()}
    for row in (dense, *found.values()):
        for more in _NOT_SHOWN & row.keys():
            del row[more]
    return {DENSE: dense, **{name: found[name] for name in parse_methods("ablations") if name in found}}


def _write(file: Path, content: object) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(json.dumps(content, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")


def _size(folder: Path) -> int:
    return (folder / "corpus.jsonl").stat().st_size


if __name__ == "__main__":
    main()
