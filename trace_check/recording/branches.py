"""Names for the lines of checkpoints that a system leaves unnamed."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec

from trace_check.events import ROOT_BRANCH
from trace_check.recording.log import EventLog

__all__ = ["Branches"]


class Branches:
    """Which checkpoint belongs to which branch: a file that every process of a recording appends to."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._path = folder / "branches.jsonl"

    def note(self, checkpoint: str, branch: str) -> None:
        """Say, before it is stored, on which branch a checkpoint will be."""
        self._append(["checkpoint", checkpoint, branch])

    def fork(self, parent: str, checkpoint: str, child: str | None = None) -> str:
        """Note a new branch from that checkpoint; where it has no name it gets one that no other process takes."""
        child = child or self._free_name(parent)
        self._append(["fork", checkpoint, child])
        return child

    def fork_unasked(
        self, log: EventLog, parent: str, checkpoint: str, sealed: Mapping[str, Sequence[str]]
    ) -> str:
        """Note, and say in the log, that going on from a checkpoint makes a branch for which nobody asked.

        Args:
            log: where it is said, once for each instance.
            parent, checkpoint: where the branch begins.
            sealed: each instance of the program -> the checkpoints up to there that seal a unit, the oldest first.
        """
        child = self.fork(parent, checkpoint)
        for thread, ids in sealed.items():
            log.emit(
                "forked",
                thread=thread,
                branch=parent,
                checkpoint=ids[-1] if ids else None,
                index=len(ids),
                child=child,
                declared=False,
                inferred=True,
            )
        return child

    def _free_name(self, parent: str) -> str:
        number = 2
        while True:
            try:
                os.close(os.open(self._folder / f"fork-{number}", os.O_CREAT | os.O_EXCL))
            except FileExistsError:
                number += 1
            else:
                return f"{parent}/{number}"

    def heads(self, known: Sequence[str]) -> dict[str, str | None]:
        """Each branch -> its newest checkpoint.

        Args:
            known: the checkpoints in the store, oldest first (their ids sort by time).
        """
        heads: dict[str, str | None] = {ROOT_BRANCH: None}
        owners, forks = self._read()
        heads.update(forks)
        for checkpoint in known:
            heads[owners.get(checkpoint, ROOT_BRANCH)] = checkpoint
        return heads

    def of(self, checkpoint: str) -> str:
        """The branch that a checkpoint was stored on."""
        return self._read()[0].get(checkpoint, ROOT_BRANCH)

    def of_head(self, line: Sequence[Any]) -> str:
        """The branch of a line's last checkpoint; the root where there is none."""
        return self.of(line[-1].checkpoint["id"]) if line else ROOT_BRANCH

    def _read(self) -> tuple[dict[str, str], dict[str, str]]:
        owners: dict[str, str] = {}
        forks: dict[str, str] = {}
        if self._path.exists():
            for line in self._path.read_bytes().splitlines():
                what, checkpoint, branch = msgspec.json.decode(line, type=tuple[str, str, str])
                if what == "fork":
                    forks[branch] = checkpoint
                else:
                    owners[checkpoint] = branch
        return owners, forks

    def _append(self, entry: list[str]) -> None:
        fd = os.open(self._path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644)
        try:
            os.write(fd, msgspec.json.encode(entry) + b"\n")
        finally:
            os.close(fd)
