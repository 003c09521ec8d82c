"""Prompts of CIRAG (Wei et al. 2026): extraction (appendix A.1) and integration (A.2)."""

from dataclasses import replace

from typing_extensions import TypedDict

from langgraph_rag.prompts.prompt import Prompt, PromptReply, TripleReplies, name_list, triple_lines


class HistoryStep(TypedDict):
    """An earlier step, for the integrator (Eq. 2); `candidates` is empty if the history was shortened."""

    query: str
    candidates: list[list[str]]
    thought: str
    facts: list[list[str]]


class Entities(PromptReply):
    """The named entities of a passage."""

    entities: list[str]


class Triples(PromptReply):
    """The facts of a passage, each `[head, relation, tail]`."""

    triples: TripleReplies
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


FIND_ENTITIES = Prompt(
    name="find_entities",
    instructions="""\
You read a passage and list the named entities in it: people, places, organisations, works, events, and also dates, \
years and quantities that a fact could be about. The title names what the passage is about; it is an entity too. \
Write each entity once, as it is spelled in the passage.

Reply with one JSON object and nothing else:
{"entities": ["...", "..."]}

Example
Title: Halden Ferry
Text: The Halden Ferry has linked Orsby and the island of Kell since 4 May 1911. It was built by Brandt & Sons and \
carries 120 passengers.
Reply: {"entities": ["Halden Ferry", "Orsby", "Kell", "4 May 1911", "Brandt & Sons", "120 passengers"]}""",
    request="Title: {title}\nText: {text}",
    reply=Entities,
)

EXTRACT_TRIPLES = Prompt(
    name="extract_triples",
    instructions="""\
You turn a passage into facts. Each fact is a triple of three short strings: head, relation, tail.
- Use the listed entities: at least one of them in each fact, two where the passage connects two.
- Replace pronouns and phrases such as "the film" by the name they stand for, so that each fact can be understood \
alone.
- Keep dates, numbers and names exactly as written. One fact says one thing; split lists into several facts.
- State only what the passage says. If it says nothing, return an empty list.

Reply with one JSON object and nothing else:
{"triples": [["head", "relation", "tail"], ...]}

Example
Title: Halden Ferry
Text: The Halden Ferry has linked Orsby and the island of Kell since 4 May 1911. It was built by Brandt & Sons and \
carries 120 passengers.
Entities: ["Halden Ferry", "Orsby", "Kell", "4 May 1911", "Brandt & Sons", "120 passengers"]
Reply: {"triples": [["Halden Ferry", "links", "Orsby"], ["Halden Ferry", "links", "Kell"], ["Kell", "is", "island"], \
["Halden Ferry", "in service since", "4 May 1911"], ["Halden Ferry", "built by", "Brandt & Sons"], \
["Halden Ferry", "carries", "120 passengers"]]}""",
    request="Title: {title}\nText: {text}\nEntities: {entities}",
    reply=Triples,
    show={"entities": name_list},
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
        earlier="A candidate is listed once: keep now what may prove to help later.",
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
