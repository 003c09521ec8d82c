"""Vectors in a Chroma server, which runs in its own process and is killed, restarted and stripped of its data."""

import shutil
import socket
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

import pytest
import pytest_socket
from fakes import ArithmeticEmbeddings, contents, vectors
from servers import ChromaServer, serving
from test_cli import run
from test_knowledge_base import held_by_another_process

from langgraph_rag.concurrency.background import run_in_background
from langgraph_rag.context import Search
from langgraph_rag.errors import EmbeddingsMismatchError, KnowledgeBaseError, VectorServerError
from langgraph_rag.tools.knowledge_base import KnowledgeBase
from langgraph_rag.tools.stores.chroma import on_server

pytestmark = pytest.mark.usefixtures("localhost")
SEARCHES: tuple[Search, ...] = ("dense", "bm25", "hybrid", "graph")
TOWN = {"id": "pellworth", "title": "Pellworth", "text": "Pellworth is a city in Norland. Its harbour silted up."}
Open = Callable[..., KnowledgeBase]


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ChromaServer]:
    pytest_socket.enable_socket()
    server = ChromaServer(tmp_path_factory.mktemp("server"))
    server.start()
    yield server
    server.stop()


@pytest.fixture
def server(running: ChromaServer) -> Iterator[ChromaServer]:
    """Give the running server, and have it running again afterwards."""
    yield running
    if running.process.poll() is not None:
        running.start()


@pytest.fixture
def opened(tmp_path: Path, embeddings: ArithmeticEmbeddings) -> Iterator[Open]:
    """Open knowledge bases by name, and close them at the end."""
    every: list[KnowledgeBase] = []

    def open_(name: str, chroma: str | None = None) -> KnowledgeBase:
        every.append(KnowledgeBase.open(tmp_path / name, embeddings, chroma=chroma))
        return every[-1]

    yield open_
    for kb in every:
        kb.close()


@pytest.fixture
def served(server: ChromaServer, opened: Open, documents: list[dict[str, str]]) -> KnowledgeBase:
    """Hold the eight documents, with their vectors in the server."""
    kb = opened("served", server.url)
    kb.add(documents, progress=False)
    return kb


def found(kb: KnowledgeBase) -> dict[str, float]:
    """Return what all kinds of search find, with scores."""
    query = "Who directed the film about salt?"
    passages = {f"{by} {p['id']}": p["score"] for by in SEARCHES for p in kb.search(query, 20, by=by)}
    triples = {str(fact["triple"]): 1.0 for fact in run_in_background(kb.asearch_triples(query, 50))}
    cosines = run_in_background(kb.apassage_cosines([query], ["vint", "holm", "unknown", "skellby", "heron"]))
    return passages | triples | {id_: float(near[0]) for id_, near in cosines.items()}


def test_the_index_of_a_server_compares_as_many_vectors_as_it_takes_to_miss_none(
    server: ChromaServer,
) -> None:
    """With Chroma's 100, one of the 50 nearest of 7,000 is missed, as in collections that were made before."""
    client = on_server(server.url, "early").connect()
    client._api.get_or_create_collection("early-passages", configuration={"hnsw": {"space": "cosine"}})
    assert client.collection("early-passages")._model.configuration_json["hnsw"]["ef_search"] == 1000
    assert client.collection("early-passages")._model.configuration_json["hnsw"]["space"] == "cosine"
    given = {"hnsw": {"space": "cosine", "ef_search": 2000}}
    client._api.get_or_create_collection("given-passages", configuration=given)
    assert client.collection("given-passages")._model.configuration_json["hnsw"]["ef_search"] == 2000
    client.close()


