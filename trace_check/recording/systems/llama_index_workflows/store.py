"""The JSON files in which an application keeps the context of a LlamaIndex workflow."""

from __future__ import annotations

import hashlib
import json
import os
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from trace_check.events import CheckpointRead, ProgramUnit, Value
from trace_check.recording.branches import Branches
from trace_check.recording.order import sealed_units
from trace_check.recording.system import BranchRead
from trace_check.recording.work import is_valid, told

__all__ = ["Snapshots", "first_with", "outcomes_in", "read_branches", "waiters_in"]


class Snapshots:
    """Every snapshot in a file of its own, written atomically; its name sorts by the time of the write."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder / "snapshots"
        self._folder.mkdir(exist_ok=True)

    def path(self, name: str) -> Path:
        """The file of a snapshot."""
        return self._folder / name

    def names(self) -> list[str]:
        """All snapshots, the oldest first."""
        return sorted(path.name for path in self._folder.glob("*.json"))

    def new_name(self, actor: str) -> str:
        """A name for a snapshot that is about to be written."""
        return f"{time.monotonic_ns():020d}-{actor}.json"

    def save(self, name: str, context: Mapping[str, Any]) -> None:
        """Write a snapshot: to another file first, then in its place at once."""
        temporary = self.path(f"{name}.new")
        with temporary.open("w", encoding="utf-8") as file:
            json.dump(context, file)
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, self.path(name))

    def load(self, name: str) -> dict[str, Any]:
        """Read a snapshot.

        Raises:
            ValueError: it is no JSON.
        """
        loaded: dict[str, Any] = json.loads(self.path(name).read_text(encoding="utf-8"))
        return loaded


def outcomes_in(context: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """The outcomes that a context's own store holds: by instance, by step."""
    kept = context["state"].get("state_data", {}).get("_data", {}).get("outcomes")
    return json.loads(kept) if kept is not None else {}


def waiters_in(context: Mapping[str, Any]) -> dict[str, Value]:
    """The gates at which a step waits, as ``thread/gate`` -> the answer that it has, None for none."""
    found: dict[str, Value] = {}
    for worker in context["workers"].values():
        for waiter in worker["collected_waiters"]:
            event = waiter["resolved_event"]
            found[waiter["waiter_id"]] = json.loads(event)["value"]["value"] if event is not None else None
    return found


def read_branches(folder: Path, threads: Sequence[str], program: Sequence[ProgramUnit]) -> list[BranchRead]:
    """Every line of snapshots of every instance, the root first."""
    snapshots, branches = Snapshots(folder), Branches(folder)
    names = snapshots.names()
    contexts = {name: _whole(snapshots, name) for name in names}
    return [
        _read(snapshots, branches, contexts, thread, program, branch, head)
        for thread in threads
        for branch, head in branches.heads(names).items()
    ]


def _whole(snapshots: Snapshots, name: str) -> dict[str, Any] | None:
    try:
        return snapshots.load(name)
    except ValueError:
        return None


def _read(
    snapshots: Snapshots,
    branches: Branches,
    contexts: Mapping[str, dict[str, Any] | None],
    thread: str,
    program: Sequence[ProgramUnit],
    branch: str,
    head: str | None,
) -> BranchRead:
    if head is None:
        return BranchRead(branch=branch, thread=thread)
    context = contexts[head]
    if context is None:
        torn = CheckpointRead(
            id=head,
            parent=None,
            unit=None,
            outcomes={},
            digest=hashlib.sha256(snapshots.path(head).read_bytes()).hexdigest()[:16],
            valid=False,
            complete=False,
            next=[],
        )
        return BranchRead(branch=branch, thread=thread, checkpoints=[torn], token=head)
    outcomes = outcomes_in(context).get(thread, {})
    checkpoints: list[CheckpointRead] = []
    for number in range(sealed_units(program, outcomes)):
        kept = {step.step: outcomes[step.step] for step in program[number].steps}
        checkpoints.append(
            CheckpointRead(
                id=first_with(contexts, branches, branch, thread, kept),
                parent=checkpoints[-1].id if checkpoints else None,
                unit=program[number].name,
                outcomes={step: told(outcome) for step, outcome in kept.items()},
                digest=hashlib.sha256(json.dumps(kept).encode()).hexdigest()[:16],
                valid=all(is_valid(outcome) for outcome in kept.values()),
                complete=True,
                next=[unit.name for unit in program[number + 1 : number + 2]],
            )
        )
    gates = [step.step for unit in program for step in unit.steps if step.kind == "gate"]
    waiters = waiters_in(context)
    answers = {gate: outcomes.get(gate, waiters.get(f"{thread}/{gate}")) for gate in gates}
    return BranchRead(
        branch=branch,
        thread=thread,
        checkpoints=checkpoints,
        answers={gate: [told(value)] for gate, value in answers.items() if value is not None},
        open_interrupts=[gate for gate in gates if f"{thread}/{gate}" in waiters and answers[gate] is None],
        token=head,
    )


def first_with(
    contexts: Mapping[str, dict[str, Any] | None],
    branches: Branches,
    branch: str,
    thread: str,
    kept: Mapping[str, Any],
) -> str:
    """The oldest snapshot, of a line or of those that it comes from, that holds these outcomes of a unit."""
    told_kept = json.dumps(kept)
    for name in sorted(contexts):
        context = contexts[name]
        owner = branches.of(name)
        if context is None or not (branch == owner or branch.startswith(f"{owner}/")):
            continue
        outcomes = outcomes_in(context).get(thread, {})
        if json.dumps({step: outcomes.get(step) for step in kept}) == told_kept:
            return name
    raise ValueError(f"no snapshot of {branch} holds {sorted(kept)}")
