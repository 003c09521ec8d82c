"""The card of a trained model, README.md: its use, data, settings and figures, and the licence of its base."""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml

from langgraph_rag.naming import counted
from langgraph_rag.training.examples import in_words

_FRONT_MATTER = re.compile(r"\A---\n(.*?)\n---", re.DOTALL)
_UNKNOWN = "unknown"
_USES = {
    "integrator": "create_cirag(llm, kb, integrator=model)",
    "reasoner": 'create_dualrag(llm, kb, reasoner=model, course="published")',
    "identifier": 'create_dualrag(llm, kb, identifier=model, course="published")',
    "summarizer": 'create_dualrag(llm, kb, summarizer=model, course="published")',
}


def licence_of(base: str) -> str:
    """Return the licence that the card of a model names; "unknown" if it is not in its folder or in the hub's cache."""
    card: Any = Path(base) / "README.md"
    if not Path(base).is_dir():
        from huggingface_hub import try_to_load_from_cache

        card = try_to_load_from_cache(base, "README.md")
    if not isinstance(card, str | Path) or not Path(card).exists():
        return _UNKNOWN
    found = _FRONT_MATTER.match(Path(card).read_text(encoding="utf-8", errors="replace"))
    try:
        about = yaml.safe_load(found[1]) if found else {}
    except yaml.YAMLError:
        return _UNKNOWN
    return str(about.get("license_name") or about.get("license") or _UNKNOWN) if isinstance(about, dict) else _UNKNOWN


def model_card(state: Mapping[str, Any]) -> str:
    """Return the card of a finished run: its `State`."""
    base, data, figures = Path(state["base"]), state["data"], state["figures"]
    name = base.name if base.is_absolute() else state["base"]
    licence, adapter = licence_of(state["base"]), state["recipe"]["lora_rank"] is not None
    front = {"base_model": name, "library_name": "peft" if adapter else "transformers", "tags": ["langgraph-rag"]}
    return "\n".join(
        [
            f"---\n{yaml.safe_dump({**front, 'license': licence}).strip()}\n---",
            f"# {'An adapter of' if adapter else 'A model trained from'} {name} for langgraph-rag\n",
            "Trained on what a teacher replied to the prompts of a method of question answering over documents; it is "
            "meant for those prompts and nothing else.\n",
            f"Licence of the base: {licence}. That of what the teacher wrote, and of the questions and documents, may "
            "bind the use of this model, too.\n",
            "## Use\n",
            *_use(data["files"], adapter),
            "\n## Data\n",
            f"{in_words(data)}; {counted(data['tokens'], 'token')}, of which {data['learned']:,} carry loss.\n",
            *_sets(data["manifests"], data["files"]),
            "\n## Figures\n",
            *_figures(figures),
            "\n## Settings\n",
            f"```yaml\n{yaml.safe_dump(state['recipe'], sort_keys=False).strip()}\n```\n",
        ]
    )


def _use(files: Mapping[str, int], adapter: bool) -> list[str]:
    uses = [_USES[stem] for file in files if (stem := file.removesuffix(".jsonl")) in _USES]
    here = ['model = load_model("transformers:FOLDER")', *(f"graph = {use}.compile()" for use in uses)]
    served = (
        "vllm serve BASE --enable-lora --max-lora-rank 64 --lora-modules NAME=FOLDER"
        if adapter
        else "vllm serve FOLDER"
    )
    return ["```python", *here, "```\n", f'Served: `{served}`, then `load_model("vllm:NAME")`.']


def _sets(manifests: list[Any], files: Mapping[str, int]) -> list[str]:
    lines = []
    for manifest in manifests:
        for source in manifest["sources"]:
            lines.append(
                f"- {counted(source['questions'], 'question')} to {source['method']}, teacher {source['model']}, "
                f"knowledge base {source['knowledge_base']} ({source['passages']}): {source['right']:,} right answers"
            )
        lines.append(f"- filters: {', '.join(manifest['filters']) or 'none'}")
        for name, report in manifest["sets"].items():
            if f"{name}.jsonl" in files:
                labels = "; ".join(f"{number:,} {label}" for label, number in report["labels"].items())
                rejects = "; ".join(f"{number:,} {reason}" for reason, number in report["rejects"].items())
                lines.append(f"- {name}: {counted(report['rows'], 'row')} ({labels}); rejected: {rejects or 'none'}")
    return list(dict.fromkeys(lines))


def _figures(figures: Mapping[str, Any]) -> list[str]:
    before, after = figures["before"], figures["after"]
    held = [f"- {name} on rows held back: {before[name]:.4f} before, {after[name]:.4f} after" for name in before]
    losses = figures["losses"]
    trained = [f"- loss on trained rows: {losses[0][1]:.4f} at first, {losses[-1][1]:.4f} at last"] if losses else []
    since = f" since step {figures['resumed_at']:,}" if figures["resumed_at"] else ""
    took = f"- {counted(figures['steps'], 'step')}, {figures['seconds']:,.0f} s{since}, {figures['memory']} GiB, "
    return [*held, *trained, f"{took}{figures['machine']}"]
