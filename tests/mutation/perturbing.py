"""States that no behaviour reaches: some variables of a reachable one have other values of their types.

The transition relation is defined in them all the same, and TLC evaluates it there.  They tell apart what is always
equal in reachable states, such as the ledger's outcomes and those of the checkpoint that sealed them.
"""

from __future__ import annotations

import random
from collections.abc import Callable

from pymodel.resume import reading as at
from pymodel.resume.layout import Config

__all__ = ["perturbed"]


def perturbed(c: Config, state: bytes, generator: random.Random) -> bytes:
    """`state` with one to four variables changed; still well typed, and in the record's canonical form."""
    t = bytearray(state)
    for _ in range(generator.randint(1, 4)):
        generator.choice(_CHANGES)(c, t, generator)
    for b in range(1, c.B + 1):
        q = at.branch_at(c, b)
        if t[q] == at.ABSENT:
            # nothing of it is there, and nobody is on it
            t[q : q + c.block] = bytes(c.block)
            for r in range(1, c.R + 1):
                p = at.run_at(c, r)
                if t[p + at.BRANCH] == b:
                    t[p : p + at.RUN_WIDTH] = bytes(at.RUN_WIDTH)
    return bytes(t)


def _branch(c: Config, t: bytearray, generator: random.Random) -> int:
    return generator.choice([b for b in range(1, c.B + 1) if t[at.branch_at(c, b)] != at.ABSENT] or [1])


def _status(c: Config, t: bytearray, generator: random.Random) -> None:
    q = at.branch_at(c, _branch(c, t, generator))
    if t[q] != at.ABSENT:
        t[q] = generator.choice((at.RUNNING, at.RUNNING, at.FAILED, at.UNCERTAIN, at.DONE))


def _ledger(c: Config, t: bytearray, generator: random.Random) -> None:
    k = at.ledger_at(c, _branch(c, t, generator), generator.randint(1, c.S))
    t[k] = generator.randint(0, c.V)
    t[k + 1] = t[k] != at.NONE and generator.random() < 0.3


def _world(c: Config, t: bytearray, generator: random.Random) -> None:
    x = generator.randint(1, c.S)
    if c.kind[x] == at.EFFECT:
        k = at.world_at(c, _branch(c, t, generator), x)
        applied = generator.randint(0, 2)
        t[k] = applied
        t[k + at.ANSWER] = generator.randint(1, c.V) if applied else at.NONE
        t[k + at.ANSWER_BAD] = applied and generator.random() < 0.4


def _gate(c: Config, t: bytearray, generator: random.Random) -> None:
    g = generator.choice([g for g in c.gate_in if g])
    b = _branch(c, t, generator)
    k = at.gate_at(c, b, g)
    acks = generator.randint(0, c.A)
    statuses = [at.CLOSED, at.PARKED, at.CLAIMED, at.CONSUMED] + [at.ANSWERED] * (acks > 0)
    t[k + at.GATE_STATUS] = generator.choice(statuses)
    t[k + at.GATE_EPOCH] = generator.choice((0, 1, 2, 3, 255))
    t[k + at.GATE_EXPIRED] = generator.randint(0, 1)
    t[k + at.GATE_CLAIMS] = generator.randint(0, 2)
    t[k + at.GATE_PASSED] = generator.randint(0, c.V)
    t[k + at.GATE_ACKS] = acks
    for i in range(c.A):
        p = k + at.GATE_HEAD + i * at.ACK_WIDTH
        given = i < acks
        t[p] = generator.randint(1, c.B) if given else 0
        t[p + at.ACK_ID] = generator.randint(1, c.D) if given else 0
        t[p + at.ACK_VALUE] = generator.randint(1, c.V) if given else 0


def _entries(c: Config, t: bytearray, start: int, count: int, generator: random.Random, own: bool) -> None:
    for i in range(c.L):
        p = start + i * c.entry
        t[p : p + c.entry] = bytes(c.entry)
        if i < count:
            u = generator.randint(1, c.U)
            t[p + at.ENTRY_UNIT] = u
            flags = (at.VALID, at.COMPLETE, *((at.ACKED,) if own else ()))
            t[p + at.ENTRY_FLAGS] = sum(flag for flag in flags if generator.random() < 0.8)
            for x in range(c.first[u], c.first[u + 1]):
                t[p + at.ENTRY_OUT + c.place[x]] = generator.randint(1, c.V)


