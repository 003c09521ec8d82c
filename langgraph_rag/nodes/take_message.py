"""Takes the question from a conversation."""

from dataclasses import dataclass
from typing import Annotated, Any

from langchain_core.messages import AnyMessage, HumanMessage
from langgraph.graph.message import add_messages
from typing_extensions import TypedDict

from langgraph_rag.characters import is_blank, is_text
from langgraph_rag.errors import QuestionError
from langgraph_rag.nodes.receive_question import initial_state


class MessagesInput(TypedDict):
    """The conversation; on a thread, only the new messages."""

    messages: Annotated[list[AnyMessage], add_messages]


def last_question(messages: list[AnyMessage]) -> HumanMessage | None:
    """Return the last human message."""
    return next((message for message in reversed(messages) if isinstance(message, HumanMessage)), None)


def text_of(message: AnyMessage) -> str:
    """Return the text of a message; each block of text becomes a line."""
    return "\n".join(block.get("text") or "" for block in message.content_blocks if block["type"] == "text")


@dataclass(frozen=True)
class TakeMessage:
    """Use the last human message as the question."""

    state: type

    async def __call__(self, state: MessagesInput) -> dict[str, Any]:
        """Return the initial state with the text of the message as the question."""
        message = last_question(state.get("messages") or [])
        if message is None:
            raise QuestionError("expected messages with one of a person (type human), got none")
        question = text_of(message)
        if is_text(question) and is_blank(question):
            kinds = ", ".join(dict.fromkeys(block["type"] for block in message.content_blocks)) or "nothing"
            got = repr(question)[:200] if question else kinds
            raise QuestionError(f"expected text in the last message of a person, got {got}")
        return {**initial_state(self.state), "question": question}
