"""Decides what a name, a pronoun or "the film" refers to in a passage: its topic, another name, or nothing clear."""

import re
from collections.abc import Sequence
from functools import cache

from langgraph_rag.normal_forms import normalise
from langgraph_rag.tools.facts.parsing import is_identifier
from langgraph_rag.tools.facts.topics import life_dates, loosely, topic_of
from langgraph_rag.tools.facts.words import PERSONS
from langgraph_rag.tools.ingest.spans import spot, stop_words

_LETTERS = [chr(code) for code in range(0x3000)]  # of all scripts that have capitals
UPPER = f"[{''.join(filter(str.isupper, _LETTERS))}]"

_PERSON = {"he": "he", "his": "he", "him": "he", "she": "she", "her": "she", "it": "it", "its": "it"}
_MEANT_ALIKE = {
    "he": frozenset("father brother son husband grandfather uncle nephew".split()),
    "she": frozenset("mother sister daughter wife grandmother aunt niece".split()),
}
_NO_PART = re.compile(
    r"(?:er|or|ist|ian|man|men|people|child|children|boy|girl|king|queen|country|world|war|year|day|month|week|time"
    r"|century|others|rest|end|latter|former|first|second|third|one|two|result|reason|same|event|game|match|band|team)s?$"
)
_PARTS = frozenset(  # which a text about one thing means by "the", also after it told of others
    "music score screenplay script story plot soundtrack lyrics cast cinematography photography editing "
    "population capital headquarters wreck hull name title design construction interior exterior roof tower "
    "lamp bell economy climate area".split()
)
_EVENT = re.compile(
    r".*(?:tion|sion|ment|ing|ship)|Battle|Siege|Murder|Death|Trial|Fall|War|History|Life|List|Timeline"
)
_IS_A = re.compile(r"\b(?:is|was|are|were)\s+(?:an?|the|one of the)\s+([^.;()]+)")
_NOUN_END = re.compile(r",|\s(?:and|of|in|from|for|at|by|on|who|which|that|with|to|known|born|based|best|active)\b")
_WORD = re.compile(r"\w+")
_MOST = 0.6  # share of the words of a name, of what is no person, that a short form of it has
_SURELY = 2  # times as often as the other, before a pronoun is taken for that of the topic
_GLOSS = re.compile(r"(?P<before>[^()]{0,40})\([^()]*\)")
_BEFORE_LIFE = re.compile(r"[^()]{0,60}?(?=\()")
_GENERATIONS = frozenset("ii iii iv jr sr".split())
_COURTESY = frozenset("sir lord lady dame mr mrs miss ms dr prof professor".split())
_DEFINED = re.compile(r"\W*(?:\([^()]*\))*,?\s+(?:is|was|are|were)\s+(?:an?|the|one of)\b")
_OTHER_NAME = (
    r"(?P<other>[^,;()]{2,80}?),? (?:[a-z]+ ){0,4}(?:known|called|titled|released|published|marketed|named|aired)"
    r" (?:in [^,;()]{2,40} )?(?:just |simply )?as "
)
_ALIAS = re.compile(
    r"(?:[^\w()]*\([^()]*\))*(?:,?\s+(?:also|better|best|more|popularly|commonly|widely|professionally|formerly|who|is|was|and"
    r"|now|often|simply|known|credited|writing|performed|under|by|\(|his|her|the))*,?\s*\(?\b(?:alias|known|called|nicknamed"
    r"|named|or|born|pseudonym|pen name|stage name|name)\b(?:\s(?!and\b)[a-z]+){0,6}?"
    r"\s+(?P<name>(?:[a-z]+\s){0,4}[^\W\d_a-z][^,.;()]*|[\"“][^\"”]*)"
)


