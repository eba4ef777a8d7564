"""A PostgreSQL server for one recording, in a folder of its own, from the ``pgserver`` wheel."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

from trace_check.errors import RecordingError

__all__ = ["address", "main", "start", "stop"]

_SECONDS: Final = 120.0
_LOOK_EVERY: Final = 0.01
_ADDRESS: Final = "postgres.uri"
_DATA: Final = "postgres"


def start(python: str, variables: Mapping[str, str], folder: Path) -> None:
    """Start a server that has the saver's tables.

    Args:
        python: an interpreter that has ``pgserver`` and the saver.
        variables: what its processes need besides.
        folder: the recording's.

    Raises:
        RecordingError: it does not start.
    """
    with _TEMPLATES_LOCK:
        if python not in _TEMPLATES:
            _TEMPLATES[python] = _make_template(python, variables)
    template = Path(_TEMPLATES[python].name)
    _call(["cp", "-a", str(template / _DATA), str(folder / _DATA)], os.environ)
    _call([python, "-m", __name__, "start", str(folder)], os.environ | dict(variables))


_TEMPLATES: dict[str, tempfile.TemporaryDirectory[str]] = {}
"""By interpreter, a folder with the files of a stopped server that has the saver's tables: to copy them takes a tenth of
the time that it takes to make them. Removed when this process ends."""
_TEMPLATES_LOCK = threading.Lock()


def _make_template(python: str, variables: Mapping[str, str]) -> tempfile.TemporaryDirectory[str]:
    template = tempfile.TemporaryDirectory(prefix="postgres-")
    _call([python, "-m", __name__, "prepare", template.name], os.environ | dict(variables))
    return template


def _call(command: Sequence[str], environment: Mapping[str, str]) -> None:
    try:
        done = subprocess.run(
            command,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            env=environment,
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
        end = time.monotonic() + _SECONDS
        # It is not a child of ours: who adopted it may take a second to notice that it has ended.
        while server.is_running() and server.status() != psutil.STATUS_ZOMBIE:
            if time.monotonic() > end:
                raise RecordingError(f"PostgreSQL does not stop (process {pid})", "end it by hand")
            time.sleep(_LOOK_EVERY)
    except psutil.NoSuchProcess:
        return


def address(folder: Path) -> str:
    """The URI of the server of a recording's folder."""
    return (folder / _ADDRESS).read_text()


def main(what: str, folder: Path) -> None:
    """``prepare`` the files of a server and stop it, or ``start`` one that outlives this process.

    To be run in the system's environment.
    """
    import pgserver

    if what == "prepare":
        from langgraph.checkpoint.postgres import PostgresSaver

        with (
            pgserver.get_server(folder / _DATA, cleanup_mode="stop") as server,
            PostgresSaver.from_conn_string(server.get_uri()) as saver,
        ):
            saver.setup()
    else:
        server = pgserver.get_server(folder / _DATA, cleanup_mode=None)
        (folder / _ADDRESS).write_text(server.get_uri())


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]))
