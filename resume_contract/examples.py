"""The shortest behaviour that breaks a clause under a fault, found by the mirror."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator

from pymodel.engine import Model, Trace, counterexample, explore
from pymodel.resume.layout import Bounds
from pymodel.resume.model import build
from pymodel.resume.program import PROGRAMS
from resume_contract.definitions import FAULTS
from resume_contract.errors import ResumeContractError
from resume_contract.progress import Counts

__all__ = ["example_of", "example_program", "shortest_violation"]

_PROGRAM = "Sandwich"


def example_of(fault: str) -> Trace:
    """A shortest behaviour that breaks the fault's clause, in the first of some small models that has one.

    Raises:
        ResumeContractError: none of them has (so for the faults of LV, which no state can break).
    """
    clause = FAULTS[fault].breaks
    for bounds in _bounds():
        model = build(PROGRAMS[_PROGRAM], bounds, [fault], name=f"program {_PROGRAM} with {fault}")
        trace = shortest_violation(model, [clause])
        if trace is not None:
            return trace
    raise ResumeContractError(
        f"fault {fault} breaks {clause} in no small model: search a larger one with `graph`"
    )


def example_program() -> list[list[dict[str, str | list[str]]]]:
    """The program of the examples: for each unit its steps, each with its name, its kind and what it comes after."""
    return [
        [{"step": step.name, "kind": step.kind, "after": list(step.after)} for step in unit]
        for unit in PROGRAMS[_PROGRAM].units
    ]


def shortest_violation(
    model: Model, clauses: Collection[str], on_progress: Callable[[Counts], None] | None = None
) -> Trace | None:
    """A shortest behaviour that breaks one of the clauses; None if none of them can be broken.

    Raises:
        EngineError: the model cannot be searched.
    """
    found = explore(model, stop_at_first=True, on_progress=on_progress)
    if found.violations and not found.violations.keys() & set(clauses):
        # another invariant came first, such as NeverStuck, which knows the steps of the reference only
        found = explore(model, on_progress=on_progress)
    broken = [name for name in found.violations if name in clauses]
    if not broken:
        return None
    return counterexample(found, min(broken, key=lambda name: found.violations[name].depth))


def _bounds() -> Iterator[Bounds]:
    """From one runner alone to crashes and forks: what comes early makes an example that is easy to read."""
    for runners, branches, crashes, invalid in (
        (1, 1, 0, 0),
        (2, 1, 0, 0),
        (1, 1, 1, 1),
        (2, 1, 1, 1),
        (2, 2, 0, 0),
    ):
        yield Bounds(
            runners=runners,
            branches=branches,
            answers=2,
            crashes=crashes,
            invalid=invalid,
            length=len(PROGRAMS[_PROGRAM].units) + 2,
            computations=3,
        )
