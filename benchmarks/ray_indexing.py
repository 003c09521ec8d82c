"""Indexes on two Ray nodes of this machine: overhead against one process, and what kills at random moments cost.

python benchmarks/ray_indexing.py DATA --limit 400 --kills 2

The nodes are processes of this machine with one CPU each, so no network and no other machine's speed is measured. With
--model, a scripted model reads the facts, as many seconds later as a call takes.
"""

import argparse
import json
import os
import random
import signal
import socket
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from langchain_core.messages import AIMessage, BaseMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from measuring import report, verdict

from langgraph_rag import KnowledgeBase
from langgraph_rag.distributed import Job, cluster, index
from langgraph_rag.nodes.extract_triples import ModelExtractor
from langgraph_rag.offline.model import OfflineModel
from langgraph_rag.prompts.prompt import METADATA_KEY
from langgraph_rag.tools.documents.files import read_documents
from langgraph_rag.tools.facts.extraction import ParseExtractor, TripleExtractor
from langgraph_rag.tools.ingest.embeddings import MiniLMEmbeddings, embed_texts
from langgraph_rag.tools.ingest.splitting import Splitter, tokens_of
from langgraph_rag.tools.ingest.stages import (
    Row,
    analyse,
    document_rows,
    embed,
    extract,
    from_arrow,
    split,
    to_arrow,
)

_HERE = Path(__file__).parent
_TIMED = 400  # passages whose stages are timed
_FILES, _CALL = 8, 0.5  # files of the corpus; seconds of a call of the scripted model
_PORTS = ("metrics_agent_port", "metrics_export_port", "dashboard_agent_listen_port", "runtime_env_agent_port")
_ALIKE = 1e-5  # difference of vectors, as batches differ


class Logged(MiniLMEmbeddings):
    """The default embedder, which writes down the first words of each text."""

    def __init__(self, log: str) -> None:
        super().__init__()
        self._log = log

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        """Embed, then write down."""
        vectors = super().embed_documents(texts)
        with Path(self._log).open("a", encoding="utf-8") as file:
            file.write("".join(f"{json.dumps(text)}\n" for text in texts))
        return vectors


class Scripted(OfflineModel):
    """States of each passage that its title is named in it, after the time of a call."""

    def _generate(self, messages: list[BaseMessage], *_: Any, **__: Any) -> ChatResult:
        time.sleep(_CALL)
        values = next(m.response_metadata[METADATA_KEY] for m in messages if METADATA_KEY in m.response_metadata)
        facts = [["1", passage["title"], "is named in", passage["title"]] for passage in values["values"]["passages"]]
        entries = [{"passage": number, "facts": [fact]} for number, fact in enumerate(facts, start=1)]
        return ChatResult(generations=[ChatGeneration(message=AIMessage(json.dumps({"passages": entries})))])


def scripted() -> TripleExtractor:
    """Return the extractor by a scripted model."""
    return ModelExtractor(Scripted())


def job(log: str, *, model: bool) -> Job:
    """Return the job, here and in the driver that is killed."""
    return Job(embeddings=partial(Logged, log), extractor=scripted if model else None, patience=600)


def opened(folder: Path, log: str, *, model: bool) -> KnowledgeBase:
    """Open the knowledge base as the driver does."""
    return KnowledgeBase.open(folder, Logged(log), extractor=scripted() if model else None)


def drive(address: str, folder: str, files: Sequence[str], log: str, model: bool) -> None:
    """Index in a process of its own."""
    with cluster(address), opened(Path(folder), "/dev/null", model=model) as kb:
        index(kb, files, job(log, model=model), progress=False)


@contextmanager
def nodes(number: int) -> Iterator[str]:
    """Start nodes with one CPU each, and return the address of the first."""
    from ray.cluster_utils import Cluster

    path = os.pathsep.join([str(_HERE), str(_HERE.parent)])
    os.environ["PYTHONPATH"] = path
    started = Cluster()
    for _ in range(number):
        started.add_node(num_cpus=1, object_store_memory=200_000_000, **{name: _free_port() for name in _PORTS})
    try:
        yield started.address
    finally:
        started.shutdown()


