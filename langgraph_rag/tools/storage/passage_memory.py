"""A cache of passages, as questions often need the same ones."""

from collections.abc import Mapping, Sequence
from copy import deepcopy

from langgraph_rag.records import Record
from langgraph_rag.tools.storage.record_store import RecordStore

_REMEMBERED = 2_000  # passages


class PassageMemory:
    """Returns the current passages of the records."""

    def __init__(self, records: RecordStore) -> None:
        self._records = records
        self._known: tuple[int, dict[str, Record]] = (0, {})  # the end of the change log, and what was read since

    def passages(self, ids: Sequence[str]) -> list[Record]:
        """Return copies of passages, each once, in the order of the ids; unknown ids are left out.

        Not for several threads at a time.
        """
        end, remembered = self._known
        if (now := self._records.changes.end) != end or len(remembered) > _REMEMBERED:
            self._known = now, (remembered := {})
        new = self._records.passages([id_ for id_ in ids if id_ not in remembered])
        remembered.update((record["id"], record) for record in new)
        return _copies(remembered, ids)

    def remembered(self, ids: Sequence[str]) -> list[Record] | None:
        """Return the same without waiting for another thread; None if some have to be read."""
        end, remembered = self._known
        if not all(id_ in remembered for id_ in ids) or self._records.changes.end != end:
            return None
        return _copies(remembered, ids)


def _copies(remembered: Mapping[str, Record], ids: Sequence[str]) -> list[Record]:
    return [_copied(remembered[id_]) for id_ in dict.fromkeys(ids) if id_ in remembered]


def _copied(record: Record) -> Record:
    copied: Record = {**record, "sentences": [*record["sentences"]], "phrases": [*record["phrases"]]}
    if metadata := record.get("metadata"):
        copied["metadata"] = deepcopy(metadata)
    return copied
