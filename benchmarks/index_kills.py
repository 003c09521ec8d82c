"""Kills a process that adds, updates, deletes and merges at random moments, and compares its index with one made anew.

python benchmarks/index_kills.py

The index of words is written every few changes, so that many kills meet a write or a merge. After each kill, the
knowledge base is opened and asked, and so is a copy without the files of its indexes, which are then made of the
records alone: by words and by walks over the facts.
"""

import argparse
import random
import time
from multiprocessing import get_context
from pathlib import Path
from shutil import copytree, ignore_patterns, rmtree
from tempfile import TemporaryDirectory

from growing import HashEmbeddings
from measuring import report, verdict

from langgraph_rag import KnowledgeBase
from langgraph_rag.tools.index import word_index

_WORDS = "kell mill ferry harbour rain pier lamp tide isle 4.5.0 --dry-run ref/settings 東京の塔 Dvořák's".split()
_PLACES = ("Kell Mill", "Harl Pier", "Ost Ferry", "Sarl Tower")
_PEOPLE = ("Adam Renk", "Ida Moss", "Karl Senn")
_DIGITS = 12  # of scores that are compared: the sums of an index of other parts differ in the last bit
_PASSAGES = 400  # ids in use
_LONGEST = 2.0  # seconds from the first change to a kill
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
            anew = Path(temporary) / "anew"
            copytree(folder, anew, ignore=ignore_patterns("indexes"))
            with KnowledgeBase.open(anew, HashEmbeddings(), read_only=True) as kb:
                equal += found == _answers(kb)
            rmtree(anew)
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
        while True:
            if chance.random() < 0.7:
                some = {one["id"]: one for one in (_passage(chance) for _ in range(chance.randint(1, 20)))}
                kb.upsert(some.values(), progress=False)
            else:
                kb.delete([f"p{chance.randrange(_PASSAGES)}" for _ in range(chance.randint(1, 20))])
            kb.search("mill", by="bm25")
            ready.touch()  # the first change waits for imports, the later ones do not


def _passage(chance: random.Random) -> dict[str, str]:
    text = " ".join(chance.choices(_WORDS, k=chance.randint(1, 30)))
    for _ in range(chance.randrange(3)):
        text += f". {chance.choice(_PLACES)} was built by {chance.choice(_PEOPLE)} in {chance.randint(1850, 1950)}."
    return {"id": f"p{chance.randrange(_PASSAGES)}", "title": chance.choice(["", *_WORDS[:3]]), "text": text}


def _answers(kb: KnowledgeBase) -> list[list[tuple[str, float]]]:
    if not kb.ids():
        return []
    queries = ["mill", "kell ferry", "4.5.0", "--dry-run of ref/settings", "東京", "dvorak", " ".join(_WORDS)]
    queries += [f"Who built {place}?" for place in _PLACES]
    found = [kb.search(query, 50, by="bm25") for query in queries] + [kb.search(query, 50) for query in queries]
    return [[(hit["id"], round(hit["score"], _DIGITS)) for hit in hits] for hits in found]


if __name__ == "__main__":
    main()
