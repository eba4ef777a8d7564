"""The inductive invariant of ``specs/tla/ResumeInduction.tla``: its obligations, run by TLC and held against what is
expected of each in ``specs/induction.yaml``.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta, Struct

from pymodel.engine import changed, render_value
from pymodel.resume.tla_constants import identities
from pymodel.resume.transitions import ACTIONS
from resume_contract.engines import OnProgress, Tools
from resume_contract.errors import COULD_NOT_CHECK, ResumeContractError
from resume_contract.lists import read_list
from resume_contract.manifest import ROOT
from resume_contract.reports import Report
from tlc_runner import Outcome, TLCResult, TraceState, format_value, run_tlc
from tlc_runner.config import read_config

__all__ = [
    "CONJUNCTS",
    "FORMAT_VERSION",
    "OBLIGATIONS",
    "InductionError",
    "InductionReport",
    "InductionRow",
    "Obligation",
    "Obligations",
    "load_obligations",
    "prove",
    "select",
]

FORMAT_VERSION = 1
"""The version of the JSON that `induction` prints and writes."""

OBLIGATIONS = ROOT / "specs" / "induction.yaml"

MODULE = "tla/MCResumeInduction.tla"

CONJUNCTS = (
    "TypeOK",
    "Declarations",
    "Lives",
    "Chains",
    "Wholeness",
    "Lawfulness",
    "Origins",
    "Ownership",
    "Frontier",
    "Sealed",
    "Records",
    "Firings",
    "Computations",
    "Answers",
    "Claims",
    "Positions",
    "Reached",
    "Hands",
)
"""The conjuncts of Ind, in its order."""

_CLAUSES = ("PC", "EO", "FD1", "FD2", "CV", "COV", "COC", "RD", "FI")

# What a configuration file has to say for each kind of obligation: INIT, NEXT, and the invariants at least.
_SHAPES = {
    "initiation": ("ReachInit", "NoStep", CONJUNCTS),
    "consecution": ("Start", "OneStep", (*CONJUNCTS, *_CLAUSES)),
    "reachable": ("ReachInit", "ReachNext", CONJUNCTS),
    "completeness": ("Typed", "NoStep", ("Ind",)),
    "necessity": ("Bent", "OneStep", ("Judge",)),
}

Name = Annotated[str, Meta(min_length=1)]
Count = Annotated[int, Meta(ge=1)]
Kind = Literal["initiation", "consecution", "completeness", "reachable", "necessity"]


class InductionError(ResumeContractError):
    """The list of obligations cannot be used, or does not agree with a configuration file."""


class Sizes(Struct, frozen=True, forbid_unknown_fields=True):
    """How many runners, branches, answers and values there are, and the highest epoch of a generated state.

    `budgets` are those of the reference's model, where its reachable states are searched:
    crashes, expiries of live claims, invalid outcomes.
    """

    runners: Count
    branches: Count
    answers: Count
    values: Count
    epochs: Count = 2
    budgets: tuple[int, int, int] = (0, 0, 0)


class Sampling(Struct, frozen=True, forbid_unknown_fields=True):
    """How many forms of each branch, and how many places of the runners in each store, are drawn."""

    forms: Count
    places: Count


class Expected(Struct, frozen=True, forbid_unknown_fields=True):
    """What an obligation must come to: TLC's outcome and its counts of start, distinct and generated states."""

    outcome: Name
    starts: Count
    distinct: Count
    generated: Count


class Fails(Struct, frozen=True, forbid_unknown_fields=True):
    """What fails without a conjunct: in a start state (no longer implied), or after a step (no longer kept)."""

    start: tuple[Name, ...] = ()
    step: tuple[Name, ...] = ()


