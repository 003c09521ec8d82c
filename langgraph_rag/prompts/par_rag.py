"""Prompts of PAR RAG (Zhang et al. 2025, appendix A.4): plan, act, review, refine, and the final answer."""

import re
from typing import Annotated, Literal

from pydantic import BeforeValidator, WithJsonSchema, field_validator, model_validator
from typing_extensions import TypedDict

from langgraph_rag.prompts.answering import ANSWER_RULE, JSON_ONLY, Answer, TitledText
from langgraph_rag.prompts.prompt import Prompt, PromptReply, first_half, last_half

_FOOTNOTE = re.compile(r"\[([1-9]\d?)\]")

Action = Literal["retrieve", "answer"]
Standing = Literal["PASS", "REVISED", "UNCONFIDENT", "QUOTED", "NOT REVIEWED"]


class PlanStep(TypedDict):
    """A step of a plan: why it is taken (`thought`), what it asks (`question`), and its `action`.

    The action "retrieve" retrieves passages for the question; "answer" answers it from what is known by then. "#1" in a
    question stands for what the first step finds.
    """

    thought: str
    question: str
    action: Action


class Trajectory(TypedDict):
    """A `question` that was acted on, its `answer`, the review's `status`, and the sentences it cites (`sources`).

    `short` is the name, date or number in the answer that was asked for; empty if it is not known. `status` is "PASS",
    "REVISED", "UNCONFIDENT", "QUOTED" (it stands in its sources, and needs no review) or "NOT REVIEWED". `place` is the
    position of its step in the plan; a question asked because of doubt has the place of the doubted one.
    """

    place: int
    question: str
    answer: str
    short: str
    status: Standing
    sources: list[TitledText]


class StepReply(PromptReply):
    """A step as a model writes it."""

    thought: str = ""
    question: str
    action: Action = "retrieve"
    unsaid = {"action": "retrieve"}

    @field_validator("action", mode="before")
    @classmethod
    def _lower(cls, value: object) -> object:
        return value.strip(" .").lower() if isinstance(value, str) else value


def _readable_steps(given: object) -> object:
    """Leave out steps without a question, unless none has one. A text is a question; an unknown action retrieves."""
    steps = [{"question": step} if isinstance(step, str) else step for step in given] if isinstance(given, list) else []
    asking = [step for step in steps if isinstance(step, dict) and isinstance(step.get("question"), str)]
    actions = [str(step.get("action")).strip(" .").lower() for step in asking]
    known = ["answer" if action == "answer" else "retrieve" for action in actions]
    return [{**step, "action": action} for step, action in zip(asking, known, strict=True)] or given


class Plan(PromptReply):
    """The steps that lead to the answer, in order."""

    steps: Annotated[list[StepReply], BeforeValidator(_readable_steps)]
    unasked = {"steps": []}
    dispensable = True


class CitedAnswer(PromptReply):
    """An answer with the numbers of its sources in square brackets.

    `short` is the name, date or number in it; `settled` says that the whole question can be answered now.
    """

    answer: str
    short: str = ""
    settled: bool = False
    unasked = {"answer": "unknown"}


class Reviewed(PromptReply):
    """The result of a review: `answer` belongs to REVISED, `question` to UNCONFIDENT."""

    status: Annotated[Standing, WithJsonSchema({"enum": ["PASS", "REVISED", "UNCONFIDENT"], "type": "string"})]
    answer: str | None = None
    question: str | None = None
    unasked = {"status": "NOT REVIEWED"}
    dispensable = True

    @field_validator("status", mode="before")
    @classmethod
    def _upper(cls, value: object) -> object:
        return value.strip(" .").upper() if isinstance(value, str) else value

    @model_validator(mode="before")
    @classmethod
    def _by_its_name(cls, given: object) -> object:
        """Refuse a reply whose answer or question is missing and may be there by another name."""
        if isinstance(given, dict) and not given.keys() <= cls.model_fields.keys():
            needed = {"REVISED": "answer", "UNCONFIDENT": "question"}.get(str(cls._upper(given.get("status"))))
            if needed and needed not in given:
                raise ValueError(f"{given['status']} needs the field {needed!r}")
        return given


class Refined(PromptReply):
    """The next question, made more precise."""

    question: str
    unasked = {"question": ""}
    dispensable = True


def numbered(sources: list[TitledText]) -> str:
    """Show sources by their numbers, from 1, so that no text looks like two or cites another one."""
    shown = (_own_lines(_titled(source), len(sources)) for source in sources)
    return "\n".join(f"[{number}] {text}" for number, text in enumerate(shown, start=1)) or "(none)"


def _own_lines(text: str, sources: int) -> str:
    """Return a text with further lines indented, and numbers of sources, such as footnote marks, in round brackets."""
    lines = "\n  ".join(line for line in text.splitlines() if line.strip())
    return _FOOTNOTE.sub(lambda mark: f"({mark[1]})" if int(mark[1]) <= sources else mark[0], lines)


def trajectory_text(trajectories: list[Trajectory]) -> str:
    """Show questions with their answers; doubted answers are marked."""
    return "\n".join(map(_trajectory_lines, trajectories)) or "(none)"


