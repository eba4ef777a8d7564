"""A PostgreSQL server for one recording, in a folder of its own, from the ``pgserver`` wheel."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from trace_check.errors import RecordingError

__all__ = ["address", "main", "start", "stop"]

_SECONDS: Final = 120.0
_ADDRESS: Final = "postgres.uri"
_CONTROL: Final = "postgres.control"
_DATA: Final = "postgres"


def start(python: str, variables: Mapping[str, str], folder: Path) -> None:
    """Start a server and make the saver's tables.

    Args:
        python: an interpreter that has ``pgserver`` and the saver.
        variables: what its processes need besides.
        folder: the recording's.

    Raises:
        RecordingError: it does not start.
    """
    try:
        done = subprocess.run(
            [python, "-m", __name__, str(folder)],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            env=os.environ | dict(variables),
            timeout=_SECONDS,
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise RecordingError(f"PostgreSQL did not start in {_SECONDS:g} s", "try again") from None
    if done.returncode:
        said = done.stderr.strip().splitlines()
        raise RecordingError(
            f"PostgreSQL does not start: {said[-1] if said else 'it said nothing'}",
            "see the pgserver package",
        )


def stop(folder: Path) -> None:
    """Stop the server of a folder at once; its processes are gone after that. Nothing where there is none.

    Raises:
        RecordingError: it does not stop.
    """
    data = folder / _DATA
    if not (folder / _CONTROL).exists() or not (data / "postmaster.pid").exists():
        return
    control = (folder / _CONTROL).read_text()
    pid, owner = int((data / "postmaster.pid").read_text().splitlines()[0]), data.stat().st_uid
    try:
        done = subprocess.run(
            [control, "stop", "-D", str(data), "-m", "immediate", "-w"],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=_SECONDS,
            # PostgreSQL takes no orders from root.
            user=owner if os.geteuid() == 0 else None,
            cwd=folder,
            check=False,
        )
        stopped = done.returncode == 0
    except subprocess.TimeoutExpired:
        stopped = False
    if not stopped:
        raise RecordingError(f"PostgreSQL does not stop (process {pid})", "end it by hand")


def address(folder: Path) -> str:
    """The URI of the server of a recording's folder."""
    return (folder / _ADDRESS).read_text()


def main(folder: Path) -> None:
    """Start the server that outlives this process; to be run in the system's environment."""
    import pgserver
    from langgraph.checkpoint.postgres import PostgresSaver
    from pgserver._commands import POSTGRES_BIN_PATH

    (folder / _CONTROL).write_text(str(POSTGRES_BIN_PATH / "pg_ctl"))
    server = pgserver.get_server(folder / _DATA, cleanup_mode=None)
    uri = server.get_uri()
    with PostgresSaver.from_conn_string(uri) as saver:
        saver.setup()
    (folder / _ADDRESS).write_text(uri)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
