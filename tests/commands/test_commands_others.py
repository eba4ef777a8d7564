"""`resume-contract walk`, `graph`, `explain`, `bench`, `version`, and what all commands share."""

from __future__ import annotations

import errno
import json
import signal
from pathlib import Path
from typing import Any

import pytest
from command_line import Command, one_line, replace_in

import resume_contract.bench as bench_module
from pymodel.resume import clauses
from pymodel.resume.model import FAULTS
from resume_contract import agreement, cli, definitions
from resume_contract.bench import BenchReport
from resume_contract.errors import ResumeContractError, explain
from resume_contract.examples import example_of
from resume_contract.writing import write_atomically, write_json

# ---------------------------------------------------------------------------------------------------------
# walk


def test_a_walk_on_which_both_agree(command: Command) -> None:
    ended = command("walk", "small", "--states", 40, "--seed", 3, "--json")
    assert ended.status == 0
    found = json.loads(ended.out)
    assert (found["model"], found["seed"], found["agree"], found["differences"]) == ("small", 3, True, [])
    assert found["states"] == 40
    assert found["transitions"] == sum(found["actions"].values()) > 40
    assert json.loads(command("walk", "small", "--states", 40, "--seed", 3, "--json").out) == found


def test_a_walk_on_which_they_differ(command: Command, specs: Path) -> None:
    replace_in(specs / "tla" / "ResumeContract.tla", "![r].epoch = k.epoch + 1", "![r].epoch = k.epoch")
    ended = command("walk", "small", "--states", 200, "--manifest", specs / "manifest.yaml")
    assert ended.status == 1
    head, *rest = ended.out.splitlines()
    assert head.endswith("TLC and the mirror differ")
    assert any("TLC 0, mirror 1" in line for line in rest)


def test_a_walk_on_an_unknown_model(command: Command) -> None:
    ended = command("walk", "nope")
    assert ended.status == 2
    assert one_line(ended.err).startswith("model nope is unknown: one of small, ")


# ---------------------------------------------------------------------------------------------------------
# graph


@pytest.mark.parametrize(
    ("name", "start"), [("g.png", b"\x89PNG"), ("g.svg", b"<?xml"), ("g.dot", b"digraph")]
)
def test_the_graph_of_a_small_model(command: Command, tmp_path: Path, name: str, start: bytes) -> None:
    path = tmp_path / name
    ended = command("graph", "small-answers", "-o", path)
    assert (ended.status, ended.out) == (0, f"{path}: 1,056 states, 2,764 transitions\n")
    assert path.read_bytes().startswith(start)


def test_dot_has_every_state_and_transition(command: Command, tmp_path: Path) -> None:
    path = tmp_path / "g.dot"
    assert command("graph", "small-answers", "-o", path).status == 0
    lines = path.read_text().splitlines()
    assert sum(" -> " in line.partition("[")[0] for line in lines) == 2764
    assert sum(line.split(" [")[0].strip().isdigit() for line in lines) == 1056


@pytest.mark.parametrize("name", ["c.png", "c.svg", "c.dot"])
def test_a_counterexample_as_a_picture(command: Command, tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    ended = command("graph", "small", "-f", "unkeyed_effect", "-o", path)
    assert (ended.status, ended.out) == (0, f"{path}: EO is violated at depth 13, in 13 states\n")
    assert path.stat().st_size > 500


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["nope"], "model nope is unknown"),
        (["small", "-o", "g.pdf"], "file g.pdf: format pdf is unknown: one of png, svg, dot"),
        (["small", "-f", "nope"], "fault nope is unknown: one of restart_from_earlier, "),
        (
            ["small", "-f", "torn_checkpoint"],
            "model small: torn_checkpoint breaks nothing there: choose a model with",
        ),
        (["base"], "model base: 142,699 states are too many for a picture: choose a model of at most 20,000"),
        (["small-answers", "-o", "/dev/null/g.png"], "/dev/null: "),
    ],
)
def test_graphs_that_cannot_be_drawn(command: Command, arguments: list[str], message: str) -> None:
    ended = command("graph", *arguments)
    assert ended.status == 2
    assert one_line(ended.err).startswith(message)


# ---------------------------------------------------------------------------------------------------------
# explain


def test_every_clause_and_every_fault_is_defined() -> None:
    assert list(definitions.CLAUSES) == [*clauses.CLAUSES, "LV"]
    assert tuple(definitions.FAULTS) == FAULTS
    assert all(definitions.faults_of(clause) for clause in definitions.CLAUSES)


