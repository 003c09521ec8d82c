"""Distils CIRAG's integrator into a small model, and compares it with the same model undistilled.

python benchmarks/distilling.py ROWS BASE DATA KB

ROWS is a file of rows (`langgraph-rag train rows --set integrator`), BASE a chat model: a folder, or a GGUF file, which
is turned into one. DATA has questions.jsonl, other ones than those of ROWS, and KB their knowledge base. Only the
integrator differs: everything else is the offline model's. The trained adapter and all outcomes are kept, and a stopped
run goes on where it was.
"""

import argparse
import asyncio
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from measuring import report

from langgraph_rag import KnowledgeBase, create_cirag, load_model
from langgraph_rag.evaluation.outcomes import Configuration
from langgraph_rag.evaluation.questions import load_questions
from langgraph_rag.evaluation.runner import evaluate
from langgraph_rag.evaluation.summary import summarise
from langgraph_rag.models.bindings import ChatModel
from langgraph_rag.training.examples import prepare
from langgraph_rag.training.fine_tuning import TRAINING, fine_tune
from langgraph_rag.training.recipe import Recipe, read_recipe
from langgraph_rag.training.trajectories import Recorded

_FIGURES = ("f1", "em", "recall_at_5", "calls", "tokens", "mean_seconds", "failures")


def main() -> None:
    """Train, ask, and print what changed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("rows", type=Path)
    parser.add_argument("base", type=Path)
    parser.add_argument("data", type=Path)
    parser.add_argument("kb", type=Path)
    parser.add_argument("--recipe", default="cirag", help="as `train fit` takes it")
    parser.add_argument("--most-rows", type=int, default=0, help="rows to train on, the shortest; 0 for all")
    parser.add_argument("--questions", type=int, default=20)
    parser.add_argument("--new-tokens", type=int, default=400, help="most tokens of a reply")
    parser.add_argument("--runs", type=Path, default=Path("runs/distilling"))
    arguments = parser.parse_args()
    base = _folder(arguments.base, arguments.runs)
    trained = _trained(arguments, base, read_recipe(arguments.recipe))
    figures = dict[str, Any]()
    with KnowledgeBase.open(arguments.kb, read_only=True) as kb:
        for name, folder in (("undistilled", base), ("distilled", arguments.runs / "adapter"), ("teacher", None)):
            model = load_model(f"transformers:{folder}", max_new_tokens=arguments.new_tokens) if folder else None
            figures[name] = _asked(kb, model, arguments, name)
    rows = [(name, ", ".join(f"{key} {value}" for key, value in one.items()), "") for name, one in figures.items()]
    report("distilling", arguments.data, {"base": base.name, "training": trained, **figures}, rows)


def _folder(base: Path, runs: Path) -> Path:
    """Return the folder of a model; of a GGUF file, with its weights in float32."""
    if base.is_dir():
        return base
    out = runs / base.stem
    if not out.exists():
        from transformers import AutoModelForCausalLM, AutoTokenizer

        model = AutoModelForCausalLM.from_pretrained(base.parent, gguf_file=base.name, dtype="float32")
        AutoTokenizer.from_pretrained(base.parent, gguf_file=base.name).save_pretrained(out)
        model.save_pretrained(out)
    return out


def _trained(arguments: argparse.Namespace, base: Path, recipe: Recipe) -> Mapping[str, Any]:
    import json

    out = arguments.runs / "adapter"
    if (out / "README.md").exists():
        state: Mapping[str, Any] = json.loads((out / TRAINING).read_bytes())
    else:
        examples = prepare([arguments.rows], str(base), recipe)
        if most := arguments.most_rows:
            short = sorted(examples.train, key=lambda row: len(row["input_ids"]))[:most]
            held = sorted(examples.held_back, key=lambda row: len(row["input_ids"]))[: max(2, most // 10)]
            examples = replace(examples, train=short, held_back=held)
        state = {**fine_tune(examples, out), "trained_rows": len(examples.train)}
    return {name: state[name] for name in ("data", "recipe", "figures", "trained_rows") if name in state}


def _asked(kb: KnowledgeBase, model: ChatModel | None, arguments: argparse.Namespace, name: str) -> dict[str, Any]:
    questions = load_questions(arguments.data / "questions.jsonl", arguments.questions)
    graph = create_cirag(load_model("offline"), kb, integrator=model).compile()
    configuration = Configuration(method=f"cirag, {name}", model=name, knowledge_base=str(kb.path))
    outcomes = asyncio.run(evaluate(Recorded(graph), questions, arguments.runs / name, configuration=configuration))
    found: Mapping[str, Any] = summarise(outcomes)
    calls = [call for outcome in outcomes for call in outcome.get("calls", []) if call["prompt"] == "integrate"]
    told = [fact for call in calls for fact in (call["reply"] or {}).get("facts", [])]
    return {
        **{figure: found[figure] for figure in _FIGURES},
        "integrations": len(calls),
        "repairs": sum(call["repairs"] for call in calls),
        "facts_told": len(told),
        "facts_dropped": sum(call["dropped"] for call in calls),
    }


if __name__ == "__main__":
    main()
