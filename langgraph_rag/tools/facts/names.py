"""What a text is about, with its dates of life, and the other names that it gives to that and to what else it names.

Only what the text says counts: a title and its short form (`Nine Tides (1931 film)` is also `Nine Tides`), the full
name in the first sentence, "also known as", "born", and abbreviations in brackets. Whether a name that several things
bear may be joined is decided where all of them are known (`index.joining`).
"""

import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence

from langgraph_rag.normal_forms import WORD as ANY_WORD
from langgraph_rag.normal_forms import half_words, normalise
from langgraph_rag.records import Fact, Naming, Record
from langgraph_rag.tools.facts.words import PERSONS
from langgraph_rag.tools.ingest.spans import DATE, MONTHS, NAME_CONNECTORS, Span, is_code, spot, stop_words
from langgraph_rag.tools.ingest.splitting import turns_of

_LONGEST_HEADING = 12  # words
_LONGEST_TITLE = 300  # characters
_SEARCHED = 300  # characters of a text that are searched for an opening name
_BEFORE_NAMES = frozenset({"", "the", "a", "an", "“", '"'})
_DEFINED = re.compile(r"(?:\s*\([^()]*\))*,?\s+(?:is|was|are|were)\s+(?:an?|the|one of)\b")
"""The text after a subject that is defined: ` (1911) was a`."""
_SUBJECT = re.compile(rf"(?:(?:[Tt]he|[Aa]n?)\s+(?=\S))?(?P<subject>[^.;:()\n]{{2,80}}?){_DEFINED.pattern}")
_OF_PROGRAMS = ("#!", "/*", "=head", "=pod", "WEBVTT")
_HEADER = re.compile(r"^(\S+)(?:\t| {3}).*(?:\t| {3})\1$")  # of a manual page: "LS(1)      User Commands      LS(1)"
_FIELDS = re.compile(r"(?:[^\W\d_][\w-]{0,30}:[ \t].*(?:\n[ \t]+.*)*(?:\n|$)){2,}")
_NAME_FIELD = re.compile(r"^(?:[\w-]+-)?(?:title|name|package|subject):[ \t]*(\S.*)$", re.IGNORECASE | re.MULTILINE)
_APPOSED = re.compile(r",\s*(?=[a-z])")  # "Kell Halden, known as ..."
_SENTENCE_END = re.compile("[.!?:…。！？｡：।۔؟։][\"'”’»“」』）)]*$")
_GOES_ON = re.compile(r",?\s+[a-z]|\s*\(")  # like a sentence, unlike "Present: ..."
_LABEL_OR_ITEM = re.compile(r"\s*(?:(?:[-*+•]|1[.)])\s|[^\W\d_a-z][\w -]{0,30}:(?:\s|$))")
_UNFINISHED = re.compile(
    r"\b(?:is|am|are|was|were|be|been|has|have|had|will|would|can|could|did|does)\b"
    r"|\b(?:an?|the|and|or|but|of|in|on|at|by|to|for|from|with|as|that|which|who|whose)$"
)
"""What a first line of a sentence has, unlike most titles; those that do have capitals ("Life Is Short")."""
_ENGLISH = 1 / 6  # minimum share of stop words in English text
_NO_SUBJECT = re.compile(
    r"(?:in|on|at|by|from|with|for|as|since|during|after|before|when|while|although|because|if)\b"
    r"|.*\b(?:he|she|it|they|we|this|these|there|that|which|who|his|her|its|their)\b",
    re.IGNORECASE | re.DOTALL,
)


def topic_of(title: str) -> str:
    """Return a title without its disambiguation: `Mercury (planet)` -> `Mercury`."""
    return re.sub(r"\s*\([^()]*\)\s*$", "", title).strip() or title.strip()


def loosely(name: str) -> str:
    """Return a regex of a name as texts write it, also `Jon- ah` for `Jon-ah`."""
    return re.escape(name).replace(r"\-", r"-\s?").replace("'", "['’]")


