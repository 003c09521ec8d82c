"""Completes what the rules take for the end of a fact by what follows it in the sentence, or tells that it is none.

`several functions that work on strings` is whole with its clause and says nothing without it. What belongs to an end is
taken along if it is short and refers to nothing outside of it; otherwise the fact is dropped if it says too little.
"""

import re
from dataclasses import replace

from langgraph_rag.tools.facts.phrases import AMONG, Phrase, is_superlative, noun_phrase, verb_at
from langgraph_rag.tools.facts.words import Tokens, is_base, tag_of

LONGEST_RELATION = 9  # words
_MOST_WORDS = 12  # of what belongs to an end
_ONWARD = re.compile(
    r"\+(?=[\s,.;)])|,? (?:or|and) (?:later|newer|higher|above|greater|up(?! to)|earlier|older|lower|below|less"
    r"|fewer)\b"
    r"(?: versions?\b)?"
)
_RELATIVE = frozenset("that which who whom whose where whereby".split())
_BELONGS = frozenset("for to between against about via as into without using of over".split())
_TO_WHAT = frozenset("to as between against".split())  # of "a tribute", "a pattern"
_OF_NOUN = frozenset("of between against".split())  # that go on with a noun that has a preposition before it already
_AROUND_ROLE = frozenset("for to of in on from with at".split())
_IS = frozenset("is was are were became become remains remained".split())
_REGARDED = frozenset("described regarded considered viewed saw sees treated".split())
_EITHER = frozenset("True False None".split())
_RELATED = frozenset("relationship difference distance connection ratio comparison".split())
_CALLED = frozenset("as called titled entitled named renamed".split())
_STOPS = frozenset("if when unless while because although though whereas until whenever so once".split())
_OUTSIDE = frozenset("this these those such same it its you your we our they their he she his her them him".split())
_GENERAL = frozenset(
    "function method command option tool class program object exception value string mechanism feature system file "
    "structure concept technique device service".split()
)
ORDINAL = re.compile(
    r"(?:(?:twenty|thirty|forty|fifty|sixty|seventy|eighty|ninety)-)?(?:first|second|third|fourth|fifth|sixth|seventh"
    r"|eighth|ninth|tenth|eleventh|twelfth|\w+teenth|\w+tieth|last|final|next|only|\d+(?:st|nd|rd|th))\b"
)
_VERBS = frozenset("fly swim climb sail ride race sing dance walk orbit earn score host compete win hold cross".split())
_COUNTS = frozenset("two three four five six seven eight nine ten".split())
_MANY = re.compile(
    r"(?:many|several|some|various|different|multiple|numerous|certain|other|further|additional|extra|one extra"
    r"|optional|particular|specific|(?:two|three|four|five) (?:optional|required|additional|different))\b"
)
_KIND_ONLY = re.compile(
    r"(?:[a-z]+ )?(?:(?:types?|kinds?|sorts?|forms?|sets?|lists?|ranges?|numbers?|amounts?) of [a-z-]+"
    r"|ways?|methods?|things?|features?|options|types|kinds)"
)
_ON_SOME = re.compile(r" (?:to|of|for) [a-z]+ the [a-z]+$")  # "several ways to change the system"
_SYMBOLS = frozenset("%#=<>{}\\$|@^~")
_OPTION = re.compile(r" \((?:--?[\w-]|\w+_)[^()]{1,40}\)")
_NEW = re.compile(r"(?:one |an? )?(?:new|extra|additional|optional|required|following)\b")
_BEHIND = re.compile(
    r"(?:,? (?:and|or))?(?: (?:chiefly|mainly|mostly|primarily|especially|very|most))?"
    r" (?:available|responsible|similar|related|present|necessary|suitable|able|capable|due|native|active|equal"
    r"|equivalent|identical|adjacent|prone|dependent|eligible|resistant|sensitive|compatible|notable|famous|typical"
    r"|full)$"
)
_ALIKE = re.compile(r"(?:similar|equivalent|identical|analogous|comparable|corresponding) ")
_ALIKE_TO = re.compile(r" (?:to|with|for) ")
_PLACE_IN_NAME = re.compile(r" at (?:the )?(?:[^\W\d_a-z][\w'’-]* ){0,3}(?:Cent(?:er|re)|Hall|Festival)\b")


