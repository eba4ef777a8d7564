"""A PostgreSQL server for one recording, in a folder of its own, from the ``pgserver`` wheel."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from trace_check.errors import RecordingError

__all__ = ["address", "main", "start", "stop"]

_SECONDS: Final = 120.0
_ADDRESS: Final = "postgres.uri"
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
    """Stop the server of a folder at once (SIGQUIT is its order for that) and wait. Nothing where there is none.

    Raises:
        RecordingError: it does not stop.
    """
    import psutil  # the harness has it, the system's environment need not

    # The first line of its lock file is its process; it removes the file when it ends.
    lock = folder / _DATA / "postmaster.pid"
    if not lock.exists():
        return
    pid = int(lock.read_text().splitlines()[0])
    try:
        server = psutil.Process(pid)
        server.send_signal(signal.SIGQUIT)
        server.wait(_SECONDS)
    except psutil.NoSuchProcess:
        return
    except psutil.TimeoutExpired:
        raise RecordingError(f"PostgreSQL does not stop (process {pid})", "end it by hand") from None


def address(folder: Path) -> str:
    """The URI of the server of a recording's folder."""
    return (folder / _ADDRESS).read_text()


def main(folder: Path) -> None:
    """Start the server that outlives this process; to be run in the system's environment."""
    import pgserver
    from langgraph.checkpoint.postgres import PostgresSaver

    server = pgserver.get_server(folder / _DATA, cleanup_mode=None)
    uri = server.get_uri()
    with PostgresSaver.from_conn_string(uri) as saver:
        saver.setup()
    (folder / _ADDRESS).write_text(uri)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
