"""What the table of Burr's SQLite persister holds; read with SQL, so that rows are seen as they are stored."""

from __future__ import annotations

import hashlib
import json
import re
import sqlite3
from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import msgspec
from msgspec import Struct

from trace_check.events import ROOT_BRANCH, CheckpointRead, ProgramUnit, Value
from trace_check.recording.system import BranchRead
from trace_check.recording.systems.burr.plan import BurrPlan
from trace_check.recording.work import is_valid, told

__all__ = ["PARTITION", "Fork", "Forks", "Line", "Row", "database", "read_branches", "stored_value"]

PARTITION: Final = "recordings"
"""The partition key of all applications of a recording."""

_REPR: Final = re.compile(r"<(?:.* )?(?:\w+\.)*(\w+) object at 0x[0-9a-f]+>")


def database(folder: Path) -> Path:
    """The persister's database."""
    return folder / "burr.sqlite"


class Fork(Struct, frozen=True):
    """A fork that an application declared: Burr itself keeps no note of it beside the rows."""

    child: str
    application: str
    parent: str
    sequence: int


class Forks:
    """The forks of a recording, in a file of the recorder's."""

    def __init__(self, folder: Path) -> None:
        self._path = folder / "forks.jsonl"

    def add(self, fork: Fork) -> None:
        """Note a fork."""
        with self._path.open("ab") as file:
            file.write(msgspec.json.encode(fork) + b"\n")

    def all(self) -> list[Fork]:
        """Those that were noted, in order."""
        lines = self._path.read_bytes().splitlines() if self._path.exists() else []
        return [msgspec.json.decode(line, type=Fork) for line in lines]


@dataclass(frozen=True, slots=True)
class Row:
    """One row: an action of an application that ended.

    Attributes:
        application, sequence, position: its key: the application's id, the number of the step, and the action.
        completed: it ended well; the state of a failed one is that from before it.
        state: the stored state's text.
    """

    application: str
    sequence: int
    position: str
    completed: bool
    state: str

    @property
    def id(self) -> str:
        """The key as one name."""
        return f"{self.application}:{self.sequence}:{self.position}"

    def outcomes(self) -> dict[str, Any]:
        """The outcomes in the state."""
        found: dict[str, Any] = json.loads(self.state).get("outcomes", {})
        return found


@dataclass(frozen=True, slots=True)
class Line:
    """The rows of an application in order, behind those of the application that it was forked from."""

    rows: list[Row]

    @classmethod
    def read(cls, connection: sqlite3.Connection, application: str, until: int | None = None) -> Line:
        """Read an application's rows.

        Args:
            connection: to the database.
            application: its id.
            until: the number of the last step to be looked at; None for all.
        """
        query = (
            "SELECT app_id, sequence_id, position, status, state FROM burr_state"
            " WHERE partition_key = ? AND app_id = ? AND sequence_id <= ? ORDER BY sequence_id"
        )
        last = 2**62 if until is None else until
        rows = connection.execute(query, (PARTITION, application, last)).fetchall()
        return cls(
            [
                Row(app, number, place, status == "completed", state)
                for app, number, place, status, state in rows
            ]
        )

    def sealing(self, plan: BurrPlan) -> list[Row]:
        """The rows that seal a unit."""
        return [row for row in self.rows if row.completed and row.position in plan.units]


def stored_value(outcome: object) -> Value:
    """An outcome in a stored state as a trace tells it; for the text in place of an object, the object's name."""
    text = _REPR.fullmatch(outcome) if isinstance(outcome, str) else None
    return f"<{text[1]}>" if text else told(outcome)


def read_branches(folder: Path, thread: str, plan: BurrPlan) -> list[BranchRead]:
    """Read the root's application and those forks of it that have stored something.

    Args:
        folder: the recording's.
        thread: the root application's id.
        plan: the program that ran.
    """
    if not database(folder).exists():
        return [BranchRead(branch=ROOT_BRANCH)]
    with closing(sqlite3.connect(database(folder))) as connection:
        has_table = connection.execute("SELECT 1 FROM sqlite_master WHERE name = 'burr_state'").fetchone()
        if has_table is None:
            return [BranchRead(branch=ROOT_BRANCH)]
        reads = [_read(ROOT_BRANCH, Line.read(connection, thread), plan)]
        for fork in Forks(folder).all():
            own = Line.read(connection, fork.application)
            if own.rows:
                prefix = Line.read(connection, fork.parent, fork.sequence)
                reads.append(_read(fork.child, Line([*prefix.rows, *own.rows]), plan))
    return reads


def _read(branch: str, line: Line, plan: BurrPlan) -> BranchRead:
    checkpoints: list[CheckpointRead] = []
    for row in line.sealing(plan):
        parent = checkpoints[-1].id if checkpoints else None
        checkpoints.append(_checkpoint(row, parent, plan))
    answers: dict[str, list[Value]] = {}
    for row in line.rows:
        for gate in plan.waiting.values():
            outcomes = row.outcomes()
            if gate in outcomes and outcomes[gate] not in answers.setdefault(gate, []):
                answers[gate].append(outcomes[gate])
    return BranchRead(
        branch=branch,
        checkpoints=checkpoints,
        answers={gate: values for gate, values in answers.items() if values},
        open_interrupts=_open(line.rows, plan),
        token=str(line.rows[-1].sequence) if line.rows else None,
        tokens={row.id: str(row.sequence) for row in line.rows},
    )


def _open(rows: Sequence[Row], plan: BurrPlan) -> list[str]:
    """The gate whose answer the next action needs."""
    if not rows:
        return []
    newest = rows[-1]
    following = plan.following(newest.position) if newest.completed else newest.position
    return [plan.waiting[following]] if following in plan.waiting else []


def _checkpoint(row: Row, parent: str | None, plan: BurrPlan) -> CheckpointRead:
    unit: ProgramUnit = plan.units[row.position]
    stored: Mapping[str, Any] = row.outcomes()
    outcomes = {step.step: stored_value(stored[step.step]) for step in unit.steps if step.step in stored}
    kinds = {step.step: step.kind for step in unit.steps}
    valid = all(
        name in stored
        and (kinds[name] == "gate" or (is_valid(stored[name]) and stored[name] == outcomes[name]))
        for name in kinds
    )
    return CheckpointRead(
        id=row.id,
        parent=parent,
        unit=unit.name,
        outcomes=outcomes,
        digest=hashlib.sha256(row.state.encode()).hexdigest()[:16],
        valid=valid,
        complete=True,
        next=plan.next_unit(row.position),
    )
