"""Facts when they are needed: passages that are unread are read, and triples without a vector are embedded."""

import asyncio
import logging
import threading
import time
from collections.abc import AsyncGenerator, AsyncIterable, Awaitable, Callable, Sequence
from concurrent.futures import Future
from contextlib import AsyncExitStack, suppress
from dataclasses import dataclass

import numpy as np
from tqdm.auto import tqdm

from langgraph_rag.arguments import expect
from langgraph_rag.context import context
from langgraph_rag.errors import BudgetReachedError
from langgraph_rag.metering import current_meter, stop
from langgraph_rag.naming import counted
from langgraph_rag.progress import hidden
from langgraph_rag.tools.facts.extraction import PlaceholderExtractor, TripleExtractor
from langgraph_rag.tools.ingest.stages import Row, checked_facts
from langgraph_rag.tools.retrieve.search import Similarity
from langgraph_rag.tools.stores.protocols import VectorStore
from langgraph_rag.tools.stores.records import Records

_log = logging.getLogger(__name__)

_READ_AT_ONCE = 512  # passages that are read in parallel
_REST = 600.0  # seconds before a passage that could not be read is tried again, as this costs model calls


class TripleReader:
    """Lets an extractor read passages, and stores those triples that the passages state, with the sentences."""

    def __init__(
        self,
        records: Records,
        load: Callable[[Sequence[Row]], object],
        check_not_closing: Callable[[], None],
    ) -> None:
        self._records, self._load, self._check_not_closing = records, load, check_not_closing
        self._reading: dict[tuple[str, str], Future[bool]] = {}  # by extractor and passage
        self._reading_lock = threading.Lock()
        self._rests_until: dict[tuple[str, str], float] = {}  # by extractor and passage, on the monotonic clock

    async def read(self, ids: Sequence[str], extractor: TripleExtractor, *, progress: bool) -> int:
        """Read passages; return how many could not be read, for example because a model failed."""
        done, no_bar = 0, hidden(progress) or not ids
        with tqdm(total=len(ids), desc="extracting triples", unit="passage", disable=no_bar) as bar:
            for start in range(0, len(ids), _READ_AT_ONCE):
                records = await asyncio.to_thread(self._records.passages, ids[start : start + _READ_AT_ONCE])
                by_id = {record["id"]: record for record in records}
                reading = extractor.extract(records)
                expect(AsyncIterable, reading, "readings as they are done", "write `async def extract` with `yield`")
                async with AsyncExitStack() as opened:
                    if isinstance(reading, AsyncGenerator):  # ends its running model calls
                        opened.push_async_callback(reading.aclose)
                    async for readings in reading:
                        rows = checked_facts(extractor.version, readings, list(by_id.values()))
                        await asyncio.to_thread(self._load, rows)
                        for id_, _ in readings:
                            del by_id[id_]
                        done += len(readings)
                        bar.update(len(readings))
                        self._check_not_closing()
        return len(ids) - done

    async def read_once(self, ids: Sequence[str], extractor: TripleExtractor) -> None:
        """Read passages that no other call is reading, and wait for the others, as model calls are expensive.

        Passages that the other call leaves unread, because it is cancelled or its budget is spent, are read here. A
        passage that cannot be read is not tried again for ten minutes. The wait ends at the deadline of the question.
        """
        ids = [id_ for id_ in ids if self._rests_until.get((extractor.version, id_), 0.0) <= time.monotonic()]
        while ids:
            reading: Future[bool] = Future()  # whether all of it was tried
            reading.set_running_or_notify_cancel()  # so that waiting calls cannot cancel it
            with self._reading_lock:
                readings = {id_: self._reading.setdefault((extractor.version, id_), reading) for id_ in ids}
            await self._read_mine([id_ for id_, whose in readings.items() if whose is reading], extractor, reading)
            if not (others := {whose for whose in readings.values() if whose is not reading}):
                break
            try:
                async with asyncio.timeout(current_meter().seconds_left(context().deadline_s)):
                    given_up = {other for other in others if not await asyncio.wrap_future(other)}
            except (TimeoutError, BudgetReachedError):
                stop("deadline_s")
                break
            left = [id_ for id_, whose in readings.items() if whose in given_up]
            ids = await asyncio.to_thread(self._records.triples.unextracted, extractor.version, left) if left else []

    async def _read_mine(self, ids: Sequence[str], extractor: TripleExtractor, reading: "Future[bool]") -> None:
        """Read passages and tell waiting calls whether all were tried; their own budgets may not be spent yet."""
        done = False
        try:
            with suppress(BudgetReachedError):
                if ids and await self.read(ids, extractor, progress=False):
                    version, until = extractor.version, time.monotonic() + _REST
                    failed = await asyncio.to_thread(self._records.triples.unextracted, version, ids)
                    self._rests_until.update({(version, id_): until for id_ in failed})
                done = True
        finally:
            with self._reading_lock:
                for id_ in ids:
                    del self._reading[extractor.version, id_]
            reading.set_result(done)


