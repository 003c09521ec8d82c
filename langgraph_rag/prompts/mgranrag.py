"""Prompts of MGranRAG (Hu et al. 2026): query decomposition and the extraction of labelled evidence."""

from pydantic import Field
from typing_extensions import TypedDict

from langgraph_rag.prompts.answering import TitledText
from langgraph_rag.prompts.prompt import Prompt, PromptReply


class NumberedText(TypedDict):
    """The sentences of a passage, numbered from `first` on, under its title."""

    title: str
    first: int
    sentences: list[str]


class Decomposition(PromptReply):
    """The atomic questions behind a question."""

    thought: str
    subqueries: list[str]
    unasked = {"thought": "", "subqueries": []}


class EvidenceReply(PromptReply):
    """A sentence that helps: its number, the questions it answers fully or partly, its key phrases."""

    sentence: int | str
    full: list[int | str] = Field(default_factory=list)
    partial: list[int | str] = Field(default_factory=list)
    phrases: list[str] = Field(default_factory=list)


class Extraction(PromptReply):
    """All evidence that the passages of one round hold."""

    thought: str
    evidence: list[EvidenceReply]
    unasked = {"thought": "", "evidence": []}


def numbered_texts(texts: list[NumberedText]) -> str:
    """Show numbered sentences under the titles of their passages."""
    shown = []
    for text in texts:
        lines = [f"[{number}] {sentence}" for number, sentence in enumerate(text["sentences"], start=text["first"])]
        shown.append("\n".join([f"Title: {text['title']}", *lines]))
    return "\n\n".join(shown) or "(none)"


def numbered_questions(questions: list[str]) -> str:
    """Show questions with their numbers; 0 is the main one."""
    return "\n".join(f"Q{number}: {question}" for number, question in enumerate(questions))


def known_lines(known: list[TitledText]) -> str:
    """Show the evidence of earlier rounds, one sentence to a line."""
    return "\n".join(f"- {sentence['title']}: {sentence['text']}" for sentence in known) or "(none yet)"


DECOMPOSE = Prompt(
    name="decompose",
    instructions="""\
You split a question into the simple questions that have to be answered on the way to its answer.
- thought: say briefly step by step what has to be found out, in which order.
- subqueries: short questions, each about one fact that a text could state. Copy names, titles and dates unchanged \
from the question. Where a question depends on the answer of another, describe that answer in words (for instance "the \
founder of the Halden Ferry"). Invent no names. Two to five questions are usual, the last of which may be the question \
itself; a question that asks for one fact only is its own single subquery.

Reply with one JSON object and nothing else:
{"thought": "...", "subqueries": ["...", "..."]}

Example of a chain
Question: In which country was the architect of the Tolmar Bridge born?
Reply: {"thought": "First who the architect of the Tolmar Bridge was, then where that person was born.", "subqueries": \
["Who was the architect of the Tolmar Bridge?", "In which country was the architect of the Tolmar Bridge born?"]}

Example of a comparison
Question: Did the Halden Ferry start before the Tolmar Bridge was opened?
Reply: {"thought": "The dates of both have to be found and compared.", "subqueries": \
["When did the Halden Ferry start?", "When was the Tolmar Bridge opened?"]}

Example of a simple question
Question: Who built the Halden Ferry?
Reply: {"thought": "This is one fact.", "subqueries": ["Who built the Halden Ferry?"]}""",
    request="Question: {question}",
    reply=Decomposition,
)

EXTRACT_EVIDENCE = Prompt(
    name="extract_evidence",
    instructions="""\
You search passages for sentences that help to answer a main question, Q0, and the simpler questions on the way to it, \
Q1 and so on. The passages are shown under their titles with numbered sentences; the numbers run on from passage to \
passage. Evidence of earlier rounds is shown as well: use it to understand what the questions are about (who is meant \
by "the director"), but do not list it again.
1. thought: say briefly, step by step, which sentences answer or help with which question, and what is still open.
2. evidence: one entry for each sentence that helps, those that answer a question first, at most 12:
- sentence: the number of the sentence.
- full: the numbers of the questions that this sentence answers, alone or together with the evidence or another \
sentence shown.
- partial: the numbers of the questions that it only helps with: it tells a needed detail or leads to it.
- phrases: the key phrases of the sentence, copied from it: names and dates rather than verbs, those the questions are \
about or that lead on. Where the subject is missing or is only called "he", "the film" or the like, add the name that \
is meant, as the title or the evidence spells it.
A sentence that only shares words with the questions is no evidence. List no sentence twice and no number that is \
not shown. If nothing helps, evidence is an empty list.

Reply with one JSON object and nothing else:
{"thought": "...", "evidence": [{"sentence": 1, "full": [1], "partial": [0], "phrases": ["...", "..."]}]}

Example of a first round
Evidence so far:
(none yet)

Title: Tolmar Bridge
[1] The Tolmar Bridge spans the River Ister at Tolmar.
[2] It was designed by Ada Renk and opened in 1931.

Title: Tolmar
[3] Tolmar is a market town with a weekly fair.

Questions:
Q0: In which country was the architect of the Tolmar Bridge born?
Q1: Who was the architect of the Tolmar Bridge?
Q2: In which country was the architect of the Tolmar Bridge born?
Reply: {"thought": "Sentence 2 says that Ada Renk designed the bridge, which answers Q1 and leads to Q0 and Q2. Where \
she was born is open.", "evidence": [{"sentence": 2, "full": [1], "partial": [0, 2], "phrases": ["Ada Renk", \
"Tolmar Bridge"]}]}

Example of a later round
Evidence so far:
- Tolmar Bridge: It was designed by Ada Renk and opened in 1931.

Title: Ada Renk
[1] Ada Renk (1889-1960) was an architect and a painter.
[2] She was born in Kell in Norrland.

Title: River Ister
[3] The River Ister is 210 km long.

Questions:
Q0: In which country was the architect of the Tolmar Bridge born?
Q1: Who was the architect of the Tolmar Bridge?
Q2: In which country was the architect of the Tolmar Bridge born?
Reply: {"thought": "Ada Renk designed the bridge, and sentence 2 says that she was born in Kell in Norrland.", \
"evidence": [{"sentence": 2, "full": [0, 2], "partial": [], "phrases": ["Ada Renk", "Kell", "Norrland"]}]}

With the same questions, passages that say nothing about any of this get:
Reply: {"thought": "None of the sentences helps.", "evidence": []}""",
    request="""\
Evidence so far:
{known}

{passages}

Questions:
{questions}""",
    reply=Extraction,
    shortens="passages",
    show={"known": known_lines, "passages": numbered_texts, "questions": numbered_questions},
)
