"""How often each effect of a trace was applied, and why once more than that."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Literal

from trace_check.events import AnyEvent, Committed, EffectFired, Recorded

__all__ = ["Cause", "applied", "repeats"]

Cause = Literal["recorded", "window"]
"""Why an effect is applied again: its outcome was durably *recorded* and it was run all the same, or nothing durable
said yet that it had been: the *window* between firing and recording, which nobody closes without a key."""

Place = tuple[str, str, str]
"""Thread, branch and step."""


def applied(events: Sequence[AnyEvent], step: str) -> int:
    """How often an effect step was applied, on whatever branch."""
    return sum(isinstance(e, EffectFired) and e.applied and e.step == step for e in events)


def repeats(events: Sequence[AnyEvent]) -> list[tuple[int, Cause]]:
    """Each firing that was applied although the same step of the same branch had been: its event (from 1) and the cause.

    An outcome counts as recorded from the end of the operation that stored it: the line says that the caller knows.
    """
    fired: Counter[Place] = Counter()
    durable: set[Place] = set()
    found: list[tuple[int, Cause]] = []
    for number, event in enumerate(events, 1):
        match event:
            case EffectFired(applied=True, step=step):
                place = event.thread, event.branch, step
                if fired[place]:
                    found.append((number, "recorded" if place in durable else "window"))
                fired[place] += 1
            case Recorded(step=step) if event.phase != "begin":
                durable.add((event.thread, event.branch, step))
            case Committed(steps=steps) if event.phase != "begin":
                durable |= {(event.thread, event.branch, step) for step in steps}
    return found
