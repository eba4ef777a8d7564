"""The checks aren't vacuous: a conforming trace that is tampered with is rejected."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from trace_check.checker import Verdict, check_file
from trace_check.streaming.generate import MODELS

REFERENCE = MODELS / "races-crashes-and-a-fork.jsonl"
Event = dict[str, Any]


def events() -> list[Event]:
    return [json.loads(line) for line in REFERENCE.read_text().splitlines()]


def check(lines: list[Event], folder: Path) -> Verdict:
    """The verdict on changed lines, each actor's numbered anew."""
    counts: dict[str, int] = {}
    for line in lines[1:]:
        counts[line["actor"]] = line["seq"] = counts.get(line["actor"], 0) + 1
    path = folder / "tampered.jsonl"
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return check_file(path)


def operations(kind: str, **fields: Any) -> list[list[int]]:
    """The lines (from 0, the header) of each event or operation that ends as this kind."""
    lines = events()
    found = []
    for number, line in enumerate(lines):
        if line["event"] == kind and line.get("phase") != "begin" and fields.items() <= line.items():
            begin = [
                n for n, other in enumerate(lines[:number]) if "op" in line and other.get("op") == line["op"]
            ]
            found.append([*begin, number])
    return found


DROPPED = [
    *operations("effect_fired"),
    *operations("committed"),
    *operations("computed"),
    *operations("recorded"),
    *operations("gate_passed"),
    *operations("parked"),
    # of two deliveries of one answer either will do
    *operations("refused", what="commit"),
]


def test_untouched_it_conforms(tmp_path: Path) -> None:
    assert check(events(), tmp_path).verdict == "conforms"
    assert len(DROPPED) >= 20


@pytest.mark.parametrize("dropped", DROPPED, ids=lambda numbers: f"line{numbers[-1]}")
def test_an_event_that_is_missing(dropped: list[int], tmp_path: Path) -> None:
    lines = events()
    kept = [line for number, line in enumerate(lines) if number not in dropped]
    what = lines[dropped[-1]]
    if what["event"] == "refused":
        # nothing follows from a refused commit, except that its process goes on with something else
        assert check(kept, tmp_path).verdict == "conforms"
        return
    assert check(kept, tmp_path).verdict == "violates", what


@pytest.mark.parametrize("numbers", operations("effect_fired", applied=True), ids=str)
def test_an_effect_that_is_doubled(numbers: list[int], tmp_path: Path) -> None:
    lines = events()
    lines.insert(numbers[0] + 1, dict(lines[numbers[0]]))
    found = check(lines, tmp_path)
    assert found.verdict == "violates"


@pytest.mark.parametrize(
    ("kind", "field", "value"),
    [
        ("effect_fired", "outcome", "other"),
        ("effect_fired", "applied", None),
        ("computed", "outcome", "other"),
        ("computed", "valid", None),
        ("recorded", "outcome", "other"),
        ("gate_passed", "value", "other"),
        ("loaded", "index", 3),
        ("committed", "outcomes", None),
        ("committed", "valid", None),
    ],
)
def test_a_value_that_is_changed(kind: str, field: str, value: Any, tmp_path: Path) -> None:
    """None stands for the opposite of a flag, and for another outcome in a commit."""
    rejected = 0
    for numbers in operations(kind):
        lines = events()
        for number in numbers:
            if field not in lines[number]:
                continue
            old = lines[number][field]
            new = value
            if value is None:
                new = not old if isinstance(old, bool) else {step: f"{o}-" for step, o in old.items()}
            lines[number][field] = new
        found = check(lines, tmp_path)
        assert found.verdict == "violates", (numbers, lines[numbers[-1]])
        rejected += 1
    assert rejected == len(operations(kind)) > 0


def test_an_answer_that_came_too_late_and_is_accepted(tmp_path: Path) -> None:
    [(_, number)] = operations("answer", delivery="d2")
    lines = events()
    lines[number]["accepted"] = True
    found = check(lines, tmp_path)
    assert found.explanations == (("late_answer_recorded",),)
    assert [clause.clause for clause in found.clauses] == ["CO-V"]


def test_a_reading_of_the_store_that_is_changed(tmp_path: Path) -> None:
    for numbers in operations("store_read"):
        for change in (lose_one, lose_answers, open_one):
            lines = events()
            if change(lines[numbers[0]]):
                assert check(lines, tmp_path).verdict == "violates", lines[numbers[0]]


def lose_one(read: Event) -> bool:
    return bool(read["checkpoints"] and read["checkpoints"].pop())


def lose_answers(read: Event) -> bool:
    had = bool(read["answers"]) and read["branch"] == "main"
    read["answers"] = {}
    return had


def open_one(read: Event) -> bool:
    changed = not read["open_interrupts"] and len(read["checkpoints"]) != 1
    read["open_interrupts"] = ["g"]
    return changed
