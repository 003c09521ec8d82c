"""Parses tokens with a trained spaCy pipeline, and tells what of the facts that the rules read the parse bears out.

Such a pipeline was trained on newspapers and conversations. It takes `--dry-run`, or a title with a comma, apart, and
then errs about the rest of the sentence. So it is shown the rules' tokens, each of which is one word: names,
identifiers, dates and numbers as common words of their kind, and no parentheses.
"""

import re
from collections.abc import Iterator, Sequence
from typing import Any

from langgraph_rag.tools.facts.phrases import Phrase
from langgraph_rag.tools.facts.words import UNPARSED, Parsed, Token, Tokens

_OF_NAMES = "Mc|Mac|De|Di|Du|La|Le|Van|Von|Fitz|San|Al"
_CODE = "|".join(
    (
        r"``[^`\n]{1,80}``|`[^`\n]{1,80}`",
        r"(?<![\w-])--?[A-Za-z][\w-]*(?:=[\w./-]+)?",  # --dry-run, -i
        r"(?<!\w)[$@%][A-Za-z_]\w*|\$\{\w+\}|(?<!\w)'[\w./:*-]{1,40}'(?!\w)",
        r"\bhttps?://[^\s<>()\"]*[^\s<>()\".,;:!?]|\b[\w.+-]+@[\w-]+(?:\.[\w-]+)+",
        r"(?<![\w/.])(?:~|\.{1,2})?(?:/[\w.-]*\w)+/?|\b\w[\w.-]*(?:/[\w.-]*\w){2,}",  # paths
        r"\b(?:[A-Za-z_]\w+\.)+[A-Za-z_]\w+(?:\(\))?(?=\W|$)",  # django.db.models
        r"\b[A-Za-z]*_\w*(?:\(\))?|\b\w+\(\)",
        r"\b[A-Z]{2,}[A-Z0-9]*(?:-[A-Z0-9]*\d[A-Z0-9]*)+\b|\b(?![IVXLCDM]+\b)[A-Z]{4,}\b",  # CVE-2026-6907
        rf"\b(?!(?:{_OF_NAMES})[A-Z])[A-Z][a-z0-9]+(?:[A-Z][a-z0-9]+)+\b|\b[a-z]+(?:[A-Z][a-z0-9]+)+\b",  # QuerySet
    )
)
_OF_A_DAY = re.compile(r"\b\d{1,2}(?:st|nd|rd|th)?\b(?!\s(?:BC|AD|CE))")
_LONGEST = 120  # words of a sentence; longer ones are lists or tables, and stay without a parse
_OF_VERBS = frozenset("ROOT conj relcl ccomp advcl".split())
_OF_NOUNS = frozenset("nsubj dobj nsubjpass pcomp pobj dative appos attr ROOT".split())


def is_identifier(text: str) -> bool:
    """Return whether a text is a single identifier, such as `DATA_MAX_SIZE`, `fields.E304` or `--dry-run`."""
    return re.fullmatch(_CODE, text) is not None


def parse(nlp: Any, passages: Sequence[Sequence[Tokens]]) -> None:
    """Give the tokens of passages, sentence by sentence, the classes, roles and heads that a pipeline sees.

    Args:
        nlp: a spaCy pipeline with tagger and parser.
        passages: the sentences of each.
    """
    from spacy.tokens import Doc

    shown = [[(tokens, place) for tokens in sentences for place in _shown(tokens)] for sentences in passages]
    docs = [
        Doc(
            nlp.vocab,
            [_stand_in(tokens[place]) for tokens, place in words],
            sent_starts=[number == 0 or words[number - 1][0] is not tokens for number, (tokens, _) in enumerate(words)],
        )
        for words in shown
    ]
    for words, doc in zip(shown, nlp.pipe(docs), strict=True):
        for tokens in {id(tokens): tokens for tokens, _ in words}.values():
            tokens.parsed = [UNPARSED] * len(tokens)
        for (tokens, place), word in zip(words, doc, strict=True):
            tokens.parsed[place] = Parsed(word.tag_, word.dep_, words[word.head.i][1])
            if tokens.is_(place, "word") and word.tag_ == "VBZ" and word.dep_ in _OF_VERBS:
                tokens.retag(place, "pres")
            elif tokens.is_(place, "pres") and word.tag_ in {"NN", "NNS"} and word.dep_ not in _OF_VERBS:
                tokens.retag(place, "word")


