"""Prompts of MGranRAG (Hu et al. 2026): query decomposition and the extraction of labelled evidence."""

import re
from typing import Annotated

from pydantic import BeforeValidator, Field, PlainSerializer, WithJsonSchema
from typing_extensions import TypedDict

from langgraph_rag.prompts.answering import JSON_ONLY, TitledText
from langgraph_rag.prompts.prompt import Prompt, PromptReply

_LABELS = re.compile(r"(?:\W|(?<!\d)\d{1,2}(?!\d)|q|and|none|n/?a)*", re.IGNORECASE)  # a year is none


class NumberedText(TypedDict):
    """The sentences of a passage, numbered from `first` on, under its title."""

    title: str
    first: int
    sentences: list[str]


class Decomposition(PromptReply):
    """The atomic questions behind a question."""

    thought: str = ""
    subqueries: list[str]
    unasked = {"thought": "", "subqueries": []}
    dispensable = True
    unsaid = {"subqueries": []}


class EvidenceReply(PromptReply):
    """A sentence that helps: its number, the questions it answers and those it is a step towards, its key phrases."""

    sentence: int | str
    full: list[int | str] = Field(default_factory=list)
    partial: list[int | str] = Field(default_factory=list)
    phrases: list[str] = Field(default_factory=list)


def _read_row(row: object) -> object:
    """Read a table row, "sentence | full | partial | phrases", which needs half the tokens of an object."""
    if not isinstance(row, str):
        return row
    cells = row.replace("\uff5c", "|").strip(" |").split("|")
    if len(cells) > 4 and not _LABELS.fullmatch(cells[1]):
        del cells[1]  # some copy the sentence
    if len(cells) == 3 and not _LABELS.fullmatch(cells[2]):
        cells.insert(2, "")  # some leave an empty cell out
    sentence, full, partial, *phrases = [*cells, *[""] * (3 - len(cells))]
    numbers = [re.findall(r"\d+", cell) for cell in (full, partial)]
    return {
        "sentence": sentence,
        "full": numbers[0],
        "partial": numbers[1],
        "phrases": re.split("[;\uff1b\n]", ";".join(phrases)),
    }


def _as_row(entry: EvidenceReply) -> str:
    """Return a table row as models write it, for those that learn from it."""
    numbers = [", ".join(map(str, some)) for some in (entry.full, entry.partial)]
    cells = [str(entry.sentence), *numbers, "; ".join(entry.phrases)]
    return " |".join(f" {cell}" if cell else "" for cell in cells).strip()


_EvidenceRow = Annotated[
    EvidenceReply, BeforeValidator(_read_row), PlainSerializer(_as_row), WithJsonSchema({"type": "string"})
]


class Extraction(PromptReply):
    """The evidence in the passages of a round, and the questions that stay open, with the names found so far."""

    thought: str = ""
    evidence: list[_EvidenceRow]
    open: list[str] = Field(default_factory=list)
    unasked = {"thought": "", "evidence": []}
    unsaid = {"evidence": []}
    useful_in_part = True


def numbered_texts(texts: list[NumberedText]) -> str:
    """Show numbered sentences under the titles of their passages."""
    shown = []
    for text in texts:
        lines = [f"{number}. {sentence}" for number, sentence in enumerate(text["sentences"], start=text["first"])]
        shown.append("\n".join([f"# {text['title']}", *lines]))
    return "\n\n".join(shown) or "(none)"


def numbered_questions(questions: list[str]) -> str:
    """Show questions with their numbers; 0 is the main one."""
    return "\n".join(f"Q{number}: {question}" for number, question in enumerate(questions))


def known_lines(known: list[TitledText]) -> str:
    """Show the evidence of earlier rounds, a sentence per line; empty in the first round."""
    lines = [f"- {sentence['title']}: {sentence['text']}" for sentence in known]
    return "\n".join(["Found before, to understand with, not to be listed again:", *lines, "", ""]) if lines else ""


DECOMPOSE = Prompt(
    name="decompose",
    instructions="""\
Split a question into the simple questions that lead to its answer, the last one included. Reply with JSON only, as in \
the examples.
- thought: what to find out, in order
- subqueries: five at most, none if it is simple; each asks for one fact and is clear on its own: keep names, \
describe what is not known yet

Question: Where was the architect of Mill Bridge born?
Reply: {"thought": "The architect, then the birthplace.", "subqueries": ["Who was the architect of Mill Bridge?", \
"Where was that architect born?"]}

Question: Did Mill Bridge open before Rose Tower?
Reply: {"thought": "Compare dates.", "subqueries": ["When did Mill Bridge open?", "When did Rose Tower open?"]}""",
    request="Question: {question}",
    reply=Decomposition,
)

EXTRACT_AND_GO_ON = Prompt(
    name="extract_and_go_on",
    instructions=f"""\
Find the numbered sentences that help to answer Q0 or the questions on the way to it. {JSON_ONLY}
- thought: briefly, what helps with which question, and what is open
- evidence: a row for each sentence that really helps, at most 12, best first, or none: its number | questions whose \
answer it states | other questions it is a step towards | the names in it that lead to what is still missing, and \
names meant by pronouns, parted by semicolons; a date or number only where it is asked for
- open: the questions that no sentence answers, none if Q0 can be answered; with the names found so far in place of \
"that architect" and the like, so that each can be searched for

Example
# Mill Bridge
1. It was designed by Ada Moss in 1905.

# Mill
2. Mill is a town.

Q0: Where was the architect of Mill Bridge born?
Q1: Who was the architect of Mill Bridge?
Q2: Where was that architect born?
Reply: {{"thought": "1 answers Q1. Where Ada Moss was born is open.", "evidence": ["1 | 1 | 0, 2 | Ada Moss"], "open": \
["Where was Ada Moss born?"]}}""",
    request="{known}{passages}\n\n{questions}",
    reply=Extraction,
    shortens="passages",
    show={"known": known_lines, "passages": numbered_texts, "questions": numbered_questions},
)

EXTRACT_EVIDENCE = Prompt(
    name="extract_evidence",
    instructions=f"""\
Find the numbered sentences that help to answer Q0 or the questions on the way to it. {JSON_ONLY}
- thought: briefly, what helps with which question, and what is open
- evidence: a row for each sentence that really helps, at most 12, best first, or none: its number | questions whose \
answer it states | other questions it is a step towards | its key names and dates, copied, and names meant by \
pronouns, parted by semicolons

Example
# Mill Bridge
1. It was designed by Ada Moss.

# Ada Moss
2. She was born in Bergen.

Q0: Where was the architect of Mill Bridge born?
Q1: Who was the architect of Mill Bridge?
Reply: {{"thought": "1 answers Q1, then 2 answers Q0.", "evidence": ["2 | 0 | | Ada Moss; Bergen", "1 | 1 | 0 | \
Mill Bridge; Ada Moss"]}}""",
    request="{known}{passages}\n\n{questions}",
    reply=Extraction,
    shortens="passages",
    show={"known": known_lines, "passages": numbered_texts, "questions": numbered_questions},
)
