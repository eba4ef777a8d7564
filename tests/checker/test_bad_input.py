"""What can't be checked is "unchecked", with one line that says why, and never "conforms"."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from script import Script, effect, unit

from trace_check.checker import check_file
from trace_check.trials.rendering import write

PROGRAM = (unit("u1", effect("e1")), unit("u2", effect("e2")))


def good() -> Script:
    script = Script(*PROGRAM)
    script.load("p1", 0)
    script.fire("p1", "e1")
    script.record("p1", "e1")
    script.commit("p1", "u1", e1="ok")
    return script


def second_header(lines: list[str]) -> None:
    lines.insert(2, lines[0])


def no_events(lines: list[str]) -> None:
    del lines[1:]


def nothing(lines: list[str]) -> None:
    lines.clear()


def out_of_order(lines: list[str]) -> None:
    lines[2], lines[3] = lines[3], lines[2]


def unknown_step(lines: list[str]) -> None:
    changed: dict[str, Any] = json.loads(lines[3])
    lines[3] = json.dumps(changed | {"step": "e9"})


def dynamic(lines: list[str]) -> None:
    changed: dict[str, Any] = json.loads(lines[0])
    lines[0] = json.dumps(changed | {"program": "dynamic", "observes": ["loaded"]})


@pytest.mark.parametrize(
    ("change", "line", "what"),
    [
        (second_header, 3, "a second header"),
        (no_events, None, "the trace has a header and no events"),
        (nothing, None, "the file is empty"),
        (out_of_order, 3, "actor 'p1' jumps from seq 1 to 3"),
        (unknown_step, 4, "unknown step 'e9'"),
        (dynamic, 1, "the program is dynamic, and 'observes' does not promise committed"),
    ],
)
def test_refused(change: Callable[[list[str]], None], line: int | None, what: str, tmp_path: Path) -> None:
    path = write(tmp_path / "trace.jsonl", good().rendering())
    lines = path.read_text().splitlines()
    change(lines)
    path.write_text("".join(one + "\n" for one in lines))
    found = check_file(path)
    assert (found.verdict, found.exit_status) == ("unchecked", 2)
    assert found.error is not None
    assert "\n" not in found.error
    place = str(path) if line is None else f"{path}:{line}"
    assert found.error.startswith(f"{place}: {what}")
    assert found.to_json()["error"] == found.error


def test_a_missing_file(tmp_path: Path) -> None:
    found = check_file(tmp_path / "nowhere.jsonl")
    assert (found.verdict, found.exit_status) == ("unchecked", 2)


def test_a_torn_last_line(tmp_path: Path) -> None:
    path = write(tmp_path / "trace.jsonl", good().rendering())
    path.write_bytes(path.read_bytes()[:-20])
    found = check_file(path)
    assert (found.verdict, found.exit_status) == ("unchecked", 2)
    assert (found.error or "").endswith("; what comes before it conforms")
    assert f"{path}:{1 + 7}: the last line is cut short; allow a torn last line" in (found.error or "")
    allowed = check_file(path, allow_torn=True)
    assert (allowed.verdict, allowed.exit_status) == ("conforms", 0)
    assert len(allowed.warnings) == 1


def test_before_a_torn_last_line_the_rest_is_checked(tmp_path: Path) -> None:
    script = good()
    again = script.fire("p1", "e1")
    script.load("p2", 1)
    whole = write(tmp_path / "trace.jsonl", script.rendering()).read_bytes()
    path = tmp_path / "torn.jsonl"
    path.write_bytes(whole[:-20])
    found = check_file(path)
    assert (found.verdict, found.exit_status, found.clauses) == ("unchecked", 2, ())
    assert (found.error or "").endswith("; what comes before it violates EO at event " + str(again)), (
        found.error
    )
    path.write_bytes(gzip.compress(whole)[:-60])
    found = check_file(path)
    assert (found.verdict, found.exit_status) == ("unchecked", 2)
    assert "the gzip stream is cut short" in (found.error or "")
    assert "; what comes before it " in (found.error or "")


def raw(text: bytes) -> Callable[[bytes], bytes]:
    """A line more, as it is."""
    return lambda trace: trace + text


def changed(line: int, **fields: Any) -> Callable[[bytes], bytes]:
    """A line with other fields."""

    def change(trace: bytes) -> bytes:
        lines = trace.splitlines(keepends=True)
        lines[line - 1] = json.dumps(json.loads(lines[line - 1]) | fields).encode() + b"\n"
        return b"".join(lines)

    return change


@pytest.mark.parametrize(
    ("change", "line", "what"),
    [
        (changed(4, event="fired"), 4, "unknown event kind"),
        (changed(4, step="e9"), 4, "unknown step 'e9'"),
        (lambda trace: trace.partition(b"\n")[2], 1, "the first line is 'loaded', not a header"),
        (changed(4, t=0), 4, "the time of actor 'p1' goes back"),
        (changed(4, seq=2), 4, "actor 'p1' has seq 2 twice"),
        (raw(b'{"event":"' + b"x" * 10_000_000 + b'"}\n'), 9, "the line is longer than 10 MB"),
        (raw(b'{"event":"\xff"}\n'), 9, "the line is not UTF-8"),
        (raw(b"[" * 100_000 + b"]" * 100_000 + b"\n"), 9, "the line is no JSON object"),
        (raw(b'{"a":' * 100_000 + b"1" + b"}" * 100_000 + b"\n"), 9, "the JSON is nested too deeply"),
        (raw(b"\x00\x00\n"), 9, "the line is no JSON"),
        (lambda trace: gzip.compress(trace)[:-12], None, "the gzip stream is cut short"),
        (lambda trace: gzip.compress(trace)[:30] + b"damaged", 1, "the gzip stream is"),
    ],
)
def test_hostile_input(change: Callable[[bytes], bytes], line: int | None, what: str, tmp_path: Path) -> None:
    trace = write(tmp_path / "trace.jsonl", good().rendering()).read_bytes()
    assert len(trace.splitlines()) == 8
    path = tmp_path / "hostile.jsonl"
    path.write_bytes(change(trace))
    found = check_file(path)
    assert (found.verdict, found.exit_status, found.clauses) == ("unchecked", 2, ())
    assert found.error is not None
    assert len(found.error.splitlines()) == 1
    place = f"{path}:{line}: " if line is not None else f"{path}:"
    assert found.error.startswith(place), found.error
    assert what in found.error


def test_a_budget_that_is_used_up(tmp_path: Path) -> None:
    path = write(tmp_path / "trace.jsonl", good().rendering())
    found = check_file(path, budget=2)
    assert (found.verdict, found.exit_status) == ("unchecked", 2)
    assert found.error == f"{path}: thread t1: the search budget of 2 is used up: raise it"
    assert check_file(path).verdict == "conforms"


def test_threads_are_judged_apart(tmp_path: Path) -> None:
    one, two = good().rendering(), good()
    two.fire("p1", "e1")
    other = two.rendering()
    other.thread = "t2"
    found = check_file(write(tmp_path / "trace.jsonl", one, other))
    assert (found.verdict, found.threads) == ("violates", 2)
    assert found.clauses == () or {clause.thread for clause in found.clauses} == {"t2"}
    first = found.first_unexplained
    assert first is not None
    assert first.line == 1 + 2 * len(one.lines) + 1
    both = good().rendering()
    both.thread = "t2"
    assert check_file(write(tmp_path / "both.jsonl", one, both)).verdict == "conforms"
