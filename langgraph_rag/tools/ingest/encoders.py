"""Embedding models in this process: the packaged MiniLM, as arrays of one file, and those of sentence-transformers."""

import copy
import json
import logging
import math
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Protocol, Self

import torch
from safetensors.torch import load_file
from tokenizers import Tokenizer
from torch.nn import functional

from langgraph_rag.errors import EmbedderError
from langgraph_rag.tools.ingest.splitting import (
    READ_BY_MINILM,
    Tokens,
    of_few_tokens,
    of_one_length,
    tokens_of_model,
    tokens_of_tokenizer,
)

if TYPE_CHECKING:
    from sentence_transformers import SentenceTransformer

_log = logging.getLogger(__name__)

Tensors = tuple[Any, ...]

MULTIPLE = 16
"""Texts are padded to a multiple of this number of tokens.

Then the vector of a text on a processor does not depend on its batch, because the order of summation depends on the
number of tokens. There are also fewer shapes to prepare.
"""

_PADDED = ["One short sentence.", "Another one, which is a little longer than the first."]
_UNPADDED = ["A sentence by itself, of a length that neither of the others has."]
_LONG = ["word " * 600]  # truncated by the model; longer than the window of models with local attention
_PROBE = ["A short sentence of a dozen words with which to time the number formats."] * 7
_WORDS = _PROBE[0].split() * 20
_ALONE_OR_NOT = [" ".join(_WORDS[number : 2 * number]) for number in (*range(2, 32, 2), 118, 120, 122)]
_TIMINGS = 3  # the fastest counts, as the first one warms up
_CLEARLY = 2  # times as fast: more than the effect of warming up