def opening_of(text: str) -> str:
    """Return the opening of a text as its title: a first line of its own, or else its subject; empty if it has neither.

    The subject is the term that the first sentence defines ("Out of the Harbour is a novel"), or else a name. A line
    that says who speaks or writes is no title.
    """
    text = text.strip()
    if is_code(text) or text.startswith(_OF_PROGRAMS):
        return ""
    if named := _named_field(text):
        return named
    if 0 in turns_of(text):
        return ""
    first, *others = text.splitlines() or [""]
    first = _HEADER.sub(r"\1", first.strip())
    if (
        others
        and (_stands_alone(first, others[0]) or _is_above_prose(first, others))
        and (others[0].startswith(first) or not _SENTENCE_END.search(first))
        and half_words(first) <= 2 * _LONGEST_HEADING
        and any(map(str.isalpha, first))  # unlike a page number or a drawn line
        and not first.startswith("- ")
    ):
        return first.strip("#*_ ")[:_LONGEST_TITLE]
    acting = _acting(first[:_SEARCHED])
    return _defined(first)[:_LONGEST_TITLE] or (acting if " " in acting or _is_english(text[:_SEARCHED]) else "")


def _named_field(text: str) -> str:
    """Return the value of the field with the name of what is described, of a text that begins with fields."""
    fields = _FIELDS.match(text)
    found = fields and _NAME_FIELD.search(fields[0])
    return found[1].strip()[:_LONGEST_TITLE] if found else ""


def _stands_alone(line: str, below: str) -> bool:
    if line.startswith("#") or not below.strip():
        return True
    return _LABEL_OR_ITEM.match(below) is not None and not _LABEL_OR_ITEM.match(line)


def _is_above_prose(line: str, below: Sequence[str]) -> bool:
    """Return whether a line is much shorter than those below it, and neither a sentence nor the first line of one."""
    first, width = below[0].strip(), max(map(len, below))
    word = first.split()[0] if " " in first else ""  # unlike in Chinese
    return (
        2 * len(line) <= width
        and len(line) + len(word) < width  # it could have been longer
        and not (line[:1].islower() or first[0].islower() or line.endswith((",", ";")))
        and not (_UNFINISHED.search(line) or _LABEL_OR_ITEM.match(line))
    )


def _is_english(text: str) -> bool:
    words = ANY_WORD.findall(text.lower())
    return sum(len(word) > 1 and word in stop_words() for word in words) >= _ENGLISH * len(words)


def opening_name(sentence: str, begin: int = 0) -> Span | None:
    """Return the name at the beginning of a sentence, or at a position in it, possibly after an article."""
    spans = spot(sentence)
    span = next(iter(spans[bisect_left(spans, begin, key=lambda span: span.start) :]), None)
    opens = span and span.kind == "name" and sentence[begin : span.start].strip().lower() in _BEFORE_NAMES
    return span if opens else None


def _defined(sentence: str) -> str:
    found = _SUBJECT.match(sentence)
    subject = found["subject"] if found else ""
    named = any(word[0].isupper() for word in subject.split())
    return _APPOSED.split(subject)[0].strip("\"“”' ") if named and not _NO_SUBJECT.match(subject) else ""


def _acting(sentence: str) -> str:
    name = opening_name(sentence)
    return name.text if name and _GOES_ON.match(sentence, name.end) else ""


_LIFE_DATES = re.compile(r"\(((?:[^()]|\([^()]*\))*\d{4}(?:[^()]|\([^()]*\))*)\)")
_NESTED = re.compile(r"\s*\([^()]*\)")
_DASH = re.compile(r"\s*[–—]\s*|(?:\s+|(?<=\d))-(?=[\s\d])\s*")
_RANGE = re.compile(r"\d[–-]$")
_SPACED = re.compile(r"\s+[–—-]\s+")
_OF_BIRTH, _OF_DEATH = re.compile(r"\bborn\b|\bb\."), re.compile(r"\bdied\b|\bdead\b|\bd\.")
_LIVED = re.compile(rf"{_OF_BIRTH.pattern}|{_OF_DEATH.pattern}|{_DASH.pattern}")
_THEN_DIED = re.compile(r"(?:\s*[,;–—-])?\s+(?=died\b|dead\b|d\.)")
_TWO_DATES = re.compile(
    rf"\s*{DATE.pattern.replace('(?P<mark>', '(').replace('(?P=mark)', '[/.]')}\s+{DATE.pattern}\s*"
)
_OTHER_TIMES = re.compile(r"[,;]\s*(?:(?:r|fl)\.|reigned|ruled|in office)")
_WORD_OR_MARK = re.compile(r"\w+|[^\w\s.]")
_ABOUT = re.compile(r"\b(c\.|ca\.?|circa|about|around) ?$")
_BEFORE_BIRTH = frozenset(
    "born b c ca circa about around before bef bf after aft between early late or née né in on of by "
    "baptised baptized christened bap bapt possibly probably perhaps likely".split()
)


