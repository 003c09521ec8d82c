"""The graphs with a `messages` key, for agent-chat-ui, `useStream` and other clients that use messages."""

from typing import Any, get_type_hints

from langgraph.graph import END, START, StateGraph
from langgraph.typing import ContextT
from typing_extensions import TypedDict

from langgraph_rag.arguments import expect
from langgraph_rag.machine import Machine, copy_edges, copy_nodes
from langgraph_rag.models.bindings import ChatModel
from langgraph_rag.nodes.node import Node
from langgraph_rag.nodes.reply import InConversation, Reply
from langgraph_rag.nodes.restate_question import RestateQuestion
from langgraph_rag.nodes.take_message import MessagesInput, TakeMessage
from langgraph_rag.records import Result


class Replied(Result, MessagesInput):
    """The result of a method in a conversation, with the messages, of which the answer is the last."""


def with_messages(
    graph: StateGraph[Any, ContextT, Any, Any], llm: ChatModel | None = None
) -> Machine[Any, ContextT, MessagesInput, Replied]:
    """Return a method's graph with messages as input and output; compile it like the method's own graph.

    The last human message is the question. The answer is added as an AI message, whose `additional_kwargs` have the
    evidence, the passages and the usage; it is streamed with the id of this message. The output also has all other
    fields of the result.

    Args:
        graph: the graph that a `create_*` function returned, not compiled yet.
        llm: the model that rewrites follow-up questions, such as "Where was she born?", so that they can be understood
            without the conversation. Without it, each question is asked as it is.

    Raises:
        TypeError: when `graph` is not a graph, or is compiled.
        ValueError: when a node or an edge cannot be copied; the message names it.
    """
    expect(StateGraph, graph, "a graph that is not compiled yet", "give what create_cirag(llm, kb) returns")
    if "messages" in graph.channels:
        raise ValueError("expected a graph without messages, got one with them: with_messages was called already")
    state = _and_messages(graph.state_schema, "Conversation")
    talking: Machine[Any, ContextT, MessagesInput, Replied] = Machine(
        state,
        context_schema=graph.context_schema,
        input_schema=MessagesInput,
        output_schema=_and_messages(graph.output_schema, "Replied"),
    )
    talking.title = f"{getattr(graph, 'title', Machine.title)} chat"
    talking.add_node("take_message", Node(TakeMessage(graph.state_schema)))
    if private := graph.channels.keys() - state.__annotations__:
        raise ValueError(f"expected nodes that take keys of the state, got some that take {', '.join(sorted(private))}")
    copy_nodes(graph, talking, state, InConversation)
    talking.add_node("reply", Node(Reply()))

    talking.add_edge(START, "take_message")
    begins, ends = {START: "take_message"}, {END: "reply"}
    if llm is not None:
        if "receive_question" not in graph.nodes:
            raise ValueError("expected a graph with a node receive_question, after which a question can be made whole")
        talking.add_node("restate_question", Node(RestateQuestion(llm, graph.state_schema)))
        talking.add_edge("receive_question", "restate_question")
        begins["receive_question"] = "restate_question"
    copy_edges(graph, talking, begins, ends)
    talking.add_edge("reply", END)
    return talking


def _and_messages(schema: type, name: str) -> Any:
    fields = get_type_hints(schema, include_extras=True) | get_type_hints(MessagesInput, include_extras=True)
    return TypedDict(name, fields)  # type: ignore[operator]
