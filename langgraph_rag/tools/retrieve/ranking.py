"""Rankings of passages, sentences and triples: fused, reranked, by what supports a text, and by KiRAG's aligner.

The aligner is of Fang et al. 2025, section 3.4.
"""

import asyncio
import math
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from itertools import chain, zip_longest
from math import fsum
from typing import Any, NamedTuple, Protocol, TypeVar

import numpy as np
from langchain_core.callbacks import Callbacks
from langchain_core.documents import BaseDocumentCompressor, Document
from langchain_core.embeddings import Embeddings
from langgraph.errors import GraphBubbleUp
from numpy.typing import NDArray
from pydantic import ConfigDict

from langgraph_rag.concurrency.background import run_in_background
from langgraph_rag.concurrency.tasks import gather
from langgraph_rag.errors import RagError, RerankerError
from langgraph_rag.normal_forms import apart, folded, normalise, stands_in, triple_text, words_of
from langgraph_rag.records import (
    Candidate,
    Evidence,
    Passage,
    Record,
    ScoredPassage,
    Triple,
    evidence_of,
    page_of,
    reciprocal_ranks,
    titled_text,
)
from langgraph_rag.tools.facts.names import topic_of
from langgraph_rag.tools.index.words import terms_of
from langgraph_rag.tools.ingest.embeddings import embed_queries, embed_texts
from langgraph_rag.tools.ingest.spans import is_generic, spot, spot_names, stop_words
from langgraph_rag.tools.ingest.text import RULES, text_pipeline
from langgraph_rag.tools.retrieve.retriever import Retriever
from langgraph_rag.tools.stores.protocols import Matrix


def in_turn(lists: Iterable[Iterable[str]]) -> list[str]:
    """Return the first item of each list, then the second of each, and so on, each item once."""
    return list(dict.fromkeys(item for turn in zip_longest(*lists) for item in turn if item is not None))


def round_robin(evidence: Sequence[Evidence]) -> list[str]:
    """Return the passages of evidence, the first of each step, then the second of each, and so on."""
    steps: defaultdict[int, dict[str, None]] = defaultdict(dict)
    for entry in evidence:
        steps[entry["step"]][entry["passage_id"]] = None
    return in_turn(steps.values())


Values = NDArray[np.float64]
AnyPassage = TypeVar("AnyPassage", bound=Passage)

_RRF_K = 60
TOP_HEAVY = 2
"""The constant for rankings that make different errors: the top of each matters."""

DEPTH = 50
"""Passages of each ranking that `blend` compares."""
_COVERAGE = 0.5  # weight of what a passage tells beyond those before it, against its score
_PART = 0.15  # weight of a part of a query, whose whole has 1
_MENTIONED = 0.2  # what it adds to the score of a passage that one of the first passages mentions its title
_EXPLAINED = 0.1  # or a term that it explains
_REST = 0.5  # weight of what such a passage tells of the query beyond the one that mentions it
_SHORTEST = 4  # letters of a topic
_WORDS = 0.65  # weight of words against meaning: where they differ, a name that is found is surer than a likeness


def blend(
    meaning: Sequence[ScoredPassage],
    words: Sequence[ScoredPassage],
    parts: Sequence[Sequence[ScoredPassage]] = (),
    *,
    sure: bool = False,
) -> list[ScoredPassage]:
    """Merge the rankings of one query by meaning and by words, and those of its parts by meaning.

    In each ranking, the first passage scores 1 and the 50th 0, and what lies between keeps its distance: a passage far
    ahead of all others is surer than the first of many alike. Such convex fusion finds more than ranks do (Bruch et
    al. 2023). Ties are sorted by id.

    Args:
        meaning: the passages by meaning with their cosines, best first, 50 or more if there are so many.
        words: the passages by words with their BM25 scores, likewise.
        parts: for each part of the query, the passages by meaning: what a query asks beside its main matter.
        sure: whether words are sure of their first passage, which then is the first of all.
    """
    scores: defaultdict[str, float] = defaultdict(float)
    whole = 1 + _PART * len(parts)
    for weight, ranking in ((1 - _WORDS, meaning), (_WORDS, words), *((_PART, part) for part in parts)):
        if ranking:
            lowest = 0.0 if ranking is words else ranking[-1]["score"]
            last = ranking[DEPTH - 1]["score"] if len(ranking) >= DEPTH else lowest
            span = ranking[0]["score"] - last
            for passage in ranking:
                scores[passage["id"]] += weight / whole * ((passage["score"] - last) / span if span > 0 else 1.0)
    first = words[0]["id"] if sure else ""
    if first:
        scores[first] = max(scores.values())
    best = sorted(scores.items(), key=lambda item: (-item[1], item[0] != first, item[0]))
    return [ScoredPassage(id=id_, score=score) for id_, score in best]


