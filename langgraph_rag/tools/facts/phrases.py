"""Reads noun phrases, verbs and prepositions from the tokens of a sentence, as the rules use them."""

import re
from dataclasses import dataclass, replace

from langgraph_rag.tools.facts.words import ARTICLES, PARTICLES, PERSONS, Tokens, tag_of

KINDS = frozenset(  # of things that are called by a name or an identifier before the word
    "setting option command method class function attribute variable parameter argument file module directive "
    "builtin flag field keyword middleware tag filter backend header event decorator package property operator "
    "statement terminal exception error signal widget lookup manager language protocol format library database "
    "library".split()
)
ROLES = frozenset(
    "CEO CFO CTO COO CIO President Chairman Chairwoman Chair Mayor Minister Governor Senator Secretary Director "
    "Professor Dean Head Captain Commander Bishop Archbishop King Queen Prince Princess Duke Duchess Earl Count "
    "Countess Emperor Empress Lord Vice Deputy Chancellor Ambassador Founder Sultan Member Prime Premier".split()
)
_MODIFIERS = frozenset({"name", "num", "word"})
ADJECTIVE = re.compile(
    r"(?:[a-z]{2}(?:ic|al|ish|ese|ive|ous|ful|less|ible|able|ary|ant|ern|some)|(?:small|larg|high|low|old|young|long|short|great|fast|strong)er|(?:^|-)(?:public|private|small|large|free|open|short|long|old|new|young"
    r"|independent|non-\w+|black|white|red|blue|green|dark|light|low|high|early|late|recent|single|multi-\w+))$"
)
_SUPERLATIVE = re.compile(
    r"\b(?:most|least|best|worst|only|(?!(?:forest|interest|request|modest|honest|harvest|protest|contest|priest|earnest"
    r"|northwest|southwest|manifest|conquest|digest|tempest|inquest)\b)[a-z]{3,}est)\b"
)
AMONG = frozenset("in on of among to since".split())
"""Prepositions of what a superlative is chosen from."""
_HAVING = frozenset(
    "using featuring starring containing including covering describing involving requiring allowing providing "
    "connecting surrounding regarding concerning comprising depicting representing celebrating offering".split()
)
_EDITION = re.compile(r"(?:Olympics|Games|Cup|Championships?|Tournament|Series|Festival|Awards|Prix|Open|Election)$")
_SCORE = re.compile(r"\d+[-–:]\d+")
_SUM = re.compile(r"[A-Z]{3} \d|[$€£]|.*illion\b")
_GROUP = re.compile(r"(?:super|sub)?group|band|duo|trio|quartet|choir|team|club|pub|company|newspaper|magazine|ship")
_QUOTED = re.compile(r"[\"“”]")
_COMMON_ACRONYM = re.compile(r"[A-Z]{2,4}s?")
_ORDINAL = re.compile(r"\d+(?:st|nd|rd|th)")
_ONWARD = frozenset("higher later newer above earlier older lower below others more".split())
_GOES_ON = frozenset({"word", "num", "name", "gen", "det", "poss"})
COMPOUND = frozenset("favor favour behalf front case terms place spite charge honor honour memory".split())
_ENDS_NOUN = frozenset(
    {"prep", "comma", "stop", "be", "have", "and", "but", "sub", "rel", "open", "close", "modal", "gen"}
)


@dataclass(frozen=True, slots=True)
class Phrase:
    """A noun phrase over the tokens from `start` to `end`.

    `kind` is "name", "date", "number", "noun" or "pronoun". `text` has no article; that of a name has no description
    before it either. `head` is its last word before "of". `named` is the place of the name after "of", if there is one.
    """

    start: int
    end: int
    kind: str
    text: str
    head: str
    determiner: str = ""
    of: "Phrase | None" = None
    genitive: bool = False
    before: str = ""
    cut: bool = False

    @property
    def owned(self) -> bool:
        """Return whether it belongs to somebody whom only a pronoun names."""
        return self.determiner in {"his", "her", "its", "their", "whose", "my", "our", "your"}


