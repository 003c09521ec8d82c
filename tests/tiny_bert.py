"""A BERT small enough to make in a test: random weights, a vocabulary of a few words, and no pooling."""

from pathlib import Path
from typing import Any

import pytest

_SPECIAL = "[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"


def save_bert(folder: Path, words: str) -> Path:
    """Write the model to a new folder; the test is skipped where its libraries are missing."""
    transformers: Any = pytest.importorskip("transformers")
    torch: Any = pytest.importorskip("torch")
    folder.mkdir()
    vocabulary, written = [*_SPECIAL, *words.split()], folder / "vocab.txt"
    written.write_text("\n".join(vocabulary))
    torch.manual_seed(0)
    config = transformers.BertConfig(
        vocab_size=len(vocabulary), hidden_size=16, num_hidden_layers=2, num_attention_heads=2, intermediate_size=32
    )
    transformers.BertModel(config).save_pretrained(folder)
    transformers.BertTokenizerFast(str(written)).save_pretrained(folder)
    return folder
