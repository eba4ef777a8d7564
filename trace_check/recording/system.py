"""What a system under test has to bring to be recorded, and how it is found by name."""

from __future__ import annotations

import importlib
import signal
import sys
import threading
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from types import FrameType, ModuleType
from typing import Any, ClassVar, Final

import msgspec
from msgspec import Struct

from trace_check.errors import RecordingError
from trace_check.events import CheckpointRead, ProgramUnit, Value
from trace_check.recording.catalogue import SCENARIOS
from trace_check.recording.environments import environment_python, pinned_version
from trace_check.recording.log import EventLog
from trace_check.recording.probe import Probe
from trace_check.recording.scenarios import MAIN_THREAD, Action, Scenario, Spoiled
from trace_check.recording.sink import Sink

__all__ = ["RECORDER_FAILED", "SYSTEMS", "BranchRead", "Job", "System", "load_system"]

_PLACE: Final = "trace_check.recording.systems."

SYSTEMS: Final[dict[str, str]] = {
    "langgraph": _PLACE + "langgraph.system:LangGraphSystem",
    "langgraph-newest": _PLACE + "langgraph.system:LangGraphNewestSystem",
    "crewai": _PLACE + "crewai.system:CrewAISystem",
    "pydantic-graph": _PLACE + "pydantic_graph.system:PydanticGraphSystem",
    "dbos": _PLACE + "dbos.system:DBOSSystem",
    "llama-index-workflows": _PLACE + "llama_index_workflows.system:LlamaIndexWorkflowsSystem",
    "agent-framework": _PLACE + "agent_framework.system:AgentFrameworkSystem",
    "openai-agents": _PLACE + "openai_agents.system:OpenAIAgentsSystem",
    "burr": _PLACE + "burr.system:BurrSystem",
    "reference": _PLACE + "reference.system:ReferenceSystem",
}
"""The systems known by name -> where their class is, as ``module:class``."""

RECORDER_FAILED: Final = 70
"""Exit status of a process that says that the recorder, and not the framework, failed."""


class Job(Struct, frozen=True, kw_only=True):
    """What one process is to do; handed to it as a JSON file.

    Attributes:
        system: as given to :func:`load_system`.
        kept_in: which of the system's stores; None for its first.
        folder: the recording's own folder, shared by its processes: the store, the effects, the log.
        log: the event log.
        thread: the workflow instance.
        actor: this process incarnation.
        program: the units to run.
        sink: ``plain`` or ``keyed``.
        action: what to do.
        branch: the branch that an answer addresses when it does not go to the head.
        token: the place in the store that it goes to, in the system's own words; None for the head.
        stops: the points at which to stop.
        hold: points -> the point that another thread must have reached before.
        spoil: pure steps -> what is wrong with what they yield.
        behind_gate: seconds that the code behind a gate takes.
        threads, joined: the instances of the program, and how they are joined; see
            :class:`~trace_check.recording.scenarios.Scenario`.
    """

    system: str
    kept_in: str | None = None
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
    hold: dict[str, str] = {}
    spoil: dict[str, Spoiled] = {}
    behind_gate: float = 0.0
    threads: list[str] = msgspec.field(default_factory=lambda: [MAIN_THREAD])
    joined: str = ""


class BranchRead(Struct, frozen=True, kw_only=True):
    """What a system's store holds of one branch; see :class:`trace_check.events.StoreRead`.

    ``token`` names the branch's head in the system's own words, so that an answer can go there later. `tokens`
    does so for each unit that is sealed, by the checkpoint's id, where that is not the id itself. `thread` is the
    instance, where the scenario has several.
    """

    branch: str
    checkpoints: list[CheckpointRead] = []
    answers: dict[str, list[Value]] = {}
    open_interrupts: list[str] = []
    token: str | None = None
    tokens: dict[str, str] = {}
    thread: str | None = None


