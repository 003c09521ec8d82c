"""All settings of a training run, in one file, which is kept beside its result."""

from dataclasses import fields
from pathlib import Path
from typing import Annotated, Any, Literal

import yaml
from pydantic import ConfigDict, Field, TypeAdapter, ValidationError
from pydantic.dataclasses import dataclass as checked

from langgraph_rag.naming import wrong_field
from langgraph_rag.training.rendering import TrainingError

Count = Annotated[int, Field(ge=1)]
Share = Annotated[float, Field(ge=0, lt=1)]


@checked(frozen=True, kw_only=True, config=ConfigDict(extra="forbid", use_attribute_docstrings=True))
class Recipe:
    """The settings of a training run; the defaults are those of CIRAG's integrator (appendix B.4).

    Where the paper is silent: adapters of all linear layers with an alpha of twice the rank, and a cosine schedule.

    Raises:
        ValueError: when a setting has an invalid value, such as a rank that vLLM does not serve.
    """

    lora_rank: Literal[8, 16, 32, 64] | None = 64
    """Rank of the adapter, one of 8, 16, 32, 64, which vLLM serves; null trains all weights."""
    lora_alpha: Count | None = None
    """Weight of the adapter, which is divided by its rank; null is twice the rank."""
    lora_dropout: Share = 0.0
    """Share of the adapter's inputs that is left out."""
    epochs: Count = 2
    """Passes over all rows."""
    learning_rate: Annotated[float, Field(gt=0)] = 2e-4
    """Highest learning rate."""
    schedule: Literal["cosine", "linear", "constant"] = "cosine"
    """How the learning rate falls."""
    warmup: Share = 0.03
    """Share of the steps in which the learning rate rises."""
    weight_decay: Share = 0.0
    """Weight decay of AdamW."""
    batch: Count = 2
    """Rows at once."""
    accumulated: Count = 1
    """Batches in a step."""
    max_tokens: Count = 8192
    """Most tokens of a row, or the context of the model if that is less; longer ones are left out, and counted."""
    held_back: Share = 0.05
    """Share of the questions whose rows are not trained on; their loss is measured before and after."""
    checkpoint_steps: Count = 100
    """Steps after which a checkpoint is written; a stopped run goes on from the last one."""
    preference_beta: Annotated[float, Field(gt=0)] = 0.1
    """Of DPO, for pairs: how far the model may depart from what it was."""
    device: Literal["auto", "cpu", "cuda"] = "auto"
    """Where to train: cpu, or cuda; auto is cuda if there is a GPU."""
    dtype: Literal["auto", "float32", "bfloat16"] = "auto"
    """Number format of the weights: auto is bfloat16 on a GPU, and float32 elsewhere."""
    seed: int = 0
    """Of the order of rows, and of new weights."""


RECIPES = {
    "cirag": Recipe(),
    "dualrag": Recipe(lora_rank=None, learning_rate=3e-6, epochs=3, accumulated=8),
    "dpo": Recipe(learning_rate=5e-6, epochs=1, accumulated=4),
}
"""By name. DualRAG's compact models have all weights trained, at the paper's rate and schedule (appendix C); epochs and
batch are not in the paper. `dpo` is for pairs."""
_READER = TypeAdapter(Recipe)


def read_recipe(name: str) -> Recipe:
    """Return a recipe by its name, or from a YAML file with some of its settings; the others are CIRAG's.

    Raises:
        TrainingError: when there is neither, or a setting does not exist or has an invalid value.
    """
    if name in RECIPES:
        return RECIPES[name]
    try:
        given: Any = yaml.safe_load(Path(name).read_text(encoding="utf-8"))
        return _READER.validate_python(given or {})
    except ValidationError as error:
        raise TrainingError(f"{name}: expected settings of a recipe; {wrong_field(error, 'file')}") from error
    except (OSError, UnicodeDecodeError, yaml.YAMLError) as error:
        raise TrainingError(
            f"expected {', '.join(RECIPES)}, or a YAML file with settings, got {name!r}: {error}"
        ) from error


def recipe_text(recipe: Recipe) -> str:
    """Return a recipe as a YAML file, each setting with its explanation."""
    described = _READER.json_schema()["properties"]
    lines = [
        f"# {described[each.name]['description']}\n{yaml.safe_dump({each.name: getattr(recipe, each.name)}).strip()}"
        for each in fields(recipe)
    ]
    return "\n".join(lines) + "\n"
