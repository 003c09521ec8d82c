"""Filters on passages: conditions on metadata, title and source, as LangChain's and Chroma's stores take them.

{"year": {"$gte": 2020}, "$or": [{"team": "law"}, {"source": {"$in": ["rules.pdf", "notes.md"]}}]}
"""

import json
import math
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from functools import lru_cache
from pathlib import PurePath
from typing import Any, NamedTuple, NoReturn

from langgraph_rag.characters import is_text
from langgraph_rag.errors import FilterError

Where = Mapping[str, Any]
"""A filter as it is given."""

_DEEPEST = 20  # levels of filters in filters
_MOST = 1_000  # conditions; with as many, databases take seconds, and with some thousands more, they refuse
_ORDERED = ("$gt", "$gte", "$lt", "$lte")
OPERATORS = ("$eq", "$ne", *_ORDERED, "$in", "$nin", "$exists", "$not")
_KINDS = {bool: "true or false", int: "a number", float: "a number", str: "text", type(None): "null"}
KINDS = sorted({*_KINDS.values(), "an object"})
_COMBINED = ("$and", "$or", "$not")


class Compared(NamedTuple):
    """A condition that one of the values of a field has to meet: its one value, or the items of its list.

    `how` is `$in`, one of `$gt`, `$gte`, `$lt` and `$lte` with a single value, or `$exists` without any.
    """

    name: str
    how: str
    values: Sequence[Any] = ()


class Combined(NamedTuple):
    """Conditions of which all (`$and`), one (`$or`), or not all (`$not`) must hold."""

    how: str
    parts: Sequence["Compared | Combined"]


Condition = Compared | Combined


@dataclass(frozen=True)
class Filter:
    """A filter that was read.

    `compared` has the kinds of the values that each of its fields is compared with, such as "text".
    """

    as_json: str
    condition: Condition = field(compare=False)
    compared: Mapping[str, frozenset[str]] = field(compare=False)

    def check(self, has: Callable[[str, str | None], bool], known: Callable[[], Collection[str]]) -> None:
        """Check the fields and the values against those that passages have.

        Args:
            has: tells whether some passage has a field, with a value of a kind if one is given.
            known: returns the names of all fields.

        Raises:
            FilterError: when no passage has a field, or no value of the kind that it is compared with.
        """
        for name, kinds in self.compared.items():
            absent = [kind for kind in sorted(kinds - {"null"}) if not has(name, kind)]
            if (absent or kinds <= {"null"}) and not has(name, None):
                raise FilterError(
                    f"no passage has the field {name!r}, but {', '.join(sorted(known())) or 'none at all'}"
                )
            for kind in absent:
                there = " or ".join(one for one in KINDS if has(name, one)) or "empty"
                raise FilterError(f"{name} is compared with {kind}, but in all passages it is {there}")


def kind_of(value: object) -> str:
    """Return the kind of a value of metadata, in words."""
    return _KINDS.get(type(value), "an object")


def joined(*filters: Where | None) -> Where | None:
    """Return the filter that lets through what all of some filters do; None lets everything through."""
    given = [one for one in filters if one]
    return {"$and": given} if len(given) > 1 else next(iter(given), None)


def sources_in(given: Any) -> list[str]:
    """Return the sources that a filter compares with."""
    if isinstance(given, Mapping):
        return [text for name, inner in given.items() for text in (_texts if name == "source" else sources_in)(inner)]
    return [text for one in given for text in sources_in(one)] if isinstance(given, list | tuple) else []


def _texts(value: Any) -> list[str]:
    if isinstance(value, str | PurePath):
        return [str(value)]
    inner = value.values() if isinstance(value, Mapping) else value if isinstance(value, Collection) else ()
    return [text for one in inner for text in _texts(one)]


def filter_in(text: str) -> dict[str, Any]:
    """Return a filter that was written as JSON.

    Raises:
        FilterError: when it is no JSON, or no filter.
    """
    try:
        given = json.loads(text)
    except ValueError:
        _refuse('a filter as JSON, such as {"year": {"$gte": 2020}}', text)
    return dict(json.loads(read_filter(given).as_json))


def read_filter(given: Where) -> Filter:
    """Read a filter.

    A field with a value (`{"team": "law"}`) has it, as with `$eq`; of a list, one item is enough. `$ne` and `$nin` also
    let passages through that lack the field. Numbers, texts and truth values are only compared with their own kind.
    `$not` negates a filter, or the conditions on one field. Conditions side by side must all hold.

    Raises:
        FilterError: when it is not such a filter.
    """
    if not isinstance(given, Mapping):
        _refuse("a filter such as {'year': {'$gte': 2020}}", given)
    plain = _plain(given, _DEEPEST)
    return _read(json.dumps(plain, sort_keys=True, ensure_ascii=False))