class Obligation(Struct, frozen=True, forbid_unknown_fields=True):
    """One obligation.

    Attributes:
        name: what it is called on the command line.
        kind: "initiation" (Init => Ind), "consecution" (Ind /\\ Next => Ind', and Ind => each clause), "reachable"
            (the reference's reachable states satisfy Ind), "completeness" (filtering all typed states yields as many
            start states as the generator), "necessity" (no conjunct can be left out).
        cfg: its configuration file, relative to the list.
        program: the program, by its name in the TLA+.
        code: "any" (every function from what a step reads to a value) or "MCF".
        sizes: the sizes that the configuration file has, too.
        sampled: None where all states that satisfy Ind are taken.
        expect: what it must come to.
        equals: of a completeness, the consecution whose start states must be as many.
        fails: of a necessity, what fails without each conjunct.
        notes: why it is there.
    """

    name: Name
    kind: Kind
    cfg: Name
    program: Name
    code: Literal["any", "MCF"]
    sizes: Sizes
    expect: Expected
    sampled: Sampling | None = None
    equals: str | None = None
    fails: dict[str, Fails] = {}
    notes: str = ""

    @property
    def method(self) -> str:
        """ "exhausted", "sampled", or of a necessity "chosen": start states that refute, and no more."""
        if self.kind == "necessity":
            return "chosen"
        return "exhausted" if self.sampled is None else "sampled"

    @property
    def size(self) -> str:
        """Program, code and sizes in short."""
        sizes = self.sizes
        parts = [
            f"{sizes.runners} runner{'s' * (sizes.runners > 1)}",
            f"{sizes.branches} branch{'es' * (sizes.branches > 1)}",
            f"{sizes.answers} answer{'s' * (sizes.answers > 1)}",
            f"{sizes.values} value{'s' * (sizes.values > 1)}",
        ]
        if self.kind not in ("initiation", "reachable"):
            parts.append(f"epochs to {sizes.epochs}")
        if any(sizes.budgets):
            parts.append("budgets " + "/".join(map(str, sizes.budgets)))
        return f"{self.program}, {'any code' if self.code == 'any' else 'code MCF'}, {', '.join(parts)}"


class _Document(Struct, frozen=True, forbid_unknown_fields=True):
    version: Literal[1]
    obligations: Annotated[tuple[Obligation, ...], Meta(min_length=1)]


class Obligations(Struct, frozen=True):
    """A validated list of obligations; `path` is where it was read."""

    path: Path
    obligations: tuple[Obligation, ...]

    @property
    def module(self) -> Path:
        """The module of all of them."""
        return self.path.parent / MODULE

    def cfg(self, obligation: Obligation) -> Path:
        """An obligation's configuration file."""
        return self.path.parent / obligation.cfg


def load_obligations(path: Path = OBLIGATIONS) -> Obligations:
    """Read the list of obligations and hold it against the configuration files that it names.

    Raises:
        InductionError: it cannot be read, a value in it is impossible, or a configuration file says otherwise.
        TLCError: a configuration file cannot be read.
    """
    document = read_list(path, _Document, InductionError, "--obligations")
    found = Obligations(path, document.obligations)
    names = [obligation.name for obligation in found.obligations]
    for obligation in found.obligations:
        if names.count(obligation.name) > 1:
            raise InductionError(f"{path}: obligation {obligation.name} stands twice: names must be unique")
        _validate(found, obligation)
        _validate_equal(found, obligation)
    return found


def select(known: Obligations, names: Sequence[str] = ()) -> tuple[Obligation, ...]:
    """The obligations of these names, or all.

    Raises:
        InductionError: an unknown name; the message lists those that there are.
    """
    by_name = {obligation.name: obligation for obligation in known.obligations}
    for name in names:
        if name not in by_name:
            raise InductionError(f"obligation {name} is unknown: one of {', '.join(by_name)}")
    return tuple(obligation for obligation in known.obligations if not names or obligation.name in names)


_BEHAVIOUR = re.compile(r"\b(INIT|NEXT)\s+(\w+)")


