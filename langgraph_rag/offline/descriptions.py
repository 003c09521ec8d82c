"""Descriptions in a question, which refer to a thing without its name: "the architect of the Tolmar Bridge"."""

import re

from langgraph_rag.offline.question import PLACES, asking_word, joined, names_in
from langgraph_rag.offline.words import stems
from langgraph_rag.tools.ingest.spans import Span

_DESCRIBES = (
    r"(?:(?:in|on|at|of|by|to|from|for|with) wh(?:ich|om|ose)"
    r"|of|who|that|which|whose|by|where|containing|in|on|at|from|for|with)"
)
_DESCRIPTION = re.compile(rf"\b[Tt]he(?: [a-z][\w-]*){{1,4}}? {_DESCRIBES}\b")
_OWNED = re.compile(r"['’]s?(?: (?!(?:on|in|was|is|did|at|to|from|by|of|and|for|with|born|died?)\b)[a-z][\w-]*){1,3}")
_RELATIVE = re.compile(r"\b(?:who|that|which|whose|where)$")
_SAYS_NOTHING = re.compile(
    r"(?: (?:the|an?)(?: [a-z][\w-]*){1,3} (?:of|in|on|at|from|by|for|with))*(?: (?:the|an?))? ?"
)
_CLAUSE_END = re.compile(r"[,.;?]|$")
_MAIN_VERB = re.compile(  # up to the last word of "when did the man who ... die?" and "where was the man who ... born?"
    r".*\b(?:do|does|did)\b.*\b(?=[a-z]+\W*$)|.*\b(?:when|where) (?:is|was|are|were)\b.*\b(?=(?:born|\w+ed)\W*$)",
    re.IGNORECASE,
)
_SAID = re.compile(r" (?!(?:is|was|are|were|has|had)\b)\w+")
_STATED = re.compile(  # "where the mill is located", before the question about that place
    r" (?:is|was|are|were) (?:\w+ed|born|built|found|held|made|set)"
    r"(?= (?!(?:after|and|as|at|before|between|by|during|for|from|in|near|of|on|or|to|with)\b)[a-z])"
)
_BEING = re.compile(r" (?:is|was|are|were) (?:from|in|an? \w+)(?=\W*$)")  # "the country that Ada is from"
_GOVERNED = re.compile(r"\b(?:of|by|to|from|with) $")  # after these, a relative clause extends to the end
_ASKED_WHOLE = re.compile(
    r"^\W*(?:(?:who|what|which|where|when) (?:is|was|are|were) (?:the name of )?)?", re.IGNORECASE
)
_PERSON = re.compile(r"\b\w*(?:er|or|ress|ist|ect|man|people|person|wife|husband|son|child|spouse)s?\b")
_CLAUSE = re.compile(rf" ({_DESCRIBES})\b")
_OWNER = re.compile(r".*['’]s? ")


def descriptions(text: str) -> list[str]:
    """Return the descriptions in a question, innermost first, without one that is the whole question."""
    names, ends = _names(text), dict[int, int]()
    for number, name in enumerate(names):
        end = name.end + text.startswith(")", name.end)
        if owned := _OWNED.match(text, name.start + len(name.text)):
            end = ends[name.start] = owned.end()
        before = names[number - 1].end if number else 0
        for match in reversed(list(_DESCRIPTION.finditer(text, before, name.start))):
            if _RELATIVE.search(match[0]):
                end = _clause_end(text, match, name, end)
            ends[match.start()] = end
    if loose := next((m for m in reversed(list(_DESCRIPTION.finditer(text))) if _RELATIVE.search(m[0])), None):
        ends.setdefault(loose.start(), _last_end(text))
    longest = len(described(text)) - 2
    asking = asking_word(text)
    place = asking.start() if asking else -1
    spans = ((start, end) for start, end in sorted(ends.items(), reverse=True) if not start <= place < end)
    phrases = (text[start:end].strip(" ?") for start, end in spans)
    return [phrase for phrase in phrases if len(phrase) < longest]


def ask_for(description: str) -> str:
    """Return the question that asks what a description refers to."""
    head, *clause = _CLAUSE.split(description, maxsplit=1)
    kind = _OWNER.sub("", head)
    person = "who" in clause[:1] or (_PERSON.search(kind) and PLACES.isdisjoint(stems(kind)))
    return f"{'Who' if person else 'What'} is {description}?"


def described(question: str) -> str:
    """Return the description in a question that was made by `ask_for`."""
    return _ASKED_WHOLE.sub("", question).strip(" ?")


def put_for(description: str, name: str, text: str) -> str:
    """Replace a description by a name."""
    return name.join(re.split(re.escape(description), text, flags=re.IGNORECASE))


def _names(text: str) -> list[Span]:
    """Return the names in a question; with the title that follows, if a possessive belongs to both ("Ada's")."""
    names: list[Span] = []
    for name in names_in(text):
        owned = names and _OWNED.match(text, name.start + len(name.text))
        titled = owned and text[names[-1].end : name.start] == ", "
        names.append(joined(text, names.pop(), name) if titled else name)
    return names


def _clause_end(text: str, opening: re.Match[str], name: Span, end: int) -> int:
    """Return the end of a relative clause; without content before the name, it extends beyond it ("that Ada built")."""
    if _GOVERNED.search(text[: opening.start()]):
        return _last_end(text)
    if not _SAYS_NOTHING.fullmatch(text[opening.end() : name.start]):
        return end
    if stated := _STATED.match(text, end) or _BEING.match(text, end):
        return stated.end()
    whole, last = next(_CLAUSE_END.finditer(text, end)).start(), _last_end(text)
    return min(whole, last) if _SAID.search(text, end, last) else whole


def _last_end(text: str) -> int:
    """Return the latest end of relative clauses: before the main verb that ends the question."""
    return found.end() if (found := _MAIN_VERB.match(text)) else len(text)
