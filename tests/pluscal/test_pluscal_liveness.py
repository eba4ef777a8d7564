"""Temporal properties under weak fairness, judged on the graph: what fairness is needed, and that the judge can fail."""

# mypy: allow-untyped-defs, allow-untyped-calls

from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
import pytest

from pymodel import claim_gate
from pymodel.constants import Constant
from pymodel.engine import Label, LimitError, Model, copy_row
from pymodel.liveness import LeadsTo, Settles, fair_trap
from pymodel.plain_search import PlainSearch, search_plainly

CONSUMED = claim_gate.LIVENESS["Consumed"]
GATE: dict[str, Constant] = {
    "K": 2,
    "Variant": "read_path",
    "TakeOver": True,
    "MaxCrashes": 1,
    "MaxExpiries": 0,
}


class Steps(NamedTuple):
    """Edges <source, target, process> between numbered states."""

    edges: Any


def Next(c, s, out, labels):
    n = 0
    for source, target, process in c.edges:
        if source == s[1]:
            copy_row(out, n, s)
            out[n, 1] = target
            labels[n, 0] = 0
            labels[n, 1] = process
            n += 1
    return n


def Check(c, s, t):
    return 1 if s[1] == 3 else 0


def Sometimes(c, s):
    return 1 if s[1] == 2 else 0


def graph(*edges: tuple[int, int, int]) -> PlainSearch:
    """A search of these edges from state 0; process 0 is not fair."""
    return search_plainly(
        Model(
            name="edges",
            module=sys.modules[__name__],
            config=Steps(edges),
            width=2,
            fanout=len(edges),
            label_width=2,
            initial=np.zeros((1, 2), np.uint8),
            actions=("Step",),
            invariants=("NeverThree",),
            sometimes=("Two",),
            components=(0,),
            decode=lambda record: {"at": int(record[1])},
            describe=str,
        )
    )


def fair(label: Label) -> int | None:
    return label[1] or None


def at(*places: int) -> Any:
    """The state is one of these."""

    def condition(state: Mapping[str, Any]) -> bool:
        return state["at"] in places

    return condition


def test_the_search_counts_as_the_explorer_does() -> None:
    search = graph((0, 1, 1), (0, 1, 2), (1, 2, 1), (2, 2, 1), (1, 3, 1))
    assert (search.distinct, search.generated, search.depth) == (4, 6, 3)
    assert search.depths == (1, 2, 3, 3)
    assert search.actions == {"Step": 5}
    assert search.violations == {"NeverThree": 3}
    assert search.sometimes == {"Two": 3}
    assert search.terminal == 1
    with pytest.raises(LimitError, match="more than 3 states"):
        search_plainly(search.model, max_states=3)


def test_a_fair_process_must_leave_a_loop_that_it_can_always_leave() -> None:
    loop = ((0, 1, 1), (1, 0, 1))
    leaves = LeadsTo(at(0), at(2))
    assert fair_trap(graph(*loop), leaves, fair) == frozenset({0, 1})
    assert fair_trap(graph(*loop, (0, 2, 2)), leaves, fair) == frozenset(
        {0, 1}
    )  # disabled at 1 again and again
    assert fair_trap(graph(*loop, (0, 2, 2), (1, 2, 2)), leaves, fair) is None
    assert fair_trap(graph(*loop, (0, 2, 0), (1, 2, 0)), leaves, fair) == frozenset({0, 1})  # nobody has to


def test_standing_still_is_fair_only_where_no_fair_process_can_go_on() -> None:
    line = ((0, 1, 1), (1, 2, 1))
    assert fair_trap(graph(*line), LeadsTo(at(0), at(2)), fair) is None
    assert fair_trap(graph((0, 1, 1), (1, 2, 0)), LeadsTo(at(0), at(2)), fair) == frozenset({1})
    assert fair_trap(graph(*line), LeadsTo(at(0), at(3)), fair) == frozenset({2})
    in_place = graph((0, 1, 1), (1, 1, 2))  # is no step
    assert fair_trap(in_place, LeadsTo(at(0), at(3)), fair) == frozenset({1})


def test_leads_to_counts_from_the_trigger_on() -> None:
    assert fair_trap(graph((0, 1, 1), (1, 2, 1)), LeadsTo(at(2), at(2)), fair) is None
    assert fair_trap(graph((0, 1, 1), (1, 2, 1)), LeadsTo(at(1), at(0)), fair) == frozenset({2})
    assert fair_trap(graph((0, 1, 1), (1, 2, 1)), LeadsTo(at(3), at(0)), fair) is None


def test_settles() -> None:
    assert fair_trap(graph((0, 1, 1), (1, 2, 1)), Settles(at(2)), fair) is None
    assert fair_trap(graph((0, 1, 1), (1, 0, 1)), Settles(at(0)), fair) == frozenset({0, 1})
    assert fair_trap(graph((0, 1, 1), (1, 0, 1)), Settles(at(0, 1)), fair) is None


@pytest.mark.parametrize(
    ("changed", "live"), [({}, True), ({"TakeOver": False}, False), ({"MaxCrashes": 0}, True)]
)
def test_a_claim_of_the_dead_needs_a_take_over(changed: dict[str, Constant], live: bool) -> None:
    search = search_plainly(claim_gate.build({**GATE, **changed}))
    trap = fair_trap(search, CONSUMED, claim_gate.fair_process)
    assert (trap is None) == live
    if trap is not None:
        (state,) = (search.model.decode(np.frombuffer(search.records[i], np.uint8)) for i in trap)
        shown = ("answered", "consumed", "crashes", "epoch", "mine")
        assert [state[name] for name in shown] == [True, False, 1, 1, (0, 0)]


@pytest.mark.parametrize("idle", ["a racer", "the clock"])
def test_both_parts_of_the_fairness_are_needed(idle: str) -> None:
    search = search_plainly(claim_gate.build(GATE))
    process = 1 if idle == "a racer" else 3

    def unfair(label: Label) -> int | None:
        found = claim_gate.fair_process(label)
        return None if found == process else found

    assert fair_trap(search, CONSUMED, unfair) is not None
