"""Changes a knowledge base: adds, replaces and removes documents, and extracts their triples."""

import json
import logging
from collections.abc import Mapping, Sequence
from typing import cast

from typing_extensions import TypedDict

from langgraph_rag.concurrency.background import run_in_background
from langgraph_rag.errors import DocumentError, DuplicateIdError
from langgraph_rag.naming import counted, first_few
from langgraph_rag.normal_forms import first_of_each
from langgraph_rag.records import Passage, titled_text
from langgraph_rag.tools.facts.extraction import TripleExtractor, needs_no_model
from langgraph_rag.tools.ingest.documents import in_other_scripts
from langgraph_rag.tools.ingest.embedder import Embedder
from langgraph_rag.tools.ingest.embeddings import MINILM
from langgraph_rag.tools.ingest.indexing import Indexer, Loaded, TripleReader
from langgraph_rag.tools.ingest.stages import Row
from langgraph_rag.tools.stores.origins import Origin
from langgraph_rag.tools.stores.records import Records, has_own_id

LAST_EXTRACTOR = "extractor"  # the property with the last extractor
UNREAD = "unread by "  # + extractor: the property with the ids of the passages that it could not read
SPLITTING = "splitting"  # the property with the label of how documents are split
_NAMED = 5  # in a warning, at most
_log = logging.getLogger(__name__)


class Added(TypedDict):
    """The result of `add`, in passages; `failed` ones have no triples yet and are read again by the next `add`.

    `dropped` counts the triples that were not stored, as the passage from which they were read does not state them.
    `ids` are the ids of the given passages, each once, in the order of the documents.
    """

    ids: list[str]
    added: int
    unchanged: int
    without_triples: int
    failed: int
    dropped: int


class Updated(Added):
    """The result of `update`, in passages; a replaced passage counts as both added and removed."""

    removed: int