def noun_phrase(tokens: Tokens, start: int, *, acts: bool = False) -> Phrase | None:  # noqa: C901
    """Read the noun phrase that begins at a token; if it acts, a verb may follow directly."""
    place, determiner, most = start, "", False
    if (
        tokens.is_(place, "pron")
        and not (
            tokens[place].text.lower() in {"one", "another", "other", "others"}
            and tokens.is_(place + 1, "word", "name")
        )
        and (tokens[place].text.lower() != "one" or tokens[place + 1].text != "of")
    ):
        return Phrase(start, place + 1, "pronoun", tokens[place].text, tokens[place].text.lower())
    while tokens.is_(place, "det", "poss"):
        if determiner == "the" and tokens[place].text == "most" and tokens[place + 1].text != "of":
            place, most = place + 1, True
            break
        if tokens.is_(place, "poss") and determiner and tokens[place - 1].text.lower() in ARTICLES:
            return None
        determiner = tokens[place].text.lower()
        place += 1
    begin = place
    end = _core(tokens, place, acts=acts, determined=bool(determiner))
    if determiner and (after := _last_of_adjectives(tokens, end)):
        end = _core(tokens, after, acts=acts, determined=True)
    end += end == begin and tokens.is_(begin, "date")
    if end == begin:
        if most or determiner in {
            "this",
            "these",
            "that",
            "those",
            "all",
            "some",
            "many",
            "most",
            "both",
            "several",
            "any",
        }:
            return Phrase(start, begin, "pronoun", determiner, determiner)
        return None
    begin -= most  # "the most popular song"
    last, first = tokens[end - 1], tokens[begin]
    cut = (
        tokens.is_(end, *_GOES_ON)
        and tokens[end].text != "that"
        and not (tokens.is_(end, "name", "det", "num") and tokens.is_(end - 1, "date"))
        and not _SCORE.fullmatch(tokens[end].text)
    )
    genitive = any(tokens.is_(at, "gen") for at in range(begin, end))
    cut = cut or tokens[end].text in {"/", "than"} or _goes_on(tokens, end)
    cut = cut or (tokens[end].text == "[" and tokens[end].start == last.end)  # "META['HOST']"
    if last.tag == "name" and not (last.text.islower() and end > begin + 1):
        numbered = end - 1 > begin and _ORDINAL.fullmatch(tokens[end - 2].text) is not None  # "21st Ost Regiment"
        edition = " " not in last.text or _EDITION.search(last.text) is not None
        dated = end == begin + 2 and determiner != "" and first.tag == "date" and edition
        numbered = numbered or dated  # "the 2004 Olympics"
        name = tokens.text(end - 2, end) if numbered else last.text
        before = tokens.text(begin, end - 1 - numbered)
        noun = tokens[end - 2].text if end > begin + 1 else ""
        common = noun.islower() and tokens.is_(end - 2, "word") and not PERSONS.search(noun)
        if common and (before[:1].islower() or genitive) and _COMMON_ACRONYM.fullmatch(name):
            compound = tokens.text(begin, end)  # "pay TV"
            return Phrase(start, end, "noun", compound, name.lower(), determiner, None, genitive, compound, cut)
        if first.tag == "num" and first.text[0].isdigit() and end > begin + 1 and not numbered:
            counted = tokens.text(begin, end)  # "300 mM NaCl"
            return Phrase(start, end, "number", counted, name.lower(), determiner, None, genitive, counted, cut)
        return Phrase(start, end, "name", name, name, determiner, None, genitive, before, cut)
    if end == begin + 1 and first.tag == "date":
        return Phrase(start, end, "date", first.text, first.text, determiner)
    kind = "number" if first.tag == "num" and determiner in ("", "about", "the", "a") else "noun"
    head = last.text.lower()
    named = noun_phrase(tokens, end) if _GROUP.fullmatch(head) and tokens[end].text.lower() == "the" else None
    if named and named.kind == "name" and not named.before:  # "the local band the Owls"
        return replace(named, start=start, determiner=determiner, before=tokens.text(begin, end))
    of = noun_phrase(tokens, end + 1) if tokens[end].text == "of" else None
    if of and of.kind == "pronoun":
        of = None
    cut = cut or (tokens[end].text == "of" and not of) or (of is not None and of.cut)
    whole = of.end if of else end
    if kind == "number" and tokens[end].text in {"a", "an", "per"} and tokens.is_(end + 1, "word"):
        whole, cut = end + 2, False  # "400 crowns a month"
    text = tokens.text(begin, whole)
    return Phrase(start, whole, kind, text, head, determiner, of, genitive, tokens.text(begin, end), cut)


