"""What the rules read out of one clause, whose statement it is, and what a name, a pronoun or "the film" refers to."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cache, cached_property

from langgraph_rag.normal_forms import normalise
from langgraph_rag.tools.facts.completion import LONGEST_RELATION, completed
from langgraph_rag.tools.facts.names import KINDS as WORKS
from langgraph_rag.tools.facts.names import life_dates, loosely, opening_name, topic_of
from langgraph_rag.tools.facts.parsing import bears_out, is_identifier
from langgraph_rag.tools.facts.phrases import (
    ADJECTIVE,
    COMPOUND,
    KINDS,
    ROLES,
    Phrase,
    alternatives,
    are_several,
    joined,
    noun_phrase,
    plain,
    verb_at,
)
from langgraph_rag.tools.facts.words import NOUNS, PERSONS, Tokens, is_base, tag_of
from langgraph_rag.tools.ingest.spans import spot, stop_words

_LETTERS = [chr(code) for code in range(0x3000)]  # of all scripts that have capitals
UPPER = f"[{''.join(filter(str.isupper, _LETTERS))}]"

_FIRM = re.compile(
    r" (?:& (?:Sons|Co|Partners)|Inc|Ltd|Limited|Corp|Corporation|Company|LLC"
    r"|PLC|plc|GmbH|AG|SE|SA|S\.A|NV|BV|AB|ASA|Oy|SpA)\.?$"
)
_COMPANY = frozenset({"company", "firm"})  # which the name of one says that it is
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
_JOINS = re.compile(r" (?:of|from|to|for|in|with|between|by) ", re.IGNORECASE)
_TOWARDS = re.compile(r" (?:to|for|in|with|between|by) ")
_MOST = 0.6  # share of the words of a name, of what is no person, that a short form of it has
_SURELY = 2  # times as often as the other, before a pronoun is taken for that of the topic
_GLOSS = re.compile(r"(?P<before>[^()]{0,40})\([^()]*\)")
_BEFORE_LIFE = re.compile(r"[^()]{0,60}?(?=\()")
_IT_FIRST = re.compile(r"Its?\b")
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
        title = _subject_in(title, sentences[0]) if sentences else title
        self.title, self.short = title.strip(), topic_of(title) if not title.startswith("List of ") else ""
        qualifier = title.strip().removeprefix(self.short).strip(" ()").split(",")[0]
        whole = _JOINS.split(self.short)[0].split()
        last = whole[-1:] if len(self.short.split()) > 1 else []
        self._form = re.compile(rf"(?:The |the |A )?{loosely(self.short)}(?!\w)", re.IGNORECASE)
        self.named = {word.lower() for word in last if word.isalpha()}  # "the mill" is the Halden Mill
        self.nouns = {word for word in qualifier.split()[-1:] if word.islower()} | self.named
        self.is_identifier = is_identifier(self.short) or is_identifier(self.title)
        words = self.short.split()
        self.is_name = bool(words) and not any(word.islower() for word in words if len(word) > 3)
        if not self.is_name:
            self.nouns -= self.named
            self.named = set()
        a_name = len(words) > 1 and all(word[0].isupper() for word in words if word[0].isalpha())
        self.term = ""  # of the topic, such as an argument, that the lines are about
        self.lost = not a_name
        self.sentences = sentences
        self.names = {
            name.text
            for sentence in sentences
            for name in spot(sentence)
            if name.kind == "name" and sentence[: name.start].strip(" -*+•>|")
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
        spotted = [name.text for sentence in sentences for name in spot(sentence) if name.kind == "name"]
        if _FIRM.search(self.short) and all(same_name(self.short, name) for name in filter(_FIRM.search, spotted)):
            self.nouns |= _COMPANY
            self.named |= _COMPANY
        # where "It" or "Its" is the first word, nothing but the title can be meant
        self.focused = a_name and not self.is_person and bool(sentences) and bool(_IT_FIRST.match(sentences[0]))
        self.owned = self.meant = self.focused

    def _may_live(self, opening: str) -> bool:
        """Return whether the topic may be a person, by its name and its definition."""
        first = self.short.split(" ")[0]
        if _TOWARDS.search(self.short):
            return False  # "Minister to Norland"
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
        if '"' in name and not same_name(self.short, name):
            name = name.split('"', 1)[1]  # Ida "Ink" Vint
        if not self.is_name or not same_name(self.short, name):
            return False  # "Kennedy" is not the "Timeline of the presidency of Kennedy"
        words, named = content_words(self.short), content_words(name)
        if self.is_person or not _JOINS.search(self.short) or words[0] in named:
            return self.is_person or _MOST * len(words) <= len(named)
        return False  # "the Ost Shell" is not the "Differences from the Ost Shell"

    def is_row(self, name: str) -> bool:
        """Return whether a field is that of a row of several: not a fact about the topic."""
        return sum(sentence.startswith(f"- {name}: ") for sentence in self.sentences) > 1

    def begins(self, sentence: str, start: int = 0) -> int:
        """Return where the topic's name ends in a sentence, if it begins there; 0 if it does not."""
        found = self._form.match(sentence, start) if self.short else None
        return found.end() if found else 0

    def introduced(self, sentence: str) -> tuple[str, int] | None:
        """Return the other name in "Die Flut, released as Nine Tides", with where the topic's name ends."""
        found = self._other.match(sentence) if self.short and " as " in sentence else None
        return (found["other"], found.end()) if found else None

    @cached_property
    def _other(self) -> re.Pattern[str]:
        """The opening with another name, which few passages have: compiling takes longer than reading a sentence."""
        return re.compile(rf"{_OTHER_NAME}[\"“]?{loosely(self.short)}(?!\w)[\"”]?(?=[\s,(])")

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


