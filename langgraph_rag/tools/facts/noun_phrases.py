"""What a parsed sentence says of whom: noun phrases, the mood of its verbs, and the topic that it goes on with."""

import re
from collections.abc import Iterable, Iterator
from itertools import pairwise

from langgraph_rag.normal_forms import normalise
from langgraph_rag.tools.facts.names import topic_of, whole_place
from langgraph_rag.tools.facts.parsing import Word, is_identifier, written
from langgraph_rag.tools.ingest.spans import DATE, Span, spot

PRONOUNS = {"he": "he", "his": "he", "him": "he", "she": "she", "her": "she", "it": "it", "its": "it",
            "they": "they", "their": "they"}  # fmt: skip
RELATIVE = frozenset("who which that whom".split())
NOUNS = ("NN", "NNS")
NEGATIVE = frozenset("no not never neither nor none without hardly barely scarcely nobody nothing n't".split())
_VAGUE = frozenset("the this that these those such same other another any some each every all both its his her their "
                   "my your our no many several few most more".split())  # fmt: skip
_TITLES = re.compile(r"(?:(?:Prof|Dr|Gov|Sen|Mr|Mrs|Ms|Rep|Gen|Col|Capt|Lt|Sgt|Rev|Hon)\. )+(?=\w)")
_YEAR = re.compile(r"(?:1\d{3}|20\d{2})s?")
_NATION = re.compile(r"[A-Z][a-z]+(?:ian|ean|ese|ish|an|ch|sh|ek|ss|i)")
_BEFORE_NOUN = frozenset("amod compound nummod nmod quantmod npadvmod advmod case".split())
_OTHER_CLAUSES = frozenset("relcl acl advcl".split())


def is_name(word: Word) -> bool:
    """Return whether a word is a name or an identifier."""
    return word.kind in ("name", "code") or word.tag.startswith("NNP")


def is_noun(word: Word) -> bool:
    """Return whether a word is a common noun."""
    return not word.kind and word.tag in NOUNS


def is_year(word: Word) -> bool:
    """Return whether a word is a date, or a number that looks like a year."""
    return (word.kind == "date" or _YEAR.fullmatch(word.text) is not None) and not word.of("compound")


def is_nation(word: Word) -> bool:
    """Return whether a word looks like `Norwegian`."""
    return not word.kind and word.tag in ("JJ", "NNP") and _NATION.fullmatch(word.text) is not None


def is_refused(word: Word) -> bool:
    """Return whether a noun is negated."""
    return any(part.text.lower() in NEGATIVE for part in (word, *word.children))


def is_choice(word: Word) -> bool:
    """Return whether there are alternatives of which only one holds: `A or B`."""
    return has_name(word) and any(word.text.lower() in ("or", "nor", "either") for word in word.of("cc", "preconj"))


def determined(word: Word, *determiners: str) -> bool:
    """Return whether a noun has one of these determiners."""
    return any(det.text.lower() in determiners for det in word.of("det"))


def name_of(word: Word) -> str:
    """Return a name with the capitalised words before it, without titles: `Vint` of `Prof. Vint`."""
    parts = [word]
    for child in sorted(word.of("compound", "nmod", "amod"), key=lambda child: -child.place):
        joins = child.place == parts[0].place - 1 and not parts[0].gap and (child.kind or child.text[:1].isupper())
        if not word.kind and joins:
            parts.insert(0, child)
    of = next((prep for prep in word.of("prep") if prep.text == "of" and prep.place == word.place + 1), None)
    whole = of and not word.kind and word.tag.startswith("NNP") and next(iter(of.of("pobj")), None)
    if of and whole and is_name(whole) and not of.gap:  # "Bay of Baku"
        return f"{written(parts)} of {name_of(whole)}"
    return untitled(written(parts))


def untitled(name: str) -> str:
    """Return a name without titles before it: `Vint` of `Prof. Vint`."""
    titles = _TITLES.match(name)
    return name[titles.end() :] if titles else name


