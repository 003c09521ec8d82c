"""Finds the turns of transcripts and mails in a text, and who speaks or writes in each."""

import re
from collections import Counter
from typing import NamedTuple

_TIME = r"[\[(]?\d{1,2}:\d{2}(?::\d{2})?(?:[.,]\d{1,3})?(?: ?[AaPp]\.?[Mm]\.?)?[\])]?"
_NAME = r"[^\W\d_][^\s:*,;=<>|\[\](){}\"]{0,29}(?:[ \t][^\s:*,;=<>|\[\](){}\"]{1,29}){0,4}"
_SPOKEN = re.compile(
    rf"^[ \t]*(?:>[ \t]?)*(?:{_TIME}[ \t]*(?:[-\u2013][ \t]*)?)?(?:\*\*|__)?(?P<who>{_NAME})"
    rf"(?:[ \t]*(?:{_TIME}|\([^()\n]{{1,40}}\)))?(?:\*\*|__)?:(?:\*\*|__)?(?=[ \t]|$)",
    re.MULTILINE,
)
_ASKED = re.compile(r"^[ \t]*(?P<who>Q|A|THE COURT|THE WITNESS)[.:](?=[ \t])", re.MULTILINE)
_NAMED = re.compile(
    rf"^[ \t]*(?:{_TIME}[ \t]+(?P<after>{_NAME})"
    rf"|(?P<who>{_NAME})[ \t]{{0,9}}[,|\u2014\u2013-]?[ \t]{{1,9}}{_TIME})[ \t]*$",
    re.MULTILINE,
)
_SENT = re.compile(
    r"^(?P<label>(?P<who>From|Von|De|Da): .{1,200})\n(?:.{0,300}\n){0,5}?"
    r"(?:To|Date|Sent|Subject|Cc|An|Datum|Gesendet|Betreff|\u00c0|Objet|Envoy\u00e9|Para|Asunto|Oggetto): ",
    re.MULTILINE,
)
_QUOTED = re.compile(
    r"^(?P<label>(?:>[ \t]?)*(?P<who>(?:On|Am|Le|El|Il) .{5,150}"
    r"(?:wrote|schrieb.{0,60}|a \u00e9crit|escribi\u00f3|ha scritto)))\s?:$",
    re.MULTILINE,
)
_FEWEST = 3  # turns of a transcript, of two speakers, one of whom speaks again
_SHORT = 3  # letters of a word such as "van"
_MANY = 0.4  # of its paragraphs or lines: they begin a turn
_PARAGRAPH = re.compile(r"\S[^\n]*(?:\n[^\n]*\S[^\n]*)*")


class Turn(NamedTuple):
    """Where a turn begins, and the words that tell whose it is."""

    start: int
    label: str
    who: str


def turns_of(text: str) -> dict[int, str]:
    """Return the labels of turns by the places of the lines that begin with them; none in a text of another kind."""
    turns = [
        Turn(found.start(), found["label"], found["who"]) for kind in (_SENT, _QUOTED) for found in kind.finditer(text)
    ]
    for kind in (_SPOKEN, _ASKED, _NAMED):
        named = (Turn(found.start(), found[0].strip(), found[found.lastgroup or 0]) for found in kind.finditer(text))
        spoken = [turn for turn in named if _is_name(turn.who)]
        if _is_transcript(text, spoken):
            turns += spoken
            break
    return {turn.start: turn.label for turn in turns}


def _is_name(who: str) -> bool:
    """Return whether words are written like a name: "Ada Moss", "Speaker 1", "Prof. de Vries"."""
    return all(not word[0].islower() or len(word) <= _SHORT for word in who.split()) and not who[0].islower()


def _is_transcript(text: str, turns: list[Turn]) -> bool:
    speakers = Counter(turn.who for turn in turns)
    if len(turns) < _FEWEST or len(speakers) < 2 or max(speakers.values()) < 2:
        return False
    places = {turn.start for turn in turns}
    paragraphs = [found.start() for found in _PARAGRAPH.finditer(text)]
    beginning = sum(text.rfind("\n", 0, start) + 1 in places for start in paragraphs)
    return beginning >= _MANY * len(paragraphs) or len(turns) >= _MANY * (text.count("\n") + 1)
