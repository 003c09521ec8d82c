"""A prompt is text plus the type of its reply."""

import json
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Annotated, Any, ClassVar, Generic, TypeVar, get_origin

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


def with_plain_schema(schema: dict[str, Any]) -> None:
    """Close a schema, limit its lists, require all fields that cannot be null, and remove the docstring.

    Small models leave out what is not required, and may repeat an item of a list without end. The docstring is for
    readers of the code.
    """
    schema.pop("description", None)
    schema["additionalProperties"] = False
    for of in schema["properties"].values():
        if of.get("type") == "array":
            of.setdefault("maxItems", _MOST_ITEMS)
    schema["required"] = [name for name, of in schema["properties"].items() if of.pop("default", "") is not None]


class PromptReply(BaseModel):
    """The base class of all reply types; unknown fields are ignored.

    `unasked` is the reply if the budget of the question is spent; without it, that is an error. It also replaces an
    unusable reply that is `dispensable`: the question can be answered without it. `unsaid` has the values of fields
    that the model leaves out or sets to null; a field with a default has that one. A reply that is `useful_in_part`,
    such as a list, is used as far as it goes if it was cut off at the maximum length.
    """

    model_config = ConfigDict(
        extra="ignore", str_strip_whitespace=True, coerce_numbers_to_str=True, json_schema_extra=with_plain_schema
    )
    unasked: ClassVar[Mapping[str, Any] | None] = None
    dispensable: ClassVar[bool] = False
    unsaid: ClassVar[Mapping[str, Any]] = {}
    useful_in_part: ClassVar[bool] = False
    _left_out: int = 0

    def leave_out(self, items: int) -> None:
        """Record how many items of the list that the prompt shortens were not in the prompt."""
        self._left_out += items

    def shown(self, items: Sequence[T]) -> Sequence[T]:
        """Return the items that were in the prompt; of passages and candidates, the last may be missing."""
        return items[: len(items) - self._left_out]

    @model_validator(mode="before")
    @classmethod
    def _complete(cls, given: object) -> object:
        if not isinstance(given, dict):
            return given
        given = {name if name in cls.model_fields else str(name).lower(): value for name, value in given.items()}
        if given.keys().isdisjoint(cls.model_fields):
            raise ValueError(f"it has none of the fields {', '.join(cls.model_fields)}")
        if not given.keys() <= cls.model_fields.keys():
            return given  # the missing field may be there by another name
        return {**given, **{name: value for name, value in cls.unsaid.items() if given.get(name) is None}}

    @field_validator("*", mode="before")
    @classmethod
    def _as_wanted(cls, value: object, field: ValidationInfo) -> object:
        """Read what some models write: null for nothing, a list of texts for a text, a list that is JSON in a text."""
        asked = cls.model_fields[str(field.field_name)]
        wanted = asked.annotation
        if value is None and not asked.is_required():
            return asked.get_default(call_default_factory=True)
        if isinstance(value, list) and wanted in (str, str | None) and all(isinstance(item, str) for item in value):
            return ", ".join(value)
        if isinstance(value, str) and get_origin(wanted) is list and value.lstrip().startswith("["):
            with suppress(ValueError, RecursionError):
                return json.loads(value)
        return value

    @field_validator("*")
    @classmethod
    def _printable(cls, value: Any) -> Any:
        """Remove control characters and piles of accents, and what is beyond the schema's limit of a list.

        Nested replies do it themselves. Matching thousands of items would take seconds.
        """
        if isinstance(value, str):
            return without_piles(without_controls(value)).strip()
        return [cls._printable(item) for item in value[:_MOST_ITEMS]] if isinstance(value, list) else value


def _as_triple(given: object) -> object:
    """Read what some models write instead of a triple: an object, JSON in a text, or three parts with bars between."""
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
    """Leave out items that are not triples, unless none is one; words such as "none" stand for an empty list."""
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
"""Triples in a reply: the schema asks for three parts each; they are checked when they are used."""

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
    """A question to a model.

    `instructions`, with examples, never change, so that servers can reuse their computation. `request` has the values,
    those that change most often last. `show` converts values to text. If the prompt is too long for the model, the list
    named by `shortens` is made shorter by `shorter`; by default it keeps the first half, because the best come first.
    """

    name: str
    instructions: str
    request: str
    reply: type[Reply]
    show: Mapping[str, Show] = field(default_factory=dict)
    shortens: str = ""
    shorter: Callable[[list[Any]], list[Any]] = first_half

    def render(self, **values: Any) -> list[BaseMessage]:
        """Return the messages; the name and the values are metadata, which no provider sends."""
        shown = {name: self.show[name](value) if name in self.show else str(value) for name, value in values.items()}
        return [
            SystemMessage(self.instructions),
            HumanMessage(
                self.request.format(**shown),
                response_metadata={METADATA_KEY: {"prompt": self.name, "values": values}},
            ),
        ]

    def shortened(self, values: Mapping[str, Any]) -> dict[str, Any] | None:
        """Return the values with a shorter list; None if it cannot be made shorter."""
        items = values.get(self.shortens, [])
        fewer = self.shorter(items)
        return {**values, self.shortens: fewer} if fewer != items else None


def triple_lines(triples: list[list[str]]) -> str:
    """Show triples as one JSON list per line."""
    return "\n".join(map(_JSON.encode, triples)) or "(none)"


def name_list(names: list[str]) -> str:
    """Show names as one JSON list."""
    return _JSON.encode(names)
