"""The facts that parsed sentences state, by the shape of their clauses."""

import re
from collections.abc import Iterator, Sequence

from langgraph_rag.normal_forms import normalise
from langgraph_rag.records import Fact
from langgraph_rag.tools.facts.noun_phrases import (
    PRONOUNS,
    RELATIVE,
    Topic,
    asserted,
    asserted_around,
    below,
    coordinated,
    determined,
    has_name,
    in_order,
    is_choice,
    is_name,
    is_nation,
    is_noun,
    is_refused,
    is_verb,
    is_year,
    name_of,
    phrase,
    short,
    tells,
)
from langgraph_rag.tools.facts.parsing import ParsedPiece, Word, written
from langgraph_rag.tools.ingest.spans import MONTHS, is_code

GRAMMAR = 1
"""The number of these rules; another number has all passages read again."""

_BE = frozenset("is are was were be been being 's became become becomes remains remained".split())
_READER = frozenset("you your yours we our us i my me let please e.g.".split())
_COMMANDS = frozenset("use set see note add run call make consider specify enable disable display e.g. e.g".split())
_SYMBOLS = re.compile(r"[{}<>|=\\]|\.\.\. ?\w|[.…]{4}")  # of code and forms
_OF_MANY = frozenset("number part group majority series kind sort type lot variety range set rest member".split())
_WHEN = frozenset("in at on during after before since until till by within over through throughout with".split())
_HAVING = frozenset("starring featuring containing comprising connecting covering".split())
_POINTLESS = frozenset(
    "described considered regarded gave took got put saw seen mentioned called let helped given taken made make makes "
    "take takes gives get gets named elected appointed chose allow "
    "allows allowed enable enables enabled require requires required permit permits cause causes caused".split()
)
"""Verbs that say little of their object alone."""
_BOUNDS = frozenset("since until before after".split())
_LONGEST_RELATION, _LONGEST_TAIL = 9, 14  # words
_MOST_SUBJECTS = 4
_DEEPEST = 2  # prepositions within one another

_Triple = tuple[str, str, str]
_Predicate = tuple[str, str]  # relation and tail


def stated_facts(title: str, pieces: Sequence[ParsedPiece]) -> list[Fact]:
    """Return the facts that the sentences of a passage state, in reading order, each once.

    Args:
        title: the title of the passage.
        pieces: its parsed sentences.
    """
    reader = _Reader(title)
    by_sentence: dict[int, list[_Triple]] = {}
    for piece in pieces:
        by_sentence.setdefault(piece.piece.sentence, []).extend(reader.read(piece))
    found: dict[str, Fact] = {}
    for sentence, triples in by_sentence.items():
        for triple in _without_twins(triples):
            key = "|".join(map(normalise, triple))
            found.setdefault(key, Fact(triple=[*triple], sentences=[sentence]))
    return [*found.values()]


