"""What a header has to keep besides its shape: names that occur once, an order without cycles, kinds that there are."""

from __future__ import annotations

from trace_check.events import ACTION_KINDS, Header, ProgramStep, ProgramUnit

__all__ = ["header_fault"]


def header_fault(header: Header) -> tuple[str, str] | None:
    """What is wrong with a header, and the mend; None: nothing."""
    for kind in header.observes:
        if kind not in ACTION_KINDS:
            return (
                f"the header's 'observes' names {kind!r}, no kind of action",
                f"the kinds are {', '.join(sorted(ACTION_KINDS))}",
            )
    units: set[str] = set()
    steps: set[str] = set()
    for unit in header.units():
        if unit.name in units:
            return f"the program has two units {unit.name!r}", "number the occurrences apart"
        units.add(unit.name)
        if (fault := _unit_fault(unit, steps)) is not None:
            return fault
    return None


def _unit_fault(unit: ProgramUnit, steps: set[str]) -> tuple[str, str] | None:
    """The same for a unit; its steps are added to those before it."""
    own = {step.step for step in unit.steps}
    for step in unit.steps:
        if step.step in steps:
            return f"the program has two steps {step.step!r}", "number the occurrences apart"
        steps.add(step.step)
        for before in step.after:
            if before not in own:
                return (
                    f"step {step.step!r} comes after {before!r}, no step of unit {unit.name!r}",
                    "name steps of the same unit only",
                )
    if sum(step.kind == "gate" for step in unit.steps) > 1:
        return f"unit {unit.name!r} has more than one gate", "split the unit: one gate a unit"
    if _has_cycle(unit):
        return f"the order of the steps of unit {unit.name!r} has a cycle", "mend the 'after' lists"
    return None


def _has_cycle(unit: ProgramUnit) -> bool:
    left: dict[str, ProgramStep] = {step.step: step for step in unit.steps}
    while left:
        ready = [name for name, step in left.items() if not any(before in left for before in step.after)]
        if not ready:
            return True
        for name in ready:
            del left[name]
    return False
