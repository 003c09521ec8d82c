"""Where figures come from: what was asked, of what, by which prompts and with which version of this package."""

import platform
from datetime import date
from functools import cache
from hashlib import sha256
from importlib import metadata
from pathlib import Path
from typing import Any

from typing_extensions import TypedDict

from langgraph_rag.prompts.prompt import Prompt

_LIBRARIES = ("langgraph", "langchain-core", "chromadb")


class Origin(TypedDict):
    """What figures were made with; of files and folders the names alone, as reports are handed on.

    `settings` are those of the run-time context. `judge` is None where there was none. `versions` of this package are
    those that the runs were begun with and the one that made the report; `date` is the day it was made, as YYYY-MM-DD.
    """

    model: str
    knowledge_base: str
    questions: str
    settings: dict[str, Any]
    judge: str | None
    versions: list[str]
    date: str


class Beginning(TypedDict):
    """What a run was begun with, beside its configuration: it may go on with another, and is warned of it.

    `libraries` are versions by name, of Python, too; `prompts` is a digest of the graph's steps and their prompts,
    empty where it is not one of ours; `begun` is the day, as YYYY-MM-DD.
    """

    version: str
    libraries: dict[str, str]
    prompts: str
    begun: str


def beginning(graph: object) -> Beginning:
    """Return what a run of a compiled graph begins with now."""
    return Beginning(
        version=this_version(), libraries=_libraries(), prompts=_digest(graph), begun=date.today().isoformat()
    )


@cache  # they are read from files
def _libraries() -> dict[str, str]:
    return {"python": platform.python_version(), **{name: metadata.version(name) for name in _LIBRARIES}}


def _digest(graph: object) -> str:
    nodes = getattr(getattr(graph, "builder", None), "nodes", {})
    steps = {name: step for name, node in nodes.items() if (step := getattr(node.runnable, "step", None)) is not None}
    told = [(name, type(step).__name__, _texts(step)) for name, step in sorted(steps.items())]
    return sha256(repr(told).encode()).hexdigest()[:16] if told else ""


def _texts(step: object) -> list[tuple[str, str]]:
    return [
        (value.instructions, value.request)
        for value in getattr(step, "__dict__", {}).values()
        if isinstance(value, Prompt)
    ]


@cache  # it is read from a file
def this_version() -> str:
    """Return the version of this package."""
    return metadata.version("langgraph-rag")


def model_by_name(model: str) -> str:
    """Return a model's name, without the folders above it where it is a path.

    >>> model_by_name("transformers:/home/ada/models/small"), model_by_name("vllm:Qwen/Qwen3-8B")
    ('transformers:small', 'vllm:Qwen/Qwen3-8B')
    """
    kind, colon, name = model.partition(":")
    return f"{kind}{colon}{Path(name).name}" if Path(name).is_absolute() else model


def in_words(origin: Origin) -> str:
    """Return an origin as a sentence; settings that are left to the methods are not told."""
    settings = ", ".join(f"{name}={value}" for name, value in origin["settings"].items() if value not in (None, ""))
    made = f"Made by langgraph-rag {', '.join(origin['versions'])} on {origin['date']}"
    models = f"model {origin['model']}, judge {origin['judge'] or 'none'}"
    return f"{made}: {models}, knowledge base {origin['knowledge_base']}, questions {origin['questions']}; {settings}."