def completed(tokens: Tokens, phrase: Phrase, relation: str) -> Phrase | None:
    """Return the end of a fact with what belongs to it; nothing if it is wrong or says nothing without that."""
    if any(map(str.isdigit, phrase.text[-8:])):
        phrase = _extended(tokens, phrase, _ONWARD.match(tokens.sentence, tokens[phrase.end - 1].end))
    if phrase.kind == "name":
        return _name(tokens, phrase, relation)
    if phrase.kind == "noun" or (phrase.kind == "number" and " " in phrase.text):
        whole = None if _is_torn(tokens, phrase, relation) else _noun(tokens, phrase, relation)
        return None if whole and _ALIKE.match(whole.text) and not _ALIKE_TO.search(whole.text) else whole
    return phrase


def _name(tokens: Tokens, phrase: Phrase, relation: str) -> Phrase | None:  # noqa: C901
    """Complete a name that goes on behind a colon or "at"; drop one that only stands for others of its kind."""
    said, end = relation.rsplit(" ", 1)[-1], tokens[phrase.end - 1].end
    following = tokens[phrase.end]
    if said in _CALLED and following.text == ":" and following.start == end and tokens.is_(phrase.end + 1, "name"):
        return replace(phrase, text=f"{phrase.text}: {tokens[phrase.end + 1].text}", end=phrase.end + 2)
    if following.text == "at" and said == "for" and " " not in phrase.text:
        return _extended(tokens, phrase, _PLACE_IN_NAME.match(tokens.sentence, end))
    if said in {"raises", "throws"} and following.tag in {"prep", "sub"}:
        return None  # only in a case
    if said in _REGARDED and following.text == "as":
        return None
    either = following.text == "or" or tokens[phrase.start - 1].text == "or" or " or " in phrase.text
    if phrase.text.split(" or ")[0] in _EITHER and either:
        return None  # "returns True or False"
    if said == "at" and phrase.before.isdigit():
        return replace(phrase, text=f"{phrase.before} {phrase.text}", before="")  # "at 9 Mill Street"
    if following.text in {"–", "-"} and following.start == end and tokens[phrase.end + 1].start == following.end:
        return None  # "Kell Age–era lamps"
    if phrase.before.endswith("s") and phrase.before.islower() and _acts(tokens, phrase.end):
        return None  # "the films Bo Ray and Ida Vint made"
    nth = ORDINAL.fullmatch(phrase.before.rsplit(" ", 1)[-1])
    if not nth:
        return phrase
    if phrase.owned:
        return None  # "made his twelfth Kell Fair"
    if said not in _IS or not (_is_relative(tokens, phrase.end) or tokens.is_(phrase.end, "comma", "and")):
        return phrase
    return _with_modifier(tokens, replace(phrase, kind="noun", text=f"{phrase.before} {phrase.text}"), phrase.end)


def _acts(tokens: Tokens, place: int) -> bool:
    more = tokens.is_(place, "and") and tokens.is_(place + 1, "name")
    return verb_at(tokens, place + 2 * more) is not None and not tokens.is_(place, "comma")


def _is_torn(tokens: Tokens, phrase: Phrase, relation: str) -> bool:
    """Return whether a noun goes on with a symbol, or with a word that was taken for a verb: "a new diamond cut,"."""
    following = tokens[phrase.end]
    if phrase.text.endswith(("'s", "’s")):
        return True  # "lamps that's"
    listed = tokens.is_(phrase.end + 1, "comma") and tokens.is_(phrase.end + 2, "past", "and")
    if following.tag == "past" and tokens.is_(phrase.end + 1, "comma", "stop") and not listed:
        return relation.rsplit(" ", 1)[-1] in _IS
    return following.tag == "stop" and following.text in _SYMBOLS


