"""Checkpoints: read back strictly, and kept in a file, so that a question goes on where it was stopped."""

import sqlite3
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, closing
from pathlib import Path
from typing import Any

from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer

from langgraph_rag.errors import CheckpointsError, MissingExtraError


def strict_serializer(*classes: type) -> JsonPlusSerializer:
    """Return a serialiser for LangGraph checkpointers (`serde=`) that reads plain data and LangChain's messages only.

    The states of the graphs here hold nothing else. An object of any other class that a checkpoint names is not built,
    which keeps whoever can write to the checkpoints from having code run where they are read. The `classes` are built,
    too: those that the state of a graph around one of these has.
    """
    allowed = [(each.__module__, each.__name__) for each in classes]
    return JsonPlusSerializer(allowed_msgpack_modules=allowed or None)


@asynccontextmanager
async def checkpoints_in(file: Path) -> AsyncIterator[Any]:
    """Open a SQLite checkpointer for coroutines that reads back nothing but plain data and LangChain's messages.

    Raises:
        MissingExtraError: when the package for it is not installed.
        CheckpointsError: when the file cannot be opened as one of checkpoints, or used, as on a full disk.
    """
    try:
        from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver
    except ImportError as error:
        raise MissingExtraError("keeping checkpoints in a file", "checkpoints") from error
    try:
        with closing(sqlite3.connect(file)) as connection:
            connection.execute("PRAGMA schema_version")  # reads it
    except sqlite3.Error as error:
        raise CheckpointsError(f"expected a file of checkpoints, or none yet, at {file}: {error}") from error
    try:
        async with AsyncSqliteSaver.from_conn_string(str(file)) as saver:
            saver.serde = strict_serializer()
            yield saver
    except sqlite3.Error as error:
        raise CheckpointsError(f"checkpoints cannot be read from or written to {file}: {error}") from error
