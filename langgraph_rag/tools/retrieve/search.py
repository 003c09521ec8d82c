"""The searches of a knowledge base: by meaning, by words, by both, and by walks; concurrent queries share batches."""

import asyncio
import math
import queue
import threading
from collections import OrderedDict, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from enum import IntEnum
from functools import cached_property, partial
from itertools import count, islice
from math import sqrt
from statistics import fmean
from typing import Any, Generic, NamedTuple, TypeVar, get_args

import numpy as np

from langgraph_rag.arguments import expect, expect_list
from langgraph_rag.characters import is_blank, is_text
from langgraph_rag.concurrency.tasks import gather
from langgraph_rag.concurrency.threads import Worker, in_thread
from langgraph_rag.context import MAX_QUERY_CHARS, Search
from langgraph_rag.errors import KnowledgeBaseError, QuestionError
from langgraph_rag.filters import Where
from langgraph_rag.normal_forms import normalise, triple_text
from langgraph_rag.records import ScoredPassage, ids_of
from langgraph_rag.tools.index.entity_graph import EntityGraph
from langgraph_rag.tools.index.words import parts_of
from langgraph_rag.tools.ingest.embedder import Embedder
from langgraph_rag.tools.ingest.spans import is_generic
from langgraph_rag.tools.retrieve.ranking import DEPTH, blend, covering, led_first, with_mentioned
from langgraph_rag.tools.stores.protocols import Matrix, VectorStore
from langgraph_rag.tools.stores.records import Records
from langgraph_rag.tools.stores.triples import vector_id
from langgraph_rag.tools.stores.visibility import Visible

Request = TypeVar("Request")
Result = TypeVar("Result")

_number = count()


@dataclass
class _Asked(Generic[Request, Result]):
    """A request whose result a coroutine awaits."""

    batcher: "Batcher[Request, Result]"
    request: Request
    result: "asyncio.Future[Result]"

    def settle(self, settle: Callable[[Any], None], outcome: Any) -> None:
        """Set the result, or an error, from the thread of the worker."""
        with suppress(RuntimeError):  # the event loop was closed
            self.result.get_loop().call_soon_threadsafe(self._settle, settle, outcome)

    def _settle(self, settle: Callable[[Any], None], outcome: Any) -> None:
        if not self.result.done():  # it may have been cancelled
            settle(outcome)


class _Waiting(NamedTuple):
    rank: float
    number: int  # in the order of arrival
    asked: _Asked[Any, Any] | None


class RequestQueue:
    """A queue of requests with one worker thread, which several batchers may share.

    The requests of the batcher with the lowest rank come first, in the order of their arrival. If batchers that serve
    the last stages of a step have the lowest ranks, the first questions wait for the model while the others compute.
    Otherwise, many concurrent questions would run in lockstep: all compute, then all wait.
    """

    def __init__(self) -> None:
        self._waiting: queue.PriorityQueue[_Waiting] = queue.PriorityQueue()
        self._worker: Worker | None = None
        self._closed, self._lock = False, threading.Lock()

    def put(self, waiting: _Waiting) -> None:
        """Add a request.

        Raises:
            KnowledgeBaseError: when the queue was closed.
        """
        with self._lock:
            if self._closed:
                raise KnowledgeBaseError("the knowledge base was closed: open it again")
            if self._worker is None:
                worker = Worker(self._serve, stop=partial(self._take_no_more, -math.inf), name="batcher")
                worker.start()
                self._worker = worker
            self._waiting.put(waiting)

    def close(self) -> None:
        """Accept no more requests, process the waiting ones, and end the worker."""
        self._take_no_more(math.inf)
        if self._worker is not None:
            self._worker.join()

    def _take_no_more(self, rank: float) -> None:
        """Accept no more requests, and end the worker before those of higher ranks."""
        with self._lock:
            self._closed = True
            self._waiting.put(_Waiting(rank, next(_number), None))

    def _serve(self) -> None:
        while first := self._waiting.get().asked:
            batcher, batch = first.batcher, [first]
            while len(batch) < batcher.largest and not self._waiting.empty():
                following = self._waiting.get()
                if not following.asked or following.asked.batcher is not batcher:
                    self._waiting.put(following)
                    break
                batch.append(following.asked)
            batcher.answer(batch)


