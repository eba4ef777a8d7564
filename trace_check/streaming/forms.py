"""The canonical form of a thread, as a trace of its own that the offline checker judges.

A form is what a thread has shown with every name replaced by a number; step and unit names are the program's.
Threads of one form differ in names, times, keys, checkpoints' ids, digests and error classes, which no verdict
depends on (``tests/scale/test_forms.py``), and in where their lines are.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from msgspec import UNSET

from trace_check.events import EVENT_TYPES, ROOT_BRANCH, AnyEvent, CheckpointRead, Header, Value
from trace_check.observations import HARNESS
from trace_check.reader import Operation, Trace
from trace_check.streaming.scanner import layout as s
from trace_check.streaming.vocabulary import KINDS, REFUSALS

__all__ = ["Letter", "trace_of"]

Letter = Sequence[int]
_PHASES = (None, "begin", "end")
_FLAGS = {s.UNSET: UNSET, s.NULL: None, s.FALSE: False, s.TRUE: True}


def trace_of(
    path: Path,
    header: Header,
    letters: Sequence[Letter],
    names: Mapping[int, str] | None = None,
    thread: str = "thread",
) -> Trace:
    """A trace with one thread, which shows what the letters say.

    Args:
        path: the trace's name, for messages.
        header: of the whole trace.
        letters: the thread's lines.
        names: the names by their numbers, values as JSON; None: names that are made up.
        thread: the thread's name.
    """
    reader = _Reader(header, names)
    events: list[AnyEvent] = []
    begins: dict[str, int] = {}
    ends: dict[str, int] = {}
    seq: dict[str, int] = {}
    for letter in letters:
        event = reader.event(letter, thread, seq, len(events))
        if event.op is not None:
            (begins if event.phase == "begin" else ends)[event.op] = len(events)
        events.append(event)
    operations = {op: Operation(op, begin, ends.get(op)) for op, begin in begins.items()}
    return Trace(path, header, events, list(range(2, len(events) + 2)), operations, [])


@dataclass(slots=True)
class _Cursor:
    """Reads the tokens of a letter one after another."""

    tokens: Letter
    place: int = 4

    def next(self) -> int:
        self.place += 1
        return self.tokens[self.place - 1]


class _Reader:
    def __init__(self, header: Header, names: Mapping[int, str] | None) -> None:
        self.names = names
        self.units = [unit.name for unit in header.units()]
        self.steps = [step.step for unit in header.units() for step in unit.steps]

    def name(self, token: int) -> str | None:
        """A name of the thread."""
        if token == s.NULL:
            return None
        number = token - s.LOCAL
        return f"n{number}" if self.names is None else self.names[number]

    def value(self, token: int) -> Value:
        """An outcome or an answer."""
        if token < s.LOCAL:
            flag: Any = _FLAGS[token]
            return flag  # type: ignore[no-any-return]
        number = token - s.LOCAL
        if self.names is None:
            return f"v{number}"
        return _value_of(self.names[number])

    def step(self, number: int) -> str:
        return self.steps[number - 1]

    def unit(self, number: int) -> str:
        return self.units[number - 1]

    def event(self, letter: Letter, thread: str, seq: dict[str, int], before: int) -> AnyEvent:
        kind = KINDS[letter[0] & 0xFF]
        actor = HARNESS if letter[1] == s.HARNESS else self.name(letter[1])
        branch = ROOT_BRANCH if letter[2] == s.MAIN else self.name(letter[2])
        assert actor is not None
        seq[actor] = seq.get(actor, 0) + 1
        phase = _PHASES[letter[0] >> 8]
        op = None if letter[3] == s.UNSET else f"op{letter[3]}"
        common: dict[str, Any] = {
            "seq": seq[actor], "thread": thread, "branch": branch, "actor": actor, "t": before, "phase": phase, "op": op
        }  # fmt: skip
        fields = getattr(self, f"_{kind}")(_Cursor(letter))
        made: Any = EVENT_TYPES[kind](**common, **fields)
        return made  # type: ignore[no-any-return]

    def _loaded(self, c: _Cursor) -> dict[str, Any]:
        index = c.next()
        return {} if index == s.UNSET else {"checkpoint": None, "index": index - s.LOCAL}

    def _computed(self, c: _Cursor) -> dict[str, Any]:
        return {"step": self.step(c.next()), "outcome": self.value(c.next()), "valid": c.next() == s.TRUE}

    def _effect_fired(self, c: _Cursor) -> dict[str, Any]:
        return {
            "step": self.step(c.next()), "outcome": self.value(c.next()), "valid": c.next() == s.TRUE,
            "applied": c.next() == s.TRUE, "key": "",
        }  # fmt: skip

    def _recorded(self, c: _Cursor) -> dict[str, Any]:
        return {"step": self.step(c.next()), "outcome": self.value(c.next())}

    def _memo_used(self, c: _Cursor) -> dict[str, Any]:
        return {"step": self.step(c.next())}

    def _parked(self, c: _Cursor) -> dict[str, Any]:
        return {"gate": self.step(c.next())}

    def _answer(self, c: _Cursor) -> dict[str, Any]:
        return {
            "gate": self.step(c.next()), "delivery": self.name(c.next()), "value": self.value(c.next()),
            "accepted": _FLAGS[c.next()],
        }  # fmt: skip

    def _gate_passed(self, c: _Cursor) -> dict[str, Any]:
        return {"gate": self.step(c.next()), "value": self.value(c.next())}

    def _refused(self, c: _Cursor) -> dict[str, Any]:
        what, gate, step, unit, delivery = (c.next() for _ in range(5))
        return {
            "what": REFUSALS[what],
            "gate": None if gate == s.NULL else self.step(gate - s.LOCAL),
            "step": None if step == s.NULL else self.step(step - s.LOCAL),
            "unit": None if unit == s.NULL else self.unit(unit - s.LOCAL),
            "delivery": self.name(delivery),
        }

    def _committed(self, c: _Cursor) -> dict[str, Any]:
        return {
            "unit": self.unit(c.next()), "valid": c.next() == s.TRUE, "steps": self._steps(c),
            "outcomes": self._outcomes(c), "next": self._units(c), "checkpoint": "-", "parent": None,
        }  # fmt: skip

    def _crashed(self, c: _Cursor) -> dict[str, Any]:
        signal, status = self.name(c.next()), c.next()
        if status == s.NULL:
            return {"signal": signal}
        return {
            "signal": signal,
            "status": status if self.names is None else int(self.names[status - s.LOCAL]),
        }

    def _paused(self, c: _Cursor) -> dict[str, Any]:
        return {"signal": "-"}

    _continued = _paused

    def _forked(self, c: _Cursor) -> dict[str, Any]:
        return {
            "index": c.next(), "child": self.name(c.next()), "declared": c.next() == s.TRUE, "checkpoint": None
        }  # fmt: skip

    def _store_read(self, c: _Cursor) -> dict[str, Any]:
        checkpoints = [self._checkpoint(c) for _ in range(c.next())]
        answers = {}
        for _ in range(c.next()):
            gate = self.step(c.next())
            answers[gate] = [self.value(c.next()) for _ in range(c.next())]
        return {"checkpoints": checkpoints, "answers": answers, "open_interrupts": self._steps(c)}

    def _checkpoint(self, c: _Cursor) -> CheckpointRead:
        unit, valid, complete = c.next(), c.next() == s.TRUE, c.next() == s.TRUE
        return CheckpointRead(
            id="-",
            parent=None,
            unit=None if unit == s.NULL else self.unit(unit - s.LOCAL),
            outcomes=self._outcomes(c),
            digest="-",
            valid=valid,
            complete=complete,
            next=self._units(c),
        )

    def _completed(self, c: _Cursor) -> dict[str, Any]:
        return {"outcome": self.value(c.next())}

    _failed = _completed

    def _resume_failed(self, c: _Cursor) -> dict[str, Any]:
        return {"error": "-"}

    def _resume_gave_up(self, c: _Cursor) -> dict[str, Any]:
        return {"seconds": 1.0}

    def _steps(self, c: _Cursor) -> list[str]:
        return [self.step(c.next()) for _ in range(c.next())]

    def _units(self, c: _Cursor) -> list[str]:
        return [self.unit(c.next()) for _ in range(c.next())]

    def _outcomes(self, c: _Cursor) -> dict[str, Value]:
        return {self.step(c.next()): self.value(c.next()) for _ in range(c.next())}


def _value_of(text: str) -> Value:
    """A value from its text in the trace.  A string is in quotes, in which nothing is escaped."""
    if text.startswith('"'):
        return text[1:-1]
    found: Value = json.loads(text)
    return found
