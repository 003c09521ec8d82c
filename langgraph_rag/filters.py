"""Filters on passages: conditions on metadata, title and source, as LangChain's and Chroma's stores take them.

{"year": {"$gte": 2020}, "$or": [{"team": "law"}, {"source": {"$in": ["rules.pdf", "notes.md"]}}]}
"""

import json
import math
import operator
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import date
from functools import lru_cache, partial
from pathlib import PurePath
from typing import Any, NoReturn

from langgraph_rag.characters import is_text
from langgraph_rag.errors import FilterError

Where = Mapping[str, Any]
"""A filter as it is given."""
Values = Mapping[str, Collection[Any]]
"""The values of each field of a passage: one, or those of a list."""
Admits = Callable[[Values], bool]

_DEEPEST = 20  # levels of filters in filters
_ORDERED: dict[str, Callable[[Any, Any], bool]] = {
    "$gt": operator.gt,
    "$gte": operator.ge,
    "$lt": operator.lt,
    "$lte": operator.le,
}
OPERATORS = ("$eq", "$ne", *_ORDERED, "$in", "$nin", "$exists", "$not")
_KINDS = {bool: "true or false", int: "a number", float: "a number", str: "text", type(None): "null"}
_COMBINED = ("$and", "$or", "$not")


@dataclass(frozen=True)
class Filter:
    """A filter that was read: `admits` tells whether it lets a passage through.

    `compared` has the kinds of the values that each of its fields is compared with, such as "text".
    """

    as_json: str
    admits: Admits = field(compare=False)
    compared: Mapping[str, frozenset[str]] = field(compare=False)

    def check(self, stored: Mapping[str, Collection[str]], known: Callable[[], Collection[str]]) -> None:
        """Check the fields and the values against those that passages have.

        Args:
            stored: the kinds of the values of each field that some passage has.
            known: returns the names of all fields.

        Raises:
            FilterError: when no passage has a field, or no value of the kind that it is compared with.
        """
        for name, kinds in self.compared.items():
            if name not in stored:
                raise FilterError(
                    f"no passage has the field {name!r}, but {', '.join(sorted(known())) or 'none at all'}"
                )
            for kind in kinds - {"null"}:
                if kind not in stored[name]:
                    there = " or ".join(sorted(stored[name])) or "empty"
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
    admits = _all_of(json.loads(as_json), compared)
    return Filter(as_json, admits, {name: frozenset(kinds) for name, kinds in compared.items()})


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


def _all_of(given: Any, compared: dict[str, set[str]]) -> Admits:
    if not isinstance(given, dict):
        _refuse("a filter such as {'year': {'$gte': 2020}}", given)
    return _every(part for name, wanted in given.items() for part in _parts(name, wanted, compared))


def _every(parts: Iterable[Admits]) -> Admits:
    known = list(parts)
    return known[0] if len(known) == 1 else lambda values: all(part(values) for part in known)


def _not(part: Admits) -> Admits:
    return lambda values: not part(values)


def _exists(name: str, wanted: bool, values: Values) -> bool:
    return (name in values) == wanted


def _parts(name: str, wanted: Any, compared: dict[str, set[str]]) -> Iterator[Admits]:
    """Yield the conditions of one entry of a filter."""
    if name == "$not":
        yield _not(_all_of(wanted, compared))
    elif name in _COMBINED:
        if not isinstance(wanted, list) or not wanted:
            _refuse(f"a list of filters after {name}", wanted)
        some = [_all_of(one, compared) for one in wanted]
        combine = all if name == "$and" else any
        yield lambda values: combine(part(values) for part in some)
    elif name.startswith("$"):
        raise FilterError(f"expected the name of a field, or {', '.join(_COMBINED)}, got {name!r}")
    else:
        kinds = compared.setdefault(name, set())
        yield from _conditions(name, wanted if isinstance(wanted, dict) else {"$eq": wanted}, kinds)


def _conditions(name: str, wanted: dict[str, Any], kinds: set[str]) -> Iterator[Admits]:
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
            yield partial(_exists, name, value)
        else:
            yield _comparison(name, how, value, kinds)


def _comparison(name: str, how: str, value: Any, kinds: set[str]) -> Admits:
    several = how in ("$in", "$nin")
    if several != isinstance(value, list) or isinstance(value, dict):
        _refuse(f"{'a list' if several else 'one value'} after {how} of {name}", value)
    those = value if several else [value]
    for one in those:
        if isinstance(one, dict | list) or how in _ORDERED and kind_of(one) not in ("a number", "text"):
            _refuse(f"{'a number or text' if how in _ORDERED else 'single values'} after {how} of {name}", one)
    kinds.update(map(kind_of, those))
    holds = partial(_holds, _ORDERED.get(how, operator.eq), those, name)
    return _not(holds) if how in ("$ne", "$nin") else holds


def _holds(compare: Callable[[Any, Any], bool], those: list[Any], name: str, values: Values) -> bool:
    """Return whether a comparison holds for one of the values of a field."""
    return any(
        kind_of(stored) == kind_of(one) and compare(stored, one) for stored in values.get(name, ()) for one in those
    )
