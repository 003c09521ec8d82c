"""Prompts of DualRAG (appendix A): the reasoner, the entity identifier, the knowledge summariser, and the answer."""

from typing import Annotated

from pydantic import BeforeValidator, Field, model_validator
from typing_extensions import TypedDict

from langgraph_rag.conclusions import concluded
from langgraph_rag.prompts.answering import ANSWER_RULE, JSON_ONLY, Answer, titled_texts
from langgraph_rag.prompts.prompt import Prompt, PromptReply, last_half, name_list


class OutlineEntry(TypedDict):
    """The knowledge about an entity: fragments, oldest first, and the passages read for it.

    The entry without a name has the knowledge that belongs to no entity.
    """

    entity: str
    fragments: list[str]
    read: list[str]


class Reasoning(PromptReply):
    """One step of reasoning and the retrieval trigger (Eq. 3)."""

    thought: str
    needs_retrieval: bool
    unasked = {"thought": "", "needs_retrieval": False}


class NextThought(PromptReply):
    """One step of reasoning that does not look for what is missing (table 3, "w/o R")."""

    thought: str
    final: bool
    unasked = {"thought": "", "final": True}

    @property
    def needs_retrieval(self) -> bool:
        """Retrieve after each thought except the last; a thought that states the answer is the last."""
        return not (self.final or concluded(self.thought))


class EntityQueries(PromptReply):
    """An entity to look up, with queries."""

    entity: str
    queries: list[str] = Field(default_factory=list)

    @model_validator(mode="before")
    @classmethod
    def _name(cls, given: object) -> object:
        """Read a text as the name of an entity."""
        return {"entity": given} if isinstance(given, str) else given


def _verdict(value: object) -> object:
    """Read true or false, which some models write instead of a text; the number 1 is no verdict."""
    return value if not isinstance(value, bool) else "yes" if value else "no"


class LookUp(PromptReply):
    """One step of reasoning, with the entities to look up, or without any and with the answer (Eqs. 3 and 5)."""

    thought: str
    entities: list[EntityQueries] = Field(default_factory=list)
    answer: Annotated[str, BeforeValidator(_verdict)] = ""
    unasked = {"thought": "", "entities": [], "answer": ""}


class Demands(PromptReply):
    """The entities to look up in a step (Eq. 5)."""

    entities: list[EntityQueries]
    unasked = {"entities": []}
    dispensable = True


class Note(PromptReply):
    """What documents say about a name."""

    entity: str
    summary: str


class Notes(PromptReply):
    """The helpful content of the documents of a round, by name (Eq. 9), and what they do not tell."""

    notes: list[Note] = Field(default_factory=list)
    missing: list[str] = Field(default_factory=list)
    unasked = {"notes": [], "missing": []}
    dispensable = True


class Wanted(TypedDict):
    """An entity that was searched for, the queries, and what was known of it before."""

    entity: str
    queries: list[str]
    known: list[str]


class Summary(PromptReply):
    """The helpful content of documents; None if nothing helps (Eq. 9)."""

    summary: str | None
    unasked = {"summary": None}
    dispensable = True


def outline_text(outline: list[OutlineEntry]) -> str:
    """Show an outline, entity by entity."""
    parts = []
    for entry in outline:
        heading = [f"[{entry['entity']}]"] if entry["entity"] else []
        parts.append("\n".join([*heading, *entry["fragments"]]))
    return "\n\n".join(parts) or "(nothing yet)"


def newest_half(outline: list[OutlineEntry]) -> list[OutlineEntry]:
    """Return the newer half of the entries, on which the last step builds; of a single entry, of its fragments."""
    if len(outline) != 1:
        return last_half(outline)
    (entry,) = outline
    return [OutlineEntry(entity=entry["entity"], fragments=last_half(entry["fragments"]), read=entry["read"])]


def thoughts_text(thoughts: list[str]) -> str:
    """Show the reasoning so far, numbered."""
    return "\n".join(f"{number}. {thought}" for number, thought in enumerate(thoughts, start=1)) or "(none yet)"


