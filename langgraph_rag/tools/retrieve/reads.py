"""The asynchronous reads of a knowledge base; concurrent calls share batches."""

import asyncio
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

from langchain_core.embeddings import Embeddings

from langgraph_rag.arguments import expect_count
from langgraph_rag.concurrency.threads import in_thread
from langgraph_rag.context import DEFAULT_SEARCH, Search, context
from langgraph_rag.errors import EmptyKnowledgeBaseError, FilterError
from langgraph_rag.filters import Where, joined, sources_in
from langgraph_rag.naming import expect_name, meant_sources
from langgraph_rag.records import FoundPassage, Record, ScoredPassage, Triple, ids_of, passage_of
from langgraph_rag.tools.facts.extraction import TripleExtractor, expect_extractor
from langgraph_rag.tools.index.derived_graphs import DerivedGraphs
from langgraph_rag.tools.index.entity_graph import EntityGraph, facts_around
from langgraph_rag.tools.index.hierarchy_graph import HierarchyGraph
from langgraph_rag.tools.ingest.embedder import Embedder
from langgraph_rag.tools.ingest.lazy_facts import TripleEmbedding, TripleReader, UnreadNotice
from langgraph_rag.tools.ingest.stages import cleaned
from langgraph_rag.tools.retrieve.search import (
    SEARCHES,
    Searcher,
    Similarity,
    checked_queries,
    checked_query,
    checked_words,
    names_among,
    one_at_a_time,
)
from langgraph_rag.tools.stores.opening import Stores
from langgraph_rag.tools.stores.protocols import Matrix
from langgraph_rag.tools.stores.records import RecordMemory
from langgraph_rag.tools.stores.triples import vector_id
from langgraph_rag.tools.stores.visibility import Visible

ALIGNER = "aligner"
T = TypeVar("T")