class _Reader:
    """Reads one passage; it knows what its pronouns mean, and which names were there before."""

    def __init__(self, title: str) -> None:
        self._topic = Topic(title)
        self._met = False  # whether the first sentence was read
        self._introduced: int | None = None  # the sentence that introduces the topic
        self._opening: Word | None = None  # the first word of the sentence
        self._seen: set[str] = set()  # names inside of sentences

    def read(self, parsed: ParsedPiece) -> Iterator[_Triple]:
        """Yield the facts of the next sentence, or of parentheses in it."""
        piece, words = parsed
        if piece.aside:
            if self._introduced == piece.sentence:
                lives = [*self._topic.lives(piece.text)]
                self._introduced = None if lives else self._introduced
                yield from lives
            return
        self._introduced = None
        root = next((word for word in words if word.role == "ROOT"), None)
        if root is None or not _is_statement(piece.text, words, root):
            return
        self._opening = words[0]
        self._seen.update(word.text for word in words[1:] if word.tag.startswith("NNP"))
        if not self._met:
            self._met = True
            self._introduced = piece.sentence if self._topic.meet(root) else None
        for word in words:
            yield from self._of_word(word)

    def _of_word(self, word: Word) -> Iterator[_Triple]:
        if is_verb(word):
            subjects = self._subjects(word)
            part = ""
            if not subjects:
                subjects, part = self._owners(word)
            if subjects and asserted(word):
                for relation, tail in self._predicates(word):
                    yield from _facts(subjects[:_MOST_SUBJECTS], f"{part} {relation}", tail)
            self._topic.follow(word)
        elif word.role == "appos":
            yield from self._apposed(word)
        yield from self._owned(word)

    # --- who ---------------------------------------------------------------------------------------------------------
    def _subjects(self, verb: Word) -> list[str]:
        """Return the names of who does what a verb says; none if that is not a name."""
        if own := verb.of("nsubj", "nsubjpass"):
            return self._entities(own[-1])
        if verb.of("expl", "csubj", "csubjpass"):
            return []
        if verb.role == "conj" and is_verb(verb.head):
            return self._subjects(verb.head)
        participle = verb.tag == "VBN"
        having = verb.text.lower() in _HAVING
        if verb.role == "acl" and (participle or having) and (antecedent := _antecedent(verb)):
            return [*filter(None, [self._entity(antecedent)])]
        if verb.role == "advcl" and participle and not verb.of("mark", "aux", "advmod"):
            return self._subjects(verb.head)
        return []

    def _owners(self, verb: Word) -> tuple[list[str], str]:
        """Return whose the subject is, and what it is: `Its boiler holds`, `the offer of Kestrel GmbH was accepted`."""
        noun = next(reversed(verb.of("nsubj", "nsubjpass")), None)
        if not noun or noun.kind or not noun.tag.startswith("NN") or noun.of("conj", "relcl", "acl", "appos", "nummod"):
            return [], ""
        preps = noun.of("prep")
        owners = noun.of("poss") or [place for prep in preps for place in prep.of("pobj")]
        of = all(prep.text.lower() == "of" for prep in preps) and len(preps) + len(noun.of("poss")) == 1
        if not of or len(owners) != 1 or noun.text.lower().removesuffix("s") in _OF_MANY:
            return [], ""
        left = [child for child in noun.of("amod", "compound") if child.place < noun.place]
        if any(child.kind for child in left):
            return [], ""
        return self._entities(owners[0]), written(in_order([*left, noun]))

    def _entities(self, word: Word) -> list[str]:
        """Return the names that a word and those coordinated with it stand for; none if it is no name."""
        first = self._entity(word)
        if any(cc.text.lower() in ("or", "nor") for other in (word, *word.of("conj")) for cc in other.of("cc")):
            return [first] if first and word.role in ("nsubj", "nsubjpass") else []
        if first or word.kind:
            others = [name for other in word.of("conj") for name in self._entities(other)]
            return [first, *others] if first else others
        apposed = [other for other in word.of("conj") if is_noun(word) and is_noun(other) and other.of("appos")]
        return [name for other in apposed for name in self._entities(other)]

    def _entity(self, word: Word) -> str:
        """Return the name that a word stands for, or ""."""
        lower = word.text.lower()
        if lower in RELATIVE and word.head.role == "relcl":
            return self._of_relative(word.head.head, lower)
        if lower in PRONOUNS or (self._topic.is_kind(word) and self._topic.is_meant(word)):
            return self._topic.title if self._topic.is_meant(word) else ""
        if word.role == "attr" and (word.of("det") or is_noun(word)):
            return next(iter(self._subjects(word.head)), "") if word.head.text.lower() in _BE else ""
        owned = not word.kind and word.of("poss") and word.of("appos")  # "its CEO, Li Warren"
        if is_name(word) and not owned:
            return self._named(word)
        return self._of_noun(word) if is_noun(word) or owned else ""

    def _of_relative(self, antecedent: Word, pronoun: str) -> str:
        unsure = pronoun != "who" and is_name(antecedent) and not antecedent.of("punct")  # "by A of B which ..."
        return "" if unsure else self._entity(antecedent)

    def _named(self, word: Word) -> str:
        name = name_of(word)
        if self._topic.is_named(name) or self._topic.is_shortly_named(name):
            return self._topic.title
        if word.kind:
            return name
        opens = word is self._opening and " " not in name and not name.isupper() and name not in self._seen
        if opens and word.head.tag not in ("VBD", "VBN"):
            return ""  # rather a common noun
        return "" if word.of("poss") or name[:1].islower() or name.lower() in MONTHS else name

    def _of_noun(self, word: Word) -> str:
        """Return the name that a noun announces: `the singer Ada Renk`, `Ada Renk, a singer`."""
        named = [other for other in word.of("appos") if is_name(other) and other.place > word.place]
        if named:
            return self._entity(named[0])
        return self._entity(word.head) if word.role == "appos" and is_name(word.head) else ""

    # --- what --------------------------------------------------------------------------------------------------------
    def _predicates(self, verb: Word) -> Iterator[_Predicate]:
        """Yield what a clause says of its subject."""
        base, objects = _base(verb), verb.of("dobj")
        if verb.role == "relcl" and any(word.text.lower() in RELATIVE for word in objects):  # "the mill that he built"
            yield from ((base, name) for name in self._entities(verb.head))
            return
        if _says_more(verb) or _lacks_object(verb) or any(is_refused(word) or is_choice(word) for word in objects):
            return
        for attr in verb.of("oprd", *(["attr"] if verb.text.lower() in _BE else [])):
            yield from self._is_a(base, attr)
        for word in objects:
            yield from self._object(base, word, verb)
        for adjective in verb.of("acomp"):
            yield from self._is_like(base, adjective)
        for date in verb.of("npadvmod"):
            if date.kind == "date":
                yield base, date.text
        if _is_complete(verb):
            yield from self._attached(_with_complement(base, verb), verb)
        yield from self._shared_agent(base, verb)

    def _is_a(self, base: str, attr: Word) -> Iterator[_Predicate]:
        """Read `is a Norwegian singer`, `is the CEO of Skell Lines`, `is Ada Renk`."""
        if is_refused(attr) or is_choice(attr) or not (attr.kind or attr.tag.startswith("NN") or attr.tag == "CD"):
            return
        if is_name(attr) and attr.of("det") and attr.of("prep", "acl", "relcl"):
            return  # "the International Commission" on something
        if attr.kind == "name" and attr.of("det") and " of " in attr.text:  # "the CEO of Skell Lines"
            office, _, rest = attr.text.partition(" of ")
            yield f"{base} {attr.of('det')[0].text} {office} of", rest
        if is_name(attr) and (attr.kind or not attr.of("det")):
            yield from ((base, name) for name in self._apart(attr) if not attr.of("det") or " of " not in name)
            return
        whole = coordinated(attr)
        owners = attr.of("poss")
        bare = attr.of("prep") and " " not in whole
        if whole and not (owners or bare or self._ends_named(attr) or determined(attr, "the", "this", "that", "these")):
            yield base, whole
        if not owners:
            yield from self._of_kind(base, attr)
        for owner in owners:
            if name := self._entity(owner):
                yield f"{base} {attr.text} of", name
        for noun in (attr, *(other for other in attr.of("conj") if not is_name(other))):
            yield from self._attached(f"{base} {short(noun)}", noun)

    def _of_kind(self, base: str, attr: Word) -> Iterator[_Predicate]:
        """Read the nationality of a person and the year of a work: `a Norwegian singer`, `a 1931 film`."""
        before = attr.of("amod", "nmod", "compound", "nummod")
        nations = [word.text for word in before if is_nation(word)]
        mine = attr.role == "attr" and self._subjects(attr.head) == [self._topic.title]
        if self._topic.is_person and mine and len(nations) == 1:
            yield "nationality", nations[0]
        yield from ((f"{base} {short(attr)} of", word.text) for word in before if is_year(word))

    def _apart(self, attr: Word) -> list[str]:
        """Return the names of what something is, instead of the names of that something."""
        role, attr.role = attr.role, "pobj"
        names = self._entities(attr)
        attr.role = role
        return names

    def _is_like(self, base: str, adjective: Word) -> Iterator[_Predicate]:
        """Read `is 30 metres tall`, `is famous for Hamlet`."""
        for measure in adjective.of("npadvmod"):
            if any(part.tag == "CD" or part.kind == "number" for part in below(measure)):
                yield base, written(in_order([*below(measure), adjective]))
        yield from self._attached(f"{base} {adjective.text}", adjective)

    def _object(self, base: str, word: Word, verb: Word) -> Iterator[_Predicate]:
        if word.text.lower() in RELATIVE | PRONOUNS.keys():
            return
        names = self._entities(word)
        if names and (is_name(word) or word.of("appos")) and verb.text.lower() in _POINTLESS:
            return
        if names and (is_name(word) or word.of("appos")):
            more = [f" and {other.text}" for other in word.of("conj") if other.tag in ("JJR", "RB", "RBR")]
            yield from ((base, name + "".join(more)) for name in names)
            yield from self._attached(f"{base} {names[0]}", word)
            return
        if tells(word) and not self._ends_named(word) and not self._goes_on(word, verb):
            yield base, coordinated(word)
        yield from self._attached(f"{base} {phrase(word, of=False) or word.text}", word)

    def _goes_on(self, word: Word, verb: Word) -> bool:
        """Return whether a fact that ends with an object would leave out what it is for, from or to, or which it is."""
        if word.of("relcl", "acl") or verb.text.lower() in _POINTLESS:
            return True
        preps = [prep for prep in (*word.of("prep"), *verb.of("prep")) if prep.place > word.place]
        return any(prep.text.lower() != "of" and (not prep.of("pobj") or self._is_common(prep)) for prep in preps)

    def _ends_named(self, word: Word) -> bool:
        """Return whether a noun phrase goes on with "of" and a name, which is the tail of a fact of its own."""
        nouns = (word, *(() if word.of("prep") else word.of("conj")))  # also "partner and teammate of Ada Renk"
        preps = [prep for noun in nouns for prep in noun.of("prep") if prep.text.lower() == "of"]
        places = [place for prep in preps for place in prep.of("pobj")]
        return any(map(self._entities, places))

    def _shared_agent(self, base: str, verb: Word) -> Iterator[_Predicate]:
        """Read `written and directed by Ada Renk` also as written by her."""
        if verb.tag == "VBN" and not verb.of("prep", "agent", "dobj"):
            for other in verb.of("conj"):
                while not other.of("agent") and other.of("conj"):
                    other = other.of("conj")[0]
                for agent in other.of("agent"):
                    yield from self._of_preposition(base, agent, _DEEPEST)

    # --- where, when, of whom ----------------------------------------------------------------------------------------
    def _attached(self, base: str, word: Word, depth: int = 0) -> Iterator[_Predicate]:
        """Yield what prepositions join to a verb or noun; what says nothing alone stands in the relations after it."""
        first_only = word.role == "attr" and determined(word, "the")  # "the largest city in Norland by the sea"
        for prep in word.of("prep", "agent")[: 1 if first_only else None]:
            negated = prep.of("neg") or any(
                child.text.lower() == "not" and child.place == prep.place - 1 for child in word.children
            )
            for other in (*([] if negated else [prep]), *prep.of("conj")):
                yield from self._of_preposition(base, other, depth)
            common = prep.place > word.place and prep.of("pobj") and self._is_common(prep)
            if prep.role == "prep" and prep.of("pobj") and (common or prep.text.lower() == "of"):
                place = prep.of("pobj")[0]
                base = f"{base} {prep.text.lower()} {phrase(place) or place.text}"

    def _is_common(self, prep: Word) -> bool:
        """Return whether a preposition joins only common words, such as "to prominence"."""
        return not any(self._entities(place) or place.kind or has_name(place) for place in prep.of("pobj"))

    def _of_preposition(self, base: str, prep: Word, depth: int) -> Iterator[_Predicate]:
        own = prep.text if prep.text.isupper() else prep.text.lower()
        own = "such as" if own == "as" and _follows_such(prep) else own
        relation = f"{base} {own}"
        if base.endswith("known") and own not in ("as", "for"):
            return
        for nested in prep.of("prep"):
            if nested.place == prep.place + 1 and not nested.gap:  # "out of"
                yield from self._of_preposition(relation, nested, depth)
        for place in prep.of("pobj"):
            if is_refused(place) or is_choice(place):
                continue
            if own == "between" and place.of("conj"):
                yield from self._between(relation, place)
                continue
            yield from self._at(relation, own, place)
            if depth < _DEEPEST:
                yield from self._within(base, relation, place, depth + 1)

    def _between(self, relation: str, place: Word) -> Iterator[_Predicate]:
        ends = [self._entity(end) or phrase(end) for end in (place, *place.of("conj"))]
        if len(ends) == 2 and all(ends) and has_name(place):
            yield relation, " and ".join(ends)

    def _at(self, relation: str, preposition: str, place: Word) -> Iterator[_Predicate]:
        """Yield what follows a preposition."""
        if is_year(place) or (place.tag == "CD" and not place.children):
            dates = [place, *(other for other in place.of("conj") if is_year(other))]
            yield from ((relation, date.text) for date in dates)
        elif names := self._entities(place):
            announced = not is_name(place) and not self._topic.is_kind(place)
            yield from ((f"{relation} {place.text}" if announced else relation, name) for name in names)
        elif preposition != "of" and tells(place) and self._stands_alone(preposition, place):
            yield relation, coordinated(place)

    def _stands_alone(self, preposition: str, place: Word) -> bool:
        return (has_name(place) or preposition not in _WHEN) and not self._ends_named(place)

    def _within(self, base: str, relation: str, place: Word, depth: int) -> Iterator[_Predicate]:
        """Yield what further prepositions join: `in the harbour of Ost in 1911`."""
        for nested in place.of("prep"):
            target = next(iter(nested.of("pobj")), None)
            bound = relation.rpartition(" ")[2] in _BOUNDS
            if target and is_year(target) and nested.text.lower() != "of" and not bound:
                yield from self._of_preposition(base, nested, depth)
            elif not (place.kind == "date" or place.tag == "CD" or (target and target.tag == "CD")):
                told = name_of(place) if is_name(place) else phrase(place, of=nested.text.lower() != "of") or place.text
                yield from self._of_preposition(f"{relation} {told}", nested, depth)

    # --- nouns -------------------------------------------------------------------------------------------------------
    def _apposed(self, word: Word) -> Iterator[_Triple]:
        """Read `Bo Ray, the CEO of Skell Lines`."""
        if not is_noun(word) or not is_name(word.head) or not asserted_around(word):
            return
        first = min(part.place for part in below(word))
        near = any(child.text == "," and child.place == first - 1 for child in word.head.children)
        if near and first == word.head.place + 2 and word.of("det", "prep") and (subject := self._entity(word.head)):
            for relation, tail in self._is_a("is", word):
                yield from _facts([subject], relation, tail)

    def _owned(self, word: Word) -> Iterator[_Triple]:
        """Read `Karl Senn's wife Ida`, `its CEO, Li Warren`."""
        held = [other for other in word.of("appos") if is_name(other)]
        if word.kind or not word.tag.startswith("NN") or not word.of("poss") or not held or not asserted_around(word):
            return
        left = [child for child in word.of("amod", "compound") if child.place < word.place]
        relation = written(in_order([*left, word]))
        names = [name for other in held for name in self._apart(other)]
        for name in names:
            yield from _facts(self._entities(word.of("poss")[0]), relation, name)


