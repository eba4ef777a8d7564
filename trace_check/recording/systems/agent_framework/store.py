"""What a folder of Agent Framework checkpoints holds, by the framework's own file storage.

A file that cannot be decoded is none of its checkpoints: its listing leaves it out, and so does this reading.
"""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from trace_check.events import CheckpointRead, Value
from trace_check.recording.branches import Branches
from trace_check.recording.nodes import Layout, Progress
from trace_check.recording.system import BranchRead
from trace_check.recording.systems.agent_framework.plan import ancestry, asked, delivered, progress

__all__ = ["read_branches"]


def read_branches(
    storage: Any, folder: Path, layout: Layout, branches: Branches, name: str
) -> list[BranchRead]:
    """Every branch of every instance, the root first.

    Args:
        storage: the framework's file storage, on a folder that nobody writes to now.
        folder: that folder.
        layout: the program that ran.
        branches: which checkpoint belongs to which branch.
        name: the workflow's name.
    """
    whole = asyncio.run(storage.list_checkpoints(workflow_name=name))
    known = {checkpoint.checkpoint_id: checkpoint for checkpoint in whole}
    by_time = sorted(known, key=lambda key: known[key].timestamp)
    reads = []
    for branch, head in branches.heads(by_time).items():
        line = ancestry(known, head)
        for thread in layout.threads:
            reads.append(_read(layout, folder, line, branch, thread))
    return reads


def _read(layout: Layout, folder: Path, line: Sequence[Any], branch: str, thread: str) -> BranchRead:
    checkpoints: list[CheckpointRead] = []
    answers: dict[str, list[Value]] = {}
    before: Progress | None = None
    for item in line:
        now = progress(item)
        for unit in layout.sealed_by(now, before, thread):
            sealed = layout.sealed(now, unit, thread)
            checkpoints.append(
                CheckpointRead(
                    id=item.checkpoint_id,
                    parent=checkpoints[-1].id if checkpoints else None,
                    unit=sealed["unit"],
                    outcomes=sealed["outcomes"],
                    digest=_digest(folder, item.checkpoint_id),
                    valid=sealed["valid"],
                    complete=True,
                    next=layout.after(unit),
                )
            )
        before = now
        for whose, gate, value in delivered(item):
            kept = answers.setdefault(gate, [])
            if whose == thread and value not in kept:
                kept.append(value)
    head = line[-1] if line else None
    return BranchRead(
        branch=branch,
        thread=thread,
        checkpoints=checkpoints,
        answers={gate: values for gate, values in answers.items() if values},
        open_interrupts=[gate for whose, gate in asked(head) if whose == thread] if head is not None else [],
        token=head.checkpoint_id if head is not None else None,
    )


def _digest(folder: Path, checkpoint: str) -> str:
    return hashlib.sha256((folder / f"{checkpoint}.json").read_bytes()).hexdigest()[:16]
