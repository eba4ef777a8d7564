"""`resume-contract check`: exit statuses, JSON, what is compared, and bad input."""

from __future__ import annotations

import json
import os
import shlex
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import psutil
import pytest
from command_line import Command, one_line, replace_in

from pymodel.resume.clauses import SOMETIMES
from pymodel.resume.transitions import ACTIONS
from resume_contract import checking
from resume_contract.checking import CheckReport, check
from resume_contract.engines import Tools
from resume_contract.manifest import Excused, load_manifest
from resume_contract.pictures import bounds_figure
from resume_contract.progress import status_line
from resume_contract.rows import Row
from resume_contract.vacuity import judge_reach

ROW_FIELDS = {
    "model",
    "bound",
    "engine",
    "outcome",
    "distinct",
    "generated",
    "depth",
    "seconds",
    "states_per_second",
}
MODEL = "small-answers"
COUNTS = {"outcome": "SUCCESS", "distinct": 1056, "generated": 2765, "depth": 21}


# ---------------------------------------------------------------------------------------------------------
# Both engines on one model


def test_both_engines_agree_and_results_are_written(command: Command, tmp_path: Path) -> None:
    results = tmp_path / "results"
    ended = command("check", MODEL, "--json", "--write", results)
    assert ended.status == 0
    assert ended.err == ""
    report = json.loads(ended.out)
    assert report["version"] == 1
    assert report["differences"] == []
    assert report["versions"].keys() >= {
        "resume-contract",
        "tlc",
        "java",
        "tla2tools_sha256",
        "python",
        "numba",
    }
    tlc, mirror = report["rows"]
    assert (tlc["engine"], mirror["engine"]) == ("tlc", "mirror")
    for row in (tlc, mirror):
        assert row.keys() >= ROW_FIELDS
        assert {name: row[name] for name in COUNTS} == COUNTS
        assert row["model"] == MODEL
        assert row["bound"] == "small"
        assert row["states_per_second"] > 0
    assert tlc["actions"] == mirror["actions"]
    assert sum(mirror["actions"].values()) + 1 == COUNTS["generated"]
    assert tlc["levels"] == mirror["levels"]
    assert len(mirror["levels"]) == COUNTS["depth"]
    assert sum(mirror["levels"]) == COUNTS["distinct"]
    # of a part of a bound's models nothing is said about what the bound reaches
    assert report["reach"] == []
    assert json.loads((results / "bounds.json").read_text()) == report
    assert (results / "bounds.png").read_bytes().startswith(b"\x89PNG")
    assert sorted(path.name for path in results.iterdir()) == ["bounds.json", "bounds.png"]


def test_all_small_models_by_the_mirror(command: Command) -> None:
    ended = command("check", "--bound", "small", "--engine", "mirror", "--json")
    assert ended.status == 0
    report = json.loads(ended.out)
    assert [row["model"] for row in report["rows"]] == [
        "small",
        "small-answers",
        "small-crash",
        "small-linear",
    ]
    (reach,) = report["reach"]
    assert reach["bound"] == "small"
    assert reach["problems"] == []
    assert all(reach["actions"].values())
    assert all(reach["sometimes"].values())
    assert reach["tlc_actions"] is None


def test_the_table_is_quiet_when_piped() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "resume_contract", "check", "small", "--engine", "mirror"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0
    assert done.stderr == ""
    head, row = done.stdout.splitlines()
    columns = ["model", "bound", "engine", "outcome", "distinct", "generated", "depth", "seconds", "states/s"]
    assert head.split() == columns
    assert row.split()[:7] == ["small", "small", "mirror", "SUCCESS", "3,505", "9,284", "25"]
    assert "\x1b" not in done.stdout


def test_the_command_line_of_tlc(command: Command) -> None:
    ended = command("check", "small", "scaled", "--print-command")
    assert ended.status == 0
    small, scaled = (shlex.split(line) for line in ended.out.splitlines())
    assert Path(small[0]).name == "java"
    assert "tlc2.TLC" in small
    assert small[small.index("-workers") + 1] == "1"
    assert "-coverage" in small
    assert scaled[scaled.index("-workers") + 1] == "2"
    assert "-coverage" not in scaled
    assert small[-1] == "MCResumeContract"


# ---------------------------------------------------------------------------------------------------------
# What is not as expected