def _goes_on(tokens: Tokens, end: int) -> bool:
    """Return whether others follow that share the noun: "old, socially conscious, and new songs", "20 and 19 years"."""
    if tokens.is_(end - 1, "num") and tokens.is_(end, "and"):
        return tokens.is_(end + 1, "num") and tokens.is_(end + 2, "word")
    if tokens.is_(end, "open"):
        return tokens.is_(tokens.after_brackets(end), "word", "name")  # "the Kell (red) and Ost (blue) lamps"
    if tokens[end - 2].text.lower() == "the" and tokens.is_(end - 1, "name") and tokens.is_(end, "and"):
        return tokens.is_(end + 1, "name") and tokens.is_(end + 2, "word")  # "the Kell and Ost parts"
    if not tokens.is_(end, "comma"):
        return False
    adverb = tokens[end + 1].text.endswith("ly") and tokens.is_(end + 2, "word", "past")
    described = tokens[end - 1].text.endswith("ing") or ADJECTIVE.search(tokens[end - 1].text) is not None
    return adverb or (described and tokens.is_(end + 1, "word") and tokens.is_(end + 2, "word"))  # "close lying, wiry"


def is_superlative(phrase: Phrase) -> bool:
    """Return whether a phrase singles out what only a place or time makes so: "one of the oldest inns"."""
    chosen = phrase.text.startswith("one of ") or _SUPERLATIVE.search(phrase.text) is not None
    return chosen and phrase.kind != "name"


def _last_of_adjectives(tokens: Tokens, end: int) -> int:
    """Return the place after "and" in "a school for early learning, primary and secondary teaching", or 0."""
    at = end + 1
    while tokens.is_(at - 1, "comma") and tokens.is_(at, "word") and ADJECTIVE.search(tokens[at].text):
        if tokens.is_(at + 1, "and"):
            return at + 2 if tokens.is_(at + 2, "word") and ADJECTIVE.search(tokens[at + 2].text) else 0
        at += 2
    return 0


def _core(tokens: Tokens, place: int, *, acts: bool, determined: bool) -> int:
    """Return the end of the modifiers and the noun from a place on."""
    begin = place
    one = tokens[place - 1].text.lower() in {"a", "an", "each", "every", "this"}  # no plural follows
    while True:
        token, following = tokens[place], tokens[place + 1].tag
        tag, inside = token.tag, place > begin or determined
        noun_next = following == "word" or (following == "pres" and not acts)
        if (
            tag in _MODIFIERS
            or (
                tag == "date"
                and ((place == begin and (determined or following != "name")) or (inside and following in _MODIFIERS))
            )
            or (tag == "gen" and place > begin and tokens.is_(place - 1, "name", "word", "pres"))
            or (
                tag == "past"
                and (
                    noun_next or following in {"name", "past"} or (following == "ing" and tokens.is_(place + 2, "word"))
                )
                and (noun_next or (inside and (determined or not tokens.is_(place - 1, "name"))))
                and not acts
            )
            or (tag == "past" and determined and place == begin and (noun_next or following == "name"))
            or (tag == "ing" and _is_noun(tokens, place, begin, determined=determined, acts=acts))
            or (tag == "adv" and inside and token.text.endswith("ly") and following in {"word", "past"})
            or (tag == "adv" and token.text in {"only", "very"} and following in {"word", "num"} and not acts)
            or (
                tag in {"adv", "prep"}
                and token.text in {"about", "almost", "approximately", "over"}
                and following == "num"
                and place == begin
            )
            or (tag == "pres" and not acts and not one and following not in {"det", "name", "num", "poss", "pron"})
            or (tag == "pres" and acts and determined and place == begin)
            or (tag == "det" and place > begin and token.text in {"other", "most"})
            or (token.text in {"inside", "outside"} and inside and following == "word")  # "the upper inside corner"
            or (tag == "and" and _joins_adjectives(tokens, place, begin))
            or (
                tag == "comma"
                and place == begin + 1
                and determined
                and following == "word"
                and ADJECTIVE.search(tokens[begin].text)
            )
        ):
            if tag == "date" and place > begin and following not in _MODIFIERS:
                return place
            apart = _SCORE.fullmatch(token.text) or _SUM.match(token.text)
            if tag == "num" and place > begin and tokens.is_(place - 1, "name") and apart:
                return place  # "beat Kell 3-2", "paid Kell EUR 20"
            if tag == "gen" and not tokens.is_(place + 1, "word", "name", "num", "past", "ing", "pres", "det", "adv"):
                return place
            place += 1
            if tag == "name" and tokens.is_(place, "name", "num") and tokens[place].start > tokens[place - 1].end + 1:
                return place
            continue
        while place > begin and (
            tokens.is_(place - 1, "adv", "past", "and", "gen", "comma")
            or (place > begin + 1 and tokens.is_(place - 1, "ing") and not _is_described(tokens, place - 1))
        ):
            place -= 1
        return place