def vain_text(vain: list[str]) -> str:
    """Show the queries without a finding, if any, so that the model can reword them."""
    return f"\n\nSearched for and not found: {name_list(vain)}" if vain else ""


def known_text(known: list[str]) -> str:
    """Show the earlier fragments about an entity, if any."""
    return "".join(["\nKnown already:", *(f" {fragment}" for fragment in known)]) if known else ""


def wanted_text(wanted: list[Wanted]) -> str:
    """Show what was searched for, with what is known of it."""
    shown = []
    for entry in wanted:
        name = f"{entry['entity']}: " if entry["entity"] else ""
        shown.append(f"- {name}{name_list(entry['queries'])}{known_text(entry['known'])}")
    return "\n".join(shown)


REASON = Prompt(
    name="reason",
    instructions="""\
You reason, step by step, towards the answer to a question, while an assistant searches documents for you. You see \
what was found so far, under the names it is about, and your reasoning so far. Write the next step, from what was \
found alone, not from memory. Reply with JSON only, as in the examples.
- thought: either the steps to the answer and the answer itself, or what is known and exactly what has to be looked up \
next, with the names found in place of descriptions; if no way is left, that it cannot be told. Do not \
merely repeat an earlier step; compare dates and numbers spelled out.
- needs_retrieval: true if something has to be looked up; what was looked up and not found is asked for in another \
way, or something else that leads there. false if what was found gives the answer, or if no way is left.

Example
Question: Who is older, the architect of Mill Bridge or Jon Hale?

Found so far:
[Mill Bridge]
Mill Bridge was designed by Ada Moss.

[Jon Hale]
Jon Hale was born in 1870.

Reasoning so far:
1. I have to find out who designed Mill Bridge, and when that person and Jon Hale were born.
Reply: {"thought": "The architect is Ada Moss. Jon Hale was born in 1870. When Ada Moss was born is missing.", \
"needs_retrieval": true}

If "Ada Moss was born in 1882." had been found too:
Reply: {"thought": "The architect Ada Moss was born in 1882, Jon Hale in 1870. 1870 is earlier. So the answer is \
Jon Hale.", "needs_retrieval": false}""",
    request="Question: {question}\n\nFound so far:\n{outline}\n\nReasoning so far:\n{thoughts}{vain}",
    reply=Reasoning,
    shortens="outline",
    shorter=newest_half,
    show={"outline": outline_text, "thoughts": thoughts_text, "vain": vain_text},
)

REASON_AND_LOOK_UP = Prompt(
    name="reason_and_look_up",
    instructions="""\
You reason, step by step, towards the answer to a question, while an assistant searches documents for you. You see \
what was found so far, under the names it is about, and your reasoning so far. Write the next step, from what was \
found alone, not from memory. Reply with JSON only, as in the examples.
- thought: either the steps to the answer, or what is known and exactly what is missing, with the names found in place \
of descriptions; if no way is left, that it cannot be told. Do not merely repeat an earlier step; compare dates and \
numbers spelled out; where documents differ, say so.
- entities: what to search for next, best first; empty if nothing is missing, or no way is left. Each a person, place, \
organisation, work or event by its name: as written under "Names so far" if it is there, else as found or asked. What \
has no name yet has to wait: take the named thing that leads to it; only where there is none, a description. queries: \
one text to search with for each thing to be found out about it, naming both; what was searched for and not found is \
asked for in another way, or something else that leads there.
- answer: "" as long as entities are named. Else the answer alone, as short as possible: a name, date or number with \
its unit, yes or no, or a short phrase where the question asks what happened; as exact as asked; if it cannot be told: \
unanswerable

Example
Question: Who is older, the architect of Mill Bridge or Jon Hale?

Found so far:
(nothing yet)

Names so far: []

Reasoning so far:
(none yet)
Reply: {"thought": "Who designed Mill Bridge and when Jon Hale was born is missing, then the architect's birth.", \
"entities": [{"entity": "Mill Bridge", "queries": ["Mill Bridge architect"]}, {"entity": "Jon Hale", "queries": \
["Jon Hale birth date"]}], "answer": ""}

If "Mill Bridge was designed by Ada Moss." and "Jon Hale was born in 1870." had been found:
Reply: {"thought": "The architect is Ada Moss. Jon Hale was born in 1870. When Ada Moss was born is missing.", \
"entities": [{"entity": "Ada Moss", "queries": ["Ada Moss birth date"]}], "answer": ""}

If "Ada Moss was born in 1882." had been found too:
Reply: {"thought": "The architect Ada Moss was born in 1882, Jon Hale in 1870. 1870 is earlier. So the answer is \
Jon Hale.", "entities": [], "answer": "Jon Hale"}""",
    request="""\
Question: {question}

Found so far:
{outline}

Names so far: {names}

Reasoning so far:
{thoughts}{vain}""",
    reply=LookUp,
    shortens="outline",
    shorter=newest_half,
    show={"outline": outline_text, "names": name_list, "thoughts": thoughts_text, "vain": vain_text},
)

