"""An embedder on a server is sent texts as they are, with the prefixes of its family."""

import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from fakes import ArithmeticEmbeddings
from pydantic import SecretStr
from servers import JsonServer, serving

from langgraph_rag import KnowledgeBase, create_native_rag, load_embeddings, load_model
from langgraph_rag.errors import EmbedderError, EmbeddingsMismatchError, MissingExtraError
from langgraph_rag.tools.ingest.embeddings import embed_queries, embed_texts, name_of

pytestmark = pytest.mark.usefixtures("localhost")
TOWN = {"id": "kell", "title": "Kell", "text": "Kell is a town in Norland. Its mayor is Ada Holm."}


class Server(JsonServer):
    """An OpenAI-compatible server of an embedder: keeps what it is sent."""

    def __init__(self) -> None:
        super().__init__()
        self.sent = list[dict[str, Any]]()
        self.refusal: tuple[int, Any] | None = None
        self.refuses: Callable[[dict[str, Any]], tuple[int, Any] | None] = lambda body: self.refusal

    def answer(self, body: dict[str, Any]) -> tuple[int, Any]:
        self.sent.append(body)
        vectors = ArithmeticEmbeddings().embed_documents(body["input"])
        data = [{"object": "embedding", "index": place, "embedding": vector} for place, vector in enumerate(vectors)]
        return self.refuses(body) or (200, {"object": "list", "model": body["model"], "data": data})


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    with serving(Server()) as server:
        monkeypatch.setenv("VLLM_BASE_URL", "http://127.0.0.1:9/v1")
        monkeypatch.setenv("VLLM_EMBEDDINGS_BASE_URL", server.url)
        yield server


def test_texts_go_as_they_are_with_the_prefixes_of_the_family(server: Server) -> None:
    embedder = load_embeddings("vllm:intfloat/e5-base-v2")

    passages, queries = embed_texts(embedder, ["Kell", "Ost"]), embed_queries(embedder, ["Where?", "Who?"])

    assert [(sent["model"], sent["input"]) for sent in server.sent] == [
        ("intfloat/e5-base-v2", ["passage: Kell", "passage: Ost"]),
        ("intfloat/e5-base-v2", ["query: Where?", "query: Who?"]),
    ]
    assert all(sent["truncate_prompt_tokens"] == -1 for sent in server.sent)
    assert passages.shape == queries.shape == (2, len(ArithmeticEmbeddings().embed_query("Kell")))
    assert np.allclose(embedder.embed_query("Where?"), embedder.embed_documents(["Where?"])) is False


@pytest.mark.parametrize(
    ("status", "told"),
    [
        (422, {"detail": [{"type": "extra_forbidden", "loc": ["body", "truncate_prompt_tokens"]}]}),
        (400, {"error": {"message": "Unrecognized request argument supplied: truncate_prompt_tokens"}}),
    ],
)
def test_a_server_that_refuses_to_truncate_is_not_asked_to(server: Server, status: int, told: Any) -> None:
    server.refuses = lambda body: (status, told) if "truncate_prompt_tokens" in body else None
    embedder = load_embeddings("vllm:intfloat/e5-base-v2")

    for _ in range(2):
        embed_texts(embedder, ["Kell", "Ost"])

    assert ["truncate_prompt_tokens" in sent for sent in server.sent] == [True, False, False]


def test_a_server_that_takes_few_texts_at_once_is_sent_few(server: Server) -> None:
    told = {"error": "batch size 64 > maximum allowed batch size 32", "error_type": "Validation"}
    server.refuses = lambda body: (422, told) if len(body["input"]) > 8 else None
    embedder = load_embeddings("vllm:intfloat/e5-base-v2")

    vectors = embed_texts(embedder, [f"Town {number}" for number in range(20)])

    assert [len(sent["input"]) for sent in server.sent] == [20, 10, 5, 5, 5, 5]
    assert len(vectors) == 20


class PooledOtherwise(ArithmeticEmbeddings):
    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        return [vector[::-1] for vector in super().embed_documents(texts)]


