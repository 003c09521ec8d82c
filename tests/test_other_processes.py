"""What other processes see of a knowledge base that one changes, and what they may do meanwhile."""

import json
import os
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from subprocess import PIPE, Popen

from fakes import ArithmeticEmbeddings

from langgraph_rag.tools.knowledge_base import KnowledgeBase

_ASK = """
import json, sys
from fakes import ArithmeticEmbeddings
from langgraph_rag import KnowledgeBase
from langgraph_rag.tools.search import SEARCHES

with KnowledgeBase.open(sys.argv[1], ArithmeticEmbeddings()) as kb:
    for query in sys.stdin:
        found = {by: sorted(passage["id"] for passage in kb.search(query, 20, by=by)) for by in SEARCHES}
        found["hierarchy"] = sorted(kb.hierarchy.passages)
        print(json.dumps(found), flush=True)
"""


class Reader:
    """Another process that has a knowledge base open."""

    def __init__(self, process: "Popen[str]") -> None:
        self._process = process

    def found(self, query: str) -> dict[str, list[str]]:
        """Return the ids that each search finds."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(f"{query}\n")
        self._process.stdin.flush()
        found: dict[str, list[str]] = json.loads(self._process.stdout.readline())
        return found


@contextmanager
def reading(folder: Path) -> Iterator[Reader]:
    places = {**os.environ, "PYTHONPATH": os.pathsep.join([str(Path(__file__).parent), *sys.path])}
    with Popen([sys.executable, "-c", _ASK, folder], stdin=PIPE, stdout=PIPE, text=True, env=places) as process:
        yield Reader(process)


def test_a_process_that_only_asks_sees_what_another_one_adds_updates_and_deletes(kb: KnowledgeBase) -> None:
    tern = {"id": "tern", "title": "Skellby tern", "text": "The Skellby tern is a bird in Skellby."}
    with reading(kb.path) as other:
        assert len(other.found("Skellby tern")["dense"]) == 8

        kb.add([tern], progress=False)
        assert all("tern" in ids for ids in other.found("Skellby tern").values())

        kb.update([{**tern, "text": "The Skellby tern is a gull in Skellby."}], progress=False)
        kb.delete([id_ for id_ in kb.ids() if id_ != "tern"])
        assert all(ids == ["tern"] for ids in other.found("Skellby tern").values())


def test_what_an_opening_has_searched_it_sees_change_by_another_one(kb: KnowledgeBase) -> None:
    with KnowledgeBase.open(kb.path, ArithmeticEmbeddings()) as other:
        before = other.search("Skellby", 8)
        other.delete([before[0]["id"]])

        assert [passage["id"] for passage in kb.search("Skellby", 8)] == [passage["id"] for passage in before[1:]]


_OPEN = """
import sys
from fakes import ArithmeticEmbeddings
from langgraph_rag import KnowledgeBase

print(flush=True)
sys.stdin.readline()
with KnowledgeBase.open(sys.argv[1], ArithmeticEmbeddings()) as kb:
    print(kb.info()["passages"], flush=True)
"""


def test_processes_that_make_one_at_the_same_moment_all_have_it(tmp_path: Path) -> None:
    places = {**os.environ, "PYTHONPATH": os.pathsep.join([str(Path(__file__).parent), *sys.path])}
    command = [sys.executable, "-c", _OPEN, str(tmp_path / "kb")]
    with ExitStack() as running:
        processes = [
            running.enter_context(Popen(command, stdin=PIPE, stdout=PIPE, text=True, env=places)) for _ in range(3)
        ]
        for process in processes:
            assert process.stdout is not None
            process.stdout.readline()
        assert [process.communicate("\n")[0] for process in processes] == ["0\n"] * 3