class Batcher(Generic[Request, Result]):
    """Processes requests in batches: while one batch runs, the next one is collected. No request waits for others.

    Args:
        work: returns the results for a batch of requests, in order, in the worker thread of the queue. If it fails, it
            is called again for each request alone.
        largest: the maximum number of requests in a batch.
        queue: the queue, if it is shared with other batchers.
        rank: the rank in the queue, different from those of the others; the lowest is served first.
    """

    def __init__(
        self,
        work: Callable[[list[Request]], list[Result]],
        *,
        largest: int = 8,
        queue: RequestQueue | None = None,
        rank: int = 0,
    ) -> None:
        self._work, self.largest = work, largest
        self._queue, self._rank = queue or RequestQueue(), rank

    async def ask(self, request: Request) -> Result:
        """Add a request to the next batch and await its result.

        Raises:
            KnowledgeBaseError: when the queue was closed.
        """
        result: asyncio.Future[Result] = asyncio.get_running_loop().create_future()
        self._queue.put(_Waiting(self._rank, next(_number), _Asked(self, request, result)))
        return await result

    def close(self) -> None:
        """Close the queue."""
        self._queue.close()

    def answer(self, batch: list[_Asked[Request, Result]]) -> None:
        """Process a batch of requests, without those that were cancelled."""
        if wanted := [asked for asked in batch if not asked.result.cancelled()]:
            self._answer(wanted)

    def _answer(self, batch: list[_Asked[Request, Result]]) -> None:
        try:
            results = self._work([asked.request for asked in batch])
        except BaseException as error:  # the callers get it, the worker lives on
            if len(batch) == 1:
                batch[0].settle(batch[0].result.set_exception, error)
                return
            for asked in batch:  # alone, so that a failing request does not affect the others
                self._answer([asked])
            return
        for asked, result in zip(batch, results, strict=True):
            asked.settle(asked.result.set_result, result)


def one_at_a_time() -> Batcher[Callable[[], Any], Any]:
    """Return a batcher that runs one function at a time; waiting callers occupy no thread."""
    return Batcher(lambda works: [work() for work in works], largest=1)


_REMEMBERED_QUERIES = 1_024
_REMEMBERED_TRIPLES = 50_000  # vectors


class Rank(IntEnum):
    """The order of waiting requests: the later in a step a method usually makes them, the earlier they are served."""

    PASSAGE_COSINES = 0
    TRIPLE_COSINES = 1
    QUERIES = 2
    SEARCHES = 3