def _shown(tokens: Tokens) -> list[int]:
    """Return the places of the tokens outside of parentheses."""
    depth, places = 0, list[int]()
    for place in range(len(tokens)):
        depth += tokens.is_(place, "open")
        if depth <= 0:
            places.append(place)
        depth -= tokens.is_(place, "close")
    return places if len(places) <= _LONGEST else []


def _stand_in(token: Token) -> str:
    """Return a word that the pipeline knows; of a name the last word, as it errs less about different names."""
    if token.tag == "date":
        return "Monday" if _OF_A_DAY.search(token.text) else "1901"
    if token.tag == "num":
        return "500" if any(map(str.isdigit, token.text)) else token.text
    if token.tag != "name":
        return token.text.rsplit("-", 1)[-1] or "-"
    if is_identifier(token.text):
        return "Python"
    last = token.text.rpartition(" ")[2]
    return last if " " in token.text and last.isalpha() and last.istitle() else "Maria"


def noun_chunks(tokens: Tokens) -> Iterator[str]:
    """Yield noun phrases with what stands before their nouns, from their first content words on."""
    end = 0
    for place, word in enumerate(tokens.parsed):
        first = word
        while first.role == "conj":
            first = tokens.parsed[first.head]
        if word.tag.startswith("NN") and first.role in _OF_NOUNS:
            start = min([place, *(at for at in range(place) if tokens.parsed[at].head == place)])
            while start < place and tokens.parsed[start].tag in _NAMELESS:
                start += 1
            if start >= end:
                yield tokens.text(start, place + 1)
                end = place + 1


_NAMELESS = frozenset("DT PDT WDT PRP PRP$ WP WP$ EX IN CC . , : `` '' -LRB- -RRB- HYPH POS".split())
"""Tags of words without content."""
_BEFORE_NOUN = frozenset("amod compound nummod nmod quantmod poss".split())
_PARTS = frozenset("det punct cc case predet".split())
_UNSURE = frozenset("may might could should would".split())
_SUPPOSING = frozenset("if unless whether".split())


def bears_out(tokens: Tokens, phrase: Phrase, end: int, relation: str) -> bool:
    """Return whether the parse has the end of a fact in one piece, below its relation, in clauses that are stated.

    True also if the sentence was not parsed. `end` is the place after what belongs to the phrase.
    """
    parsed, start = tokens.parsed, phrase.start
    inside = [at for at in range(start, end) if parsed and parsed[at].tag and parsed[at].role not in _PARTS]
    if not inside or phrase.kind == "nation":
        return True
    tops = [at for at in inside if not start <= parsed[at].head < end or parsed[at].head == at]
    whole = phrase.kind in {"date", "number"}
    if not whole and (len(tops) != 1 or _is_torn(tokens, start, end, tops[0])):
        return False
    return bool(tops) and _is_said(tokens, tops[0], {*relation.lower().split()}) and _is_asserted(tokens, tops[0])


def _is_torn(tokens: Tokens, start: int, end: int, top: int) -> bool:
    """Return whether a noun goes on before or after an end: "original maritime, and traditional folk music"."""
    parsed = tokens.parsed
    if parsed[top].role in _BEFORE_NOUN and parsed[top].head >= end:
        return True
    before = parsed[start - 1] if start else UNPARSED
    return before.role in _BEFORE_NOUN - {"poss"} and start <= before.head < end


def _is_said(tokens: Tokens, top: int, said: set[str]) -> bool:
    """Return whether what an end depends on is in the relation."""
    for at in _above(tokens, top):
        if tokens.parsed[at].role in {"prep", "agent"} or tokens[at].tag == "prep" or tokens[at + 1].text == "of":
            continue
        return not tokens[at].text.islower() or tokens.is_(at, "name") or tokens[at].text in said
    return True


def _is_asserted(tokens: Tokens, top: int) -> bool:
    """Return whether none of the clauses that an end is in is negated, possible, or somebody's supposition."""
    for verb in _above(tokens, top):
        for at, word in enumerate(tokens.parsed):
            text = tokens[at].text.lower()
            if word.head == verb and (
                word.role == "neg"
                or (word.role == "aux" and text in _UNSURE)
                or (word.role == "mark" and text in _SUPPOSING)
            ):
                return False
    return True


def _above(tokens: Tokens, place: int) -> Iterator[int]:
    """Yield what a word depends on, and so on; what is coordinated with another depends on what that does."""
    parsed, joined = tokens.parsed, False
    for _ in range(len(tokens)):
        word = parsed[place]
        if word.head == place:
            return
        joined = word.role in {"conj", "appos"}
        place = word.head
        if not joined:
            yield place
