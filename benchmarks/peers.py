"""Compares search with HippoRAG 2's own code: same passages, facts and embedder, without a language model.

python benchmarks/peers.py ROOT

benchmarks/README.md describes the setup of HippoRAG. It gets the facts of this package's knowledge base. Its filter of
facts, which would ask a model, keeps all of them. Each side runs in its own process, one question at a time.
"""

import argparse
import importlib
import json
import resource
import statistics
import subprocess
import sys
from collections import defaultdict
from collections.abc import Callable, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from types import ModuleType
from typing import Any, get_args

import numpy as np
from measuring import corpus, data_sets, report, timed
from typing_extensions import TypedDict

from langgraph_rag import KnowledgeBase
from langgraph_rag.context import Search
from langgraph_rag.evaluation.metrics import recall_at
from langgraph_rag.evaluation.questions import Question, load_questions
from langgraph_rag.tools.ingest.embeddings import embed_texts
from langgraph_rag.tools.stores.protocols import Matrix

_DEPTHS = (2, 5, 10)
_RESAMPLES = 10_000
_MODEL_CLIENTS = {  # imported by HippoRAG, and unused with a given embedder and no model
    "boto3": [],
    "botocore": [],
    "botocore.exceptions": ["ClientError"],
    "gritlm": ["GritLM"],
    "litellm": [],
    "vllm": ["LLM", "SamplingParams"],
}


class Found(TypedDict):
    """Recall in percent by depth, with 95% bootstrap intervals; milliseconds of a question, first and repeated."""

    recall: list[float]
    intervals: list[tuple[float, float]]
    first_ms: float
    again_ms: float


class Side(TypedDict):
    """One side's indexing cost, peak memory and search results."""

    indexing_s: float
    memory_gib: float
    searches: dict[str, Found]


def main() -> None:
    """Run the benchmark."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("root", type=Path, help="folder with a folder for each data set")
    parser.add_argument("--side", nargs=2, metavar=("NAME", "FOLDER"), help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.side:
        name, folder = arguments.side
        Path(folder, name).write_text(json.dumps(_SIDES[name](arguments.root, Path(folder))), encoding="utf-8")
        return
    figures = {folder.name: _compare(folder) for folder in data_sets(arguments.root)}
    rows = [
        (
            f"{data}, {search}",
            " / ".join(map(str, found["recall"])),
            f"{side['indexing_s']:.0f} s, {found['first_ms']:.0f} ms, {found['again_ms']:.0f} ms, "
            f"{side['memory_gib']:.1f} GiB",
        )
        for data, sides in figures.items()
        for side in sides.values()
        for search, found in side["searches"].items()
    ]
    head = ("data, search", "R@2 / R@5 / R@10", "indexing, a question, the same again, memory of the side")
    report("peers", arguments.root, figures, [head, *rows])


def _compare(data: Path) -> dict[str, Side]:
    sides: dict[str, Side] = {}
    with TemporaryDirectory() as folder:
        for name in _SIDES:
            command = [sys.executable, __file__, str(data), "--side", name, folder]
            done = subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
            if done.returncode:
                raise SystemExit(done.stderr)
            print(f"{data.name}, {name}: done", file=sys.stderr)
            sides[name] = json.loads(Path(folder, name).read_text(encoding="utf-8"))
    return sides


def _here(data: Path, folder: Path) -> Side:
    """Index and search with the knowledge base, which also provides the facts for the other side."""
    asked = load_questions(data / "questions.jsonl")
    with KnowledgeBase.open(folder / "kb") as kb:
        indexing = timed(lambda: kb.add(corpus(data)))
        searches = {by: _found(_searching(kb, by), asked) for by in get_args(Search)}
    return Side(indexing_s=indexing, memory_gib=_memory(), searches=searches)


def _searching(kb: KnowledgeBase, by: Search) -> Callable[[str], list[str]]:
    return lambda question: [passage["id"] for passage in kb.search(question, max(_DEPTHS), by=by)]


def _hipporag(data: Path, folder: Path) -> Side:
    """Index and search with HippoRAG's code."""
    texts = {document["id"]: f"{document['title']}\n{document['text']}" for document in corpus(data)}
    ids = {text: id_ for id_, text in texts.items()}
    with KnowledgeBase.open(folder / "kb") as kb:
        peer = _prepared(kb, texts, folder)

    def index() -> None:
        peer.index(list(texts.values()))
        peer.prepare_retrieval_objects()

    def search(question: str) -> list[str]:
        (found,) = peer.retrieve([question], num_to_retrieve=max(_DEPTHS))
        return [ids[text] for text in found.docs]

    indexing = timed(index)
    searches = {"HippoRAG 2": _found(search, load_questions(data / "questions.jsonl"))}
    return Side(indexing_s=indexing, memory_gib=_memory(), searches=searches)


_SIDES: dict[str, Callable[[Path, Path], Side]] = {"here": _here, "hipporag": _hipporag}


def _prepared(kb: KnowledgeBase, texts: dict[str, str], folder: Path) -> Any:
    """Return a HippoRAG with this knowledge base's embedder and facts, and without a model."""
    for name, classes in _MODEL_CLIENTS.items():
        sys.modules[name] = ModuleType(name)
        for class_ in classes:
            setattr(sys.modules[name], class_, type(class_, (Exception,), {}))
    code: Any = importlib.import_module("hipporag.HippoRAG")

    class Embedder:
        def __init__(self, **_: object) -> None: ...

        def batch_encode(self, texts: Sequence[str], **_: object) -> Matrix:
            return embed_texts(kb.embeddings, texts)

    facts: defaultdict[str, list[list[str]]] = defaultdict(list)
    for entry in kb.triples(list(texts)):
        for source in entry["sources"]:
            facts[source["passage_id"]].append(entry["triple"])
    read = [{"passage": text, "extracted_entities": [], "extracted_triples": facts[id_]} for id_, text in texts.items()]
    (folder / "openie_results_ner_none.json").write_text(json.dumps({"docs": read}), encoding="utf-8")
    code._get_embedding_model_class = lambda **_: Embedder
    code._get_llm_class = lambda _: type("NoModel", (), {"infer": None})()
    peer = code.HippoRAG(save_dir=str(folder), llm_model_name="none", embedding_model_name="shared")
    peer.rerank_filter = lambda _, facts, numbers, len_after_rerank: (
        numbers[:len_after_rerank],
        facts[:len_after_rerank],
        {},
    )
    return peer


def _found(search: Callable[[str], list[str]], asked: Sequence[Question]) -> Found:
    search("what is loaded once")
    rankings: dict[str, list[str]] = {}
    first, again = (
        1000 * statistics.median(timed(lambda q=q: rankings.update({q["id"]: search(q["question"])})) for q in asked)  # type: ignore[misc]
        for _ in range(2)
    )
    shares = np.array(
        [[recall_at(rankings[q["id"]], q.get("supporting_ids", []), depth) or 0.0 for depth in _DEPTHS] for q in asked]
    )
    drawn = np.random.default_rng(0).integers(len(asked), size=(_RESAMPLES, len(asked)))  # the same for every search
    low, high = np.percentile(shares[drawn].mean(axis=1), [2.5, 97.5], axis=0)
    return Found(
        recall=_percent(shares.mean(axis=0)),
        intervals=list(zip(_percent(low), _percent(high), strict=True)),
        first_ms=round(first, 1),
        again_ms=round(again, 1),
    )


def _percent(shares: Matrix) -> list[float]:
    return [round(100 * float(share), 1) for share in shares]


def _memory() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20


if __name__ == "__main__":
    main()
