"""What is trained is what is served: the context as a server makes it, and the reply up to its stop token."""

import json
from pathlib import Path
from typing import Any

import pytest
import torch
from chat_families import FAMILIES, make_family_model
from servers import JsonServer, serving

from langgraph_rag.errors import RagError
from langgraph_rag.llm import ask
from langgraph_rag.models.loading import load_model
from langgraph_rag.prompts.cirag import INTEGRATE
from langgraph_rag.training.rendering import NO_LOSS, Renderer, Tokens, TrainingError
from langgraph_rag.training.rows import reply_text

VALUES: dict[str, Any] = {
    "question": "Who directed “Nine Tides”?",
    "history": [],
    "query": "Who directed Nine Tides?",
    "facts": [["Nine Tides", "directed by", "Ilse Tarrant"]],
    "is_last": False,
}
REPLY = reply_text(INTEGRATE, {"thought": "Zoë — it is told.", "facts": VALUES["facts"], "question": None})


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    root = tmp_path_factory.mktemp("families")
    return {name: make_family_model(root / name, name) for name in FAMILIES}


def sent() -> list[dict[str, str]]:
    system, user = INTEGRATE.render(**VALUES)
    return [{"role": "system", "content": system.text}, {"role": "user", "content": user.text}]


@pytest.mark.parametrize("name", FAMILIES)
def test_the_reply_and_its_stop_token_carry_loss_and_nothing_else(folders: dict[str, Path], name: str) -> None:
    renderer, family = Renderer.of(str(folders[name])), FAMILIES[name]
    row = renderer.row(sent(), f"  {REPLY}\n")
    parts = {"s": sent()[0]["content"], "u": sent()[1]["content"], "r": REPLY}
    context, written = family.context.format(**parts), family.written.format(**parts)
    expected = renderer.tokenizer(context, add_special_tokens=False)["input_ids"]
    learned = [label for label in row["labels"] if label != NO_LOSS]

    assert renderer.tokenizer.convert_ids_to_tokens(row["input_ids"][: len(expected)]) == (
        renderer.tokenizer.convert_ids_to_tokens(expected)
    )
    assert row["labels"][: len(expected)] == [NO_LOSS] * len(expected)
    assert row["labels"][len(expected) :] == row["input_ids"][len(expected) :] == learned
    assert renderer.tokenizer.decode(learned).strip() == written.strip()
    assert renderer.tokenizer.convert_ids_to_tokens(learned[-1]) in (family.stop, *family.ends)


class Spy(JsonServer):
    """Makes a prompt of each request by the template, as servers do, and replies with one reply."""

    def __init__(self, renderer: Renderer) -> None:
        super().__init__()
        self.renderer = renderer
        self.prompts: list[list[int]] = []

    def answer(self, body: dict[str, Any]) -> tuple[int, Any]:
        from jinja2 import TemplateError

        try:
            made = self.renderer.tokenizer.apply_chat_template(
                body["messages"], add_generation_prompt=True, return_dict=True, **body["chat_template_kwargs"]
            )
        except TemplateError as error:
            return 400, {"error": {"message": str(error), "code": 400}}
        self.prompts.append(made["input_ids"])
        message = {"role": "assistant", "content": REPLY}
        choice = {"index": 0, "message": message, "finish_reason": "stop"}
        return 200, {"id": "1", "object": "chat.completion", "created": 1, "model": "m", "choices": [choice]}


@pytest.mark.usefixtures("localhost")
@pytest.mark.parametrize("name", FAMILIES)
async def test_the_context_of_a_row_is_what_a_server_makes_of_the_prompt(
    folders: dict[str, Path], name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    renderer = Renderer.of(str(folders[name]))
    context = renderer.context(sent())
    with serving(Spy(renderer)) as server:
        monkeypatch.setenv("VLLM_BASE_URL", server.url)
        await ask(load_model("vllm:m"), INTEGRATE, **VALUES)
    model: Any = load_model(f"transformers:{folders[name]}")
    learned = renderer.row(sent(), REPLY)["input_ids"][len(context) :]
    seen = list[list[int]]()

    def as_learned(**given: Any) -> torch.Tensor:
        seen.append(given["input_ids"][0].tolist())
        return torch.tensor([[*seen[-1], *learned]])

    monkeypatch.setattr(model._model, "generate", as_learned)
    reply = await ask(model, INTEGRATE, **VALUES)

    assert reply_text(INTEGRATE, reply.model_dump()) == REPLY
    assert server.prompts == [context]
    assert seen == [context]


def test_a_row_whose_mask_is_wrong_is_told(folders: dict[str, Path]) -> None:
    renderer = Renderer.of(str(folders["chatml"]))
    row, messages = renderer.row(sent(), REPLY), sent()
    ids, labels = row["input_ids"], row["labels"]
    first = labels.index(ids[-1])
    wrong = [
        Tokens(input_ids=ids, labels=[*labels[:-1], NO_LOSS]),
        Tokens(input_ids=ids, labels=[ids[0], *labels[1:]]),
        Tokens(input_ids=ids[:-1], labels=labels[:-1]),
        Tokens(input_ids=[*ids, ids[-1]], labels=[*labels, labels[-1]]),
        Tokens(input_ids=ids, labels=[NO_LOSS] * len(ids)),
        Tokens(input_ids=ids[1:], labels=labels[1:]),
        Tokens(input_ids=[*ids[: first - 3], *ids[first - 2 :]], labels=[*labels[: first - 3], *labels[first - 2 :]]),
    ]
    for one in wrong:
        with pytest.raises(TrainingError):
            renderer.check(one, messages, REPLY)
    renderer.check(row, messages, REPLY)


def test_a_reply_that_holds_a_stop_token_is_not_learned(folders: dict[str, Path]) -> None:
    renderer = Renderer.of(str(folders["chatml"]))

    with pytest.raises(
        TrainingError, match="the tokens of a reply say 'a', and the reply is 'a<|im_end|>b'".replace("|", r"\|")
    ):
        renderer.row(sent(), "a<|im_end|>b")


def test_a_template_that_does_not_end_replies_is_told(folders: dict[str, Path]) -> None:
    renderer = Renderer.of(str(folders["chatml"]))
    renderer.tokenizer.chat_template = "{% for m in messages %}{{ m.content }}\n{% endfor %}"

    with pytest.raises(TrainingError, match=r"expected the template to end a reply with a stop token \(<\|im_end\|>\)"):
        renderer.row(sent(), REPLY)


def test_what_is_no_chat_model_is_told(folders: dict[str, Path], tmp_path: Path) -> None:
    with pytest.raises(TrainingError, match="expected a model's folder or name"):
        Renderer.of(str(tmp_path))
    for file in folders["chatml"].iterdir():
        (tmp_path / file.name).write_bytes(file.read_bytes())
    (tmp_path / "chat_template.jinja").unlink()
    settings = tmp_path / "tokenizer_config.json"
    kept = {name: value for name, value in json.loads(settings.read_text()).items() if name != "chat_template"}
    settings.write_text(json.dumps(kept))
    with pytest.raises(RagError, match="expected a model with a chat template"):
        Renderer.of(str(tmp_path))
