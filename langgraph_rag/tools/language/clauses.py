"""Reads the clauses of a sentence: subject, verb, and what is said of the subject, each part whole.

What does not have one of a few clear shapes states no facts; nor does what is negated, conditional, or only reported.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from langgraph_rag.tools.language.life_dates import life_dates
from langgraph_rag.tools.language.phrases import ADJECTIVE, COMPOUND, KINDS, ROLES, Phrase, joined, noun_phrase
from langgraph_rag.tools.language.subjects import Topic
from langgraph_rag.tools.language.tokens import Tokens
from langgraph_rag.tools.language.word_classes import ARTICLES, NOUNS, PARTICLES, tag_of

_SKIPPED = frozenset(
    "nearly about almost approximately also then subsequently eventually later thereafter therefore thus hence "
    "however too".split()
)
_REPORTS = frozenset(
    "said says say claimed claims claim believed believes believe thought thinks think alleged alleges reported "
    "reports denied denies deny suggested suggests suggest argued argues argue estimated rumored rumoured "
    "supposed speculated hoped hopes planned plans expected expects intended intends proposed proposes "
    "considered refused failed fails declined tried attempted wanted wants wished threatened doubted doubts "
    "likely scheduled assumed assumes felt insisted insists predicted predicts accused asked".split()
)
_TWO_OBJECTS = frozenset(
    "born elected appointed named called made crowned declared awarded given ordained nominated renamed titled "
    "entitled paid offered granted dubbed nicknamed voted".split()
)
_DIMENSIONS = frozenset("long high tall wide deep old thick".split())
_HOLLOW = frozenset(  # nouns that say nothing of themselves
    "one way part time number variety place role fact case example kind type sort form member set series thing "
    "lot range group result use name value reason purpose amount end start day year years point matter issue "
    "same addition total best worst largest biggest greatest acronym term most more some many others first last "
    "second third former latter process while things people need".split()
)
_OPENS = frozenset("born raised educated founded established built located situated based formed".split())
_MOVES = frozenset(  # verbs whose object does something else
    "proposed allowed allows allow asked forced forces wanted enabled enables caused causes requires required "
    "encouraged encourages told ordered invited persuaded convinced helps helped permits expected expects led "
    "leads urged causes used uses had has made makes let lets saw sees kept keeps left".split()
)
_TELLS = _REPORTS | frozenset(
    "confirmed announced stated states revealed explained found discovered noted wrote told showed shows means "
    "decided learned realized realised declared admitted concluded".split()
)
_MAKES = frozenset(
    "composed wrote directed produced designed built painted edited scored performed published restored opened".split()
)
_OF_OWN = frozenset("at in to with from for about on as".split())
_KIN = frozenset(
    "son daughter grandson granddaughter brother sister nephew niece cousin wife husband widow child descendant "
    "pupil".split()
)
_BECOMES = frozenset("became become remained".split())
_TOWNS = frozenset(  # whose name follows "of": the village of Hale
    "village town city county state province district region island parish borough suburb municipality kingdom".split()
)
_NATION = re.compile(r"[^\W\d_a-z]\w+(?:[ai]n|ish|ese|[a-z]ch|i|ek|ic|sh|ss|[a-z]lander)")
_COMMON = re.compile(r".*(?:s|ing|tion|sion|ity|ment|ness|ism|ship|ence|ance|ure|age|ency|ancy|phy|logy)")
_ESSENTIAL = frozenset("to from into with as under against onto".split())
_TAKES_ONE = frozenset("is was are were as of by in on at from to with for into became means".split())
_ENTWINES = frozenset("for about as with of than between among over".split())
_CONDITIONS = frozenset("if unless when whenever where once whether suppose assuming provided".split())
_SPEAKS = frozenset("you your we our us i my me let's let you're you'll i'm we're yours ours mine".split())
_MOST_CLAUSES = 12
_LONGEST_RELATION = 9  # words
_LONGEST_END = 14  # words
_PRONOUNS_INSIDE = frozenset("his her its their him them he she it they this these himself herself itself".split())


@dataclass(frozen=True, slots=True)
class Subject:
    """What a clause is about: names, or with a `noun` what belongs to them, such as `wife`."""

    heads: tuple[str, ...]
    noun: str = ""


@dataclass(frozen=True, slots=True)
class Verb:
    """A group of auxiliaries and a verb up to the token `end`; `kind` is "is", "has", "passive" or "active"."""

    end: int
    text: str
    kind: str
    word: str
    states: bool


Fact = tuple[str, str, str]


class Clauses:
    """The facts that the clauses of one sentence state."""

    def __init__(self, sentence: str, topic: Topic, *, first: bool) -> None:
        """Read the sentence; a first one may introduce its subject as the topic."""
        self.tokens, self.topic, self.first = Tokens(sentence), topic, first
        self.facts: list[Fact] = []
        self.subject: Subject | None = None
        self.unlike = False  # whether it is about a relative that no pronoun for the topic can mean
        self._read()

    def _read(self) -> None:
        begin = self._title_end(0)
        depth = 0
        for at in range(begin, len(self.tokens)):
            depth += self.tokens.is_(at, "open") - self.tokens.is_(at, "close")
            if depth == 0 and self.tokens[at].text.lower() in _SPEAKS and not self.tokens.is_(at, "name"):
                return
        place = self._clause(0)
        self._owned()
        for _ in range(_MOST_CLAUSES):
            place = None if place is None else self._next(place)
            if place is None:
                return
            place = self._clause(place, later=True)

    def _owned(self) -> None:
        """Read "her schooling at Quist School" and "his wife Ida Vint" wherever they stand in a sentence."""
        tokens, topic = self.tokens, self.topic
        other = self.subject is not None and topic.title not in self.subject.heads
        if other or any(tokens.is_(at, "neg", "modal") or tokens[at].text in _CONDITIONS for at in range(len(tokens))):
            return
        for at in range(1, len(tokens)):
            word = tokens[at].text
            owner = topic.of_pronoun(word) if word in {"his", "her", "its"} else ""
            phrase = noun_phrase(tokens, at) if owner else None
            if not phrase or phrase.cut or len(phrase.before.split()) > 2 or phrase.of:
                continue
            if phrase.kind == "name" and phrase.before.islower():
                self.facts.append((owner, phrase.before, phrase.text))
                continue
            read = self._prepositional(phrase.end) if tokens[phrase.end].text in _OF_OWN else None
            told = read[1][0] if read and phrase.kind == "noun" else None
            if read and told and told.kind == "name" and not (told.cut or told.owned):
                self._say(Subject((owner,)), f"{phrase.text} {read[0]}", told)

    # --- from clause to clause ---------------------------------------------------------------------------------------
    def _next(self, place: int) -> int | None:
        """Return the start of the next main clause after a place: behind a semicolon, or "and" with a new subject."""
        tokens = self.tokens
        while place < len(tokens):
            token = tokens[place]
            if token.text == ";":
                return place + 1
            if token.tag == "sub" and token.text in {"that", "if", "unless", "whether"}:
                return None
            if token.tag in {"and", "but"} or token.text in {"while", "whereas"}:
                phrase = noun_phrase(tokens, place + 1, acts=True) if token.text != "or" else None
                if (
                    phrase
                    and tokens.is_(phrase.end, "past")
                    and tokens.is_(phrase.end + 1, "prep")
                    and not tokens.is_(place - 1, "comma")
                ):
                    phrase = None  # "and a PDF designed for"
                if (
                    phrase
                    and self._verb(phrase.end)
                    and (
                        phrase.kind == "name"
                        or tokens.is_(place - 1, "comma")
                        or token.tag == "but"
                        or phrase.kind == "pronoun"
                    )
                ):
                    return place + 1
            place += 1
        return None

    def _clause(self, place: int, *, later: bool = False) -> int | None:  # noqa: C901
        """Read a main clause; return where it ends, or nothing if nothing after it can be trusted."""
        tokens, asides = self.tokens, list[tuple[str, Phrase]]()
        participle = None
        for _ in range(6):
            if not later and self._title_end(place):
                break
            while tokens.is_(place, "adv", "and", "but") or (tokens.is_(place, "comma") and place > 0):
                place += 1
            if tokens[place].text.lower() in _CONDITIONS and not self._is_past_event(place):
                return None
            opening = self._opening(place)
            if opening:
                place = opening[0]
                asides += opening[1]
                continue
            if tokens.is_(place, "past", "ing", "sub", "adv", "prep"):
                by = tokens.is_(place, "past") and tokens[place + 1].text == "by"
                if (by or tokens[place].text.lower() in _OPENS) and not later:
                    participle = place
                comma = self._comma_before_subject(place)
                if comma is None:
                    return place + 1
                place = comma + 1
                continue
            if tokens.is_(place, "det", "name") and (after := self._apposed(place)):
                place = after
                continue
            break
        found = self._subject(place, later=later)
        if not found:
            return place + 1
        subject, place = found
        self.subject = self.subject or subject
        if participle is not None:
            self._complement(subject, tokens[participle].text.lower(), participle + 1, passive=True)
        return self._predicates(subject, self._inserts(subject, place), asides)

    def _apposed(self, place: int) -> int:
        """Return where the main clause begins after "The son of a smith, he"; 0 if this is none."""
        tokens, phrase = self.tokens, noun_phrase(self.tokens, place)
        if not phrase or phrase.kind != "noun" or not tokens.is_(phrase.end, "comma"):
            return 0
        at = phrase.end + 1
        named = self.topic.begins(tokens.sentence, tokens[at].start)
        return at if (tokens[at].text in {"he", "she", "it", "they"} and self._verb(at + 1)) or named else 0

    def _is_past_event(self, place: int) -> bool:
        """Return whether "when" or "once" begins a clause of the past, which is no condition."""
        tokens = self.tokens
        comma = next((at for at in range(place, len(tokens)) if tokens.is_(at, "comma")), place)
        past = any(tokens.is_(at, "past") or tokens[at].text in {"was", "were", "had"} for at in range(place, comma))
        return tokens[place].text.lower() in {"when", "once", "where"} and past

    def _opening(self, place: int) -> tuple[int, list[tuple[str, Phrase]]] | None:
        """Read "In 1907," or "From 1920 to 1930", which tells more of the main clause."""
        tokens = self.tokens
        if tokens.is_(place, "date") and (tokens.is_(place + 1, "comma") or noun_phrase(tokens, place + 1)):
            return (
                (place + 1 + tokens.is_(place + 1, "comma"), [("on", self._plain(place))])
                if tokens.is_(place + 1, "comma")
                else None
            )
        if not tokens.is_(place, "prep") or not (read := self._prepositional(place)):
            return None
        preposition, phrases, end = read
        asides = [
            (preposition, replace(phrase, cut=False))
            for phrase in phrases[:1]
            if self._tells_when_or_where(preposition, phrase)
        ]
        while tokens.is_(end, "prep") and (more := self._prepositional(end)):
            end = more[2]
        while tokens.is_(end, "comma"):
            end += 1
            if tokens.is_(end, "prep") and (more := self._prepositional(end)):
                asides += [(more[0], phrase) for phrase in more[1][:1] if self._tells_when_or_where(more[0], phrase)]
                end = more[2]
            elif (
                not (noun := noun_phrase(tokens, end, acts=True))
                or not tokens.is_(noun.end, "comma")
                or noun.kind != "name"
            ):
                break
            elif tokens[noun.end + 1].tag in {"name", "det", "pron", "poss"} and not self._verb(noun.end + 1):
                end = noun.end  # "In Ost, Norland, the mill"
            else:
                break
        return end, asides

    def _plain(self, place: int) -> Phrase:
        token = self.tokens[place]
        return Phrase(place, place + 1, token.tag, token.text, token.text)

    @staticmethod
    def _tells_when_or_where(preposition: str, phrase: Phrase) -> bool:
        dated = phrase.kind == "date" or any(map(str.isdigit, phrase.text))
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

    def _comma_before_subject(self, place: int) -> int | None:
        """Return the first comma outside brackets after which a subject and its verb follow."""
        depth, tokens = 0, self.tokens
        for at in range(place, min(len(tokens), place + 40)):
            depth += tokens.is_(at, "open") - tokens.is_(at, "close")
            if tokens[at].text == ";":
                return None
            if depth == 0 and tokens.is_(at, "comma"):
                phrase = noun_phrase(tokens, at + 1, acts=True)
                if phrase and self._verb(self._after_brackets(phrase.end)):
                    return at
        return None

    # --- subjects ----------------------------------------------------------------------------------------------------
    def _subject(self, place: int, *, later: bool) -> tuple[Subject, int] | None:  # noqa: C901
        tokens, topic = self.tokens, self.topic
        if not later and (end := self._title_end(place)):
            topic.meant = True
            return Subject((topic.title,)), end
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
            phrases, end = joined(tokens, phrase)
            if end != phrase.end and not self._verb(self._after_brackets(end)):
                phrases, end = [phrase], phrase.end
            if any(one.kind != "name" or one.cut for one in phrases) or phrase.determiner in {
                "this",
                "any",
                "each",
                "every",
            }:
                return None
            if phrase.determiner in {"a", "an"} or (
                phrase.start == 0 and not phrase.before and self._is_common(phrase.text)
            ):
                return None  # "Points are drawn", "Work began"
            if name := topic.of_noun(phrase.text.lower()) if not phrase.determiner else "":
                return Subject((name,)), end  # "Film is directed by"
            heads = tuple(self._named(one, later=later) for one in phrases)
            return Subject(heads), end
        return self._described(phrase)

    def _is_common(self, word: str) -> bool:
        """Return whether a word may have its capital only as the first of a sentence: "Positional parameters"."""
        small, topic = word.lower(), self.topic
        if not (word.isalpha() and word[1:].islower()) or word in topic.names or topic.is_named(word):
            return False
        return small in topic.words or _COMMON.fullmatch(small) is not None or tag_of(small) != "word" or small in NOUNS

    def _named(self, phrase: Phrase, *, later: bool) -> str:
        """Return the name of a subject; in a first sentence, it may be introduced as the topic."""
        end, name = self.tokens[phrase.end - 1].end, phrase.text.split(",")[0]
        introduced = self.first and not later and self.topic.opens_with(name, self.tokens.sentence, end)
        if introduced or self.topic.is_named(phrase.text):
            self.topic.meant = True
            return self.topic.title
        return phrase.text

    def _title_end(self, place: int) -> int:
        """Return the end of the topic's name if it begins here, also one with words in lower case."""
        tokens = self.tokens
        for begin in (tokens[place].start, tokens[place].start + 1):
            end = self.topic.begins(tokens.sentence, begin)
            if end and not any(tokens[at].start < end < tokens[at].end - 1 for at in range(place, len(tokens))):
                at = next((at for at in range(place, len(tokens)) if tokens[at].start >= end), len(tokens))
                if tokens.is_(at, "be", "have", "past", "pres", "open", "comma", "modal", "adv", "do", "rel"):
                    return at
        return 0

    def _possessed(self, owner: tuple[str, ...], phrase: Phrase, noun: str) -> tuple[Subject, int] | None:
        """Read "Her brother Karl", "Its CEO, Li Warren, was", or "His father was"."""
        tokens = self.tokens
        if phrase.kind == "name" and phrase.before:
            phrases, end = joined(tokens, phrase)
            if not self._verb(end) or any(one.kind != "name" for one in phrases):
                phrases, end = [phrase], phrase.end
            self.facts += [(head, phrase.before, one.text) for head in owner for one in phrases]
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
            if phrase.head in _TOWNS and of.kind == "name":
                return Subject((topic.subject(of.text),)), phrase.end
            if not owner or phrase.head in _HOLLOW - {"number", "name"}:
                return None
            return self._possessed((owner,), replace(phrase, of=None), "")
        return None

    def _with_name(self, phrase: Phrase, first: int) -> tuple[Subject, int] | None:
        """Read a noun phrase that begins with a name: "The Kell mill", but not "Positional parameters"."""
        tokens, topic = self.tokens, self.topic
        whole = phrase.text
        common = self._is_common(tokens[0].text) or ADJECTIVE.search(tokens[0].text.lower())
        if first == 0 and common and not topic.is_named(whole) and tokens[0].text not in topic.names:
            return None
        if {"The", "A", "An", "If", "This"} & set(whole.split()):
            return None
        if topic.is_named(whole):
            return Subject((topic.title,)), phrase.end
        if phrase.head.rstrip("s") in KINDS and phrase.end - first == 2 and not phrase.head.endswith("ss"):
            return Subject((tokens[first].text,)), phrase.end
        return (
            (Subject((whole,)), phrase.end)
            if phrase.determiner in {"the", ""} and len(whole.split()) <= 5 and not phrase.head.endswith("s")
            else None
        )

    def _inserts(self, subject: Subject, place: int) -> int:
        """Read what stands between a subject and its verb: brackets, another name, what it is, a relative clause."""
        end = self._inserted(subject, place)
        for at in range(place, end):
            if self.tokens.is_(at, "open"):
                self._brackets(subject, at)
        return end

    def _inserted(self, subject: Subject, place: int) -> int:  # noqa: C901
        tokens = self.tokens
        for _ in range(4):
            place = self._after_brackets(place)
            if tokens.is_(place, "rel") and tokens[place].text in {"who", "which"}:
                end = self._predicates(subject, place + 1, [], inside=True) or place
                if tokens.is_(end, "comma"):
                    end += 1
                if not self._verb(end):
                    return end
                return end
            if not tokens.is_(place, "comma"):
                return place
            if self._verb(place + 1) and not tokens.is_(place + 1, "past"):
                return place + 1
            close = self._closing_comma(place + 1)
            if close is None:
                return place
            at = place + 1
            while tokens.is_(at, "adv", "and") or tokens[at].text in {"best", "better", "more"}:
                at += 1
            if tokens.is_(at, "rel") and tokens[at].text in {"who", "which"}:
                self._predicates(subject, at + 1, [], inside=True)
            elif tokens.is_(at, "past"):
                self._complement(subject, tokens[at].text.lower(), at + 1, passive=True, until=close)
            elif (
                (phrase := noun_phrase(tokens, at))
                and phrase.end <= close
                and phrase.determiner in ARTICLES
                and (phrase.kind == "name" or " " in phrase.text)
            ):
                self._being(subject, "is", at, until=close)
            place = self._after_brackets(close + 1)
            if self._verb(place):
                return place
            place = close
        return place

    def _closing_comma(self, place: int) -> int | None:
        """Return the comma that ends an insertion, before the verb of its subject."""
        depth, tokens = 0, self.tokens
        for at in range(place, min(len(tokens), place + 30)):
            depth += tokens.is_(at, "open") - tokens.is_(at, "close")
            if tokens[at].text in {";", ":"}:
                return None
            if depth == 0 and tokens.is_(at, "comma"):
                after = self._after_brackets(at + 1)
                if self._verb(after) or tokens.is_(after, "rel", "adv"):
                    return at
        return None

    def _brackets(self, subject: Subject, place: int) -> int:
        """Read the dates of a life, or another name, in the brackets after a subject; return where they end."""
        tokens, end = self.tokens, self._after_brackets(place)
        if end > place and not subject.noun and len(subject.heads) == 1:
            told = life_dates(tokens.sentence[tokens[place].start : tokens[end - 1].end])
            self.facts += [(subject.heads[0], relation, tail) for relation, tail in told]
            at = place + 1
            while tokens.is_(at, "adv"):
                at += 1
            if tokens.is_(at, "past") and tokens[at].text in {"known", "called", "titled", "named", "released"}:
                self._complement(subject, tokens[at].text, at + 1, passive=True, verb="called", until=end - 1)
        return end

    def _after_brackets(self, place: int) -> int:
        tokens = self.tokens
        while tokens.is_(place, "open"):
            depth = 0
            while place < len(tokens):
                depth += tokens.is_(place, "open") - tokens.is_(place, "close")
                place += 1
                if depth == 0:
                    break
        return place

    # --- verbs -------------------------------------------------------------------------------------------------------
    def _verb(self, place: int) -> Verb | None:  # noqa: C901
        tokens, begin = self.tokens, place
        states, words, kind = True, list[str](), ""
        while tokens.is_(place, "adv", "neg", "be", "have", "do", "modal") or (
            kind and tokens[place].text == "first" and tokens.is_(place + 1, "past")
        ):
            tag, text = tokens[place].tag, tokens[place].text.lower()
            states = (
                states
                and tag not in {"neg", "modal", "do"}
                and text not in {"perhaps", "possibly", "probably", "allegedly", "reportedly", "supposedly"}
            )
            if tag not in {"neg", "adv"}:
                kind = {"be": "is", "have": "has"}.get(tag, "active")
            if text not in _SKIPPED:
                words.append(text)
            place += 1
        tag, word = tokens[place].tag, tokens[place].text.lower()
        if tag == "past" and not (kind == "is" and tokens.is_(place + 1, "word") and word not in _TWO_OBJECTS):
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
            kind in {"active", "passive"}
            and tokens[place].text in PARTICLES
            and tokens.is_(place, "word", "adv", "prep")
        ) and (not noun_phrase(tokens, place + 1) or tokens.is_(place + 1, "prep")):
            words.append(tokens[place].text)
            place += 1
        if word in _REPORTS and (tokens.is_(place, "sub", "to") or tokens[place].text in {"that", "to", "by"}):
            states = False
        if (
            tokens[place].text == "to"
            and not tokens.is_(place + 1, "name", "det", "date", "poss", "num", "pron")
            and not tokens.is_(place + 2, "name")
        ):
            states = states and kind == "passive" and False
        return Verb(place, " ".join(words), kind, word, states)

    def _predicates(  # noqa: C901
        self, subject: Subject, place: int, asides: Sequence[tuple[str, Phrase]], *, inside: bool = False
    ) -> int | None:
        """Read the verbs of a subject, one after the other: "was born in Ost and died in Brenn"."""
        tokens = self.tokens
        for number in range(_MOST_CLAUSES):
            while tokens.is_(place, "comma") and number and not inside:
                place += 1
            verb = self._verb(place)
            if not verb:
                return place
            if not verb.states:
                if verb.word in _REPORTS or tokens[verb.end].text in {"that", "whether", "if"}:
                    return None
                return self._boundary(verb.end)
            if self._is_conditional(verb.end):
                return self._boundary(verb.end)
            known = len(self.facts)
            if verb.kind == "is":
                end = self._being(subject, verb.text, verb.end, asides=asides)
            else:
                end = self._complement(
                    subject, verb.text, verb.end, passive=verb.kind == "passive", verb=verb.word, asides=asides
                )
            if verb.word in _TELLS and tokens[end].text in {"that", "whether", "how", "why"}:
                del self.facts[known:]
                return None
            if verb.text == verb.word and tokens.is_(verb.end - 1, "past") and self._verb(end):
                del self.facts[known:]  # "Rectangles defined with it can have styles"
                return end
            asides = ()
            at = end
            comma = tokens.is_(at, "comma")
            at += comma
            if tokens.is_(at, "and", "but") and self._verb(at + 1):
                place = at + 1
            elif comma and not inside and tokens.is_(at, "past", "pres", "be") and self._verb(at):
                place = at
            else:
                return self._kinship(subject, end) if comma and verb.kind == "passive" else end
        return place

    def _kinship(self, subject: Subject, place: int) -> int:
        """Read the end of "She was born in Ost, a granddaughter of Bo Ray."."""
        phrase = noun_phrase(self.tokens, place + 1)
        if (
            phrase
            and phrase.of
            and phrase.determiner in {"a", "an"}
            and phrase.head in _KIN
            and phrase.of.kind == "name"
        ):
            self._say(subject, f"is {phrase.before} of", phrase.of)
            return phrase.end
        return place

    def _boundary(self, place: int) -> int:
        """Return the place of the next semicolon or "but", where a clause that states nothing is over."""
        while place < len(self.tokens) and self.tokens[place].text != ";":
            place += 1
        return place

    def _is_conditional(self, place: int) -> bool:
        for at in range(place, len(self.tokens)):
            if self.tokens[at].text == ";":
                return False
            if self.tokens[at].text in {"if", "unless", "whether"}:
                return True
        return False

    # --- what is said ------------------------------------------------------------------------------------------------
    def _prepositional(self, place: int) -> tuple[str, list[Phrase], int] | None:
        """Read a preposition with its phrases, unless a clause follows it: "after the mill burned"."""
        tokens = self.tokens
        preposition = tokens[place].text.lower()
        phrase = noun_phrase(tokens, place + 1)
        if not phrase or (preposition == "to" and phrase.kind == "noun" and tokens.is_(place + 1, "word")):
            return None  # "to" before a verb
        other = (
            noun_phrase(tokens, phrase.end + 1) if tokens[phrase.end].text in {"to", "until", "till", "and"} else None
        )
        if preposition in {"from", "between"} and other and {phrase.kind, other.kind} <= {"date", "number"}:
            text = tokens.text(phrase.start, other.end)
            return preposition, [replace(phrase, text=text, end=other.end)], other.end
        phrases, end = joined(tokens, phrase, preposition)
        if preposition in {"after", "before", "until", "till", "since", "as", "like", "than"} and self._verb(end):
            return None
        if phrase.kind == "pronoun" and preposition not in {"of"} and self._verb(end):
            return None
        return preposition, phrases, end

    def _being(  # noqa: C901
        self,
        subject: Subject,
        text: str,
        place: int,
        *,
        asides: Sequence[tuple[str, Phrase]] = (),
        until: int | None = None,
    ) -> int:
        """Read what a subject is, and more of what it is: "a film directed by Bo Ray, starring Li Warren"."""
        tokens = self.tokens
        while tokens.is_(place, "adv"):
            place += 1
        if tokens[place].text in {"about", "over"} and tokens.is_(place + 1, "num"):
            place += 1
            if not self._measures(subject, text, noun_phrase(tokens, place)):
                return place
        if tokens[place].text in PARTICLES:
            return place
        if tokens.is_(place, "prep"):
            return self._complement(subject, text, place, asides=asides)
        phrase = noun_phrase(tokens, place)
        if not phrase or phrase.kind == "pronoun" or phrase.owned:
            return place
        if phrase.kind == "number" and (end := self._measures(subject, text, phrase)):
            return end
        if phrase.kind == "noun" and not phrase.determiner and not phrase.genitive and not phrase.of:
            if tokens.is_(phrase.end, "prep"):
                return self._complement(subject, f"{text} {phrase.text}", phrase.end, passive=True, asides=asides)
            if phrase.end - phrase.start == 1 and not subject.noun:
                return phrase.end
        phrases, end = joined(tokens, phrase)
        if phrase.determiner in {"a", "an"} and phrase.kind == "name":
            begin = phrase.start + 1
            phrases = [
                replace(
                    phrase, kind="noun", text=tokens.text(begin, phrase.end), before=tokens.text(begin, phrase.end)
                ),
                *phrases[1:],
            ]
        about_topic = self.topic.title in subject.heads and not subject.noun
        noun = phrases[0].before or phrases[0].text
        for one in phrases:
            self._is_a(subject, text, one)
            if about_topic and self.first:
                self.topic.defined(one.text)
        if phrases[-1].kind == "name" and not subject.noun and not phrases[-1].before:
            return end
        if phrases[0].kind == "number":
            noun = phrases[0].text if len(phrases[0].text.split()) < 5 else ""
        elif len(noun.split()) > 4:
            noun = phrases[0].head if phrases[0].kind != "name" else ""
        if phrases[0].kind == "name":
            noun = phrases[0].text
        return self._more(subject, f"{text} {noun}".strip(), end, asides, until)

    def _measures(self, subject: Subject, text: str, phrase: Phrase | None) -> int:
        """Read "312 metres (1,024 ft) long and 20 m wide"; return where it ends, or 0."""
        tokens, done = self.tokens, 0
        while phrase and phrase.kind == "number":
            amount, _, how = phrase.text.rpartition(" ")
            end = phrase.end
            if how not in _DIMENSIONS:
                end = self._after_brackets(phrase.end)
                amount, how, end = phrase.text, tokens[end].text, end + 1
            if how not in _DIMENSIONS:
                return done
            self._say(subject, f"{text} {how}", replace(phrase, text=amount, cut=False))
            done = end
            more = tokens.is_(end, "and", "comma")
            phrase = noun_phrase(tokens, end + 1 + tokens.is_(end + 1, "and")) if more else None
        return done

    def _is_a(self, subject: Subject, text: str, phrase: Phrase) -> None:
        tokens = self.tokens
        if phrase.genitive and phrase.kind == "noun":
            gen = next(at for at in range(phrase.start, phrase.end) if tokens.is_(at, "gen"))
            if tokens.is_(gen - 1, "name"):
                owner = replace(phrase, kind="name", text=tokens[gen - 1].text, head="", of=None)
                self._say(subject, f"{text} {tokens.text(gen + 1, phrase.end)} of", owner)
            return
        if phrase.kind == "name":
            role, _, of = phrase.text.partition(" of ")
            if role in {"Minister", "Secretary"} and " of " in of:
                role, of = phrase.text.rsplit(" of ", 1)
            if of and role.split()[0] in ROLES and (set(role.split()) <= ROLES or " of " in role):
                self._say(subject, f"{text} {role} of", replace(phrase, text=of))
                return
            self._say(subject, text, phrase)
            return
        inner = phrase.of
        phrase = self._split(subject, text, phrase)
        if inner and inner.kind == "noun" and inner.determiner in {"a", "an"} and len(phrase.before.split()) <= 5:
            self._say(subject, f"{text} {phrase.before} of", inner)  # "was son of, judge"
            return
        if inner and inner.kind in {"name", "date"} and not inner.genitive and len(phrase.before.split()) <= 5:
            phrases, _ = joined(tokens, inner)
            for one in phrases if all(one.kind == inner.kind for one in phrases) else [inner]:
                self._say(subject, f"{text} {phrase.before} of", one)
            return
        self._say(subject, text, phrase)

    def _split(self, subject: Subject, text: str, phrase: Phrase) -> Phrase:
        """State the year or nation that a noun phrase begins with as a fact of its own; return the rest."""
        tokens, begin = self.tokens, phrase.start + (1 if phrase.determiner else 0)
        word, topic = tokens[begin], self.topic
        if phrase.kind != "noun" or " " not in phrase.before:
            return phrase
        of_person = topic.is_person and topic.title in subject.heads and not subject.noun
        if word.tag == "date":  # "is a 1931 film"
            self._say(subject, f"{text} {phrase.head} of", self._plain(begin))
        elif of_person and word.tag == "name" and tokens.is_(begin + 1, "word") and _NATION.fullmatch(word.text):
            self._say(subject, text, self._plain(begin))  # "was an Italian painter"
        else:
            return phrase
        after = tokens[begin + 1].start - word.start
        return replace(phrase, text=phrase.text[after:].strip(), before=phrase.before[after:].strip())

    def _more(  # noqa: C901
        self, subject: Subject, relation: str, place: int, asides: Sequence[tuple[str, Phrase]], until: int | None
    ) -> int:
        """Read on after what a subject is: prepositions, participles and relative clauses tell more of it."""
        tokens = self.tokens
        for aside in asides:
            self._say(subject, f"{relation} {aside[0]}", aside[1])
        for number in range(_MOST_CLAUSES):
            place = self._after_brackets(place)
            at = place + tokens.is_(place, "comma")
            direct = number == 0 or at > place or tokens.is_(at, "and")
            at += tokens.is_(at, "and") and tokens.is_(at + 1, "past", "ing")
            if until is not None and at >= until:
                return place
            phrase = noun_phrase(tokens, at) if tokens.is_(at, "num") and at > place else None
            if phrase and (far := self._distance(phrase)):
                self._say(subject, f"is {far[0]}", far[1])
                place = far[1].end
                continue
            if tokens.is_(at, "prep") and number:
                return place
            if tokens.is_(at, "prep"):
                end = self._complement(subject, relation, at, passive=True, until=until, single=True)
            elif tokens.is_(at, "past") or (tokens.is_(at, "adv") and tokens.is_(at + 1, "past")):
                at += tokens.is_(at, "adv")
                words, after = tokens[at].text.lower(), at + 1
                while tokens.is_(after, "and", "comma") and tokens.is_(
                    after + 1 + tokens.is_(after + 1, "and"), "past"
                ):
                    after += 1 + tokens.is_(after + 1, "and")
                    words, after = tokens.text(at, after + 1).lower(), after + 1
                if not tokens.is_(after, "prep", "date"):
                    return place
                end = self._complement(subject, words, after, passive=True, until=until)
            elif (
                direct
                and tokens.is_(at, "ing")
                and (
                    tokens[at + 1].text == "of"
                    or ((phrase := noun_phrase(tokens, at + 1)) and phrase.kind != "pronoun")
                )
            ):
                end = self._complement(subject, tokens[at].text.lower(), at + 1, until=until)
            elif tokens[at].text == "whose" and (own := noun_phrase(tokens, at)) and own.kind == "noun" and not own.of:
                noun = Subject(subject.heads, tokens.text(at + 1, own.end))
                end = self._predicates(noun, self._inserts(noun, own.end), [], inside=True) or place
            elif tokens.is_(at, "rel") and tokens[at].text in {"who", "which"} or tokens[at].text == "that":
                if tokens.is_(place, "comma") and tokens.is_(place - 1, "name"):
                    return self._relative(place)
                if not self._verb(at + 1):
                    return place
                end = self._predicates(subject, at + 1, [], inside=True) or place
            else:
                return place
            if end <= at:
                return place
            place = end
        return place

    def _relative(self, place: int) -> int:
        """Read ", who was born in Ost," about the name before the comma."""
        tokens = self.tokens
        if not (
            tokens.is_(place, "comma") and tokens.is_(place + 1, "rel") and tokens[place + 1].text in {"who", "which"}
        ):
            return place
        before = place - 2 - tokens.is_(place - 2, "det")
        if not tokens.is_(place - 1, "name") or not self._verb(place + 2) or tokens[before].text == "of":
            return place  # "a lens of the Ost Light, which is large"
        if tokens[place + 1].text == "which" and not tokens.is_(place + 2, "be"):
            return place
        end = self._predicates(Subject((self.topic.subject(tokens[place - 1].text),)), place + 2, [], inside=True)
        return end if end is not None else len(tokens)

    def _complement(  # noqa: C901
        self,
        subject: Subject,
        relation: str,
        place: int,
        *,
        passive: bool = False,
        verb: str = "",
        asides: Sequence[tuple[str, Phrase]] = (),
        until: int | None = None,
        single: bool = False,
    ) -> int:
        """Read the objects of a verb, each whole and with its own preposition."""
        tokens, carried, base, objects, steps = self.tokens, "", "", 0, 0
        end_of_all = len(tokens) if until is None else until
        while place < end_of_all and steps < 8:
            steps += 1
            place = self._after_brackets(place)
            if tokens.is_(place, "neg") or (tokens.is_(place, "but") and tokens.is_(place + 1, "prep")):
                if tokens.is_(place, "neg") and tokens[place + 1].text in {"only", "just", "merely"}:
                    place += 2
                elif tokens.is_(place, "neg"):
                    read = self._prepositional(place + 1) if tokens.is_(place + 1, "prep") else None
                    if not read:
                        return self._boundary(place)
                    place = read[2] + tokens.is_(read[2], "comma")
                else:
                    place += 1
                continue
            if tokens.is_(place, "adv") and tokens[place].text != "ago":
                place += 1
                continue
            at = place
            if (
                tokens.is_(at, "comma")
                and steps > 1
                and tokens.is_(at + 1, "prep")
                and (read := self._prepositional(at + 1))
                and (read[1][0].kind in {"date", "name"} or tokens.is_(read[2], "comma"))
            ):
                at += 1
            if tokens.is_(at, "prep") and not (tokens[at].text == "as" and tokens[at + 1].text == "well"):
                read = self._prepositional(at)
                if not read or tokens[at].text in {"like", "unlike", "despite", "without", "than"}:
                    break
                preposition, phrases, end = read
                self._say_at(subject, relation, carried, preposition, phrases, base)
                last = phrases[-1]
                if (
                    last.owned
                    or last.kind == "pronoun"
                    or (preposition in _ENTWINES and carried)
                    or preposition in _ENTWINES
                    and objects
                ):
                    carried = "?"
                elif last.kind in {"noun", "number"} or (
                    objects == 0 and last.kind != "date" and (not passive or preposition in _ESSENTIAL)
                ):
                    carried = f"{carried} {tokens.text(at, end)}".strip() if len(phrases) == 1 else "?"
                if (
                    last.kind == "name"
                    and last.before
                    and tokens[end].text == "by"
                    and (by := self._prepositional(end))
                ):
                    self._say_at(Subject((last.text,)), last.before.split()[-1], "", "by", by[1])
                    end = by[2]
                if single and not objects and phrases[-1].kind == "name":
                    passive = True
                place = end
                relative = self._relative(place) if phrases[-1].kind == "name" else place
                if relative != place:
                    return relative
                continue
            if tokens.is_(at, "date") and at == place and (steps > 1 or not tokens.is_(at + 1, "word", "name")):
                self._say_at(subject, relation, carried, "", [self._plain(at)])
                place = at + 1
                continue
            phrase = noun_phrase(tokens, place)
            far = self._distance(phrase) if phrase and phrase.kind == "number" else None
            if not far and (
                steps > 1 + (objects == 0 and carried == "" and steps == 2)
                or single
                or (passive and verb not in _TWO_OBJECTS and verb)
            ):
                break
            if phrase and phrase.kind == "pronoun" and (name := self.topic.of_object(phrase.head, subject.heads)):
                phrase = replace(phrase, kind="name", text=name)  # "Ada Renk sold it"
            if not phrase or phrase.kind == "pronoun":
                if phrase:
                    return self._boundary(place)
                break
            if far:
                self._say(subject, f"{relation} {far[0]}", far[1])
                place = far[1].end
                continue
            phrases, end = joined(tokens, phrase)
            if self._verb(end) and (not tokens.is_(end, "past") or verb in _MOVES):
                return self._boundary(place)
            if (tokens[end].text == "to" or tokens.is_(end, "ing")) and verb in _MOVES:
                return self._boundary(place)
            if tokens.is_(place, "ing"):
                return place
            for one in phrases:
                self._object(subject, relation, one)
            objects += 1
            carried = (
                ("the " if phrase.determiner == "the" and phrase.kind == "noun" else "") + phrases[0].text
                if len(phrases) == 1
                else "?"
            )
            carried = "?" if phrases[0].owned and phrases[0].kind != "name" or phrases[0].cut else carried
            base, place = carried, end
            relative = self._relative(place) if phrases[-1].kind == "name" else place
            if relative != place:
                return relative
        unread = not (passive or objects or carried) and not tokens.is_(place, "stop", "comma", "and")
        for preposition, phrase in () if unread else asides:
            self._say_at(subject, relation, carried if objects else "", preposition, [phrase], base)
        return place

    def _distance(self, phrase: Phrase) -> tuple[str, Phrase] | None:
        """Read "four miles (6 km) west of Ost"."""
        tokens, at = self.tokens, self._after_brackets(phrase.end)
        way = tokens[at].text.lower()
        if not way.startswith(("north", "south", "east", "west")) or tokens[at + 1].text not in {"of", "from"}:
            return None
        place = noun_phrase(tokens, at + 2)
        return (f"{phrase.text} {way} {tokens[at + 1].text}", place) if place else None

    def _object(self, subject: Subject, relation: str, phrase: Phrase) -> None:
        inner = phrase.of
        definite = phrase.kind == "noun" and phrase.determiner in {"the", "this"} and not inner
        if definite and (name := self.topic.of_noun(phrase.text.lower())):
            self._say(subject, relation, replace(phrase, kind="name", text=name, before=""))
            return
        makes = relation.split()[-1] in _MAKES and self.topic.title not in subject.heads
        if definite and makes and self.topic.has_part(phrase.text):  # "Bo Ray composed the music"
            of = replace(phrase, kind="name", text=self.topic.title, before="")
            self._say(subject, f"{relation} the {phrase.text} of", of)
            return
        if (
            phrase.kind == "noun"
            and inner
            and inner.kind == "name"
            and not inner.genitive
            and not phrase.owned
            and len(phrase.before.split()) <= 3
        ):
            self._say(subject, f"{relation} {phrase.before} of", inner)
            return
        self._say(subject, relation, phrase)

    def _say_at(
        self, subject: Subject, relation: str, carried: str, preposition: str, phrases: Sequence[Phrase], base: str = ""
    ) -> None:
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
                self._say(subject, f"{relation} {carried} {preposition}".replace("  ", " "), one)

    def _say(self, subject: Subject, relation: str, phrase: Phrase) -> None:  # noqa: C901
        """State a fact if its end has content of its own."""
        words = phrase.text.split()
        if not words or len(words) > _LONGEST_END or phrase.kind == "pronoun" or phrase.cut:
            return
        if phrase.of and phrase.of.text.lower() in _HOLLOW:
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
            and phrase.head.removesuffix("s") in _HOLLOW
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
        whole = " ".join(f"{subject.noun} {relation}".split())
        told = f"{whole} {phrase.before}"
        described = phrase.kind == "name" and phrase.before and not phrase.genitive
        if described and not phrase.owned and len(told.split()) <= _LONGEST_RELATION and phrase.before.islower():
            whole = told  # "was built by engineer"
        if len(whole.split()) > _LONGEST_RELATION or _PRONOUNS_INSIDE & set(whole.lower().split()):
            return
        self.facts += [(head, whole, phrase.text) for head in subject.heads]


def clauses(sentence: str, topic: Topic, *, first: bool) -> Iterator[Fact]:
    """Yield the facts of the clauses of a sentence, and tell the topic whether it was about it."""
    read = Clauses(sentence, topic, first=first)
    known = read.subject if not read.unlike else None
    topic.goes_on(known.heads if known else (), known.noun if known else "")
    yield from read.facts
