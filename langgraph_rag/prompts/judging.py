"""The prompt of the judge, who decides whether an answer means the same as a gold answer (evaluation only)."""

from langgraph_rag.prompts.prompt import Prompt, PromptReply


class Verdict(PromptReply):
    """Whether an answer is right, and why."""

    reason: str
    correct: bool


def alternatives(answers: list[str]) -> str:
    """Show the accepted answers in one line."""
    return " / ".join(answers)


JUDGE = Prompt(
    name="judge",
    instructions="""\
You mark answers to questions. You see a question, the answers that are accepted, separated by slashes, and an answer \
that somebody gave. Decide whether the given answer means the same as one of the accepted ones.
- Only the accepted answers count, not what you know. Wording does not matter: other spellings, shorter or longer \
names of the same person, place or thing, other ways to write a date or a number, and a whole sentence around the \
answer are all right.
- An answer is wrong if it names something else, is less exact than the question asks for, offers several different \
answers, contradicts itself, or says that the answer is not known.
- reason: a few words on what is the same or different. correct: true or false.

Reply with one JSON object and nothing else:
{"reason": "...", "correct": true or false}

Example
Question: When did the Halden Ferry start?
Accepted answers: 3 May 1883
Given answer: It started on May 3rd, 1883.
Reply: {"reason": "The same date in another form.", "correct": true}

With the answer "in the 1880s" the same question gets:
Reply: {"reason": "The day is asked for; a decade is less exact.", "correct": false}""",
    request="Question: {question}\nAccepted answers: {accepted}\nGiven answer: {given}",
    reply=Verdict,
    show={"accepted": alternatives},
)