def _is_statement(text: str, words: Sequence[Word], root: Word) -> bool:
    """Return whether a sentence states something, and is none of code, a form, a speaker, its writer or its reader."""
    if is_code(text) or text.rstrip().endswith("?") or _SYMBOLS.search(text) or _has_speaker(words):
        return False
    if _is_listed(words) or not root.of("nsubj", "nsubjpass") or (root.text[:1].isupper() and not root.text.isupper()):
        return False
    finite = root.tag in ("VBZ", "VBP", "VBD", "MD") or bool(root.of("aux", "auxpass"))
    return is_verb(root) and finite and not any(map(_is_personal, words))


def _is_listed(words: Sequence[Word]) -> bool:
    """Return whether a sentence is rather a command, code, or an option with what it is for."""
    first, second = words[0], words[min(1, len(words) - 1)]
    if first.kind:
        return first.kind == "code" and second.text[:1].isupper() and not second.kind
    return first.text[:1].islower() or first.text.lower() in _COMMANDS


def _has_speaker(words: Sequence[Word]) -> bool:
    """Return whether a sentence is what somebody says in a dialogue: `Ada Renk: It was sold.`."""
    mark = next((place for place, word in enumerate(words[:5]) if word.text == ":"), 0)
    return mark > 0 and all(word.kind == "name" or word.text[:1].isupper() for word in words[:mark])


