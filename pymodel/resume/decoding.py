"""A record of the resume model as the TLA+ values that TLC has for the same state, and labels as text."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from pymodel.resume import reading as at
from pymodel.resume.fault_names import fault_names
from pymodel.resume.layout import Config
from pymodel.resume.transitions import (
    ACTIONS,
    COMMIT,
    COMPUTE,
    CRASH,
    DELIVER,
    EXPIRE,
    FIRE,
    FORK,
    LOAD,
    MEMO,
    RECORD,
)

if TYPE_CHECKING:
    from tlc_runner.values import FrozenMap, Value

__all__ = ["decode", "decoder", "describe"]

_PHASES = ("idle", "ready", "holds", "checked")
_STATUSES = ("absent", "running", "failed", "uncertain", "done", "stuck")
_GATE_STATUSES = ("closed", "parked", "answered", "claimed", "consumed")


def decoder(config: Config) -> Callable[[Any], dict[str, Value]]:
    """`decode` for one configuration."""
    return lambda record: decode(config, record)


def decode(c: Config, record: Any) -> dict[str, Value]:
    """The variables of ``MCResumeContract.tla`` in the state `record`, by name."""
    from tlc_runner.values import (
        FrozenMap,
        function,
    )  # loads a parser, which a search of traces does not need

    s = bytes(record)
    branches = range(1, c.B + 1)
    steps = range(1, c.S + 1)
    effects = [x for x in steps if c.kind[x] == at.EFFECT]
    gates = [x for x in steps if c.kind[x] == at.GATE]

    def entries(start: int, count: int) -> list[tuple[FrozenMap, bool]]:
        found = []
        for i in range(count):
            p = start + i * c.entry
            u, flags = s[p + at.ENTRY_UNIT], s[p + at.ENTRY_FLAGS]
            outs = {
                x: s[p + at.ENTRY_OUT + int(c.place[x])] for x in range(int(c.first[u]), int(c.first[u + 1]))
            }
            entry = FrozenMap(
                {
                    "unit": u,
                    "out": function(outs),
                    "valid": bool(flags & at.VALID),
                    "complete": bool(flags & at.COMPLETE),
                }
            )
            found.append((entry, bool(flags & at.ACKED)))
        return found

    def gate(b: int, g: int) -> FrozenMap:
        k = at.gate_at(c, b, g)
        acks = []
        for i in range(s[k + at.GATE_ACKS]):
            p = k + at.GATE_HEAD + i * at.ACK_WIDTH
            acks.append(FrozenMap({"to": s[p], "id": s[p + at.ACK_ID], "value": s[p + at.ACK_VALUE]}))
        return FrozenMap(
            {
                "status": _GATE_STATUSES[s[k]],
                "acks": tuple(acks),
                "epoch": s[k + at.GATE_EPOCH],
                "expired": bool(s[k + at.GATE_EXPIRED]),
                "claims": s[k + at.GATE_CLAIMS],
                "passed": s[k + at.GATE_PASSED],
            }
        )

    def runner(r: int) -> FrozenMap:
        p = at.run_at(c, r)
        return FrozenMap(
            {
                "phase": _PHASES[s[p]],
                "branch": s[p + at.BRANCH],
                "unit": s[p + at.UNIT],
                "base": s[p + at.BASE],
                "step": s[p + at.STEP],
                "out": s[p + at.OUT],
                "ok": not s[p + at.BAD],
                "epoch": s[p + at.EPOCH],
            }
        )

    computed = set()
    for b in branches:
        for x in steps:
            if c.kind[x] != at.PURE:
                continue
            for k in range(1, s[at.computed_at(c, b, x)] + 1):
                q = at.computation_at(c, b, x, k)
                inputs = {y: s[q + y - 1] for y in steps if c.inputs[x * c.stride + y]}
                out = s[q + c.reads[x]]
                computed.add(FrozenMap({"branch": b, "step": x, "inputs": function(inputs), "out": out}))
    blocks = [at.branch_at(c, b) for b in branches]
    return {
        "ckpt": tuple(tuple(e for e, _ in entries(q + c.ckpt, s[q + at.LENGTH])) for q in blocks),
        "origin": tuple(
            FrozenMap(
                {
                    "parent": s[q + at.PARENT],
                    "index": s[q + at.INDEX],
                    "prefix": tuple(e for e, _ in entries(q + c.prefix, s[q + at.INDEX])),
                }
            )
            for q in blocks
        ),
        "declared": frozenset(b for b, q in zip(branches, blocks, strict=True) if s[q + at.DECLARED]),
        "ledger": tuple(
            tuple(
                FrozenMap({"out": s[at.ledger_at(c, b, x)], "ok": not s[at.ledger_at(c, b, x) + 1]})
                for x in steps
            )
            for b in branches
        ),
        "gate": tuple(function({g: gate(b, g) for g in gates}) for b in branches),
        "status": tuple(_STATUSES[s[q]] for q in blocks),
        "world": tuple(
            function(
                {
                    x: FrozenMap(
                        {
                            "applied": s[at.world_at(c, b, x)],
                            "answer": s[at.world_at(c, b, x) + at.ANSWER],
                            "ok": not s[at.world_at(c, b, x) + at.ANSWER_BAD],
                        }
                    )
                    for x in effects
                }
            )
            for b in branches
        ),
        "run": tuple(runner(r) for r in range(1, c.R + 1)),
        "own": tuple(
            tuple(
                FrozenMap({"entry": e, "acked": acked})
                for e, acked in entries(q + c.own, s[q + at.OWN_LENGTH])
            )
            for q in blocks
        ),
        "computed": frozenset(computed),
        "crashes": s[at.CRASHES],
        "expiries": s[at.EXPIRIES],
        "invalid": s[at.INVALID],
    }


_PARAMETERS = {
    LOAD: ("r", "b", "next", "from"),
    COMPUTE: ("r", "invalid", "out"),
    FIRE: ("r", "invalid", "out"),
    RECORD: ("r", "next"),
    MEMO: ("r", "next"),
    COMMIT: ("r", "next"),
    DELIVER: ("b", "g", "d", "v"),
    EXPIRE: ("b", "g"),
    CRASH: ("r", "b", "g"),
    FORK: ("b", "i", "c"),
}
_OPTIONAL = {"from", "invalid", "out"}  # left out where they are 0


def describe(label: Sequence[int]) -> str:
    """A label as text: the action, its parameters by name, and the faults that it used."""
    action = label[0]
    parts = []
    for name, value in zip(_PARAMETERS.get(action, ("r",)), label[1:5], strict=False):
        if name in _OPTIONAL and not value:
            continue
        if action == CRASH and name != "r" and not value:
            continue
        if name == "next":
            parts.append("next=commit" if value == at.AT_COMMIT else f"next={value}")
        else:
            parts.append(name if name == "invalid" else f"{name}={value}")
    used = fault_names(label[5])
    return f"{ACTIONS[action]}({', '.join(parts)})" + (f" [{', '.join(used)}]" if used else "")
