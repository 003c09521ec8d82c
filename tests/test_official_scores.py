"""Our figures beside those of the sets' own scripts, whose rules are written down here, where they differ."""

import re
import string
from collections import Counter
from collections.abc import Callable
from typing import Literal, NamedTuple

import pytest
from pages import DOCS, check_part, table

from langgraph_rag.evaluation.metrics import contains, exact_match, f1, recall_at
from langgraph_rag.evaluation.questions import Question
from langgraph_rag.evaluation.scoring import scored, unanswered
from langgraph_rag.refusals import UNANSWERABLE

CLOSED = {"yes", "no", "noanswer"}


def normal(text: str) -> str:
    """Lower case, ASCII punctuation, articles, spaces: the rule of SQuAD's script, which all others took over."""
    kept = "".join(letter for letter in text.lower() if letter not in string.punctuation)
    return " ".join(re.sub(r"\b(a|an|the)\b", " ", kept).split())


def their_em(answer: str, gold: str) -> float:
    return float(normal(answer) == normal(gold))


def squad_f1(answer: str, gold: str) -> float:
    """SQuAD, MuSiQue, HippoRAG: all answers by their words."""
    said, wanted = normal(answer).split(), normal(gold).split()
    return 2 * (Counter(said) & Counter(wanted)).total() / (len(said) + len(wanted)) if said or wanted else 1.0


def hotpot_f1(answer: str, gold: str) -> float:
    """HotpotQA, 2WikiMultiHopQA, FlashRAG: yes and no are right or wrong as a whole, and nothing is always wrong."""
    if normal(answer) != normal(gold) and not CLOSED.isdisjoint((normal(answer), normal(gold))):
        return 0.0
    return squad_f1(answer, gold) if normal(gold) else 0.0


def flashrag_acc(answer: str, gold: str) -> float:
    """FlashRAG: the gold answer is a part of the text, also of a word."""
    return float(normal(gold) in normal(answer))


def multihop_rag_acc(answer: str, gold: str) -> float:
    """MultiHop-RAG: one word in common, split at spaces, is enough."""
    return float(not set(answer.lower().split()).isdisjoint(gold.lower().split()))


def musique_em(answer: str, gold: str) -> float | None:
    """MuSiQue: questions without an answer in their paragraphs count only in the figures of groups."""
    return None if gold == UNANSWERABLE else their_em(answer, gold)


def of_question(figure: Literal["em", "acc"]) -> Callable[[str, str], float]:
    def score(answer: str, gold: str) -> float:
        question = Question(id="1", question="?", answers=[gold])
        return scored({**unanswered(question), "answer": answer}, question)[figure] or 0.0

    return score


def ours(figure: Callable[[str, list[str]], float]) -> Callable[[str, str], float]:
    return lambda answer, gold: figure(answer, [gold])


class Difference(NamedTuple):
    script: str
    figure: str
    what: str
    gold: str
    answer: str
    theirs: Callable[[str, str], float | None]
    ours: Callable[[str, str], float]


DIFFERENCES = [
    Difference("All", "EM", "Only ASCII punctuation is left out; letters with accents of their own "
               "are others", "O’Neil’s Café", "O'Neil's Cafe\u0301", their_em, ours(exact_match)),
    Difference("All", "F1", "Texts without spaces are one word", "横滨市", "横滨", hotpot_f1,
               ours(f1)),
    Difference("MuSiQue, HippoRAG, SQuAD", "F1", "Yes and no count by their words; we follow HotpotQA", "yes",
               "yes, both are", squad_f1, ours(f1)),
    Difference("All but MuSiQue, SQuAD", "F1", "Articles alone are no answer", "The The", "The The", hotpot_f1,
               ours(f1)),
    Difference("FlashRAG", "acc", "Parts of words count; here only whole words", "Norman", "in Normandy", flashrag_acc,
               ours(contains)),
    Difference("MultiHop-RAG", "accuracy", "One word in common is enough; here Acc needs the whole answer",
               "The Halden Post", "the Salt Road", multihop_rag_acc, ours(contains)),
    Difference("MultiHop-RAG", "accuracy", "A refusal must share a word; here any wording counts",
               "Insufficient information.", "The documents do not say.", multihop_rag_acc, of_question("acc")),
    Difference("MuSiQue-Full", "EM, F1", "Only answerable questions count; here refusals, too", UNANSWERABLE,
               "The documents do not say.", musique_em, of_question("em")),
]  # fmt: skip


@pytest.mark.parametrize("one", DIFFERENCES, ids=lambda one: f"{one.script}, {one.figure}")
def test_scores_differ_from_the_official_ones_as_the_documentation_says(one: Difference) -> None:
    assert one.theirs(one.answer, one.gold) != one.ours(one.answer, one.gold)


def in_percent(score: float | None) -> str:
    return "–" if score is None else f"{100 * score:.0f}"


def test_the_documentation_shows_the_scores_that_differ() -> None:
    head = ["Script", "Figure", "What differs", "Gold → answer", "Theirs", "Here"]
    rows = [
        [one.script, one.figure, one.what, f"{one.gold} → {one.answer}",
         *(in_percent(score(one.answer, one.gold)) for score in (one.theirs, one.ours))]
        for one in DIFFERENCES
    ]  # fmt: skip

    check_part(DOCS / "evaluation.md", "scorers", table(head, rows))


@pytest.mark.parametrize(
    ("answer", "gold"),
    [
        ("The  Director-General, a.k.a. 'An Owl'", "director general aka owl"),
        ("Harriet Vane of Kell", "Vane"),
        ("yes, both", "yes"),
        ("No.", "no"),
        ("1914-1918", "1914–1918"),
        ("", "Kell"),
    ],
)
def test_all_other_scores_are_those_of_hotpotqas_script(answer: str, gold: str) -> None:
    assert exact_match(answer, [gold]) == their_em(answer, gold)
    assert f1(answer, [gold]) == pytest.approx(hotpot_f1(answer, gold))


def test_recall_is_hipporags_where_no_gold_passage_is_named_twice() -> None:
    found, gold = ["p3", "p1", "p2", "p4"], ["p1", "p4", "p1"]

    for k in (1, 2, 4):
        assert recall_at(found, gold, k) == len({*found[:k]} & {*gold}) / len({*gold})
