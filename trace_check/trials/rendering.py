"""Behaviours of the mirror, and the traces that a recorder would have written of them.

A behaviour is a random walk of the mirror's own transitions.  Rendering is the recorder's part only: it turns labels
into lines, spreads the lines of concurrent operations over time, leaves out kinds that it doesn't promise, and lets
processes die between a begin and its end.  It knows nothing of what the checker makes of it.
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pymodel.errors import CapacityError
from pymodel.resume import reading as at
from pymodel.resume import transitions as tr
from pymodel.resume.faults import (
    FORK_INHERITS_ANSWER,
    IMPLICIT_FORK,
    ORPHANED_CLAIM,
    RECORD_BEFORE_FIRE,
    SKIP_UNCOMMITTED,
)
from pymodel.resume.layout import Bounds
from pymodel.resume.program import Program
from pymodel.resume.stepping import Step, Stepper
from trace_check.events import (
    ACTION_KINDS,
    EVENT_TYPES,
    CheckpointRead,
    Header,
    ProgramStep,
    ProgramUnit,
    Value,
    encode_line,
)

__all__ = ["Behaviour", "Line", "Rendering", "header_of", "random_behaviour", "render", "write"]

ROOT = "main"


@dataclass(frozen=True)
class Behaviour:
    """A walk: the steps taken, and the state before each."""

    stepper: Stepper
    program: Program
    steps: tuple[tuple[bytes, Step], ...]

    @property
    def last(self) -> bytes:
        return self.steps[-1][1].state

    def broken(self) -> set[str]:
        """The clauses that break somewhere on the way."""
        return {name for _, step in self.steps for name in self.stepper.broken(step.state)}

    def faults(self) -> int:
        bits = 0
        for _, step in self.steps:
            bits |= step.label[tr.FAULTS_USED]
        return bits


def random_behaviour(
    rng: random.Random, program: Program, bounds: Bounds, faults: Sequence[str] = (), length: int = 30
) -> Behaviour:
    """A walk of at most `length` steps; kinds of steps are as likely as each other, faulty ones likelier."""
    stepper = Stepper(program, bounds, faults)
    state, steps = stepper.initial, []
    for _ in range(length):
        groups: dict[tuple[int, int], list[Step]] = {}
        try:
            successors = stepper.successors(state)
        except CapacityError:
            break  # the record has no room for more
        for step in successors:
            if step.state != state:
                groups.setdefault((step.label[0], step.label[tr.FAULTS_USED]), []).append(step)
        if not groups:
            break
        weights = {tr.FORK: 0.3, tr.CRASH: 0.4, tr.EXPIRE: 0.6}
        kinds = list(groups)
        chosen = rng.choices(kinds, [4.0 if k[1] else weights.get(k[0], 1.0) for k in kinds])[0]
        step = rng.choice(groups[chosen])
        steps.append((state, step))
        state = step.state
    return Behaviour(stepper, program, tuple(steps))


@dataclass
class Line:
    """A line to be: when, who, what."""

    time: float
    actor: str
    kind: str
    branch: str
    fields: dict[str, Any]
    phase: str | None = None
    op: str | None = None


@dataclass
class Rendering:
    """A trace that is still a list of lines, so that tests can tamper with it."""

    header: Header
    lines: list[Line]
    thread: str = "t1"

    def events(self) -> list[bytes]:
        """The lines in the order of their time, each actor's numbered."""
        counts: dict[str, int] = {}
        found = []
        prefix = "" if self.thread == "t1" else f"{self.thread}."  # an actor is of one thread
        for number, line in enumerate(sorted(self.lines, key=lambda one: one.time), 1):
            counts[line.actor] = counts.get(line.actor, 0) + 1
            actor = line.actor if line.actor == "harness" else prefix + line.actor
            common = {"thread": self.thread, "branch": line.branch, "actor": actor, "t": number}
            bracket = {} if line.phase is None else {"phase": line.phase, "op": f"{prefix}{line.op}"}
            kind = EVENT_TYPES[line.kind]
            found.append(encode_line(kind(seq=counts[line.actor], **common, **bracket, **line.fields)))  # type: ignore[arg-type]
        return found


