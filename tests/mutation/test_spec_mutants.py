"""A slip in the TLA+ is caught: TLC then has other successors than the mirror in some of the judges' states."""

from __future__ import annotations

import random
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest
from judges import Judge, judges

from pymodel.resume.decoding import decode
from pymodel.resume.stepping import Stepper
from pymodel.resume.transitions import ACTIONS
from resume_contract.agreement import SPECS, action_name, oracle_for
from tlc_runner import OracleError
from tlc_runner.values import Value

pytestmark = pytest.mark.slow

BASE, BOUNDED = "ResumeContract", "MCResumeContract"


class Slip(NamedTuple):
    """Part of an operator's definition that is replaced, and the actions that then differ."""

    operator: str
    old: str
    new: str
    actions: tuple[str, ...]
    module: str = BASE


SLIPS = (
    # each action: guards dropped, updates changed
    Slip("Load", 'run[r].phase = "idle"', 'run[r].phase # "holds"', ("Load",)),
    Slip("Compute", "IF ok THEN", "IF ~ok THEN", ("Compute",)),
    Slip("Fire", "applied |-> 1", "applied |-> 2", ("Fire",)),
    Slip("Fire", "IF w.applied = 0", "IF TRUE", ("Fire",)),
    Slip("Record", "/\\ CanRecord(r)", "/\\ Running(run[r].branch)", ("Record",)),
    Slip("Record", "IF ledger[b][x].out = None", "IF TRUE", ("Record",)),
    Slip("Memo", '/\\ Kind[run[r].step] # "gate"', "", ("Memo",)),
    Slip("Commit", "/\\ CanCommit(r)", "/\\ Running(run[r].branch)", ("Commit",)),
    Slip("Commit", "acked |-> TRUE", "acked |-> FALSE", ("Commit",)),
    Slip("Park", "/\\ CanPark(r)", "/\\ Running(run[r].branch)", ("Park",)),
    Slip("Claim", "v == Head(k.acks).value", "v == k.acks[Len(k.acks)].value", ("Claim",)),
    Slip("TakeOver", "!.epoch = @ + 1", "!.epoch = @", ("TakeOver",)),
    Slip("Refuse", "/\\ ~CanTakeOver(r)", "", ("Refuse",)),
    Slip("Stale", "/\\ ~CanCommit(r)", "", ("Stale",)),
    Slip("Reject", '= "failed"', '= "uncertain"', ("Reject",)),
    Slip("Deliver", "/\\ Running(b)", "", ("Deliver",)),
    Slip(
        "Deliver",
        "<<[to |-> b, id |-> d, value |-> v]>> \\o @",
        "@ \\o <<[to |-> b, id |-> d, value |-> v]>>",
        ("Deliver",),
    ),
    Slip("Expire", "/\\ ~gate[b][g].expired", "", ("Expire",)),
    Slip("Crash", "![r] = Idle", "![r].epoch = 0", ("Crash",)),
    Slip("Fork", "declared \\cup {c}", "declared", ("Fork",)),
    Slip("BranchOff", "![c] = prefix", "![c] = ckpt[b]", ("Fork",)),
    Slip("BranchOff", "!.passed = gate[b][g].passed", "!.claims = 0", ("Fork",)),
    # what they read with
    Slip("Newest", "j <= i", "j >= i", ("Compute",)),
    Slip("Content", "UnitOf[y] < UnitOf[x] /\\ Has(b, UnitOf[y])", "FALSE", ("Compute",)),
    Slip("Outcome", "p <= q", "p >= q", ("Compute",)),
    Slip("RecordedFor", "e # 0 \\/ ", "", ("Record",)),
    Slip("Available", "\\A y \\in After[x]", "\\E y \\in After[x]", ("Load",)),
    Slip("EpochCurrent", "run[r].epoch = gate", "run[r].epoch <= gate", ("Record", "Stale")),
    Slip("CanCommit", "Len(ckpt[b]) = run[r].base", "TRUE", ("Commit", "Stale")),
    Slip("CanCommit", "run[r].epoch # 0 /\\ ", "", ("Commit", "Stale")),
    Slip("CanTakeOver", "/\\ GateOf(r).expired", "", ("TakeOver", "Refuse")),
    # the budgets
    Slip("ChoosesInvalid", "~ok /\\", "~ok \\/", ("Compute",), BOUNDED),
    Slip("MCExpire", "IF Held(b, g)", "IF ~Held(b, g)", ("Expire",), BOUNDED),
    Slip("MCCrash", "/\\ crashes < MaxCrashes", "", ("Crash",), BOUNDED),
)


def definition(text: str, operator: str) -> tuple[int, int]:
    """Where the definition of an operator begins and ends: at the next one, or at a comment."""
    begun = re.search(rf"^{operator}(\(.*\))? ==", text, re.MULTILINE)
    assert begun is not None, f"{operator} isn't defined"
    ended = re.search(r"^(\(\*|\w+(\(.*\))? ==|---|===)", text[begun.end() :], re.MULTILINE)
    assert ended is not None
    return begun.start(), begun.end() + ended.start()


