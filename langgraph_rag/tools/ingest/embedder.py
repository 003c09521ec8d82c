"""The embedder of a knowledge base, whose vectors must all be of one; fingerprints that tell what they were made by."""

import json
import logging
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cached_property
from hashlib import file_digest, sha256
from itertools import islice
from pathlib import Path
from typing import TypeVar

import numpy as np
from langchain_core.embeddings import Embeddings

from langgraph_rag.errors import EmbeddingsMismatchError
from langgraph_rag.tools.ingest.embeddings import (
    FEW,
    SAME_EMBEDDER,
    SentenceEmbeddings,
    embed_queries,
    embed_texts,
    name_of,
)
from langgraph_rag.tools.ingest.splitting import Tokens, tokens_of
from langgraph_rag.tools.stores.protocols import Matrix
from langgraph_rag.tools.stores.records import Records

T = TypeVar("T")
_log = logging.getLogger(__name__)
_PROBE = "Which embedder made this knowledge base?"
_ALIKE = 0.998
"""The least cosine of its vectors by the same embedder.

Number formats change them less (MiniLM: 0.99993 in bfloat16, 0.9998 with weights of eight bits). Weights of five bits
change them more (0.99), and so do those of another model.
"""
_PER_CALL = 64  # passages
_SEARCHES_HERE, _SEARCHES_ELSEWHERE = 4, 16
_NAME, _VECTOR = "embeddings", "embeddings_probe"  # as they are stored