def life_dates(brackets: str) -> Iterator[tuple[str, str]]:
    """Read the dates and places of birth and death, each with its relation, from the parentheses after a name."""
    match = _LIFE_DATES.match(brackets[:250])
    if not match:
        return
    inside = _of_life(_OTHER_TIMES.split(_NESTED.sub("", match[1]), maxsplit=1)[0])
    lived, died = _THEN_DIED.split(inside, maxsplit=1), _dash_of(inside).split(inside, maxsplit=1)
    if len(lived) == 2 and (_OF_BIRTH.search(lived[0]) or DATE.search(lived[0])):
        events = [("born", lived[0]), ("died", lived[1])]
    elif len(died) == 2 and _is_birth(died[0]) and DATE.search(died[1]):
        events = [("born", died[0]), ("died", died[1])]
    elif _TWO_DATES.fullmatch(inside) and len([*DATE.finditer(inside)]) == 2:
        events = list(zip(("born", "died"), (date[0] for date in DATE.finditer(inside)), strict=True))
    elif _OF_BIRTH.search(inside):
        events = [("born", inside)]
    elif _OF_DEATH.search(inside):
        events = [("died", inside)]
    else:
        return
    for event, text in events:
        dates = [span for span in spot(text) if span.kind == "date" and not _RANGE.search(text[: span.start])]
        names = [span for span in spot(text) if span.kind == "name"]
        for date in dates:
            about = _ABOUT.search(text[: date.start])
            yield f"{event} on", f"{about[1]} {date.text}" if about else date.text
        places = [name for name in names if not (dates and 0 < name.start < dates[0].start)]  # no "born Jon Ray, 1900"
        if places and places[0].text[0].isupper():
            yield f"{event} in", whole_place(places, text)


def _of_life(inside: str) -> str:
    """Return the parts of brackets that tell of birth and death."""
    parts = inside.split(";")
    told = ";".join([part for part in parts if _LIVED.search(part)] or parts)
    dated = [part for part in parts if DATE.search(part)]
    return f"born {dated[0]}" if dated and not DATE.search(told) else told  # "born Jon Ray; 1947 in Ost"


def whole_place(names: Sequence[Span], text: str) -> str:
    """Return the first of some names with those that it lies in: `Ost, Norland`."""
    end = names[0].end
    for name in names[1:]:
        if text[end : name.start] == ", ":
            end = name.end
    return text[names[0].start : end]


def _dash_of(inside: str) -> re.Pattern[str]:
    """Return what parts birth and death: the dash with spaces, if there is one, unlike in `1–9 May 1900 – 1971`."""
    return _SPACED if _SPACED.search(inside) else _DASH


def _is_birth(half: str) -> bool:
    """Return whether the text before a dash is a date of birth, and not of a reign or an office."""
    date = DATE.search(half)
    last = _WORD_OR_MARK.findall(half, 0, date.start())[-1:] if date else []
    return date is not None and all(not word[0].islower() or word in _BEFORE_BIRTH for word in last)