class Topic:
    """The topic of a passage, and what refers to it while its sentences are read in order.

    It is the whole title, with what tells it from others of its name: `Nine Tides (1931 film)`.
    """

    def __init__(self, title: str, sentences: Sequence[str]) -> None:
        """Take the title, and the gender of the pronouns that the sentences use most."""
        self.title, self.short = title.strip(), topic_of(title) if not title.startswith("List of ") else ""
        qualifier = title.strip().removeprefix(self.short).strip(" ()").split(",")[0]
        last = self.short.split()[-1:] if len(self.short.split()) > 1 else []
        form = loosely(self.short)
        self._form = re.compile(rf"(?:The |the |A )?{form}(?!\w)", re.IGNORECASE)
        self._other = re.compile(rf"{_OTHER_NAME}[\"“]?{form}(?!\w)[\"”]?(?=[\s,(])")
        self.named = {word.lower() for word in last if word.isalpha()}  # "the mill" is the Halden Mill
        self.nouns = {word for word in qualifier.split()[-1:] if word.islower()} | self.named
        self.is_identifier = is_identifier(self.short) or is_identifier(self.title)
        words = self.short.split()
        self.is_name = bool(words) and not any(word.islower() for word in words if len(word) > 3)
        if not self.is_name:
            self.nouns -= self.named
            self.named = set()
        a_name = len(words) > 1 and all(word[0].isupper() for word in words if word[0].isalpha())
        self.focused, self.owned, self.meant, self.lost = False, False, False, not a_name
        self.names = {
            name.text for sentence in sentences for name in spot(sentence) if name.start and name.kind == "name"
        }
        self.words = {word for sentence in sentences for word in _WORD.findall(sentence) if word.islower()}
        counts = {"he": 0, "she": 0, "it": 0}
        for word in _WORD.findall(" ".join(sentences).lower()):
            if word in _PERSON:
                counts[_PERSON[word]] += 1
        (less, _), (more, gender) = sorted([(counts["he"], "he"), (counts["she"], "she")])
        self.is_person = self._may_live(sentences[0] if sentences else "") and more > 0
        self.is_person = self.is_person or bool(sentences and _is_dated(sentences[0]))
        self.pronoun = gender if more and more >= _SURELY * less else ""

    def _may_live(self, opening: str) -> bool:
        """Return whether the topic may be a person, by its name and its definition."""
        first = self.short.split(" ")[0]
        is_ship = len(first) > 1 and first.isupper()  # "SS Merrilow"
        if " of " in self.short and _EVENT.fullmatch(first):
            return False
        if not self.is_name or first == "The" or is_ship or any(map(str.isdigit, self.short)):
            return False
        defined = _IS_A.search(opening)
        noun = _NOUN_END.split(defined[1])[0].split()[-1:] if defined else []
        return not noun or PERSONS.search(noun[0].lower()) is not None

    def is_named(self, name: str) -> bool:
        """Return whether a name is the topic's, or another form of it."""
        if not self.short or normalise(name) == normalise(self.short):
            return bool(self.short)
        if not self.is_name or not same_name(self.short, name):
            return False  # "Kennedy" is not the "Timeline of the presidency of Kennedy"
        return self.is_person or _MOST * len(content_words(self.short)) <= len(content_words(name))

    def begins(self, sentence: str, start: int = 0) -> int:
        """Return where the topic's name ends in a sentence, if it begins there; 0 if it does not."""
        found = self._form.match(sentence, start) if self.short else None
        return found.end() if found else 0

    def introduced(self, sentence: str) -> tuple[str, int] | None:
        """Return the other name in "Die Flut, released as Nine Tides", with where the topic's name ends."""
        found = self._other.match(sentence) if self.short else None
        return (found["other"], found.end()) if found else None

    def subject(self, name: str) -> str:
        """Return the name to store for a name that is a subject."""
        return self.title if self.is_named(name) else name

    def of_pronoun(self, word: str) -> str:
        """Return the topic for a pronoun that surely means it, or nothing."""
        person = _PERSON.get(word, "")
        if person in {"he", "she"} and not self.is_person:
            return ""
        if person == "it":
            known = self.focused or (word == "its" and self.owned)
            return self.title if self.meant and known and not self.is_person else ""
        return self.title if person and person == self.pronoun and not self.lost else ""

    def goes_on(self, heads: Sequence[str], noun: str) -> None:
        """Note what a sentence was about: names, or with a noun what belongs to them; no names if that is unclear."""
        own = self.title in heads
        self.focused, self.owned = own and not noun, own
        if self.focused:
            self.meant, self.lost = True, False
        elif heads and not own:
            self.lost = True

    def meets(self, noun: str) -> None:
        """Note a relative: after "His father was a smith", "he" may mean either."""
        if noun.split()[-1] in _MEANT_ALIKE.get(self.pronoun, ()):
            self.loses()

    def is_unlike(self, noun: str) -> bool:
        """Return whether a relative has a pronoun that cannot mean the topic: the father of a woman."""
        others = (alike for pronoun, alike in _MEANT_ALIKE.items() if pronoun != self.pronoun)
        return bool(self.pronoun) and any(noun.split()[-1] in alike for alike in others)

    def loses(self) -> None:
        """Note that a pronoun can mean something that is not known."""
        self.focused, self.owned, self.lost = False, False, True

    def of_object(self, word: str, heads: Sequence[str]) -> str:
        """Return the topic for "it" or "him" where somebody else acts, or nothing."""
        person = _PERSON.get(word, "")
        fits = person == (self.pronoun if self.is_person else "it")
        return self.title if self.meant and self.focused and person and fits and self.title not in heads else ""

    def of_noun(self, noun: str) -> str:
        """Return the topic for "the film", if its definition or its name says that it is one."""
        known = noun in self.nouns if self.meant else noun in self.named
        return self.title if known else ""

    def has_part(self, noun: str) -> bool:
        """Return whether "the music" is surely that of the topic: of a thing that the sentence before was about."""
        words = noun.split()
        own = (
            self.meant and self.is_name and not self.is_person and (self.owned or bool(_PARTS.intersection(words[-1:])))
        )
        return own and 0 < len(words) <= 2 and noun.islower() and not _NO_PART.search(words[-1])

    def defined(self, text: str) -> None:
        """Learn from "is a silent film" of the topic that "the film" means it."""
        for part in re.split(r",| and | or ", text):
            words = part.split(" of ")[0].split()
            if words and words[-1].islower():
                self.nouns.add(words[-1])

    def opens_with(self, name: str, sentence: str, end: int) -> bool:
        """Return whether a first sentence introduces its subject, which ends there, as the topic."""
        return self.is_named(name) or (self.is_name and _is_introduced(self.short, end, sentence))


