"""What a scenario is: a program and what happens to it, said without any system's words.

A scenario is a list of stages. In each stage one or more processes are started at once; each takes one action
on the workflow (start it, go on with it, answer its gate). A process stops at the *points* that its stage
names: there it is killed, or held until all others of the stage wait too. Points are named after the program
(see :mod:`trace_check.recording.points`), so one scenario serves every system. The scenarios themselves are in
:mod:`trace_check.recording.catalogue`.
"""

from __future__ import annotations

from typing import Literal

import msgspec
from msgspec import Struct

from trace_check.events import ProgramUnit, Value

__all__ = [
    "MAIN_THREAD",
    "Action",
    "Answering",
    "Continue",
    "Forking",
    "Run",
    "Scenario",
    "Spoiled",
    "Stage",
    "Start",
]

MAIN_THREAD = "t1"
"""The workflow instance of a scenario that has one."""

Spoiled = Literal["wrong-type", "unserialisable", "nan"]
"""What a pure step's outcome is in place of its text: a number, an object that no codec takes, a NaN."""


class Start(Struct, frozen=True, tag="start"):
    """Start the workflow on a new thread."""


class Continue(Struct, frozen=True, tag="continue"):
    """Go on with the thread, with no new answer.

    Attributes:
        at: from where it stands (``head``), from the same place but naming its checkpoint (``named``), or from the
            checkpoint that sealed its first unit (``earlier``).
    """

    at: Literal["head", "named", "earlier"] = "head"


class Answering(Struct, frozen=True, tag="answer", kw_only=True):
    """Answer a gate and go on.

    Attributes:
        gate: which.
        value: with what.
        delivery: the delivery's id; two processes with one id redeliver one answer.
        at: the branch's head, or the checkpoint at which the gate was parked.
        thread: whose gate, where the scenario has several instances.
    """

    gate: str
    value: Value
    delivery: str
    at: Literal["head", "parked"] = "head"
    thread: str = MAIN_THREAD


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
        stop_at: the point at which it is stopped with SIGSTOP; it goes on when all others of its stage have ended.
        after: it is started when that process of its stage is stopped or has ended, not at once.
        hold: points -> the point that another thread of this process must have reached before it passes there.
        spoil: pure steps -> what is wrong with what they yield in this process.
    """

    actor: str
    action: Action
    kill_at: str | None = None
    stop_at: str | None = None
    after: str | None = None
    hold: dict[str, str] = {}
    spoil: dict[str, Spoiled] = {}


class Stage(Struct, frozen=True, kw_only=True):
    """Processes that run at once, and the points at which they wait for each other.

    Attributes:
        runs: the processes.
        meet_at: points, in the order in which they come.
        torn: the last write that the stage before left in the store is cut short before they start.
    """

    runs: list[Run]
    meet_at: list[str] = []
    torn: bool = False


class Scenario(Struct, frozen=True, kw_only=True):
    """A program, a sink, and what happens.

    Attributes:
        name: also the stem of the trace's file.
        about: one line on what it is for.
        program: the units in order.
        sink: ``plain`` or ``keyed``.
        stages: one after another.
        timeout: seconds after which a process is given up and killed.
        threads: the instances of the program. Several of them are parts of one step of the framework that each run
            the whole program: the contract has one gate a unit, and so looks at each part by itself.
        joined: how those parts are joined: one after another in one node, or in nodes of one superstep.
        behind_gate: seconds that the code behind a gate takes before it does anything.
        varies: its processes race, so that its verdict may differ from one recording to the next.
    """

    name: str
    about: str
    program: list[ProgramUnit]
    stages: list[Stage]
    sink: Literal["plain", "keyed"] = "plain"
    timeout: float = 60.0
    threads: list[str] = msgspec.field(default_factory=lambda: [MAIN_THREAD])
    joined: Literal["", "one-node", "parallel"] = ""
    behind_gate: float = 0.0
    varies: bool = False
