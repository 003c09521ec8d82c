"""Reads the subject of a clause: whom or what it is about."""

import re
from dataclasses import dataclass, replace

from langgraph_rag.tools.language.phrases import ADJECTIVE, KINDS, Phrase, joined, noun_phrase
from langgraph_rag.tools.language.statements import HOLLOW, Fact, Subject
from langgraph_rag.tools.language.subjects import Topic
from langgraph_rag.tools.language.tokens import Tokens
from langgraph_rag.tools.language.verbs import verb_at
from langgraph_rag.tools.language.word_classes import NOUNS, is_base, tag_of

_COMMON = re.compile(r".*(?:s|ing|tion|sion|ity|ment|ness|ism|ship|ence|ance|ure|age|ency|ancy|phy|logy)")
_VALUES = frozenset({"True", "False", "None", "Null"})
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
            topic.meant = True
            return Subject((topic.title,)), 0  # "returns the number of rows" about `count()`
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
            if end != phrase.end and not verb_at(tokens, tokens.after_brackets(end)):
                phrases, end = [phrase], phrase.end
            if any(
                one.kind != "name" or one.cut or one.text.endswith(" If") for one in phrases
            ) or phrase.determiner in {
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
        return (Subject((phrase.text,)), phrase.end) if self._is_uncapped(phrase) else self._described(phrase)

    def _is_uncapped(self, phrase: Phrase) -> bool:
        """Return whether a phrase is a name without a capital: `numpy` or `القاهرة` at the beginning of a sentence."""
        word, verb = phrase.text, verb_at(self.tokens, phrase.end)
        if phrase.determiner or phrase.of or phrase.cut or not verb or not word[0].isalpha():
            return False
        if not any(letter.islower() or letter.isupper() for letter in word):
            return True
        begins = self.tokens[phrase.start - 1].text == "." or (phrase.start == 0 and not self.item)
        common = tag_of(word) != "word" or word in NOUNS | HOLLOW or is_base(word) or _COMMON.fullmatch(word)
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
        told = word in _VALUES or tag_of(small) != "word" or small in NOUNS or plain != word
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
            phrases, end = joined(tokens, phrase)
            if not verb_at(tokens, end) or any(one.kind != "name" for one in phrases):
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
            if not owner or phrase.head in HOLLOW - {"number", "name"}:
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
        if phrase.head in KINDS and phrase.end - first == 2:
            return Subject((tokens[first].text,)), phrase.end
        one = not phrase.head.endswith("s") or phrase.head.rstrip("s") in KINDS  # or "PO files"
        return (
            (Subject((whole,)), phrase.end)
            if phrase.determiner in {"the", ""} and len(whole.split()) <= 5 and one
            else None
        )
