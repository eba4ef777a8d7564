"""Opens LangGraph's stores: for a run, with a saver that tells what it stores, and for reading.

Imported only when LangGraph is installed; PostgreSQL's driver only where it is the store.
"""

# The base classes are Any where LangGraph is not installed, and typed where it is.
# mypy: disallow-subclassing-any=False

from __future__ import annotations

import hashlib
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

from langgraph.checkpoint.sqlite import SqliteSaver

from trace_check.recording.systems.langgraph.postgres import address
from trace_check.recording.systems.langgraph.saver import RecordingCalls
from trace_check.recording.systems.langgraph.session import Session
from trace_check.recording.systems.langgraph.store import Row

__all__ = ["reading_saver", "recording_saver"]


class _RecordingSqliteSaver(RecordingCalls, SqliteSaver):
    """LangGraph's SQLite saver that tells what it does."""


@contextmanager
def recording_saver(folder: Path, session: Session, *, is_served: bool) -> Iterator[Any]:
    """The saver of a run on the recording's store."""
    with _served(folder) if is_served else _sqlite(folder) as saver:
        saver.session = session
        yield saver


@contextmanager
def _sqlite(folder: Path) -> Iterator[Any]:
    # It waits for other writers, and the framework's threads share it.
    with closing(
        sqlite3.connect(folder / "checkpoints.sqlite", timeout=30, check_same_thread=False)
    ) as connection:
        yield _RecordingSqliteSaver(connection)


@contextmanager
def _served(folder: Path) -> Iterator[Any]:
    from langgraph.checkpoint.postgres import PostgresSaver

    class RecordingPostgresSaver(RecordingCalls, PostgresSaver):
        """LangGraph's PostgreSQL saver that tells what it does."""

    with RecordingPostgresSaver.from_conn_string(address(folder)) as saver:
        yield saver


@contextmanager
def reading_saver(
    folder: Path, thread: str, *, is_served: bool
) -> Iterator[tuple[Any | None, dict[str, Row]]]:
    """LangGraph's saver on a store that nobody writes to now, and the rows of a thread; None where there is no store."""
    if is_served:
        from langgraph.checkpoint.postgres import PostgresSaver

        with PostgresSaver.from_conn_string(address(folder)) as saver:
            yield saver, _served_rows(folder, thread)
    elif (database := folder / "checkpoints.sqlite").exists():
        # Read-only: whoever closes a store as the last one would empty the log of one that was left by SIGKILL.
        with closing(sqlite3.connect(f"file:{database}?mode=ro", uri=True, timeout=30)) as connection:
            yield SqliteSaver(connection), _sqlite_rows(connection, thread)
    else:
        yield None, {}


def _sqlite_rows(connection: sqlite3.Connection, thread: str) -> dict[str, Row]:
    if not connection.execute("SELECT 1 FROM sqlite_master WHERE name = 'checkpoints'").fetchone():
        return {}
    query = (
        "SELECT checkpoint_id, parent_checkpoint_id, type, checkpoint FROM checkpoints"
        " WHERE thread_id = ? AND checkpoint_ns = ''"
    )
    return {
        name: Row(parent, _digest((kind or "").encode(), blob or b""))
        for name, parent, kind, blob in connection.execute(query, (thread,))
    }


def _served_rows(folder: Path, thread: str) -> dict[str, Row]:
    """PostgreSQL has a checkpoint's channels in a table of their own, by channel and version."""
    import psycopg

    query = (
        "SELECT c.checkpoint_id, c.parent_checkpoint_id, c.checkpoint::text,"
        " (SELECT string_agg(b.channel || ' ' || b.version || ' ' || b.type || ' ' ||"
        " coalesce(encode(b.blob, 'hex'), ''), ',' ORDER BY b.channel) FROM checkpoint_blobs b"
        " WHERE b.thread_id = c.thread_id AND b.checkpoint_ns = c.checkpoint_ns"
        " AND c.checkpoint -> 'channel_versions' ->> b.channel = b.version)"
        " FROM checkpoints c WHERE c.thread_id = %s AND c.checkpoint_ns = ''"
    )
    with psycopg.connect(address(folder)) as connection:
        return {
            name: Row(parent, _digest(checkpoint.encode(), (blobs or "").encode()))
            for name, parent, checkpoint, blobs in connection.execute(query, (thread,))
        }


def _digest(*parts: bytes) -> str:
    return hashlib.sha256(b"\0".join(parts)).hexdigest()[:16]
