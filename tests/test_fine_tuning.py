"""A small model learns what a teacher wrote, and takes its place in the same graph."""

import json
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from chat_families import make_family_model
from conftest import SAMPLE
from processes import start_command
from test_cli import refuse, run

from langgraph_rag.errors import MissingExtraError
from langgraph_rag.graphs.cirag import create_cirag
from langgraph_rag.graphs.dualrag import create_dualrag
from langgraph_rag.models.loading import load_model
from langgraph_rag.prompts.cirag import INTEGRATE
from langgraph_rag.tools.knowledge_base import KnowledgeBase
from langgraph_rag.training.examples import prepare
from langgraph_rag.training.model_card import licence_of
from langgraph_rag.training.recipe import RECIPES, Recipe, read_recipe, recipe_text
from langgraph_rag.training.rendering import NO_LOSS, TrainingError
from langgraph_rag.training.rows import reply_text

tuning: Any = pytest.importorskip("langgraph_rag.training.fine_tuning")
SMALL = "lora_rank: 8\nlearning_rate: 0.02\nepochs: 5\nheld_back: 0.2\ncheckpoint_steps: 2\n"


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_family_model(tmp_path_factory.mktemp("base") / "tiny", "chatml")


@pytest.fixture(scope="module")
def taught(sample_folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Make rows of what the offline model does on questions of the sample."""
    folder = tmp_path_factory.mktemp("taught")
    asked = ["--kb", sample_folder, "--questions", SAMPLE / "questions.jsonl"]
    run("train", "trajectories", *asked, "--out", folder / "t", "--limit", "5")
    run("train", "rows", *asked, "--trajectories", folder / "t", "--out", folder / "r", "--set", "integrator")
    return folder / "r" / "integrator.jsonl"


@pytest.fixture
def few(tmp_path: Path) -> Path:
    """Write short rows of ten questions."""
    rows = []
    for number in range(10):
        reply = reply_text(INTEGRATE, {"thought": f"Step {number}.", "facts": [], "question": None})
        messages = [{"role": "system", "content": "Reply in JSON."}, {"role": "user", "content": f"Question {number}?"}]
        row = {"id": str(number), "prompt": "integrate", "label": "teacher", "messages": messages, "reply": reply}
        rows.append(json.dumps(row))
    file = tmp_path / "few.jsonl"
    file.write_text("\n".join(rows))
    return file


def recipe(**changes: Any) -> Recipe:
    small: dict[str, Any] = {"lora_rank": 8, "learning_rate": 0.01, "epochs": 1, "held_back": 0.0, "device": "cpu"}
    return Recipe(**{**small, **changes})


def weights(folder: Path, name: str = "adapter_model.safetensors") -> bytes:
    return (folder / name).read_bytes()


# --- a whole run -----------------------------------------------------------------------------------------------------
def test_an_adapter_is_trained_on_real_trajectories_and_answers_in_the_same_graph(
    base: Path, taught: Path, sample_kb: KnowledgeBase, tmp_path: Path
) -> None:
    (tmp_path / "small.yaml").write_text(SMALL)
    fit = ["train", "fit", "--rows", taught, "--base", base, "--recipe", tmp_path / "small.yaml"]
    told = run(*fit, "--out", tmp_path / "out").stdout

    state = json.loads((tmp_path / "out" / "training.json").read_text())
    figures, card = state["figures"], (tmp_path / "out" / "README.md").read_text()
    assert figures["losses"][-1][1] < figures["losses"][0][1] - 1
    assert figures["after"]["loss"] < figures["before"]["loss"] - 0.5
    assert state["recipe"]["learning_rate"] == 0.02
    assert not (tmp_path / "out" / "checkpoints").exists()
    for part in ("base_model: tiny", "license: unknown", "teacher offline", "rejected: ", "learning_rate: 0.02"):
        assert part in card
    assert f"{figures['after']['loss']:.4f} after" in card and f"{figures['after']['loss']:.3f}" in told
    adapter = json.loads((tmp_path / "out" / "adapter_config.json").read_text())
    assert (adapter["r"], adapter["bias"], adapter["modules_to_save"], adapter["use_dora"]) == (8, "none", None, False)
    assert "lm_head" not in adapter["target_modules"]

    integrator, question = load_model(f"transformers:{tmp_path / 'out'}", max_new_tokens=300), "Whom did she marry?"
    assert (integrator._tokenizer.chat_template) == load_model(f"transformers:{base}")._tokenizer.chat_template  # type: ignore[attr-defined]
    graph: Any = create_cirag(load_model("offline"), sample_kb, integrator=integrator).compile()
    assert graph.invoke({"question": question}, context={"max_steps": 1})["answer"]
    run("train", "merge", tmp_path / "out", "--out", tmp_path / "merged")
    merged = load_model(f"transformers:{tmp_path / 'merged'}", max_new_tokens=20).invoke(question).text
    assert merged
    assert integrator.invoke(question).text.startswith(merged)


def test_all_weights_are_trained_and_the_model_stops_where_its_base_does(few: Path, tmp_path: Path) -> None:
    base = make_family_model(tmp_path / "base", "ends")
    examples = prepare([few], str(base), recipe(lora_rank=None, learning_rate=0.001, accumulated=2))
    state = tuning.fine_tune(examples, tmp_path / "out", progress=False)

    assert state["figures"]["losses"][-1][1] < state["figures"]["losses"][0][1]
    assert weights(tmp_path / "out", "model.safetensors") != weights(base, "model.safetensors")
    ends = [json.loads((at / "generation_config.json").read_text())["eos_token_id"] for at in (base, tmp_path / "out")]
    assert ends[0] == ends[1]
    assert load_model(f"transformers:{tmp_path / 'out'}", max_new_tokens=5).invoke("Question 1?").text is not None


def test_one_model_takes_all_steps_of_dualrag(base: Path, sample_kb: KnowledgeBase) -> None:
    student = load_model(f"transformers:{base}", max_new_tokens=300)
    graph: Any = create_dualrag(
        load_model("offline"), sample_kb, reasoner=student, identifier=student, summarizer=student, course="published"
    )

    assert all(graph.step(name).llm is student for name in ("reason", "identify_entities", "summarize"))
    assert graph.compile().invoke({"question": "Who directed Nine Tides?"}, context={"max_steps": 1})["answer"]


def test_preferences_are_learned_from_pairs(base: Path, few: Path, tmp_path: Path) -> None:
    pairs = tmp_path / "pairs.jsonl"
    rows = [json.loads(line) for line in few.read_text().splitlines()]
    pairs.write_text(
        "\n".join(
            json.dumps({**{k: v for k, v in row.items() if k != "reply"}, "chosen": row["reply"], "rejected": "{}"})
            for row in rows
        )
    )
    examples = prepare([pairs], str(base), recipe(held_back=0.3, epochs=4, learning_rate=0.005))
    ids = examples.train[0]
    assert examples.renderer.tokenizer.decode(ids["rejected_ids"]) == "{}<|im_end|>"
    state = tuning.fine_tune(examples, tmp_path / "out", progress=False)

    assert state["figures"]["before"]["loss"] == pytest.approx(0.6931, abs=1e-3)
    assert state["figures"]["after"]["loss"] < 0.6
    assert state["figures"]["after"]["accuracy"] == 1
    with pytest.raises(TrainingError, match=r"got both in few\.jsonl, pairs\.jsonl"):
        prepare([few, pairs], str(base), recipe())


# --- killed, resumed, refused ----------------------------------------------------------------------------------------
def test_a_killed_run_goes_on_and_ends_with_the_weights_of_an_undisturbed_one(
    base: Path, few: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    given = recipe(epochs=6, checkpoint_steps=2, lora_dropout=0.1, held_back=0.2)
    (tmp_path / "recipe.yaml").write_text(recipe_text(given))
    command = ["train", "fit", "--rows", few, "--base", base, "--recipe", tmp_path / "recipe.yaml", "--out"]
    killed = tmp_path / "killed"
    process, printed = start_command(*map(str, command), str(killed))
    with printed:
        while not (killed / "checkpoints" / "checkpoint-4" / "trainer_state.json").exists():
            assert process.is_alive(), printed.read()
            time.sleep(0.001)
        process.kill()
        process.join()
    assert not (killed / "adapter_model.safetensors").exists()
    last = max((killed / "checkpoints").glob("checkpoint-*"), key=lambda path: int(path.name.rpartition("-")[2]))
    (last / "trainer_state.json").write_text("{")  # as if the kill had come a moment earlier

    with pytest.raises(TrainingError, match=r"begun with other settings or data \(seed\)"):
        tuning.fine_tune(prepare([few], str(base), recipe(**{**vars(given), "seed": 1})), killed, progress=False)
    resumed = tuning.fine_tune(prepare([few], str(base), given), killed, progress=False)
    undisturbed = tuning.fine_tune(prepare([few], str(base), given), tmp_path / "undisturbed", progress=False)

    assert 0 < resumed["figures"]["resumed_at"] < resumed["figures"]["steps"] == 24
    assert weights(killed) == weights(tmp_path / "undisturbed")
    assert resumed["figures"]["after"] == undisturbed["figures"]["after"]
    with pytest.raises(TrainingError, match="holds a finished model, which is not overwritten"):
        tuning.fine_tune(prepare([few], str(base), given), killed, progress=False)


def test_other_rows_or_another_base_are_no_continuation(base: Path, few: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    tuning._state_of(_made(out), prepare([few], str(base), recipe()))
    same = few.with_name("same.jsonl")
    same.write_text(few.read_text())
    few.write_text(few.read_text().replace("Step 3.", "Step three."))

    with pytest.raises(TrainingError, match=r"other settings or data \(rows, or weights of the base\)"):
        tuning.fine_tune(prepare([few], str(base), recipe()), out, progress=False)
    other = make_family_model(tmp_path / "other", "headers")
    weights = base / "model.safetensors"
    kept = weights.read_bytes()
    changed = bytearray(kept)
    changed[len(kept) // 2] ^= 1  # of the same size, as another model of this kind
    weights.write_bytes(changed)
    with pytest.raises(TrainingError, match=r"other settings or data \(rows, or weights of the base\)"):
        tuning.fine_tune(prepare([same], str(base), recipe()), out, progress=False)
    weights.write_bytes(kept)
    with pytest.raises(TrainingError, match=r"other settings or data \(base\)"):
        tuning.fine_tune(prepare([few], str(other), recipe()), out, progress=False)
    thesis = _made(tmp_path / "thesis") / "thesis.txt"
    thesis.write_text("Mine.")
    for others in ("thesis.txt", "training.json"):
        (thesis.parent / others).write_text('{"of": "another program"}')
        with pytest.raises(TrainingError, match="expected a new folder for the model"):
            tuning.fine_tune(prepare([few], str(base), recipe()), thesis.parent, progress=False)


def _made(folder: Path) -> Path:
    folder.mkdir()
    return folder


# --- what is given ---------------------------------------------------------------------------------------------------
def test_batches_have_the_labels_that_were_checked(base: Path, few: Path, tmp_path: Path) -> None:
    examples = prepare([few], str(base), recipe(batch=3))
    trainer = tuning._trainer(examples, tuning._model(examples), tmp_path, examples.train, [])
    seen = list[tuple[list[int], list[int]]]()
    for batch in trainer.get_train_dataloader():
        for ids, labels, real in zip(*(batch[name] for name in ("input_ids", "labels", "attention_mask")), strict=True):
            assert labels[real == 0].tolist() == [NO_LOSS] * int((real == 0).sum())
            seen.append((ids[real == 1].tolist(), labels[real == 1].tolist()))

    assert sorted(seen) == sorted((one["input_ids"].tolist(), one["labels"].tolist()) for one in examples.train)


def test_rows_that_are_too_long_are_left_out_and_counted_and_none_is_cut(base: Path, few: Path) -> None:
    rows = [json.loads(line) for line in few.read_text().splitlines()]
    rows[0]["messages"][1]["content"] = "long " * 300
    rows[1]["reply"] = "a<|im_end|>b"
    few.write_text("\n".join(map(json.dumps, rows)))
    examples = prepare([few], str(base), recipe(max_tokens=200, held_back=0.25))

    assert examples.data["left_out"] == {"longer than 200 tokens": 1, "cannot be learned": 1}
    assert (examples.data["rows"], examples.data["held_back"]) == (len(examples.train), len(examples.held_back))
    assert examples.data["rows"] + examples.data["held_back"] == 8
    small = make_family_model(base.with_name("small"), "chatml", context=150)  # can neither read nor be served it
    assert prepare([few], str(small), recipe()).data["left_out"]["longer than 150 tokens"] == 1
    with pytest.raises(TrainingError, match="no row is left to train on: 9 longer than 5 tokens, 1 cannot be learned"):
        prepare([few], str(base), recipe(max_tokens=5))
    with pytest.raises(TrainingError, match=r"expected a file of rows, .*, got .*nowhere\.jsonl"):
        prepare([few.with_name("nowhere.jsonl")], str(base), recipe())


@pytest.mark.parametrize(
    ("card", "licence"),
    [
        ("---\nlicense: apache-2.0\n---\n# A model", "apache-2.0"),
        ("---\nlicense: other\nlicense_name: gemma\n---\n", "gemma"),
        ("# A model", "unknown"),
        ("---\n{\n---\n", "unknown"),
    ],
)
def test_the_licence_of_the_base_is_that_of_its_card(card: str, licence: str, tmp_path: Path) -> None:
    (tmp_path / "README.md").write_text(card)

    assert licence_of(str(tmp_path)) == licence


def test_recipes_are_those_of_the_papers_and_files_are_checked(tmp_path: Path) -> None:
    cirag, dualrag = RECIPES["cirag"], RECIPES["dualrag"]
    assert (cirag.lora_rank, cirag.epochs, cirag.learning_rate, cirag.batch) == (64, 2, 2e-4, 2)
    assert (dualrag.lora_rank, dualrag.learning_rate, dualrag.schedule) == (None, 3e-6, "cosine")
    assert run("train", "recipe", "dualrag").stdout == recipe_text(dualrag)
    file = tmp_path / "recipe.yaml"
    for text, wrong in {
        "rank: 12": "rank: Unexpected keyword argument",
        "lora_rank: 12": "lora_rank: Input should be 8, 16, 32 or 64",
        "device: tpu": "device: Input should be 'auto', 'cpu' or 'cuda'",
        "epochs: 0": "epochs: Input should be greater than or equal to 1",
        "- 1": "expected settings of a recipe",
        "a: [": "or a YAML file with settings",
    }.items():
        file.write_text(text)
        with pytest.raises(TrainingError, match=wrong):
            read_recipe(str(file))
    with pytest.raises(TrainingError, match="expected cirag, dualrag, dpo, or a YAML file with settings, got 'nope'"):
        read_recipe("nope")


def test_without_the_extra_it_is_named(
    base: Path, few: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.delitem(sys.modules, "langgraph_rag.training.fine_tuning")
    monkeypatch.setitem(sys.modules, "trl", None)
    told = refuse(monkeypatch, capsys, "train", "fit", "--rows", few, "--base", base, "--out", tmp_path / "out")

    assert "pip install 'langgraph-rag[train]'" in told
    assert MissingExtraError("x", "train")


def test_a_base_without_weights_an_adapter_as_base_and_a_missing_gpu_are_told(
    base: Path, few: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for file in base.iterdir():
        if file.suffix != ".safetensors":
            (tmp_path / "bare" / file.name).parent.mkdir(exist_ok=True)
            (tmp_path / "bare" / file.name).write_bytes(file.read_bytes())
    examples = prepare([few], str(tmp_path / "bare"), recipe())
    with pytest.raises(TrainingError, match=r"expected the weights of a language model in .*bare, got: .*safetensors"):
        tuning.fine_tune(examples, tmp_path / "out", progress=False)
    (tmp_path / "bare" / "config.json").unlink()
    (tmp_path / "bare" / "adapter_config.json").write_text("{}")
    with pytest.raises(TrainingError, match="expected a whole model, got an adapter, .*bare': merge it first"):
        prepare([few], str(tmp_path / "bare"), recipe())
    monkeypatch.setattr(tuning.torch.cuda, "is_available", lambda: False)
    with pytest.raises(TrainingError, match="expected a GPU, as the recipe's device is cuda"):
        tuning.rehearse(prepare([few], str(base), recipe(device="cuda")))
    assert not (tmp_path / "out").exists()


def test_only_an_adapter_is_merged_and_into_a_new_folder(base: Path, tmp_path: Path) -> None:
    with pytest.raises(TrainingError, match="expected the folder of an adapter"):
        tuning.merge(base, tmp_path / "merged")
