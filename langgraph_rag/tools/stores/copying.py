"""Copies a knowledge base to another store, such as from a folder into Postgres, and goes on where it was stopped."""

import json
import shutil
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from tqdm.auto import tqdm

from langgraph_rag.errors import KnowledgeBaseError
from langgraph_rag.progress import hidden
from langgraph_rag.tools.stores.opening import Stores, open_stores
from langgraph_rag.tools.stores.protocols import SqlDatabase
from langgraph_rag.tools.stores.records import HISTORY
from langgraph_rag.tools.stores.vector_files import VECTORS_OWNER, VECTORS_PLACE

_AT_ONCE = 200  # passages in one change
_VECTORS = 2_000  # vectors of facts in one change
_STATE = "copied"  # the property of a copy: of which history, up to which number of a passage and which change
_OWN = (HISTORY, VECTORS_PLACE, VECTORS_OWNER, _STATE)  # properties that are not copied
_PASSAGES = "number, id, title, text, source, hash, sentences, phrases, title_words, text_words"
_OF_PASSAGES = {
    "origins": "passage, source",
    "metadata": "passage, source, fields",
    "standing": "passage, source, document, position, headings, number, splitting",
    "extractions": "passage, extractor",
    "triples": "passage, extractor, position, head, relation, tail, sentences, vector",
    "namings": "passage, extractor, name, entity, kind",
    "written_ends": "passage, extractor, position, head, tail",
}
"""The tables with rows of passages, and their columns."""


class _State(NamedTuple):
    history: str
    number: int
    end: int  # of the change log when the copy began, or when it last caught up


def copy(source: str | Path, target: str | Path, *, progress: bool = True) -> int:
    """Make one knowledge base equal to another: passages, sources, facts of all extractors, names, vectors.

    Nothing is embedded or read again. After an interruption, and after changes of the source, the same call copies the
    rest. A trained aligner is copied, too.

    Args:
        source: a folder, or the address of a knowledge base in Postgres, as `postgresql://user@host/database#name`.
        target: the same; a new one, or an earlier copy of this source.
        progress: whether to show the progress on the standard error.

    Returns:
        The number of passages that were copied now.

    Raises:
        KnowledgeBaseError: when the target is something else than a copy of the source, or one cannot be opened.
    """
    with ExitStack() as opened:
        given = open_stores(source, opened, create=False, read_only=True)
        made = open_stores(target, opened, create=True, read_only=False)
        opened.callback(lambda: made.access.end(lambda: None))
        with made.access.changing():
            return _Copy(given, made, progress=progress).run()


