"""Processes that a nursery forks: they end, die, stop and go on like those that are started from scratch."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from pathlib import Path

import psutil
import pytest

from trace_check.reader import read_trace
from trace_check.recording import record
from trace_check.recording.processes import Process, start_process
from trace_check.recording.system import load_system

REFERENCE = load_system("reference")


def nonsense(folder: Path) -> Process:
    """A forked process that fails at once: its job is no job."""
    job = folder / "job.json"
    job.write_text("nonsense")
    return start_process("reference", REFERENCE, [str(job), "reading"], folder / "stderr.txt")


def test_a_forked_process_ends_with_its_status_and_says_why(tmp_path: Path) -> None:
    process = nonsense(tmp_path)
    assert process.wait(30) == process.poll() == 1
    assert "DecodeError" in (tmp_path / "stderr.txt").read_text()


def test_processes_of_one_system_have_one_parent(tmp_path: Path) -> None:
    job = tmp_path / "pipe"
    os.mkfifo(job)  # who reads it waits for a writer: the children stay
    children = [
        start_process("reference", REFERENCE, [str(job), "-"], tmp_path / f"{n}.txt") for n in range(3)
    ]
    try:
        found = [psutil.Process(child.pid) for child in children]
        assert len({child.pid for child in children}) == 3
        (parent,) = {each.ppid() for each in found}
        assert parent != os.getpid()
        assert [os.getpgid(child.pid) for child in children] == [child.pid for child in children]
        with pytest.raises(subprocess.TimeoutExpired):
            children[0].wait(0.05)
        os.killpg(children[0].pid, signal.SIGSTOP)
        until(lambda: found[0].status() == psutil.STATUS_STOPPED)
        assert children[0].poll() is None
    finally:
        for child in children:
            os.killpg(child.pid, signal.SIGKILL)
    assert [child.wait(30) for child in children] == [-signal.SIGKILL] * 3


def until(holds: object) -> None:
    assert callable(holds)
    end = time.monotonic() + 20
    while not holds():
        assert time.monotonic() < end
        time.sleep(0.01)


def test_a_process_is_stopped_while_another_recovers(tmp_path: Path) -> None:
    trace = read_trace(record("reference", "recovery-while-stopped", tmp_path))
    told = [
        (event.__struct_config__.tag, getattr(event, "process", None) or event.actor)
        for event in trace.events
        if event.__struct_config__.tag in ("paused", "continued", "parked", "effect_fired")
        and event.phase != "begin"
    ]
    assert told[:3] == [("effect_fired", "p1"), ("paused", "p1"), ("effect_fired", "p2")]
    assert told.index(("parked", "p2")) < told.index(("continued", "p1"))
