"""Starts the processes of a recording: forked by a nursery that has the system loaded, or each from scratch.

A nursery is kept for each system and store, for as long as this process lives.
"""

from __future__ import annotations

import atexit
import contextlib
import json
import os
import socket
import subprocess
import sys
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Protocol

from trace_check.recording.nursery import UNFIT
from trace_check.recording.system import System

__all__ = ["Process", "start_process"]


class Process(Protocol):
    """A process that was started."""

    @property
    def pid(self) -> int:
        """Its number, which is that of its group as well."""
        ...

    def poll(self) -> int | None:
        """Its exit status (negative for a signal), None while it runs."""
        ...

    def wait(self, timeout: float | None = None) -> int:
        """Wait for its exit status.

        Raises:
            subprocess.TimeoutExpired: it still runs.
        """
        ...


def start_process(
    name: str,
    system: System,
    arguments: Sequence[str],
    stderr: Path,
    pipes: Sequence[int] = (),
) -> Process:
    """Start a process of a system's environment in a group of its own.

    Args:
        name: the system's name, as for :func:`~trace_check.recording.system.load_system`.
        system: the system.
        arguments: those of :mod:`trace_check.recording.child`, the job first.
        stderr: the file for what it says.
        pipes: its ends of the probe's pipes, asking and replying; none for a process that reads the store.

    Raises:
        RecordingError: the system's environment can't be made.
    """
    with stderr.open("wb") as errors:
        if system.modules and type(system).command is System.command:
            nursery = _nursery_for(name, system)
            if nursery is not None:
                return nursery.start(arguments, [errors.fileno(), *pipes])
        command, variables = system.command(Path(arguments[0]))
        return subprocess.Popen(
            [*command, *arguments[1:], *map(str, pipes)],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=errors,
            env=os.environ | system.environment() | variables,
            pass_fds=tuple(pipes),
            start_new_session=True,
        )


class _Forked:
    """A nursery's child."""

    def __init__(self, pid: int) -> None:
        self.pid = pid
        self.ended = threading.Event()
        self.status: int | None = None

    def poll(self) -> int | None:
        return self.status

    def wait(self, timeout: float | None = None) -> int:
        if not self.ended.wait(timeout):
            raise subprocess.TimeoutExpired(f"process {self.pid}", timeout or 0.0)
        assert self.status is not None
        return self.status


class _Nursery:
    """The near side of a nursery."""

    def __init__(self, name: str, system: System) -> None:
        self._near, far = socket.socketpair()
        command, variables = system.command(Path("-"))
        module = command.index("trace_check.recording.child")
        with far:
            self._process = subprocess.Popen(
                [*command[:module], "trace_check.recording.nursery", name, system.store, str(far.fileno())],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                env=os.environ | system.environment() | variables,
                pass_fds=(far.fileno(),),
                start_new_session=True,
            )
        self._answers = self._near.makefile("rb")
        self.is_fit = self._answers.readline().strip() not in (UNFIT.encode(), b"")
        self._lock = threading.Lock()
        self._children: dict[int, _Forked] = {}
        self._started: list[_Forked] = []
        self._told = threading.Condition()
        self._over = not self.is_fit
        if self.is_fit:
            threading.Thread(target=self._listen, daemon=True).start()

    def start(self, arguments: Sequence[str], files: Sequence[int]) -> Process:
        """Have a child forked."""
        with self._lock:
            socket.send_fds(self._near, [json.dumps(list(arguments)).encode()], list(files))
            with self._told:
                self._told.wait_for(lambda: self._started or self._over)
                if not self._started:
                    raise OSError("the process that forks the others has ended")
                return self._started.pop()

    def _listen(self) -> None:
        for line in self._answers:
            word, pid, *status = line.split()
            if word == b"started":
                child = self._children[int(pid)] = _Forked(int(pid))
                with self._told:
                    self._started.append(child)
                    self._told.notify_all()
            else:
                child = self._children.pop(int(pid))
                child.status = int(status[0])
                child.ended.set()
        with self._told:
            self._over = True
            self._told.notify_all()

    def close(self) -> None:
        """Let it end."""
        with contextlib.suppress(OSError):
            self._near.shutdown(socket.SHUT_RDWR)
        self._near.close()
        try:
            self._process.wait(5)
        except subprocess.TimeoutExpired:
            self._process.kill()


_NURSERIES: dict[tuple[str, str, str], _Nursery | None] = {}
_NURSERIES_LOCK = threading.Lock()


def _nursery_for(name: str, system: System) -> _Nursery | None:
    """The nursery of a system with a store; None where it can't fork."""
    key = name, system.store, os.environ.get("PYTHONPATH", "") + "\n".join(sys.path)
    with _NURSERIES_LOCK:
        if key not in _NURSERIES:
            nursery = _Nursery(name, system)
            if nursery.is_fit:
                atexit.register(nursery.close)
                _NURSERIES[key] = nursery
            else:
                nursery.close()
                _NURSERIES[key] = None
        return _NURSERIES[key]
