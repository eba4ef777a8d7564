"""Threads of a trace as a TLA+ module that fixes the constants of ``specs/tla/ResumeTrace.tla``."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from msgspec import UNSET

from pymodel.resume.fault_names import FAULTS
from pymodel.resume.tla_constants import identities, program_definitions
from tlc_runner import FrozenMap, Value, format_value
from trace_check.events import (
    Answer,
    CheckpointRead,
    Committed,
    Completed,
    Computed,
    Crashed,
    EffectFired,
    Failed,
    Forked,
    GatePassed,
    Loaded,
    MemoUsed,
    Parked,
    Recorded,
    Refused,
    ResumeFailed,
    ResumeGaveUp,
    StoreRead,
)
from trace_check.observations import Observation, Thread

__all__ = ["EXPLAIN", "MODULE", "Question", "cfg_text", "module_text", "places", "tells"]

MODULE = "Observed"
"""The name of the module."""

_NONE = 0
_REFUSALS = {"load": "not_loaded", "delivery": "not_delivered"}
_LONG, _BROKEN = re.compile(r"(.{100,}?), "), r"\1,\n  "  # no string here has a comma in it
_TELLING = frozenset({"store_read", "completed", "failed", *_REFUSALS.values()})


@dataclass(frozen=True)
class Question:
    """What TLC is asked about threads: a module of ``specs/tla``, and its parts.

    Attributes:
        module: the module that asks.
        init, next, view: its definitions.
        invariants: those that tell what was found.
    """

    module: str = "ResumeTrace"
    init: str = "TraceInit"
    next: str = "TraceNext"
    view: str = "TraceView"
    invariants: tuple[str, ...] = ("Told",)


EXPLAIN = Question()
"""Which faults explain the threads?"""


def module_text(
    threads: Sequence[Thread],
    most: Sequence[int],
    question: Question = EXPLAIN,
    more: Mapping[str, Sequence[Value]] | None = None,
) -> str:
    """The module ``Observed``: of each thread its observations and who made them.

    Args:
        threads: at least one; all of one program.
        most: for each how many faults a behaviour may use.
        question: what is asked.
        more: further constants of the module that asks, each a value for each thread.
    """
    cases = [_case(thread, k) for thread, k in zip(threads, most, strict=True)]
    lines = [
        f"---- MODULE {MODULE} ----",
        f"EXTENDS {question.module}",
        *program_definitions(threads[0].program, MODULE),
        *(_definition(name, values) for name, values in {"Cases": cases, **(more or {})}.items()),
        "====",
    ]
    return "\n".join(lines) + "\n"


def _definition(name: str, values: Sequence[Value]) -> str:
    """A constant of a value for each thread."""
    listed = ",\n  ".join(map(format_value, values))
    # Before it parses a module TLC looks for algorithms in it, which takes it a line's length squared for each line.
    return f"{MODULE}{name} == <<\n  {_LONG.sub(_BROKEN, listed)} >>"


def cfg_text(threads: Sequence[Thread], question: Question = EXPLAIN, more: Sequence[str] = ()) -> str:
    """Its configuration file: identities enough for each thread; see `module_text`."""
    defined = ("UnitOf", "Kind", "After", "Cases", *more)
    lines = [
        f"INIT {question.init}",
        f"NEXT {question.next}",
        f"VIEW {question.view}",
        *(f"INVARIANT {name}" for name in question.invariants),
        "CONSTANTS",
        *(f"  {name} <- {MODULE}{name}" for name in defined),
        f"  UnitCount = {len(threads[0].program.units)}",
        f"  Runners = {identities(max(1, *(sum(map(len, t.runners.values())) for t in threads)))}",
        f"  Branches = {identities(max(len(t.branches) for t in threads))}",
        f"  Deliveries = {identities(max(len(t.deliveries) for t in threads) + 1)}",
        f"  Values = {identities(max(map(_fresh, threads)))}",
        f"  Faults = {format_value(frozenset(FAULTS))}",
        "  F <- TraceF",
        "  Outcome <- TraceOutcome",
        "  OnceMore <- TraceOnceMore",
    ]
    return "\n".join(lines) + "\n"


def places(thread: Thread) -> list[int]:
    """For each observation of a thread its place in the trace that the module has, from 1."""
    place = {id(observation): i for i, observation in enumerate(_ordered(thread.observations), 1)}
    return [place[id(observation)] for observation in thread.observations]


def tells(thread: Thread, observation: Observation) -> bool:
    """Does it only tell how things are, so that it is taken as soon as that is so?  As ``ToldNow`` in the module."""
    return not observation.pending and _described(thread, observation)[0] in _TELLING


def _case(thread: Thread, most: int) -> FrozenMap:
    """A thread as a record of ``Cases``."""
    ordered = _ordered(thread.observations)
    actors = list(thread.runners)
    return FrozenMap(
        {
            "trace": tuple(_record(thread, actors, ordered, i) for i in range(len(ordered))),
            "crew": tuple(frozenset(thread.runners[actor]) for actor in actors),
            "mine": tuple(_places(ordered, actor) for actor in actors),
            "death": tuple(_death(ordered, actor) for actor in actors),
            "observes": frozenset(thread.observes),
            "named": frozenset(map(thread.step, thread.unpromised)),
            "sink": thread.sink,
            "shown": _shown(thread),
            "forks": len(thread.branches) > 1,
            "most": most,
        }
    )


def _ordered(observations: Sequence[Observation]) -> list[Observation]:
    """Those first that ended first; what has no end and may never have happened comes last."""
    return sorted(observations, key=lambda o: (o.high, o.pending, o.low, o.position))


def _places(ordered: Sequence[Observation], actor: str) -> frozenset[Value]:
    """The places of an actor's observations, from 1."""
    return frozenset(i for i, o in enumerate(ordered, 1) if o.event.actor == actor)


