"""The sequencer as a model for the engine."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields
from typing import Any

import numpy as np

from pymodel.engine import Model, ModelError
from pymodel.resume.program import KINDS, Program
from pymodel.sequencer import judging, steps
from pymodel.sequencer import reading as at
from pymodel.sequencer.config import Config
from tlc_runner.values import FrozenMap, Value, function

__all__ = ["Bounds", "Config", "build", "configure", "decode", "describe"]

_OVERFLOWS = ("", "epoch (a byte)", "keys (a byte)")
_USER, _CLOCK, _SLOWNESS = 0, -1, -2


@dataclass(frozen=True)
class Bounds:
    """How large a model is, and whether the algorithm is right.

    Attributes:
        runners: processes.
        answers: different deliveries; delivery d carries the value d.
        values: how many outcomes there are.
        crashes: crashes in a behaviour.
        overruns: leases that end under a live owner.
        atomic_claim: is a claim inserted only if nobody else's is there?
        step_keys: is the key of an effect a function of its step alone?

    Raises:
        ModelError: a bound that is impossible, with the range it must be in.
    """

    runners: int = 2
    answers: int = 1
    values: int = 2
    crashes: int = 0
    overruns: int = 0
    atomic_claim: bool = True
    step_keys: bool = True

    def __post_init__(self) -> None:
        least = {"runners": 1, "answers": 1, "values": 2, "crashes": 0, "overruns": 0}
        for field in fields(self):
            value = getattr(self, field.name)
            if field.name not in least:
                if not isinstance(value, bool):
                    raise ModelError(f"bound {field.name} = {value!r} is impossible: give True or False")
            elif (
                not isinstance(value, int) or isinstance(value, bool) or not least[field.name] <= value <= 255
            ):
                raise ModelError(
                    f"bound {field.name} = {value!r} is impossible: give a number from {least[field.name]} to 255"
                )
        if self.answers > self.values:
            raise ModelError(
                f"bound answers = {self.answers} is impossible: each answer is a value, and there are"
                f" {self.values}: lower it or raise `values`"
            )


def configure(program: Program, bounds: Bounds) -> Config:
    """The configuration of a program within bounds.

    Raises:
        ModelError: a unit's steps aren't in line, each after all that stand before it; or too many steps.
    """
    count = len(program.steps)
    if count > 250:
        raise ModelError(f"program {program.name}: it has {count} steps: at most 250 fit a record")
    first, gate_in = (np.zeros(len(program.units) + 2, np.int64) for _ in range(2))
    unit_of, kind = (np.zeros(count + 1, np.int64) for _ in range(2))
    x = 0
    for u, unit in enumerate(program.units, 1):
        first[u] = x + 1
        earlier: set[str] = set()
        for step in unit:
            x += 1
            if program.predecessors(step.name) != earlier:
                raise ModelError(
                    f"program {program.name}, step {step.name}: the sequencer runs the steps of a unit in line: let"
                    " it come after all that stand before it"
                )
            earlier.add(step.name)
            unit_of[x], kind[x] = u, KINDS.index(step.kind)
            if step.kind == "gate":
                gate_in[u] = x
    first[len(program.units) + 1] = count + 1
    return Config(
        R=bounds.runners,
        U=len(program.units),
        S=count,
        D=bounds.answers,
        V=bounds.values,
        max_crashes=bounds.crashes,
        max_overruns=bounds.overruns,
        atomic_claim=int(bounds.atomic_claim),
        step_keys=int(bounds.step_keys),
        runners=at.ROWS + count * at.ROW_WIDTH,
        first=first,
        unit_of=unit_of,
        kind=kind,
        gate_in=gate_in,
    )


def build(program: Program, bounds: Bounds, name: str = "Sequencer") -> Model:
    """The model of a program within bounds.

    Raises:
        ModelError: what doesn't fit, see :func:`configure`.
    """
    config = configure(program, bounds)
    width = config.runners + config.R * at.RUNNER_WIDTH
    starts = [at.row_at(config, x) for x in range(1, config.S + 1)]
    gates = int(np.count_nonzero(config.gate_in))
    return Model(
        name=name,
        module=(steps, judging, at),
        config=config,
        width=width,
        fanout=2 * config.R + gates * (config.D + 2) + 1,
        label_width=steps.LABEL_WIDTH,
        initial=np.zeros((1, width), np.uint8),
        actions=steps.LABELS,
        invariants=judging.INVARIANTS,
        sometimes=judging.SITUATIONS,
        components=(0, *starts, *(at.runner_at(config, r) for r in range(1, config.R + 1))),
        overflow=_OVERFLOWS,
        decode=_decoder(config),
        describe=describe,
    )


def _decoder(config: Config) -> Callable[[Any], dict[str, Value]]:
    return lambda record: decode(config, record)


def decode(c: Config, record: Any) -> dict[str, Value]:
    """The variables of ``Sequencer.tla`` in the state `record`, by name."""
    s = bytes(record)
    rows = {x: at.row_at(c, x) for x in range(1, c.S + 1)}
    pures, effects, gates = ([x for x in rows if c.kind[x] == kind] for kind in (at.PURE, at.EFFECT, at.GATE))
    runners = [at.runner_at(c, r) for r in range(1, c.R + 1)]

    def written(u: int) -> Value:
        return function({x: s[rows[x] + at.WRITE] for x in range(int(c.first[u]), int(c.first[u + 1]))})

    def claim(k: int) -> FrozenMap:
        return FrozenMap(
            {"epoch": s[k + at.EPOCH], "expired": bool(s[k + at.EXPIRED]), "inserts": s[k + at.INSERTS]}
        )

    places = {r: steps.LABELS[s[p + at.PC]] for r, p in enumerate(runners, 1)}
    return {
        "log": tuple(written(u) for u in range(1, s[at.LENGTH] + 1)),
        "writes": tuple(s[k + at.WRITE] for k in rows.values()),
        "asked": frozenset(g for g in gates if s[rows[g] + at.ASKED]),
        "answers": function({g: s[rows[g] + at.ANSWER] for g in gates}),
        "claims": function({g: claim(rows[g]) for g in gates}),
        "sink": function(
            {x: FrozenMap({"keys": s[rows[x] + at.KEYS], "answer": s[rows[x] + at.REPLY]}) for x in effects}
        ),
        "lease": tuple(
            FrozenMap({"gate": s[p + at.LEASE_GATE], "epoch": s[p + at.LEASE_EPOCH]}) for p in runners
        ),
        "ran": frozenset(x for x in pures if s[rows[x] + at.RAN]),
        "crashes": s[at.CRASHES],
        "overruns": s[at.OVERRUNS],
        "pc": function({**places, _USER: "Answer", _CLOCK: "Expire", _SLOWNESS: "Overrun"}),
        "unit": tuple(s[p + at.UNIT] for p in runners),
        "at": tuple(s[p + at.AT] for p in runners),
        "out": tuple(s[p + at.OUT] for p in runners),
        "aim": tuple(s[p + at.AIM] for p in runners),
    }


def describe(label: Sequence[int]) -> str:
    """A label as text."""
    name = steps.LABELS[label[0]]
    if label[0] == steps.ANSWERING:
        return f"{name}(g={label[1]}, d={label[2]})"
    if label[0] > steps.ANSWERING:
        return f"{name}(g={label[1]})"
    return f"{name}(r={label[1]})" + (" dies" if label[3] else "")
