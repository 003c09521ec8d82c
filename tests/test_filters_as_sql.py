"""Random filters, asked of both databases and of Python."""

import operator
import random
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing
from pathlib import Path
from typing import Any
from uuid import uuid4

import numpy as np
import pytest

from langgraph_rag.errors import FilterError
from langgraph_rag.filters import read_filter
from langgraph_rag.records import Record
from langgraph_rag.tools.stores.postgres import PostgresDatabase, PostgresRecords, schema_of
from langgraph_rag.tools.stores.records import Records, RecordStore
from langgraph_rag.tools.stores.visibility import Visible

Fields = dict[str, Any]
Stored = dict[str, dict[str, Fields]]
"""The metadata of each passage by source, the first one first."""
COMPARE: dict[str, Callable[[Any, Any], bool]] = {
    "$eq": operator.eq,
    "$gt": operator.gt,
    "$gte": operator.ge,
    "$lt": operator.lt,
    "$lte": operator.le,
}
NAMES = ["n", "t", "mixed", "lists", "title", "source", "a.b", 'q"u\\o', "né\n", "0"]
NUMBERS = [0, 1, -1, 2, 2.0, 0.5, -0.0, 0.1, 1e-5, 1e16, 1e300, 2**53, 2**53 + 1, float(2**53), -(2**62) - 1, 2**62]
TEXTS = [
    "",
    "a",
    "A",
    "b",
    "ab",
    "é",
    "1",
    "true",
    "null",
    "2024-01-31",
    "\uffee",
    "\U0001f600",
    'q"\\',
    "\\u0000",
    "\n\x01",
]
EVERY_KIND = [0, "", True, False, None, {}]


# --- what a filter means ---------------------------------------------------------------------------------------------
def admits(where: Mapping[str, Any], fields: Fields) -> bool:
    return all(entry(name, wanted, fields) for name, wanted in where.items())


def entry(name: str, wanted: Any, fields: Fields) -> bool:
    if name == "$not":
        return not admits(wanted, fields)
    if name in ("$and", "$or"):
        return (all if name == "$and" else any)(admits(one, fields) for one in wanted)
    found = fields.get(name, [])
    values = found if isinstance(found, list) else [found]
    return meets(wanted if isinstance(wanted, dict) else {"$eq": wanted}, values, name in fields)


def meets(conditions: Mapping[str, Any], values: list[Any], there: bool) -> bool:
    return all(condition(how, wanted, values, there) for how, wanted in conditions.items())


def condition(how: str, wanted: Any, values: list[Any], there: bool) -> bool:
    if how == "$not":
        return not meets(wanted, values, there)
    if how == "$exists":
        return there is wanted
    if how in ("$ne", "$nin"):
        return not condition({"$ne": "$eq", "$nin": "$in"}[how], wanted, values, there)
    if how == "$in":
        return any(condition("$eq", one, values, there) for one in wanted)
    return any(kind(value) == kind(wanted) and COMPARE[how](value, wanted) for value in values)


def kind(value: Any) -> type:
    return float if type(value) is int else type(value)


def expected(where: Fields, stored: Stored) -> dict[str, str]:
    """Return the visible passages with the source that each is shown as from."""
    shown = {}
    for id_, of in stored.items():
        first = next(iter(of))
        for source in [first, *sorted(of.keys() - {first})]:
            own = {"title": title_of(id_), "source": source}
            if admits(where, {**of[source], **{name: text for name, text in own.items() if text}}):
                shown[id_] = source
                break
    return shown


# --- random passages and filters -------------------------------------------------------------------------------------
def title_of(id_: str) -> str:
    return "" if id_.endswith("5") else f"T {id_}"


def random_value(rng: random.Random) -> Any:
    return rng.choice([rng.choice(NUMBERS), rng.choice(TEXTS), rng.random() < 0.5, None])


def random_fields(rng: random.Random) -> Fields:
    fields: Fields = {"n": rng.choice(NUMBERS), "t": rng.choice(TEXTS), "mixed": random_value(rng)}
    fields["lists"] = [random_value(rng) for _ in range(rng.randrange(4))]
    for name in NAMES[4:]:
        fields[name] = rng.choice([random_value(rng), [1], [[1], {"a": 1}], {"n": 1}])
    return {name: fields[name] for name in rng.sample(NAMES, rng.randrange(len(NAMES) + 1))}


def random_filter(rng: random.Random, deep: int = 3) -> Fields:
    name = rng.choice([*NAMES, *(["$and", "$or", "$not"] * 3 if deep else [])])
    if name == "$not":
        return {name: random_filter(rng, deep - 1)}
    if name.startswith("$"):
        return {name: [random_filter(rng, deep - 1) for _ in range(rng.choice([1, 2, 3, 10]))]}
    given: Fields = {name: random_condition(rng) if rng.random() < 0.9 else random_value(rng)}
    return given | (random_filter(rng, deep - 1) if deep and rng.random() < 0.3 else {})


def random_condition(rng: random.Random) -> Fields:
    how = rng.choice(["$eq", "$ne", "$in", "$nin", "$exists", "$not", "$gt", "$gte", "$lt", "$lte"])
    if how == "$exists":
        return {how: rng.random() < 0.5}
    if how == "$not":
        return {how: {**random_condition(rng), **random_condition(rng)}}
    if how in ("$in", "$nin"):
        return {how: [random_value(rng) for _ in range(rng.randrange(5))]}
    if how in ("$eq", "$ne"):
        return {how: random_value(rng)}
    return {how: rng.choice([*NUMBERS, 10**30, *TEXTS])}