_WORD = r"(?:[^\W\d_a-z][\w'’.&/-]*|\d[\w'’-]*)"
_LINK = r"(?:(?:of|the|de|del|della|la|le|du|di|da|dos|von|van|der|den|zu|af|bin|ibn|al|el|y|&) ){0,2}"
_NAME = rf"{_WORD}(?: {_LINK}{_WORD}){{0,7}}"
_LEAD = re.compile(r"(?:The |An? )?(?P<subject>[^(),;:]{2,100}?)(?=\s*\(|,| (?:is|was|are|were|has|had)\b)")
_VERB = re.compile(r"(?:^|[\s),])(?:is|was|are|were|has|had)\b")
_LIFE = re.compile(r"\s*\([^()]*(?:\bborn\b|\bdied\b|\bc\. ?\d|\b[12]?\d{3}\b[^()]*[–—-])")
_BRACKETS = re.compile(r"\([^()]*\)")
_OWN = r"(?:his|her|its|their|the)"
_CUE = (
    r"(?<!best )\bknown (?:[a-z]+ly )?(?:to [a-z]+ )?(?:as|by "
    rf"{_OWN} (?:[a-z]+ )?(?:name|pseudonym|nickname|alias)(?: of)?)(?: just| simply)?"
    r"|\b(?:also|formerly|originally|previously|sometimes|often|commonly|usually) (?:called|named|spelled)"
    rf"|\b(?:under|by) {_OWN} (?:stage|pen|ring|birth) name(?: of)?|\bnicknamed|\balias|\ba\.?k\.?a\.?|\bor simply"
    r"|\babbreviated(?: as| to)?"
)
_QUOTED = r"[\"“]\s?([^\"“”()]{2,60}?)\s?[\"”]"
_END = r"(?=\W*$| ?[,.;:()]| (?:in|and|or|is|was|are|were|who|which|that|because|after|by|at|among|until|as)\b)"
_CALLED = re.compile(
    rf"(?:{_CUE}),?\s?(?:the\s)?(?:{_QUOTED}|((?>{_NAME})){_END})(?: or (?:{_QUOTED}|((?>{_NAME})){_END}))?"
)
_BORN = re.compile(
    rf"(?:[(;]|, ?)\s?(?:born|né) (?P<name>(?!\d){_WORD}(?: {_LINK}(?!\d){_WORD}){{1,7}})(?=\s?[,;)]| on\b| in\b)"
)
_IT_IS = re.compile(r"(?:It|He|She|They) (?:is|was|were|are|has been|had been) [^.,;]{0,20}?$")
_SHORTENED = re.compile(
    r"\(\s?(?:the |abbreviated(?: as| to)? |or )?[\"“']?(?P<short>[A-Z][\w.&-]{1,9})[\"”']?\s?[);,]"
)
_TWO = re.compile(r" (?:or|aka|and) ")
_LISTS = "(disambiguation)"  # what ends the title of a page about a name
_FUNCTION = frozenset("of the and for in on to a an at by".split())
_PERSONAL = re.compile(r"(?:^|[.;,] |\b(?:and|but|when|where|that) )(?:He|She|he|she|His|Her|his|her)\b")
_RANKS = frozenset(
    "king queen prince princess duke duchess count countess emperor empress saint sir lady lord dame pope dr prof "
    "professor president general colonel captain major bishop archbishop st mr mrs".split()
)
KINDS = frozenset(
    "film movie novel book story poem play musical opera song single album series show episode game band magazine "
    "newspaper ship painting comic manga anime sitcom documentary".split()
)
"""What works of one name may be."""
_ROLE = re.compile(r"(?:the |an? )?(?:[a-z][\w-]*,? (?:and )?){0,3}(?P<last>[a-z][\w-]+) (?=[^\W\d_a-z]\S* \S)")
_PLAIN = re.compile(r"[A-Z](?=\w*[a-z])\w{1,5}")  # a word that might be taken for an abbreviation
_INITIALS = re.compile(r"(?!U\. ?[SKN]\.)(?:[A-Z]\. ?)+(?=[A-Z][^\W\d_]+ [A-Z])")  # but for the U.S.
_YEAR = re.compile(r"1[5-9]\d\d|20\d\d")
_SENTENCES = 4  # that may say another name of the topic
_WINDOW = 300  # characters


TITLE, ABBREVIATION, INITIALS, WORD = "title", "abbreviation", "initials", "word"
"""Kinds of names: a title, as that of itself; one that may be a single word; one whose entity must be a title; and one
that is spelled as a word, so that it is no abbreviation."""


def other_names(title: str, sentences: Sequence[str]) -> list[Naming]:
    """Return the names that a passage gives; its title is given, too, as a name of itself."""
    found = [Naming(title, title, TITLE)] if normalise(title) else []
    if (short := topic_of(title)) != title and not title.endswith(_LISTS):
        found.append(Naming(short, title))
    if initials := _INITIALS.match(short):
        found.append(Naming(short[initials.end() :], title))
    if sentences:
        found += [Naming(name, title) for name in _of_topic(short, sentences)]
    for sentence in sentences:
        if "(" in sentence:
            found += _abbreviations(sentence, title)
    return list(dict.fromkeys(one for one in found if one.name and one.entity))


