"""Properties of the mirror's records, layouts and bounds, for programs and bounds that Hypothesis draws."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from strategies import bounds, programs
from type_ok import ill_typed

from pymodel.engine import ModelError, stepper
from pymodel.errors import CapacityError
from pymodel.resume import actions, reading
from pymodel.resume.layout import Bounds, lay_out
from pymodel.resume.model import FAULTS, build, fault_bits, fault_names
from pymodel.resume.program import PROGRAMS, Program, Step
from pymodel.resume.stepping import Stepper


def walk(model: Stepper, seed: int, length: int) -> list[bytes]:
    """The states of a random walk, the action chosen evenly."""
    generator, state = random.Random(seed), model.initial
    states = [state]
    for _ in range(length):
        try:
            steps = model.successors(state)
        except CapacityError:
            break
        if not steps:
            break
        action = generator.choice(sorted({step.action for step in steps}))
        state = generator.choice([step for step in steps if step.action == action]).state
        states.append(state)
    return states


@settings(max_examples=40, deadline=None, derandomize=True)
@given(programs(), bounds(), st.integers(0, 2**32))
def test_decoding_is_injective_and_typed(program: Program, limits: Bounds, seed: int) -> None:
    model = Stepper(program, limits)
    seen: dict[tuple[Any, ...], bytes] = {}
    for record in walk(model, seed, 40):
        state = model.decode(record)
        assert ill_typed(program, limits, state) == []
        assert seen.setdefault(tuple(state[name] for name in sorted(state)), record) == record


@settings(max_examples=40, deadline=None, derandomize=True)
@given(programs(), bounds(), st.integers(0, 2**32))
def test_a_step_leads_to_another_state_under_a_label_of_its_own(
    program: Program, limits: Bounds, seed: int
) -> None:
    model = Stepper(program, limits)
    for record in walk(model, seed, 30):
        steps = model.successors(record)
        assert len({step.label for step in steps}) == len(steps) < model.layout.fanout
        assert all(step.state != record and len(step.state) == model.layout.width for step in steps)


@settings(max_examples=200, deadline=None)
@given(programs(), bounds(), st.sets(st.sampled_from(FAULTS)), st.booleans())
def test_a_layout_has_a_place_for_everything(
    program: Program, limits: Bounds, faults: set[str], free: bool
) -> None:
    bits = fault_bits(faults)
    assert set(fault_names(bits)) == faults
    layout = lay_out(program, limits, bits, free)
    c = layout.config
    taken: list[int] = [reading.OVERFLOW, reading.CRASHES, reading.EXPIRIES, reading.INVALID, reading.HISTORY]

    def take(start: int, width: int) -> None:
        taken.extend(range(start, start + width))

    for r in range(1, c.R + 1):
        take(reading.run_at(c, r), reading.RUN_WIDTH)
    for b in range(1, c.B + 1):
        q = reading.branch_at(c, b)
        take(q, reading.BRANCH_HEAD)
        for start in (c.ckpt, c.prefix, c.own):
            take(q + start, c.L * c.entry)
        assert reading.ckpt_at(c, b, 1) == q + c.ckpt
        for x in range(1, c.S + 1):
            take(reading.ledger_at(c, b, x), reading.LEDGER_WIDTH)
            take(reading.world_at(c, b, x), reading.WORLD_WIDTH)
            if c.kind[x] == reading.GATE:
                take(reading.gate_at(c, b, x), c.gate_width)
            if c.kind[x] == reading.PURE:
                take(reading.computed_at(c, b, x), 1)
                for k in range(1, c.K + 1):
                    take(reading.computation_at(c, b, x, k), c.reads[x] + 1)
    # every byte of the record is one thing's, and no byte is two things'
    assert sorted(taken) == list(range(layout.width))
    assert list(layout.components) == sorted(set(layout.components))
    assert layout.components[0] == 0
    assert layout.components[-1] < layout.width


@settings(max_examples=50, deadline=None)
@given(programs())
def test_a_layout_knows_the_program(program: Program) -> None:
    c = lay_out(program, Bounds()).config
    for x, step in enumerate(program.steps, 1):
        u = program.unit_of(step.name)
        assert c.unit_of[x] == u
        assert c.first[u] <= x < c.first[u + 1]
        assert x == c.first[u] + c.place[x]
        before = {program.number(name) for name in program.predecessors(step.name)}
        assert {y for y in range(1, c.S + 1) if c.after[x * c.stride + y]} == before
        inputs = before | {y for y in range(1, c.S + 1) if c.unit_of[y] < u}
        assert {y for y in range(1, c.S + 1) if c.inputs[x * c.stride + y]} == inputs
    assert [g for g in c.gate_in if g] == [
        x for x, step in enumerate(program.steps, 1) if step.kind == "gate"
    ]


@pytest.mark.parametrize(
    ("name", "faults"),
    [("Linear", ()), ("Mixed", ()), ("Sandwich", ()), ("Mixed", FAULTS[:18]), ("Sandwich", FAULTS[:18])],
    ids=["linear", "mixed", "sandwich", "mixed-faults", "sandwich-faults"],
)
def test_plain_and_compiled_functions_give_the_same(name: str, faults: tuple[str, ...]) -> None:
    limits = Bounds(3, 3, 2, values=3, crashes=2, expiries=2, invalid=2, length=5, computations=3)
    plain = Stepper(PROGRAMS[name], limits, faults)
    compiled = stepper(build(PROGRAMS[name], limits, faults), compiled=True)
    compared = 0
    for seed in range(5):
        for state in walk(plain, seed, 60)[:-1]:
            expected = [(step.label, step.state) for step in plain.successors(state)]
            found = compiled(np.frombuffer(state, np.uint8))
            assert [(step.label, step.record.tobytes()) for step in found] == expected
            compared += 1
    assert compared > 100


@pytest.mark.parametrize(
    ("bound", "value", "low"),
    [
        ("runners", 0, 1),
        ("branches", 0, 1),
        ("answers", 0, 1),
        ("values", 1, 2),
        ("crashes", -1, 0),
        ("expiries", 256, 0),
        ("invalid", True, 0),
        ("length", 1.5, 0),
        ("computations", 0, 1),
        ("applied", 1, 2),
        ("runners", "2", 1),
    ],
)
def test_an_impossible_bound_is_refused(bound: str, value: Any, low: int) -> None:
    with pytest.raises(ModelError) as error:
        Bounds(**{bound: value})
    assert str(error.value) == f"bound {bound} = {value!r} is impossible: give a number from {low} to 255"


def test_more_answers_than_values_are_refused() -> None:
    with pytest.raises(ModelError) as error:
        Bounds(answers=3, values=2)
    assert str(error.value) == (
        "bound answers = 3 is impossible: each answer is a value, and there are 2: lower it or raise `values`"
    )


@pytest.mark.parametrize(
    ("units", "message"),
    [
        ((), "program P: it has no unit: give at least one"),
        (((),), "program P, unit 1: it has no step: give it one or leave it out"),
        (
            ((Step("a", "pure"), Step("a", "effect")),),
            "program P: step a stands twice: step names must be unique",
        ),
        (
            ((Step("a", "gate"), Step("b", "gate")),),
            "program P, unit 1: it has two gates: a unit has at most one, put the other in a unit of its own",
        ),
        (
            ((Step("a", "wait"),),),
            "program P, unit 1, step a: kind wait is unknown: one of pure, effect, gate",
        ),
        (
            ((Step("a", "pure"),), (Step("b", "pure", ("a",)),)),
            "program P, unit 2, step b: a in `after` is no step of this unit",
        ),
        (
            ((Step("a", "pure", ("b",)), Step("b", "pure", ("a",))),),
            "program P, step a: it comes after itself: break the cycle",
        ),
    ],
)
def test_an_impossible_program_is_refused(units: tuple[tuple[Step, ...], ...], message: str) -> None:
    with pytest.raises(ModelError) as error:
        Program("P", units)
    assert str(error.value) == message


def test_an_unknown_fault_is_refused_with_those_that_there_are() -> None:
    with pytest.raises(ModelError) as error:
        fault_bits(["lost_world"])
    assert str(error.value) == f"fault lost_world is unknown: one of {', '.join(FAULTS)}"


def _changed(state: dict[str, Any], name: str, value: Any) -> dict[str, Any]:
    return {**state, name: value}


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("ckpt", lambda v: v[:-1]),
        ("ckpt", lambda v: (({"unit": 1, "out": (9,), "valid": True, "complete": True},), *v[1:])),
        ("origin", lambda v: ({**v[0], "parent": 7}, *v[1:])),
        ("declared", lambda v: v | {7}),
        ("ledger", lambda v: (({**v[0][0], "out": 9}, *v[0][1:]), *v[1:])),
        ("ledger", lambda v: (({**v[0][0], "ok": 1}, *v[0][1:]), *v[1:])),
        ("gate", lambda v: ({}, *v[1:])),
        ("gate", lambda v: ({g: {**k, "status": "open"} for g, k in v[0].items()}, *v[1:])),
        ("status", lambda v: ("stuck", *v[1:])),
        ("world", lambda v: ((), *v[1:])),
        ("run", lambda v: ({**v[0], "phase": "checked"}, *v[1:])),
        ("run", lambda v: ({**v[0], "epoch": 1}, *v[1:])),
        ("own", lambda v: (({"entry": {}, "acked": True},), *v[1:])),
        ("computed", lambda _: [{"branch": 1, "step": 1, "inputs": (), "out": 1}]),
        ("crashes", lambda v: v + 9),
        ("expiries", lambda v: v + 9),
        ("invalid", lambda v: -1),
    ],
)
def test_what_is_not_well_typed_is_seen(name: str, change: Any) -> None:
    limits = Bounds(2, 2, 2)
    state = dict(Stepper(PROGRAMS["Linear"], limits).decode(Stepper(PROGRAMS["Linear"], limits).initial))
    assert ill_typed(PROGRAMS["Linear"], limits, state) == []
    assert ill_typed(PROGRAMS["Linear"], limits, _changed(state, name, change(state[name]))) == [name]


@settings(max_examples=60, deadline=None, derandomize=True)
@given(
    programs(),
    bounds(),
    st.sampled_from(["", "restart_from_earlier", "torn_checkpoint"]),
    st.integers(0, 2**32),
)
def test_what_is_noted_of_a_step_is_its_content(
    program: Program, limits: Bounds, fault: str, seed: int
) -> None:
    model = Stepper(program, limits, [fault] if fault else [])
    c = model.config
    for record in walk(model, seed, 40):
        for b in range(1, c.B + 1):
            for x in range(1, c.S + 1):
                content = [reading.content(c, record, b, x, y) for y in range(1, c.S + 1)]
                noted = bytearray(c.reads[x])
                actions.note_content(c, record, noted, b, x, 0)
                assert list(noted) == content[: c.reads[x]]
                assert not any(content[c.reads[x] :])
