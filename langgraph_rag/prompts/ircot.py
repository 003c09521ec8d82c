"""The prompt of IRCoT (Trivedi et al. 2023): one more sentence of a chain of thought."""

from langgraph_rag.prompts.answering import titled_texts
from langgraph_rag.prompts.prompt import Prompt, PromptReply


class Thought(PromptReply):
    """The next sentence of the reasoning."""

    sentence: str
    unasked = {"sentence": ""}


def thought_lines(thoughts: list[str]) -> str:
    """Show the sentences so far, one to a line."""
    return "\n".join(thoughts) or "(none yet)"


NEXT_THOUGHT = Prompt(
    name="next_thought",
    instructions="""\
You answer a question by reasoning, one sentence at a time, from passages under the titles of their documents. Write \
the next sentence only; more passages are looked up with it. Reply with JSON only, as in the examples.
- A sentence states one fact from the passages that leads towards the answer, and names what it is about. If the next \
fact is not in them, say what has to be found out, without inventing it. Do not repeat an earlier sentence.
- Once the reasoning gives the answer, the sentence is: So the answer is: ... (the answer alone). Only if \
what is missing was looked up in vain and nothing else leads there, it is: So the answer is: unknown.

Example of a first step
Title: Mill Bridge
It was designed by Ada Moss.

Question: In which country was the architect of Mill Bridge born?
Reasoning so far:
(none yet)
Reply: {"sentence": "Mill Bridge was designed by Ada Moss."}

Example of a last step
Title: Ada Moss
She was born in Bergen, Norway.

Question: In which country was the architect of Mill Bridge born?
Reasoning so far:
Mill Bridge was designed by Ada Moss.
Ada Moss was born in Bergen, Norway.
Reply: {"sentence": "So the answer is: Norway."}""",
    request="{passages}\n\nQuestion: {question}\nReasoning so far:\n{thoughts}",
    reply=Thought,
    shortens="passages",
    show={"passages": titled_texts, "thoughts": thought_lines},
)