class System(ABC):
    """One framework with one kind of store.

    Args:
        store: one of `stores`; the first where it is None.

    Attributes:
        name: as in the header.
        stores: the kinds of store (and of durability, where there are several) that it can be recorded with.
        store: the one of this object, as in the header.
        store_notes: a store's name -> what it is and how a resume uses it, in a sentence; needed where there are several.
        observes: the kinds of actions that its recorder always shows (an object's own may differ by its store).
        extra: the extra of this project that pins the system's packages (an object's own may differ by its store);
            None if it needs none.
        distribution: the package whose version is the system's.
        key: which identity of a step the framework offers, that effects are keyed by: in a few words, None for none.
        kept_by: who keeps the state: ``framework``, or ``application`` where the framework only hands it over.
        modules: what a process imports before its time starts, so that racers race and do not import. Where importing
            them leaves no thread behind, they are imported once and the processes are forked.
        reads_here: `read_store` runs in the harness, not in a process of the system's environment.
        ends_at_once: its processes end as soon as `run` came back, whatever threads the framework still has.
    """

    name: ClassVar[str]
    stores: ClassVar[Sequence[str]]
    store_notes: ClassVar[Mapping[str, str]] = {}
    observes: Sequence[str]
    extra: str | None = None
    distribution: ClassVar[str] = ""
    key: ClassVar[str | None] = None
    kept_by: ClassVar[str] = "framework"
    modules: Sequence[str] = ()
    reads_here: ClassVar[bool] = False
    ends_at_once: bool = False

    def __init__(self, store: str | None = None) -> None:
        if store is not None and store not in self.stores:
            raise RecordingError(
                f"{self.name} is not recorded with store {store!r}", f"it is with {', '.join(self.stores)}"
            )
        self.store = store or self.stores[0]

    def version(self) -> str:
        """The framework's version, as the extra pins it.

        Raises:
            RecordingError: the extra is not to be found.
        """
        return pinned_version(self.extra, self.distribution) if self.extra else "0"

    @abstractmethod
    def run(self, job: Job, log: EventLog, sink: Sink, probe: Probe) -> None:
        """Take the job's action in this process, which was started for it.

        Whatever it raises is recorded as a failed resume, except a RecordingError, which ends the recording.
        """

    @abstractmethod
    def read_store(self, folder: Path, thread: str, program: list[ProgramUnit]) -> list[BranchRead]:
        """Read every branch of the thread, the root first, while no process of the recording runs."""

    def read_threads(
        self, folder: Path, threads: Sequence[str], joined: str, program: list[ProgramUnit]
    ) -> list[BranchRead]:
        """Read every branch of every instance; to be overridden by systems that can join instances."""
        return [read for thread in threads for read in self.read_store(folder, thread, program)]

    def tear(self, folder: Path, thread: str) -> None:
        """Cut the last write of the store short, while no process of the recording runs.

        Raises:
            RecordingError: it can't be.
        """
        raise RecordingError(f"{self.name} has no way to tear its store", "say so in `not_applicable`")

    def prepare(self, folder: Path) -> None:
        """Make what the store needs before the first process, a database server for example."""
        return

    def clean_up(self, folder: Path) -> None:
        """Undo `prepare`; called whatever happened."""
        return

    def not_applicable(self) -> Mapping[str, str]:
        """Scenarios that this system (with this store) can't express -> why, in one line."""
        return {}

    def not_planned(self) -> Mapping[str, str]:
        """Scenarios that this system could express and that aren't recorded with this store -> why, in one line."""
        return {}

    def why_not(self, scenario: str) -> str | None:
        """Why a scenario is not recorded on this system with this store, in one line; None if nothing says so."""
        if (why := self.not_applicable().get(scenario)) is not None:
            return f"scenario {scenario} is not applicable to {self.name} with store {self.store}: {why}"
        if (why := self.not_planned().get(scenario)) is not None:
            return f"scenario {scenario} is not planned for {self.name} with store {self.store}: {why}"
        return None

    def scenarios(self) -> Mapping[str, Scenario]:
        """The scenarios that it is recorded on, by name: the applicable and planned ones, unless it says otherwise."""
        without = {**self.not_applicable(), **self.not_planned()}
        if unknown := set(without) - set(SCENARIOS):
            raise RecordingError(
                f"{self.name} excludes unknown scenarios: {', '.join(sorted(unknown))}", "mend the recorder"
            )
        return {name: scenario for name, scenario in SCENARIOS.items() if name not in without}

    def environment(self) -> dict[str, str]:
        """Variables that its processes need, over those of the harness."""
        return {}

    def python(self) -> tuple[str, dict[str, str]]:
        """The interpreter that has the system's packages, and the variables that its processes need to find this project.

        Raises:
            RecordingError: the system's environment can't be made.
        """
        return environment_python(self.extra) if self.extra else (sys.executable, {})

    def command(self, job_file: Path) -> tuple[list[str], dict[str, str]]:
        """The command line of a process that does the job, and the variables that it needs besides.

        A system that is not in Python has its own; the file descriptors on which its probe asks and is answered are
        appended to it (to read the store, the file to write instead).

        Raises:
            RecordingError: the system's environment can't be made.
        """
        python, variables = self.python()
        return [python, "-m", "trace_check.recording.child", str(job_file)], variables


