"""What the tables of CrewAI's flow persistence hold; read with SQL, so that rows are seen as they are stored."""

from __future__ import annotations

import hashlib
import json
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

from trace_check.events import ROOT_BRANCH, CheckpointRead, ProgramUnit
from trace_check.recording.system import BranchRead
from trace_check.recording.systems.crewai_plan import CrewAIPlan
from trace_check.recording.work import is_valid, told

__all__ = ["checkpoint_name", "checkpoints", "database", "read_branch"]


def database(folder: Path) -> Path:
    """The persistence's database."""
    return folder / "flows.sqlite"


def checkpoint_name(method: str, text: str) -> str:
    """A name for the row of a method and a state's text: a row has but a number, which is known when it is stored.

    Two rows with the same method and state have the same name.
    """
    return f"{method}:{_digest(text)}"


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def read_branch(folder: Path, thread: str, plan: CrewAIPlan) -> BranchRead:
    """Read the rows of a flow.

    Args:
        folder: the recording's.
        thread: the flow's id.
        plan: the program that ran.
    """
    if not database(folder).exists():
        return BranchRead(branch=ROOT_BRANCH)
    with closing(sqlite3.connect(database(folder))) as connection:
        found = checkpoints(connection, thread, plan)
        pending = connection.execute(
            "SELECT context_json FROM pending_feedback WHERE flow_uuid = ?", (thread,)
        ).fetchall()
    methods = [json.loads(context)["method_name"] for (context,) in pending]
    return BranchRead(
        branch=ROOT_BRANCH,
        checkpoints=found,
        answers=_answers(found, plan),
        open_interrupts=[plan.waiting[method] for method in methods],
        token=found[-1].id if found else None,
    )


def checkpoints(connection: sqlite3.Connection, thread: str, plan: CrewAIPlan) -> list[CheckpointRead]:
    """The rows that seal a unit, oldest first."""
    rows = connection.execute(
        "SELECT method_name, state_json FROM flow_states WHERE flow_uuid = ? ORDER BY id", (thread,)
    )
    found: list[CheckpointRead] = []
    for method, text in rows:
        stored = json.loads(text)["outcomes"]
        unit = plan.sealed_by(method, stored)
        if unit is not None:
            found.append(_checkpoint(method, unit, stored, text, found[-1].id if found else None, plan))
    return found


def _checkpoint(
    method: str, unit: ProgramUnit, stored: dict[str, Any], text: str, parent: str | None, plan: CrewAIPlan
) -> CheckpointRead:
    return CheckpointRead(
        id=checkpoint_name(method, text),
        parent=parent,
        unit=unit.name,
        outcomes={step.step: told(stored[step.step]) for step in unit.steps},
        digest=_digest(text),
        valid=all(step.kind == "gate" or is_valid(stored[step.step]) for step in unit.steps),
        complete=True,
        next=plan.next_unit(unit),
    )


def _answers(found: list[CheckpointRead], plan: CrewAIPlan) -> dict[str, Any]:
    """The answers that some row holds: those that the code behind the gate put into the state."""
    answers: dict[str, Any] = {}
    for checkpoint in found:
        for gate in plan.waiting.values():
            if gate in checkpoint.outcomes and checkpoint.outcomes[gate] not in answers.setdefault(gate, []):
                answers[gate].append(checkpoint.outcomes[gate])
    return {gate: values for gate, values in answers.items() if values}
