"""TypeOK and BudgetsOK of the TLA+, over a decoded state of the mirror."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from pymodel.resume.layout import Bounds
from pymodel.resume.program import Program

__all__ = ["ill_typed"]

_STATUSES = {"absent", "running", "failed", "uncertain", "done"}
_GATE_STATUSES = {"closed", "parked", "answered", "claimed", "consumed"}
_IDLE = {"phase": "idle", "branch": 0, "unit": 0, "base": 0, "step": 0, "out": 0, "ok": True, "epoch": 0}


def _items(function: Any) -> dict[int, Any]:
    """A function of TLA+ as a dictionary; a tuple is one on 1 .. n."""
    if isinstance(function, Mapping):
        return dict(function)
    return dict(enumerate(function, 1))


def _natural(value: Any) -> bool:
    return type(value) is int and value >= 0


def ill_typed(program: Program, bounds: Bounds, state: Mapping[str, Any]) -> list[str]:
    """The variables that aren't of their types, sorted."""
    steps = dict(enumerate(program.steps, 1))
    unit_of = {x: program.unit_of(step.name) for x, step in steps.items()}
    steps_in = {u: {x for x in steps if unit_of[x] == u} for u in set(unit_of.values())}
    gates = {x for x, step in steps.items() if step.kind == "gate"}
    effects = {x for x, step in steps.items() if step.kind == "effect"}
    branches = set(range(1, bounds.branches + 1))
    values = set(range(1, bounds.values + 1))
    inputs = {
        x: {y for y in steps if unit_of[y] < unit_of[x]}
        | {program.number(name) for name in program.predecessors(step.name)}
        for x, step in steps.items()
    }

    def value(found: Any, *, none: bool = False) -> bool:
        return type(found) is int and (found in values or (none and found == 0))

    def entry(e: Any) -> bool:
        return (
            set(e) == {"unit", "out", "valid", "complete"}
            and e["unit"] in steps_in
            and _items(e["out"]).keys() == steps_in[e["unit"]]
            and all(value(out) for out in _items(e["out"]).values())
            and type(e["valid"]) is type(e["complete"]) is bool
        )

    def origin(o: Any) -> bool:
        return o["parent"] in branches | {0} and _natural(o["index"]) and all(map(entry, o["prefix"]))

    def ledger(row: Any) -> bool:
        return _items(row).keys() == steps.keys() and all(
            value(one["out"], none=True) and type(one["ok"]) is bool for one in _items(row).values()
        )

    def gate(k: Any) -> bool:
        return (
            k["status"] in _GATE_STATUSES
            and all(
                a["to"] in branches and a["id"] in range(1, bounds.answers + 1) and value(a["value"])
                for a in k["acks"]
            )
            and _natural(k["epoch"])
            and type(k["expired"]) is bool
            and _natural(k["claims"])
            and value(k["passed"], none=True)
        )

    def world(row: Any) -> bool:
        return _items(row).keys() == effects and all(
            _natural(one["applied"]) and value(one["answer"], none=True) and type(one["ok"]) is bool
            for one in _items(row).values()
        )

    def run(r: Any) -> bool:
        if r == _IDLE:
            return True
        return (
            r["phase"] in {"ready", "holds"}
            and r["branch"] in branches
            and r["unit"] in steps_in
            and _natural(r["base"])
            and r["step"] in steps_in[r["unit"]] | {0}
            and _natural(r["epoch"])
            and type(r["ok"]) is bool
            and (value(r["out"]) if r["phase"] == "holds" else r["out"] == 0)
        )

    def computation(k: Any) -> bool:
        return (
            k["branch"] in branches
            and steps[k["step"]].kind == "pure"
            and value(k["out"])
            and _items(k["inputs"]).keys() == inputs[k["step"]]
        )

    def each(name: str, count: int, right: Callable[[Any], bool]) -> bool:
        return len(state[name]) == count and all(map(right, state[name]))

    count = len(branches)
    right = {
        "ckpt": each("ckpt", count, lambda row: all(map(entry, row))),
        "origin": each("origin", count, origin),
        "declared": state["declared"] <= branches,
        "ledger": each("ledger", count, ledger),
        "gate": each(
            "gate", count, lambda row: _items(row).keys() == gates and all(map(gate, _items(row).values()))
        ),
        "status": each("status", count, _STATUSES.__contains__),
        "world": each("world", count, world),
        "run": each("run", bounds.runners, run),
        "own": each(
            "own", count, lambda row: all(entry(e["entry"]) and type(e["acked"]) is bool for e in row)
        ),
        "computed": all(map(computation, state["computed"])),
        "crashes": state["crashes"] in range(bounds.crashes + 1),
        "expiries": state["expiries"] in range(bounds.expiries + 1),
        "invalid": state["invalid"] in range(bounds.invalid + 1),
    }
    assert right.keys() == state.keys()
    return sorted(name for name, fits in right.items() if not fits)