def with_mentioned(
    ranking: Sequence[ScoredPassage], passages: Mapping[str, Passage], told: Values, weights: Values, kept: int
) -> list[float]:
    """Return the scores of passages; those that one of the first mentions by their topics score more.

    A question of several steps names where it begins, and the passage found there names what comes next. The more of
    the query a mentioned passage tells beyond the one that mentions it, the more its score is raised.

    Args:
        ranking: the passages, best first, with scores of at most 1.
        passages: the passages by id; one that is not there keeps its score.
        told: how well each passage tells each word of the query, from 0 to 1; shape: passages x words.
        weights: how much each word counts.
        kept: the number of first passages, whose scores stay.
    """
    scores = [passage["score"] for passage in ranking]
    first = [(place, passages[one["id"]]) for place, one in enumerate(ranking[:kept]) if one["id"] in passages]
    texts = {place: _as_words(passage["text"]) for place, passage in first}
    for place, one in enumerate(ranking[kept:], start=kept):
        if (passage := passages.get(one["id"])) is None:
            continue
        topic, terms = topic_of(passage["title"]), [term for term in terms_of(passage["text"]) if _is_name(term)]
        form = normalise(apart(topic))
        raised = [0.0]
        for other, mentioning in first:
            is_title = _tells(form, topic, texts[other], mentioning) and topic != topic_of(mentioning["title"])
            if is_title or any(_stands_alone(term, mentioning["text"]) for term in terms):
                rest = float(weights @ ((1 - told[other]) * told[place]))
                raised.append((_MENTIONED if is_title else _EXPLAINED) + _REST * rest)
        scores[place] += max(raised)
    return scores


def _tells(form: str, topic: str, text: str, mentioning: Passage) -> bool:
    """Return whether a text, in normal form, has a topic; a single word must be written as the title writes it."""
    if len(form) < _SHORTEST or form in stop_words() or f" {form} " not in text:
        return False
    return not form.isalpha() or (not is_generic(topic) and _stands_alone(topic, mentioning["text"]))


def _is_name(term: str) -> bool:
    return len(term) >= _SHORTEST and " " not in term


def _stands_alone(name: str, text: str) -> bool:
    """Return whether a text has a name that is no part of a longer word."""
    end = -1
    while (start := text.find(name, end + 1)) >= 0:
        end = start + len(name)
        around = text[start - 1 : start] + text[end : end + 1]
        if not any(letter.isalnum() or letter in "_-" for letter in around):
            return True
    return False


def covering(ranking: Sequence[ScoredPassage], told: Values, weights: Values, k: int) -> list[ScoredPassage]:
    """Return the k best passages of a ranking that together tell a query: xQuAD, with its words as aspects.

    The first stays. Each next one is that with the best score and most of what those before it do not tell, so that
    what a query asks beside its main matter gets a place (Santos et al. 2010). It looks at the first 50 passages.

    Args:
        ranking: the passages, best first, with scores of at most 1.
        told: how well each of the first 50 tells each word, from 0 to 1; shape: passages x words.
        weights: how much each word counts; they add up to 1 or, without words, to 0.
        k: the maximum number of passages.
    """
    scores = np.array([passage["score"] for passage in ranking[:DEPTH]])
    open_, least, chosen = weights.copy(), math.inf, list[ScoredPassage]()
    while len(chosen) < min(k, len(scores)):
        gains = scores + _COVERAGE * np.vecdot(told, open_)
        best = int(gains.argmax()) if chosen else 0
        least = min(least, float(gains[best]))
        chosen.append(ScoredPassage(id=ranking[best]["id"], score=least / (1 + _COVERAGE)))
        open_ *= 1 - told[best]
        scores[best] = -math.inf
    rest = [ScoredPassage(id=one["id"], score=one["score"] / (1 + _COVERAGE)) for one in ranking[DEPTH:k]]
    return chosen + rest


