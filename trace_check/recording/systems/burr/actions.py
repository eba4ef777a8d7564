"""The actions of a recorded Burr application.

Imported only where Burr is installed.
"""

# The base classes are Any where Burr is not installed, and typed where it is.
# mypy: disable-error-code="misc"

from __future__ import annotations

from typing import Any

from burr.core import Action, ApplicationContext

from trace_check.events import ProgramStep
from trace_check.recording.order import content_before
from trace_check.recording.systems.burr.session import Session

__all__ = ["Ask", "RunSteps"]


class RunSteps(Action):
    """Runs steps one after another; where one of them is a gate, its answer is the action's input or in the state."""

    def __init__(self, session: Session, steps: list[ProgramStep], asked: str | None) -> None:
        super().__init__()
        self._session = session
        self._steps = steps
        self._asked = asked

    @property
    def reads(self) -> list[str]:
        """See Burr."""
        return ["outcomes"]

    @property
    def writes(self) -> list[str]:
        """See Burr."""
        return ["outcomes"]

    @property
    def inputs(self) -> list[str]:
        """See Burr."""
        return [self._asked] if self._asked is not None else []

    def run(self, state: Any, **inputs: Any) -> dict[str, Any]:
        """Run; returns the outcomes of the steps."""
        work = self._session.work
        before = dict(state["outcomes"])
        context = ApplicationContext.get()
        own: dict[str, Any] = {}
        for step in self._steps:
            content = content_before(self._session.plan.program, step.step, before | own)
            if step.kind == "gate":
                if self._asked is None:
                    own[step.step] = work.passed(step.step, before[step.step])
                else:
                    # Handed over: the code has it, whatever the caller is told later of the action's row.
                    self._session.end_answer(accepted=True, inferred=True)
                    own[step.step] = work.passed(step.step, inputs[step.step])
            elif step.kind == "effect":
                key = f"{context.app_id}:{context.sequence_id}:{step.step}"
                own[step.step] = work.fire(step.step, key, content)
            else:
                own[step.step] = work.compute(step.step, content)
        return own

    def update(self, result: dict[str, Any], state: Any) -> Any:
        """Put the outcomes into the state."""
        return state.update(outcomes={**state["outcomes"], **result})


class Ask(RunSteps):
    """Takes a gate's answer as its input and puts it into the state; the code behind the gate is the next action."""

    def run(self, state: Any, **inputs: Any) -> dict[str, Any]:
        """Run; returns the answer as the gate's outcome."""
        return {step.step: inputs[step.step] for step in self._steps if step.kind == "gate"}
