"""Times CIRAG with the offline model, one question at a time: first without embedded triples, then with all needed.

python benchmarks/asking.py DATA
"""

import argparse
import shutil
from functools import partial
from itertools import count
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TypedDict

from measuring import Round, counted, forget, indexed, questions, quiet, report, rounds, seconds, timed, verdict

from langgraph_rag import KnowledgeBase, create_cirag, load_model
from langgraph_rag.tools.ingest.embeddings import MiniLMEmbeddings

GOAL = 0.5


class Passes(TypedDict):
    """Seconds of each question in the first and second pass, and the number of triples that the first pass embedded."""

    cold: list[float]
    warm: list[float]
    triples_embedded: int


def main() -> None:
    """Run the benchmark."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", type=Path, help="folder with corpus.jsonl and questions.jsonl")
    parser.add_argument("--rounds", type=int, default=3, help="quiet rounds, each on a fresh copy of the index")
    parser.add_argument("--limit", type=int, help="ask only the first so many questions")
    parser.add_argument("--kb", type=Path, help="folder to keep the index in for the next run")
    arguments = parser.parse_args()
    asked = questions(arguments.data, arguments.limit)
    minilm = MiniLMEmbeddings()

    with TemporaryDirectory() as temporary, indexed(arguments.data, arguments.kb, minilm) as original:
        with KnowledgeBase.open(original, minilm) as base:
            if known := base.info()["triple_vectors"]:
                parser.error(
                    f"expected an index without vectors of triples in {original}, got {known}: name another --kb"
                )
        _ask(_copy(original, Path(temporary) / "warm-up"), minilm, asked[:3])
        number = count()
        done = rounds(
            lambda: _passes(_copy(original, Path(temporary) / str(next(number))), minilm, asked), arguments.rounds
        )

    cold = seconds([value for one in quiet(done) for value in one["cold"]])
    warm = seconds([value for one in quiet(done) for value in one["warm"]])
    report(
        "asking",
        arguments.data,
        {
            "questions": len(asked),
            "cold": cold,
            "warm": warm,
            "rounds": [_written(one) for one in done],
        },
        [
            ("figure", "value", "goal"),
            ("cold: median seconds of a question", f"{cold['median']:.3f}", _goal(cold["median"])),
            ("cold: 90 of 100 take at most", f"{cold['p90']:.3f}", ""),
            ("cold: triples embedded per question", f"{done[0].measured['triples_embedded'] / len(asked):.0f}", ""),
            ("warm: median seconds of a question", f"{warm['median']:.3f}", _goal(warm["median"])),
            ("warm: 90 of 100 take at most", f"{warm['p90']:.3f}", ""),
            ("quiet rounds", counted(done), ""),
        ],
    )


def _passes(kb: Path, minilm: MiniLMEmbeddings, asked: list[str]) -> Passes:
    """Ask all questions twice; reopening in between drops the vectors of queries and keeps those of triples."""
    cold = _ask(kb, minilm, asked)
    with KnowledgeBase.open(kb, minilm) as base:
        embedded = base.info()["triple_vectors"]
    return Passes(cold=cold, warm=_ask(kb, minilm, asked), triples_embedded=embedded)


def _ask(kb: Path, minilm: MiniLMEmbeddings, asked: list[str]) -> list[float]:
    forget()
    with KnowledgeBase.open(kb, minilm) as base:
        graph = create_cirag(load_model("offline"), base).compile()
        return [timed(partial(graph.invoke, {"question": question})) for question in asked]


def _copy(original: Path, copy: Path) -> Path:
    return Path(shutil.copytree(original, copy))


def _written(one: Round[Passes]) -> dict[str, object]:
    measured = one.measured
    return {
        "cold": seconds(measured["cold"]),
        "warm": seconds(measured["warm"]),
        "triples_embedded": measured["triples_embedded"],
        "others": one.others,
    }


def _goal(value: float) -> str:
    return f"under {GOAL}: {verdict(value < GOAL)}"


if __name__ == "__main__":
    main()
