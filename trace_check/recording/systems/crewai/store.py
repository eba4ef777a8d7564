"""What the tables of CrewAI's flow persistence hold; read with SQL, so that rows are seen as they are stored."""

from __future__ import annotations

import hashlib
import json
import sqlite3
from collections.abc import Mapping
from contextlib import closing
from pathlib import Path
from typing import Any

from trace_check.events import ROOT_BRANCH, CheckpointRead, ProgramUnit
from trace_check.recording.system import BranchRead
from trace_check.recording.systems.crewai.plan import CrewAIPlan
from trace_check.recording.work import is_valid, told

__all__ = ["checkpoint_name", "checkpoints", "database", "read_branch", "was_asked"]


def database(folder: Path) -> Path:
    """The persistence's database."""
    return folder / "flows.sqlite"


def checkpoint_name(unit: ProgramUnit, outcomes: Mapping[str, Any]) -> str:
    """A name for what seals a unit: rows have but numbers, which are known when they are stored.

    Two with the same outcomes have the same name.
    """
    own = [outcomes.get(step.step) for step in unit.steps]
    return f"{unit.name}:{_digest(json.dumps(own, default=str))}"


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
    """What seals a unit, oldest first: the row with which each of the unit's methods has one since the last."""
    rows = connection.execute(
        "SELECT method_name, state_json FROM flow_states WHERE flow_uuid = ? ORDER BY id", (thread,)
    )
    found: list[CheckpointRead] = []
    stored: dict[str, set[str]] = {}
    for method, text in rows:
        unit = plan.units.get(method)
        if unit is None:
            continue
        done = stored.setdefault(unit.name, set())
        done.add(method)
        if done == plan.parts(unit.name):
            done.clear()
            found.append(_checkpoint(unit, text, found[-1].id if found else None, plan))
    return found


def was_asked(connection: sqlite3.Connection, thread: str, method: str) -> bool:
    """Has a method that asks ever paused the flow?"""
    query = "SELECT 1 FROM flow_states WHERE flow_uuid = ? AND method_name = ? LIMIT 1"
    return connection.execute(query, (thread, method)).fetchone() is not None


def _checkpoint(unit: ProgramUnit, text: str, parent: str | None, plan: CrewAIPlan) -> CheckpointRead:
    stored: dict[str, Any] = json.loads(text)["outcomes"]
    held = {step.step: stored[step.step] for step in unit.steps if step.step in stored}
    return CheckpointRead(
        id=checkpoint_name(unit, stored),
        parent=parent,
        unit=unit.name,
        outcomes={step: told(outcome) for step, outcome in held.items()},
        digest=_digest(text),
        valid=all(
            step.step in held and (step.kind == "gate" or is_valid(held[step.step])) for step in unit.steps
        ),
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
