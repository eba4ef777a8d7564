"""What a run of TLC yields."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from .errors import ValueSyntaxError
from .outcome import Outcome
from .values import Value, parse_value, to_json

__all__ = ["Progress", "StateKind", "TLCInterrupted", "TLCResult", "TraceState", "Violation"]

StateKind = Literal["normal", "stuttering", "back_to"]


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a search is: ``level`` is its depth, ``seconds`` the wall time since the start."""

    level: int
    generated: int
    distinct: int
    queue: int
    seconds: float


@dataclass(frozen=True, slots=True)
class TraceState:
    """One state of a counterexample.

    Attributes
    ----------
    number
        Its place, from 1; for ``back_to`` the number of the state the behaviour returns to.
    action
        The action that led here; None for an initial state, for stuttering, and where TLC names none.
    location
        Where the action stands, in TLC's words; None if it does not say.
    params
        The action's arguments where TLC prints them (newer versions do), else None.
    variables
        Variable -> value. Those of the state before for ``stuttering``, of the state returned to for
        ``back_to``.
    kind
        ``stuttering``: the behaviour stays in the state before for ever; ``back_to``: it loops.
    """

    number: int
    action: str | None
    location: str | None
    params: tuple[Value, ...] | None
    variables: dict[str, Value]
    kind: StateKind = "normal"

    def to_json(self) -> dict[str, Any]:
        """As JSON-ready data."""
        return {
            "number": self.number,
            "action": self.action,
            "location": self.location,
            "params": None if self.params is None else [to_json(value) for value in self.params],
            "variables": {name: to_json(value) for name, value in self.variables.items()},
            "kind": self.kind,
        }


@dataclass(frozen=True, slots=True)
class Violation:
    """One violated property with its first counterexample; ``count`` says how often it was reported."""

    outcome: Outcome
    property: str | None
    trace: tuple[TraceState, ...]
    count: int = 1


@dataclass(frozen=True, slots=True)
class TLCResult:
    """The outcome of one run of TLC; None stands for "TLC did not say".

    Attributes
    ----------
    outcome
        How it ended.
    property
        The violated invariant or property, if TLC names it or the configuration lists only one it can be.
    candidates
        The properties it can be where TLC does not name it.
    message
        The outcome in one line.
    details
        TLC's own words, over several lines.
    exit_code
        TLC's exit status, negative for a signal.
    generated, distinct, queue, depth, initial
        Counts of states; of the last report if the run was cut short. ``initial`` counts distinct initial
        states.
    coverage
        Action name -> (distinct, generated); of actions of one name their sums. Exact only without a
        counterexample, because TLC evaluates actions again to print one. Empty if coverage was not asked
        for.
    trace
        The counterexample, empty without one.
    violations
        Each violated property with its trace; more than one only with ``continue_``.
    printed
        The lines the spec printed (PrintT and the like).
    seconds
        Wall time of the whole run.
    peak_memory_bytes
        The largest resident memory of the Java process.
    tlc_version, java_version, jar_sha256, spec_sha256, cfg_sha256
        What ran on what.
    command
        The command line that was run; its folders are gone afterwards.
    warnings
        What TLC, or the choice of the jar, warned of.
    """

    outcome: Outcome
    property: str | None
    candidates: tuple[str, ...]
    message: str
    details: str
    exit_code: int
    generated: int | None
    distinct: int | None
    queue: int | None
    depth: int | None
    initial: int | None
    coverage: dict[str, tuple[int, int]]
    trace: tuple[TraceState, ...]
    violations: tuple[Violation, ...]
    printed: tuple[str, ...]
    seconds: float
    peak_memory_bytes: int | None
    tlc_version: str
    java_version: str
    jar_sha256: str
    spec_sha256: str
    cfg_sha256: str
    command: tuple[str, ...]
    warnings: tuple[str, ...] = ()

    def printed_values(self) -> tuple[Value, ...]:
        """The printed lines as values; lines TLC wrapped are joined, lines that are no value are left out."""
        values: list[Value] = []
        lines = self.printed
        start = 0
        while start < len(lines):
            for end in range(start + 1, len(lines) + 1):
                try:
                    values.append(parse_value("\n".join(lines[start:end])))
                except ValueSyntaxError:
                    # TLC indents what continues a value, so any other line begins something new.
                    if end < len(lines) and lines[end].startswith(" "):
                        continue
                    end = start + 1
                start = end
                break
        return tuple(values)

    def to_json(self) -> dict[str, Any]:
        """As JSON-ready data; values in the form of `tlc_runner.to_json`."""
        return {
            "outcome": self.outcome.name,
            "property": self.property,
            "candidates": list(self.candidates),
            "message": self.message,
            "details": self.details,
            "exit_code": self.exit_code,
            "generated": self.generated,
            "distinct": self.distinct,
            "queue": self.queue,
            "depth": self.depth,
            "initial": self.initial,
            "coverage": {name: list(counts) for name, counts in self.coverage.items()},
            "trace": [state.to_json() for state in self.trace],
            "violations": [
                {
                    "outcome": violation.outcome.name,
                    "property": violation.property,
                    "count": violation.count,
                    "trace": [state.to_json() for state in violation.trace],
                }
                for violation in self.violations
            ],
            "printed": list(self.printed),
            "seconds": self.seconds,
            "peak_memory_bytes": self.peak_memory_bytes,
            "tlc_version": self.tlc_version,
            "java_version": self.java_version,
            "jar_sha256": self.jar_sha256,
            "spec_sha256": self.spec_sha256,
            "cfg_sha256": self.cfg_sha256,
            "command": list(self.command),
            "warnings": list(self.warnings),
        }


class TLCInterrupted(KeyboardInterrupt):
    """Ctrl-C while TLC ran. TLC is gone; ``result`` holds what it had reported."""

    def __init__(self, result: TLCResult) -> None:
        super().__init__(result.message)
        self.result = result
