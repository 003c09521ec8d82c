"""A run that goes on where it stopped, a plan that a person edits, a run forked from an earlier step."""

import sqlite3
import tempfile
from pathlib import Path
from typing import Any

from langgraph.checkpoint.sqlite import SqliteSaver
from langgraph.types import Command
from sample import open_sample

from langgraph_rag import create_cirag, create_par_rag, load_model, strict_serializer

QUESTION = {"question": "Did Nessa Palliver and Sunniva Lockhaven go to the same school?"}


def main() -> None:
    """Keep checkpoints in a file and make use of them."""
    kb, llm = open_sample(), load_model("offline")
    file = Path(tempfile.mkdtemp()) / "checkpoints.sqlite"
    saver = SqliteSaver(sqlite3.connect(file, check_same_thread=False), serde=strict_serializer())

    cirag: Any = create_cirag(llm, kb).compile(checkpointer=saver, interrupt_before=["integrate"])
    thread: Any = {"configurable": {"thread_id": "cirag"}}
    cirag.invoke(QUESTION, thread, durability="sync")  # stops, as a killed process would, before a node
    cirag = create_cirag(llm, kb).compile(checkpointer=saver)
    print("resumed:", cirag.invoke(None, thread, durability="sync")["answer"])

    earlier = [state for state in cirag.get_state_history(thread) if state.next == ("integrate",)][-1]
    forked = cirag.update_state(earlier.config, {"candidates": earlier.values["candidates"][:3]})
    print("forked with only three candidates:", cirag.invoke(None, forked)["answer"])

    par_rag: Any = create_par_rag(llm, kb, approve_plan=True).compile(checkpointer=saver)
    thread = {"configurable": {"thread_id": "par_rag"}}
    stopped = par_rag.invoke(QUESTION, thread, durability="sync")
    print("plan:", [step["question"] for step in stopped["__interrupt__"][0].value["plan"]])
    edited = ["To which school did Nessa Palliver go?", "To which school did Sunniva Lockhaven go?"]
    result = par_rag.invoke(Command(resume=edited), thread)
    print("answers to the edited plan:", [step["answer"] for step in result["trajectories"]])
    kb.close()


if __name__ == "__main__":
    main()