THINK_ON = Prompt(
    name="think_on",
    instructions=f"""\
You reason towards the answer to a question, one sentence at a time. You see what documents say about it and your \
sentences so far. Write the next one. {JSON_ONLY}
- thought: one sentence that goes one step further; the last one begins with "So the answer is". Where nothing was \
found yet, say what the question is about.
- final: true for the last sentence, else false

Example
Question: In which country was the architect of Mill Bridge born?

Found so far:
[Mill Bridge]
Mill Bridge was designed by Ada Moss.

Reasoning so far:
(none yet)
Reply: {{"thought": "The architect of Mill Bridge is Ada Moss.", "final": false}}""",
    request="Question: {question}\n\nFound so far:\n{outline}\n\nReasoning so far:\n{thoughts}",
    reply=NextThought,
    shortens="outline",
    shorter=newest_half,
    show={"outline": outline_text, "thoughts": thoughts_text},
)

IDENTIFY_ENTITIES = Prompt(
    name="identify_entities",
    instructions=f"""\
Somebody reasons towards the answer to a question. Decide what to search for next: only what the question needs and \
the last step of the reasoning asks for, and not what was found already. What was searched for and not found is \
searched for again in different words. {JSON_ONLY}
- entities: the people, places, organisations, works or events about which something can be found out now, best first; \
empty if nothing is missing. Each by its name; if "Names so far" has that, even in another spelling, as it is written \
there. What has no name yet has to wait: take the named thing that leads to it; only where there is none, a description.
- queries: for each entity, one text to search with for each thing to be found out about it, naming the entity and the \
thing; a second wording only where the first may miss it

Example
Question: Who is older, the architect of Mill Bridge or Jon Hale?

Found so far:
(nothing yet)

Names so far: []

Reasoning so far:
1. I have to find out who designed Mill Bridge, and when that person and Jon Hale were born.
Reply: {{"entities": [{{"entity": "Mill Bridge", "queries": ["Mill Bridge architect"]}}, {{"entity": \
"Jon Hale", "queries": ["Jon Hale birth date"]}}]}}

After the step "2. Ada Moss designed Mill Bridge. When she was born is missing.":
Reply: {{"entities": [{{"entity": "Ada Moss", "queries": ["Ada Moss birth date"]}}]}}""",
    request="""\
Question: {question}

Found so far:
{outline}

Names so far: {names}

Reasoning so far:
{thoughts}{vain}""",
    reply=Demands,
    shortens="outline",
    shorter=newest_half,
    show={"outline": outline_text, "names": name_list, "thoughts": thoughts_text, "vain": vain_text},
)

