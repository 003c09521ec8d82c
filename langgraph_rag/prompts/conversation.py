"""The prompt that rewrites a question so that it can be understood without the conversation."""

from typing_extensions import TypedDict

from langgraph_rag.prompts.prompt import Prompt, PromptReply, last_half


class Utterance(TypedDict):
    """A message of the person or the assistant."""

    speaker: str
    text: str


class Restated(PromptReply):
    """The rewritten question, empty if no model was asked; and what else a word in it may have meant."""

    question: str
    others: list[str] = []
    unasked = {"question": ""}
    dispensable = True


def utterance_lines(conversation: list[Utterance]) -> str:
    """Show messages, each on a line with its speaker."""
    return "\n".join(f"{utterance['speaker']}: {utterance['text']}" for utterance in conversation)


RESTATE_QUESTION = Prompt(
    name="restate_question",
    instructions="""\
You get a conversation and the question that comes next. The question will be looked up in documents by somebody who \
does not see the conversation. Write it so that it can be understood alone. Reply with JSON only, as in the examples.
- Put what is meant in place of words such as "she", "there" or "that film", and complete what is left out.
- Take from the conversation, answers included, what the question leaves open, and nothing else: add no conditions, \
drop none, do not answer it. Leave out thanks and whatever else asks nothing.
- If such a word may mean one of several, take the likeliest, and list the others in "others"; mostly there are none.
- A question that can be understood alone stays as it is, word for word. Keep the language of the question.

Example
Person: Who designed Mill Bridge?
Assistant: Ada Moss

Next question: And where was she born?
Reply: {"question": "Where was Ada Moss born?", "others": []}

Example
Person: When was Mill Bridge opened?
Assistant: 1871
Person: Who designed it?
Assistant: Ada Moss

Next question: What about Hale Bridge?
Reply: {"question": "Who designed Hale Bridge?", "others": []}

Example
Person: Who taught Ada Moss?
Assistant: Eva Lund

Next question: Where did she live?
Reply: {"question": "Where did Eva Lund live?", "others": ["Ada Moss"]}

Example
Person: Who designed Mill Bridge?
Assistant: Ada Moss

Next question: Which river flows through Bergen?
Reply: {"question": "Which river flows through Bergen?", "others": []}""",
    request="{conversation}\n\nNext question: {question}",
    reply=Restated,
    shortens="conversation",
    shorter=last_half,
    show={"conversation": utterance_lines},
)
