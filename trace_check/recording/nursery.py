"""A process that has a system's modules loaded and forks one child for each job: ``python -m … SYSTEM STORE FD``.

Loading a framework takes a second or more, forking a process that has loaded it some milliseconds. A child is a process
of its own like any other: it is killed, stopped and waited for as such. Where loading has left threads behind,
forking would not be safe: then the nursery says so and ends.

It is asked over a socket: a JSON list of a child's arguments, with the files for its standard error and its two pipes. It
answers ``started PID``, and ``ended PID STATUS`` when it has waited for it (the status negative for a signal).
"""

from __future__ import annotations

import gc
import importlib
import json
import os
import select
import signal
import socket
import sys
import threading
from typing import Any

from trace_check.recording.system import load_system

__all__ = ["UNFIT", "main"]

UNFIT = "unfit"
"""What a nursery says that cannot fork."""

_ENOUGH = 65536
_FILES = 3


def main(argv: list[str]) -> int:
    """Serve until the socket is closed; in a child, do its job and return its exit status."""
    name, store, number = argv
    connection = socket.socket(fileno=int(number))
    system = load_system(name, store)
    for module in ("trace_check.recording.child", *system.modules):
        importlib.import_module(module)
    if threading.active_count() > 1:
        connection.sendall(f"{UNFIT}\n".encode())
        return 0
    # What is loaded stays: a child that ends would else go through all of it, for half a second.
    gc.collect()
    gc.freeze()
    connection.sendall(b"fit\n")
    arguments = _serve(connection)
    if arguments is None:
        return 0
    connection.close()
    from trace_check.recording.child import main as run_job

    return run_job(arguments)


def _serve(connection: socket.socket) -> list[str] | None:
    """Fork and wait; returns in each child with its arguments, and in the nursery with None when nobody asks any more."""
    woken, waker = os.pipe()
    for end in (woken, waker):
        os.set_blocking(end, False)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    signal.set_wakeup_fd(waker, warn_on_full_buffer=False)
    sources: list[Any] = [connection, woken]
    while True:
        ready, _, _ = select.select(sources, [], [])
        if woken in ready:
            os.read(woken, _ENOUGH)
            _tell_ended(connection)
        if connection in ready:
            data, files, _, _ = socket.recv_fds(connection, _ENOUGH, _FILES)
            if not data:
                return None
            pid = os.fork()
            if pid == 0:
                signal.set_wakeup_fd(-1)
                signal.signal(signal.SIGCHLD, signal.SIG_DFL)
                os.close(woken)
                os.close(waker)
                return _become_child(data, files)
            _set_group(pid)
            for file in files:
                os.close(file)
            connection.sendall(f"started {pid}\n".encode())


def _become_child(data: bytes, files: list[int]) -> list[str]:
    """In the child: a group of its own, its own standard streams; returns its arguments."""
    _set_group(0)
    errors, *pipes = files
    nothing = os.open(os.devnull, os.O_RDWR)
    for source, target in ((nothing, 0), (nothing, 1), (errors, 2)):
        os.dup2(source, target)
    os.close(nothing)
    os.close(errors)
    return [*json.loads(data), *map(str, pipes)]


def _set_group(pid: int) -> None:
    """A group that a signal can be sent to; both sides set it, for neither knows who comes first."""
    try:
        os.setpgid(pid, pid)
    except (PermissionError, ProcessLookupError):
        return


def _tell_ended(connection: socket.socket) -> None:
    while True:
        try:
            pid, status = os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            return
        if pid == 0:
            return
        connection.sendall(f"ended {pid} {os.waitstatus_to_exitcode(status)}\n".encode())


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