def fuse(
    rankings: Sequence[Sequence[ScoredPassage]], k: int | None = None, *, constant: int = _RRF_K
) -> list[ScoredPassage]:
    """Merge rankings and return the k best, or all: each rank scores 1 / (constant + rank), and ties are sorted by id.

    A smaller constant gives more weight to a high rank in one ranking than to medium ranks in all. The order of the
    rankings does not matter, as each sum is rounded once.
    """
    shares: defaultdict[str, list[float]] = defaultdict(list)
    for ranking in rankings:
        for rank, passage in enumerate(ranking, start=1):
            shares[passage["id"]].append(1 / (constant + rank))
    scores = {id_: fsum(of_passage) for id_, of_passage in shares.items()}
    best = sorted(scores.items(), key=lambda item: (-item[1], item[0]))[:k]
    return [ScoredPassage(id=id_, score=score) for id_, score in best]


def weighted(rankings: Iterable[tuple[float, Iterable[str]]]) -> list[ScoredPassage]:
    """Merge rankings of which some count more: each rank scores weight / (2 + rank).

    Ties keep the order of the rankings.
    """
    scores: defaultdict[str, float] = defaultdict(float)
    for weight, ranking in rankings:
        for rank, id_ in enumerate(dict.fromkeys(ranking), start=1):
            scores[id_] += weight / (TOP_HEAVY + rank)
    return by_score(scores)


def best_of(rankings: Iterable[Iterable[ScoredPassage]]) -> list[ScoredPassage]:
    """Merge rankings by the best score of each passage; ties keep the order of the rankings."""
    best: dict[str, float] = {}
    for passage in chain.from_iterable(rankings):
        best[passage["id"]] = max(passage["score"], best.get(passage["id"], passage["score"]))
    return by_score(best)


def by_score(scores: Mapping[str, float]) -> list[ScoredPassage]:
    """Rank passages by their scores; ties keep their order."""
    best_first = sorted(scores.items(), key=lambda item: -item[1])
    return [ScoredPassage(id=id_, score=score) for id_, score in best_first]


def led_first(question: str, passages: Sequence[AnyPassage], kept: int = 0) -> list[AnyPassage]:
    """Put passages behind all others to which no name of the question leads.

    A name leads to the passages that have all of its words. These lead to what they mention by its title and to other
    passages of their document, and so on. Both parts keep their order; a question without names leaves it as it is.

    Args:
        question: its names count, but for a single word at its beginning, which may have its capital from there.
        passages: best first.
        kept: the number of first passages that stay where they are, led to or not.
    """
    spotted = [name for name in spot_names(question) if name.start or " " in name.text]
    names = [set(words_of(name.text)) for name in spotted]
    if not names:
        return list(passages)
    led = {place for place, passage in enumerate(passages) if _has_one(titled_text(passage), names)}
    topics = [_as_words(topic_of(passage["title"])) for passage in passages]
    added = led
    while added and len(led) < len(passages):
        documents = {passages[place].get("document") for place in added} - {None, ""}
        texts = [_as_words(passages[place]["text"]) for place in added]
        added = {
            place
            for place, passage in enumerate(passages)
            if place not in led
            and (passage.get("document") in documents or any(topics[place] in text for text in texts))
        }
        led = led | added
    order = sorted(range(len(passages)), key=lambda place: place >= kept and place not in led)
    return [passages[place] for place in order]


def _as_words(text: str) -> str:
    return f" {normalise(apart(text))} "


def _has_one(text: str, names: Sequence[set[str]]) -> bool:
    """Return whether a text has all words of some name; the words are only told apart where their letters are there."""
    form = folded(text)
    near = [name for name in names if all(word in form for word in name)]
    return bool(near) and any(map(set(words_of(text)).issuperset, near))


_LEAST_GAIN = 0.25  # share of the words of a statement that a sentence must add
_LEAST_COVER = 0.5  # share of the words of a statement that its sentences must have together
_MOST_SENTENCES = 3