def short(noun: Word) -> str:
    """Return a noun with its article and the nouns before it; with all before it if it is definite."""
    roles = ("det", "compound", "amod", "nmod", "nummod") if determined(noun, "the") else ("det", "compound")
    left = [child for child in noun.of(*roles) if child.place < noun.place and not is_year(child)]
    parts = [part for child in left for part in below(child) if part.place < noun.place]  # "martial arts film"
    text = " ".join(word.text for word in in_order([*parts, noun]))
    return re.sub(r"^an? (?=(\w))", lambda article: "an " if article[1] in "aeiouAEIO" else "a ", text)


def phrase(noun: Word, *, of: bool = True) -> str:
    """Return a noun phrase: what stands before the noun, without article, and its "of"; less if that is torn apart."""
    parts = {noun}
    for child in noun.children:
        if child.role == "nummod" and child.place == noun.place + 1:  # "version 4.2"
            parts.add(child)
        elif child.place < noun.place and _is_before_noun(child):
            parts.update(part for part in below(child) if part.place < noun.place)
        elif of and child.role == "prep" and child.text.lower() == "of" and child.of("pobj"):
            inner = child.of("pobj")[0]
            parts.add(child)
            parts.update(part for part in below(inner) if not _is_apart(part, inner))
    ordered = _trimmed(parts)
    if _is_torn(ordered):
        return phrase(noun, of=False) if of else ""
    return written(ordered)


def coordinated(noun: Word) -> str:
    """Return a noun phrase with those coordinated: `actor, writer and film director`."""
    chain = [noun]
    while chain[-1].of("conj"):
        chain.append(chain[-1].of("conj")[0])
    first = phrase(noun)
    if len(chain) == 1 or not all(map(is_noun, chain)):
        return first
    ordered = _trimmed({part for part in below(noun) if not _is_loose(part, noun)})
    loose = any(part.tag in ("PRP$", "PRP", "WDT", ":", "``") for part in ordered)
    return first if loose or _is_torn(ordered) else written(ordered)


def tells(word: Word) -> bool:
    """Return whether a noun phrase says something without the text around it."""
    if not (word.kind or word.tag.startswith("NN") or word.tag == "CD"):
        return False
    if any(owner.tag in ("PRP$", "WP$") for owner in word.of("poss")):
        return False
    if any(child.text.lower() in _VAGUE for child in word.children) and not has_name(word):
        return False
    return " " in phrase(word) or word.kind != "" or word.tag == "CD"


def has_name(word: Word) -> bool:
    """Return whether there is a name or number in a noun phrase."""
    return any(is_name(part) or part.tag == "CD" for part in below(word) if not _is_loose(part, word))


def below(word: Word) -> Iterator[Word]:
    """Yield a word and all that depends on it."""
    yield word
    for child in word.children:
        yield from below(child)


def in_order(words: Iterable[Word]) -> list[Word]:
    """Return words in the order of the text, each once."""
    return sorted(dict.fromkeys(words), key=lambda word: word.place)


def _is_before_noun(child: Word) -> bool:
    owner = child.role == "poss" and child.tag not in ("PRP$", "WP$")
    return child.role in _BEFORE_NOUN or owner or (child.role == "punct" and child.text in "-–%")


def _is_apart(word: Word, top: Word) -> bool:
    """Return whether a word below a noun belongs to another clause, or stands after a comma."""
    while word is not top:
        comma = word.role == "punct" and word.tag != "HYPH"
        if word.role in _OTHER_CLAUSES or comma or (word.role == "appos" and word.place != word.head.place + 1):
            return True
        word = word.head
    return False


def _is_loose(word: Word, top: Word) -> bool:
    """Return whether a word below a noun belongs to another clause or to a preposition other than "of"."""
    while word is not top:
        other = word.role == "prep" and word.text.lower() != "of"
        after = word.role == "amod" and word.place > word.head.place  # "composer responsible for"
        if word.role in _OTHER_CLAUSES or word.role == "appos" or other or after:
            return True
        word = word.head
    return False


def _trimmed(parts: Iterable[Word]) -> list[Word]:
    """Return words in order, without articles before and marks around them."""
    ordered = in_order(parts)
    while ordered and (ordered[0].role in ("det", "predet", "punct") or ordered[0].tag in ("DT", "PDT", "PRP$")):
        ordered.pop(0)
    while ordered and ordered[-1].role in ("punct", "cc"):
        ordered.pop()
    return ordered


