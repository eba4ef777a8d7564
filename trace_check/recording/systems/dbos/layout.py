"""Where the steps of a program are in DBOS: which workflow runs them, and under which of its function ids.

DBOS numbers what a workflow calls from 1, in the order of the calls.  A step takes one number; a ``recv`` takes two,
the second for the wake-up time that it stores before it waits.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from trace_check.events import ROOT_BRANCH, ProgramStep, ProgramUnit
from trace_check.recording.order import content_before, rounds

__all__ = ["JOINT", "SHUT_DOWN", "Layout", "Slot"]

SHUT_DOWN: Final = "sqlite-shut-down"
"""The store of an application that shuts DBOS down before its process ends."""

JOINT: Final = "joint"
"""The workflow that joins several instances of a program."""


@dataclass(frozen=True)
class Slot:
    """A step of one instance of the program.

    Attributes:
        thread: the instance.
        unit: the number of its unit, from 0.
        step: the step.
        function_id: its number in its workflow.
    """

    thread: str
    unit: int
    step: ProgramStep
    function_id: int


class Layout:
    """The program's instances as workflows.

    Args:
        program: the units of each instance.
        threads: the instances.
        joined: see :class:`~trace_check.recording.scenarios.Scenario`.

    Attributes:
        root: the workflow that is started.
    """

    def __init__(self, program: Sequence[ProgramUnit], threads: Sequence[str], joined: str) -> None:
        self.program = list(program)
        self.threads = list(threads)
        self.joined = joined
        self.root = JOINT if joined else threads[0]
        self._slots: dict[str, list[Slot]] = {}
        number = 1
        for thread in threads:
            number = number if joined == "one-node" else 1
            self._slots[thread] = slots = []
            for place, unit in enumerate(program):
                for step in (step for together in rounds(unit) for step in together):
                    slots.append(Slot(thread, place, step, number))
                    number += 2 if step.kind == "gate" else 1

    def workflow(self, thread: str, branch: str = ROOT_BRANCH) -> str:
        """The id of the workflow that runs an instance, on a branch."""
        base = self.root if self.joined == "one-node" else thread
        return base if branch == ROOT_BRANCH else f"{base}/{branch}"

    def branch(self, workflow: str) -> str:
        """The branch that a workflow is."""
        return workflow.partition("/")[2] or ROOT_BRANCH

    def threads_of(self, workflow: str) -> list[str]:
        """The instances that a workflow runs itself."""
        base = workflow.partition("/")[0]
        return [thread for thread in self.threads if self.workflow(thread) == base]

    def slots(self, thread: str) -> list[Slot]:
        """The steps of an instance, in the order of their function ids."""
        return self._slots[thread]

    def slot(self, workflow: str, function_id: int) -> Slot | None:
        """The step with that number; for a gate, also with that of its wake-up time.  None for a call that is no step."""
        for thread in self.threads_of(workflow):
            for slot in self._slots[thread]:
                numbers = {slot.function_id} | ({slot.function_id + 1} if slot.step.kind == "gate" else set())
                if function_id in numbers:
                    return slot
        return None

    def unit(self, thread: str, number: int) -> list[Slot]:
        """The steps of one unit."""
        return [slot for slot in self._slots[thread] if slot.unit == number]

    def rounds(self, thread: str, number: int) -> list[list[Slot]]:
        """The steps of one unit in groups: those of a group run at once, one group after another."""
        slots = {slot.step.step: slot for slot in self.unit(thread, number)}
        return [[slots[step.step] for step in together] for together in rounds(self.program[number])]

    def topic(self, slot: Slot) -> str:
        """The topic on which a gate's answers come."""
        return f"{slot.thread}/{slot.step.step}" if self.joined else slot.step.step

    def before(self, slot: Slot, outcomes: Mapping[str, Any]) -> dict[str, Any]:
        """What a step is a function of, by step."""
        return content_before(self.program, slot.step.step, outcomes)