def _is_noun(tokens: Tokens, place: int, begin: int, *, determined: bool, acts: bool) -> bool:
    """Return whether a word in -ing is part of a noun phrase: "the leading role", not "a dog originating in Ost"."""
    following = tokens[place + 1].tag
    if tokens[place].text in _HAVING:
        return False
    if place > begin:
        ends = following in _ENDS_NOUN and (following != "prep" or "-" in tokens[place - 1].text)
        return following in {"word", "pres"} or (ends and _is_described(tokens, place))
    return (
        determined
        and following in _ENDS_NOUN | {"word", "pres", "name", "date", "num"}
        or (following == "word" and not acts)
    )


def _is_described(tokens: Tokens, place: int) -> bool:
    """Return whether an adjective stands before a word: "case-insensitive matching"."""
    before = tokens[place - 1]
    return before.tag == "word" and (ADJECTIVE.search(before.text) is not None or "-" in before.text)


def _joins_adjectives(tokens: Tokens, place: int, begin: int) -> bool:
    """Return whether "and" joins two adjectives of one noun: "black and white film"."""
    return (
        place == begin + 1
        and tokens[begin].tag in {"word", "name"}
        and tokens[place + 1].tag == tokens[begin].tag
        and tokens.is_(place + 2, "word")
        and ADJECTIVE.search(tokens[place - 1].text) is not None
    )


def joined(  # noqa: C901
    tokens: Tokens, first: Phrase, preposition: str = "", *, acting: bool = False
) -> tuple[list[Phrase], int]:
    """Read the phrases that are joined with one by commas and "and"; return them, with the end of the last.

    If they are acting, a verb may follow that is theirs.

    Nouns that share one article are one phrase: "a poet, lute player and painter". Names that commas alone
    join are one: the second tells where the first is.
    """
    found, place, anded = [first], first.end, False
    while True:
        at = tokens.after_brackets(place)
        comma = tokens.is_(at, "comma")
        at += comma
        conjunction = tokens.is_(at, "and") or tokens[at].text.lower() == "as" and tokens[at + 1].text == "well"
        if tokens[at].text.lower() == "as" and conjunction:
            at += 2
        at += conjunction
        if not (comma or conjunction) or tokens.is_(at, "pres", "past", "ing") or (anded and comma):
            if anded and comma and not conjunction and _is_listed(tokens, at):
                found = [replace(one, cut=True) for one in found]  # "hats and shoes, coats and bags, and"
            break
        following = noun_phrase(tokens, at, acts=acting)
        if following and following.text.lower() in _ONWARD and conjunction:
            found[-1] = replace(found[-1], end=following.end, text=tokens.text(found[-1].end - 1, following.end))
            place = following.end
            break
        if not following or following.kind == "pronoun" or not _alike(found[-1], following):
            break
        if preposition and tokens[following.end].text == preposition and following.kind == "name":
            after = following.end + 1
            if tokens.is_(after + tokens.is_(after, "det"), "name"):
                break  # "played Bo in Kell (1980), Ida in Ost"
        if preposition and comma and conjunction and not anded and len(found) == 1:
            break  # "for A, and the B" is more of what stands before "for"
        each = first.of is not None and first.of.kind == "name" and first.head.endswith("s")  # "voices of Bo, Ida and"
        if found[-1].kind == "noun" and following.kind == "name" and not (conjunction or (each and len(found) == 1)):
            break  # "a brother, Dave"
        if found[-1].of and _is_group(following):
            return [*found[:-1], replace(found[-1], cut=True)], place  # "a singer of the folk and rock band Kell"
        if _share_name(found[-1], following):
            before = f"{found[-1].text} and {following.before}"
            found[-1] = replace(following, start=found[-1].start, before=before)
            return found, following.end
        kinds = {found[-1].kind, following.kind}
        mixed = len(kinds) > 1 and following.kind != "name"
        mixed = mixed and not (kinds == {"noun", "number"} and following.determiner in {"a", "an"})
        if mixed and (preposition or not following.determiner):
            break  # "for Hellyeah and former drummer of"
        if preposition and comma and found[-1].kind == "noun" and _ends_quoted(tokens, found[-1]):
            break  # "a lamp with level "high", a pump, and"
        if not (acting and conjunction) and (_verb_follows(tokens, following.end) or tokens[following.end].text == ":"):
            break
        found.append(following)
        place, anded = following.end, anded or conjunction
        if conjunction and not comma and not tokens.is_(place, "comma", "and"):
            break
    if not anded and len(found) > 1:
        if {one.kind for one in found} != {"name"} or any(one.determiner for one in found[1:]):
            return [first], first.end
        if tokens.is_(place, "comma") and tokens.is_(place + 1, "and") and tokens.is_(place + 2, "det"):
            return found, place  # "for Ost, Brenn, and the west of Kell"
        named = found[:4] if preposition in {"in", "at", "near", "from", "of", "to", "outside", "on"} else found
        return [replace(first, text=", ".join(one.text for one in named), end=place)], place
    pairs = len(found) == _PAIRED and {one.kind for one in found} == {"name"}
    if pairs and tokens.is_(place, "comma") and tokens.is_(place + 1, "name") and not verb_at(tokens, place + 2):
        return found[::2], place + 2  # "Lund, Sweden, and Ost, Norland"
    return _merged(tokens, found), place


