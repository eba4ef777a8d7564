"""Traces that a test records, and the assertion on them."""

from __future__ import annotations

import hashlib
import json
import re
import warnings
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, Literal

import msgspec
import pytest

from resume_contract.pytest_plugin.gathering import PROPERTY
from resume_contract.verdicts import verdict_lines
from trace_check.baseline import Violation, read_baseline, violations_of
from trace_check.checker import DEFAULT_BUDGET, Verdict, check_file
from trace_check.errors import RecordingError
from trace_check.events import ProgramUnit
from trace_check.explained import ALL_CLAUSES
from trace_check.writer import TraceWriter, start_trace, write_crash

__all__ = ["NoEvidence", "RecordedTrace", "TraceFactory"]


class NoEvidence(UserWarning):
    """A trace conforms, and no clause could have failed on it."""


class RecordedTrace:
    """A trace that a test is recording.

    Attributes:
        path: the file; other processes write to it with `trace_check.writer.TraceWriter(path, actor)`.
        checked: whether there is a verdict on it.
    """

    def __init__(
        self, factory: TraceFactory, path: Path, name: str, trace: tuple[str, str, str, str]
    ) -> None:
        self.path = path
        self.checked = False
        self._factory = factory
        self._name = name
        self._trace = trace
        self._writers: dict[str, TraceWriter] = {}
        self._seen: tuple[int, int] | None = None
        self._found: tuple[Violation, ...] = ()
        self._must_conform = False

    def actor(self, name: str, thread: str = "t1") -> TraceWriter:
        """The pen of an actor that lives in this process; the same one whenever it is asked for.

        Raises:
            RecordingError: the actor writes about another thread.
        """
        writer = self._writers.get(name)
        if writer is None:
            writer = self._writers[name] = TraceWriter(self.path, name, thread)
        if writer.thread != thread:
            raise RecordingError(f"actor {name!r} is of thread {writer.thread!r}", "name another actor")
        return writer

    def crashed(self, actor: str, thread: str = "t1", **fields: Any) -> None:
        """Write that an actor's process ended in the middle, once it was waited for.

        Args:
            fields: `signal` or `status`.
        """
        if actor in self._writers:
            self.actor(actor, thread).emit("crashed", **fields)
        else:
            write_crash(self.path, actor, thread, **fields)

    def check(self) -> Verdict:
        """The verdict on what is recorded by now: it conforms or it violates.

        A trace that can't be checked fails the test.
        """
        __tracebackhide__ = True
        self._must_conform = False
        return self._check()[0]

    def assert_conforms(self, exercises: Iterable[str] = ()) -> None:
        """Fail the test unless the trace conforms, or violates only as the baseline knows.

        Args:
            exercises: clauses that the trace has to put to a test at all; a text is one clause.

        Raises:
            ValueError: one of them is no clause.
        """
        __tracebackhide__ = True
        wanted = [exercises] if isinstance(exercises, str) else list(exercises)
        for clause in wanted:
            if clause not in ALL_CLAUSES:
                raise ValueError(f"{clause} is no clause; the clauses are {', '.join(ALL_CLAUSES)}")
        self._must_conform = True
        verdict, status = self._check()
        if status == "violates":
            pytest.fail("\n".join(_told(verdict)), pytrace=False)
        missing = [clause for clause in wanted if clause not in verdict.exercised]
        if missing:
            pytest.fail(
                f"{verdict.file}: {verdict.verdict}, and never puts {', '.join(missing)} to a test",
                pytrace=False,
            )
        if not verdict.exercised:
            warnings.warn(
                f"{verdict.file}: puts no clause to a test, so it is no evidence", NoEvidence, stacklevel=2
            )

    def check_the_rest(self) -> list[str]:
        """Check again what was written to after its last verdict; what is wrong with it then, for people."""
        if self._seen in (None, self._state()):
            return []
        before = self._found
        verdict, status = self._verdict()
        if verdict.error is not None:
            said = [f"the trace could not be checked: {verdict.error}"]
        elif self._must_conform:
            said = _told(verdict) if status == "violates" else []
        elif self._found != before:
            said = [*_told(verdict), "check() did not see all of it: call it once more, after the last event"]
        else:
            said = []
        return [f"{self.path}: events were written after its last verdict", *said] if said else []

    def close(self) -> None:
        """Close the writers of this process."""
        for writer in self._writers.values():
            writer.close()
        self._writers.clear()

    def _check(self) -> tuple[Verdict, str]:
        __tracebackhide__ = True
        self.checked = True
        verdict, status = self._verdict()
        if verdict.exit_status == 2:
            pytest.fail(f"the trace could not be checked: {verdict.error}", pytrace=False)
        return verdict, status

    def _verdict(self) -> tuple[Verdict, str]:
        """The verdict on what is recorded by now, which the test's report carries from here on."""
        self._seen = self._state()  # before it is read: what comes meanwhile is seen to be new
        verdict = check_file(self.path, budget=self._factory.budget)
        found = self._found = violations_of(verdict)
        status = verdict.verdict
        if status == "violates" and self._factory.known.issuperset(found):
            status = "known"
        self._factory.report(self._name, self._trace, verdict, status, found)
        return verdict, status

    def _state(self) -> tuple[int, int] | None:
        """What is another one once the file was written to."""
        try:
            now = self.path.stat()
        except OSError:
            return None
        return now.st_size, now.st_mtime_ns


