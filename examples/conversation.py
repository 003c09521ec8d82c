"""A method that talks in messages, with a thread that keeps the turns."""

from typing import Any

from langchain_core.messages import HumanMessage
from langgraph.checkpoint.memory import InMemorySaver
from sample import open_sample

from langgraph_rag import create_par_rag, load_model, with_messages


def main() -> None:
    """Ask two questions on one thread, showing the answers as they are written."""
    kb = open_sample()
    graph: Any = with_messages(create_par_rag(load_model("offline"), kb)).compile(checkpointer=InMemorySaver())
    thread = {"configurable": {"thread_id": "1"}}
    for question in ("Who died later, Ilse Tarrant or Tobin Grell?", "When was Ilse Tarrant born?"):
        print(f"\n{question}\n> ", end="")
        for token, _ in graph.stream({"messages": [HumanMessage(question)]}, thread, stream_mode="messages"):
            print(token.text, end="")
    print()
    for message in graph.get_state(thread).values["messages"]:
        print(message.type, "|", message.text, "|", len(message.additional_kwargs.get("evidence", [])), "sentences")
    kb.close()


if __name__ == "__main__":
    main()
