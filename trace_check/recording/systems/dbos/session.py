"""What a process that runs DBOS shares, and a SQLite connection that brackets what DBOS stores.

DBOS is given the connection's class among the arguments of its engine, so nothing of it is changed.
"""

from __future__ import annotations

import re
import sqlite3
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

from trace_check.recording import points
from trace_check.recording.log import EventLog, Operation
from trace_check.recording.probe import Probe
from trace_check.recording.system import Job
from trace_check.recording.systems.dbos.layout import Layout, Slot
from trace_check.recording.systems.dbos.store import checkpoint_id, open_tables
from trace_check.recording.work import Work, told

__all__ = ["Session", "recording_connection"]

_STEP_STORED: Final = re.compile(r"INSERT INTO (?:main\.)?operation_outputs \((?P<columns>[^)]*)\) VALUES")
_OWNER_STORED: Final = re.compile(
    r"(?:INSERT INTO|UPDATE) (?:main\.)?workflow_status\b.*\bowner_xid\b", re.DOTALL
)


class Session:
    """What the workflows, the connections and the main thread of one process share.

    Attributes:
        owned: the marks under which this process took ownership of a workflow.
        waiting: the workflows whose code, in this process, is at a gate.
    """

    def __init__(self, job: Job, layout: Layout, log: EventLog, work: Work, probe: Probe) -> None:
        self.job = job
        self.folder = Path(job.folder)
        self.layout = layout
        self.log = log
        self.work = work
        self.probe = probe
        self.owned: set[object] = set()
        self.waiting: set[str] = set()
        self._values: dict[tuple[str, int], Any] = {}
        self._stored: set[tuple[str, int]] = set()
        self._found: set[tuple[str, int]] = set()
        self._lock = threading.Lock()

    def where(self, thread: str, workflow: str) -> dict[str, str]:
        """The thread and the branch of an event."""
        return {"thread": thread, "branch": self.layout.branch(workflow)}

    def keep(self, workflow: str, slot: Slot, value: Any) -> None:
        """Remember what a step gave, before DBOS stores it."""
        with self._lock:
            self._values[workflow, slot.function_id] = value

    def load(self, workflow: str, thread: str) -> int:
        """An execution begins: look at what its replay will find.  Returns the number of sealed units.

        DBOS itself looks at each call's row when the replay gets there; nobody else owns the workflow meanwhile.
        """
        where = self.where(thread, workflow)
        operation = self.log.begin("loaded", inferred=True, **where)
        with open_tables(self.folder) as tables:
            calls = tables.calls(workflow)
            sealed = tables.sealed(self.layout, thread, workflow)
        with self._lock:
            found = {(workflow, number) for number in calls}
            self._stored |= found
            self._found |= found
        name = checkpoint_id(self.layout, thread, workflow, sealed - 1) if sealed else None
        operation.end(checkpoint=name, index=sealed)
        self.probe.reach(points.LOADED)
        return sealed

    def was_stored(self, workflow: str, slot: Slot) -> bool:
        """Whether a step's row was there when an execution in this process began."""
        with self._lock:
            return (workflow, slot.function_id) in self._found

    @contextmanager
    def storing(self, rows: Sequence[dict[str, Any]]) -> Iterator[None]:
        """Around the commit of a transaction that inserts these rows of ``operation_outputs``."""
        operations: list[Operation] = []
        reached: list[str] = []
        for row in rows:
            workflow, number = row["workflow_uuid"], row["function_id"]
            slot = self.layout.slot(workflow, number)
            if slot is None or row["error"] is not None:
                continue
            name, where = slot.step.step, self.where(slot.thread, workflow)
            if slot.step.kind != "gate":
                self.probe.reach(points.recording(name))
                outcome = told(self._values[workflow, number])
                operations.append(self.log.begin("recorded", step=name, outcome=outcome, **where))
                reached.append(points.recorded(name))
            elif number != slot.function_id:
                self.probe.reach(points.parking(name))
                operations.append(self.log.begin("parked", gate=name, **where))
                reached.append(points.parked(name))
            unit = self.layout.unit(slot.thread, slot.unit)
            with self._lock:
                self._stored.add((workflow, number))
                if all((workflow, other.function_id) in self._stored for other in unit):
                    reached.append(points.committed(self.layout.program[slot.unit].name))
        yield
        for operation in operations:
            operation.end()
        for point in reached:
            self.probe.reach(point)


def recording_connection(session: Session) -> type[sqlite3.Connection]:
    """A class for the ``factory`` of :func:`sqlite3.connect`, which DBOS is given among its engine's arguments."""

    class Cursor(sqlite3.Cursor):
        def execute(self, sql: str, parameters: Any = (), /) -> Cursor:
            super().execute(sql, parameters)
            if found := _STEP_STORED.search(sql):
                columns = [column.strip() for column in found["columns"].split(",")]
                self.connection.inserted.append(dict(zip(columns, parameters, strict=False)))  # type: ignore[attr-defined]
            elif _OWNER_STORED.search(sql):
                session.owned |= {value for value in parameters if isinstance(value, str)}
            return self

    class Connection(sqlite3.Connection):
        def __init__(self, *args: Any, **options: Any) -> None:
            super().__init__(*args, **options)
            self.inserted: list[dict[str, Any]] = []

        def cursor(self, factory: Any = Cursor) -> Any:
            return super().cursor(factory)

        def commit(self) -> None:
            rows, self.inserted = self.inserted, []
            with session.storing(rows):
                super().commit()

        def rollback(self) -> None:
            self.inserted = []
            super().rollback()

    return Connection