def test_a_count_that_the_manifest_does_not_expect(command: Command, specs: Path) -> None:
    replace_in(specs / "manifest.yaml", "distinct: 1056, generated: 2765", "distinct: 1057, generated: 2766")
    arguments = ("check", MODEL, "--engine", "mirror", "--manifest", specs / "manifest.yaml")
    ended = command(*arguments)
    assert ended.status == 1
    assert ended.err.splitlines() == [
        f"difference: {MODEL} by mirror: distinct is 1,056, the manifest expects 1,057",
        f"difference: {MODEL} by mirror: generated is 2,765, the manifest expects 2,766",
    ]
    assert command(*arguments, "--no-expected").status == 0


def test_a_violated_clause(command: Command, specs: Path) -> None:
    replace_in(specs / "tla" / "ResumeContract.tla", "gate[b][g].claims <= 1", "gate[b][g].claims <= 0")
    ended = command(
        "check", MODEL, "-e", "tlc", "--manifest", specs / "manifest.yaml", "--no-expected", "--json"
    )
    assert ended.status == 1
    (row,) = json.loads(ended.out)["rows"]
    assert (row["outcome"], row["property"]) == ("INVARIANT_VIOLATED", "CO-C")
    assert row["counterexample"].splitlines()[-1].startswith("       ")
    assert "  Claim\n" in row["counterexample"]
    assert ended.err.startswith(f"difference: {MODEL} by tlc: ")


def report_of(monkeypatch: pytest.MonkeyPatch, rows: Sequence[Row], **options: Any) -> CheckReport:
    """What `check` makes of these rows of one model."""
    manifest = load_manifest()
    models = manifest.select([rows[0].model])
    ready = iter(rows)
    monkeypatch.setattr(checking, "run_model", lambda *_: next(ready))
    return check(manifest, models, [row.engine for row in rows], Tools(), watch=status_line, **options)  # type: ignore[arg-type]


TLC = Row(
    model=MODEL,
    bound="small",
    engine="tlc",
    outcome="SUCCESS",
    violated=None,
    distinct=1056,
    generated=2765,
    depth=21,
    depth_is_upper_bound=False,
    seconds=1.0,
    workers=1,
    actions={"Load": 3, "Fork": 2},
    levels=(1, 2),
)
MIRROR = replace(TLC, engine="mirror")


def test_rows_that_agree(monkeypatch: pytest.MonkeyPatch) -> None:
    report = report_of(monkeypatch, [TLC, MIRROR])
    assert report.differences == ()
    assert report.exit_status == 0


@pytest.mark.parametrize(
    ("tlc", "expected"),
    [
        ({"outcome": "DEADLOCK"}, "in outcome: DEADLOCK and SUCCESS"),
        ({"violated": "PC"}, "in violated: PC and unknown"),
        ({"distinct": 1055}, "in distinct: 1,055 and 1,056"),
        ({"generated": 2766}, "in generated: 2,766 and 2,765"),
        ({"depth": 22}, "in depth: 22 and 21"),
        ({"depth": 20, "depth_is_upper_bound": True}, "in depth: 20 and 21"),
        ({"actions": {"Load": 3, "Fork": 4}}, "in actions: Fork 4 and 2"),
        ({"levels": (2, 1)}, "in levels: 2 and 1 at depth 1, 1 and 2 at depth 2"),
    ],
)
def test_engines_that_differ(monkeypatch: pytest.MonkeyPatch, tlc: dict[str, Any], expected: str) -> None:
    report = report_of(monkeypatch, [replace(TLC, **tlc), MIRROR], expected=False)
    assert f"{MODEL}: TLC and the mirror differ {expected}" in report.differences
    assert report.exit_status == 1


def test_what_nobody_counted_is_not_compared(monkeypatch: pytest.MonkeyPatch) -> None:
    tlc = replace(TLC, actions=None, levels=None, depth=23, depth_is_upper_bound=True)
    assert report_of(monkeypatch, [tlc, MIRROR]).differences == ()


def test_a_run_without_a_verdict(monkeypatch: pytest.MonkeyPatch) -> None:
    report = report_of(monkeypatch, [replace(TLC, outcome="OUT_OF_MEMORY", message="too small"), MIRROR])
    assert report.exit_status == 2
    assert [row.engine for row in report.undecided] == ["tlc"]


