"""Scores of one question: of the answer as in the official SQuAD, HotpotQA and MuSiQue scripts, and of retrieval.

Where the scripts differ, these scores follow HotpotQA's: yes, no and noanswer are right or wrong as a whole. Beyond
ASCII, they go further than the scripts, as MLQA's does (Lewis et al. 2020): no punctuation counts except dashes.
"""

import re
import string
import unicodedata
from collections import Counter
from collections.abc import Sequence

from langgraph_rag.normal_forms import apart
from langgraph_rag.refusals import UNANSWERABLE, is_refusal

_LETTER_APOSTROPHE = "\u02bc"
_MARKS = {"Pc", "Ps", "Pe", "Pi", "Pf", "Po"}  # all but dashes, as in "1914–1918"
_PUNCTUATION = dict.fromkeys(
    [
        *map(ord, string.punctuation + _LETTER_APOSTROPHE),
        *(code for code in range(0x80, 0x10000) if unicodedata.category(chr(code)) in _MARKS),
    ]
)
_ARTICLES = re.compile(r"\b(?:a|an|the)\b")
_CLOSED_ANSWERS = {"yes", "no", "noanswer"}


def normalise_answer(text: str) -> str:
    """Lowercase a text, then remove punctuation, then articles, then extra spaces.

    The order matters: an article is replaced by a space, punctuation by nothing. NFKC comes first: it combines letters
    and accents, and unifies different encodings of a character. It does not change ASCII. In scripts without spaces,
    each character is a token.

    >>> normalise_answer("The  Director-General, a.k.a. 'An Owl'")
    'directorgeneral aka owl'
    >>> normalise_answer("O\u2019Neil, Zoe\u0308") == normalise_answer("O'Neil, Zo\u00eb")
    True
    >>> normalise_answer("\u6a2a\u6ee8\u5e02\u3002")
    '\u6a2a \u6ee8 \u5e02'
    """
    composed = unicodedata.normalize("NFKC", text)
    return " ".join(apart(_ARTICLES.sub(" ", composed.casefold().translate(_PUNCTUATION))).split())


def exact_match(prediction: str, answers: Sequence[str]) -> float:
    """Return 1.0 if the normalised prediction is one of the normalised gold answers, else 0.0.

    Raises:
        ValueError: when there is no gold answer.

    >>> exact_match("the Halden Ferry.", ["Kell", "Halden ferry"])
    1.0
    """
    return float(normalise_answer(prediction) in _normalised(answers))


def f1(prediction: str, answers: Sequence[str]) -> float:
    """Return the harmonic mean of token precision and recall, with the best gold answer.

    As in HotpotQA, yes, no and noanswer are right or wrong as a whole.

    Raises:
        ValueError: when there is no gold answer.

    >>> f1("Harriet Vane of Kell", ["Kell Vane", "Vane"])
    0.6666666666666666
    >>> f1("Yes.", ["yes"]), f1("yes, both", ["yes"]), f1("no", ["no man's land"])
    (1.0, 0.0, 0.0)
    """
    return max(_token_f1(normalise_answer(prediction), answer) for answer in _normalised(answers))


def is_closed(answer: str) -> bool:
    """Return whether an answer is "yes" or "no" (or "noanswer", as HotpotQA's metrics have it).

    >>> is_closed("Yes."), is_closed("no man's land")
    (True, False)
    """
    return normalise_answer(answer) in _CLOSED_ANSWERS


def contains(prediction: str, answers: Sequence[str]) -> float:
    """Return 1.0 if the prediction contains the tokens of a gold answer in sequence, else 0.0.

    Raises:
        ValueError: when there is no gold answer.

    >>> contains("It was the Halden Ferry, in 1883", ["Halden ferry"]), contains("Normandy", ["Norman"])
    (1.0, 0.0)
    """
    padded = f" {normalise_answer(prediction)} "
    return float(any(f" {answer} " in padded for answer in _normalised(answers)))


def refused_rightly(prediction: str, answers: Sequence[str]) -> str:
    """Return the gold answer that is a refusal if the prediction is one, in any wording; else an empty text.

    Gold answers that are one word, such as "none", may answer a question: of these only "unanswerable" is a refusal.

    >>> refused_rightly("The documents do not say.", ["Insufficient information."])
    'Insufficient information.'
    """
    refusals = (
        gold for gold in answers if is_refusal(gold) and (" " in gold or normalise_answer(gold) == UNANSWERABLE)
    )
    return next(refusals, "") if is_refusal(prediction) else ""


def recall_at(ids: Sequence[str], gold: Sequence[str | Sequence[str]], k: int) -> float | None:
    """Return the share of the gold passages that are among the first k ids; None if there are none.

    Instead of the id of a gold passage, there may be those of all passages at a gold place, of which one is enough.

    >>> recall_at(["p3", "p1", "p2"], ["p1", "p2"], 2), recall_at(["p3", "p1", "p2"], [["p1", "p3"], []], 2)
    (0.5, 0.5)
    """
    found = _found(ids[:k], gold)
    return sum(found) / len(found) if found else None


def all_at(ids: Sequence[str], gold: Sequence[str | Sequence[str]], k: int) -> float | None:
    """Return 1.0 if all gold passages are among the first k ids, else 0.0; None if there are none.

    >>> all_at(["p3", "p1", "p2"], ["p1", "p2"], 2), all_at(["p3", "p1", "p2"], ["p1", "p2"], 3)
    (0.0, 1.0)
    """
    found = _found(ids[:k], gold)
    return float(all(found)) if found else None


def _found(ids: Sequence[str], gold: Sequence[str | Sequence[str]]) -> list[bool]:
    """Return for each gold passage, once, and each gold place whether it is found."""
    passages = [[id_] for id_ in dict.fromkeys(one for one in gold if isinstance(one, str))]
    places = [one for one in gold if not isinstance(one, str)]
    return [not set(ids).isdisjoint(one) for one in [*passages, *places]]


def _normalised(answers: Sequence[str]) -> list[str]:
    if not answers:
        raise ValueError("expected at least one gold answer, got none")
    return [normalise_answer(answer) for answer in answers]


def _token_f1(prediction: str, answer: str) -> float:
    if prediction == answer:
        return 1.0
    if not _CLOSED_ANSWERS.isdisjoint((prediction, answer)):
        return 0.0
    predicted, wanted = Counter(prediction.split()), Counter(answer.split())
    return 2 * (predicted & wanted).total() / (predicted.total() + wanted.total())
