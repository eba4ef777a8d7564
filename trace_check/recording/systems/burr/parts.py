"""A parallel action of a recorded Burr application.

Imported only where one is needed: Burr's module for them takes longer to import than all else.
"""

# The base classes are Any where Burr is not installed, and typed where it is.
# mypy: disable-error-code="misc"

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from burr.core.parallelism import MapActions

from trace_check.events import ProgramStep
from trace_check.recording.systems.burr.actions import RunSteps
from trace_check.recording.systems.burr.session import Session

__all__ = ["RunParts"]


class RunParts(MapActions):
    """Runs the parts of a unit that have no order at once, each as an application of its own that is persisted too."""

    def __init__(self, session: Session, parts: list[list[ProgramStep]]) -> None:
        super().__init__()
        self._session = session
        self._parts = parts

    @property
    def reads(self) -> list[str]:
        """See Burr."""
        return ["outcomes"]

    @property
    def writes(self) -> list[str]:
        """See Burr."""
        return ["outcomes"]

    def actions(self, state: Any, context: Any, inputs: Any) -> Iterator[Any]:
        """One action for each part, named after its first step."""
        for part in self._parts:
            yield RunSteps(self._session, part, None).with_name(part[0].step)

    def reduce(self, state: Any, states: Any) -> Any:
        """Join the outcomes of the parts."""
        outcomes = dict(state["outcomes"])
        for part in states:
            outcomes |= part["outcomes"]
        return state.update(outcomes=outcomes)
