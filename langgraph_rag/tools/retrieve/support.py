"""Finds the sentences that support a text."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from langgraph_rag.normal_forms import stands_in, triple_text, words_of
from langgraph_rag.records import Evidence, Record, Triple, evidence_of, page_of
from langgraph_rag.tools.ingest.spans import spot, stop_words
from langgraph_rag.tools.ingest.text import RULES, text_pipeline

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
    evidence: Iterable[Evidence], records: Iterable[Record], triples: Iterable[Triple], question: str, answer: str
) -> list[Evidence]:
    """Return evidence with the sources and pages of its passages; if it has no triple, with the best of its sentence.

    The best triple contains the answer, or else shares most words with the question.

    Args:
        evidence: the evidence; it stays unchanged if its passage is not among the records.
        records: the passages of the evidence.
        triples: the triples of these passages.
        question: the question.
        answer: the answer.
    """
    passages = {record["id"]: record for record in records}
    stated: defaultdict[tuple[str, int], list[list[str]]] = defaultdict(list)
    for entry in triples:
        for source in entry["sources"]:
            for position in source["sentences"]:
                stated[source["passage_id"], position].append(entry["triple"])
    wanted = _words(question)

    def worth(triple: list[str]) -> tuple[bool, int]:
        text = triple_text(triple)
        return stands_in(answer, text), len(wanted & _words(text))

    def complete(entry: Evidence) -> Evidence:
        if (record := passages.get(entry["passage_id"])) is None:
            return entry
        if not entry["triple"] and entry["sentence"] in record["sentences"]:
            place = record["id"], record["sentences"].index(entry["sentence"])
            entry = {**entry, "triple": max(stated[place], key=worth, default=[])}
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
