"""TLC's next-state relation inside this process."""

from __future__ import annotations

import random
import subprocess
import sys
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest

from tlc_runner import FrozenMap, ModelValue, Opaque, OracleError, SpecError, format_value, state_graph
from tlc_runner.oracle import SpecOracle, State

INIT = "INIT Init\nNEXT Next\n"
A, B = ModelValue("a"), ModelValue("b")


def frozen(state: State) -> tuple[tuple[str, str], ...]:
    return tuple(sorted((name, format_value(value)) for name, value in state.items()))


def rebuilt(state: State) -> State:
    """The same state in new objects, so that every value is converted afresh."""

    def copy(value: object) -> object:
        if isinstance(value, tuple):
            return tuple([copy(item) for item in value])
        if isinstance(value, frozenset):
            return frozenset([copy(item) for item in value])
        if isinstance(value, FrozenMap):
            return FrozenMap([(copy(key), copy(item)) for key, item in value.items()])
        return value

    return {name: copy(value) for name, value in state.items()}  # type: ignore[misc]


@pytest.fixture
def lazy(specs: Path, config: Callable[[str], Path]) -> SpecOracle:
    return SpecOracle(
        specs / "Lazy.tla", config(INIT + "CONSTANTS A = a B = b Limit <- Default\nCONSTRAINT Bound\n")
    )


def test_the_same_graph_as_the_search(specs: Path, config: Callable[[str], Path]) -> None:
    cfg = config(INIT + "CHECK_DEADLOCK FALSE\nCONSTANT Set = {1, 2}\n")
    oracle = SpecOracle(specs / "Steps.tla", cfg)
    assert oracle.variables == ("x", "y")
    assert [(name, params) for name, params in oracle.actions] == [
        ("Add", {"n": 1}),
        ("Add", {"n": 2}),
        ("Add", {"n": 3}),
        ("Add", {"n": 4}),
        ("One", {}),
        ("Stay", {}),
        ("Next", {"k": 1}),
        ("Next", {"k": 2}),
        ("Next", {}),
    ]
    found: dict[tuple[tuple[str, str], ...], State] = {}
    queue = oracle.initial_states()
    edges: Counter[tuple[object, str, object]] = Counter()
    while queue:
        state = queue.pop()
        if frozen(state) in found:
            continue
        found[frozen(state)] = state
        for action, _, successor in oracle.successors(rebuilt(state)):
            edges[frozen(state), action, frozen(successor)] += 1
            queue.append(successor)
    graph = state_graph(specs / "Steps.tla", cfg)
    states = {node: frozen(state) for node, state in graph.nodes(data="state")}
    assert set(found) == set(states.values())
    assert edges == {
        (states[source], data["action"], states[target]): data["count"]
        for source, target, data in graph.edges(data=True)
    }


def test_arguments_that_depend_on_the_state(lazy: SpecOracle) -> None:
    assert lazy.actions == [("Take", {}), ("Forget", {}), ("Shift", {}), ("Broken", {})]
    (start,) = lazy.initial_states()
    assert start == {"queue": (A, B), "seen": frozenset()}
    ((name, params, state),) = lazy.successors(start)
    assert (name, params, state) == ("Take", {"item": A, "left": 1}, {"queue": (B,), "seen": frozenset({A})})
    assert [(name, params) for name, params, _ in lazy.successors(state)] == [
        ("Take", {"item": B, "left": 0}),
        ("Forget", {}),
        ("Shift", {"left": 6}),  # not the quantified variable of the same name, which is 5
    ]


def test_operators(lazy: SpecOracle) -> None:
    (start,) = lazy.initial_states()
    assert lazy.evaluate("Bound", start) is True
    assert lazy.evaluate("Bound", {"queue": (), "seen": frozenset({A, B})}) is False
    assert lazy.is_in_model(start)
    assert not lazy.is_in_model({"queue": (), "seen": frozenset({A, B})})
    assert lazy.evaluate("Everything", start) == FrozenMap(
        {
            "ints": frozenset({-1, 0, 1, 2}),
            "strings": ('a\\b"c', ""),
            "sets": frozenset({frozenset(), frozenset({A})}),
            "empty": (),
            "fun": FrozenMap({"x y": A, "z": A}),
            "pairs": FrozenMap({2: True, 5: False}),
            "power": frozenset({frozenset(), frozenset({1}), frozenset({2}), frozenset({1, 2})}),
            "seq": (1, 4),
            "lazy": FrozenMap({A: True, B: False}),
        }
    )


def test_every_kind_of_value_goes_there_and_back(lazy: SpecOracle) -> None:
    everything = lazy.evaluate("Everything", lazy.initial_states()[0])
    for queue in ((everything, 1), (everything, True), ("q", everything)):
        state = rebuilt({"queue": queue, "seen": frozenset({B})})
        back = {params["item"]: successor for _, params, successor in lazy.successors(state) if params}
        ((item, successor),) = back.items()
        assert format_value(item) == format_value(queue[0])
        assert format_value(successor["queue"]) == format_value(queue[1:])
        assert type(successor["queue"][0]) is type(queue[1])  # type: ignore[index]


