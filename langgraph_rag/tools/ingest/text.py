"""Finds the sentences and phrases of a text with spaCy, and with a trained pipeline also its facts."""

import importlib.metadata
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, pairwise
from typing import Any, NotRequired, TypedDict

from langgraph_rag.concurrency.threads import thread_safe_cache
from langgraph_rag.errors import KnowledgeBaseError
from langgraph_rag.records import Fact
from langgraph_rag.tools.facts.parsing import noun_chunks, parse
from langgraph_rag.tools.facts.reading import CHECKS_NUMBER, NUMBER, Line, lines_of, triples_of
from langgraph_rag.tools.facts.statements import Topic
from langgraph_rag.tools.ingest.spans import blocks_of_code, identifiers, is_code, spot, within

TRAINED_PIPELINE, RULES = "en_core_web_sm", "rules"
_ENGLISH = "en_core_web_"  # how the names of spaCy's pipelines for English begin

_LABEL = r"\[[^]\n]{0,20}\d:\d\d[^]\n]{0,10}\]|\d{4}-\d\d-\d\d[T ]\d\d:\d\d|(?:\d[\d./:, –-]*)?[^\W\d_a-z][\w-]*: "
"""The beginning of a message or header: `[10:33]`, `2024-05-01 10:33`, `10:33 Ada: `, `Subject: `."""
_PARAGRAPH_END = re.compile(rf"\n\s*\n\s*|\n\s*(?=(?:[-*+•|#]|\d{{1,3}}[.)])\s|>|{_LABEL})")
_BEGINS = (
    "I|He|She|It|We|They|His|Her|Its|Their|An?|The|This|That|These|In|On|At|After|Before|During|From|When|While|However"
)
_END = re.compile(
    r"[。！？｡։]++[”’]*+(?![」』）])"
    r"|(?<=[\u0370-\u03ff\u1f00-\u1fff]);(?=\s)"  # a Greek question mark
    r"|(?<=(?![0-9])\d)\.(?=\s)"
    r"|[.!?][\"”’)]*(?:\[\w{1,3}\])+(?=\s)"  # footnote marks
    rf"|(?<=\w\.)\s+(?=(?:{_BEGINS})\s)"  # "World War I. He", unlike "J. R. Holm"
    r"|(?<=\w\.)\s+(?=[\"“][^\"”\n]{1,60}[\"”]\s+(?:means?|shall mean|refers to|is|are|has)\s)"
    r"|(?<=\d[A-Z]\.)\s+(?=[^\W\d_a-z]\w)"  # "the 111A. Kell Field was closed", unlike "W. Kell"
    r"|(?<=\bNo\.)\s+(?=[^\W\d_a-z][a-z])"  # "No. She", unlike "No. 5"
)
_MARK = r"(?:[^\w\s]|_)"
_UNSPACED = re.compile(r"(\S{500,999}?)\w")
_LONG_ROW = re.compile(rf"{_MARK}{{32,}}(?={_MARK}{{3}})")  # a drawn line, or dots before a page number
_OPENING = re.compile(r"(?<=\s)(?!'')(?:[^\w\s]+(?=\w)|«\s+)")  # quotes and brackets that belong to the following text
_FIRST = re.compile(r"[\W_]*(\w?)")
_ASIDE = re.compile(r"\s*\([^()]*[^.!?()]\)")  # "Lunt Inc. (1950) was", unlike "(It was mixed in Ost.)"
_NEVER_LAST = re.compile(
    r"(?:^|[\s(])(?:[a-z]|St|Dr|Prof|Mr|Mrs|Ms|Mme|Mlle|Lt|Sgt|Maj|Gen|Col|Capt|Gov|Sen|Rev|Hon|Mt|Figs?|Eq"
    r"|Vol|pp|vs|ca|cf|approx|e\.g|i\.e|Nr|Hr|Bd|bzw|z\.\s?B|Sra|Dra|ul|ur|ул|им|проф|[а-я])\.$"
    r"|^(?:\d{1,3}[.)]|[^\W\d_]\.)$"
)
_ABBREVIATION = re.compile(rf"(?:^|[\s(])(?:[^\W\d_]|Jr|Sr|No|et al)\.$|{_NEVER_LAST.pattern}")
_OPENED_BY = {")": "(", "）": "（", "」": "「", "』": "『"}
_BRACKET = re.compile("[()（）「」『』]")
_GERMAN_ORDINAL = re.compile(
    r"\b\d{1,2}\.\s+(?:Januar|Jänner|Februar|März|April|Mai|Juni|Juli|August|September|Oktober|November|Dezember"
    r"|Jahrhundert|Jh\b)"
)
_LONGEST_ENDING = 8  # characters, more than an abbreviation with its surroundings


