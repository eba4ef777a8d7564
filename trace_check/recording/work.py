"""The work of a program's steps, as the code of a workflow would do it, and the lines that only that code can write."""

from __future__ import annotations

import hashlib
import math
import threading
import time
from collections.abc import Mapping
from typing import Any

import msgspec

from trace_check.events import ProgramStep, Value
from trace_check.recording import points
from trace_check.recording.log import EventLog, Operation
from trace_check.recording.probe import Probe
from trace_check.recording.sink import Sink
from trace_check.recording.system import Job

__all__ = ["Work", "digest", "is_valid", "told"]


class Work:
    """What the nodes of a recorded workflow call; it knows no framework.

    Args:
        job: what the process is to do.
        log: where its lines go.
        sink: where its effects go.
        probe: where it is stopped.

    Attributes:
        steps: the program's steps by name.
    """

    def __init__(self, job: Job, log: EventLog, sink: Sink, probe: Probe) -> None:
        self.steps: dict[str, ProgramStep] = {s.step: s for unit in job.program for s in unit.steps}
        self._job = job
        self._log = log
        self._sink = sink
        self._probe = probe

    def compute(self, step: str, content: Mapping[str, Any], **where: Any) -> Any:
        """Run a pure step: a function of the content, unless this process is to spoil it.

        Args:
            step: its name.
            content: the outcomes before it, by step.
            where: `branch` or `thread` of its line, where they are not the log's.
        """
        outcome: Any = f"{step}:{digest(content)[:8]}"
        match self._job.spoil.get(step):
            case "wrong-type":
                outcome = 7
            case "unserialisable":
                outcome = threading.Lock()
            case "nan":
                outcome = math.nan
        self._log.emit("computed", step=step, outcome=told(outcome), valid=is_valid(outcome), **where)
        return outcome

    def fire(self, step: str, key: str, content: Mapping[str, Any], thread: str | None = None) -> str:
        """Send an effect to the sink and return its answer.

        Args:
            step: its name.
            key: the identity that the framework gives to this step, the same for every retry if it can.
            content: the outcomes before it, by step.
            thread: the instance whose step it is, where it is not the log's.
        """
        self._probe.reach(points.firing(step))
        outcome = self._sink.fire(step, key, digest(content), thread)
        self._probe.reach(points.fired(step))
        return str(outcome)

    async def fire_async(
        self, step: str, key: str, content: Mapping[str, Any], thread: str | None = None
    ) -> str:
        """The same from an event loop, which goes on while this step is held for another."""
        await self._probe.free(points.firing(step))
        return self.fire(step, key, content, thread)

    def passed(self, gate: str, value: Any, operation: Operation | None = None, **where: Any) -> Any:
        """Say that the code behind a gate runs and what it saw; takes the scenario's time. Returns the value.

        Args:
            gate: its name.
            value: what the code saw.
            operation: of kind `gate_passed`, begun before what claimed the gate; it ends here.
            where: `branch` or `thread` of its line, where they are not the log's.
        """
        if operation is None:
            self._note_passing(gate, value, where)
        else:
            operation.end(value=told(value), **where)
            self._probe.reach(points.passed(gate))
        time.sleep(self._job.behind_gate)
        return value

    async def passed_async(self, gate: str, value: Any, **where: Any) -> Any:
        """The same from an event loop."""
        import asyncio

        self._note_passing(gate, value, where)
        await asyncio.sleep(self._job.behind_gate)
        return value

    def _note_passing(self, gate: str, value: Any, where: dict[str, Any]) -> None:
        self._log.emit("gate_passed", gate=gate, value=told(value), **where)
        self._probe.reach(points.passed(gate))


def is_valid(outcome: object) -> bool:
    """Whether an outcome keeps the schema of the recorded programs: text."""
    return isinstance(outcome, str)


def told(outcome: object) -> Value:
    """An outcome as a trace tells it: a scalar as it is, anything else by a name for what it is."""
    if outcome is None or isinstance(outcome, str | bool | int):
        return outcome
    if isinstance(outcome, float):
        return str(outcome)
    return f"<{type(outcome).__name__}>"


def digest(content: Mapping[str, Any]) -> str:
    """A digest of the outcomes before a step, whatever their order."""
    told_content = sorted((step, told(outcome)) for step, outcome in content.items())
    return hashlib.sha256(msgspec.json.encode(told_content)).hexdigest()[:16]