def _is_personal(word: Word) -> bool:
    """Return whether a word makes a sentence one about its writer or reader, or an example."""
    if word.text.lower() in ("example", "instance"):
        return word.role == "pobj" and word.head.text.lower() == "for"
    return not word.kind and word.text.lower() in _READER and word.text not in ("US", "ME") and word.tag != "NNP"


def _antecedent(verb: Word) -> Word | None:
    """Return what a participle describes; rather what the clause is about than a name at its end."""
    word = verb.head
    commas = [child for child in word.children if child.text == "," and word.place < child.place < verb.place]
    if not commas and (not is_name(word) or word.role in ("attr", "nsubj", "nsubjpass")):
        return word
    while word.role in ("conj", "pobj", "dobj", "agent", "prep", "acl", "appos"):
        word = word.head
    return word if word.role in ("attr", "nsubj", "nsubjpass") else None


def _base(verb: Word) -> str:
    """Return the words of a verb; of a participle with what it describes: `is a film directed`."""
    first = verb
    while first.role == "conj" and first.head.tag.startswith("VB"):
        first = first.head
    antecedent = _antecedent(first) if first.role == "acl" else None
    if antecedent and antecedent.role == "attr":
        return f"{_group(antecedent.head)} {short(antecedent)} {_group(verb)}"
    return _group(verb)