def _ckpt(c: Config, t: bytearray, generator: random.Random) -> None:
    q = at.branch_at(c, _branch(c, t, generator))
    t[q + at.LENGTH] = generator.randint(0, c.L)
    _entries(c, t, q + c.ckpt, t[q + at.LENGTH], generator, own=False)
    _passed(c, t, q, generator)


def _passed(c: Config, t: bytearray, q: int, generator: random.Random) -> None:
    for start in range(q + c.gate, q + c.computed, c.gate_width):
        t[start + at.GATE_PASSED] = generator.randint(0, c.V)


def _own(c: Config, t: bytearray, generator: random.Random) -> None:
    q = at.branch_at(c, _branch(c, t, generator))
    t[q + at.OWN_LENGTH] = generator.randint(0, c.L)
    _entries(c, t, q + c.own, t[q + at.OWN_LENGTH], generator, own=True)


def _origin(c: Config, t: bytearray, generator: random.Random) -> None:
    q = at.branch_at(c, _branch(c, t, generator))
    t[q + at.PARENT] = generator.randint(0, c.B)
    t[q + at.INDEX] = generator.randint(0, c.L)
    _entries(c, t, q + c.prefix, t[q + at.INDEX], generator, own=False)


def _outcomes(c: Config, t: bytearray, generator: random.Random) -> None:
    """Other outcomes in a checkpoint that is there."""
    b = _branch(c, t, generator)
    n = t[at.branch_at(c, b) + at.LENGTH]
    if n:
        p = at.ckpt_at(c, b, generator.randint(1, n))
        u = t[p + at.ENTRY_UNIT]
        for x in range(c.first[u], c.first[u + 1]):
            t[p + at.ENTRY_OUT + c.place[x]] = generator.randint(1, c.V)


def _computed(c: Config, t: bytearray, generator: random.Random) -> None:
    """Computations of a step with the inputs that it has now, or others."""
    pures = [x for x in range(1, c.S + 1) if c.kind[x] == at.PURE]
    if not pures:
        return
    b, x = _branch(c, t, generator), generator.choice(pures)
    now = [at.content(c, t, b, x, y) for y in range(1, c.S + 1)]
    rows = set()
    for _ in range(generator.randint(1, c.K)):
        read = list(now)
        if generator.random() < 0.5:
            for y in range(1, c.S + 1):
                if c.inputs[x * c.stride + y] and generator.random() < 0.5:
                    read[y - 1] = generator.randint(0, c.V)
        rows.add((*read, generator.randint(1, c.V)))
    _write_computed(c, t, b, x, sorted(rows))


def _write_computed(c: Config, t: bytearray, b: int, x: int, rows: list[tuple[int, ...]]) -> None:
    """Write what it read of every step, and the outcome."""
    t[at.computed_at(c, b, x)] = len(rows)
    kept = b"".join(bytes((*row[: c.reads[x]], row[-1])) for row in rows)
    start = at.computation_at(c, b, x, 1)
    t[start : at.computation_at(c, b, x, c.K + 1)] = kept.ljust(c.K * (c.reads[x] + 1), b"\0")


def _run(c: Config, t: bytearray, generator: random.Random) -> None:
    p = at.run_at(c, generator.randint(1, c.R))
    t[p : p + at.RUN_WIDTH] = bytes(at.RUN_WIDTH)
    if generator.random() < 0.1:
        return
    b = _branch(c, t, generator)
    u = generator.randint(1, c.U)
    step = generator.choice([at.AT_COMMIT, *range(c.first[u], c.first[u + 1])])
    holds = step != at.AT_COMMIT and generator.random() < 0.5
    t[p + at.PHASE] = at.HOLDS if holds else at.READY
    t[p + at.BRANCH] = b
    t[p + at.UNIT] = u
    length = t[at.branch_at(c, b) + at.LENGTH]
    t[p + at.BASE] = length if generator.random() < 0.6 else generator.randint(0, c.L)
    t[p + at.STEP] = step
    t[p + at.OUT] = generator.randint(1, c.V) if holds else at.NONE
    t[p + at.BAD] = holds and generator.random() < 0.4
    if c.gate_in[u]:
        current = t[at.gate_at(c, b, c.gate_in[u]) + at.GATE_EPOCH]
        t[p + at.EPOCH] = generator.choice((0, current, current, 1, 2))


