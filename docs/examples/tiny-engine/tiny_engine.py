"""A workflow engine in one page: a journal, effects, and a resume that has a bug."""

from __future__ import annotations

import json
import os
import signal
from pathlib import Path

from trace_check.writer import TraceWriter

UNITS = {"order": ["charge", "ship"], "thank": ["mail"]}


class Engine:
    """Runs UNITS; what it has done is in its journal, one JSON object a line, so that a new process can go on."""

    def __init__(self, folder: Path, log: TraceWriter) -> None:
        self.journal = folder / "journal.jsonl"
        self.world = folder / "world.txt"  # what the effects did
        self.log = log

    def run(self, kill_after: str = "") -> None:
        """Start or resume, and go on to the end (or to a SIGKILL once this step is in the journal)."""
        with self.log.operation("loaded") as load:
            recorded, sealed = self.load()
            load.end(checkpoint=sealed[-1] if sealed else None, index=len(sealed))
        for number, (unit, steps) in enumerate(UNITS.items()):
            if unit in sealed:
                continue
            outcomes = {}
            for step in steps:
                if step in recorded:
                    outcomes[step] = recorded[step]
                    continue
                outcomes[step] = self.fire(step)
                with self.log.operation("recorded", step=step, outcome=outcomes[step]):
                    self.append({"recorded": step, "outcome": outcomes[step]})
                if step == kill_after:
                    os.kill(os.getpid(), signal.SIGKILL)
            checkpoint = {
                "unit": unit,
                "steps": steps,
                "outcomes": outcomes,
                "checkpoint": unit,
                "valid": True,
            }
            links = {"parent": sealed[-1] if sealed else None, "next": list(UNITS)[number + 1 : number + 2]}
            with self.log.operation("committed", **checkpoint, **links):
                self.append({"sealed": unit})
            sealed.append(unit)
        self.log.emit("completed", outcome=outcomes[step])

    def load(self) -> tuple[dict[str, str], list[str]]:
        """The outcomes that were recorded, and the units that were sealed."""
        recorded: dict[str, str] = {}
        sealed: list[str] = []
        for line in self.journal.read_text().splitlines() if self.journal.exists() else []:
            entry = json.loads(line)
            if "sealed" in entry:
                sealed.append(entry["sealed"])
        return recorded, sealed

    def fire(self, step: str) -> str:
        """Do something outside that can't be taken back."""
        with self.world.open("a") as world:
            world.write(f"{step}\n")
        self.log.emit("effect_fired", step=step, key=step, applied=True, outcome=f"{step} done")
        return f"{step} done"

    def append(self, entry: dict[str, str]) -> None:
        """Make an entry durable."""
        with self.journal.open("a") as journal:
            journal.write(json.dumps(entry) + "\n")
            journal.flush()
            os.fsync(journal.fileno())