@pytest.mark.parametrize(
    "fault", [name for name, fault in definitions.FAULTS.items() if fault.breaks != "LV"]
)
def test_every_fault_breaks_the_clause_that_its_definition_names(fault: str) -> None:
    trace = example_of(fault)
    assert f"{definitions.FAULTS[fault].breaks} is violated" in trace.subject
    assert f"[{fault}]" in trace.render()


def test_explaining_a_clause(command: Command) -> None:
    ended = command("explain", "EO", "--json")
    assert ended.status == 0
    found = json.loads(ended.out)
    assert (found["name"], found["clause"]) == ("EO", "EO")
    assert found["faults"] == ["unkeyed_effect", "ledger_ignored", "record_before_fire", "unstable_key"]
    # the shortest of what its four faults give
    assert len(found["example"]["steps"]) == min(len(example_of(fault)) for fault in found["faults"])


def test_explaining_a_fault(command: Command) -> None:
    ended = command("explain", "implicit_fork")
    assert ended.status == 0
    text, _, example = ended.out.partition("\n\nprogram ")
    assert (
        "\n\nThe program of the example:\n  unit 1: pure s1\n  unit 2: effect s2 ; gate s3 ; effect s4"
        in text
    )
    assert text.startswith("implicit_fork\n\n")
    assert "It breaks FI, fork intent" in text
    assert example.startswith("Sandwich with implicit_fork: FI is violated at depth ")
    assert "program " not in command("explain", "implicit_fork", "--no-example").out


@pytest.mark.parametrize("name", ["LV", "stuck_running"])
def test_liveness_has_no_shortest_state(command: Command, name: str) -> None:
    ended = command("explain", name)
    assert ended.status == 0
    assert "`resume-contract check small-liveness --engine tlc`" in ended.out


def test_explaining_what_nobody_knows(command: Command) -> None:
    ended = command("explain", "XX")
    assert ended.status == 2
    assert one_line(ended.err).startswith("XX is neither a clause nor a fault: clauses are PC, EO, ")


# ---------------------------------------------------------------------------------------------------------
# bench


def fake_bench(
    monkeypatch: pytest.MonkeyPatch, bound: str, tlc: float, cold: float, each: float
) -> list[str]:
    """Lets `bench` measure 2 s for each warm run, and the given numbers; what it ran is in the list."""
    ran: list[str] = []

    def timed(
        model: str, engine: str, arguments: list[str], cache: Path | None
    ) -> tuple[float, dict[str, Any]]:
        name = engine if cache is None else f"{engine} {'warm' if ran else 'cold'}"
        ran.append(name)
        row = {"bound": bound, "distinct": 10, "peak_bytes_per_state": each}
        return {"tlc": tlc, "mirror cold": cold}.get(name, 2.0), {"rows": [row], "versions": {"tlc": "2.15"}}

    monkeypatch.setattr(bench_module, "_timed", timed)
    return ran