def load_system(name: str, store: str | None = None) -> System:
    """The system of that name, or of ``module:class``.

    Args:
        name: a name of :data:`SYSTEMS`, or ``module:class``.
        store: which of its stores; None for the first.

    Raises:
        RecordingError: there is none, its module can't be imported, it is no whole system, or it has no such store.
    """
    place = name if ":" in name else SYSTEMS.get(name)
    if place is None:
        raise RecordingError(f"unknown system {name!r}", f"known are {', '.join(sorted(SYSTEMS))}")
    module, _, attribute = place.partition(":")
    if not all(part and part.isprintable() for part in [*module.split("."), attribute]):
        raise RecordingError(f"{name!r} names no system", "give it as module:class")
    found = getattr(_imported(name, module), attribute, None)
    if found is None:
        raise RecordingError(
            f"the system {name!r} cannot be loaded (module {module!r} has no {attribute!r})",
            "give it as module:class",
        )
    if not (isinstance(found, type) and issubclass(found, System)):
        raise RecordingError(
            f"{place} is no system", "name a subclass of trace_check.recording.system.System"
        )
    whole = RecordingError(
        f"{place} is no whole system", "give it name (a text), stores and observes (lists)"
    )
    if not _is_text(getattr(found, "name", None)) or not _are_texts(getattr(found, "stores", None)):
        raise whole
    with _noted_interrupts() as interrupts:
        try:
            made = found(store)
        except RecordingError:
            raise
        except BaseException as error:  # it may be anybody's
            if interrupts:
                raise
            raise RecordingError(f"{place} cannot be made ({_said(error)})", "mend its class") from None
    if getattr(made, "observes", None) is None:
        raise whole
    return made


def _is_text(value: object) -> bool:
    return isinstance(value, str) and bool(value)


def _are_texts(value: object) -> bool:
    return (
        isinstance(value, Sequence)
        and not isinstance(value, str)
        and bool(value)
        and all(map(_is_text, value))
    )


def _imported(name: str, module: str) -> ModuleType:
    """The module of a system, which may be anybody's.

    Raises:
        RecordingError: it can't be imported.
    """
    with _noted_interrupts() as interrupts:
        try:
            return importlib.import_module(module)
        except ModuleNotFoundError as error:
            missing = error.name is not None and f"{module}.".startswith(f"{error.name}.")
            mend = "put its folder on PYTHONPATH" if missing else "install what it imports"
            raise RecordingError(
                f"the system {name!r} cannot be loaded ({error})", f"{mend}, and give it as module:class"
            ) from None
        except BaseException as error:
            if interrupts:
                raise
            raise RecordingError(
                f"the system {name!r} cannot be loaded (module {module!r} raises {_said(error)})",
                "mend that module: it has to be importable",
            ) from None


def _said(error: BaseException) -> str:
    return f"{type(error).__name__}: {error}".rstrip(": ")


@contextmanager
def _noted_interrupts() -> Iterator[list[int]]:
    """The signals that ask this process to end meanwhile: what is raised then is no fault of a recorder."""
    noted: list[int] = []
    before = {}
    if threading.current_thread() is threading.main_thread():
        for number in (signal.SIGINT, signal.SIGTERM):
            if callable(handler := signal.getsignal(number)):
                before[number] = handler
                signal.signal(number, partial(_note, noted, handler))
    try:
        yield noted
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _note(
    noted: list[int], handler: Callable[[int, FrameType | None], Any], number: int, frame: FrameType | None
) -> None:
    noted.append(number)
    handler(number, frame)
