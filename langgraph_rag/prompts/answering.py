"""Prompts that answer a question from given texts: from triples, sentences or passages (CIRAG, appendix A.3)."""

import re
from collections.abc import Iterable

from langchain_core.messages import BaseMessage
from pydantic import field_validator
from typing_extensions import TypedDict

from langgraph_rag.prompts.prompt import Prompt, PromptReply, triple_lines
from langgraph_rag.records import Evidence, Passage

_BLANK_LINES = re.compile(r"(?<=\n)[^\S\n]*\n")


class TitledText(TypedDict):
    """A text under the title of the document it comes from."""

    title: str
    text: str


def passage_texts(passages: Iterable[Passage]) -> list[TitledText]:
    """Return passages as texts to be shown."""
    return [TitledText(title=passage["title"], text=passage["text"]) for passage in passages]


def evidence_texts(evidence: Iterable[Evidence]) -> list[TitledText]:
    """Return the sentences of evidence as texts to be shown."""
    return [TitledText(title=entry["title"], text=entry["sentence"]) for entry in evidence]


class Answer(PromptReply):
    """The reasoning, and the answer or the word unanswerable; a part of the budget is reserved for it.

    The answer is empty if no model was asked, or the model gave none.
    """

    thought: str = ""
    answer: str
    unasked = {"thought": "", "answer": ""}

    @field_validator("answer", mode="before")
    @classmethod
    def _alone(cls, value: object) -> object:
        """Read what some models write instead of a text: a list of one text, true or false, or null for no answer."""
        if isinstance(value, list) and len(value) == 1:
            (value,) = value
        if isinstance(value, bool):
            return "yes" if value else "no"
        if isinstance(value, str) and value.strip() in ("...", "…"):
            raise ValueError("it has dots in place of the answer")
        return "" if value is None else value


def titled_texts(texts: list[TitledText]) -> str:
    """Show texts under their titles, separated by blank lines; blank lines within a text are removed."""
    return "\n\n".join(f"Title: {text['title']}\n{_BLANK_LINES.sub('', text['text'])}" for text in texts) or "(none)"


def text_lines(texts: list[str]) -> str:
    """Show texts one to a line."""
    return "\n".join(texts) or "(none)"


def styled(messages: list[BaseMessage], style: str) -> list[BaseMessage]:
    """Append the style that the caller wants for the answer; instructions and values stay as they are."""
    if not style:
        return messages
    *before, request = messages
    return [*before, request.model_copy(update={"content": f"{request.text}\n\n{_STYLE}{style}"})]


_STYLE = """\
If the answer cannot be told, it is just: unanswerable. Otherwise write it, in "answer" alone, not as short as \
possible, but like this: """

JSON_ONLY = "Reply with JSON only, as in the example."

ANSWER_RULE = """\
- answer: the answer alone, as short as possible: a name, date, number with its unit (and its year, if there are \
others), yes or no; a short phrase if asked why, how or what happened; a place as precise as asked for; where the \
texts disagree, each value with its title; if it cannot be told: unanswerable"""

_ANSWER = """\
Answer the question. Use only {given}; infer, but do not guess. {json_only}
- thought: your reasoning, step by step
{rule}

Example
{example}

Question: In which country was the architect of Mill Bridge born?
Reply: {{"thought": "Ada Moss designed Mill Bridge. She was born in Bergen, Norway.", "answer": "Norway"}}"""

_REFUSAL = """

Question: When did Mill Bridge open?
Reply: {"thought": "No date is given.", "answer": "unanswerable"}"""
"""An example of a refusal, for answers that are asked for again with more text (CIRAG's cascade)."""

ANSWER_FROM_TRIPLES = Prompt(
    name="answer_from_triples",
    instructions=_ANSWER.format(
        given="the facts, triples [head, relation, tail] that were extracted automatically and may be garbled",
        json_only=JSON_ONLY,
        rule=ANSWER_RULE,
        example="""\
Facts:
["Mill Bridge", "designed by", "Ada Moss"]
["Ada Moss", "born in", "Bergen, Norway"]""",
    )
    + _REFUSAL,
    request="Facts:\n{triples}\n\nQuestion: {question}",
    reply=Answer,
    shortens="triples",
    show={"triples": triple_lines},
)

_PASSAGES = """\
Title: Mill Bridge
It was designed by Ada Moss.

Title: Ada Moss
She was born in Bergen, Norway."""

ANSWER_FROM_SENTENCES = Prompt(
    name="answer_from_sentences",
    instructions=_ANSWER.format(
        given="the sentences, which were picked from the documents named above them",
        json_only=JSON_ONLY,
        rule=ANSWER_RULE,
        example=_PASSAGES,
    )
    + _REFUSAL,
    request="{sentences}\n\nQuestion: {question}",
    reply=Answer,
    shortens="sentences",
    show={"sentences": titled_texts},
)

ANSWER_FROM_PASSAGES = Prompt(
    name="answer_from_passages",
    instructions=_ANSWER.format(given="the passages", json_only=JSON_ONLY, rule=ANSWER_RULE, example=_PASSAGES),
    request="{passages}\n\nQuestion: {question}",
    reply=Answer,
    shortens="passages",
    show={"passages": titled_texts},
)

ANSWER_FROM_CHAIN = Prompt(
    name="answer_from_chain",
    instructions=_ANSWER.format(
        given="the passages; the chain shows which facts led to the first of them, and may be incomplete or wrong",
        json_only=JSON_ONLY,
        rule=ANSWER_RULE,
        example=f"""\
{_PASSAGES}

Chain:
Mill Bridge designed by Ada Moss""",
    ),
    request="{passages}\n\nChain:\n{chain}\n\nQuestion: {question}",
    reply=Answer,
    shortens="passages",
    show={"passages": titled_texts, "chain": text_lines},
)