def _noun(tokens: Tokens, phrase: Phrase, relation: str) -> Phrase | None:  # noqa: C901
    said, at = relation.rsplit(" ", 1)[-1], tokens.after_brackets(phrase.end)
    if option := _OPTION.match(tokens.sentence, tokens[phrase.end - 1].end):
        return replace(phrase, text=phrase.text + option[0], end=at, of=None)
    if tokens[at].text == ":" and said not in _IS:  # "a new variable: KELL_MODE"
        alone = tokens.is_(at + 1, "name") and tokens.is_(at + 2, "stop") and at + 3 >= len(tokens)
        if alone:
            return replace(phrase, kind="name", text=tokens[at + 1].text, before=phrase.text, end=at + 2, of=None)
        return None if _NEW.match(phrase.text) else phrase
    placed = said == "as" and tokens.is_(at, "prep") and tokens[at].text != "of" and not _is_common(tokens, at + 1)
    if placed and (phrase.determiner == "the" or " " not in phrase.text):
        return None  # "as the hero in Low Water"
    following, first = tokens[at].text, phrase.text.partition(" and ")[0]
    if first != phrase.text and (following == said or (following == "of" and at > phrase.end)):
        return replace(phrase, text=first, of=None)  # "for the start and integers | for the end"
    if said in _IS and " " not in phrase.text and _is_part(tokens, phrase, at):
        return None
    if said in _IS and " " not in phrase.text and following in _TO_WHAT and not _is_relative(tokens, at):
        what = noun_phrase(tokens, at + 1)  # "is a tribute to the people of Ost"
        return None if what and what.kind == "name" else _with_modifier(tokens, phrase, at)
    behind = _BEHIND.search(phrase.text)
    if phrase.text.endswith(" best") and tokens.is_(at, "past"):
        return replace(phrase, text=phrase.text[: -len(" best")])  # "a poet best | known for"
    if scope := _scope(tokens, phrase, at):
        apart = scope == "name" and (phrase.head == "one" or not phrase.of)  # "is oldest inn in | Ost"
        if apart and len(f"{relation} {phrase.text}".split()) < LONGEST_RELATION:
            return None
        whole = _with_modifier(tokens, phrase, at)
        return whole if whole and tokens[whole.end].text not in {"until", "till", "when", "where"} else None
    many = _MANY.match(f"{phrase.determiner} {phrase.text}".lstrip()) or _MANY.match(phrase.text)
    vague = bool(many or _KIND_ONLY.fullmatch(phrase.text)) and _is_plain(phrase.text)
    definite = phrase.determiner == "the" or phrase.text.startswith("one of ") or ORDINAL.match(phrase.text)
    needs = _needs(tokens, phrase, at, relation, definite=bool(definite), vague=vague)
    if needs is None or (_KIND_ONLY.fullmatch(phrase.text) and not (needs or tokens[at].text == "with")):
        return None if vague or _is_bare(phrase, said) or phrase.head in _RELATED else phrase
    if said in _IS and phrase.determiner in {"a", "an"} and phrase.text not in _GENERAL:
        if behind and tokens.is_(at, "prep"):
            whole = _with_modifier(tokens, phrase, at) if _is_common(tokens, at + 1) else None
            return whole or replace(phrase, text=phrase.text[: behind.start()])
        return phrase  # what else is said of it are facts of their own
    known = phrase.determiner == "the" and said not in _IS | {"as"} and not _is_relative(tokens, at)
    if " " not in phrase.text and (known or not needs):
        return phrase  # too little also with that
    whole = _with_modifier(tokens, phrase, at)
    if whole and not needs and tokens.is_(whole.end, "comma"):
        whole = None  # "with a long, dry tail"
    if whole and vague and _ON_SOME.search(whole.text):
        return None
    return whole or (None if needs or vague else phrase)


