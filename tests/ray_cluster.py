"""A Ray cluster on this machine for tests and benchmarks, and what its workers can be told to do."""

import os
import time
from collections.abc import Sequence
from pathlib import Path

from fakes import ArithmeticEmbeddings, ScriptedModel

from langgraph_rag.nodes.extract_triples import ModelExtractor
from langgraph_rag.tools.facts.extraction import TripleExtractor


class Told:
    """Makes an embedder that writes down each text, and fails or dies at one if it is told to; it is pickled."""

    def __init__(self, log: Path, *, fails_at: str = "", dies_at: str = "", seconds: float = 0.0) -> None:
        self.log, self.fails_at, self.dies_at, self.seconds = log, fails_at, dies_at, seconds

    def __call__(self) -> ArithmeticEmbeddings:
        return _Told(self)


class _Told(ArithmeticEmbeddings):
    def __init__(self, told: Told) -> None:
        super().__init__()
        self._told = told

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        told = self._told
        for text in texts:
            time.sleep(told.seconds)
            if told.fails_at and told.fails_at in text:
                raise ValueError(f"cannot embed {told.fails_at}")
            if told.dies_at and told.dies_at in text and _first(told.log.with_suffix(".died")):
                os._exit(9)
        with told.log.open("a") as file:
            file.write("".join(f"{text.splitlines()[0]}\n" for text in texts))
        return super().embed_documents(texts)


def _first(mark: Path) -> bool:
    try:
        mark.touch(exist_ok=False)
    except FileExistsError:
        return False
    return True


def scripted_extractor() -> TripleExtractor:
    """Return an extractor by a model that states of each passage that its title is a machine."""
    return ModelExtractor(ScriptedModel.of(_facts))


def _facts(prompt: str, values: object) -> str:
    import json

    passages: Sequence[dict[str, object]] = values["passages"]  # type: ignore[index]
    entries = [
        {"passage": number, "facts": [["1", str(passage["title"]), "is", "engine"]]}
        for number, passage in enumerate(passages, start=1)
    ]
    return json.dumps({"passages": entries})
