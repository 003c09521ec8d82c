"""Extracts triples from stored passages: stores each result immediately, and reads no passage twice at once."""

import asyncio
import threading
import time
from collections.abc import AsyncGenerator, AsyncIterable, Callable, Sequence
from concurrent.futures import Future
from contextlib import AsyncExitStack, suppress

from tqdm.auto import tqdm

from langgraph_rag.arguments import expect
from langgraph_rag.context import context
from langgraph_rag.errors import BudgetReachedError
from langgraph_rag.metering import count_dropped, current_meter, stop
from langgraph_rag.progress import hidden
from langgraph_rag.records import Record
from langgraph_rag.tools.facts.names import names_in, with_whole_names
from langgraph_rag.tools.facts.parsed import ParseExtractor
from langgraph_rag.tools.facts.stated import stated
from langgraph_rag.tools.language.extraction import (
    Reading,
    RuleExtractor,
    TripleExtractor,
    valid_readings,
)
from langgraph_rag.tools.storage.record_store import RecordStore

_BATCH = 512  # passages that are read in parallel
_REST = 600.0  # seconds before a passage that could not be read is tried again, as this costs model calls


class TripleReader:
    """Lets an extractor read passages, and stores those triples that the passages state, with the sentences."""

    def __init__(self, records: RecordStore, check_not_closing: Callable[[], None]) -> None:
        self._records, self._check_not_closing = records, check_not_closing
        self._dropped = 0
        self._reading: dict[tuple[str, str], Future[bool]] = {}  # by extractor and passage
        self._reading_lock = threading.Lock()
        self._rests_until: dict[tuple[str, str], float] = {}  # by extractor and passage, on the monotonic clock

    async def read(self, ids: Sequence[str], extractor: TripleExtractor, *, progress: bool) -> int:
        """Read passages; return how many could not be read, for example because a model failed."""
        done, no_bar = 0, hidden(progress) or not ids
        with tqdm(total=len(ids), desc="extracting triples", unit="passage", disable=no_bar) as bar:
            for start in range(0, len(ids), _BATCH):
                records = await asyncio.to_thread(self._records.passages, ids[start : start + _BATCH])
                by_id = {record["id"]: record for record in records}
                reading = extractor.extract(records)
                expect(AsyncIterable, reading, "readings as they are done", "write `async def extract` with `yield`")
                async with AsyncExitStack() as opened:
                    if isinstance(reading, AsyncGenerator):  # ends its running model calls
                        opened.push_async_callback(reading.aclose)
                    async for readings in reading:
                        await asyncio.to_thread(self._save, extractor.version, readings, by_id)
                        for id_, _ in readings:
                            del by_id[id_]
                        done += len(readings)
                        bar.update(len(readings))
                        self._check_not_closing()
        return len(ids) - done

    def take_dropped(self) -> int:
        """Return how many triples were not stored since the last call, as the passages do not state them."""
        dropped, self._dropped = self._dropped, 0
        return dropped

    def read_at_once(self, extractor: RuleExtractor | ParseExtractor, passages: Sequence[Record]) -> None:
        """Read passages in this thread, without a model."""
        self._save(extractor.version, extractor.read_now(passages), {record["id"]: record for record in passages})

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

    def _save(self, extractor: str, readings: Sequence[Reading], passages: dict[str, Record]) -> None:
        read = valid_readings(extractor, readings, passages)
        held = [(passages[id_], stated(found, passages[id_])) for id_, found in read]
        facts = [(passage, with_whole_names(facts, passage)) for passage, facts in held]
        self._records.triples.save(extractor, facts, [names_in(facts, passage) for passage, facts in held])
        dropped = sum(len(found) for _, found in read) - sum(len(facts) for _, facts in held)
        self._dropped += dropped
        count_dropped(dropped)