# --- the same as in the folder ---------------------------------------------------------------------------------------
def test_a_server_does_what_files_do(
    kb: KnowledgeBase, served: KnowledgeBase, server: ChromaServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(served._vectors, "_largest_write", 3)  # so that these few are many
    assert found(served) == pytest.approx(found(kb), rel=1e-4)

    for each in (kb, served):
        each.update([TOWN], progress=False)
        each.delete(["heron", "skellby"])
        each.add([{"id": "heron", "text": "Herons fish in the harbour of Pellworth."}], progress=False)

    assert found(served) == pytest.approx(found(kb), rel=1e-4)
    assert contents(served) == contents(kb)
    assert served.info()["vectors"] == server.url
    assert not (served.path / "chroma").exists()
    assert kb.info()["vectors"] == str(kb.path / "chroma")


def test_an_address_that_is_no_text_is_refused(tmp_path: Path) -> None:
    address: Any = 5
    with pytest.raises(TypeError, match=r"expected the address of a Chroma server \(chroma\), got 5"):
        KnowledgeBase.open(tmp_path / "kb", ArithmeticEmbeddings(), chroma=address)
    with pytest.raises(KnowledgeBaseError, match="as http://HOST:PORT"):
        KnowledgeBase.open(tmp_path / "kb", ArithmeticEmbeddings(), chroma="localhost:8000")
    assert not (tmp_path / "kb").exists()


def test_it_is_found_again_without_being_named(
    server: ChromaServer, tmp_path: Path, documents: list[dict[str, str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in ("tools.knowledge_base", "cli.options"):
        monkeypatch.setattr(f"langgraph_rag.{module}.last_embedder", lambda _: ArithmeticEmbeddings())
    (tmp_path / "birds.md").write_text("# Heron\n\nHerons stand still in shallow water.\n")

    run("index", tmp_path / "birds.md", "--kb", tmp_path / "kb", "--chroma", f"{server.url}/")

    assert f"{server.url}\n" in run("info", "--kb", tmp_path / "kb").stdout
    with KnowledgeBase.open(tmp_path / "kb") as kb:
        assert [passage["title"] for passage in kb.search("shallow water")] == ["Heron"]


def test_knowledge_bases_on_one_server_do_not_see_each_other(
    served: KnowledgeBase, server: ChromaServer, opened: Open
) -> None:
    other = opened("other", server.url)

    other.add([{"id": "tern", "text": "Terns nest in Pellworth."}], progress=False)

    assert [passage["id"] for passage in other.search("Pellworth")] == ["tern"]
    assert "tern" not in [passage["id"] for passage in served.search("Terns nest in Pellworth.", 20)]
    other.delete(["tern"])
    assert len(served.search("Pellworth", 20)) == 8


def test_another_embedder_is_refused_by_what_the_server_holds(served: KnowledgeBase) -> None:
    longer = ArithmeticEmbeddings(dimensions=65).embed_documents(["long"])

    with pytest.raises(EmbeddingsMismatchError, match="holds vectors of another embedder"):
        served._vectors.put(["long"], longer)  # type: ignore[arg-type]


# --- moving ----------------------------------------------------------------------------------------------------------
def test_vectors_move_to_a_server_and_back(
    kb: KnowledgeBase, server: ChromaServer, embeddings: ArithmeticEmbeddings
) -> None:
    kb.close()
    with KnowledgeBase.open(kb.path, embeddings, chroma=server.url) as moved:
        moved.update([TOWN], progress=False)
        expected, held = found(moved), contents(moved)

    with KnowledgeBase.open(kb.path, embeddings, chroma="folder") as back:
        assert found(back) == pytest.approx(expected, rel=1e-4)
        assert contents(back) == held
    before = len(embeddings.embedded)
    with KnowledgeBase.open(kb.path, embeddings, chroma="folder"):
        assert len(embeddings.embedded) == before


def test_a_copy_that_moves_away_and_back_leaves_the_vectors_of_the_original_alone(
    served: KnowledgeBase, server: ChromaServer, opened: Open
) -> None:
    served.close()
    shutil.copytree(served.path, served.path.with_name("copy"))
    opened("copy", "folder").close()
    copy = opened("copy", server.url)

    copy.delete(["heron"])

    assert len(vectors(opened("served"))["passages"]) == 8
    assert len(vectors(copy)["passages"]) == 7


def test_only_who_may_change_it_moves_it(served: KnowledgeBase, embeddings: ArithmeticEmbeddings) -> None:
    served.close()
    with (
        held_by_another_process(served.path),
        pytest.raises(KnowledgeBaseError, match="stay in http://.*: it is open elsewhere"),
    ):
        KnowledgeBase.open(served.path, embeddings, chroma="folder")


@pytest.mark.parametrize(
    "address", ["", "localhost:8000", "ftp://h", "http://me:s3cret@h:8000", "http://h?token=s3cret", "http://h/#s3cret"]
)
def test_an_address_with_more_than_the_server_is_refused_and_not_told(address: str, opened: Open) -> None:
    with pytest.raises(KnowledgeBaseError, match="expected 'folder', or the address of a Chroma server") as refused:
        opened("kb", address)
    assert "s3cret" not in str(refused.value)


# --- a server that is not there, or not what it should be ------------------------------------------------------------
def test_a_server_that_is_not_there_is_told_and_the_old_place_stays(
    kb: KnowledgeBase, embeddings: ArithmeticEmbeddings
) -> None:
    expected = contents(kb)
    kb.close()
    with socket.socket() as held:
        held.bind(("127.0.0.1", 0))  # and does not listen
        dead = f"http://127.0.0.1:{held.getsockname()[1]}"

        with pytest.raises(KnowledgeBaseError, match=f"vectors in {dead} cannot be .*refused.*: start that server"):
            KnowledgeBase.open(kb.path, embeddings, chroma=dead)

    with KnowledgeBase.open(kb.path, embeddings) as reopened:
        assert contents(reopened) == expected


def test_a_server_that_does_not_answer_is_not_waited_for(opened: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("langgraph_rag.tools.stores.chroma._TIMEOUT", 0.2)
    with socket.socket() as silent:
        silent.bind(("127.0.0.1", 0))
        silent.listen()

        with pytest.raises(VectorServerError, match="timed out"):
            opened("kb", f"http://127.0.0.1:{silent.getsockname()[1]}")


@pytest.mark.parametrize(("status", "page"), [(200, b"<p>Welcome!</p>" * 99), (200, b"{}"), (404, b""), (502, b"[]")])
def test_another_kind_of_server_is_told_and_gets_the_headers_of_the_environment(
    status: int, page: bytes, opened: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    came: list[str | None] = []

    class Answer(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            came.append(self.headers["X-Key"])
            self.send_response(status)
            self.send_header("Content-Length", str(len(page)))
            self.end_headers()
            self.wfile.write(page)

    monkeypatch.setenv("CHROMA_SERVER_HEADERS", '{"X-Key": "s3cret"}')
    with (
        serving(HTTPServer(("127.0.0.1", 0), Answer)) as other,
        pytest.raises(KnowledgeBaseError, match="cannot be read or written") as told,
    ):
        opened("kb", f"http://127.0.0.1:{other.server_port}")
    assert came == ["s3cret"]
    assert len(str(told.value)) < 700


def test_a_server_that_dies_loses_nothing_and_is_asked_again_when_it_is_back(
    kb: KnowledgeBase, served: KnowledgeBase, server: ChromaServer
) -> None:
    server.stop()
    for change in (
        lambda: served.add([{"id": "tern", "text": "Terns nest in Skellby."}], progress=False),
        lambda: served.update([TOWN], progress=False),
        lambda: served.delete(["heron"]),
        lambda: served.search("Pellworth"),
    ):
        with pytest.raises(VectorServerError, match=f"{server.url} cannot be read or written"):
            change()

    server.start()

    assert found(served) == pytest.approx(found(kb), rel=1e-4)
    for each in (kb, served):
        each.update([TOWN], progress=False)
    assert contents(served) == contents(kb)


def test_two_changes_cut_short_one_after_the_other_are_repaired(
    kb: KnowledgeBase, served: KnowledgeBase, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One leaves a vector too many, the other would leave one too few: their numbers would be equal again."""
    with monkeypatch.context() as cut:
        cut.setattr(served._vectors, "delete", lambda *_: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            served.delete(["heron"])
    with monkeypatch.context() as cut:
        cut.setattr(served._vectors, "put", lambda *_: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            served.update([TOWN], progress=False)
    served.close()

    kb.delete(["heron"])
    kb.update([TOWN], progress=False)
    with KnowledgeBase.open(served.path, served.embeddings) as repaired:
        assert vectors(repaired)["passages"] == vectors(kb)["passages"]


def test_vectors_that_a_server_lost_are_made_anew(served: KnowledgeBase, server: ChromaServer) -> None:
    expected, held = found(served), contents(served)
    server.stop()
    shutil.rmtree(server.folder)
    server.start()
    with pytest.raises(KnowledgeBaseError, match="does not exist.*open the knowledge base again"):
        served.search("Pellworth")
    served.close()

    with KnowledgeBase.open(served.path, served.embeddings) as repaired:
        assert found(repaired) == pytest.approx(expected, rel=1e-4)
        assert contents(repaired) == held
