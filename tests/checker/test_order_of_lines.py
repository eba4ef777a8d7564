"""No verdict hangs on who reached the log first: lines of concurrent operations may change places."""

from __future__ import annotations

import random
import tempfile
from pathlib import Path

from hypothesis import assume, given, settings
from hypothesis import strategies as st

from pymodel.resume.layout import Bounds
from pymodel.resume.model import FAULTS
from trace_check.checker import Verdict, check_file
from trace_check.trials.programs import random_program
from trace_check.trials.rendering import Line, Rendering, random_behaviour, render, write


def may_swap(lines: list[Line], i: int) -> bool:
    """May lines i and i + 1 change places with every operation still before and after the same ones?

    Two begins may, and two ends, of different actors.  A line of its own counts as both, and stands for what happened
    since its actor's line before: which may then not be one of the two.
    """
    one, two = lines[i], lines[i + 1]
    if one.actor == two.actor or one.phase is None or one.phase != two.phase:
        return False
    for line in (one, two):
        following = next((other for other in lines[i + 2 :] if other.actor == line.actor), None)
        if following is not None and following.phase is None:
            return False
    return True


def said(found: Verdict) -> object:
    clauses = sorted((clause.clause, clause.certain) for clause in found.clauses)
    return found.verdict, clauses, found.explanations, len(found.unmodelled)


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_lines_of_concurrent_operations_may_change_places(data: st.DataObject) -> None:
    seed = data.draw(st.integers(0, 10**6))
    fault = data.draw(st.sampled_from([None, *FAULTS]))
    rng = random.Random(seed)
    bounds = Bounds(runners=3, branches=2, answers=2, values=3, crashes=1, expiries=1, computations=3)
    behaviour = random_behaviour(rng, random_program(rng), bounds, [fault] if fault else [], length=18)
    rendering = render(rng, behaviour, overlap=0.7, reads=0.05)
    assume(rendering.lines)
    lines = sorted(rendering.lines, key=lambda line: line.time)
    swapped = False
    for _ in range(3):
        for i in range(len(lines) - 1):
            if may_swap(lines, i) and data.draw(st.booleans()):
                lines[i], lines[i + 1] = lines[i + 1], lines[i]
                swapped = True
    assume(swapped)
    for number, line in enumerate(lines):
        line.time = number
    with tempfile.TemporaryDirectory() as name:
        before = check_file(
            write(Path(name) / "before.jsonl", Rendering(rendering.header, _again(seed, fault)))
        )
        after = check_file(write(Path(name) / "after.jsonl", Rendering(rendering.header, lines)))
    assume("unchecked" not in (before.verdict, after.verdict))
    assert said(before) == said(after)


def _again(seed: int, fault: str | None) -> list[Line]:
    """The lines as they were rendered."""
    rng = random.Random(seed)
    bounds = Bounds(runners=3, branches=2, answers=2, values=3, crashes=1, expiries=1, computations=3)
    behaviour = random_behaviour(rng, random_program(rng), bounds, [fault] if fault else [], length=18)
    return render(rng, behaviour, overlap=0.7, reads=0.05).lines
