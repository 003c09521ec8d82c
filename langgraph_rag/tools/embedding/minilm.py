"""all-MiniLM-L6-v2 in plain torch, because the import of transformers takes seconds."""

import json
from collections.abc import Iterator, Sequence
from itertools import chain
from pathlib import Path
from typing import Any, ClassVar, Self

import torch
from safetensors.torch import load_file
from tokenizers import Tokenizer
from torch.nn import functional

from langgraph_rag.tools.embedding.batching import of_few_tokens
from langgraph_rag.tools.embedding.encoders import MULTIPLE, Tensors, padded_length, trace
from langgraph_rag.tools.embedding.tokens import READ_BY_MINILM, Tokens, tokens_of_tokenizer

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
        """Compile to TorchScript.

        Raises:
            ValueError: when the vectors would differ.
        """
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
