"""The commands: outputs and exit statuses."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import psutil
import pytest
from typer.testing import CliRunner, Result

from tlc_runner.cli import app

INIT = "INIT Init\nNEXT Next\n"
COUNTER = "SPECIFICATION Spec\nCONSTANT Max = 4\n"


def call(*arguments: object, text: str | None = None) -> Result:
    return CliRunner().invoke(app, [str(argument) for argument in arguments], input=text)


def test_success_as_text(specs: Path, config: Callable[[str], Path]) -> None:
    result = call("run", specs / "Counter.tla", "-c", config(COUNTER), "--coverage")
    lines = result.stdout.splitlines()
    assert (result.exit_code, result.stderr, lines[0]) == (0, "", "Counter.tla: no error was found")
    assert lines[1].startswith("generated=6 distinct=5 depth=5 queue=0 sec=")
    assert lines[2:] == [
        "  Inc: 4 distinct, 4 generated",
        "  Reset: 0 distinct, 1 generated",
        "  Never: 0 distinct, 0 generated",
    ]


def test_a_violation_as_text_and_json(specs: Path, config: Callable[[str], Path]) -> None:
    cfg = config(COUNTER.replace("Spec\n", "FairSpec\n") + "PROPERTY Stays\n")
    result = call("run", specs / "Counter.tla", "--config", cfg)
    lines = result.stdout.splitlines()
    assert (result.exit_code, lines[0]) == (1, "Counter.tla: temporal property Stays is violated")
    assert lines[2:6] == ["1: initial state", "   x = 0", "2: Inc", "   x = 1"]
    assert lines[-1] == "   back to 1 by Reset"
    result = call("run", specs / "Counter.tla", "--config", cfg, "--json")
    data = json.loads(result.stdout)
    assert (result.exit_code, data["outcome"], data["property"]) == (1, "LIVENESS_VIOLATED", "Stays")
    assert [state["variables"]["x"] for state in data["trace"]] == [0, 1, 2, 3, 4, 0]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--heap", "much"), "error: heap is 'much': give a size such as 512m or 4g\n"),
        (
            ("--java", "/absent/java"),
            "error: /absent/java: cannot be run (No such file or directory): give the path",
        ),
        (
            ("--jar", "/absent.jar"),
            "error: /absent.jar: cannot be read (No such file or directory): give the path",
        ),
    ],
)
def test_what_cannot_start(
    specs: Path, config: Callable[[str], Path], arguments: tuple[str, ...], words: str
) -> None:
    result = call("run", specs / "Counter.tla", "-c", config(COUNTER), *arguments)
    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr.startswith(words)
    assert result.stderr.count("\n") == 1


def test_what_cannot_be_checked(specs: Path, config: Callable[[str], Path]) -> None:
    cfg = config(INIT)
    result = call("run", specs / "Bad.tla", "-c", cfg)
    assert (
        result.exit_code,
        result.stdout.splitlines()[0].startswith(f"{specs}/Bad.tla line 6, column 1"),
    ) == (2, True)
    result = call("graph", specs / "Bad.tla", "-c", cfg)
    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr.startswith(f"error: {specs}/Bad.tla line 6, column 1")


def test_print_command(
    specs: Path, config: Callable[[str], Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))  # the folder it works in is left in place
    result = call(
        "run", specs / "Counter.tla", "-c", config(COUNTER + "INVARIANT Small\n"), "--print-command"
    )
    assert result.exit_code == 0
    done = subprocess.run(["sh", "-c", result.stdout], capture_output=True, text=True, check=False)
    assert (done.returncode, "Invariant Small is violated" in done.stdout) == (12, True)


def test_graph(specs: Path, config: Callable[[str], Path], tmp_path: Path) -> None:
    cfg = config(INIT)
    target = tmp_path / "graph.json"
    result = call("graph", specs / "Stops.tla", "-c", cfg, "--output", target)
    assert (result.exit_code, result.stdout) == (0, "Stops.tla: states=3 transitions=2 initial=1\n")
    graph = json.loads(target.read_text())
    assert [node["state"]["at"] for node in graph["nodes"] if node["initial"]] == ["start"]
    assert [(edge["action"], edge["count"]) for edge in graph["edges"]] == [("Move", 1), ("Move", 1)]
    result = call("graph", specs / "Stops.tla", "-c", cfg, "--json")
    assert json.loads(result.stdout) == graph
    result = call("graph", specs / "Stops.tla", "-c", cfg, "--output", tmp_path / "absent" / "graph.json")
    assert (result.exit_code, "cannot be written (No such file or directory)" in result.stderr) == (2, True)


def test_translate(specs: Path, tmp_path: Path) -> None:
    source = (specs / "Euclid.tla").read_text()
    assert call("translate", specs / "Euclid.tla").stdout == source
    assert call("translate", specs / "Euclid.tla", "--check").exit_code == 0
    drifted = tmp_path / "Euclid.tla"
    drifted.write_text(source.replace("v := v - u", "v := v - u - 0"))
    result = call("translate", drifted, "--check")
    assert (result.exit_code, result.stdout) == (
        1,
        f"{drifted}: the translation is out of date: translate it again\n",
    )
    assert call("translate", drifted, "--in-place").exit_code == 0
    assert call("translate", drifted, "--check").exit_code == 0
    result = call("translate", specs / "Counter.tla")
    assert (result.exit_code, "--algorithm not found" in result.stderr) == (2, True)


def test_values() -> None:
    assert call("values", "[b |-> 2..3, a |-> <<p>>]").stdout == "[a |-> <<p>>, b |-> {2, 3}]\n"
    assert call("values", "--json", text="[b |-> 2..3]\n").stdout == '{"record": {"b": {"set": [2, 3]}}}\n'
    result = call("values", "<<1")
    assert (result.exit_code, result.stderr) == (2, "error: not a TLA+ value at line 1, column 3: '<<1'\n")


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_signals_take_tlc_along(specs: Path, config: Callable[[str], Path], number: signal.Signals) -> None:
    command = [sys.executable, "-m", "tlc_runner", "run", str(specs / "Large.tla"), "-c", str(config(INIT))]
    with subprocess.Popen(
        [*command, "--heap", "256m"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ},
    ) as process:
        deadline = time.monotonic() + 60
        found: list[psutil.Process] = []
        while not found and time.monotonic() < deadline:
            time.sleep(0.1)
            children = psutil.Process(process.pid).children()
            # The driver first asks Java for its version: that process may end while it is looked at.
            with contextlib.suppress(psutil.NoSuchProcess):
                found = [
                    child for child in children if "tlc2.TLC" in child.cmdline() and child.num_threads() > 5
                ]
        (java,) = found
        process.send_signal(number)
        output, errors = process.communicate(timeout=30)
    assert (process.returncode, output) == (2, "")
    assert errors == (
        "error: Large.tla: interrupted: TLC was stopped by Ctrl-C\n" if number is signal.SIGINT else ""
    )
    assert not java.is_running()


@pytest.mark.parametrize("suffix", [".tla", ".cfg"])
def test_an_output_replaces_nothing_that_is_read(specs: Path, tmp_path: Path, suffix: str) -> None:
    spec, cfg = tmp_path / "Counter.tla", tmp_path / "Counter.cfg"
    spec.write_bytes((specs / "Counter.tla").read_bytes())
    cfg.write_text(COUNTER)
    target = spec.with_suffix(suffix)
    before = target.read_bytes()
    for arguments in (["run", spec, "--dump", target], ["graph", spec, "-o", target]):
        result = call(*arguments)
        assert (result.exit_code, result.stdout) == (2, "")
        assert result.stderr == (
            f"error: {target}: would be written over and is read as well: name another file to write to\n"
        )
        assert target.read_bytes() == before
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    for arguments in (["run", spec, "--dump", pipe], ["graph", spec, "-o", pipe]):
        assert call(*arguments).stderr == f"error: {pipe}: is no regular file: name a file to write to\n"
    assert pipe.is_fifo()
