"""A small knowledge base of eight documents about two film directors, two films, a producer, two places and a bird."""

import gc
import os
from collections.abc import Iterator
from pathlib import Path
from shutil import copytree, disk_usage

import pytest
import pytest_socket
from fakes import ArithmeticEmbeddings
from savers import postgres

import langgraph_rag
from langgraph_rag.tools.documents.files import read_documents
from langgraph_rag.tools.ingest import indexing
from langgraph_rag.tools.ingest.text import RULES, text_pipeline
from langgraph_rag.tools.knowledge_base import KnowledgeBase

SAMPLE = Path(langgraph_rag.__file__).parent / "sample"

DOCUMENTS = [
    {
        "id": "vint",
        "title": "Orla Vint",
        "text": "Orla Vint (born 12 March 1931) was a film director. She directed The Salt Road in 1968. "
        "Vint was born in Pellworth.",
    },
    {
        "id": "salt-road",
        "title": "The Salt Road",
        "text": "The Salt Road is a 1968 drama film directed by Orla Vint. It was produced by Casper Holm. "
        "The film was shot in Pellworth.",
    },
    {
        "id": "pellworth",
        "title": "Pellworth",
        "text": "Pellworth is a harbour town in Norland. The town was founded in 1644.",
        "source": "gazetteer.txt",
    },
    {
        "id": "holm",
        "title": "Casper Holm",
        "text": "Casper Holm (3 May 1929 – 8 July 1999) was a film producer. "
        "He produced The Salt Road and Winter Tide.",
    },
    {
        "id": "winter-tide",
        "title": "Winter Tide",
        "text": "Winter Tide is a 1971 film directed by Ines Barrow. It was produced by Casper Holm.",
    },
    {
        "id": "barrow",
        "title": "Ines Barrow",
        "text": "Ines Barrow (born 2 June 1940) is a film director from Skellby. She studied in Pellworth.",
    },
    {
        "id": "skellby",
        "title": "Skellby",
        "text": "Skellby is a village in Norland. It is known for its lighthouse, built in 1802.",
    },
    {
        "id": "heron",
        "title": "Grey heron",
        "text": "Herons stand still in shallow water. They wait for fish.",
    },
]


_IN_MEMORY = Path("/dev/shm")  # noqa: S108  # of Linux
_ENOUGH = 4_000_000_000  # bytes


def pytest_configure(config: pytest.Config) -> None:
    """Keep the files of tests in memory where there is room: databases are written to disk again and again."""
    if _IN_MEMORY.is_dir() and os.access(_IN_MEMORY, os.W_OK) and disk_usage(_IN_MEMORY).free > _ENOUGH:
        os.environ.setdefault("PYTEST_DEBUG_TEMPROOT", str(_IN_MEMORY))


def pytest_collection_finish() -> None:
    """Have the garbage collector pass over what is there to stay: thousands of tests, and all that they import."""
    gc.freeze()


@pytest.fixture
def documents() -> list[dict[str, str]]:
    return [dict(document) for document in DOCUMENTS]


@pytest.fixture
def embeddings() -> ArithmeticEmbeddings:
    return ArithmeticEmbeddings()


@pytest.fixture
def empty_kb(tmp_path: Path, embeddings: ArithmeticEmbeddings) -> Iterator[KnowledgeBase]:
    with KnowledgeBase.open(tmp_path / "kb", embeddings) as kb:
        yield kb


@pytest.fixture(scope="session")
def indexed_documents(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Hold the eight documents; a copy takes half the time of indexing them again."""
    folder = tmp_path_factory.mktemp("documents") / "kb"
    with KnowledgeBase.open(folder, ArithmeticEmbeddings()) as kb:
        kb.add([dict(document) for document in DOCUMENTS], progress=False)
    return folder


@pytest.fixture
def own_kb(indexed_documents: Path, tmp_path: Path, embeddings: ArithmeticEmbeddings) -> Iterator[KnowledgeBase]:
    """Hold the eight documents, for a test that changes them."""
    copytree(indexed_documents, tmp_path / "kb")
    with KnowledgeBase.open(tmp_path / "kb", embeddings) as kb:
        yield kb


@pytest.fixture
def kb(own_kb: KnowledgeBase) -> KnowledgeBase:
    """Hold the eight documents; where no test of a file changes them, its `kb` is `read_kb`."""
    return own_kb


@pytest.fixture(scope="session")
def read_kb(indexed_documents: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[KnowledgeBase]:
    """Hold the eight documents, for all tests that read them."""
    folder = copytree(indexed_documents, tmp_path_factory.mktemp("read") / "kb")
    with KnowledgeBase.open(folder, ArithmeticEmbeddings()) as kb:
        yield kb


@pytest.fixture(scope="session")
def sample_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Hold the sample corpus, made with the default embedder; to write to it, copy it."""
    folder = tmp_path_factory.mktemp("sample") / "kb"
    with pytest.MonkeyPatch.context() as patched, KnowledgeBase.open(folder) as kb:
        patched.setattr(indexing, "text_pipeline", lambda _: text_pipeline(RULES))  # also where a trained one is
        kb.add(read_documents([SAMPLE / "corpus.jsonl"]), progress=False)
    return folder


@pytest.fixture(scope="session")
def sample_kb(sample_folder: Path) -> Iterator[KnowledgeBase]:
    with KnowledgeBase.open(sample_folder) as kb:
        yield kb


@pytest.fixture(scope="session")
def database() -> Iterator[str]:
    """Name a database in Postgres."""
    with postgres() as database:
        yield database


@pytest.fixture
def localhost() -> None:
    """Let a test speak to servers on this machine, and to no other."""
    pytest_socket.enable_socket()
    pytest_socket.socket_allow_hosts(["127.0.0.1", "localhost"], allow_unix_socket=True)
