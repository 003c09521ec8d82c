"""Measures adding, opening, searching, changing and asking as a knowledge base grows, beside an earlier commit.

python benchmarks/scaling.py ROOT [--before CHECKOUT] [--sizes 5000 20000 80000] [--made 20000 200000]

The passages of the data sets in ROOT are repeated as needed, each time with other names in them. They are embedded by
hashes of their words, which takes almost no time; `indexing.py` measures embedding. With --made, passages, facts and
vectors are made and loaded, which is quicker. With --before, an earlier checkout of this repository is measured by the
same steps, one size after the other in turn with this one.
"""

import argparse
import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator, Sequence
from itertools import count, islice
from pathlib import Path
from tempfile import TemporaryDirectory

from growing import made_questions
from measuring import corpus, questions, report
from results_page import IMAGES

_SIZES, _QUESTIONS = (5_000, 20_000, 80_000), 24
_NAME = re.compile(r"\b[A-Z][a-z]{3,}\b")
_DRAWN = (
    "opening and first graph search, s",
    "memory of all methods, MiB",
    "graph search after a change, ms",
    "hybrid search, ms",
)
_CHECKOUT = Path(__file__).parents[1]
Figures = dict[str, float]


def main() -> None:
    """Run the benchmark, each size in processes of its own."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("root", type=Path, help="folder with data sets, each with corpus.jsonl and questions.jsonl")
    parser.add_argument("--sizes", type=int, nargs="*", default=_SIZES, help="passages")
    parser.add_argument("--made", type=int, nargs="*", default=(), help="made passages")
    parser.add_argument("--before", type=Path, help="checkout of an earlier commit")
    arguments = parser.parse_args()
    folders = sorted(file.parent for file in arguments.root.glob("*/questions.jsonl"))
    asked = questions(folders[0], _QUESTIONS)
    done: dict[str, Figures] = {}
    with TemporaryDirectory() as place:
        documents = Path(place, "documents.jsonl")
        with documents.open("w", encoding="utf-8") as lines:
            for document in islice(repeated(folders), max(arguments.sizes, default=0)):
                lines.write(json.dumps(document) + "\n")
        for size in arguments.sizes:
            for name, checkout in (("before", arguments.before), ("now", _CHECKOUT)):
                if checkout:
                    done[f"{size} {name}"] = _grown(checkout, Path(place), ["added", str(documents), size], asked)
        for size in arguments.made:
            made = made_questions(_QUESTIONS)
            done[f"{size} made"] = _grown(_CHECKOUT, Path(place), ["loaded", size], made)
    for name, figures in done.items():
        print(name, json.dumps(figures), file=sys.stderr)
    columns = " / ".join(done)
    what = dict.fromkeys(name for figures in done.values() for name in figures)
    rows = [(name, " / ".join(f"{figures[name]:.3g}" for figures in done.values()), "") for name in what]
    before = arguments.before and _commit(arguments.before)
    report("scaling", arguments.root, {"before": before, **done}, [("figure", columns, ""), *rows])
    _draw(done, IMAGES / "scaling.png")


def _grown(checkout: Path, place: Path, build: Sequence[object], asked: list[str]) -> Figures:
    """Build and measure a knowledge base with the code of a checkout."""
    with TemporaryDirectory(dir=place) as folder:
        name, *rest = build
        figures = _run(checkout, name, folder, *rest)
        return {
            what: round(value, 3) for what, value in {**figures, **_run(checkout, "measured", folder, asked)}.items()
        }


def _run(checkout: Path, *arguments: object) -> Figures:
    print(checkout.name, arguments[0], file=sys.stderr)
    script = Path(__file__).with_name("growing.py")
    environment = {**os.environ, "PYTHONPATH": str(checkout.resolve())}
    ran = subprocess.run(
        [sys.executable, script, json.dumps(arguments)], check=True, stdout=subprocess.PIPE, text=True, env=environment
    )
    figures: Figures = json.loads(ran.stdout)
    return figures


def _commit(checkout: Path) -> str:
    head = subprocess.run(["git", "rev-parse", "--short", "HEAD"], cwd=checkout, capture_output=True, text=True)
    return head.stdout.strip()


def _draw(done: dict[str, Figures], file: Path) -> None:
    """Draw some figures by size, a line for each kind of run."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    figure, panels = pyplot.subplots(1, len(_DRAWN), figsize=(4 * len(_DRAWN), 3.2), layout="constrained")
    for panel, what in zip(panels, _DRAWN, strict=True):
        for kind in ("before", "now", "made"):
            points = [(int(name.split()[0]), row[what]) for name, row in done.items() if name.endswith(kind)]
            if points:
                panel.plot(*zip(*points, strict=True), marker="o", label=kind)
        panel.set(xscale="log", yscale="log", xlabel="passages", title=what)
        panel.legend()
    figure.savefig(file, dpi=110)


def repeated(folders: list[Path]) -> Iterator[dict[str, str]]:
    """Yield the passages of the data sets repeatedly, with other names each time."""
    passages = [
        {**document, "id": f"{folder.name} {document['id']}"} for folder in folders for document in corpus(folder)
    ]
    for turn in count():
        ending = "aeiou"[turn % 5] * (turn // 5 + 1) if turn else ""
        for passage in passages:
            yield {
                "id": f"{turn} {passage['id']}",
                "title": _NAME.sub(rf"\g<0>{ending}", passage["title"]),
                "text": _NAME.sub(rf"\g<0>{ending}", passage["text"]),
            }


if __name__ == "__main__":
    main()
