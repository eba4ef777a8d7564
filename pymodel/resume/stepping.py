"""The mirror uncompiled, one state at a time: for Hypothesis, the trace checker, a debugger and the mutation tests.

States are ``bytes``.  The functions are those of :mod:`pymodel.resume.transitions`; here their rows are bytearrays
and their configuration holds lists, which is what plain Python is quickest with.
"""

from __future__ import annotations

from collections.abc import Iterable
from types import ModuleType
from typing import NamedTuple

from pymodel.errors import CapacityError
from pymodel.resume import clauses, faulty, transitions
from pymodel.resume.decoding import decode
from pymodel.resume.fault_names import fault_bits
from pymodel.resume.initial import initial_state
from pymodel.resume.layout import OVERFLOWS, Bounds, Layout, lay_out
from pymodel.resume.program import Program
from tlc_runner.values import Value

__all__ = ["Step", "Stepper"]


class Step(NamedTuple):
    """One transition: its label (see :data:`pymodel.resume.transitions.LABEL_WIDTH`) and where it leads."""

    label: tuple[int, ...]
    state: bytes

    @property
    def action(self) -> str:
        """The name of the action."""
        return transitions.ACTIONS[self.label[0]]


class Stepper:
    """Successors, clauses and values of single states.

    `next_module` is what gives ``Next``, by default that of the reference, or where there are faults the one with
    faults: the mutation tests put a changed copy there.
    """

    def __init__(
        self,
        program: Program,
        bounds: Bounds,
        faults: Iterable[str] = (),
        *,
        free: bool = False,
        next_module: ModuleType | None = None,
    ) -> None:
        self.layout: Layout = lay_out(program, bounds, fault_bits(faults), free)
        self.config = self.layout.config
        has_faults = bool(self.layout.config.faults)
        self._next = (next_module or (faulty if has_faults else transitions)).Next
        self._check = (faulty if has_faults else clauses).Check
        self._invariants = (faulty if has_faults else clauses).INVARIANTS
        self._rows = [bytearray(self.layout.width) for _ in range(self.layout.fanout)]
        self._labels = [[0] * transitions.LABEL_WIDTH for _ in range(self.layout.fanout)]
        self._scratch = bytearray(self.layout.width)

    @property
    def initial(self) -> bytes:
        """The initial state."""
        return initial_state(self.layout)

    def successors(self, state: bytes) -> list[Step]:
        """All steps out of a state, self-loops and duplicates included.

        Raises:
            CapacityError: a successor doesn't fit the record.
        """
        count = self._next(self.config, state, self._rows, self._labels)
        found = [Step(tuple(self._labels[i]), bytes(self._rows[i])) for i in range(count)]
        for step in found:
            if step.state[0]:
                raise CapacityError("ResumeContract", OVERFLOWS[step.state[0]])
        return found

    def broken(self, state: bytes) -> tuple[str, ...]:
        """Names of the invariants that a state violates."""
        bits = self._check(self.config, state, self._scratch)
        return tuple(name for i, name in enumerate(self._invariants) if bits >> i & 1)

    def situations(self, state: bytes) -> tuple[str, ...]:
        """Names of the "sometimes" properties that hold in a state."""
        bits = clauses.Sometimes(self.config, state)
        return tuple(name for i, name in enumerate(clauses.SOMETIMES) if bits >> i & 1)

    def decode(self, state: bytes) -> dict[str, Value]:
        """The state's variables as TLA+ values."""
        return decode(self.config, state)
