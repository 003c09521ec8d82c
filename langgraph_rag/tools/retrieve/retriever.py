"""What the steps of methods, agents' tools and the LangChain retriever read; `KnowledgeBase` is one."""

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Protocol, runtime_checkable

from langchain_core.embeddings import Embeddings

from langgraph_rag.context import DEFAULT_SEARCH, Search
from langgraph_rag.filters import Where
from langgraph_rag.records import FoundPassage, Record, ScoredPassage, Triple
from langgraph_rag.tools.facts.extraction import TripleExtractor
from langgraph_rag.tools.index.hierarchy_graph import HierarchyGraph
from langgraph_rag.tools.stores.protocols import Matrix


@runtime_checkable
class Retriever(Protocol):
    """Reads of passages, their facts and what they have in common; each method is described at `KnowledgeBase`.

    In a run, each reads only what the filter of the run (`context().filter`) lets through, and what a `filter` of its
    own does.
    """

    @property
    def embeddings(self) -> Embeddings:
        """The embedder of passages and queries."""

    @property
    def aligner(self) -> Path:
        """The folder of a trained aligner for KiRAG; it need not exist."""

    async def acheck_filled(self) -> None:
        """Raise an `EmptyKnowledgeBaseError`, or a `FilterError`, if there is nothing to find."""

    async def arank(
        self, query: str, k: int = 10, *, by: Search = DEFAULT_SEARCH, filter: Where | None = None
    ) -> list[ScoredPassage]:
        """Return the ids and scores of the k passages that match a query best, best first."""

    async def asearch(
        self, query: str, k: int = 10, *, by: Search = DEFAULT_SEARCH, filter: Where | None = None
    ) -> list[FoundPassage]:
        """Return the k passages that match a query best, best first."""

    async def anear_entities(
        self, texts: Sequence[str], k: int = 10, *, filter: Where | None = None
    ) -> list[ScoredPassage]:
        """Return the k passages nearest to the entities in some texts, best first."""

    async def asearch_triples(self, query: str, k: int = 10, *, filter: Where | None = None) -> list[Triple]:
        """Return the k triples most similar to a query, best first."""

    async def aids(self) -> list[str]:
        """Return the ids of all passages."""

    async def apassages(self, ids: Iterable[str], *, filter: Where | None = None) -> list[Record]:
        """Return passages, each once, in the order of the ids; unknown ones are left out."""

    async def aneighbours(self, id_: str, *, before: int = 1, after: int = 1) -> list[Record]:
        """Return the passages before and after a passage in its document, in order, without itself."""

    async def atriples(self, passage_ids: Iterable[str], extractor: TripleExtractor | None = None) -> list[Triple]:
        """Return the triples of passages with their sources; those not extracted yet are extracted now."""

    async def apassages_with_triples(
        self, ids: Iterable[str], extractor: TripleExtractor | None = None
    ) -> tuple[list[Record], list[Triple]]:
        """Return passages with their extracted triples, both of one version."""

    async def aunread(self, passage_ids: Iterable[str], extractor: TripleExtractor) -> list[str]:
        """Return the passages that an extractor has not read."""

    async def afacts_about(
        self, entity: str, *, hops: int = 1, most: int = 1_000, filter: Where | None = None
    ) -> list[Triple]:
        """Return the facts that name an entity, and those around them."""

    async def ahierarchy(self) -> HierarchyGraph:
        """Return the graph of passages, sentences and phrases."""

    async def apassage_cosines(self, queries: Sequence[str], ids: Iterable[str]) -> dict[str, Matrix]:
        """Return the cosines of passages with queries, by id; shape of each: queries."""

    async def atriple_cosines(self, queries: Sequence[str], triples: Sequence[Sequence[str]]) -> Matrix:
        """Return the cosines of triples with queries; shape: triples x queries."""

    async def acosines(self, query: str, others: Sequence[str]) -> list[float]:
        """Return the cosines of a query with other texts."""
