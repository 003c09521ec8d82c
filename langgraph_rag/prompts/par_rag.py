"""Prompts of PAR RAG (Zhang et al. 2025, appendix A.4): plan, act, review, refine, and the final answer."""

from typing import Literal

from pydantic import field_validator
from typing_extensions import TypedDict

from langgraph_rag.prompts.answering import ANSWER_RULE, Answer, TitledText
from langgraph_rag.prompts.prompt import Prompt, PromptReply

Action = Literal["retrieve", "answer"]
Status = Literal["PASS", "REVISED", "UNCONFIDENT"]
Standing = Literal["PASS", "REVISED", "UNCONFIDENT", "NOT REVIEWED"]


class PlanStep(TypedDict):
    """A step of a plan: why it is taken, what it asks, and whether anything is retrieved for it."""

    thought: str
    question: str
    action: Action


class Trajectory(TypedDict):
    """A question that was acted on, its answer, what the review made of it, and the sentences it cites.

    `place` is the position of its step in the plan; a question asked because of doubt has the place of the doubted one.
    """

    place: int
    question: str
    answer: str
    status: Standing
    sources: list[TitledText]


class StepReply(PromptReply):
    """A step as a model writes it."""

    thought: str = ""
    question: str
    action: Action = "retrieve"

    @field_validator("action", mode="before")
    @classmethod
    def _lower(cls, value: object) -> object:
        return value.strip().lower() if isinstance(value, str) else value


class Plan(PromptReply):
    """The steps that lead to the answer, in order."""

    steps: list[StepReply]
    unasked = {"steps": []}


class CitedAnswer(PromptReply):
    """An answer with the numbers of its sources in square brackets."""

    answer: str
    unasked = {"answer": "unknown"}


class Reviewed(PromptReply):
    """What a review comes to: `answer` belongs to REVISED, `question` to UNCONFIDENT."""

    status: Status
    answer: str | None = None
    question: str | None = None
    unasked = {"status": "PASS"}

    @field_validator("status", mode="before")
    @classmethod
    def _upper(cls, value: object) -> object:
        return value.strip().upper() if isinstance(value, str) else value


class Refined(PromptReply):
    """The next question, made more precise."""

    question: str
    unasked = {"question": ""}


def numbered(sources: list[TitledText]) -> str:
    """Show sources by their numbers, from 1."""
    lines = [f"[{number}] {source['title']}: {source['text']}" for number, source in enumerate(sources, start=1)]
    return "\n".join(lines) or "(none)"


def trajectory_text(trajectories: list[Trajectory]) -> str:
    """Show questions with their answers; those a review doubted are marked."""
    return "\n".join(map(_trajectory_lines, trajectories)) or "(none)"


def _trajectory_lines(trajectory: Trajectory) -> str:
    doubt = " (unconfirmed)" if trajectory["status"] == "UNCONFIDENT" else ""
    sources = [f"  {source['title']}: {source['text']}" for source in trajectory["sources"]]
    return "\n".join([f"Q: {trajectory['question']}", f"A: {trajectory['answer']}{doubt}", *sources])


PLAN = Prompt(
    name="plan",
    instructions="""\
You plan how to answer a question by looking things up in a collection of documents. Split it into the fewest \
sub-questions, at most six, that are answered one after the other. A simple question is one step.
- Begin with what can be looked up from the question alone; a later step may build on the answers before it.
- Each sub-question asks for one thing and can be searched for on its own: repeat the names and the description \
("the architect of the Tolmar Bridge"), never "he", "it" or "that city".
- A step that needs one answer comes right after the step that finds it. The answer will be put in for the description.
- action: "retrieve" to look something up, "answer" for a step that only compares or combines earlier answers.
- thought: a few words on what the step is for.

Reply with one JSON object and nothing else:
{"steps": [{"thought": "...", "question": "...", "action": "retrieve" or "answer"}, ...]}

Example
Question: In which country was the architect of the Tolmar Bridge born?
Reply: {"steps": [{"thought": "find the architect", "question": "Who was the architect of the Tolmar Bridge?", \
"action": "retrieve"}, {"thought": "find the country", "question": "In which country was the architect of the Tolmar \
Bridge born?", "action": "retrieve"}]}

Example
Question: Which is older, the Halden Ferry or the Tolmar Bridge?
Reply: {"steps": [{"thought": "date of the ferry", "question": "When was the Halden Ferry founded?", "action": \
"retrieve"}, {"thought": "date of the bridge", "question": "When was the Tolmar Bridge built?", "action": "retrieve"}, \
{"thought": "compare", "question": "Which is older, the Halden Ferry or the Tolmar Bridge?", "action": "answer"}]}""",
    request="Question: {question}",
    reply=Plan,
)

