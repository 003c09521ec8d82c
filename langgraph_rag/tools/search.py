"""The searches of a knowledge base: dense, BM25, hybrid (both fused), and graph (a walk over the triple graph)."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from math import sqrt
from typing import get_args

from langgraph_rag.context import Search
from langgraph_rag.records import ScoredPassage, ids_of
from langgraph_rag.tools.batcher import Batcher, RequestQueue
from langgraph_rag.tools.fusion import DEPTH, blend
from langgraph_rag.tools.knowledge_graphs.entity_graph import EntityGraph
from langgraph_rag.tools.knowledge_graphs.graph_search import FACTS, READ, walk_from
from langgraph_rag.tools.similarity import Rank, Similarity
from langgraph_rag.tools.storage.record_store import RecordStore

SEARCHES: tuple[Search, ...] = get_args(Search)
_SURE = 0.5  # share of a passage in what the words of a query tell, from which on it is the right one for words


@dataclass(frozen=True)
class _Request:
    query: str
    k: int
    by: Search
    extractor: str  # whose facts are walked on

    @property
    def depth(self) -> int:
        """The number of passages of each ranking that are used."""
        return max(self.k, DEPTH) if self.by in ("hybrid", "graph") else self.k


class Searcher:
    """Processes concurrent searches in one batch and one thread; switching threads costs more than most of the steps.

    Args:
        records: for BM25 and the facts of passages.
        similarity: for dense search and the similarity of facts.
        entities: returns the graph of the facts of an extractor.
        queue: for the requests, shared with `similarity`.
        at_once: the maximum number of searches in a batch.
    """

    def __init__(
        self,
        records: RecordStore,
        similarity: Similarity,
        entities: Callable[[str], EntityGraph],
        queue: RequestQueue,
        at_once: int,
    ) -> None:
        self._records, self._similarity, self._entities = records, similarity, entities
        self._requests = Batcher(self._serve, largest=at_once, queue=queue, rank=Rank.SEARCHES)

    async def search(self, query: str, k: int, by: Search, extractor: str) -> list[ScoredPassage]:
        """Return the k best passages for a query, best first; the graph has the facts of `extractor`."""
        return await self._requests.ask(_Request(query, k, by, extractor))

    def _serve(self, requests: list[_Request]) -> list[list[ScoredPassage]]:
        near = iter(self._similarity.nearest([(one.query, one.depth) for one in requests if one.by != "bm25"]))
        found = [(one, self._rank(one, near)) for one in requests]
        walked = iter(self._walk([(one, passages) for one, passages in found if one.by == "graph"]))
        return [next(walked) if one.by == "graph" else passages[: one.k] for one, passages in found]

    def _rank(self, request: _Request, near: Iterator[list[ScoredPassage]]) -> list[ScoredPassage]:
        """Return the passages for a query before the walk; `near` yields the results of dense search in order."""
        if request.by == "dense":
            return next(near)
        words = self._records.bm25(request.query, request.depth)
        if request.by == "bm25":
            return words
        sure = bool(words) and self._records.share_of_passage(request.query, words[0]["id"]) >= _SURE
        return blend(next(near), words, sure=sure)

    def _walk(self, begun: Sequence[tuple[_Request, list[ScoredPassage]]]) -> list[list[ScoredPassage]]:
        """Return the passages by meaning, words, and a walk over the triple graph."""
        graphs = {extractor: self._entities(extractor) for extractor in {one.extractor for one, _ in begun}}
        names = [graphs[one.extractor].linked(one.query) for one, _ in begun]
        shares = [
            self._share_of_walk(one.query, linked, passages)
            for (one, passages), linked in zip(begun, names, strict=True)
        ]
        stated = [
            self._stated(passages[:READ], one.extractor) if share else []
            for (one, passages), share in zip(begun, shares, strict=True)
        ]
        cosines = self._similarity.cosines(
            [([one.query], facts) for (one, _), facts in zip(begun, stated, strict=True)]
        )
        return [
            walk_from(graphs[one.extractor], linked, share, _likest(facts, near[:, 0].tolist()), passages, one.k)
            for (one, passages), linked, share, facts, near in zip(begun, names, shares, stated, cosines, strict=True)
        ]

    def _share_of_walk(self, query: str, names: Iterable[str], found: Sequence[ScoredPassage]) -> float:
        """Return how much a walk counts: as the query tells known names, and as its first passage leaves it open."""
        share = self._records.share_of_names(query, filter(_has_letter, names)) if found else 0.0
        return share and share * sqrt(max(0.0, 1 - self._records.share_of_passage(query, found[0]["id"])))

    def _stated(self, passages: Sequence[ScoredPassage], extractor: str) -> list[Sequence[str]]:
        """Return the facts of some passages, each once."""
        statements = self._records.triples.statements(extractor, ids_of(passages))
        return list(dict.fromkeys(statement[1:] for statement in statements))


def _likest(facts: Sequence[Sequence[str]], cosines: Sequence[float]) -> list[tuple[Sequence[str], float]]:
    return sorted(zip(facts, cosines, strict=True), key=lambda fact: -fact[1])[:FACTS]


def _has_letter(name: str) -> bool:
    return any(map(str.isalpha, name))
