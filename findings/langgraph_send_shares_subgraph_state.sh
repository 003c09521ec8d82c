#!/usr/bin/env bash
# langgraph 1.2.24: branches of `Send` to a subgraph compiled with checkpointer=True share one state.
#
# `compile(checkpointer=True)` gives a subgraph a memory of its own that lasts from one run of a thread to the next. One
# would expect each of several branches that `Send` starts side by side to have its own memory, or an error that says
# that they cannot. All are saved under the name of the node instead, so that the last to end overwrites the others. From
# the second run of the thread on, every branch begins with the state of that one: branches for "x" and "yy" continue
# what the branch for "zzz" had found. No warning is logged. Without the argument, or with False, nothing is mixed.
# Source: docs.langchain.com, MULTIPLE_SUBGRAPHS: with checkpointer=True, each call gets a name of its own by its position
# "to prevent conflicts" (an older version of the page advises `Send` for calls side by side). That holds for several
# calls in one node, and not for the branches of Send, which all have the name of the node.
#
# Seen on 30 November 2026 (second run): each of the three branches begins with 'zzz'
#   ['zzz', 'zzz!', 'x', 'x!'], ['zzz', 'zzz!', 'yy', 'yy!'], ['zzz', 'zzz!', 'zzz', 'zzz!']
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet langgraph==1.2.24
cat > "$folder/branches.py" <<'PYTHON'
import asyncio
import operator
from typing import Annotated, TypedDict

from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import END, START, StateGraph
from langgraph.types import Send


class Branch(TypedDict, total=False):
    word: str
    seen: Annotated[list[str], operator.add]


class Whole(TypedDict, total=False):
    found: Annotated[list[list[str]], operator.add]


async def note(state: Branch) -> Branch:
    await asyncio.sleep(0.05 * len(state["word"]))  # "zzz" ends last
    return {"seen": [state["word"], f"{state['word']}!"]}


branch = StateGraph(Branch).add_node("note", note).add_edge(START, "note").add_edge("note", END)


async def second_run(checkpointer: bool | None) -> list[list[str]]:
    compiled = branch.compile(checkpointer=checkpointer)

    async def run(state: Branch) -> Whole:
        return {"found": [(await compiled.ainvoke({"word": state["word"]}))["seen"]]}

    whole = StateGraph(Whole).add_node("run", run).add_edge("run", END)
    whole.add_conditional_edges(START, lambda _: [Send("run", {"word": word}) for word in ("x", "yy", "zzz")], ["run"])
    graph, thread = whole.compile(checkpointer=InMemorySaver()), {"configurable": {"thread_id": "1"}}
    first = await graph.ainvoke({}, thread)
    return (await graph.ainvoke({}, thread))["found"][len(first["found"]) :]


mixed, apart = asyncio.run(second_run(True)), asyncio.run(second_run(None))
print(mixed, apart, sep="\n")
if not all(seen[0] == "zzz" for seen in mixed) or [seen[0] for seen in apart] != ["x", "yy", "zzz"]:
    raise SystemExit(f"expected every branch to begin with 'zzz' only where it has a memory, got {mixed} and {apart}")
PYTHON
"$folder/venv/bin/python" "$folder/branches.py"
echo "as stated: branches of Send share the state of the subgraph"