_PAIRED = 3  # names before the one that tells where the third of them is


def _ends_quoted(tokens: Tokens, phrase: Phrase) -> bool:
    """Return whether a phrase has a quotation at its end only."""
    begin, end = tokens[phrase.start].start, tokens[phrase.end - 1].end
    opens, closes = _QUOTED.search(tokens.sentence[begin - 1 : begin + 1]), tokens.sentence[end - 1 : end + 1]
    return phrase.of is None and not opens and _QUOTED.search(closes) is not None


def _is_listed(tokens: Tokens, place: int) -> bool:
    phrase = noun_phrase(tokens, place)
    common = phrase is not None and phrase.kind == "noun" and not phrase.determiner
    return (
        common and phrase is not None and tokens.is_(phrase.end, "comma", "and") and not verb_at(tokens, phrase.end + 1)
    )


def alternatives(tokens: Tokens, phrases: list[Phrase]) -> list[Phrase]:
    """Return "A or B" as one phrase; other phrases as they are."""
    first, last = phrases[0], phrases[-1]
    if len(phrases) == 1 or tokens[last.start - 1].text != "or" or first.owned or first.cut or last.cut:
        return phrases
    begin = first.start
    while tokens.is_(begin, "det"):
        begin += 1
    return [replace(first, text=tokens.text(begin, last.end), end=last.end, of=None, before="")]


def _share_name(role: Phrase, named: Phrase) -> bool:
    """Return whether two roles are those of one name: "photographer and screenwriter Ida Vint"."""
    alone = role.kind == "noun" and not role.of
    person = not role.determiner and PERSONS.search(role.head) and named.before and not named.determiner
    return alone and named.kind == "name" and (_is_group(named) or bool(person))


def _is_group(named: Phrase) -> bool:
    """Return whether a name is told to be that of a group: "rock band Kell"."""
    kind = _GROUP.fullmatch(named.before.rpartition(" ")[2])
    return named.kind == "name" and not named.determiner and kind is not None


def _alike(one: Phrase, other: Phrase) -> bool:
    kinds = {one.kind, other.kind}
    return len(kinds) == 1 or kinds == {"noun", "name"} or kinds == {"noun", "number"}


_LONGEST_INSERTION = 12  # words between a subject and its verb


