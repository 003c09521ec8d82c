"""Servers that tests run in their own process."""

import json
import socket
import subprocess
import sys
import threading
import time
from abc import abstractmethod
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from socketserver import BaseServer
from typing import Any, TypeVar

S = TypeVar("S", bound=BaseServer)


@contextmanager
def serving(server: S) -> Iterator[S]:
    """Serve in a thread, and close the server in the end."""
    with server:
        thread = threading.Thread(target=server.serve_forever, args=[0.01])
        thread.start()
        try:
            yield server
        finally:
            server.shutdown()
            thread.join()


class _JsonHandler(BaseHTTPRequestHandler):
    server: "JsonServer"
    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        status, reply = self.server.answer(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
        content = json.dumps(reply).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *_: object) -> None: ...


class JsonServer(ThreadingHTTPServer):
    """Answers JSON with JSON, whatever the path."""

    daemon_threads = True
    request_queue_size = 64

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _JsonHandler)

    @property
    def url(self) -> str:
        """Return the base URL for OpenAI's clients."""
        return f"http://127.0.0.1:{self.server_port}/v1"

    @abstractmethod
    def answer(self, body: dict[str, Any]) -> tuple[int, Any]:
        """Return the status and the body of the reply to a request."""


class ChromaServer:
    """A Chroma server on a free port, with its data in a folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        self.url = f"http://127.0.0.1:{self.port}"

    def start(self) -> None:
        """Start it, and wait until it listens."""
        command = ["run", "--path", str(self.folder), "--host", "127.0.0.1", "--port", str(self.port)]
        self.process = subprocess.Popen(
            [sys.executable, "-c", "from chromadb.cli.cli import app; app()", *command], stdout=subprocess.DEVNULL
        )
        until = time.monotonic() + 60
        while time.monotonic() < until and self.process.poll() is None:
            try:
                return socket.create_connection(("127.0.0.1", self.port), 1).close()
            except OSError:
                time.sleep(0.05)
        raise AssertionError("the server did not come up")

    def stop(self) -> None:
        """Kill it."""
        self.process.kill()
        self.process.wait()
