"""Outputs never replace what a command reads, and nothing that is no regular file."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from resume_contract.cli import run
from resume_contract.errors import ResumeContractError
from resume_contract.writing import require_output, write_text
from trace_check.streaming.generate import MODELS

KILL = MODELS / "kill-after-effect.jsonl"


def refused(arguments: list[str], capfd: pytest.CaptureFixture[str]) -> str:
    capfd.readouterr()
    assert run(arguments) == 2
    out, err = capfd.readouterr()
    assert out == ""
    assert err.count("\n") == 1
    return err


@pytest.mark.parametrize("through", ["itself", "symlink", "hard link", "relative"])
def test_a_trace_is_not_written_over(
    through: str, tmp_path: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    trace = tmp_path / "trace.jsonl"
    shutil.copy(KILL, trace)
    other = tmp_path / "other.jsonl"
    if through == "symlink":
        other.symlink_to(trace)
    elif through == "hard link":
        os.link(trace, other)
    elif through == "relative":
        monkeypatch.chdir(tmp_path)
        other = Path("trace.jsonl")
    else:
        other = trace
    said = f"error: {other}: would be written over and is read as well: name another file to write to\n"
    for arguments in (
        ["trace", "shrink", str(trace), "-o", str(other)],
        ["trace", "check", str(trace), "--write-baseline", str(other)],
        ["trace", "check", str(tmp_path), "--write-baseline", str(other)],
    ):
        assert refused(arguments, capfd) == said
    assert trace.read_bytes() == KILL.read_bytes()


def test_a_picture_does_not_replace_its_trace(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    trace = tmp_path / "trace.svg"
    shutil.copy(KILL, trace)
    assert "would be written over" in refused(["trace", "show", str(trace), "-o", str(trace)], capfd)
    assert trace.read_bytes() == KILL.read_bytes()


def test_a_device_is_no_output(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    pipe = tmp_path / "pipe.jsonl"
    os.mkfifo(pipe)
    for arguments in (
        ["trace", "shrink", str(KILL), "-o", str(pipe)],
        ["trace", "check", str(KILL), "--write-baseline", str(pipe)],
    ):
        assert refused(arguments, capfd) == f"error: {pipe}: is no regular file: name a file to write to\n"
    assert pipe.is_fifo()
    with pytest.raises(ResumeContractError, match="is no regular file"):
        write_text(pipe, "text")
    assert pipe.is_fifo()
    assert "is a folder: name a file" in refused(
        ["trace", "check", str(KILL), "--write-baseline", str(tmp_path)], capfd
    )


def test_a_baseline_may_be_written_anew(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    known = tmp_path / "known.json"
    both = ["trace", "check", str(KILL), "--write-baseline", str(known)]
    assert run(both) == 1
    assert run([*both, "--baseline", str(known)]) == 0
    require_output(tmp_path / "new", [tmp_path / "gone"])


def test_standard_input_is_not_written_over(tmp_path: Path) -> None:
    trace = tmp_path / "trace.jsonl"
    shutil.copy(KILL, trace)
    for arguments in (["shrink", "-", "-o", str(trace)], ["check", "-", "--write-baseline", str(trace)]):
        with trace.open("rb") as given:
            done = subprocess.run(
                [sys.executable, "-m", "resume_contract", "trace", *arguments],
                stdin=given,
                capture_output=True,
                text=True,
                check=False,
            )
        assert (done.returncode, done.stdout) == (2, "")
        assert done.stderr == (
            f"error: {trace}: would be written over and is read as well: name another file to write to\n"
        )
    assert trace.read_bytes() == KILL.read_bytes()