class TraceFactory:
    """What the fixture is: called, it starts a trace of this test.

    Args:
        folder: where the traces are kept.
        node_id: the test.
        properties: of the test's report; each verdict becomes one.
        baseline: a file with known violations.
        budget: of the search; None: the usual one.
    """

    def __init__(
        self,
        *,
        folder: Path,
        node_id: str,
        properties: list[tuple[str, object]],
        baseline: Path | None,
        budget: int | None,
    ) -> None:
        self.budget = budget or DEFAULT_BUDGET
        self.known: frozenset[Violation] = frozenset() if baseline is None else read_baseline(baseline)
        self._folder = folder
        self._node_id = node_id
        self._properties = properties
        self._traces: dict[str, RecordedTrace] = {}

    def __call__(
        self,
        *,
        program: str | Sequence[ProgramUnit],
        observes: str | Iterable[str],
        sink: Literal["plain", "keyed"] = "plain",
        name: str = "",
        system: str = "under test",
        version: str = "-",
        store: str = "-",
    ) -> RecordedTrace:
        """Start a trace; its scenario is the test.

        Args:
            program: in words ("order: effect charge ; effect ship | ask: gate approved"), as units, or "dynamic".
            observes: the kinds of actions that the test never misses, in one text, or "all".
            sink: "plain" if every firing of an effect changes the world, "keyed" if only the first with a key does.
            name: tells this trace from others of the same test.
            system, version, store: what is recorded.

        Raises:
            RecordingError: the program or `observes` is none, or the test has a trace of this name.
        """
        if name in self._traces:
            raise RecordingError(
                f"the test has a trace named {name!r} already", "give each a name of its own"
            )
        self._folder.mkdir(parents=True, exist_ok=True)
        scenario = f"{self._node_id}#{name}" if name else self._node_id
        path = self._folder / f"{_file_name(scenario)}.jsonl"
        path.unlink(missing_ok=True)  # of an earlier run
        start_trace(
            path,
            program=program,
            observes=observes,
            sink=sink,
            system=system,
            version=version,
            store=store,
            scenario=scenario,
        )
        self._traces[name] = RecordedTrace(self, path, name, (system, store, sink, scenario))
        return self._traces[name]

    def report(
        self,
        name: str,
        trace: tuple[str, str, str, str],
        verdict: Verdict,
        status: str,
        found: tuple[Violation, ...],
    ) -> None:
        """Have the test's report carry a verdict; a trace that is checked again is reported as it was found last."""
        said = {
            "test": self._node_id,
            "name": name,
            "status": status,
            "lines": verdict_lines(verdict) if verdict.error is None else [verdict.error],
            "trace": trace,
            "violations": msgspec.to_builtins(found),
            **verdict.to_json(),
        }
        mine = [entry for entry in self._properties if entry[0] != PROPERTY or not _is_of(entry[1], name)]
        self._properties[:] = [*mine, (PROPERTY, json.dumps(said, ensure_ascii=False))]

    def check_the_rest(self) -> list[str]:
        """Of all traces that have a verdict, what is wrong with the events after it."""
        return [line for trace in self._traces.values() if trace.checked for line in trace.check_the_rest()]

    def not_checked(self) -> list[RecordedTrace]:
        """The traces on which there is no verdict."""
        return [trace for trace in self._traces.values() if not trace.checked]

    def close(self) -> None:
        """Close what is open."""
        for trace in self._traces.values():
            trace.close()


def _told(verdict: Verdict) -> list[str]:
    return [*verdict_lines(verdict), f"see it: resume-contract trace show {verdict.file}"]


def _is_of(value: object, name: str) -> bool:
    return bool(json.loads(str(value))["name"] == name)


def _file_name(scenario: str) -> str:
    """A name that a file can have, short, and another for another scenario."""
    digest = hashlib.sha256(scenario.encode(errors="surrogatepass")).hexdigest()[:8]
    readable = re.sub(r"[^A-Za-z0-9.-]+", "-", scenario.rpartition("/")[2]).strip("-.")
    return f"{readable[:80]}-{digest}"
