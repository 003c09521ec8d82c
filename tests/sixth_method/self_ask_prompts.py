"""The prompt of Self-Ask (Press et al. 2023): the next follow-up question, or the final answer."""

from langgraph_rag.prompts.answering import titled_texts
from langgraph_rag.prompts.ircot import Thought, thought_lines
from langgraph_rag.prompts.prompt import Prompt

FOLLOW_UP = Prompt(
    name="follow_up",
    instructions="""\
You answer a question by asking simpler ones. You see passages that were found for the follow-up questions so far, \
the question, and those follow-up questions. Write one sentence: the next follow-up question, with what the passages \
answer put in place of descriptions, or, once nothing more has to be asked, "So the final answer is: ...".

Reply with one JSON object and nothing else:
{"sentence": "..."}

Example
Title: Tolmar Bridge
It was designed by Ada Renk.

Question: In which country was the architect of the Tolmar Bridge born?
Follow-up questions so far:
Who was the architect of the Tolmar Bridge?
Reply: {"sentence": "In which country was Ada Renk born?"}""",
    request="{passages}\n\nQuestion: {question}\nFollow-up questions so far:\n{thoughts}",
    reply=Thought,
    shortens="passages",
    show={"passages": titled_texts, "thoughts": thought_lines},
)