def test_the_same_model_in_this_process_is_known_by_its_vectors(server: Server, tmp_path: Path) -> None:
    assert name_of(load_embeddings("vllm:small")) == "vllm:small"
    with KnowledgeBase.open(tmp_path / "kb", load_embeddings("vllm:small")) as kb:
        kb.add([TOWN], progress=False)

    with KnowledgeBase.open(tmp_path / "kb", ArithmeticEmbeddings("small")) as kb:
        assert kb.search("Kell")
    with pytest.raises(EmbeddingsMismatchError, match="made with embedder 'vllm:small' .*whose vectors differ"):
        KnowledgeBase.open(tmp_path / "kb", PooledOtherwise("small"))


def test_a_knowledge_base_is_made_and_asked_with_it(server: Server, tmp_path: Path) -> None:
    with KnowledgeBase.open(tmp_path / "kb", load_embeddings("vllm:small")) as kb:
        kb.add([TOWN], progress=False)
        result = (
            create_native_rag(load_model("offline"), kb).compile().invoke({"question": "Who is the mayor of Kell?"})
        )

    assert result["answer"] == "Ada Holm"
    assert any("Who is the mayor of Kell?" in sent["input"] for sent in server.sent)


def test_without_an_address_of_its_own_it_is_where_the_model_is(
    server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("VLLM_BASE_URL", server.url)
    monkeypatch.delenv("VLLM_EMBEDDINGS_BASE_URL")

    assert load_embeddings("vllm:small").embed_query("Kell") == ArithmeticEmbeddings().embed_query("Kell")


def test_a_refusal_says_where_and_what_the_server_said(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    place = f"127.0.0.1:{server.server_port}/v1"
    monkeypatch.setenv("VLLM_EMBEDDINGS_BASE_URL", f"http://me:secret@{place}")
    server.refusal = 404, {"error": {"message": "the model `small` does not exist", "type": "NotFoundError"}}

    with pytest.raises(EmbedderError, match=f"'vllm:small' could not be asked at http://{place}: .*`small` does not"):
        embed_texts(load_embeddings("vllm:small"), ["Kell"])


@pytest.mark.parametrize("key", ["sk-secret-0123456789abc", "correct-horse-battery"])
def test_a_refusal_does_not_show_the_key(server: Server, monkeypatch: pytest.MonkeyPatch, key: str) -> None:
    monkeypatch.setenv("VLLM_API_KEY", key)
    server.refusal = 401, {"error": {"message": f"bad key Bearer {key}"}}

    with pytest.raises(EmbedderError, match=r"bad key .*\(key\)") as refused:
        embed_texts(load_embeddings("vllm:small"), ["Kell"])
    assert key not in str(refused.value)


def test_any_embedder_does_not_show_its_key(monkeypatch: pytest.MonkeyPatch) -> None:
    embedder = ArithmeticEmbeddings("small")
    monkeypatch.setattr(embedder, "api_key", SecretStr("correct-horse-battery"), raising=False)
    monkeypatch.setattr(embedder, "embed_documents", lambda _: Path("correct-horse-battery").read_text())

    with pytest.raises(EmbedderError, match=r"could not be asked: FileNotFoundError: .*'\(key\)'"):
        embed_texts(embedder, ["Kell"])


def test_an_address_without_a_scheme_does_not_show_its_password(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("VLLM_EMBEDDINGS_BASE_URL", "user:pw12345678@127.0.0.1:1/v1")

    with pytest.raises(EmbedderError, match="VLLM_EMBEDDINGS_BASE_URL: expected an address that begins with") as failed:
        load_embeddings("vllm:small")
    assert "pw12345678" not in str(failed.value)


def test_what_is_missing_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(EmbedderError, match="runs elsewhere: leave out the device"):
        load_embeddings("vllm:small", device="cuda")
    monkeypatch.setenv("VLLM_TIMEOUT", "soon")
    with pytest.raises(EmbedderError, match="embedder 'vllm:small' cannot be set up: VLLM_TIMEOUT: expected the"):
        load_embeddings("vllm:small")
    monkeypatch.setitem(sys.modules, "langchain_openai", None)
    with pytest.raises(MissingExtraError, match="openai"):
        load_embeddings("vllm:small")
