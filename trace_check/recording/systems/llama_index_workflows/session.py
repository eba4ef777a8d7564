"""What the steps and the main code of one process of a LlamaIndex application share."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from trace_check.errors import RecordingError
from trace_check.recording import points
from trace_check.recording.branches import Branches
from trace_check.recording.log import EventLog
from trace_check.recording.order import content_before, parts, sealed_units
from trace_check.recording.probe import Probe
from trace_check.recording.system import Job
from trace_check.recording.systems.llama_index_workflows.store import (
    Snapshots,
    first_with,
    outcomes_in,
    waiters_in,
)
from trace_check.recording.work import Work, told

__all__ = ["Session"]


class Session:
    """One process.

    Attributes:
        parts: of each unit, the parts that run at once; of each part, its steps as ⟨instance, name⟩.
        handler: the framework's handle of the run.
        passed: the gates, as ⟨instance, name⟩, whose code has run in this process.
        done: the parts, as ⟨unit, part⟩, that have run to their end in this process.
        failure: what went wrong with the recorder inside of a step.
    """

    def __init__(self, job: Job, log: EventLog, work: Work, probe: Probe) -> None:
        self.program = job.program
        self.threads = job.threads
        self.log = log
        self.work = work
        self.probe = probe
        self.snapshots = Snapshots(Path(job.folder))
        self.branches = Branches(Path(job.folder))
        self.parts = _parts(job)
        self.handler: Any = None
        self.passed: set[tuple[str, str]] = set()
        self.done: set[tuple[int, int]] = set()
        self.failure: RecordingError | None = None

    def before(self, step: str, outcomes: Mapping[str, Any]) -> dict[str, Any]:
        """What a step is a function of, by step."""
        return content_before(self.program, step, outcomes)

    def load(self, wanted: str | None) -> dict[str, Any] | None:
        """Read the newest snapshot, or the one that is named; one that is no longer its line's newest starts a line.

        Raises:
            ValueError: the snapshot cannot be read.
        """
        names = self.snapshots.names()
        name = wanted or (names[-1] if names else None)
        branch = self.branches.of(name) if name is not None else self.log.branch
        self.log.branch = branch
        if name is not None and self.branches.heads(names)[branch] != name:
            context = self.snapshots.load(name)
            child = self.branches.fork(branch, name)
            sealed = max(self._sealed(context, thread) for thread in self.threads)
            self.log.emit(
                "forked",
                branch=branch,
                checkpoint=self._seal_of(context, branch, self.threads[0]),
                index=sealed,
                child=child,
                declared=False,
                inferred=True,
            )
            self.log.branch = child
            self._show_waiting(context, branch)
        operations = [self.log.begin("loaded", thread=thread) for thread in self.threads]
        loaded = self.snapshots.load(name) if name is not None else None
        for thread, operation in zip(self.threads, operations, strict=True):
            operation.end(
                checkpoint=self._seal_of(loaded, branch, thread) if loaded else None,
                index=self._sealed(loaded, thread) if loaded else 0,
            )
        self.probe.reach(points.LOADED)
        return loaded

    def _show_waiting(self, context: Mapping[str, Any], branch: str) -> None:
        """A line that begins with a snapshot in which gates wait has them parked from its first moment on.

        It is told as a load and a park.
        """
        for waiter, answer in waiters_in(context).items():
            if answer is None:
                thread, _, gate = waiter.partition("/")
                index = self._sealed(context, thread)
                checkpoint = self._seal_of(context, branch, thread)
                load = self.log.begin("loaded", thread=thread, inferred=True)
                load.end(checkpoint=checkpoint, index=index)
                self.log.begin("parked", thread=thread, gate=gate, inferred=True).end()

    def _sealed(self, context: Mapping[str, Any], thread: str) -> int:
        return sealed_units(self.program, outcomes_in(context).get(thread, {}))

    def _seal_of(self, context: Mapping[str, Any], branch: str, thread: str) -> str | None:
        """The snapshot that sealed the last unit that a context holds."""
        outcomes = outcomes_in(context).get(thread, {})
        sealed = sealed_units(self.program, outcomes)
        if not sealed:
            return None
        kept = {step.step: outcomes[step.step] for step in self.program[sealed - 1].steps}
        contexts = {name: self.snapshots.load(name) for name in self.snapshots.names()}
        return first_with(contexts, self.branches, branch, thread, kept)

    def keep_step(self, thread: str, name: str, value: Any) -> None:
        """Keep a snapshot after a step.

        Raises:
            Exception: the framework cannot make one, whatever it raises then.
        """
        try:
            context = self.handler.ctx.to_dict()
        except Exception as error:
            self.log.emit("refused", what="outcome", step=name, error=type(error).__name__, thread=thread)
            raise
        self.probe.reach(points.recording(name))
        self._keep(context, "recorded", thread=thread, step=name, outcome=told(value))
        self.probe.reach(points.recorded(name))
        unit = next(unit for unit in self.program if name in [step.step for step in unit.steps])
        outcomes = outcomes_in(context).get(thread, {})
        if all(step.step in outcomes for step in unit.steps):
            self.probe.reach(points.committed(unit.name))

    def keep_gate(self, thread: str, gate: str) -> None:
        """Keep a snapshot when a gate waits."""
        context = self.handler.ctx.to_dict()
        self.probe.reach(points.parking(gate))
        self._keep(context, "parked", thread=thread, gate=gate)
        self.probe.reach(points.parked(gate))

    def _keep(self, context: Mapping[str, Any], kind: str, **fields: Any) -> None:
        name = self.snapshots.new_name(self.log.actor)
        self.branches.note(name, self.log.branch)
        operation = self.log.begin(kind, **fields)
        self.snapshots.save(name, context)
        operation.end()


def _parts(job: Job) -> list[list[list[tuple[str, str]]]]:
    """See :attr:`Session.parts`."""
    units: list[list[list[tuple[str, str]]]] = []
    for unit in job.program:
        names = [[step.step for step in part] for part in parts(unit)]
        if job.joined == "one-node":
            units.append([[(thread, name) for thread in job.threads for part in names for name in part]])
        else:
            units.append([[(thread, name) for name in part] for thread in job.threads for part in names])
    return units
