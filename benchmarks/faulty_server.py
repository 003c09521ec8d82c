"""An OpenAI-compatible server that breaks a percentage of its replies, in all ways that are known to happen.

python benchmarks/faulty_server.py [SHARE]     prints its port; the other replies follow the requested schema
"""

import json
import random
import sys
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

MARK = "zxfault"
"""Marks everything that is not a reply, so that it is recognised wherever it appears."""

_HANGS = 3600.0
_WORDS = "the town where film of director was born in river later first unknown".split()


def following(schema: dict[str, Any], chance: random.Random, whole: dict[str, Any] | None = None) -> Any:
    """Return a random value that a JSON schema allows."""
    whole = whole or schema
    if "$ref" in schema:
        return following(whole["$defs"][schema["$ref"].rsplit("/", 1)[1]], chance, whole)
    if "enum" in schema:
        return chance.choice(schema["enum"])
    if "anyOf" in schema:
        return following(chance.choice(schema["anyOf"]), chance, whole)
    kind = schema.get("type", "string")
    if kind == "object":
        return {name: following(part, chance, whole) for name, part in schema["properties"].items()}
    if kind == "array":
        number = chance.randint(schema.get("minItems", 0), schema.get("maxItems", 3))
        return [following(schema["items"], chance, whole) for _ in range(number)]
    made = {"integer": chance.randint(0, 5), "number": chance.random(), "boolean": chance.random() < 0.5, "null": None}
    return made[kind] if kind in made else " ".join(chance.choices(_WORDS, k=3))


# --- faults: changes of a good reply ----------------------------------------------------------------------------------
TEXTS: dict[str, Callable[[str], str]] = {
    "garbage": lambda good: f"{MARK} \x07%%% ]]}} {MARK}",
    "half JSON": lambda good: good[: len(good) // 2].replace(" ", f" {MARK} "),
    "fences": lambda good: f"{MARK}, here it is:\n```json\n{good}\n```\n{MARK}",
    "reasoning tags": lambda good: f'<think>{MARK} {{"answer": "{MARK}", "thought": "{MARK}"}}</think>{good}',
    "open reasoning": lambda good: f"<think>{MARK} it might be that {MARK}",
    "wrong fields": lambda good: json.dumps({"response": MARK, "result": [MARK]}),
    "wrong types": lambda good: json.dumps(dict.fromkeys(json.loads(good), {"is": MARK})),
    "empty": lambda good: "",
    "refusal": lambda good: f"I am sorry, but I cannot help with {MARK}.",
}
_OTHERS = [
    "cut off",
    "no choices",
    "no text",
    "no JSON",
    "no end",
    "trickle",
    "429",
    "500",
    "hang",
    "disconnect",
]
FAULTS = [*TEXTS, *_OTHERS]


class _Handler(BaseHTTPRequestHandler):
    server: "FaultyServer"
    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        fault = self.server.next_fault()
        with self.server.lock:
            schema = body["response_format"]["json_schema"]["schema"]
            good = json.dumps(following(schema, self.server.chance))
        if fault == "hang":
            time.sleep(_HANGS)
        if fault in ("hang", "disconnect"):
            self.close_connection = True
            self.connection.close()
        elif fault in ("429", "500"):
            self._send(json.dumps({"error": {"message": MARK}}), int(fault))
        elif fault == "no JSON":
            self._send(f"<html>{MARK}</html>")
        elif fault == "no end":
            self._send_without_end(streamed=body.get("stream", False))
        elif fault == "trickle":
            self._trickle()
        elif fault == "no text":
            self._send(json.dumps(_completion({"is": MARK})))
        elif fault == "no choices":
            self._send(json.dumps(_completion(MARK) | {"choices": []}))
        elif fault == "cut off":
            self._send(json.dumps(_completion(good[:-2].replace(" ", f" {MARK} "), "length")))
        else:
            self._send(json.dumps(_completion(TEXTS[fault](good) if fault else good)))

    def _send(self, text: str, status: int = 200) -> None:
        content = text.encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(content)))
        if status == 429:
            self.send_header("Retry-After", "0.1")
        self.end_headers()
        self.wfile.write(content)

    def _send_without_end(self, *, streamed: bool) -> None:
        piece = {"choices": [{"index": 0, "delta": {"content": MARK * 10_000}}]}
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream" if streamed else "application/json")
        self.end_headers()
        self.close_connection = True
        with suppress(OSError):  # the caller hangs up
            while True:
                self.wfile.write((f"data: {json.dumps(piece)}\n\n" if streamed else MARK * 10_000).encode())

    def _trickle(self) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", "1000000")
        self.end_headers()
        self.close_connection = True
        with suppress(OSError):  # the caller hangs up
            for _ in range(1_000_000):
                self.wfile.write(b" ")
                time.sleep(0.05)

    def log_message(self, *_: object) -> None: ...


def _completion(text: Any, finish_reason: str = "stop") -> dict[str, Any]:
    message = {"role": "assistant", "content": text}
    return {
        "id": "1",
        "object": "chat.completion",
        "created": 1,
        "model": "faulty",
        "choices": [{"index": 0, "message": message, "finish_reason": finish_reason}],
        "usage": {"prompt_tokens": 100, "completion_tokens": 20, "total_tokens": 120},
    }


class FaultyServer(ThreadingHTTPServer):
    """Breaks a `share` of its replies, with each kind of fault in turn."""

    daemon_threads = True
    request_queue_size = 256

    def __init__(self, share: float) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.share, self.chance, self.lock = share, random.Random(0), threading.Lock()
        self.made = 0

    def next_fault(self) -> str:
        """Return the fault of the next reply, if any."""
        with self.lock:
            if self.chance.random() >= self.share:
                return ""
            self.made += 1
            return FAULTS[self.made % len(FAULTS)]

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Do not report disconnected clients."""


if __name__ == "__main__":
    with FaultyServer(float(sys.argv[1]) if len(sys.argv) > 1 else 0.3) as server:
        print(server.server_port, flush=True)
        server.serve_forever()
