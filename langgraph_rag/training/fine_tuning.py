"""Fine-tunes a model on rows, by TRL and PEFT: an adapter or all weights, which a method then takes for its steps."""

import json
import math
import platform
import re
import shutil
import sys
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from tqdm.auto import tqdm
from typing_extensions import TypedDict

from langgraph_rag.errors import MissingExtraError
from langgraph_rag.evaluation.run_folder import alone, is_new, replace_file, writing
from langgraph_rag.progress import hidden
from langgraph_rag.training.examples import Data, Example, Examples, length_of
from langgraph_rag.training.model_card import model_card
from langgraph_rag.training.recipe import Recipe
from langgraph_rag.training.rendering import TrainingError

try:
    import torch
    from datasets import Dataset
    from peft import AutoPeftModelForCausalLM, LoraConfig
    from transformers import (
        AutoConfig,
        AutoModelForCausalLM,
        AutoTokenizer,
        GenerationConfig,
        PrinterCallback,
        TrainerCallback,
        set_seed,
    )
    from trl import DPOConfig, DPOTrainer, SFTConfig, SFTTrainer
except ImportError as error:
    raise MissingExtraError("training a model", "train") from error

TRAINING = "training.json"
_CHECKPOINTS = "checkpoints"
_CHECKPOINT = re.compile(r"checkpoint-(\d+)")
_PARTS = ("optimizer.pt", "scheduler.pt", "rng_state.pth")
_METRICS = {"eval_loss": "loss", "eval_rewards/accuracies": "accuracy"}
_SAMPLED = 4  # batches of a rehearsal


class Figures(TypedDict):
    """What training brought: the loss of the rows held back, before and after; empty if there are none.

    Of pairs also the share that is ranked rightly. `losses` are those of the trained rows, by step. `seconds` are those
    since the run was started last, at step `resumed_at`. `memory` is the highest use, in GiB.
    """

    before: dict[str, float]
    after: dict[str, float]
    losses: list[tuple[int, float]]
    steps: int
    seconds: float
    resumed_at: int
    memory: float
    machine: str


class State(TypedDict):
    """The file beside a result: all settings and data of its run; `figures` are there when it is finished."""

    digest: str
    base: str
    recipe: dict[str, Any]
    pairs: bool
    data: Data
    before: dict[str, float] | None
    figures: Figures | None


@dataclass(frozen=True)
class Rehearsal:
    """What training would take on this machine, measured: seconds, and the highest use of memory in GiB."""

    steps: int
    seconds: float
    memory: float


class _Preferences(DPOTrainer):  # type: ignore[misc]
    """Takes pairs as tokens; TRL would render them anew, and train on what follows the stop token."""

    def _prepare_dataset(self, dataset: Any, *_: Any, **__: Any) -> Any:
        return dataset


class _Progress(TrainerCallback):  # type: ignore[misc]
    """Shows how many steps are done, and the loss."""

    def __init__(self, progress: bool) -> None:
        self.bar = tqdm(desc="training", unit="step", disable=hidden(progress))

    def on_train_begin(self, args: Any, state: Any, control: Any, **_: Any) -> None:
        self.bar.reset(state.max_steps)
        self.bar.update(state.global_step)

    def on_step_end(self, args: Any, state: Any, control: Any, **_: Any) -> None:
        self.bar.update()

    def on_log(self, args: Any, state: Any, control: Any, logs: Any = None, **_: Any) -> None:
        if logs and "loss" in logs:
            self.bar.set_postfix(loss=f"{float(logs['loss']):.3f}")

    def on_train_end(self, args: Any, state: Any, control: Any, **_: Any) -> None:
        self.bar.close()