def _subject_in(title: str, sentence: str) -> str:
    """Return what a passage is about: `Varo 300` of the title `Varo 300 cordless drill`, or the title itself."""
    short, name = topic_of(title), opening_name(sentence)
    words, named = normalise(short).split(), normalise(name.text).split() if name else []
    told = any(word.islower() and len(word) > 3 for word in short.split())
    event = short.split(" ")[0].endswith("ing") or (_JOINS.search(short) and _EVENT.fullmatch(short.split()[0]))
    if not (told or event) or not 0 < len(named) < len(words) or name is None:
        return title
    if re.match(rf"\W*(?:The |An? )?{loosely(short)}(?!\w)", sentence, re.IGNORECASE):
        return title
    begins = [at for at in range(len(words)) if words[at : at + len(named)] == named and (at or not event)]
    acts = name.text[0].isupper() and re.match(r" [a-z]", sentence[name.end :])
    return name.text if begins and acts else title


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


_MAKES = frozenset(
    "composed wrote directed produced designed built painted edited scored performed published restored opened".split()
)
_REFERENCE = re.compile(r"(?:Section|Chapter|Appendix|Figure|Table|Page) [\dA-Z][\d.]*\b")
_SOME = frozenset("number variety range couple lot series".split())
_NATION = re.compile(r"[^\W\d_a-z]\w+(?:[ai]n|ish|ese|[a-z]ch|i|ek|ic|sh|ss|[a-z]lander)")
_OFFICE = re.compile(rf"(?:{'|'.join(sorted(ROLES))})(?:-[\w-]+)? of ")  # unlike "Queen Ida of Ost"
_UNIT = re.compile(
    r"(?:acre|hectare|met(?:re|er)|mile|foot|feet|seat|ton|litre|gallon|watt|page|room|bed|yard|volt|pound)"
)
_DESCRIBES = re.compile(r"[a-z](?:ent|iple|ed|ing)$")
_ORDINAL = re.compile(r"\d+(?:st|nd|rd|th) ")
_THAT_YEAR = re.compile(r",? (?:of )?(?:that|the same|the following|the next) year\b")
_NOT_TOLD = re.compile(r"^(?:few|couple|handful) of\b|\bsuch (?!as\b)")
_MUTUAL = re.compile(
    r"\b(?:is|are|was|were|be|been|considered|became|remain|remained) (?:equal|equivalent|identical|different|distinct"
    r"|similar|alike|related|compatible|comparable|married|divorced)\b(?! (?:to|from|with|as)\b)"
    r"|\bmarried (?:in|on|at)\b"
)
HOLLOW = frozenset(  # nouns that say nothing of themselves
    "one way part time number variety place role fact case example kind type sort form member set series thing "
    "lot range group result use name value reason purpose amount end start day year years point matter issue "
    "same follow addition total best worst largest biggest greatest acronym term most more some many others first "
    "last second third former latter process while things people need individual".split()
)
_TAKES_ONE = frozenset(
    "is was are were as of by in on at from to with for into became means elected appointed crowned ordained".split()
)
_LONGEST_END = 14  # words
_LONGEST_WHOLE = 18  # with what belongs to an end
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
        some = phrase.before in _SOME and phrase.determiner != "the"
        if phrase.of and phrase.kind == "noun" and some and phrase.of.kind == "noun":
            phrase = phrase.of  # "a number of variables"
            if " " not in phrase.text and phrase.text.islower() and verb_at(self.tokens, phrase.end) is None:
                phrase = replace(phrase, determiner="several")
        if phrase.kind == "pronoun" or phrase.cut or len(phrase.text.split()) > _LONGEST_END:
            return
        if phrase.kind == "date" and _THAT_YEAR.match(self.tokens.sentence, self.tokens[phrase.end - 1].end):
            return  # "on 5 July that year"
        short, full = phrase.text, completed(self.tokens, phrase, relation)
        if full is None or not 0 < len(full.text.split()) <= _LONGEST_WHOLE:
            return
        if not bears_out(self.tokens, phrase, full.end, relation):
            return
        phrase, words = full, full.text.split()
        if phrase.of and phrase.of.text.lower() in HOLLOW:
            return
        if _REFERENCE.match(phrase.text):
            return
        if phrase.determiner in {"each", "every", "any", "no", "such", "either"} or _NOT_TOLD.search(phrase.text):
            return
        if words[0] in {"a", "an"}:
            return  # of "either a lamp or a mill"
        if len(words) == 1 and phrase.determiner in {"a", "an"} and words[0].isupper() and not phrase.before.islower():
            return  # "an API"
        if phrase.kind == "noun" and phrase.determiner in {"this", "that", "these", "those"}:
            return
        if (
            phrase.determiner == "the"
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
            f" {phrase.text} ".startswith((" same ", " more ", " less "))
            or " same " in phrase.text
            or (phrase.text.startswith("most ") and (phrase.determiner != "the" or len(words) < 3))
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
            and phrase.text == short
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
        if len(subject.heads) > 1 and _MUTUAL.search(relation):
            return  # to each other
        if phrase.kind == "name" and phrase.before.endswith("name") and (phrase.owned or "known" in relation):
            named = re.sub(r" (?:by|under)$", " as", relation)  # "known by her pen name Ink"
            relation, phrase = named, replace(phrase, before="" if named != relation else phrase.before)
        whole = " ".join(f"{self.mode} {subject.noun} {relation}".split())
        told = f"{whole} {phrase.before}"
        described = phrase.kind == "name" and phrase.before and not phrase.genitive
        if described and not phrase.owned and len(told.split()) <= LONGEST_RELATION and phrase.before.islower():
            whole = told  # "was built by engineer"
        if len(whole.split()) > LONGEST_RELATION or _PRONOUNS_INSIDE & set(whole.lower().split()):
            return
        said = normalise(phrase.text).replace(" ", "")  # "FontSize is the font size"
        heads = (
            head for head in subject.heads if normalise(head) != said and not _tells_kind(head, whole, phrase.text)
        )
        self.facts.extend((head, whole, phrase.text.rstrip(" ,")) for head in heads)

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
        of = phrases[0].of
        if of and phrases[0].before.lower() in COMPOUND:
            preposition, phrases = f"{preposition} {phrases[0].before} of", [of, *phrases[1:]]
        elif of and len(phrases) == 1 and of.kind == "name" and len(phrases[0].before.split()) <= 3:
            preposition, phrases = f"{preposition} {phrases[0].before} of", [of]
        for owner, one in self._belonging(subject, phrases):
            solid = (
                one.kind in {"name", "date", "number"}
                or preposition in {"as", "of"}
                or one.of
                or len(one.text.split()) > 1
            )
            if solid:
                self.say(owner, f"{relation} {carried} {preposition}".replace("  ", " "), one)

    def _belonging(self, subject: Subject, phrases: Sequence[Phrase]) -> list[tuple[Subject, Phrase]]:
        """Return what belongs to whom: all to all, but of "A and B by C and D" only what is told "respectively"."""
        if not len(subject.heads) == len(phrases) > 1:
            return [(subject, one) for one in phrases]
        if " respectively" not in self.tokens.sentence:
            return []
        return [(replace(subject, heads=(head,)), one) for head, one in zip(subject.heads, phrases, strict=True)]

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
            if phrase.text not in ROLES or tokens[phrase.end].text != "of":  # unlike "Chairman of several firms"
                self.say(subject, text, phrase)
            return
        inner = phrase.of
        phrase = self._split(subject, text, phrase)
        if inner and inner.kind == "noun" and inner.determiner in {"a", "an"} and len(phrase.before.split()) <= 5:
            self.say(subject, f"{text} {phrase.before} of", inner)  # "was son of, judge"
            return
        if inner and inner.kind in {"name", "date"} and not inner.genitive and len(phrase.before.split()) <= 5:
            phrases = alternatives(tokens, joined(tokens, inner)[0])
            phrases = [one for one in phrases if one is phrases[0] or not _OFFICE.match(one.text)]
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
        if word.tag == "date" and not _UNIT.match(tokens[begin + 1].text):  # "is a 1931 film"
            if phrase.of is None or phrase.of.kind != "name" or phrase.head in WORKS:  # unlike "1950 version of Kell"
                self.say(subject, f"{text} {phrase.head} of", plain(tokens, begin))
        elif of_person and word.tag == "name" and tokens.is_(begin + 1, "word") and _NATION.fullmatch(word.text):
            self.say(subject, text, replace(plain(tokens, begin), kind="nation"))  # "was an Italian painter"
        else:
            return phrase
        after = tokens[begin + 1].start - word.start
        return replace(phrase, text=phrase.text[after:].strip(), before=phrase.before[after:].strip())


def _tells_kind(head: str, relation: str, kind: str) -> bool:
    """Return whether a title already says what a fact does: "Kell (song) is a song"."""
    if relation in {"known as", "called", "named"}:
        return normalise(topic_of(head)) == normalise(kind)
    return relation in {"is", "was"} and head.endswith((f" ({kind})", f" {kind})"))


_COMMON = re.compile(r".*(?:s|ing|tion|sion|ity|ment|ness|ism|ship|ence|ance|ure|age|ency|ancy|phy|logy)")
_FROM_NAME = re.compile(r"-(?:based|born|owned|led|made|built|backed|listed|trained)$")
_OF_OPTION = frozenset("specifies sets enables disables selects limits changes".split())
_VALUES = frozenset({"True", "False", "None", "Null"})
_MADE_FOR = frozenset("backend library file module manager middleware database".split())  # a name, and not it
_OF_TWO = frozenset("younger elder older other".split())  # which one of a name, a text may say elsewhere
_TOWNS = frozenset(  # whose name follows "of": the village of Hale
    "village town city county state province district region island parish borough suburb municipality kingdom".split()
)


@dataclass(slots=True)
class Subjects:
    """Reads the subjects of the clauses of one sentence."""

    tokens: Tokens
    topic: Topic
    facts: list[Fact]
    first: bool
    item: bool = False  # whether the sentence is an item of a list, which need not begin with a capital
    unlike: bool = False  # whether it is about a relative that no pronoun for the topic can mean

    def read(self, place: int, *, later: bool) -> tuple[Subject, int] | None:  # noqa: C901
        """Return the subject that begins at a place, with its end; a later clause does not introduce the topic."""
        tokens, topic = self.tokens, self.topic
        if not later and (end := self.title_end(place)):
            topic.meant = True
            return Subject((topic.title,)), end
        if self.first and place == 0 and (found := topic.introduced(tokens.sentence)):
            topic.meant = True
            self.facts.append((topic.title, "known as", found[0].strip('"“” ')))
            return Subject((topic.title,)), tokens.place_of(found[1])
        if place == 0 and topic.is_identifier and tokens.is_(0, "pres") and tokens[1].text != "of":
            of_option = topic.term.startswith("-") and tokens[0].text in _OF_OPTION
            if topic.term and tokens[0].text != "defaults" and not of_option:
                return None
            topic.meant = True
            return Subject((topic.title,), topic.term), 0  # "returns the number of rows" about `count()`
        word = tokens[place].text.lower()
        if tokens.is_(place, "pron"):
            name = topic.of_pronoun(word)
            return (Subject((name,)), place + 1) if name else None
        if tokens.is_(place, "neg") or word in {
            "there",
            "no",
            "few",
            "little",
            "any",
            "each",
            "every",
            "another",
            "such",
            "many",
            "some",
        }:
            return None
        phrase = noun_phrase(tokens, place, acts=True)
        if (
            not phrase
            or phrase.kind in {"pronoun", "date", "number"}
            or phrase.determiner in {"that", "these", "those"}
        ):
            return None
        if phrase.determiner in {"his", "her", "its", "their"}:
            owner = topic.of_pronoun(phrase.determiner)
            return self._possessed((owner,), phrase, phrase.before or phrase.text) if owner else None
        if phrase.genitive:
            return self._of_genitive(phrase)
        if phrase.kind == "name":
            if phrase.before and not phrase.determiner and phrase.before.islower():
                return None
            if phrase.before in _OF_TWO and not topic.is_named(phrase.text):
                return None
            phrases, end = joined(tokens, phrase, acting=True)
            if end != phrase.end and not verb_at(tokens, tokens.after_brackets(end)):
                phrases, end = [phrase], phrase.end
            if _ORDINAL.match(phrase.text) and tokens.is_(end, "past"):
                return None  # "24th Kell animated film"
            if any(
                one.kind != "name" or one.cut or one.text.endswith(" If") for one in phrases
            ) or phrase.determiner in {
                "this",
                "any",
                "each",
                "every",
            }:
                return None
            common = phrase.start == 0 and not phrase.before and self._is_common(phrase.text)
            if phrase.determiner in {"a", "an"} or (common and not are_several(tokens, phrase)):
                return None  # "Points are drawn", "Work began"
            alone = not phrase.determiner and (len(phrases) == 1 or tokens[phrases[-1].start - 1].text == "or")
            if name := topic.of_noun(phrase.text.lower()) if alone else "":
                return Subject((name,)), end  # "Film is directed by", "Kell or Kel is"
            owners = [(topic.of_pronoun(one.determiner), one) for one in phrases if one.owned and one.before]
            self.facts += [(owner, one.before, one.text) for owner, one in owners if owner]  # "Ida and her uncle Bo"
            heads = tuple(self._named(one, later=later) for one in phrases)
            return Subject(heads), end
        return (Subject((phrase.text,)), phrase.end) if self._is_uncapped(phrase) else self._described(phrase)

    def _is_uncapped(self, phrase: Phrase) -> bool:
        """Return whether a phrase is a name without a capital: `numpy` or `القاهرة` at the beginning of a sentence."""
        word, verb = phrase.text, verb_at(self.tokens, phrase.end)
        if phrase.determiner or phrase.of or phrase.cut or not verb or not word[0].isalpha():
            return False
        if not any(letter.islower() or letter.isupper() for letter in word):
            return True
        begins = self.tokens[phrase.start - 1].text == "." or (phrase.start == 0 and not self.item)
        common = tag_of(word) != "word" or word in NOUNS | HOLLOW | KINDS or is_base(word) or _COMMON.fullmatch(word)
        singular = verb.text.split(" ", 1)[0] not in {"are", "were", "have"}
        return begins and phrase.end == phrase.start + 1 and word.islower() and not common and singular

    def _is_common(self, word: str) -> bool:
        """Return whether a word may have its capital only as the first of a sentence: "Positional parameters"."""
        small, topic = word.lower(), self.topic
        if is_base(small) and not topic.is_named(word):
            return True  # "Use", "Set"
        plain = word.replace("-", "")
        if not (plain.isalpha() and plain[1:].islower()) or word in topic.names or topic.is_named(word):
            return word.startswith(("I.e", "E.g"))
        told = word in _VALUES or tag_of(small) != "word" or small in NOUNS | HOLLOW or plain != word
        return told or small in topic.words or _COMMON.fullmatch(small) is not None

    def _named(self, phrase: Phrase, *, later: bool) -> str:
        """Return the name of a subject; in a first sentence, it may be introduced as the topic."""
        end, name = self.tokens[phrase.end - 1].end, phrase.text.split(",")[0]
        introduced = self.first and not later and self.topic.opens_with(name, self.tokens.sentence, end)
        if introduced or self.topic.is_named(phrase.text):
            self.topic.meant = True
            return self.topic.title
        return phrase.text

    def title_end(self, place: int) -> int:
        """Return the end of the topic's name if it begins here, also one with words in lower case."""
        tokens = self.tokens
        for begin in (tokens[place].start, tokens[place].start + 1):
            end = self.topic.begins(tokens.sentence, begin)
            if end and not any(tokens[at].start < end < tokens[at].end - 1 for at in range(place, len(tokens))):
                at = tokens.place_of(end)
                if tokens.is_(at, "be", "have", "past", "pres", "open", "comma", "modal", "adv", "do", "rel"):
                    return at
        return 0

    def _possessed(self, owner: tuple[str, ...], phrase: Phrase, noun: str) -> tuple[Subject, int] | None:
        """Read "Her brother Karl", "Its CEO, Li Warren, was", or "His father was"."""
        tokens = self.tokens
        if phrase.kind == "name" and phrase.before:
            phrases, end = joined(tokens, phrase, acting=True)
            if not verb_at(tokens, end) or any(one.kind != "name" for one in phrases):
                phrases, end = [phrase], phrase.end
            self.facts += [(head, one.before or phrase.before, one.text) for head in owner for one in phrases]
            self._meets(phrase.before)
            return Subject(tuple(one.text for one in phrases)), end
        noun = phrase.before if phrase.of is None and phrase.before and phrase.kind != "name" else phrase.text
        self._meets(noun)
        if len(noun.split()) > 5:
            return None
        comma = tokens.is_(phrase.end, "comma")
        if comma or tokens[phrase.end].text == "The":
            name = noun_phrase(tokens, phrase.end + comma)
            if name and name.kind == "name" and not name.before and (tokens.is_(name.end, "comma") or not comma):
                self.facts += [(head, noun, name.text) for head in owner]
                return Subject((name.text,)), name.end + comma
        return Subject(owner, noun), phrase.end

    def _meets(self, noun: str) -> None:
        self.topic.meets(noun)
        self.unlike = self.unlike or self.topic.is_unlike(noun)

    def _of_genitive(self, phrase: Phrase) -> tuple[Subject, int] | None:
        """Read "Karl Senn's wife", also with her name."""
        tokens = self.tokens
        gen = next(at for at in range(phrase.start, phrase.end) if tokens.is_(at, "gen"))
        owner = noun_phrase(tokens, phrase.start, acts=True) if gen > phrase.start + 1 else None
        name = tokens[gen - 1]
        if name.tag != "name":
            head = (
                self.topic.of_noun(name.text.lower())
                if tokens.is_(phrase.start, "det") and gen == phrase.start + 2
                else ""
            )
            if not head:
                return None
            del owner
        else:
            head = self.topic.subject(name.text)
        after = gen + 1
        if phrase.kind == "name":
            noun = tokens.text(after, phrase.end - 1)
            if not noun:
                return Subject((head,), phrase.text), phrase.end
            self.facts.append((head, noun, phrase.text))
            self._meets(noun)
            return Subject((phrase.text,)), phrase.end
        return self._possessed((head,), replace(phrase, before=tokens.text(after, phrase.end), of=None), "")

    def _described(self, phrase: Phrase) -> tuple[Subject, int] | None:
        """Read "The film", "The wife of Karl Senn", "The ALLOWED_HOSTS setting"."""
        tokens, topic = self.tokens, self.topic
        definite = phrase.determiner in {"the", "this"} and phrase.of is None and phrase.before.lower() == phrase.head
        if definite and (name := topic.of_noun(phrase.head)):
            return Subject((name,)), phrase.end
        if phrase.determiner == "the" and phrase.of is None and topic.has_part(phrase.before):
            return self._possessed((topic.title,), phrase, phrase.before)
        first = phrase.start + (1 if phrase.determiner else 0)
        if tokens.is_(first, "name") and phrase.of is None and not phrase.cut:
            return self._with_name(phrase, first)
        if phrase.of and phrase.determiner == "the" and len(phrase.before.split()) <= 3 and phrase.of.of is None:
            of = phrase.of
            owner = (
                topic.subject(of.text)
                if of.kind == "name" and not of.genitive
                else topic.of_noun(of.head)
                if of.determiner in {"the", "this"} and of.text == of.head
                else ""
            )
            listed, end = joined(tokens, of, acting=True)
            if len(listed) > 1 and phrase.head.endswith("s") and all(one.kind == "name" for one in listed):
                return Subject(tuple(topic.subject(one.text) for one in listed), phrase.before), end
            if phrase.head in _TOWNS and of.kind == "name":
                return Subject((topic.subject(of.text),)), phrase.end
            told = phrase.head in {"number", "name"} or phrase.before == "default value"
            if not owner or (phrase.head in HOLLOW and not told):
                return None
            return self._possessed((owner,), replace(phrase, of=None), "")
        return None

    def _with_name(self, phrase: Phrase, first: int) -> tuple[Subject, int] | None:
        """Read a noun phrase that begins with a name: "The Kell mill", but not "Positional parameters"."""
        tokens, topic = self.tokens, self.topic
        whole = phrase.text
        word = tokens[0].text
        common = self._is_common(word) or ADJECTIVE.search(word.lower()) or _DESCRIBES.search(word)
        placed = _FROM_NAME.search(tokens[first].text)  # "The Ost-based company"
        if placed or (_NATION.fullmatch(tokens[first].text) and phrase.end - first == 2):
            if name := topic.of_noun(phrase.head):
                return Subject((name,)), phrase.end
            if placed or phrase.head in _COMPANY:
                return None
        if first == 0 and common and not topic.is_named(whole) and tokens[0].text not in topic.names:
            return None
        if phrase.head == "first" and phrase.end - first == 2:
            return Subject((self._named(plain(tokens, first), later=False),)), phrase.end  # "Bo Ray first met"
        if {"The", "A", "An", "If", "This"} & set(whole.split()):
            return None
        if topic.is_named(whole):
            return Subject((topic.title,)), phrase.end
        if phrase.head in KINDS - _MADE_FOR and phrase.end - first == 2:
            if not phrase.determiner and tokens.is_(phrase.end, "comma") and tokens[first].text.istitle():
                return None  # "Legacy terminal, written for"
            return Subject((tokens[first].text,)), phrase.end
        one = not phrase.head.endswith("s") or phrase.head.rstrip("s") in KINDS  # or "PO files"
        return (
            (Subject((whole,)), phrase.end)
            if phrase.determiner in {"the", ""} and len(whole.split()) <= 5 and one
            else None
        )
