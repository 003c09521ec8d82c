"""Finds the gold places of questions in a knowledge base, however its documents were split."""

import re
import unicodedata
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator
from functools import cache
from typing import NamedTuple

from langgraph_rag.evaluation.questions import Place, Question
from langgraph_rag.records import Passage
from langgraph_rag.tools.knowledge_base import KnowledgeBase

_AT_ONCE = 1_000  # passages read
_ALIKE = str.maketrans(
    {**dict.fromkeys("\u2018\u2019\u201a\u201b\u2032`", "'"), **dict.fromkeys("\u201c\u201d\u201e\u2033", '"')}
    | {**dict.fromkeys("\u2010\u2011\u2012\u2013\u2014\u2015\u2212", "-"), **dict.fromkeys("\u00ad\u200b\ufeff", "")}
)
_SENTENCE_END = re.compile(r"(?<=[.!?])\s+")


class _Sought(NamedTuple):
    """A place in comparable form, with the longest sentence of its fragment."""

    source: str
    title: str
    fragment: str
    longest: str


def located(questions: Iterable[Question], kb: KnowledgeBase) -> list[Question]:
    """Return the questions with the ids of the passages at each of their places (`places`).

    A passage is at a place if it has its source and title, and contains its fragment or is a part of it. If no passage
    does, those that contain its longest sentence are, as the fragment may have been split. Where a question also has
    `supporting_ids`, these count if the knowledge base has all of them.
    """
    asked = list(questions)
    known = {record["id"] for record in kb.passages([id_ for each in asked for id_ in each.get("supporting_ids", [])])}
    sought = {
        question["id"]: [*map(_sought, question["gold"])]
        for question in asked
        if question.get("gold") and not known.issuperset(question.get("supporting_ids") or [""])
    }
    found = _passages_at({place for places in sought.values() for place in places}, kb)
    return [
        {**question, "places": [found.get(place, []) for place in sought[question["id"]]]}
        if question["id"] in sought
        else question
        for question in asked
    ]


def _passages_at(places: Collection[_Sought], kb: KnowledgeBase) -> dict[_Sought, list[str]]:
    """Return the ids of the passages at each place, in the order of storing."""
    by_title: defaultdict[str, list[_Sought]] = defaultdict(list)
    for place in places:
        by_title[place.title].append(place)

    @cache
    def untitled(source: str) -> list[_Sought]:
        return [place for place in by_title[""] if _is_from(source, place.source)]

    whole, partly = defaultdict[_Sought, list[str]](list), defaultdict[_Sought, list[str]](list)
    for passage in _passages(kb) if places else ():
        source = passage.get("source", "").replace("\\", "/")
        text = _comparable(f"{passage['title']}\n{passage['text']}")
        titles = {_comparable(title) for title in (passage["title"], *passage.get("headings", [])[:1]) if title}
        titled = [place for title in titles for place in by_title.get(title, ()) if _is_from(source, place.source)]
        for place in [*titled, *untitled(source)]:
            if (
                place.fragment in text
                or (place.source or place.title)
                and _comparable(passage["text"]) in place.fragment
            ):
                whole[place].append(passage["id"])
            elif place.longest in text:
                partly[place].append(passage["id"])
    return {**partly, **whole}


def _passages(kb: KnowledgeBase) -> Iterator[Passage]:
    ids = kb.ids()
    for begin in range(0, len(ids), _AT_ONCE):
        yield from kb.passages(ids[begin : begin + _AT_ONCE])


def _sought(place: Place) -> _Sought:
    fragment = place.get("contains", "")
    sentences = map(_comparable, _SENTENCE_END.split(fragment))
    source = place.get("source", "").replace("\\", "/")
    return _Sought(source, _comparable(place.get("title", "")), _comparable(fragment), max(sentences, key=len))


def _is_from(source: str, wanted: str) -> bool:
    """Return whether a source is the wanted one or ends with its path."""
    return not wanted or source == wanted or source.endswith(f"/{wanted.lstrip('/')}")


def _comparable(text: str) -> str:
    """Return a text without spaces, in lower case, and with quotes and dashes alike."""
    return "".join(unicodedata.normalize("NFKC", text.translate(_ALIKE)).casefold().split())
