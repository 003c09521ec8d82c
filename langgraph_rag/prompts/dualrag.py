"""Prompts of DualRAG (appendix A): the reasoner, the entity identifier, the knowledge summariser, and the answer."""

from typing_extensions import TypedDict

from langgraph_rag.prompts.answering import ANSWER_RULE, Answer, titled_texts
from langgraph_rag.prompts.prompt import Prompt, PromptReply, name_list


class OutlineEntry(TypedDict):
    """What is known of one entity: fragments, oldest first, and the passages read for it.

    Without a name the entry holds what belongs to no entity.
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
        """Retrieve after every thought that is not the last."""
        return not self.final


class EntityQueries(PromptReply):
    """An entity something is to be found out about, and what to search for."""

    entity: str
    queries: list[str]


class Demands(PromptReply):
    """What a round of retrieval is to look for (Eq. 5)."""

    entities: list[EntityQueries]
    unasked = {"entities": []}


class Summary(PromptReply):
    """What documents say that helps; nothing where they say nothing (Eq. 9)."""

    summary: str | None
    unasked = {"summary": None}


def outline_text(outline: list[OutlineEntry]) -> str:
    """Show what is known, entity by entity."""
    parts = []
    for entry in outline:
        heading = [f"[{entry['entity']}]"] if entry["entity"] else []
        parts.append("\n".join([*heading, *entry["fragments"]]))
    return "\n\n".join(parts) or "(nothing yet)"


def thoughts_text(thoughts: list[str]) -> str:
    """Show the reasoning so far, numbered."""
    return "\n".join(f"{number}. {thought}" for number, thought in enumerate(thoughts, start=1)) or "(none yet)"


REASON = Prompt(
    name="reason",
    instructions="""\
You work towards the answer to a question, step by step, together with an assistant who searches documents for you. \
You see the question, what the assistant has found so far, ordered by what it is about (the name in brackets), and \
your own reasoning so far. Write the next step of the reasoning.
- Use only what was found. Do not add anything from memory, do not guess: what was not found is not known.
- Do not repeat earlier steps; go on from them. Compare dates and numbers with care, spelling out both.
- thought: either the steps that lead to the answer, with the answer itself, or what is known and exactly what has to \
be looked up next. Name the people, places or works it is about; put names that were found in place of descriptions.
- needs_retrieval: false if the answer is now known; true if something has to be looked up. If something was looked up \
before and not found, say so and ask for it in another way, or for something else that leads there; if no other way is \
left, set it to false.

Reply with one JSON object and nothing else:
{"thought": "...", "needs_retrieval": true or false}

Example of a first step
Question: Who is older, the architect of the Tolmar Bridge or the founder of the Halden Ferry?

Found so far:
(nothing yet)

Reasoning so far:
(none yet)
Reply: {"thought": "To compare their ages I have to find out who designed the Tolmar Bridge, who founded the Halden \
Ferry, and when each of them was born.", "needs_retrieval": true}

Example of a later step
Question: Who is older, the architect of the Tolmar Bridge or the founder of the Halden Ferry?

Found so far:
[Tolmar Bridge]
The Tolmar Bridge was designed by Ada Renk.

[Halden Ferry]
The Halden Ferry was founded by Jon Ister (1870-1941).

Reasoning so far:
1. To compare their ages I have to find out who designed the Tolmar Bridge, who founded the Halden Ferry, and when \
each of them was born.
Reply: {"thought": "The architect is Ada Renk, the founder is Jon Ister, born in 1870. When Ada Renk was born is still \
missing.", "needs_retrieval": true}

Example of a last step
Question: Who is older, the architect of the Tolmar Bridge or the founder of the Halden Ferry?

Found so far:
[Tolmar Bridge]
The Tolmar Bridge was designed by Ada Renk.

[Halden Ferry]
The Halden Ferry was founded by Jon Ister (1870-1941).

[Ada Renk]
Ada Renk was born on 3 May 1882.

