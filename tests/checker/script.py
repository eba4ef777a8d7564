"""Traces written by hand, a line or an operation at a time."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from trace_check.checker import Verdict, check_file
from trace_check.events import ACTION_KINDS, CheckpointRead, Header, ProgramStep, ProgramUnit
from trace_check.trials.rendering import Line, Rendering, write

__all__ = ["Script", "checkpoint", "effect", "gate", "pure", "unit"]


def effect(name: str, *after: str) -> ProgramStep:
    return ProgramStep(step=name, kind="effect", after=list(after))


def pure(name: str, *after: str) -> ProgramStep:
    return ProgramStep(step=name, kind="pure", after=list(after))


def gate(name: str, *after: str) -> ProgramStep:
    return ProgramStep(step=name, kind="gate", after=list(after))


def unit(name: str, *steps: ProgramStep) -> ProgramUnit:
    return ProgramUnit(name=name, steps=list(steps))


def checkpoint(unit_name: str, valid: bool = True, **outcomes: str) -> CheckpointRead:
    """A checkpoint as the store holds it; with an empty name, one that is torn."""
    return CheckpointRead(
        id=f"c-{unit_name}",
        parent=None,
        unit=unit_name or None,
        outcomes=dict(outcomes),
        digest="-",
        valid=valid,
        complete=bool(unit_name),
        next=[],
    )


class Script:
    """A trace in the making."""

    def __init__(
        self, *units: ProgramUnit, sink: str = "keyed", observes: Iterable[str] = ACTION_KINDS
    ) -> None:
        self.header = Header(
            v=1,
            system="hand",
            version="0",
            store="none",
            sink=sink,  # type: ignore[arg-type]
            scenario="hand",
            program=list(units),
            observes=sorted(observes),
        )
        self.lines: list[Line] = []

    def line(self, actor: str, kind: str, branch: str = "main", **fields: Any) -> int:
        """One line; the event's number."""
        self.lines.append(Line(len(self.lines), actor, kind, branch, fields))
        return len(self.lines)

    def begin(self, actor: str, kind: str, branch: str = "main", **fields: Any) -> Line:
        begun = Line(len(self.lines), actor, kind, branch, fields, "begin", f"op{len(self.lines)}")
        self.lines.append(begun)
        return begun

    def end(self, begun: Line, **fields: Any) -> int:
        said = begun.fields | fields
        self.lines.append(Line(len(self.lines), begun.actor, begun.kind, begun.branch, said, "end", begun.op))
        return len(self.lines)

    def refuse(self, begun: Line, what: str, **fields: Any) -> int:
        """The end of an operation that was refused."""
        said = {"what": what, "error": "Error"} | fields
        self.lines.append(Line(len(self.lines), begun.actor, "refused", begun.branch, said, "end", begun.op))
        return len(self.lines)

    def op(
        self, actor: str, kind: str, branch: str = "main", end: dict[str, Any] | None = None, **fields: Any
    ) -> int:
        """The two lines of an operation; the number of the second."""
        return self.end(self.begin(actor, kind, branch, **fields), **(end or {}))

    # -- the common ones

    def load(self, actor: str, index: int, branch: str = "main") -> int:
        return self.op(
            actor, "loaded", branch, {"checkpoint": f"c{index}" if index else None, "index": index}
        )

    def fire(
        self, actor: str, step: str, applied: bool = True, branch: str = "main", outcome: str = "ok"
    ) -> int:
        return self.line(
            actor, "effect_fired", branch, step=step, key=f"{branch}:{step}", applied=applied, outcome=outcome
        )

    def compute(self, actor: str, step: str, outcome: str, valid: bool = True, branch: str = "main") -> int:
        return self.line(actor, "computed", branch, step=step, outcome=outcome, valid=valid)

    def record(self, actor: str, step: str, outcome: str = "ok", branch: str = "main") -> int:
        return self.op(actor, "recorded", branch, step=step, outcome=outcome)

    def commit_fields(self, unit_name: str, valid: bool = True, **outcomes: str) -> dict[str, Any]:
        return {
            "unit": unit_name,
            "steps": list(outcomes),
            "outcomes": dict(outcomes),
            "checkpoint": f"c-{unit_name}",
            "parent": None,
            "valid": valid,
            "next": [],
        }

    def commit(
        self, actor: str, unit_name: str, branch: str = "main", valid: bool = True, **outcomes: str
    ) -> int:
        return self.op(actor, "committed", branch, **self.commit_fields(unit_name, valid, **outcomes))

    def park(self, actor: str, name: str, branch: str = "main") -> int:
        return self.op(actor, "parked", branch, gate=name)

    def answer(
        self,
        actor: str,
        name: str,
        delivery: str,
        value: str,
        accepted: bool = True,
        branch: str = "main",
    ) -> int:
        return self.op(
            actor, "answer", branch, {"accepted": accepted}, gate=name, delivery=delivery, value=value
        )

    def pass_gate(self, actor: str, name: str, value: str, branch: str = "main") -> int:
        return self.line(actor, "gate_passed", branch, gate=name, value=value)

    def fork(self, index: int, child: str, declared: bool = True) -> int:
        return self.line("client", "forked", checkpoint=None, index=index, child=child, declared=declared)

    def crash(self, actor: str, branch: str = "main") -> int:
        return self.line(actor, "crashed", branch, signal="SIGKILL")

    def read(
        self,
        *checkpoints: CheckpointRead,
        answers: dict[str, list[str]] | None = None,
        waiting: Iterable[str] = (),
        branch: str = "main",
    ) -> int:
        return self.line(
            "harness",
            "store_read",
            branch,
            checkpoints=list(checkpoints),
            answers=answers or {},
            open_interrupts=list(waiting),
        )

    # -- the verdict

    def rendering(self) -> Rendering:
        return Rendering(self.header, self.lines)

    def check(self, folder: Path, **options: Any) -> Verdict:
        return check_file(write(folder / "hand.jsonl", self.rendering()), **options)
