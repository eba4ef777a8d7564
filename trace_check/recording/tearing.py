"""Cuts short the last write of a store, as a power failure does; for systems' `tear`."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Final

from trace_check.errors import RecordingError

__all__ = ["cut_newest_file", "cut_wal"]

_WAL_HEADER: Final = 32
_KEEP: Final = 0.5


def cut_wal(database: Path) -> None:
    """Cut the last frame of a SQLite database's write-ahead log in the middle.

    Raises:
        RecordingError: there is no write-ahead log with a frame in it: the last write cannot be torn.
    """
    wal = database.with_name(f"{database.name}-wal")
    size = wal.stat().st_size if wal.exists() else 0
    if size <= _WAL_HEADER:
        raise RecordingError(
            f"{wal.name} has no frame", "let the writer die by SIGKILL, so that its log is not checkpointed"
        )
    page = int.from_bytes(wal.read_bytes()[8:12], "big")
    with wal.open("r+b") as file:
        file.truncate(size - (24 + page) // 2)


def cut_newest_file(files: Iterable[Path]) -> None:
    """Cut the file that was written last to half of its length.

    Raises:
        RecordingError: there is no file.
    """
    newest = max(files, key=lambda file: file.stat().st_mtime_ns, default=None)
    if newest is None:
        raise RecordingError("the store has no file to cut", "let a process write to it before")
    with newest.open("r+b") as file:
        file.truncate(int(newest.stat().st_size * _KEEP))
