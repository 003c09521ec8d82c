"""What a passage is about, and what can refer to it: its short name, a pronoun, "the film"."""

import re
from collections.abc import Iterator

from langgraph_rag.normal_forms import normalise
from langgraph_rag.tools.facts.noun_phrases import PRONOUNS, below, determined, is_name, is_noun, name_of, untitled
from langgraph_rag.tools.language.life_dates import whole_place
from langgraph_rag.tools.language.parsing import Word, is_identifier
from langgraph_rag.tools.language.spans import DATE, Span, spot
from langgraph_rag.tools.language.topics import topic_of

_BE = frozenset("is are was were".split())
_MEN = frozenset("actor king husband son brother father man boy prince duke earl emperor nobleman baronet".split())
_WOMEN = frozenset("actress queen wife daughter sister mother woman girl princess duchess countess empress".split())
_KIN = _MEN | _WOMEN | frozenset("child parent friend partner colleague spouse cousin uncle aunt teacher".split())
_PERSON = re.compile(
    r".*(?:[^n]ist|er|or|ian|man|woman|ess|ete|ant|poet|king|queen|saint|monk|nun|pope|chef|diplomat|spy|priest"
    r"|prince|host|mayor|member|professor|minister|duke|earl|sultan|chief|noble|bishop|abbot|head)"
)
_THINGS = frozenset(
    "letter center theatre computer newspaper water river newsletter number chapter order tower register server "
    "theater parameter "
    "folder character filter layer buffer user motor sensor color factor vector operator error editor paper power "
    "player cluster container header helper wrapper adapter handler driver loader border corner quarter cancer "
    "disorder weather winter summer matter manner chamber harbor tumor floor door thriller restaurant plant "
    "processor".split()
)
_TECHNICAL = frozenset("setting option command method function class attribute variable argument parameter module "
                       "package field flag tag filter keyword middleware widget validator".split())  # fmt: skip
_GROUPS = frozenset("band group duo trio quartet team club company people tribe family brothers orchestra".split())
_EVENTS = frozenset(
    "war battle conflict election campaign festival tournament season storm hurricane exhibition event expedition "
    "siege riot crisis strike conference protest mission flood trial championship".split()
)
_RANKS = frozenset(
    "sir lord lady prince princess king queen duke duchess earl count countess baron baronet saint of de von van the "
    "and emperor empress pope dr jr sr".split()
)
_LIVED = re.compile(
    r"\b(?P<born>born|b\.|née)|\b(?P<died>died|d\.)|(?P<dash>\s[–—-]\s|[–—]|(?<=\d)-\s|(?<=\d{4})-(?=\d{4}))",
    re.IGNORECASE,
)
_DAY = re.compile(r"\b\d{1,2}\b")