def supporting_evidence(text: str, passages: Sequence[Record], step: int) -> list[Evidence]:
    """Return, for each sentence of a text, the sentences of passages that cover its words best.

    The title of a passage counts as part of each of its sentences. Of sentences that cover equally much, the one with
    most complete names, dates and numbers comes first, then the one that needs the title least. A second and third
    sentence are added if each covers another quarter of the words, or a complete name, date or number. A sentence of
    the text that is covered less than half has no evidence.
    """
    offered = [
        _Offer(_words(sentence), title, passage, sentence)
        for passage, title in ((passage, _words(passage["title"])) for passage in passages)
        for sentence in passage["sentences"]
    ]
    found: dict[tuple[str, str], Evidence] = {}
    for line in text.splitlines():
        for statement in text_pipeline(RULES).sentences(line):
            for offer in _covering(statement, offered):
                found[offer.passage["id"], offer.sentence] = evidence_of(offer.passage, offer.sentence, step)
    return list(found.values())


def nearest_evidence(query: str, passage: Record, step: int) -> list[Evidence]:
    """Return the sentence of a passage that shares most words with a query; none if it has no sentences."""
    wanted = _words(query)
    best = max(passage["sentences"], key=lambda sentence: len(wanted & _words(sentence)), default="")
    return [evidence_of(passage, best, step)] if best else []


def has_answer(evidence: Evidence, answer: str) -> bool:
    """Return whether the sentence of a piece of evidence, or its title, contains an answer."""
    return stands_in(answer, f"{evidence['title']} {evidence['sentence']}")


def answering_evidence(question: str, answer: str, passages: Sequence[Record], step: int) -> list[Evidence]:
    """Return the sentence with the answer that shares most words with the question.

    There is none for an answer without content words, such as "no".
    """
    wanted = _words(question)
    having = [
        entry
        for passage in passages
        for sentence in passage["sentences"]
        if has_answer(entry := evidence_of(passage, sentence, step), answer)
    ]
    nearest = max(having, key=lambda entry: len(wanted & _words(f"{entry['title']} {entry['sentence']}")), default=None)
    return [nearest] if nearest and _words(answer) else []


def traced_back(
    evidence: Sequence[Evidence], records: Iterable[Record], triples: Iterable[Triple], question: str, answer: str
) -> list[Evidence]:
    """Return evidence with the sources and pages of its passages; if it has no triple, with the best of its sentence.

    The best triple contains the answer, or else shares most words with the question, and of several such, with the
    evidence from other passages, so that the facts hang together.
    """
    passages = {record["id"]: record for record in records}
    stated: defaultdict[tuple[str, int], list[list[str]]] = defaultdict(list)
    for entry in triples:
        for source in entry["sources"]:
            for position in source["sentences"]:
                stated[source["passage_id"], position].append(entry["triple"])
    wanted = _words(question)

    def worth(triple: list[str], others: set[str]) -> tuple[bool, int, int]:
        words = _words(text := triple_text(triple))
        return stands_in(answer, text), len(wanted & words), len(others & words)

    def told_elsewhere(passage_id: str) -> set[str]:
        others = (entry for entry in evidence if entry["passage_id"] != passage_id)
        return set().union(*(_words(f"{entry['title']} {entry['sentence']}") for entry in others))

    def complete(entry: Evidence) -> Evidence:
        if (record := passages.get(entry["passage_id"])) is None:
            return entry
        if not entry["triple"] and entry["sentence"] in record["sentences"]:
            place = record["id"], record["sentences"].index(entry["sentence"])
            best_of_all = partial(worth, others=told_elsewhere(record["id"]))
            entry = {**entry, "triple": max(stated[place], key=best_of_all, default=[])}
        if "source" in record:
            entry = {**entry, "source": record["source"]}
        return {**entry, "page": page} if (page := page_of(record)) else entry

    return [complete(entry) for entry in evidence]


class _Offer(NamedTuple):
    """A candidate sentence, with its words and those of its title."""

    own: set[str]
    title: set[str]
    passage: Record
    sentence: str


