"""Compares what filters find with a knowledge base of only the passages that they let through.

python benchmarks/filters.py DATA KB

The passages of DATA in a copy of the knowledge base KB get random metadata. Random filters over them must find by
meaning and by words what a store of only these passages does, with the same scores; graph search is compared with a
copy of the knowledge base from which the others are deleted. Every method is asked questions of DATA, each with another
filter, and what the offline model is shown is searched for titles and sentences of hidden passages. Last, a filter that
lets one passage in a hundred through is timed.
"""

import argparse
import asyncio
import random
import re
import statistics
import time
from collections.abc import Mapping, Sequence
from itertools import cycle, islice
from pathlib import Path
from shutil import copytree
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from langchain_core.callbacks import BaseCallbackHandler
from measuring import corpus, questions, report, verdict

from langgraph_rag import Context, KnowledgeBase, load_model
from langgraph_rag.methods import METHODS, create
from langgraph_rag.records import Record, ids_of
from langgraph_rag.tools.retrieve.search import SEARCHES
from langgraph_rag.tools.stores.records import RecordStore
from langgraph_rag.tools.stores.vector_files import VectorTable

_DEPTH = 10
_TEAMS = ("law", "press", "sales", "post", "lab")
_ONE_PERCENT = {"n": {"$lt": 10}}
Filter = dict[str, Any]


class Recorder(BaseCallbackHandler):
    """Keeps what a model is shown."""

    def __init__(self) -> None:
        self.shown: list[str] = []

    def on_chat_model_start(self, serialized: Any, messages: Any, **_: Any) -> None:
        """Keep the messages of a call."""
        self.shown += [str(message.content) for batch in messages for message in batch]


