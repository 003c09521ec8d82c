"""An OpenAI-compatible server that gives the scripted replies, each as long after its request.

python benchmarks/scripted_server.py SECONDS     prints its port
"""

import asyncio
import json
import socket
import sys
from typing import Any

import uvicorn
from scripted import reply


class App:
    """Answers chat completions; the name of the requested schema identifies the prompt."""

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """Serve one request."""
        due = asyncio.get_running_loop().time() + self.seconds
        body, more = b"", True
        while more:
            message = await receive()
            body, more = body + message["body"], message["more_body"]
        content = json.dumps(_completion(json.loads(body))).encode()
        headers = [(b"content-type", b"application/json"), (b"content-length", str(len(content)).encode())]
        await asyncio.sleep(due - asyncio.get_running_loop().time())
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        await send({"type": "http.response.body", "body": content})


def _completion(asked: dict[str, Any]) -> dict[str, Any]:
    text = reply(asked["response_format"]["json_schema"]["name"], asked["messages"][1]["content"])
    sent, written = sum(len(message["content"]) for message in asked["messages"]) // 4, len(text) // 4
    return {
        "id": "1",
        "object": "chat.completion",
        "created": 1,
        "model": asked["model"],
        "choices": [{"index": 0, "message": {"role": "assistant", "content": text}, "finish_reason": "stop"}],
        "usage": {"prompt_tokens": sent, "completion_tokens": written, "total_tokens": sent + written},
    }


if __name__ == "__main__":
    with socket.create_server(("127.0.0.1", 0), backlog=1024) as listening:
        print(listening.getsockname()[1], flush=True)
        server = uvicorn.Server(uvicorn.Config(App(float(sys.argv[1])), lifespan="off", log_level="error"))
        server.run(sockets=[listening])