# ---------------------------------------------------------------------------------------------------------
# Vacuity


def reached(**changes: Any) -> Row:
    all_reached = replace(
        MIRROR, actions=dict.fromkeys(ACTIONS, 1), sometimes=dict.fromkeys(SOMETIMES, 2), model="m"
    )
    return replace(all_reached, **changes)


def test_everything_is_reached() -> None:
    reach = judge_reach("small", [reached()], [])
    assert reach.problems == ()
    assert (
        reach.summary()
        == f"small: 16 of 16 actions are taken, {len(SOMETIMES)} of {len(SOMETIMES)} situations occur"
    )


def test_another_model_of_the_bound_may_reach_it() -> None:
    poor = reached(actions=dict.fromkeys(ACTIONS, 0), sometimes=dict.fromkeys(SOMETIMES))
    reach = judge_reach("small", [poor, reached(model="rich")], [])
    assert reach.problems == ()
    assert reach.actions["Fork"] == ["rich"]


def test_what_is_not_reached_is_a_problem() -> None:
    row = reached(
        actions={**dict.fromkeys(ACTIONS, 1), "Fork": 0}, sometimes={**reached().sometimes, "TookOver": None}
    )
    reach = judge_reach("base", [row], [])
    assert reach.problems == (
        "base: action Fork is taken in no model of the bound: the checks of it are vacuous",
        "base: situation TookOver occurs in no model of the bound: the checks of it are vacuous",
    )


def test_what_tlc_never_takes_is_a_problem() -> None:
    tlc = replace(TLC, actions={**dict.fromkeys(ACTIONS, 1), "Fork": 0})
    reach = judge_reach("base", [reached(), tlc], [])
    assert reach.problems == (
        "base: action Fork is taken, by TLC's coverage, in no model of the bound: the checks of it are vacuous",
    )


def test_an_excuse_must_be_true() -> None:
    excused = [Excused(bound="base", because="there are none", actions=("Fork",))]
    row = reached(actions={**dict.fromkeys(ACTIONS, 1), "Fork": 0})
    reach = judge_reach("base", [row], excused)
    assert reach.problems == ()
    assert reach.summary().endswith("(without Fork: there are none)")
    assert judge_reach("base", [reached()], excused).problems == (
        "base: action Fork is excused in the manifest and is taken in m: strike it there",
    )


# ---------------------------------------------------------------------------------------------------------
# The picture


def test_the_picture_has_both_engines_at_each_bound() -> None:
    scaled = replace(
        TLC, model="scaled", bound="scaled", levels=None, progress=((1, 1), (2, 3)), depth_is_upper_bound=True
    )
    alone = replace(TLC, model="alone", levels=None, progress=((2, 3),))
    rows = [TLC, MIRROR, alone, scaled, replace(MIRROR, model="scaled", bound="scaled", levels=(1, 2))]
    small, large = bounds_figure(rows).axes
    assert (small.get_title(), large.get_title()) == ("small", "scaled")
    # up to each depth; the mirror's as a line, TLC's as marks, and nothing of what TLC alone ran
    assert [(line.get_marker(), list(line.get_ydata())) for line in small.lines] == [
        ("o", [1, 3]),
        ("None", [1, 3]),
    ]
    assert [(line.get_marker(), list(line.get_ydata())) for line in large.lines] == [
        ("x", [1, 3]),
        ("None", [1, 3]),
    ]
    assert "TLC, its progress reports only" in [text.get_text() for text in large.get_legend().get_texts()]
    assert "TLC, its progress reports only" not in [
        text.get_text() for text in small.get_legend().get_texts()
    ]


# ---------------------------------------------------------------------------------------------------------
# Bad input: one line, exit status 2


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["nope"], "model nope is unknown: one of small, small-answers, "),
        (["--bound", "huge"], "bound huge is unknown: one of small, base, scaled"),
        (["small", "--bound", "base"], "no model of small is of bound base: leave out one of the two"),
        (["--engine", "spin"], "engine spin is unknown: one of tlc, mirror, both"),
        (["--nope"], "No such option: --nope"),
        (["small", "--workers", "0"], "Invalid value for '--workers'"),
        (["small", "-e", "tlc", "--heap", "much"], "heap is 'much': give a size such as 512m or 4g"),
        (["small", "-e", "tlc", "--timeout", "0"], "timeout is 0.0 s: give a positive number of seconds"),
        (["small", "-e", "tlc", "--java", "/nowhere/java"], "/nowhere/java: "),
        (["small", "-e", "tlc", "--tlc-jar", "/nowhere.jar"], "/nowhere.jar: cannot be read"),
        (["small", "--manifest", "/nowhere.yaml"], "/nowhere.yaml: cannot be read"),
    ],
)
def test_bad_arguments(command: Command, arguments: list[str], message: str) -> None:
    ended = command("check", *arguments)
    assert ended.status == 2
    assert one_line(ended.err).startswith(message)
    assert ended.out == ""


