"""An embedder on vLLM or another OpenAI-compatible server."""

from langchain_core.embeddings import Embeddings

from langgraph_rag.error_texts import without_keys
from langgraph_rag.errors import EmbedderError, MissingExtraError
from langgraph_rag.tools.embedding.sentence_embeddings import Family
from langgraph_rag.vllm_server import address_of, vllm_server


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
            model_kwargs={"extra_body": {"truncate_prompt_tokens": -1}},
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

        try:
            return self._client.embed_documents(texts)
        except OpenAIError as error:
            server = address_of(self._client.openai_api_base or "")
            place = f" at {server}" if server else ""
            told = without_keys(str(error), [self._client])
            raise EmbedderError(f"embedder {self.model_name!r} could not be asked{place}: {told}") from error