def _free_port() -> int:
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        return int(listening.getsockname()[1])


def main() -> None:
    """Run the benchmark."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", type=Path, help="folder with corpus.jsonl")
    parser.add_argument("--limit", type=int, default=400, help="passages")
    parser.add_argument("--kills", type=int, default=2, help="by turns of a worker and of the driver")
    parser.add_argument("--model", action="store_true", help="let a scripted model read the facts")
    parser.add_argument("--stages", action="store_true", help="only take the times of the stages")
    parser.add_argument("--address", help="a cluster that runs, instead of two new nodes")
    arguments = parser.parse_args()
    with TemporaryDirectory() as temporary:
        folder = Path(temporary)
        files = _split(arguments.data / "corpus.jsonl", arguments.limit, folder)
        began = time.perf_counter()
        given = arguments.address or ("none" if arguments.stages else "")
        with _given(given) if given else nodes(2) as address:
            start = time.perf_counter() - began
            figures = {"cluster_start_seconds": round(start, 1), **_measured(arguments, folder, files, address)}
    rows = [("figure", "value", "goal"), *((name, str(value), _goal(name, value)) for name, value in figures.items())]
    report("ray_indexing", arguments.data, figures, rows)


@contextmanager
def _given(address: str) -> Iterator[str]:
    yield address


def _stage_times(folder: Path, files: list[str]) -> dict[str, float]:
    """Return the milliseconds of processor time that each stage takes for one of a few passages, in this process."""
    embeddings, extractor, times = MiniLMEmbeddings(), ParseExtractor(), dict[str, float]()
    splitter = Splitter(tokens_of(embeddings))
    stages: dict[str, Callable[[Any], Any]] = {
        "read": lambda _: document_rows(read_documents(files[:1])[:_TIMED]),
        "split": lambda rows: split(rows, splitter),
        "analyse": lambda rows: analyse(rows, extractor.pipeline),
        "embed": lambda rows: embed(rows, partial(embed_texts, embeddings), embeddings.model_name),
        "extract": lambda rows: extract(rows, extractor),
        "to and from Arrow": lambda rows: from_arrow(to_arrow(rows)),
    }
    rows: list[Row] = []
    for warm in (True, False):
        for name, stage in stages.items():
            began = time.process_time()
            rows = stage(rows[:8] if warm and name != "read" else rows)
            times[name] = 1000 * (time.process_time() - began)
    with KnowledgeBase.open(folder / "loaded", embeddings, extractor=extractor) as kb:
        kb.load(rows[:8])
        began = time.process_time()
        for start in range(8, len(rows), 64):
            kb.load(rows[start : start + 64])
        times["load"] = 1000 * (time.process_time() - began)
    return {name: round(spent / len(rows), 2) for name, spent in times.items()}


def _measured(arguments: Any, folder: Path, files: list[str], address: str) -> dict[str, object]:
    model = arguments.model
    stages = _stage_times(folder, files)
    if arguments.stages:
        return {"passages": arguments.limit, "stage_milliseconds": stages}
    with opened(folder / "local", "/dev/null", model=model) as kb:
        kb.add([{"title": "warm", "text": "It loads what is loaded once."}], progress=False)
        began = time.perf_counter()
        kb.add(read_documents(files), progress=False)
        local = time.perf_counter() - began
        wanted = _contents(kb)
    with cluster(address), opened(folder / "warm", "/dev/null", model=model) as kb:
        index(kb, files[:1], job("/dev/null", model=model), progress=False)
        began = time.perf_counter()
        index(kb, files[1:], job("/dev/null", model=model), progress=False)
        on_ray = (time.perf_counter() - began) * _FILES / (_FILES - 1)
        same = _same(_contents(kb), wanted)
    moments, log, ends = _killed(arguments, folder, files, address, on_ray)
    with cluster(address), opened(folder / "killed", "/dev/null", model=model) as kb:
        index(kb, files, job(str(log), model=model), progress=False)
        killed = _same(_contents(kb), wanted)
    texts = Counter(log.read_text(encoding="utf-8").splitlines())
    twice = sum(times - 1 for times in texts.values())
    return {
        "passages": arguments.limit,
        "stage_milliseconds": stages,
        "local_seconds": round(local, 1),
        "ray_seconds": round(on_ray, 1),
        "overhead": round(on_ray / local - 1, 3),
        "same": same,
        "kills": len(moments),
        "killed": ends,
        "same_after_kills": killed,
        "computed_twice": twice,
        "computed_twice_share": round(twice / arguments.limit, 4),
    }


def _killed(
    arguments: Any, folder: Path, files: list[str], address: str, seconds: float
) -> tuple[list[float], Path, list[str]]:
    """Kill workers and drivers by turns, each at a random moment after the run has begun to embed."""
    chance, log, moments, ends = random.Random(0), folder / "embedded.log", list[float](), list[str]()
    for number in range(arguments.kills):
        code = f"import ray_indexing as r; r.drive({address!r}, {str(folder / 'killed')!r}, {files!r}, {str(log)!r}, "
        driver = subprocess.Popen([sys.executable, "-c", f"{code}{arguments.model})"], cwd=_HERE)
        before = _lines(log)
        while driver.poll() is None and _lines(log) == before:
            time.sleep(0.1)
        moments.append(chance.uniform(0, seconds / (arguments.kills + 1)))
        time.sleep(moments[-1])
        ended = _worker() if number % 2 == 0 else driver.pid
        with suppress(ProcessLookupError):  # it may have ended by itself
            if ended:
                os.kill(ended, signal.SIGKILL)
                ends.append("worker" if number % 2 == 0 else "driver")
        if number % 2 == 0:
            driver.wait()
    return moments, log, ends


def _worker() -> int | None:
    """Return a process of a Ray worker of this user that works."""
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            name = (entry / "cmdline").read_bytes().split(b"\0")[0].decode()
        except OSError:
            continue
        if name.startswith("ray::MapBatches(call)") or name.startswith("ray::MapBatches"):
            return int(entry.name)
    return None


def _lines(log: Path) -> int:
    return len(log.read_text(encoding="utf-8").splitlines()) if log.exists() else 0


def _split(corpus: Path, limit: int, folder: Path) -> list[str]:
    lines = corpus.read_text(encoding="utf-8").splitlines(keepends=True)[:limit]
    names = [folder / f"part-{number}.jsonl" for number in range(_FILES)]
    for number, name in enumerate(names):
        name.write_text("".join(lines[number::_FILES]), encoding="utf-8")
    return [str(name) for name in names]


def _contents(kb: KnowledgeBase) -> Mapping[str, Any]:
    ids = sorted(id_ for id_ in kb.ids() if kb.passages([id_])[0]["title"] != "warm")
    facts = sorted(repr(entry["triple"]) for entry in kb.triples(ids))
    return {"passages": kb.passages(ids), "facts": facts, "vectors": kb.vectors(ids)}


def _same(found: Mapping[str, Any], wanted: Mapping[str, Any]) -> dict[str, bool | float]:
    """Return what is equal; of vectors also the largest difference."""
    by_id = [{passage["id"]: passage for passage in each["passages"]} for each in (found, wanted)]
    vectors, others = found["vectors"], wanted["vectors"]
    far = max((float(abs(vectors[id_] - others[id_]).max()) for id_ in others if id_ in vectors), default=1.0)
    facts = found["facts"] == wanted["facts"]
    return {"passages": by_id[0] == by_id[1], "facts": facts, "vectors": far <= _ALIKE, "largest_difference": far}


def _goal(name: str, value: object) -> str:
    if name == "overhead" and isinstance(value, float):
        return f"at most 0.15: {verdict(value <= 0.15)}"
    if name == "computed_twice_share" and isinstance(value, float):
        return f"under 0.01 of 20,000 passages: {verdict(value < 0.01)}"
    return ""


if __name__ == "__main__":
    main()
