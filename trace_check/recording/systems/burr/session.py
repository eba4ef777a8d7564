"""What the persister and the actions of one process of a Burr recording share."""

from __future__ import annotations

from pathlib import Path

from trace_check.recording.log import EventLog, Operation
from trace_check.recording.probe import Probe
from trace_check.recording.system import Job
from trace_check.recording.systems.burr.plan import BurrPlan
from trace_check.recording.systems.burr.store import Fork, Forks
from trace_check.recording.work import Work

__all__ = ["Session"]


class Session:
    """What the persister and the actions of one process share."""

    def __init__(self, job: Job, plan: BurrPlan, log: EventLog, work: Work, probe: Probe) -> None:
        self.plan = plan
        self.log = log
        self.work = work
        self.probe = probe
        self.application = job.thread
        self.fork: Fork | None = None
        self.forks = Forks(Path(job.folder))
        self.answer: Operation | None = None
        self.newest: str | None = None  # the checkpoint that this process goes on from

    def end_answer(self, *, accepted: bool, inferred: bool = False) -> None:
        """End the answer's bracket, if it is open."""
        answer, self.answer = self.answer, None
        if answer is not None:
            answer.end(accepted=accepted, inferred=inferred)