def header_of(program: Program, observes: Iterable[str] = ACTION_KINDS, sink: str = "keyed") -> Header:
    """The header for a program of the mirror; unit n is named `u<n>`."""
    units = [
        ProgramUnit(
            name=f"u{n}",
            steps=[ProgramStep(step=s.name, kind=s.kind, after=list(s.after)) for s in unit],  # type: ignore[arg-type]
        )
        for n, unit in enumerate(program.units, 1)
    ]
    return Header(
        v=1,
        system="mirror",
        version="0",
        store="none",
        sink=sink,  # type: ignore[arg-type]
        scenario="walk",
        program=units,
        observes=sorted(observes),
    )


def write(path: Path, *renderings: Rendering) -> Path:
    """Write a trace; of several renderings (of one program) as threads after each other."""
    path.write_bytes(
        encode_line(renderings[0].header) + b"".join(line for r in renderings for line in r.events())
    )
    return path


@dataclass
class _Happening:
    """What one step of a behaviour shows: one operation of one actor at one moment."""

    time: float
    actor: str
    branch: str
    kind: str
    fields: dict[str, Any]
    end_fields: dict[str, Any] = field(default_factory=dict)
    bracket: bool = False
    end_kind: str | None = None
    exact: bool = False
    after: list[tuple[str, str, dict[str, Any]]] = field(default_factory=list)


def render(
    rng: random.Random,
    behaviour: Behaviour,
    *,
    hide: float = 0.0,
    overlap: float = 0.0,
    pending: float = 0.0,
    reads: float = 0.1,
    observes: frozenset[str] | None = None,
    sink: str = "keyed",
) -> Rendering:
    """A trace of a behaviour.

    Args:
        rng: decides what the arguments leave open.
        behaviour: what happened.
        hide: the probability that a kind isn't promised; of its events about half are left out.
        overlap: the probability that an operation's lines stand far apart.
        pending: the probability that a process that does no more died before its last end line.
        reads: the probability that the store is read after a step.
        observes: the kinds promised, in place of a random choice.
        sink: as in the header.
    """
    if observes is None:
        observes = frozenset(kind for kind in sorted(ACTION_KINDS) if rng.random() >= hide)
    happenings = _Renderer(rng, behaviour, reads).happenings()
    promised = observes | {"forked", "store_read"}
    shown = [
        h
        for h in happenings
        if promised & {h.kind, h.end_kind} or h.kind not in ACTION_KINDS or rng.random() < 0.5
    ]
    return Rendering(header_of(behaviour.program, observes, sink), _lines(rng, shown, overlap, pending))