class Topic:
    """The topic of one passage.

    Args:
        title: the title of the passage.
    """

    def __init__(self, title: str) -> None:
        self.title = title.strip()
        self._names = {normalise(name) for name in (topic_of(title), title, untitled(topic_of(title)))} - {""}
        self._words = normalise(topic_of(title)).split()
        self._own = set(normalise(re.split(r",| of ", topic_of(title))[0]).split()) - _RANKS  # of a person's name
        self._about = self._focus = False  # whether the passage is about its title, and a pronoun can mean it
        self._person, self._gender = False, ""
        self._nouns: set[str] = set()  # what the title is: "film"
        self._identifier = is_identifier(topic_of(title))

    @property
    def is_person(self) -> bool:
        """Whether the passage is about a person."""
        return self._about and self._person

    def meet(self, root: Word) -> bool:
        """Look at the first sentence: whether it is about the title, and what it says that this is."""
        subject = root.of("nsubj", "nsubjpass")[0]
        named = subject if is_name(subject) else next(iter(subject.of("appos")), subject)
        told, own = set(normalise(name_of(named)).split()), set(self._words)
        called = any(self.is_named(name_of(word)) for word in below(subject) if word.kind and word.role != "poss")
        self._nouns = {_singular(noun) for noun in _kinds(root, subject)}
        alike = bool(told) and (told <= own or len(told & own) * 2 > len(own))  # other forms of a person's name
        if not own or not (called or told >= own or (alike and any(map(_is_person, self._nouns)))):
            return False
        self._about = self._focus = True
        self._names.add(normalise(name_of(named)))
        lived = any(word.text.lower() in ("born", "née") for word in below(root))
        self._person = lived or any(map(_is_person, self._nouns))
        women, men = bool(self._nouns & _WOMEN), bool(self._nouns & _MEN)
        self._gender = "" if women == men else "she" if women else "he"
        return True

    def is_named(self, name: str) -> bool:
        """Return whether a name is the title's, with or without its qualifier."""
        return normalise(name) in self._names

    def is_shortly_named(self, name: str) -> bool:
        """Return whether a name is a part of a person's name that the passage is about."""
        words = set(normalise(name).split()) - _RANKS
        return self.is_person and bool(words) and words <= self._own and max(map(len, words)) > 2

    def is_meant(self, word: Word) -> bool:
        """Return whether a pronoun, or a noun such as "the film", means what the passage is about."""
        if self._identifier and word.text.lower() in _TECHNICAL and determined(word, "this"):
            return not word.of("amod", "prep", "relcl", "acl", "compound", "conj")
        if not self._about or not self._focus:
            return False
        pronoun = PRONOUNS.get(word.text.lower())
        if pronoun in ("he", "she"):
            if not self._person or self._gender not in ("", pronoun):
                return False
            self._gender = pronoun
            return True
        if pronoun == "it":
            return not self._person
        if pronoun == "they":
            return bool(self._nouns & _GROUPS)
        alone = not word.of("amod", "prep", "relcl", "acl", "poss", "nummod", "appos", "conj")
        return self.is_kind(word) and not self._person and alone and determined(word, "the", "this")

    def is_kind(self, word: Word) -> bool:
        """Return whether a noun says what the passage is about: "film"."""
        return is_noun(word) and (
            word.text.lower() in self._nouns or (self._identifier and word.text.lower() in _TECHNICAL)
        )

    def follow(self, verb: Word) -> None:
        """Keep in mind after a clause whom the next pronoun can mean."""
        for subject in verb.of("nsubj", "nsubjpass") if verb.role in ("ROOT", "conj", "ccomp", "advcl") else ():
            lower = subject.text.lower()
            if lower in PRONOUNS:
                self._focus = self.is_meant(subject)
            elif is_name(subject):
                self._focus = self._about and (
                    self.is_named(name_of(subject)) or self.is_shortly_named(name_of(subject))
                )
            elif not self._person or lower in _KIN:
                self._focus = self.is_meant(subject)

    def lives(self, aside: str) -> Iterator[tuple[str, str, str]]:
        """Read dates and places of birth and death in the parentheses after the name: `2 May 1900 in Ost – 1971`."""
        text = max(aside.split(";"), key=lambda part: (len(DATE.findall(part)), "born" in part))
        spans = [span for span in spot(text) if span.kind in ("date", "name")]
        marks = [(mark.start(), mark.lastgroup) for mark in _LIVED.finditer(text)]
        kinds = {kind for _, kind in marks}
        days = len([span for span in spans if span.kind == "date" and _DAY.search(span.text)])
        person = self._person or (days == 2 and len(self._words) > 1 and not self._nouns & _EVENTS)
        if not spans or not (kinds & {"born", "died"} or (person and len(marks) == 1)):
            return
        self._person = True
        events: dict[str, list[Span]] = {"born": [], "died": []}
        for span in spans:
            before = {kind for place, kind in marks if place <= span.start}
            events["died" if before & {"died", "dash"} else "born"].append(span)
        for event, told in events.items():
            date = next((span for span in told if span.kind == "date"), None)
            if date and (event == "died" or kinds != {"died"}):
                yield self.title, f"{event} {'on' if _DAY.search(date.text) else 'in'}", date.text
                after = [
                    span for span in told if span.kind == "name" and (span.start > date.start or "born" not in kinds)
                ]
                if after:
                    yield self.title, f"{event} in", whole_place(after, text)


def _kinds(root: Word, subject: Word) -> list[Word]:
    """Return the nouns that say what a subject is."""
    if root.text.lower() not in _BE:
        return [word for word in subject.of("appos") if is_noun(word)]
    nouns = [word for attr in root.of("attr") for word in (attr, *attr.of("conj"))]
    among = [place for noun in nouns if noun.text == "one" for prep in noun.of("prep") for place in prep.of("pobj")]
    return [*nouns, *among, *(word for word in subject.of("appos") if is_noun(word))]


def _is_person(noun: str) -> bool:
    return noun in _KIN or (_PERSON.fullmatch(noun) is not None and noun not in _THINGS)


def _singular(noun: Word) -> str:
    if noun.kind == "name" and " of " in noun.text:  # "Duke of Ost"
        return noun.text.partition(" of ")[0].rpartition(" ")[2].lower()
    return noun.text.lower().removesuffix("s") if noun.tag == "NNS" else noun.text.lower()