def _verb_follows(tokens: Tokens, place: int) -> bool:
    """Return whether the words before a place are the subject of a verb there."""
    while tokens.is_(place, "adv"):
        place += 1
    if tokens.is_(place, "be", "have", "do", "modal", "pres"):
        return True
    if tokens.is_(place, "comma") and tokens.is_(place + 1, "prep"):  # "Ferl, with 300 people, is"
        close = next((at for at in range(place + 2, place + _LONGEST_INSERTION) if tokens.is_(at, "comma", "stop")), 0)
        return tokens.is_(close, "comma") and tokens.is_(close + 1, "be", "have", "modal", "pres")
    return tokens.is_(place, "past") and not tokens.is_(place + 1, "prep")


def _merged(tokens: Tokens, found: list[Phrase]) -> list[Phrase]:
    """Make one phrase of nouns that share an article."""
    if len(found) == 1 or any(tokens.is_(at, "open") for at in range(found[0].end, found[-1].start)):
        return found
    if all(one.kind == "noun" for one in found) and not any(one.determiner for one in found[1:]):
        first, last = found[0], found[-1]
        begin = first.start + (1 if first.determiner else 0)
        text = tokens.text(begin, last.end)
        return [Phrase(first.start, last.end, "noun", text, last.head, first.determiner, last.of, False, text)]
    return found


_SKIPPED = frozenset(
    "nearly about almost approximately also then subsequently eventually later thereafter therefore thus hence "
    "however too".split()
)
REPORTS = frozenset(
    "said says say claimed claims claim believed believes believe thought thinks think alleged alleges reported "
    "reports denied denies deny suggested suggests suggest argued argues argue estimated rumored rumoured "
    "supposed speculated hoped hopes planned plans expected expects intended intends proposed proposes "
    "considered refused failed fails declined tried attempted wanted wants wished threatened doubted doubts "
    "likely scheduled assumed assumes felt insisted insists predicted predicts accused asked".split()
)
TWO_OBJECTS = frozenset(
    "born elected appointed named called made crowned declared awarded given ordained nominated renamed titled "
    "entitled paid offered granted dubbed nicknamed voted".split()
)
ALIKE = frozenset("set put cut hit read run let cost spread shut split burst cast".split())  # also in the present
_BECOMES = frozenset("became become remained".split())


@dataclass(frozen=True, slots=True)
class Verb:
    """A group of auxiliaries and a verb up to the token `end`; `kind` is "is", "has", "passive" or "active"."""

    end: int
    text: str
    kind: str
    word: str
    states: bool

    @property
    def is_present(self) -> bool:
        """Return whether it tells what is so now, which what goes before or after it may limit."""
        first = next((word for word in self.text.split(" ") if tag_of(word) != "adv"), "")
        return first in {"is", "are"} or (first == self.word and tag_of(first) in {"pres", "have", "word"})


