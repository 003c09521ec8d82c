"""Distils steps of CIRAG or DualRAG into a small model, and compares it with the same model undistilled.

python benchmarks/distilling.py BASE ROOT KBS --rows FILE [FILE ...]

FILE has rows (`langgraph-rag train rows`), BASE is a chat model: a folder, or a GGUF file, which is turned into one.
ROOT holds a folder with questions.jsonl for each data set, other questions than those of the rows, and KBS a knowledge
base of the same name for each. Only the steps that can be trained differ: everything else is the offline model's. The
trained adapter and all outcomes are kept, and a stopped run goes on where it was.
"""

import argparse
import asyncio
import json
import random
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from measuring import data_sets, report
from tqdm import tqdm

from langgraph_rag import KnowledgeBase, create_cirag, create_dualrag, load_model
from langgraph_rag.evaluation.outcomes import Configuration, Outcome
from langgraph_rag.evaluation.questions import Question, load_questions
from langgraph_rag.evaluation.runner import evaluate
from langgraph_rag.evaluation.summary import summarise
from langgraph_rag.machine import Machine
from langgraph_rag.models.bindings import ChatModel
from langgraph_rag.training.examples import prepare
from langgraph_rag.training.fine_tuning import TRAINING, fine_tune
from langgraph_rag.training.recipe import Recipe, read_recipe
from langgraph_rag.training.trajectories import Recorded

_FIGURES = ("f1", "em", "recall_at_5", "calls", "tokens", "mean_seconds", "failures")


def main() -> None:
    """Train, ask, and print what changed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("base", type=Path)
    parser.add_argument("root", type=Path, help="folder with a folder for each data set")
    parser.add_argument("kbs", type=Path, help="folder with a knowledge base of the same name for each set")
    parser.add_argument("--rows", type=Path, nargs="+", required=True, help="files of rows")
    parser.add_argument("--method", choices=_TRAINED, default="cirag")
    parser.add_argument("--recipe", default="cirag", help="as `train fit` takes it")
    parser.add_argument("--most-rows", type=int, help="rows to train on, drawn by the recipe's seed; by default all")
    parser.add_argument("--questions", type=int, default=20, help="of each data set, drawn by the recipe's seed")
    parser.add_argument("--new-tokens", type=int, default=400, help="most tokens of a reply")
    parser.add_argument("--runs", type=Path, default=Path("runs/distilling"))
    arguments = parser.parse_args()
    base, recipe = _folder(arguments.base, arguments.runs), read_recipe(arguments.recipe)
    trained = _trained(arguments, base, recipe)
    models = {name: folder for name, folder in (("undistilled", base), ("distilled", arguments.runs / "adapter"))}
    outcomes = dict[str, list[Outcome]]()
    for data in data_sets(arguments.root):
        if not (arguments.kbs / data.name).is_dir():
            continue
        questions = random.Random(recipe.seed).sample(load_questions(data / "questions.jsonl"), arguments.questions)
        with KnowledgeBase.open(arguments.kbs / data.name, read_only=True) as kb:
            for name in (*models, "teacher"):
                folder = models.get(name)
                model = load_model(f"transformers:{folder}", max_new_tokens=arguments.new_tokens) if folder else None
                asked = _asked(kb, model, questions, arguments, f"{name}/{data.name}")
                outcomes[f"{name}, {data.name}"] = asked
                outcomes.setdefault(name, []).extend(asked)
    figures = {name: _figures(of, arguments.method) for name, of in outcomes.items()}
    rows = [(name, ", ".join(f"{key} {value}" for key, value in one.items()), "") for name, one in figures.items()]
    name = f"distilling_{arguments.method.split('/')[0]}"
    report(name, arguments.root, {"base": base.name, "training": trained, **figures}, rows)


def _folder(base: Path, runs: Path) -> Path:
    """Return the folder of a model; of a GGUF file, with its weights in float32."""
    if base.is_dir():
        return base
    out = runs / base.stem
    if not out.exists():
        from transformers import AutoModelForCausalLM, AutoTokenizer, GgufConfig

        unpacked = GgufConfig(dequantize=True)  # else it cannot be saved
        model = AutoModelForCausalLM.from_pretrained(
            base.parent, gguf_file=base.name, dtype="float32", quantization_config=unpacked
        )
        AutoTokenizer.from_pretrained(base.parent, gguf_file=base.name).save_pretrained(out)
        model.save_pretrained(out)
    return out


def _trained(arguments: argparse.Namespace, base: Path, recipe: Recipe) -> Mapping[str, Any]:
    out = arguments.runs / "adapter"
    if (out / "README.md").exists():
        state: Mapping[str, Any] = json.loads((out / TRAINING).read_bytes())
    else:
        examples = prepare(arguments.rows, str(base), recipe)
        if arguments.most_rows:
            drawn = random.Random(recipe.seed).sample(examples.train, min(arguments.most_rows, len(examples.train)))
            examples = replace(examples, train=drawn)
        state = {**fine_tune(examples, out), "trained_rows": len(examples.train)}
        (out / TRAINING).write_text(json.dumps(state))
    return {name: state[name] for name in ("data", "recipe", "figures", "trained_rows")}


def _cirag(kb: KnowledgeBase, model: ChatModel | None) -> Machine[Any, Any, Any, Any]:
    return create_cirag(load_model("offline"), kb, integrator=model)


def _dualrag(kb: KnowledgeBase, model: ChatModel | None) -> Machine[Any, Any, Any, Any]:
    parts = dict.fromkeys(("reasoner", "identifier", "summarizer"), model)
    return create_dualrag(load_model("offline"), kb, course="published", **parts)


_TRAINED = {  # by method: what makes its graph, and the prompts that the small model answers
    "cirag": (_cirag, {"integrate"}),
    "dualrag/published": (_dualrag, {"reason", "identify_entities", "summarize"}),
}


def _asked(
    kb: KnowledgeBase, model: ChatModel | None, questions: list[Question], arguments: argparse.Namespace, name: str
) -> list[Outcome]:
    create, _ = _TRAINED[arguments.method]
    configuration = Configuration(method=f"{arguments.method}, {name}", model=name, knowledge_base=str(kb.path))
    graph = Recorded(create(kb, model).compile())
    with tqdm(total=len(questions), desc=name, unit="question") as bar:
        return asyncio.run(
            evaluate(
                graph,
                questions,
                arguments.runs / name,
                configuration=configuration,
                on_result=lambda _: bar.update(),
            )
        )


def _figures(outcomes: list[Outcome], method: str) -> dict[str, Any]:
    found: Mapping[str, Any] = summarise(outcomes)
    _, prompts = _TRAINED[method]
    calls = [call for outcome in outcomes for call in outcome.get("calls", []) if call["prompt"] in prompts]
    return {
        "questions": len(outcomes),
        **{figure: found[figure] for figure in _FIGURES},
        "calls_of_the_small_model": len(calls),
        "repairs": sum(call["repairs"] for call in calls),
        "dropped": sum(call["dropped"] for call in calls),
    }


if __name__ == "__main__":
    main()
