"""Checkpoints in a file, so that a question goes on where it was stopped."""

import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

from langgraph_rag.errors import MissingExtraError


@contextmanager
def checkpoints_in(file: Path) -> Iterator[Any]:
    """Open a SQLite checkpointer that reads back nothing but plain data and LangChain's messages.

    Raises:
        MissingExtraError: when the package for it is not installed.
    """
    try:
        from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer
        from langgraph.checkpoint.sqlite import SqliteSaver
    except ImportError as error:
        raise MissingExtraError("keeping checkpoints in a file", "checkpoints") from error
    with closing(sqlite3.connect(file, check_same_thread=False)) as connection:
        yield SqliteSaver(connection, serde=JsonPlusSerializer(allowed_msgpack_modules=None))
