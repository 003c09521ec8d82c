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
_SUBJECTS, _OBJECTS = {"he", "she", "they"}, {"him", "her", "them"}
_KINDS = {
    word: forms[0] for forms in (["he", "him", "his"], ["she", "her"], ["it", "its"], ["they", "them", "their"])
    for word in forms
}  # fmt: skip
_PERSON = {"person", "which of two"}  # kinds of questions whose answer may be a person
_BETWEEN_PERSONS = (  # and words of their families
    "wife mother brother cousin friend rival pupil colleague taught knew met loved married killed succeeded replaced "
    "followed preceded mentored hired influenced inspired defeated"
)
_AND, _OF = re.compile(r",? and |, "), re.compile(r"\bof $", re.IGNORECASE)


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
    owners = _Owners(values["conversation"])
    restated = _PRONOUN.sub(owners.put, question)
    if restated == question or _things(question):
        return {"question": values["question"]}
    return {"question": restated, "others": owners.others()}


class _Owners:
    """Puts names for the pronouns of a question from left to right.

    "She" and "it" mean different ones, and so do "she" and "him"; of "she saw her", the second is another person.
    """

    def __init__(self, conversation: Sequence[Utterance]) -> None:
        self._meant = {person: _meant(conversation, person=person) for person in (True, False)}
        self._several = _several(conversation)
        self._put: dict[bool, list[str]] = {True: [], False: []}
        self._kinds: dict[bool, str] = {}
        self._subjects = set[str]()

    def put(self, found: re.Match[str]) -> str:
        """Return the name for a pronoun; the pronoun itself if nothing is left that it can mean."""
        word, person = found[0].lower(), bool(found["person"])
        kind = _KINDS[word]
        place = int(word in _OBJECTS and kind in self._subjects and not _owns(found))
        if word in _SUBJECTS:
            self._subjects.add(kind)
        if kind == "they" and (self._several or _OF.search(found.string[: found.start()])):
            return _named(found, self._several) if self._several else found[0]
        if self._kinds.setdefault(person, kind) != kind or place >= len(self._meant[person]):
            return found[0]
        name = self._meant[person][place]
        self._put[person].append(name)
        return _named(found, name)

    def others(self) -> list[str]:
        """Return what else the pronouns can mean."""
        put = {name for names in self._put.values() for name in names}
        kinds = {person for person, names in self._put.items() if names}
        kinds |= {True} if "they" in self._kinds.values() else set()  # of one whose sex is not told
        meant = dict.fromkeys(name for person in kinds for name in self._meant[person])
        return [name for name in meant if name not in put]


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


def _several(conversation: Sequence[Utterance]) -> str:
    """Return the persons or things of the last turn that "they" means, joined by "and"; empty if it has no several."""
    asked, answer = next(reversed(list(_turns(conversation))), ("", ""))
    answered = [part for part in _AND.split(answer) if is_name(part)]
    if len(answered) > 1:
        return answer
    names = _things(asked)
    if answered and len(names) == 1 and not descriptions(asked) and _names_persons(asked):
        return f"{names[0]} and {answer}"
    return " and ".join(names) if len(names) > 1 and set(answered) <= set(names) else ""


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
    return f"{name}'s" if _owns(pronoun) else name


def _owns(pronoun: re.Match[str]) -> bool:
    word = pronoun[0].lower()
    return word in _OWNING and (word != "her" or pronoun["next"].lower() not in {"", *stop_words()})
