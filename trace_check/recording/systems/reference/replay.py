"""Replays what the reference's processes did through the mirror, and compares the mirror's state with the store."""

from __future__ import annotations

from typing import Any

from pymodel.resume import actions
from pymodel.resume import reading as at
from pymodel.resume.initial import initial_state
from pymodel.resume.layout import Bounds, Config, lay_out
from pymodel.resume.program import Program
from trace_check.errors import RecordingError
from trace_check.recording.sink import Effect
from trace_check.recording.systems.reference.store import Transaction

__all__ = ["SPOILED", "replay"]

SPOILED = "<spoiled>"
"""The outcome of a step that breaks its schema."""

_STATUSES = ("absent", "running", "failed", "uncertain", "done")
_GATES = ("closed", "parked", "answered", "claimed", "consumed")


class _Numbers(dict[object, int]):
    """Numbers for names, from 1, as they come."""

    def __missing__(self, name: object) -> int:
        self[name] = number = len(self) + 1
        return number


class _Replay:
    def __init__(self, t: Transaction, program: Program) -> None:
        self.program = program
        self.history = t.history()
        self.branches = {name: number for number, (name, *_) in enumerate(t.branches(), 1)}
        self.runners, self.values, self.deliveries = _Numbers(), _Numbers(), _Numbers()
        for actor, action, parameters in self.history:
            self.runners[actor]
            if action in ("Compute", "Fire", "Deliver"):
                self.values[parameters[-1]]
            if action == "Deliver":
                self.deliveries[parameters[2]]
        layout = lay_out(
            program,
            Bounds(
                runners=max(1, len(self.runners)),
                branches=len(self.branches),
                answers=max(1, len(self.deliveries)),
                values=max(2, len(self.values), len(self.deliveries)),
                computations=4,
                crashes=255,
                expiries=255,
                invalid=255,
            ),
            free=True,
        )
        self.c: Config = layout.config
        self.state = initial_state(layout)

    def _step(self, name: str) -> int:
        return at.AT_COMMIT if name == "commit" else self.program.number(name)

    def run(self) -> None:
        """Take every action of the history.

        Raises:
            RecordingError: one that the mirror refuses.
        """
        for number, (actor, action, given) in enumerate(self.history, 1):
            parameters = self._parameters(actor, action, given)
            t = bytearray(self.state)
            if not getattr(actions, action)(self.c, self.state, t, *parameters) or t[at.OVERFLOW]:
                what = f"step {number} of the store's history, {action} of {actor} {given}, is none of the mirror's"
                raise RecordingError(what, "the store and the mirror disagree: mend the one that is wrong")
            self.state = bytes(t)

    def _parameters(self, actor: str, action: str, given: list[Any]) -> tuple[int, ...]:
        r = self.runners[actor]
        match action:
            case "Load":
                return r, self.branches[given[0]], self._step(given[1])
            case "Compute" | "Fire":
                return r, int(given[1] == SPOILED), self.values[given[1]]
            case "Record" | "Memo" | "Commit":
                return r, self._step(given[0])
            case "Deliver":
                branch, gate, delivery, value = given
                return self.branches[branch], self._step(gate), self.deliveries[delivery], self.values[value]
            case "Expire":
                return self.branches[given[0]], self._step(given[1])
            case "Fork":
                return self.branches[given[0]], given[1], self.branches[given[2]]
        return (r,)

    def differences(self, t: Transaction, effects: list[Effect]) -> list[str]:
        """What the store holds and the mirror doesn't say, or the other way round."""
        found: list[str] = []
        c, s = self.c, self.state

        def same(what: str, stored: object, mirrored: object) -> None:
            if stored != mirrored:
                found.append(f"{what}: stored {stored!r}, mirrored {mirrored!r}")

        names = {number: name for name, number in self.values.items()} | {0: None}
        parents = {number: name for name, number in self.branches.items()} | {0: None}
        for name, parent, prefix, status in t.branches():
            b = self.branches[name]
            q = at.branch_at(c, b)
            same(
                f"branch {name}",
                (parent, prefix, status),
                (parents[s[q + at.PARENT]], s[q + at.INDEX], _STATUSES[s[q]]),
            )
            mirrored = []
            for i in range(1, at.length(c, s, b) + 1):
                p = at.ckpt_at(c, b, i)
                steps = range(c.first[s[p]], c.first[s[p] + 1])
                outs = {
                    self.program.steps[x - 1].name: names[s[p + at.ENTRY_OUT + c.place[x]]] for x in steps
                }
                mirrored.append((i, s[p], outs, s[p + at.ENTRY_FLAGS]))
            stored = [(k.n, k.unit, k.outcomes, at.VALID | at.COMPLETE) for k in t.checkpoints(name)]
            same(f"checkpoints of {name}", stored, mirrored)
            applied = {e.step: e.outcome for e in effects if e.branch == name and e.applied}
            times = {
                step: sum(e.applied for e in effects if e.branch == name and e.step == step)
                for step in applied
            }
            ledger = t.ledger(name)
            for x, step in enumerate(self.program.steps, 1):
                same(f"ledger of {name}, {step.name}", ledger.get(step.name), names[s[at.ledger_at(c, b, x)]])
                if step.kind == "effect":
                    w = at.world_at(c, b, x)
                    world = times.get(step.name, 0), applied.get(step.name)
                    same(f"world of {name}, {step.name}", world, (s[w], names[s[w + at.ANSWER]]))
                if step.kind == "gate":
                    k = at.gate_at(c, b, x)
                    gate, answer = t.gate(name, step.name), t.answer(name, step.name)
                    acks = [] if answer is None else [(b, self.deliveries[answer[0]], self.values[answer[1]])]
                    heads = [k + at.GATE_HEAD + i * at.ACK_WIDTH for i in range(s[k + at.GATE_ACKS])]
                    same(
                        f"gate {step.name} of {name}",
                        (gate.status, gate.passed, gate.epoch, gate.expired, acks),
                        (
                            _GATES[s[k]],
                            names[s[k + at.GATE_PASSED]],
                            s[k + at.GATE_EPOCH],
                            bool(s[k + at.GATE_EXPIRED]),
                            [tuple(s[p : p + at.ACK_WIDTH]) for p in heads],
                        ),
                    )
        return found


def replay(t: Transaction, program: Program, effects: list[Effect]) -> None:
    """Replay the store's history and compare.

    Args:
        t: a transaction of the store.
        program: what it runs.
        effects: all that reached the sink.

    Raises:
        RecordingError: the mirror refuses an action, or ends elsewhere than the store.
    """
    mirror = _Replay(t, program)
    mirror.run()
    if found := mirror.differences(t, effects):
        raise RecordingError(
            f"the store and the mirror differ in {len(found)} places, the first {found[0]}",
            "mend the one that is wrong",
        )