class Editor:
    """Adds, replaces and removes passages, in the one thread that changes the folder."""

    def __init__(self, records: Records, indexer: Indexer, reader: TripleReader, embedder: Embedder) -> None:
        self._records, self._indexer, self._reader, self._embedder = records, indexer, reader, embedder

    def add(self, given: Sequence[Passage], extractor: TripleExtractor, *, progress: bool) -> Added:
        """Add new passages.

        Raises:
            DuplicateIdError: when an id is stored with another text or title.
        """
        passages = _each_once(given)
        new, changed = self._indexer.compare(passages)
        if changed:
            named = first_few([repr(passage["id"]) for passage in changed], _NAMED)
            are = f"id {named} is" if len(changed) == 1 else f"{counted(len(changed), 'id')} ({named}) are"
            raise DuplicateIdError(
                f"{are} already stored with another text or title: update {'it' if len(changed) == 1 else 'them'} to "
                "replace that (`update`, on the command line `index --update`)"
            )
        self._tell_hard_to_embed(new)
        self._indexer.add(new, _at_once(extractor), progress=progress)
        self._place(given)
        return self._read_out(passages, extractor, added=len(new), progress=progress)

    def upsert(self, given: Sequence[Passage], extractor: TripleExtractor, *, progress: bool) -> Updated:
        """Add new passages, and replace stored ones with another text, title or metadata."""
        return self._replace(given, [], extractor, progress=progress)

    def update(self, given: Sequence[Passage], extractor: TripleExtractor, *, progress: bool) -> Updated:
        """Upsert, and remove passages that are no longer in their sources."""
        return self._replace(given, self._left_over(given), extractor, progress=progress)

    def load(self, rows: Sequence[Row]) -> Loaded:
        """Store rows of all stages, and replace passages with the same ids; nothing else is removed.

        Raises:
            EmbeddingsMismatchError: when the vectors are of another embedder.
            KnowledgeBaseError: when another text pipeline analysed the passages.
        """
        whole = [row for row in rows if not row.get("error")]
        embedded = [row for row in whole if "vector" in row]
        self._indexer.repair()
        self._check_stored([row for row in whole if "vector" not in row])
        if embedded:
            self._embedder.settle()
        for by in dict.fromkeys(row["embedded_by"] for row in embedded):
            first = next(row for row in embedded if row["embedded_by"] == by)
            self._embedder.check_vector(by, titled_text(cast(Passage, first)), first["vector"])
        self._indexer.check_pipeline({row["analysed_by"] for row in embedded})
        try:
            loaded = self._indexer.load(rows)
            self._records.update_metadata([cast(Passage, row) for row in whole if "number" in row])
        finally:
            self._indexer.index()
        for name, values in ((SPLITTING, "splitting"), (LAST_EXTRACTOR, "extractor")):
            for value in dict.fromkeys(str(row.get(values, "")) for row in whole):
                if value and self._records.meta(name) != value:
                    self._records.set_meta(name, value)
        return loaded

    def note_unread(self, extractor: str) -> None:
        """Store that this extractor is the last one, and which passages it has not read."""
        self._records.set_meta(LAST_EXTRACTOR, extractor)
        self._records.set_meta(UNREAD + extractor, json.dumps(self._records.triples.unextracted(extractor)))

    def withdraw(self, ids: Sequence[str], source: str) -> int:
        """Remove passages from a source, and those that come from no other; return the number of the latter."""
        self._indexer.repair()
        return self._remove([(id_, source) for id_ in ids])

    def delete(self, ids: Sequence[str], sources: Sequence[str]) -> int:
        """Remove passages, and those that are only from some sources; return the number of removed passages."""
        present = list(self._records.hashes(ids))
        self._indexer.remove(present)
        return len(present) + self._remove(self._records.origins.of(sources))

    def give_names(self, names: Mapping[str, str]) -> None:
        """Store names of entities, and put these in place of them in facts."""
        self._indexer.repair()
        self._indexer.forget_triples(self._records.triples.give_names(names))

    def take_names(self, names: Sequence[str]) -> None:
        """Remove names of entities; facts are again as they were written."""
        self._indexer.repair()
        self._indexer.forget_triples(self._records.triples.take_names(names))

    def outdated(self, given: Sequence[Passage]) -> list[str]:
        """Return the ids of the passages that `update` would remove, without those that it would replace."""
        ids = {passage["id"] for passage in given}
        return [id_ for id_ in self._records.origins.only_from(self._left_over(given)) if id_ not in ids]

    def contested(self, given: Sequence[Passage]) -> list[str]:
        """Return the ids of the passages that `update` would replace although they are also from other sources."""
        _, changed = self._indexer.compare(_each_once(given))
        own = set(self._records.origins.only_from(_origins(given)))
        return [passage["id"] for passage in changed if passage["id"] not in own]

    def _replace(
        self, given: Sequence[Passage], left_over: Sequence[Origin], extractor: TripleExtractor, *, progress: bool
    ) -> Updated:
        passages = _each_once(given)
        new, changed = self._indexer.compare(passages)
        self._tell_hard_to_embed([*new, *changed])
        self._indexer.add(new, _at_once(extractor), progress=progress)
        self._indexer.add(changed, _at_once(extractor), progress=progress)
        self._place(given)
        self._records.update_metadata(given)
        gone = self._remove(left_over)
        if gone > len(passages):
            _log.warning(
                "%s removed, as they came from the sources of the %s given and were not given again; upsert "
                "changes single documents",
                counted(gone, "passage"),
                counted(len(passages), "passage"),
            )
        added = self._read_out(passages, extractor, added=len(new) + len(changed), progress=progress)
        return Updated(**added, removed=gone + len(changed))

    def _read_out(
        self, passages: Sequence[Passage], extractor: TripleExtractor, *, added: int, progress: bool
    ) -> Added:
        """Extract triples from all unread passages."""
        triples, version = self._records.triples, extractor.version
        failed = run_in_background(self._reader.read(triples.unextracted(version), extractor, progress=progress))
        self.note_unread(version)
        ids = [passage["id"] for passage in passages]
        barren = triples.none_found_in(ids, version)
        if barren:
            titles = [repr(passage["title"] or passage["id"]) for passage in self._records.passages(barren)]
            _log.warning(
                "%s (%s) gave no triples, and can be found by meaning and words, not by way of facts",
                counted(len(barren), "passage"),
                first_few(list(dict.fromkeys(titles)), _NAMED),
            )
        if dropped := self._indexer.take_dropped():
            _log.info("%s dropped: the passages do not state them", counted(dropped, "triple"))
        return Added(
            ids=ids,
            added=added,
            unchanged=len(passages) - added,
            without_triples=len(barren),
            failed=failed,
            dropped=dropped,
        )

    def _check_stored(self, rows: Sequence[Row]) -> None:
        stored = self._records.hashes([row["id"] for row in rows])
        if other := next((row["id"] for row in rows if stored.get(row["id"]) != row["hash"]), None):
            raise DocumentError(f"row {other!r:.80}: expected a vector, as no passage is stored with this id and text")

    def _left_over(self, given: Sequence[Passage]) -> list[Origin]:
        """Return the origins of stored passages that are no longer in these sources."""
        still = dict.fromkeys(_origins(given))
        sources = list(dict.fromkeys(source for _, source in still))
        return [origin for origin in self._records.origins.of(sources) if origin not in still]

    def _place(self, given: Sequence[Passage]) -> None:
        """Store where passages come from, and their places, when all of a document are stored.

        So readers see the passages of an earlier version in their order until those of a new one are all there.
        """
        splitting = self._records.meta(SPLITTING) or ""
        how = ("" if has_own_id(passage) else splitting for passage in given)
        placed = zip(given, how, strict=True)
        self._indexer.place(
            [cast(Row, {**one, "number": number, "splitting": by}) for number, (one, by) in enumerate(placed)]
        )

    def _tell_hard_to_embed(self, passages: Sequence[Passage]) -> None:
        tokens = self._embedder.tokens
        about = "" if tokens.exact else "about "
        _tell(
            [passage["id"] for passage in passages if tokens.count(titled_text(passage)) > tokens.limit],
            f"of more than the {about}{tokens.limit} tokens that the embedder reads, so that the end of each is found "
            "by words only: leave out the id to have such a text split, or give it in parts",
        )
        if self._embedder.name == MINILM:
            _tell(
                in_other_scripts(passages),
                f"mostly not in Latin letters: {MINILM} was trained on English and will find little there by meaning; "
                "open another folder with a multilingual embedder (docs/languages.md)",
            )

    def _remove(self, origins: Sequence[Origin]) -> int:
        """Remove passages without other origins, then the origins of the others; return the number of the former."""
        ids = self._records.origins.only_from(origins)
        self._indexer.remove(ids)
        self._records.origins.remove(origins)
        return len(ids)


def _at_once(extractor: TripleExtractor) -> TripleExtractor | None:
    """Return an extractor that reads passages when they are stored: without a model; others read many in parallel."""
    return extractor if needs_no_model(extractor) else None


def _tell(ids: Sequence[str], problem: str) -> None:
    if ids:
        _log.warning("%s (%s) %s", counted(len(ids), "passage"), first_few([repr(id_) for id_ in ids], _NAMED), problem)


def _each_once(given: Sequence[Passage]) -> list[Passage]:
    return list(first_of_each(given, lambda passage: passage["id"]).values())


def _origins(given: Sequence[Passage]) -> list[Origin]:
    return [(passage["id"], passage.get("source", "")) for passage in given]