def fine_tune(examples: Examples, out: str | Path, *, progress: bool = True) -> State:
    """Train a model on rows, and write it to a folder: an adapter with its tokenizer, or a whole model.

    A run that was killed goes on from its last whole checkpoint, and ends with the weights of an undisturbed one: its
    folder tells the settings and data, and takes no others. A finished result is never overwritten.

    Args:
        examples: what `prepare` returns.
        out: a new folder, or that of a stopped run.
        progress: whether to show a progress bar.

    Returns:
        What is also in `training.json` beside the result, as words in its model card, README.md.

    Raises:
        TrainingError: when the folder holds something else, a finished result, or a run with other settings or data.
        OutcomesError: when the folder is in use by another run, or cannot be written to.
    """
    out, recipe = Path(out), examples.recipe
    check_free(out)
    set_seed(recipe.seed)
    model = _model(examples)
    with alone(out):
        state = _state_of(out, examples)
        trainer = _trainer(examples, model, out / _CHECKPOINTS, examples.train, examples.held_back)
        trainer.add_callback(_Progress(progress))
        if (before := state["before"]) is None:
            before = state["before"] = _measured(trainer, examples)
            _keep(out, state)
        checkpoint, started = _last_checkpoint(out / _CHECKPOINTS), time.monotonic()
        set_seed(recipe.seed)
        trainer.train(resume_from_checkpoint=str(checkpoint) if checkpoint else None)
        seconds = time.monotonic() - started
        state["figures"] = Figures(
            before=before,
            after=_measured(trainer, examples),
            losses=[(entry["step"], entry["loss"]) for entry in trainer.state.log_history if "loss" in entry],
            steps=trainer.state.global_step,
            seconds=round(seconds, 1),
            resumed_at=_step(checkpoint) if checkpoint else 0,
            memory=_memory(trainer.args.device),
            machine=_machine(trainer.args.device),
        )
        _save(trainer, examples, out, state)
    return state