def _group(verb: Word) -> str:
    """Return a verb with its auxiliaries and particle; those of a coordinated verb are the first one's."""
    own = [child for child in verb.of("aux", "auxpass") if child.place < verb.place]
    if verb.tag == "VBN" and not own and verb.role == "conj":
        own = [child for child in verb.head.of("aux", "auxpass") if child.place < verb.head.place]
    return " ".join(word.text for word in [*own, verb, *verb.of("prt")])


def _with_complement(base: str, verb: Word) -> str:
    """Return a verb with its object, for what prepositions say of both: `won the prize` (in 1911)."""
    if objects := verb.of("dobj"):
        told = objects[0].text.lower() not in RELATIVE | PRONOUNS.keys()
        return f"{base} {phrase(objects[0]) or objects[0].text}" if told else base
    if others := verb.of("oprd", "acomp"):
        return f"{base} {others[0].text}"
    attr = next(iter(verb.of("attr")), None)
    return f"{base} {short(attr)}" if attr and not is_refused(attr) else base


def _follows_such(prep: Word) -> bool:
    return any(word.text == "such" and word.place == prep.place - 1 for word in (*prep.children, *prep.head.children))


def _says_more(verb: Word) -> bool:
    """Return whether a verb is about another clause, or about what a pronoun means."""
    pronouns = [word for word in verb.of("dobj", "dative") if word.tag in ("PRP", "DT") or word.text.lower() == "one"]
    return bool(pronouns or verb.of("xcomp", "ccomp"))


