"""The embedder of a knowledge base: the same one from the first passage on, whoever opens it, and whenever."""

from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import TypeVar

import numpy as np
from langchain_core.embeddings import Embeddings

from langgraph_rag.errors import EmbeddingsMismatchError
from langgraph_rag.tools.embedding.embeddings import SAME_EMBEDDER, embed_queries, embed_texts, name_of
from langgraph_rag.tools.embedding.sentence_embeddings import SentenceEmbeddings
from langgraph_rag.tools.storage.record_store import RecordStore
from langgraph_rag.tools.vectors import Matrix

T = TypeVar("T")

_PROBE = "Which embedder made this knowledge base?"
_PER_CALL = 64  # passages
_NAME, _VECTOR = "embeddings", "embeddings_probe"  # as they are stored


class Embedder:
    """Embeds for a knowledge base, whose vectors must all be of one embedder.

    Args:
        folder: the knowledge base's, for messages.
        embeddings: what embeds.
        records: where it is kept what the knowledge base was made with; while it is empty, nothing.
    """

    def __init__(self, folder: Path, embeddings: Embeddings, records: RecordStore) -> None:
        self._folder, self._records = folder, records
        self.embeddings, self.name = embeddings, name_of(embeddings)
        model = embeddings if isinstance(embeddings, SentenceEmbeddings) else None
        self._name_tells = self.name != type(embeddings).__name__ and not (model and model.in_folder)
        self._from_hub = model is not None and model.from_hub
        self._dimensions: int | None = None  # of the first vectors that were returned, or of those that are stored
        self._checked = False

    @property
    def made_with(self) -> str:
        """The name of the embedder that the knowledge base was made with; of this one while it is empty."""
        return self._records.meta(_NAME) or self.name

    @property
    def mark(self) -> list[float]:
        """What the embedder made of one sentence, to a tenth: it tells two of one name apart; [] of an empty folder."""
        stored = self._records.meta(_VECTOR)
        return [round(float(x), 1) + 0.0 for x in stored.split(",")] if stored else []  # no "-0.0"

    def texts(self, texts: Sequence[str]) -> Matrix:
        """Return the vectors of passages or triples, of unit length; shape: texts x dimensions."""
        self.check()
        return self._alike(embed_texts(self.embeddings, texts))

    def queries(self, queries: Sequence[str]) -> Matrix:
        """Return the vectors of queries, of unit length; shape: queries x dimensions."""
        self.check()
        return self._alike(embed_queries(self.embeddings, queries))

    def divided(self, items: Iterator[T]) -> tuple[Iterator[list[T]], int]:
        """Divide what is to be embedded into parts for one call of `texts` each; tell how many calls to make at once.

        A model on this processor gets one passage in each thread, which takes no longer than batches do and leaves
        least undone by a kill; others, to which each call is a journey, get as many as a server takes at once.
        """
        threads = self.embeddings.threads if isinstance(self.embeddings, SentenceEmbeddings) else 0
        size = 1 if threads else _PER_CALL
        return iter(lambda: list(islice(items, size)), []), threads or 1

    def settle(self) -> None:
        """Be the embedder that the knowledge base was made with from now on, or the one that it was.

        Raises:
            EmbeddingsMismatchError: when it was another one.
        """
        if self._records.meta(_NAME) is None:
            self._records.set_meta(_VECTOR, ",".join(map(str, self._probed())))
            self._records.set_meta(_NAME, self.name)
            self._checked = True
        self.check()

    def check(self) -> None:
        """Compare with the stored embedder by name, or by what it makes of one sentence, once there is one.

        The sentence tells where the names differ, and where an embedder has none but that of its class or folder. One
        of another name that would have to be fetched first is another one.

        Raises:
            EmbeddingsMismatchError: when it is another one.
        """
        if not self._checked and (made_with := self._records.meta(_NAME)) is not None:
            stored = np.array([float(x) for x in (self._records.meta(_VECTOR) or "").split(",")])
            if made_with != self.name or not self._name_tells:
                self._compare(made_with, stored)
            self._dimensions = stored.size  # one model may be asked for shorter vectors
            self._checked = True

    def _compare(self, made_with: str, stored: Matrix) -> None:
        if self._from_hub and Path(made_with).name.lower() != self.name.lower():
            raise EmbeddingsMismatchError(
                f"{self._folder} was made with embedder {made_with!r}, opened with {self.name!r}: {SAME_EMBEDDER}, by "
                "that name or the folder it lies in, or index the documents again"
            )
        probe = self._probed()
        if stored.shape != probe.shape or float(stored @ probe) < 0.99:
            raise EmbeddingsMismatchError(
                f"{self._folder} was made with embedder {made_with!r} ({stored.size} dimensions), opened with "
                f"{self.name!r} ({probe.size} dimensions), whose vectors differ: {SAME_EMBEDDER} or index the "
                "documents again"
            )

    def _probed(self) -> Matrix:
        vector: Matrix = self._alike(embed_texts(self.embeddings, [_PROBE]))[0]
        return vector

    def _alike(self, vectors: Matrix) -> Matrix:
        """Return vectors that have as many dimensions as those before them."""
        dimensions = vectors.shape[1]
        self._dimensions = self._dimensions or dimensions
        if dimensions != self._dimensions:
            raise EmbeddingsMismatchError(
                f"{self._folder} holds vectors of {self._dimensions} dimensions, embedder {self.name!r} returned "
                f"{dimensions}: {SAME_EMBEDDER}, as it was set up then"
            )
        return vectors
