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
You answer a question by reasoning step by step, one sentence at a time. You see passages under the titles of their \
documents, the question, and the sentences of your reasoning so far. Write the next sentence only.
- A sentence states one fact that leads towards the answer and names the people, places and things it is about, so \
that it can be used as a search query: more passages are looked up with it before you write the next one.
- Take facts from the passages. If the next fact is not in them, name what it is about and what has to be found out, \
without inventing it. Do not repeat an earlier sentence.
- Once the reasoning gives the answer, the sentence is: So the answer is: ... (with the answer alone after the colon). \
If nothing in the passages leads any further, it is: So the answer is: unknown.

Reply with one JSON object and nothing else:
{"sentence": "..."}

Example of a first step
Title: Tolmar Bridge
The Tolmar Bridge spans the River Ister. It was designed by Ada Renk.

Question: In which country was the architect of the Tolmar Bridge born?
Reasoning so far:
(none yet)
Reply: {"sentence": "The Tolmar Bridge was designed by the architect Ada Renk."}

Example of a last step
Title: Tolmar Bridge
The Tolmar Bridge spans the River Ister. It was designed by Ada Renk.

Title: Ada Renk
Ada Renk was an architect. She was born in Kell in Norrland.

Question: In which country was the architect of the Tolmar Bridge born?
Reasoning so far:
The Tolmar Bridge was designed by the architect Ada Renk.
Ada Renk was born in Kell in Norrland.
Reply: {"sentence": "So the answer is: Norrland."}""",
    request="{passages}\n\nQuestion: {question}\nReasoning so far:\n{thoughts}",
    reply=Thought,
    shortens="passages",
    show={"passages": titled_texts, "thoughts": thought_lines},
)
