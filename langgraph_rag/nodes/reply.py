"""Adds the answer to a conversation."""

from dataclasses import dataclass
from typing import Any

from langchain_core.messages import AIMessage, AnyMessage, RemoveMessage
from langchain_core.runnables import RunnableConfig

from langgraph_rag.models.streaming import noting_answers
from langgraph_rag.nodes.node import Node, Update
from langgraph_rag.nodes.take_message import MessagesInput, last_question
from langgraph_rag.records import Result
from langgraph_rag.refusals import is_refusal


class ReplyInput(Result, MessagesInput):
    """The result, and the conversation with the answer as it was streamed."""


def _mark(messages: list[AnyMessage]) -> dict[str, str | None]:
    """Return the metadata that identifies the reply to the last question."""
    question = last_question(messages)
    return {"reply_to": question.id if question else None}


def _replies(messages: list[AnyMessage]) -> list[str]:
    """Return the ids of the replies to the last question."""
    mark = _mark(messages).items()
    return [str(message.id) for message in messages if mark <= message.response_metadata.items()]


class InConversation(Node):
    """A node that adds the answer that its step streamed to the conversation, where `Reply` completes it.

    The message is added immediately, so that clients that follow the state keep showing the streamed text.
    """

    async def ainvoke(self, input: Any, config: RunnableConfig | None = None, **kwargs: Any) -> Update:
        """Run the step and add its answer as a message, which replaces an earlier one to the same question."""
        with noting_answers() as ids:
            update = await super().ainvoke(input, config, **kwargs)
        messages, answer = input.get("messages"), update.get("answer")
        if not (messages and ids and answer):  # parallel steps get no messages
            return update
        earlier = [RemoveMessage(id=id_) for id_ in _replies(messages)]
        reply = AIMessage(answer, id=ids[-1], response_metadata=_mark(messages))
        return {**update, "messages": [*earlier, reply]}


@dataclass(frozen=True)
class Reply:
    """Add or complete the message with the answer; its `additional_kwargs` have the rest of the result.

    `answered` is whether it is an answer.
    """

    async def __call__(self, state: ReplyInput) -> dict[str, Any]:
        """Return the message."""
        messages, answer = state["messages"], state["answer"]
        shown = {
            **{key: state[key] for key in ("supported", "evidence", "passages", "usage")},
            "answered": not is_refusal(answer),
        }
        id_ = next(iter(_replies(messages)), None)
        return {"messages": [AIMessage(answer, id=id_, additional_kwargs=shown, response_metadata=_mark(messages))]}
