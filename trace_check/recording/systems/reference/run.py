"""The reference's runner: a process that goes through a branch, step by step, and holds nothing durable itself.

What it decides on is read from the store in the transaction that acts on it.  Each operation's begin line is written
before its transaction, the end line after.
"""

from __future__ import annotations

import hashlib
import json
import time
from dataclasses import dataclass

from pymodel.resume.program import Program, Step
from trace_check.errors import RecordingError
from trace_check.recording import points
from trace_check.recording.log import EventLog
from trace_check.recording.probe import Probe
from trace_check.recording.scenarios import Answering, Continue, Forking
from trace_check.recording.sink import Sink
from trace_check.recording.system import Job
from trace_check.recording.systems.reference.replay import SPOILED
from trace_check.recording.systems.reference.store import Checkpoint, Store, Transaction

__all__ = ["Runner", "checkpoint_id"]

_POLL = 0.02
_COMMIT = "commit"


@dataclass
class _Place:
    """Where a runner is: all of it is gone when its process dies."""

    branch: str
    unit: int
    base: int
    step: str
    outcome: str | None = None
    epoch: int = 0


class Runner:
    """One process of the reference.

    Args:
        job: what it is to do.
        program: the job's program.
        unit_names: the units' names in the trace.
        store, log, sink, probe: what it works with.
    """

    def __init__(
        self,
        job: Job,
        program: Program,
        unit_names: list[str],
        store: Store,
        log: EventLog,
        sink: Sink,
        probe: Probe,
    ) -> None:
        self.job, self.program, self.unit_names = job, program, unit_names
        self.store, self.log, self.sink, self.probe = store, log, sink, probe
        self.steps = {step.name: step for step in program.steps}
        self.place: _Place | None = None
        self.spoiled = dict(job.spoil)

    def act(self) -> None:
        """Take the job's action, and go on with the branch as far as it goes."""
        action = self.job.action
        branch = self.job.branch or self.log.branch
        if isinstance(action, Answering):
            self.log.branch = branch
            if not self._deliver(action, branch):
                return
        elif isinstance(action, Forking):
            self._fork(action, branch)
            branch = action.child
        # who only goes on waits for the lease of another's claim to end; who brings an answer doesn't
        while self._go_through(branch) and isinstance(action, Continue):
            self._wait_for_lease(branch)

    # -- positions

    def _gate_in(self, unit: int) -> str | None:
        return next((step.name for step in self.program.units[unit - 1] if step.kind == "gate"), None)

    def _next_unit(self, t: Transaction, branch: str) -> tuple[int, int]:
        """How many checkpoints the branch has, and the unit that follows them."""
        done = t.checkpoints(branch)
        return len(done), (done[-1].unit if done else 0) + 1

    def _next_step(self, t: Transaction, branch: str, unit: int, epoch: int) -> str:
        """The first step of a unit that can be run, or `_COMMIT`."""
        ledger = t.ledger(branch)
        recorded = {
            s.name for s in self.program.units[unit - 1] if s.name in ledger and (s.kind != "gate" or epoch)
        }
        for step in self.program.units[unit - 1]:
            if step.name not in recorded and self.program.predecessors(step.name) <= recorded:
                return step.name
        return _COMMIT

    def _content(self, t: Transaction, branch: str, step: str) -> str:
        """A digest of what a step is a function of: the outcomes of all earlier units and of its predecessors."""
        outcomes: dict[str, str] = {}
        for checkpoint in t.checkpoints(branch):
            outcomes |= checkpoint.outcomes
        ledger = t.ledger(branch)
        unit = self.program.unit_of(step)
        names = [s.name for earlier in self.program.units[: unit - 1] for s in earlier]
        known = {name: outcomes[name] for name in names}
        known |= {name: ledger[name] for name in sorted(self.program.predecessors(step))}
        return hashlib.sha256(json.dumps(known, sort_keys=True).encode()).hexdigest()[:16]

    # -- what the environment does

    def _deliver(self, action: Answering, branch: str) -> bool:
        if not isinstance(action.value, str):
            raise RecordingError(
                f"the answer {action.value!r} is no string", "the reference takes strings only"
            )
        said = {"gate": action.gate, "delivery": action.delivery, "value": action.value}
        operation = self.log.begin("answer", branch=branch, **said)
        with self.store.transaction() as t:
            accepted = t.deliver(branch, action.gate, action.delivery, action.value)
            if accepted:
                t.note("Deliver", branch, action.gate, action.delivery, action.value)
            else:
                known = t.answer(branch, action.gate)
                accepted = known is not None and known[0] == action.delivery  # a repeat is harmless
        operation.end(accepted=accepted)
        return accepted

    def _fork(self, action: Forking, branch: str) -> None:
        gates = [gate for unit in range(1, action.units + 1) if (gate := self._gate_in(unit)) is not None]
        fields = {"index": action.units, "child": action.child, "declared": True, "branch": branch}
        with self.store.transaction() as t:
            done = t.checkpoints(branch)[: action.units]
            newest = checkpoint_id(branch, done[-1]) if done else None
            operation = self.log.begin("forked", checkpoint=newest, **fields)
            is_whole = action.units == len(self.program.units)
            if not t.fork(branch, action.units, action.child, gates, is_whole):
                raise RecordingError(f"branch {action.child} can't be forked", "mend the scenario")
            t.note("Fork", branch, action.units, action.child)
        operation.end()
        self.log.branch = action.child

    def _wait_for_lease(self, branch: str) -> None:
        """Wait until the gate that turned us away can be claimed, and end the lease if its time is up."""
        while True:
            with self.store.transaction() as t:
                unit = self._next_unit(t, branch)[1]
                gate = self._gate_in(unit) if unit <= len(self.program.units) else None
                if gate is None or t.gate(branch, gate).status != "claimed":
                    return
                if t.gate(branch, gate).expired:
                    return
                if t.expire(branch, gate):
                    t.note("Expire", branch, gate)
                    return
            time.sleep(_POLL)

    # -- what a runner does

    def _go_through(self, branch: str) -> bool:
        """Load the branch and go on until there is no more to do.  True: another holds the claim of a gate."""
        if not self._load(branch):
            return False
        while self.place is not None:
            if self.place.step == _COMMIT:
                self._commit(self.place)
            elif self.steps[self.place.step].kind == "gate" and self.place.outcome is None:
                if self._visit_gate(self.place):
                    return True
            elif self.place.outcome is None:
                self._run(self.place, self.steps[self.place.step])
            else:
                self._record(self.place)
        return False

    def _load(self, branch: str) -> bool:
        self.log.branch = branch
        operation = self.log.begin("loaded")
        with self.store.transaction() as t:
            running = t.is_running(branch)
            base, unit = self._next_unit(t, branch)
            done = t.checkpoints(branch)
            if running:
                self.place = _Place(branch, unit, base, self._next_step(t, branch, unit, 0))
                t.note("Load", branch, self.place.step)
        if not running:
            operation.refuse("load", error="NotRunning")
            return False
        operation.end(checkpoint=checkpoint_id(branch, done[-1]) if done else None, index=base)
        self.probe.reach(points.LOADED)
        return True

    def _run(self, place: _Place, step: Step) -> None:
        """Run an effect or a pure step, or reuse what is recorded of it."""
        with self.store.transaction() as t:
            content = self._content(t, place.branch, step.name)
            if step.name in t.ledger(place.branch):
                place.step = self._next_step(t, place.branch, place.unit, place.epoch)
                t.note("Memo", place.step)
                self.log.emit("memo_used", step=step.name)
                return
        if step.kind == "effect":
            key = f"{self.job.thread}:{place.branch}:{step.name}"
            self.probe.reach(points.firing(step.name))
            place.outcome = str(self.sink.fire(step.name, key, content))
            with self.store.transaction() as t:
                t.note("Fire", step.name, place.outcome)
            self.probe.reach(points.fired(step.name))
        elif self.spoiled.pop(step.name, None) is not None:
            self._compute_badly(step)
        else:
            place.outcome = f"{step.name}:{content[:8]}"
            with self.store.transaction() as t:
                t.note("Compute", step.name, place.outcome)
                self.log.emit("computed", step=step.name, outcome=place.outcome, valid=True)

    def _compute_badly(self, step: Step) -> None:
        """The step yields what breaks its schema: it is refused before anything is stored, and tried again in place."""
        with self.store.transaction() as t:
            t.note("Compute", step.name, SPOILED)
            self.log.emit("computed", step=step.name, outcome=SPOILED, valid=False)
        with self.store.transaction() as t:
            t.note("Reject")
            self.log.emit("refused", what="outcome", error="InvalidOutcome", step=step.name)

    def _record(self, place: _Place) -> None:
        """The outcome in hand becomes durable.  A gate's is its answer: that is no event of its own."""
        assert place.outcome is not None
        gate = self._gate_in(place.unit)
        is_gate = place.step == gate
        step, outcome = place.step, place.outcome
        if not is_gate:
            self.probe.reach(points.recording(step))
            operation = self.log.begin("recorded", step=step, outcome=outcome)
        with self.store.transaction() as t:
            done = t.record(place.branch, step, outcome, gate, place.epoch)
            if done:
                place.step = self._next_step(t, place.branch, place.unit, place.epoch)
                place.outcome = None
            else:
                self.place = None
            t.note(*(("Record", place.step) if done else ("Stale",)))
        if is_gate and not done:
            self.log.emit("refused", what="record", error="Stale", step=step)
        elif not is_gate and not done:
            operation.refuse("record", error="Stale", step=step)
        elif not is_gate:
            operation.end()
            self.probe.reach(points.recorded(step))

    def _commit(self, place: _Place) -> None:
        gate, unit = self._gate_in(place.unit), self.unit_names[place.unit - 1]
        steps = [step.name for step in self.program.units[place.unit - 1]]
        self.probe.reach(points.committing(unit))
        with self.store.transaction() as t:
            outcomes = {name: t.ledger(place.branch)[name] for name in steps}
            done = t.checkpoints(place.branch)[: place.base]
        checkpoint = Checkpoint(place.base + 1, place.unit, outcomes)
        is_last = place.unit == len(self.program.units)
        operation = self.log.begin(
            "committed",
            unit=unit,
            steps=steps,
            outcomes=outcomes,
            checkpoint=checkpoint_id(place.branch, checkpoint),
            parent=checkpoint_id(place.branch, done[-1]) if done else None,
            valid=True,
            next=[] if is_last else [self.unit_names[place.unit]],
        )
        with self.store.transaction() as t:
            kept = t.commit(place.branch, place.base, place.unit, outcomes, gate, place.epoch)
            if kept and is_last:
                t.finish(place.branch)
                self.place = None
            elif kept:
                following = self._next_step(t, place.branch, place.unit + 1, 0)
                self.place = _Place(place.branch, place.unit + 1, place.base + 1, following)
            else:
                self.place = None
            t.note(*(("Commit", self.place.step if self.place else _COMMIT) if kept else ("Stale",)))
        if not kept:
            operation.refuse("commit", error="Stale", unit=unit)
            return
        operation.end()
        self.probe.reach(points.committed(unit))
        if is_last:
            self.log.emit("completed", outcome=outcomes[steps[-1]])

    def _visit_gate(self, place: _Place) -> bool:
        """Park, claim or take over, or go away.  True: another holds the claim."""
        branch, gate = place.branch, place.step
        with self.store.transaction() as t:
            is_closed = t.gate(branch, gate).status == "closed"
        if is_closed:
            self.probe.reach(points.parking(gate))
        with self.store.transaction() as t:
            before = t.gate(branch, gate)
            # The begin line comes inside of the transaction, for only here is it known what is begun.
            if before.status == "closed":
                operation = self.log.begin("parked", gate=gate)
                action = "Park" if t.park(branch, gate) else "Refuse"
            else:
                operation = self.log.begin("gate_passed", gate=gate)
                claims = (("Claim", t.claim), ("TakeOver", t.take_over))
                action = next((name for name, claim in claims if claim(branch, gate)), "Refuse")
            after = t.gate(branch, gate)
            t.note(action)
        if action in ("Claim", "TakeOver"):
            place.outcome, place.epoch = after.passed, after.epoch
            operation.end(value=after.passed)
            self.probe.reach(points.passed(gate))
            return False
        self.place = None
        if action == "Refuse":
            operation.refuse("gate", error="GateHeld", gate=gate)
            return before.status == "claimed"
        operation.end()
        self.probe.reach(points.parked(gate))
        return False


def checkpoint_id(branch: str, checkpoint: Checkpoint) -> str:
    """A checkpoint's id in the trace."""
    told = json.dumps([branch, checkpoint.n, checkpoint.unit, checkpoint.outcomes], sort_keys=True)
    return hashlib.sha256(told.encode()).hexdigest()[:12]
