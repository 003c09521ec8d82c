"""What was read of passages last, so that what questions meet again is not read again."""

from collections.abc import Callable, Mapping, Sequence
from copy import deepcopy
from itertools import islice
from typing import Generic, TypeVar

from langgraph_rag.normal_forms import triple_key
from langgraph_rag.records import Record, Source, Triple
from langgraph_rag.tools.change_log import ChangeLog
from langgraph_rag.tools.record_store import RecordStore
from langgraph_rag.tools.triple_records import Fact

T = TypeVar("T")
_REMEMBERED = 2_000  # passages


class RecordMemory:
    """Returns passages and triples as the records hold them now; to be asked by one thread at a time.

    What it returns may be changed by who gets it.
    """

    def __init__(self, records: RecordStore) -> None:
        self._records = records
        self._passages = _Memory(
            lambda ids: {record["id"]: record for record in records.passages(ids)}, records.changes
        )
        self._facts: dict[str, _Memory[dict[str, Fact]]] = {}

    def passages(self, ids: Sequence[str]) -> list[Record]:
        """Return passages, each once, in the order of the ids, but for unknown ids."""
        return [_copied(record) for record in self._passages.of(ids).values()]

    def triples(self, ids: Sequence[str], extractor: str) -> tuple[list[str], list[Triple]]:
        """Return those of the passages that an extractor has not read yet, and the triples of the others.

        They come in the order of the ids, equal ones as one with all sources.
        """
        if extractor not in self._facts:
            self._facts[extractor] = self._memory_of(extractor)
        stated = self._facts[extractor].of(ids)
        return self._records.triples.unextracted(extractor, [id_ for id_ in ids if id_ not in stated]), _merged(stated)

    def _memory_of(self, extractor: str) -> "_Memory[dict[str, Fact]]":
        triples = self._records.triples

        def read(ids: Sequence[str]) -> dict[str, dict[str, Fact]]:
            return {id_: _each_once(facts) for id_, facts in triples.facts(ids, extractor).items()}

        return _Memory(read, self._records.changes, triples.changes(extractor))


class _Memory(Generic[T]):
    """What there is of some passages, by their ids, read anew when one of the logs tells of a change."""

    def __init__(self, read: Callable[[Sequence[str]], Mapping[str, T]], *logs: ChangeLog) -> None:
        self._read, self._logs = read, logs
        self._remembered: dict[str, T] = {}
        self._ends: list[int] = []  # of the logs when it was read

    def of(self, ids: Sequence[str]) -> dict[str, T]:
        ends = [log.end for log in self._logs]
        if ends != self._ends:
            self._remembered, self._ends = {}, ends
        new = self._read([id_ for id_ in ids if id_ not in self._remembered])
        found = {**self._remembered, **new}
        self._remembered = found if len(found) <= _REMEMBERED else dict(islice(new.items(), _REMEMBERED))
        return {id_: found[id_] for id_ in ids if id_ in found}


def _each_once(facts: Sequence[Fact]) -> dict[str, Fact]:
    """Return the facts of a passage by what counts as the same, spelt as the first, with the sentences of all."""
    found: dict[str, Fact] = {}
    for fact in facts:
        first = found.setdefault(triple_key(fact["triple"]), fact)
        if first is not fact:
            first["sentences"] = sorted({*first["sentences"], *fact["sentences"]})
    return found


def _merged(stated: Mapping[str, Mapping[str, Fact]]) -> list[Triple]:
    merged: dict[str, Triple] = {}
    for id_, facts in stated.items():
        for key, fact in facts.items():
            entry = merged.setdefault(key, Triple(triple=[*fact["triple"]], sources=[]))
            entry["sources"].append(Source(passage_id=id_, sentences=[*fact["sentences"]]))
    return list(merged.values())


def _copied(record: Record) -> Record:
    copied: Record = {**record, "sentences": [*record["sentences"]], "phrases": [*record["phrases"]]}
    if metadata := record.get("metadata"):
        copied["metadata"] = deepcopy(metadata)
    return copied