def _budgets(c: Config, t: bytearray, generator: random.Random) -> None:
    t[at.CRASHES] = generator.randint(0, c.max_crashes)
    t[at.EXPIRIES] = generator.randint(0, c.max_expiries)
    t[at.INVALID] = generator.randint(0, c.max_invalid)


def _recompute(c: Config, t: bytearray, generator: random.Random) -> None:
    """A runner at a pure step that was computed with other inputs, or also with the same."""
    pures = [
        x
        for x in range(1, c.S + 1)
        if c.kind[x] == at.PURE and any(c.inputs[x * c.stride : (x + 1) * c.stride])
    ]
    if not pures:
        return
    b, x = _branch(c, t, generator), generator.choice(pures)
    _stand(c, t, generator, b, c.unit_of[x], x)
    now = [at.content(c, t, b, x, y) for y in range(1, c.S + 1)]
    rows = set()
    for _ in range(generator.randint(1, c.K)):
        read = list(now)
        y = generator.choice([y for y in range(1, c.S + 1) if c.inputs[x * c.stride + y]])
        read[y - 1] = generator.randint(0, c.V)
        if read != now or generator.random() < 0.3:
            rows.add((*read, generator.randint(1, c.V)))
    _write_computed(c, t, b, x, sorted(rows))
    if generator.random() < 0.4:
        # only another branch has seen this
        other = generator.randint(1, c.B)
        _write_computed(c, t, b, x, [])
        if t[at.branch_at(c, other)] != at.ABSENT:
            _write_computed(c, t, other, x, sorted(rows))


def _dispute(c: Config, t: bytearray, generator: random.Random) -> None:
    """A runner at a pure step that was computed, with the inputs it has now, to several outcomes."""
    pures = [x for x in range(1, c.S + 1) if c.kind[x] == at.PURE]
    if pures:
        b, x = _branch(c, t, generator), generator.choice(pures)
        _stand(c, t, generator, b, c.unit_of[x], x)
        now = [at.content(c, t, b, x, y) for y in range(1, c.S + 1)]
        outs = generator.sample(range(1, c.V + 1), min(2, c.K, c.V))
        _write_computed(c, t, b, x, sorted((*now, o) for o in outs))


def _commit(c: Config, t: bytearray, generator: random.Random) -> None:
    """A runner that may commit, on a branch as long as it can be, or nearly."""
    b = _branch(c, t, generator)
    q = at.branch_at(c, b)
    if t[q] != at.ABSENT:
        t[q] = at.RUNNING
        t[q + at.LENGTH] = generator.choice((c.L, c.L - 1))
        _entries(c, t, q + c.ckpt, t[q + at.LENGTH], generator, own=False)
        _passed(c, t, q, generator)
        t[q + at.OWN_LENGTH] = generator.choice((c.L, c.L - 1, 0))
        _entries(c, t, q + c.own, t[q + at.OWN_LENGTH], generator, own=True)
        _stand(c, t, generator, b, generator.randint(1, c.U), at.AT_COMMIT)


def _diverge(c: Config, t: bytearray, generator: random.Random) -> None:
    """A branch has the checkpoints of another, and the values that passed there, but for one outcome."""
    a, b = _branch(c, t, generator), _branch(c, t, generator)
    p, q = at.branch_at(c, a), at.branch_at(c, b)
    if a != b and t[p + at.LENGTH]:
        t[q + at.LENGTH] = t[p + at.LENGTH]
        t[q + c.ckpt : q + c.prefix] = t[p + c.ckpt : p + c.prefix]
        for g in c.gate_in:
            if g:
                t[at.gate_at(c, b, g) + at.GATE_PASSED] = t[at.gate_at(c, a, g) + at.GATE_PASSED]
        x = generator.randint(1, t[q + at.LENGTH])
        out = at.ckpt_at(c, b, x) + at.ENTRY_OUT
        t[out] = generator.randint(1, c.V)


