"""Which passages a filter lets through."""

from collections import OrderedDict, defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from threading import Lock
from typing import Any

import numpy as np
from numpy.typing import NDArray

from langgraph_rag.filters import Filter, Where, kind_of, read_filter
from langgraph_rag.tools.stores.database import ChangeLog, Incremental
from langgraph_rag.tools.stores.protocols import SqlDatabase

_PAGE = 10_000  # passages read at once
_REMEMBERED = 16  # filters
_Row = tuple[str, int, str, str, bool, dict[str, Any] | None]
"""The id and number of a passage, its title, one of its sources, whether that is the first, and its metadata there."""


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
    """The visible passages of a filter, and the kinds of the values that all passages have in its fields."""

    def __init__(self, filter_: Filter) -> None:
        self._filter = filter_
        self._kinds: defaultdict[str, set[str]] = defaultdict(set)
        self._any = False
        self._seen: dict[str, tuple[int, str | None]] = {}  # number, and the source if it is not the first

    def add(self, rows: Iterable[_Row]) -> None:
        """Add passages with each of their sources."""
        for id_, number, title, source, is_first, metadata in sorted(
            rows, key=lambda row: (row[1], not row[4], row[3])
        ):
            self._any = True
            values = {name: _values(value) for name, value in (metadata or {}).items()}
            values |= {name: [text] for name, text in (("title", title), ("source", source)) if text}
            for name in self._filter.compared.keys() & values.keys():
                self._kinds[name].update(map(kind_of, values[name]))
            if id_ not in self._seen and self._filter.admits(values):
                self._seen[id_] = number, None if is_first else source

    def remove(self, ids: Iterable[str]) -> None:
        """Remove passages; unknown ones are ignored."""
        for id_ in ids:
            self._seen.pop(id_, None)

    def check(self, known: Callable[[], Collection[str]]) -> None:
        """Check the filter against all passages that were added, if there are any."""
        if self._any:
            self._filter.check(self._kinds, known)

    def visible(self) -> Visible:
        """Return the passages as they are now."""
        seen = sorted(self._seen.items(), key=lambda item: item[1][0])
        sources = {id_: source for id_, (_, source) in seen if source is not None}
        return Visible({id_: number for id_, (number, _) in seen}, sources)


class Visibility:
    """The passages that filters let through."""

    def __init__(self, db: SqlDatabase, changes: ChangeLog) -> None:
        self._db, self._changes = db, changes
        self._known: OrderedDict[Filter, Incremental[_Rows, Visible]] = OrderedDict()
        self._lock = Lock()

    def of(self, given: Where) -> Visible:
        """Return the passages that a filter lets through."""
        filter_ = read_filter(given)
        with self._lock:
            known = self._known.pop(filter_, None) or Incremental(
                partial(_Rows, filter_), self._fill, _Rows.visible, [self._changes]
            )
            self._known[filter_] = known
            while len(self._known) > _REMEMBERED:
                self._known.popitem(last=False)
        return known.now()

    def _fill(self, rows: _Rows, ids: Sequence[str] | None) -> None:
        for page in self._pages(ids):
            rows.add(page)
        rows.check(self._fields)

    def _pages(self, ids: Sequence[str] | None) -> Iterator[list[_Row]]:
        """Yield passages, all or some, with each of their sources."""
        columns = "id, number, title, origins.source, origins.source = coalesce(passages.source, ''), json(fields)"
        of = (
            "passages JOIN origins ON origins.passage = number LEFT JOIN metadata ON metadata.passage = number "
            "AND metadata.source = origins.source WHERE"
        )
        if ids is not None:
            yield self._db.by_ids(columns, f"{of} id IN", ids)
            return
        ((last,),) = self._db.rows("last", "(SELECT max(number) AS last FROM passages)")
        for start in range(0, (last or 0) + 1, _PAGE):
            yield self._db.rows(columns, f"{of} number >= ? AND number < ?", start, start + _PAGE)

    def _fields(self) -> list[str]:
        """Return the names of all fields of metadata, and title and source where passages have them."""
        named = self._db.rows("key", f"(SELECT DISTINCT key FROM metadata, {self._db.dialect.keys.format('fields')})")
        titled = self._db.rows("'title'", "(SELECT 1 FROM passages WHERE title <> '' LIMIT 1)")
        origin = self._db.rows("'source'", "(SELECT 1 FROM origins WHERE source <> '' LIMIT 1)")
        return [name for (name,) in [*named, *titled, *origin]]


def _values(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]
