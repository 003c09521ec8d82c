"""Sentences with their titles, the facts that they state, and their references to each other's topics."""

import re
from collections import defaultdict
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache

from langgraph_rag.offline.question import PLACES
from langgraph_rag.offline.words import DEMONYM, SURE, name_likeness, name_words, plain, stem, stems
from langgraph_rag.tools.facts.names import topic_of
from langgraph_rag.tools.facts.reading import facts_of_sentences
from langgraph_rag.tools.ingest.spans import JOINED_WORD, spot_names, stop_words
from langgraph_rag.tools.ingest.text import RULES, text_pipeline

_LIFE = re.compile(  # in short brackets, and with their first dash: the time would grow with a power of the length
    r"\((?=[^()]{0,600}\))[^()]*?(?P<birth>\d{4})(?>\s*-|[^()]*?[–—])[^()]*(?P<death>\d{4})"
)
_MADE = re.compile(r"(?<=[a-z])(?<!ed)(?<!en)(?<!wn) by\b")
_WAYS = ("compos", "direct", "perform", "produc", "write")  # possible meanings of "a song by Kell"
DEFINED = re.compile(r"\b(?:is|was|are|were)\s+(?:an?|the|one of the)\s+([^,.;()]+)")
_FROM = re.compile(r"\bfrom (?=[A-Z])")
_NOT_ITS_OWN = re.compile(r"\b(?:by|of|in|from|for|about|with|who|which|that)\b")
_APPOSED = re.compile(r"(?: \([^()]*\))?, (?:an?|the) ([^,.;()]{3,60})")
_FOLLOWING = re.compile(r" ([a-z]+)\b")
_MODIFIERS = re.compile(r"((?:[\w-]+ ){1,4})[\"“']?$")

_LONGEST = 5_000  # characters of a sentence that are read, as many as the rules for triples read

Fact = Sequence[str]
Key = tuple[str, str]


@dataclass(frozen=True)
class Line:
    """A sentence with its title and the opening sentence of its page.

    `given` is the fact that it was made from, if any.
    """

    title: str
    text: str
    opens: bool
    given: tuple[str, ...] = ()
    opening: str = field(default="", compare=False)

    @cached_property
    def facts(self) -> list[Fact]:
        """Return the triples that the sentence states."""
        if self.given:
            return [self.given]
        return [*_facts_of(self.title, (self.text,) if self.opens else (self.opening, self.text))]

    @cached_property
    def topic(self) -> str:
        """Return the topic that the title names."""
        return topic_of(self.title)

    @cached_property
    def keys(self) -> frozenset[Key]:
        """Return the keys of possible mentions of the topic: `Halden, Kell` is also `Halden`."""
        return frozenset({key_of(self.topic), key_of(self.topic.split(",")[0])})

    @cached_property
    def mentioned(self) -> frozenset[Key]:
        """Return the keys of the names in the sentence."""
        return frozenset(key_of(name.text) for name in spot_names(self.text))

    @cached_property
    def stems(self) -> list[tuple[int, int, str]]:
        """Return the stems of the sentence with their positions; dates of life count as next to "born" and "died"."""
        found = [(m.start(), m.end(), stem) for m in JOINED_WORD.finditer(self.text) for stem in stems(m[0])]
        if life := _LIFE.search(self.text):
            found += [(life.end(event), life.end(event) + 1, event) for event in ("birth", "death")]
        if defined := DEFINED.search(self.text):
            found += [(defined.end() - 1, defined.end(), "occupation"), *_origins(defined)]
        return found

    @cached_property
    def implied(self) -> list[tuple[int, int, str]]:
        """Return the possible ways of making something, if the sentence says only "by"."""
        return [(*made.span(), way) for made in _MADE.finditer(self.text) for way in _WAYS]

    @cached_property
    def words(self) -> frozenset[str]:
        """Return the stems of the sentence and the title."""
        return frozenset(stem for _, _, stem in [*self.stems, *self.implied]) | frozenset(stems(self.title))


@lru_cache(maxsize=16_384)  # prompts, and the check of an answer, have the same sentences
def _facts_of(title: str, sentences: tuple[str, ...]) -> tuple[Fact, ...]:
    """Return the facts of the last sentence; the opening one of its page before it tells what "it" means."""
    *_, facts = facts_of_sentences(title, sentences)
    return tuple(facts)


