"""A program and bounds as the constants of ``MCResumeContract.tla``: for modules that are generated or compared."""

from __future__ import annotations

from collections.abc import Iterable

from pymodel.resume.layout import Bounds
from pymodel.resume.program import Program

__all__ = ["assignments", "constants", "identities", "program_definitions"]

_DEFINED = ("UnitOf", "Kind", "After")


def program_definitions(program: Program, prefix: str) -> list[str]:
    """The program's units, kinds and orders as definitions under a prefix."""
    units = [str(program.unit_of(step.name)) for step in program.steps]
    kinds = [f'"{step.kind}"' for step in program.steps]
    after = [_set(map(program.number, program.predecessors(step.name))) for step in program.steps]
    return [
        f"{prefix}{name} == <<{', '.join(values)}>>"
        for name, values in zip(_DEFINED, (units, kinds, after), strict=True)
    ]


def constants(program: Program, bounds: Bounds, prefix: str) -> dict[str, str]:
    """Constant -> what stands in its place; the program's are the definitions under the prefix."""
    return {
        **{name: f"{prefix}{name}" for name in _DEFINED},
        "UnitCount": str(len(program.units)),
        "Runners": identities(bounds.runners),
        "Branches": identities(bounds.branches),
        "Deliveries": identities(bounds.answers),
        "Values": identities(bounds.values),
        "MaxCrashes": str(bounds.crashes),
        "MaxExpiries": str(bounds.expiries),
        "MaxInvalid": str(bounds.invalid),
    }


def assignments(program: Program, bounds: Bounds, prefix: str) -> list[str]:
    """The same as lines of a configuration file, with MCF for the code of the steps."""
    return [
        *(
            f"{name} {'<-' if name in _DEFINED else '='} {value}"
            for name, value in constants(program, bounds, prefix).items()
        ),
        "F <- MCF",
    ]


def identities(count: int) -> str:
    """The set {1, 2, ...} of so many."""
    return _set(range(1, count + 1))


def _set(numbers: Iterable[int]) -> str:
    return "{" + ", ".join(map(str, sorted(numbers))) + "}"