ACT = Prompt(
    name="act",
    instructions="""\
You answer a question from numbered sources and from nothing else. Write one short sentence that gives the answer and \
names what it is about. Put the number of each source you use in square brackets behind what you take from it; where \
several say the same, the one that says it most directly is enough. If the sources do not give the answer, begin with \
the word unknown and add, with its number, the one thing in them that comes closest, if there is any.

Reply with one JSON object and nothing else:
{"answer": "..."}

Example
[1] Tolmar: Tolmar is a market town on the River Ister.
[2] Tolmar Bridge: The Tolmar Bridge, designed by Ada Renk, spans the River Ister.

Question: Who was the architect of the Tolmar Bridge?
Reply: {"answer": "Ada Renk was the architect of the Tolmar Bridge [2]."}

With the same sources, the question "When was the Tolmar Bridge built?" gets:
Reply: {"answer": "unknown; the Tolmar Bridge was designed by Ada Renk [2]."}""",
    request="{sources}\n\nQuestion: {question}",
    reply=CitedAnswer,
    shortens="sources",
    show={"sources": numbered},
)

REVIEW = Prompt(
    name="review",
    instructions="""\
You check an answer to a question against numbered background sentences. They were picked automatically: some do not \
matter here, and what is not among them is not thereby wrong.
- status PASS: the answer is what the question asks for, and the background supports it or is silent about it.
- status REVISED: the background shows a better answer, also where the answer was unknown. answer: the better one in a \
short sentence, with the numbers of the sentences it rests on in square brackets.
- status UNCONFIDENT: something in the background casts doubt on the answer, or the answer is unknown and the \
background shows where to look. question: a short question that can be searched \
for on its own and would settle it, worded differently from the question given.

Reply with one JSON object and nothing else; answer and question are null where they do not belong to the status:
{"status": "PASS" or "REVISED" or "UNCONFIDENT", "answer": "..." or null, "question": "..." or null}

Example
[1] Tolmar Bridge: The Tolmar Bridge, designed by Ada Renk, spans the River Ister.
[2] Ada Renk: Ada Renk was born in Orsby and grew up on Kell.

Question: Where was Ada Renk born?
Answer: Ada Renk was born on Kell.
Reply: {"status": "REVISED", "answer": "Ada Renk was born in Orsby [2].", "question": null}

With the same background, the answer "Ada Renk was born in Orsby." gets:
Reply: {"status": "PASS", "answer": null, "question": null}

With the same background, the question "In which country was Ada Renk born?" and the answer "unknown" get:
Reply: {"status": "UNCONFIDENT", "answer": null, "question": "Which country does Orsby belong to?"}""",
    request="{sources}\n\nQuestion: {question}\nAnswer: {answer}",
    reply=Reviewed,
    shortens="sources",
    show={"sources": numbered},
)

REFINE = Prompt(
    name="refine",
    instructions="""\
You make the next question more precise with what was just found out. Put the name, date or number found in the place \
of the description that stands for it, and change nothing else; if nothing in it stands for what was found, repeat it \
as it is. It must still serve to answer the original question. Do not answer it.

Reply with one JSON object and nothing else:
{"question": "..."}

Example
Original question: In which country was the architect of the Tolmar Bridge born?
Q: Who was the architect of the Tolmar Bridge?
A: Ada Renk was the architect of the Tolmar Bridge.
Next question: In which country was the architect of the Tolmar Bridge born?
Reply: {"question": "In which country was Ada Renk born?"}""",
    request="Original question: {question}\n{found}\nNext question: {following}",
    reply=Refined,
    show={"found": trajectory_text},
)

ANSWER_FROM_TRAJECTORIES = Prompt(
    name="answer_from_trajectories",
    instructions="""\
You answer a question from questions and answers that were worked out one after the other (Q and A), each with \
sentences found for it. Use nothing else: plain inferences are allowed, guesses are not. Use an answer that is marked \
unconfirmed only where the sentences bear it out.
- thought: reason step by step, briefly.
"""
    + ANSWER_RULE
    + """

Reply with one JSON object and nothing else:
{"thought": "...", "answer": "..."}

Example
Q: Who was the architect of the Tolmar Bridge?
A: Ada Renk was the architect of the Tolmar Bridge.
  Tolmar Bridge: The Tolmar Bridge, designed by Ada Renk, spans the River Ister.
Q: In which country was Ada Renk born?
A: Ada Renk was born in Kell, Norrland.
  Ada Renk: Ada Renk was born in Kell, Norrland.

Question: In which country was the architect of the Tolmar Bridge born?
Reply: {"thought": "The bridge's architect Ada Renk was born in Kell, which is in Norrland.", "answer": "Norrland"}

With the same answers, the question "When was the Tolmar Bridge built?" gets:
Reply: {"thought": "It is said who designed the bridge, but not when it was built.", "answer": "unanswerable"}""",
    request="{trajectories}\n\nQuestion: {question}",
    reply=Answer,
    show={"trajectories": trajectory_text},
)
