"""Every event that can be written is read back as it was."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec import UNSET

from trace_check import events as ev
from trace_check.reader import read_trace

names = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=6)
values = st.one_of(st.text(st.characters(exclude_categories=["Cs"])), st.integers(), st.booleans(), st.none())
outcomes = st.dictionaries(names, values, max_size=3)
counts = st.integers(0, 2**60)
optional_names = st.one_of(st.none(), names)

FIELDS: dict[str, dict[str, st.SearchStrategy[Any]]] = {
    "loaded": {
        "checkpoint": st.one_of(st.just(UNSET), optional_names),
        "index": st.one_of(st.just(UNSET), counts),
    },
    "computed": {"step": names, "outcome": values, "valid": st.booleans()},
    "effect_fired": {
        "step": names,
        "key": st.text(max_size=5),
        "applied": st.booleans(),
        "outcome": values,
        "valid": st.booleans(),
    },
    "recorded": {"step": names, "outcome": values},
    "memo_used": {"step": names},
    "parked": {"gate": names},
    "answer": {
        "gate": names,
        "delivery": names,
        "value": values,
        "accepted": st.one_of(st.just(UNSET), st.booleans()),
    },
    "gate_passed": {"gate": names, "value": st.one_of(st.just(UNSET), values)},
    "refused": {
        "what": st.sampled_from(["load", "gate", "record", "commit", "outcome", "delivery"]),
        "error": st.one_of(st.none(), st.text(max_size=5)),
        "gate": optional_names,
        "step": optional_names,
        "unit": optional_names,
        "delivery": optional_names,
    },
    "committed": {
        "unit": names,
        "steps": st.lists(names, max_size=3),
        "outcomes": outcomes,
        "checkpoint": names,
        "parent": optional_names,
        "valid": st.booleans(),
        "next": st.lists(names, max_size=2),
    },
    "crashed": {"signal": optional_names, "status": st.one_of(st.none(), st.integers(-1, 255))},
    "paused": {"signal": names, "process": optional_names},
    "continued": {"signal": names, "process": optional_names},
    "forked": {"checkpoint": optional_names, "index": counts, "child": names, "declared": st.booleans()},
    "store_read": {
        "checkpoints": st.lists(
            st.builds(
                ev.CheckpointRead,
                id=names,
                parent=optional_names,
                unit=optional_names,
                outcomes=outcomes,
                digest=names,
                valid=st.booleans(),
                complete=st.booleans(),
                next=st.lists(names, max_size=2),
            ),
            max_size=3,
        ),
        "answers": st.dictionaries(names, st.lists(values, max_size=2), max_size=2),
        "open_interrupts": st.lists(names, max_size=2),
    },
    "completed": {"outcome": values},
    "failed": {"outcome": values},
    "resume_failed": {"error": names},
    "resume_gave_up": {"seconds": st.floats(0.001, 1e6)},
}

DECODER = msgspec.json.Decoder(ev.Header | ev.AnyEvent)


def events_of(kind: str) -> st.SearchStrategy[ev.Event]:
    return st.builds(
        ev.EVENT_TYPES[kind],
        seq=st.integers(1, 2**60),
        thread=names,
        branch=names,
        actor=names,
        t=counts,
        phase=st.sampled_from([None, "begin", "end"]),
        op=optional_names,
        inferred=st.booleans(),
        **FIELDS[kind],
    )


def test_every_kind_has_a_strategy_for_each_of_its_fields() -> None:
    common = {field.name for field in msgspec.structs.fields(ev.Event)}
    own = {
        kind: {field.name for field in msgspec.structs.fields(record)} - common
        for kind, record in ev.EVENT_TYPES.items()
    }
    assert own == {kind: set(fields) for kind, fields in FIELDS.items()}


@pytest.mark.parametrize("kind", sorted(ev.EVENT_KINDS))
def test_a_line_is_read_back_as_the_event_it_was(kind: str) -> None:
    @settings(max_examples=60, deadline=None)
    @given(events_of(kind))
    def check(event: ev.Event) -> None:
        line = ev.encode_line(event)
        assert line.endswith(b"\n")
        assert line.count(b"\n") == 1
        back = DECODER.decode(line)
        assert back == event
        assert type(back) is type(event)
        assert ev.event_kind(back) == kind

    check()


@settings(max_examples=60, deadline=None)
@given(st.lists(st.tuples(names, values), max_size=8))
def test_a_trace_is_read_back_as_the_events_it_was(
    tmp_path_factory: pytest.TempPathFactory, steps: list[tuple[str, ev.Value]]
) -> None:
    header = ev.Header(
        v=1,
        system="s",
        version="1",
        store="s",
        sink="plain",
        scenario="x",
        program="dynamic",
        observes=["loaded"],
    )
    written: list[ev.Event] = []
    for number, (step, outcome) in enumerate([*steps, ("last", None)], start=1):
        common: dict[str, Any] = {"thread": "t", "branch": "main", "actor": "p", "t": number}
        common["op"] = f"p.{number}"
        begin = ev.Recorded(step=step, outcome=outcome, seq=2 * number - 1, phase="begin", **common)
        end = ev.Recorded(step=step, outcome=outcome, seq=2 * number, phase="end", **common)
        written += [begin, end]
    path: Path = tmp_path_factory.mktemp("round") / "trace.jsonl"
    path.write_bytes(ev.encode_line(header) + b"".join(map(ev.encode_line, written)))
    trace = read_trace(path)
    assert trace.header == header
    assert trace.events == written
    assert trace.lines == list(range(2, 2 + len(written)))
    assert trace.warnings == []
    assert [(operation.begin, operation.end) for operation in trace.operations.values()] == [
        (2 * number, 2 * number + 1) for number in range(len(steps) + 1)
    ]


def test_values_that_python_takes_for_equal_have_different_keys() -> None:
    assert len({ev.value_key(value) for value in (1, True, "1", None, 0, False)}) == 6