def _validate(known: Obligations, obligation: Obligation) -> None:
    """The configuration file states the same obligation, program and sizes, and judges what it must."""
    place = f"{known.path}: obligation {obligation.name}"
    config = read_config(known.cfg(obligation))
    init, next_, invariants = _SHAPES[obligation.kind]
    missing = [name for name in invariants if name not in config.invariants]
    if missing:
        raise InductionError(f"{place}: {obligation.cfg} does not check {', '.join(missing)}: list it there")
    found = config.constants | dict(_BEHAVIOUR.findall(config.uncommented_text))
    for name, wanted in (_constants(obligation) | {"INIT": init, "NEXT": next_}).items():
        value = "".join(wanted.split())
        if found.get(name) != value:
            raise InductionError(
                f"{place} wants {name} = {value}, {obligation.cfg} has {found.get(name, 'none')}:"
                " make the two agree"
            )
    _validate_expectations(place, obligation)


def _constants(obligation: Obligation) -> dict[str, str]:
    """Constant -> what the configuration file must put in its place."""
    sizes, sampled = obligation.sizes, obligation.sampled
    crashes, expiries, invalid = sizes.budgets
    arbitrary = obligation.code == "any"
    return {
        "UnitOf": f"{obligation.program}UnitOf",
        "Kind": f"{obligation.program}Kind",
        "After": f"{obligation.program}After",
        "Runners": identities(sizes.runners),
        "Branches": identities(sizes.branches),
        "Deliveries": identities(sizes.answers),
        "Values": identities(sizes.values),
        "F": "CodeF" if arbitrary else "MCF",
        "Codes": "AllCodes" if arbitrary else "OneCode",
        "MaxEpoch": str(sizes.epochs),
        "Sample": str(0 if sampled is None else sampled.forms),
        "SampleRuns": str(0 if sampled is None else sampled.places),
        "Drops": "Conjuncts",
        "MaxCrashes": str(crashes),
        "MaxExpiries": str(expiries),
        "MaxInvalid": str(invalid),
    }


def _validate_expectations(place: str, obligation: Obligation) -> None:
    if obligation.expect.outcome not in Outcome.__members__:
        known = ", ".join(Outcome.__members__)
        raise InductionError(f"{place}: outcome {obligation.expect.outcome} is unknown: one of {known}")
    if obligation.kind == "necessity":
        # a conjunct without which nothing fails would be one that the invariant does not need
        idle = [name for name in CONJUNCTS if name not in obligation.fails]
        idle += [name for name, fails in obligation.fails.items() if not (fails.start or fails.step)]
        if idle:
            raise InductionError(
                f"{place}: nothing fails without {', '.join(idle)}: say under `fails` what does"
            )
    elif obligation.fails:
        raise InductionError(f"{place}: `fails` is for the kind necessity: leave it out")


def _validate_equal(known: Obligations, obligation: Obligation) -> None:
    """A completeness is held against a consecution of the same program and sizes."""
    place = f"{known.path}: obligation {obligation.name}"
    if (obligation.kind == "completeness") != (obligation.equals is not None):
        raise InductionError(f"{place}: `equals` is for the kind completeness, and must be there")
    if obligation.equals is None:
        return
    others = [other for other in known.obligations if other.name == obligation.equals]
    if not others:
        raise InductionError(f"{place}: equals {obligation.equals}, which is no obligation: name one")
    other = others[0]
    for name in ("program", "code", "sizes"):
        if getattr(other, name) != getattr(obligation, name):
            raise InductionError(f"{place} has another {name} than {other.name}: make the two agree")
    if other.kind != "consecution" or other.sampled is not None:
        raise InductionError(
            f"{place} equals {other.name}, which takes no set of all states: name one that does"
        )
    if other.expect.starts != obligation.expect.starts:
        raise InductionError(
            f"{place} expects {obligation.expect.starts} start states, {other.name}"
            f" {other.expect.starts}: the generator is wrong if they differ"
        )


