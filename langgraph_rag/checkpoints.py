"""Checkpoints: a strict serialiser, and a file for them, so that a stopped question can continue."""

import sqlite3
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, closing
from pathlib import Path
from typing import Any

from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer

from langgraph_rag.arguments import expect
from langgraph_rag.errors import CheckpointsError, MissingExtraError

_OTHERS = "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT IN ('checkpoints', 'writes') ORDER BY name"


def strict_serializer(*classes: type) -> JsonPlusSerializer:
    """Return a serialiser for LangGraph checkpointers (`serde=`) that reads only plain data and LangChain's messages.

    The states of the graphs in this package have nothing else. Objects of other classes are not created, so that nobody
    who can write checkpoints can run code where they are read. If you use a graph inside your own, pass the `classes`
    of your own state.

    Raises:
        TypeError: when one of them is not a class.
    """
    for each in classes:
        expect(type, each, "classes of a state", "strict_serializer(Order, Customer)")
    allowed = [(each.__module__, each.__name__) for each in classes]
    return JsonPlusSerializer(allowed_msgpack_modules=allowed or None)


@asynccontextmanager
async def checkpoints_in(file: Path) -> AsyncIterator[Any]:
    """Open an asynchronous SQLite checkpointer that reads only plain data and LangChain's messages.

    Raises:
        MissingExtraError: when the required package is not installed.
        CheckpointsError: when the file is not a file of checkpoints, or cannot be used, as on a full disk.
    """
    try:
        from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver
    except ImportError as error:
        raise MissingExtraError("keeping checkpoints in a file", "checkpoints") from error
    try:
        with closing(sqlite3.connect(file)) as connection:
            if others := [name for (name,) in connection.execute(_OTHERS)]:
                raise sqlite3.DatabaseError(f"it has other tables: {', '.join(others)}")
    except sqlite3.Error as error:
        raise CheckpointsError(
            f"expected a file of checkpoints at {file}, or none yet in a folder that can be written to: {error}"
        ) from error
    try:
        async with AsyncSqliteSaver.from_conn_string(str(file)) as saver:
            saver.serde = strict_serializer()
            yield saver
    except sqlite3.Error as error:
        raise CheckpointsError(f"checkpoints cannot be read from or written to {file}: {error}") from error
