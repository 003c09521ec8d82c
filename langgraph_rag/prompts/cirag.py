"""Prompts of CIRAG (Wei et al. 2026): extraction (appendix A.1) and integration (A.2)."""

import re
from dataclasses import replace
from typing import Annotated, Any

from pydantic import BeforeValidator, WithJsonSchema, field_validator
from typing_extensions import TypedDict

from langgraph_rag.prompts.prompt import Prompt, PromptReply, TripleReplies, triple_lines

_PARTS = 4
_NUMBER = re.compile(r"\d+")


class SentencesOf(TypedDict):
    """A passage as the extractor reads it."""

    title: str
    sentences: list[str]


class HistoryStep(TypedDict):
    """An earlier step, for the integrator (Eq. 2); `candidates` is empty if the history was shortened."""

    query: str
    candidates: list[list[str]]
    thought: str
    facts: list[list[str]]


def _readable_facts(given: object) -> object:
    """Read what some models write instead of a fact: an object, a text with bars, or no number of a sentence."""
    facts = [_fact(item) for item in given] if isinstance(given, list) else []
    return [fact for fact in facts if len(fact) == _PARTS] if isinstance(given, list) else given


def _fact(given: object) -> list[Any]:
    if isinstance(given, dict):
        given = [given.get(name) for name in ("sentence", "head", "relation", "tail")]
    if isinstance(given, str):
        given = given.split("|")
    parts = [part for part in given if isinstance(part, str | int | float)] if isinstance(given, list) else []
    return ["", *parts] if len(parts) == _PARTS - 1 else parts


FactReply = Annotated[
    list[str],
    WithJsonSchema({"type": "array", "items": {"type": "string"}, "minItems": _PARTS, "maxItems": _PARTS}),
]


class PassageFacts(PromptReply):
    """The facts of one passage, each `[sentence, head, relation, tail]`; passage and sentence by their numbers."""

    passage: int
    facts: Annotated[list[FactReply], BeforeValidator(_readable_facts)]
    unsaid = {"facts": []}

    @field_validator("passage", mode="before")
    @classmethod
    def _number(cls, given: object) -> object:
        """Read a number with something around it, as in "[1]"."""
        found = _NUMBER.search(given) if isinstance(given, str) else None
        return found[0] if found else given


class FactsOfPassages(PromptReply):
    """The facts of several passages. The passages of a reply that was cut off are there as far as they are whole."""

    passages: list[PassageFacts]
    useful_in_part = True


class Integration(PromptReply):
    """The conclusion of an integration step; without a question, the search ends."""

    thought: str = ""
    facts: TripleReplies
    question: str | None
    unasked = {"thought": "", "facts": [], "question": None}
    unsaid = {"facts": [], "question": None}


def history_text(history: list[HistoryStep]) -> str:
    """Show earlier steps, oldest first, so that each step only adds to the end of the text."""
    if not history:
        return "(this is the first step)"
    rounds = []
    for number, step in enumerate(history, start=1):
        lines = [f"Step {number}", f"Query: {step['query']}"]
        if step["candidates"]:
            lines += ["Candidate facts:", triple_lines(step["candidates"])]
        lines += [f"Thought: {step['thought']}", "Kept facts:", triple_lines(step["facts"])]
        rounds.append("\n".join(lines))
    return "\n\n".join(rounds)


def passages_text(passages: list[SentencesOf]) -> str:
    """Show passages and their sentences with numbers."""
    return "\n\n".join(
        "\n".join(
            [
                f"Passage {number}: {passage['title']}",
                *(f"{place}. {sentence}" for place, sentence in enumerate(passage["sentences"], start=1)),
            ]
        )
        for number, passage in enumerate(passages, start=1)
    )


EXTRACT_FACTS = Prompt(
    name="extract_facts",
    instructions="""\
You read numbered passages and write down the facts that each states. A fact has a head, a relation and a tail, which \
read one after the other are a short statement that can be understood alone.
- Find the entities of a passage first: people, places, organisations, works, events, products, terms, and dates, \
numbers and quantities. Head and tail are such entities, copied from the passage or its title as they are written \
there: names in full, numbers with their unit and what they count.
- Where the passage has a pronoun or a phrase such as "the film", write the name that it stands for.
- One fact says one thing: of a list, write one fact for each item. Leave out what tells nothing.
- State only what the passage states: nothing that you know from elsewhere, and nothing that it denies, doubts, asks, \
or only reports as said by somebody.
- Each fact begins with the number of the sentence that states it.
- Write an entry for each passage, with an empty list if it states nothing.

Reply with one JSON object and nothing else, of this form: {"passages": [{"passage": number, "facts": [["sentence \
number", "head", "relation", "tail"], ...]}, ...]}""",
    request="{passages}",
    reply=FactsOfPassages,
    shortens="passages",
    show={"passages": passages_text},
)

