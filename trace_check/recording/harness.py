"""Runs a scenario: starts, stops, kills and resumes processes, reads the store, and keeps the trace."""

from __future__ import annotations

import contextlib
import os
import selectors
import shutil
import signal
import subprocess
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

import msgspec

from trace_check.errors import RecordingError, TraceError
from trace_check.events import ROOT_BRANCH, Event, Header
from trace_check.reader import read_trace
from trace_check.recording.log import EventLog, create_log, drop_torn_tail, read_events
from trace_check.recording.scenarios import Answering, Run, Scenario, Stage
from trace_check.recording.sink import fired_effects, missing_events
from trace_check.recording.system import RECORDER_FAILED, Job, System, load_system

__all__ = ["HARNESS", "record"]

HARNESS = "harness"
"""The actor of the lines that the harness writes in its own name."""

_THREAD = "t1"
_END_GRACE = 10.0
"""Seconds that a process may take to end after it closed its pipe."""


def record(system: str, scenario: str | Scenario, out_dir: str | Path) -> Path:
    """Record a scenario on a system, with real processes.

    Args:
        system: a name of :data:`~trace_check.recording.system.SYSTEMS`, or ``module:class``.
        scenario: the name of one of the system's scenarios, or a scenario.
        out_dir: where traces are kept.

    Returns:
        The trace, ``<out_dir>/<system>-<version>/<scenario>.jsonl``, written only when it is whole and valid.

    Raises:
        RecordingError: unknown names, a framework that is not installed, a recorder that failed.
    """
    found = load_system(system)
    if isinstance(scenario, str):
        known = found.scenarios()
        if scenario not in known:
            raise RecordingError(f"unknown scenario {scenario!r}", f"known are {', '.join(sorted(known))}")
        scenario = known[scenario]
    version = found.version()
    with tempfile.TemporaryDirectory(prefix="recording-") as name:
        recording = _Recording(system, found, version, scenario, Path(name))
        recording.run()
        try:
            read_trace(recording.log)
        except TraceError as error:
            what = f"the recorder wrote a trace that breaks the format ({error.what}, line {error.line})"
            raise RecordingError(what, "record again; if it stays, mend the recorder") from None
        target = Path(out_dir) / f"{found.name}-{version}" / f"{scenario.name}.jsonl"
        _keep(recording.log, target)
    return target


def _keep(log: Path, target: Path) -> None:
    """Copy the log to its place in one step."""
    target.parent.mkdir(parents=True, exist_ok=True)
    fd, name = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.")
    os.close(fd)
    try:
        shutil.copyfile(log, name)
        os.chmod(name, 0o644)
        os.replace(name, target)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise


@dataclass(slots=True)
class _Child:
    """A process of a stage, and the harness's ends of its pipes."""

    run: Run
    process: subprocess.Popen[bytes]
    asks: int
    replies: int
    deadline: float
    stderr: Path
    buffer: bytes = b""
    waiting_at: str | None = None
    ended: bool = False
    gave_up: bool = False

    def kill(self) -> None:
        """SIGKILL to the child and whatever it started, in the process group that was made for it."""
        if self.process.poll() is None:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self.process.pid, signal.SIGKILL)

    def hear(self, data: bytes) -> None:
        """Take what it wrote to its pipe: the points at which it stopped."""
        self.buffer += data
        while b"\n" in self.buffer:
            line, _, self.buffer = self.buffer.partition(b"\n")
            self.waiting_at = line.decode()
            if self.waiting_at == self.run.kill_at:
                self.kill()

    def is_overdue(self) -> bool:
        """Kill it when its time is up; True when it is still there a while after."""
        if time.monotonic() < self.deadline:
            return False
        if self.gave_up:
            return True
        self.gave_up = True
        self.deadline += _END_GRACE
        self.kill()
        return False

    def let_go(self) -> None:
        """Let it go on from the point at which it waits."""
        if self.waiting_at is not None:
            self.waiting_at = None
            with contextlib.suppress(BrokenPipeError):
                os.write(self.replies, b"g")


