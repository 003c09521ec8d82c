"""Calls any LangChain embedder, and checks the vectors that it returns."""

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial

import numpy as np
from langchain_core.embeddings import Embeddings

from langgraph_rag.error_texts import without_keys
from langgraph_rag.errors import EmbedderError, RagError
from langgraph_rag.tools.embedding.sentence_embeddings import SentenceEmbeddings
from langgraph_rag.tools.embedding.served_embeddings import ServedEmbeddings
from langgraph_rag.tools.vectors import Matrix, unit


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
