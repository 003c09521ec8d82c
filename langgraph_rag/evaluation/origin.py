"""Where figures come from: what was asked, of what, and with which version of this package."""

from functools import cache
from importlib import metadata
from pathlib import Path
from typing import Any

from typing_extensions import TypedDict


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
