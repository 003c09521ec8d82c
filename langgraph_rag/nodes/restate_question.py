"""Rewrites a follow-up question so that it can be understood without the conversation."""

from dataclasses import dataclass
from typing import Any

from langchain_core.messages import AIMessage, AnyMessage, HumanMessage

from langgraph_rag.context import context
from langgraph_rag.errors import QuestionError
from langgraph_rag.llm import ask
from langgraph_rag.models.bindings import ChatModel
from langgraph_rag.nodes.node import emit
from langgraph_rag.nodes.receive_question import QuestionInput, checked_question, initial_state
from langgraph_rag.nodes.take_message import MessagesInput, last_question, text_of
from langgraph_rag.prompts.conversation import RESTATE_QUESTION, Restated, Utterance
from langgraph_rag.prompts.prompt import Prompt
from langgraph_rag.refusals import asks_nothing

_LOOKED_BACK = 6  # utterances, three turns


class RestateQuestionInput(MessagesInput, QuestionInput):
    """The conversation and its last question."""


@dataclass(frozen=True)
class RestateQuestion:
    """Ask for a question that needs no conversation; the first question stays as it is.

    `state` is the state of the graph.
    """

    llm: ChatModel
    state: type
    prompt: Prompt[Restated] = RESTATE_QUESTION

    async def __call__(self, state: RestateQuestionInput) -> dict[str, Any]:
        """Return the question, also as the first query if the state has one."""
        conversation = _said_before(state["messages"])[-_LOOKED_BACK:]
        if not conversation:
            return {}
        reply = await ask(self.llm, self.prompt, conversation=conversation, question=state["question"])
        restated = _usable(reply.question)
        question = restated or state["question"]
        others = _named_before(reply.others, conversation) if restated != state["question"] else []
        emit("restate_question", asked=state["question"], question=question, understood=bool(restated), others=others)
        return dict.fromkeys(initial_state(self.state).keys() & {"question", "query"}, question)


def _usable(question: str) -> str:
    """Return the question in a reply; empty if there is none that can be asked."""
    try:
        return "" if asks_nothing(question) else checked_question(question)
    except QuestionError:
        return ""


def _named_before(others: list[str], conversation: list[Utterance]) -> list[str]:
    """Return those of the other meanings that were named in the conversation, each once."""
    said = " ".join(utterance["text"] for utterance in conversation).casefold()
    return [other for other in dict.fromkeys(others) if other and other.casefold() in said]


def _said_before(messages: list[AnyMessage]) -> list[Utterance]:
    """Return the messages before the last question, each truncated to the maximum length of a question."""
    longest = context().max_question_chars
    said = []
    for message in messages:
        if message is last_question(messages):
            break
        if isinstance(message, HumanMessage | AIMessage) and (text := text_of(message)):
            speaker = "Person" if isinstance(message, HumanMessage) else "Assistant"
            said.append(Utterance(speaker=speaker, text=text[:longest]))
    return said
