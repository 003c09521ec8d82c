"""Division of texts, by their numbers of tokens, into the batches that are fastest; all return positions."""

from collections.abc import Iterator, Sequence
from itertools import groupby

LARGEST_BATCH = 128
_TOKENS_PER_BATCH = 2_048  # about a dozen passages, or hundreds of triples
_FEW_TOKENS = 256  # batches of 128 or 512 tokens take longer for each token


def of_like_length(lengths: Sequence[int]) -> Iterator[list[int]]:
    """Divide texts into large batches for a GPU, short texts first."""
    by_length = _by_length(lengths)
    for start in range(0, len(by_length), LARGEST_BATCH):
        yield by_length[start : start + LARGEST_BATCH]


def of_one_length(lengths: Sequence[int]) -> Iterator[list[int]]:
    """Divide texts into batches of one length, for models that pad."""
    for length, alike in groupby(_by_length(lengths), key=lengths.__getitem__):
        positions = list(alike)
        size = max(1, min(LARGEST_BATCH, _TOKENS_PER_BATCH // length))
        for start in range(0, len(positions), size):
            yield positions[start : start + size]


def of_few_tokens(lengths: Sequence[int]) -> Iterator[list[int]]:
    """Divide texts into batches of at most 256 tokens, or of one text, for models that do not pad."""
    batch, tokens = list[int](), 0
    for position in _by_length(lengths):
        if batch and tokens + lengths[position] > _FEW_TOKENS:
            yield batch
            batch, tokens = [], 0
        batch.append(position)
        tokens += lengths[position]
    if batch:
        yield batch


def _by_length(lengths: Sequence[int]) -> list[int]:
    return sorted(range(len(lengths)), key=lengths.__getitem__)
