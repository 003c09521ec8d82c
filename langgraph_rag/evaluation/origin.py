"""The origin of scores: questions, knowledge base, settings, prompts and version of this package."""

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
    """How scores were made; files and folders by name without their paths, because reports are shared.

    `settings` are those of the run-time context. `judge` is None without a judge. `versions` of this package are those
    that started the runs and the one that made the report. `passages` tells their number, embedder and extractor
    (`KnowledgeBase.fingerprint`). `at_once` is the number of questions asked at once. `date` is the day of the report,
    as YYYY-MM-DD.
    """

    model: str
    knowledge_base: str
    passages: str
    questions: str
    at_once: int
    settings: dict[str, Any]
    judge: str | None
    versions: list[str]
    date: str


class Beginning(TypedDict):
    """How a run was started, besides its configuration; it may continue with other values, with a warning.

    `libraries` maps names to versions, including Python's. `prompts` is a digest of the graph's steps and their
    prompts, empty if the graph is not of this package. `begun` is the day, as YYYY-MM-DD.
    """

    version: str
    libraries: dict[str, str]
    prompts: str
    begun: str


def beginning(graph: object) -> Beginning:
    """Return the values for a run of a compiled graph that starts now."""
    return Beginning(
        version=this_version(), libraries=_libraries(), prompts=_digest(graph), begun=date.today().isoformat()
    )


@cache  # reads files
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


@cache  # reads a file
def this_version() -> str:
    """Return the version of this package."""
    return metadata.version("langgraph-rag")


def model_by_name(model: str) -> str:
    """Return the name of a model; of an absolute path only the last part.

    >>> model_by_name("transformers:/home/ada/models/small"), model_by_name("vllm:Qwen/Qwen3-8B")
    ('transformers:small', 'vllm:Qwen/Qwen3-8B')
    """
    kind, colon, name = model.partition(":")
    return f"{kind}{colon}{Path(name).name}" if Path(name).is_absolute() else model


def in_words(origin: Origin) -> str:
    """Return an origin as a sentence, without settings that are left to the methods."""
    settings = ", ".join(f"{name}={value}" for name, value in origin["settings"].items() if value not in (None, ""))
    made = f"Made by langgraph-rag {', '.join(origin['versions'])} on {origin['date']}"
    models = f"model {origin['model']}, judge {origin['judge'] or 'none'}"
    asked = f"knowledge base {origin['knowledge_base']} ({origin['passages']}), questions {origin['questions']}"
    return f"{made}: {models}, {asked}, {origin['at_once']} at once; {settings}."
