"""Reads the clauses of a sentence: subject, verb, and what is said of the subject, each part whole.

What does not have one of a few clear shapes states no facts; nor does what is negated, conditional, or only reported.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from langgraph_rag.tools.facts.completion import LONGEST_RELATION, ORDINAL
from langgraph_rag.tools.facts.names import life_dates, topic_of
from langgraph_rag.tools.facts.phrases import (
    ADJECTIVE,
    ALIKE,
    AMONG,
    COMPOUND,
    REPORTS,
    TWO_OBJECTS,
    Aside,
    Phrase,
    Verb,
    alternatives,
    are_several,
    distance,
    is_superlative,
    joined,
    noun_phrase,
    opening,
    plain,
    prepositional,
    verb_at,
)
from langgraph_rag.tools.facts.statements import HOLLOW, Fact, Statements, Subject, Subjects, Topic
from langgraph_rag.tools.facts.words import ARTICLES, PARTICLES, Tokens

_OPENS = frozenset("born raised educated founded established built located situated based formed".split())
_DESCRIBE = frozenset("known called named titled written directed composed made led owned used published set".split())
_MOVES = frozenset(  # verbs whose object does something else
    "proposed allowed allows allow asked forced forces wanted enabled enables caused causes requires required "
    "encouraged encourages told ordered invited persuaded convinced helps helped permits expected expects led "
    "leads urged causes had has made makes let lets saw sees kept keeps left tells asks forces "
    "orders invites turned turns".split()
)
_TELLS = REPORTS | frozenset(
    "confirmed announced stated states revealed explained found discovered noted wrote told showed shows means "
    "decided learned realized realised declared admitted concluded".split()
)
_DIMENSIONS = frozenset("long high tall wide deep old thick".split())
_OF_OWN = frozenset("at in to with from for about on as".split())
_KIN = frozenset(
    "son daughter grandson granddaughter brother sister nephew niece cousin wife husband widow child descendant "
    "pupil".split()
)
_ESSENTIAL = frozenset("to from into with as under against onto via for".split())
_WHERE = frozenset("at in on near inside within during".split())
_ACROSS = frozenset("across along opposite over around through".split())
_ENTWINES = frozenset("for about as with of than between among over".split())
_CONDITIONS = frozenset("if unless when whenever where once whether suppose assuming provided".split())
_SPEAKS = frozenset("you your we our us i my me let's let you're you'll i'm we're yours ours mine".split())
_OF_NOUNS = frozenset(  # verbs that only describe a noun: "the class assigned to it"
    "assigned used given passed provided required needed added associated related specified defined".split()
)
_STATES = frozenset(
    "case cases mode modes example examples plots context absence presence event platforms systems versions "
    "environments terminals releases".split()
)
_ALSO_KNOWN = re.compile(r"(?:(?:also|formerly|originally|previously|sometimes|once) )?(?:known as|called|named)\b")
_IN_MODE = re.compile(r"\b(?:in|under) (?:the )?[\w-]+ mode\b")
_INFORMS = frozenset("told tells informed informs reminded reminds assured assures notified notifies".split())
_HAPPENS = frozenset(  # verbs of what happens once
    "died opened closed debuted premiered began ended retired married graduated emigrated disbanded merged settled "
    "crashed sank burned collapsed started finished formed occurred happened landed arrived".split()
)
_GOES = _HAPPENS | frozenset("moved lived worked served played appeared returned escaped".split())  # without an object
_GIVES = frozenset(  # verbs with a receiver before the object
    "give gives gave given grant grants granted pay pays paid offer offers offered sell sells sold send sends sent "
    "lend lends lent owe owes owed lease leases leased award awards awarded teach teaches taught".split()
)
_NAMES = frozenset("appointed chosen selected hired assigned nominated asked invited".split())
_ACTS = re.compile(r" [a-z]{3,}[^\W\ds]s [a-z]")  # a verb and its object
_MOST_CLAUSES = 12


class Clauses:
    """The facts that the clauses of one sentence state."""

    def __init__(self, tokens: Tokens, topic: Topic, *, first: bool, item: bool) -> None:
        """Read the sentence; a first one may introduce its subject as the topic."""
        self.tokens, self.topic, self.first = tokens, topic, first
        self.said = Statements(self.tokens, topic)
        self.facts = self.said.facts
        self.subjects = Subjects(self.tokens, topic, self.facts, first=first, item=item)
        self.subject: Subject | None = None
        self._read()

    def _read(self) -> None:
        begin = self.subjects.title_end(0)
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
            place = self._clause(place, later=self.tokens[place - 1].text != ".")

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
            if tokens.is_(at - 1, "and") and tokens.is_(at - 2, "name"):
                continue  # "a son of Karl Senn and his wife Ida"
            if phrase.kind == "name" and ((at == 1 and tokens.is_(0, "prep")) or ORDINAL.fullmatch(phrase.before)):
                continue  # "During its existence Kell", "his twelfth Kell Fair"
            if phrase.kind == "name" and phrase.before.islower():
                self.facts.append((owner, phrase.before, phrase.text))
                continue
            read = prepositional(tokens, phrase.end) if tokens[phrase.end].text in _OF_OWN else None
            told = read[1][0] if read and phrase.kind == "noun" else None
            if read and told and told.kind == "name" and not (told.cut or told.owned):
                self.said.say(Subject((owner,)), f"{phrase.text} {read[0]}", told)

    def _next(self, place: int) -> int | None:
        """Return the start of the next main clause after a place: behind a semicolon, or "and" with a new subject."""
        tokens = self.tokens
        while place < len(tokens):
            token = tokens[place]
            if token.text == ";" or (
                token.text == "." and tokens[place + 1].start > token.end and tokens[place - 1].text != "v"
            ):
                return place + 1  # also before a name without a capital
            if token.tag == "sub" and token.text in {"that", "if", "unless", "whether"}:
                return None
            if token.text == "which" and tokens.is_(place - 1, "prep") and tokens.is_(place + 1, "name"):
                return place + 1
            if token.tag in {"and", "but"} or token.text in {"while", "whereas"}:
                phrase = noun_phrase(tokens, place + 1, acts=True) if token.text != "or" else None
                if phrase and phrase.kind == "name" and not phrase.owned and self._is_second(place):
                    phrase = None  # "The music by Ada Renk and Bo Ray was"
                if (
                    phrase
                    and tokens.is_(phrase.end, "past")
                    and tokens.is_(phrase.end + 1, "prep")
                    and not tokens.is_(place - 1, "comma")
                ):
                    phrase = None  # "and a PDF designed for"
                if (
                    phrase
                    and verb_at(tokens, phrase.end)
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

    def _is_second(self, place: int) -> bool:
        """Return whether "and" joins two names within a subject: no verb stands before it."""
        tokens = self.tokens
        joins = tokens.is_(place - 1, "name") or (tokens.is_(place - 1, "comma") and tokens.is_(place - 2, "name"))
        return joins and not any(tokens.is_(at, "be", "have", "do", "modal", "past", "pres") for at in range(place))

    def _clause(self, place: int, *, later: bool = False) -> int | None:  # noqa: C901
        """Read a main clause; return where it ends, or nothing if nothing after it can be trusted."""
        tokens, asides = self.tokens, list[Aside]()
        participle, apposed, limited, where, self.said.mode = None, None, False, "", ""
        for _ in range(6):
            if not later and self.subjects.title_end(place):
                break
            while tokens.is_(place, "adv", "and", "but") or (tokens.is_(place, "comma") and place > 0):
                place += 1
            if tokens[place].text.lower() in _CONDITIONS and not self._is_past_event(place):
                return None
            if tokens[place].text.lower() == "by" and tokens[place + 1].text == "default":
                place, self.said.mode = place + 2, "by default"
                continue
            if opened := opening(tokens, place):
                if tokens[place].text.lower() == "on" and tokens.is_(place + 1, "name"):
                    where = tokens[place + 1].text
                    limited = limited or opened[0] != place + 3
                limited = limited or (not opened[1] and self._is_limit(place))
                place = opened[0]
                asides += opened[1]
                continue
            limits = tokens.is_(place, "ing", "sub") or (tokens.is_(place, "prep") and self._is_limit(place))
            describes = ADJECTIVE.search(tokens[place].text.lower()) and tokens.is_(place + 1, "prep", "comma", "adv")
            if limits or tokens.is_(place, "past", "adv") or (tokens.is_(place, "word") and describes):
                limited = limited or limits
                by = tokens.is_(place, "past") and tokens[place + 1].text == "by"
                if (by or tokens[place].text.lower() in _OPENS) and not later:
                    participle = place
                comma = self._comma_before_subject(place)
                if comma is None:
                    return place + 1
                place = comma + 1
                continue
            if tokens.is_(place, "det", "name") and (after := self._apposed(place)):
                apposed, place = place, after
                continue
            break
        if found := self._emphasised(place):
            return self._predicates(*found, [])
        found = self.subjects.read(place, later=later)
        if not found:
            return place + 1
        subject, place = found
        self.subject = self.subject or subject
        if tokens.is_(place, "open") and tokens.is_(place + 2, "close") and len(tokens[place + 1].text) == 1:
            return self._boundary(place)  # "Plot (a)"
        if participle is not None:
            self._complement(subject, tokens[participle].text.lower(), participle + 1, passive=True)
        if apposed is not None:
            self._being(subject, "is", apposed, until=place)
        place = self._inserts(subject, place)
        if (limited or where) and (verb := verb_at(tokens, place)) and verb.is_present:
            if limited:
                return self._boundary(place)  # "With this option, the mill stops": only then
            self.said.mode, asides = f"on {where}", []  # "On Kell, the mill stops": maybe only there
        return self._predicates(subject, place, asides)

    def _emphasised(self, place: int) -> tuple[Subject, int] | None:
        """Read the name in "It was Bo Ray who sold the inn": the rest is about it."""
        tokens = self.tokens
        it = tokens[place].text.lower() == "it" and tokens.is_(place + 1, "be")
        phrase = noun_phrase(tokens, place + 2) if it else None
        if not phrase or phrase.kind != "name" or phrase.before or tokens[phrase.end].text not in {"who", "that"}:
            return None
        return Subject((self.topic.subject(phrase.text),)), phrase.end + 1

    def _is_limit(self, place: int) -> bool:
        """Return whether an opening says under which conditions the clause holds: "With this option,"."""
        words = [self.tokens[at].text.lower() for at in range(place, place + 5)]
        return words[0] in {"with", "without", "for", "under", "to"} or not _STATES.isdisjoint(words)

    def _apposed(self, place: int) -> int:
        """Return where the main clause begins after "The son of a smith, he"; 0 if this is none."""
        tokens, phrase = self.tokens, noun_phrase(self.tokens, place)
        end = joined(tokens, phrase.of)[1] if phrase and phrase.of else phrase.end if phrase else place
        if not phrase or phrase.kind != "noun" or phrase.determiner not in ARTICLES or not tokens.is_(end, "comma"):
            return 0
        at = end + 1
        named = self.topic.begins(tokens.sentence, tokens[at].start)
        return at if (tokens[at].text in {"he", "she", "it", "they"} and verb_at(tokens, at + 1)) or named else 0

    def _is_past_event(self, place: int) -> bool:
        """Return whether "when" or "once" begins a clause of the past, which is no condition."""
        tokens = self.tokens
        comma = next((at for at in range(place, len(tokens)) if tokens.is_(at, "comma")), place)
        past = any(tokens.is_(at, "past") or tokens[at].text in {"was", "were", "had"} for at in range(place, comma))
        acts = not tokens.is_(place + 1, "past")  # unlike "When used with"
        return tokens[place].text.lower() in {"when", "once", "where"} and past and acts

    def _comma_before_subject(self, place: int) -> int | None:
        """Return the first comma outside brackets after which a subject and its verb follow."""
        depth, tokens = 0, self.tokens
        for at in range(place, min(len(tokens), place + 40)):
            depth += tokens.is_(at, "open") - tokens.is_(at, "close")
            if tokens[at].text == ";":
                return None
            if depth == 0 and tokens.is_(at, "comma"):
                phrase = noun_phrase(tokens, at + 1, acts=True)
                if phrase and verb_at(tokens, tokens.after_brackets(phrase.end)):
                    return at
                if phrase and phrase.kind == "name" and tokens.is_(phrase.end, "and") and are_several(tokens, phrase):
                    return at
        return None

    def _inserts(self, subject: Subject, place: int) -> int:
        """Read what stands between a subject and its verb: brackets, another name, what it is, a relative clause."""
        end = self._inserted(subject, place)
        for at in range(place, end):
            if self.tokens.is_(at, "open"):
                self._brackets(subject, at)
        return end

    def _inserted(self, subject: Subject, place: int) -> int:  # noqa: C901
        tokens = self.tokens
        maker = noun_phrase(tokens, place + 1) if subject.noun and tokens[place].text == "by" else None
        if maker and maker.kind == "name":  # "The music by Bo Ray and Ida Vint was"
            makers, end = joined(tokens, maker, acting=True)
            if not verb_at(tokens, end):
                return place
            self.said.say_at(subject, "", "", "by", makers)
            place = end
        for _ in range(4):
            place = tokens.after_brackets(place)
            if tokens.is_(place, "rel") and tokens[place].text in {"who", "which"}:
                if tokens[place + 1].text in {"are", "have"}:
                    return place  # "fields that are unique are", only those
                end = self._predicates(subject, place + 1, [], inside=True) or place
                if tokens[end].text.endswith("ed") and tokens[end].text not in _GOES and tokens.is_(end + 1, "prep"):
                    return len(tokens)  # "The tool which reads files stored in Ost"
                return end + tokens.is_(end, "comma")
            if not tokens.is_(place, "comma"):
                return place
            verb = verb_at(tokens, place + 1)
            if verb and (verb.text != verb.word or not tokens.is_(verb.end - 1, "past")):  # unlike ", also known as"
                return place + 1
            close = self._closing_comma(place + 1)
            if close is None:
                return place
            at = place + 1
            while tokens.is_(at, "adv", "and") or tokens[at].text in {"best", "better", "more"}:
                at += 1
            if tokens.is_(at, "rel") and tokens[at].text in {"who", "which"}:
                self._predicates(subject, at + 1, [], inside=True)
            elif tokens.is_(at, "past") or tokens[at].text.lower() in {"aka", "alias"}:
                said = tokens[at].text.lower() if tokens.is_(at, "past") else "known as"
                self._complement(subject, said, at + 1, passive=True, until=close)
            elif (
                (phrase := noun_phrase(tokens, at))
                and phrase.end <= close
                and phrase.determiner in ARTICLES
                and (phrase.kind == "name" or " " in phrase.text)
            ):
                self._being(subject, "is", at, until=close)
            place = tokens.after_brackets(close + tokens.is_(close, "comma"))
            if verb_at(tokens, place):
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
                after = tokens.after_brackets(at + 1)
                if verb_at(tokens, after) or tokens.is_(after, "rel", "adv"):
                    return at
            if depth == 1 and tokens.is_(at, "open") and verb_at(tokens, tokens.after_brackets(at)):
                return at  # "Bo Ray, also known as Ray (born 1900) was"
        return None

    def _brackets(self, subject: Subject, place: int) -> int:
        """Read the dates of a life, or another name, in the brackets after a subject; return where they end."""
        tokens, end = self.tokens, self.tokens.after_brackets(place)
        if end > place and not subject.noun and len(subject.heads) == 1:
            told = life_dates(tokens.sentence[tokens[place].start : tokens[end - 1].end])
            self.facts += [(subject.heads[0], relation, tail) for relation, tail in told]
            at = place + 1
            while tokens.is_(at, "adv"):
                at += 1
            if tokens.is_(at, "past") and tokens[at].text in {"known", "called", "titled", "named", "released"}:
                self._complement(subject, tokens[at].text, at + 1, passive=True, verb="called", until=end - 1)
        return end

    def _predicates(  # noqa: C901
        self, subject: Subject, place: int, asides: Sequence[Aside], *, inside: bool = False
    ) -> int | None:
        """Read the verbs of a subject, one after the other: "was born in Ost and died in Brenn"."""
        tokens = self.tokens
        for number in range(_MOST_CLAUSES):
            while tokens.is_(place, "comma") and number and not inside:
                place += 1
            verb = verb_at(tokens, place)
            if not verb:
                return place
            if not verb.states:
                if verb.word in REPORTS or tokens[verb.end].text in {"that", "whether", "if"}:
                    return None
                return self._boundary(verb.end)
            if self._is_conditional(verb) or tokens[verb.end].text == "that":
                return self._boundary(verb.end)
            many = subject.noun or any(topic_of(head).endswith("s") for head in subject.heads)
            if many and verb.text == verb.word and verb.word in _OF_NOUNS and tokens.is_(verb.end, "prep"):
                return self._boundary(verb.end)
            if self._is_noun(verb, place):
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
            if verb.text == verb.word and tokens.is_(verb.end - 1, "past") and verb_at(tokens, end):
                del self.facts[known:]  # "Rectangles defined with it can have styles"
                return end
            asides = ()
            at = end
            comma = tokens.is_(at, "comma")
            at += comma
            if tokens.is_(at, "and", "but") and verb_at(tokens, at + 1):
                if verb.is_present and tokens[at + 1].text in ALIKE:
                    return at  # "is named in A or set B"
                place = at + 1
            elif comma and not inside and self._goes_on(verb, at):
                if tokens[at + 1].text == "by" and verb.kind != "passive":
                    return at  # "has a crew, led by Bo Ray"
                place = at
            else:
                return self._kinship(subject, end) if comma and verb.kind == "passive" else end
        return place

    def _goes_on(self, verb: Verb, place: int) -> bool:
        """Return whether a verb without "and" goes on with the clause of another: unlike "is a boxer, mixed artist"."""
        tokens, past = self.tokens, self.tokens.is_(place, "past")
        alike = not (verb.is_present and past and tokens.is_(place + 1, "word"))
        if verb.kind == "active" and tokens[place].text in _OPENS | _DESCRIBE and tokens.is_(place + 1, "prep"):
            return False  # "follows three sisters, known as the Owls"
        return alike and self.tokens.is_(place, "past", "pres", "be") and verb_at(self.tokens, place) is not None

    def _is_noun(self, verb: Verb, place: int) -> bool:
        """Return whether what was taken for a verb is a noun, as in "Guest stars in the film included"."""
        tokens = self.tokens
        if verb.text != verb.word or not tokens.is_(place, "pres") or not tokens.is_(verb.end, "prep"):
            return False
        at = verb.end + 1
        while tokens.is_(at, "det", "word", "poss"):
            at += 1
        return tokens[at].text in {"included", "include", "were", "are"}

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
            self.said.say(subject, f"is {phrase.before} of", phrase.of)
            return phrase.end
        return place

    def _boundary(self, place: int) -> int:
        """Return the place of the next semicolon or "but", where a clause that states nothing is over."""
        while place < len(self.tokens) and self.tokens[place].text != ";":
            place += 1
        return place

    def _is_conditional(self, verb: Verb) -> bool:
        """Return whether a clause holds only under a condition that follows its verb."""
        conditions = {"if", "unless", "whether"} | ({"when", "whenever"} if verb.is_present else set())
        times = {"after", "once", "long", "soon"} if verb.is_present else set[str]()
        apart, depth = False, 0
        for at in range(verb.end, len(self.tokens)):
            depth += self.tokens.is_(at, "open") - self.tokens.is_(at, "close")
            if self.tokens[at].text == ";":
                return False
            if self.tokens.is_(at, "and") and verb_at(self.tokens, at + 1):
                times = set()  # "it opens in May, and closes after it snows"
            if self.tokens[at].text in conditions or (self.tokens[at].text == "except" and not (apart or depth > 0)):
                return True
            if self.tokens[at].text in times and not apart and self._is_of_present(at + 1):
                return True
            apart = apart or (self.tokens.is_(at, "comma") and self.tokens[at + 1].text != "except")
        of_mode = verb.is_present and not self.tokens.is_(verb.end, "prep")
        return of_mode and _IN_MODE.search(self.tokens.sentence, self.tokens[verb.end].start) is not None

    def _is_of_present(self, place: int) -> bool:
        """Return whether a clause of what happens again and again begins: "[until] the tank is full"."""
        place += self.tokens[place].text == "as"
        phrase = noun_phrase(self.tokens, place, acts=True)
        verb = verb_at(self.tokens, phrase.end) if phrase else None
        return verb is not None and (verb.is_present or verb.text.startswith(("has been ", "have been ")))

    def _being(  # noqa: C901
        self,
        subject: Subject,
        text: str,
        place: int,
        *,
        asides: Sequence[Aside] = (),
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
        if asides and phrase.determiner == "the" and text in {"is", "are"}:  # "In Ost, it is the only inn"
            self.said.mode, asides = f"{asides[0][0]} {asides[0][1].text}", ()
        phrases, end = joined(tokens, phrase)
        if phrase.determiner in {"a", "an"} and phrase.kind == "name":
            begin = phrase.start + 1
            phrases = [
                replace(
                    phrase, kind="noun", text=tokens.text(begin, phrase.end), before=tokens.text(begin, phrase.end)
                ),
                *phrases[1:],
            ]
        whose = phrase.of
        if whose and whose.determiner in {"a", "an"} and not any(one.determiner for one in phrases[1:]):
            phrases = phrases[:1]  # "a leader of a club, company or town"
        about_topic = self.topic.title in subject.heads and not subject.noun
        noun = phrases[0].before or phrases[0].text
        away = (
            phrase.kind == "number" and not phrase.of and tokens[end].text == "from"
        )  # "is five minutes from the sea"
        for one in [] if away else phrases:
            self.said.is_a(subject, text, one)
            if about_topic and self.first:
                self.topic.defined(one.text)
        if phrases[-1].kind == "name" and not subject.noun and not phrases[-1].before:
            return end
        if phrases[0].kind == "number":
            noun = phrases[0].text if len(phrases[0].text.split()) < 5 else ""
        elif len(noun.split()) > 4 + 2 * is_superlative(phrases[0]):
            noun = phrases[0].head if phrases[0].kind != "name" else ""
        if phrases[0].kind == "name":
            noun = phrases[0].text
        of = phrases[0].of
        if of and len(phrases) == 1 and (of.kind == "name" or phrases[0].head in HOLLOW):
            noun = f"{phrases[0].before} of {of.text}"  # "became a singer of Kell in 2009"
        split = of is not None and of.kind == "noun" and of.determiner in {"a", "an"}  # "name of a key in English"
        split = split or (of is not None and tokens[tokens.after_brackets(end)].text == "which")
        if phrases[-1].cut and not (of and of.kind == "name"):
            asides, split = (), True
        among = prepositional(tokens, end) if is_superlative(phrases[0]) and tokens[end].text in AMONG else None
        if among and among[1][0].kind == "noun":
            end, split = among[2], True  # it belongs to the end of the fact
        return self._more(subject, f"{text} {noun}".strip(), end, asides, until, split=split)

    def _measures(self, subject: Subject, text: str, phrase: Phrase | None) -> int:
        """Read "312 metres (1,024 ft) long and 20 m wide"; return where it ends, or 0."""
        tokens, done = self.tokens, 0
        while phrase and phrase.kind == "number":
            amount, _, how = phrase.text.rpartition(" ")
            end = phrase.end
            if how not in _DIMENSIONS:
                end = tokens.after_brackets(phrase.end)
                amount, how, end = phrase.text, tokens[end].text, end + 1
            if how not in _DIMENSIONS:
                return done
            self.said.say(subject, f"{text} {how}", replace(phrase, text=amount, cut=False))
            done = end
            more = tokens.is_(end, "and", "comma")
            phrase = noun_phrase(tokens, end + 1 + tokens.is_(end + 1, "and")) if more else None
        return done

    def _more(  # noqa: C901
        self,
        subject: Subject,
        relation: str,
        place: int,
        asides: Sequence[Aside],
        until: int | None,
        *,
        split: bool = False,
    ) -> int:
        """Read on after what a subject is: prepositions, participles and relative clauses tell more of it."""
        tokens, related = self.tokens, False
        for aside in asides:
            self.said.say(subject, f"{relation} {aside[0]}", aside[1])
        for number in range(_MOST_CLAUSES):
            place = tokens.after_brackets(place)
            at = place + tokens.is_(place, "comma")
            direct = number == 0 or at > place or tokens.is_(at, "and")
            at += tokens.is_(at, "and") and tokens.is_(at + 1, "past", "ing")
            if until is not None and at >= until:
                return place
            phrase = noun_phrase(tokens, at) if tokens.is_(at, "num") and at > place else None
            if phrase and (far := distance(tokens, phrase)):
                self.said.say(subject, f"is {far[0]}", far[1])
                place = far[1].end
                continue
            if tokens.is_(at, "prep") and (number or split):
                return place
            if tokens.is_(at, "prep"):
                end = self._complement(subject, relation, at, passive=True, until=until, single=True)
            elif tokens.is_(at, "past") or (tokens.is_(at, "adv") and tokens.is_(at + 1, "past")):
                best = tokens[at - 1].text in {"best", "better"}
                if related and at == place and not best:
                    return place  # "is a tool that reads files stored in Ost"
                if tokens[at].text in {"optionally", "possibly", "usually", "sometimes"}:
                    return place
                if number and not best and _ALSO_KNOWN.match(tokens.sentence, tokens[at].start):
                    return place  # "in the Kell family, also known as"
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
                and tokens[at].text != "including"
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
                verb = verb_at(tokens, at + 1)
                which, named = tokens[at].text == "which", tokens.is_(place - 1, "name")
                nearest = which and (number or split) and verb and verb.kind == "is" and tokens.is_(verb.end, "det")
                if nearest or (named and (tokens.is_(place, "comma") or (number and which))):
                    return self._relative(place)  # rather about that
                if not verb or (tokens.is_(place, "comma") and number):
                    return place
                end = self._predicates(subject, at + 1, [], inside=True) or place
            else:
                return place
            if end <= at:
                return place
            related, place = tokens.is_(at, "rel") or tokens[at].text == "that", end
        return place

    def _relative(self, place: int) -> int:
        """Read ", who was born in Ost," about the name before the comma."""
        tokens = self.tokens
        if not (
            tokens.is_(place, "comma") and tokens.is_(place + 1, "rel") and tokens[place + 1].text in {"who", "which"}
        ):
            return place
        before = place - 2 - tokens.is_(place - 2, "det")
        if not tokens.is_(place - 1, "name") or not verb_at(tokens, place + 2) or tokens[before].text == "of":
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
        asides: Sequence[Aside] = (),
        until: int | None = None,
        single: bool = False,
    ) -> int:
        """Read the objects of a verb, each whole and with its own preposition."""
        tokens, carried, base, objects, steps, first, placed = self.tokens, "", "", 0, 0, "", ""
        end_of_all = began = len(tokens) if until is None else until
        dated = False
        while place < end_of_all and steps < 8:
            steps += 1
            place = tokens.after_brackets(place)
            if tokens.is_(place, "neg") or (tokens.is_(place, "but") and tokens.is_(place + 1, "prep")):
                if tokens.is_(place, "neg") and tokens[place + 1].text in {"only", "just", "merely"}:
                    place += 2
                elif tokens.is_(place, "neg"):
                    read = prepositional(tokens, place + 1) if tokens.is_(place + 1, "prep") else None
                    if not read:
                        return self._boundary(place)
                    place = read[2] + tokens.is_(read[2], "comma")
                else:
                    place += 1
                continue
            if tokens[place].text in {"instead", "rather"}:
                break
            if tokens.is_(place, "adv") and tokens[place].text != "ago":
                place += 1
                continue
            if tokens[place].text == "at" and tokens[place + 1].text in {"least", "most"}:
                break
            at = place
            if carried and objects and tokens.is_(at, "comma") and tokens.is_(at + 1, "and"):
                more = noun_phrase(tokens, at + 2)
                if more and more.kind == "name" and not verb_at(tokens, more.end):  # "won A for B, and C for D"
                    self.said.acts_on(subject, relation, more)
                    carried, base, place = more.text, more.text, more.end
                    continue
            if (
                tokens.is_(at, "comma")
                and steps > 1
                and tokens.is_(at + 1, "prep")
                and (read := prepositional(tokens, at + 1))
                and (read[1][0].kind in {"date", "name"} or tokens.is_(read[2], "comma"))
            ):
                at += 1
            if tokens[at].text == "as" and "as" in {tokens[further].text for further in range(at + 2, at + 6)}:
                break  # "as few rows as possible"
            if tokens.is_(at, "prep") and not (tokens[at].text == "as" and tokens[at + 1].text == "well"):
                read = prepositional(tokens, at)
                if not read or tokens[at].text in {"like", "unlike", "despite", "without", "than"}:
                    break
                preposition, phrases, end = read
                named = preposition == "of" and began < at and tokens.is_(at - 1, "name")
                if named and (tokens[began].text == "by" or phrases[0].kind == "date"):
                    place = end  # "by Kell & Co. of Ost", "in the Ost Crisis of 1931"
                    continue
                if objects and preposition == placed == "in" and phrases[0].kind == "name":
                    return end  # "has a share in the Kell Inn in Ost": where the inn is
                lasts = preposition in {"since", "until", "till", "from"} and phrases[0].kind == "date"
                crosses = preposition == "from" and tokens[began].text in _ACROSS
                if passive and not (carried or objects) and ((lasts and began < at and not dated) or crosses):
                    carried = tokens.text(began, at).rstrip(" ,")  # "has been owned by Rook AG since 1920"
                    if len(f"{relation} {carried}".split()) >= LONGEST_RELATION and tokens[began].text not in {"by"}:
                        carried = ""
                began, dated = at, phrases[-1].kind == "date"
                placed = preposition if phrases[-1].kind == "name" else ""
                placed_at = carried.partition(" ")[0] in _WHERE and not relation.endswith("based")
                if passive and preposition == "by" and not objects and placed_at:
                    carried = ""  # "was found at a depth of 62 metres by Bo Ray": who did it does not depend on where
                self.said.say_at(subject, relation, carried, preposition, phrases, base)
                if tokens.is_(at + 1, "ing"):
                    return end  # "for adding them to Kell": what follows belongs to that
                last = phrases[-1]
                first = first or (preposition if last.kind != "date" and phrases[0].before not in COMPOUND else "")
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
                    and (by := prepositional(tokens, end))
                ):
                    self.said.say_at(Subject((last.text,)), last.before.split()[-1], "", "by", by[1])
                    end = by[2]
                if single and not objects and phrases[-1].kind == "name":
                    passive = True
                place = end
                relative = self._relative(place) if phrases[-1].kind == "name" else place
                if relative != place:
                    return relative
                continue
            if tokens.is_(at, "date") and at == place and (steps > 1 or not tokens.is_(at + 1, "word", "name")):
                self.said.say_at(subject, relation, carried, "", [plain(tokens, at)])
                place = at + 1
                continue
            phrase = noun_phrase(tokens, place)
            if phrase and phrase.kind == "number" and tokens[phrase.end].text in {"later", "earlier", "afterwards"}:
                place = phrase.end + 1  # "was released two days later"
                continue
            if tokens[place].text == "that" and verb_at(tokens, place + 1):
                break  # "established in 1990 that takes place"
            far = distance(tokens, phrase) if phrase and phrase.kind == "number" else None
            if not far and (
                steps > 1 + (objects == 0 and carried == "" and steps == 2)
                or single
                or (passive and verb not in TWO_OBJECTS and verb)
            ):
                break
            if phrase and phrase.kind == "pronoun" and (name := self.topic.of_object(phrase.head, subject.heads)):
                phrase = replace(phrase, kind="name", text=name)  # "Ada Renk sold it"
            if not phrase or phrase.kind == "pronoun":
                if phrase:
                    return self._boundary(place)
                break
            if far:
                self.said.say(subject, f"{relation} {far[0]}", far[1])
                place = far[1].end
                continue
            if verb in TWO_OBJECTS and not passive and (objects or (phrase.owned and phrase.before)):
                return self._boundary(place)  # "called his book Low Water"
            phrases, end = joined(tokens, phrase)
            if verb not in TWO_OBJECTS:
                phrases = alternatives(tokens, phrases)
            if verb in _INFORMS and (phrase.kind == "name" or tokens[end].text in {"that", "how", "whether", ":"}):
                return self._boundary(place)  # what somebody is told is no fact
            told = verb in _MOVES or (verb in _TELLS and phrase.kind == "name")  # "says Bo Ray sold it"
            if verb_at(tokens, end) and (not tokens.is_(end, "past") or told):
                return self._boundary(place)
            if (tokens[end].text in {"to", "into"} or tokens.is_(end, "ing")) and verb in _MOVES:
                return self._boundary(place)
            if tokens.is_(place, "ing"):
                return place
            gives = verb in _GIVES and not passive and not objects and tokens.is_(end, "det", "num", "name")
            if gives and (given := noun_phrase(tokens, end)):  # "granted Bo Ray a licence"
                for one in phrases:
                    self.said.say(subject, f"{relation} {one.text}", given)
                return given.end
            for one in _each_of(phrases):
                self.said.acts_on(subject, relation, one)
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
            whole = objects or preposition == first or (first in _ESSENTIAL and phrase.kind not in {"date", "number"})
            short = "?" not in carried and len(f"{relation} {carried}".split()) < LONGEST_RELATION
            whole = whole or (first in _ESSENTIAL and short)
            if verb in _NAMES and not whole:
                continue  # "In 1973 he was appointed to direct"
            if first in _WHERE and phrase.kind == "date" and verb and not passive:
                if not objects and verb not in _HAPPENS and not whole:
                    if not short or carried.islower():
                        continue  # "In 1973 the team played at the arena"
                    whole = True
                if objects and carried.endswith("s") and carried.islower() and first not in carried.split():
                    continue  # "In 1973 the team played home games in Ost"
            self.said.say_at(subject, relation, carried if whole else "", preposition, [phrase], base)
        return place


def _each_of(phrases: Sequence[Phrase]) -> Iterator[Phrase]:
    """Yield joined phrases; names that follow "the influence of Bo Ray" are of what that is, too."""
    first = phrases[0]
    of_name = first.kind == "noun" and first.of and first.of.kind == "name" and not first.owned
    for one in phrases:
        yield replace(first, of=one, text=one.text) if of_name and one.kind == "name" and not one.before else one


def clauses(tokens: Tokens, topic: Topic, *, first: bool, item: bool = False) -> Iterator[Fact]:
    """Yield the facts of the clauses of a sentence, and tell the topic whether it was about it."""
    read = Clauses(tokens, topic, first=first, item=item)
    known = read.subject if not read.subjects.unlike else None
    if not read.subject and _ACTS.match(tokens.sentence, topic.begins(tokens.sentence) or len(tokens.sentence)):
        known = Subject((topic.title,))  # "Kell Ltd repairs clocks": that is not read, but who does it is known
    topic.goes_on(known.heads if known else (), known.noun if known else "")
    yield from read.facts