def test_no_java(command: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("JAVA_HOME", raising=False)
    monkeypatch.setenv("PATH", "/nowhere")
    monkeypatch.setattr("tlc_runner.java.find_spec", lambda _: None)
    ended = command("check", "small", "--engine", "tlc")
    assert ended.status == 2
    assert one_line(ended.err).startswith("no Java that runs (")


def test_a_corrupt_jar(command: Command, tmp_path: Path) -> None:
    jar = tmp_path / "tla2tools.jar"
    jar.write_bytes(b"PK\x03\x04 and nothing else")
    ended = command("check", "small", "--engine", "tlc", "--tlc-jar", jar)
    assert ended.status == 2
    assert one_line(ended.err).startswith(f"{jar}: not a whole jar")


def test_a_spec_with_a_syntax_error(command: Command, specs: Path, tmp_path: Path) -> None:
    replace_in(specs / "tla" / "ResumeContract.tla", "Root == 1", "Root == 1 +")
    results = tmp_path / "results"
    arguments = ("check", "small", "-e", "tlc", "--manifest", specs / "manifest.yaml", "--write", results)
    ended = command(*arguments)
    assert ended.status == 2
    *differences, error = ended.err.splitlines()
    assert error.startswith("error: small by tlc: ")
    assert "ResumeContract.tla" in error
    assert "line " in error
    assert all(line.startswith("difference: ") for line in differences)
    assert list(results.iterdir()) == []


def test_a_heap_that_is_too_small(command: Command) -> None:
    ended = command("check", "small", "-e", "tlc", "--heap", "1k", "--json")
    assert ended.status == 2
    (row,) = json.loads(ended.out)["rows"]
    assert row["outcome"] == "OUT_OF_MEMORY"
    assert row["distinct"] is None
    assert row["states_per_second"] is None


def test_a_timeout(command: Command) -> None:
    ended = command("check", "small", "-e", "tlc", "--timeout", "0.3", "--json")
    assert ended.status == 2
    (row,) = json.loads(ended.out)["rows"]
    assert row["outcome"] == "TIMEOUT"


def test_a_folder_of_results_that_cannot_be_made(command: Command, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    ended = command("check", "small", "-e", "mirror", "--write", tmp_path / "file" / "results")
    assert ended.status == 2
    assert one_line(ended.err).startswith(f"{tmp_path / 'file' / 'results'}: Not a directory: ")
    assert ended.out == ""


def wait_for(what: Callable[[], bool]) -> None:
    end = time.monotonic() + 60
    while not what():
        assert time.monotonic() < end
        time.sleep(0.05)


def name_of(process: psutil.Process) -> str:
    """Its name; none if it has ended by now."""
    try:
        return process.name()
    except psutil.NoSuchProcess:
        return ""


def test_interrupted_it_leaves_the_last_good_results(tmp_path: Path) -> None:
    good = '{"version": 1, "rows": []}\n'
    (tmp_path / "bounds.json").write_text(good)
    process = subprocess.Popen(
        [sys.executable, "-m", "resume_contract", "check", "base", "-e", "tlc", "--write", str(tmp_path)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    watched = psutil.Process(process.pid)
    wait_for(lambda: any("java" in name_of(child) for child in watched.children(recursive=True)))
    children = watched.children(recursive=True)
    os.kill(process.pid, signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert process.returncode == 130
    assert one_line(err) == "interrupted: files of results are as they were"
    assert out == ""
    assert [path.name for path in tmp_path.iterdir()] == ["bounds.json"]
    assert (tmp_path / "bounds.json").read_text() == good
    _, alive = psutil.wait_procs(children, timeout=10)
    assert alive == []
