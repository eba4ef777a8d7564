"""Behaviours as people read them: which action, and what it changed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from pymodel.engine.explorer import Exploration
from pymodel.engine.model import Label, Model, Record
from pymodel.engine.values import FrozenDict, changed, decoded, render_value
from pymodel.errors import ModelError

__all__ = ["Difference", "Step", "Trace", "counterexample", "trace_to", "witness"]


@dataclass(frozen=True)
class Difference:
    """One place in the state whose value an action changed."""

    place: str
    before: Any
    after: Any


@dataclass(frozen=True)
class Step:
    """A state of a behaviour and how it came about.

    Attributes:
        number: 1 for the initial state.
        label: the transition's label; None for the initial state.
        action: its name; None for the initial state.
        description: the label as text; "Initial state" for the initial one.
        state: the decoded state after the step.
        differences: from the state before; empty for the initial state.
        record: the state as the engine holds it.
    """

    number: int
    label: Label | None
    action: str | None
    description: str
    state: FrozenDict
    differences: tuple[Difference, ...]
    record: bytes


@dataclass(frozen=True)
class Trace:
    """A behaviour from an initial state to one of interest."""

    model: str
    subject: str
    steps: tuple[Step, ...]

    def __len__(self) -> int:
        return len(self.steps)

    def render(self) -> str:
        """The behaviour as text: the initial state in full, then actions and what they changed."""
        lines = [f"{self.model}: {self.subject}"]
        for step in self.steps:
            lines.append(f"{step.number:>3}  {step.description}")
            if step.label is None:
                lines += [f"       {name} = {render_value(value)}" for name, value in step.state.items()]
            else:
                lines += [
                    f"       {d.place}: {render_value(d.before)} -> {render_value(d.after)}"
                    for d in step.differences
                ]
                if not step.differences:
                    lines.append("       (nothing changes)")
        return "\n".join(lines)

    def to_json(self) -> dict[str, Any]:
        """The behaviour as JSON-ready values; states are rendered as text."""
        return {
            "model": self.model,
            "subject": self.subject,
            "steps": [
                {
                    "number": step.number,
                    "action": step.action,
                    "description": step.description,
                    "state": {name: render_value(value) for name, value in step.state.items()},
                    "differences": [
                        {"place": d.place, "before": render_value(d.before), "after": render_value(d.after)}
                        for d in step.differences
                    ],
                }
                for step in self.steps
            ],
        }


def counterexample(exploration: Exploration, invariant: str) -> Trace:
    """A shortest behaviour to a state that violates `invariant`; always the same one.

    Raises:
        ModelError: the model has no such invariant, or nothing that was searched violates it.
    """
    model = exploration.model
    if invariant not in model.invariants:
        raise ModelError(
            f"model {model.name}: no invariant {invariant!r}: it has {', '.join(model.invariants)}"
        )
    if invariant not in exploration.violations:
        raise ModelError(f"model {model.name}: no state that was searched violates {invariant}")
    found = exploration.violations[invariant]
    return trace_to(exploration, found.index, f"{invariant} is violated at depth {found.depth}")


def witness(exploration: Exploration, name: str) -> Trace:
    """A shortest behaviour to a state in which a sometimes property holds; always the same one.

    Raises:
        ModelError: the model has no such property, or it holds nowhere in what was searched.
    """
    model = exploration.model
    if name not in model.sometimes:
        raise ModelError(
            f"model {model.name}: no sometimes property {name!r}: it has {', '.join(model.sometimes)}"
        )
    if name not in exploration.witnesses:
        raise ModelError(f"model {model.name}: {name} holds in no state that was searched")
    found = exploration.witnesses[name]
    return trace_to(exploration, found.index, f"{name} holds at depth {found.depth}")


def trace_to(exploration: Exploration, index: int, subject: str) -> Trace:
    """The behaviour by which the search first reached the state with this index."""
    model = exploration.model
    chain = [index]
    while (parent := exploration.store.parent(chain[-1])) is not None:
        chain.append(parent)
    records = [exploration.record(i) for i in reversed(chain)]
    return Trace(model.name, subject, steps_of(model, records))


def steps_of(model: Model, records: list[Record]) -> tuple[Step, ...]:
    """The steps of a behaviour given by its states; of several labels the first that `Next` gives.

    Raises:
        ModelError: two neighbours are no transition of the model.
    """
    steps: list[Step] = []
    for number, record in enumerate(records, 1):
        state = decoded(model.decode(record))
        if number == 1:
            steps.append(Step(1, None, None, "Initial state", state, (), record.tobytes()))
            continue
        wanted = record.tobytes()
        label = next(
            (s.label for s in model.successors(records[number - 2]) if s.record.tobytes() == wanted), None
        )
        if label is None:
            raise ModelError(
                f"model {model.name}: state {number} is no successor of the one before, by its plain Next"
            )
        differences = tuple(Difference(*difference) for difference in changed(steps[-1].state, state))
        steps.append(
            Step(number, label, model.actions[label[0]], model.describe(label), state, differences, wanted)
        )
    return tuple(steps)