def _covering(statement: str, offered: list[_Offer]) -> list[_Offer]:
    words = _words(statement)
    particulars = [particular for span in spot(statement) if (particular := _words(span.text))]
    missing = set(words)
    chosen: list[_Offer] = []

    def worth(offer: _Offer) -> tuple[int, int, int, int]:
        told = offer.own | offer.title
        whole = sum(particular <= told for particular in particulars)
        return len(missing & told), whole, len(words & offer.own), -len(told)

    while offered and missing and len(chosen) < _MOST_SENTENCES:
        best = max(offered, key=worth)
        added = missing & (best.own | best.title)
        little = len(added) < max(1.0, _LEAST_GAIN * len(words))
        if little and not any(particular <= added for particular in particulars):
            break
        chosen.append(best)
        missing -= added
    return chosen if len(missing) <= (1 - _LEAST_COVER) * len(words) else []


def _words(text: str) -> set[str]:
    return {word for word in words_of(text) if word not in stop_words()}


class EmbeddingReranker(BaseDocumentCompressor):
    """Ranks passages of a knowledge base by their stored vectors and by their given order (reciprocal rank fusion).

    Only the query is embedded. The given order counts because a search finds by names and by the triple graph what
    vectors alone lose: a rare name has a vector much like that of any other name.
    """

    model_config = ConfigDict(arbitrary_types_allowed=True)

    kb: Retriever

    def compress_documents(
        self, documents: Sequence[Document], query: str, callbacks: Callbacks | None = None
    ) -> Sequence[Document]:
        """Return the documents, best first; those that are not in the knowledge base are left out."""
        return run_in_background(self.acompress_documents(documents, query, callbacks))

    async def acompress_documents(
        self, documents: Sequence[Document], query: str, callbacks: Callbacks | None = None
    ) -> Sequence[Document]:
        """Rerank like `compress_documents`; concurrent calls share batches."""
        cosines = await self.kb.apassage_cosines([query], [str(document.id) for document in documents])
        known = {str(document.id): document for document in documents if document.id in cosines}
        near = sorted(known, key=lambda id_: (-cosines[id_][0], id_))
        fused = fuse([reciprocal_ranks(known), reciprocal_ranks(near)], constant=TOP_HEAVY)
        return [known[passage["id"]] for passage in fused]


async def rerank(
    reranker: BaseDocumentCompressor, query: str, records: Sequence[Record], *, most: int, least: int
) -> list[str]:
    """Return the ids of at most `most` records, best first according to a reranker.

    If the reranker returns fewer than `least`, the first of the other records follow, in the given order.

    Raises:
        RerankerError: when it fails, or returns no documents.
    """
    documents = [
        Document(
            id=record["id"],
            page_content=titled_text(record),
            metadata={"id": record["id"], "title": record["title"]},
        )
        for record in records
    ]
    kept = await _asked(reranker, query, documents) if documents else []
    given = dict.fromkeys(record["id"] for record in records)
    best = dict.fromkeys(id_ for id_ in kept if id_ in given)
    others = [id_ for id_ in given if id_ not in best]
    return [*best, *others[: max(0, least - len(best))]][:most]


async def _asked(reranker: BaseDocumentCompressor, query: str, documents: Sequence[Document]) -> list[Any]:
    """Return the ids of the documents that a reranker returns; they may be in the metadata or in the id."""
    try:
        kept = await reranker.acompress_documents(documents, query)
        return [document.metadata.get("id") or document.id for document in kept]
    except (RagError, GraphBubbleUp):
        raise
    except Exception as error:
        told = f"{type(error).__name__}: {error}"
        raise RerankerError(f"reranker {type(reranker).__name__} gave no documents: {told}") from error


_CONTEXT = 0.3  # weight of the passage; the triple has the rest
_LED_TO = 0.9  # weight of the names that a chain leads to; the question, alone and with the chain, has 1
_REMEMBERED = 50_000  # vectors

Queries = Callable[[str, Sequence[Candidate]], list[str]]
"""Returns the queries for a question and a chain; the score of a piece is its highest cosine with one of them."""


def in_words(question: str, chain: Sequence[Candidate]) -> str:
    """Return the question and the chain as plain text, for embedders that were not trained on a special format."""
    return " ".join([question, *(f"{link['name'] if link['triple'] else link['text']}." for link in chain)])


def whole_chain(question: str, chain: Sequence[Candidate]) -> list[str]:
    """Return the query in the format that aligners are trained on (section 3.2, q_i)."""
    return [f"{question}. knowledge triples: {'. '.join(link['text'] for link in chain)}" if chain else question]


