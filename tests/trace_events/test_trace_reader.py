"""The reader: what it accepts, and the exact one-line message for everything that it refuses."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from trace_check.errors import TraceError
from trace_check.events import ACTION_KINDS, EVENT_KINDS, Committed, Loaded
from trace_check.reader import MAX_LINE_BYTES, TraceStream, read_trace

Json = dict[str, Any]

PROGRAM = [
    {"name": "prepare", "steps": [{"step": "e1", "kind": "effect"}, {"step": "c", "kind": "pure"}]},
    {
        "name": "approve",
        "steps": [{"step": "g", "kind": "gate"}, {"step": "e2", "kind": "effect", "after": ["g"]}],
    },
]


def header(**changes: Any) -> Json:
    return {
        "event": "header",
        "v": 1,
        "system": "fake",
        "version": "1",
        "store": "none",
        "sink": "plain",
        "scenario": "s",
        "program": PROGRAM,
        "observes": ["loaded"],
    } | changes


def event(kind: str, seq: int, **fields: Any) -> Json:
    return {"event": kind, "seq": seq, "thread": "t", "branch": "main", "actor": "p1", "t": 10 * seq} | fields


def fired(seq: int, **fields: Any) -> Json:
    return event("effect_fired", seq, **({"step": "e1", "key": "k", "applied": True} | fields))


def recorded(seq: int, phase: str, op: str = "o1", **fields: Any) -> Json:
    return event("recorded", seq, **({"phase": phase, "op": op, "step": "e1", "outcome": "x"} | fields))


def committed(seq: int, phase: str, **fields: Any) -> Json:
    usual: Json = {"unit": "prepare", "steps": ["e1"], "outcomes": {"e1": "x"}, "checkpoint": "c1"}
    usual |= {"parent": None, "valid": True, "next": ["approve"], "phase": phase, "op": "o1"}
    return event("committed", seq, **(usual | fields))


def delivered(seq: int, phase: str, **fields: Any) -> Json:
    usual: Json = {"gate": "g", "delivery": "d1", "value": True, "phase": phase, "op": "o1"}
    return event("answer", seq, **(usual | ({"accepted": True} if phase == "end" else {}) | fields))


def forked(seq: int, phase: str, **fields: Any) -> Json:
    usual: Json = {"checkpoint": None, "index": 0, "child": "b", "declared": True, "phase": phase, "op": "o1"}
    return event("forked", seq, **(usual | fields))


def refused(seq: int, what: str, **fields: Any) -> Json:
    return event("refused", seq, what=what, phase="end", op="o1", **fields)


def write(path: Path, *lines: Json | bytes) -> Path:
    path.write_bytes(b"".join(x if isinstance(x, bytes) else json.dumps(x).encode() + b"\n" for x in lines))
    return path


@pytest.fixture
def trace(tmp_path: Path) -> Callable[..., Path]:
    return lambda *lines: write(tmp_path / "t.jsonl", *lines)


GOOD: list[Json] = [
    header(),
    event("loaded", 1, phase="begin", op="a"),
    event("loaded", 2, phase="end", op="a", checkpoint=None, index=0),
    fired(3),
    recorded(4, "begin"),
    recorded(5, "end"),
]


def refusal(path: Path) -> str:
    with pytest.raises(TraceError) as caught:
        read_trace(path)
    message = str(caught.value)
    assert "\n" not in message
    assert caught.value.path == path
    return message.removeprefix(f"{path}")


def test_a_good_trace_plain_and_gzipped(trace: Callable[..., Path], tmp_path: Path) -> None:
    path = trace(*GOOD)
    plain = read_trace(path)
    assert [e.seq for e in plain.events] == [1, 2, 3, 4, 5]
    assert plain.lines == [2, 3, 4, 5, 6]
    assert {op: (o.begin, o.end) for op, o in plain.operations.items()} == {"a": (0, 1), "o1": (3, 4)}
    packed = tmp_path / "t.gz"
    packed.write_bytes(gzip.compress(path.read_bytes()))
    assert read_trace(packed).events == plain.events
    with TraceStream(path) as stream:
        assert stream.header == plain.header
        assert list(stream) == list(zip(plain.lines, plain.events, strict=True))


def test_an_operation_that_its_process_did_not_live_to_end(trace: Callable[..., Path]) -> None:
    read = read_trace(trace(*GOOD[:5]))
    assert read.operations["o1"].end is None


def test_blank_lines_carriage_returns_and_a_missing_last_newline_are_harmless(tmp_path: Path) -> None:
    text = "\r\n\r\n".join(json.dumps(line) for line in GOOD)
    path = write(tmp_path / "t.jsonl", text.encode())
    read = read_trace(path)
    assert read.lines == [3, 5, 7, 9, 11]
    assert read.warnings == []


def test_a_torn_last_line_is_left_out_when_allowed(trace: Callable[..., Path]) -> None:
    path = trace(*GOOD, b'{"event":"effect_fi')
    assert refusal(path) == (
        ":7: the last line is cut short; "
        "allow a torn last line (it is left out then) or record the trace again"
    )
    read = read_trace(path, allow_torn=True)
    assert [e.seq for e in read.events] == [1, 2, 3, 4, 5]
    assert read.warnings == [f"{path}:7: the last line was cut short and is left out"]


@pytest.mark.parametrize("place", [0, 3])
def test_a_field_that_stands_twice_is_refused(trace: Callable[..., Path], place: int) -> None:
    lines = [json.dumps(line).encode() + b"\n" for line in GOOD]
    lines[place] = lines[place].replace(b"{", b'{"v": 1, "v": 2, ' if place == 0 else b'{"seq": 9, ', 1)
    said = refusal(trace(*lines))
    key = "v" if place == 0 else "seq"
    assert said.startswith(f":{place + 1}: ")
    assert key in said
    if place:
        assert said == f":{place + 1}: the field 'seq' stands twice in one object; write each field once"


def test_a_torn_line_in_the_middle_is_never_left_out(trace: Callable[..., Path]) -> None:
    path = trace(header(), b'{"event":"effect_fi\n', fired(1))
    message = f":2: the line is no JSON (invalid character (byte 19)); {MALFORMED}"
    assert refusal(path) == message
    with pytest.raises(TraceError) as caught:
        read_trace(path, allow_torn=True)
    assert str(caught.value) == f"{path}{message}"


def test_a_torn_header_is_never_left_out(trace: Callable[..., Path]) -> None:
    path = trace(b'{"event":"hea')
    assert refusal(path) == ":1: the last line is cut short; record the trace again"
    with pytest.raises(TraceError):
        read_trace(path, allow_torn=True)


def test_a_gzip_stream_cut_short(trace: Callable[..., Path], tmp_path: Path) -> None:
    lines = [header(), *(fired(n, key=f"{n * 7919:x}") for n in range(1, 4001))]
    packed = gzip.compress(write(tmp_path / "whole", *lines).read_bytes())
    path = tmp_path / "t.gz"
    path.write_bytes(packed[: len(packed) // 2])
    with pytest.raises(TraceError) as caught:
        read_trace(path)
    assert caught.value.what == "the gzip stream is cut short"
    assert caught.value.mend == "record the trace again, or unpack what is left with zcat"
    assert caught.value.line is not None
    read = read_trace(path, allow_torn=True)
    assert [e.seq for e in read.events] == list(range(1, len(read.events) + 1))
    assert len(read.events) == caught.value.line - 2
    assert read.warnings == [
        f"{path}:{caught.value.line}: the gzip stream is cut short here; what follows is lost"
    ]


def test_a_damaged_gzip_stream(tmp_path: Path) -> None:
    path = tmp_path / "t.gz"
    path.write_bytes(gzip.compress(json.dumps(header()).encode() + b"\n")[:10] + b"\x00\xff\x07 nonsense")
    assert (
        refusal(path)
        == ":1: the gzip stream is damaged; record the trace again, or unpack what is left with zcat"
    )


def test_files_that_are_not_there(tmp_path: Path) -> None:
    assert refusal(tmp_path / "none") == ": there is no such file; give the path of a recorded trace"
    assert refusal(tmp_path) == ": is a folder; give a trace file in it"


ORDER = "keep each actor's lines whole and in the order written, 1, 2, 3, …"
OWN_OP = "give every operation its own 'op'"
SAME = f"name the same on both lines, or {OWN_OP}"
REPEAT = "repeat on the end line what the begin line says"
BEGUN: Json = {"phase": "begin", "op": "o1"}
FIELDS = "see docs/trace-format.md for the event's fields"
STEPS = 'the header\'s program has e1, c, g, e2; or say "dynamic" there'
UNITS = 'the header\'s program has prepare, approve; or say "dynamic" there'
MALFORMED = "one whole JSON object a line: a line was torn or joined with another, record the trace again"


def without(line: Json, name: str) -> Json:
    return {key: value for key, value in line.items() if key != name}


def step(name: str, **fields: Any) -> Json:
    return {"step": name, "kind": "pure"} | fields


def unit(*steps: Json, name: str = "u") -> Json:
    return {"name": name, "steps": list(steps)}


GATES = [unit(step("g", kind="gate")), unit(step("h", kind="gate"), step("e1", kind="effect"), name="v")]

BAD: dict[str, tuple[list[Json | bytes], str]] = {
    "empty file": (
        [],
        ": the file is empty: no header and no events; give a recorded trace or record the trace again",
    ),
    "no events": (
        [header()],
        ": the trace has a header and no events; record the trace again: nothing was observed",
    ),
    "missing header": (
        [fired(1)],
        ":1: the first line is 'effect_fired', not a header; put the header that the recorder wrote first",
    ),
    "two headers": (
        [header(), fired(1), header()],
        ":3: a second header; keep one recording a file: split it here",
    ),
    "unknown version": (
        [header(v=2, novelty=1)],
        ":1: the header's format version is 2, known is 1; use a matching release",
    ),
    "unknown event kind": (
        [header(), event("teleported", 1)],
        f":2: unknown event kind 'teleported'; the kinds are {', '.join(sorted(EVENT_KINDS))}",
    ),
    "no event kind": (
        [header(), without(fired(1), "event")],
        ":2: the line has no field 'event'; name the kind of event in it",
    ),
    "event kind of a wrong type": (
        [header(), fired(1, event=3)],
        ":2: the field 'event' is wrong: expected str; name the kind of event in it",
    ),
    "not an object": (
        [header(), b"[1, 2]\n"],
        ":2: the line is no JSON object (expected object, got array); an event is one JSON object a line",
    ),
    "missing field": (
        [header(), without(fired(1), "applied")],
        f":2: the field 'applied' is missing; {FIELDS}",
    ),
    "unknown field": (
        [header(), fired(1, colour="red")],
        f":2: the field 'colour' is unknown; {FIELDS}",
    ),
    "field of a wrong type": (
        [header(), fired(1, t="noon")],
        f":2: the field 't' is wrong: expected int, got str; {FIELDS}",
    ),
    "field out of range": (
        [header(), fired(0)],
        f":2: the field 'seq' is wrong: expected int >= 1; {FIELDS}",
    ),
    "outcome that is no scalar": (
        [header(), recorded(1, "begin", outcome={"a": 1})],
        f":2: the field 'outcome' is wrong: expected bool | int | str | null, got object; {FIELDS}",
    ),
    "NaN": (
        [header(), recorded(1, "begin", outcome=float("nan"))],
        f":2: the line is no JSON (invalid character (byte 144)); {MALFORMED}",
    ),
    "field of a wrong type inside": (
        [
            header(),
            event("store_read", 1, answers={}, open_interrupts=[], checkpoints=[{"id": 7}]),
        ],
        f":2: the field 'checkpoints[0].id' is wrong: expected str, got int; {FIELDS}",
    ),
    "missing field inside": (
        [
            header(),
            event("store_read", 1, answers={}, open_interrupts=[], checkpoints=[{"id": "c", "unit": None}]),
        ],
        f":2: the field 'checkpoints[0].parent' is missing; {FIELDS}",
    ),
    "header of a wrong type": (
        [header(sink="leaky")],
        f":1: the field 'sink' is wrong: invalid enum value 'leaky'; {FIELDS}",
    ),
    "deep nesting": (
        [header(), b'{"x":' * 200_000 + b"1" + b"}" * 200_000 + b"\n"],
        ":2: the JSON is nested too deeply; an event is a flat object: mend the recorder",
    ),
    "two lines joined": (
        [header(), json.dumps(fired(1)).encode() + json.dumps(fired(2)).encode() + b"\n"],
        f":2: the line is no JSON (trailing characters (byte {len(json.dumps(fired(1))) + 1})); {MALFORMED}",
    ),
    "not UTF-8": (
        [header(), b'{"event":"memo_used","seq":1,"thread":"\xff"}\n'],
        ":2: the line is not UTF-8; write the trace as UTF-8",
    ),
    "UTF-16": (
        [(json.dumps(header()) + "\n").encode("utf-16")],
        ":1: the line is not UTF-8; write the trace as UTF-8",
    ),
    "byte order mark": (
        [b"\xef\xbb\xbf" + json.dumps(header()).encode() + b"\n"],
        ":1: the file starts with a byte order mark; save it as UTF-8 without one",
    ),
    "line too long": (
        [header(), b" " * (MAX_LINE_BYTES + 1) + b"\n"],
        ":2: the line is longer than 10 MB; record digests in place of large outcomes",
    ),
    "duplicate seq": (
        [header(), fired(1), fired(1)],
        f":3: actor 'p1' has seq 1 twice; {ORDER}",
    ),
    "events out of order": (
        [header(), fired(1), fired(2), fired(3), fired(2)],
        f":5: actor 'p1' goes back from seq 3 to 2: its events are out of order; {ORDER}",
    ),
    "swapped lines": (
        [header(), fired(2), fired(1)],
        f":2: actor 'p1' begins with seq 2: lines before it are missing; {ORDER}",
    ),
    "lost line": (
        [header(), fired(1), fired(4)],
        f":3: actor 'p1' jumps from seq 1 to 4: lines between them are missing; {ORDER}",
    ),
    "time going back": (
        [header(), fired(1, t=10), fired(2, t=9)],
        ":3: the time of actor 'p1' goes back from 10 to 9; take 't' from one monotonic clock",
    ),
    "phase without op": (
        [header(), without(recorded(1, "begin"), "op")],
        ":2: 'recorded' has 'phase' without 'op'; an operation's two lines carry both",
    ),
    "op without phase": (
        [header(), without(recorded(1, "begin"), "phase")],
        ":2: 'recorded' has 'op' without 'phase'; an operation's two lines carry both",
    ),
    "no bracket": (
        [header(), event("parked", 1, gate="g")],
        ":2: 'parked' has neither 'phase' nor 'op'; write a begin and an end line around the store's call",
    ),
    "bracket around a point": (
        [header(), fired(1, phase="begin", op="o")],
        ":2: 'effect_fired' is one line and has a 'phase'; drop 'phase' and 'op'",
    ),
    "end without begin": (
        [header(), recorded(1, "end")],
        ":2: operation 'o1' ends without a begin; write the begin line before the store's call",
    ),
    "begin twice": (
        [header(), recorded(1, "begin"), recorded(2, "begin")],
        f":3: operation 'o1' begins twice (first on line 2); {OWN_OP}",
    ),
    "begin again after its end": (
        [header(), recorded(1, "begin"), recorded(2, "end"), recorded(3, "begin")],
        f":4: operation 'o1' begins twice (first on line 2); {OWN_OP}",
    ),
    "end twice": (
        [header(), recorded(1, "begin"), recorded(2, "end"), recorded(3, "end")],
        f":4: operation 'o1', begun on line 2, ends twice (first on line 3); {OWN_OP}",
    ),
    "end by another actor": (
        [header(), recorded(1, "begin"), recorded(1, "end", actor="p2")],
        f":3: operation 'o1', begun on line 2, is of actor 'p1' and ends with actor 'p2'; {OWN_OP}",
    ),
    "end in another thread": (
        [header(), recorded(1, "begin"), recorded(2, "end", thread="u")],
        f":3: operation 'o1', begun on line 2, is of thread 't' and ends with thread 'u'; {OWN_OP}",
    ),
    "end about another step": (
        [header(), recorded(1, "begin"), recorded(2, "end", step="e2")],
        f":3: operation 'o1', begun on line 2, is about step 'e1' and ends with 'e2'; {SAME}",
    ),
    "end as another kind": (
        [header(), event("parked", 1, gate="g", phase="begin", op="o1"), recorded(2, "end")],
        ":3: operation 'o1', begun on line 2, is 'parked' and ends as 'recorded'; "
        "end an operation as what it began, or as what was refused",
    ),
    "refusal that ends something else": (
        [header(), recorded(1, "begin"), event("refused", 2, what="delivery", phase="end", op="o1")],
        ":3: operation 'o1', begun on line 2, is 'recorded' and ends as 'refused' of 'delivery'; "
        "end an operation as what it began, or as what was refused",
    ),
    "end of another unit": (
        [
            header(),
            committed(1, "begin", steps=[], outcomes={}),
            committed(2, "end", unit="approve", steps=[], outcomes={}),
        ],
        f":3: operation 'o1', begun on line 2, is about unit 'prepare' and ends with 'approve'; {SAME}",
    ),
    **{
        f"end with another {name}": (
            [header(), line(1, "begin"), line(2, "end") | {name: value}],
            f":3: operation 'o1', begun on line 2, ends with another {name!r} than it began with; {REPEAT}",
        )
        for line, name, value in (
            (recorded, "outcome", "y"),
            (committed, "steps", ["e1", "c"]),
            (committed, "outcomes", {}),
            (committed, "parent", "c0"),
            (committed, "valid", False),
            (committed, "next", []),
            (delivered, "value", 1),
            (forked, "index", 1),
            (forked, "declared", False),
        )
    },
    "refusal of another step": (
        [header(), recorded(1, "begin"), refused(2, "record", step="e2")],
        f":3: operation 'o1', begun on line 2, is about step 'e1' and ends with 'e2'; {SAME}",
    ),
    "refusal of another gate": (
        [header(program=GATES), event("parked", 1, gate="g", **BEGUN), refused(2, "gate", gate="h")],
        f":3: operation 'o1', begun on line 2, is about gate 'g' and ends with 'h'; {SAME}",
    ),
    "refusal of another delivery": (
        [header(), delivered(1, "begin"), refused(2, "delivery", delivery="d2")],
        f":3: operation 'o1', begun on line 2, is about delivery 'd1' and ends with 'd2'; {SAME}",
    ),
    "refusal of another unit": (
        [header(), committed(1, "begin"), refused(2, "commit", unit="approve")],
        f":3: operation 'o1', begun on line 2, is about unit 'prepare' and ends with 'approve'; {SAME}",
    ),
    "refusal of a step that is not committed": (
        [header(), committed(1, "begin"), refused(2, "outcome", step="c")],
        ":3: operation 'o1', begun on line 2, commits e1 and ends with step 'c'; "
        "name the committed step that was refused",
    ),
    "refusal of something else": (
        [header(), event("refused", 1, what="gate", **BEGUN), refused(2, "record")],
        f":3: operation 'o1', begun on line 2, refuses a 'gate' and ends as refusing a 'record'; {OWN_OP}",
    ),
    "refusal begun of another gate": (
        [
            header(program=GATES),
            event("refused", 1, what="gate", gate="g", **BEGUN),
            refused(2, "gate", gate="h"),
        ],
        f":3: operation 'o1', begun on line 2, is about gate 'g' and ends with 'h'; {SAME}",
    ),
    "known only at the end": (
        [header(), event("loaded", 1, phase="begin", op="a", index=0)],
        ":2: the begin line of 'loaded' has the field 'index'; it is known only at the operation's end",
    ),
    "missing at the end": (
        [header(), event("loaded", 1, checkpoint=None)],
        ":2: the field 'index' of 'loaded' is missing; write it on the operation's end line",
    ),
    "unknown branch": (
        [header(), fired(1, branch="b")],
        ":2: branch 'b' of thread 't' was never forked; write a 'forked' event first; the root is 'main'",
    ),
    "forked twice": (
        [header(), *(event("forked", n, checkpoint=None, index=0, child="b", declared=True) for n in (1, 2))],
        ":3: branch 'b' is forked twice (first on line 2); give every fork its own name",
    ),
    "root forked": (
        [header(), event("forked", 1, checkpoint=None, index=0, child="main", declared=True)],
        ":2: the root 'main' is forked as a child; give the child its own name",
    ),
    "unknown step": (
        [header(), fired(1, step="e9")],
        f":2: unknown step 'e9'; {STEPS}",
    ),
    "unknown gate": (
        [header(), event("gate_passed", 1, gate="h", value=1)],
        f":2: unknown step 'h'; {STEPS}",
    ),
    "unknown step in a refusal": (
        [header(), event("refused", 1, what="outcome", step="h")],
        f":2: unknown step 'h'; {STEPS}",
    ),
    "unknown gate in the store": (
        [header(), event("store_read", 1, answers={"h": [1]}, open_interrupts=[], checkpoints=[])],
        f":2: unknown step 'h'; {STEPS}",
    ),
    "step of another kind": (
        [header(), event("computed", 1, step="e1", outcome=1, valid=True)],
        ":2: step 'e1' is of kind 'effect' in the program, not 'pure'; mend the recorder",
    ),
    "unknown unit": (
        [header(), committed(1, "begin", unit="ship")],
        f":2: unknown unit 'ship'; {UNITS}",
    ),
    "unknown next unit": (
        [header(), committed(1, "begin", next=["ship"])],
        f":2: unknown unit 'ship'; {UNITS}",
    ),
    "step of another unit": (
        [header(), committed(1, "begin", steps=["e2"], outcomes={})],
        ":2: step 'e2' is none of unit 'prepare'; name the unit that the checkpoint seals",
    ),
    "outcome of a step not committed": (
        [header(), committed(1, "begin", outcomes={"c": 1})],
        ":2: the outcome of 'c' is committed, which is none of the committed steps; list it in 'steps'",
    ),
    "unknown observed kind": (
        [header(observes=["completed"])],
        ":1: the header's 'observes' names 'completed', no kind of action; "
        f"the kinds are {', '.join(sorted(ACTION_KINDS))}",
    ),
    "unit twice": (
        [header(program=[unit(step("a")), unit(step("b"))])],
        ":1: the program has two units 'u'; number the occurrences apart",
    ),
    "step twice": (
        [header(program=[unit(step("a"), step("a"))])],
        ":1: the program has two steps 'a'; number the occurrences apart",
    ),
    "two gates in a unit": (
        [header(program=[unit(step("a", kind="gate"), step("b", kind="gate"))])],
        ":1: unit 'u' has more than one gate; split the unit: one gate a unit",
    ),
    "step after an unknown one": (
        [header(program=[unit(step("a", after=["z"]))])],
        ":1: step 'a' comes after 'z', no step of unit 'u'; name steps of the same unit only",
    ),
    "cyclic order": (
        [header(program=[unit(step("a", after=["b"]), step("b", after=["a"]))])],
        ":1: the order of the steps of unit 'u' has a cycle; mend the 'after' lists",
    ),
}


ENDS: dict[str, list[Json]] = {
    "a step of the unit was refused": [committed(1, "begin"), refused(2, "outcome", step="e1")],
    "the unit was refused": [committed(1, "begin"), refused(2, "outcome", unit="prepare", error="E")],
    "it has no steps": [committed(1, "begin", steps=[], outcomes={}), refused(2, "outcome", step="c")],
    "nothing is named": [delivered(1, "begin"), refused(2, "delivery")],
    "all is named": [delivered(1, "begin"), refused(2, "delivery", gate="g", delivery="d1")],
    "a refusal in two lines": [
        event("refused", 1, what="gate", **BEGUN),
        refused(2, "gate", gate="g", error="E"),
    ],
    "inferred at the end": [recorded(1, "begin"), recorded(2, "end", inferred=True)],
    "outcomes in another order": [
        committed(1, "begin", steps=["e1", "c"], outcomes={"e1": 1, "c": 2}),
        committed(2, "end", steps=["e1", "c"], outcomes={"c": 2, "e1": 1}),
    ],
    "a fork in two lines": [forked(1, "begin"), forked(2, "end")],
}
"""What an operation may end as."""


@pytest.mark.parametrize("case", ENDS)
def test_ends_that_agree_with_their_begins(trace: Callable[..., Path], case: str) -> None:
    assert len(read_trace(trace(header(), *ENDS[case])).events) == 2


@pytest.mark.parametrize("case", BAD)
def test_bad_input_gets_one_line_that_names_place_and_mend(trace: Callable[..., Path], case: str) -> None:
    lines, message = BAD[case]
    assert refusal(trace(*lines)) == message


def test_deep_nesting_within_a_known_field(trace: Callable[..., Path]) -> None:
    line = json.dumps(fired(1))[:-1].encode() + b',"key":' + b"[" * 300_000 + b"]" * 300_000 + b"}\n"
    assert (
        refusal(trace(header(), line)) == f":2: the field 'key' is wrong: expected str, got array; {FIELDS}"
    )


def test_the_longest_line_is_still_read(trace: Callable[..., Path]) -> None:
    line = json.dumps(fired(1)).encode()
    read = read_trace(trace(header(), line + b" " * (MAX_LINE_BYTES - len(line)) + b"\n"))
    assert len(read.events) == 1


def test_a_dynamic_program_learns_its_steps(trace: Callable[..., Path]) -> None:
    path = trace(
        header(program="dynamic"),
        fired(1, step="node#1/e"),
        committed(2, "begin", unit="node#1", steps=["z"], outcomes={}),
    )
    assert isinstance(read_trace(path).events[1], Committed)


def test_a_load_may_find_out_its_branch_at_its_end(trace: Callable[..., Path]) -> None:
    path = trace(
        header(),
        event("forked", 1, checkpoint=None, index=0, child="main/2", declared=False, inferred=True),
        event("loaded", 2, phase="begin", op="a"),
        event("loaded", 3, phase="end", op="a", checkpoint=None, index=0, branch="main/2"),
    )
    last = read_trace(path).events[-1]
    assert isinstance(last, Loaded)
    assert last.branch == "main/2"


@pytest.mark.parametrize(
    ("begin", "what"),
    [
        (event("loaded", 1), "load"),
        (event("gate_passed", 1, gate="g"), "gate"),
        (event("parked", 1, gate="g"), "gate"),
        (recorded(1, "begin"), "record"),
        (recorded(1, "begin"), "outcome"),
        (committed(1, "begin"), "commit"),
        (event("answer", 1, gate="g", delivery="d1", value="yes"), "delivery"),
        (event("refused", 1, what="gate"), "gate"),
    ],
)
def test_a_refusal_may_end_what_was_refused(trace: Callable[..., Path], begin: Json, what: str) -> None:
    begin = begin | {"phase": "begin", "op": "x"}
    path = trace(header(), begin, event("refused", 2, what=what, error="Conflict", phase="end", op="x"))
    assert read_trace(path).operations["x"].end == 1


def test_actors_count_by_themselves_and_may_be_mingled(trace: Callable[..., Path]) -> None:
    path = trace(header(), fired(1), fired(1, actor="p2", t=3), fired(2), fired(2, actor="p2", t=3))
    assert [(e.actor, e.seq) for e in read_trace(path).events] == [("p1", 1), ("p2", 1), ("p1", 2), ("p2", 2)]