def main() -> None:
    """Run the benchmark."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path, help="folder with corpus.jsonl and questions.jsonl")
    parser.add_argument("kb", type=Path, help="knowledge base of that corpus; it is copied")
    parser.add_argument("--filters", type=int, default=667, help="random filters for search by meaning and by words")
    parser.add_argument("--copies", type=int, default=10, help="random filters for graph search")
    parser.add_argument("--runs", type=int, default=24, help="questions to each method")
    parser.add_argument("--seed", type=int, default=58)
    arguments = parser.parse_args()
    rng, asked = random.Random(arguments.seed), questions(arguments.data)
    with TemporaryDirectory() as folder:
        copy = copytree(arguments.kb, Path(folder) / "kb")
        with KnowledgeBase.open(copy) as kb:
            kb.upsert([{**document, **_metadata(rng)} for document in corpus(arguments.data)], progress=False)
            figures: dict[str, Any] = {
                "times": _times(kb, asked),
                "plain": _plain(kb, Path(folder), asked, [_filter(rng) for _ in range(arguments.filters)]),
                "prompts": _prompts(kb, asked, arguments.runs, rng),
            }
        figures["graph"] = _graph(copy, asked, [_filter(rng) for _ in range(arguments.copies)])
    report(f"filters_{arguments.data.resolve().name}", arguments.data, figures, _rows(figures))


def _metadata(rng: random.Random) -> dict[str, Any]:
    """Return random fields: numbers, text, a list, and one that half of the passages lack."""
    fields: dict[str, Any] = {"n": rng.randrange(1000), "score": rng.random(), "team": rng.choice(_TEAMS)}
    fields["tags"] = rng.sample(_TEAMS, rng.randrange(4))
    return fields | ({"open": rng.random() < 0.5} if rng.random() < 0.5 else {})


def _filter(rng: random.Random, deep: int = 2) -> Filter:
    """Return a random filter."""
    kind = rng.choice(["n", "score", "team", "tags", "open", *(["$and", "$or", "$not"] if deep else [])])
    if kind in ("$and", "$or"):
        return {kind: [_filter(rng, deep - 1) for _ in range(2)]}
    if kind == "$not":
        return {kind: _filter(rng, deep - 1)}
    if kind in ("n", "score"):
        return {kind: {rng.choice(["$lt", "$gt", "$lte", "$gte"]): rng.random() ** 4 * (1000 if kind == "n" else 1)}}
    if kind == "open":
        return {kind: rng.choice([True, False, {"$exists": True}, {"$exists": False}, {"$ne": True}])}
    how = rng.choice(["$eq", "$ne", "$in", "$nin"])
    return {kind: {how: rng.sample(_TEAMS, 2) if how in ("$in", "$nin") else rng.choice(_TEAMS)}}


def _visible(kb: KnowledgeBase, where: Filter) -> list[str]:
    visible = kb._records.visible(where)
    return [] if visible is None else list(visible.numbers)


def _plain(kb: KnowledgeBase, folder: Path, asked: Sequence[str], filters: Sequence[Filter]) -> dict[str, Any]:
    """Compare search by meaning and by words with stores of only the visible passages, each with one question."""
    every = kb._vectors.passages(kb.ids())
    same, shares = {"dense": 0, "bm25": 0}, []
    for number, (where, question) in enumerate(zip(filters, cycle(asked))):
        ids = _visible(kb, where)
        shares.append(len(ids) / len(every))
        found = {by: _found(kb, question, by, where) for by in same}
        (query,) = kb._similarity.embed_queries([question])
        same["dense"] += found["dense"] == (_nearest(ids, every, query) if ids else [])
        same["bm25"] += found["bm25"] == _by_words(folder / f"records{number}.sqlite", kb.passages(ids), question)
    return {"filters": len(filters), "same": same, "median_share": round(statistics.median(shares), 3)}


def _found(kb: KnowledgeBase, question: str, by: Any, where: Filter | None = None) -> list[tuple[str, float]]:
    found = asyncio.run(kb.arank(question, _DEPTH, by=by, filter=where))
    return [(passage["id"], passage["score"]) for passage in found]


def _nearest(ids: Sequence[str], vectors: Mapping[str, Any], query: Any) -> list[tuple[str, float]]:
    table = VectorTable(ids, np.stack([vectors[id_] for id_ in ids]))
    return table.nearest(query[np.newaxis], _DEPTH)[0]


def _by_words(file: Path, records: Sequence[Record], question: str) -> list[tuple[str, float]]:
    store = RecordStore(file)
    store.insert(records, np.zeros((len(records), 1), np.float32))
    found = [(passage["id"], passage["score"]) for passage in store.bm25(question, _DEPTH)]
    store.close()
    for leftover in file.parent.glob(f"{file.name}*"):
        leftover.unlink()
    return found


def _prompts(kb: KnowledgeBase, asked: Sequence[str], runs: int, rng: random.Random) -> dict[str, int]:
    """Ask each method, each question with another filter; count runs in whose prompts something hidden stands."""
    records = {record["id"]: record for record in kb.passages(kb.ids())}
    done = leaking = prompts = hidden_results = 0
    for method in METHODS:
        graph = create(method, load_model("offline"), kb).compile()
        for question in islice(cycle(asked), runs):
            where = _filter(rng)
            visible = set(_visible(kb, where))
            if not visible:
                continue
            recorder = Recorder()
            result = graph.invoke({"question": question}, {"callbacks": [recorder]}, context=Context(filter=where))
            done, prompts = done + 1, prompts + len(recorder.shown)
            shown, known = "\n".join(recorder.shown), "\n".join(_texts(records[id_]) for id_ in visible)
            hidden = {part for id_ in records.keys() - visible for part in _parts(records[id_]) if part in shown}
            leaking += any(part not in known and part not in question for part in hidden)
            named = {*ids_of(result["passages"]), *(evidence["passage_id"] for evidence in result["evidence"])}
            hidden_results += not named <= visible
    return {"runs": done, "prompts": prompts, "leaking": leaking, "hidden_results": hidden_results}


def _texts(record: Record) -> str:
    return f"{record['title']}\n{record['text']}"


def _parts(record: Record) -> list[str]:
    """Return what would give a passage away in a prompt: its sentences, and its title of some words."""
    title = [record["title"]] if re.search(r"\w\W+\w+\W+\w", record["title"]) else []
    return [*title, *(sentence for sentence in record["sentences"] if len(sentence) > 30)]


def _graph(folder: Path, asked: Sequence[str], filters: Sequence[Filter]) -> dict[str, int]:
    """Compare graph search, and what is hidden in it, with copies from which hidden passages are deleted."""
    compared = same = hidden = 0
    for number, where in enumerate(filters):
        with KnowledgeBase.open(folder, read_only=True) as kb:
            visible = set(_visible(kb, where))
            found = [_found(kb, question, "graph", where) for question in asked[:20]]
            triples = kb.search_triples(asked[0], filter=where) if visible else []
            hidden += sum(id_ not in visible for ranked in found for id_, _ in ranked)
            hidden += sum(source["passage_id"] not in visible for fact in triples for source in fact["sources"])
        if not visible:
            continue
        with KnowledgeBase.open(copytree(folder, folder.parent / str(number))) as alone:
            alone.delete(set(alone.ids()) - visible)
            expected = [_found(alone, question, "graph") for question in asked[:20]]
        compared += len(found)
        same += sum(ids == other for ids, other in zip(map(_ids, found), map(_ids, expected), strict=True))
    return {"compared": compared, "same": same, "hidden": hidden}


def _ids(ranked: Sequence[tuple[str, float]]) -> list[str]:
    return [id_ for id_, _ in ranked]


def _times(kb: KnowledgeBase, asked: Sequence[str]) -> dict[str, Any]:
    """Time each search without a filter and with one, after a first round; alternately, as the machine is shared."""
    times: dict[str, Any] = {}
    for by in SEARCHES:
        took: dict[bool, list[float]] = {False: [], True: []}
        first = _seconds(kb, asked[0], by, _ONE_PERCENT) if by == "graph" else None
        for number, question in enumerate([*asked, *asked]):
            for filtered in (False, True):
                seconds = _seconds(kb, question, by, _ONE_PERCENT if filtered else None)
                if number >= len(asked):
                    took[filtered].append(1000 * seconds)
        plain, filtered_ = (statistics.median(took[filtered]) for filtered in (False, True))
        times[by] = {"ms": round(plain, 2), "filtered_ms": round(filtered_, 2), "ratio": round(filtered_ / plain, 2)}
        if first is not None:
            times["first_ms"] = round(1000 * first, 1)
    return times


def _seconds(kb: KnowledgeBase, question: str, by: Any, where: Filter | None) -> float:
    started = time.perf_counter()
    kb.search(question, _DEPTH, by=by, filter=where)
    return time.perf_counter() - started


def _rows(figures: Mapping[str, Any]) -> list[tuple[str, str, str]]:
    plain, graph, prompts, times = (figures[name] for name in ("plain", "graph", "prompts", "times"))
    equal = graph["same"] / max(graph["compared"], 1)
    worst = max(times[by]["ratio"] for by in SEARCHES)
    return [
        ("figure", "value", "goal"),
        *(
            (
                f"{by}: same ids and scores",
                f"{count} of {plain['filters']}",
                f"all: {verdict(count == plain['filters'])}",
            )
            for by, count in plain["same"].items()
        ),
        ("graph: same first ten", f"{graph['same']} of {graph['compared']}", f"99 %: {verdict(equal >= 0.99)}"),
        ("graph and triples: hidden passages", str(graph["hidden"]), f"none: {verdict(not graph['hidden'])}"),
        (
            "runs with something hidden in prompts or results",
            f"{prompts['leaking'] + prompts['hidden_results']} of {prompts['runs']} ({prompts['prompts']:,} prompts)",
            f"none: {verdict(not prompts['leaking'] + prompts['hidden_results'])}",
        ),
        *(
            (f"{by}: ms without and with a 1 % filter", f"{times[by]['ms']} {times[by]['filtered_ms']}", "")
            for by in SEARCHES
        ),
        ("slowest ratio", str(worst), f"1.5: {verdict(worst <= 1.5)}"),
        ("first graph search with a new filter, ms", str(times["first_ms"]), ""),
    ]


if __name__ == "__main__":
    main()