def with_and_without_chain(question: str, chain: Sequence[Candidate]) -> list[str]:
    """Return the question alone, and with the chain, as the first and the present retrieval had them."""
    return list(dict.fromkeys([question, in_words(question, chain)]))


def names_led_to(question: str, chain: Sequence[Candidate]) -> list[str]:
    """Return the names at the ends of a chain's triples that the question does not have."""
    ends = dict.fromkeys(end for link in chain for end in link["triple"][::2])
    return [end for end in ends if any(map(str.isupper, end)) and end.lower() not in question.lower()]


class Aligner(Protocol):
    """Scores how well knowledge continues a chain."""

    async def score(self, question: str, chain: Sequence[Candidate], knowledge: Sequence[Candidate]) -> list[float]:
        """Return a score for each piece; higher is better."""


class OwnAligner:
    """The embedder of the knowledge base, with its stored vectors of triples and passages.

    It was not trained on triples without context, so the passage that states a triple contributes to its score. It was
    not trained on queries of different lengths either, so cosines are divided by the highest one for the same query,
    among all knowledge and the chain: once a link is taken, the next best for its query does not take its place.
    And it was not trained on chains: to it the question outweighs what a chain leads to: those names are queries, too.
    """

    def __init__(self, kb: Retriever) -> None:
        self._kb = kb

    async def score(self, question: str, chain: Sequence[Candidate], knowledge: Sequence[Candidate]) -> list[float]:
        """Return the highest score of each triple over all queries, relative to the best one for the same query."""
        asked, names = with_and_without_chain(question, chain), names_led_to(question, chain)
        queries, weights = [*asked, *names], [1.0] * len(asked) + [_LED_TO] * len(names)
        compared = [*knowledge, *chain]
        triples, passages = await gather(
            [
                self._kb.atriple_cosines(queries, [candidate["triple"] for candidate in compared]),
                self._of_passages(queries, compared),
            ]
        )
        near = (1 - _CONTEXT) * triples + _CONTEXT * passages
        best = near.max(axis=0)
        scores: list[float] = (weights * near / np.where(best > 0, best, 1)).max(axis=1).tolist()
        return scores[: len(knowledge)]

    async def _of_passages(self, queries: Sequence[str], knowledge: Sequence[Candidate]) -> Matrix:
        """Return the highest cosine of the passages that state each triple; shape: triples x queries.

        It is 0 if the passage was deleted in the meantime.
        """
        stating = [source["passage_id"] for candidate in knowledge for source in candidate["sources"]]
        passages = {id_: place for place, id_ in enumerate(dict.fromkeys(stating))}
        found = await self._kb.apassage_cosines(queries, list(passages))
        unknown = np.zeros(len(queries), np.float32)
        cosines = np.stack([found.get(id_, unknown) for id_ in passages])
        firsts = np.cumsum([0, *(len(candidate["sources"]) for candidate in knowledge[:-1])])
        highest: Matrix = np.maximum.reduceat(cosines[[passages[id_] for id_ in stating]], firsts)
        return highest


class BiEncoder:
    """Any embedder, such as a trained aligner, with a cache of recent vectors."""

    def __init__(self, embeddings: Embeddings, queries: Queries = whole_chain) -> None:
        self._embeddings, self._queries = embeddings, queries
        self._vectors: dict[str, Matrix] = {}

    async def score(self, question: str, chain: Sequence[Candidate], knowledge: Sequence[Candidate]) -> list[float]:
        """Return the highest cosine of each text with a query."""
        texts = [candidate["text"] for candidate in knowledge]
        return await asyncio.to_thread(self._score, self._queries(question, chain), texts)

    def _score(self, queries: list[str], texts: list[str]) -> list[float]:
        known = {text: vector for text in texts if (vector := self._vectors.get(text)) is not None}
        if new := [text for text in dict.fromkeys(texts) if text not in known]:
            known.update(zip(new, embed_texts(self._embeddings, new), strict=True))
        if len(self._vectors) + len(new) > _REMEMBERED:
            self._vectors = {}
        self._vectors.update(known)
        vectors = np.stack([known[text] for text in texts])
        cosines = vectors @ embed_queries(self._embeddings, queries).T
        scores: list[float] = cosines.max(axis=1).tolist()
        return scores
