"""Runs a graph in a test: the visited nodes, the result, and the requests to the model."""

import json
from collections.abc import AsyncIterator, Mapping, Sequence
from typing import Any

from fakes import ScriptedModel

from langgraph_rag.records import Record
from langgraph_rag.tools.facts.extraction import Reading


class TableExtractor:
    """Reads each passage's triples off a table."""

    version = "table"

    def __init__(self, triples: Mapping[str, list[list[str]]]) -> None:
        self.triples = triples

    async def extract(self, passages: Sequence[Record]) -> AsyncIterator[list[Reading]]:
        yield [(passage["id"], self.triples.get(passage["id"], [])) for passage in passages]


def visited(builder: Any, question: str, context: Mapping[str, Any] | None = None) -> tuple[list[str], dict[str, Any]]:
    """Return the nodes in the order they ran, and the result."""
    graph = builder.compile()
    nodes: list[str] = []
    result: dict[str, Any] = {}
    for mode, chunk in graph.stream(
        {"question": question}, context=context, stream_mode=["updates", "values"], output_keys=graph.output_channels
    ):
        if mode == "updates":
            nodes += chunk
        else:
            result = chunk
    return nodes, result


def values(model: ScriptedModel, prompt: str) -> list[dict[str, Any]]:
    """Return the values of each request with a prompt."""
    asked = [messages[1].response_metadata["langgraph_rag"] for messages in model.received]
    return [request["values"] for request in asked if request["prompt"] == prompt]


def say(answer: str) -> str:
    """Write a reader's reply."""
    return json.dumps({"thought": "So it is.", "answer": answer})
