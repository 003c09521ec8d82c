"""Asks a few plain and a few hard questions with methods and a strong model behind an OpenAI-compatible server.

VLLM_BASE_URL=http://127.0.0.1:8000/v1 python benchmarks/strong.py ROOT KBS --method kirag,cirag --model NAME

ROOT holds a folder with corpus.jsonl and questions.jsonl for each data set, KBS a knowledge base of the same name for
each. The questions are drawn by a seed. Hard ones: half from MuSiQue's of three and four hops, half from
2WikiMultiHopQA. Plain ones: a third each from HotpotQA, MuSiQue's of two hops, and those of 2WikiMultiHopQA with two
gold passages. A strong model is slow or expensive, so all outcomes are kept, and a stopped run goes on where it was.
One method alone has results of its own, `strong_METHOD.json`.
"""

import argparse
import asyncio
import json
import random
from collections.abc import Sequence
from pathlib import Path
from statistics import fmean

from measuring import report

from langgraph_rag import KnowledgeBase, load_model
from langgraph_rag.evaluation.outcomes import Configuration, Outcome
from langgraph_rag.evaluation.questions import Question, load_questions
from langgraph_rag.evaluation.runner import evaluate
from langgraph_rag.methods import create, parse_methods
from langgraph_rag.records import no_usage, tokens_spent

_MANY = 3  # gold passages of a question of MuSiQue that counts as hard; plain questions have fewer
_KINDS = {"plain": ("hotpotqa", "musique", "2wiki"), "hard": ("musique", "2wiki")}


def main() -> None:
    """Draw the questions, ask them, and print what each method found."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("root", type=Path, help="folder with the folders hotpotqa, musique and 2wiki")
    parser.add_argument("kbs", type=Path, help="folder with a knowledge base of the same name for each set")
    parser.add_argument("--method", default="adaptive,native_rag,kirag,cirag", help="as eval takes them")
    parser.add_argument("--model", default="vllm:strong", help="a model by name")
    parser.add_argument("--questions", type=int, default=12, help="questions of a kind")
    parser.add_argument("--kind", choices=_KINDS, action="append", help="which questions; by default both kinds")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--out", type=Path, default=Path("runs/strong"), help="folder for outcomes")
    arguments = parser.parse_args()
    found = {
        kind: {name: asyncio.run(_ask(name, kind, arguments)) for name in parse_methods(arguments.method)}
        for kind in arguments.kind or _KINDS
    }
    rows = [
        (f"{kind}: {name}", ", ".join(f"{figure} {value}" for figure, value in row.items()), "")
        for kind, methods in found.items()
        for name, row in methods.items()
    ]
    name = "strong" if "," in arguments.method else f"strong_{arguments.method}"
    report(name, arguments.root, {"seed": arguments.seed, "questions": arguments.questions, **found}, rows)


async def _ask(method: str, kind: str, arguments: argparse.Namespace) -> dict[str, float]:
    outcomes: list[Outcome] = []
    for name in _KINDS[kind]:
        number = arguments.questions // len(_KINDS[kind])
        questions = drawn(arguments.root / name, number, arguments.seed, kind)
        with KnowledgeBase.open(arguments.kbs / name, read_only=True) as kb:
            graph = create(method, load_model(arguments.model), kb).compile()
            configuration = Configuration(method=method, model=arguments.model, knowledge_base=name)
            folder = arguments.out / method / kind / name
            outcomes += await evaluate(
                graph, questions, folder, configuration=configuration, concurrency=arguments.questions
            )
    return _figures(outcomes)


def drawn(data: Path, number: int, seed: int, kind: str) -> list[Question]:
    """Return some questions of a kind from a data set, in the order of their file."""
    questions = [one for one in load_questions(data / "questions.jsonl") if _is(kind, one, data.name)]
    chosen = random.Random(seed).sample([one["id"] for one in questions], number)
    return [one for one in questions if one["id"] in chosen]


def _is(kind: str, question: Question, data: str) -> bool:
    many = len(question.get("supporting_ids", [])) >= _MANY
    return not many if kind == "plain" else many or data != "musique"


def _figures(outcomes: Sequence[Outcome]) -> dict[str, float]:
    """Return means of all questions, in percent but for calls and tokens; a failed question scores zero."""
    for one in outcomes:
        print(json.dumps([one["id"], one["answers"], one["answer"], one["f1"], one["error"]], ensure_ascii=False))
    spent = [one["usage"] or no_usage() for one in outcomes]
    return {
        "F1": round(100 * fmean(one["f1"] or 0.0 for one in outcomes), 1),
        "EM": round(100 * fmean(one["em"] or 0.0 for one in outcomes), 1),
        "R@5": round(100 * fmean((one["recall"] or {}).get("5", 0.0) for one in outcomes), 1),
        "calls": round(fmean(usage["calls"] for usage in spent), 1),
        "tokens": round(fmean(map(tokens_spent, spent))),
        "failed": sum(one["error"] is not None for one in outcomes),
    }


if __name__ == "__main__":
    main()
