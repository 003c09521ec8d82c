"""Indexes files on the machines of a Ray cluster; this process is the only one that writes the knowledge base.

A first pass reads, splits, analyses and embeds, and reads the facts if that takes no model. A second one lets a model
read the passages that are stored. So each row that is stored says which stages are done: another run of the same job
computes what is missing, however the last one ended, and a kill costs the rows in hand.
"""

import logging
import uuid
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple, cast

from langchain_core.embeddings import Embeddings
from tqdm.auto import tqdm

from langgraph_rag.concurrency.background import run_in_background
from langgraph_rag.distributed.cluster import PATIENCE, Watch, imported_ray, kept_alive, started_pulse
from langgraph_rag.distributed.engine import Engine
from langgraph_rag.distributed.workers import Work, digests, embed_analysed, read_facts, read_files, survey, through
from langgraph_rag.errors import ClusterError
from langgraph_rag.nodes.extract_triples import Cost
from langgraph_rag.progress import hidden
from langgraph_rag.records import Record
from langgraph_rag.tools.documents.files import readable_files
from langgraph_rag.tools.documents.rows import FieldNames
from langgraph_rag.tools.facts.extraction import TripleExtractor, needs_no_model
from langgraph_rag.tools.ingest.embeddings import CPU, MiniLMEmbeddings
from langgraph_rag.tools.ingest.splitting import tokens_of
from langgraph_rag.tools.ingest.stages import Row, from_arrow, to_arrow
from langgraph_rag.tools.knowledge_base import KnowledgeBase

_log = logging.getLogger(__name__)
_FEWEST, _BYTES = 16, 2_048  # passages of one table, and bytes of one passage, about
_AT_ONCE = 20_000  # stored passages that are handed out together to be read by a model
_CALLING = 0.25  # of a processor, for a task that mostly waits for a model
_ALL_FAILED = 100  # rows in a row that stop the job
_FILES = 64  # of one task that reads, at most


@dataclass(frozen=True)
class Job:
    """How files are indexed on a cluster.

    Attributes:
        embeddings: makes the embedder of the knowledge base, on each worker; it is pickled.
        extractor: makes the extractor of the knowledge base, likewise; or a vLLM engine on the GPUs of the cluster.
        device: where the embedder runs, as torch names it; on other devices than `cpu`, each embedder has a GPU.
        names, format: of the files, as in `read_what_can_be`.
        batch: passages of one task, which a dead worker costs; by default as many as the cluster has CPUs, at least 16.
        patience: seconds without any sign of life of a worker after which the job is given up.
        update: whether to remove passages that the files no longer have.
    """

    embeddings: Callable[[], Embeddings] = MiniLMEmbeddings
    extractor: Callable[[], TripleExtractor] | Engine | None = None
    device: str = CPU
    names: FieldNames = field(default_factory=dict)
    format: str = ""
    batch: int | None = None
    patience: float = PATIENCE
    update: bool = False


@dataclass
class Report:
    """What a job did, in passages; those that were neither added nor replaced were stored before.

    `failed` has the source and the error of each row that failed, `unread` counts the passages that the extractor could
    not read in the whole knowledge base, and `counts` what workers counted: files, passages, calls and tokens of a
    model.
    """

    passages: int = 0
    added: int = 0
    replaced: int = 0
    read: int = 0
    dropped: int = 0
    removed: int = 0
    unread: int = 0
    failed: list[tuple[str, str]] = field(default_factory=list)
    counts: dict[str, float] = field(default_factory=dict)


class Estimate(NamedTuple):
    """What a job takes. Seconds are those of the stages before a model, on all CPUs of the cluster."""

    files: int
    passages: int
    new: int
    failed: int
    batches: int
    cpus: int
    seconds: float
    cost: Cost


def index(kb: KnowledgeBase, sources: Iterable[str | Path], job: Job, *, progress: bool = True) -> Report:
    """Index files and folders; run again to go on after an interruption, and to try again what failed.

    The files must have the same paths on all machines. A passage with an id of its own that has another text now is
    replaced.

    Raises:
        ClusterError: when no worker can start or goes on, or a hundred rows in a row fail.
        DocumentError: when there is no such file or folder.
        ModelAccessError: when the model denies access.
        RagError: as `KnowledgeBase.load` does. What was done is stored.
    """
    return _Run(kb, job, progress).index(_files(sources))


def estimate(kb: KnowledgeBase, sources: Iterable[str | Path], job: Job) -> Estimate:
    """Read and split files on the cluster, take the time of some passages, and store nothing.

    Raises:
        ClusterError, DocumentError: as `index` does.
    """
    return _Run(kb, job, progress=False).estimate(_files(sources))


def _files(sources: Iterable[str | Path]) -> tuple[list[str], list[str]]:
    found = [readable_files(Path(source)) for source in sources]
    return [str(file) for files, _ in found for file in files], [
        problem for _, problems in found for problem in problems
    ]


