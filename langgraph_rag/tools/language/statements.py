"""States facts of a sentence: each end whole, and with content of its own."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from langgraph_rag.tools.language.phrases import COMPOUND, ROLES, Phrase, joined
from langgraph_rag.tools.language.prepositions import plain
from langgraph_rag.tools.language.subjects import Topic
from langgraph_rag.tools.language.tokens import Tokens

_MAKES = frozenset(
    "composed wrote directed produced designed built painted edited scored performed published restored opened".split()
)
_REFERENCE = re.compile(r"(?:Section|Chapter|Appendix|Figure|Table|Page) [\dA-Z][\d.]*\b")
_SOME = frozenset("number variety range couple lot series".split())
_NATION = re.compile(r"[^\W\d_a-z]\w+(?:[ai]n|ish|ese|[a-z]ch|i|ek|ic|sh|ss|[a-z]lander)")
HOLLOW = frozenset(  # nouns that say nothing of themselves
    "one way part time number variety place role fact case example kind type sort form member set series thing "
    "lot range group result use name value reason purpose amount end start day year years point matter issue "
    "same follow addition total best worst largest biggest greatest acronym term most more some many others first "
    "last second third former latter process while things people need".split()
)
_TAKES_ONE = frozenset("is was are were as of by in on at from to with for into became means".split())
_LONGEST_RELATION = 9  # words
_LONGEST_END = 14  # words
_PRONOUNS_INSIDE = frozenset("his her its their him them he she it they this these himself herself itself".split())

Fact = tuple[str, str, str]


@dataclass(frozen=True, slots=True)
class Subject:
    """What a clause is about: names, or with a `noun` what belongs to them, such as `wife`."""

    heads: tuple[str, ...]
    noun: str = ""


@dataclass(slots=True)
class Statements:
    """The facts of one sentence that were stated so far."""

    tokens: Tokens
    topic: Topic
    facts: list[Fact] = field(default_factory=list)
    mode: str = ""  # "by default", where the clause says so

    def say(self, subject: Subject, relation: str, phrase: Phrase) -> None:  # noqa: C901
        """State a fact if its end has content of its own."""
        if phrase.of and phrase.kind == "noun" and phrase.before in _SOME and phrase.of.kind == "noun":
            phrase = phrase.of  # "a number of variables"
        words = phrase.text.split()
        if not words or len(words) > _LONGEST_END or phrase.kind == "pronoun" or phrase.cut:
            return
        if phrase.of and phrase.of.text.lower() in HOLLOW:
            return
        if _REFERENCE.match(phrase.text):
            return
        if phrase.determiner in {"each", "every", "any", "no", "such", "either"}:
            return
        if (
            phrase.determiner in {"the", "this", "that", "these", "those"}
            and phrase.kind == "noun"
            and len(words) == 1
            and words[0].islower()
            and relation.split()[-1] not in {"is", "was", "as", "of"}
        ):
            return  # "the film", which one nobody knows
        if (
            phrase.kind == "name"
            and phrase.owned
            and (len(phrase.before.split()) > 2 or any(map(str.isdigit, phrase.before)) or not phrase.before)
        ):
            return
        if phrase.kind != "name" and (phrase.owned or _PRONOUNS_INSIDE & {word.lower() for word in words}):
            return
        if phrase.kind == "noun" and (
            f" {phrase.text} ".startswith((" same ", " more ", " most ", " less ")) or " same " in phrase.text
        ):
            return
        if (
            phrase.kind == "noun"
            and len(words) == 1
            and phrase.text.islower()
            and relation.split()[-1] not in _TAKES_ONE
        ):
            return
        if (
            phrase.kind == "noun"
            and phrase.head.removesuffix("s") in HOLLOW
            and not phrase.of
            and not any(c.isdigit() for c in phrase.text)
        ):
            return
        if (
            phrase.kind == "number"
            and len(words) == 1
            and not subject.noun
            and not any(mark in words[0] for mark in ".:%$€£°")
            and not relation.startswith(("default", "means", "equals"))
        ):
            return
        whole = " ".join(f"{self.mode} {subject.noun} {relation}".split())
        told = f"{whole} {phrase.before}"
        described = phrase.kind == "name" and phrase.before and not phrase.genitive
        if described and not phrase.owned and len(told.split()) <= _LONGEST_RELATION and phrase.before.islower():
            whole = told  # "was built by engineer"
        if len(whole.split()) > _LONGEST_RELATION or _PRONOUNS_INSIDE & set(whole.lower().split()):
            return
        self.facts.extend((head, whole, phrase.text) for head in subject.heads)

    def say_at(
        self, subject: Subject, relation: str, carried: str, preposition: str, phrases: Sequence[Phrase], base: str = ""
    ) -> None:
        """State facts with a preposition; `carried` stands between it and the relation, "?" if that has no words."""
        if "?" in carried:
            if phrases[0].kind != "date" or "?" in base or not base:
                return
            carried = base
        if phrases[0].kind == "pronoun" and (name := self.topic.of_object(phrases[0].head, subject.heads)):
            phrases = [replace(phrases[0], kind="name", text=name)]
        of = phrases[0].of if len(phrases) == 1 else None
        if of and (of.kind == "name" or phrases[0].before.lower() in COMPOUND) and len(phrases[0].before.split()) <= 3:
            preposition, phrases = f"{preposition} {phrases[0].before} of", [of]
        for one in phrases:
            solid = (
                one.kind in {"name", "date", "number"}
                or preposition in {"as", "of"}
                or one.of
                or len(one.text.split()) > 1
            )
            if solid:
                self.say(subject, f"{relation} {carried} {preposition}".replace("  ", " "), one)

    def acts_on(self, subject: Subject, relation: str, phrase: Phrase) -> None:
        """State what a verb is done to: a name, the topic that "the film" means, or what is of a name."""
        inner = phrase.of
        definite = phrase.kind == "noun" and phrase.determiner in {"the", "this"} and not inner
        if definite and (name := self.topic.of_noun(phrase.text.lower())):
            self.say(subject, relation, replace(phrase, kind="name", text=name, before=""))
            return
        makes = relation.split()[-1] in _MAKES and self.topic.title not in subject.heads
        if definite and makes and self.topic.has_part(phrase.text):  # "Bo Ray composed the music"
            of = replace(phrase, kind="name", text=self.topic.title, before="")
            self.say(subject, f"{relation} the {phrase.text} of", of)
            return
        if (
            phrase.kind == "noun"
            and inner
            and inner.kind == "name"
            and not inner.genitive
            and not phrase.owned
            and len(phrase.before.split()) <= 3
        ):
            self.say(subject, f"{relation} {phrase.before} of", inner)
            return
        self.say(subject, relation, phrase)

    def is_a(self, subject: Subject, text: str, phrase: Phrase) -> None:
        """State what a subject is; an office, a relative or a part with that of which it is one."""
        tokens = self.tokens
        if phrase.genitive and phrase.kind == "noun":
            gen = next(at for at in range(phrase.start, phrase.end) if tokens.is_(at, "gen"))
            if tokens.is_(gen - 1, "name"):
                owner = replace(phrase, kind="name", text=tokens[gen - 1].text, head="", of=None)
                self.say(subject, f"{text} {tokens.text(gen + 1, phrase.end)} of", owner)
            return
        if phrase.kind == "name":
            role, _, of = phrase.text.partition(" of ")
            if role in {"Minister", "Secretary"} and " of " in of:
                role, of = phrase.text.rsplit(" of ", 1)
            if of and role.split()[0] in ROLES and (set(role.split()) <= ROLES or " of " in role):
                self.say(
                    subject, " ".join(f"{text} {phrase.before} {role} of".split()), replace(phrase, text=of, before="")
                )
                return
            self.say(subject, text, phrase)
            return
        inner = phrase.of
        phrase = self._split(subject, text, phrase)
        if inner and inner.kind == "noun" and inner.determiner in {"a", "an"} and len(phrase.before.split()) <= 5:
            self.say(subject, f"{text} {phrase.before} of", inner)  # "was son of, judge"
            return
        if inner and inner.kind in {"name", "date"} and not inner.genitive and len(phrase.before.split()) <= 5:
            phrases, _ = joined(tokens, inner)
            for one in phrases if all(one.kind == inner.kind for one in phrases) else [inner]:
                self.say(subject, f"{text} {phrase.before} of", one)
            return
        self.say(subject, text, phrase)

    def _split(self, subject: Subject, text: str, phrase: Phrase) -> Phrase:
        """State the year or nation that a noun phrase begins with as a fact of its own; return the rest."""
        tokens, begin = self.tokens, phrase.start + (1 if phrase.determiner else 0)
        word, topic = tokens[begin], self.topic
        if phrase.kind != "noun" or " " not in phrase.before:
            return phrase
        of_person = topic.is_person and topic.title in subject.heads and not subject.noun
        if word.tag == "date":  # "is a 1931 film"
            self.say(subject, f"{text} {phrase.head} of", plain(tokens, begin))
        elif of_person and word.tag == "name" and tokens.is_(begin + 1, "word") and _NATION.fullmatch(word.text):
            self.say(subject, text, plain(tokens, begin))  # "was an Italian painter"
        else:
            return phrase
        after = tokens[begin + 1].start - word.start
        return replace(phrase, text=phrase.text[after:].strip(), before=phrase.before[after:].strip())
