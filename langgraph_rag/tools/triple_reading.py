"""Reading triples out of stored passages: each reading is kept as it comes, and no passage is read twice at once."""

import asyncio
import threading
from collections.abc import Sequence
from concurrent.futures import Future

from tqdm.auto import tqdm

from langgraph_rag.records import Record
from langgraph_rag.tools.extraction import Reading, TripleExtractor, supporting_sentences
from langgraph_rag.tools.record_store import Fact, RecordStore

_BATCH = 512  # passages whose triples are read side by side


class TripleReader:
    """Has an extractor read passages, and stores what it finds with the sentences that state it."""

    def __init__(self, records: RecordStore) -> None:
        self._records = records
        self._reading: dict[tuple[str, str], Future[None]] = {}  # by extractor and passage
        self._reading_lock = threading.Lock()

    async def read(self, ids: Sequence[str], extractor: TripleExtractor, *, progress: bool) -> int:
        """Read passages; return how many could not be read, for example because a model failed."""
        done = 0
        with tqdm(total=len(ids), desc="extracting triples", unit="passage", disable=not progress or not ids) as bar:
            for start in range(0, len(ids), _BATCH):
                records = await asyncio.to_thread(self._records.passages, ids[start : start + _BATCH])
                by_id = {record["id"]: record for record in records}
                async for readings in extractor.extract(records):
                    await asyncio.to_thread(self._save, extractor.version, readings, by_id)
                    done += len(readings)
                    bar.update(len(readings))
        return len(ids) - done

    async def read_once(self, ids: Sequence[str], extractor: TripleExtractor) -> None:
        """Read passages that nobody else is reading, and wait for those that somebody is: models are dear."""
        reading: Future[None] = Future()
        others, mine = [], []
        with self._reading_lock:
            for key in ((extractor.version, id_) for id_ in ids):
                if key in self._reading:
                    others.append(self._reading[key])
                else:
                    self._reading[key] = reading
                    mine.append(key)
        try:
            if mine:
                await self.read([id_ for _, id_ in mine], extractor, progress=False)
        finally:
            with self._reading_lock:
                for key in mine:
                    del self._reading[key]
            reading.set_result(None)
        await asyncio.gather(*map(asyncio.wrap_future, dict.fromkeys(others)))

    def _save(self, extractor: str, readings: Sequence[Reading], passages: dict[str, Record]) -> None:
        facts = []
        for id_, triples in readings:
            places = supporting_sentences(triples, passages[id_])
            facts.append((passages[id_], [Fact(triple=t, sentences=s) for t, s in zip(triples, places, strict=True)]))
        self._records.save_facts(extractor, facts)
