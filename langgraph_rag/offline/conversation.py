"""Restates a question of a conversation: replaces pronouns by names, or repeats the last question for another name."""

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Any

from langgraph_rag.offline import Values
from langgraph_rag.offline.descriptions import descriptions
from langgraph_rag.offline.question import analyse
from langgraph_rag.offline.words import is_name, stems
from langgraph_rag.prompts.conversation import Utterance
from langgraph_rag.refusals import is_refusal
from langgraph_rag.tools.ingest.spans import DATE, spot, stop_words

_JOINED = re.compile(r"^(?:and|but|so|then)\b[, ]*", re.IGNORECASE)
_ABOUT = re.compile(r"(?:(?:and|but) )?(?:(?:what|how) about )?(?P<name>[^?]+?) *\?", re.IGNORECASE)
_PRONOUN = re.compile(r"\b(?:(?P<person>s?he|him|his|her)|its?|they|them|their)\b(?=\W*(?P<next>\w*))", re.IGNORECASE)
_OWNING = {"his", "her", "its", "their"}
_PERSON = {"person", "which of two"}  # kinds of questions whose answer may be a person
_BETWEEN_PERSONS = "wife mother brother cousin friend rival pupil taught knew met loved"  # and words of their families


def restate_question(values: Values) -> dict[str, Any]:
    """Return the question with the last name of the conversation; unchanged if it has a name or no pronoun.

    "And Orla Vint?" repeats the last question about somebody else.
    """
    about = _ABOUT.fullmatch(values["question"].strip())
    named = about is not None and [span.text for span in spot(about["name"])] == [about["name"]]
    if about and named and (again := _again(values["conversation"], about["name"])):
        return {"question": again}
    question = _JOINED.sub("", values["question"])
    question = question[:1].upper() + question[1:]
    pronoun = _PRONOUN.search(question)
    meant = _meant(values["conversation"], person=bool(pronoun and pronoun["person"])) if pronoun else []
    if not pronoun or not meant or _things(question):
        return {"question": values["question"]}
    return {"question": _PRONOUN.sub(lambda found: _named(found, meant[0]), question), "others": meant[1:]}


def _again(conversation: Sequence[Utterance], name: str) -> str:
    """Return the last question with another name in place of its name or pronoun; empty if it has several names."""
    asked = next((said["text"] for said in reversed(conversation) if said["speaker"] == "Person"), "")
    names = _things(asked)
    if len(names) == 1:
        return asked.replace(names[0], name)
    return "" if names else _JOINED.sub("", _PRONOUN.sub(lambda found: _named(found, name), asked))


def _meant(conversation: Sequence[Utterance], *, person: bool) -> list[str]:
    """Return what a pronoun can mean, of the last turn with such: the answer, then the names of a simple question."""
    for asked, answer in reversed(list(_turns(conversation))):
        of_person = analyse(asked).wants in _PERSON
        meant = [answer] if person == of_person and is_name(answer) and not is_refusal(answer) else []
        if not descriptions(asked) and (not (person and of_person) or _names_persons(asked)):
            meant += [name for name in _things(asked) if name not in meant]
        if meant:
            return meant
    return []


def _names_persons(asked: str) -> bool:
    """Return whether the names in a question for a person are of persons, too, and not of their works."""
    return bool(analyse(asked).pair) or not set(stems(_BETWEEN_PERSONS)).isdisjoint(stems(asked))


def _things(question: str) -> list[str]:
    """Return the names in a question that a pronoun can refer to, without dates."""
    return [name for name in analyse(question).names if not DATE.fullmatch(name)]


def _turns(conversation: Sequence[Utterance]) -> Iterator[tuple[str, str]]:
    for said, replied in pairwise(conversation):
        if (said["speaker"], replied["speaker"]) == ("Person", "Assistant"):
            yield said["text"], replied["text"]


def _named(pronoun: re.Match[str], name: str) -> str:
    word = pronoun[0].lower()
    owning = word in _OWNING and (word != "her" or pronoun["next"].lower() not in {"", *stop_words()})
    return f"{name}'s" if owning else name
