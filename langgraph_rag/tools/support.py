"""Find the sentences a text was written from."""

import re
from collections.abc import Sequence

from langgraph_rag.records import Evidence, Record
from langgraph_rag.tools.stop_words import stop_words
from langgraph_rag.tools.text import text_pipeline

_WORD = re.compile(r"\w+")
_LEAST_GAIN = 0.25  # of a statement's words that a sentence must add
_LEAST_COVER = 0.5  # of a statement's words that its sentences must have together
_MOST_SENTENCES = 3


def supporting_evidence(text: str, passages: Sequence[Record], step: int) -> list[Evidence]:
    """Return, for each sentence of a text, the sentences of passages that cover its words best.

    The title of a passage counts as part of each of its sentences. A second and third sentence are taken where each
    adds at least a quarter of the words; a sentence of the text that is not covered to the half has no evidence.
    """
    offered = [
        (_words(sentence) | _words(passage["title"]), passage, sentence)
        for passage in passages
        for sentence in passage["sentences"]
    ]
    found: dict[tuple[str, str], Evidence] = {}
    for line in text.splitlines():
        for statement in text_pipeline().sentences(line):
            for passage, sentence in _covering(_words(statement), offered):
                found[passage["id"], sentence] = Evidence(
                    triple=[], sentence=sentence, passage_id=passage["id"], title=passage["title"], step=step
                )
    return list(found.values())


def nearest_evidence(query: str, passage: Record, step: int) -> list[Evidence]:
    """Return the sentence of a passage that shares most words with a query; none where it has no sentences."""
    wanted = _words(query)
    best = max(passage["sentences"], key=lambda sentence: len(wanted & _words(sentence)), default="")
    entry = Evidence(triple=[], sentence=best, passage_id=passage["id"], title=passage["title"], step=step)
    return [entry] if best else []


def _covering(statement: set[str], offered: list[tuple[set[str], Record, str]]) -> list[tuple[Record, str]]:
    missing = set(statement)
    chosen: list[tuple[Record, str]] = []
    while offered and missing and len(chosen) < _MOST_SENTENCES:
        words, passage, sentence = max(offered, key=lambda offer: (len(missing & offer[0]), -len(offer[0])))
        if len(missing & words) < max(1.0, _LEAST_GAIN * len(statement)):
            break
        chosen.append((passage, sentence))
        missing -= words
    return chosen if len(missing) <= (1 - _LEAST_COVER) * len(statement) else []


def _words(text: str) -> set[str]:
    return {word for word in _WORD.findall(text.casefold()) if word not in stop_words()}
