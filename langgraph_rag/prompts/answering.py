"""Prompts that answer a question from given texts: from triples, sentences or passages (CIRAG, appendix A.3)."""

from typing_extensions import TypedDict

from langgraph_rag.prompts.prompt import Prompt, PromptReply, triple_lines


class TitledText(TypedDict):
    """A text under the title of the document it comes from."""

    title: str
    text: str


class Answer(PromptReply):
    """The reasoning and the answer it leads to, or the word unanswerable."""

    thought: str
    answer: str
    unasked = {"thought": "", "answer": "unknown"}
    concludes = True


def titled_texts(texts: list[TitledText]) -> str:
    """Show texts under their titles, separated by blank lines."""
    return "\n\n".join(f"Title: {text['title']}\n{text['text']}" for text in texts) or "(none)"


ANSWER_RULE = """\
- answer: the answer alone, as short as possible and of the kind asked for ("which film" wants the film): a name, a \
date, a number, yes or no; no sentence, no explanation. If what is needed is not there, the answer is exactly: \
unanswerable"""

_ANSWER = """\
You answer a question. {given} Use nothing else: plain inferences are allowed, guesses are not.
- thought: reason step by step, restating what you use.
{rule}

Reply with one JSON object and nothing else:
{{"thought": "...", "answer": "..."}}

Example
{example}

Question: Which country does the island that the Halden Ferry serves belong to?
Reply: {{"thought": "The Halden Ferry serves the island of Kell. Kell belongs to Norrland.", "answer": "Norrland"}}

With the same {items}, the question "Who is the captain of the Halden Ferry?" gets:
Reply: {{"thought": "It is said where the Halden Ferry goes, but not who its captain is.", "answer": "unanswerable"}}"""

ANSWER_FROM_TRIPLES = Prompt(
    name="answer_from_triples",
    instructions=_ANSWER.format(
        rule=ANSWER_RULE,
        given="You are given facts as triples [head, relation, tail]. They were extracted automatically and some are "
        "clipped or garbled: read them with care.",
        items="facts",
        example="""\
Facts:
["Halden Ferry", "links Orsby with", "Kell"]
["Kell", "is an island of", "Norrland"]""",
    ),
    request="Facts:\n{triples}\n\nQuestion: {question}",
    reply=Answer,
    shortens="triples",
    show={"triples": triple_lines},
)

ANSWER_FROM_SENTENCES = Prompt(
    name="answer_from_sentences",
    instructions=_ANSWER.format(
        rule=ANSWER_RULE,
        given="You are given sentences under the titles of the documents they are taken from, one to a line; sentences "
        "in between may have been left out.",
        items="sentences",
        example="""\
Title: Halden Ferry
It links Orsby with Kell.

Title: Kell
Kell is an island off the coast of Norrland, to which it belongs.""",
    ),
    request="{sentences}\n\nQuestion: {question}",
    reply=Answer,
    shortens="sentences",
    show={"sentences": titled_texts},
)

ANSWER_FROM_PASSAGES = Prompt(
    name="answer_from_passages",
    instructions=_ANSWER.format(
        rule=ANSWER_RULE,
        given="You are given passages, each under the title of its document.",
        items="passages",
        example="""\
Title: Halden Ferry
The Halden Ferry has run since 1911. It links Orsby with Kell and carries 120 passengers.

Title: Kell
Kell is an island known for its lighthouse. It lies off the coast of Norrland, to which it belongs.""",
    ),
    request="{passages}\n\nQuestion: {question}",
    reply=Answer,
    shortens="passages",
    show={"passages": titled_texts},
)
