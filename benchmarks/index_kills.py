"""Kills a process that adds, updates, deletes and merges at random moments, and compares its index with one made anew.

python benchmarks/index_kills.py

The index of words is written every few changes, so that many kills meet a write or a merge. After each kill, the
knowledge base is opened and asked, and so is one whose index is made of the records alone.
"""

import argparse
import random
import time
from multiprocessing import get_context
from pathlib import Path
from tempfile import TemporaryDirectory

from growing import HashEmbeddings
from measuring import report, verdict

from langgraph_rag import KnowledgeBase
from langgraph_rag.tools.index import word_index

_WORDS = "kell mill ferry harbour rain pier lamp tide isle 4.5.0 --dry-run ref/settings 東京の塔 Dvořák's".split()
_PASSAGES = 400  # ids in use
_LONGEST = 2.0  # seconds from opening to a kill
_context = get_context("forkserver")
_context.set_forkserver_preload(["chromadb", "langgraph_rag", "growing"])


def main() -> None:
    """Run the benchmark."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kills", type=int, default=200)
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
    chance = random.Random(arguments.seed)
    opened = equal = in_files = left = 0
    with TemporaryDirectory() as temporary:
        folder, ready = Path(temporary) / "kb", Path(temporary) / "ready"
        for kill in range(arguments.kills):
            process = _context.Process(target=_change, args=(folder, f"{arguments.seed} {kill}", ready))
            process.start()
            while not ready.exists() and process.is_alive():
                time.sleep(0.005)
            time.sleep(chance.uniform(0, _LONGEST))
            process.kill()
            process.join()
            ready.unlink(missing_ok=True)
            left += any(path.suffix == ".unfinished" for path in (folder / "indexes").glob("*"))
            with KnowledgeBase.open(folder, HashEmbeddings(), read_only=True) as kb:
                opened += 1
                in_files += kb._records.words.now().in_files > 0
                found = _answers(kb)
            with KnowledgeBase.open(folder, HashEmbeddings(), read_only=True) as kb:
                kb._records.words.history = "of no file"
                equal += found == _answers(kb)
    report(
        "index_kills",
        Path("made"),
        {"kills": arguments.kills, "opened": opened, "equal": equal, "in_files": in_files, "left": left},
        [
            ("figure", "value", "goal"),
            ("kills", str(arguments.kills), ""),
            ("kills in the middle of a write", str(left), ""),
            ("opened with files of the index", str(in_files), ""),
            ("opened", str(opened), f"all: {verdict(opened == arguments.kills)}"),
            ("equal to an index made anew", str(equal), f"all: {verdict(equal == arguments.kills)}"),
        ],
    )


def _change(folder: Path, seed: str, ready: Path) -> None:
    word_index._SAVED, word_index._SAVED_AT_CLOSING = 20, 1
    chance = random.Random(seed)
    with KnowledgeBase.open(folder, HashEmbeddings()) as kb:
        ready.touch()
        while True:
            if chance.random() < 0.7:
                some = {one["id"]: one for one in (_passage(chance) for _ in range(chance.randint(1, 20)))}
                kb.upsert(some.values(), progress=False)
            else:
                kb.delete([f"p{chance.randrange(_PASSAGES)}" for _ in range(chance.randint(1, 20))])
            kb.search("mill", by="bm25")


def _passage(chance: random.Random) -> dict[str, str]:
    text = " ".join(chance.choices(_WORDS, k=chance.randint(1, 30)))
    return {"id": f"p{chance.randrange(_PASSAGES)}", "title": chance.choice(["", *_WORDS[:3]]), "text": text}


def _answers(kb: KnowledgeBase) -> list[list[tuple[str, float]]]:
    if not kb.ids():
        return []
    queries = ["mill", "kell ferry", "4.5.0", "--dry-run of ref/settings", "東京", "dvorak", " ".join(_WORDS)]
    return [[(hit["id"], hit["score"]) for hit in kb.search(query, 50, by="bm25")] for query in queries]


if __name__ == "__main__":
    main()