@lru_cache
def _read(as_json: str) -> Filter:
    compared: dict[str, set[str]] = {}
    condition = _all_of(json.loads(as_json), compared)
    if (size := _size(condition)) > _MOST:
        raise FilterError(f"expected a filter of at most {_MOST:,} conditions, got {size:,}: $in takes a list")
    return Filter(as_json, condition, {name: frozenset(kinds) for name, kinds in compared.items()})


def _plain(value: object, levels: int) -> Any:
    """Return a filter as JSON values; dates and paths are text, as in metadata."""
    if not levels:
        raise FilterError(f"expected a filter of at most {_DEEPEST} levels, got more")
    if isinstance(value, Mapping):
        for name in value:
            if not isinstance(name, str) or not is_text(name):
                _refuse("names of fields as text", name)
        return {name: _plain(inner, levels - 1) for name, inner in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [_plain(inner, levels - 1) for inner in value]
    if isinstance(value, date | PurePath):
        return str(value)
    if type(value) not in _KINDS or (isinstance(value, float) and not math.isfinite(value)):
        _refuse("text, a number, true, false or null to compare with", value)
    if isinstance(value, str) and not is_text(value):
        _refuse("text to compare with", value)
    return value


def _refuse(expected: str, got: object) -> NoReturn:
    raise FilterError(f"expected {expected}, got {ascii(got)[:80]}")


def _all_of(given: Any, compared: dict[str, set[str]]) -> Condition:
    if not isinstance(given, dict):
        _refuse("a filter such as {'year': {'$gte': 2020}}", given)
    return _every(part for name, wanted in given.items() for part in _parts(name, wanted, compared))


def _every(parts: Iterable[Condition]) -> Condition:
    known = list(parts)
    return known[0] if len(known) == 1 else Combined("$and", known)


def _size(condition: Condition) -> int:
    return sum(map(_size, condition.parts)) if isinstance(condition, Combined) else 1


def _together(parts: Iterable[Condition]) -> list[Condition]:
    """Return alternatives with one comparison for all equal values of a field: databases look up many at once."""
    equal: dict[str, list[Any]] = {}
    others: list[Condition] = []
    for part in parts:
        if isinstance(part, Compared) and part.how == "$in":
            equal.setdefault(part.name, []).extend(part.values)
        else:
            others.append(part)
    return [*(Compared(name, "$in", values) for name, values in equal.items()), *others]


def _not(part: Condition) -> Condition:
    return Combined("$not", [part])


def _parts(name: str, wanted: Any, compared: dict[str, set[str]]) -> Iterator[Condition]:
    """Yield the conditions of one entry of a filter."""
    if name == "$not":
        yield _not(_all_of(wanted, compared))
    elif name in _COMBINED:
        if not isinstance(wanted, list) or not wanted:
            _refuse(f"a list of filters after {name}", wanted)
        parts = [_all_of(one, compared) for one in wanted]
        yield Combined(name, _together(parts) if name == "$or" else parts)
    elif name.startswith("$"):
        raise FilterError(f"expected the name of a field, or {', '.join(_COMBINED)}, got {name!r}")
    else:
        kinds = compared.setdefault(name, set())
        yield from _conditions(name, wanted if isinstance(wanted, dict) else {"$eq": wanted}, kinds)


def _conditions(name: str, wanted: dict[str, Any], kinds: set[str]) -> Iterator[Condition]:
    """Yield the conditions on one field."""
    if not wanted:
        _refuse(f"a condition on {name}, such as {{'$gte': 2020}}", wanted)
    for how, value in wanted.items():
        if how not in OPERATORS:
            raise FilterError(f"{name}: expected one of {', '.join(OPERATORS)}, got {how!r}")
        if how == "$not":
            if not isinstance(value, dict):
                _refuse(f"conditions on {name} after $not, such as {{'$gte': 2020}}", value)
            yield _not(_every(_conditions(name, value, kinds)))
        elif how == "$exists":
            if not isinstance(value, bool):
                _refuse(f"true or false after $exists of {name}", value)
            yield Compared(name, how) if value else _not(Compared(name, how))
        else:
            yield _comparison(name, how, value, kinds)


def _comparison(name: str, how: str, value: Any, kinds: set[str]) -> Condition:
    several = how in ("$in", "$nin")
    if several != isinstance(value, list) or isinstance(value, dict):
        _refuse(f"{'a list' if several else 'one value'} after {how} of {name}", value)
    those = value if several else [value]
    for one in those:
        if isinstance(one, dict | list) or how in _ORDERED and kind_of(one) not in ("a number", "text"):
            _refuse(f"{'a number or text' if how in _ORDERED else 'single values'} after {how} of {name}", one)
    kinds.update(map(kind_of, those))
    compared = Compared(name, how if how in _ORDERED else "$in", those)
    return _not(compared) if how in ("$ne", "$nin") else compared