def verb_at(tokens: Tokens, place: int) -> Verb | None:  # noqa: C901
    """Return the verb group that begins at a place."""
    begin = place
    states, words, kind = True, list[str](), ""
    while tokens.is_(place, "adv", "neg", "be", "have", "do", "modal") or (
        kind and tokens[place].text == "first" and tokens.is_(place + 1, "past")
    ):
        tag, text = tokens[place].tag, tokens[place].text.lower()
        states = (
            states
            and tag not in {"neg", "modal", "do"}
            and text not in {"perhaps", "possibly", "probably", "allegedly", "reportedly", "supposedly"}
            and not (text in {"almost", "nearly"} and tokens.is_(place + 1, "past", "word", "ing"))
        )
        if tag not in {"neg", "adv"}:
            kind = {"be": "is", "have": "has"}.get(tag, "active")
        if text not in _SKIPPED or (text in {"almost", "nearly"} and tokens.is_(place + 1, "adv")):
            words.append(text)
        place += 1
    tag, word = tokens[place].tag, tokens[place].text.lower()
    if kind == "has" and tag == "prep" and not tokens.is_(place + 1, "num"):
        return Verb(place, " ".join(words), "active", "", states=False)  # "has on occasion issued"
    if place and tag == "past" and tokens[place].text[0].isupper() and not tokens.is_(place - 1, "stop"):
        return None  # "SET_NULL Set the key"
    if tag == "past" and word in ALIKE and not kind and tokens.is_(place + 1, "word"):
        return None  # "see set term"
    if tag == "past" and not (kind == "is" and tokens.is_(place + 1, "word") and word not in TWO_OBJECTS):
        kind = "passive" if kind == "is" else "is" if word in _BECOMES else "active"
        words.append(word)
        place += 1
        if tokens.is_(place, "and") and tokens.is_(place + 1, "past") and not tokens.is_(place + 2, "det", "name"):
            words += [tokens[place].text, tokens[place + 1].text.lower()]
            place += 2
    elif (
        (
            tag == "pres"
            and not kind
            and tokens.is_(
                place + 1,
                "det",
                "name",
                "num",
                "poss",
                "prep",
                "date",
                "word",
                "adv",
                "past",
                "ing",
                "rel",
                "sub",
                "stop",
            )
        )
        or tag == "ing"
        and kind == "is"
        and not tokens.is_(place + 1, "word")
    ):
        kind = "active"
        words.append(word)
        place += 1
    elif not kind or place == begin or kind == "active":
        return Verb(place, " ".join(words), "active", "", states=False) if kind and place > begin else None
    else:
        word = words[-1] if words else ""
    if (
        kind in {"active", "passive"} and tokens[place].text in PARTICLES and tokens.is_(place, "word", "adv", "prep")
    ) and (not noun_phrase(tokens, place + 1) or tokens.is_(place + 1, "prep")):
        words.append(tokens[place].text)
        place += 1
    if kind == "is" and tokens[place].text == "to" and tokens.is_(place + 1, "word"):
        states = states and (PERSONS.search(tokens[place + 1].text) is not None)  # "was to marry"
    by = tokens[place].text == "by" and word not in {"reported", "proposed", "suggested", "planned"}
    if word in REPORTS and (by or tokens.is_(place, "sub", "to") or tokens[place].text in {"that", "to"}):
        states = False
    if (
        tokens[place].text == "to"
        and not tokens.is_(place + 1, "name", "det", "date", "poss", "num", "pron")
        and not tokens.is_(place + 2, "name")
        and not PERSONS.search(tokens[place + 1].text)
    ):
        states = states and kind == "passive" and False
    return Verb(place, " ".join(words), kind, word, states)


def are_several(tokens: Tokens, first: Phrase) -> bool:
    """Return whether a name is the first of several that act: "Ada and Bo were", unlike "Ox and Plough was"."""
    phrases, end = joined(tokens, first, acting=True)
    verb = verb_at(tokens, tokens.after_brackets(end)) if len(phrases) > 1 else None
    if not verb or tag_of(first.text.lower()) in {"adv", "prep", "sub", "pron", "det"}:
        return False
    return not (tokens.is_(verb.end - 1, "pres") or {"is", "was", "has"}.intersection(verb.text.split()))


Aside = tuple[str, Phrase]


def prepositional(tokens: Tokens, place: int) -> tuple[str, list[Phrase], int] | None:
    """Read a preposition with its phrases, unless a clause follows it: "after the mill burned"."""
    read = _prepositional(tokens, place)
    named = _named_by(tokens, read[1], read[2]) if read and read[0] == "by" else None
    return ("by", [named], named.end) if named else read


def _prepositional(tokens: Tokens, place: int) -> tuple[str, list[Phrase], int] | None:
    preposition = tokens[place].text.lower()
    phrase = noun_phrase(tokens, place + 1)
    if not phrase:
        return None
    acts = (
        phrase.kind == "noun" and tokens.is_(place + 1, "word", "past") and not PERSONS.search(tokens[place + 1].text)
    )
    if preposition == "to" and acts:
        return None  # before a verb
    other = noun_phrase(tokens, phrase.end + 1) if tokens[phrase.end].text in {"to", "until", "till", "and"} else None
    if preposition in {"from", "between"} and other and {phrase.kind, other.kind} <= {"date", "number"}:
        text = tokens.text(phrase.start, other.end)
        return preposition, [replace(phrase, text=text, end=other.end)], other.end
    if phrase.of and phrase.of.kind == "name":  # "in the east of Ost, Norland"
        whole, end = joined(tokens, phrase.of, "of")
        if len(whole) == 1 and end > phrase.end:
            phrase = replace(phrase, of=whole[0], text=tokens.text(phrase.end - 1, end), end=end)
    phrases, end = joined(tokens, phrase, preposition)
    if preposition != "as":  # "known as A or B"
        phrases = alternatives(tokens, phrases)
    if preposition == "between" and len(phrases) > 1:
        phrases = [replace(phrase, text=tokens.text(phrase.start + bool(phrase.determiner), end), before="", end=end)]
    if preposition in {"after", "before", "until", "till", "since", "as", "like", "than"} and verb_at(tokens, end):
        return None
    if phrase.kind == "pronoun" and preposition not in {"of"} and verb_at(tokens, end):
        return None
    return preposition, phrases, end


