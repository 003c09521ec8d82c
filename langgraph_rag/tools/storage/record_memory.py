"""A cache of passages and their triples, as questions often need the same ones."""

from collections.abc import Callable, Mapping, Sequence
from copy import deepcopy
from functools import partial
from typing import Generic, TypeVar

from langgraph_rag.filters import Where
from langgraph_rag.normal_forms import triple_key
from langgraph_rag.records import Fact, Record, Source, Triple, ids_of
from langgraph_rag.tools.storage.record_store import RecordStore

T = TypeVar("T")
_REMEMBERED = 2_000  # passages
_READINGS = 3  # of passages that change each time


class _Remembered(Generic[T]):
    """Values by the ids of passages, until something changes."""

    def __init__(self, read: Callable[[Sequence[str]], Mapping[str, T]]) -> None:
        self._read = read
        self._values: dict[str, T] = {}
        self._end: object = None  # of the change logs at the time of reading

    def get(self, ids: Sequence[str], end: object) -> dict[str, T]:
        """Return the values that are known or can be read, in the order of the ids."""
        if end != self._end or len(self._values) > _REMEMBERED:
            self._values, self._end = {}, end
        self._values.update(self._read([id_ for id_ in ids if id_ not in self._values]))
        return {id_: self._values[id_] for id_ in ids if id_ in self._values}


class RecordMemory:
    """Returns copies of the current passages and triples of the records; for one thread at a time."""

    def __init__(self, records: RecordStore) -> None:
        self._records = records
        self._passages = _Remembered(lambda ids: {record["id"]: record for record in records.passages(ids)})
        self._facts: dict[str, _Remembered[list[Fact]]] = {}  # by extractor

    def passages(self, ids: Sequence[str], where: Where | None = None) -> list[Record]:
        """Return passages, each once, in the order of the ids; unknown ones, and those a filter hides, are left out."""
        visible = self._records.visible(where)
        ids = ids if visible is None else visible.among(ids)
        found = self._passages.get(ids, self._records.changes.end)
        for id_, source in visible.sources.items() if visible else ():
            if id_ in found:
                found |= {record["id"]: record for record in self._records.passages([id_], source)}
        return [_copied(record) for record in found.values()]

    def triples(self, ids: Sequence[str], extractor: str) -> list[Triple]:
        """Return the triples of passages, in the order of the ids; equal ones are merged with all sources."""
        triples = self._records.triples
        facts = self._facts.setdefault(extractor, _Remembered(partial(triples.facts, extractor)))
        return _merged(facts.get(ids, (self._records.changes.end, triples.changes(extractor).end)))

    def passages_with_triples(
        self, ids: Sequence[str], extractor: str, where: Where | None = None
    ) -> tuple[list[Record], list[Triple]]:
        """Return passages with their triples, of one version, so that positions of sentences fit."""
        for _ in range(_READINGS):
            end = self._records.changes.end
            passages = self.passages(ids, where)
            read = passages, self.triples(ids_of(passages) if where else ids, extractor)
            if self._records.changes.end == end:
                break
        return read


def _copied(record: Record) -> Record:
    copied: Record = {**record, "sentences": [*record["sentences"]], "phrases": [*record["phrases"]]}
    if metadata := record.get("metadata"):
        copied["metadata"] = deepcopy(metadata)
    return copied


def _merged(facts: Mapping[str, Sequence[Fact]]) -> list[Triple]:
    """Return the facts of passages as triples with new lists."""
    merged: dict[str, Triple] = {}
    for id_, stated in facts.items():
        for fact in stated:
            triple, sentences = fact["triple"], [*fact["sentences"]]
            sources = merged.setdefault(triple_key(triple), Triple(triple=[*triple], sources=[]))["sources"]
            if sources and sources[-1]["passage_id"] == id_:  # in two spellings
                sentences = sorted({*sources.pop()["sentences"], *sentences})
            sources.append(Source(passage_id=id_, sentences=sentences))
    return list(merged.values())