def _is_introduced(topic: str, end: int, sentence: str) -> bool:
    """Return whether a sentence introduces its subject as the topic: `Ida "Ink" Strand (born 1903)`, alias Ink."""
    for span in spot(sentence):
        if span.start >= end and span.kind == "name" and not sentence[end : span.start].strip():
            end = span.end
    words, named = content_words(topic), content_words(sentence[:end])
    if named[-1:] and named[-1] in _GENERATIONS and words[-1:] != named[-1:]:
        named.pop()  # "Bo Ray III" is introduced as Bo Ray
    alias, gloss = _ALIAS.match(sentence, end), _GLOSS.match(sentence, end)
    if alias and set(words) & set(content_words(alias["name"])):
        return True
    if gloss and normalise(topic) in normalise(gloss[0]):
        return True
    if normalise(topic) in normalise(sentence[end:]):
        return False
    whole = words[-1:] == named[-1:] and (words[:1] == named[:1] or set(words) <= set(named))
    longer = len(words) > 1 and words == named[: len(words)]  # "Senn Brewery Ltd is a brewery"
    return bool(_is_dated(sentence, end) and set(words) & set(named)) or (
        (whole or longer) and _DEFINED.match(sentence, end) is not None
    )


def _is_dated(sentence: str, start: int = 0) -> bool:
    """Return whether dates of a life follow a name in brackets."""
    found = _BEFORE_LIFE.match(sentence, start)
    return found is not None and any(life_dates(sentence[found.end() :]))


def same_name(known: str, name: str) -> bool:
    """Return whether a name is another form of a known one: "Kell" or "Emil J. Kell" of "Emil Kell".

    A longer name with another beginning or end is a different one: "Emil Kell Street", "New Ost".
    """
    words, others = content_words(known), content_words(name)
    if len(others) > 1 and others[0] in _COURTESY:
        others = others[1:]
    longer = set(words) <= set(others) and words[:1] == others[:1] and words[-1:] == others[-1:]
    return bool(words and others) and (longer or set(others) <= set(words))


def content_words(text: str) -> list[str]:
    """Return the content words of a text, normalised."""
    return [word for word in normalise(text).split() if word not in function_words() and word != "s"]


@cache
def function_words() -> frozenset[str]:
    """Return the words without content of their own."""
    return stop_words() - {"has", "had", "have"} | {"also"}
