"""What a folder of CrewAI's JSON checkpoints holds, and the pending feedback beside it.

A checkpoint is a file of every flow that the process knows; the one that counts here is the flow whose state says which
methods ran. A flow that goes on from its pending feedback begins a new line of parents, so the files of a branch are
taken in the order in which they were written, as the framework's command line does.
"""

from __future__ import annotations

import hashlib
import json
import sqlite3
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from trace_check.events import ROOT_BRANCH, CheckpointRead, Value
from trace_check.recording.branches import Branches
from trace_check.recording.system import BranchRead
from trace_check.recording.systems.crewai.plan import CrewAIPlan
from trace_check.recording.systems.crewai.store import database
from trace_check.recording.work import is_valid, told

__all__ = [
    "Seals",
    "Snapshot",
    "checkpoints_folder",
    "line_to",
    "parse_snapshot",
    "pending_mark",
    "read_branches",
    "read_snapshots",
    "sealed_line",
]


@dataclass(frozen=True)
class Snapshot:
    """A checkpoint's file.

    Attributes:
        id: a digest of its bytes.
        runs: methods -> which process ran them.
        outcomes: steps -> outcomes, in the flow's state.
        answers: methods that ask -> the feedback that they got.
        complete: it can be decoded.
        path: its file; empty while it is not written.
        name, parent: what the framework calls it and the one before it.
    """

    id: str
    runs: dict[str, str] = field(default_factory=dict)
    outcomes: dict[str, Any] = field(default_factory=dict)
    answers: dict[str, Value] = field(default_factory=dict)
    complete: bool = True
    path: str = ""
    name: str = ""
    parent: str | None = None


def checkpoints_folder(folder: Path) -> Path:
    """Where a recording's checkpoints are."""
    return folder / "checkpoints"


def pending_mark(flow: str) -> str:
    """What a flow is noted by among the branches, for its pending feedback has the flow's id alone."""
    return f"flow:{flow}"


def parse_snapshot(data: bytes, path: Path | None = None) -> Snapshot:
    """What a checkpoint's bytes hold."""
    where: dict[str, Any] = {"id": hashlib.sha256(data).hexdigest()[:16]}
    if path is not None:
        name, _, parent = path.stem.partition("_p-")
        where |= {"path": str(path), "name": name, "parent": None if parent == "none" else parent}
    try:
        entities = json.loads(data)["entities"]
    except (ValueError, KeyError, TypeError):
        return Snapshot(**where, complete=False)
    flows = [entity for entity in entities if "runs" in (entity.get("checkpoint_state") or {})]
    if not flows:
        return Snapshot(**where)
    state = flows[-1]["checkpoint_state"]
    outputs = flows[-1].get("checkpoint_method_outputs") or []
    answers = {
        entry["method"]: entry["output"]["feedback"]
        for entry in outputs
        if isinstance(entry["output"], dict) and "feedback" in entry["output"]
    }
    return Snapshot(**where, runs=state["runs"], outcomes=state["outcomes"], answers=answers)


def read_snapshots(folder: Path) -> list[Snapshot]:
    """Every checkpoint of a recording, in the order in which they were written."""
    files = [(path.stat().st_mtime_ns, path) for path in checkpoints_folder(folder).glob("**/*.json")]
    found = [(when, parse_snapshot(path.read_bytes(), path)) for when, path in files]
    parents = {snapshot.name: snapshot.parent for _, snapshot in found}

    def depth(name: str | None) -> int:
        return 0 if name is None else 1 + depth(parents.get(name))

    # The clock of files is coarse: of two at one time the child comes after its parent.
    return [snapshot for _, snapshot in sorted(found, key=lambda entry: (entry[0], depth(entry[1].name)))]


def line_to(snapshots: Sequence[Snapshot], head: Snapshot) -> list[Snapshot]:
    """A checkpoint and those before it, as the framework knows its parents."""
    known = {snapshot.name: snapshot for snapshot in snapshots}
    line = [head]
    while (parent := known.get(line[-1].parent or "")) is not None:
        line.append(parent)
    return line[::-1]


