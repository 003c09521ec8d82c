"""Which passages a filter lets through: the database answers."""

from collections import OrderedDict, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from threading import Lock
from typing import Any

import numpy as np
from numpy.typing import NDArray

from langgraph_rag.filters import Combined, Compared, Condition, Filter, Where, read_filter
from langgraph_rag.tools.stores.database import ChangeLog, Incremental, as_json
from langgraph_rag.tools.stores.protocols import Dialect, SqlDatabase

_PAGE = 10_000  # passages that one query asks about, so that others need not wait for all
_REMEMBERED = 16  # filters
_Row = tuple[str, int, str | None]
"""The id and number of a passage, and one of its sources, if that is not the first."""


@dataclass(frozen=True, eq=False)
class Visible:
    """The passages that a filter lets through.

    A passage of several sources is there for each of them; it is visible if one of these is, and is shown as from it.

    Attributes:
        numbers: the number of each passage by id, in the order of storing.
        sources: the sources of the passages that are not shown as from their first one, by id.
    """

    numbers: Mapping[str, int]
    sources: Mapping[str, str]

    @cached_property
    def ids(self) -> frozenset[str]:
        """The ids of the passages."""
        return frozenset(self.numbers)

    @cached_property
    def _sorted(self) -> NDArray[np.int64]:
        return np.fromiter(self.numbers.values(), np.int64, len(self.numbers))

    def mask(self, size: int) -> NDArray[np.bool_]:
        """Return which of the passages with numbers below `size` are visible."""
        mask = np.zeros(size, bool)
        mask[self._sorted[: np.searchsorted(self._sorted, size)]] = True
        return mask

    def among(self, ids: Iterable[str]) -> list[str]:
        """Return those of some passages that are visible, in their order."""
        return [id_ for id_ in ids if id_ in self.numbers]


class _Rows:
    """The visible passages of a filter."""

    def __init__(self) -> None:
        self.checked = False  # whether the filter fits the passages that there are
        self._seen: dict[str, tuple[int, str | None]] = {}  # number, and the source if it is not the first

    def add(self, rows: Iterable[_Row]) -> None:
        """Add passages with each of the sources that they are visible from; the first one counts."""
        for id_, number, source in sorted(rows, key=lambda row: (row[1], row[2] is not None, row[2])):
            self._seen.setdefault(id_, (number, source))

    def remove(self, ids: Iterable[str]) -> None:
        """Remove passages; unknown ones are ignored."""
        for id_ in ids:
            self._seen.pop(id_, None)

    def visible(self) -> Visible:
        """Return the passages as they are now."""
        seen = sorted(self._seen.items(), key=lambda item: item[1][0])
        sources = {id_: source for id_, (_, source) in seen if source is not None}
        return Visible({id_: number for id_, (number, _) in seen}, sources)


class Visibility:
    """The passages that filters let through."""

    def __init__(self, db: SqlDatabase, changes: ChangeLog) -> None:
        self._db, self._changes, self._conditions = db, changes, _Conditions(db.dialect)
        self._known: OrderedDict[Filter, Incremental[_Rows, Visible]] = OrderedDict()
        self._lock = Lock()

    def of(self, given: Where) -> Visible:
        """Return the passages that a filter lets through."""
        filter_ = read_filter(given)
        with self._lock:
            known = self._known.pop(filter_, None) or Incremental(
                _Rows, partial(self._fill, filter_), _Rows.visible, [self._changes]
            )
            self._known[filter_] = known
            while len(self._known) > _REMEMBERED:
                self._known.popitem(last=False)
        return known.now()

    def _fill(self, filter_: Filter, rows: _Rows, ids: Sequence[str] | None) -> None:
        if not rows.checked and self._db.rows("1", "(SELECT 1 FROM passages LIMIT 1)"):
            filter_.check(self._has, self._fields)
            rows.checked = True
        for page in self._pages(self._conditions.holds(filter_.condition), ids):
            rows.add(page)

    def _pages(self, holds: "_Sql", ids: Sequence[str] | None) -> Iterator[list[_Row]]:
        """Yield the passages, all or some, for which a condition holds, with each of the sources where it does."""
        condition, values = holds
        columns = "id, number, nullif(origins.source, coalesce(passages.source, ''))"
        of = f"{self._conditions.rows(condition)} AND"
        if ids is not None:
            yield self._db.by_ids(columns, f"{of} id IN", ids, *values)
            return
        ((last,),) = self._db.rows("last", "(SELECT max(number) AS last FROM passages)")
        for start in range(0, (last or 0) + 1, _PAGE):
            yield self._db.rows(columns, f"{of} number >= ? AND number < ?", *values, start, start + _PAGE)

    def _has(self, name: str, kind: str | None) -> bool:
        """Return whether some passage has a field, with a value of a kind if one is given."""
        has, values = self._conditions.exists(name) if kind is None else self._conditions.of_kind(name, kind)
        return bool(self._db.rows("1", f"(SELECT 1 FROM {self._conditions.rows(has)} LIMIT 1)", *values))

    def _fields(self) -> list[str]:
        """Return the names of all fields of metadata, and title and source where passages have them."""
        keys = self._db.dialect.keys.format(_WITHOUT_NUL)
        named = self._db.rows("key", f"(SELECT DISTINCT key FROM metadata, {keys})")
        titled = self._db.rows("'title'", "(SELECT 1 FROM passages WHERE title <> '' LIMIT 1)")
        origin = self._db.rows("'source'", "(SELECT 1 FROM origins WHERE source <> '' LIMIT 1)")
        return [name for (name,) in [*named, *titled, *origin]]