def _death(ordered: Sequence[Observation], actor: str) -> int:
    """The place of the line that tells of an actor's end, 0 if there is none."""
    found = [i for i, o in enumerate(ordered, 1) if isinstance(o.event, Crashed) and o.event.actor == actor]
    return max(found, default=_NONE)


def _fresh(thread: Thread) -> int:
    """The number of a value that the trace shows nowhere."""
    return len(thread.values) + 1


def _shown(thread: Thread) -> tuple[Value, ...]:
    """For each step the values that it may have unseen: those that are shown, and one that stands for all others."""
    return tuple(
        frozenset(
            thread.outcomes.get(step.name, set()) | (set() if step.kind == "gate" else {_fresh(thread)})
        )
        or frozenset({_fresh(thread)})
        for step in thread.program.steps
    )


def _record(thread: Thread, actors: Sequence[str], ordered: Sequence[Observation], index: int) -> FrozenMap:
    """An observation as a TLA+ record."""
    observation = ordered[index]
    event = observation.event
    kind, fields = _described(thread, observation)
    beside = frozenset(
        i
        for i, other in enumerate(ordered[index + 1 :], index + 2)
        if math.isinf(observation.high) or other.low < observation.high
    )
    return FrozenMap(
        {
            "kind": kind,
            "actor": actors.index(event.actor) + 1 if event.actor in thread.runners else _NONE,
            "branch": thread.branches[event.branch],
            "pending": observation.pending,
            "beside": beside,
            "at": fields.get("step", _NONE),
            **fields,
        }
    )


def _described(thread: Thread, observation: Observation) -> tuple[str, Mapping[str, Value]]:
    """What an observation says: its kind here, and the fields of that kind."""
    program, event = thread.program, observation.event
    match event:
        case Loaded():
            return "loaded", {"index": -1 if event.index is UNSET else int(event.index)}
        case Computed():
            return "computed", _outcome(thread, event.step, event.outcome) | {"valid": event.valid}
        case EffectFired():
            flags = {"valid": event.valid, "applied": event.applied}
            return "effect_fired", _outcome(thread, event.step, event.outcome) | flags
        case Recorded():
            return "recorded", _outcome(thread, event.step, event.outcome)
        case MemoUsed():
            return "memo_used", {"step": program.number(event.step)}
        case Parked():
            return "parked", {"step": program.number(event.gate)}
        case Answer():
            more = {
                "id": thread.deliveries[event.gate, event.delivery],
                "accepted": event.accepted is not False,
            }
            return "answer", _outcome(thread, event.gate, event.value) | more
        case GatePassed():
            value = _NONE if event.value is UNSET else thread.value(event.value)
            return "gate_passed", {"step": program.number(event.gate), "out": value}
        case Refused():
            name = event.gate or event.step
            step = program.number(name) if name else _NONE
            unit = thread.units.get(event.unit or "", _NONE)
            named = frozenset(program.number(one) for one in (event.gate, event.step) if one)
            fields: dict[str, Value] = {"what": event.what, "step": step, "unit": unit, "named": named}
            if event.what == "load":
                fields["alive"] = _alive(thread, observation)
            return _REFUSALS.get(event.what, "refused"), fields
        case Committed():
            return "committed", {
                "unit": thread.units[event.unit],
                "outs": _outs(thread, event.outcomes),
                "valid": event.valid,
                "steps": frozenset(map(program.number, event.steps)),
                "next": frozenset(thread.units[name] for name in event.next),
            }
        case Forked():
            child = thread.branches[event.child]
            return "forked", {"index": event.index, "child": child, "declared": event.declared}
        case StoreRead():
            return "store_read", _reading(thread, event)
        case ResumeFailed() | ResumeGaveUp():
            return "got_nowhere", {"alive": _alive(thread, observation)}
        case Crashed():
            return "crashed", {}
        case Completed():
            return "completed", {}
        case Failed():
            return "failed", {}
    raise AssertionError(f"{observation.kind} is no observation")  # pauses are none


def _outcome(thread: Thread, step: str, value: object) -> dict[str, Value]:
    return {"step": thread.program.number(step), "out": thread.value(value)}  # type: ignore[arg-type]


def _outs(thread: Thread, outcomes: Mapping[str, object]) -> frozenset[Value]:
    return frozenset((thread.program.number(name), thread.value(o)) for name, o in outcomes.items())  # type: ignore[arg-type]


def _reading(thread: Thread, event: StoreRead) -> dict[str, Value]:
    program = thread.program
    gates = {step.name for step in program.steps if step.kind == "gate"}
    return {
        "ckpts": tuple(_checkpoint(thread, read) for read in event.checkpoints),
        "answers": frozenset(
            (program.number(gate), thread.value(value))
            for gate, values in event.answers.items()
            for value in values
        ),
        "open": frozenset(program.number(gate) for gate in event.open_interrupts if gate in gates),
    }


def _checkpoint(thread: Thread, read: CheckpointRead) -> FrozenMap:
    return FrozenMap(
        {
            "unit": thread.units.get(read.unit or "", _NONE),
            "valid": read.valid,
            "complete": read.complete,
            "outs": _outs(thread, read.outcomes) if read.complete else frozenset(),
        }
    )


def _alive(thread: Thread, observation: Observation) -> frozenset[Value]:
    """The runners of other processes that are not known to be dead by then."""
    return frozenset(
        r
        for actor, crew in thread.runners.items()
        if actor != observation.event.actor and not thread.died.get(actor, math.inf) < observation.position
        for r in crew
    )
