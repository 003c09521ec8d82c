"""Loads embedders by name."""

import re
from pathlib import Path

from langchain_core.embeddings import Embeddings

from langgraph_rag.arguments import expect
from langgraph_rag.error_texts import without_keys
from langgraph_rag.errors import EmbedderError, EmbeddingsMismatchError, RagError
from langgraph_rag.tools.embedding.sentence_embeddings import (
    CPU,
    FAMILIES,
    MINILM,
    Family,
    MiniLMEmbeddings,
    SentenceEmbeddings,
)
from langgraph_rag.tools.embedding.served_embeddings import ServedEmbeddings
from langgraph_rag.tools.embedding.tokens import Tokens

_WORD = re.compile(r"[^\W_]+")  # of a name: e5, base, v2
SAME_EMBEDDER = (
    "open it with the same embedder (`embeddings=`, on the command line `--embeddings`, or LANGGRAPH_RAG_EMBEDDINGS)"
)


class PlaceholderEmbeddings(Embeddings):
    """Stands for the embedder of a knowledge base if it was not given; it embeds nothing."""

    def __init__(self, model_name: str) -> None:
        self.model_name = model_name

    @property
    def tokens(self) -> Tokens:
        """Raise an error that the embedder is needed."""
        raise self._needed

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        """Raise an error that the embedder is needed."""
        raise self._needed

    def embed_query(self, text: str) -> list[float]:
        """Raise the same error."""
        raise self._needed

    @property
    def _needed(self) -> EmbeddingsMismatchError:
        return EmbeddingsMismatchError(
            f"the knowledge base was made with embedder {self.model_name!r}: to search it or add to it, {SAME_EMBEDDER}"
        )


def load_embeddings(name_or_path: str, device: str = CPU) -> Embeddings:
    """Load an embedder by the name or the folder of a model.

    Args:
        name_or_path: `all-MiniLM-L6-v2`, which comes with the extra `minilm`; `vllm:MODEL`, a model served by vLLM or
            any other OpenAI-compatible server at `VLLM_EMBEDDINGS_BASE_URL`, else `VLLM_BASE_URL`; `PROVIDER:MODEL` for
            LangChain's `init_embeddings`, e.g. `openai:text-embedding-3-small`; or the folder or model hub name of a
            sentence-transformers or transformers model. A name with the word `e5` or `bge` in it gets the prefixes and
            pooling of that family, any other none and the mean; on a server only the prefixes. Prompts that a
            sentence-transformers model was saved with are used instead of prefixes.
        device: where a model runs in this process, as torch names it, such as `cuda`; there it runs in half precision.

    Raises:
        MissingExtraError: when the package for served models is not installed.
        EmbedderError: when a provider's embedder cannot be set up: its package or its key is missing, or a device is
            given, which is for models in this process.
        RagError: when the model is first used and can neither be read nor downloaded, or torch has no such device.
        TypeError: when the name is not text.
    """
    expect(str, name_or_path, "the name or the folder of an embedder", f"{MINILM!r} is one")
    if ":" in name_or_path and not Path(name_or_path).exists() and (provided := _provided(name_or_path)):
        if device != CPU:
            raise EmbedderError(f"embedder {name_or_path!r} runs elsewhere: leave out the device, got {device!r}")
        return provided
    name = Path(name_or_path).name
    if name.lower() in {MINILM.lower(), "minilm"} and not Path(name_or_path).exists():
        return MiniLMEmbeddings(device)
    return SentenceEmbeddings(name, name_or_path, family_of(name), device)


def family_of(name: str) -> Family:
    """Return the family of a model by its name."""
    words = _WORD.findall(name.lower())
    return next((family for word, family in FAMILIES.items() if word in words), Family())


def _provided(name: str) -> Embeddings | None:
    """Set up an embedder of a provider; None if LangChain knows no such provider, as in C:/models."""
    from langchain.embeddings import init_embeddings  # here, because importing it takes a while

    provider, _, model = name.partition(":")
    served = provider == "vllm"
    try:
        return ServedEmbeddings(model, family_of(Path(model).name)) if served else init_embeddings(name)
    except RagError:
        raise
    except Exception as error:
        if type(error) is ValueError and not served:  # the error of init_embeddings for an unknown provider
            return None
        raise EmbedderError(f"embedder {name!r} cannot be set up: {without_keys(str(error), [])}") from error


def last_embedder(name: str | None) -> Embeddings:
    """Return the default embedder if a knowledge base has it or none; otherwise a placeholder."""
    if name is None or Path(name).name.lower() == MINILM.lower():
        return MiniLMEmbeddings()
    return PlaceholderEmbeddings(name)