def _named_by(tokens: Tokens, phrases: list[Phrase], end: int) -> Phrase | None:
    """Return the name behind a role, "by its owner and keeper, Bo Ray": he did it."""
    name = noun_phrase(tokens, end + 1) if tokens.is_(end, "comma") else None
    role = len(phrases) == 1 and phrases[0].kind == "noun" and PERSONS.search(phrases[0].head)
    if not (role and name) or name.kind != "name" or name.before or name.determiner:
        return None
    return name if tokens.is_(name.end, "stop", "comma", "and", "prep") else None


def opening(tokens: Tokens, place: int) -> tuple[int, list[tuple[str, Phrase]]] | None:
    """Read "In 1907," or "From 1920 to 1930", which tells more of the main clause."""
    if tokens.is_(place, "date") and (tokens.is_(place + 1, "comma") or noun_phrase(tokens, place + 1)):
        return (
            (place + 1 + tokens.is_(place + 1, "comma"), [("on", plain(tokens, place))])
            if tokens.is_(place + 1, "comma")
            else None
        )
    if not tokens.is_(place, "prep") or not (read := prepositional(tokens, place)):
        return None
    preposition, phrases, end = read
    asides = [
        (preposition, replace(phrase, cut=False)) for phrase in phrases[:1] if _tells_when_or_where(preposition, phrase)
    ]
    while tokens.is_(end, "prep") and (more := prepositional(tokens, end)):
        end = more[2]
    while tokens.is_(end, "comma"):
        end += 1
        if tokens.is_(end, "prep") and (more := prepositional(tokens, end)):
            asides += [(more[0], phrase) for phrase in more[1][:1] if _tells_when_or_where(more[0], phrase)]
            end = more[2]
        elif (
            not (noun := noun_phrase(tokens, end, acts=True))
            or not tokens.is_(noun.end, "comma")
            or noun.kind != "name"
        ):
            break
        elif tokens[noun.end + 1].tag in {"name", "det", "pron", "poss"} and not verb_at(tokens, noun.end + 1):
            end = noun.end  # "In Ost, Norland, the mill"
        else:
            break
    return end, asides


_OF_TIME = re.compile(
    r"\b(?:1\d|20)\d\ds?\b|\b(?:centur|decade|season|year|month|week|day|hour|minute|game|match|election|a\.?m|p\.?m|BC|AD)"
)


def _tells_when_or_where(preposition: str, phrase: Phrase) -> bool:
    dated = phrase.kind == "date" or any(map(str.isdigit, phrase.text))
    if phrase.kind in {"number", "noun"} and phrase.text[0].isdigit() and not _OF_TIME.search(phrase.text):
        dated = False  # "In 2D plots"
    times = {
        "in",
        "on",
        "by",
        "during",
        "until",
        "till",
        "between",
        "from",
        "since",
        "after",
        "before",
        "at",
        "throughout",
    }
    return preposition in times and not phrase.owned and (dated or phrase.kind == "name")


def distance(tokens: Tokens, phrase: Phrase) -> tuple[str, Phrase] | None:
    """Read "four miles (6 km) west of Ost"."""
    at = tokens.after_brackets(phrase.end)
    way = tokens[at].text.lower()
    if not way.startswith(("north", "south", "east", "west")) or tokens[at + 1].text not in {"of", "from"}:
        return None
    place = noun_phrase(tokens, at + 2)
    return (f"{phrase.text} {way} {tokens[at + 1].text}", place) if place else None


def plain(tokens: Tokens, place: int) -> Phrase:
    """Return a single token as a phrase."""
    token = tokens[place]
    return Phrase(place, place + 1, token.tag, token.text, token.text)