def _of_topic(short: str, sentences: Sequence[str]) -> Iterator[str]:
    """Yield the other names of the topic in the first sentences: its full name, "also known as", "born"."""
    first = sentences[0]
    lead = _LEAD.match(first)
    if short and lead and (subject := _whole(lead["subject"], short, lived=bool(_LIFE.match(first, lead.end())))):
        if normalise(subject) != normalise(short):
            yield subject
        beside = _aside(first, lead.end())
        yield from (name for called in _CALLED.finditer(beside) for name in _names_of(called))
        born = _BORN.search(beside)
        if born and normalise(born["name"]).split()[0] not in MONTHS:
            yield _trimmed(born["name"])
    for sentence in sentences[1:_SENTENCES] if short else ():
        called = _CALLED.search(sentence, 0, _WINDOW)
        if called and _IT_IS.match(sentence[: called.start()]):
            yield from _names_of(called)


def _aside(sentence: str, begin: int) -> str:
    """Return what is said beside a subject that ends there, in brackets or commas, before the verb."""
    aside = sentence[begin : begin + _WINDOW].lstrip()
    if not aside.startswith(("(", ",")):
        return ""
    hidden = _BRACKETS.sub(lambda inside: " " * len(inside[0]), aside)  # the verb there is not that of the sentence
    verb = _VERB.search(hidden)
    return aside[: verb.start() if verb else len(hidden) - len(hidden.lstrip())]


def _names_of(called: re.Match[str]) -> Iterator[str]:
    for name in map(_trimmed, filter(None, called.groups())):
        rank, *rest = normalise(name).split() or [""]
        if not name.islower() and not (rank in _RANKS and rest[:1] == ["of"]):
            yield name


def _trimmed(name: str) -> str:
    return name if re.search(r"\b[A-Z]\.$", name) else name.rstrip(".,'’ ")


def _whole(subject: str, short: str, *, lived: bool) -> str:
    """Return the subject of the first sentence if it is the title, in short or in full; else an empty text.

    In full it ends like the title and has all its words, such as `S. R. Puttanna Kanagal`; with dates of life, it has
    one of them.
    """
    subject = subject.strip(" \"“”'")
    words, wanted = normalise(subject).split(), normalise(short).split()
    left = iter(words)
    has_all = len(wanted) > 1 and all(word in left for word in wanted) and words[-1] == wanted[-1]
    capital = all(not word[0].islower() or len(word) < 4 for word in subject.split()) and not _TWO.search(subject)
    same = words == wanted or (capital and (has_all or (lived and bool(set(words) & set(wanted)))))
    return subject if same and len(words) <= len(wanted) + 5 else ""


def _abbreviations(sentence: str, title: str) -> Iterator[Naming]:
    """Yield the abbreviations in brackets after what they stand for: `Kestrel Holdings (KH)`."""
    for found in _SHORTENED.finditer(sentence):
        letters = [letter.lower() for letter in found["short"].removesuffix("s") if letter.isalpha()]
        capitals = sum(map(str.isupper, found["short"]))
        if capitals >= 2 and (whole := _spelled_out(sentence[: found.start()].rstrip(' "”'), letters)):
            is_topic = normalise(whole) == normalise(topic_of(title))
            yield Naming(found["short"], title if is_topic else whole, ABBREVIATION)


def _spelled_out(before: str, letters: Sequence[str]) -> str:
    """Return the words at the end of a text whose first letters these are, except for those of function words."""
    words = re.findall(r"[^\s-]+(?:[\s-]|$)", before[-120:])
    for count in range(2, min(len(words), 2 * len(letters)) + 1):
        some = words[-count:]
        initials = [word[0].lower() for word in some if word.strip(" -").lower() not in _FUNCTION]
        every = [word[0].lower() for word in some]
        if letters in (initials, every) and some[0].strip(" -").lower() not in _FUNCTION:
            whole = "".join(some).strip()
            capitals = all(word[0].isupper() for word in some if word.strip(" -").lower() not in _FUNCTION)
            return whole if capitals or len(letters) > 2 else ""
    return ""


def names_in(facts: Iterable[Fact], passage: Record) -> list[Naming]:
    """Return the names that a passage gives, and what it says of the names in its facts."""
    return [*other_names(passage["title"], passage["sentences"]), *kinds_told(facts, passage["sentences"])]


