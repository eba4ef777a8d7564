"""What is recorded: programs and what happens to them, said without any system's words.

A scenario is a list of stages. In each stage one or more processes are started at once; each takes one action
on the workflow (start it, go on with it, answer its gate). A process stops at the *points* that its stage
names: there it is killed, or held until all others of the stage wait too. Points are named after the program
(see :mod:`trace_check.recording.points`), so one scenario serves every system.
"""

from __future__ import annotations

from typing import Final, Literal

from msgspec import Struct

from trace_check.events import ProgramStep, ProgramUnit, Value
from trace_check.recording import points

__all__ = ["SCENARIOS", "Action", "Answering", "Continue", "Forking", "Run", "Scenario", "Stage", "Start"]


class Start(Struct, frozen=True, tag="start"):
    """Start the workflow on a new thread."""


class Continue(Struct, frozen=True, tag="continue"):
    """Go on with the thread from where it stands, with no new answer."""


class Answering(Struct, frozen=True, tag="answer", kw_only=True):
    """Answer a gate and go on.

    Attributes:
        gate: which.
        value: with what.
        delivery: the delivery's id; two processes with one id redeliver one answer.
        at: the branch's head, or the checkpoint at which the gate was parked.
    """

    gate: str
    value: Value
    delivery: str
    at: Literal["head", "parked"] = "head"


class Forking(Struct, frozen=True, tag="fork", kw_only=True):
    """Declare a fork of the root and go on in the new branch; only for systems that can declare one.

    Attributes:
        child: the new branch's name.
        units: how many units of the root it begins with.
    """

    child: str
    units: int


Action = Start | Continue | Answering | Forking


class Run(Struct, frozen=True, kw_only=True):
    """One process and its one action.

    Attributes:
        actor: the process incarnation's name.
        action: what it does.
        kill_at: the point at which it is killed with SIGKILL, None to let it end by itself.
    """

    actor: str
    action: Action
    kill_at: str | None = None


class Stage(Struct, frozen=True, kw_only=True):
    """Processes that run at once, and the points at which they wait for each other."""

    runs: list[Run]
    meet_at: list[str] = []


class Scenario(Struct, frozen=True, kw_only=True):
    """A program, a sink, and what happens.

    Attributes:
        name: also the stem of the trace's file.
        about: one line on what it is for.
        program: the units in order.
        sink: ``plain`` or ``keyed``.
        stages: one after another.
        timeout: seconds after which a process is given up and killed.
    """

    name: str
    about: str
    program: list[ProgramUnit]
    stages: list[Stage]
    sink: Literal["plain", "keyed"] = "plain"
    timeout: float = 60.0


def _prepare_then_approve() -> list[ProgramUnit]:
    """An effect, then a node that asks and fires."""
    return [
        ProgramUnit(name="prepare", steps=[ProgramStep(step="e1", kind="effect")]),
        ProgramUnit(
            name="approve",
            steps=[ProgramStep(step="g", kind="gate"), ProgramStep(step="e2", kind="effect", after=["g"])],
        ),
    ]


def _one(actor: str, action: Action, kill_at: str | None = None) -> Stage:
    return Stage(runs=[Run(actor=actor, action=action, kill_at=kill_at)])


_YES: Final = Answering(gate="g", value="yes", delivery="d1")

_ALL: Final = [
    Scenario(
        name="park-and-resume",
        about="the workflow parks at its gate and is answered once, by another process",
        program=_prepare_then_approve(),
        stages=[_one("p1", Start()), _one("p2", _YES)],
    ),
    Scenario(
        name="kill-after-effect",
        about="SIGKILL after an effect and before it is recorded; another process goes on",
        program=_prepare_then_approve(),
        stages=[_one("p1", Start(), kill_at=points.fired("e1")), _one("p2", Continue()), _one("p3", _YES)],
    ),
    Scenario(
        name="second-answer-at-old-checkpoint",
        about="when all is done, another answer comes for the checkpoint at which the gate was parked",
        program=_prepare_then_approve(),
        stages=[
            _one("p1", Start()),
            _one("p2", _YES),
            _one("p3", Answering(gate="g", value="no", delivery="d2", at="parked")),
        ],
    ),
    Scenario(
        name="race-two-resumers",
        about="one answer is delivered twice: two processes resume one parked gate and both are past it",
        program=_prepare_then_approve(),
        stages=[
            _one("p1", Start()),
            Stage(
                runs=[Run(actor="p2", action=_YES), Run(actor="p3", action=_YES)],
                meet_at=[points.STARTED, points.passed("g")],
            ),
        ],
    ),
]

SCENARIOS: Final[dict[str, Scenario]] = {scenario.name: scenario for scenario in _ALL}
"""Every scenario, by name."""
