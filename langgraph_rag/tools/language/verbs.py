"""Reads groups of auxiliaries and a verb: "was later also built", "had sold"."""

from dataclasses import dataclass

from langgraph_rag.tools.language.phrases import noun_phrase
from langgraph_rag.tools.language.tokens import Tokens
from langgraph_rag.tools.language.word_classes import PARTICLES, PERSONS, tag_of

_SKIPPED = frozenset(
    "nearly about almost approximately also then subsequently eventually later thereafter therefore thus hence "
    "however too".split()
)
REPORTS = frozenset(
    "said says say claimed claims claim believed believes believe thought thinks think alleged alleges reported "
    "reports denied denies deny suggested suggests suggest argued argues argue estimated rumored rumoured "
    "supposed speculated hoped hopes planned plans expected expects intended intends proposed proposes "
    "considered refused failed fails declined tried attempted wanted wants wished threatened doubted doubts "
    "likely scheduled assumed assumes felt insisted insists predicted predicts accused asked".split()
)
TWO_OBJECTS = frozenset(
    "born elected appointed named called made crowned declared awarded given ordained nominated renamed titled "
    "entitled paid offered granted dubbed nicknamed voted".split()
)
ALIKE = frozenset("set put cut hit read run let cost spread shut split burst cast".split())  # also in the present
_BECOMES = frozenset("became become remained".split())


@dataclass(frozen=True, slots=True)
class Verb:
    """A group of auxiliaries and a verb up to the token `end`; `kind` is "is", "has", "passive" or "active"."""

    end: int
    text: str
    kind: str
    word: str
    states: bool

    @property
    def is_present(self) -> bool:
        """Return whether it tells what is so now, which what goes before or after it may limit."""
        first = self.text.split(" ", 1)[0]
        return first in {"is", "are"} or (first == self.word and tag_of(first) in {"pres", "have"})


def verb_at(tokens: Tokens, place: int) -> Verb | None:  # noqa: C901
    """Return the verb group that begins at a place."""
    begin = place
    states, words, kind = True, list[str](), ""
    while tokens.is_(place, "adv", "neg", "be", "have", "do", "modal") or (
        kind and tokens[place].text == "first" and tokens.is_(place + 1, "past")
    ):
        tag, text = tokens[place].tag, tokens[place].text.lower()
        states = (
            states
            and tag not in {"neg", "modal", "do"}
            and text not in {"perhaps", "possibly", "probably", "allegedly", "reportedly", "supposedly"}
        )
        if tag not in {"neg", "adv"}:
            kind = {"be": "is", "have": "has"}.get(tag, "active")
        if text not in _SKIPPED:
            words.append(text)
        place += 1
    tag, word = tokens[place].tag, tokens[place].text.lower()
    if place and tag == "past" and tokens[place].text[0].isupper() and not tokens.is_(place - 1, "stop"):
        return None  # "SET_NULL Set the key"
    if tag == "past" and word in ALIKE and not kind and tokens.is_(place + 1, "word"):
        return None  # "see set term"
    if tag == "past" and not (kind == "is" and tokens.is_(place + 1, "word") and word not in TWO_OBJECTS):
        kind = "passive" if kind == "is" else "is" if word in _BECOMES else "active"
        words.append(word)
        place += 1
        if tokens.is_(place, "and") and tokens.is_(place + 1, "past") and not tokens.is_(place + 2, "det", "name"):
            words += [tokens[place].text, tokens[place + 1].text.lower()]
            place += 2
    elif (
        (
            tag == "pres"
            and not kind
            and tokens.is_(
                place + 1,
                "det",
                "name",
                "num",
                "poss",
                "prep",
                "date",
                "word",
                "adv",
                "past",
                "ing",
                "rel",
                "sub",
                "stop",
            )
        )
        or tag == "ing"
        and kind == "is"
        and not tokens.is_(place + 1, "word")
    ):
        kind = "active"
        words.append(word)
        place += 1
    elif not kind or place == begin or kind == "active":
        return Verb(place, " ".join(words), "active", "", states=False) if kind and place > begin else None
    else:
        word = words[-1] if words else ""
    if (
        kind in {"active", "passive"} and tokens[place].text in PARTICLES and tokens.is_(place, "word", "adv", "prep")
    ) and (not noun_phrase(tokens, place + 1) or tokens.is_(place + 1, "prep")):
        words.append(tokens[place].text)
        place += 1
    if word in REPORTS and (tokens.is_(place, "sub", "to") or tokens[place].text in {"that", "to", "by"}):
        states = False
    if (
        tokens[place].text == "to"
        and not tokens.is_(place + 1, "name", "det", "date", "poss", "num", "pron")
        and not tokens.is_(place + 2, "name")
        and not PERSONS.search(tokens[place + 1].text)
    ):
        states = states and kind == "passive" and False
    return Verb(place, " ".join(words), kind, word, states)
