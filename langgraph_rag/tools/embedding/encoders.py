"""What embeds one batch of texts with torch: the face all models have here, and what makes any of them fast."""

import copy
import logging
import math
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Protocol, Self

import torch

from langgraph_rag.errors import EmbedderError

_log = logging.getLogger(__name__)

Tensors = tuple[Any, ...]

MULTIPLE = 16
"""Texts are padded to so many tokens or a multiple.

On a processor a text then has the same vector whatever else is in its batch, as sums over other numbers of tokens would
be added up in another order; and there are few shapes to prepare for.
"""

_PADDED = ["One short sentence.", "Another one, which is a little longer than the first."]
_UNPADDED = ["A sentence by itself, of a length that neither of the others has."]
_LONG = ["word " * 600]  # cut where the model ends; beyond the window of those that attend to their neighbours only
_PROBE = ["A short sentence of a dozen words with which to time the number formats."] * 4
_TIMINGS = 3  # of which the fastest counts: the first one warms up
_CLEARLY = 2  # times as fast: warming up makes less of a difference


def padded_length(tokens: int, multiple: int = MULTIPLE) -> int:
    """Return how many tokens a text of so many has once it is padded, at least one."""
    return -(-max(1, tokens) // multiple) * multiple


class Encoder(Protocol):
    """A model that embeds."""

    @property
    def dtype(self) -> Any:
        """The number format it computes in."""

    def lengths(self, texts: list[str]) -> list[int]:
        """Return how many tokens each text has once it is padded by itself, at least one."""

    def __call__(self, texts: list[str]) -> Any:
        """Embed a batch, padded to its longest text.

        Returns:
            Vectors of unit length in float32; shape: texts x dimensions.
        """

    def to(self, place: Any) -> Self:
        """Move to a device, or to a number format."""

    def trace(self) -> None:
        """Compile to TorchScript.

        Raises:
            Exception: when it cannot, for whatever reason; it runs as before then.
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
    """Time small batches in float32 and bfloat16 by turns; the vectors differ by 1e-4 in cosine or so."""
    encoders = (encoder, copy.deepcopy(encoder).to(torch.bfloat16))
    fastest = [math.inf, math.inf]
    with one_thread():  # several would wait for each other, and be timed at it
        for _ in range(_TIMINGS):
            fastest = [min(before, _seconds(one)) for before, one in zip(fastest, encoders, strict=True)]
            if max(fastest) > _CLEARLY * min(fastest):
                break
    return encoders[fastest.index(min(fastest))]


def _seconds(encoder: Encoder) -> float:
    started = time.process_time()  # unlike the time on the wall, it does not say what else the machine does
    encoder(_PROBE)
    return time.process_time() - started


def trace(forward: Callable[..., Any], tokens: Callable[[list[str]], Tensors]) -> Callable[..., Any]:
    """Compile a function of tensors to a single call of torch, without Python between its operations.

    Between two operations torch hands Python's lock to whoever waits for it, and then waits itself: a hundred times for
    each batch, up to milliseconds each where other threads answer questions. TorchScript waits once, at the end.

    It is traced with one batch, and compared on batches of other shapes: no shape may have become a constant.

    Raises:
        ValueError: when the trace gives other vectors than the function.
    """
    padded, *others = (tokens(texts) for texts in (_PADDED, _UNPADDED, _LONG))
    with torch.no_grad(), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # about what may become a constant: the comparison tells
        traced: Callable[..., Any] = torch.jit.trace(forward, padded, check_trace=False)
        for batch in (padded, *others):
            if not torch.equal(traced(*batch), forward(*batch)):
                raise ValueError("the trace gives other vectors than the function")
    return traced


@contextmanager
def one_thread() -> Iterator[None]:
    """Let torch compute in one thread."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)  # holds in this thread, and in those that meet torch for the first time just now
    try:
        yield
    finally:
        torch.set_num_threads(threads)
