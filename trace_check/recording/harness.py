"""Runs a scenario: starts, stops, kills and resumes processes, reads the store, and keeps the trace."""

from __future__ import annotations

import contextlib
import gzip
import os
import selectors
import shutil
import signal
import subprocess
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import msgspec

from trace_check.errors import RecordingError, TraceError
from trace_check.events import ROOT_BRANCH, Event, Header
from trace_check.reader import read_trace
from trace_check.recording.log import EventLog, create_log, drop_torn_tail, read_events
from trace_check.recording.processes import Process, start_process
from trace_check.recording.scenarios import Answering, Continue, Forking, Run, Scenario, Stage
from trace_check.recording.sink import fired_effects, missing_events
from trace_check.recording.system import RECORDER_FAILED, BranchRead, Job, System, load_system

__all__ = ["HARNESS", "record", "trace_name"]

HARNESS = "harness"
"""The actor of the lines that the harness writes in its own name."""

_END_GRACE = 10.0
"""Seconds that a process may take to end after it closed its pipe."""


def record(
    system: str,
    scenario: str | Scenario,
    out_dir: str | Path,
    *,
    store: str | None = None,
    sink: Literal["plain", "keyed"] | None = None,
    compress: bool = False,
) -> Path:
    """Record a scenario on a system, with real processes.

    Args:
        system: a name of :data:`~trace_check.recording.system.SYSTEMS`, or ``module:class``.
        scenario: the name of one of the system's scenarios, or a scenario.
        out_dir: where traces are kept.
        store: one of the system's stores; None for its first.
        sink: the sink, where it is not the scenario's own.
        compress: keep the trace as gzip, under the name of :func:`trace_name` with ``.gz``.

    Returns:
        The trace, ``<out_dir>/<system>-<version>/`` and :func:`trace_name`, written only when it is whole and valid.

    Raises:
        RecordingError: unknown names, a framework that is not installed, a recorder that failed.
    """
    found = load_system(system, store)
    if isinstance(scenario, str):
        scenario = _named(found, scenario)
    name_of_file = trace_name(found, scenario, sink)
    if sink is not None:
        scenario = msgspec.structs.replace(scenario, sink=sink)
    version = found.version()
    with tempfile.TemporaryDirectory(prefix="recording-") as name:
        recording = _Recording(system, found, version, scenario, Path(name))
        try:
            found.prepare(Path(name))
            recording.run()
        finally:
            found.clean_up(Path(name))
        try:
            read_trace(recording.log)
        except TraceError as error:
            what = f"the recorder wrote a trace that breaks the format ({error.what}, line {error.line})"
            raise RecordingError(what, "record again; if it stays, mend the recorder") from None
        target = Path(out_dir) / f"{found.name}-{version}" / f"{name_of_file}{'.gz' if compress else ''}"
        _keep(recording.log, target)
    return target


def trace_name(system: System, scenario: Scenario, sink: str | None = None) -> str:
    """The file of a recording: its scenario, and the store and the sink where they aren't the usual ones."""
    parts = [scenario.name]
    if system.store != system.stores[0]:
        parts.append(system.store)
    if sink is not None and sink != scenario.sink:
        parts.append(sink)
    return ".".join([*parts, "jsonl"])


def _named(system: System, name: str) -> Scenario:
    known = system.scenarios()
    if name in known:
        return known[name]
    if (why := system.why_not(name)) is not None:
        raise RecordingError(why, "leave it out")
    raise RecordingError(f"unknown scenario {name!r}", f"known are {', '.join(sorted(known))}")


