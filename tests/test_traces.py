"""What tracers see of a run: LangSmith's through callbacks, and an OpenTelemetry collector."""

import os
import subprocess
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest
from langchain_core.callbacks import AsyncCallbackHandler
from langchain_core.tracers.base import AsyncBaseTracer
from langchain_core.tracers.schemas import Run
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.trace.v1.trace_pb2 import Span
from servers import serving

from langgraph_rag import Context, KnowledgeBase
from langgraph_rag.methods import create
from langgraph_rag.models.loading import load_model

QUESTION = "In which town was the designer of the Sarl Viaduct born?"


class Collected(AsyncBaseTracer):
    """Keeps the runs of a trace, as LangSmith's tracer sends them."""

    def __init__(self) -> None:
        super().__init__()
        self.runs: list[Run] = []

    async def _persist_run(self, run: Run) -> None:
        self.runs.append(run)


def below(run: Run) -> list[Run]:
    return [run, *(further for child in run.child_runs for further in below(child))]


@pytest.mark.parametrize("method", ["native_rag", "mgranrag", "dualrag", "par_rag", "kirag"])
async def test_each_search_is_a_run_of_a_retriever_below_its_node(sample_kb: KnowledgeBase, method: str) -> None:
    seen = Collected()
    graph = create(method, load_model("offline"), sample_kb).compile()

    await graph.ainvoke({"question": QUESTION}, {"callbacks": [seen]}, context=Context(search="bm25"))

    (trace,) = seen.runs
    pairs = [(run, child) for run in below(trace) for child in run.child_runs if child.run_type == "retriever"]
    assert pairs
    for node, search in pairs:
        assert node.name in graph.nodes
        assert search.name.startswith("search by ")
        documents = (search.outputs or {})["documents"]
        assert search.inputs["query"]
        assert all(document.id and document.page_content and document.metadata["score"] for document in documents)


def test_searches_of_a_synchronous_run_are_seen_and_errors_in_them(sample_kb: KnowledgeBase) -> None:
    told: list[str] = []

    class Listening(AsyncCallbackHandler):
        async def on_retriever_start(self, serialized: Any, query: str, *, run_id: UUID, **_: Any) -> None:
            told.append(query)

        async def on_retriever_error(self, error: BaseException, **_: Any) -> None:
            told.append(str(error))

    graph = create("native_rag", load_model("offline"), sample_kb).compile()
    graph.invoke({"question": QUESTION}, {"callbacks": [Listening()]}, context=Context(search="bm25"))
    assert told == [QUESTION]

    def broken(*_: object, **__: object) -> None:
        raise OSError("the disk is gone")

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sample_kb, "arank", broken)
        with pytest.raises(OSError, match="the disk is gone"):
            graph.invoke({"question": QUESTION}, {"callbacks": [Listening()]}, context=Context(search="bm25"))
    assert told == [QUESTION, QUESTION, "the disk is gone"]


class Collector(ThreadingHTTPServer):
    """An OpenTelemetry collector: keeps the spans that are sent to it."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.spans: list[Span] = []


class _Handler(BaseHTTPRequestHandler):
    server: Collector

    def do_POST(self) -> None:
        sent = ExportTraceServiceRequest.FromString(self.rfile.read(int(self.headers["Content-Length"])))
        assert self.path == "/v1/traces"
        self.server.spans += [span for r in sent.resource_spans for scope in r.scope_spans for span in scope.spans]
        self.send_response(200)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *_: object) -> None: ...


def test_an_opentelemetry_collector_gets_the_nodes_searches_and_model_calls_of_a_question(
    sample_folder: Path, localhost: None
) -> None:
    asked = ["ask", QUESTION, "--kb", str(sample_folder), "--method", "native_rag", "--search", "bm25"]
    with serving(Collector()) as collector:
        settings = {
            "LANGSMITH_TRACING": "true",
            "LANGSMITH_TRACING_MODE": "otel",
            "OTEL_EXPORTER_OTLP_ENDPOINT": f"http://127.0.0.1:{collector.server_port}",
        }
        subprocess.run(
            [sys.executable, "-m", "langgraph_rag", *asked], env=os.environ | settings, check=True, capture_output=True
        )

    names = {span.span_id: span.name for span in collector.spans}
    parents = {span.name: names.get(span.parent_span_id, "") for span in collector.spans}
    assert {"Native RAG", "retrieve", "search by bm25", "read_passages", "conclude"} <= set(parents)
    assert (parents["Native RAG"], parents["search by bm25"]) == ("", "retrieve")
    kinds = {kind.value.string_value for span in collector.spans for kind in span.attributes if "kind" in kind.key}
    assert {"retriever", "llm", "chain"} <= kinds
