"""The configuration of the resume model: a program and bounds, laid out as offsets into one record.

Everything here is a run-time value of the compiled functions: one compiled model serves every program and bound.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any, NamedTuple

from pymodel.errors import ModelError
from pymodel.resume import reading as at
from pymodel.resume.faults import LOST_ANSWER
from pymodel.resume.program import KINDS, Program

__all__ = ["MOST_STEPS", "OVERFLOWS", "Bounds", "Config", "lay_out"]

MOST_STEPS = 250
"""Steps, and units, of a program that fits the record's bytes."""

OVERFLOWS = (
    "",
    "computed (bound: computations)",
    "acks (bound: answers)",
    "epoch (a byte)",
    "applied (bound: applied)",
)


@dataclass(frozen=True)
class Bounds:
    """How large a model is.

    Attributes:
        runners: processes.
        branches: branches, the root included.
        answers: different deliveries to a gate; delivery d carries the value d.
        values: how many outcomes there are.
        crashes: crashes in a behaviour.
        expiries: expiries of claims that a runner still holds.
        invalid: invalid outcomes.
        length: checkpoints of a branch; 0: as many as the program has units.
        computations: different computations kept of one pure step of one branch.
        applied: where the count of an effect's applications saturates (it is broken at 2).

    Raises:
        ModelError: a bound that is impossible, with the range it must be in.
    """

    runners: int = 2
    branches: int = 1
    answers: int = 1
    values: int = 2
    crashes: int = 0
    expiries: int = 0
    invalid: int = 0
    length: int = 0
    computations: int = 1
    applied: int = 2

    def __post_init__(self) -> None:
        least = {"runners": 1, "branches": 1, "answers": 1, "values": 2, "computations": 1, "applied": 2}
        for field in fields(self):
            value = getattr(self, field.name)
            low = least.get(field.name, 0)
            if not isinstance(value, int) or isinstance(value, bool) or not low <= value <= 255:
                raise ModelError(
                    f"bound {field.name} = {value!r} is impossible: give a number from {low} to 255"
                )
        if self.answers > self.values:
            raise ModelError(
                f"bound answers = {self.answers} is impossible: each answer is a value, and there are"
                f" {self.values}: lower it or raise `values`"
            )


class Config(NamedTuple):
    """What every function of the model gets as ``c``.  Lists are indexed from 1; two-dimensional ones are flat.

    Compiled functions get arrays in their place (see `pymodel.resume.model`).
    """

    R: int
    """runners"""
    B: int
    """branches"""
    U: int
    """units"""
    S: int
    """steps"""
    D: int
    """different deliveries"""
    V: int
    """values"""
    L: int
    """checkpoints a branch has room for"""
    A: int
    """acknowledged deliveries a gate has room for"""
    K: int
    """computations a pure step of a branch has room for"""
    max_crashes: int
    max_expiries: int
    max_invalid: int
    max_applied: int
    faults: int
    """the faults that are switched on: bits of faults.py"""
    sought: int
    """clauses of which a behaviour is sought that breaks them all: bits in the order of clauses.CLAUSES; 0: none are"""
    free: int
    """1: the code of the steps isn't known (a trace's), any outcome may be it"""
    branches: int
    """where the blocks of the branches begin"""
    block: int
    """width of a branch's block; from here on offsets inside it"""
    ckpt: int
    prefix: int
    own: int
    ledger: int
    world: int
    gate: int
    computed: int
    """how many computations each pure step has had"""
    entry: int
    """width of a checkpoint"""
    gate_width: int
    stride: int
    """row width of `after` and `inputs`"""
    first: Any
    """first[u]: the first step of unit u; first[U + 1] is S + 1"""
    unit_of: Any
    kind: Any
    is_effect: Any
    """is_effect[x]: 1 or 0; bytes"""
    many: Any
    """many[k]: how many steps are of a kind"""
    pures: Any
    """the steps of this kind, from 0, with a 0 at the end"""
    gates: Any
    """the same"""
    place: Any
    """place[x]: where the outcome of step x stands in its unit's checkpoint, from 0"""
    sealed: Any
    """sealed[x]: where in a branch's block the outcome of step x is, once all units up to its own are sealed in order"""
    recorded: Any
    """recorded[x]: where in a branch's block ledger[x] is"""
    gate_in: Any
    """gate_in[u]: the gate of unit u, or 0"""
    gate_slot: Any
    pure_slot: Any
    reads: Any
    """reads[x]: the last step that is an input of x, or 0"""
    computations: Any
    """computations[x]: where in a branch's block those of pure step x begin"""
    after: Any
    """after[x * stride + y]: does step y come before step x inside their unit?"""
    inputs: Any
    """inputs[x * stride + y]: is step y an input of step x?"""


class Layout(NamedTuple):
    """A configuration with what the engine wants to know of the record."""

    config: Config
    width: int
    components: tuple[int, ...]
    fanout: int