class Similarity:
    """Embeds queries and compares them with stored vectors; triples are embedded when a query first needs them.

    Args:
        embedder: the embedder.
        vectors: the index of passages and triples.
        records: the store of the vectors of triples.
        queue: for the requests.
    """

    def __init__(self, embedder: Embedder, vectors: VectorStore, records: Records, queue: RequestQueue) -> None:
        self._embedder, self._vectors, self._records = embedder, vectors, records
        self._remembered_queries: OrderedDict[str, Matrix] = OrderedDict()
        self._remembered_triples: dict[str, Matrix] = {}
        self._embedding_queries = threading.Lock()
        self._queries = Batcher(self.embed_queries, largest=16, queue=queue, rank=Rank.QUERIES)
        self._of_triples = Batcher(self.cosines, queue=queue, rank=Rank.TRIPLE_COSINES)
        self._of_passages = Batcher(self._passage_cosines_many, queue=queue, rank=Rank.PASSAGE_COSINES)

    async def search_triples(self, query: str, k: int, among: frozenset[str] | None) -> list[str]:
        """Return the vector ids of the k embedded triples (of all, or among some) nearest to a query, best first."""
        vector = await self._vector(query)
        (found,) = await in_thread(self._vectors.search_triples, vector[np.newaxis], k, among)
        return [id_ for id_, _ in found]

    async def triple_cosines(self, queries: Sequence[str], triples: Sequence[Sequence[str]]) -> Matrix:
        """Return the cosines of triples (as "head relation tail") with queries; shape: triples x queries."""
        if not triples:
            return np.empty((0, len(queries)), np.float32)
        return await self._of_triples.ask((queries, triples))

    async def passage_cosines(self, queries: Sequence[str], ids: Sequence[str]) -> dict[str, Matrix]:
        """Return the cosines of the stored vectors of passages with queries; unknown ids are left out."""
        return await self._of_passages.ask((queries, ids)) if ids else {}

    async def likeness(self, query: str, others: Sequence[str]) -> list[float]:
        """Return the cosines of a query with other texts."""
        vector, *rest = await gather(map(self._vector, [query, *others]))
        return [float(vector @ other) for other in rest]

    def embed_queries(self, queries: Sequence[str]) -> list[Matrix]:
        """Return the vectors of queries, with a cache of recent ones."""
        with self._embedding_queries:
            new = [query for query in dict.fromkeys(queries) if query not in self._remembered_queries]
            if new:
                vectors = self._embedder.queries(new)
                self._remembered_queries.update(zip(new, vectors, strict=True))
            found = [self._remembered_queries[query] for query in queries]
            while len(self._remembered_queries) > _REMEMBERED_QUERIES:
                self._remembered_queries.popitem(last=False)
            return found

    def nearest(self, requests: Sequence[tuple[str, int, Visible | None]]) -> list[list[ScoredPassage]]:
        """Return the k nearest passages for each query, of all or of the visible ones, best first."""
        queries = self.embed_queries([query for query, *_ in requests])
        found: dict[int, list[ScoredPassage]] = {}
        alike = defaultdict[tuple[int, Visible | None], list[int]](list)  # small requests do not wait for large ones
        for place, (_, k, visible) in enumerate(requests):
            alike[k, visible].append(place)
        for (k, visible), places in alike.items():
            among = None if visible is None else visible.ids
            nearest = self._vectors.search(np.stack([queries[place] for place in places]), k, among)
            for place, passages in zip(places, nearest, strict=True):
                found[place] = [ScoredPassage(id=id_, score=score) for id_, score in passages]
        return [found[place] for place in range(len(requests))]

    def cosines(self, requests: Sequence[tuple[Sequence[str], Sequence[Sequence[str]]]]) -> list[Matrix]:
        """Return the cosines of triples (as "head relation tail") with queries, for several requests at once."""
        queries = self._embed_groups([queries for queries, _ in requests])
        ids = [[vector_id(triple) for triple in triples] for _, triples in requests]
        texts = {
            id_: triple_text(triple)
            for (_, triples), those in zip(requests, ids, strict=True)
            for id_, triple in zip(those, triples, strict=True)
        }
        vectors = self._triple_vectors(texts)
        return [_cosines([vectors[id_] for id_ in those], queries) for queries, those in zip(queries, ids, strict=True)]

    def embed_triples(self, ids: Sequence[str]) -> None:
        """Embed and store the triples whose vectors have these ids."""
        self._embed_and_store(self._records.triples.texts(ids))

    def forget_triples(self, ids: Sequence[str]) -> None:
        """Remove the vectors of deleted triples from the cache."""
        for id_ in ids:
            self._remembered_triples.pop(id_, None)

    async def _vector(self, query: str) -> Matrix:
        remembered = self._remembered_queries.get(query)
        return await self._queries.ask(query) if remembered is None else remembered

    def _embed_groups(self, groups: Sequence[Sequence[str]]) -> list[list[Matrix]]:
        vectors = iter(self.embed_queries([query for queries in groups for query in queries]))
        return [list(islice(vectors, len(queries))) for queries in groups]

    def _passage_cosines_many(self, requests: list[tuple[Sequence[str], Sequence[str]]]) -> list[dict[str, Matrix]]:
        queries = self._embed_groups([queries for queries, _ in requests])
        vectors = self._vectors.passages(list({id_ for _, ids in requests for id_ in ids}))
        known = [[id_ for id_ in ids if id_ in vectors] for _, ids in requests]
        return [
            dict(zip(ids, _cosines([vectors[id_] for id_ in ids], near), strict=True))
            for ids, near in zip(known, queries, strict=True)
        ]

    def _triple_vectors(self, texts: Mapping[str, str]) -> dict[str, Matrix]:
        remembered = self._remembered_triples
        known = {id_: remembered[id_] for id_ in texts if id_ in remembered}
        known |= self._records.triples.vectors([id_ for id_ in texts if id_ not in known])
        known |= self._embed_and_store({id_: text for id_, text in texts.items() if id_ not in known})
        if len(remembered) + len(known) > _REMEMBERED_TRIPLES:
            remembered.clear()
        remembered |= known
        return known

    def _embed_and_store(self, texts: Mapping[str, str]) -> dict[str, Matrix]:
        if not texts:
            return {}
        vectors = self._embedder.texts(list(texts.values()))
        self._records.triples.put_vectors(list(texts), vectors)
        return dict(zip(texts, vectors, strict=True))