@dataclass
class UnreadNotice:
    """One warning per knowledge base, with the effect on questions and the remedy.

    `unread` returns the ids of the passages that an extractor of some version has not read.
    """

    unread: Callable[[str], Awaitable[list[str]]]
    _told: bool = False
    _walked: bool = False

    async def tell_to_walk(self, extractor: TripleExtractor) -> None:
        """Warn if the graph lacks the facts of some passages; look only once, as that takes longer than the walk."""
        if not self._walked:
            self._walked = True
            await self.tell(extractor)

    async def tell(self, extractor: TripleExtractor) -> None:
        """Warn if there are such passages."""
        if self._told:
            return
        self._told = True  # before the await, so that parallel calls do not warn
        unread = await self.unread(extractor.version)
        self._told = bool(unread)
        if unread:
            _log.warning(
                "%s not read by %s yet: graph search does not walk to these, and methods that need their facts %s; "
                "`kb.add([])` with that extractor reads them all beforehand, and so does `langgraph-rag index` with "
                "the same model",
                counted(len(unread), "passage"),
                extractor.version,
                "do without" if isinstance(extractor, PlaceholderExtractor) else "wait until they are read",
            )


_EMBEDDED = 1_000  # triples embedded and stored together; a kill loses at most these
_INDEXED = 5_000  # vectors indexed together


class TripleEmbedding:
    """Embeds the triples that have no vector yet, and indexes the vectors."""

    def __init__(self, records: Records, vectors: VectorStore, similarity: Similarity) -> None:
        self._records, self._vectors, self._similarity = records, vectors, similarity
        self._searchable: tuple[int, int, str] | None = None  # the ends of both logs, and the extractor

    def embed(self, extractor: str, *, progress: bool) -> int:
        """Embed and store the triples of an extractor; return how many were embedded."""
        ids = self._records.triples.without_vector(extractor)
        starts = range(0, len(ids), _EMBEDDED)
        for start in tqdm(starts, desc="embedding triples", unit="batch", disable=hidden(progress)):
            self._similarity.embed_triples(ids[start : start + _EMBEDDED])
        return len(ids)

    def make_searchable(self, extractor: str) -> None:
        """Embed and index the triples of an extractor, if they changed; call it from one thread at a time."""
        state = self._records.changes.end, self._records.triples.changes(extractor).end, extractor
        if self._searchable != state:
            self.embed(extractor, progress=False)
            self._index()
            self._searchable = state

    def _index(self) -> None:
        """Index all triples that have a vector, and remove others from the index."""
        if self._vectors.in_records:
            return
        triples, indexed = self._records.triples, set(self._vectors.triple_ids())
        stored = triples.vector_ids()
        self._vectors.delete([], list(indexed.difference(stored)))
        missing = [id_ for id_ in stored if id_ not in indexed]
        for start in range(0, len(missing), _INDEXED):
            vectors = triples.vectors(missing[start : start + _INDEXED])
            if vectors:
                self._vectors.put_triples(list(vectors), np.stack(list(vectors.values())))
            kept = triples.vectors(list(vectors))  # a concurrent deletion did not find them in the index
            self._vectors.delete([], [id_ for id_ in vectors if id_ not in kept])