class Reads:
    """A knowledge base as methods, agents' tools and the LangChain retriever read it: a `Retriever`.

    Attributes:
        path: the folder; for a knowledge base in Postgres, that of its indexes on this machine.
        name: where it is, for people: the folder, or the server and its name there.
    """

    def __init__(
        self,
        stores: Stores,
        embedder: Embedder,
        similarity: Similarity,
        graphs: DerivedGraphs,
        searcher: Searcher,
        reader: TripleReader,
        extractor: TripleExtractor,
    ) -> None:
        self.path, self.name, self.extractor = stores.folder, stores.name, extractor
        self._access, self._records, self._vectors = stores.access, stores.records, stores.vectors
        self._embedder, self._similarity, self._graphs = embedder, similarity, graphs
        self._searcher, self._reader = searcher, reader
        self._triple_embedding = TripleEmbedding(self._records, self._vectors, similarity)
        self._memory = RecordMemory(self._records)
        self._unread = UnreadNotice(partial(self._read, self._records.triples.unextracted))
        self._walked = False  # whether some question needed the graph of entities
        self._reads, self._graph_making, self._triple_indexing = one_at_a_time(), one_at_a_time(), one_at_a_time()

    @property
    def extractor(self) -> TripleExtractor:
        """The extractor whose triples are used; it can be replaced.

        Raises:
            TypeError: when the new extractor is not an extractor.
        """
        return self._extractor

    @extractor.setter
    def extractor(self, extractor: TripleExtractor) -> None:
        expect_extractor(extractor)
        self._extractor = extractor

    @property
    def embeddings(self) -> Embeddings:
        """The embedder of passages and triples."""
        return self._embedder.embeddings

    @property
    def aligner(self) -> Path:
        """The folder of the aligner that `train_aligner` trains for KiRAG; it exists after the training."""
        return self.path / ALIGNER

    async def acheck_filled(self) -> None:
        """Check that the knowledge base is not empty, and that the filter of the current run does not hide all of it.

        Raises:
            EmptyKnowledgeBaseError: when it is empty.
            FilterError: when the filter hides all, and as in `search`.
        """
        await self._acheck_not_empty()
        visible = await self._visible()
        if visible is not None and not visible.ids:
            given, known = self._where(None), await asyncio.to_thread(self._records.origins.sources)
            unknown = [one for one in sources_in(given) if one not in known]
            whole = "".join(f"; no passage is from {one!r}{meant_sources(one, known)}" for one in unknown[:1])
            raise FilterError(f"the filter lets no passage through: {given!r:.200}{whole}")

    async def arank(
        self, query: str, k: int = 10, *, by: Search = DEFAULT_SEARCH, filter: Where | None = None
    ) -> list[ScoredPassage]:
        """Return the ids and scores of the k best passages, best first; `apassages` returns their texts.

        Raises:
            EmptyKnowledgeBaseError: when the knowledge base is empty.
            FilterError: as in `search`.
            QuestionError: when the query is empty or not text.
        """
        expect_name("search", by, SEARCHES)
        query = checked_words(query)
        expect_count(k, "k")
        self._access.check_open()
        if by == "graph":
            self._walked = True
            await self._unread.tell_to_walk(self.extractor)
        found = await self._searcher.search(cleaned(query), k, by, self.extractor.version, self._where(filter))
        if not found:
            await self._acheck_not_empty()
        return found

    async def asearch(
        self, query: str, k: int = 10, *, by: Search = DEFAULT_SEARCH, filter: Where | None = None
    ) -> list[FoundPassage]:
        """Search like `search`, without blocking the event loop."""
        looked_at = k
        while True:
            scored = await self.arank(query, looked_at, by=by, filter=filter)
            found = self._found(scored, await self.apassages(ids_of(scored), filter=filter))
            if len(found) >= k or len(found) == len(scored) or len(scored) < looked_at:
                return found[:k]
            looked_at *= 4  # some are just being stored or removed

    async def atriples(self, passage_ids: Iterable[str], extractor: TripleExtractor | None = None) -> list[Triple]:
        """Return triples like `triples`, without blocking the event loop."""
        ids, extractor = await self._among(passage_ids), extractor or self.extractor
        expect_extractor(extractor)
        unread, triples = await self._read(self._unread_and_triples, ids, extractor.version)
        if unread:
            if extractor.version == self.extractor.version:  # another extractor is used on purpose
                await self._unread.tell(self.extractor)
            await self._reader.read_once(unread, extractor)
            _, triples = await self._read(self._unread_and_triples, ids, extractor.version)
        return triples

    async def aunread(self, passage_ids: Iterable[str], extractor: TripleExtractor) -> list[str]:
        """Return the passages that an extractor has not read, for example because its model failed."""
        return await self._read(self._records.triples.unextracted, extractor.version, await self._among(passage_ids))

    async def asearch_triples(self, query: str, k: int = 10, *, filter: Where | None = None) -> list[Triple]:
        """Search triples like `search_triples`, without blocking the event loop."""
        query = checked_words(query)
        expect_count(k, "k")
        self._access.check_open()
        await self._triple_indexing.ask(partial(self._triple_embedding.make_searchable, self.extractor.version))
        visible, version = await self._visible(filter), self.extractor.version
        stated = (
            []
            if visible is None
            else await self._read(self._records.triples.stated_in, visible.numbers.values(), version)
        )
        among = None if visible is None else frozenset(stated)
        looked_at, ids = k, await self._similarity.search_triples(query, k, among)
        while True:
            passages = await self._read(self._records.triples.stating, ids, self.extractor.version)
            by_id: defaultdict[str, list[Triple]] = defaultdict(list)
            for entry in await self.atriples(passages if visible is None else visible.among(passages)):
                by_id[vector_id(entry["triple"])].append(entry)
            found = [entry for id_ in ids for entry in by_id[id_]]
            if len(found) >= k or len(ids) < looked_at:
                return found[:k]
            looked_at *= 4  # some are of another extractor
            ids = await self._similarity.search_triples(query, looked_at, among)

    async def apassages(self, ids: Iterable[str], *, filter: Where | None = None) -> list[Record]:
        """Return passages with their sentences and phrases, each once, in the order of the ids, but for unknown ids."""
        names = names_among(ids, "ids")
        return await self._read(self._memory.passages, names, self._where(filter))

    async def apassages_with_triples(
        self, ids: Iterable[str], extractor: TripleExtractor | None = None
    ) -> tuple[list[Record], list[Triple]]:
        """Return passages like `apassages`, and their stored triples: none are extracted.

        Both are of one version of the passages, so that the positions of sentences fit.
        """
        version, names = (extractor or self.extractor).version, names_among(ids, "ids")
        return await self._read(self._memory.passages_with_triples, names, version, self._where(None))

    async def ahierarchy(self) -> HierarchyGraph:
        """Return the graph of passages, sentences and phrases, without blocking the event loop."""
        visible = await self._visible()
        graph: HierarchyGraph = await self._graph_making.ask(partial(self._graphs.hierarchy, visible))
        return graph

    async def anear_entities(
        self, texts: Sequence[str], k: int = 10, *, filter: Where | None = None
    ) -> list[ScoredPassage]:
        """Find passages like `near_entities`, without blocking the event loop."""
        texts = checked_queries(texts, "texts")
        expect_count(k, "k")
        self._access.check_open()
        await self._unread.tell_to_walk(self.extractor)
        visible = await self._visible(filter)
        graph: EntityGraph = await self._graph_making.ask(
            partial(self._graphs.entities, self.extractor.version, visible)
        )
        found = await in_thread(graph.near, texts, k)
        if not found:
            await self._acheck_not_empty()
        return found

    async def afacts_about(
        self, entity: str, *, hops: int = 1, most: int = 1_000, filter: Where | None = None
    ) -> list[Triple]:
        """Return facts like `facts_about`, without blocking the event loop."""
        entity = checked_words(entity)
        for name, number in {"hops": hops, "most": most}.items():
            expect_count(number, name)
        visible = await self._visible(filter)
        facts: list[Triple] = await self._graph_making.ask(partial(self._facts_about, entity, hops, most, visible))
        return facts

    async def aneighbours(self, id_: str, *, before: int = 1, after: int = 1) -> list[Record]:
        """Return passages like `neighbours`, without blocking the event loop."""
        names_among([id_], "ids")
        expect_count(before, "before", least=0)
        expect_count(after, "after", least=0)
        visible = await self._visible()
        source = visible and visible.sources.get(id_)
        ids = await self._read(self._records.places.near, id_, before, after, source)
        if visible and id_ not in visible.ids:
            return []
        return await self._read(self._memory.passages, [near for near in ids if near != id_], self._where(None))

    async def aids(self) -> list[str]:
        """Return the ids of all passages, in the order of storing."""
        visible = await self._visible()
        return await self._read(self._records.ids) if visible is None else list(visible.numbers)

    async def atriple_cosines(self, queries: Sequence[str], triples: Sequence[Sequence[str]]) -> Matrix:
        """Return the cosines of triples (as "head relation tail") with queries; shape: triples x queries."""
        queries = checked_queries(queries)
        self._access.check_open()
        return await self._similarity.triple_cosines(queries, triples)

    async def apassage_cosines(self, queries: Sequence[str], ids: Iterable[str]) -> dict[str, Matrix]:
        """Return the cosines of the stored vectors of passages with queries, by id; unknown ids are left out.

        Shape of each: queries.
        """
        queries = checked_queries(queries)
        return await self._similarity.passage_cosines(queries, await self._among(ids))

    async def acosines(self, query: str, others: Sequence[str]) -> list[float]:
        """Return the cosines of a query with other texts."""
        query, others = checked_query(query), checked_queries(others, "others")
        self._access.check_open()
        return await self._similarity.likeness(query, others)

    # --- internals ---------------------------------------------------------------------------------------------------
    async def _read(self, work: Callable[..., T], *values: Any) -> T:
        """Read records, one call after the other, without blocking the event loop."""
        self._access.check_open()
        done: T = await self._reads.ask(partial(work, *values))
        return done

    async def _acheck_not_empty(self) -> None:
        if await self._read(self._records.is_empty):
            raise EmptyKnowledgeBaseError(f"the knowledge base in {self.name} is empty: add documents first")

    def _where(self, filter: Where | None) -> Where | None:
        """Return a filter together with that of the current run."""
        return joined(context().filter, filter)

    async def _visible(self, filter: Where | None = None) -> Visible | None:
        """Return the passages that a filter and that of the current run let through; None if there is no filter."""
        self._access.check_open()
        given = self._where(filter)
        return await self._read(self._records.visible, given) if given else None

    async def _among(self, ids: Iterable[str]) -> list[str]:
        """Return those of some passages that the filter of the current run lets through."""
        names, visible = names_among(ids, "ids"), await self._visible()
        return names if visible is None else visible.among(names)

    def _unread_and_triples(self, ids: Sequence[str], extractor: str) -> tuple[list[str], list[Triple]]:
        triples = self._memory.triples(ids, extractor)
        read = {source["passage_id"] for entry in triples for source in entry["sources"]}
        without = [id_ for id_ in ids if id_ not in read]
        return self._records.triples.unextracted(extractor, without) if without else [], triples

    def _facts_about(self, entity: str, hops: int, most: int, visible: Visible | None) -> list[Triple]:
        version = self.extractor.version
        graph = self._graphs.entities(version, visible)
        entities = graph.bearing(entity) or graph.link(entity)
        return facts_around(graph, entities, partial(self._records.triples.facts, version), hops=hops, most=most)

    def _found(self, scored: list[ScoredPassage], records: Iterable[Record]) -> list[FoundPassage]:
        scores = {passage["id"]: passage["score"] for passage in scored}
        return [FoundPassage(**passage_of(record), score=scores[record["id"]]) for record in records]
