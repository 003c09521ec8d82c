"""Embedding of one batch of texts with torch: the interface of the models, and their optimisation."""

import copy
import logging
import math
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Protocol, Self

import torch

from langgraph_rag.errors import EmbedderError
from langgraph_rag.tools.embedding.tokens import Tokens

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
