"""A cache of model replies on disk: LangChain's cache interface over SQLite."""

import asyncio
import hashlib
import json
import sqlite3
import threading
import weakref
from collections.abc import AsyncIterator
from contextlib import ExitStack, asynccontextmanager
from contextvars import ContextVar
from pathlib import Path
from typing import Any

from langchain_core.caches import RETURN_VAL_TYPE, BaseCache
from langchain_core.messages import messages_from_dict, messages_to_dict
from langchain_core.outputs import ChatGeneration

from langgraph_rag.concurrency.context_variables import override
from langgraph_rag.errors import ModelOutputError, ResponseCacheError
from langgraph_rag.write_ahead import BUSY_TIMEOUT, use_wal

_TABLE = "CREATE TABLE IF NOT EXISTS replies (key TEXT PRIMARY KEY, reply TEXT NOT NULL) WITHOUT ROWID"
_OTHERS = "SELECT name FROM sqlite_master WHERE type = 'table' AND name != 'replies' ORDER BY name"
_CLIENT_SETTINGS = {"request_timeout", "timeout", "stream_chunk_timeout", "max_retries"}  # they change no reply
_used: ContextVar[list[tuple["ResponseCache", str]] | None] = ContextVar("langgraph_rag_used_replies", default=None)


@asynccontextmanager
async def forgotten_if_unusable() -> AsyncIterator[None]:
    """Forget the replies of a conversation that ends without a usable one, so that the model is asked again."""
    with override(_used, list[tuple[ResponseCache, str]]()) as used:
        try:
            yield
        except ModelOutputError:
            for cache, key in used:
                await asyncio.to_thread(cache.forget, key)  # it may wait for another writer
            raise


class ResponseCache(BaseCache):
    """A file of replies, by the model, its settings and the messages; each reply is committed as soon as it arrives.

    Several threads and processes can use it at the same time. A cached reply counts in `usage` like a new one.

    Raises:
        ResponseCacheError: when the file cannot be opened, read or written, or is not such a cache.
    """

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)
        self._lock = threading.Lock()
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            self._connection = sqlite3.connect(
                self.path, timeout=BUSY_TIMEOUT, check_same_thread=False, isolation_level=None
            )
            weakref.finalize(self, self._connection.close)
            with ExitStack() as opened:  # closed again when something goes wrong
                opened.callback(self.close)
                if others := [name for (name,) in self._connection.execute(_OTHERS)]:
                    raise sqlite3.DatabaseError(f"it has other tables: {', '.join(others)}")
                use_wal(self._connection)
                self._connection.execute(_TABLE)
                opened.pop_all()
        except (OSError, sqlite3.Error) as error:
            raise self._unusable(error) from error

    def lookup(self, prompt: str, llm_string: str) -> RETURN_VAL_TYPE | None:
        """Return the cached reply, if there is one."""
        key = _key(prompt, llm_string)
        found = self._execute("SELECT reply FROM replies WHERE key = ?", key)
        if not found:
            return None
        try:
            messages = messages_from_dict(json.loads(found[0][0]))
        except (ValueError, TypeError, KeyError):  # a damaged entry; the next reply replaces it
            return None
        self._note(key)
        return [ChatGeneration(message=message) for message in messages]

    def update(self, prompt: str, llm_string: str, return_val: RETURN_VAL_TYPE) -> None:
        """Store the reply of a chat model."""
        messages = [made.message for made in return_val if isinstance(made, ChatGeneration)]
        reply = json.dumps(messages_to_dict(messages), default=str)  # in ASCII: lone surrogates have no UTF-8
        key = _key(prompt, llm_string)
        self._execute("INSERT OR REPLACE INTO replies VALUES (?, ?)", key, reply)
        self._note(key)

    def forget(self, key: str) -> None:
        """Forget one reply."""
        self._execute("DELETE FROM replies WHERE key = ?", key)

    def clear(self, **kwargs: Any) -> None:
        """Forget all replies."""
        self._execute("DELETE FROM replies")

    def close(self) -> None:
        """Close the file."""
        self._connection.close()

    def _note(self, key: str) -> None:
        used = _used.get()
        if used is not None:
            used.append((self, key))

    def _execute(self, statement: str, *values: str) -> list[Any]:
        try:
            with self._lock:
                return self._connection.execute(statement, values).fetchall()
        except sqlite3.Error as error:
            raise self._unusable(error) from error

    def _unusable(self, error: Exception) -> ResponseCacheError:
        return ResponseCacheError(
            f"expected a file of cached replies at {self.path}, or none yet in a folder that can be written to: {error}"
        )


def _key(prompt: str, llm_string: str) -> str:
    return hashlib.sha256(f"{_settings(llm_string)}\n{prompt}".encode(errors="surrogatepass")).hexdigest()


def _settings(llm_string: str) -> str:
    """Return LangChain's description of a model and a call, without the settings that change no reply."""
    try:
        model, end = json.JSONDecoder().raw_decode(llm_string)
        given = model["kwargs"]
    except (ValueError, TypeError, KeyError):
        return llm_string  # of a model that LangChain cannot serialise
    model["kwargs"] = {name: value for name, value in given.items() if name not in _CLIENT_SETTINGS}
    return json.dumps(model, sort_keys=True) + llm_string[end:]