class _Renderer:
    def __init__(self, rng: random.Random, behaviour: Behaviour, reads: float) -> None:
        self.rng, self.behaviour, self.reads = rng, behaviour, reads
        self.c = behaviour.stepper.config
        self.names = [step.name for step in behaviour.program.steps]
        self.incarnations: dict[int, int] = {}
        self.clients = 0

    def actor(self, r: int) -> str:
        return f"p{r}.{self.incarnations.setdefault(r, 1)}"

    def client(self) -> str:
        self.clients += 1
        return f"client{self.clients}"

    def branch(self, b: int) -> str:
        return ROOT if b == 1 else f"b{b}"

    def happenings(self) -> list[_Happening]:
        found: list[_Happening] = []
        for number, (before, step) in enumerate(self.behaviour.steps, 1):
            time = 10.0 * number
            for one in self.of_step(before, step):
                one.time = time
                time += 0.5
                found.append(one)
            r = step.label[1]
            if step.label[0] == tr.CRASH or (
                step.label[0] <= tr.REJECT
                and step.state[at.run_at(self.c, r)] == at.IDLE
                and self.rng.random() < 0.3
            ):
                self.incarnations[r] = self.incarnations.get(r, 1) + 1
            if self.rng.random() < self.reads:
                found += self.store_reads(step.state, time + 4)
        if self.reads:
            found += self.store_reads(self.behaviour.last, 10.0 * len(self.behaviour.steps) + 100)
        return found

    def store_reads(self, s: bytes, time: float) -> list[_Happening]:
        found = []
        for b in range(1, self.c.B + 1):
            if s[at.branch_at(self.c, b)] != at.ABSENT:
                found.append(
                    _Happening(time, "harness", self.branch(b), "store_read", self.read(s, b), exact=True)
                )
                time += 0.01
        return found

    def read(self, s: bytes, b: int) -> dict[str, Any]:
        c, checkpoints = self.c, []
        for i in range(1, at.length(c, s, b) + 1):
            p = at.ckpt_at(c, b, i)
            u, flags = s[p], s[p + at.ENTRY_FLAGS]
            complete = bool(flags & at.COMPLETE)
            outs: dict[str, Value] = {
                self.names[x - 1]: f"o{s[p + at.ENTRY_OUT + c.place[x]]}"
                for x in range(c.first[u], c.first[u + 1])
            }
            checkpoints.append(
                CheckpointRead(
                    id=f"{b}.{i}",
                    parent=f"{b}.{i - 1}" if i > 1 else None,
                    unit=f"u{u}" if complete else None,
                    outcomes=outs if complete else {},
                    digest="-",
                    valid=bool(flags & at.VALID),
                    complete=complete,
                    next=[],
                )
            )
        answers, waiting = {}, []
        for g in [g for g in c.gate_in if g]:
            k = at.gate_at(c, b, g)
            acks = [s[k + at.GATE_HEAD + 3 * i + at.ACK_VALUE] for i in range(s[k + at.GATE_ACKS])]
            if acks and s[k] >= at.ANSWERED:
                answers[self.names[g - 1]] = [f"o{v}" for v in acks]
            if s[k] == at.PARKED:
                waiting.append(self.names[g - 1])
        return {"checkpoints": checkpoints, "answers": answers, "open_interrupts": waiting}

    def of_step(self, before: bytes, step: Step) -> list[_Happening]:
        """What a step shows; several where one step of the mirror is several events."""
        c, after, label = self.c, step.state, step.label
        action, faults = label[0], label[tr.FAULTS_USED]
        if action in (tr.DELIVER, tr.EXPIRE, tr.FORK):
            return self.of_environment(before, label)
        r = label[1]
        p = at.run_at(c, r)
        actor = self.actor(r)
        b = before[p + at.BRANCH] or label[2]
        where = self.branch(b)
        x = before[p + at.STEP]
        name = self.names[x - 1] if x else ""

        def one(kind: str, **fields: Any) -> _Happening:
            return _Happening(0, actor, where, kind, fields)

        def bracket(kind: str, end: dict[str, Any] | None = None, **fields: Any) -> _Happening:
            return _Happening(0, actor, where, kind, fields, end or {}, True)

        def refused(what: str, **fields: Any) -> _Happening:
            return _Happening(0, actor, where, "refused", {"what": what} | fields)

        match action:
            case tr.LOAD:
                index = label[4] if faults & ~(1 << 3) else at.length(c, before, b)
                end = {"checkpoint": f"{b}.{index}" if index else None, "index": index}
                load = bracket("loaded", end)
                if faults & IMPLICIT_FORK:
                    parent = after[at.branch_at(c, b) + at.PARENT]
                    fork = {"checkpoint": None, "index": index, "child": where, "declared": False}
                    return [_Happening(0, actor, self.branch(parent), "forked", fork), load]
                return [load]
            case tr.COMPUTE:
                return [one("computed", step=name, outcome=f"o{label[3]}", valid=not label[2])]
            case tr.FIRE:
                first = before[at.world_at(c, b, x)] == 0
                again = bool(faults) and not first
                return [
                    one(
                        "effect_fired",
                        step=name,
                        key=f"{where}:{name}",
                        applied=first or again,
                        outcome=f"o{after[p + at.OUT]}",
                        valid=not after[p + at.BAD],
                    )
                ]
            case tr.RECORD:
                if c.kind[x] == at.GATE:
                    return []
                out = after[at.ledger_at(c, b, x)] if faults & RECORD_BEFORE_FIRE else before[p + at.OUT]
                return [bracket("recorded", step=name, outcome=f"o{out}")]
            case tr.MEMO:
                return [one("memo_used", step=name)]
            case tr.COMMIT:
                return [] if faults & SKIP_UNCOMMITTED else [self.commit(bracket, before, after, b, p)]
            case tr.PARK:
                return [] if faults & FORK_INHERITS_ANSWER else [bracket("parked", gate=name)]
            case tr.CLAIM | tr.TAKE_OVER:
                if faults & ORPHANED_CLAIM:
                    return [refused("gate", gate=name)]
                if faults and label[2] == 0:
                    return []
                if faults and label[2] == 2:
                    return [refused("gate", gate=name)]
                passed = bracket("gate_passed", {"value": f"o{after[p + at.OUT]}"}, gate=name)
                passed.bracket = self.rng.random() < 0.5
                return [passed]
            case tr.REFUSE:
                return [refused("gate", gate=name)]
            case tr.STALE:
                if x:
                    stale = refused("record", step=name)
                    if before[p + at.PHASE] == at.HOLDS and c.kind[x] != at.GATE and self.rng.random() < 0.5:
                        fields = {"step": name, "outcome": f"o{before[p + at.OUT]}"}
                        return [
                            _Happening(0, actor, where, "recorded", fields, stale.fields, True, "refused")
                        ]
                    return [stale]
                return [refused("commit", unit=f"u{before[p + at.UNIT]}")]
            case tr.REJECT:
                rejected = refused("outcome", step=name)
                failed = after[at.branch_at(c, b)] == at.FAILED != before[at.branch_at(c, b)]
                return [rejected, one("failed", outcome="-")] if failed else [rejected]
            case tr.CRASH:
                return [one("crashed", signal="SIGKILL")]
        raise AssertionError(label)

    def commit(self, bracket: Any, before: bytes, after: bytes, b: int, p: int) -> _Happening:
        c = self.c
        u, n = before[p + at.UNIT], at.length(c, after, b)
        entry = at.ckpt_at(c, b, n)
        steps = range(c.first[u], c.first[u + 1])
        one: _Happening = bracket(
            "committed",
            unit=f"u{u}",
            steps=[self.names[x - 1] for x in steps],
            outcomes={self.names[x - 1]: f"o{after[entry + at.ENTRY_OUT + c.place[x]]}" for x in steps},
            checkpoint=f"{b}.{n}",
            parent=f"{b}.{n - 1}" if n > 1 else None,
            valid=bool(after[entry + at.ENTRY_FLAGS] & at.VALID),
            next=[f"u{u + 1}"] if u < c.U else [],
        )
        if u == c.U:
            one.after.append((one.branch, "completed", {"outcome": "-"}))
        return one

    def of_environment(self, before: bytes, label: tuple[int, ...]) -> list[_Happening]:
        if label[0] == tr.EXPIRE:
            return []
        where, actor = self.branch(label[1]), self.client()
        if label[0] == tr.FORK:
            fields = {"checkpoint": None, "index": label[2], "child": self.branch(label[3]), "declared": True}
            return [_Happening(0, actor, where, "forked", fields)]
        gate, delivery, value = self.names[label[2] - 1], f"d{label[3]}", f"o{label[4]}"
        fields = {"gate": gate, "delivery": delivery, "value": value}
        found = [_Happening(0, actor, where, "answer", fields, {"accepted": True}, True)]
        if self.rng.random() < 0.2:  # the same delivery once more
            found.append(_Happening(0, self.client(), where, "answer", fields, {"accepted": True}, True))
        return found


