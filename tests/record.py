"""Records how a served model answers questions of the sample corpus with each method.

VLLM_BASE_URL=... MODEL=... python tests/record.py [--methods cirag,kirag] [--questions q01,q05] [--time-limit 600]

Each reply is stored as soon as it arrives, so that a stopped run can be continued and no request is sent twice.
VLLM_API_KEY is the key, if the server requires one.
"""

import argparse
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from fakes import ArithmeticEmbeddings
from recorded import FOLDER, RecordedServer, Recording, read, write
from servers import serving

import langgraph_rag
from langgraph_rag.errors import RagError
from langgraph_rag.evaluation.questions import Question, load_questions
from langgraph_rag.methods import create
from langgraph_rag.models.loading import load_model
from langgraph_rag.tools.documents.files import read_documents
from langgraph_rag.tools.knowledge_base import KnowledgeBase

QUESTIONS = {
    "adaptive": "q01,q05,q10",
    "cirag": "q01,q05,q07",
    "kirag": "q01,q04,q10",
    "dualrag": "q01,q05,q07",
    "mgranrag": "q01,q04,q10",
    "par_rag": "q01,q05,q07",
}
_CONTEXT = {"search": "hybrid"}  # recorded with; what the prompts say does not depend on how passages are found
_SAMPLE = Path(langgraph_rag.__file__).parent / "sample"


def sample_questions() -> dict[str, Question]:
    """Return the questions of the sample corpus by their ids."""
    return {question["id"]: question for question in load_questions(_SAMPLE / "questions.jsonl")}


@contextmanager
def steady_knowledge_base() -> Iterator[KnowledgeBase]:
    """Index the sample corpus with an embedder that gives the same numbers on every machine."""
    with TemporaryDirectory() as folder, KnowledgeBase.open(folder, ArithmeticEmbeddings(dimensions=1024)) as base:
        base.add(read_documents([_SAMPLE / "corpus.jsonl"]), progress=False)
        yield base


def ask(base: KnowledgeBase, server: RecordedServer, time_limit: float) -> dict[str, Any]:
    """Ask a recording's question over HTTP."""
    recording = server.recording
    llm = load_model(f"vllm:{recording['model']}", base_url=server.url, timeout=time_limit, max_retries=0)
    graph = create(recording["method"], llm, base).compile()
    found: dict[str, Any] = graph.invoke({"question": recording["question"]}, context=_CONTEXT)
    return found


def record(base: KnowledgeBase, file: Path, new: Recording, upstream: str, key: str, time_limit: float) -> Recording:
    """Answer a question, asking the server only for what the file does not hold, and forget what is not asked any more.

    Raises:
        RagError: when the server could not answer; what it had answered until then is kept.
    """
    recording = {**new, "exchanges": read(file)["exchanges"]} if file.exists() else new
    with serving(RecordedServer(file, Recording(**recording), upstream, key, time_limit)) as server:
        found = ask(base, server, time_limit + 60)
        done = server.recording
        done["exchanges"] = [exchange for place, exchange in enumerate(done["exchanges"]) if place in server.used]
    done["answer"] = found["answer"]
    write(file, done)
    return done


def main() -> int:
    """Record; return how many questions could not be answered."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--methods", default=",".join(QUESTIONS))
    parser.add_argument("--questions", help="ids, the same for each method (default: those that are kept)")
    parser.add_argument("--time-limit", type=float, default=600, help="seconds to wait for one reply")
    arguments = parser.parse_args()
    upstream, model = os.environ.get("VLLM_BASE_URL"), os.environ.get("MODEL")
    if not upstream or not model:
        parser.error("set VLLM_BASE_URL to the server's address, with /v1, and MODEL to the name of its model")
    questions, failed = sample_questions(), 0
    with steady_knowledge_base() as base:
        for method in arguments.methods.split(","):
            for id_ in (arguments.questions or QUESTIONS[method]).split(","):
                asked = questions[id_]
                file = FOLDER / f"{method}-{id_}.json"
                new = Recording(method=method, id=id_, question=asked["question"], model=model, answer="", exchanges=[])
                try:
                    key = os.environ.get("VLLM_API_KEY", "none")
                    done = record(base, file, new, upstream, key, arguments.time_limit)
                except RagError as error:
                    failed += 1
                    print(f"{file.name}: {error}", file=sys.stderr)
                    continue
                expected = " / ".join(asked["answers"])
                print(f"{file.name}: {len(done['exchanges'])} replies, {done['answer']!r}, expected {expected!r}")
    return failed


if __name__ == "__main__":
    sys.exit(main())