def only(text: str, actions: tuple[str, ...]) -> str:
    """The MC module with a Next of these actions alone, so that TLC need not find the steps of all others."""
    start, end = definition(text, "MCNext")
    head, *lines = text[start:end].strip().split("\n")
    kept = [line for line in lines if any(f": MC{action}(" in line for action in actions)]
    assert len(kept) == len(actions)
    return text[:start] + "\n".join([head, *kept]) + "\n\n" + text[end:]


def slipped(slip: Slip | None, folder: Path, actions: tuple[str, ...]) -> Path:
    """The specs in `folder`, with a slip and these actions only."""
    for path in (SPECS / f"{BASE}.tla", SPECS / f"{BOUNDED}.tla"):
        text = path.read_text(encoding="utf-8")
        if path.stem == BOUNDED:
            text = only(text, actions)
        if slip is not None and path.stem == slip.module:
            start, end = definition(text, slip.operator)
            # blanks in `old` stand for any
            pattern = r"\s+".join(re.escape(word) for word in slip.old.split())
            body, count = re.subn(pattern, lambda _: slip.new, text[start:end], count=1)
            assert count == 1, f"{slip.operator} has no {slip.old}"
            text = text[:start] + body + text[end:]
        (folder / path.name).write_text(text, encoding="utf-8")
    return folder


class Case(NamedTuple):
    """A state, decoded, and the mirror's successors by action."""

    state: dict[str, Value]
    successors: dict[str, Counter[tuple[Value, ...]]]


@pytest.fixture(scope="module")
def judge() -> Judge:
    """One of the larger: three branches, gates in two units, a unit of ordered steps, states no behaviour reaches."""
    (found,) = [judge for judge in judges() if judge.name == "Twice with 18 faults"]
    return found


@pytest.fixture(scope="module")
def cases(judge: Judge) -> dict[str, list[Case]]:
    """By action some states where it is enabled, and some where it isn't."""
    stepper = Stepper(judge.program, judge.bounds)
    found: dict[str, list[Case]] = {action: [] for action in ACTIONS}
    kinds: Counter[tuple[str, bool, bool]] = Counter()
    states = list(judge.states)
    random.Random(0).shuffle(states)
    for state in states:
        case = cased(judge, stepper, state)
        if case is not None:
            for action in ACTIONS:
                # an expired claim is rare, and what it allows and forbids would be missed
                kind = (action, bool(case.successors[action]), bool(case.successors["TakeOver"]))
                if kinds[kind] < (200 if kind[1] else 150):
                    kinds[kind] += 1
                    found[action].append(case)
    return found


def cased(judge: Judge, stepper: Stepper, state: bytes) -> Case | None:
    """None: what comes next doesn't fit the record."""
    from judges import instances, outcomes

    from pymodel.resume import actions, reading

    c = judge.config
    for b in range(1, c.B + 1):
        if c.L in (state[reading.branch_at(c, b) + k] for k in (reading.LENGTH, reading.OWN_LENGTH)):
            return None
    successors = {}
    for action, parameters in instances(c).items():
        steps = outcomes(getattr(actions, action), c, state, parameters)
        if any(after[0] for _, after in steps):
            return None
        successors[action] = Counter(key(decode(c, after)) for _, after in steps)
    return Case(decode(c, state), successors)


def key(state: dict[str, Value]) -> tuple[Value, ...]:
    return tuple(state[name] for name in sorted(state))


def differing(
    judge: Judge, cases: dict[str, list[Case]], actions: tuple[str, ...], specs: Path
) -> Iterator[str]:
    """The actions whose successors TLC has otherwise than the mirror, or can't tell any more."""
    oracle = oracle_for(judge.program, judge.bounds, specs=specs)
    for action in actions:
        for case in cases[action]:
            try:
                steps = oracle.successors(case.state)
            except OracleError:
                yield action
                break
            if (
                Counter(key(after) for name, _, after in steps if action_name(name) == action)
                != case.successors[action]
            ):
                yield action
                break


@pytest.mark.parametrize("slip", SLIPS, ids=lambda slip: f"{slip.operator}-{SLIPS.index(slip)}")
def test_a_slip_is_caught(slip: Slip, judge: Judge, cases: dict[str, list[Case]], tmp_path: Path) -> None:
    assert tuple(differing(judge, cases, slip.actions, slipped(slip, tmp_path, slip.actions))) == slip.actions


def test_every_action_has_a_slip() -> None:
    assert {action for slip in SLIPS for action in slip.actions} == set(ACTIONS)
    assert {slip.operator for slip in SLIPS} >= set(ACTIONS)


def test_without_a_slip_nothing_differs(judge: Judge, cases: dict[str, list[Case]], tmp_path: Path) -> None:
    few = {action: found[::10] for action, found in cases.items()}
    assert all(any(case.successors[action] for case in found) for action, found in few.items())
    assert list(differing(judge, few, ACTIONS, slipped(None, tmp_path, ACTIONS))) == []
