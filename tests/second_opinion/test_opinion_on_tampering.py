"""TLC refuses a trace that was tampered with, as the mirror does; and so it could say no all along."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from asking import patient

from trace_check.by_tlc.opinion import opinions_of_threads
from trace_check.observations import threads
from trace_check.reader import Trace, read_trace
from trace_check.streaming.generate import MODELS

REFERENCE = MODELS / "races-crashes-and-a-fork.jsonl"
Event = dict[str, Any]
KINDS = ("effect_fired", "committed", "computed", "recorded", "gate_passed", "parked")


def events() -> list[Event]:
    return [json.loads(line) for line in REFERENCE.read_text().splitlines()]


def written(lines: list[Event], path: Path) -> Trace:
    """The changed lines as a trace, each actor's numbered anew."""
    counts: dict[str, int] = {}
    for line in lines[1:]:
        counts[line["actor"]] = line["seq"] = counts.get(line["actor"], 0) + 1
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return read_trace(path)


def dropped(lines: list[Event]) -> Iterator[tuple[str, list[Event]]]:
    """Without each operation of these kinds that ended."""
    for number, line in enumerate(lines):
        if line["event"] in KINDS and line.get("phase") != "begin":
            op = line.get("op")
            kept = [one for n, one in enumerate(lines) if n != number and (op is None or one.get("op") != op)]
            yield f"without line {number + 1}", kept


def doubled(lines: list[Event]) -> Iterator[tuple[str, list[Event]]]:
    """With an effect applied twice."""
    for number, line in enumerate(lines):
        if line["event"] == "effect_fired" and line["applied"]:
            yield f"line {number + 1} twice", [*lines[: number + 1], dict(line), *lines[number + 1 :]]


def changed(lines: list[Event]) -> Iterator[tuple[str, list[Event]]]:
    """With another value in both lines of an operation."""
    changes: dict[str, Callable[[Event], Event]] = {
        "effect_fired": lambda line: {"applied": not line["applied"]},
        "computed": lambda line: {"valid": not line["valid"]},
        "recorded": lambda line: {"outcome": "other"},
        "gate_passed": lambda line: {"value": "other"},
        "loaded": lambda line: {"index": 3},
        "committed": lambda line: {"valid": not line["valid"]},
        "store_read": lambda line: {"checkpoints": line["checkpoints"][:-1]},
    }
    for number, line in enumerate(lines):
        if line["event"] not in changes or line.get("phase") == "begin":
            continue
        change = changes[line["event"]](line)
        for name in change:  # a begin line has what is known by then
            begun = [one for one in lines if "op" in line and one.get("op") == line["op"] and name in one]
            if change[name] != line[name]:
                what = [one | {name: change[name]} if one in [line, *begun] else one for one in lines]
                yield f"line {number + 1} changed", what


def tampered(folder: Path) -> list[Trace]:
    found = []
    for tampering in (dropped, doubled, changed):
        for name, lines in tampering(events()):
            found.append(written(copy.deepcopy(lines), folder / f"{name}.jsonl"))
    return found


@pytest.mark.slow
def test_what_is_tampered_with_does_not_conform(tmp_path: Path) -> None:
    traces = [read_trace(REFERENCE), *tampered(tmp_path)]
    assert len(traces) >= 60
    asked = [thread for trace in traces for thread in threads(trace)]
    untouched, *others = opinions_of_threads(asked, [(0,)] * len(asked), patient())
    assert untouched.verdict == "conforms"
    conforming = [
        trace.path.stem
        for trace, opinion in zip(traces[1:], others, strict=True)
        if opinion.verdict != "violates"
    ]
    assert conforming == []