class Pages:
    """The sentences to read, each once."""

    def __init__(self, lines: Iterable[Line]) -> None:
        """Keep the sentences in the order of their texts."""
        self.lines = list(dict.fromkeys(lines))

    def hits(self, line: Line, words: Container[str]) -> list[tuple[int, int, str]]:
        """Return the positions of words in a sentence; "by" implies no way that any sentence of the title states."""
        implied = [hit for hit in line.implied if hit[2] not in self._ways[line.title]]
        return [hit for hit in [*line.stems, *implied] if hit[2] in words]

    @cached_property
    def _ways(self) -> dict[str, set[str]]:
        """Return, by title, the ways of making something that are stated explicitly."""
        ways: dict[str, set[str]] = defaultdict(set)
        for line in self.lines:
            ways[line.title].update(stem for _, _, stem in line.stems if stem in _WAYS)
        return ways

    @property
    def facts(self) -> list[Fact]:
        """Return the facts that the sentences state."""
        return [fact for line in self.lines for fact in line.facts]

    @cached_property
    def words(self) -> frozenset[str]:
        """Return the stems of all sentences and titles."""
        return frozenset().union(*(line.words for line in self.lines))

    def hold(self, name: str) -> bool:
        """Return whether a name occurs anywhere, also in a related form ("French", "France")."""
        return not self.words.isdisjoint(stems(name)) or not stems(name)

    def stating(self, facts: Sequence[Fact]) -> list[Line]:
        """Return the sentences that state one of some facts."""
        return [line for line in self.lines if any(fact in facts for fact in line.facts)]

    def about(self, name: str) -> set[int]:
        """Return the positions of the sentences that are about a name or mention it."""
        key, lines = key_of(name), enumerate(self.lines)
        return {place for place, line in lines if key in line.mentioned or name_likeness(name, line.topic) >= SURE}

    @cached_property
    def topics(self) -> list[tuple[str, frozenset[str]]]:
        """Return the topics of the sentences, each once, with their words."""
        return [(topic, name_words(topic)) for topic in sorted({line.topic for line in self.lines})]

    @cached_property
    def kinds(self) -> dict[Key, set[str]]:
        """Return the words for the kind of thing that a name means: `the engineer Ada Holm`, `Ada Holm is a ...`."""
        kinds: dict[Key, set[str]] = defaultdict(set)
        for line in self.lines:
            if line.opens and (defined := DEFINED.search(line.text)):
                for key in line.keys:
                    kinds[key].update(stems(defined[1]))
            for name in spot_names(line.text):
                kinds[key_of(name.text)].update(_said_of(line.text, name.start, name.end))
        return kinds

    @cached_property
    def linked(self) -> list[list[int]]:
        """Return, for each sentence, the sentences whose topic it mentions or that mention its topic."""
        titled: dict[Key, set[int]] = defaultdict(set)
        naming: dict[Key, set[int]] = defaultdict(set)
        for place, line in enumerate(self.lines):
            for key in line.keys:
                titled[key].add(place)
            for key in line.mentioned:
                naming[key].add(place)
        linked = []
        for line in self.lines:
            others = set().union(*(titled[key] for key in line.mentioned), *(naming[key] for key in line.keys))
            linked.append(sorted(other for other in others if self.lines[other].title != line.title))
        return linked


@lru_cache(maxsize=4_096)  # several steps and prompts have the same texts
def lines_of(title: str, text: str) -> tuple[Line, ...]:
    """Return the sentences of a text with its title."""
    sentences = text_pipeline(RULES).sentences(text)
    return tuple(
        Line(title, told[:_LONGEST], number == 0, opening=sentences[0][:_LONGEST])
        for number, told in enumerate(sentences)
    )


def pages_of(texts: Iterable[Mapping[str, str]]) -> Pages:
    """Return the sentences of texts, each with its title."""
    return Pages([line for text in texts for line in lines_of(text["title"], text["text"])])


def spelled_out(facts: Iterable[Fact]) -> Iterator[Line]:
    """Yield each fact as a sentence about its head."""
    return (Line(fact[0], " ".join(fact), True, tuple(fact)) for fact in facts)


def key_of(name: str) -> Key:
    """Return the first and last word of a name, the key of all mentions of one thing."""
    words = plain(name).split()
    return (words[0], words[-1]) if words else ("", "")


def _origins(defined: re.Match[str]) -> Iterator[tuple[int, int, str]]:
    """Yield the positions at which a definition implies a nation: "is an American poet", "is a singer from Mali"."""
    begin, told = defined.start(1), _NOT_ITS_OWN.split(defined[1])[0]
    ends = [word.end() for word in JOINED_WORD.finditer(told) if word[0][0].isupper() and DEMONYM.search(word[0])]
    ends += [came.end() - 1 for came in _FROM.finditer(defined[1])]
    yield from ((begin + end, begin + end + 1, "nation") for end in ends)


def _said_of(text: str, start: int, end: int) -> Iterator[str]:
    """Yield the stems before and after a name in a sentence that state what kind of thing it is."""
    if (following := _FOLLOWING.match(text, end)) and stem(following[1]) in PLACES:
        yield stem(following[1])  # "Kell province"
    apposed = _APPOSED.match(text, end)
    if apposed:
        yield from stems(apposed[1])
    if modifiers := _MODIFIERS.search(text[:start]):
        words = modifiers[1].split()
        last = max((place for place, word in enumerate(words) if word.lower() in stop_words()), default=-1)
        yield from stems(" ".join(words[last + 1 :]))