class _Recording:
    """One run of one scenario in a folder of its own."""

    def __init__(self, name: str, system: System, version: str, scenario: Scenario, folder: Path) -> None:
        self.log = folder / "events.jsonl"
        self._name = name
        self._system = system
        self._scenario = scenario
        self._folder = folder
        self._parked: dict[str, tuple[str, str | None]] = {}
        header = Header(
            v=1,
            system=system.name,
            version=version,
            store=system.store,
            sink=scenario.sink,
            scenario=scenario.name,
            program=scenario.program,
            observes=sorted(system.observes),
        )
        create_log(self.log, header)

    def run(self) -> None:
        """Run every stage and read the store after each."""
        with EventLog(self.log, HARNESS, _THREAD) as own:
            for stage in self._scenario.stages:
                self._run_stage(stage)
                self._read_store(own)

    def _read_store(self, own: EventLog) -> None:
        for read in self._system.read_store(self._folder, _THREAD, self._scenario.program):
            own.emit(
                "store_read",
                branch=read.branch,
                checkpoints=read.checkpoints,
                answers=read.answers,
                open_interrupts=read.open_interrupts,
            )
            for gate in read.open_interrupts:
                self._parked.setdefault(gate, (read.branch, read.token))

    def _run_stage(self, stage: Stage) -> None:
        children: list[_Child] = []
        try:
            for run in stage.runs:
                children.append(self._spawn(run, stage))
            self._attend(stage, children)
        finally:
            for child in children:
                child.kill()
                child.process.wait()
                os.close(child.asks)
                os.close(child.replies)

    def _spawn(self, run: Run, stage: Stage) -> _Child:
        asks, ask = os.pipe()
        reply, replies = os.pipe()
        try:
            branch, token = None, None
            if isinstance(run.action, Answering) and run.action.at == "parked":
                branch, token = self._parked_at(run.action.gate)
            job = Job(
                system=self._name,
                folder=str(self._folder),
                log=str(self.log),
                thread=_THREAD,
                actor=run.actor,
                program=self._scenario.program,
                sink=self._scenario.sink,
                action=run.action,
                branch=branch,
                token=token,
                stops=[*stage.meet_at, *([run.kill_at] if run.kill_at else [])],
                ask=ask,
                reply=reply,
            )
            job_file = self._folder / f"job-{run.actor}.json"
            job_file.write_bytes(msgspec.json.encode(job))
            stderr = self._folder / f"stderr-{run.actor}.txt"
            with stderr.open("wb") as errors:
                process = subprocess.Popen(
                    self._system.command(job_file),
                    stdin=subprocess.DEVNULL,
                    stdout=subprocess.DEVNULL,
                    stderr=errors,
                    env=os.environ | self._system.environment(),
                    pass_fds=(ask, reply),
                    start_new_session=True,
                )
        except BaseException:
            os.close(asks)
            os.close(replies)
            raise
        finally:
            os.close(ask)
            os.close(reply)
        return _Child(run, process, asks, replies, time.monotonic() + self._scenario.timeout, stderr)

    def _parked_at(self, gate: str) -> tuple[str, str | None]:
        if gate not in self._parked:
            what = f"scenario {self._scenario.name!r} answers gate {gate!r} where it parked, and it never did"
            raise RecordingError(what, "park it in an earlier stage")
        return self._parked[gate]

    def _attend(self, stage: Stage, children: list[_Child]) -> None:
        """Serve the children's points until all of them have ended."""
        with selectors.DefaultSelector() as selector:
            for child in children:
                selector.register(child.asks, selectors.EVENT_READ, child)
            while alive := [child for child in children if not child.ended]:
                soonest = min(child.deadline for child in alive) - time.monotonic()
                closed = []
                for key, _ in selector.select(max(0.0, soonest)):
                    child = key.data
                    if data := os.read(child.asks, 4096):
                        child.hear(data)
                    else:
                        closed.append(child)
                closed += [child for child in alive if child not in closed and child.is_overdue()]
                for child in closed:
                    selector.unregister(child.asks)
                    self._reap(child, alone=all(other.ended or other is child for other in children))
                _release(stage, children)

    def _reap(self, child: _Child, *, alone: bool) -> None:
        """Wait for a child that closed its pipe, and write what its parent alone knows.

        Args:
            child: which.
            alone: no other process of the stage runs.
        """
        try:
            status = child.process.wait(_END_GRACE)
        except subprocess.TimeoutExpired:
            child.gave_up = True
            child.kill()
            status = child.process.wait()
        child.ended = True
        if status == RECORDER_FAILED:
            raise RecordingError(f"the recorder failed: {_last_line(child.stderr)}", "mend the recorder")
        if alone:
            drop_torn_tail(self.log)
        actor = child.run.actor
        own = [event for event in read_events(self.log) if event.actor == actor]
        if status > 0 and not own:
            raise RecordingError(
                f"process {actor!r} ended with status {status} and no event: {_last_line(child.stderr)}",
                "mend the recorder",
            )
        with EventLog(self.log, actor, _THREAD, first_seq=len(own) + 1) as log:
            log.branch = own[-1].branch if own else ROOT_BRANCH
            self._show_missing_effects(log, own)
            if child.gave_up:
                log.emit("resume_gave_up", seconds=self._scenario.timeout)
            if status < 0:
                log.emit("crashed", signal=signal.Signals(-status).name)
            elif status > 0:
                log.emit("crashed", status=status)

    def _show_missing_effects(self, log: EventLog, own: list[Event]) -> None:
        """Log, as inferred from the sink, each effect that its process did not live to log."""
        for effect in missing_events(fired_effects(self._folder), own, log.actor):
            log.emit(
                "effect_fired",
                branch=effect.branch,
                step=effect.step,
                key=effect.key,
                applied=effect.applied,
                outcome=effect.outcome,
                inferred=True,
            )


def _release(stage: Stage, children: list[_Child]) -> None:
    """Let those at the earliest point go on once nobody runs: all others wait too, or have ended."""
    alive = [child for child in children if not child.ended]
    if not alive or any(child.waiting_at is None for child in alive):
        return
    for point in stage.meet_at:
        if here := [child for child in alive if child.waiting_at == point]:
            for child in here:
                child.let_go()
            return


def _last_line(path: Path) -> str:
    lines = path.read_text(errors="replace").strip().splitlines()
    return lines[-1] if lines else "it said nothing"