SUMMARIZE = Prompt(
    name="summarize",
    instructions=f"""\
Somebody reasons towards the answer to a question and searched documents for an entity. Write down what in them is of \
use. {JSON_ONLY}
- summary: what the documents say that the answer may need: about the entity, about another name that the question or \
the last step of the reasoning has, or about what connects two of them. Leave out the rest, and what stands under \
"Known already". Keep names, dates, numbers and decisive wording; write a name in place of "he" or "it", so that each \
sentence is clear alone. Where the documents use one name for several things, say what is said of each. Add nothing of \
your own. null if nothing helps.

Example
Question: Who is older, the architect of Mill Bridge or Jon Hale?

Reasoning so far:
1. I have to find out who designed Mill Bridge, and when that person and Jon Hale were born.

Entity: Mill Bridge
Searches: ["Mill Bridge architect"]

Title: Mill Bridge
It is 210 metres long and was designed by Ada Moss.

Title: Mill
Mill is a town in Norway.
Reply: {{"summary": "Mill Bridge was designed by Ada Moss."}}

With "Mill is a town in Norway." alone:
Reply: {{"summary": null}}""",
    request="""\
Question: {question}

Reasoning so far:
{thoughts}

Entity: {entity}{known}
Searches: {queries}

{documents}""",
    reply=Summary,
    shortens="documents",
    show={"thoughts": thoughts_text, "known": known_text, "queries": name_list, "documents": titled_texts},
)

TAKE_NOTES = Prompt(
    name="take_notes",
    instructions=f"""\
Somebody reasons towards the answer to a question and searched documents. Write down what in them is of use. {JSON_ONLY}
- notes: for each name that they say something of use about: entity, the name, as it was searched for if it was; and \
summary, what they say that the answer or the next search may need: about it, about what connects it with another \
name, and the names, places and dates that lead on. Say each thing once; leave out what is of no use or known \
already. Keep names, dates, numbers with their units and decisive wording; write a name in place of "he" or "it", so \
that each sentence is clear alone. Where documents differ, give both; where one name stands for several things, say \
what is said of each. Add nothing of your own.
- missing: what was searched for and stands in none of them, briefly

Example
Question: Who is older, the architect of Mill Bridge or Jon Hale?

Reasoning so far:
1. I have to find out who designed Mill Bridge, and when that person and Jon Hale were born.

Title: Mill Bridge
It is 210 metres long and was designed by Ada Moss.

Title: Mill
Mill is a town in Norway.

Searched for:
- Mill Bridge: ["Mill Bridge architect"]
- Jon Hale: ["Jon Hale birth date"]
Reply: {{"notes": [{{"entity": "Mill Bridge", "summary": "Mill Bridge was designed by Ada Moss."}}], "missing": \
["birth date of Jon Hale"]}}""",
    request="""\
Question: {question}

Reasoning so far:
{thoughts}

{documents}

Searched for:
{wanted}""",
    reply=Notes,
    shortens="documents",
    show={"thoughts": thoughts_text, "documents": titled_texts, "wanted": wanted_text},
)

ANSWER_FROM_OUTLINE = Prompt(
    name="answer_from_outline",
    instructions=f"""\
Answer the question from what was found in documents, under the names it is about, and nothing else; infer, but do not \
guess. The reasoning was written on the way; what was found counts where the two differ. {JSON_ONLY}
- thought: your reasoning, step by step
{ANSWER_RULE}

Example
Question: In which country was the architect of Mill Bridge born?

Found:
[Mill Bridge]
Mill Bridge was designed by Ada Moss.

[Ada Moss]
Ada Moss was born in Bergen, Norway.

Reasoning:
1. I have to find out who designed Mill Bridge.
Reply: {{"thought": "Ada Moss designed Mill Bridge. She was born in Bergen, Norway.", "answer": "Norway"}}""",
    request="Question: {question}\n\nFound:\n{outline}\n\nReasoning:\n{thoughts}",
    reply=Answer,
    shortens="outline",
    shorter=newest_half,
    show={"outline": outline_text, "thoughts": thoughts_text},
)
