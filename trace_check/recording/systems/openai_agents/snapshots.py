"""The snapshots that an application keeps of an OpenAI Agents run: a JSON file for each, and what it says."""

from __future__ import annotations

import hashlib
import json
import os
import time
import uuid
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from trace_check.events import CheckpointRead, Value
from trace_check.recording.branches import Branches
from trace_check.recording.nodes import Layout, Progress
from trace_check.recording.system import BranchRead

__all__ = ["Snapshot", "Snapshots", "read_branches"]


@dataclass(frozen=True)
class Snapshot:
    """A run's state as the application kept it.

    Attributes:
        name: its file's stem; names sort by time.
        parent: the snapshot that the run went on from.
        final: the run had ended.
        state: what `RunState.to_json` gave.
    """

    name: str
    parent: str | None
    final: bool
    state: dict[str, Any]

    @property
    def context(self) -> dict[str, Any]:
        """The application's own part of the state, which its tools write to."""
        found: dict[str, Any] = self.state["context"]["context"]
        return found

    def progress(self) -> Progress:
        """What it holds of the program."""
        runs = {(node, mark): n for node, marks in self.context["runs"].items() for mark, n in marks.items()}
        return Progress(runs, self.context["outcomes"])

    def waiting(self) -> dict[str, tuple[str, str]]:
        """The calls that wait for approval: call id -> (instance, gate)."""
        step = self.state.get("current_step") or {}
        calls = [item["raw_item"] for item in step.get("data", {}).get("interruptions", [])]
        arguments = {call["call_id"]: json.loads(call["arguments"]) for call in calls}
        return {name: (given["thread"], given["gate"]) for name, given in arguments.items()}


class Snapshots:
    """The folder of an application's snapshots; each is written whole, under a name of its own."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder / "snapshots"
        self._folder.mkdir(exist_ok=True)

    def names(self) -> list[str]:
        """All of them, the oldest first."""
        return sorted(file.stem for file in self._folder.glob("*.json"))

    def files(self) -> list[Path]:
        """Their files."""
        return [self._path(name) for name in self.names()]

    def read(self, name: str) -> Snapshot:
        """Read one.

        Raises:
            ValueError: it is no JSON.
        """
        kept = json.loads(self._path(name).read_bytes())
        return Snapshot(name, kept["parent"], kept["final"], kept["state"])

    def line(self, name: str | None) -> list[Snapshot]:
        """A snapshot and those that it came from, the oldest first."""
        found: list[Snapshot] = []
        while name is not None:
            found.append(self.read(name))
            name = found[-1].parent
        return found[::-1]

    @staticmethod
    def new_name() -> str:
        """A name that no other process takes."""
        return f"{time.time_ns()}-{uuid.uuid4().hex[:8]}"

    def write(self, snapshot: Snapshot) -> None:
        """Keep one durably, in one step.

        Raises:
            TypeError: it holds something that JSON does not take.
        """
        kept = {"parent": snapshot.parent, "final": snapshot.final, "state": snapshot.state}
        text = json.dumps(kept).encode()
        part = self._path(snapshot.name).with_suffix(".part")
        with part.open("wb") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        part.replace(self._path(snapshot.name))

    def digest(self, name: str) -> str:
        """A digest of the stored bytes."""
        return hashlib.sha256(self._path(name).read_bytes()).hexdigest()[:16]

    def _path(self, name: str) -> Path:
        return self._folder / f"{name}.json"


def read_branches(snapshots: Snapshots, layout: Layout, branches: Branches) -> list[BranchRead]:
    """Every branch of every instance, the root first.

    Args:
        snapshots: those of a recording, to which nobody writes now.
        layout: the program that ran.
        branches: which snapshot belongs to which branch.
    """
    reads = []
    for branch, head in branches.heads(snapshots.names()).items():
        torn: str | None = None
        try:
            line = snapshots.line(head)
        except ValueError:
            # A file cut short does not say what it came from: the one before it in time is its branch's last.
            torn = head
            before = [name for name in snapshots.names() if name != head and branches.of(name) == branch]
            line = snapshots.line(before[-1] if before else None)
        reads += [_read(snapshots, layout, line, branch, thread, torn) for thread in layout.threads]
    return reads


def _read(
    snapshots: Snapshots,
    layout: Layout,
    line: Sequence[Snapshot],
    branch: str,
    thread: str,
    torn: str | None,
) -> BranchRead:
    checkpoints: list[CheckpointRead] = []
    answers: dict[str, list[Value]] = {}
    before: Progress | None = None
    for item in line:
        now = item.progress()
        for unit in layout.sealed_by(now, before, thread):
            sealed = layout.sealed(now, unit, thread)
            checkpoints.append(
                CheckpointRead(
                    id=item.name,
                    parent=checkpoints[-1].id if checkpoints else None,
                    unit=sealed["unit"],
                    outcomes=sealed["outcomes"],
                    digest=snapshots.digest(item.name),
                    valid=sealed["valid"],
                    complete=True,
                    next=layout.after(unit),
                )
            )
        before = now
        for gate, value in item.context["answers"].get(thread, {}).items():
            if value not in answers.setdefault(gate, []):
                answers[gate].append(value)
    if torn is not None:
        checkpoints.append(
            CheckpointRead(
                id=torn,
                parent=checkpoints[-1].id if checkpoints else None,
                unit=None,
                outcomes={},
                digest=snapshots.digest(torn),
                valid=False,
                complete=False,
                next=[],
            )
        )
    waiting = line[-1].waiting() if line and torn is None else {}
    return BranchRead(
        branch=branch,
        thread=thread,
        checkpoints=checkpoints,
        answers=answers,
        open_interrupts=[gate for whose, gate in waiting.values() if whose == thread],
        token=torn or (line[-1].name if line else None),
    )