Reasoning so far:
1. To compare their ages I have to find out who designed the Tolmar Bridge, who founded the Halden Ferry, and when \
each of them was born.
2. The architect is Ada Renk, the founder is Jon Ister, born in 1870. When Ada Renk was born is still missing.
Reply: {"thought": "Ada Renk was born in 1882 and Jon Ister in 1870. 1870 is earlier, so Jon Ister, the founder of the \
Halden Ferry, is older.", "needs_retrieval": false}""",
    request="Question: {question}\n\nFound so far:\n{outline}\n\nReasoning so far:\n{thoughts}",
    reply=Reasoning,
    shortens="outline",
    show={"outline": outline_text, "thoughts": thoughts_text},
)

THINK_ON = Prompt(
    name="think_on",
    instructions="""\
You reason towards the answer to a question, one sentence at a time. You see the question, what documents say about \
it, and your sentences so far. Write the next sentence.
- thought: one sentence that goes one step further. Begin the last one with "So the answer is".
- final: true if the sentence gives the answer, else false.

Reply with one JSON object and nothing else:
{"thought": "...", "final": true or false}

Example
Question: In which country was the architect of the Tolmar Bridge born?

Found so far:
[Tolmar Bridge]
The Tolmar Bridge was designed by Ada Renk.

Reasoning so far:
(none yet)
Reply: {"thought": "The architect of the Tolmar Bridge is Ada Renk.", "final": false}

Example of a last sentence
Question: In which country was the architect of the Tolmar Bridge born?

Found so far:
[Tolmar Bridge]
The Tolmar Bridge was designed by Ada Renk.
Ada Renk was born in Kell, Norrland.

Reasoning so far:
1. The architect of the Tolmar Bridge is Ada Renk.
2. Ada Renk was born in Kell, which is in Norrland.
Reply: {"thought": "So the answer is Norrland.", "final": true}

Where nothing was found yet, say what the question is about:
Reply: {"thought": "The question is about the architect of the Tolmar Bridge.", "final": false}""",
    request="Question: {question}\n\nFound so far:\n{outline}\n\nReasoning so far:\n{thoughts}",
    reply=NextThought,
    shortens="outline",
    show={"outline": outline_text, "thoughts": thoughts_text},
)

IDENTIFY_ENTITIES = Prompt(
    name="identify_entities",
    instructions="""\
Somebody reasons towards the answer to a question and has said what has to be looked up. You decide what to search \
for. You see the question, what was found so far, the reasoning so far (its last step says what is missing), and the \
names under which findings are already kept.
1. entities: the people, places, organisations, works or events about which something is missing now, each by its \
name. If one of them is already in the list under another spelling of its name, write it exactly as in the list; if \
it is there under a description only, write its name. Where a name is not known yet, search for the named thing that \
leads to it; only where there is none, take a description ("bridge across the Ister").
2. queries, for each entity: short texts to search documents with. Each names the entity and one thing to be found \
out, so that it can be understood alone. One query for each thing that is missing; the same thing at most twice, in \
different words.
Only what the question needs and the last step asks for; nothing that was found already. If a search was made before \
and found nothing, search in other words. If nothing is missing, return an empty list.

Reply with one JSON object and nothing else:
{"entities": [{"entity": "...", "queries": ["...", "..."]}, ...]}

Example of a first step
Question: Who is older, the architect of the Tolmar Bridge or the founder of the Halden Ferry?

Found so far:
(nothing yet)

Names so far: []

Reasoning so far:
1. To compare their ages I have to find out who designed the Tolmar Bridge, who founded the Halden Ferry, and when \
each of them was born.
Reply: {"entities": [{"entity": "Tolmar Bridge", "queries": ["Tolmar Bridge architect", "Who designed the Tolmar \
Bridge"]}, {"entity": "Halden Ferry", "queries": ["Halden Ferry founder"]}]}

Example of a later step
Question: Who is older, the architect of the Tolmar Bridge or the founder of the Halden Ferry?

Found so far:
[Tolmar Bridge]
The Tolmar Bridge was designed by Ada Renk.

[Halden Ferry]
Jon Ister founded the Halden Ferry.

Names so far: ["Tolmar Bridge", "Halden Ferry"]