_INTEGRATE = """\
You collect facts, step by step, until a question can be answered. You see the question, the earlier steps, the \
current query, and the candidate facts found for it, the likeliest first. A fact is a triple [head, relation, tail]; \
they were extracted automatically and some are clipped or garbled: ask again where one only suggests what you need. \
Facts kept earlier still count and are not listed again. Reply with JSON only, as in the examples.
- thought: briefly, which candidates help with the question, and whether all kept facts together answer it or what is \
missing; use only the facts shown
- facts: the candidates that help, copied unchanged: whoever answers the question will see the kept facts alone. \
{earlier} May be empty. Where it is open which of several names is meant, keep the facts about each; leave out facts \
about names that nothing connects with the question.
- question: a short one about what is missing next that can be searched for on its own, with the names found in place \
of descriptions, of several names at once if the same is missing of each; first about a link that is uncertain; \
{anew}. null if the kept facts are enough, or if what is missing was asked for in vain and no other line is open.

Example of a first step
Question: In which country was the architect of Mill Bridge born?

(this is the first step)

Current query: In which country was the architect of Mill Bridge born?
Candidate facts:
["Mill Bridge", "designed by", "Ada Moss"]
["Mill", "is", "town"]
Reply: {{"thought": "Ada Moss designed the bridge. Where she was born is missing.", "facts": [["Mill Bridge", \
"designed by", "Ada Moss"]], "question": "In which country was Ada Moss born?"}}

Example of a later step
Question: In which country was the architect of Mill Bridge born?

Step 1
Query: In which country was the architect of Mill Bridge born?
{candidates}Thought: Ada Moss designed the bridge. Where she was born is missing.
Kept facts:
["Mill Bridge", "designed by", "Ada Moss"]

Current query: In which country was Ada Moss born?
Candidate facts:
["Ada Moss", "married", "Jon Hale"]
["Ada Moss", "born in", "Bergen, Norway"]
Reply: {{"thought": "The architect Ada Moss was born in Norway. So the answer is Norway.", "facts": [["Ada Moss", \
"born in", "Bergen, Norway"]], "question": null}}"""

_LAST_STEP = """

This is the last step: nothing is looked up after it. Keep every candidate that may be part of an answer; the question \
is null."""

INTEGRATE = Prompt(
    name="integrate",
    instructions=_INTEGRATE.format(
        earlier="Keep what may prove to help later: it may not be listed again.",
        anew="an earlier query only if it found nothing, once and in other words; what everybody knows may stand in it",
        candidates="",
    ),
    request="""\
Question: {question}

{history}

Current query: {query}
Candidate facts:
{facts}{is_last}""",
    reply=Integration,
    shortens="facts",
    show={"facts": triple_lines, "history": history_text, "is_last": lambda is_last: _LAST_STEP if is_last else ""},
)

INTEGRATE_WITH_SENTENCES = replace(
    INTEGRATE,
    name="integrate_with_sentences",
    instructions=INTEGRATE.instructions.replace(
        "Reply with JSON only",
        "After each candidate stands the sentence that states it, as a fourth text: believe the sentence where the two "
        "differ, and leave it out when you copy a fact. Reply with JSON only",
        1,
    ),
)
"""With the sentence of each candidate."""

INTEGRATE_AS_PUBLISHED = replace(
    INTEGRATE,
    name="integrate_as_published",
    instructions=_INTEGRATE.format(
        earlier="A candidate listed in an earlier step may be kept now, if only now it proves to help.",
        anew="never an earlier query, not even reworded",
        candidates="""\
Candidate facts:
["Mill Bridge", "designed by", "Ada Moss"]
["Mill", "is", "town"]
""",
    ),
    request=INTEGRATE.request.replace("{is_last}", ""),
)
"""With the candidates of earlier steps (Eq. 2), and without a word on the last step."""
