"""What happens to TLC's process when things go wrong around it."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import psutil

CHILD = """
import json, resource, sys
from tlc_runner import TLCInterrupted, run_tlc
limit = int(sys.argv[3])
if limit:
    resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
try:
    result = run_tlc(sys.argv[1], sys.argv[2], timeout=120, heap="256m")
    interrupted = False
except TLCInterrupted as error:
    result, interrupted = error.result, True
print(json.dumps({"interrupted": interrupted, "result": result.to_json()}))
"""


def start(specs: Path, tmp_path: Path, limit: int = 0) -> subprocess.Popen[str]:
    (tmp_path / "Model.cfg").write_text("INIT Init\nNEXT Next\n")
    (tmp_path / "tmp").mkdir()
    return subprocess.Popen(
        [sys.executable, "-c", CHILD, str(specs / "Large.tla"), str(tmp_path / "Model.cfg"), str(limit)],
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "TMPDIR": str(tmp_path / "tmp")},
    )


def java_of(child: subprocess.Popen[str]) -> psutil.Process:
    """The Java the child has started, once it searches."""
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        for process in psutil.Process(child.pid).children():
            # The driver first asks Java for its version: that process may end while it is looked at.
            with contextlib.suppress(psutil.NoSuchProcess):
                cpu = process.cpu_times()
                if "tlc2.TLC" in process.cmdline() and cpu.user + cpu.system > 2:
                    return process
        time.sleep(0.1)
    raise AssertionError("TLC did not start within a minute")


def test_ctrl_c_ends_the_whole_group(specs: Path, tmp_path: Path) -> None:
    with start(specs, tmp_path) as child:
        java = java_of(child)
        assert os.getpgid(java.pid) == java.pid != os.getpgid(child.pid)
        child.send_signal(signal.SIGINT)
        output, _ = child.communicate(timeout=30)
    answer = json.loads(output)
    assert (child.returncode, answer["interrupted"], answer["result"]["outcome"]) == (0, True, "INTERRUPTED")
    assert answer["result"]["message"].endswith("TLC was stopped by Ctrl-C")
    assert answer["result"]["initial"] == 1
    assert not java.is_running()
    assert list((tmp_path / "tmp").iterdir()) == []


def test_a_killed_java_is_no_verdict(specs: Path, tmp_path: Path) -> None:
    with start(specs, tmp_path) as child:
        java_of(child).kill()
        output, _ = child.communicate(timeout=30)
    result = json.loads(output)["result"]
    assert (result["outcome"], result["exit_code"]) == ("CRASHED", -9)
    assert result["message"] == "Large.tla: crashed: Java was killed by signal 9"


def test_full_disk(specs: Path, tmp_path: Path) -> None:
    # A limit on the size of files stands for a full disk: the JVM gets an error from write in the same
    # places.
    with start(specs, tmp_path, limit=400_000) as child:
        output, _ = child.communicate(timeout=150)
    result = json.loads(output)["result"]
    assert result["outcome"] == "DISK_FULL"
    assert "the disk TLC works on is full" in result["message"]
    assert list((tmp_path / "tmp").iterdir()) == []
