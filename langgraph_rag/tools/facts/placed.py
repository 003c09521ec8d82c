"""Where the parts of a fact stand in the parse of the sentence that it was read from."""

from collections.abc import Iterator
from functools import cached_property

from langgraph_rag.tools.facts.words import PERSONS, Tokens

CLAUSES = frozenset({"acl", "relcl"})
"""Roles of what describes a noun and has a verb of its own: a participle, an infinitive, a relative clause."""
SUBJECTS = frozenset({"nsubj", "nsubjpass"})
TYING = frozenset("of to over between about against into for across".split())
"""Prepositions that tie a noun to what it needs: "improvements over", unlike "a mill in Ost"."""
LIGHT = frozenset(
    "range variety number series lot lots couple voice voices list countries cities regions territories states kind "
    "type sort set pair group members part parts imprints names name title".split()
)
"""Nouns before "of" that say little, so that what is told of them is told of what follows, too."""
RANKED = frozenset("first second third last only latest".split())
_SUPERLATIVES = frozenset({"JJS", "RBS"})
_DASHES = frozenset("– — - : ;".split())
_LONGEST_END = 24  # tokens


class Tree:
    """What depends on what in a parsed sentence."""

    def __init__(self, tokens: Tokens) -> None:
        self.tokens, self.parsed = tokens, tokens.parsed

    @cached_property
    def below(self) -> list[list[int]]:
        """The places of what depends on each token."""
        found: list[list[int]] = [[] for _ in self.parsed]
        for place, word in enumerate(self.parsed):
            if 0 <= word.head != place:
                found[word.head].append(place)
        return found

    def spans(self, text: str) -> Iterator[tuple[int, int]]:
        """Yield where a text stands, except as the value of a field."""
        tokens = self.tokens
        for start in range(len(tokens)):
            if not text.startswith(tokens[start].text) or tokens[start - 1].text == ":":
                continue
            for end in range(start + 1, min(len(tokens), start + _LONGEST_END) + 1):
                found = tokens.text(start, end).rstrip(" ,")
                if found == text:
                    yield start, end
                if len(found) >= len(text):
                    break

    def begins_date(self, text: str) -> bool:
        """Return whether a text is the beginning of a span of time: "May" of "May to June 1907"."""
        dates = (self.tokens[at].text for at in range(len(self.tokens)) if self.tokens.is_(at, "date"))
        return any(date.startswith((f"{text} to ", f"{text} until ", f"{text}–")) for date in dates)