@dataclass(frozen=True)
class InductionRow:
    """What became of an obligation.

    Attributes:
        obligation: which.
        outcome: how TLC ended.
        violated: the conjunct or clause that is violated, else None.
        where: "start" or "step": in a start state, or after one step; None without a violation.
        starts, distinct, generated: states; None where TLC did not get so far.
        seconds: wall time, starting Java included.
        actions: how often each action was taken, for a consecution; else None.
        fails: conjunct -> where -> what fails without it, for a necessity; else None.
        message: what went wrong in one line, or "".
        counterexample: the state or the step that violates, as text, or "".
        versions: what ran, by name.
    """

    obligation: Obligation
    outcome: Outcome
    violated: str | None
    where: str | None
    starts: int | None
    distinct: int | None
    generated: int | None
    seconds: float
    actions: dict[str, int] | None = None
    fails: dict[str, dict[str, tuple[str, ...]]] | None = None
    message: str = ""
    counterexample: str = ""
    versions: dict[str, str] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """What lines about it begin with."""
        return self.obligation.name

    @property
    def is_decided(self) -> bool:
        """Did it come to a verdict?"""
        return self.outcome.exit_status != COULD_NOT_CHECK

    @property
    def reason(self) -> str:
        """What went wrong, in one line."""
        return self.message or self.outcome.name

    def to_json(self) -> dict[str, Any]:
        """The row of ``induction.json``; see ``docs/induction.md``."""
        obligation = self.obligation
        return {
            "obligation": obligation.name,
            "kind": obligation.kind,
            "program": obligation.program,
            "code": obligation.code,
            "sizes": msgspec.to_builtins(obligation.sizes),
            "method": obligation.method,
            "sampling": msgspec.to_builtins(obligation.sampled),
            "outcome": self.outcome.name,
            "property": self.violated,
            "where": self.where,
            "starts": self.starts,
            "distinct": self.distinct,
            "generated": self.generated,
            "seconds": round(self.seconds, 3),
            "actions": self.actions,
            "fails": self.fails,
            "message": self.message,
            "counterexample": self.counterexample,
        }


@dataclass(frozen=True)
class InductionReport(Report[InductionRow]):
    """What became of all of them.

    Attributes:
        rows: one for each obligation.
        differences: from what is expected; one line each, that begins with the obligation's name.
    """

    rows: tuple[InductionRow, ...]
    differences: tuple[str, ...]

    @property
    def judged(self) -> tuple[InductionRow, ...]:
        """The runs."""
        return self.rows

    def to_json(self) -> dict[str, Any]:
        """As in ``docs/induction.md``."""
        return {
            "version": FORMAT_VERSION,
            "rows": [row.to_json() for row in self.rows],
            "differences": list(self.differences),
            "versions": self.versions,
        }


Watch = Callable[[str], AbstractContextManager[OnProgress | None]]


def prove(known: Obligations, chosen: Sequence[Obligation], tools: Tools, *, watch: Watch) -> InductionReport:
    """Run obligations by TLC, one after another, and hold each against what is expected of it.

    Args:
        known: where they are from.
        chosen: which.
        tools: what TLC is run with; it has one worker, so that a start state is never taken for a successor.
        watch: given the name of a run, a context whose value is told how far it is.

    Raises:
        TLCError: TLC cannot run; how a run *ends* is in the report.
    """
    rows = []
    for obligation in chosen:
        with watch(obligation.name) as on_progress:
            rows.append(_run(known, obligation, tools, on_progress))
    differences = [line for row in rows for line in _unexpected(row)]
    if len(chosen) == len(known.obligations):
        differences += _never_taken(rows)
    return InductionReport(tuple(rows), tuple(differences))


