"""A home-made workflow engine: it runs units in order, and a journal says how far it came."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

Outcomes = dict[str, Any]


class Journal:
    """A file to which entries are appended durably."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def entries(self) -> list[dict[str, Any]]:
        """All of them, in order."""
        return [json.loads(line) for line in self.path.read_text().splitlines()] if self.path.exists() else []

    def append(self, entry: dict[str, Any]) -> None:
        """Add one."""
        with self.path.open("a") as file:
            file.write(json.dumps(entry) + "\n")
            file.flush()
            os.fsync(file.fileno())


class Unit:
    """A piece of a workflow: code, and the question that has to be answered before it runs, if there is one."""

    def __init__(
        self, name: str, code: Callable[[Outcomes, Any], Outcomes], question: str | None = None
    ) -> None:
        self.name = name
        self.code = code
        self.question = question


class Engine:
    """Runs units."""

    def __init__(self, units: list[Unit], journal: Journal) -> None:
        self.units = units
        self.journal = journal

    def run(self) -> Outcomes | None:
        """Start, or go on from what the journal says; None when a question has to be answered first."""
        entries = self.journal.entries()
        done = {entry["unit"]: entry["outcomes"] for entry in entries if entry["what"] == "done"}
        answers = {entry["question"]: entry["value"] for entry in entries if entry["what"] == "answer"}
        content: Outcomes = {}
        for unit in self.units:
            if unit.name not in done:
                if unit.question is not None and unit.question not in answers:
                    if {"what": "asked", "question": unit.question} not in entries:
                        self.journal.append({"what": "asked", "question": unit.question})
                    return None
                answer = answers[unit.question] if unit.question is not None else None
                done[unit.name] = unit.code(dict(content), answer)
                self.journal.append({"what": "done", "unit": unit.name, "outcomes": done[unit.name]})
            content |= done[unit.name]
        return content

    def answer(self, question: str, value: Any) -> None:
        """Answer a question; `run` goes on with it.

        Raises:
            LookupError: it was not asked, or it has an answer.
        """
        about = [entry["what"] for entry in self.journal.entries() if entry.get("question") == question]
        if about != ["asked"]:
            raise LookupError(f"{question} is not open")
        self.journal.append({"what": "answer", "question": question, "value": value})