class _Run:
    """One run of a job."""

    def __init__(self, kb: KnowledgeBase, job: Job, progress: bool) -> None:
        ray = imported_ray()
        tokens_of(kb.embeddings)  # raises, if the embedder of the knowledge base was not given
        self._kb, self._job, self._progress = kb, job, progress
        self._cpus = max(1, int(ray.cluster_resources().get("CPU", 1)))
        self._gpus = int(ray.cluster_resources().get("GPU", 0))
        self._batch = job.batch or max(_FEWEST, self._cpus)
        self._pulse = started_pulse()
        self._report = Report()
        self._seen: defaultdict[str, list[bytes]] = defaultdict(list)
        self._failing = 0
        self._by_model = not needs_no_model(kb.extractor)
        given = _missing if job.extractor is None or isinstance(job.extractor, Engine) else job.extractor
        self._work = Work(
            job=uuid.uuid4().hex,
            pulse=self._pulse,
            embeddings=job.embeddings,
            extractor=given if self._by_model else partial(_same, kb.extractor),
            pipeline=kb.info()["text_pipeline"],
            splitting=kb.splitting,
            names=job.names,
            format=job.format,
            folder=str(Path.cwd()),
            batch=self._batch,
            stored=ray.put(_sorted(digests(kb.hashes().items()))),
        )

    def index(self, found: tuple[list[str], list[str]]) -> Report:
        files, unreadable = found
        self._report.failed += [("", problem) for problem in unreadable]
        with _small_blocks(self._batch):
            self._all_stages(files)
            self._facts()
        gone = self._gone() if self._job.update else {}
        self._report.removed = self._kb.settle_loaded(gone)
        self._report.unread = self._kb.info()["passages_to_extract"]
        return self._report

    def estimate(self, found: tuple[list[str], list[str]]) -> Estimate:
        files, unreadable = found
        stages = ["analyse", "embed", *([] if self._by_model else ["extract"])]
        sums: defaultdict[str, int] = defaultdict(int)
        with _small_blocks(self._batch):
            surveyed = self._map(self._read(files), partial(survey, work=self._work, stages=stages)) if files else None
            for table in self._watch(CPU_NEED).batches(surveyed) if surveyed else ():
                for name in table.column_names:
                    sums[name] += sum(table[name].to_pylist())
        cost = Cost(sums["calls"], sums["input_tokens"], sums["output_tokens"])
        each = sums["milliseconds"] / 1000 / sums["timed"] if sums["timed"] else 0.0
        return Estimate(
            files=len(files),
            passages=sums["passages"] - sums["failed"],
            new=sums["new"],
            failed=sums["failed"] + len(unreadable),
            batches=-(-sums["new"] // self._batch),
            cpus=self._cpus,
            seconds=each * sums["new"] / self._cpus,
            cost=cost,
        )

    def _all_stages(self, files: Sequence[str]) -> None:
        if not files:
            return
        own = [] if self._by_model else ["extract"]
        on_device = self._job.device != CPU
        stages = ["analyse", *own] if on_device else ["analyse", "embed", *own]
        dataset = self._map(self._read(files), partial(through, work=self._work, stages=stages))
        if on_device:
            embedding = kept_alive(partial(embed_analysed, work=self._work), self._pulse)

            class Embedding:  # an actor keeps its process, and so the model on its device
                def __call__(self, table: Any) -> Iterator[Any]:
                    yield from embedding(table)

            dataset = dataset.map_batches(
                Embedding,
                batch_format="pyarrow",
                batch_size=self._batch,
                num_cpus=0,
                num_gpus=1,
                concurrency=(1, max(1, self._gpus)),
            )
        need = "1 GPU to embed, and others 1 CPU" if on_device else CPU_NEED
        with self._bar("indexing", None) as bar:
            for rows in self._rows(dataset, need, bar):
                self._load(self._uncontested(rows))
                self._report.passages += sum("error" not in row for row in rows)

    def _facts(self) -> None:
        """Have passages read that are stored and unread: by a model, or by rules of another version than before."""
        kb = self._kb
        unread = run_in_background(kb.aunread(kb.ids(), kb.extractor))
        if not unread:
            return
        with self._bar("extracting triples", len(unread)) as bar:
            for start in range(0, len(unread), _AT_ONCE):
                records = kb.passages(unread[start : start + _AT_ONCE])
                if isinstance(self._job.extractor, Engine):
                    self._by_engine(self._job.extractor, records, bar)
                    continue
                reading = partial(read_facts, work=self._work)
                dataset = self._map(self._given(map(_stored_row, records)), reading, _CALLING)
                for rows in self._rows(dataset, f"{_CALLING} CPU to wait for a model", bar):
                    self._load(rows)

    def _by_engine(self, engine: Engine, records: Sequence[Record], bar: "tqdm[Any]") -> None:
        left = {record["id"]: _stored_row(record) for record in records}
        for alone in (False, True):  # what was not read together with others is tried alone
            if not left:
                return
            dataset = engine.dataset(list(left.values()), alone=alone)
            for rows in self._rows(dataset, f"{engine.gpus:g} GPUs for a vLLM engine", bar, patience=engine.patience):
                self._load(rows)
                for row in rows:
                    del left[row["id"]]

    def _read(self, files: Sequence[str]) -> Any:
        per_task = max(1, min(_FILES, len(files) // (4 * self._cpus)))
        tasks = -(-len(files) // per_task)
        dataset = imported_ray().data.from_items([{"file": file} for file in files], override_num_blocks=tasks)
        return self._map(dataset, partial(read_files, work=self._work), cpus=0.5, batch=None)  # not fused: others 1 CPU

    def _given(self, rows: Iterable[Row]) -> Any:
        given = list(rows)
        starts = range(0, len(given), self._batch)
        return imported_ray().data.from_arrow([to_arrow(given[start : start + self._batch]) for start in starts])

    def _map(self, dataset: Any, function: Callable[..., Any], cpus: float = 1, batch: int | None = -1) -> Any:
        size = self._batch if batch == -1 else batch
        return dataset.map_batches(
            kept_alive(function, self._pulse),
            batch_format="pyarrow",
            batch_size=size,
            zero_copy_batch=True,
            num_cpus=cpus,
        )

    def _rows(self, dataset: Any, needs: str, bar: "tqdm[Any]", patience: float = 0.0) -> Iterator[list[Row]]:
        """Yield rows as they are done; count those that failed, and stop where all do."""

        def counted(counts: Mapping[str, float]) -> None:
            self._report.counts = dict(counts)
            if bar.total is None or bar.total < counts.get("passages", 0):
                bar.total = int(counts.get("passages", 0)) or None
                bar.refresh()

        watch = self._watch(needs, counted, patience)
        for table in watch.batches(dataset):
            rows = from_arrow(table)
            yield rows
            bar.update(len(rows))
            self._count_failed(rows)
        watch.look(float("inf"))  # takes the last counts

    def _watch(self, needs: str, on_counts: Any = None, patience: float = 0.0) -> Watch:
        return Watch(self._pulse, needs, max(patience, self._job.patience), on_counts)

    def _load(self, rows: Sequence[Row]) -> None:
        loaded, report = self._kb.load(rows), self._report
        report.added += loaded["added"]
        report.replaced += loaded["replaced"]
        report.read += loaded["read"]
        report.dropped += loaded["dropped"]

    def _uncontested(self, rows: list[Row]) -> list[Row]:
        """Return rows with an error where a passage of another source with the same id would be lost."""
        if self._job.update:
            for row in rows:
                self._seen[row.get("source", "")].append(digests([(row["id"], "")])[0])
        own = [row for row in rows if "error" not in row and not row.get("splitting")]
        given = [{name: row.get(name, "") for name in ("id", "title", "text", "source")} for row in own]
        contested = set(self._kb.contested(given)) if given else set()
        told = "DuplicateIdError: id {!r} is already stored with another text or title, from another source"
        for row in own:
            if row["id"] in contested:
                row["error"] = told.format(row["id"])
        return rows

    def _count_failed(self, rows: Sequence[Row]) -> None:
        failed = [row for row in rows if "error" in row]
        self._report.failed += [(row.get("source") or row["id"], row["error"]) for row in failed]
        self._failing = self._failing + len(failed) if len(failed) == len(rows) else 0
        if self._failing >= _ALL_FAILED:
            source, error = self._report.failed[-1]
            raise ClusterError(f"the last {self._failing} rows all failed, {source!r:.200} with {error}")

    def _gone(self) -> dict[str, list[str]]:
        """Return the stored passages that their sources, which were read, no longer have."""
        gone = dict[str, list[str]]()
        for source, seen in self._seen.items():
            kept = set(seen)
            left = [id_ for id_ in self._kb.ids(source) if digests([(id_, "")])[0] not in kept]
            if left and source not in {failed for failed, _ in self._report.failed}:
                gone[source] = left
        return gone

    @contextmanager
    def _bar(self, told: str, total: int | None) -> Iterator["tqdm[Any]"]:
        with tqdm(total=total, desc=told, unit="passage", disable=hidden(self._progress)) as bar:
            yield bar


CPU_NEED = "1 CPU, and 0.5 for a task that reads files"


@contextmanager
def _small_blocks(batch: int) -> Iterator[None]:
    """Let Ray hand out few passages at a time, and keep its own progress and logs from the terminal."""
    from ray.data import DataContext

    settings = DataContext.get_current().copy()
    settings.target_max_block_size = batch * _BYTES
    settings.target_min_block_size = 1
    settings.enable_progress_bars = False
    settings.print_on_execution_start = False
    logging.getLogger("ray.data").setLevel(logging.ERROR)
    with DataContext.current(settings):
        yield


def _stored_row(record: Record) -> Row:
    names = ("id", "title", "text", "sentences")
    return cast(Row, {**{name: record[name] for name in names}, "hash": record["hash"]})  # type: ignore[literal-required]


def _same(extractor: TripleExtractor) -> TripleExtractor:
    return extractor


def _missing() -> TripleExtractor:
    raise ClusterError("a knowledge base whose facts a model reads needs that model: give an extractor to the job")


def _sorted(found: Any) -> Any:
    found.sort()
    return found
