"""The contract between a model and the engine."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise
from types import ModuleType
from typing import Any, NamedTuple, TypeAlias, cast

import numpy as np
from numpy.typing import NDArray

from pymodel.errors import CapacityError, ModelError

__all__ = ["Label", "Model", "Record", "Successor", "names_of_bits"]

Record: TypeAlias = NDArray[np.uint8]
"""One state: uint8[width]."""

Label: TypeAlias = tuple[int, ...]
"""What a transition is called: the action's code, then whatever the model adds."""

MAX_BITS = 62
MAX_ACTIONS = 4096
MAX_COMPONENTS = 1024


class Successor(NamedTuple):
    """One transition out of a state."""

    label: Label
    record: Record


@dataclass(frozen=True, eq=False)
class Model:
    """A model whose states are fixed-width records of small integers.

    `module` names the plain Python module with the model's functions (or several: the first one
    that has a function of a wanted name gives it; all their functions are compiled together):

    - `Next(c, s, out, labels) -> int` writes the successors of `s` to the rows of `out`
      (uint8[fanout, width]) and their labels to `labels` (int32[fanout, label_width]) and returns
      how many there are, duplicates and self-loops included;
    - `Check(c, s, t) -> int`: bit i is set if invariant i is violated in `s`; `t` is scratch, as wide as `s`,
      for what tries actions out;
    - `Sometimes(c, s) -> int`: bit i is set if the "sometimes" property i holds in `s`.

    None of them may change `s`. Byte 0 of a record is 0, or k > 0 for "`overflow[k]` did not fit".

    Attributes:
        name: how messages call the model.
        config: the argument `c`: a NamedTuple of ints and numpy arrays, everything that varies.
        width: bytes of a record.
        fanout: the most successors a state can have.
        label_width: integers of a label; column 0 is the action's code.
        initial: uint8[n, width], the initial states.
        actions: names, by code.
        invariants: names, by bit of `Check` (at most 62).
        sometimes: names, by bit of `Sometimes` (at most 62).
        components: where the slices of the record start that change together (first 0, rising).
            The explorer stores each different slice once: group the fields that one action changes,
            and keep slices below some 30 bytes.
        overflow: names by the value of byte 0 (`overflow[0]` is never used).
        decode: record to a dict from variable to Python value.
        describe: label to text.
        marks: names, by bit of a label's last column, of what the explorer notes where some transition has it.

    Raises:
        ModelError: when the parts do not fit together.
    """

    name: str
    module: ModuleType | tuple[ModuleType, ...]
    config: Any
    width: int
    fanout: int
    label_width: int
    initial: NDArray[np.uint8]
    actions: tuple[str, ...]
    invariants: tuple[str, ...]
    sometimes: tuple[str, ...]
    components: tuple[int, ...]
    decode: Callable[[Record], Mapping[str, Any]]
    describe: Callable[[Label], str]
    overflow: tuple[str, ...] = field(default=("",))
    marks: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        def refuse(what: str) -> ModelError:
            return ModelError(f"model {self.name}: {what}")

        if self.width < 1 or self.fanout < 1 or self.label_width < 1:
            raise refuse("width, fanout and label_width must be positive")
        if not 1 <= len(self.actions) < MAX_ACTIONS:
            raise refuse(f"it needs between 1 and {MAX_ACTIONS - 1} actions")
        if len(self.invariants) > MAX_BITS or len(self.sometimes) > MAX_BITS:
            raise refuse(f"at most {MAX_BITS} invariants and {MAX_BITS} sometimes properties fit")
        for names in (self.actions, self.invariants, self.sometimes):
            if len(set(names)) != len(names):
                raise refuse(f"a name is used twice in {names}")
        starts = (*self.components, self.width)
        rising = all(a < b for a, b in pairwise(starts))
        if not self.components or starts[0] != 0 or not rising:
            raise refuse(f"components must start at 0 and rise below the width {self.width}")
        if len(self.components) > MAX_COMPONENTS:
            raise refuse(f"at most {MAX_COMPONENTS} components are possible")
        if not isinstance(self.config, tuple) or not hasattr(self.config, "_fields"):
            raise refuse("config must be a NamedTuple")
        if self.initial.dtype != np.uint8 or self.initial.ndim != 2 or self.initial.shape[1] != self.width:
            raise refuse(
                f"initial must be uint8[n, {self.width}], not {self.initial.dtype}{self.initial.shape}"
            )
        if len(self.initial) == 0:
            raise refuse("it has no initial state: give at least one row in `initial`")
        for row in self.initial:
            self.check_capacity(int(row[0]))
        for name in ("Next", "Check", "Sometimes"):
            self.function(name)

    @property
    def modules(self) -> tuple[ModuleType, ...]:
        """The modules whose functions belong to the model."""
        return self.module if isinstance(self.module, tuple) else (self.module,)

    def function(self, name: str) -> Callable[..., Any]:
        """The model's plain function of this name."""
        for module in self.modules:
            found = getattr(module, name, None)
            if found is not None:
                return cast(Callable[..., Any], found)
        places = ", ".join(module.__name__ for module in self.modules)
        raise ModelError(f"model {self.name}: no function {name} in {places}: define it there")

    def check_capacity(self, code: int) -> None:
        """Refuse a record whose byte 0 says that a field overflowed."""
        if code:
            known = code < len(self.overflow)
            raise CapacityError(self.name, self.overflow[code] if known else f"overflow code {code}")

    def check_action(self, code: int) -> None:
        """Refuse a label whose action does not exist."""
        if not 0 <= code < len(self.actions):
            raise ModelError(
                f"model {self.name}: a label has the action code {code}, of {len(self.actions)} actions"
            )

    @cached_property
    def _scratch(self) -> tuple[NDArray[np.uint8], NDArray[np.int32]]:
        return (
            np.zeros((self.fanout, self.width), np.uint8),
            np.zeros((self.fanout, self.label_width), np.int32),
        )

    def successors(self, state: Record) -> list[Successor]:
        """All transitions out of `state`, by the plain functions, in the order `Next` gives them.

        Raises:
            CapacityError: a successor does not fit the record.
            ModelError: the labels or the number of successors are impossible.
        """
        out, labels = self._scratch
        frozen = state.view()
        frozen.flags.writeable = False
        count = int(self.function("Next")(self.config, frozen, out, labels))
        self.check_fanout(count)
        found = [Successor(tuple(labels[i].tolist()), out[i].copy()) for i in range(count)]
        for label, record in found:
            self.check_action(label[0])
            self.check_capacity(int(record[0]))
        return found

    def check_fanout(self, count: int) -> None:
        """Refuse a number of successors that the model said is impossible."""
        if not 0 <= count <= self.fanout:
            raise ModelError(
                f"model {self.name}: a state has {count} successors, its fanout says {self.fanout}"
            )

    def violated(self, state: Record) -> tuple[str, ...]:
        """Names of the invariants that `state` violates, by the plain functions."""
        return names_of_bits(
            int(self.function("Check")(self.config, state, self._scratch[0][0])), self.invariants
        )

    def witnessed(self, state: Record) -> tuple[str, ...]:
        """Names of the sometimes properties that hold in `state`, by the plain functions."""
        return names_of_bits(int(self.function("Sometimes")(self.config, state)), self.sometimes)


def names_of_bits(bits: int, names: tuple[str, ...]) -> tuple[str, ...]:
    """The names whose bit is set."""
    return tuple(name for i, name in enumerate(names) if bits >> i & 1)