class Analysis(TypedDict):
    """The sentences of a text in order, and its phrases without repetition.

    A trained pipeline also reads facts at once, and names itself as who read them.
    """

    sentences: list[str]
    phrases: list[str]
    facts: NotRequired[list[Fact]]
    read_by: NotRequired[str]


@dataclass(frozen=True)
class TextPipeline:
    """A spaCy pipeline that finds sentences and, without a model, phrases; `name` is `rules`."""

    name: str
    nlp: Any

    def analyse(self, texts: Sequence[str], titles: Sequence[str] = ()) -> Iterator[Analysis]:  # noqa: ARG002
        """Yield the analysis of each text, in order; `titles` are those of the texts, if they have any."""
        for text, doc in zip(texts, self.nlp.pipe(map(_without_long_rows, texts)), strict=True):
            sentences = _sentences(text, doc)
            found = (_on_one_line(span.text) for sentence in sentences for span in spot(sentence))
            yield Analysis(sentences=sentences, phrases=[*dict.fromkeys(filter(None, found))])

    def sentences(self, text: str) -> list[str]:
        """Return the sentences of one text."""
        return _sentences(text, self.nlp(_without_long_rows(text)))


@dataclass(frozen=True)
class TrainedPipeline(TextPipeline):
    """A trained spaCy pipeline: it parses the sentences that the rules find, for phrases and facts.

    So the parse is the same while a text is indexed and when its stored sentences are parsed later.
    """

    def analyse(self, texts: Sequence[str], titles: Sequence[str] = ()) -> Iterator[Analysis]:
        """Yield the analysis of each text, in order; with its facts if there are titles."""
        found = [analysis["sentences"] for analysis in text_pipeline(RULES).analyse(texts)]
        read = self._parsed(list(zip(titles or [""] * len(texts), found, strict=True)))
        version = facts_version(self.name)
        for sentences, (topic, lines) in zip(found, read, strict=True):
            analysis = Analysis(sentences=sentences, phrases=_phrases(lines))
            if titles:
                analysis["facts"], analysis["read_by"] = _facts(topic, lines), version
            yield analysis

    def facts(self, passages: Sequence[tuple[str, Sequence[str]]]) -> Iterator[list[Fact]]:
        """Yield the facts of passages, each given as its title and sentences."""
        return (_facts(topic, lines) for topic, lines in self._parsed(passages))

    def _parsed(self, passages: Sequence[tuple[str, Sequence[str]]]) -> list[tuple[Topic, list[Line]]]:
        read = [lines_of(title, sentences) for title, sentences in passages]
        parse(self.nlp, [[line.tokens for line in lines if not is_code(line.whole)] for _, lines in read])
        return read

    def sentences(self, text: str) -> list[str]:
        """Return the sentences of one text."""
        return text_pipeline(RULES).sentences(text)


def _facts(topic: Topic, lines: Sequence[Line]) -> list[Fact]:
    return [Fact(triple=triple, sentences=[]) for triple in triples_of(topic, lines)]


def _phrases(lines: Sequence[Line]) -> list[str]:
    """Return the names, dates and numbers of parsed lines, and their noun phrases, each once."""
    found = [span.text for line in lines for span in spot(line.whole)]
    found += [chunk for line in lines for chunk in noun_chunks(line.tokens)]
    return [*dict.fromkeys(filter(None, found))]


def _without_long_rows(text: str) -> str:
    """Replace all but the last marks of a long row by blanks: spaCy's tokenizer takes quadratic time for it.

    Other long texts without spaces are split.
    """
    return _UNSPACED.sub(r"\1 ", _LONG_ROW.sub(lambda row: " " * len(row[0]), text))


def _sentences(text: str, doc: Any) -> list[str]:
    """Return the sentences of a text; they also end with their paragraph, item, row or message, as headings do.

    Wrong splits within these are joined: before a lower-case letter, after an abbreviation or a comma, and within
    brackets. A block of code is one sentence. Each sentence is a part of the text, except for its line breaks.
    """
    sentences: list[tuple[int, int]] = []
    code = [(block.start, block.end) for block in blocks_of_code(text)]
    openings = {opening.end(): opening.start() for opening in _OPENING.finditer(text)}
    starts = {*chain(*code), *(end.end() for end in _PARAGRAPH_END.finditer(text))}
    endings = [ending.span() for ending in _END.finditer(text)]
    ends = {end for _, end in endings}
    edges = {0, *starts, *ends, *(openings.get(span.start_char, span.start_char) for span in doc.sents), len(text)}
    brackets = _brackets(text, starts)
    ordinals = [ordinal.span() for ordinal in _GERMAN_ORDINAL.finditer(text)]
    named = [name.span() for name in identifiers(text)]
    inside = {edge for edge in edges if any(within(edge, whole) for whole in (code, endings, ordinals, named))}
    for start, end in pairwise(sorted(edges - inside)):
        if not text[start:end].strip():
            continue
        abbreviation = _NEVER_LAST if start in ends else _ABBREVIATION
        if (
            sentences
            and start not in starts
            and (
                within(start, brackets)
                or _goes_on(text, start, end)
                or (last := _last_words(text, *sentences[-1])).endswith(",")  # "Who?", "When?" and "Where?"
                or abbreviation.search(last)
            )
        ):
            sentences[-1] = (sentences[-1][0], end)
        else:
            sentences.append((start, end))
    return [_on_one_line(text[start:end]) for start, end in sentences]