# --- stores ----------------------------------------------------------------------------------------------------------
@pytest.fixture(params=["sqlite", "postgres"])
def records(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Records]:
    if request.param == "sqlite":
        opened: Records = RecordStore(tmp_path / "records.sqlite")
    else:
        database = PostgresDatabase(request.getfixturevalue("database"), schema_of(uuid4().hex))
        opened = PostgresRecords(database, lambda history: tmp_path / history)
    with closing(opened):
        yield opened


def record(id_: str, source: str, fields: Fields) -> Record:
    made = Record(id=id_, title=title_of(id_), text=id_, hash=id_, sentences=[id_], phrases=[])
    return {**made, "source": source, "metadata": fields} if fields else {**made, "source": source}


def store(records: Records, stored: Stored, id_: str, of: dict[str, Fields]) -> None:
    """Store a passage anew, with each of its sources."""
    stored.pop(id_, None)
    stored[id_] = of
    (first, fields), *others = of.items()
    with records.together():
        records.delete([id_])
        records.insert([record(id_, first, fields)], np.ones((1, 2), np.float32))
        records.origins.add([record(id_, source, other) for source, other in others])


def seen(records: Records, where: Fields) -> Visible:
    visible = records.visible(where)
    assert visible is not None
    return visible


def shown(visible: Visible, stored: Stored) -> dict[str, str]:
    return {id_: visible.sources.get(id_, next(iter(stored[id_]))) for id_ in visible.numbers}


def test_random_filters_let_through_what_they_say_after_changes_too(records: Records) -> None:
    rng, stored, asked = random.Random(3), Stored(), list[Fields]()
    store(records, stored, "kinds 5", {"": dict.fromkeys(NAMES, EVERY_KIND)})  # so that no comparison is refused
    for number in range(30):
        of = {source: random_fields(rng) for source in rng.sample(["", "a", "é", "B.md", "true"], rng.randint(1, 3))}
        store(records, stored, f"p{number}", of)
    for number in range(2000 if isinstance(records, RecordStore) else 400):
        asked = [*asked[-4:], random_filter(rng)]
        if number % 10 == 0:
            store(records, stored, f"p{rng.randrange(35)}", {"a": random_fields(rng), "b": random_fields(rng)})
        for where in asked if number % 10 == 0 else asked[-1:]:
            found = shown(seen(records, where), stored)
            assert list(found.items()) == list(expected(where, stored).items()), where


def test_integers_are_exact_where_floats_are_not(records: Records) -> None:
    numbers = [2**53, 2**53 + 1, 2**62 + 1, 2**62 + 2, 0.1, 0.3, 0.1 + 0.2]
    store(records, {}, "p", {"": {"n": [2**53 + 1, 2**62 + 1, 0.1 + 0.2]}})
    found = [number for number in numbers if seen(records, {"n": number}).numbers]
    assert found == [2**53 + 1, 2**62 + 1, 0.1 + 0.2]


@pytest.mark.parametrize("text", ["a\0b", "\0", "\\u0000", "\\\0", "\x01\\\\"])
def test_characters_that_databases_dislike_are_found(records: Records, text: str) -> None:
    store(records, {}, "p", {"": {"t": text, f"k{text}": 1}})
    store(records, {}, "other", {"": {"t": "other"}})
    for where in ({"t": text}, {f"k{text}": {"$exists": True}}, {f"k{text}": {"$lt": 2}}):
        assert list(seen(records, where).numbers) == ["p"]
    with pytest.raises(FilterError, match="no passage has the field 'u', but"):
        records.visible({"u": 1})


def test_what_is_wrong_with_a_filter_is_told(records: Records) -> None:
    assert not seen(records, {"n": 1}).numbers  # as long as there is no passage
    store(records, {}, "5", {"a.md": {"n": [1, "x"], "empty": [], "deep": [[1]], "null": None}, "": {"n": True}})
    for where, told in (
        ({"m": 1}, "no passage has the field 'm', but deep, empty, n, null, source$"),
        ({"title": None}, "no passage has the field 'title'"),
        ({"empty": "x"}, "empty is compared with text, but in all passages it is empty"),
        ({"deep": 1}, "deep is compared with a number, but in all passages it is an object"),
        ({"null": {"$ne": True}}, "null is compared with true or false, but in all passages it is null"),
        ({"source": {"$in": [1]}}, "source is compared with a number, but in all passages it is text"),
    ):
        with pytest.raises(FilterError, match=told):
            records.visible(where)
    assert not seen(records, {"n": {"$in": [False, 2, "y"]}, "deep": None, "empty": {"$exists": True}}).numbers


def test_a_filter_may_be_as_long_and_as_deep_as_it_can_be_read(records: Records) -> None:
    store(records, {}, "p", {"a.md": {"n": 5}})
    deep: Fields = {"n": {"$lt": 6}}
    for _ in range(17):
        deep = {"$not": deep, "n": 5}
    with pytest.raises(FilterError, match="at most 20 levels"):
        read_filter({"$not": deep})
    many = [{"n": {"$gt": number}} for number in range(1000)]
    equal = [{"n": number} for number in range(20_000)]
    for where in (deep, {"$or": many}, {"$not": {"$and": many}}, {"$or": equal}, {"n": {"$in": list(range(20_000))}}):
        assert shown(seen(records, where), {"p": {"a.md": {}}}) == expected(where, {"p": {"a.md": {"n": 5}}})
    with pytest.raises(FilterError, match=r"at most 1,000 conditions, got 2,000: \$in takes a list"):
        read_filter({"$or": [{"$or": many}] * 2})
