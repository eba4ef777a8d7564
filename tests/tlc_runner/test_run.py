"""TLC itself, on small specs: every way a run can end."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import zipfile
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from tlc_runner import (
    FrozenMap,
    Jar,
    ModelValue,
    Outcome,
    Progress,
    SpecError,
    TLCResult,
    run_tlc,
    tlc_command,
)
from tlc_runner.oracle import SpecOracle

Run = Callable[..., TLCResult]
INIT = "INIT Init\nNEXT Next\n"
COUNTER = "SPECIFICATION Spec\nCONSTANT Max = 4\n"


def test_success(run: Run) -> None:
    seen: list[Progress] = []
    result = run("Counter", COUNTER + "INVARIANT NonNegative\n", coverage=True, on_progress=seen.append)
    assert (result.outcome, result.exit_code, result.property, result.trace) == (Outcome.SUCCESS, 0, None, ())
    assert (result.initial, result.generated, result.distinct, result.depth, result.queue) == (1, 6, 5, 5, 0)
    # Never is never taken, and that is seen.
    assert result.coverage == {"Inc": (4, 4), "Reset": (0, 1), "Never": (0, 0)}
    assert [(p.level, p.generated, p.distinct, p.queue) for p in seen] == [(5, 6, 5, 0)]
    assert 0 < seen[0].seconds <= result.seconds
    assert result.tlc_version == "2.15"
    assert result.jar_sha256.startswith("58c6df9a1045")
    assert result.warnings == ()
    assert result.peak_memory_bytes is not None
    assert result.peak_memory_bytes > 20_000_000
    assert not Path(result.command[result.command.index("-metadir") + 1]).parent.exists()
    assert json.loads(json.dumps(result.to_json()))["outcome"] == "SUCCESS"


def test_invariant_and_prints(run: Run) -> None:
    result = run("Counter", COUNTER + "INVARIANT Small\nINVARIANT Prints\n")
    assert (result.outcome, result.property, result.exit_code) == (Outcome.INVARIANT_VIOLATED, "Small", 12)
    assert result.message == "Counter.tla: invariant Small is violated"
    assert [(state.number, state.action, state.variables) for state in result.trace] == [
        (1, None, {"x": 0}),
        (2, "Inc", {"x": 1}),
        (3, "Inc", {"x": 2}),
        (4, "Inc", {"x": 3}),
    ]
    assert result.trace[1].location == "line 8, col 8 to line 8, col 28 of module Counter"
    assert result.printed == ('<<"seen", 0>>', '<<"seen", 1>>', '<<"seen", 2>>')
    assert result.printed_values() == (("seen", 0), ("seen", 1), ("seen", 2))
    assert result.coverage == {}


def test_invariant_of_an_initial_state(run: Run) -> None:
    result = run("Counter", COUNTER + "INVARIANT NotZero\n")
    assert (result.outcome, result.property, result.exit_code) == (Outcome.INVARIANT_VIOLATED, "NotZero", 12)
    assert [(state.number, state.variables) for state in result.trace] == [(1, {"x": 0})]


def test_action_property(run: Run) -> None:
    result = run("Counter", COUNTER + "PROPERTY Growing\n")
    assert (result.outcome, result.property, result.exit_code) == (
        Outcome.ACTION_PROPERTY_VIOLATED,
        "Growing",
        13,
    )
    assert [state.variables["x"] for state in result.trace] == [0, 1, 2, 3, 4, 0]


def test_liveness_by_stuttering_names_the_only_property(run: Run) -> None:
    result = run("Counter", COUNTER + "PROPERTY ReachesTop\n")
    assert (result.outcome, result.property, result.candidates, result.exit_code) == (
        Outcome.LIVENESS_VIOLATED,
        "ReachesTop",
        ("ReachesTop",),
        13,
    )
    last = result.trace[-1]
    assert (last.number, last.kind, last.action, last.variables) == (5, "stuttering", None, {"x": 3})
    assert result.violations[0].property == "ReachesTop"


def test_liveness_by_a_loop_lists_the_candidates(run: Run) -> None:
    text = COUNTER.replace("Spec\n", "FairSpec\n") + "PROPERTIES ReachesTop Stays\n"
    result = run("Counter", text)
    assert (result.outcome, result.property, result.candidates) == (
        Outcome.LIVENESS_VIOLATED,
        None,
        ("ReachesTop", "Stays"),
    )
    assert result.message == "Counter.tla: temporal property one of ReachesTop, Stays is violated"
    last = result.trace[-1]
    assert (last.number, last.kind, last.action, last.variables) == (1, "back_to", "Reset", {"x": 0})


def test_continue_goes_by_the_messages(run: Run) -> None:
    result = run("Counter", COUNTER + "INVARIANTS Small NotZero\n", continue_=True)
    assert (result.exit_code, result.outcome, result.distinct) == (0, Outcome.INVARIANT_VIOLATED, 5)
    assert [(v.property, v.count, [s.variables["x"] for s in v.trace]) for v in result.violations] == [
        ("NotZero", 1, [0]),
        ("Small", 2, [0, 1, 2, 3]),
    ]
    assert (result.property, result.trace) == ("NotZero", result.violations[0].trace)


@pytest.mark.parametrize(
    ("line", "argument", "outcome"),
    [
        ("", None, Outcome.DEADLOCK),
        ("CHECK_DEADLOCK TRUE", None, Outcome.DEADLOCK),
        ("CHECK_DEADLOCK\n  FALSE", None, Outcome.SUCCESS),
        ("\\* CHECK_DEADLOCK FALSE\n(* CHECK_DEADLOCK FALSE (* *) *)", None, Outcome.DEADLOCK),
        ("CHECK_DEADLOCK FALSE", True, Outcome.DEADLOCK),
        ("CHECK_DEADLOCK TRUE", False, Outcome.SUCCESS),
    ],
)
def test_deadlock(run: Run, line: str, argument: bool | None, outcome: Outcome) -> None:
    result = run("Stops", f"{INIT}{line}\n", check_deadlock=argument)
    assert (result.outcome, result.exit_code) == (outcome, 11 if outcome is Outcome.DEADLOCK else 0)
    assert (result.distinct, result.depth) == (3, 3)
    if outcome is Outcome.DEADLOCK:
        step = FrozenMap({"from": "start", "to": "middle"})
        assert result.trace[1].variables == {"at": "middle", "log": (step,)}
        assert [state.action for state in result.trace] == [None, "Move", "Move"]


def test_long_values_are_read_over_their_lines(run: Run) -> None:
    text = INIT + "CONSTANT P = {p1, p2, p3}\nCONSTANT NULL = NULL\nINVARIANT NotAll\n"
    result = run("Wide", text)
    assert result.outcome is Outcome.INVARIANT_VIOLATED
    table = result.trace[-1].variables["table"]
    p1, p2 = ModelValue("p1"), ModelValue("p2")
    assert isinstance(table, FrozenMap)
    entry = table[p2]
    assert isinstance(entry, FrozenMap)
    assert (entry["owner"], entry["seen"]) == (p2, frozenset({-1, 1}))
    assert result.trace[0].variables["rec"] == FrozenMap({"a": 1, "b": (1, "two", frozenset({3}))})
    assert (p1, 2) in result.trace[0].variables["set"]  # type: ignore[operator]
    assert [state.variables["step"] for state in result.trace] == [0, 1, 2, 3]


@pytest.mark.parametrize(
    ("spec", "where", "what"),
    [
        ("Bad", "Bad.tla line 6, column 1: ", "Encountered"),
        ("Unknown", "Unknown.tla line 5, column 14: ", "Unknown operator: `y'"),
        ("Lexical", "Lexical.tla line 4, column 20: ", "Lexical error"),
        (
            "NeedsMore",
            "NeedsMore.tla: ",
            "module NotThere, which NeedsMore uses, was not found: add its folder to",
        ),
    ],
)
def test_specs_that_cannot_be_read(run: Run, specs: Path, spec: str, where: str, what: str) -> None:
    result = run(spec, INIT)
    assert (result.outcome, result.exit_code) == (Outcome.PARSE_ERROR, 150)
    assert result.message.startswith(f"{specs}/{where}")
    assert what in result.message
    assert "\n" not in result.message


@pytest.mark.parametrize(
    ("mode", "outcome", "exit_code", "words", "states"),
    [
        ("choose", Outcome.EVALUATION_ERROR, 75, "no element of S satisfied P", [{"x": 0, "y": 0}]),
        ("unassigned", Outcome.EVALUATION_ERROR, 75, "not assigned: y", [{"x": 0, "y": 0}, {"x": 1}]),
        ("assert", Outcome.ASSERTION_FAILED, 75, '"x is too large"', []),
        ("type", Outcome.EVALUATION_ERROR, 75, "equality of integer 0 with non-integer", [{"x": 0, "y": 0}]),
    ],
)
def test_errors_in_next(
    run: Run, mode: str, outcome: Outcome, exit_code: int, words: str, states: list[dict[str, int]]
) -> None:
    result = run("Errors", f'{INIT}CONSTANT Mode = "{mode}"\n')
    assert (result.outcome, result.exit_code) == (outcome, exit_code)
    assert words in result.message
    assert [state.variables for state in result.trace] == states


def test_error_in_an_invariant(run: Run) -> None:
    result = run("Errors", f'{INIT}CONSTANT Mode = "ok"\nINVARIANT Inv\n')
    assert (result.outcome, result.property, result.exit_code) == (Outcome.EVALUATION_ERROR, "Inv", 76)
    assert [state.variables["x"] for state in result.trace] == [0, 1, 2]


def test_assertion_in_an_invariant(run: Run) -> None:
    result = run("Counter", COUNTER + "INVARIANT Asserted\n")
    assert (result.outcome, result.property, result.exit_code) == (Outcome.ASSERTION_FAILED, "Asserted", 76)
    assert result.trace[-1].variables == {"x": 2}


def test_stack_overflow(run: Run) -> None:
    result = run("Errors", f'{INIT}CONSTANT Mode = "ok"\nINVARIANT Deep\n')
    assert (result.outcome, result.exit_code) == (Outcome.EVALUATION_ERROR, 75)
    assert "StackOverflowError" in result.message


@pytest.mark.parametrize(
    ("number", "words"),
    [
        (0, "Assumption line 6, col 8 to line 6, col 12 of module Assume is false"),
        (5, "The second argument of \\div is 0"),
    ],
)
def test_assumptions(run: Run, number: int, words: str) -> None:
    result = run("Assume", f"{INIT}CONSTANT N = {number}\n")
    assert (result.outcome, result.exit_code) == (Outcome.ASSUMPTION_FAILED, 10)
    assert words in result.message


@pytest.mark.parametrize(
    ("text", "exit_code", "words"),
    [
        (
            COUNTER + "INVARIANT Nope\n",
            151,
            "The invariant Nope specified in the configuration file is not defined",
        ),
        ("SPECIFICATION Spec\n", 151, "The constant parameter Max is not assigned a value"),
        (COUNTER + "SPECIFICATON Spec\n", 255, "configuration file at line"),
        ("CONSTANT Max = 4\nINIT Init\nNEXT Nope\n", 151, "The next state action Nope"),
        ("CONSTANT Max = 4\n", 151, "did not specify the initial state predicate"),
    ],
)
def test_bad_configurations(run: Run, tmp_path: Path, text: str, exit_code: int, words: str) -> None:
    result = run("Counter", text)
    assert (result.outcome, result.exit_code) == (Outcome.BAD_CONFIG, exit_code)
    assert result.message.startswith(f"{tmp_path / 'Model.cfg'}: ")
    assert words in result.message


def test_a_model_without_initial_states_is_no_success(tmp_path: Path) -> None:
    spec = tmp_path / "Empty.tla"
    spec.write_text("---- MODULE Empty ----\nVARIABLE x\nInit == x \\in {}\nNext == x' = x\n====\n")
    spec.with_suffix(".cfg").write_text(INIT)
    result = run_tlc(spec)
    assert (result.outcome, result.exit_code, result.initial) == (Outcome.BAD_CONFIG, 0, 0)
    assert "nothing was checked" in result.message


def test_unknown_arguments(run: Run) -> None:
    result = run("Counter", COUNTER, extra_args=("-nonsense",))
    assert (result.outcome, result.exit_code) == (Outcome.BAD_CONFIG, 1)
    assert "unrecognized option: -nonsense" in result.message


def test_arguments_that_make_no_sense(specs: Path, config: Callable[[str], Path]) -> None:
    cfg = config(COUNTER)
    spec = specs / "Counter.tla"
    wrong: list[tuple[Callable[[], object], str]] = [
        (lambda: run_tlc(specs / "Nothing.tla", cfg), "no such file"),
        (lambda: run_tlc(specs / "Counter.txt", cfg), "not the name of a module"),
        (lambda: run_tlc(spec, specs / "Absent.cfg"), r"Absent.cfg: .*No such file or directory"),
        (lambda: run_tlc(spec, cfg, workers=0), "workers is 0"),
        (lambda: run_tlc(spec, cfg, heap="much"), "heap is 'much'"),
        (lambda: run_tlc(spec, cfg, timeout=0), "timeout is 0 s"),
        (lambda: run_tlc(spec, cfg, module_path=[specs / "absent"]), "no such folder"),
        (
            lambda: run_tlc(spec, cfg, extra_jars=[specs / "absent.jar"]),
            r"absent\.jar: not a jar that can be read",
        ),
    ]
    for call, words in wrong:
        with pytest.raises(SpecError, match=words) as caught:
            call()
        assert "\n" not in str(caught.value)
    with pytest.raises(SpecError, match="line 2: CHECK_DEADLOCK is maybe: write TRUE or FALSE"):
        run_tlc(spec, config("INIT Init\nCHECK_DEADLOCK maybe\nNEXT Next\n"))


def test_heap_too_small_for_an_operator(run: Run) -> None:
    result = run("Errors", f'{INIT}CONSTANT Mode = "ok"\nINVARIANT Huge\n', heap="48m")
    assert result.outcome is Outcome.OUT_OF_MEMORY
    assert "Java's heap of 48m is too small: give a larger heap" in result.message


def test_heap_too_small_for_java(run: Run) -> None:
    result = run("Counter", COUNTER, heap="1k")
    assert (result.outcome, result.exit_code) == (Outcome.OUT_OF_MEMORY, 1)
    assert result.distinct is None


def test_timeout(run: Run) -> None:
    result = run("Large", INIT, timeout=4)
    assert (result.outcome, result.exit_code) == (Outcome.TIMEOUT, -9)
    assert result.message == "Large.tla: TLC was stopped after 4 s: give a longer timeout, or bound the model"
    assert 4 <= result.seconds < 8


def test_simulation(run: Run) -> None:
    result = run("Counter", COUNTER, simulate=5, depth=10)
    assert (result.outcome, result.exit_code, result.generated, result.distinct) == (
        Outcome.SUCCESS,
        0,
        51,
        None,
    )
    broken = run("Counter", COUNTER + "INVARIANT Small\n", simulate=5, depth=10)
    assert (broken.outcome, broken.property, len(broken.trace)) == (Outcome.INVARIANT_VIOLATED, "Small", 4)


def test_modules_elsewhere(run: Run, specs: Path) -> None:
    missing = run("UsesMore", INIT)
    assert missing.outcome is Outcome.PARSE_ERROR
    assert "module Elsewhere, which UsesMore uses, was not found" in missing.message
    found = run("UsesMore", INIT, module_path=[specs / "more"])
    assert (found.outcome, found.distinct) == (Outcome.SUCCESS, 1)


def test_modules_in_jars(run: Run, specs: Path, tmp_path: Path) -> None:
    jar = tmp_path / "Modules.jar"
    with zipfile.ZipFile(jar, "w") as archive:
        archive.write(specs / "more" / "Elsewhere.tla", "Elsewhere.tla")
    found = run("UsesMore", INIT, extra_jars=[jar])
    assert (found.outcome, found.distinct) == (Outcome.SUCCESS, 1)
    assert str(jar) in found.command[found.command.index("-cp") + 1]
    oracle = SpecOracle(specs / "UsesMore.tla", tmp_path / "Model.cfg", extra_jars=[jar])
    assert oracle.initial_states() == [{"x": 41}]


def test_folders_with_odd_names_and_nothing_written_there(specs: Path, tmp_path: Path) -> None:
    folder = tmp_path / "a:b c"
    shutil.copytree(specs, folder)
    cfg = folder / "Stops.cfg"
    cfg.write_text(INIT + "CHECK_DEADLOCK FALSE\n")
    before = sorted(path.relative_to(folder) for path in folder.rglob("*"))
    result = run_tlc(os.path.relpath(folder / "Stops.tla"), dump=tmp_path / "states.dot")
    assert (result.outcome, result.distinct) == (Outcome.SUCCESS, 3)
    assert sorted(path.relative_to(folder) for path in folder.rglob("*")) == before
    assert (tmp_path / "states.dot").read_text().count('[label="Move"') == 2
    scratch = Path(result.command[result.command.index("-metadir") + 1]).parent
    assert scratch.name.startswith("tlc-")
    assert not scratch.exists()


def test_dump_without_labels(run: Run, tmp_path: Path) -> None:
    run("Counter", COUNTER, dump=tmp_path / "states.txt")
    assert (tmp_path / "states.txt").read_text().count("State ") == 5


def test_parallel_runs(run: Run) -> None:
    with ThreadPoolExecutor(4) as pool:
        results = list(pool.map(lambda _: run("Counter", COUNTER), range(6)))
    assert [(result.outcome, result.distinct, result.generated) for result in results] == [
        (Outcome.SUCCESS, 5, 6)
    ] * 6


def test_the_printed_command_runs_anywhere(
    specs: Path, config: Callable[[str], Path], tmp_path: Path
) -> None:
    cfg = config(COUNTER + "INVARIANT Small\nCHECK_DEADLOCK FALSE\n")
    command = tlc_command(
        specs / "Counter.tla", cfg, scratch=tmp_path / "scratch", coverage=True, heap="256m"
    )
    assert command[-1] == "Counter"
    assert "-Xmx256m" in command
    assert "-deadlock" in command
    (tmp_path / "cwd").mkdir()
    done = subprocess.run(command, cwd=tmp_path / "cwd", capture_output=True, text=True, check=False)
    assert (done.returncode, "Invariant Small is violated." in done.stdout) == (12, True)
    assert list((tmp_path / "cwd").iterdir()) == []


def test_newer_versions_are_kept_from_writing_a_trace_spec(
    specs: Path, config: Callable[[str], Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # No newer jar can be had here: only the command line is looked at.
    newer = Jar(tmp_path / "new.jar", "0" * 64, "2.19")
    monkeypatch.setattr("tlc_runner.run.find_jar", lambda _path: newer)
    command = tlc_command(specs / "Counter.tla", config(COUNTER), scratch=tmp_path / "scratch")
    assert "-noGenerateSpecTE" in command


def test_wrapped_prints_are_joined(tmp_path: Path) -> None:
    spec = tmp_path / "Talk.tla"
    long = ("a rather long string that goes on", "another one, so that the line wraps", "and one more")
    printed = ", ".join(f'"{text}"' for text in long)
    spec.write_text(
        "---- MODULE Talk ----\nEXTENDS TLC\nVARIABLE x\n"
        f'Init == x = 1 /\\ PrintT(<<{printed}, x>>) /\\ PrintT("plain")\n'
        "Next == x' = x\n====\n"
    )
    spec.with_suffix(".cfg").write_text(INIT)
    result = run_tlc(spec)
    assert len(result.printed) > 2
    assert result.printed_values() == ((*long, 1), "plain")


def test_a_syntax_error_in_an_extended_module_names_that_module(tmp_path: Path) -> None:
    (tmp_path / "Inside.tla").write_text("---- MODULE Inside ----\nA == 1 +\nB == 2\n====\n")
    root = tmp_path / "Outside.tla"
    root.write_text(
        "---- MODULE Outside ----\nEXTENDS Inside\nVARIABLE x\nInit == x = 0\nNext == x' = x\n====\n"
    )
    (tmp_path / "Outside.cfg").write_text("INIT Init\nNEXT Next\n")
    result = run_tlc(root)
    assert result.outcome is Outcome.PARSE_ERROR
    assert result.message.startswith(f"{tmp_path / 'Inside.tla'} line 3, column 1: Encountered")
