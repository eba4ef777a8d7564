"""Obligations that are run: what holds, and that each can fail."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from resume_contract.cli import run
from resume_contract.induction import CONJUNCTS, OBLIGATIONS, load_obligations
from tlc_runner import run_tlc
from tlc_runner.oracle import SpecOracle, State
from tlc_runner.values import Value

TLA = OBLIGATIONS.parent / "tla"
MODULE = TLA / "MCResumeInduction.tla"


def _json(capfd: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, Any]:
    capfd.readouterr()
    status = run(["induction", *arguments, "--json"])
    return status, json.loads(capfd.readouterr().out)


def _frozen(state: Mapping[str, Value]) -> tuple[tuple[str, Value], ...]:
    return tuple(sorted(state.items(), key=lambda item: item[0]))


def test_a_tiny_size_is_exhausted_and_its_generator_is_complete(
    capfd: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    names = ("tiny-gated", "typed-gated")
    status, report = _json(capfd, *names, "--write", str(tmp_path))
    assert status == 0
    assert report["differences"] == []
    by_name = {row["obligation"]: row for row in report["rows"]}
    assert tuple(by_name) == names
    assert by_name["tiny-gated"]["starts"] == by_name["typed-gated"]["starts"] == 292
    assert by_name["tiny-gated"]["generated"] == 975
    never = {name for name, count in by_name["tiny-gated"]["actions"].items() if count == 0}
    assert never == {"Compute", "Fork"}  # the program has no pure step, and there is one branch
    written = json.loads((tmp_path / "induction.json").read_text(encoding="utf-8"))
    assert written["rows"] == report["rows"]
    page = (tmp_path / "induction.md").read_text(encoding="utf-8")
    size = "Gated, code MCF, 1 runner, 1 branch, 1 answer, 1 value, epochs to 2"
    assert f"| consecution | tiny-gated | {size} | exhausted | 292 | SUCCESS |" in page


def test_reachable_states_are_generated_and_others_are_too() -> None:
    """The invariant is weaker than reachability: 206 of its 292 states are reached by no behaviour."""
    oracle = SpecOracle(MODULE, TLA / "MCResumeInduction_tiny-gated.cfg")
    generated = {_frozen(state): state for state in oracle.initial_states()}
    (first,) = [state for state in generated.values() if oracle.evaluate("Init", state)]
    reached: dict[tuple[tuple[str, Value], ...], State] = {_frozen(first): first}
    todo = [first]
    while todo:
        for _, _, state in oracle.successors(todo.pop()):
            again = {**state, "spent": False}
            if _epoch(again) <= 2 and _frozen(again) not in reached:
                reached[_frozen(again)] = again
                todo.append(again)
    assert reached.keys() <= generated.keys()
    assert (len(reached), len(generated)) == (86, 292)


def _epoch(state: Mapping[str, Any]) -> int:
    """The epoch of the only gate of the only branch: step 1, so that TLC shows its function as a sequence."""
    ((gate,),) = state["gate"]
    epoch = gate["epoch"]
    assert isinstance(epoch, int)
    return epoch


def test_the_named_steps_are_the_steps_of_next(tmp_path: Path) -> None:
    """OneStep lists the actions so that TLC counts them; Next, not taken apart, leads to the same states."""
    cfg = TLA / "MCResumeInduction_tiny-gated.cfg"
    whole = tmp_path / "whole.cfg"
    whole.write_text(
        cfg.read_text(encoding="utf-8").replace("NEXT OneStep", "NEXT OneNext"), encoding="utf-8"
    )
    named, plain = SpecOracle(MODULE, cfg), SpecOracle(MODULE, whole)
    for state in named.initial_states()[::6]:
        theirs = sorted(repr(_frozen(after)) for _, _, after in plain.successors(state))
        assert sorted(repr(_frozen(after)) for _, _, after in named.successors(state)) == theirs


@pytest.mark.slow
def test_no_conjunct_can_be_left_out(capfd: pytest.CaptureFixture[str]) -> None:
    status, report = _json(capfd, "necessity")
    assert status == 0
    ((row),) = report["rows"]
    assert set(row["fails"]) == set(CONJUNCTS)
    assert all(fails["start"] or fails["step"] for fails in row["fails"].values())
    # every clause is what some conjunct is there for
    alone = {name for fails in row["fails"].values() for name in fails["start"]}
    assert alone == {"PC", "EO", "FD1", "FD2", "CV", "COV", "COC", "RD", "FI"}


def test_a_conjunct_left_out_by_name_has_a_counterexample(tmp_path: Path) -> None:
    """The same for one of them alone, with TLC's own counterexample: without Hands, Records isn't kept."""
    text = (TLA / "MCResumeInduction_necessity.cfg").read_text(encoding="utf-8")
    cfg = tmp_path / "one.cfg"
    cfg.write_text(
        text.replace("Drops <- Conjuncts", 'Drops = {"Hands"}').replace(
            "INVARIANTS Judge", "INVARIANTS Records"
        ),
        encoding="utf-8",
    )
    result = run_tlc(MODULE, cfg)
    assert (result.outcome.name, result.property) == ("INVARIANT_VIOLATED", "Records")
    assert [state.action for state in result.trace] == [None, "OneRecord"]


def test_a_slip_in_the_reference_is_a_violation(specs: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """A claim that counts twice."""
    path = specs / "tla" / "ResumeContract.tla"
    text = path.read_text(encoding="utf-8")
    assert "!.claims = @ + 1" in text
    path.write_text(text.replace("!.claims = @ + 1", "!.claims = @ + 2"), encoding="utf-8")
    status, report = _json(capfd, "tiny-gated", "--obligations", str(specs / "induction.yaml"))
    assert status == 1
    ((row),) = report["rows"]
    assert (row["outcome"], row["property"], row["where"]) == ("INVARIANT_VIOLATED", "Claims", "step")
    assert "Claim\n" in row["counterexample"]
    assert report["differences"][0].startswith("tiny-gated: outcome is INVARIANT_VIOLATED Claims (step)")


def test_another_count_than_expected_is_a_difference(specs: Path, capfd: pytest.CaptureFixture[str]) -> None:
    path = specs / "induction.yaml"
    known = load_obligations(path)
    (first,) = [each for each in known.obligations if each.name == "initiation-linear"]
    assert first.expect.starts == 1
    text = path.read_text(encoding="utf-8")
    at = text.index("name: initiation-linear")
    path.write_text(text[:at] + text[at:].replace("starts: 1,", "starts: 2,", 1), encoding="utf-8")
    assert run(["induction", "initiation-linear", "--obligations", str(path)]) == 1
    assert capfd.readouterr().err == "difference: initiation-linear: starts is 1, expected is 2\n"
