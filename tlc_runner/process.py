"""Runs a command in a process group of its own, hands out its lines, and ends all of it when told to."""

from __future__ import annotations

import codecs
import contextlib
import os
import selectors
import signal
import subprocess
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import IO

import psutil

__all__ = ["Ended", "run_lines"]

_TICK = 0.2
"""Seconds between two looks at the clock and at the memory of the child."""


@dataclass(frozen=True, slots=True)
class Ended:
    """How a command ended. ``exit_code`` is negative for a signal; ``why`` is None if it ended by itself."""

    exit_code: int
    seconds: float
    peak_memory_bytes: int | None
    why: str | None


def run_lines(
    command: list[str],
    *,
    cwd: Path,
    stderr: IO[bytes],
    timeout: float | None,
    on_line: Callable[[str], bool | None],
) -> Ended:
    """Runs ``command`` and calls ``on_line`` for each line of its standard output.

    Parameters
    ----------
    timeout
        Seconds after which its whole process group is killed; None for never.
    on_line
        Told each line without its end. Returns true when the moment is good for a last look at the memory.

    Returns
    -------
    Ended
        ``why`` is ``"timeout"`` or ``"interrupt"`` (Ctrl-C) if it was ended from here.
    """
    start = time.monotonic()
    peak = _Peak()
    why: str | None = None
    # A session of its own: Ctrl-C in the terminal reaches only us, and one kill reaches everything it
    # started.
    process = subprocess.Popen(
        command,
        cwd=cwd,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=stderr,
        start_new_session=True,
    )
    assert process.stdout is not None
    try:
        with selectors.DefaultSelector() as selector:
            selector.register(process.stdout, selectors.EVENT_READ)
            lines = _Lines(on_line)
            peak.look(process.pid)
            while True:
                left = _TICK if timeout is None else min(_TICK, start + timeout - time.monotonic())
                if left <= 0:
                    why = "timeout"
                    break
                if not selector.select(left):
                    peak.look(process.pid)
                    continue
                chunk = os.read(process.stdout.fileno(), 1 << 16)
                if not chunk:
                    break
                if lines.feed(chunk):
                    peak.look(process.pid)
            lines.end()
            if why is None:
                remaining = None if timeout is None else max(0.0, start + timeout - time.monotonic())
                try:
                    process.wait(remaining)
                except subprocess.TimeoutExpired:
                    why = "timeout"
    except KeyboardInterrupt:
        why = "interrupt"
    finally:
        _kill_group(process)
        process.stdout.close()
    return Ended(process.returncode, time.monotonic() - start, peak.bytes, why)


def _kill_group(process: subprocess.Popen[bytes]) -> None:
    """Kills whatever is left of the group, and collects the leader."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


class _Lines:
    def __init__(self, on_line: Callable[[str], bool | None]) -> None:
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._rest = ""
        self._on_line = on_line

    def feed(self, chunk: bytes) -> bool:
        *lines, self._rest = (self._rest + self._decoder.decode(chunk)).split("\n")
        asked = False
        for line in lines:
            asked = bool(self._on_line(line)) or asked
        return asked

    def end(self) -> None:
        rest = self._rest + self._decoder.decode(b"", True)
        self._rest = ""
        if rest:
            self._on_line(rest)


class _Peak:
    """The largest resident memory seen. The rusage of a child counts what its parent had before exec, so the
    kernel's own high-water mark of the running process is read instead where there is one."""

    def __init__(self) -> None:
        self.bytes: int | None = None

    def look(self, pid: int) -> None:
        try:
            status = Path(f"/proc/{pid}/status").read_text(encoding="ascii", errors="replace")
            mark = next((line for line in status.splitlines() if line.startswith("VmHWM:")), None)
            seen = int(mark.split()[1]) * 1024 if mark else None
        except OSError:
            try:
                seen = int(psutil.Process(pid).memory_info().rss)
            except psutil.Error:
                seen = None
        if seen is not None and seen > (self.bytes or 0):
            self.bytes = seen
