"""An OpenAI-compatible server for a model in its process."""

import json
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from langchain_core.exceptions import ContextOverflowError
from langchain_core.messages import AIMessage, convert_to_messages

from langgraph_rag.models.transformers_model import TransformersModel


class _Handler(BaseHTTPRequestHandler):
    server: "_Server"
    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        try:
            reply = self.server.model.invoke(
                convert_to_messages(body["messages"]), response_format=body.get("response_format")
            )
        except ContextOverflowError as error:
            return self._send(400, "application/json", json.dumps({"error": {"message": str(error), "code": 400}}))
        if body.get("stream"):
            return self._send(200, "text/event-stream", _stream(reply, body.get("stream_options", {})))
        message = {"role": "assistant", "content": reply.text}
        choice = {"index": 0, "message": message, "finish_reason": reply.response_metadata["finish_reason"]}
        whole = {**_HEAD, "object": "chat.completion", "choices": [choice], "usage": _usage(reply)}
        return self._send(200, "application/json", json.dumps(whole))

    def _send(self, status: int, kind: str, text: str) -> None:
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(text.encode())))
        self.end_headers()
        self.wfile.write(text.encode())

    def log_message(self, *_: object) -> None: ...


class _Server(ThreadingHTTPServer):
    def __init__(self, folder: str) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.model = TransformersModel(model_name=folder, max_new_tokens=400)


_HEAD = {"id": "1", "created": 1, "model": "tiny"}


def _usage(reply: AIMessage) -> dict[str, int]:
    assert reply.usage_metadata
    read, written = reply.usage_metadata["input_tokens"], reply.usage_metadata["output_tokens"]
    return {"prompt_tokens": read, "completion_tokens": written, "total_tokens": read + written}


def _stream(reply: AIMessage, options: dict[str, Any]) -> str:
    """Send character by character; the usage comes last, and only for those who ask for it."""
    deltas: list[tuple[dict[str, str], str | None]] = [({"role": "assistant", "content": c}, None) for c in reply.text]
    deltas.append(({}, reply.response_metadata["finish_reason"]))
    chunks: list[dict[str, Any]] = [
        {"choices": [{"index": 0, "delta": delta, "finish_reason": reason}]} for delta, reason in deltas
    ]
    if options.get("include_usage"):
        chunks.append({"choices": [], "usage": _usage(reply)})
    lines = [json.dumps({**_HEAD, "object": "chat.completion.chunk", **chunk}) for chunk in chunks]
    return "".join(f"data: {line}\n\n" for line in [*lines, "[DONE]"])


def serve(folder: Path, port: Connection) -> None:
    """Serve the model of a folder for good, and send the port."""
    with _Server(str(folder)) as server:
        port.send(server.server_port)
        server.serve_forever()