def _declared(c: Config, t: bytearray, generator: random.Random) -> None:
    q = at.branch_at(c, _branch(c, t, generator))
    t[q + at.DECLARED] = generator.randint(0, 1)


def _read(c: Config, t: bytearray, generator: random.Random) -> None:
    """A runner at a step that reads earlier units of a branch with many checkpoints."""
    later = [x for x in range(c.first[2], c.S + 1) if c.kind[x] != at.GATE] if c.U > 1 else []
    if later:
        b, x = _branch(c, t, generator), generator.choice(later)
        q = at.branch_at(c, b)
        for size, start in ((at.LENGTH, c.ckpt), (at.INDEX, c.prefix)):
            t[q + size] = c.L - int(generator.random() < 0.3)
            _entries(c, t, q + start, t[q + size], generator, own=False)
        _stand(c, t, generator, b, c.unit_of[x], x)


def _record(c: Config, t: bytearray, generator: random.Random) -> None:
    """A runner with a valid outcome in hand, of a step that may be recorded already, with a claim that may be old."""
    b, x = _branch(c, t, generator), generator.randint(1, c.S)
    u = c.unit_of[x]
    k = at.ledger_at(c, b, x)
    t[k] = generator.choice((at.NONE, generator.randint(1, c.V)))
    t[k + 1] = 0
    p = _stand(c, t, generator, b, u, x)
    t[p + at.PHASE], t[p + at.OUT] = at.HOLDS, generator.randint(1, c.V)
    if c.gate_in[u]:
        t[at.gate_at(c, b, c.gate_in[u]) + at.GATE_EPOCH] = 2
        t[p + at.EPOCH] = generator.randint(1, 2)


def _fire(c: Config, t: bytearray, generator: random.Random) -> None:
    """A runner at an effect; it, and the others of its branch, were applied, or some were."""
    effects = [x for x in range(1, c.S + 1) if c.kind[x] == at.EFFECT]
    b, x = _branch(c, t, generator), generator.choice(effects)
    for y in effects:
        k = at.world_at(c, b, y)
        applied = int(generator.random() < 0.8)
        t[k] = applied
        t[k + at.ANSWER] = applied and generator.randint(1, c.V)
        t[k + at.ANSWER_BAD] = applied and generator.randint(0, 1)
    _stand(c, t, generator, b, c.unit_of[x], x)


def _memo(c: Config, t: bytearray, generator: random.Random) -> None:
    """A runner at a recorded step; of the others of its branch some are recorded."""
    b, x = _branch(c, t, generator), generator.choice([x for x in range(1, c.S + 1) if c.kind[x] != at.GATE])
    for y in range(1, c.S + 1):
        k = at.ledger_at(c, b, y)
        t[k] = generator.randint(1, c.V) if y == x or generator.random() < 0.5 else at.NONE
        t[k + 1] = 0
    _stand(c, t, generator, b, c.unit_of[x], x)


def _stand(c: Config, t: bytearray, generator: random.Random, b: int, u: int, x: int) -> int:
    """A runner is ready at step x of unit u of branch b, with what claim it may need.  Where it is in the record."""
    p = at.run_at(c, generator.randint(1, c.R))
    t[p : p + at.RUN_WIDTH] = bytes(at.RUN_WIDTH)
    t[p + at.PHASE], t[p + at.BRANCH], t[p + at.UNIT], t[p + at.STEP] = at.READY, b, u, x
    t[p + at.BASE] = t[at.branch_at(c, b) + at.LENGTH]
    if c.gate_in[u]:
        t[p + at.EPOCH] = t[at.gate_at(c, b, c.gate_in[u]) + at.GATE_EPOCH]
    return int(p)


_CHANGES: tuple[Callable[[Config, bytearray, random.Random], None], ...] = (
    _status,
    _ledger,
    _ledger,
    _world,
    _gate,
    _gate,
    _ckpt,
    _own,
    _origin,
    _outcomes,
    _computed,
    _recompute,
    _recompute,
    _dispute,
    _commit,
    _diverge,
    _declared,
    _read,
    _record,
    _fire,
    _fire,
    _memo,
    _memo,
    _run,
    _run,
    _run,
    _budgets,
)