def kinds_told(facts: Iterable[Fact], sentences: Sequence[str]) -> list[Naming]:
    """Return what sentences say of the names in their facts, as far as it tells bearers of one name apart.

    For `the 1931 film Nine Tides` and `Nine Tides (1931)`, this is the year and the kind.
    """
    told: dict[Naming, None] = {}
    for fact in facts:
        for name in fact["triple"][::2]:
            if full := _INITIALS.match(name):
                told[Naming(name, name[full.end() :], INITIALS)] = None
            if _PLAIN.fullmatch(name):
                told[Naming(name, "", WORD)] = None
            if not name[:1].islower():
                for place in fact["sentences"]:
                    if kind := _kind_at(name, sentences[place]):
                        told[Naming(name, "", kind)] = None
    return list(told)


def _kind_at(name: str, sentence: str) -> str:
    begin = sentence.find(name)
    if begin < 0:
        return ""
    before = sentence[max(0, begin - 40) : begin].strip("\"“'‘ ").split()[-4:]
    if not _tells(before[-1:]):
        before = []
    after = sentence[begin + len(name) : begin + len(name) + 40].lstrip("\"”'’ ")
    inside = after[1:].partition(")")[0].split() if after.startswith("(") else []
    return " ".join(_tells([*before, *inside]))


def _tells(words: Sequence[str]) -> list[str]:
    return [word for word in map(normalise, words) if word in KINDS or _YEAR.fullmatch(word)]


def with_whole_names(facts: Sequence[Fact], passage: Record) -> list[Fact]:
    """Return facts whose ends are names without roles, and the title, with its qualifier, where they mean the topic.

    These are the title without its qualifier, and the given name or surname of a person who is meant by it all through
    the text. If the other end is the title, both stay.
    """
    title, sentences = passage["title"], passage["sentences"]
    short, form = topic_of(title), normalise(title)
    known = {normalise(short), *_personal(short, sentences)} - {form} if form else set()
    named = []
    for fact in facts:
        relation = fact["triple"][1]
        head, tail = map(_without_role, fact["triple"][::2])
        ends = normalise(head), normalise(tail)
        if ends[0] in known and ends[1] != form:
            head, ends = title, (form, ends[1])
        if ends[1] in known and ends[0] != form:
            tail = title
        named.append(Fact(triple=[head, relation, tail], sentences=fact["sentences"]))
    return named


_WITH_MORE = re.compile(r"\b(?:to|of|for|in|on|at|by|with|from|that|who|which|as)\b")


def _without_role(end: str) -> str:
    """Return `Ilse Tarrant` of `director Ilse Tarrant`."""
    role = _ROLE.match(end)
    named = (
        role
        and not _WITH_MORE.search(role[0])
        and all(word[0].isupper() or word in NAME_CONNECTORS for word in end[role.end() :].split())
    )
    return end[role.end() :] if role and named and PERSONS.search(role["last"]) else end


def _personal(short: str, sentences: Sequence[str]) -> Iterator[str]:
    """Yield the words of the name of a person that mean nobody else in a text, in normal form."""
    words = short.partition(" of ")[0].partition(",")[0].split()
    if not 1 < len(short.split()) < 6 or not all(word[0].isupper() for word in words) or any(map(str.isdigit, short)):
        return
    if not any(_PERSONAL.search(sentence) for sentence in sentences):
        return
    own = {word.strip(".'’") for word in short.split()}
    text = " ".join(sentences)
    for word in (words[0], words[-1]):
        if len(word) > 2 and normalise(word) not in _RANKS and not _shared(word, own, text):
            yield normalise(word)


def _shared(word: str, own: set[str], text: str) -> bool:
    """Return whether a word also stands in another name: `Senn` in `Ida Senn`."""
    beside = re.compile(rf"(?:(?P<before>\w[\w'’-]*) )?\b{re.escape(word)}\b(?! ?['’]s)(?: (?P<after>\w[\w'’-]*))?")
    for found in beside.finditer(text):
        for other in (found["before"], found["after"]):
            if other and other[0].isupper() and other not in own and not _opens(text, found, other):
                return True
    return False


def _opens(text: str, found: re.Match[str], other: str) -> bool:
    """Return whether a capital is that of the first word of a sentence, which is no part of a name."""
    return (
        other == found["before"]
        and text[: found.start()].rstrip()[-1:] in ("", ".", "!", "?")
        and normalise(other) in _OPENS_CLAUSE
    )


_OPENS_CLAUSE = frozenset("when after before while in although though since but and as then later".split())
