"""all-MiniLM-L6-v2 in plain torch, because the import of transformers takes seconds."""

import json
from pathlib import Path
from typing import Any, Self

import torch
from safetensors.torch import load_file
from tokenizers import Tokenizer
from torch.nn import functional

from langgraph_rag.tools.embedding.encoders import MULTIPLE, Tensors, padded_length, trace

_LONGEST = 256  # tokens, as in its training


class MiniLM:
    """A BERT encoder (Devlin et al. 2019) with mean pooling, read from its published files."""

    def __init__(self, folder: Path) -> None:
        settings = json.loads((folder / "config.json").read_text())
        self._heads, self._layers = settings["num_attention_heads"], settings["num_hidden_layers"]
        self._epsilon = settings["layer_norm_eps"]
        self._weights = load_file(folder / "model.safetensors")
        self._tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
        self._tokenizer.enable_truncation(_LONGEST)
        self._tokenizer.enable_padding(pad_to_multiple_of=MULTIPLE)
        self._run = self._forward

    @property
    def dtype(self) -> Any:
        """The number format of the weights."""
        return self._word_vectors.dtype

    def lengths(self, texts: list[str]) -> list[int]:
        """Return the number of tokens of each text when it is padded alone, at least one."""
        return [padded_length(sum(one.attention_mask)) for one in self._tokenizer.encode_batch(texts)]

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
        """Return the token ids and the attention mask; shape of both: texts x tokens."""
        encoded = self._tokenizer.encode_batch(texts)
        numbers, seen = ([getattr(one, name) for one in encoded] for name in ("ids", "attention_mask"))
        device = self._word_vectors.device
        return torch.tensor(numbers, device=device), torch.tensor(seen, dtype=torch.bool, device=device)

    def _forward(self, numbers: Any, seen: Any) -> Any:
        hidden = self._embedded(numbers)
        for layer in range(self._layers):
            hidden = self._attended(hidden, seen, f"encoder.layer.{layer}.attention.")
            hidden = self._transformed(hidden, f"encoder.layer.{layer}.")
        mean = (hidden * seen[:, :, None]).sum(1) / seen.sum(1, keepdim=True)
        return functional.normalize(mean.float(), dim=1)

    def _embedded(self, numbers: Any) -> Any:
        words = functional.embedding(numbers, self._word_vectors)
        places = self._weights["embeddings.position_embeddings.weight"][: numbers.shape[1]]
        kind = self._weights["embeddings.token_type_embeddings.weight"][0]
        return self._normed(words + kind + places, "embeddings.LayerNorm")

    def _attended(self, hidden: Any, seen: Any, at: str) -> Any:
        query, key, value = (
            self._linear(hidden, f"{at}self.{name}").unflatten(2, (self._heads, -1)).transpose(1, 2)
            for name in ("query", "key", "value")
        )
        mixed = functional.scaled_dot_product_attention(query, key, value, attn_mask=seen[:, None, None, :])
        attention = self._linear(mixed.transpose(1, 2).flatten(2), f"{at}output.dense")
        return self._normed(attention + hidden, f"{at}output.LayerNorm")

    def _transformed(self, hidden: Any, at: str) -> Any:
        inner = functional.gelu(self._linear(hidden, f"{at}intermediate.dense"))
        return self._normed(self._linear(inner, f"{at}output.dense") + hidden, f"{at}output.LayerNorm")

    def _linear(self, hidden: Any, name: str) -> Any:
        return functional.linear(hidden, self._weights[f"{name}.weight"], self._weights[f"{name}.bias"])

    def _normed(self, hidden: Any, name: str) -> Any:
        weight, bias = self._weights[f"{name}.weight"], self._weights[f"{name}.bias"]
        return functional.layer_norm(hidden, weight.shape, weight, bias, self._epsilon)
