"""Conversations with a served model, stored in files and replayed over HTTP for the same requests."""

import difflib
import json
import threading
from pathlib import Path
from typing import Any, NotRequired

import httpx
from servers import JsonServer
from typing_extensions import TypedDict

FOLDER = Path(__file__).parent / "recordings"


class Exchange(TypedDict):
    """One request as the server got it, and the text of its reply; `prompt` is the name of the prompt."""

    prompt: str
    messages: list[dict[str, str]]
    schema: dict[str, Any]
    reply: str
    usage: NotRequired[dict[str, Any]]


class Recording(TypedDict):
    """A question answered by a method; `answer` is empty until the whole question has been answered."""

    method: str
    id: str
    question: str
    model: str
    answer: str
    exchanges: list[Exchange]


def read(file: Path) -> Recording:
    """Read a recording."""
    recording: Recording = json.loads(file.read_text(encoding="utf-8"))
    return recording


def write(file: Path, recording: Recording) -> None:
    """Write a recording whole or not at all."""
    file.parent.mkdir(parents=True, exist_ok=True)
    new = file.with_suffix(".new")
    new.write_text(json.dumps(recording, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")
    new.replace(file)


class RecordedServer(JsonServer):
    """Replies as recorded; what is not recorded it asks `upstream`, keeping the reply at once, or refuses.

    `problems` says what could not be answered, `used` are the places of the exchanges that were asked for.
    """

    def __init__(
        self, file: Path, recording: Recording, upstream: str = "", key: str = "", time_limit: float = 60
    ) -> None:
        super().__init__()
        self.file, self.recording, self.upstream = file, recording, upstream
        self._headers, self._time_limit = {"Authorization": f"Bearer {key}"}, time_limit
        self.problems: list[str] = []
        self.used: set[int] = set()
        self._lock = threading.Lock()

    def answer(self, body: dict[str, Any]) -> tuple[int, dict[str, Any]]:
        """Return the status and the body of the reply to a request."""
        form = body["response_format"]["json_schema"]
        asked = Exchange(prompt=form["name"], messages=body["messages"], schema=form["schema"], reply="")
        with self._lock:
            for place, known in enumerate(self.recording["exchanges"]):
                if _key(known) == _key(asked):
                    self.used.add(place)
                    return 200, _completion(known)
        return self._forward(body, asked) if self.upstream else self._refuse(asked)

    def _forward(self, body: dict[str, Any], asked: Exchange) -> tuple[int, dict[str, Any]]:
        url = f"{self.upstream.rstrip('/')}/chat/completions"
        try:
            sent = httpx.post(url, json=body, headers=self._headers, timeout=self._time_limit)
        except httpx.HTTPError as error:
            self.problems.append(f"{type(error).__name__}: {error}")
            return 502, {"error": {"message": str(error)}}
        if sent.status_code != httpx.codes.OK:
            self.problems.append(f"status {sent.status_code}: {sent.text[:200]}")
            return sent.status_code, {"error": {"message": sent.text}}
        reply = sent.json()
        asked["reply"] = reply["choices"][0]["message"]["content"] or ""
        asked["usage"] = reply.get("usage", {})
        with self._lock:
            self.used.add(len(self.recording["exchanges"]))
            self.recording["exchanges"].append(asked)
            write(self.file, self.recording)
        return 200, _completion(asked)

    def _refuse(self, asked: Exchange) -> tuple[int, dict[str, Any]]:
        problem = changed(asked, self.recording)
        self.problems.append(problem)
        return 400, {"error": {"message": problem}}


def _key(exchange: Exchange) -> str:
    return json.dumps([exchange["messages"], exchange["schema"]], sort_keys=True)


def changed(asked: Exchange, recording: Recording) -> str:
    """Say what is different about a request that was not recorded."""
    where = f"{recording['method']} on {recording['id']}"
    again = "record it anew with `make record`"
    alike = [known for known in recording["exchanges"] if known["prompt"] == asked["prompt"]]
    if not alike:
        return f"{where}: the prompt {asked['prompt']!r} was never asked when this was recorded: {again}"
    if all(known["schema"] != asked["schema"] for known in alike):
        return f"{where}: the schema of the prompt {asked['prompt']!r} has changed: {again}"
    lines = _lines(asked)
    nearest = max(alike, key=lambda known: difflib.SequenceMatcher(None, _lines(known), lines).ratio())
    difference = "\n".join(difflib.unified_diff(_lines(nearest), lines, "recorded", "asked now", lineterm="", n=1))
    return f"{where}: the prompt {asked['prompt']!r} has changed: {again}\n{difference}"


def _lines(exchange: Exchange) -> list[str]:
    return [line for message in exchange["messages"] for line in str(message["content"]).splitlines()]


def _completion(exchange: Exchange) -> dict[str, Any]:
    message = {"role": "assistant", "content": exchange["reply"]}
    usage = {"prompt_tokens": 0, "completion_tokens": 0, "total_tokens": 0} | exchange.get("usage", {})
    choices = [{"index": 0, "message": message, "finish_reason": "stop"}]
    return {"id": "1", "object": "chat.completion", "created": 1, "model": "m", "choices": choices, "usage": usage}
