"""Put the answer into a conversation."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any

from langchain_core.messages import AIMessage

from langgraph_rag.nodes.take_message import last_question
from langgraph_rag.records import Result
from langgraph_rag.refusals import is_refusal
from langgraph_rag.streaming import streamed_as


def _reply_id(state: Any) -> str | None:
    question = last_question(state.get("messages") or [])
    return f"reply-to-{question.id}" if question else None


@dataclass(frozen=True)
class InConversation:
    """Run a step with its answer, should it give one, streamed as the message that `Reply` will complete.

    The message is added at once: who follows the state sees what was streamed stay there, until `Reply` comes.
    """

    step: Callable[[Any], Awaitable[dict[str, Any]]]

    async def __call__(self, state: Any) -> dict[str, Any]:
        """Return what the step returns, and its answer as a message, unless a later step may find a better one."""
        if (reply_id := _reply_id(state)) is None:  # a parallel step that is sent what it works on
            return await self.step(state)
        with streamed_as(reply_id):
            update = await self.step(state)
        answer = update.get("answer")
        if not answer or is_refusal(answer):
            return update
        return {**update, "messages": [AIMessage(answer, id=reply_id)]}


@dataclass(frozen=True)
class Reply:
    """Add or complete the answer's message; its `additional_kwargs` have the evidence, the passages and the usage."""

    async def __call__(self, state: Result) -> dict[str, Any]:
        """Return the message."""
        shown = {"evidence": state["evidence"], "passages": state["passages"], "usage": state["usage"]}
        return {"messages": [AIMessage(state["answer"], id=_reply_id(state), additional_kwargs=shown)]}
