"""The same graphs with a `messages` key, for agent-chat-ui, `useStream` and whatever else talks in messages."""

from typing import Any, get_type_hints

from langgraph.graph import END, START, StateGraph
from langgraph.typing import ContextT
from typing_extensions import TypedDict

from langgraph_rag.arguments import expect
from langgraph_rag.machine import Machine
from langgraph_rag.nodes.node import Node
from langgraph_rag.nodes.reply import InConversation, Reply
from langgraph_rag.nodes.take_message import MessagesInput, TakeMessage
from langgraph_rag.records import Result


class Replied(Result, MessagesInput):
    """What a method returns in a conversation: its result, and the messages with the answer as the last one."""


def with_messages(graph: StateGraph[Any, ContextT, Any, Any]) -> StateGraph[Any, ContextT, MessagesInput, Replied]:
    """Return a method's graph with messages going in and out; compile it as you would the method's own.

    The last message of a person is the question. The answer is added as an AI message, whose `additional_kwargs` have
    the evidence, the passages and the usage; it is streamed under the id that it will have. All other keys of the
    result are there as well. On a thread the earlier turns stay in `messages`, but each question is answered on its
    own: "Where was she born?" is looked up as it stands.

    Args:
        graph: what a `create_*` function returned, not compiled yet.

    Raises:
        TypeError: when it is something else.
    """
    expect(StateGraph, graph, "a graph that is not compiled yet", "give what create_cirag(llm, kb) returns")
    talking: Machine[Any, ContextT, MessagesInput, Replied] = Machine(
        _and_messages(graph.state_schema, "Conversation"),
        context_schema=graph.context_schema,
        input_schema=MessagesInput,
        output_schema=_and_messages(graph.output_schema, "Replied"),
    )
    talking.add_node("take_message", Node(TakeMessage(graph.state_schema)))
    for name, node in graph.nodes.items():
        talking.add_node(name, Node(InConversation(node.runnable.step)))  # type: ignore[union-attr]
    talking.add_node("reply", Node(Reply()))

    ends = {START: "take_message", END: "reply"}
    talking.add_edge(START, "take_message")
    for begin, end in graph.edges:
        talking.add_edge(ends.get(begin, begin), ends.get(end, end))
    for begin, branches in graph.branches.items():
        for branch in branches.values():
            talking.add_conditional_edges(begin, branch.path, branch.ends)
    talking.add_edge("reply", END)
    return talking


def _and_messages(schema: type, name: str) -> Any:
    fields = get_type_hints(schema, include_extras=True) | get_type_hints(MessagesInput, include_extras=True)
    return TypedDict(name, fields)  # type: ignore[operator]
