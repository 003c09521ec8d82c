"""Indexing and asking on a Ray cluster: the same as on one machine, whoever is killed."""

import asyncio
import json
import os
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from fakes import ArithmeticEmbeddings, ScriptedModel
from processes import start
from ray_cluster import Told, scripted_extractor

from langgraph_rag.errors import ClusterError, DocumentError, QuestionError
from langgraph_rag.nodes.extract_triples import ModelExtractor
from langgraph_rag.tools.documents.files import read_documents
from langgraph_rag.tools.ingest.stages import from_arrow
from langgraph_rag.tools.knowledge_base import KnowledgeBase

ray = pytest.importorskip("ray", reason="ray is not installed: pip install 'langgraph-rag[ray]'")
pytestmark = pytest.mark.enable_socket

from langgraph_rag import distributed  # noqa: E402
from langgraph_rag.distributed import Job  # noqa: E402
from langgraph_rag.distributed.engine import read_replies, request  # noqa: E402

pa = pytest.importorskip("pyarrow")

TESTS = Path(__file__).parent
FILES, SECTIONS = 6, 10


@pytest.fixture(scope="module")
def cluster() -> Iterator[str]:
    """Start a cluster; its processes may take more than Ray's half minute on a busy machine."""
    os.environ["PYTHONPATH"] = os.pathsep.join([str(TESTS), str(TESTS.parent), os.environ.get("PYTHONPATH", "")])
    os.environ["RAY_worker_niceness"] = "0"  # noqa: SIM112 - Ray spells it so; by default 15, too slow beside tests
    for attempt in range(3):
        try:
            there = {} if os.environ.get("RAY_ADDRESS") else {"num_cpus": 2, "include_dashboard": False}
            context = ray.init(log_to_driver=False, logging_level="ERROR", **there)
            break
        except Exception:
            ray.shutdown()
            if attempt == 2:
                raise
    yield context.address_info["address"]
    ray.shutdown()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Return a folder of files whose sections are passages, one of them with a bad line."""
    folder = tmp_path / "works"
    folder.mkdir()
    for file in range(FILES):
        sections = [f"## Engine {file}-{n}\n\nEngine {file}-{n} was built in {1900 + n}.\n" for n in range(SECTIONS)]
        (folder / f"works-{file}.md").write_text(f"# Works {file}\n\n" + "\n".join(sections))
    return folder


def opened(path: Path, **options: Any) -> KnowledgeBase:
    return KnowledgeBase.open(path, ArithmeticEmbeddings(), pipeline="rules", **options)


def contents(kb: KnowledgeBase) -> Any:
    ids = sorted(kb.ids())
    facts = {repr(entry["triple"]): sorted(map(repr, entry["sources"])) for entry in kb.triples(ids)}
    vectors = {id_: vector.tolist() for id_, vector in kb.vectors(ids).items()}
    places = {source: kb.ids(source) for source in kb.sources()}
    info = {**kb.info(), "path": "", "vectors": ""}
    passages = {passage["id"]: passage for passage in kb.passages(ids)}
    return passages, facts, vectors, places, info, kb.fingerprint()


def local(path: Path, folder: Path, **options: Any) -> Any:
    with opened(path, **options) as kb:
        kb.add(read_documents(folder), progress=False)
        return contents(kb)


def test_files_indexed_on_a_cluster_are_those_indexed_here_and_a_second_run_computes_what_is_missing(
    cluster: str, tmp_path: Path, folder: Path
) -> None:
    log = tmp_path / "embedded.log"
    job = Job(embeddings=Told(log), batch=8)
    with opened(tmp_path / "kb") as kb:
        found = distributed.estimate(kb, [folder], job)
        assert (found.files, found.passages, found.new, found.failed) == (FILES, 60, 60, 0)
        assert found.seconds > 0
        assert not kb.ids()
        log.unlink()
        assert distributed.index(kb, [folder], job, progress=False).added == 60
        assert contents(kb) == local(tmp_path / "local", folder)
        (folder / "works-0.md").write_text("# Works 0\n\n## Engine new\n\nEngine new was built in 2000.\n")
        log.unlink()
        report = distributed.index(kb, [folder], Job(embeddings=Told(log), batch=8, update=True), progress=False)
        assert (report.added, report.removed, report.passages) == (1, SECTIONS, 51)
        assert len(log.read_text().splitlines()) == 1
        assert contents(kb) == local(tmp_path / "anew", folder)


def test_a_model_reads_the_facts_of_stored_passages(cluster: str, tmp_path: Path, folder: Path) -> None:
    job = Job(embeddings=ArithmeticEmbeddings, extractor=scripted_extractor)
    with opened(tmp_path / "kb", extractor=scripted_extractor()) as kb:
        report = distributed.index(kb, [folder], job, progress=False)
        assert (report.added, report.unread) == (60, 0)
        assert report.counts["calls"] >= 60 / 8
        assert contents(kb) == local(tmp_path / "local", folder, extractor=scripted_extractor())


def test_a_killed_worker_does_not_end_the_job_and_nothing_is_missing(
    cluster: str, tmp_path: Path, folder: Path
) -> None:
    log = tmp_path / "embedded.log"
    with opened(tmp_path / "kb") as kb:
        report = distributed.index(
            kb, [folder], Job(embeddings=Told(log, dies_at="Engine 3-3 "), batch=8), progress=False
        )
        assert (report.added, report.failed) == (60, [])
        assert log.with_suffix(".died").exists()
        assert contents(kb) == local(tmp_path / "local", folder)
    twice = [title for title, times in Counter(log.read_text().splitlines()).items() if times > 1]
    assert len(twice) <= 2 * 8


def drive(kb: str, folder: str, log: str, address: str) -> None:
    """Index in a process of its own, which the test kills."""
    with distributed.cluster(address), opened(Path(kb)) as base:
        distributed.index(base, [folder], Job(embeddings=Told(Path(log), seconds=0.1), batch=4), progress=False)


def test_a_killed_driver_is_gone_on_from_where_it_was(cluster: str, tmp_path: Path, folder: Path) -> None:
    log, kb = tmp_path / "embedded.log", tmp_path / "kb"
    driver = start(drive, str(kb), str(folder), str(log), cluster)
    deadline = time.monotonic() + 300
    while not log.exists() or len(log.read_text().splitlines()) < 24:
        assert driver.is_alive(), "the driver ended before it could be killed"
        assert time.monotonic() < deadline
        time.sleep(0.05)
    driver.kill()
    driver.join()
    with opened(kb) as base:
        stored = len(base.ids())
        assert 0 < stored < 60
        time.sleep(2)  # until the workers of the dead driver have ended
        log.unlink()
        report = distributed.index(base, [folder], Job(embeddings=Told(log), batch=4), progress=False)
        assert report.added == 60 - stored == len(log.read_text().splitlines())
        assert contents(base) == local(tmp_path / "local", folder)


def test_what_fails_is_told_with_its_error_and_all_else_is_stored(cluster: str, tmp_path: Path, folder: Path) -> None:
    (folder / "bad.md").write_bytes(b"\xff\xfe\x00 no text")
    job = Job(embeddings=Told(tmp_path / "log", fails_at="Engine 2-7 "), batch=8)
    with opened(tmp_path / "kb") as kb:
        report = distributed.index(kb, [folder], job, progress=False)
        assert report.added == len(kb.ids()) == 59
        errors = dict(report.failed)
        assert "cannot embed Engine 2-7" in errors[str(folder / "works-2.md")]
        assert "bad.md" in errors[str(folder / "bad.md")]
        assert distributed.index(kb, [folder], Job(embeddings=ArithmeticEmbeddings), progress=False).added == 1


def test_what_can_never_start_or_always_fails_is_an_error_and_no_wait(
    cluster: str, tmp_path: Path, folder: Path
) -> None:
    with opened(tmp_path / "kb") as kb:
        with pytest.raises(ClusterError, match=r"1 GPU.*2 CPUs and 0 GPUs"):
            distributed.index(
                kb, [folder], Job(embeddings=ArithmeticEmbeddings, device="cuda", patience=6), progress=False
            )
        with pytest.raises(DocumentError, match="no such file"):
            distributed.index(kb, [tmp_path / "nowhere"], Job())
        for n in range(120):
            (folder / f"none-{n}.md").write_bytes(b"\xff\xfe\x00 no text")
        for n in range(FILES):
            (folder / f"works-{n}.md").unlink()
        with pytest.raises(ClusterError, match="rows all failed"):
            distributed.index(kb, [folder], Job(embeddings=ArithmeticEmbeddings), progress=False)


class _Pid:
    async def ainvoke(self, given: dict[str, str], *, context: object = None) -> dict[str, object]:
        if given["question"] == "":
            raise QuestionError("empty")
        if given["question"] == "die" and not Path(given["mark"]).exists():
            Path(given["mark"]).touch()
            os._exit(9)
        await asyncio.sleep(0.05)
        return {"answer": given["question"], "pid": os.getpid()}


@contextmanager
def opened_graphs() -> Iterator[Any]:
    """Open, as it were, a graph that answers with its process."""
    yield lambda name: _Pid()


async def test_questions_are_spread_over_actors_and_one_that_dies_is_asked_again(cluster: str, tmp_path: Path) -> None:
    given = [{"question": f"{n}"} for n in range(8)]
    with distributed.graphs_on_ray(2, opened_graphs, patience=300) as ask:
        replies = await asyncio.gather(*(ask("cirag", one, None) for one in given))
        assert [reply["answer"] for reply in replies] == [one["question"] for one in given]
        assert len({reply["pid"] for reply in replies}) == 2
        with pytest.raises(QuestionError, match="empty"):
            await ask("cirag", {"question": ""}, None)
        assert (await ask("cirag", {"question": "die", "mark": str(tmp_path / "died")}, None))["answer"] == "die"


def test_an_engine_asks_with_the_prompt_of_the_package_and_reads_replies_as_a_served_model_is_read() -> None:
    engine = distributed.Engine("Qwen/Qwen3-0.6B", replicas=2, engine_kwargs={"max_model_len": 4_096})
    config = engine.config()
    assert (config.concurrency, config.engine_kwargs["max_model_len"], config.should_continue_on_error) == (
        2,
        4_096,
        True,
    )
    assert engine.version == ModelExtractor(ScriptedModel.of([], "Qwen/Qwen3-0.6B")).version
    passages = [
        {"id": f"{n}", "title": f"Engine {n}", "text": f"Engine {n} is blue.", "sentences": [f"Engine {n} is blue."]}
        for n in range(3)
    ]
    call = request({"call": json.dumps([{**passage, "hash": ""} for passage in passages])}, engine.prompt)
    assert [message["role"] for message in call["messages"]][-1] == "user"
    assert "Engine 2 is blue." in call["messages"][-1]["content"]
    assert json.loads(call["sampling_params"]["structured_outputs"]["json"])["required"] == ["passages"]
    facts = [["1", "Engine 0", "is", "blue"], ["1", "Engine 0", "is", "red"]]
    reply = json.dumps({"passages": [{"passage": 1, "facts": facts}]})[:-2] + ', {"passage": 2, "fac'  # cut off
    table = pa.Table.from_pylist(
        [{"call": call["call"], "reply": reply}, {"call": call["call"], "reply": "", "__inference_error__": "lost"}]
    )
    (row,) = from_arrow(read_replies(table, engine.prompt, engine.version))
    assert (row["id"], row["dropped"], row["extractor"]) == ("0", 1, engine.version)
    assert [fact["triple"] for fact in row["facts"]] == [["Engine 0", "is", "blue"]]


def test_a_cluster_that_is_not_there_is_a_clear_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ray, "is_initialized", lambda: False)

    def unreachable(**_: Any) -> None:
        raise ConnectionError("ray://nowhere\nmore")

    monkeypatch.setattr(ray, "init", unreachable)
    with (
        pytest.raises(ClusterError, match="a Ray cluster at nowhere:1 cannot be reached"),
        distributed.cluster("nowhere:1"),
    ):
        pass