# --- conditions as SQL ------------------------------------------------------------------------------------------------
_Sql = tuple[str, list[object]]
"""A condition on a row of `_ROWS`, never null, and its values."""
# Neither engine takes a NUL in JSON, so it is left out there, and in what is compared. Doubled backslashes are set
# aside as what no JSON has: one of them may stand before u0000.
_WITHOUT_NUL = r"replace(replace(replace(fields, '\\', '{0}'), '\u0000', ''), '{0}', '\\')".format("\x01")
_ROWS = (
    "passages JOIN origins ON origins.passage = number "
    "LEFT JOIN metadata ON metadata.passage = number AND metadata.source = origins.source"
)
_COLUMNS = {"title": "title", "source": "origins.source"}
_COMPARE = {"$in": "IN", "$gt": ">", "$gte": ">=", "$lt": "<", "$lte": "<="}
_KINDS = {
    "a number": "('number')",
    "text": "('text')",
    "true or false": "('true', 'false')",
    "null": "('null')",
    "an object": "('object', 'array')",
}
_TOGETHER = 8  # conditions side by side; SQLite takes no expression of a thousand levels


@dataclass(frozen=True)
class _Conditions:
    """Conditions as SQL."""

    dialect: Dialect

    def rows(self, condition: str) -> str:
        """Return the passages with those of their sources for which a condition holds, for `FROM`."""
        described = self.dialect.parsed.format(_WITHOUT_NUL)
        return f"{_ROWS} WHERE EXISTS (SELECT 1 FROM {described} AS described WHERE {condition})"

    def holds(self, condition: Condition) -> _Sql:
        """Return a condition of a filter."""
        if isinstance(condition, Combined):
            parts = [self.holds(part) for part in condition.parts]
            queries, values = [query for query, _ in parts], [value for _, some in parts for value in some]
            negated = condition.how == "$not"
            return f"NOT {queries[0]}" if negated else _joined(queries, condition.how[1:].upper()), values
        if condition.how == "$exists":
            return self.exists(condition.name)
        return self._compared(condition)

    def exists(self, name: str) -> _Sql:
        """Return the condition that a row has a field."""
        return f"? IN (SELECT key FROM {self.dialect.keys.format(self._fields(name))})", [_plain(name)]

    def of_kind(self, name: str, kind: str) -> _Sql:
        """Return the condition that one of the values of a field is of a kind."""
        return self._found(name, f"found.kind IN {_KINDS[kind]}"), [_plain(name)]

    def _compared(self, condition: Compared) -> _Sql:
        """Return the condition that one of the values compares with one of its own kind.

        Postgres compares numbers as they are written, so that 1e23 equals 10**23, and SQLite integers from 2**63 on as
        floats; Python does neither.
        """
        how, given = _COMPARE[condition.how], f"FROM {self.dialect.items.format('?')}"
        compare = {
            "number": f"found.number {how} (SELECT CAST(value AS NUMERIC) {given})",
            "text": f"found.text {how} (SELECT value {given})",
        }
        by_kind: defaultdict[str, list[object]] = defaultdict(list)
        for value in condition.values:
            by_kind[_kind_in_sql(value)].append(_plain(value))
        cases = [f"WHEN '{kind}' THEN {compare.get(kind, 'true')}" for kind in by_kind] or ["WHEN '' THEN true"]
        values = [as_json(some) for kind, some in by_kind.items() if kind in compare]
        found = self._found(condition.name, f"CASE found.kind {' '.join(cases)} ELSE false END")
        return found, [_plain(condition.name), *values]

    def _found(self, name: str, matches: str) -> str:
        return f"EXISTS (SELECT 1 FROM {self.dialect.values.format(self._fields(name))} AS found WHERE {matches})"

    def _fields(self, name: str) -> str:
        """Return the expression for the object that has a field; a title and a source hide metadata of these names."""
        column = _COLUMNS.get(name)
        if column is None:
            return "object"
        return f"CASE {column} WHEN '' THEN object ELSE {self.dialect.object.format(name, column)} END"


def _joined(queries: list[str], word: str) -> str:
    while len(queries) > 1:
        some = [queries[start : start + _TOGETHER] for start in range(0, len(queries), _TOGETHER)]
        queries = [f"({f' {word} '.join(few)})" for few in some]
    return queries[0] if queries else "1 = 1"


def _kind_in_sql(value: object) -> str:
    if value is None or isinstance(value, bool):
        return as_json(value)
    return "text" if isinstance(value, str) else "number"


def _plain(value: Any) -> Any:
    return value.replace("\0", "") if isinstance(value, str) else value
