"""The commands of the page on training, from questions to a served adapter, run as they stand."""

import json
import shlex
from pathlib import Path
from shutil import copyfile
from typing import Any

import pytest
from chat_families import make_family_model
from conftest import SAMPLE
from pages import DOCS
from servers import JsonServer, serving
from test_cli import run

from langgraph_rag.models.loading import load_model

pytest.importorskip("trl")
COMMANDS = (DOCS / "training.md").read_text().partition("<!-- commands -->\n")[2].partition("<!-- end")[0].splitlines()


class Adapter(JsonServer):
    """Serves an adapter by its name, as vLLM does with `--lora-modules`."""

    def __init__(self, name: str, folder: Path) -> None:
        super().__init__()
        self.name, self.model, self.asked = name, load_model(f"transformers:{folder}", max_new_tokens=300), 0

    def answer(self, body: dict[str, Any]) -> tuple[int, Any]:
        if body["model"] != self.name:
            return 404, {"error": {"message": f"no model {body['model']}", "code": 404}}
        self.asked += 1
        messages = [(message["role"], message["content"]) for message in body["messages"]]
        reply = self.model.invoke(messages, response_format=body["response_format"])
        choice = {"index": 0, "message": {"role": "assistant", "content": reply.text}, "finish_reason": "stop"}
        return 200, {"id": "1", "object": "chat.completion", "created": 1, "model": self.name, "choices": [choice]}


@pytest.mark.usefixtures("localhost")
def test_from_questions_to_a_served_adapter_in_ten_commands(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    make_family_model(tmp_path / "BASE", "headers")
    (tmp_path / "documents").mkdir()
    copyfile(SAMPLE / "corpus.jsonl", tmp_path / "documents" / "corpus.jsonl")
    questions = (SAMPLE / "questions.jsonl").read_text().splitlines()
    for name, some in (("known", questions[:4]), ("held_out", questions[4:5])):
        (tmp_path / f"{name}.jsonl").write_text("\n".join(some))
    install, index, trajectories, rows, recipe, dry_run, fit, ask, serve, evaluate = map(shlex.split, COMMANDS)

    def go(command: list[str]) -> str:
        assert command[0] == "langgraph-rag"
        return run(*("offline" if word == "vllm:TEACHER" else word for word in command[1:])).stdout

    assert install[:2] == ["pip", "install"]
    for command in (index, trajectories, rows):
        go(command)
    *printing, _, file = recipe
    settings = go(printing).replace("epochs: 2", "epochs: 1").replace("lora_rank: 64", "lora_rank: 8")
    (tmp_path / file).write_text(settings)
    assert "steps in about" in go(dry_run)
    assert not (tmp_path / "student").exists()
    assert "The model is in student" in go(fit)
    assert "Answer: " in go(ask)
    adapter = json.loads((tmp_path / "student" / "adapter_config.json").read_text())
    served = dict(zip(serve[3:], serve[4:], strict=False))
    assert serve[:3] == ["vllm", "serve", "BASE"]
    assert adapter["base_model_name_or_path"] == str(tmp_path / "BASE")
    assert adapter["r"] <= int(served["--max-lora-rank"])
    name, _, folder = served["--lora-modules"].partition("=")
    with serving(Adapter(name, tmp_path / folder)) as server:
        monkeypatch.setenv("VLLM_BASE_URL", server.url)
        assert "cirag" in go(evaluate)
    assert server.asked
    assert json.loads((tmp_path / "eval" / "run.json").read_text())["options"] == {
        "parts": {"integrator": "vllm:student"}
    }