def test_a_bench_within_its_targets(
    command: Command, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    ran = fake_bench(monkeypatch, "scaled", 100.0, 10.0, 30.0)
    ended = command("bench", "scaled", "--write", tmp_path)
    assert (ended.status, ended.err) == (0, "")
    assert ran == ["mirror cold", "mirror warm", "mirror warm", "mirror warm", "tlc"]
    found = json.loads((tmp_path / "bench.json").read_text())
    assert found["ratios"] == {"mirror_warm_vs_tlc": 50.0, "mirror_cold_vs_tlc": 10.0}
    assert found["peak_bytes_per_state"] == {"mirror_cold": 30.0, "mirror_warm": 30.0, "tlc": 30.0}
    assert found["warm_runs"] == [2.0, 2.0, 2.0]
    assert found["versions"] == {"tlc": "2.15"}


def test_a_bench_that_misses_its_targets(command: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    fake_bench(monkeypatch, "scaled", 40.0, 10.0, 121.0)
    ended = command("bench", "--runs", 1, "--json")
    assert ended.status == 1
    assert json.loads(ended.out)["ratios"] == {"mirror_warm_vs_tlc": 20.0, "mirror_cold_vs_tlc": 4.0}
    assert ended.err.splitlines() == [
        "difference: mirror_warm_vs_tlc is 20.0, the target is at least 25",
        "difference: mirror_cold_vs_tlc is 4.0, the target is at least 8",
        "difference: the mirror takes 121.0 bytes a state, the target is at most 120",
    ]


def test_small_models_have_no_targets(monkeypatch: pytest.MonkeyPatch) -> None:
    fake_bench(monkeypatch, "small", 1.0, 1.0, 500.0)
    report: BenchReport = bench_module.bench("small", runs=1)
    assert report.missed == ()
    assert report.to_json()["targets"] == {}


def test_a_bench_times_whole_commands() -> None:
    took, found = bench_module._timed("small-answers", "mirror", [], None)
    (row,) = found["rows"]
    assert (row["outcome"], row["distinct"]) == ("SUCCESS", 1056)
    assert took > row["seconds"]


def test_a_bench_of_what_fails(specs: Path) -> None:
    replace_in(specs / "manifest.yaml", "distinct: 1056", "distinct: 1057")
    arguments = ["--manifest", str(specs / "manifest.yaml")]
    message = r"small-answers by mirror ended with status 1 \(difference: .*\): mend that before timing it"
    with pytest.raises(ResumeContractError, match=message):
        bench_module._timed("small-answers", "mirror", arguments, None)


# ---------------------------------------------------------------------------------------------------------
# version, and what all commands share


def test_versions(command: Command) -> None:
    ended = command("version", "--json")
    assert ended.status == 0
    found = json.loads(ended.out)
    assert found["resume-contract"] == "0.1.0"
    assert found["tlc"] == "2.15"
    assert found["java"][0].isdigit()
    missing = json.loads(command("version", "--json", "--java", "/nowhere/java").out)
    assert missing["java"].startswith("none: /nowhere/java: ")


def test_help_without_arguments(command: Command) -> None:
    ended = command()
    assert ended.status == 0
    for name in ("check", "walk", "graph", "explain", "trace", "bench", "version"):
        assert f"  {name} " in ended.out


def test_a_full_disk_is_one_line_and_leaves_the_old_file(tmp_path: Path) -> None:
    path = tmp_path / "bounds.json"
    write_json(path, {"good": True})

    def fail(part: Path) -> None:
        part.write_text("half")
        raise OSError(errno.ENOSPC, "No space left on device", str(part))

    with pytest.raises(OSError, match="No space left") as caught:
        write_atomically(path, fail)
    line = explain(caught.value)
    assert line is not None
    assert line.endswith("No space left on device: make room on the disk")
    assert json.loads(path.read_text()) == {"good": True}
    assert list(tmp_path.iterdir()) == [path]


def test_ctrl_c_while_writing_leaves_the_old_file(tmp_path: Path) -> None:
    path = tmp_path / "bounds.json"
    write_json(path, {"good": True})

    def stop(part: Path) -> None:
        part.write_text("half")
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        write_atomically(path, stop)
    assert json.loads(path.read_text()) == {"good": True}
    assert list(tmp_path.iterdir()) == [path]


def test_what_nobody_expected_is_not_hidden(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(**_: object) -> None:
        raise ZeroDivisionError("a bug")

    monkeypatch.setattr("resume_contract.commands.explain.faults_of", fail)
    with pytest.raises(TypeError):
        cli.run(["explain", "EO"])
    assert explain(ZeroDivisionError("a bug")) is None


def test_interrupted(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    def stop(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(agreement, "walk", stop)
    assert cli.run(["walk", "small"]) == 130
    assert one_line(capsys.readouterr().err) == "interrupted: files of results are as they were"


def test_an_interrupt_while_the_command_starts_is_no_traceback(monkeypatch: pytest.MonkeyPatch) -> None:
    from resume_contract import cli, start

    def interrupted() -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(cli, "main", interrupted)
    monkeypatch.setattr(signal, "signal", lambda *_: None)  # those of this process stay
    with pytest.raises(SystemExit) as ended:
        start.main()
    assert ended.value.code == 130


@pytest.mark.parametrize("timeout", ["nan", "inf", "0", "-1"])
def test_a_timeout_must_be_a_time(command: Command, timeout: str) -> None:
    ended = command("check", "small-linear", "--engine", "tlc", "--timeout", timeout)
    assert ended.status == 2
    assert "give a positive number of seconds" in one_line(ended.err)


def test_a_run_without_a_verdict_is_an_error_and_no_difference(command: Command) -> None:
    ended = command("check", "small-linear", "--engine", "tlc", "--timeout", "0.01")
    assert ended.status == 2
    assert "give a longer timeout" in one_line(ended.err)
