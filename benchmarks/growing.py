"""One process of `scaling.py`: builds a knowledge base, or measures one that is there. Prints one JSON object.

It uses only what every commit of the package has had, so that an earlier checkout can be measured by it, too.
"""

import json
import os
import statistics
import sys
import threading
import time
import zlib
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache, partial
from itertools import islice
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from langchain_core.embeddings import Embeddings

from langgraph_rag import KnowledgeBase, load_model
from langgraph_rag.methods import METHODS, create

Vector = "np.ndarray[tuple[int], np.dtype[np.float64]]"
_DIMENSIONS = 384
_BATCH = 2_000  # rows
_CHANGES = 8
_BESIDE_S = 15.0
_SENTENCES = (
    "{0} is a town on the river {1} in the district of {2}.",
    "It was founded by {3} in {4}, when the mills of {5} were built.",
    "{6} was born in {0} and later taught at the school of {7}.",
    "The bridge of {0} was designed by {8} and opened on 3 May {4}.",
    "Between {4} and the war its harbour served the ships of {9}, which carried slate and timber to the coast.",
    "{0} has {10} inhabitants, a museum of {11} and a market on the square that is named after {3}.",
)
_FACTS = (
    (0, "is town on river", 1, 0),
    (0, "is in district of", 2, 0),
    (0, "was founded by", 3, 1),
    (6, "was born in", 0, 2),
    (6, "taught at school of", 7, 2),
    (0, "bridge was designed by", 8, 3),
)
_NOUNS = ("town", "river", "district", "bridge", "harbour", "museum", "market")
_PARTS = "bal cor dun el fen gar hal is jor kel lor mar nor ost pel quin ras sel tor ul ver wen yar zel".split()


class HashEmbeddings(Embeddings):
    """The mean of a random vector for each word."""

    model_name = "hashes"

    def embed_query(self, text: str) -> list[float]:
        """Embed one text."""
        words = text.lower().split()[:128] or [""]
        vector: list[float] = np.mean([_vector(word) for word in words], axis=0).tolist()
        return vector

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        """Embed texts."""
        return [self.embed_query(text) for text in texts]


@lru_cache(maxsize=200_000)
def _vector(word: str) -> Any:
    return np.random.default_rng(zlib.crc32(word.encode())).standard_normal(_DIMENSIONS)


# --- building --------------------------------------------------------------------------------------------------------
def added(folder: str, documents: str, size: int) -> dict[str, float]:
    """Index the first documents of a file, and return the milliseconds a passage."""
    with Path(documents).open(encoding="utf-8") as lines:
        rows = [json.loads(line) for line in islice(lines, size)]
    with KnowledgeBase.open(folder, HashEmbeddings()) as kb:
        seconds = _timed(lambda: kb.add(rows, progress=False))
    return {"indexing a passage, ms": 1000 * seconds / size, "on disk, GiB": _on_disk(folder)}


def loaded(folder: str, size: int) -> dict[str, float]:
    """Load rows that are made here, and return the milliseconds a passage, without the making."""
    seconds = 0.0
    with KnowledgeBase.open(folder, HashEmbeddings()) as kb:
        for start in range(0, size, _BATCH):
            rows = list(_rows(start, min(start + _BATCH, size), kb.extractor.version))
            seconds += _timed(partial(kb.load, rows))
            if start % 50_000 == 0:
                print(f"{start} of {size}: {1000 * seconds / (start + _BATCH):.2f} ms a passage", file=sys.stderr)
        seconds += _timed(kb.settle_loaded)
    return {"indexing a passage, ms": 1000 * seconds / size, "on disk, GiB": _on_disk(folder)}


def _rows(start: int, end: int, extractor: str) -> Iterator[dict[str, Any]]:
    """Yield rows of all stages: each passage is about a name of its own and tells of some that are more common."""
    from langgraph_rag.tools.stores.records import content_hash

    random = np.random.default_rng(start)
    for number in range(start, end):
        others = (random.pareto(0.8, 9) * 50).astype(int) % max(number, 1_000)
        names = [_name(number), *map(_name, others)]
        told = [*names[:4], str(1600 + number % 400), *names[4:9], str(number % 90_000), names[9]]
        sentences = [sentence.format(*told) for sentence in _SENTENCES]
        sentences += [f"{names[0]} also trades with {_name(other)}." for other in others[: number % 5]]
        text = f"{names[0]}\n{' '.join(sentences)}"
        made = number > start  # the first of a batch has its own vector, as `load` compares one with the embedder
        vector = random.standard_normal(_DIMENSIONS) if made else np.array(HashEmbeddings().embed_query(text))
        yield {
            "id": str(number),
            "title": names[0],
            "text": " ".join(sentences),
            "source": f"made/{number // 1000}.jsonl",
            "metadata": {"year": 1600 + number % 400},
            "number": number,
            "splitting": "",
            "hash": content_hash(names[0], " ".join(sentences)),
            "sentences": sentences,
            "phrases": list(
                dict.fromkeys([*names, "town", "river", "district", "bridge", "harbour", "museum", "market"])
            ),
            "analysed_by": "rules",
            "vector": (vector / np.linalg.norm(vector)).astype(np.float32),
            "embedded_by": "hashes",
            "facts": [
                {"triple": [told[head], relation, told[tail]], "sentences": [place]}
                for head, relation, tail, place in _FACTS
            ],
            "names": [],
            "extractor": extractor,
        }


