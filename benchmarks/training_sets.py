"""Counts what small models would learn from a teacher: rows, rejected turns and tokens of each set.

python benchmarks/training_sets.py ROOT KBS BASE

ROOT holds a folder with questions.jsonl of training questions for each data set, KBS a knowledge base of the same name
for each; BASE is the folder of the model whose tokens are counted. The trajectories are kept, and a stopped run goes on
where it was. The offline model is the teacher by default.
"""

import argparse
import asyncio
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from measuring import data_sets, report
from tqdm import tqdm

from langgraph_rag import KnowledgeBase, load_model
from langgraph_rag.evaluation.outcomes import Configuration, Outcome
from langgraph_rag.evaluation.places import located
from langgraph_rag.evaluation.questions import Question, load_questions
from langgraph_rag.methods import create
from langgraph_rag.naming import counted
from langgraph_rag.training.rendering import NO_LOSS, Renderer
from langgraph_rag.training.rows import Gold, RowSet, gold_of, report_of, write_sets
from langgraph_rag.training.sets import rows_of_set
from langgraph_rag.training.trajectories import record_trajectories

_SETS = {
    "cirag": ["integrator"],
    "dualrag/published": ["reasoner", "identifier", "summarizer"],
    "adaptive": ["answer_or_look_up", "gate"],
}


def main() -> None:
    """Record trajectories, make the sets, and print their sizes."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("root", type=Path, help="folder with a folder for each data set")
    parser.add_argument("kbs", type=Path, help="folder with a knowledge base of the same name for each set")
    parser.add_argument("base", help="model whose tokens are counted")
    parser.add_argument("--model", default="offline", help="the teacher, by name")
    parser.add_argument("--questions", type=int, help="questions of each set, from the first on")
    parser.add_argument("--method", choices=_SETS, action="append", help="by default all")
    parser.add_argument("--runs", type=Path, default=Path("runs/training"), help="folder for trajectories and rows")
    arguments = parser.parse_args()
    renderer = Renderer.of(arguments.base)
    figures = dict[str, Any]()
    for data in data_sets(arguments.root):
        if not (arguments.kbs / data.name).is_dir():
            continue
        questions = load_questions(data / "questions.jsonl", arguments.questions)
        with KnowledgeBase.open(arguments.kbs / data.name, read_only=True) as kb:
            gold = gold_of(located(questions, kb), kb)
            for method in arguments.method or _SETS:
                runs = _recorded(kb, questions, method, arguments.model, arguments.runs / data.name / method)
                figures[f"{data.name}: {method}"] = {
                    "questions": len(runs),
                    "right": sum(run["em"] == 1 for run in runs),
                    "failed": sum(run["error"] is not None for run in runs),
                    "sets": _sets(method, runs, gold, kb, renderer, arguments.runs / data.name / "rows"),
                }
    base = Path(arguments.base).name
    report("training_sets", arguments.root, {"teacher": arguments.model, "tokenizer": base, **figures}, _lines(figures))


def _recorded(kb: KnowledgeBase, questions: list[Question], method: str, model: str, out: Path) -> list[Outcome]:
    configuration = Configuration(
        method=method, model=model, knowledge_base=str(kb.path), knowledge_base_fingerprint=kb.fingerprint()
    )
    graph = create(method, load_model(model), kb).compile()
    with tqdm(total=len(questions), desc=str(out), unit="question") as bar:
        return asyncio.run(
            record_trajectories(graph, questions, out, configuration=configuration, on_result=lambda _: bar.update())
        )


def _sets(
    method: str, runs: list[Outcome], gold: Mapping[str, Gold], kb: KnowledgeBase, renderer: Renderer, out: Path
) -> dict[str, Any]:
    sets = dict[str, Any]()
    for name in _SETS[method]:
        rows: Any
        rows, rejected = asyncio.run(rows_of_set(name, runs, gold, kb, ["right"]))
        counts = report_of(rows, rejected)
        write_sets(out / name, {name: RowSet(rows, rejected, counts)}, [], ["right"])
        tokens = Counter[str]()
        for row in rows:
            if "reply" in row:
                made = renderer.row(row["messages"], row["reply"])
                tokens["tokens"] += len(made["labels"])
                tokens["learned"] += sum(label != NO_LOSS for label in made["labels"])
                tokens["longest"] = max(tokens["longest"], len(made["labels"]))
        sets[name] = {**counts, **tokens}
    return sets


def _lines(figures: Mapping[str, Any]) -> list[tuple[str, str, str]]:
    return [
        (
            f"{data}: {name}",
            f"{counted(one['rows'], 'row')}, {sum(one['rejects'].values()):,} rejected, "
            f"{one.get('tokens', 0):,} tokens, {one.get('learned', 0):,} with loss",
            "; ".join(f"{number:,} {reason}" for reason, number in {**one["labels"], **one["rejects"]}.items()),
        )
        for data, about in figures.items()
        for name, one in about["sets"].items()
    ]


if __name__ == "__main__":
    main()