def test_errors_are_one_line(lazy: SpecOracle) -> None:
    (start,) = lazy.initial_states()
    wrong: list[tuple[Callable[[], object], str]] = [
        (lambda: lazy.successors({"queue": ()}), "a state has exactly .*: see seen"),
        (lambda: lazy.successors({**start, "odd": 1}), "see odd"),
        (
            lambda: lazy.successors({"queue": (ModelValue("c"),), "seen": frozenset()}),
            "declares no model value c",
        ),
        (
            lambda: lazy.successors({"queue": (2**40,), "seen": frozenset()}),
            "variable queue: 1099511627776 does not fit",
        ),
        (lambda: lazy.successors({"queue": (1.5,), "seen": frozenset()}), "1.5 is a float"),  # type: ignore[dict-item]
        (lambda: lazy.successors({"queue": Opaque("Nat"), "seen": frozenset()}), "Nat has no finite form"),
        (
            lambda: lazy.successors({"queue": 3, "seen": frozenset()}),
            "action Take cannot be evaluated: .*should be a sequence",
        ),
        (
            lambda: lazy.successors({"queue": (), "seen": frozenset({A, B})}),
            "action Broken gives no value to seen",
        ),
        (lambda: lazy.evaluate("Bad", start), "operator Bad cannot be evaluated: .*Head"),
        (lambda: lazy.evaluate("Take", start), "operator Take takes parameters"),
        (lambda: lazy.evaluate("Absent", start), "no operator Absent"),
    ]
    for call, words in wrong:
        with pytest.raises(OracleError, match=words) as caught:
            call()
        assert "\n" not in str(caught.value)
    assert len(lazy.successors(start)) == 1  # and it still works


def test_specs_that_cannot_be_read(specs: Path, config: Callable[[str], Path]) -> None:
    cfg = config(INIT)
    for name, words in [
        ("Bad", "Bad.tla line 6, column 1: Encountered"),
        ("Unknown", "Unknown.tla line 5, column 14: Unknown operator"),
        ("NeedsMore", "module NotThere was not found: add its folder to the module path"),
        ("Counter", "Model.cfg: The constant parameter Max is not assigned"),
        ("Absent", "no such module"),
    ]:
        with pytest.raises(SpecError, match=words) as caught:
            SpecOracle(specs / f"{name}.tla", cfg)
        assert "\n" not in str(caught.value)


def test_two_oracles_at_once(specs: Path, tmp_path: Path, lazy: SpecOracle) -> None:
    texts = {"Counter": "SPECIFICATION Spec\nCONSTANT Max = 2\n", "UsesMore": INIT}
    oracles = {}
    for name, text in texts.items():
        (tmp_path / f"{name}.cfg").write_text(text)
        oracles[name] = SpecOracle(
            specs / f"{name}.tla", tmp_path / f"{name}.cfg", module_path=[specs / "more"]
        )
    again = SpecOracle(specs / "Counter.tla", tmp_path / "Counter.cfg")
    for _ in range(3):
        assert oracles["Counter"].successors({"x": 1}) == [("Inc", {}, {"x": 2})]
        assert oracles["UsesMore"].initial_states() == [{"x": 41}]
        assert again.successors({"x": 2}) == [("Reset", {}, {"x": 0})]
        assert lazy.initial_states()[0]["queue"] == (A, B)


def test_a_walk_of_a_thousand_states(specs: Path, config: Callable[[str], Path]) -> None:
    text = INIT + "CONSTANT P = {p1, p2, p3}\nCONSTANT NULL = NULL\n"
    oracle = SpecOracle(specs / "Wide.tla", config(text))
    rng = random.Random(1)
    (start,) = oracle.initial_states()
    state, steps = start, 0
    for _ in range(1000):
        successors = oracle.successors(state)
        steps += len(successors)
        assert all(step[2]["step"] == state["step"] + 1 for step in successors)  # type: ignore[operator]
        state = rng.choice(successors)[2] if successors else start
    assert steps == 250 * (3 + 2 + 1)


def test_python_ends_cleanly(specs: Path, tmp_path: Path) -> None:
    (tmp_path / "Model.cfg").write_text("SPECIFICATION Spec\nCONSTANT Max = 2\n")
    (tmp_path / "tmp").mkdir()
    code = (
        "import sys; from tlc_runner.oracle import SpecOracle\n"
        "o = SpecOracle(sys.argv[1], sys.argv[2]); print(o.successors({'x': 0}))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, str(specs / "Counter.tla"), str(tmp_path / "Model.cfg")],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
        env={"TMPDIR": str(tmp_path / "tmp"), "PATH": ""},
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "[('Inc', {}, {'x': 1})]\n", "")
    assert list((tmp_path / "tmp").iterdir()) == []