def _trajectory_lines(trajectory: Trajectory) -> str:
    doubt = " (unconfirmed)" if trajectory["status"] == "UNCONFIDENT" else ""
    sources = [f"  {_titled(source)}" for source in trajectory["sources"]]
    return "\n".join([f"Q: {trajectory['question']}", f"A: {trajectory['answer']}{doubt}", *sources])


def taken_text(trajectories: list[Trajectory]) -> str:
    """Show the steps of a plan that were taken, with their numbers and what they found."""
    return "\n".join(f"#{t['place'] + 1} {t['question']}\n{t['answer']}" for t in trajectories) or "(none)"


def fewer_findings(trajectories: list[Trajectory]) -> list[Trajectory]:
    """Keep the first half of the sentences of each step; if none has more than one, the newer half of the steps."""
    fewer = [Trajectory({**trajectory, "sources": first_half(trajectory["sources"])}) for trajectory in trajectories]
    return fewer if fewer != trajectories else last_half(trajectories)


def _titled(source: TitledText) -> str:
    """Return a text with its title before it, unless it begins with the words of the title."""
    title, text = source["title"], source["text"]
    return text if not title or re.match(rf"{re.escape(title)}(?!\w)", text) else f"{title}: {text}"


_ACTION = """\
- action: "retrieve" to look it up, "answer" only where a later step needs earlier answers compared or combined"""

PLAN = Prompt(
    name="plan",
    instructions=f"""\
Plan how to answer a question by looking things up: split it into the fewest sub-questions, one for each fact; what \
they find is put together afterwards. A simple question is one step. Sides of a comparison are looked up each on its \
own; a side that is only described is identified first. {JSON_ONLY}
- thought: what the step is for, in a few words
- question: can be searched for on its own: names in full, never "he" or "that city". For what an earlier step finds, \
write # and the number of that step. Steps without # are taken at the same time.
{_ACTION}

Question: Who is older, the architect of Mill Bridge or Jon Hale?
Reply: {{"steps": [{{"thought": "find the architect", "question": "Who was the architect of Mill Bridge?", "action": \
"retrieve"}}, {{"thought": "one birth", "question": "When was #1 born?", "action": "retrieve"}}, {{"thought": \
"other birth", "question": "When was Jon Hale born?", "action": "retrieve"}}]}}""",
    request="At most {most} steps.\n\nQuestion: {question}",
    reply=Plan,
)

PLAN_ANEW = Prompt(
    name="plan_anew",
    instructions=f"""\
A plan to answer a question by looking things up came to a dead end. You see its steps and what they found. Write the \
steps that are still needed: find what is unknown by another way, such as by another name, from the other end, or by \
what leads there. None if the steps found enough, or no way is left. {JSON_ONLY}
- thought: what the step is for, in a few words
- question: can be searched for on its own: names in full, in other words than before. For what an earlier or a new \
step finds, write # and its number; numbers go on.
{_ACTION}

#1 Who was the architect of Mill Bridge?
unknown; Mill Bridge crosses the Orle.

Question: When was the architect of Mill Bridge born?
Reply: {{"steps": [{{"thought": "from the other end", "question": "Which architect built bridges over the Orle?", \
"action": "retrieve"}}, {{"thought": "birth", "question": "When was #2 born?", "action": "retrieve"}}]}}""",
    request="{found}\n\nAt most {most} steps.\n\nQuestion: {question}",
    reply=Plan,
    shortens="found",
    shorter=last_half,
    show={"found": taken_text},
)

PLAN_IN_ORDER = Prompt(
    name="plan_in_order",
    instructions=f"""\
Plan how to answer a question by looking things up: split it into the fewest sub-questions, one for each fact, in \
order; what they find is put together afterwards. A simple question is one step. A comparison looks up one side to its \
end, then the other; a side that is only described is identified first. {JSON_ONLY}
- thought: what the step is for, in a few words
- question: can be searched for on its own, with names and descriptions in full, never "he" or "that city"; what \
the step before finds will be put in for a description
{_ACTION}

Question: Who is older, the architect of Mill Bridge or Jon Hale?
Reply: {{"steps": [{{"thought": "find the architect", "question": "Who was the architect of Mill Bridge?", "action": \
"retrieve"}}, {{"thought": "one birth", "question": "When was the architect of Mill Bridge born?", "action": \
"retrieve"}}, {{"thought": "other birth", "question": "When was Jon Hale born?", "action": "retrieve"}}]}}""",
    request="At most {most} steps.\n\nQuestion: {question}",
    reply=Plan,
)

