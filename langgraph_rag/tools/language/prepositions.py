"""Reads prepositions with their phrases, and those that a sentence begins with."""

from dataclasses import replace

from langgraph_rag.tools.language.phrases import Phrase, joined, noun_phrase
from langgraph_rag.tools.language.tokens import Tokens
from langgraph_rag.tools.language.verbs import verb_at
from langgraph_rag.tools.language.word_classes import PERSONS

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
