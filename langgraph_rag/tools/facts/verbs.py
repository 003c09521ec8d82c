"""Verbs and prepositions, as the rules use them."""

from dataclasses import dataclass, replace

from langgraph_rag.tools.facts.phrases import Phrase, joined, noun_phrase
from langgraph_rag.tools.facts.words import PARTICLES, PERSONS, Tokens, tag_of

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


Aside = tuple[str, Phrase]


def prepositional(tokens: Tokens, place: int) -> tuple[str, list[Phrase], int] | None:
    """Read a preposition with its phrases, unless a clause follows it: "after the mill burned"."""
    preposition = tokens[place].text.lower()
    phrase = noun_phrase(tokens, place + 1)
    if not phrase:
        return None
    acts = (
        phrase.kind == "noun" and tokens.is_(place + 1, "word", "past") and not PERSONS.search(tokens[place + 1].text)
    )
    if preposition == "to" and acts:
        return None  # before a verb
    other = noun_phrase(tokens, phrase.end + 1) if tokens[phrase.end].text in {"to", "until", "till", "and"} else None
    if preposition in {"from", "between"} and other and {phrase.kind, other.kind} <= {"date", "number"}:
        text = tokens.text(phrase.start, other.end)
        return preposition, [replace(phrase, text=text, end=other.end)], other.end
    if phrase.of and phrase.of.kind == "name":  # "in the east of Ost, Norland"
        whole, end = joined(tokens, phrase.of, "of")
        if len(whole) == 1 and end > phrase.end:
            phrase = replace(phrase, of=whole[0], text=tokens.text(phrase.end - 1, end), end=end)
    phrases, end = joined(tokens, phrase, preposition)
    if preposition == "between" and len(phrases) > 1:
        phrases = [replace(phrase, text=tokens.text(phrase.start + bool(phrase.determiner), end), before="", end=end)]
    if preposition in {"after", "before", "until", "till", "since", "as", "like", "than"} and verb_at(tokens, end):
        return None
    if phrase.kind == "pronoun" and preposition not in {"of"} and verb_at(tokens, end):
        return None
    return preposition, phrases, end


def opening(tokens: Tokens, place: int) -> tuple[int, list[tuple[str, Phrase]]] | None:
    """Read "In 1907," or "From 1920 to 1930", which tells more of the main clause."""
    if tokens.is_(place, "date") and (tokens.is_(place + 1, "comma") or noun_phrase(tokens, place + 1)):
        return (
            (place + 1 + tokens.is_(place + 1, "comma"), [("on", plain(tokens, place))])
            if tokens.is_(place + 1, "comma")
            else None
        )
    if not tokens.is_(place, "prep") or not (read := prepositional(tokens, place)):
        return None
    preposition, phrases, end = read
    asides = [
        (preposition, replace(phrase, cut=False)) for phrase in phrases[:1] if _tells_when_or_where(preposition, phrase)
    ]
    while tokens.is_(end, "prep") and (more := prepositional(tokens, end)):
        end = more[2]
    while tokens.is_(end, "comma"):
        end += 1
        if tokens.is_(end, "prep") and (more := prepositional(tokens, end)):
            asides += [(more[0], phrase) for phrase in more[1][:1] if _tells_when_or_where(more[0], phrase)]
            end = more[2]
        elif (
            not (noun := noun_phrase(tokens, end, acts=True))
            or not tokens.is_(noun.end, "comma")
            or noun.kind != "name"
        ):
            break
        elif tokens[noun.end + 1].tag in {"name", "det", "pron", "poss"} and not verb_at(tokens, noun.end + 1):
            end = noun.end  # "In Ost, Norland, the mill"
        else:
            break
    return end, asides


def _tells_when_or_where(preposition: str, phrase: Phrase) -> bool:
    dated = phrase.kind == "date" or any(map(str.isdigit, phrase.text))
    times = {
        "in",
        "on",
        "by",
        "during",
        "until",
        "till",
        "between",
        "from",
        "since",
        "after",
        "before",
        "at",
        "throughout",
    }
    return preposition in times and not phrase.owned and (dated or phrase.kind == "name")


def distance(tokens: Tokens, phrase: Phrase) -> tuple[str, Phrase] | None:
    """Read "four miles (6 km) west of Ost"."""
    at = tokens.after_brackets(phrase.end)
    way = tokens[at].text.lower()
    if not way.startswith(("north", "south", "east", "west")) or tokens[at + 1].text not in {"of", "from"}:
        return None
    place = noun_phrase(tokens, at + 2)
    return (f"{phrase.text} {way} {tokens[at + 1].text}", place) if place else None


def plain(tokens: Tokens, place: int) -> Phrase:
    """Return a single token as a phrase."""
    token = tokens[place]
    return Phrase(place, place + 1, token.tag, token.text, token.text)
