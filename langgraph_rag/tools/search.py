"""The searches of a knowledge base: dense, BM25, hybrid (both fused), and graph (a walk over the triple graph)."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import islice
from math import sqrt
from typing import get_args

from langgraph_rag.context import Search
from langgraph_rag.filters import Where
from langgraph_rag.records import ScoredPassage, ids_of
from langgraph_rag.tools.batcher import Batcher, RequestQueue
from langgraph_rag.tools.fusion import DEPTH, blend, covering
from langgraph_rag.tools.knowledge_graphs.entity_graph import EntityGraph
from langgraph_rag.tools.knowledge_graphs.graph_search import KEPT, READ, walk_from
from langgraph_rag.tools.retrieve.leads import led_first
from langgraph_rag.tools.similarity import Rank, Similarity
from langgraph_rag.tools.storage.record_store import RecordStore
from langgraph_rag.tools.storage.visibility import Visible
from langgraph_rag.tools.storage.word_index import parts_of

SEARCHES: tuple[Search, ...] = get_args(Search)
_LED = 20  # first passages among which those come last that no name of the query leads to
_SURE = 0.5  # share of a passage in what the words of a query tell, from which on it is the right one for words


@dataclass(frozen=True)
class _Request:
    query: str
    k: int
    by: Search
    extractor: str  # whose facts are walked on
    where: Where | None
    visible: Visible | None = None

    @property
    def depth(self) -> int:
        """The number of passages of each ranking that are used."""
        return max(self.k, DEPTH) if self.by in ("hybrid", "graph") else self.k

    @cached_property
    def texts(self) -> list[str]:
        """The texts that are compared by meaning: the query, and its parts where both words and meaning count."""
        if self.by == "bm25":
            return []
        return [self.query, *(parts_of(self.query) if self.by != "dense" else ())]


class Searcher:
    """Processes concurrent searches in one batch and one thread; switching threads costs more than most of the steps.

    Args:
        records: for BM25 and the facts of passages.
        similarity: for dense search and the similarity of facts.
        entities: returns the graph of the facts of an extractor, in all passages or in the visible ones.
        queue: for the requests, shared with `similarity`.
        at_once: the maximum number of searches in a batch.
    """

    def __init__(
        self,
        records: RecordStore,
        similarity: Similarity,
        entities: Callable[[str, Visible | None], EntityGraph],
        queue: RequestQueue,
        at_once: int,
    ) -> None:
        self._records, self._similarity, self._entities = records, similarity, entities
        self._requests = Batcher(self._serve, largest=at_once, queue=queue, rank=Rank.SEARCHES)

    async def search(self, query: str, k: int, by: Search, extractor: str, where: Where | None) -> list[ScoredPassage]:
        """Return the k best passages for a query, best first; the graph has the facts of `extractor`.

        With a filter, all is as if there were only the passages that it lets through.
        """
        return await self._requests.ask(_Request(query, k, by, extractor, where))

    def _serve(self, requests: list[_Request]) -> list[list[ScoredPassage]]:
        requests = [replace(one, visible=self._records.visible(one.where)) if one.where else one for one in requests]
        texts = [(text, one.depth, one.visible) for one in requests for text in one.texts]
        near = iter(self._similarity.nearest(texts))
        found = [(one, self._rank(one, near)) for one in requests]
        walked = iter(self._walk([(one, passages) for one, passages in found if one.by == "graph"]))
        return [next(walked) if one.by == "graph" else passages[: one.k] for one, passages in found]

    def _rank(self, request: _Request, near: Iterator[list[ScoredPassage]]) -> list[ScoredPassage]:
        """Return the passages for a query before the walk; `near` yields the results of dense search in order."""
        if request.by == "dense":
            return next(near)
        words = self._records.bm25(request.query, request.depth, request.visible)
        if request.by == "bm25":
            return words
        sure = bool(words) and self._share_of_passage(request, words) >= _SURE
        meaning, *parts = islice(near, len(request.texts))
        return blend(meaning, words, parts, sure=sure)

    def _walk(self, begun: Sequence[tuple[_Request, list[ScoredPassage]]]) -> list[list[ScoredPassage]]:
        """Return the passages by meaning, words, and a walk over the triple graph."""
        graphs = [self._entities(one.extractor, one.visible) for one, _ in begun]
        names = [graph.linked(one.query) for graph, (one, _) in zip(graphs, begun, strict=True)]
        shares = [
            self._share_of_walk(one, linked, passages) for (one, passages), linked in zip(begun, names, strict=True)
        ]
        stated = [
            self._stated(passages[:READ], one.extractor) if share else []
            for (one, passages), share in zip(begun, shares, strict=True)
        ]
        cosines = self._similarity.cosines(
            [([one.query], facts) for (one, _), facts in zip(begun, stated, strict=True)]
        )
        rankings = [
            walk_from(graph, linked, share, zip(facts, near[:, 0].tolist(), strict=True), passages, one.depth)
            for graph, (one, passages), linked, share, facts, near in zip(
                graphs, begun, names, shares, stated, cosines, strict=True
            )
        ]
        return [self._covering(one, ranking) for (one, _), ranking in zip(begun, rankings, strict=True)]

    def _covering(self, request: _Request, ranking: Sequence[ScoredPassage]) -> list[ScoredPassage]:
        """Return the best passages that together tell the query, of the first those last to which no name leads."""
        told = self._records.told(request.query, ids_of(ranking[:DEPTH]), request.visible)
        best = covering(ranking, *told, max(request.k, _LED))
        led = led_first(request.query, self._records.passages(ids_of(best[:_LED])), KEPT)
        ids = dict.fromkeys([*ids_of(led), *ids_of(best)])  # one that was just deleted is no record
        scored = zip(ids, best, strict=True)
        return [ScoredPassage(id=id_, score=one["score"]) for id_, one in scored][: request.k]

    def _share_of_walk(self, request: _Request, names: Iterable[str], found: Sequence[ScoredPassage]) -> float:
        """Return how much a walk counts: as the query tells known names, and as its first passage leaves it open."""
        named = filter(_has_letter, names)
        share = self._records.share_of_names(request.query, named, request.visible) if found else 0.0
        return share and share * sqrt(max(0.0, 1 - self._share_of_passage(request, found)))

    def _share_of_passage(self, request: _Request, found: Sequence[ScoredPassage]) -> float:
        """Return the share of the first passage found in what the words of the query tell."""
        return self._records.share_of_passage(request.query, found[0]["id"], request.visible)

    def _stated(self, passages: Sequence[ScoredPassage], extractor: str) -> list[Sequence[str]]:
        """Return the facts of some passages, each once."""
        statements = self._records.triples.statements(extractor, ids_of(passages))
        return list(dict.fromkeys(statement[1:] for statement in statements))


def _has_letter(name: str) -> bool:
    return any(map(str.isalpha, name))
