"""Which clauses the events of a thread put to a test: outside of these a clause can't have failed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from trace_check.events import (
    Answer,
    Committed,
    Completed,
    Computed,
    EffectFired,
    Forked,
    GatePassed,
    Recorded,
    Refused,
    ResumeFailed,
    ResumeGaveUp,
    StoreRead,
)
from trace_check.explained import ALL_CLAUSES
from trace_check.observations import Thread

__all__ = ["exercised"]


def exercised(threads: Iterable[Thread], broken: Iterable[str] = ()) -> tuple[str, ...]:
    """The clauses that the events of some threads put to a test, in the order of the clauses.

    Args:
        threads: what is shown.
        broken: clauses that are known to fail: whatever they were put to, they were.

    * PC and CV: a unit was committed, or the store read with a checkpoint in it.
    * EO: an effect was fired, recorded or committed.
    * FD: after a fork something was committed, or a checkpoint read.  FI: there was a fork.
    * CO-V: an answer was given, or a gate passed.
    * CO-C: somebody came to a gate that had been passed, or was refused there and it was passed later.
    * RD: a pure step was run twice in a branch.
    * LV: a workflow completed, or a resume got nowhere.
    """
    seen = set(broken)
    for thread in threads:
        seen |= _of(thread)
    return tuple(clause for clause in ALL_CLAUSES if clause in seen)


def _of(thread: Thread) -> set[str]:
    seen: set[str] = set()
    effects = {step.name for step in thread.program.steps if step.kind == "effect"}
    computed: Counter[tuple[str, str]] = Counter()
    passed: set[tuple[str, str]] = set()
    comers: Counter[tuple[str, str]] = Counter()
    for observation in sorted(thread.observations, key=lambda o: o.position):
        sealed = False
        match observation.event:
            case EffectFired():
                seen.add("EO")
            case Recorded(step=step) if step in effects:
                seen.add("EO")
            case Committed(steps=steps):
                sealed = True
                if effects.intersection(steps):
                    seen.add("EO")
            case StoreRead(checkpoints=checkpoints):
                sealed = bool(checkpoints)
            case Answer():
                seen.add("CO-V")
            case GatePassed(branch=branch, gate=gate):
                seen.add("CO-V")
                passed.add((branch, gate))
                comers[branch, gate] += 1
            case Refused(what="gate", branch=branch, gate=str(gate)):
                comers[branch, gate] += 1
            case Forked():
                seen.add("FI")
            case Computed(branch=branch, step=step):
                computed[branch, step] += 1
            case Completed() | ResumeFailed() | ResumeGaveUp():
                seen.add("LV")
        if sealed:
            seen |= {"PC", "CV"} | ({"FD"} if "FI" in seen else set())
    if any(comers[gate] > 1 for gate in passed) or (passed and "gate_passed" not in thread.observes):
        seen.add("CO-C")
    if any(count > 1 for count in computed.values()):
        seen.add("RD")
    return seen
