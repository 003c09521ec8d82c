"""Asks a few hard questions with methods and a strong model behind an OpenAI-compatible server.

VLLM_BASE_URL=http://127.0.0.1:8000/v1 python benchmarks/strong.py ROOT KBS --method kirag,cirag --model NAME

ROOT holds a folder with corpus.jsonl and questions.jsonl for each data set, KBS a knowledge base of the same name for
each. The questions are drawn by a seed: half from MuSiQue's of three and four hops, half from 2WikiMultiHopQA. A strong
model is slow or expensive, so all replies that a run got are kept, and a stopped run goes on where it was.
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

_MANY = 3  # gold passages of a question of MuSiQue that counts as hard
_SETS = ("musique", "2wiki")


def main() -> None:
    """Draw the questions, ask them, and print what each method found."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("root", type=Path, help="folder with the folders musique and 2wiki")
    parser.add_argument("kbs", type=Path, help="folder with a knowledge base of the same name for each set")
    parser.add_argument("--method", default="native_rag,kirag,cirag", help="as eval takes them")
    parser.add_argument("--model", default="vllm:strong", help="a model by name")
    parser.add_argument("--questions", type=int, default=12, help="questions of both sets together")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--out", type=Path, default=Path("runs/strong"), help="folder for outcomes")
    arguments = parser.parse_args()
    found = {name: asyncio.run(_ask(name, arguments)) for name in parse_methods(arguments.method)}
    rows = [(name, ", ".join(f"{figure} {value}" for figure, value in row.items()), "") for name, row in found.items()]
    report("strong", arguments.root, {"seed": arguments.seed, "questions": arguments.questions, **found}, rows)


async def _ask(method: str, arguments: argparse.Namespace) -> dict[str, float]:
    outcomes: list[Outcome] = []
    for name in _SETS:
        questions = drawn(arguments.root / name, arguments.questions // len(_SETS), arguments.seed)
        with KnowledgeBase.open(arguments.kbs / name, read_only=True) as kb:
            graph = create(method, load_model(arguments.model), kb).compile()
            configuration = Configuration(method=method, model=arguments.model, knowledge_base=name)
            folder = arguments.out / method / name
            outcomes += await evaluate(
                graph, questions, folder, configuration=configuration, concurrency=arguments.questions
            )
    return _figures(outcomes)


def drawn(data: Path, number: int, seed: int) -> list[Question]:
    """Return some questions of a set, of MuSiQue only hard ones, in the order of their file."""
    questions = load_questions(data / "questions.jsonl")
    hard = [one for one in questions if data.name != "musique" or len(one.get("supporting_ids", [])) >= _MANY]
    chosen = random.Random(seed).sample([one["id"] for one in hard], number)
    return [one for one in hard if one["id"] in chosen]


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