ACT = Prompt(
    name="act",
    instructions="""\
A question is answered step by step. Answer the step from the numbered sources alone. Reply with JSON only, as in the \
examples.
- answer: one short sentence that names what it is about, with the number of each source used in square brackets; if \
they do not tell, "unknown; " and what comes closest, if anything. Where sources differ, give both. If they also tell \
the answer to the whole question, a second such sentence.
- short: the name, date or number in it that the step asks for, copied; "" if unknown
- settled: true only if nothing of the whole question is open any more

[1] Mill is a town.
[2] Mill Bridge: It was designed by Ada Moss.

Whole question: In which country was the architect of Mill Bridge born?
Found before:
(none)
Step: Who was the architect of Mill Bridge?
Reply: {"answer": "Ada Moss was the architect of Mill Bridge [2].", "short": "Ada Moss", "settled": false}

Step: When did Mill Bridge open?
Reply: {"answer": "unknown; Ada Moss designed Mill Bridge [2].", "short": "", "settled": false}""",
    request="{sources}\n\nWhole question: {whole}\nFound before:\n{found}\nStep: {question}",
    reply=CitedAnswer,
    shortens="sources",
    show={"sources": numbered, "found": trajectory_text},
)

ACT_IN_ORDER = Prompt(
    name="act_in_order",
    instructions="""\
Answer a question from the numbered sources alone, in one short sentence that names what it is about, with the number \
of each source used in square brackets. If they do not tell, begin with "unknown; " and add what comes closest, if \
anything. Reply with JSON only, as in the examples.

[1] Mill is a town.
[2] Mill Bridge: It was designed by Ada Moss.

Question: Who was the architect of Mill Bridge?
Reply: {"answer": "Ada Moss was the architect of Mill Bridge [2]."}

Question: When did Mill Bridge open?
Reply: {"answer": "unknown; Ada Moss designed Mill Bridge [2]."}""",
    request="{sources}\n\nQuestion: {question}",
    reply=CitedAnswer,
    shortens="sources",
    show={"sources": numbered},
)

REVIEW = Prompt(
    name="review",
    instructions="""\
Check the answer to a question against numbered background sentences, picked automatically: some do not matter. \
Reply with JSON only, as in the examples.
- status PASS: the answer fits the question, and some sentence bears out what was asked for, in whatever words; what \
else the answer says does not matter; or it is unknown, and the background does not help
- status REVISED: the background gives a better answer, or one to what was unknown, perhaps by several sentences \
together; answer: that one, short, with sentence numbers in square brackets
- status UNCONFIDENT: no sentence bears out what was asked for, or only one about another of the same name; or the \
answer is unknown and the background shows where to look; question: a new short one, searchable on its own, that would \
settle it

[1] Mill is a town.
[2] Ada Moss: She was born in Bergen and grew up in Oslo.

Question: Where was Ada Moss born?
Answer: Ada Moss was born in Oslo.
Reply: {"status": "REVISED", "answer": "Ada Moss was born in Bergen [2]."}

Question: Where was Ada Moss born?
Answer: She was born in Bergen.
Reply: {"status": "PASS"}

Question: In which country was Ada Moss born?
Answer: unknown; Ada Moss was born in Bergen.
Reply: {"status": "UNCONFIDENT", "question": "In which country is Bergen?"}""",
    request="{sources}\n\nQuestion: {question}\nAnswer: {answer}",
    reply=Reviewed,
    shortens="sources",
    show={"sources": numbered},
)

REFINE = Prompt(
    name="refine",
    instructions="""\
Make the next question of a plan more precise with what the plan's steps before it found (Q, A). Where an answer tells \
what a description in the next question stands for, put the name, date or number found in place of the whole \
description, and change nothing else. Where the next question is about something else, repeat it. Do not answer it. \
Reply with JSON only, as in the examples.

Original question: In which year did the architect of Mill Bridge leave her birthplace?
Q: Who was the architect of Mill Bridge?
A: Ada Moss was its architect.
Q: In which town was Ada Moss born?
A: Ada Moss was born in Bergen.
Next question: In which year did the architect of Mill Bridge leave her birthplace?
Reply: {"question": "In which year did Ada Moss leave Bergen?"}

Original question: Who is older, the architect of Mill Bridge or the owner of Rose Tower?
Q: Who is the owner of Rose Tower?
A: Jon Hale is the owner of Rose Tower.
Next question: When was the architect of Mill Bridge born?
Reply: {"question": "When was the architect of Mill Bridge born?"}""",
    request="Original question: {question}\n{found}\nNext question: {following}",
    reply=Refined,
    show={"found": trajectory_text},
)

ANSWER_FROM_TRAJECTORIES = Prompt(
    name="answer_from_trajectories",
    instructions=f"""\
Answer the question. Use only the earlier questions with their answers (Q, A) and the sentences found for each; infer, \
but do not guess. An answer marked unconfirmed counts as far as the sentences bear it out. {JSON_ONLY}
- thought: your reasoning, step by step
{ANSWER_RULE}

Example
Q: Who was the architect of Mill Bridge?
A: Ada Moss was its architect.
  Mill Bridge: It was designed by Ada Moss.
Q: In which country was Ada Moss born?
A: Denmark (unconfirmed)
  Ada Moss: She was born in Bergen, Norway.

Question: In which country was the architect of Mill Bridge born?
Reply: {{"thought": "The architect Ada Moss was born in Bergen, Norway.", "answer": "Norway"}}""",
    request="{trajectories}\n\nQuestion: {question}",
    reply=Answer,
    shortens="trajectories",
    shorter=fewer_findings,
    show={"trajectories": trajectory_text},
)
