"""The scenarios, the same for every system that can express them."""

from __future__ import annotations

from typing import Final

from trace_check.events import ProgramStep, ProgramUnit
from trace_check.recording import points
from trace_check.recording.scenarios import (
    Action,
    Answering,
    Continue,
    Forking,
    Run,
    Scenario,
    Spoiled,
    Stage,
    Start,
)

__all__ = ["SCENARIOS", "race"]

_YES: Final = Answering(gate="g", value="yes", delivery="d1")
_NO: Final = Answering(gate="g", value="no", delivery="d2")


def _effect(name: str, *after: str) -> ProgramStep:
    return ProgramStep(step=name, kind="effect", after=list(after))


_GATE: Final = ProgramStep(step="g", kind="gate")
_PREPARE: Final = ProgramUnit(name="prepare", steps=[_effect("e1")])
_APPROVE: Final = ProgramUnit(name="approve", steps=[_GATE, _effect("e2", "g")])
_PUBLISH: Final = ProgramUnit(name="publish", steps=[_effect("e3")])
_BOTH: Final = ProgramUnit(name="both", steps=[_effect("a"), _effect("b")])
_DRAFT: Final = ProgramUnit(name="draft", steps=[ProgramStep(step="c", kind="pure")])

_APPROVAL: Final = [_PREPARE, _APPROVE]
"""An effect, then a node that asks and fires."""

_LONGER: Final = [_PREPARE, _APPROVE, _PUBLISH]
"""The same with another effect after it."""

_PARALLEL: Final = [_PREPARE, _BOTH, _APPROVE]
"""Two effects at once between the first and the gate."""

_DRAFTED: Final = [_DRAFT, _APPROVE]
"""A pure step, then a node that asks and fires."""


def _one(actor: str, action: Action, kill_at: str | None = None) -> Stage:
    return Stage(runs=[Run(actor=actor, action=action, kill_at=kill_at)])


_KILLED_BESIDE: Final = Stage(
    runs=[
        Run(
            actor="p1",
            action=Start(),
            kill_at=points.fired("b"),
            hold={points.firing("b"): points.recorded("a")},
        )
    ]
)


def _recovered(kill_at: str, name: str, about: str) -> Scenario:
    """The first process is killed at a point of the first unit; another goes on, a third answers."""
    stages = [_one("p1", Start(), kill_at), _one("p2", Continue()), _one("p3", _YES)]
    return Scenario(name=name, about=about, program=_LONGER, stages=stages)


def _spoiled(how: Spoiled, about: str) -> Scenario:
    first = Run(actor="p1", action=Start(), spoil={"c": how})
    return Scenario(
        name=f"invalid-{how}",
        about=about,
        program=_DRAFTED,
        stages=[Stage(runs=[first]), _one("p2", Continue()), _one("p3", _YES)],
    )


def race(racers: int, behind_gate: float) -> Scenario:
    """One answer is delivered to one parked gate by several processes at once.

    Args:
        racers: how many.
        behind_gate: seconds that the code behind the gate takes before its effect.
    """
    runs = [Run(actor=f"p{number}", action=_YES) for number in range(2, racers + 2)]
    return Scenario(
        name=f"race-{racers}x{behind_gate:g}s",
        about=f"{racers} processes resume one parked gate at once; behind it lie {behind_gate:g} s",
        program=_APPROVAL,
        stages=[_one("p1", Start()), Stage(runs=runs, meet_at=[points.STARTED])],
        behind_gate=behind_gate,
        varies=True,
        timeout=120.0,
    )


