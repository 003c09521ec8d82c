"""A method as a node of your own graph."""

import asyncio
from operator import add
from typing import Annotated, Any, NotRequired

from langgraph.graph import END, START, StateGraph
from sample import open_sample
from typing_extensions import TypedDict

from langgraph_rag import Context, create_kirag, load_model

QUESTION = "Who died later, Ilse Tarrant or Tobin Grell?"


class Shared(TypedDict):
    """Has the same keys: the graph itself is the node."""

    question: str
    answer: NotRequired[str]


class Own(TypedDict):
    """Has other keys: a node maps them."""

    task: str
    notes: Annotated[list[str], add]


def main() -> None:
    """Answer a question in both ways."""
    kb = open_sample()
    rag = create_kirag(load_model("offline"), kb).compile()

    same_keys = StateGraph(Shared)
    same_keys.add_node("rag", rag)
    same_keys.add_edge(START, "rag")
    same_keys.add_edge("rag", END)
    print("same keys: ", same_keys.compile().invoke({"question": QUESTION})["answer"])

    async def look_up(state: Own) -> dict[str, Any]:
        found = await rag.ainvoke({"question": state["task"]}, context=Context(max_steps=3))
        return {"notes": [f"{found['answer']} ({len(found['evidence'])} pieces of evidence)"]}

    other_keys = StateGraph(Own)
    other_keys.add_node("look_up", look_up)
    other_keys.add_edge(START, "look_up")
    other_keys.add_edge("look_up", END)
    graph: Any = other_keys.compile()

    async def stream() -> None:
        async for path, mode, chunk in graph.astream(
            {"task": QUESTION, "notes": []}, stream_mode=["custom", "updates"], subgraphs=True
        ):
            if mode == "custom":  # from inside the method
                print("  ", chunk["node"])
            elif not path:
                print("other keys:", chunk["look_up"]["notes"][0])

    asyncio.run(stream())
    kb.close()


if __name__ == "__main__":
    main()