def _is_part(tokens: Tokens, phrase: Phrase, at: int) -> bool:
    """Return whether a noun says nothing without what it is joined with: "a softer, more open sound"."""
    if phrase.determiner == "the":
        return tokens.is_(at, "and")  # "the leader and the main voice of Kell"
    return tokens.is_(at, "comma") and tokens[at + 1].text in {"more", "less", "most"}


def _scope(tokens: Tokens, phrase: Phrase, at: int) -> str:
    """Return the kind of what a superlative is only true of: "the oldest inn on the coast", "... built of wood"."""
    if not is_superlative(phrase):
        return ""
    if (tokens.is_(at, "past", "ing") and tokens[at].text not in {"known", "called"}) or _is_relative(tokens, at):
        return "noun"
    scope = noun_phrase(tokens, at + 1) if tokens.is_(at, "prep") else None
    if scope and scope.kind == "name":
        return "name" if tokens[at].text in AMONG else ""
    return "noun" if scope and scope.kind == "noun" and not (scope.owned and tokens[at].text == "for") else ""


def _is_plain(text: str) -> bool:
    return text.islower() and text.replace(" ", "").replace("-", "").isalpha()


def _is_bare(phrase: Phrase, said: str) -> bool:
    """Return whether a noun says nothing without what it is of: "is the second album", "the first three items"."""
    if not ORDINAL.match(phrase.text):
        return phrase.text == "default" or (phrase.text in _GENERAL and said in _IS)
    counted = not _COUNTS.isdisjoint(phrase.text.split()[1:2])
    return counted or (said in _IS and phrase.of is None and phrase.text.islower())


def _needs(  # noqa: C901, PLR0911
    tokens: Tokens, phrase: Phrase, at: int, relation: str, *, definite: bool, vague: bool
) -> bool | None:
    """Return whether an end is nothing without what follows it; None if what follows does not belong to it."""
    following, said = tokens[at], relation.rsplit(" ", 1)[-1]
    after_prep = tag_of(said) == "prep"
    if after_prep and following.tag == "prep" and tokens.is_(phrase.start, "ing"):
        return True  # "by opening the files in a shell"
    alone = " " not in phrase.text
    around = following.text in _AROUND_ROLE if alone else f"{said} {following.text}" == "as for"
    if said in {"as", "for"} and around and _is_common(tokens, at + 1):
        return alone  # "as the basis for lamp control"
    if following.tag == "prep" and _BEHIND.search(phrase.text):
        return True  # "the fonts available on the system"
    if after_prep and not phrase.text.islower() and following.text != "whose":
        return None  # "a game for the Kell system that was"
    if _is_relative(tokens, at) and (following.text != "to" or not after_prep or len(relation.split()) > 2):
        return True
    if after_prep and not vague:
        return True if following.text in _OF_NOUN and _is_common(tokens, at + 1) else None
    if following.tag == "adv" and tokens.is_(at + 1, "prep") and said not in _IS and _is_common(tokens, at + 2):
        return True
    if following.text in _BELONGS and _is_common(tokens, at + 1):
        return following.text != "over"  # "a position over his life"
    if said in _IS and not definite:
        return None
    if following.text == "with" and _is_common(tokens, at + 1):
        return False
    participle = tokens.is_(at, "past") and tokens.is_(at + 1, "prep") and said not in _IS
    return False if participle or (vague and tokens.is_(at, "prep", "ing", "past")) else None


def _is_relative(tokens: Tokens, at: int) -> bool:
    """Return whether a clause follows that tells which one: "that works", "for which", "to open it"."""
    following, after = tokens[at], tokens[at + 1]
    if following.text == "to":
        acts = after.tag in {"word", "pres", "past"} and (is_base(after.text) or after.text in _VERBS)
        return acts or after.tag in {"be", "have", "do"}
    return following.text in _RELATIVE or (following.tag == "prep" and after.text in _RELATIVE)