class Embedder:
    """Embeds texts for a knowledge base, in which all vectors must be from the same embedder."""

    def __init__(self, folder: str, embeddings: Embeddings, records: Records) -> None:
        self._folder, self._records = folder, records
        self.embeddings, self.name = embeddings, name_of(embeddings)
        model = embeddings if isinstance(embeddings, SentenceEmbeddings) else None
        self._name_tells = self.name != type(embeddings).__name__ and not (model and model.in_folder)
        self._from_hub = model is not None and model.from_hub
        self._dimensions: int | None = None  # of the first vectors that were returned, or of those that are stored
        self._checked = self._compared = False
        self._known: Mapping[str, Matrix] = {}  # vectors of texts that were made before
        self._accepted = set[str]()  # names of embedders elsewhere whose vectors are as of this one

    @property
    def made_with(self) -> str:
        """The name of the embedder that the knowledge base was created with; of this one in a new knowledge base."""
        return self._records.meta(_NAME) or self.name

    @property
    def mark(self) -> list[float]:
        """The rounded vector of one sentence, which distinguishes embedders with the same name; [] if there is none."""
        stored = self._stored_probe()
        return [] if stored is None else [round(float(x), 1) + 0.0 for x in stored]  # no "-0.0"

    @cached_property
    def tokens(self) -> Tokens:
        """The tokens of the embedder, and how many it reads."""
        return tokens_of(self.embeddings)

    def texts(self, texts: Sequence[str]) -> Matrix:
        """Return the vectors of passages or triples, of unit length; shape: texts x dimensions.

        Raises:
            EmbeddingsMismatchError: when the knowledge base was created with another embedder, whatever its name.
        """
        self.check()
        self._compare()
        new = [text for text in texts if text not in self._known]
        made = dict(zip(new, self._alike(embed_texts(self.embeddings, new)), strict=True)) if new else {}
        return np.stack([made[text] if text in made else self._known[text] for text in texts])

    def check_vector(self, by: str, text: str, vector: Matrix) -> None:
        """Check, for each name of an embedder once, that a vector which it made elsewhere is as of this one."""
        if by in self._accepted:
            return
        (own,) = self.texts([text])
        if vector.shape != own.shape or not float(vector @ own) > _ALIKE:
            raise EmbeddingsMismatchError(
                f"{self._folder} was made with embedder {self.made_with!r}, the vectors of {text[:40]!r} and others by "
                f"{by!r} are not as of it: {SAME_EMBEDDER}"
            )
        self._accepted.add(by)

    @contextmanager
    def knowing(self, vectors: Mapping[str, Matrix]) -> Iterator[None]:
        """Use vectors of texts that were made before; if the first one is not the text's, none, with a warning."""
        for text, vector in islice(vectors.items(), 1):
            (own,) = self.texts([text])
            shapes = {known.shape for known in vectors.values()}
            if shapes != {own.shape} or not float(vector @ own) > _ALIKE:
                _log.warning("the given vectors are not those of %s: the texts are embedded again", self.made_with)
                vectors = {}
        self._known = vectors
        try:
            yield
        finally:
            self._known = {}

    def queries(self, queries: Sequence[str]) -> Matrix:
        """Return the vectors of queries, of unit length; shape: queries x dimensions."""
        self.check()
        self._compare()
        return self._alike(embed_queries(self.embeddings, queries))

    def divided(self, items: Iterator[T], number: int) -> tuple[Iterator[list[T]], int]:
        """Split items into parts for one call of `texts` each, and return the number of parallel calls.

        A model on this processor gets a few passages per thread, or one if there are not many: storing one at a time is
        slower, but a kill costs the work on all that are in hand. Other embedders get as many passages as a server
        accepts, because each call takes time.
        """
        threads = self.embeddings.threads if isinstance(self.embeddings, SentenceEmbeddings) else 0
        size = min(FEW, max(1, number // threads)) if threads else _PER_CALL
        return iter(lambda: list(islice(items, size)), []), threads or 1

    @property
    def searches_at_once(self) -> int:
        """The number of searches whose queries are embedded together.

        On this processor a few take little longer each than many, and no question waits for many others. Elsewhere,
        each call takes time.
        """
        here = isinstance(self.embeddings, SentenceEmbeddings) and self.embeddings.on_processor
        return _SEARCHES_HERE if here else _SEARCHES_ELSEWHERE

    def settle(self) -> None:
        """Store this embedder as that of the knowledge base, or check that it is the same.

        A knowledge base without a probe vector gets one, if the names are the same.
        """
        self.check()
        self._compare()
        if self._stored_probe() is None:
            self._records.set_meta(_VECTOR, ",".join(map(str, self._probed())))
            self._records.set_meta(_NAME, self.name)
            self._checked = self._compared = True

    def check(self) -> None:
        """Compare this embedder with the stored one, if there is one, as far as that must be now.

        The vectors of one sentence are compared: now if the names differ, or are only those of a class or folder, else
        before vectors are first used, because loading a model takes long, and a server may be away. An embedder with
        another name that would have to be downloaded first is different.

        Raises:
            EmbeddingsMismatchError: when the embedders differ.
        """
        if self._checked or (made_with := self._records.meta(_NAME)) is None:
            return
        if self._from_hub and Path(made_with).name.lower() != self.name.lower():
            raise EmbeddingsMismatchError(
                f"{self._folder} was made with embedder {made_with!r}, opened with {self.name!r}: {SAME_EMBEDDER}, by "
                "that name or the folder it lies in, or index the documents again"
            )
        if made_with != self.name or not self._name_tells:
            self._compare()
        self._checked = True

    def _compare(self) -> None:
        """Compare the vectors of one sentence, once."""
        if self._compared or (made_with := self._records.meta(_NAME)) is None:
            return
        stored = self._stored_probe()
        if stored is not None:
            probe = self._probed()
            cosine = float(stored @ probe) if stored.shape == probe.shape else None
            if cosine is None or cosine < _ALIKE:
                far = "" if cosine is None else f" (one sentence: cosine {cosine:.3f}, expected at least {_ALIKE})"
                raise EmbeddingsMismatchError(
                    f"{self._folder} was made with embedder {made_with!r} ({stored.size} dimensions), opened with "
                    f"{self.name!r} ({probe.size} dimensions), whose vectors differ{far}: {SAME_EMBEDDER}, as it was "
                    "set up then, or index the documents again"
                )
            self._dimensions = stored.size  # one model may be asked for shorter vectors
        elif made_with != self.name:
            raise EmbeddingsMismatchError(
                f"{self._folder} was made with embedder {made_with!r}, opened with {self.name!r}, and holds no vector "
                f"to compare them by: {SAME_EMBEDDER}, by that name"
            )
        self._compared = True

    def _stored_probe(self) -> Matrix | None:
        stored = self._records.meta(_VECTOR)
        return np.array([float(x) for x in stored.split(",")]) if stored else None

    def _probed(self) -> Matrix:
        vector: Matrix = embed_texts(self.embeddings, [_PROBE])[0]
        return vector

    def _alike(self, vectors: Matrix) -> Matrix:
        """Return the vectors, after a check that they have the same dimensions as earlier ones."""
        dimensions = vectors.shape[1]
        self._dimensions = self._dimensions or dimensions
        if dimensions != self._dimensions:
            raise EmbeddingsMismatchError(
                f"{self._folder} holds vectors of {self._dimensions} dimensions, embedder {self.name!r} returned "
                f"{dimensions}: {SAME_EMBEDDER}, as it was set up then"
            )
        return vectors


def fingerprint_of(
    hashes: Mapping[str, str],
    unread: Collection[str],
    names: Mapping[str, str],
    made_by: str,
    mark: Sequence[float],
    aligner: Path,
) -> str:
    """Return the digest, after the number of passages and the names in `made_by`."""
    files = [_digest(file) for file in sorted(aligner.rglob("*")) if file.is_file()]
    state = json.dumps([sorted(hashes.items()), made_by, mark, sorted(hashes.keys() & unread), names, *files])
    return f"{len(hashes)} passages, {made_by}, {sha256(state.encode()).hexdigest()[:16]}"


def _digest(file: Path) -> str:
    with file.open("rb") as opened:
        return file_digest(opened, "sha256").hexdigest()
