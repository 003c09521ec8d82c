"""A cache of passages, as questions often need the same ones."""

from collections.abc import Sequence
from copy import deepcopy

from langgraph_rag.records import Record
from langgraph_rag.tools.storage.record_store import RecordStore

_REMEMBERED = 2_000  # passages


class PassageMemory:
    """Returns the current passages of the records; for one thread at a time."""

    def __init__(self, records: RecordStore) -> None:
        self._records = records
        self._remembered: dict[str, Record] = {}
        self._end = 0  # of the change log at the time of reading

    def passages(self, ids: Sequence[str]) -> list[Record]:
        """Return copies of passages, each once, in the order of the ids; unknown ids are left out."""
        end = self._records.changes.end
        if end != self._end or len(self._remembered) > _REMEMBERED:
            self._remembered, self._end = {}, end
        new = self._records.passages([id_ for id_ in ids if id_ not in self._remembered])
        self._remembered.update((record["id"], record) for record in new)
        return [_copied(self._remembered[id_]) for id_ in dict.fromkeys(ids) if id_ in self._remembered]


def _copied(record: Record) -> Record:
    copied: Record = {**record, "sentences": [*record["sentences"]], "phrases": [*record["phrases"]]}
    if metadata := record.get("metadata"):
        copied["metadata"] = deepcopy(metadata)
    return copied