def _is_common(tokens: Tokens, at: int) -> bool:
    """Return whether a common noun or a form in -ing begins at a place, of which no fact of its own tells."""
    while tokens.is_(at, "det", "adv"):
        at += 1
    at += tokens[at].text == "of"  # "many of the lamps"
    at += tokens.is_(at, "det") and tokens[at - 1].text == "of"
    at += tokens[at].text == "most"
    if tokens[at].text == "follows":
        return False  # "as follows"
    return tokens.is_(at, "word", "ing", "past", "pres", "poss", "pron", "rel")


def _with_modifier(tokens: Tokens, phrase: Phrase, at: int) -> Phrase | None:
    """Take along what begins at a place; nothing if that is long, torn, or refers to something outside of it."""
    end = _end_of_modifier(tokens, at)
    if end <= at or tokens.is_(end - 1, "det", "prep", "and", "ing", "rel", "sub") or _is_broken(tokens, at, end):
        return None
    if tokens.is_(end - 1, "past") and tokens.is_(end, "prep"):
        return None  # "works composed | in 1911"
    text = f"{phrase.text} {tokens.text(at, end)}"
    return replace(phrase, text=text, end=end, of=None)


def _is_broken(tokens: Tokens, at: int, end: int) -> bool:
    """Return whether a clause breaks off: "that are listed, as", "in which color (hue) varies"."""
    if tokens.is_(end, "comma") and tokens.is_(end - 1, "past") and tokens.is_(end - 2, "be"):
        return True
    if tokens.is_(end, "open") and tokens[at + 1].text in _RELATIVE:
        return not any(tokens.is_(place, "be", "have", "do", "modal", "pres", "past") for place in range(at, end))
    own = tokens[at].text == "that" and tokens.is_(at + 1, "det", "name") and not verb_at(tokens, at + 1)
    return own and tokens.is_(end, "and")  # "that the line is x and the point is y"


def _end_of_modifier(tokens: Tokens, at: int) -> int:
    """Return the place after the clause that begins at a place; 0 if it does not stand alone."""
    place = at
    while place < len(tokens):
        token = tokens[place]
        if token.tag in {"pron", "poss"} or token.text.lower() in _OUTSIDE or place > at + _MOST_WORDS:
            return 0
        if token.text in {"/", "-", "–"}:
            return 0
        if token.tag in {"stop", "open", "close", "but"} or (place > at and token.text in _STOPS):
            return place
        if token.tag == "comma" and not _is_in_list(tokens, place):
            return place
        if token.tag == "prep" and tokens.is_(place + 1, "date") and place > at:
            return place  # when it happened
        if token.tag == "and" and _begins_clause(tokens, place + 1, tokens[at].text):
            return place
        place += 1
    return place


def _is_in_list(tokens: Tokens, comma: int) -> bool:
    for at in range(comma + 1, comma + 7):
        if tokens.is_(at, "and"):
            return not verb_at(tokens, at + 1)
        if not tokens.is_(at, "word", "name", "num", "comma", "det"):
            return False
    return False


def _begins_clause(tokens: Tokens, at: int, opener: str) -> bool:
    verb = verb_at(tokens, at)
    if verb and (opener not in _RELATIVE or verb.text != verb.word):
        return True
    while tokens.is_(at, "det", "word", "name"):
        at += 1
    return tokens.is_(at, "be", "have", "modal", "pres", "do")


def _extended(tokens: Tokens, phrase: Phrase, found: re.Match[str] | None) -> Phrase:
    """Return a phrase with text that directly follows it."""
    return replace(phrase, text=phrase.text + found[0], end=tokens.place_of(found.end())) if found else phrase