Reasoning so far:
1. To compare their ages I have to find out who designed the Tolmar Bridge, who founded the Halden Ferry, and when \
each of them was born.
2. The architect is Ada Renk, the founder is Jon Ister. Their birth dates are missing.
Reply: {"entities": [{"entity": "Ada Renk", "queries": ["Ada Renk birth date", "When was Ada Renk born"]}, {"entity": \
"Jon Ister", "queries": ["Jon Ister birth date"]}]}""",
    request="""\
Question: {question}

Found so far:
{outline}

Names so far: {names}

Reasoning so far:
{thoughts}""",
    reply=Demands,
    shortens="outline",
    show={"outline": outline_text, "names": name_list, "thoughts": thoughts_text},
)

SUMMARIZE = Prompt(
    name="summarize",
    instructions="""\
Somebody reasons towards the answer to a question and searches documents for it. You read what a search has found and \
write down what is of use. You see the question, the reasoning so far (its last step says what is missing), the entity \
that was searched for, the searches, and the documents, each under its title.
- summary: the statements in the documents that help with what is missing, or with the question as a whole, also \
where they are about something else than the entity: those that connect one thing with another, and those about a name \
that the answer depends on. Leave out the rest, also what has no stated link to the question. \
Keep the wording of the documents where it matters, and names, dates and numbers exactly as they are written there. \
Write full names instead of "he", "it" or "the film", so that each sentence can be understood alone. Where it is not \
clear which of several things of the same name is meant, write down what is said of each.
- Add nothing: no conclusions, no comments, nothing from memory. If nothing in the documents helps, the summary is null.

Reply with one JSON object and nothing else:
{"summary": "..." or null}

Example
Question: Who is older, the architect of the Tolmar Bridge or the founder of the Halden Ferry?

Reasoning so far:
1. To compare their ages I have to find out who designed the Tolmar Bridge, who founded the Halden Ferry, and when \
each of them was born.

Entity: Tolmar Bridge
Searches: ["Tolmar Bridge architect"]

Title: Tolmar Bridge
The Tolmar Bridge spans the Ister. It is 210 metres long and was designed by Ada Renk.

Title: Tolmar
Tolmar is a market town of 9,000 people.
Reply: {"summary": "The Tolmar Bridge was designed by Ada Renk."}

With the same question and reasoning, the search for "Halden Ferry founder" that only found a passage about the \
ferry's timetable gets:
Reply: {"summary": null}""",
    request="""\
Question: {question}

Reasoning so far:
{thoughts}

Entity: {entity}
Searches: {queries}

{documents}""",
    reply=Summary,
    shortens="documents",
    show={"thoughts": thoughts_text, "queries": name_list, "documents": titled_texts},
)

ANSWER_FROM_OUTLINE = Prompt(
    name="answer_from_outline",
    instructions="""\
You answer a question. You are given what was found in documents, ordered by what it is about (the name in brackets), \
and the reasoning of somebody who read it step by step. Rely on what was found; where the reasoning contradicts it or \
was written before something was found, what was found counts. Use nothing else: plain inferences are allowed, guesses \
are not.
- thought: reason step by step, restating what you use.
"""
    + ANSWER_RULE
    + """

Reply with one JSON object and nothing else:
{"thought": "...", "answer": "..."}

Example
Question: In which country was the architect of the Tolmar Bridge born?

Found:
[Tolmar Bridge]
The Tolmar Bridge was designed by Ada Renk.

[Ada Renk]
Ada Renk was born in Kell, Norrland.

Reasoning:
1. I have to find out who designed the Tolmar Bridge.
2. Ada Renk designed it. Where was she born?
Reply: {"thought": "Ada Renk designed the Tolmar Bridge. She was born in Kell, which is in Norrland.", "answer": \
"Norrland"}

With the same findings, the question "When was the architect of the Tolmar Bridge born?" gets:
Reply: {"thought": "It is said where Ada Renk was born, but not when.", "answer": "unanswerable"}""",
    request="Question: {question}\n\nFound:\n{outline}\n\nReasoning:\n{thoughts}",
    reply=Answer,
    shortens="outline",
    show={"outline": outline_text, "thoughts": thoughts_text},
)
