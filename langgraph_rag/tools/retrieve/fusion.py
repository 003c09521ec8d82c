"""Rankings made one: fused by ranks, in turns, or so that together they cover the query."""

import math
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from itertools import chain, zip_longest
from math import fsum

import numpy as np
from numpy.typing import NDArray

from langgraph_rag.normal_forms import apart, normalise, words_of
from langgraph_rag.records import Evidence, Record, ScoredPassage, titled_text
from langgraph_rag.tools.facts.topics import topic_of
from langgraph_rag.tools.index.words import terms_of
from langgraph_rag.tools.ingest.spans import is_generic, spot_names, stop_words


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
    ranking: Sequence[ScoredPassage], records: Mapping[str, Record], told: Values, weights: Values, kept: int
) -> list[float]:
    """Return the scores of passages; those that one of the first mentions by their topics score more.

    A question of several steps names where it begins, and the passage found there names what comes next. The more of
    the query a mentioned passage tells beyond the one that mentions it, the more its score is raised.

    Args:
        ranking: the passages, best first, with scores of at most 1.
        records: the passages by id; one without a record keeps its score.
        told: how well each passage tells each word of the query, from 0 to 1; shape: passages x words.
        weights: how much each word counts.
        kept: the number of first passages, whose scores stay.
    """
    scores = [passage["score"] for passage in ranking]
    first = [(place, records[one["id"]]) for place, one in enumerate(ranking[:kept]) if one["id"] in records]
    texts = {place: f" {normalise(apart(record['text']))} " for place, record in first}
    for place, passage in enumerate(ranking[kept:], start=kept):
        if (record := records.get(passage["id"])) is None:
            continue
        topic, terms = topic_of(record["title"]), [term for term in terms_of(record["text"]) if _is_name(term)]
        form = normalise(apart(topic))
        raised = [0.0]
        for other, mentioning in first:
            is_title = _tells(form, topic, texts[other], mentioning) and topic != topic_of(mentioning["title"])
            if is_title or any(_stands_alone(term, mentioning["text"]) for term in terms):
                rest = float(weights @ ((1 - told[other]) * told[place]))
                raised.append((_MENTIONED if is_title else _EXPLAINED) + _REST * rest)
        scores[place] += max(raised)
    return scores


def _tells(form: str, topic: str, text: str, mentioning: Record) -> bool:
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


def led_first(question: str, passages: Sequence[Record], kept: int = 0) -> list[Record]:
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
    said = [set(words_of(titled_text(passage))) for passage in passages]
    led = {place for place, words in enumerate(said) if any(name <= words for name in names)}
    topics = [f" {normalise(apart(topic_of(passage['title'])))} " for passage in passages]
    texts = [f" {normalise(apart(passage['text']))} " for passage in passages]
    added = led
    while added:
        documents = {passages[place].get("document") for place in added} - {None, ""}
        added = {
            place
            for place, passage in enumerate(passages)
            if place not in led
            and (passage.get("document") in documents or any(topics[place] in texts[other] for other in added))
        }
        led = led | added
    order = sorted(range(len(passages)), key=lambda place: place >= kept and place not in led)
    return [passages[place] for place in order]
