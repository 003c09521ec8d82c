"""Checkpoint savers for tests: a file, or the Postgres database of POSTGRES_URI; both with the strict serializer."""

import os
import sqlite3
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, closing, contextmanager
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from langgraph.checkpoint.sqlite import SqliteSaver

from langgraph_rag.checkpoints import checkpoints_in, strict_serializer

STRICT = strict_serializer()


@contextmanager
def database() -> Iterator[str]:
    """Make a schema for one test; without a database, skip the test."""
    if (uri := os.environ.get("POSTGRES_URI")) is None:
        pytest.skip("POSTGRES_URI names no database")
    import psycopg
    from psycopg.conninfo import make_conninfo

    schema = f"test_{uuid4().hex}"
    with psycopg.connect(uri, autocommit=True) as connection:
        connection.execute(f"CREATE SCHEMA {schema}")
        try:
            yield make_conninfo(uri, options=f"-c search_path={schema}")
        finally:
            connection.execute(f"DROP SCHEMA {schema} CASCADE")


@contextmanager
def saver_at(place: str) -> Iterator[Any]:
    if place.endswith(".sqlite"):
        with closing(sqlite3.connect(place, check_same_thread=False)) as connection:
            yield SqliteSaver(connection, serde=STRICT)
        return
    from langgraph.checkpoint.postgres import PostgresSaver
    from psycopg import Connection
    from psycopg.rows import dict_row

    with Connection.connect(place, autocommit=True, prepare_threshold=0, row_factory=dict_row) as session:
        saver = PostgresSaver(session, serde=STRICT)
        saver.setup()
        yield saver


@asynccontextmanager
async def async_saver_at(place: str) -> AsyncIterator[Any]:
    if place.endswith(".sqlite"):
        async with checkpoints_in(Path(place)) as saver:
            yield saver
        return
    from langgraph.checkpoint.postgres.aio import AsyncPostgresSaver

    async with AsyncPostgresSaver.from_conn_string(place, serde=STRICT) as saver:
        await saver.setup()
        yield saver