def _name(number: int) -> str:
    """Return a name; those of small numbers are short."""
    parts = []
    while True:
        number, part = divmod(number, len(_PARTS))
        parts.append(_PARTS[part])
        if not number:
            return "".join(parts).capitalize() + "holm"


def made_questions(count: int) -> list[str]:
    """Return questions about made passages that lead over two of them."""
    return [
        f"Who was born in the town whose bridge was designed by {_name(1000 + 37 * number)}?" for number in range(count)
    ]


# --- measuring -------------------------------------------------------------------------------------------------------
def measured(folder: str, asked: Sequence[str]) -> dict[str, float]:
    """Measure a knowledge base in the order of a user's steps."""
    llm, found = load_model("offline"), dict[str, float]()
    bare = _bare(llm, asked[0])
    started = time.perf_counter()
    kb = KnowledgeBase.open(folder, HashEmbeddings())
    found["opening and first graph search, s"] = (
        time.perf_counter() - started + _timed(lambda: kb.search(asked[0], by="graph"))
    )
    found["first MGranRAG question after that, s"] = _timed(partial(_asking("mgranrag", llm, kb), asked[0]))
    for name in METHODS:
        _asking(name, llm, kb)(asked[0])
    found["memory of all methods, MiB"] = _memory() - bare
    for by in ("dense", "bm25", "hybrid", "graph"):
        found[f"{by} search, ms"] = _median([partial(kb.search, question, by=by) for question in asked[1:]])
    for name in ("adaptive", "cirag", "mgranrag"):
        if name in METHODS:
            ask = _asking(name, llm, kb)
            found[f"{name}, ms"] = _median([partial(ask, question) for question in asked[1:9]])
    adding, after = [], []
    for change in range(_CHANGES):
        one = _new(change)
        adding.append(lambda one=one: kb.add([one], progress=False))
        after.append(partial(kb.search, asked[1 + change], by="graph"))
    pairs = [(_timed(add), _timed(search)) for add, search in zip(adding, after, strict=True)]
    found["adding a passage, ms"] = 1000 * statistics.median(seconds for seconds, _ in pairs)
    found["graph search after a change, ms"] = 1000 * statistics.median(seconds for _, seconds in pairs)
    found["longest graph search after a change, ms"] = 1000 * max(seconds for _, seconds in pairs)
    beside = _beside_a_writer(kb, asked)
    found["graph search beside a writer, ms"] = 1000 * statistics.median(beside)
    found["longest graph search beside a writer, ms"] = 1000 * max(beside)
    kb.close()
    return found


def _beside_a_writer(kb: KnowledgeBase, asked: Sequence[str]) -> list[float]:
    """Return the seconds of searches while a thread adds one passage after another."""
    done = threading.Event()

    def add() -> None:
        number = 1000
        while not done.is_set():
            kb.add([_new(number)], progress=False)
            number += 1

    writer = threading.Thread(target=add)
    writer.start()
    durations = list[float]()
    started = time.perf_counter()
    while time.perf_counter() - started < _BESIDE_S:
        durations.append(_timed(partial(kb.search, asked[len(durations) % len(asked)], by="graph")))
    done.set()
    writer.join()
    return durations


def _new(number: int) -> dict[str, str]:
    name = f"Newton {_name(number)}"
    text = f"{name} is a village near {_name(number + 5)}. {name} was founded by {_name(number + 9)} in 1850."
    return {"id": f"new {number}", "title": name, "text": text}


def _bare(llm: Any, question: str) -> float:
    """Return the memory after all methods were asked over a knowledge base of one passage, MiB."""
    with TemporaryDirectory() as folder, KnowledgeBase.open(folder, HashEmbeddings()) as kb:
        kb.add([_new(0)], progress=False)
        for name in METHODS:
            _asking(name, llm, kb)(question)
    return _memory()


def _asking(name: str, llm: Any, kb: KnowledgeBase) -> Callable[[str], object]:
    graph = create(name, llm, kb).compile()
    return lambda question: graph.invoke({"question": question})


def _median(calls: Sequence[Callable[[], object]]) -> float:
    return 1000 * statistics.median(map(_timed, calls))


def _timed(work: Callable[[], object]) -> float:
    started = time.perf_counter()
    work()
    return time.perf_counter() - started


def _memory() -> float:
    """Return the resident memory of this process, mapped files included, MiB; 0 where the system does not tell it."""
    status = Path("/proc/self/statm")
    pages = int(status.read_text(encoding="utf-8").split()[1]) if status.exists() else 0
    return pages * os.sysconf("SC_PAGE_SIZE") / 2**20


def _on_disk(folder: str) -> float:
    return sum(file.stat().st_size for file in Path(folder).rglob("*") if file.is_file()) / 2**30


if __name__ == "__main__":
    work, *arguments = json.loads(sys.argv[1])
    kinds: dict[str, Callable[..., dict[str, float]]] = {"added": added, "loaded": loaded, "measured": measured}
    print(json.dumps(kinds[work](*arguments)))
