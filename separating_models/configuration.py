"""What is examined: a program within bounds, with faults."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass
from typing import Any

from pymodel.engine import Model
from pymodel.resume.fault_names import fault_bits, fault_names
from pymodel.resume.layout import Bounds
from pymodel.resume.model import build
from pymodel.resume.program import Program, Step

__all__ = ["Configuration", "program_of", "shape"]


@dataclass(frozen=True)
class Configuration:
    """A program within bounds, with faults.

    Attributes:
        program, bounds: as for :func:`pymodel.resume.model.build`.
        faults: names, in the order of :data:`pymodel.resume.model.FAULTS`.
    """

    program: Program
    bounds: Bounds
    faults: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        """Order the faults.

        Raises:
            ModelError: an unknown fault.
        """
        object.__setattr__(self, "faults", fault_names(fault_bits(self.faults)))

    @property
    def length(self) -> int:
        """The checkpoints that a branch has room for."""
        return max(self.bounds.length, len(self.program.units))

    def model(self, sought: Iterable[str] = ()) -> Model:
        """The mirror's model; `sought`: look for a behaviour that breaks all of these clauses, and judge nothing else."""
        return build(self.program, self.bounds, self.faults, name=str(self), sought=sought, deviating=True)

    def to_json(self) -> dict[str, Any]:
        """As in ``docs/json.md``; :func:`from_json` reads it."""
        return {"program": shape(self.program), "bounds": asdict(self.bounds), "faults": list(self.faults)}

    def __str__(self) -> str:
        return f"{shape(self.program)} with {', '.join(self.faults) or 'no fault'}"


def shape(program: Program) -> str:
    """A program in one line: ``|`` between units, in a unit ``;`` where each step waits for all before it, else ``||``.

    Raises:
        ValueError: the order of a unit's steps is neither.
    """
    return " | ".join(_unit_shape(unit) for unit in program.units)


def _unit_shape(unit: tuple[Step, ...]) -> str:
    kinds = [step.kind for step in unit]
    if not any(step.after for step in unit):
        return " || ".join(kinds)
    if all(step.after == ((unit[i - 1].name,) if i else ()) for i, step in enumerate(unit)):
        return " ; ".join(kinds)
    raise ValueError("only chains and unordered steps have a shape")


def program_of(text: str, name: str = "") -> Program:
    """The program of a shape such as ``pure | effect ; gate ; effect``; its steps are s1, s2, ...

    Raises:
        ModelError: there is no such program.
    """
    number = 0
    units = []
    for part in text.split(" | "):
        chained = " ; " in part
        unit: list[Step] = []
        for kind in part.split(" ; " if chained else " || "):
            number += 1
            after = (f"s{number - 1}",) if chained and unit else ()
            unit.append(Step(f"s{number}", kind.strip(), after))
        units.append(tuple(unit))
    return Program(name or text, tuple(units))