_ALL: Final = [
    Scenario(
        name="park-and-resume",
        about="the workflow parks at its gate and is answered once, by another process",
        program=_APPROVAL,
        stages=[_one("p1", Start()), _one("p2", _YES)],
    ),
    Scenario(
        name="second-answer-after-completion",
        about="when all is done, another answer comes for the gate",
        program=_APPROVAL,
        stages=[_one("p1", Start()), _one("p2", _YES), _one("p3", _NO)],
    ),
    Scenario(
        name="second-answer-at-old-checkpoint",
        about="when all is done, another answer comes for the checkpoint at which the gate was parked",
        program=_APPROVAL,
        stages=[
            _one("p1", Start()),
            _one("p2", _YES),
            _one("p3", Answering(gate="g", value="no", delivery="d2", at="parked")),
        ],
    ),
    Scenario(
        name="two-interrupts-in-one-node",
        about="one node asks, fires, asks and fires; the first gate is answered, then it goes on without an answer",
        program=[_APPROVE],
        threads=["first", "second"],
        joined="one-node",
        stages=[
            _one("p1", Start()),
            _one("p2", Answering(gate="g", value="yes", delivery="d1", thread="first")),
            _one("p3", Continue()),
            _one("p4", Answering(gate="g", value="no", delivery="d2", thread="second")),
        ],
    ),
    Scenario(
        name="parallel-interrupts",
        about="two parallel branches each ask; the second is answered first, then the first",
        program=[_APPROVE],
        threads=["first", "second"],
        joined="parallel",
        stages=[
            _one("p1", Start()),
            _one("p2", Answering(gate="g", value="no", delivery="d2", thread="second")),
            _one("p3", Answering(gate="g", value="yes", delivery="d1", thread="first")),
        ],
    ),
    _recovered(points.firing("e1"), "kill-before-effect", "SIGKILL just before an effect"),
    _recovered(points.fired("e1"), "kill-after-effect", "SIGKILL after an effect and before it is recorded"),
    _recovered(
        points.recorded("e1"),
        "kill-after-record",
        "SIGKILL after an effect is recorded, before the checkpoint",
    ),
    _recovered(points.committed("prepare"), "kill-after-checkpoint", "SIGKILL after a unit's checkpoint"),
    Scenario(
        name="kill-after-answer",
        about="SIGKILL when the code behind the gate has got the answer; another process goes on without one",
        program=_APPROVAL,
        stages=[_one("p1", Start()), _one("p2", _YES, points.passed("g")), _one("p3", Continue())],
    ),
    Scenario(
        name="kill-after-answer-then-another",
        about="SIGKILL when the code behind the gate has got the answer; another process brings another answer",
        program=_APPROVAL,
        stages=[_one("p1", Start()), _one("p2", _YES, points.passed("g")), _one("p3", _NO)],
    ),
    Scenario(
        name="kill-after-gated-effect",
        about="SIGKILL after the effect behind the gate, before it is recorded; another process brings another answer",
        program=_APPROVAL,
        stages=[_one("p1", Start()), _one("p2", _YES, points.fired("e2")), _one("p3", _NO)],
    ),
    Scenario(
        name="kill-beside-durable-sibling",
        about="of two parallel effects one is recorded and the other fired when SIGKILL comes; another process goes on",
        program=_PARALLEL,
        stages=[
            _KILLED_BESIDE,
            _one("p2", Continue()),
            _one("p3", _YES),
        ],
    ),
    Scenario(
        name="kill-beside-durable-sibling-named",
        about="the same, and the process that goes on names the checkpoint at which it does",
        program=_PARALLEL,
        stages=[
            _KILLED_BESIDE,
            _one("p2", Continue(at="named")),
            _one("p3", _YES),
        ],
    ),
    Scenario(
        name="recovery-at-named-checkpoint",
        about="SIGKILL after an effect of the last unit; the process that goes on names the checkpoint",
        program=_LONGER,
        stages=[
            _one("p1", Start()),
            _one("p2", _YES, points.fired("e3")),
            _one("p3", Continue(at="named")),
        ],
    ),
    Scenario(
        name="fork-undeclared",
        about="when all is done, a process goes on at the checkpoint of the first unit, and an answer comes",
        program=_APPROVAL,
        stages=[_one("p1", Start()), _one("p2", _YES), _one("p3", Continue(at="earlier"))],
    ),
    Scenario(
        name="fork-declared",
        about="when all is done, a fork is declared after the first unit, and runs to its gate",
        program=_APPROVAL,
        stages=[_one("p1", Start()), _one("p2", _YES), _one("p3", Forking(child="again", units=1))],
    ),
    _spoiled("wrong-type", "a step yields a number where its schema says text"),
    _spoiled("unserialisable", "a step yields an object that no codec takes"),
    _spoiled("nan", "a step yields a NaN"),
    Scenario(
        name="torn-store",
        about="SIGKILL after a unit's checkpoint, whose write is then cut short in the store; another process goes on",
        program=_LONGER,
        stages=[
            _one("p1", Start(), points.committed("prepare")),
            Stage(runs=[Run(actor="p2", action=Continue())], torn=True),
            _one("p3", _YES),
        ],
    ),
    Scenario(
        name="recovery-while-stopped",
        about="a process is only stopped after an effect; another recovers, then the first goes on",
        program=_LONGER,
        stages=[
            Stage(
                runs=[
                    Run(actor="p1", action=Start(), stop_at=points.fired("e1")),
                    Run(actor="p2", action=Continue(), after="p1"),
                ]
            ),
            _one("p3", _YES),
        ],
    ),
    Scenario(
        name="race-two-resumers",
        about="one answer is delivered twice: two processes resume one parked gate and both are past it",
        program=_APPROVAL,
        stages=[
            _one("p1", Start()),
            Stage(
                runs=[Run(actor="p2", action=_YES), Run(actor="p3", action=_YES)],
                meet_at=[points.STARTED, points.passed("g")],
            ),
        ],
        varies=True,
    ),
    race(4, 0.0),
]

SCENARIOS: Final[dict[str, Scenario]] = {scenario.name: scenario for scenario in _ALL}
"""Every scenario, by name."""
