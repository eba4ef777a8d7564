"""Programs and bounds for Hypothesis."""

from __future__ import annotations

from hypothesis import strategies as st

from pymodel.resume.layout import Bounds
from pymodel.resume.program import Program, Step

__all__ = ["bounds", "programs"]


@st.composite
def programs(draw: st.DrawFn, most_units: int = 4, most_steps: int = 3) -> Program:
    """Any program: units of partially ordered steps of any kinds, one gate in a unit at most.

    Predecessors may stand before or after a step; a random rank keeps them free of cycles.
    """
    units, number = [], 0
    for _ in range(draw(st.integers(1, most_units))):
        count = draw(st.integers(1, most_steps))
        names = [f"s{number + i + 1}" for i in range(count)]
        number += count
        kinds = [draw(st.sampled_from(("pure", "effect", "gate"))) for _ in names]
        while kinds.count("gate") > 1:
            kinds[kinds.index("gate")] = draw(st.sampled_from(("pure", "effect")))
        order = draw(st.permutations(names))
        unit = []
        for name, kind in zip(names, kinds, strict=True):
            before = order[: order.index(name)]
            after = [other for other in before if draw(st.booleans())]
            unit.append(Step(name, kind, tuple(after)))
        units.append(tuple(unit))
    return Program("drawn", tuple(units))


@st.composite
def bounds(draw: st.DrawFn, runners: int = 4, branches: int = 4) -> Bounds:
    """Bounds up to 4 runners, 4 branches, 3 answers and 3 crashes: beyond what is ever searched whole."""
    answers = draw(st.integers(1, 3))
    return Bounds(
        runners=draw(st.integers(1, runners)),
        branches=draw(st.integers(1, branches)),
        answers=answers,
        values=draw(st.integers(max(2, answers), 4)),
        crashes=draw(st.integers(0, 3)),
        expiries=draw(st.integers(0, 2)),
        invalid=draw(st.integers(0, 2)),
    )
