"""`trace shrink`: the same verdict, nothing to leave out, and a trace that the reader takes."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from resume_contract.cli import run
from trace_check.checker import Verdict, check_file
from trace_check.reader import read_trace
from trace_check.shrinking import same_verdict, shrink
from trace_check.streaming.generate import MODELS

KILL = MODELS / "kill-after-effect.jsonl"
RACE = MODELS / "race-two-resumers.jsonl"
OLD = MODELS / "second-answer-at-old-checkpoint.jsonl"
FINE = MODELS / "park-and-resume.jsonl"

Json = dict[str, Any]


class Ended(NamedTuple):
    status: int
    out: str
    err: str


Command = Callable[..., Ended]


@pytest.fixture
def command(capfd: pytest.CaptureFixture[str]) -> Command:
    def run_it(*arguments: object) -> Ended:
        capfd.readouterr()
        status = run(["trace", "shrink", *map(str, arguments)])
        return Ended(status, *capfd.readouterr())

    return run_it


def lines_of(path: Path) -> tuple[Json, list[Json]]:
    header, *events = [json.loads(line) for line in path.read_text().splitlines()]
    return header, events


def write(path: Path, header: Json, events: list[Json]) -> Path:
    """A trace of these lines, each actor's counted anew."""
    counts: dict[str, int] = {}
    for event in events:
        counts[event["actor"]] = counts.get(event["actor"], 0) + 1
        event["seq"] = counts[event["actor"]]
    path.write_text("".join(json.dumps(line) + "\n" for line in [header, *events]))
    return path


def said(verdict: Verdict) -> tuple[object, ...]:
    clauses = {(broken.clause, broken.certain) for broken in verdict.clauses}
    return verdict.verdict, clauses, verdict.explanations, len(verdict.unmodelled)


@pytest.mark.parametrize("path", [KILL, RACE, OLD], ids=lambda path: path.stem)
def test_the_verdict_is_the_same_and_nothing_can_be_left_out(
    path: Path, command: Command, tmp_path: Path
) -> None:
    small = tmp_path / "small.jsonl"
    assert command(path, "-o", small).status == 0
    wanted = said(check_file(path))
    assert wanted[0] == "violates"
    assert said(check_file(small)) == wanted
    header, events = lines_of(small)
    assert len(events) < len(lines_of(path)[1]) / 2
    pieces = {event.get("op", str(at)) for at, event in enumerate(events)}
    for piece in pieces:
        left = [dict(event) for at, event in enumerate(events) if event.get("op", str(at)) != piece]
        assert said(check_file(write(tmp_path / "shorter.jsonl", header, left))) != wanted
    assert len(header["program"]) == 1  # the other unit plays no part
    (unit,) = header["program"]
    for step in unit["steps"]:
        steps = [
            {**one, "after": [name for name in one["after"] if name != step["step"]]}
            for one in unit["steps"]
            if one != step
        ]
        left = [dict(e) for e in events if step["step"] not in (e.get("step"), e.get("gate"))]
        shorter = {**header, "program": [{**unit, "steps": steps}] if steps else []}
        assert said(check_file(write(tmp_path / "shorter.jsonl", shorter, left))) != wanted


def test_the_effect_that_is_fired_twice(command: Command, tmp_path: Path) -> None:
    small = tmp_path / "small.jsonl"
    ended = command(KILL, "-o", small)
    assert ended.out.splitlines() == [
        f"{KILL}: 6 of 27 events, 2 of 4 actors, 1 of 2 units, 1 of 3 steps are left",
        f"{small}: violates",
        "  EO is certainly broken, at event 6",
        "  explained by unkeyed_effect",
        "  the first event that the reference cannot explain: 6, effect_fired, line 7",
        "    the closest action is Fire; what it lacks: e1 was not applied before in branch main",
        "    against it is event 3, effect_fired by p1, line 4",
    ]
    _, events = lines_of(small)
    assert [event["event"] for event in events] == ["loaded", "loaded", "effect_fired"] * 2
    assert [event["seq"] for event in events] == [1, 2, 3] * 2
    assert [list(tmp_path.iterdir())] == [[small]]


