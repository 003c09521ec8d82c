"""The searches of a knowledge base: by meaning, by words, both fused, and a walk over the triple graph from there."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import get_args

from langgraph_rag.context import Search
from langgraph_rag.records import ScoredPassage, ids_of
from langgraph_rag.tools.batcher import Batcher
from langgraph_rag.tools.fusion import fuse
from langgraph_rag.tools.knowledge_graphs.entity_graph import EntityGraph
from langgraph_rag.tools.knowledge_graphs.graph_search import FACTS, READ, walk_from
from langgraph_rag.tools.similarity import Similarity
from langgraph_rag.tools.storage.record_store import RecordStore

SEARCHES: tuple[Search, ...] = get_args(Search)
_FUSED_DEPTH = 50  # places of each ranking that reciprocal rank fusion looks at
_FUSED_CONSTANT = 2  # two rankings that err in different ways: what one has on top is worth a look


@dataclass(frozen=True)
class _Request:
    query: str
    k: int
    by: Search
    extractor: str  # whose facts are walked on

    @property
    def depth(self) -> int:
        """How many places of each ranking are looked at."""
        return max(self.k, _FUSED_DEPTH) if self.by in ("hybrid", "graph") else self.k


class Searcher:
    """Serves what is asked for at the same moment in one batch and one thread.

    Handing a search from thread to thread costs more than most of its steps.

    Args:
        records: where words are searched and facts are read.
        similarity: where meaning is searched and facts are compared.
        entities: gives the graph to walk on, of the facts that an extractor read.
    """

    def __init__(self, records: RecordStore, similarity: Similarity, entities: Callable[[str], EntityGraph]) -> None:
        self._records, self._similarity, self._entities = records, similarity, entities
        self._requests = Batcher(self._serve, largest=16)

    def close(self) -> None:
        """Finish what is under way."""
        self._requests.close()

    async def search(self, query: str, k: int, by: Search, extractor: str) -> list[ScoredPassage]:
        """Return the k best passages for a query, best first; a walk goes over what an extractor read."""
        return await self._requests.ask(_Request(query, k, by, extractor))

    def _serve(self, requests: list[_Request]) -> list[list[ScoredPassage]]:
        near = iter(self._similarity.nearest([(one.query, one.depth) for one in requests if one.by != "bm25"]))
        found = [(one, self._rank(one, near)) for one in requests]
        walked = iter(self._walk([(one, passages) for one, passages in found if one.by == "graph"]))
        return [next(walked) if one.by == "graph" else passages[: one.k] for one, passages in found]

    def _rank(self, request: _Request, near: Iterator[list[ScoredPassage]]) -> list[ScoredPassage]:
        """Return the passages that a query finds without a walk; `near` gives those by meaning, in turn."""
        if request.by == "dense":
            return next(near)
        words = self._records.bm25(request.query, request.depth)
        if request.by == "bm25":
            return words
        return fuse([next(near), words], request.depth, constant=_FUSED_CONSTANT)

    def _walk(self, begun: Sequence[tuple[_Request, list[ScoredPassage]]]) -> list[list[ScoredPassage]]:
        """Return the passages nearest in the triple graph to what each query names and to what it found."""
        stated = [self._stated(passages[:READ], one.extractor) for one, passages in begun]
        cosines = self._similarity.cosines(
            [([one.query], facts) for (one, _), facts in zip(begun, stated, strict=True)]
        )
        graphs = {extractor: self._entities(extractor) for extractor in {one.extractor for one, _ in begun}}
        return [
            walk_from(graphs[one.extractor], one.query, _likest(facts, near[:, 0].tolist()), passages, one.k)
            for (one, passages), facts, near in zip(begun, stated, cosines, strict=True)
        ]

    def _stated(self, passages: Sequence[ScoredPassage], extractor: str) -> list[Sequence[str]]:
        """Return the facts of some passages, each once."""
        statements = self._records.triples.statements(extractor, ids_of(passages))
        return list(dict.fromkeys(statement[1:] for statement in statements))


def _likest(facts: Sequence[Sequence[str]], cosines: Sequence[float]) -> list[tuple[Sequence[str], float]]:
    return sorted(zip(facts, cosines, strict=True), key=lambda fact: -fact[1])[:FACTS]
