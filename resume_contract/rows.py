"""One run of one model by one engine, in the form in which it is compared, shown and written."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from resume_contract.errors import COULD_NOT_CHECK
from tlc_runner.outcome import Outcome

__all__ = ["Row"]


@dataclass(frozen=True)
class Row:
    """What an engine says of a model.

    Attributes:
        model, bound, engine: what ran.
        outcome: the name of a :class:`tlc_runner.Outcome`, for both engines.
        violated: the clause or invariant that is violated, else None.
        distinct, generated, depth: counts as TLC makes them; None where the engine did not get so far.
        depth_is_upper_bound: TLC ran with several workers, which may overstate the depth.
        seconds: wall time of the run, starting (or compiling) included.
        workers: threads.
        actions: how often each action was taken, by the mirror's names; None where nobody counted.
        sometimes: first depth of each "sometimes" property, None where it never holds; None for TLC.
        levels: distinct states by depth from depth 1; None where nobody counted.
        progress: <depth, distinct states so far> as TLC reported them on its way.
        peak_bytes: memory at its peak: of the Java process, or of the mirror's store, tables and buffers.
        message: what went wrong in one line, or "".
        counterexample: the shortest behaviour to the violation as text, or "".
        versions: what ran, by name.
    """

    model: str
    bound: str
    engine: str
    outcome: str
    violated: str | None
    distinct: int | None
    generated: int | None
    depth: int | None
    depth_is_upper_bound: bool
    seconds: float
    workers: int
    actions: dict[str, int] | None = None
    sometimes: dict[str, int | None] | None = None
    levels: tuple[int, ...] | None = None
    progress: tuple[tuple[int, int], ...] = ()
    peak_bytes: int | None = None
    message: str = ""
    counterexample: str = ""
    versions: dict[str, str] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """What lines about it begin with."""
        return f"{self.model} by {self.engine}"

    @property
    def is_decided(self) -> bool:
        """Did it come to a verdict?"""
        return Outcome[self.outcome].exit_status != COULD_NOT_CHECK

    @property
    def reason(self) -> str:
        """What went wrong, in one line."""
        return self.message or self.outcome

    @property
    def states_per_second(self) -> float | None:
        """Distinct states by second of wall time."""
        return None if self.distinct is None else self.distinct / max(self.seconds, 1e-9)

    @property
    def peak_bytes_per_state(self) -> float | None:
        """Bytes of memory at the peak by distinct state."""
        return None if self.peak_bytes is None or not self.distinct else self.peak_bytes / self.distinct

    def to_json(self) -> dict[str, Any]:
        """The row of ``bounds.json`` and of ``check --json``; see ``docs/json.md``."""
        rate = self.states_per_second
        each = self.peak_bytes_per_state
        return {
            "model": self.model,
            "bound": self.bound,
            "engine": self.engine,
            "outcome": self.outcome,
            "distinct": self.distinct,
            "generated": self.generated,
            "depth": self.depth,
            "seconds": round(self.seconds, 3),
            "states_per_second": None if rate is None else round(rate, 1),
            "property": self.violated,
            "depth_is_upper_bound": self.depth_is_upper_bound,
            "workers": self.workers,
            "peak_bytes_per_state": None if each is None else round(each, 1),
            "actions": self.actions,
            "sometimes": self.sometimes,
            "levels": None if self.levels is None else list(self.levels),
            "progress": [list(point) for point in self.progress],
            "message": self.message,
            "counterexample": self.counterexample,
        }