def _lacks_object(verb: Word) -> bool:
    """Return whether a relative clause is about an object that it does not name: "the film she made in 1911"."""
    relative = any(word.text.lower() in RELATIVE for word in verb.of("nsubj", "nsubjpass", "dobj"))
    return verb.role == "relcl" and not relative


def _is_complete(verb: Word) -> bool:
    """Return whether a verb with its object, or what it says that something is, can be said without the text around."""
    for word in verb.of("dobj"):
        points = determined(word, "the", "this", "that", "these", "those") or word.of("relcl", "acl")
        if is_noun(word) and points and not has_name(word):
            return False
    return not any(determined(attr, "the") and attr.of("prep", "relcl", "acl") for attr in verb.of("attr"))


def _facts(subjects: Sequence[str], relation: str, tail: str) -> Iterator[_Triple]:
    """Yield a fact of each subject, unless it is too long or about itself."""
    words = relation.split()
    if words and words[0].istitle():
        words[0] = words[0].lower()
    if words and tail and len(words) <= _LONGEST_RELATION and len(tail.split()) <= _LONGEST_TAIL:
        for subject in subjects:
            if normalise(tail) not in ("", normalise(subject)):
                yield subject, " ".join(words), tail


def _without_twins(triples: Sequence[_Triple]) -> list[_Triple]:
    """Return the facts of a sentence without those with which another one of them begins: `is | film`."""
    triples = list(dict.fromkeys(triples))
    texts = [f"{normalise(head)}| {_plain(f'{relation} {tail}')} " for head, relation, tail in triples]
    return [
        triple
        for triple, text in zip(triples, texts, strict=True)
        if not triple[2][0].islower() or not any(len(other) > len(text) and other.startswith(text) for other in texts)
    ]


def _plain(text: str) -> str:
    return " ".join(word for word in normalise(text).split() if word not in ("a", "an", "the"))
