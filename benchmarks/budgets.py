"""Asks every method with less and less budget, offline model: how good are the answers where a limit ends the search?

python benchmarks/budgets.py DATA
"""

import argparse
import asyncio
from collections.abc import Sequence
from pathlib import Path
from statistics import mean
from typing import Any

from measuring import indexed, report

from langgraph_rag import Context, KnowledgeBase, is_refusal, load_model
from langgraph_rag.evaluation.metrics import f1
from langgraph_rag.evaluation.questions import Question, load_questions
from langgraph_rag.methods import METHODS, create
from langgraph_rag.naming import counted
from langgraph_rag.tools.ingest.embeddings import MiniLMEmbeddings

_BUDGETS = {
    **{counted(most, "call"): Context(max_model_calls=most) for most in (1, 2, 3, 4, 6, 8)},
    **{f"{most:,} tokens": Context(max_tokens=most) for most in (2_000, 4_000, 8_000)},
    "no limit": Context(),
}


def main() -> None:
    """Run the benchmark."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path, help="folder with corpus.jsonl and questions.jsonl")
    parser.add_argument("--limit", type=int, help="ask only the first so many questions")
    parser.add_argument("--kb", type=Path, help="folder to keep the index in for the next run")
    arguments = parser.parse_args()
    asked = load_questions(arguments.data / "questions.jsonl", arguments.limit)
    minilm = MiniLMEmbeddings()

    with (
        indexed(arguments.data, arguments.kb, minilm, embed_triples=True) as folder,
        KnowledgeBase.open(folder, minilm) as kb,
    ):
        found = {
            name: asyncio.run(_asked(create(name, load_model("offline"), kb).compile(), asked)) for name in METHODS
        }

    report(
        "budgets",
        arguments.data,
        {"questions": len(asked), "methods": found},
        [("method", "F1 (refusals)", ""), *((name, _shown(of), "") for name, of in found.items())],
    )


async def _asked(graph: Any, asked: Sequence[Question]) -> dict[str, dict[str, float]]:
    """Return F1 in percent and the number of refusals for each budget."""
    return {name: await _with(graph, asked, budget) for name, budget in _BUDGETS.items()}


async def _with(graph: Any, asked: Sequence[Question], budget: Context) -> dict[str, float]:
    results = await asyncio.gather(*(graph.ainvoke({"question": one["question"]}, context=budget) for one in asked))
    answers = [result["answer"] for result in results]
    return {
        "f1": round(100 * mean(f1(answer, one["answers"]) for answer, one in zip(answers, asked, strict=True)), 1),
        "refusals": sum(map(is_refusal, answers)),
    }


def _shown(of: dict[str, dict[str, float]]) -> str:
    return ", ".join(f"{budget}: {one['f1']} ({one['refusals']})" for budget, one in of.items())


if __name__ == "__main__":
    main()
