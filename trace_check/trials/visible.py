"""Deviations that can be read off the lines of a trace alone: no state, no search, no model.

This is the checker's counterpart in its trials: what is plain here must never conform.  It says nothing of deviations
that only show in how events follow from each other.
"""

from __future__ import annotations

from typing import Any

from trace_check.trials.rendering import Rendering

__all__ = ["plainly_broken"]


def plainly_broken(rendering: Rendering) -> frozenset[str]:
    """The clauses that some lines contradict by themselves.

    * EO: an effect is applied twice on one branch.  FI: a fork was not declared.
    * CV: a checkpoint was stored, or is read, that is invalid or incomplete.
    * PC: a reading shows units that do not begin with the first and follow each other.
    * CO-V: two deliveries to one gate of one branch were accepted.
    * RD: a pure step has two valid outcomes on one branch.
    """
    broken: set[str] = set()
    applied: set[tuple[str, str]] = set()
    accepted: dict[tuple[str, str], str] = {}
    computed: dict[tuple[str, str], Any] = {}
    for line in sorted(rendering.lines, key=lambda one: one.time):
        said = line.fields
        match line.kind:
            case "effect_fired" if said["applied"]:
                key = line.branch, said["step"]
                broken |= {"EO"} if key in applied else set()
                applied.add(key)
            case "computed" if said["valid"]:
                first = computed.setdefault((line.branch, said["step"]), said["outcome"])
                broken |= {"RD"} if first != said["outcome"] else set()
            case "answer" if said.get("accepted"):
                delivery = accepted.setdefault((line.branch, said["gate"]), said["delivery"])
                broken |= {"CO-V"} if delivery != said["delivery"] else set()
            case "forked" if not said["declared"]:
                broken.add("FI")
            case "committed" if line.phase == "end" and not said["valid"]:
                broken.add("CV")
            case "store_read":
                read = said["checkpoints"]
                broken |= {"CV"} if any(not (one.valid and one.complete) for one in read) else set()
                units = [one.unit for one in read]
                in_order = [f"u{number}" for number in range(1, len(units) + 1)]
                broken |= {"PC"} if None not in units and units != in_order else set()
            case _:
                pass
    return frozenset(broken)
