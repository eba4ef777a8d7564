"""Programs: units of partially ordered steps."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from pymodel.errors import ModelError

__all__ = ["KINDS", "PROGRAMS", "Program", "Step"]

KINDS = ("pure", "effect", "gate")


@dataclass(frozen=True)
class Step:
    """A step of a unit.

    Attributes:
        name: unique in the program.
        kind: "pure", "effect" or "gate".
        after: names of steps of the same unit that come before it (transitively closed by :class:`Program`).
    """

    name: str
    kind: str
    after: tuple[str, ...] = ()


@dataclass(frozen=True)
class Program:
    """A sequence of units.  Steps are numbered from 1 in the order in which they stand.

    Raises:
        ModelError: a unit without steps, a name used twice, an unknown kind or predecessor, a cycle, two gates in
            one unit.
    """

    name: str
    units: tuple[tuple[Step, ...], ...]

    def __post_init__(self) -> None:
        if not self.units:
            raise ModelError(f"program {self.name}: it has no unit: give at least one")
        names = [step.name for unit in self.units for step in unit]
        for name, count in Counter(names).items():
            if count > 1:
                raise ModelError(f"program {self.name}: step {name} stands twice: step names must be unique")
        for number, unit in enumerate(self.units, 1):
            where = f"program {self.name}, unit {number}"
            if not unit:
                raise ModelError(f"{where}: it has no step: give it one or leave it out")
            if sum(step.kind == "gate" for step in unit) > 1:
                raise ModelError(
                    f"{where}: it has two gates: a unit has at most one, put the other in a unit of its own"
                )
            for step in unit:
                if step.kind not in KINDS:
                    raise ModelError(
                        f"{where}, step {step.name}: kind {step.kind} is unknown: one of {', '.join(KINDS)}"
                    )
                for before in step.after:
                    if before not in {other.name for other in unit}:
                        raise ModelError(
                            f"{where}, step {step.name}: {before} in `after` is no step of this unit"
                        )
        for step in self.steps:
            if step.name in self.predecessors(step.name):
                raise ModelError(
                    f"program {self.name}, step {step.name}: it comes after itself: break the cycle"
                )

    @cached_property
    def steps(self) -> tuple[Step, ...]:
        """All steps; step x of the model is ``steps[x - 1]``."""
        return tuple(step for unit in self.units for step in unit)

    @cached_property
    def _numbers(self) -> dict[str, int]:
        return {step.name: x for x, step in enumerate(self.steps, 1)}

    @cached_property
    def _units_of(self) -> dict[str, int]:
        return {step.name: number for number, unit in enumerate(self.units, 1) for step in unit}

    def number(self, name: str) -> int:
        """The number of a step.

        Raises:
            KeyError: there is no such step.
        """
        return self._numbers[name]

    def unit_of(self, name: str) -> int:
        """The number of the unit that a step belongs to.

        Raises:
            KeyError: there is no such step.
        """
        return self._units_of[name]

    def predecessors(self, name: str) -> frozenset[str]:
        """All steps that come before this one inside its unit."""
        unit = {step.name: step for step in self.units[self.unit_of(name) - 1]}
        found: set[str] = set()
        todo = list(unit[name].after)
        while todo:
            before = todo.pop()
            if before not in found:
                found.add(before)
                todo += unit[before].after
        return frozenset(found)


def _program(name: str, *units: Sequence[Step]) -> Program:
    return Program(name, tuple(tuple(unit) for unit in units))


# The programs of MCResumeContract.tla, under the same names.
PROGRAMS: dict[str, Program] = {
    program.name: program
    for program in (
        _program(
            "Linear",
            [Step("s1", "effect")],
            [Step("s2", "pure")],
            [Step("s3", "gate")],
            [Step("s4", "effect")],
        ),
        _program(
            "Parallel",
            [Step("s1", "effect"), Step("s2", "pure")],
            [Step("s3", "gate")],
            [Step("s4", "effect")],
        ),
        _program(
            "Sandwich",
            [Step("s1", "pure")],
            [Step("s2", "effect"), Step("s3", "gate", ("s2",)), Step("s4", "effect", ("s3",))],
        ),
        _program(
            "Mixed",
            [Step("s1", "pure"), Step("s2", "gate", ("s1",)), Step("s3", "effect", ("s1",))],
            [Step("s4", "pure")],
        ),
        _program("Gated", [Step("s1", "gate"), Step("s2", "effect", ("s1",))]),
        _program("Beside", [Step("s1", "gate"), Step("s2", "effect")]),
        _program("Asked", [Step("s1", "pure"), Step("s2", "gate", ("s1",))]),
    )
}
