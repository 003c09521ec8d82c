"""A prompt is text plus the type of its reply."""

import json
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Annotated, Any, ClassVar, Generic, TypeVar

from langchain_core.messages import BaseMessage, HumanMessage, SystemMessage
from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    ValidationInfo,
    WithJsonSchema,
    field_validator,
    model_validator,
)

from langgraph_rag.characters import without_controls
from langgraph_rag.normal_forms import normalise, without_piles

T = TypeVar("T")

METADATA_KEY = "langgraph_rag"
_JSON = json.JSONEncoder(ensure_ascii=False)
_PARTS = (("head", "subject"), ("relation", "predicate"), ("tail", "object"))
_NONE = ("", "none", "null", "n a", "nothing", "empty")
_MOST_ITEMS = 50  # far more than any prompt asks for


def _plain(schema: dict[str, Any]) -> None:
    """Close a schema, and ask for every field but those that may be null: small models write no more than they must.

    They may also repeat an item without end where a list has none. The docstring is left out: it speaks to readers of
    the code.
    """
    schema.pop("description", None)
    schema["additionalProperties"] = False
    for of in schema["properties"].values():
        if of.get("type") == "array":
            of.setdefault("maxItems", _MOST_ITEMS)
    schema["required"] = [name for name, of in schema["properties"].items() if of.pop("default", "") is not None]


class PromptReply(BaseModel):
    """Base of all reply types: unknown fields are not asked for and ignored, known ones are checked.

    `unasked` is taken for the reply where a question's budget leaves no room to ask; without it that is an error.
    It is taken of a `dispensable` reply also where none can be read: the question can be answered without it.
    `unsaid` is taken for fields that a model leaves out, or has nothing for, though the schema asks for them.
    A reply `useful_in_part` is a list at heart: cut off for its length, it counts for what it has.
    """

    model_config = ConfigDict(
        extra="ignore", str_strip_whitespace=True, coerce_numbers_to_str=True, json_schema_extra=_plain
    )
    unasked: ClassVar[Mapping[str, Any] | None] = None
    dispensable: ClassVar[bool] = False
    unsaid: ClassVar[Mapping[str, Any]] = {}
    useful_in_part: ClassVar[bool] = False
    _left_out: int = 0

    def leave_out(self, items: int) -> None:
        """Note that so many items of the list that the prompt shortens were not in the prompt."""
        self._left_out += items

    def shown(self, items: Sequence[T]) -> Sequence[T]:
        """Return those of the items that the prompt held: where it was too long for the model, the last are missing."""
        return items[: len(items) - self._left_out]

    @model_validator(mode="before")
    @classmethod
    def _complete(cls, given: object) -> object:
        if not isinstance(given, dict):
            return given
        if given.keys().isdisjoint(cls.model_fields):
            raise ValueError(f"it has none of the fields {', '.join(cls.model_fields)}")
        if not given.keys() <= cls.model_fields.keys():
            return given  # what is missing may be there by another name
        return {**given, **{name: value for name, value in cls.unsaid.items() if given.get(name) is None}}

    @field_validator("*", mode="before")
    @classmethod
    def _as_text(cls, value: object, field: ValidationInfo) -> object:
        """Read what some models write in the place of a text: a list of texts."""
        if not isinstance(value, list) or cls.model_fields[str(field.field_name)].annotation not in (str, str | None):
            return value
        return ", ".join(value) if all(isinstance(item, str) for item in value) else value

    @field_validator("*")
    @classmethod
    def _printable(cls, value: Any) -> Any:
        """Take control characters and piles of accents out of texts and lists; replies within a reply do it too."""
        if isinstance(value, str):
            return without_piles(without_controls(value)).strip()
        return [cls._printable(item) for item in value] if isinstance(value, list) else value


def _as_triple(given: object) -> object:
    """Read what some models write in the place of a triple: an object, its JSON as a text, or parts between bars."""
    if isinstance(given, dict):
        parts = [next((given[name] for name in names if name in given), None) for names in _PARTS]
        return given if None in parts else parts
    if not isinstance(given, str):
        return given
    if given.startswith("["):
        with suppress(ValueError, RecursionError):
            return json.loads(given)
    return given.split("|") if given.count("|") == 2 else given


def _is_triple(item: object) -> bool:
    return isinstance(item, list) and all(isinstance(part, str | int | float) for part in item)


def _readable_triples(given: object) -> object:
    """Leave out what is no triple, as long as something is: not all is lost for one. Words for none stand for none."""
    items: list[Any] = [_as_triple(item) for item in given] if isinstance(given, list) else [_as_triple(given)]
    if len(items) == 3 and all(isinstance(item, str) for item in items):  # one triple, not in a list
        items = [items]
    if len(items) == 1 and isinstance(items[0], list) and all(map(_is_triple, items[0])):  # one list too many
        (items,) = items
    says_none = all(item is None or isinstance(item, str) and normalise(item) in _NONE for item in items)
    return [item for item in items if _is_triple(item)] or ([] if says_none else given)


TripleReply = Annotated[
    list[str],
    WithJsonSchema({"type": "array", "items": {"type": "string"}, "minItems": 3, "maxItems": 3}),
]
TripleReplies = Annotated[list[TripleReply], BeforeValidator(_readable_triples)]
"""Triples as a model writes them: asked for with three parts each, and checked only when they are used."""

Reply = TypeVar("Reply", bound=PromptReply)
Show = Callable[[Any], str]


def first_half(items: list[Any]) -> list[Any]:
    """Return the first half of some items; one is not halved."""
    return items[: max(1, len(items) // 2)]


def last_half(items: list[Any]) -> list[Any]:
    """Return the last half of some items; one is not halved."""
    return items[-max(1, len(items) // 2) :]


@dataclass(frozen=True, kw_only=True)
class Prompt(Generic[Reply]):
    """One question to a model.

    `instructions` (with examples) never change, so that servers can reuse their computation; `request` holds the
    values, in the order in which they change from call to call. `show` turns a value that is not a string into text.
    `shortens` names the list that is made shorter by `shorter` where a model finds the prompt too long; by default it
    loses the last half of its items, the best being first.
    """

    name: str
    instructions: str
    request: str
    reply: type[Reply]
    show: Mapping[str, Show] = field(default_factory=dict)
    shortens: str = ""
    shorter: Callable[[list[Any]], list[Any]] = first_half

    def render(self, **values: Any) -> list[BaseMessage]:
        """Return the messages; name and values ride along as metadata that no provider sends."""
        shown = {name: self.show[name](value) if name in self.show else str(value) for name, value in values.items()}
        return [
            SystemMessage(self.instructions),
            HumanMessage(
                self.request.format(**shown),
                response_metadata={METADATA_KEY: {"prompt": self.name, "values": values}},
            ),
        ]

    def shortened(self, values: Mapping[str, Any]) -> dict[str, Any] | None:
        """Return the values with a shorter list, or None where nothing may be left out."""
        items = values.get(self.shortens, [])
        fewer = self.shorter(items)
        return {**values, self.shortens: fewer} if fewer != items else None


def triple_lines(triples: list[list[str]]) -> str:
    """Show triples as one JSON list per line."""
    return "\n".join(map(_JSON.encode, triples)) or "(none)"


def name_list(names: list[str]) -> str:
    """Show names as one JSON list."""
    return _JSON.encode(names)