def padded_length(tokens: int, multiple: int) -> int:
    """Return the number of tokens of a text after padding, at least one."""
    return -(-max(1, tokens) // multiple) * multiple


class Encoder(Protocol):
    """An embedding model.

    Attributes:
        multiple: texts or batches are padded to a multiple of this number of tokens.
    """

    multiple: int

    @property
    def prompts(self) -> dict[str, str]:
        """The prompts to set before texts, by the names of their kinds; "" is that of all other kinds."""

    @property
    def multiples(self) -> tuple[int, ...]:
        """The values of `multiple` that are worth trying in bfloat16, the fastest first."""

    @property
    def dtype(self) -> Any:
        """The number format of the computation."""

    def tokens(self, prefix: str) -> Tokens:
        """Return the tokens of passages, all of which begin with a prefix."""

    def lengths(self, texts: list[str]) -> list[int]:
        """Return the number of tokens of each text when it is embedded alone, at least one."""

    def divide(self, lengths: Sequence[int]) -> Iterator[list[int]]:
        """Divide texts of these numbers of tokens into the batches that are fastest on a processor."""

    def __call__(self, texts: list[str]) -> Any:
        """Embed a batch.

        Returns:
            Vectors of unit length in float32; shape: texts x dimensions.
        """

    def to(self, place: Any) -> Self:
        """Move to a device or a number format."""

    def trace(self) -> None:
        """Compile to TorchScript.

        Raises:
            Exception: when this fails for any reason; the model stays usable.
        """


def load(name: str, read: Callable[[], Encoder], device: str) -> Encoder:
    """Load a model on a device and optimise it: in half precision, or for the processor.

    Raises:
        EmbedderError: when torch has no such device.
    """
    try:
        torch.empty(0, device=device)
    except (RuntimeError, AssertionError) as error:
        raise EmbedderError(f"embedder {name!r} cannot run on device {device!r}: {error}") from error
    if device != "cpu":
        return read().to(device).to(torch.float16)
    encoder = _in_fastest_format(read())
    try:
        with one_thread():
            encoder.trace()
    except Exception as error:
        _log.info("the embedder's transformer is run by Python: %s", error)
    return encoder


def _in_fastest_format(encoder: Encoder) -> Encoder:
    """Return the faster of float32 and bfloat16 for small batches; the vectors differ by about 1e-4 in cosine.

    It is float32, too, if the vector of a text in bfloat16 would depend on its batch.
    """
    half = copy.deepcopy(encoder).to(torch.bfloat16)
    with one_thread():  # the time of several threads would include waiting for each other
        if not _is_faster(half, encoder):
            return encoder
        for multiple in half.multiples:
            half.multiple = multiple
            if _is_independent_of_batches(half):
                return half
    return encoder


def _is_faster(one: Encoder, other: Encoder) -> bool:
    fastest = [math.inf, math.inf]
    for _ in range(_TIMINGS):
        fastest = [min(before, _seconds(encoder)) for before, encoder in zip(fastest, (one, other), strict=True)]
        if max(fastest) > _CLEARLY * min(fastest):
            break
    return fastest[0] < fastest[1]


def _is_independent_of_batches(encoder: Encoder) -> bool:
    batches = encoder.divide(encoder.lengths(_ALONE_OR_NOT))
    together = ([_ALONE_OR_NOT[position] for position in batch] for batch in batches)
    return all(torch.equal(encoder(texts), torch.cat([encoder([text]) for text in texts])) for texts in together)


def _seconds(encoder: Encoder) -> float:
    started = time.process_time()  # unlike wall-clock time, independent of other processes
    encoder(_PROBE)
    return time.process_time() - started


def trace(forward: Callable[..., Any], tokens: Callable[[list[str]], Tensors]) -> Callable[..., Any]:
    """Compile a function of tensors to a single call of torch, without Python between its operations.

    Between two operations, torch releases Python's lock and then waits for it: a hundred times per batch, each up to
    milliseconds while other threads answer questions. TorchScript waits once, at the end.

    It is traced with one batch and compared on batches of other shapes, as no shape may become a constant.

    Raises:
        ValueError: when the trace returns other vectors than the function.
    """
    padded, *others = (tokens(texts) for texts in (_PADDED, _UNPADDED, _LONG))
    with torch.no_grad(), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # about possible constants, which the comparison detects
        traced: Callable[..., Any] = torch.jit.trace(forward, padded, check_trace=False)
        for batch in (padded, *others):
            if not torch.equal(traced(*batch), forward(*batch)):
                raise ValueError("the trace gives other vectors than the function")
    return traced


@contextmanager
def one_thread() -> Iterator[None]:
    """Let torch compute in one thread."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)  # in this thread, and in threads that first use torch now
    try:
        yield
    finally:
        torch.set_num_threads(threads)


_ROW = 32  # tokens; rows of attention are padded to a multiple of it
_FOR_AMX = 64  # tokens; products with fewer, in bfloat16 on processors with AMX, are summed in another order


class MiniLM:
    """A BERT encoder (Devlin et al. 2019) with mean pooling, read from its published files.

    The tokens of all texts of a batch go through its layers one after the other, without padding between texts; only
    attention and pooling see each text in a row of its own.
    """

    multiples = (MULTIPLE, _FOR_AMX)
    prompts: ClassVar[dict[str, str]] = {}

    def __init__(self, folder: Path) -> None:
        settings = json.loads((folder / "config.json").read_text())
        self._heads, self._layers = settings["num_attention_heads"], settings["num_hidden_layers"]
        self._epsilon = settings["layer_norm_eps"]
        self._weights = _with_joined_projections(load_file(folder / "model.safetensors"), self._layers)
        self._tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
        self._tokenizer.enable_truncation(READ_BY_MINILM)
        self._tokenizer.no_padding()
        self._run, self.multiple = self._forward, MULTIPLE

    @property
    def dtype(self) -> Any:
        """The number format of the weights."""
        return self._word_vectors.dtype

    def tokens(self, prefix: str) -> Tokens:
        """Return the tokens of passages with a prefix."""
        return tokens_of_tokenizer(self._tokenizer, READ_BY_MINILM, prefix)

    def lengths(self, texts: list[str]) -> list[int]:
        """Return the number of tokens of each text."""
        return [len(one.ids) for one in self._tokenizer.encode_batch(texts)]

    def divide(self, lengths: Sequence[int]) -> Iterator[list[int]]:
        """Divide texts into batches of few tokens; return positions."""
        return of_few_tokens(lengths)

    def __call__(self, texts: list[str]) -> Any:
        """Embed a batch; shape: texts x 384."""
        with torch.inference_mode():
            return self._run(*self._tokens(texts))

    def to(self, place: Any) -> Self:
        """Move to a device or a number format."""
        self._weights = {name: weight.to(place) for name, weight in self._weights.items()}
        return self

    def trace(self) -> None:
        """Compile to TorchScript."""
        self._run = trace(self._forward, self._tokens)

    @property
    def _word_vectors(self) -> Any:
        return self._weights["embeddings.word_embeddings.weight"]

    def _tokens(self, texts: list[str]) -> Tensors:
        """Return the tokens of a batch, and where they are in rows of one length, one for each text.

        The last text is padded so that the number of all tokens is a multiple, for which processors have fast code.

        Returns:
            The token ids (shape: tokens); their places in all rows together (shape: tokens); the number of the token at
            each of these places, or of the one before it at an empty place (shape: texts * length of a row); whether
            there is a token of the text at each place (shape: texts x length of a row).
        """
        encoded = [one.ids for one in self._tokenizer.encode_batch(texts)]
        lengths = torch.tensor([len(ids) for ids in encoded])
        filling, filled = -int(lengths.sum()) % self.multiple, lengths.clone()
        filled[-1] += filling
        columns = torch.arange(padded_length(int(filled.max()), _ROW))
        seen, taken = columns < lengths[:, None], (columns < filled[:, None]).flatten()
        places, owners = taken.nonzero()[:, 0], taken.cumsum(0) - 1
        numbers = torch.tensor([*chain.from_iterable(encoded), *[0] * filling])
        return tuple(given.to(self._word_vectors.device) for given in (numbers, places, owners, seen))

    def _forward(self, numbers: Any, places: Any, owners: Any, seen: Any) -> Any:
        hidden = self._embedded(numbers, places % seen.shape[1])
        for layer in range(self._layers):
            hidden = self._attended(hidden, places, owners, seen, f"encoder.layer.{layer}.attention.")
            hidden = self._transformed(hidden, f"encoder.layer.{layer}.")
        rows = hidden.index_select(0, owners).unflatten(0, seen.shape)
        mean = (rows * seen[:, :, None]).sum(1) / seen.sum(1, keepdim=True)
        return functional.normalize(mean.float(), dim=1)

    def _embedded(self, numbers: Any, columns: Any) -> Any:
        words = functional.embedding(numbers, self._word_vectors)
        positions = functional.embedding(columns, self._weights["embeddings.position_embeddings.weight"])
        kind = self._weights["embeddings.token_type_embeddings.weight"][0]
        return self._normed(words + kind + positions, "embeddings.LayerNorm")

    def _attended(self, hidden: Any, places: Any, owners: Any, seen: Any, at: str) -> Any:
        rows = self._linear(hidden, f"{at}self").index_select(0, owners).unflatten(0, seen.shape)
        query, key, value = rows.unflatten(2, (3, self._heads, -1)).permute(2, 0, 3, 1, 4)
        mixed = functional.scaled_dot_product_attention(query, key, value, attn_mask=seen[:, None, None, :])
        joined = mixed.transpose(1, 2).flatten(2).flatten(0, 1).index_select(0, places)
        return self._normed(self._linear(joined, f"{at}output.dense") + hidden, f"{at}output.LayerNorm")

    def _transformed(self, hidden: Any, at: str) -> Any:
        inner = functional.gelu(self._linear(hidden, f"{at}intermediate.dense"))
        return self._normed(self._linear(inner, f"{at}output.dense") + hidden, f"{at}output.LayerNorm")

    def _linear(self, hidden: Any, name: str) -> Any:
        return functional.linear(hidden, self._weights[f"{name}.weight"], self._weights[f"{name}.bias"])

    def _normed(self, hidden: Any, name: str) -> Any:
        weight, bias = self._weights[f"{name}.weight"], self._weights[f"{name}.bias"]
        return functional.layer_norm(hidden, weight.shape, weight, bias, self._epsilon)


def _with_joined_projections(weights: dict[str, Any], layers: int) -> dict[str, Any]:
    """Join the projections to queries, keys and values of each layer: one product is faster than three."""
    for at in (f"encoder.layer.{layer}.attention.self" for layer in range(layers)):
        for kind in ("weight", "bias"):
            weights[f"{at}.{kind}"] = torch.cat(
                [weights.pop(f"{at}.{name}.{kind}") for name in ("query", "key", "value")]
            )
    return weights


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
        from sentence_transformers.util import batch_to_device

        with torch.inference_mode():
            pooled = self._model(batch_to_device(self._model.preprocess(texts), self._model.device))
            return torch.nn.functional.normalize(pooled["sentence_embedding"].float(), dim=1)

    def to(self, place: Any) -> Self:
        """Move to a device or a number format."""
        self._model.to(place)
        return self

    def trace(self) -> None:
        """Compile the transformer, the first of the modules, to TorchScript."""
        transformer = self._model[0].auto_model
        names = [name for name, value in self._model.preprocess([""]).items() if isinstance(value, torch.Tensor)]

        def tokens(texts: list[str]) -> Tensors:
            given = self._model.preprocess(texts)
            return tuple(given[name] for name in names)

        def forward(*inputs: Any) -> Any:
            return transformer(**dict(zip(names, inputs, strict=True))).last_hidden_state

        run = trace(forward, tokens)
        transformer.forward = lambda **given: {"last_hidden_state": run(*(given[name] for name in names))}


def read_model(source: str, pooling: str) -> "SentenceTransformer":
    """Load a model with its own pooling, or with that of its family if it has none.

    Raises:
        EmbedderError: when it can neither be read nor downloaded.
    """
    from sentence_transformers import SentenceTransformer  # here, as MiniLM needs none of it
    from sentence_transformers.sentence_transformer import modules

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
    from transformers.utils import logging as bars

    drawn = bars.is_progress_bar_enabled()
    bars.disable_progress_bar()
    try:
        yield
    finally:
        if drawn:
            bars.enable_progress_bar()
