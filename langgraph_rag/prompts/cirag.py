"""Prompts of CIRAG (Wei et al. 2025): extraction (appendix A.1), integration (A.2), adaptive generation (A.3)."""

from typing_extensions import TypedDict

from langgraph_rag.prompts.prompt import Prompt, PromptReply, name_list, triple_lines


class HistoryStep(TypedDict):
    """One earlier round as the integrator sees it (Eq. 2); `candidates` is empty once the history is shortened."""

    query: str
    candidates: list[list[str]]
    thought: str
    facts: list[list[str]]
    question: str


class TitledText(TypedDict):
    """A text under the title of the document it comes from."""

    title: str
    text: str


class Entities(PromptReply):
    """The named entities of a passage."""

    entities: list[str]


class Triples(PromptReply):
    """The facts of a passage, each `[head, relation, tail]`."""

    triples: list[list[str]]


class Integration(PromptReply):
    """What one round of integration concludes; an empty question ends the search."""

    thought: str
    facts: list[list[str]]
    question: str | None = None


class Answer(PromptReply):
    """An answer with the reasoning that led to it, or a refusal."""

    thought: str
    answer: str


def history_text(history: list[HistoryStep]) -> str:
    """Show earlier rounds, oldest first, so that each round only adds to the end of the text."""
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


def titled_texts(texts: list[TitledText]) -> str:
    """Show texts under their titles, separated by blank lines."""
    return "\n\n".join(f"Title: {text['title']}\n{text['text']}" for text in texts) or "(none)"


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

INTEGRATE = Prompt(
    name="integrate",
    instructions="""\
You collect facts, step by step, until a question can be answered. In each step you see the original question, the \
earlier steps, the current query, and candidate facts that were found for it, each a triple [head, relation, tail].
1. thought: say briefly which candidates help with the original question, given what was kept in earlier steps, and \
whether all kept facts together now answer it. If not, say what is still missing. Use only the facts shown.
2. facts: copy the candidates that help, unchanged. Keep every line of reasoning that is still possible, not only the \
likeliest. If none helps, return an empty list.
3. question: if something is missing, ask for it in one short question that can be searched for on its own: put the \
names found so far in place of descriptions, and do not repeat an earlier query. If the kept facts are enough, return \
null.

Reply with one JSON object and nothing else:
{"thought": "...", "facts": [["head", "relation", "tail"], ...], "question": "..." or null}

Example
Question: In which country was the architect of the Tolmar Bridge born?

(this is the first step)

Current query: In which country was the architect of the Tolmar Bridge born?
Candidate facts:
["Tolmar Bridge", "spans", "River Ister"]
["Tolmar Bridge", "designed by", "Ada Renk"]
["Tolmar", "is", "market town"]
Reply: {"thought": "The bridge was designed by Ada Renk. Where she was born is not given yet.", "facts": \
[["Tolmar Bridge", "designed by", "Ada Renk"]], "question": "In which country was Ada Renk born?"}""",
    request="""\
Question: {question}

{history}

Current query: {query}
Candidate facts:
{facts}""",
    reply=Integration,
    show={"facts": triple_lines, "history": history_text},
)

_ANSWER = """\
You answer a question from {what} and from nothing else.
- thought: reason step by step, naming the {items} you use.
- answer: the answer alone, as short as possible: a name, a date, a number, yes or no; no sentence, no explanation. If \
the {items} do not contain what is needed, the answer is exactly: unanswerable

Reply with one JSON object and nothing else:
{{"thought": "...", "answer": "..."}}

Example
{example}
Question: Which country does the island that the Halden Ferry serves belong to?
Reply: {{"thought": "The Halden Ferry serves the island of Kell. Kell belongs to Norrland.", "answer": "Norrland"}}

Example
{example}
Question: Who is the captain of the Halden Ferry?
Reply: {{"thought": "The {items} tell where the Halden Ferry goes but not who its captain is.", "answer": \
"unanswerable"}}"""

ANSWER_FROM_TRIPLES = Prompt(
    name="answer_from_triples",
    instructions=_ANSWER.format(
        what="facts given as triples [head, relation, tail]",
        items="facts",
        example="""\
Facts:
["Halden Ferry", "links Orsby with", "Kell"]
["Kell", "is an island of", "Norrland"]""",
    ),
    request="Facts:\n{triples}\n\nQuestion: {question}",
    reply=Answer,
    show={"triples": triple_lines},
)

ANSWER_FROM_SENTENCES = Prompt(
    name="answer_from_sentences",
    instructions=_ANSWER.format(
        what="sentences, each under the title of the document it is taken from",
        items="sentences",
        example="""\
Title: Halden Ferry
It links Orsby with Kell.

Title: Kell
Kell is an island off the coast of Norrland, to which it belongs.""",
    ),
    request="{sentences}\n\nQuestion: {question}",
    reply=Answer,
    show={"sentences": titled_texts},
)

ANSWER_FROM_PASSAGES = Prompt(
    name="answer_from_passages",
    instructions=_ANSWER.format(
        what="passages, each under its title",
        items="passages",
        example="""\
Title: Halden Ferry
The Halden Ferry has run since 1911. It links Orsby with Kell and carries 120 passengers.

Title: Kell
Kell is an island known for its lighthouse. It lies off the coast of Norrland, to which it belongs.""",
    ),
    request="{passages}\n\nQuestion: {question}",
    reply=Answer,
    show={"passages": titled_texts},
)