def _on_one_line(text: str) -> str:
    """Replace line breaks, which split sentences and names in wrapped text."""
    return " ".join(text.split())


def _goes_on(text: str, start: int, end: int) -> bool:
    first = _FIRST.match(text, start, end)
    return (first is not None and first[1].islower()) or _ASIDE.match(text, start) is not None


def _last_words(text: str, start: int, end: int) -> str:
    return text[max(start, end - 2 * _LONGEST_ENDING) : end].strip()[-_LONGEST_ENDING:]


def _brackets(text: str, starts: Iterable[int]) -> list[tuple[int, int]]:
    """Return the spans of the outermost brackets of each paragraph; an unclosed one, as in ":(", does not count."""
    found: list[tuple[int, int]] = []
    for start, end in pairwise(sorted({0, *starts, len(text)})):
        opened: dict[str, list[int]] = defaultdict(list)
        for mark in _BRACKET.finditer(text, start, end):
            opening = _OPENED_BY.get(mark[0])
            if opening is None:
                opened[mark[0]].append(mark.start())
            elif opened[opening]:
                begin = opened[opening].pop()
                while found and found[-1][0] > begin:
                    found.pop()
                found.append((begin, mark.end()))
    return found


def trained_pipelines() -> list[str]:
    """Return the names of the installed trained pipelines for English, the usual one first."""
    found = {
        name
        for distribution in importlib.metadata.distributions()
        if (name := (distribution.name or "").replace("-", "_")).startswith(_ENGLISH)
    }
    return sorted(found, key=lambda name: (name != TRAINED_PIPELINE, name))


def default_pipeline() -> str:
    """Return the pipeline of new knowledge bases: `en_core_web_sm` if it is installed, or else the rules."""
    return TRAINED_PIPELINE if is_installed(TRAINED_PIPELINE) else RULES


def facts_version(name: str) -> str:
    """Return the name under which the facts of a trained pipeline are stored.

    Raises:
        KnowledgeBaseError: when it is not installed.
    """
    _expect_installed(name)
    return f"parse-{NUMBER}.{CHECKS_NUMBER} of {name} {importlib.metadata.version(name)}"


def is_installed(name: str) -> bool:
    """Return whether a spaCy pipeline is installed."""
    import spacy

    return bool(spacy.util.is_package(name))


def _expect_installed(name: str) -> None:
    if not is_installed(name):
        others = ", ".join([*trained_pipelines(), RULES])
        raise KnowledgeBaseError(
            f"the text pipeline is spaCy's {name}, which is not installed: install it (`python -m spacy download "
            f"{name}`, or with pip), or index the documents with another one into another folder (here: {others})"
        )


@thread_safe_cache
def trained_pipeline(name: str) -> TrainedPipeline:
    """Load a trained pipeline for English.

    Raises:
        KnowledgeBaseError: when it is not installed, has no parser, or is for another language.
    """
    import spacy

    _expect_installed(name)
    nlp = spacy.load(name, exclude=["attribute_ruler", "lemmatizer", "ner"])
    if nlp.lang != "en" or {"tagger", "parser"}.difference(nlp.pipe_names):
        raise KnowledgeBaseError(
            f"expected a spaCy pipeline for English with a tagger and a parser, such as {TRAINED_PIPELINE}; {name} is "
            f"for the language {nlp.lang!r} and has: {', '.join(nlp.pipe_names) or 'nothing'}"
        )
    return TrainedPipeline(name, nlp)


@thread_safe_cache
def text_pipeline(name: str | None = None) -> TextPipeline:
    """Load a pipeline by name, `rules` or that of an installed package; by default `default_pipeline`.

    Raises:
        KnowledgeBaseError: as by `trained_pipeline`.
    """
    import spacy
    from spacy.attrs import IS_PUNCT

    if name is None:
        return text_pipeline(default_pipeline())
    if name == RULES:
        nlp = spacy.blank("en")
        nlp.add_pipe("sentencizer")
        # The sentence rule reads no other attribute, and computing all of each new word is a quarter of an analysis.
        nlp.vocab.lex_attr_getters = {IS_PUNCT: nlp.vocab.lex_attr_getters[IS_PUNCT]}
        return TextPipeline(RULES, nlp)
    return trained_pipeline(name)
