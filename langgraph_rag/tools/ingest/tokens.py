"""Tokens as an embedder counts them, and batches of texts of about equal length."""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import TYPE_CHECKING, Any

from langchain_core.embeddings import Embeddings

from langgraph_rag.normal_forms import UNSPACED

if TYPE_CHECKING:
    from tokenizers import Tokenizer

ASSUMED = 512  # tokens that an embedder reads which does not tell
READ_BY_MINILM = 256  # as in its training
_LONGEST = 50  # characters of a token: a longer one stands for a word that the embedder does not know
_WORD = re.compile(r"\S+")
_GUESSED = re.compile(rf"{UNSPACED.pattern}|[^\W\d_\u0250-\U0010ffff]{{1,5}}|[^\W\d_]{{1,2}}|\d{{1,2}}|[^\w\s]|_")


@dataclass(frozen=True)
class Tokens:
    """The tokens of an embedder.

    Attributes:
        limit: the most tokens of a text that it reads, without those that it adds itself.
        starts: returns where in a text its tokens start, in order.
        exact: whether they are those of its tokenizer, and not an estimate.
    """

    limit: int
    starts: Callable[[str], Sequence[int]]
    exact: bool = True

    def count(self, text: str) -> int:
        """Return the number of tokens of a text."""
        return len(self.starts(text))


def _estimated(text: str) -> list[int]:
    """Estimate tokens: five Latin letters, two others, two digits, a mark, or a character of Chinese are one."""
    return [found.start() for found in _GUESSED.finditer(text)]


ESTIMATED = Tokens(ASSUMED, _estimated, exact=False)


def tokens_of(embeddings: Embeddings) -> Tokens:
    """Return the tokens of an embedder: those that it tells itself, or those of the model in it, or an estimate."""
    own = getattr(embeddings, "tokens", None)
    if isinstance(own, Tokens):
        return own
    model = getattr(embeddings, "_client", None) or getattr(embeddings, "client", None)  # LangChain's keep it so
    return tokens_of_model(model) if hasattr(model, "max_seq_length") else ESTIMATED


def tokens_of_model(model: Any, prefix: str = "") -> Tokens:
    """Return the tokens of a sentence-transformers model, of which the prefix of all passages takes some."""
    limit = model.max_seq_length
    return tokens_of_tokenizer(model.tokenizer, limit if isinstance(limit, int) else ASSUMED, prefix)


def tokens_of_tokenizer(tokenizer: Any, limit: int, prefix: str = "") -> Tokens:
    """Return the tokens of a tokenizer for a model that reads `limit` tokens with its own ones."""
    from tokenizers import Tokenizer  # here, as embedders elsewhere need none

    fast = getattr(tokenizer, "backend_tokenizer", tokenizer)
    if isinstance(fast, Tokenizer):
        starts, special = _starts_of(fast), fast.num_special_tokens_to_add(is_pair=False)
    elif hasattr(tokenizer, "tokenize"):
        starts, special = _starts_of_words(tokenizer), 2
    else:
        return ESTIMATED
    return Tokens(max(1, limit - special - len(starts(prefix))), starts)


def _starts_of(tokenizer: "Tokenizer") -> Callable[[str], list[int]]:
    own = type(tokenizer).from_str(tokenizer.to_str())  # the given one truncates, and may be in use in another thread
    own.no_truncation()
    own.no_padding()

    def starts(text: str) -> list[int]:
        offsets = own.encode(text, add_special_tokens=False).offsets
        return [part for start, end in offsets for part in range(start, max(end, start + 1), _LONGEST)]

    return starts


def _starts_of_words(tokenizer: Any) -> Callable[[str], list[int]]:
    """Count word by word, as the tokenizer does not tell where tokens start."""
    return lambda text: [word.start() for word in _WORD.finditer(text) for _ in tokenizer.tokenize(word[0])]


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