def _keep(log: Path, target: Path) -> None:
    """Copy the log to its place in one step; as gzip if its name ends so."""
    target.parent.mkdir(parents=True, exist_ok=True)
    fd, name = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.")
    os.close(fd)
    try:
        if target.suffix == ".gz":
            # No time and no name in it: the same log is the same file.
            Path(name).write_bytes(gzip.compress(log.read_bytes(), 9, mtime=0))
        else:
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
    process: Process
    asks: int
    replies: int
    deadline: float
    stderr: Path
    buffer: bytes = b""
    waiting_at: str | None = None
    stopped: bool = False
    ended: bool = False
    gave_up: bool = False

    def kill(self) -> None:
        """SIGKILL to the child and whatever it started, in the process group that was made for it."""
        if self.process.poll() is None:
            self.signal(signal.SIGKILL)

    def signal(self, number: signal.Signals) -> None:
        """A signal to the same processes."""
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.process.pid, number)

    def hear(self, data: bytes) -> None:
        """Take what it wrote to its pipe: the points at which it stopped."""
        self.buffer += data
        while b"\n" in self.buffer:
            line, _, self.buffer = self.buffer.partition(b"\n")
            self.waiting_at = line.decode()
            if self.waiting_at == self.run.kill_at:
                self.kill()
            elif self.waiting_at == self.run.stop_at:
                self.signal(signal.SIGSTOP)
                self.stopped = True

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
        self._parked: dict[tuple[str, str], tuple[str, str | None]] = {}
        self._root: BranchRead | None = None
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
        with EventLog(self.log, HARNESS, self._scenario.threads[0]) as own:
            stages = self._scenario.stages
            for number, stage in enumerate(stages, 1):
                self._run_stage(stage, own)
                # What tears a write is what ended the stage before: nobody reads the store in between.
                if number < len(stages) and stages[number].torn:
                    self._system.tear(self._folder, self._scenario.threads[0])
                self._read_store(own, number)

    def _read_store(self, own: EventLog, number: int) -> None:
        for read in self._readings(number):
            thread = read.thread or self._scenario.threads[0]
            own.emit(
                "store_read",
                thread=thread,
                branch=read.branch,
                checkpoints=read.checkpoints,
                answers=read.answers,
                open_interrupts=read.open_interrupts,
            )
            if read.branch == ROOT_BRANCH and thread == self._scenario.threads[0]:
                self._root = read
            for gate in read.open_interrupts:
                self._parked.setdefault((thread, gate), (read.branch, read.token))

    def _readings(self, number: int) -> list[BranchRead]:
        """What the store holds, read by a process of the system's environment."""
        scenario = self._scenario
        if self._system.reads_here:
            return self._system.read_threads(
                self._folder, scenario.threads, scenario.joined, scenario.program
            )
        job = self._job(Run(actor=HARNESS, action=Continue()))
        job_file = self._folder / f"job-reading-{number}.json"
        job_file.write_bytes(msgspec.json.encode(job))
        output = self._folder / f"reading-{number}.json"
        stderr = self._folder / f"stderr-reading-{number}.txt"
        process = start_process(self._name, self._system, [str(job_file), str(output)], stderr)
        try:
            status = process.wait(scenario.timeout)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
            raise RecordingError(
                f"the store of {self._system.name} was not read in {scenario.timeout:g} s",
                "mend the recorder",
            ) from None
        if status:
            raise RecordingError(
                f"the store of {self._system.name} cannot be read: {_last_line(stderr)}", "mend the recorder"
            )
        return msgspec.json.decode(output.read_bytes(), type=list[BranchRead])

    def _run_stage(self, stage: Stage, own: EventLog) -> None:
        children: list[_Child] = []
        try:
            for run in stage.runs:
                if run.after is None:
                    children.append(self._spawn(run, stage))
            self._attend(stage, children, own)
        finally:
            for child in children:
                child.kill()
                child.process.wait()
                os.close(child.asks)
                os.close(child.replies)

    def _job(self, run: Run, stage: Stage | None = None) -> Job:
        scenario = self._scenario
        branch, token = self._place(run)
        stops = [point for point in (run.kill_at, run.stop_at) if point is not None]
        return Job(
            system=self._name,
            kept_in=self._system.store,
            folder=str(self._folder),
            log=str(self.log),
            thread=scenario.threads[0],
            actor=run.actor,
            program=scenario.program,
            sink=scenario.sink,
            action=run.action,
            branch=branch,
            token=token,
            stops=[*(stage.meet_at if stage else []), *stops],
            hold=run.hold,
            spoil=run.spoil,
            behind_gate=scenario.behind_gate,
            threads=scenario.threads,
            joined=scenario.joined,
        )

    def _place(self, run: Run) -> tuple[str | None, str | None]:
        """The branch and the token of an action that names a place in the store."""
        match run.action:
            case Answering(at="parked", thread=thread, gate=gate):
                if (thread, gate) not in self._parked:
                    raise self._nowhere(f"answers gate {gate!r} where it parked, and it never did")
                return self._parked[thread, gate]
            case Continue(at="named"):
                token = self._root.token if self._root is not None else None
                if token is None:
                    raise self._nowhere("goes on at the head's checkpoint, and there is none")
                return ROOT_BRANCH, token
            case Continue(at="earlier"):
                return ROOT_BRANCH, self._sealing(1)
            case Forking(units=units):
                return ROOT_BRANCH, self._sealing(units)
        return None, None

    def _sealing(self, units: int) -> str:
        """The checkpoint of the root that seals so many units, as the system names it."""
        if self._root is None or len(self._root.checkpoints) < units:
            raise self._nowhere(f"goes on after {units} units, and the store never held so many")
        name = self._root.checkpoints[units - 1].id
        return self._root.tokens.get(name, name)

    def _nowhere(self, what: str) -> RecordingError:
        return RecordingError(
            f"scenario {self._scenario.name!r} {what}",
            "see what its earlier stages leave, or call it not applicable",
        )

    def _spawn(self, run: Run, stage: Stage) -> _Child:
        asks, ask = os.pipe()
        reply, replies = os.pipe()
        try:
            job = self._job(run, stage)
            job_file = self._folder / f"job-{run.actor}.json"
            job_file.write_bytes(msgspec.json.encode(job))
            stderr = self._folder / f"stderr-{run.actor}.txt"
            process = start_process(self._name, self._system, [str(job_file)], stderr, (ask, reply))
        except BaseException:
            os.close(asks)
            os.close(replies)
            raise
        finally:
            os.close(ask)
            os.close(reply)
        return _Child(run, process, asks, replies, time.monotonic() + self._scenario.timeout, stderr)

    def _attend(self, stage: Stage, children: list[_Child], own: EventLog) -> None:
        """Serve the children's points until all of them have ended; start those that come after others."""
        later = [run for run in stage.runs if run.after is not None]
        paused: set[str] = set()
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
                for child in children:
                    if child.stopped and child.run.actor not in paused:
                        paused.add(child.run.actor)
                        own.emit("paused", signal="SIGSTOP", process=child.run.actor)
                for run in [run for run in later if _is_free(run, children)]:
                    later.remove(run)
                    children.append(self._spawn(run, stage))
                    selector.register(children[-1].asks, selectors.EVENT_READ, children[-1])
                _release(stage, children, own, self._scenario.timeout)

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
        thread = own[-1].thread if own else self._scenario.threads[0]
        with EventLog(self.log, actor, thread, first_seq=len(own) + 1) as log:
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
                thread=effect.thread,
                branch=effect.branch,
                step=effect.step,
                key=effect.key,
                applied=effect.applied,
                outcome=effect.outcome,
                inferred=True,
            )


def _is_free(run: Run, children: list[_Child]) -> bool:
    """Is the process after which this one comes stopped, or over?"""
    return any(child.run.actor == run.after and (child.stopped or child.ended) for child in children)


def _release(stage: Stage, children: list[_Child], own: EventLog, timeout: float) -> None:
    """Let those at the earliest point go on once nobody runs: all others wait too, or have ended.

    A stopped process goes on when all that are not stopped have ended; its time starts anew.
    """
    alive = [child for child in children if not child.ended and not child.stopped]
    if not alive:
        for child in [child for child in children if child.stopped and not child.ended]:
            own.emit("continued", signal="SIGCONT", process=child.run.actor)
            child.stopped = False
            child.deadline = time.monotonic() + timeout
            child.signal(signal.SIGCONT)
            child.let_go()
        return
    if any(child.waiting_at is None for child in alive):
        return
    for point in stage.meet_at:
        if here := [child for child in alive if child.waiting_at == point]:
            for child in here:
                child.let_go()
            return


def _last_line(path: Path) -> str:
    lines = path.read_text(errors="replace").strip().splitlines()
    return lines[-1] if lines else "it said nothing"