def lay_out(program: Program, bounds: Bounds, faults: int = 0, free: bool = False, sought: int = 0) -> Layout:
    """Lay out the record for a program and bounds.

    Raises:
        ModelError: the program or a bound doesn't fit the record's bytes.
    """
    steps = program.steps
    unit_count, step_count = len(program.units), len(steps)
    if step_count > MOST_STEPS or unit_count > MOST_STEPS:
        raise ModelError(
            f"program {program.name}: it has {step_count} steps: at most {MOST_STEPS} fit a record"
        )
    length = max(bounds.length, unit_count)
    stride = step_count + 1

    first, gate_in = ([0] * (unit_count + 2) for _ in range(2))
    unit_of, kind, place, gate_slot, pure_slot, reads = ([0] * stride for _ in range(6))
    after, inputs = ([0] * (stride * stride) for _ in range(2))
    x = gates = pures = 0
    for u, unit in enumerate(program.units, 1):
        first[u] = x + 1
        for rank, step in enumerate(unit):
            x += 1
            unit_of[x], kind[x], place[x] = u, KINDS.index(step.kind), rank
            if kind[x] == at.GATE:
                gate_in[u], gate_slot[x], gates = x, gates, gates + 1
            if kind[x] == at.PURE:
                pure_slot[x], pures = pures, pures + 1
    first[unit_count + 1] = step_count + 1
    for x, step in enumerate(steps, 1):
        row, earlier = x * stride, first[unit_of[x]] - 1
        inputs[row + 1 : row + 1 + earlier] = [1] * earlier
        before = [program.number(name) for name in program.predecessors(step.name)]
        for y in before:
            after[row + y] = inputs[row + y] = 1
        reads[x] = max([earlier, *before])

    by_kind = [[x for x in range(1, stride) if kind[x] == k] for k in range(len(KINDS))]

    entry = at.ENTRY_OUT + max(len(unit) for unit in program.units)
    acks = bounds.answers if faults or free else 1
    if faults & LOST_ANSWER:
        acks += bounds.crashes  # what was lost may be delivered again
    gate_width = at.GATE_HEAD + acks * at.ACK_WIDTH
    offset = at.BRANCH_HEAD
    offsets = []
    for width in (
        length * entry,
        length * entry,
        length * entry,
        step_count * at.LEDGER_WIDTH,
        step_count * at.WORLD_WIDTH,
        gates * gate_width,
        pures,
    ):
        offsets.append(offset)
        offset += width
    computations = [0] * stride
    for x in by_kind[at.PURE]:
        computations[x] = offset
        offset += bounds.computations * (reads[x] + 1)
    block = offset
    branches = at.RUNS + bounds.runners * at.RUN_WIDTH
    config = Config(
        R=bounds.runners,
        B=bounds.branches,
        U=unit_count,
        S=step_count,
        D=bounds.answers,
        V=bounds.values,
        L=length,
        A=acks,
        K=bounds.computations,
        max_crashes=bounds.crashes,
        max_expiries=bounds.expiries,
        max_invalid=bounds.invalid,
        max_applied=bounds.applied,
        faults=faults,
        sought=sought,
        free=int(free),
        branches=branches,
        block=block,
        ckpt=offsets[0],
        prefix=offsets[1],
        own=offsets[2],
        ledger=offsets[3],
        world=offsets[4],
        gate=offsets[5],
        computed=offsets[6],
        entry=entry,
        gate_width=gate_width,
        stride=stride,
        first=first,
        unit_of=unit_of,
        kind=kind,
        is_effect=bytes(k == at.EFFECT for k in kind),
        many=[len(of_kind) for of_kind in by_kind],
        pures=[*by_kind[at.PURE], 0],
        gates=[*by_kind[at.GATE], 0],
        place=place,
        sealed=[offsets[0] + (u - 1) * entry + at.ENTRY_OUT + k for u, k in zip(unit_of, place, strict=True)],
        recorded=[offsets[3] + (x - 1) * at.LEDGER_WIDTH for x in range(stride)],
        gate_in=gate_in,
        gate_slot=gate_slot,
        pure_slot=pure_slot,
        reads=reads,
        computations=computations,
        after=after,
        inputs=inputs,
    )
    width = branches + bounds.branches * block
    # What one action changes together: the budgets, each runner, and of a branch its line, what forks and commits
    # fixed before, what the steps of a unit write, and its gates with what was computed.
    components = [0, *(at.RUNS + r * at.RUN_WIDTH for r in range(bounds.runners))]
    for b in range(bounds.branches):
        start = branches + b * block
        parts = {0, offsets[1], offsets[2], offsets[3], offsets[5]}
        components += [start + part for part in sorted(parts) if part < block]
    return Layout(config, width, tuple(components), _fanout(config))


def _fanout(c: Config) -> int:
    """More successors than any state can have, and one row of scratch."""
    arrivals = c.S + 1
    per_runner = c.B * arrivals * 2 + 2 * c.V + 3 * arrivals + 8
    faulty_loads = c.B * arrivals * (1 + c.L * (1 + c.B))
    faulty = faulty_loads + 3 * c.V + 5 + 3 * arrivals + 8 + c.B * (1 + c.U)
    environment = c.B * (c.U * (c.D + 1) + c.B * (c.L + 1))
    return (
        2
        + c.R * (per_runner + (faulty if c.faults else 0))
        + environment
        + (c.B * c.U * c.D * 2 if c.faults else 0)
    )
