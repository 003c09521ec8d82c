"""Rows as tokens: the context that a server makes, by the model's own chat template, and the reply, which has loss."""

import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Self

from jinja2 import TemplateError
from langchain_core.messages import convert_to_messages, convert_to_openai_messages
from typing_extensions import TypedDict

from langgraph_rag.errors import MissingExtraError, RagError
from langgraph_rag.models.sending import without_system
from langgraph_rag.models.transformers_model import TEMPLATE_OPTIONS

NO_LOSS = -100
_UNSAID = "\u2047"  # a reply that no template has in its own text


class TrainingError(RagError):
    """A model cannot be trained as asked, or a row cannot be learned."""


class Tokens(TypedDict):
    """A row as tokens; `labels` are the tokens of the reply with its stop token, and -100 elsewhere."""

    input_ids: list[int]
    labels: list[int]


def context_of(base: str) -> int | None:
    """Return how many tokens a model can read and write, if its settings say that."""
    from transformers import AutoConfig

    try:
        settings = AutoConfig.from_pretrained(base).get_text_config()
    except OSError:
        return None
    return getattr(settings, "max_position_embeddings", None)


@dataclass(frozen=True)
class Renderer:
    """Renders rows by a chat template; `ends` are the tokens at which generation stops."""

    tokenizer: Any
    ends: frozenset[int]

    @classmethod
    def of(cls, base: str) -> Self:
        """Load the tokenizer of a model from its folder, or by its name at Hugging Face.

        Raises:
            MissingExtraError: when transformers is not installed.
            TrainingError: when there is no tokenizer, or it has no chat template.
        """
        try:
            from transformers import AutoConfig, AutoTokenizer, GenerationConfig
        except ImportError as error:
            raise MissingExtraError("training a model", "train") from error
        try:
            tokenizer, ends = AutoTokenizer.from_pretrained(base), set[int | None]()
            for kind in (GenerationConfig, AutoConfig):
                try:
                    of_model = kind.from_pretrained(base).eos_token_id
                except OSError:
                    continue  # not every model has a generation_config.json
                ends |= set(of_model) if isinstance(of_model, list) else {of_model}
        except (OSError, ValueError) as error:
            if (Path(base) / "adapter_config.json").exists():
                raise TrainingError(f"expected a whole model, got an adapter, {base!r}: merge it first") from error
            raise TrainingError(f"expected a model's folder or name, got {base!r}: {error}") from error
        if not tokenizer.chat_template:
            raise TrainingError(
                f"expected a model with a chat template, got {base!r} without: is there an instruct one?"
            )
        return cls(tokenizer, frozenset({*ends, tokenizer.eos_token_id} - {None}))

    @cached_property
    def _takes_system(self) -> bool:
        try:
            self._text([{"role": "system", "content": _UNSAID}, {"role": "user", "content": _UNSAID}])
        except TemplateError:
            return False
        return True

    def context(self, messages: Sequence[Mapping[str, str]]) -> list[int]:
        """Return the tokens that a server makes of messages."""
        ids: list[int] = self.tokenizer.apply_chat_template(
            self._taken(messages), add_generation_prompt=True, return_dict=True, **TEMPLATE_OPTIONS
        )["input_ids"]
        return ids

    def row(self, messages: Sequence[Mapping[str, str]], reply: str) -> Tokens:
        """Return a row as tokens, checked.

        Raises:
            TrainingError: when the reply does not end in a stop token, or its tokens say something else.
        """
        context = self.context(messages)
        written = self._written(messages, reply, context)
        row = Tokens(input_ids=[*context, *written], labels=[NO_LOSS] * len(context) + written)
        self.check(row, messages, reply)
        return row

    def check(self, row: Tokens, messages: Sequence[Mapping[str, str]], reply: str) -> None:
        """Check that the reply and its stop token carry loss, all of it, and nothing else.

        Raises:
            TrainingError: when that is not so.
        """
        ids, labels = row["input_ids"], row["labels"]
        context = self.context(messages)
        learned = ids[len(context) :]
        if ids[: len(context)] != context or labels != [NO_LOSS] * len(context) + learned:
            raise TrainingError(f"the tokens that carry loss are not those of the reply {reply[:200]!r}")
        if not learned or learned[-1] not in self.ends or self.ends.intersection(learned[:-1]):
            raise TrainingError(f"expected one stop token, at the end, in the tokens of the reply {reply[:200]!r}")
        said = self.tokenizer.decode(learned[:-1], skip_special_tokens=True, clean_up_tokenization_spaces=False)
        if unicodedata.normalize("NFC", said).strip() != unicodedata.normalize("NFC", reply).strip():
            raise TrainingError(f"the tokens of a reply say {said[:200]!r}, and the reply is {reply[:200]!r}")

    def _written(self, messages: Sequence[Mapping[str, str]], reply: str, context: list[int]) -> list[int]:
        """Return the tokens of a reply as the template writes it, up to its stop token.

        Where the end of the context would merge with the reply, it is tokenised alone, as it is when it is generated.
        """
        taken = self._taken(messages)
        before = self._text(taken, add_generation_prompt=True)
        whole = self._text([*taken, {"role": "assistant", "content": _UNSAID}])
        begun, after = "", whole.rpartition(_UNSAID)[2]
        if whole.startswith(before):  # else the template shows a reply otherwise than it asks for it
            begun = whole[len(before) :].partition(_UNSAID)[0]
        ids = self._ids(f"{before}{begun}{reply.strip()}{after}")
        apart = ids[: len(context)] != context
        written = self._ids(f"{begun}{reply.strip()}{after}") if apart else ids[len(context) :]
        end = next((place for place, id_ in enumerate(written) if id_ in self.ends), None)
        if end is None:
            raise TrainingError(
                f"expected the template to end a reply with a stop token ({self._names()}), got {after!r}: such a "
                "model would not learn to end its replies"
            )
        return written[: end + 1]

    def _taken(self, messages: Sequence[Mapping[str, str]]) -> list[dict[str, str]]:
        """Return messages as they are sent: without a system message where the template refuses it."""
        if self._takes_system or messages[0]["role"] != "system":
            return [dict(message) for message in messages]
        sent: Any = convert_to_openai_messages(without_system(convert_to_messages([dict(one) for one in messages])))
        return list(sent)

    def _text(self, messages: Sequence[Mapping[str, str]], *, add_generation_prompt: bool = False) -> str:
        text: str = self.tokenizer.apply_chat_template(
            messages, tokenize=False, add_generation_prompt=add_generation_prompt, **TEMPLATE_OPTIONS
        )
        return text

    def _ids(self, text: str) -> list[int]:
        ids: list[int] = self.tokenizer(text, add_special_tokens=False)["input_ids"]
        return ids

    def _names(self) -> str:
        return ", ".join(self.tokenizer.convert_ids_to_tokens(sorted(self.ends)))