class Placed:
    """A fact whose end stands at the places from `start` to `end`; on the word at `top`, the others there depend."""

    def __init__(self, tree: Tree, fact: tuple[str, str, str], start: int, end: int) -> None:
        self.tokens, self.parsed, self.below = tree.tokens, tree.parsed, tree.below
        self.head, self.relation, self.start, self.end = fact[0].lower(), fact[1].lower(), start, end
        self.words = set(self.relation.split())
        self.last = self.relation.rpartition(" ")[2]
        self.inside = [at for at in range(start, end) if self.parsed[at].tag]  # without brackets, which are not parsed
        self.top = next((at for at in self.inside if self._is_top(at)), start)

    def _is_top(self, at: int) -> bool:
        over = self.parsed[at].head
        return over == at or not self.start <= over < self.end

    @cached_property
    def above(self) -> list[int]:
        """What the end depends on, directly or not, the nearest first."""
        found, at = list[int](), self.top
        while self.parsed[at].tag and self.parsed[at].head != at and len(found) < len(self.parsed):
            at = self.parsed[at].head
            found.append(at)
        return found

    @cached_property
    def verb(self) -> int | None:
        """The nearest verb of the relation that the end depends on."""
        return next((at for at in self.above if self.is_verb(at) and self._in_relation(at)), None)

    @cached_property
    def said(self) -> list[int]:
        """The words of the relation: those that the end depends on, and what depends on them."""
        near = {*self.above, *(at for at in self.below[self.top] if at < self.start)}
        for _ in range(2):
            near |= {at for place in near if place != self.top for at in self.below[place] if at != self.top}
        return sorted(at for at in near if not self.is_inside(at) and self._in_relation(at))

    def _in_relation(self, at: int) -> bool:
        text = self.text(at)
        return text in self.words or (" " in text and text in self.relation)

    def text(self, at: int) -> str:
        """Return a word in lower case."""
        return self.tokens[at].text.lower()

    def role(self, at: int) -> str:
        """Return the role of a word."""
        return self.parsed[at].role

    def object_of(self, preposition: int) -> int:
        """Return what follows a preposition, or itself."""
        return next((at for at in self.below[preposition] if self.role(at) in {"pobj", "pcomp"}), preposition)

    def is_inside(self, at: int) -> bool:
        """Return whether a place is one of the end."""
        return self.start <= at < self.end

    def is_verb(self, at: int) -> bool:
        """Return whether a word is a verb."""
        return self.parsed[at].tag.startswith("VB")

    def is_noun(self, at: int) -> bool:
        """Return whether a word is a common noun."""
        return self.parsed[at].tag in {"NN", "NNS"} and not self.tokens.is_(at, "name", "date", "num")

    def is_name(self, at: int) -> bool:
        """Return whether a word is a name."""
        return self.tokens.is_(at, "name")

    def is_timed(self, preposition: int) -> bool:
        """Return whether a date follows a preposition."""
        return self.tokens.is_(self.object_of(preposition), "date")

    def is_person(self, at: int) -> bool:
        """Return whether a noun may mean people."""
        return PERSONS.search(self.text(at)) is not None

    def is_most(self, at: int) -> bool:
        """Return whether a word makes a superlative."""
        return self.parsed[at].tag in _SUPERLATIVES

    def is_choice(self, at: int) -> bool:
        """Return whether a word singles out one of several."""
        return self.is_most(at) or self.text(at) in RANKED

    def is_present(self, verb: int) -> bool:
        """Return whether a verb tells what is generally so."""
        first = min([verb, *(at for at in self.below[verb] if self.role(at) in {"aux", "auxpass"})])
        return self.parsed[first].tag in {"VBZ", "VBP"} and self.text(first) not in {"has", "have"}

    def is_told(self, at: int) -> bool:
        """Return whether a word is one of the relation or the head."""
        word = f" {self.text(at)} "
        return word in f" {self.relation} " or word in f" {self.head} "

    def left_out(self, at: int) -> bool:
        """Return whether a word, or what follows a preposition, is not in the fact, nor is the end below it."""
        row, seen = [at], 0
        while row and seen < len(self.parsed):
            if any(map(self.is_inside, row)):
                return False
            seen += len(row)
            row = [each for one in row for each in self.below[one]]
        return not self.is_told(self.object_of(at) if self.role(at) in {"prep", "agent"} else at)

    def after_comma(self, at: int) -> bool:
        """Return whether a comma, bracket or dash parts a word from what it depends on."""
        between = range(self.parsed[at].head + 1, at)
        return any(self.tokens.is_(place, "comma", "open") or self.tokens[place].text in _DASHES for place in between)

    def lost(self, at: int, *roles: str) -> Iterator[int]:
        """Yield what depends on a word, has one of some roles, stands after the end, and is left out."""
        return (one for one in self.below[at] if one >= self.end and self.role(one) in roles and self.left_out(one))

    def restricted(self, at: int, *roles: str) -> Iterator[int]:
        """Yield what is lost and not behind a comma."""
        return (one for one in self.lost(at, *roles) if not self.after_comma(one))

    def marks(self, clause: int) -> set[str]:
        """Return the words that begin a clause: "when", "as long as"."""
        marks = (at for at in self.below[clause] if at < clause and self.role(at) in {"mark", "advmod"})
        return {self.text(clause), *map(self.text, marks)}
