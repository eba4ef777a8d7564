"""What a system under test has to bring to be recorded, and how it is found by name."""

from __future__ import annotations

import importlib
import sys
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import ClassVar, Final

from msgspec import Struct

from trace_check.errors import RecordingError
from trace_check.events import CheckpointRead, ProgramUnit, Value
from trace_check.recording.log import EventLog
from trace_check.recording.probe import Probe
from trace_check.recording.scenarios import SCENARIOS, Action, Scenario
from trace_check.recording.sink import Sink

__all__ = ["RECORDER_FAILED", "SYSTEMS", "BranchRead", "Job", "System", "load_system"]

SYSTEMS: Final[dict[str, str]] = {
    "langgraph": "trace_check.recording.systems.langgraph:LangGraphSystem",
    "reference": "trace_check.recording.systems.reference:ReferenceSystem",
}
"""The systems known by name -> where their class is, as ``module:class``."""

RECORDER_FAILED: Final = 70
"""Exit status of a process that says that the recorder, and not the framework, failed."""


class Job(Struct, frozen=True, kw_only=True):
    """What one process is to do; handed to it as a JSON file.

    Attributes:
        system: as given to :func:`load_system`.
        folder: the recording's own folder, shared by its processes: the store, the effects, the log.
        log: the event log.
        thread: the workflow instance.
        actor: this process incarnation.
        program: the units to run.
        sink: ``plain`` or ``keyed``.
        action: what to do.
        branch: the branch that an answer addresses when it does not go to the head.
        token: the place in the store that it goes to then, in the system's own words.
        stops: the points at which to stop.
        ask, reply: file descriptors for the probe.
    """

    system: str
    folder: str
    log: str
    thread: str
    actor: str
    program: list[ProgramUnit]
    sink: str
    action: Action
    branch: str | None = None
    token: str | None = None
    stops: list[str] = []
    ask: int = -1
    reply: int = -1


class BranchRead(Struct, frozen=True, kw_only=True):
    """What a system's store holds of one branch; see :class:`trace_check.events.StoreRead`.

    ``token`` names the branch's head in the system's own words, so that an answer can go there later.
    """

    branch: str
    checkpoints: list[CheckpointRead] = []
    answers: dict[str, list[Value]] = {}
    open_interrupts: list[str] = []
    token: str | None = None


class System(ABC):
    """One framework with one kind of store.

    Attributes:
        name: as in the header.
        store: the kind of store, as in the header.
        observes: the kinds of actions that its recorder always shows.
    """

    name: ClassVar[str]
    store: ClassVar[str]
    observes: ClassVar[Sequence[str]]

    @abstractmethod
    def version(self) -> str:
        """The framework's installed version.

        Raises:
            RecordingError: it is not installed; the message names the extra to install.
        """

    @abstractmethod
    def run(self, job: Job, log: EventLog, sink: Sink, probe: Probe) -> None:
        """Take the job's action in this process, which was started for it.

        Whatever it raises is recorded as a failed resume, except a RecordingError, which ends the recording.
        """

    @abstractmethod
    def read_store(self, folder: Path, thread: str, program: list[ProgramUnit]) -> list[BranchRead]:
        """Read every branch of the thread, the root first, while no process of the recording runs."""

    def scenarios(self) -> Mapping[str, Scenario]:
        """The scenarios that it can be recorded on, by name: those of every system, unless it says otherwise."""
        return SCENARIOS

    def environment(self) -> dict[str, str]:
        """Variables that its processes need, over those of the harness."""
        return {}

    def command(self, job_file: Path) -> list[str]:
        """The command line of a process that does the job; a system that is not in Python has its own."""
        return [sys.executable, "-m", "trace_check.recording.child", str(job_file)]


def load_system(name: str) -> System:
    """The system of that name, or of ``module:class``.

    Raises:
        RecordingError: there is none.
    """
    place = name if ":" in name else SYSTEMS.get(name)
    if place is None:
        raise RecordingError(f"unknown system {name!r}", f"known are {', '.join(sorted(SYSTEMS))}")
    module, _, attribute = place.partition(":")
    try:
        found = getattr(importlib.import_module(module), attribute)
    except (ImportError, AttributeError) as error:
        raise RecordingError(
            f"the system {name!r} cannot be loaded ({error})", "give it as module:class"
        ) from None
    if not (isinstance(found, type) and issubclass(found, System)):
        raise RecordingError(
            f"{place} is no system", "name a subclass of trace_check.recording.system.System"
        )
    return found()