def test_a_first_unit_that_goes_takes_its_place_in_counts_along(tmp_path: Path) -> None:
    found = shrink(read_trace(RACE))
    assert [unit.name for unit in found.header.units()] == ["approve"]
    loads = [(event.checkpoint, event.index) for event in found.events if hasattr(event, "index")]
    assert {load for load in loads if isinstance(load[1], int)} == {(None, 0)}
    _, events = lines_of(RACE)
    assert {event["index"] for event in events if "index" in event} == {0, 1}
    assert (found.before.events, found.before.units, found.after.units) == (len(events), 2, 1)
    assert found.after.events == len(found.events)
    assert found.undecided == 0
    assert found.candidates > 0


def of_thread(events: list[Json], name: str) -> list[Json]:
    """The same events in another thread, of actors and operations of their own."""
    named = [{**event, "thread": name, "actor": f"{name}.{event['actor']}"} for event in events]
    return [{**event, "op": f"{name}.{event['op']}"} if "op" in event else event for event in named]


def test_threads_that_play_no_part_go(command: Command, tmp_path: Path) -> None:
    header, bad = lines_of(KILL)
    fine = lines_of(FINE)[1]
    threads = [of_thread(bad if n == 5 else fine, f"w{n}") for n in range(8)]
    mixed = [
        event for together in zip(*[t[: len(fine)] for t in threads], strict=False) for event in together
    ]
    mixed += [event for t in threads for event in t[len(fine) :]]
    big = write(tmp_path / "big.jsonl", header, mixed)
    told = json.loads(command(big, "-o", tmp_path / "small.jsonl", "--json").out)
    assert (told["before"]["threads"], told["after"]["threads"]) == (8, 1)
    assert (told["before"]["events"], told["after"]["events"]) == (len(mixed), 6)
    assert told["verdict"]["clauses"] == [{"clause": "EO", "event": 6, "certain": True, "thread": "w5"}]
    assert told["candidates"] < 60


def test_a_reading_that_no_fault_explains_stays(command: Command, tmp_path: Path) -> None:
    header, events = lines_of(FINE)
    last = max(at for at, event in enumerate(events) if event["event"] == "store_read")
    events[last]["checkpoints"] = events[last]["checkpoints"][:1]
    trace = write(tmp_path / "lost.jsonl", header, events)
    wanted = check_file(trace)
    assert (wanted.verdict, len(wanted.unmodelled)) == ("violates", 1)
    assert command(trace, "-o", tmp_path / "small.jsonl").status == 0
    verdict = check_file(tmp_path / "small.jsonl")
    assert same_verdict(verdict, wanted)
    _, left = lines_of(tmp_path / "small.jsonl")
    assert left[verdict.unmodelled[0] - 1]["event"] == "store_read"
    reads = [one for event in left if event["event"] == "store_read" for one in event["checkpoints"]]
    assert all(one["outcomes"] == {} and one["next"] == [] for one in reads)


def test_gzip_both_ways(command: Command, tmp_path: Path) -> None:
    (tmp_path / "big.jsonl.gz").write_bytes(gzip.compress(KILL.read_bytes()))
    small = tmp_path / "small.jsonl.gz"
    assert command(tmp_path / "big.jsonl.gz", "-o", small).status == 0
    assert len(gzip.decompress(small.read_bytes()).splitlines()) == 7
    before = small.read_bytes()
    command(KILL, "-o", small)
    assert small.read_bytes() == before


def test_what_cannot_be_shrunk(command: Command, tmp_path: Path) -> None:
    small = tmp_path / "small.jsonl"
    torn = tmp_path / "torn.jsonl"
    torn.write_bytes(KILL.read_bytes()[:-10])
    for arguments, message in [
        ([FINE], f"{FINE}: it conforms: there is no violation to keep; give a trace that violates"),
        ([KILL, "--budget", 1], f"{KILL}: thread t1: the search budget of 1 is used up; raise the budget"),
        (["/nowhere.jsonl"], "/nowhere.jsonl: there is no such file"),
        ([torn], f"{torn}:28: the last line is cut short"),
    ]:
        ended = command(*arguments, "-o", small)
        assert (ended.status, ended.out) == (2, "")
        assert ended.err.startswith(f"error: {message}")
        assert ended.err.count("\n") == 1
        assert not small.exists()
    ended = command(KILL, "-o", tmp_path / "small.txt")
    assert (
        ended.err
        == f"error: file {tmp_path}/small.txt: its format is unknown: name one that ends in .jsonl or .jsonl.gz\n"
    )
    assert command(torn, "-o", small, "--allow-torn").status == 0
