"""The searches of a knowledge base: by meaning, by words, by both, and by walks over its facts."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import islice
from math import sqrt
from statistics import fmean
from typing import get_args

from langgraph_rag.arguments import expect, expect_list
from langgraph_rag.characters import is_blank, is_text
from langgraph_rag.context import MAX_QUERY_CHARS, Search
from langgraph_rag.errors import QuestionError
from langgraph_rag.filters import Where
from langgraph_rag.normal_forms import normalise
from langgraph_rag.records import ScoredPassage, ids_of
from langgraph_rag.tools.index.entity_graph import EntityGraph
from langgraph_rag.tools.index.words import parts_of
from langgraph_rag.tools.ingest.spans import is_generic
from langgraph_rag.tools.retrieve.batcher import Batcher, RequestQueue
from langgraph_rag.tools.retrieve.fusion import DEPTH, blend, covering, led_first, with_mentioned
from langgraph_rag.tools.retrieve.similarity import Rank, Similarity
from langgraph_rag.tools.stores.records import Records
from langgraph_rag.tools.stores.visibility import Visible


def names_among(given: Iterable[object], what: str) -> list[str]:
    """Return ids or sources as stored: numbers as strings, like `add`, and without strings that are not text.

    Raises:
        TypeError: when a single one is passed instead of a list.
    """
    expect_list(given, what)
    return list(filter(is_text, map(str, given)))


def checked_queries(queries: Iterable[object], what: str = "queries") -> list[str]:
    """Return each query of a list as it is searched.

    Raises:
        TypeError: when a single query is passed instead of a list.
        QuestionError: when an item is not text.
    """
    expect_list(queries, what)
    return list(map(checked_query, queries))


def checked_query(query: object) -> str:
    """Return a query as it is searched: its first `MAX_QUERY_CHARS` characters.

    Raises:
        QuestionError: when it is not text.
    """
    if not isinstance(query, str) or not is_text(query):
        raise QuestionError(f"the query must be text, got {ascii(query)[:80]}")
    return query[:MAX_QUERY_CHARS]


def checked_words(query: object) -> str:
    """Return a query as it is searched, which has something to search for.

    Raises:
        QuestionError: when it is blank or not text.
    """
    words = checked_query(query)
    if is_blank(words):
        raise QuestionError(f"expected words to search for, got {words!r:.80}")
    return words


def checked_names(names: Mapping[str, str]) -> dict[str, str]:
    """Return the entities of names, which are words and not the same.

    Raises:
        TypeError: when they are not a mapping.
        ValueError: when a name or an entity has no letters or digits, or a name is its own entity or given twice.
    """
    expect(Mapping, names, "the entity of each name", 'such as {"KH": "Kestrel Holdings"}')
    forms: dict[str, str] = {}
    for name, entity in names.items():
        for text in (name, entity):
            if not isinstance(text, str) or not is_text(text) or not normalise(text):
                raise ValueError(f"names: expected words as names and entities, got {ascii(text)[:80]}")
        if normalise(name) == normalise(entity):
            raise ValueError(f"names: expected another name of {entity!r}, got {name!r}, which counts as the same")
        if (other := forms.setdefault(normalise(name), name)) != name:
            raise ValueError(f"names: expected each name once, got {other!r} and {name!r}, which count as the same")
    return dict(names)


READ = 5  # passages whose facts are used
_FACTS = 6  # the most similar ones to the query
_OWN = 3  # of these for each entity in the query, so that no other's facts take its place
KEPT = 2  # first passages of meaning and words, of which the walk begins
_NAMED = 0.7  # weight of an entity in the query; that of one in a fact is the likeness of the fact
_WALK = 6.0  # weight of the walk against meaning and words, times its share


def walk_from(
    graph: EntityGraph,
    names: Iterable[str],
    share: float,
    facts: Iterable[tuple[Sequence[str], float]],
    found: Sequence[ScoredPassage],
    k: int,
) -> list[ScoredPassage]:
    """Return the k best passages of those found and of those near to the entities of a query and of facts.

    Args:
        graph: the entities, facts and passages.
        names: the entities in the query, as `graph.link` returns them.
        share: how much the walk counts, from 0 to 1.
        facts: facts of the first passages with their cosines with the query.
        found: the passages by meaning and words, best first, with scores of at most 1.
        k: the maximum number of passages.
    """
    names = list(names)
    near = graph.rank(_seeds(graph, names, _likest(graph, names, facts)), max(k, DEPTH)) if share > 0 else []
    if not near:
        return list(found[:k])
    scores = {passage["id"]: passage["score"] for passage in found}
    reached = {passage["id"]: sqrt(passage["score"] / near[0]["score"]) for passage in near}
    reached |= dict.fromkeys(ids_of(found[:KEPT]), 1.0)
    weight = _WALK * share
    ranking = [
        ScoredPassage(id=id_, score=(scores.get(id_, 0.0) + weight * reached.get(id_, 0.0)) / (1 + weight))
        for id_ in dict.fromkeys([*scores, *reached])
    ]
    return sorted(ranking, key=lambda passage: -passage["score"])[:k]  # alike: in the order found


def _likest(
    graph: EntityGraph, names: Iterable[str], facts: Iterable[tuple[Sequence[str], float]]
) -> list[tuple[Sequence[str], float]]:
    """Return the facts to walk from: of each entity in the query its likest ones, then the likest of all."""
    likest = sorted(facts, key=lambda fact: -fact[1])
    ends = [{graph.node(subject), graph.node(object_)} for (subject, _, object_), _ in likest]
    own = [
        place
        for name in names
        for place in islice((place for place, nodes in enumerate(ends) if graph.entities[name] in nodes), _OWN)
    ]
    places = dict.fromkeys([*own, *range(len(likest))])
    return [likest[place] for place in islice(places, max(_FACTS, len(set(own))))]


def _seeds(
    graph: EntityGraph, names: Iterable[str], facts: Sequence[tuple[Sequence[str], float]]
) -> defaultdict[int, float]:
    """Return the weights of the entities to walk from; generic ones (`default value`) would lead anywhere."""
    likeness: defaultdict[int, list[float]] = defaultdict(list)
    for (subject, _, object_), cosine in facts:
        for name in (subject, object_):
            if cosine > 0 and not is_generic(name) and (entity := graph.node(name)) is not None:
                likeness[entity].append(cosine)
    seeds = defaultdict(float, {entity: fmean(cosines) for entity, cosines in likeness.items()})
    for name in names:
        seeds[graph.entities[name]] += _NAMED
    return seeds


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
        records: Records,
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
        told, weights = self._records.told(request.query, ids_of(ranking[:DEPTH]), request.visible)
        with self._records.beside():
            records = {record["id"]: record for record in self._records.passages(ids_of(ranking[:DEPTH]))}
        scores = with_mentioned(ranking[:DEPTH], records, told, weights, KEPT)
        order = sorted(range(len(scores)), key=lambda place: (place >= KEPT, -scores[place]))
        raised = [ScoredPassage(id=ranking[place]["id"], score=scores[place]) for place in order]
        best = covering([*raised, *ranking[DEPTH:]], told[order], weights, max(request.k, _LED))
        led = led_first(request.query, [records[id_] for id_ in ids_of(best[:_LED]) if id_ in records], KEPT)
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
        with self._records.beside():
            statements = list(self._records.triples.statements(extractor, ids_of(passages)))
        return list(dict.fromkeys(statement[1:] for statement in statements))


def _has_letter(name: str) -> bool:
    return any(map(str.isalpha, name))