def _is_torn(ordered: list[Word]) -> bool:
    return any(after.place != before.place + 1 or after.gap for before, after in pairwise(ordered))


_MODALS = frozenset("may might could should would must shall ought 'd need".split())
_UNSURE = frozenset(
    "reportedly allegedly supposedly apparently perhaps possibly probably purportedly presumably maybe seemingly "
    "reputedly ostensibly likely unlikely rumored rumoured if unless whether falsely wrongly almost nearly".split()
)
_REPORTED = frozenset(
    "said believed thought reported rumoured rumored alleged claimed supposed presumed assumed considered denied "
    "doubted disputed expected planned proposed suggested hoped feared asked refused meant intended scheduled "
    "speculated suspected".split()
)
_TELL = frozenset("say says said claim claims claimed believe believes report reports reported write wrote".split())
_CONDITIONS = frozenset("if unless whether long".split())  # "as long as"
_TIMES = frozenset("when once until whenever".split())
_PRESENT = ("VBZ", "VBP", "VB")
_COUNTS = frozenset("census data statistics".split())


def is_verb(word: Word) -> bool:
    """Return whether a word is a verb."""
    return word.tag.startswith(("VB", "MD"))


def asserted(verb: Word) -> bool:
    """Return whether the clause of a verb, and all around it, is stated."""
    lowers = {child.text.lower() for child in verb.children}
    auxiliaries = {child.text.lower() for child in verb.of("aux")}
    if verb.of("neg", "mark") or "to" in auxiliaries or lowers & (_MODALS | _UNSURE) or _none(verb):
        return False
    if verb.text.lower() in _REPORTED and (verb.of("auxpass") or verb.tag == "VBN"):
        return False
    if any(_takes_back(clause, verb) for clause in verb.of("advcl", "parataxis", "ccomp")):
        return False
    return not any(map(_sets_apart, verb.of("prep"))) and asserted_around(verb)


def asserted_around(word: Word) -> bool:
    """Return whether what a word is part of is stated."""
    head = word.head
    if head is word:
        return word.tag != "VB" or bool(word.of("nsubj", "nsubjpass"))
    if word.role in ("ccomp", "xcomp", "pcomp", "csubj", "parataxis"):
        return False
    if word.role in ("advcl", "acl"):
        participle = word.tag == "VBN" or (word.tag == "VBG" and word.role == "acl")
        participle = participle and not word.of("mark", "aux") and not any(w.tag == "WRB" for w in word.of("advmod"))
        return participle and (asserted(head) if is_verb(head) else asserted_around(head))
    if word.role == "conj" and word.tag.startswith("VB"):
        return is_verb(head) and _is_alike(word, head) and asserted(head)
    return asserted(head) if is_verb(head) else asserted_around(head)


def _is_alike(verb: Word, first: Word) -> bool:
    """Return whether a verb can be coordinated with another one: not "allow" with "creating"."""
    if verb.of("nsubj", "nsubjpass", "aux", "auxpass"):
        return True
    if verb.tag == "VBG":
        return first.tag in ("VBG", "VBN")
    return not (first.role == "acl" and verb.tag in ("VBZ", "VBP"))


def _none(verb: Word) -> bool:
    adverbs = {child.text.lower() for child in verb.of("advmod", "nsubj", "nsubjpass", "preconj")}
    return bool(adverbs & NEGATIVE)


def _takes_back(clause: Word, verb: Word) -> bool:
    """Return whether a clause makes that of the verb a condition's or somebody else's."""
    if clause.role != "advcl":
        return clause.text.lower() in _TELL
    marks = {child.text.lower() for child in clause.children}
    return bool(marks & _CONDITIONS or (marks & _TIMES and verb.tag in _PRESENT))


def _sets_apart(prep: Word) -> bool:
    """Return whether a preposition tells that something is not so, or only somebody's word."""
    if prep.text.lower() == "according":
        sources = (place.text.lower() for to in prep.of("prep") for place in to.of("pobj"))
        return not any(source in _COUNTS for source in sources)
    return prep.text.lower() in ("unlike", "without", "contrary")


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