def _cosines(vectors: Sequence[Matrix], queries: Sequence[Matrix]) -> Matrix:
    """Return the cosines of vectors with queries, with the same ties on every processor.

    Shape: vectors x queries.
    """
    if not vectors or not queries:
        return np.empty((len(vectors), len(queries)), np.float32)
    cosines: Matrix = np.vecdot(np.stack(vectors)[:, np.newaxis], np.stack(queries), dtype=np.float64)
    return cosines.astype(np.float32)


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
    near = graph.rank(_seeds(graph, list(names), list(facts)), max(k, DEPTH)) if share > 0 else []
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


def _seeds(
    graph: EntityGraph, names: Sequence[str], facts: Sequence[tuple[Sequence[str], float]]
) -> defaultdict[int, float]:
    """Return the weights of the entities to walk from; generic ones (`default value`) would lead anywhere."""
    likest = sorted(facts, key=lambda fact: -fact[1])
    ends = [name for (subject, _, object_), _ in likest for name in (subject, object_)]
    nodes = graph.nodes([*ends, *names])
    asked, of_facts = nodes[len(ends) :], list(zip(nodes[: len(ends) : 2], nodes[1 : len(ends) : 2], strict=True))
    likeness: defaultdict[int, list[float]] = defaultdict(list)
    for place in _likest(of_facts, asked):
        (subject, _, object_), cosine = likest[place]
        for name, node in zip((subject, object_), of_facts[place], strict=True):
            if cosine > 0 and node is not None and not is_generic(name):
                likeness[node].append(cosine)
    seeds = defaultdict(float, {node: fmean(cosines) for node, cosines in likeness.items()})
    for node in (node for node in asked if node is not None):
        seeds[node] += _NAMED
    return seeds


def _likest(facts: Sequence[Sequence[int | None]], asked: Iterable[int | None]) -> list[int]:
    """Return which facts to walk from: of each entity that is asked for its likest ones, then the likest of all.

    The facts have the nodes of their two ends, the likest first.
    """
    own = [place for node in asked for place in islice((at for at, ends in enumerate(facts) if node in ends), _OWN)]
    places = dict.fromkeys([*own, *range(len(facts))])
    return list(islice(places, max(_FACTS, len(set(own)))))


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
            texts = self._records.texts(ids_of(ranking[:DEPTH]))
        scores = with_mentioned(ranking[:DEPTH], texts, told, weights, KEPT)
        order = sorted(range(len(scores)), key=lambda place: (place >= KEPT, -scores[place]))
        raised = [ScoredPassage(id=ranking[place]["id"], score=scores[place]) for place in order]
        best = covering([*raised, *ranking[DEPTH:]], told[order], weights, max(request.k, _LED))
        led = led_first(request.query, [texts[id_] for id_ in ids_of(best[:_LED]) if id_ in texts], KEPT)
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
