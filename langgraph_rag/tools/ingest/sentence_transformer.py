"""Any model that sentence-transformers can read."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import Any, Self

import torch
from sentence_transformers import SentenceTransformer
from sentence_transformers.sentence_transformer import modules
from sentence_transformers.util import batch_to_device
from transformers.utils import logging

from langgraph_rag.errors import EmbedderError
from langgraph_rag.tools.ingest.encoders import MULTIPLE, Tensors, padded_length, trace
from langgraph_rag.tools.ingest.splitting import Tokens, of_one_length, tokens_of_model


class SentenceTransformerEncoder:
    """A model without the overhead of its `encode`, which takes a quarter of the time for a short text."""

    def __init__(self, model: Any) -> None:
        self._model = model.eval().requires_grad_(False)  # so that a trace can treat the weights as constants
        first, longest, self.multiple = model[0], model.max_seq_length, 1
        if hasattr(first, "processing_kwargs") and longest and longest % MULTIPLE == 0:  # padding must not exceed it
            first.processing_kwargs["text"] = first.processing_kwargs.get("text", {}) | {"pad_to_multiple_of": MULTIPLE}
            self.multiple = MULTIPLE

    @property
    def multiples(self) -> tuple[int, ...]:
        """Only the present one: padding short texts to more tokens takes longer than bfloat16 saves."""
        return (self.multiple,)

    @property
    def prompts(self) -> dict[str, str]:
        """The prompts that were saved with the model, by their names; the default one by the name "", too."""
        found = {name: prompt for name, prompt in self._model.prompts.items() if prompt}
        default = found.get(self._model.default_prompt_name)
        return {**found, "": default} if default else found

    @property
    def dtype(self) -> Any:
        """The number format of the weights."""
        return next(self._model.parameters()).dtype

    def tokens(self, prefix: str) -> Tokens:
        """Return the tokens of passages with a prefix."""
        return tokens_of_model(self._model, prefix)

    def lengths(self, texts: list[str]) -> list[int]:
        """Return the number of tokens of each text when it is padded alone, at least one; 1 if there is no padding."""
        seen = self._model.preprocess(texts).get("attention_mask")
        tokens = [1] * len(texts) if seen is None else seen.sum(1).tolist()
        return [padded_length(number, self.multiple) for number in tokens]

    def divide(self, lengths: Sequence[int]) -> Iterator[list[int]]:
        """Divide texts into batches of one length; return positions."""
        return of_one_length(lengths)

    def __call__(self, texts: list[str]) -> Any:
        """Embed a batch; shape: texts x dimensions."""
        with torch.inference_mode():
            pooled = self._model(batch_to_device(self._model.preprocess(texts), self._model.device))
            return torch.nn.functional.normalize(pooled["sentence_embedding"].float(), dim=1)

    def to(self, place: Any) -> Self:
        """Move to a device or a number format."""
        self._model.to(place)
        return self

    def trace(self) -> None:
        """Compile the transformer, the first of the modules, to TorchScript.

        Raises:
            Exception: when this fails, or the vectors would differ.
        """
        transformer = self._model[0].auto_model
        names = [name for name, value in self._model.preprocess([""]).items() if isinstance(value, torch.Tensor)]

        def tokens(texts: list[str]) -> Tensors:
            given = self._model.preprocess(texts)
            return tuple(given[name] for name in names)

        def forward(*inputs: Any) -> Any:
            return transformer(**dict(zip(names, inputs, strict=True))).last_hidden_state

        run = trace(forward, tokens)
        transformer.forward = lambda **given: {"last_hidden_state": run(*(given[name] for name in names))}


def read(source: str, pooling: str) -> SentenceTransformerEncoder:
    """Read an embedding model; see `read_model`."""
    return SentenceTransformerEncoder(read_model(source, pooling))


def read_model(source: str, pooling: str) -> SentenceTransformer:
    """Load a model with its own pooling, or with that of its family if it has none.

    Raises:
        EmbedderError: when it can neither be read nor downloaded.
    """
    folder = Path(source)
    try:
        with without_bar() if folder.is_dir() else nullcontext():
            if not folder.is_dir() or (folder / "modules.json").exists():
                return SentenceTransformer(source, device="cpu")
            transformer = modules.Transformer(source)
            pooled = modules.Pooling(transformer.get_embedding_dimension(), pooling_mode=pooling)
            return SentenceTransformer(modules=[transformer, pooled], device="cpu")
    except (OSError, ValueError, RuntimeError) as error:
        raise EmbedderError(
            f"embedder {source!r} can neither be read nor downloaded: expected a folder with a sentence-transformers "
            f"or transformers model, or the name of one on a reachable model hub ({type(error).__name__}: {error})"
        ) from error


@contextmanager
def without_bar() -> Iterator[None]:
    """Suppress the progress bar of transformers for weights that are read or written quickly."""
    drawn = logging.is_progress_bar_enabled()
    logging.disable_progress_bar()
    try:
        yield
    finally:
        if drawn:
            logging.enable_progress_bar()
