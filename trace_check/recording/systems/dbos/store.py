"""What a DBOS system database holds, read from its tables, which DBOS documents.

The tables are read without DBOS, so nothing is changed by reading.  Values are decoded as DBOS encodes them unless it is
told otherwise: pickled and in base64, or as its portable JSON.
"""

from __future__ import annotations

import base64
import hashlib
import json
import pickle
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from trace_check.events import ROOT_BRANCH, CheckpointRead
from trace_check.recording.system import BranchRead
from trace_check.recording.systems.dbos.layout import Layout, Slot
from trace_check.recording.work import is_valid, told

__all__ = ["ACTIVE", "Tables", "checkpoint_id", "database", "open_tables", "read_branches"]

ACTIVE: Final = ("PENDING", "ENQUEUED", "DELAYED")
"""The statuses of a workflow that has not ended."""


def database(folder: Path) -> Path:
    """The system database of a recording."""
    return folder / "dbos.sqlite"


@dataclass(frozen=True)
class Row:
    """A row of ``operation_outputs``: what one call of a workflow gave."""

    name: str
    output: str | None
    error: str | None
    serialization: str | None
    stamp: tuple[int | None, int | None]

    def value(self) -> Any:
        """The output, decoded."""
        return _decoded(self.output, self.serialization)

    def told_bytes(self) -> bytes:
        """The bytes of the row."""
        return f"{self.name}\0{self.output}\0{self.error}".encode()


@dataclass(frozen=True)
class Status:
    """A workflow's status and which execution owns it."""

    status: str
    owner: str | None


class Tables:
    """One look at the tables.  Each method is one read-only query."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection

    def status(self, workflow: str) -> Status | None:
        """The workflow's status; None where it does not exist."""
        found = self._rows("SELECT status, owner_xid FROM workflow_status WHERE workflow_uuid = ?", workflow)
        return Status(*found[0]) if found else None

    def forks(self, workflow: str) -> list[str]:
        """The workflows that were forked from that one, the oldest first."""
        query = "SELECT workflow_uuid FROM workflow_status WHERE forked_from = ? ORDER BY created_at, rowid"
        return [name for (name,) in self._rows(query, workflow)]

    def calls(self, workflow: str) -> dict[int, Row]:
        """What the workflow's calls gave, by function id; an error is something that a call gave."""
        query = (
            "SELECT function_id, function_name, output, error, serialization, started_at_epoch_ms,"
            " completed_at_epoch_ms FROM operation_outputs WHERE workflow_uuid = ? ORDER BY function_id"
        )
        return {
            number: Row(name, output, error, how, (started, completed))
            for number, name, output, error, how, started, completed in self._rows(query, workflow)
        }

    def messages(self, workflow: str, topic: str) -> list[tuple[Any, bool]]:
        """The messages sent to a workflow on a topic, the oldest first, and whether each is consumed."""
        query = (
            "SELECT message, serialization, consumed FROM notifications"
            " WHERE destination_uuid = ? AND topic = ? ORDER BY created_at_epoch_ms, rowid"
        )
        return [(_decoded(text, how), bool(used)) for text, how, used in self._rows(query, workflow, topic)]

    def is_waiting(self, layout: Layout, slot: Slot, workflow: str) -> bool:
        """Whether a gate's ``recv`` has stored that it waits, and neither has nor could have an answer."""
        calls, found = self.calls(workflow), self.status(workflow)
        return (
            found is not None
            and found.status in ACTIVE
            and slot.function_id + 1 in calls
            and slot.function_id not in calls
            and all(used for _, used in self.messages(workflow, layout.topic(slot)))
        )

    def sealed(self, layout: Layout, thread: str, workflow: str) -> int:
        """How many units of an instance have the outcome of each of their steps."""
        calls = {number for number, row in self.calls(workflow).items() if row.error is None}
        for number in range(len(layout.program)):
            if any(slot.function_id not in calls for slot in layout.unit(thread, number)):
                return number
        return len(layout.program)

    def _rows(self, query: str, *parameters: object) -> list[tuple[Any, ...]]:
        return self._connection.execute(query, parameters).fetchall()


@contextmanager
def open_tables(folder: Path) -> Iterator[Tables]:
    """The tables, for reading only."""
    address = f"{database(folder).as_uri()}?mode=ro"
    with closing(sqlite3.connect(address, uri=True, timeout=30, isolation_level=None)) as connection:
        yield Tables(connection)


def checkpoint_id(layout: Layout, thread: str, workflow: str, unit: int) -> str:
    """A name for the row that seals a unit: its workflow's id and its function id."""
    return f"{workflow}:{layout.unit(thread, unit)[-1].function_id}"


def read_branches(folder: Path, layout: Layout) -> list[BranchRead]:
    """Every branch of every instance; the root of an instance before its forks."""
    if not database(folder).exists():
        return [BranchRead(branch=ROOT_BRANCH, thread=thread) for thread in layout.threads]
    with open_tables(folder) as tables:
        return [
            _read_branch(tables, layout, thread, workflow)
            for thread in layout.threads
            for root in [layout.workflow(thread)]
            for workflow in [root, *tables.forks(root)]
        ]


def _read_branch(tables: Tables, layout: Layout, thread: str, workflow: str) -> BranchRead:
    calls = tables.calls(workflow)
    checkpoints: list[CheckpointRead] = []
    tokens: dict[str, str] = {}
    for number in range(tables.sealed(layout, thread, workflow)):
        slots = layout.unit(thread, number)
        rows = {slot.step.step: calls[slot.function_id] for slot in slots}
        outcomes = {step: row.value() for step, row in rows.items()}
        digest = hashlib.sha256(b"\0".join(row.told_bytes() for row in rows.values())).hexdigest()[:16]
        name = checkpoint_id(layout, thread, _writer(tables, layout, workflow, slots), number)
        checkpoints.append(
            CheckpointRead(
                id=name,
                parent=checkpoints[-1].id if checkpoints else None,
                unit=layout.program[number].name,
                outcomes={step: told(outcome) for step, outcome in outcomes.items()},
                digest=digest,
                valid=all(is_valid(outcome) for outcome in outcomes.values()),
                complete=True,
                next=[unit.name for unit in layout.program[number + 1 : number + 2]],
            )
        )
        tokens[name] = str(slots[-1].function_id + 1)
    gates = [slot for slot in layout.slots(thread) if slot.step.kind == "gate"]
    answers = {
        slot.step.step: [told(value) for value, _ in tables.messages(workflow, layout.topic(slot))]
        for slot in gates
    }
    return BranchRead(
        branch=layout.branch(workflow),
        thread=thread,
        checkpoints=checkpoints,
        answers={gate: values for gate, values in answers.items() if values},
        open_interrupts=[slot.step.step for slot in gates if tables.is_waiting(layout, slot, workflow)],
        tokens=tokens,
    )


def _writer(tables: Tables, layout: Layout, workflow: str, slots: list[Slot]) -> str:
    """The workflow that wrote the rows of a unit: a fork begins with rows of the one that it was forked from."""
    root = workflow.partition("/")[0]
    if root == workflow:
        return workflow
    here, there = tables.calls(workflow), tables.calls(root)
    ids = [slot.function_id for slot in slots]
    return root if all(number in there and here[number] == there[number] for number in ids) else workflow


def _decoded(text: str | None, how: str | None) -> Any:
    if text is None:
        return None
    return json.loads(text) if how == "portable_json" else pickle.loads(base64.b64decode(text))