class Seals:
    """Which units a line of checkpoints seals: each time that all of a unit's methods have run anew."""

    def __init__(self, plan: CrewAIPlan) -> None:
        self._plan = plan
        self._seen: set[tuple[str, tuple[str, ...]]] = set()

    def of(self, snapshot: Snapshot) -> list[str]:
        """The units that the next checkpoint of the line seals."""
        found = []
        for unit in self._plan.program:
            parts = sorted(self._plan.parts(unit.name))
            if not all(part in snapshot.runs for part in parts):
                continue
            mark = (unit.name, tuple(snapshot.runs[part] for part in parts))
            if mark not in self._seen:
                self._seen.add(mark)
                found.append(unit.name)
        return found


def sealed_line(plan: CrewAIPlan, snapshots: Sequence[Snapshot]) -> list[CheckpointRead]:
    """The checkpoints of a line that seal a unit, oldest first; those that cannot be decoded are among them."""
    seals = Seals(plan)
    found: list[CheckpointRead] = []
    for snapshot in snapshots:
        if not snapshot.complete:
            found.append(_read(snapshot, None, plan, found))
        for unit in seals.of(snapshot):
            found.append(_read(snapshot, unit, plan, found))
    return found


def _read(
    snapshot: Snapshot, name: str | None, plan: CrewAIPlan, before: Sequence[CheckpointRead]
) -> CheckpointRead:
    unit = None if name is None else plan.program[plan.index(name)]
    steps = [] if unit is None else unit.steps
    held = {step.step: snapshot.outcomes[step.step] for step in steps if step.step in snapshot.outcomes}
    return CheckpointRead(
        id=snapshot.id,
        parent=before[-1].id if before else None,
        unit=name,
        outcomes={step: told(outcome) for step, outcome in held.items()},
        digest=snapshot.id,
        valid=unit is not None
        and all(step.step in held and (step.kind == "gate" or is_valid(held[step.step])) for step in steps),
        complete=snapshot.complete,
        next=[] if unit is None else plan.next_unit(unit),
    )


def read_branches(folder: Path, plan: CrewAIPlan) -> list[BranchRead]:
    """Read every branch, the root first.

    Args:
        folder: the recording's, in which no process of it runs now.
        plan: the program that ran.
    """
    snapshots = read_snapshots(folder)
    branches = Branches(folder)
    by_id = {snapshot.id: snapshot for snapshot in snapshots}
    waiting = _waiting(folder)
    reads = []
    for branch, head in branches.heads(list(by_id)).items():
        if branch == ROOT_BRANCH:
            line = [snapshot for snapshot in snapshots if branches.of(snapshot.id) == branch]
        else:
            line = line_to(snapshots, by_id[head]) if head is not None else []
        sealed = sealed_line(plan, line)
        reads.append(
            BranchRead(
                branch=branch,
                checkpoints=sealed,
                answers=_answers(plan, line),
                open_interrupts=[
                    plan.waiting[method]
                    for flow, method in waiting
                    if branches.of(pending_mark(flow)) == branch
                ],
                token=line[-1].path if line else None,
                tokens={snapshot.id: snapshot.path for snapshot in line},
            )
        )
    return reads


def _waiting(folder: Path) -> list[tuple[str, str]]:
    """The flows that wait, and the methods that asked."""
    if not database(folder).exists():
        return []
    with closing(sqlite3.connect(database(folder))) as connection:
        rows = connection.execute("SELECT flow_uuid, context_json FROM pending_feedback").fetchall()
    return [(flow, json.loads(context)["method_name"]) for flow, context in rows]


def _answers(plan: CrewAIPlan, line: Sequence[Snapshot]) -> dict[str, list[Value]]:
    answers: dict[str, list[Value]] = {}
    for snapshot in line:
        for method, gate in plan.waiting.items():
            held = [snapshot.answers.get(method), snapshot.outcomes.get(gate)]
            for value in held:
                if value is not None and value not in answers.setdefault(gate, []):
                    answers[gate].append(value)
    return {gate: values for gate, values in answers.items() if values}
