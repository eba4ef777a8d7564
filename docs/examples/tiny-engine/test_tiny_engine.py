"""Kills the tiny engine in the middle, resumes it in another process, and asks whether that was right."""

from __future__ import annotations

import multiprocessing
from pathlib import Path

from tiny_engine import Engine

from trace_check.writer import TraceWriter

PROGRAM = "order: effect charge ; effect ship | thank: effect mail"


def incarnation(folder: Path, trace: Path, actor: str, kill_after: str) -> None:
    with TraceWriter(trace, actor) as log:
        Engine(folder, log).run(kill_after)


def start(*arguments: object) -> int:
    process = multiprocessing.get_context("spawn").Process(target=incarnation, args=arguments)
    process.start()
    process.join()
    return process.exitcode


def test_a_run_that_nothing_disturbs(resume_contract_trace, tmp_path):
    trace = resume_contract_trace(program=PROGRAM, observes="all")
    assert start(tmp_path, trace.path, "p1", "") == 0
    trace.assert_conforms()


def test_a_resume_after_a_kill(resume_contract_trace, tmp_path):
    trace = resume_contract_trace(program=PROGRAM, observes="all")
    assert start(tmp_path, trace.path, "p1", "charge") == -9
    trace.crashed("p1", signal="SIGKILL")
    assert start(tmp_path, trace.path, "p2", "") == 0
    trace.assert_conforms()
