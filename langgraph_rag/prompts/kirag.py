"""Prompts of KiRAG (Fang et al. 2025): the constructor completes a chain of triples, sentences or documents (A.2)."""

from langgraph_rag.prompts.answering import text_lines, titled_texts
from langgraph_rag.prompts.prompt import Prompt, PromptReply, Reply, Show, TripleReplies, triple_lines


class ChainOfTriples(PromptReply):
    """The rest of a chain, as facts in order, and the conclusion from the whole chain."""

    chain: TripleReplies
    conclusion: str
    unasked = {"chain": [], "conclusion": ""}
    unsaid = {"conclusion": ""}


class ChainOfTexts(PromptReply):
    """The rest of a chain of sentences or of titles of documents, and the conclusion from the whole chain."""

    chain: list[str]
    conclusion: str
    unasked = {"chain": [], "conclusion": ""}
    unsaid = {"conclusion": ""}


def refused_text(refused: list[str]) -> str:
    """Show the refused pieces of the last replies; an empty text stands for a reply without a piece."""
    if not refused:
        return ""
    invented = "\n".join(filter(None, refused))
    return _NOT_THERE + invented if invented else _NOTHING_ADDED


_NOT_THERE = """

Your last chain began with what is not in the list above; begin with something from it, not with:
"""
_NOTHING_ADDED = """

Your last chain added nothing, but the answer is not there yet. If the list above tells of anything that the question \
depends on and the chain says nothing of yet, continue with that; if not, add nothing again."""

_CONSTRUCT = """\
You build a chain of {items} that leads from a question to its answer, one following from the other. {given}Reply with \
JSON only, as in the examples.
- chain: the {items} that continue the chain so far, in order, up to the one that gives the answer{copy}. If the list \
does not lead that far, go as far as it leads: a new list is then looked up from there. So where things are compared, \
begin with any about one that the chain does not name yet. Leave out what is in the chain so far and what nothing \
connects with the question. Empty if the chain so far is complete or nothing continues it.
- conclusion: if chain so far and chain together give the answer, "So the answer is ..."; else what is missing, in one \
short sentence with the names found, as it is looked up next

{examples}"""

_QUESTION = "Question: In which country was the architect of Mill Bridge born?"


def _constructing(
    *, name: str, items: str, given: str, copy: str, examples: str, reply: type[Reply], shown: Show
) -> Prompt[Reply]:
    """Return the prompt that builds chains of some kind of items; `shown` converts them to text."""
    return Prompt(
        name=name,
        instructions=_CONSTRUCT.format(items=items, given=given, copy=copy, examples=examples),
        request=f"{items.capitalize()}:\n{{candidates}}\n\nQuestion: {{question}}\nChain so far:\n{{chain}}{{refused}}",
        reply=reply,
        shortens="candidates",
        show={
            "candidates": shown,
            "chain": lambda chain: shown(chain) if chain else "(empty)",
            "refused": refused_text,
        },
    )


CONSTRUCT_CHAIN = _constructing(
    name="construct_chain",
    items="facts",
    given="A fact is a triple [head, relation, tail]; they were extracted automatically and some are clipped or "
    "garbled. ",
    copy=", copied unchanged from the list",
    examples=f"""\
Example of a first step
Facts:
["Mill", "is", "town"]
["Mill Bridge", "designed by", "Ada Moss"]

{_QUESTION}
Chain so far:
(empty)
Reply: {{"chain": [["Mill Bridge", "designed by", "Ada Moss"]], "conclusion": "Where Ada Moss was born is missing."}}

Example of a later step
Facts:
["Ada Moss", "married", "Jon Hale"]
["Bergen", "city in", "Norway"]
["Ada Moss", "born in", "Bergen"]

{_QUESTION}
Chain so far:
["Mill Bridge", "designed by", "Ada Moss"]
Reply: {{"chain": [["Ada Moss", "born in", "Bergen"], ["Bergen", "city in", "Norway"]], "conclusion": "So the answer \
is Norway."}}

Example of a complete chain
Facts:
["Ada Moss", "married", "Jon Hale"]

{_QUESTION}
Chain so far:
["Mill Bridge", "designed by", "Ada Moss"]
["Ada Moss", "born in", "Bergen, Norway"]
Reply: {{"chain": [], "conclusion": "So the answer is Norway."}}""",
    reply=ChainOfTriples,
    shown=triple_lines,
)

CONSTRUCT_CHAIN_OF_SENTENCES = _constructing(
    name="construct_chain_of_sentences",
    items="sentences",
    given="Each sentence stands behind the title of its document. ",
    copy=", copied unchanged with the titles before them",
    examples=f"""\
Example of a first step
Sentences:
Mill: Mill is a town in Norway.
Mill Bridge: It was designed by Ada Moss.

{_QUESTION}
Chain so far:
(empty)
Reply: {{"chain": ["Mill Bridge: It was designed by Ada Moss."], "conclusion": "Where Ada Moss was born is missing."}}

Example of a complete chain
Sentences:
Ada Moss: She married Jon Hale.

{_QUESTION}
Chain so far:
Mill Bridge: It was designed by Ada Moss.
Ada Moss: She was born in Bergen, Norway.
Reply: {{"chain": [], "conclusion": "So the answer is Norway."}}""",
    reply=ChainOfTexts,
    shown=text_lines,
)

CONSTRUCT_CHAIN_OF_DOCUMENTS = _constructing(
    name="construct_chain_of_documents",
    items="documents",
    given="",
    copy=", each named by its title, copied unchanged",
    examples=f"""\
Example of a first step
Documents:
Title: Mill
Mill is a town in Norway.

Title: Mill Bridge
It was designed by Ada Moss.

{_QUESTION}
Chain so far:
(empty)
Reply: {{"chain": ["Mill Bridge"], "conclusion": "Where Ada Moss was born is missing."}}

Example of a complete chain
Documents:
Title: Mill
Mill is a town in Norway.

{_QUESTION}
Chain so far:
Title: Mill Bridge
It was designed by Ada Moss.

Title: Ada Moss
She was born in Bergen, Norway.
Reply: {{"chain": [], "conclusion": "So the answer is Norway."}}""",
    reply=ChainOfTexts,
    shown=titled_texts,
)