class _Copy:
    def __init__(self, source: Stores, target: Stores, *, progress: bool) -> None:
        self._source, self._target, self._progress = source, target, progress
        self._from, self._to = source.records.database, target.records.database

    def run(self) -> int:
        state, copied = self._begun(), 0
        total = self._source.records.count()
        with tqdm(total=total, desc="copying", unit="passage", disable=hidden(self._progress)) as bar:
            while numbers := self._numbers(f"number > {state.number} ORDER BY number LIMIT {_AT_ONCE}"):
                state = state._replace(number=numbers[-1])
                self._copy(numbers, state)
                copied += len(numbers)
                bar.update(len(numbers))
        while (end := self._source.records.changes.end) != state.end:
            copied += self._catch_up(state, end)
            state = state._replace(end=end)
        self._copy_rest(state)
        self._check()
        return copied

    def _begun(self) -> _State:
        """Return how far an earlier copy came.

        Raises:
            KnowledgeBaseError: when the target is no copy of the source.
        """
        history = self._source.records.meta(HISTORY) or ""
        stored = self._target.records.meta(_STATE)
        if stored is None:
            if not self._target.records.is_empty():
                raise KnowledgeBaseError(f"{self._target.name} has passages of its own: name another place to copy to")
            return _State(history, -1, self._source.records.changes.end)
        state = _State(*json.loads(stored))
        if state.history != history:
            raise KnowledgeBaseError(
                f"{self._target.name} is a copy of another knowledge base than {self._source.name}: name another place"
            )
        return state

    def _numbers(self, where: str, *values: object) -> list[int]:
        return [
            row[0] for row in self._from.rows("number", f"(SELECT number FROM passages WHERE {where}) chosen", *values)
        ]

    def _catch_up(self, state: _State, end: int) -> int:
        """Copy what changed since a position; return how many passages that were."""
        ids = self._source.records.changes.since(state.end)
        if ids is None:  # the log does not reach back so far
            theirs, own = self._source.records.hashes(), self._target.records.hashes()
            ids = [id_ for id_ in {**theirs, **own} if theirs.get(id_) != own.get(id_)]
        copied = 0
        for start in range(0, len(ids), _AT_ONCE):
            some = ids[start : start + _AT_ONCE]
            numbers = [row[0] for row in self._from.by_ids("number", "passages WHERE id IN", some)]
            self._copy(numbers, state, instead_of=some)
            copied += len(numbers)
        with self._target.records.together():
            self._target.records.set_meta(_STATE, json.dumps(state._replace(end=end)))
        return copied

    def _copy(self, numbers: Sequence[int], state: _State, instead_of: Sequence[str] = ()) -> None:
        """Copy passages with all that belongs to them, in one change."""
        with self._from.snapshot():
            passages = sorted(_rows(self._from, _PASSAGES, "passages", "number", numbers))
            of_passages = {
                table: _rows(self._from, columns, table, "passage", numbers, _IN_ORDER.get(table, ""))
                for table, columns in _OF_PASSAGES.items()
            }
        ids = [row[1] for row in passages]
        vectors = self._source.vectors.passages(ids)
        records = self._target.records
        with records.together():
            gone = [id_ for id_ in instead_of if id_ not in vectors]
            numbered = _rows(self._to, "id", "passages", "number", numbers)  # a number may have been given anew
            records.delete([*records.hashes(instead_of), *(row[0] for row in numbered)])
            _insert(self._to, "passages", _PASSAGES, passages)
            for table, columns in _OF_PASSAGES.items():
                _insert(self._to, table, columns, of_passages[table])
            known = [id_ for id_ in ids if id_ in vectors]
            if known:
                records.waiting.put(known, np.stack([vectors[id_] for id_ in known]))
            records.changes.add([*ids, *gone])
            records.set_meta(_STATE, json.dumps(state))
        self._target.vectors.delete(gone)
        if waiting := records.waiting.all():
            self._target.vectors.put(list(waiting), np.stack(list(waiting.values())))
            records.waiting.forget(list(waiting))

    def _copy_rest(self, state: _State) -> None:
        """Copy what belongs to no single passage: properties, names that were given, vectors of facts."""
        theirs, own = self._source.records.triples, self._target.records.triples
        with self._target.records.together():
            for name, value in self._from.rows("name, value", "meta"):
                if name not in _OWN:
                    self._target.records.set_meta(name, value)
            self._to.execute("DELETE FROM given_names")
            given = self._from.rows("form, name, entity", "given_names")
            _insert(self._to, "given_names", "form, name, entity", given)
            for (extractor,) in self._to.rows("extractor", "(SELECT DISTINCT extractor FROM extractions) chosen"):
                own.changes(extractor).add([""])
            self._to.renumber()
            self._target.records.set_meta(_STATE, json.dumps(state))
        stored = set(own.vector_ids())
        missing = [id_ for id_ in theirs.vector_ids() if id_ not in stored]
        for start in range(0, len(missing), _VECTORS):
            vectors = theirs.vectors(missing[start : start + _VECTORS])
            own.put_vectors(list(vectors), np.stack(list(vectors.values())))
        self._target.vectors.settle()
        aligner = self._source.folder / "aligner"
        if aligner.is_dir():
            shutil.copytree(aligner, self._target.folder / "aligner", dirs_exist_ok=True)

    def _check(self) -> None:
        if self._source.records.hashes() != self._target.records.hashes():
            raise KnowledgeBaseError(f"{self._source.name} changed while it was copied: copy it again")


_IN_ORDER = {"origins": "rowid", "namings": "name, entity, kind"}
"""The order that tells which came first, where the rows themselves do not."""


def _rows(
    db: SqlDatabase, columns: str, table: str, key: str, numbers: Sequence[int], order: str = ""
) -> list[tuple[Any, ...]]:
    among, given = db.among(numbers)
    ordered = f" ORDER BY {order}" if order else ""
    return db.rows(columns, f"(SELECT {columns} FROM {table} WHERE {key} {among}{ordered}) chosen", given)


def _insert(db: SqlDatabase, table: str, columns: str, rows: Sequence[Sequence[object]]) -> None:
    marks = ", ".join("?" * len(columns.split(",")))
    db.executemany(f"INSERT INTO {table} ({columns}) VALUES ({marks}) ON CONFLICT DO NOTHING", rows)