def _lines(rng: random.Random, happenings: list[_Happening], overlap: float, pending: float) -> list[Line]:
    """Lines for what happened.  Each actor does one thing after another; the lines of different actors may cross."""
    by_actor: dict[str, list[_Happening]] = {}
    for one in happenings:
        by_actor.setdefault(one.actor, []).append(one)
    lines: list[Line] = []
    end_of_time = max((h.time for h in happenings), default=0.0) + 50
    forked_at = {h.fields["child"]: h.time for h in happenings if h.kind == "forked"}
    for actor, own in by_actor.items():
        free_from = 0.0
        for number, one in enumerate(own):
            following = own[number + 1].time if number + 1 < len(own) else end_of_time
            far = rng.random() < overlap
            reach = 40.0 if far else 0.2
            # no line of a branch comes before the line that introduces it
            earliest = max(free_from, one.time - reach, forked_at.get(one.branch, 0.0) + 1e-3)
            begin = rng.uniform(min(earliest, one.time), one.time)
            end = one.time + rng.uniform(1e-6, 0.9 * min(reach, following - one.time))
            if one.exact or one.kind == "forked":
                end = one.time + 1e-6
            op = f"{actor}.{number}"
            kind = one.end_kind or one.kind
            if not one.bracket:
                fields = one.fields | one.end_fields
                lines.append(Line(end, actor, one.kind, one.branch, fields))
            else:
                lines.append(Line(begin, actor, one.kind, one.branch, one.fields, "begin", op))
                end_fields = one.end_fields if one.end_kind else one.fields | one.end_fields
                lines.append(Line(end, actor, kind, one.branch, end_fields, "end", op))
                rest = own[number + 1 :]
                dies = not rest or (len(rest) == 1 and rest[0].kind == "crashed")
                if dies and one.end_kind is None and rng.random() < pending:
                    lines.pop()
                    one.after.clear()
            for branch, after_kind, fields in one.after:
                end += 1e-6
                lines.append(Line(end, actor, after_kind, branch, fields))
            free_from = end
    return lines
