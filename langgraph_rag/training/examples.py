"""What a model is trained on: rows or pairs from files, as checked tokens, with what was left out and held back."""

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from pydantic import TypeAdapter
from tqdm.auto import tqdm
from typing_extensions import TypedDict

from langgraph_rag.evaluation.run_folder import read_entries
from langgraph_rag.naming import counted
from langgraph_rag.progress import hidden
from langgraph_rag.training.preferences import Pair
from langgraph_rag.training.recipe import Recipe
from langgraph_rag.training.rendering import NO_LOSS, Renderer, TrainingError, context_of
from langgraph_rag.training.rows import MANIFEST, Manifest, Row

_READER = TypeAdapter(Row | Pair)
_PIECES, _PIECE = 64, 2**16  # 4 MiB of a file of weights
Example = Mapping[str, NDArray[np.int32]]
"""A row as tokens, which take a ninth of the memory of a list."""


class Data(TypedDict):
    """What a model was trained on, in numbers.

    `files` counts the rows by file. `tokens` are those of all trained rows, `learned` those that carry loss, `longest`
    those of the longest row. `left_out` counts rows by reason. `manifests` tell how the files were made.
    """

    files: dict[str, int]
    rows: int
    held_back: int
    tokens: int
    learned: int
    longest: int
    left_out: dict[str, int]
    manifests: list[Manifest]


@dataclass(frozen=True)
class Examples:
    """Rows as tokens, for a base model and a recipe.

    `pairs` is whether they are preferences. `digest` is of all that decides the weights: settings, base, and rows.
    """

    base: str
    recipe: Recipe
    renderer: Renderer
    pairs: bool
    train: list[Example]
    held_back: list[Example]
    data: Data
    digest: str


def prepare(files: Sequence[Path], base: str, recipe: Recipe, *, progress: bool = False) -> Examples:
    """Read rows, make tokens of them by the template of a model, and check each.

    Rows that are too long, or that cannot be learned, are left out and counted. Whole questions are held back.

    Args:
        files: files of rows, or of pairs; several sets may be learned by one model.
        base: the model to train: its folder, or its name at Hugging Face.
        recipe: the settings.
        progress: whether to show a progress bar.

    Raises:
        OutcomesError: when a file cannot be read, or a line is not a row.
        TrainingError: when rows and pairs are mixed, the model cannot be used, or no row is left.
    """
    base = str(Path(base).resolve()) if Path(base).is_dir() else base
    renderer, given = Renderer.of(base), dict[str, list[Row | Pair]]()
    for file in files:
        if not file.exists():
            raise TrainingError(f"expected a file of rows, as `langgraph-rag train rows` makes them, got {file}")
        given[file.name] = read_entries(file, _READER, "a row or a pair", "the others are read")
    entries = [entry for some in given.values() for entry in some]
    kinds = {"chosen" in entry for entry in entries}
    if len(kinds) > 1:
        raise TrainingError(f"expected files of rows, or files of pairs, got both in {', '.join(given)}")
    longest = min(recipe.max_tokens, context_of(base) or recipe.max_tokens)
    held_ids = _held_back([entry["id"] for entry in entries], recipe.held_back)
    train, held_back, left_out = list[Example](), list[Example](), Counter[str]()
    first = ""
    for entry in tqdm(entries, desc="rendering", unit="row", disable=hidden(progress)):
        try:
            example = _example(renderer, entry)
        except TrainingError as error:
            left_out["cannot be learned"] += 1
            first = first or str(error)
            continue
        if length_of(example) > longest:
            left_out[f"longer than {longest:,} tokens"] += 1
            continue
        (held_back if entry["id"] in held_ids else train).append(example)
    if not train:
        why = ", ".join(f"{number:,} {reason}" for reason, number in left_out.items()) or "none was given"
        raise TrainingError(f"no row is left to train on: {why}{f'; the first one: {first}' if first else ''}")
    data = Data(
        files={name: len(some) for name, some in given.items()},
        rows=len(train),
        held_back=len(held_back),
        tokens=sum(map(length_of, train)),
        learned=sum(map(_learned, train)),
        longest=max(map(length_of, train)),
        left_out=dict(left_out),
        manifests=[json.loads(made.read_bytes()) for file in files if (made := file.with_name(MANIFEST)).exists()],
    )
    decisive = [asdict(recipe), _digest(base), renderer.tokenizer.chat_template]
    digest = sha256()
    for part in (*decisive, *entries):
        digest.update(json.dumps(part, sort_keys=True).encode())
    return Examples(base, recipe, renderer, kinds == {True}, train, held_back, data, digest.hexdigest())


def in_words(data: Data) -> str:
    """Return the rows in one sentence."""
    left_out = "".join(f", {number:,} left out ({reason})" for reason, number in data["left_out"].items())
    return f"{counted(data['rows'], 'row')} to train on, {data['held_back']:,} held back{left_out}"


def length_of(example: Example) -> int:
    """Return the number of tokens of an example; of a pair, with its longer reply."""
    if "input_ids" in example:
        return len(example["input_ids"])
    return len(example["prompt_ids"]) + max(len(example["chosen_ids"]), len(example["rejected_ids"]))


def _learned(example: Example) -> int:
    if "labels" in example:
        return int((example["labels"] != NO_LOSS).sum())
    return len(example["chosen_ids"]) + len(example["rejected_ids"])


def _example(renderer: Renderer, entry: Any) -> Example:
    if "reply" in entry:
        row = renderer.row(entry["messages"], entry["reply"])
        return {"input_ids": _array(row["input_ids"]), "labels": _array(row["labels"])}
    rows = [renderer.row(entry["messages"], entry[name]) for name in ("chosen", "rejected")]
    context = rows[0]["labels"].count(NO_LOSS)
    chosen, rejected = (row["input_ids"][context:] for row in rows)
    prompt = _array(rows[0]["input_ids"][:context])
    return {"prompt_ids": prompt, "chosen_ids": _array(chosen), "rejected_ids": _array(rejected)}


def _array(ids: list[int]) -> NDArray[np.int32]:
    return np.array(ids, dtype=np.int32)


def _held_back(ids: Sequence[str], share: float) -> set[str]:
    """Return every so manieth question, at most half of them, whatever the order of the rows."""
    questions = sorted(set(ids), key=lambda id_: sha256(id_.encode()).digest())
    return set(questions[: min(round(share * len(questions)), len(questions) // 2)])


def _digest(base: str) -> Any:
    """Return what tells a base from another: its name, or of a folder the settings and a sample of the weights."""
    folder = Path(base)
    if not folder.is_dir():
        return base
    weights = [(file.name, _sample(file)) for file in sorted(folder.glob("*.safetensors"))]
    return [(folder / "config.json").read_text(encoding="utf-8"), weights]


def _sample(file: Path) -> str:
    """Return a digest of pieces from all over a file, with its size: to read gigabytes for it would take minutes."""
    size = file.stat().st_size
    digest = sha256(str(size).encode())
    with file.open("rb") as weights:
        for place in range(_PIECES):
            weights.seek(size * place // _PIECES)
            digest.update(weights.read(_PIECE))
    return digest.hexdigest()
