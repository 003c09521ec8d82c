"""Prompts of KiRAG (Fang et al. 2025): the constructor completes a chain of triples, sentences or documents (A.2)."""

from langgraph_rag.prompts.answering import titled_texts
from langgraph_rag.prompts.prompt import Prompt, PromptReply, TripleReply, triple_lines

ANSWER_MARK = "the answer is"
"""What a conclusion holds where the chain is complete (section 3.2)."""


class ChainOfTriples(PromptReply):
    """The rest of a chain, its facts in order, and what the whole chain comes to."""

    chain: list[TripleReply]
    conclusion: str
    unasked = {"chain": [], "conclusion": ""}


class ChainOfTexts(PromptReply):
    """The rest of a chain of sentences, or of documents named by their titles, and what the whole chain comes to."""

    chain: list[str]
    conclusion: str
    unasked = {"chain": [], "conclusion": ""}


def text_lines(texts: list[str]) -> str:
    """Show texts one to a line."""
    return "\n".join(texts) or "(none)"


def refusals(refused: list[str]) -> str:
    """Show what the constructor proposed that was not there."""
    if not refused:
        return ""
    return "\n\nYour last chain began with what is not in the list above; begin with something from it, not with:\n" + (
        "\n".join(refused)
    )


_CONSTRUCT = """\
You build a chain of {items} that leads from a question to its answer, one {item} following from the other. {given}
Think the whole rest of the chain through, then write:
- chain: the {items} that continue the chain so far, in the order of the reasoning: first the one that comes next, \
last the one that gives the answer. {copy} Do not repeat what is in the chain so far, and leave out what nothing \
connects with the question. A question that compares two things needs what is said of both. If what is listed does \
not lead all the way to the answer, go as far as it leads. Only the first one is taken now; then the list is looked up \
anew from there. Return an empty list if \
the chain so far is complete, or if nothing listed continues it.
- conclusion: if the chain so far together with what you wrote gives the answer, the sentence "So the answer is ..." \
with the answer. If not, one short sentence that says what is missing.

Reply with one JSON object and nothing else:
{form}

{examples}"""

_QUESTION = "Question: In which country was the architect of the Tolmar Bridge born?"

CONSTRUCT_CHAIN = Prompt(
    name="construct_chain",
    instructions=_CONSTRUCT.format(
        items="facts",
        item="fact",
        given="You are given facts, the question, and the chain so far. Each fact is a triple [head, relation, tail]. "
        "The facts were extracted automatically and some are clipped or garbled: read them with care.",
        copy="Copy them from the list of facts, unchanged.",
        form='{"chain": [["head", "relation", "tail"], ...], "conclusion": "..."}',
        examples=f"""\
Example of a first step
Facts:
["Tolmar Bridge", "spans", "River Ister"]
["Tolmar Bridge", "designed by", "Ada Renk"]
["Tolmar", "is", "market town"]

{_QUESTION}
Chain so far:
(empty)
Reply: {{"chain": [["Tolmar Bridge", "designed by", "Ada Renk"]], "conclusion": "Where Ada Renk was born is missing."}}

Example of a later step
Facts:
["Ada Renk", "married", "Jon Ister"]
["Ada Renk", "born in", "Kell"]
["Kell", "is island of", "Norrland"]

{_QUESTION}
Chain so far:
["Tolmar Bridge", "designed by", "Ada Renk"]
Reply: {{"chain": [["Ada Renk", "born in", "Kell"], ["Kell", "is island of", "Norrland"]], "conclusion": "So the \
answer is Norrland."}}

Example of a complete chain
Facts:
["Ada Renk", "married", "Jon Ister"]
["Norrland", "borders", "Sundria"]

{_QUESTION}
Chain so far:
["Tolmar Bridge", "designed by", "Ada Renk"]
["Ada Renk", "born in", "Kell"]
["Kell", "is island of", "Norrland"]
Reply: {{"chain": [], "conclusion": "So the answer is Norrland."}}""",
    ),
    request="Facts:\n{candidates}\n\nQuestion: {question}\nChain so far:\n{chain}{refused}",
    reply=ChainOfTriples,
    shortens="candidates",
    show={
        "candidates": triple_lines,
        "chain": lambda chain: triple_lines(chain) if chain else "(empty)",
        "refused": refusals,
    },
)

CONSTRUCT_CHAIN_OF_SENTENCES = Prompt(
    name="construct_chain_of_sentences",
    instructions=_CONSTRUCT.format(
        items="sentences",
        item="sentence",
        given="You are given sentences, each after the title of the document it is taken from, the question, and the "
        "chain so far.",
        copy="Copy them from the list of sentences with the titles before them, unchanged.",
        form='{"chain": ["Title: sentence", ...], "conclusion": "..."}',
        examples=f"""\
Example of a first step
Sentences:
Tolmar Bridge: It spans the River Ister.
Tolmar Bridge: The bridge was designed by Ada Renk.

{_QUESTION}
Chain so far:
(empty)
Reply: {{"chain": ["Tolmar Bridge: The bridge was designed by Ada Renk."], "conclusion": "Where Ada Renk was born is \
missing."}}

Example of a complete chain
Sentences:
Ada Renk: She married Jon Ister.

{_QUESTION}
Chain so far:
Tolmar Bridge: The bridge was designed by Ada Renk.
Ada Renk: Renk was born in Kell in Norrland.
Reply: {{"chain": [], "conclusion": "So the answer is Norrland."}}""",
    ),
    request="Sentences:\n{candidates}\n\nQuestion: {question}\nChain so far:\n{chain}{refused}",
    reply=ChainOfTexts,
    shortens="candidates",
    show={
        "candidates": text_lines,
        "chain": lambda chain: text_lines(chain) if chain else "(empty)",
        "refused": refusals,
    },
)

CONSTRUCT_CHAIN_OF_DOCUMENTS = Prompt(
    name="construct_chain_of_documents",
    instructions=_CONSTRUCT.format(
        items="documents",
        item="document",
        given="You are given documents under their titles, the question, and the chain so far.",
        copy="Name each by its title, copied unchanged.",
        form='{"chain": ["title", ...], "conclusion": "..."}',
        examples=f"""\
Example of a first step
Documents:
Title: River Ister
The River Ister flows through Tolmar.

Title: Tolmar Bridge
The Tolmar Bridge spans the River Ister. It was designed by Ada Renk.

{_QUESTION}
Chain so far:
(empty)
Reply: {{"chain": ["Tolmar Bridge"], "conclusion": "Where Ada Renk was born is missing."}}

Example of a complete chain
Documents:
Title: River Ister
The River Ister flows through Tolmar.

{_QUESTION}
Chain so far:
Title: Tolmar Bridge
The Tolmar Bridge spans the River Ister. It was designed by Ada Renk.

Title: Ada Renk
Ada Renk was an architect. She was born in Kell in Norrland.
Reply: {{"chain": [], "conclusion": "So the answer is Norrland."}}""",
    ),
    request="Documents:\n{candidates}\n\nQuestion: {question}\nChain so far:\n{chain}{refused}",
    reply=ChainOfTexts,
    shortens="candidates",
    show={
        "candidates": titled_texts,
        "chain": lambda chain: titled_texts(chain) if chain else "(empty)",
        "refused": refusals,
    },
)