def _run(
    known: Obligations, obligation: Obligation, tools: Tools, on_progress: OnProgress | None
) -> InductionRow:
    result = run_tlc(
        known.module,
        known.cfg(obligation),
        workers=1,
        coverage=tools.coverage and obligation.kind == "consecution",
        timeout=tools.timeout,
        heap=tools.heap,
        java=tools.java,
        jar=tools.jar,
        on_progress=on_progress,
    )
    where = None
    if result.outcome is Outcome.INVARIANT_VIOLATED:
        where = "start" if len(result.trace) == 1 else "step"
    return InductionRow(
        obligation=obligation,
        outcome=result.outcome,
        violated=result.property,
        where=where,
        starts=result.initial,
        distinct=result.distinct,
        generated=result.generated,
        seconds=result.seconds,
        actions=_actions(result) if result.coverage else None,
        fails=_fails(result) if obligation.kind == "necessity" else None,
        message="" if result.outcome is Outcome.SUCCESS else result.message,
        counterexample=_counterexample(result.trace),
        versions={
            "tlc": result.tlc_version,
            "tla2tools_sha256": result.jar_sha256,
            "java": result.java_version,
        },
    )


def _counterexample(trace: Sequence[TraceState]) -> str:
    """The start state in full, and what the step changed."""
    lines: list[str] = []
    for before, state in pairwise((None, *trace)):
        assert state is not None
        if before is None:
            lines.append("start state")
            lines += [f"  {name} = {format_value(value)}" for name, value in state.variables.items()]
        else:
            lines.append((state.action or "a step").removeprefix("One"))
            lines += [
                f"  {place}: {render_value(old)} -> {render_value(new)}"
                for place, old, new in changed(before.variables, state.variables)
            ]
    return "\n".join(lines)


def _actions(result: TLCResult) -> dict[str, int]:
    """How often each action was taken, by the reference's names; OneLoad is Load."""
    taken = dict.fromkeys(ACTIONS, 0)
    for name, (_, generated) in result.coverage.items():
        action = name.removeprefix("One")
        if action in taken:
            taken[action] += generated
    return taken


def _fails(result: TLCResult) -> dict[str, dict[str, tuple[str, ...]]]:
    """What Judge printed, in order."""
    found: dict[str, dict[str, list[str]]] = defaultdict(lambda: {"start": [], "step": []})
    for value in result.printed_values():
        if isinstance(value, tuple) and len(value) == 4 and value[0] == "FAILS":
            _, dropped, failed, where = map(str, value)
            found[dropped][where].append(failed)
    order = [*CONJUNCTS, *_CLAUSES]
    return {
        dropped: {where: tuple(sorted(names, key=order.index)) for where, names in found[dropped].items()}
        for dropped in CONJUNCTS
        if dropped in found
    }


def _unexpected(row: InductionRow) -> Iterator[str]:
    """How a row differs from what is expected of it."""
    obligation = row.obligation
    name, wanted = obligation.name, obligation.expect
    if row.outcome.name != wanted.outcome:
        what = f" {row.violated} ({row.where})" if row.violated else ""
        reason = f" ({row.message})" if row.message else ""
        yield f"{name}: outcome is {row.outcome.name}{what}, expected is {wanted.outcome}{reason}"
        return  # the counts are those of another search then
    for what in ("starts", "distinct", "generated"):
        found, expected = getattr(row, what), getattr(wanted, what)
        if found != expected:
            yield f"{name}: {what} is {found}, expected is {expected}"
    if row.fails is not None:
        yield from _other_failures(name, row.fails, obligation.fails)


def _other_failures(
    name: str, found: Mapping[str, Mapping[str, tuple[str, ...]]], expected: Mapping[str, Fails]
) -> Iterator[str]:
    for dropped in CONJUNCTS:
        for where in ("start", "step"):
            mine = found.get(dropped, {}).get(where, ())
            theirs = getattr(expected[dropped], where)
            if set(mine) != set(theirs):
                yield (
                    f"{name}: without {dropped}, what fails in a {where} is {', '.join(mine) or 'nothing'},"
                    f" expected is {', '.join(theirs) or 'nothing'}"
                )


def _never_taken(rows: Iterable[InductionRow]) -> Iterator[str]:
    """Consecution says nothing about an action that no start state allows."""
    counted = [row.actions for row in rows if row.actions is not None]
    if counted:
        for action in ACTIONS:
            if not any(actions.get(action) for actions in counted):
                yield f"all: action {action} is taken from no start state of any obligation"
