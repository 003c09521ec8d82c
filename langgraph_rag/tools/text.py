"""Sentences and phrases of a text by spaCy: a trained pipeline where one is installed, rules where none is."""

import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import chain, pairwise
from typing import Any, TypedDict

from langgraph_rag.errors import KnowledgeBaseError
from langgraph_rag.tools.code import blocks_of_code
from langgraph_rag.tools.spans import spot

TRAINED_PIPELINE, RULES = "en_core_web_sm", "rules"


class Analysis(TypedDict):
    """The sentences of a text in order, and its phrases without repetition."""

    sentences: list[str]
    phrases: list[str]


@dataclass(frozen=True)
class TextPipeline:
    """A spaCy pipeline. `name` says which one is in use: `en_core_web_sm` or `rules`."""

    name: str
    nlp: Any

    def analyse(self, texts: Sequence[str]) -> Iterator[Analysis]:
        """Yield the analysis of each text, in order."""
        for doc in self.nlp.pipe(texts):
            yield Analysis(sentences=_sentences(doc), phrases=self._phrases(doc))

    def sentences(self, text: str) -> list[str]:
        """Return the sentences of one text."""
        return _sentences(self.nlp(text))

    def _phrases(self, doc: Any) -> list[str]:
        if self.name == RULES:
            found = [span.text for sentence in _sentences(doc) for span in spot(sentence)]
        else:
            found = [chunk.text for chunk in doc.noun_chunks] + [entity.text for entity in doc.ents]
        return list(dict.fromkeys(filter(None, map(_on_one_line, found))))


def _sentences(doc: Any) -> list[str]:
    """End sentences also with their paragraph, item or row, as headings do that have no full stop.

    What a rule splits too early within one of these is joined: before a small letter, after an abbreviation, within
    parentheses. A block of code is one sentence.
    """
    text, sentences = doc.text, list[str]()
    code = [(block.start, block.end) for block in blocks_of_code(text)]
    starts = {*chain(*code), *(end.end() for end in _PARAGRAPH_END.finditer(text))}
    edges = {0, *starts, *(span.start_char for span in doc.sents), len(text)}
    for start, end in pairwise(sorted(edge for edge in edges if not _within(edge, code))):
        part = _on_one_line(text[start:end])
        if not part:
            continue
        if sentences and start not in starts and (part[0].islower() or _unfinished(sentences[-1])):
            sentences[-1] += " " + part
        else:
            sentences.append(part)
    return sentences


def _within(position: int, blocks: Sequence[tuple[int, int]]) -> bool:
    before = bisect_left(blocks, (position, 0)) - 1
    return before >= 0 and position < blocks[before][1]


def _on_one_line(text: str) -> str:
    """Undo line breaks, which cut sentences and names of wrapped text apart."""
    return " ".join(text.split())


def _unfinished(sentence: str) -> bool:
    return _ABBREVIATION.search(sentence[-_LONGEST_ENDING:]) is not None or sentence.count("(") > sentence.count(")")


_PARAGRAPH_END = re.compile(r"\n\s*\n\s*|\n\s*(?=(?:[-*+•|>#]|\d+[.)])\s)")
_ABBREVIATION = re.compile(r"(?:^|[\s(])(?:[^\W\d_]|Jr|Sr|St|Dr|Mr|Mrs|Ms|Lt|Gen|Col|Capt|Rev|Mt|No|vs|c|b|d)\.$")
_LONGEST_ENDING = 8  # characters, more than an abbreviation with what is around it


@cache
def text_pipeline(name: str | None = None) -> TextPipeline:
    """Load a pipeline by name, by default the trained one if it is installed, else a blank one with a sentence rule.

    Raises:
        KnowledgeBaseError: when the trained one was asked for and is not installed.
    """
    import spacy

    trained = spacy.util.is_package(TRAINED_PIPELINE)
    if name is None:
        return text_pipeline(TRAINED_PIPELINE if trained else RULES)
    if name == RULES:
        nlp = spacy.blank("en")
        nlp.add_pipe("sentencizer")
        return TextPipeline(RULES, nlp)
    if not trained:
        raise KnowledgeBaseError(
            f"sentences and phrases were found by spaCy's {name}, which is not installed: install it "
            f"(`python -m spacy download {name}`), or index the documents again"
        )
    return TextPipeline(name, spacy.load(name))
