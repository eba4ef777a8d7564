"""The state graph: every state, every labelled edge."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tlc_runner import SpecError, TLCError, read_dot, state_graph

INIT = "INIT Init\nNEXT Next\n"


def test_every_labelled_edge(specs: Path, config: Callable[[str], Path]) -> None:
    graph = state_graph(specs / "Steps.tla", config(INIT + "CONSTANT Set = {1, 2}\n"))
    names = {node: (data["x"], len(data["y"])) for node, data in graph.nodes(data="state")}
    texts = {data["y"] for _, data in graph.nodes(data="state")}
    assert texts == {'a -> b [label="q\\"];', "z\n"}
    assert sorted(names.values()) == [(x, length) for x in range(3) for length in (2, 20)]
    assert [names[node] for node, initial in graph.nodes(data="initial") if initial] == [(0, 20)]
    edges = {
        (names[source], names[target], data["action"]): data["count"]
        for source, target, data in graph.edges(data=True)
        if names[source] == (1, 20)
    }
    assert edges == {
        ((1, 20), (2, 20), "Add"): 2,
        ((1, 20), (0, 20), "Add"): 1,
        ((1, 20), (1, 20), "Add"): 1,
        ((1, 20), (2, 20), "One"): 1,
        ((1, 20), (1, 20), "Stay"): 1,
        ((1, 20), (0, 2), "Next"): 2,
        ((1, 20), (2, 20), "Next"): 1,  # Inner!ToTwo, which is only part of a disjunct
    }
    result = graph.graph["result"]
    # TLC labels every edge it generates: nothing is merged or lost.
    assert sum(count for *_, count in graph.edges(data="count")) + result.initial == result.generated == 55
    assert all(
        graph.has_edge(source, target, key=data["action"]) for source, target, data in graph.edges(data=True)
    )


def test_violations_and_deadlocks_do_not_cut_it_short(specs: Path, config: Callable[[str], Path]) -> None:
    graph = state_graph(
        specs / "Counter.tla",
        config(
            "SPECIFICATION Spec\nCONSTANT Max = 4\nINVARIANTS Small NotZero\nPROPERTIES Growing ReachesTop\n"
        ),
    )
    assert sorted(state["x"] for _, state in graph.nodes(data="state")) == [0, 1, 2, 3, 4]
    assert sorted(action for *_, action in graph.edges(data="action")) == [
        "Inc",
        "Inc",
        "Inc",
        "Inc",
        "Reset",
    ]
    assert len(state_graph(specs / "Stops.tla", config(INIT))) == 3


def test_constraints_keep_states_out(tmp_path: Path) -> None:
    spec = tmp_path / "Up.tla"
    spec.write_text(
        "---- MODULE Up ----\nEXTENDS Naturals\nVARIABLE x\nInit == x \\in {0, 7}\n"
        "Up == x' = x + 1\nJump == x' = x + 2\nNext == Up \\/ Jump\nLow == x < 4\n====\n"
    )
    spec.with_suffix(".cfg").write_text(INIT + "CONSTRAINT Low\n")
    graph = state_graph(spec)
    assert sorted(state["x"] for _, state in graph.nodes(data="state")) == [0, 1, 2, 3]
    assert graph.number_of_edges() == 5


def test_what_cannot_be_explored(specs: Path, config: Callable[[str], Path]) -> None:
    with pytest.raises(TLCError, match=r"Bad\.tla line 6, column 1"):
        state_graph(specs / "Bad.tla", config(INIT))
    with pytest.raises(TLCError, match="no element of S satisfied P"):
        state_graph(specs / "Errors.tla", config(INIT + 'CONSTANT Mode = "choose"\n'))
    with pytest.raises(TLCError, match=r"assertion failed: .*x is too large"):
        state_graph(specs / "Errors.tla", config(INIT + 'CONSTANT Mode = "assert"\n'))
    with pytest.raises(TLCError, match="assumption failed"):
        state_graph(specs / "Assume.tla", config(INIT + "CONSTANT N = 0\n"))
    cfg = config(INIT)
    with pytest.raises(TLCError, match=f"{cfg}: The constant parameter N is not assigned"):
        state_graph(specs / "Assume.tla", cfg)


def test_a_dump_that_is_cut_off() -> None:
    with pytest.raises(SpecError, match="does not describe state 2: it is cut off"):
        read_dot(['1 [label="x = 0",style = filled]', '1 -> 2 [label="A",color="black"];'])
    with pytest.raises(SpecError, match="holds no state"):
        read_dot(["strict digraph DiskGraph {", "}"])