def rehearse(examples: Examples) -> Rehearsal:
    """Measure what training takes: memory with the longest rows, time with some of all lengths; nothing is kept."""
    recipe, by_length = examples.recipe, sorted(examples.train, key=length_of)
    places = range(0, len(by_length), max(1, len(by_length) // (_SAMPLED * recipe.batch)))
    typical = [by_length[place] for place in places][: _SAMPLED * recipe.batch]
    with TemporaryDirectory() as folder:
        model = _model(examples)
        trainer = _trainer(examples, model, Path(folder), by_length[-recipe.batch :], [], max_steps=1)
        trainer.train()
        trainer = _trainer(examples, trainer.model, Path(folder), typical, [], max_steps=_SAMPLED)
        started = time.monotonic()
        trainer.train()
        seconds = time.monotonic() - started
        memory = _memory(trainer.args.device)
    share = sum(map(length_of, typical)) * _SAMPLED * recipe.batch * recipe.accumulated / len(typical)
    return Rehearsal(_steps(examples), seconds * examples.data["tokens"] * recipe.epochs / share, memory)


def merge(adapter: str | Path, out: str | Path) -> None:
    """Write a whole model: an adapter merged into its base, in the number format of the base.

    Raises:
        TrainingError: when the folder holds no adapter, or `out` is not a new folder.
    """
    adapter, out = Path(adapter), Path(out)
    if not (adapter / "adapter_config.json").exists():
        raise TrainingError(f"expected the folder of an adapter, got {adapter}")
    if not is_new(out):
        raise TrainingError(f"expected a new folder for the merged model, got {out}")
    loaded = AutoPeftModelForCausalLM.from_pretrained(adapter, dtype=torch.float32)
    base = loaded.peft_config["default"].base_model_name_or_path
    merged = loaded.merge_and_unload()
    with writing(out):
        merged.to(AutoConfig.from_pretrained(base).dtype or torch.float32).save_pretrained(out)
        AutoTokenizer.from_pretrained(adapter).save_pretrained(out)


# --- the folder of a run ---
def check_free(out: Path) -> None:
    """Check that a folder is new, or that of a stopped run.

    Raises:
        TrainingError: when it holds something else, or a finished result.
    """
    if is_new(out):
        return
    try:
        finished = json.loads((out / TRAINING).read_bytes())["figures"] is not None
    except (OSError, ValueError, KeyError, TypeError) as error:  # the file may be missing, or another program's
        raise TrainingError(f"expected a new folder for the model, or that of a stopped run, got {out}") from error
    if finished:
        raise TrainingError(f"{out} holds a finished model, which is not overwritten: give another folder")


def _state_of(out: Path, examples: Examples) -> State:
    """Return the state of a new run, or of a stopped one with the same settings and data."""
    new = State(
        digest=examples.digest,
        base=examples.base,
        recipe=asdict(examples.recipe),
        pairs=examples.pairs,
        data=examples.data,
        before=None,
        figures=None,
    )
    check_free(out)  # again, now that no other run can finish
    if not (out / TRAINING).exists():
        _keep(out, new)
        return new
    found: State = json.loads((out / TRAINING).read_bytes())
    if found["digest"] != new["digest"]:
        settings = [name for name, value in new["recipe"].items() if found["recipe"].get(name) != value]
        other = ", ".join(settings) or ("base" if found["base"] != new["base"] else "rows, or weights of the base")
        raise TrainingError(
            f"{out} holds a run that was begun with other settings or data ({other}), and would not end as that one: "
            "give another folder, or the same settings and data to go on"
        )
    return found


def _keep(out: Path, state: State) -> None:
    with writing(out):
        replace_file(out / TRAINING, [json.dumps(state, indent=1, ensure_ascii=False)])


def _last_checkpoint(folder: Path) -> Path | None:
    """Return the last checkpoint that is whole, and delete those that are not: a kill may have come while writing."""
    found = [path for path in folder.glob("checkpoint-*") if _CHECKPOINT.fullmatch(path.name)]
    for path in sorted(found, key=_step, reverse=True):
        if _is_whole(path):
            return path
        shutil.rmtree(path)
    return None


def _step(checkpoint: Path) -> int:
    return int(checkpoint.name.rpartition("-")[2])


def _is_whole(checkpoint: Path) -> bool:
    """Return whether a checkpoint has all its parts; the state of the trainer is written last."""
    try:
        state = json.loads((checkpoint / "trainer_state.json").read_bytes())
    except (OSError, ValueError):
        return False
    parts = all((checkpoint / name).exists() for name in _PARTS) and any(checkpoint.glob("*.safetensors"))
    return parts and state.get("global_step") == _step(checkpoint)


def _save(trainer: Any, examples: Examples, out: Path, state: State) -> None:
    """Write the model with the tokenizer of its base, its card, and last of all that it is finished."""
    with writing(out):
        if examples.recipe.lora_rank is None:
            trainer.model.to(AutoConfig.from_pretrained(examples.base).dtype or torch.float32)
        trainer.save_model(str(out))
        (out / "training_args.bin").unlink(missing_ok=True)  # a pickle with paths of this machine
        type(examples.renderer).of(examples.base).tokenizer.save_pretrained(out)
        if examples.recipe.lora_rank is None:
            _with_ends_of(examples, out)
        (out / "README.md").write_text(model_card(state), encoding="utf-8")
    _keep(out, state)
    shutil.rmtree(out / _CHECKPOINTS, ignore_errors=True)


def _with_ends_of(examples: Examples, out: Path) -> None:
    """Let a model end its replies where its base does: the trainer may have changed that."""
    try:
        GenerationConfig.from_pretrained(examples.base).save_pretrained(out)
    except OSError:
        return  # the base has none


# --- the trainer ---
def _device(recipe: Recipe) -> str:
    return recipe.device if recipe.device != "auto" else "cuda" if torch.cuda.is_available() else "cpu"


def _in_half(recipe: Recipe) -> bool:
    return recipe.dtype == "bfloat16" or recipe.dtype == "auto" and _device(recipe) != "cpu"


def _model(examples: Examples) -> Any:
    """Load the base; weights that are trained stay in float32, as small changes would be rounded away."""
    if _device(examples.recipe) == "cuda" and not torch.cuda.is_available():
        raise TrainingError("expected a GPU, as the recipe's device is cuda, got a machine without: give device: cpu")
    half = _in_half(examples.recipe) and examples.recipe.lora_rank is not None
    try:
        return AutoModelForCausalLM.from_pretrained(examples.base, dtype=torch.bfloat16 if half else torch.float32)
    except (OSError, ValueError) as error:
        raise TrainingError(f"expected the weights of a language model in {examples.base}, got: {error}") from error


def _steps(examples: Examples) -> int:
    recipe = examples.recipe
    return recipe.epochs * math.ceil(math.ceil(len(examples.train) / recipe.batch) / recipe.accumulated)


def _trainer(
    examples: Examples,
    model: Any,
    folder: Path,
    train: Sequence[Example],
    held_back: Sequence[Example],
    *,
    max_steps: int = -1,
) -> Any:
    recipe, on_cpu = examples.recipe, _device(examples.recipe) == "cpu"
    settings: dict[str, Any] = {
        "output_dir": str(folder),
        "num_train_epochs": recipe.epochs,
        "max_steps": max_steps,
        "per_device_train_batch_size": recipe.batch,
        "per_device_eval_batch_size": recipe.batch,
        "gradient_accumulation_steps": recipe.accumulated,
        "learning_rate": recipe.learning_rate,
        "lr_scheduler_type": recipe.schedule,
        "warmup_steps": math.ceil(recipe.warmup * _steps(examples)),
        "weight_decay": recipe.weight_decay,
        "optim": "adamw_torch",
        "seed": recipe.seed,
        "data_seed": recipe.seed,
        "bf16": _in_half(recipe),
        "gradient_checkpointing": not on_cpu,
        "use_cpu": on_cpu,
        "dataloader_pin_memory": not on_cpu,
        "max_length": None,  # rows that are too long are left out, not cut
        "save_strategy": "no" if max_steps > 0 else "steps",
        "save_steps": recipe.checkpoint_steps,
        "save_total_limit": 2,
        "logging_steps": 1,
        "report_to": "none",
        "disable_tqdm": True,
    }
    given: dict[str, Any] = {
        "model": model,
        "train_dataset": Dataset.from_list([dict(example) for example in train]),
        "eval_dataset": Dataset.from_list([dict(example) for example in held_back]) if held_back else None,
        "processing_class": type(examples.renderer).of(examples.base).tokenizer,  # which the trainer changes
        "peft_config": _adapter(recipe, model),
    }
    if examples.pairs:
        trainer = _Preferences(args=DPOConfig(beta=recipe.preference_beta, **settings), **given)
    else:
        trainer = SFTTrainer(args=SFTConfig(packing=False, **settings), **given)
    trainer.remove_callback(PrinterCallback)
    return trainer


def _adapter(recipe: Recipe, model: Any) -> Any:
    """Return the adapter of a recipe: of all linear layers by name, with nothing that vLLM does not serve."""
    if recipe.lora_rank is None or hasattr(model, "peft_config"):
        return None
    linear = [
        name.rpartition(".")[2]
        for name, layer in model.named_modules()
        if isinstance(layer, torch.nn.Linear) and layer is not model.get_output_embeddings()
    ]
    return LoraConfig(
        r=recipe.lora_rank,
        lora_alpha=recipe.lora_alpha or 2 * recipe.lora_rank,
        lora_dropout=recipe.lora_dropout,
        target_modules=sorted(set(linear)),
        bias="none",
        task_type="CAUSAL_LM",
    )


def _measured(trainer: Any, examples: Examples) -> dict[str, float]:
    if not examples.held_back:
        return {}
    found = trainer.evaluate()
    return {name: round(found[key], 4) for key, name in _METRICS.items() if key in found}


def _memory(device: Any) -> float:
    """Return the highest use of memory so far, in GiB: of a GPU, or else of this process."""
    if device.type == "cuda":
        used = torch.cuda.max_memory_allocated(device)
    else:
        import resource  # which Windows lacks

        used = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)
    return float(round(used / 2**30, 2))


def _machine(device: Any) -> str:
    return torch.cuda.get_device_name(device) if device.type == "cuda" else f"{platform.machine()}, CPU"
