"""Logs of thousands of threads: what a verdict on them says, and that nothing is forgotten on the way."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from trace_check.checker import check_file
from trace_check.reader import read_trace
from trace_check.streaming import checking, many
from trace_check.streaming.checking import LISTED, MOST_EVENTS, check_stream
from trace_check.streaming.generate import MODELS, write_log
from trace_check.streaming.many import check_any, check_files

CONFORMING = MODELS / "park-and-resume.jsonl"
VIOLATING = MODELS / "kill-after-effect.jsonl"
SECOND = MODELS / "second-answer-at-old-checkpoint.jsonl"


@pytest.fixture
def log(tmp_path: Path) -> Callable[..., Path]:
    def make(*models: Path, threads: int, name: str = "log.jsonl") -> Path:
        path = tmp_path / name
        write_log(path, [read_trace(model) for model in models], threads, at_once=100)
        return path

    return make


def test_many_conforming_threads(log: Callable[..., Path]) -> None:
    found = check_stream(log(CONFORMING, threads=2_000))
    one = check_file(CONFORMING)
    assert (found.verdict, found.threads, found.clauses, found.left_out) == ("conforms", 2_000, (), ())
    assert found.hidden_steps == 2_000 * one.hidden_steps
    assert found.exercised == one.exercised
    assert found.expanded == one.expanded  # of the two thousand, one was searched


def test_a_verdict_on_many_violations_stays_small(log: Callable[..., Path]) -> None:
    path = log(VIOLATING, threads=150)
    found, whole = check_stream(path), check_file(path)
    assert len(whole.clauses) == 150
    assert found.clauses == whole.clauses[:LISTED]
    assert found.left_out == (("EO", 150 - LISTED),)
    assert found.to_json()["left_out"] == {"EO": 50}
    assert found.first_unexplained == whole.first_unexplained
    assert found.explanations == whole.explanations


def test_several_behaviours_in_one_log_plain_and_packed(log: Callable[..., Path]) -> None:
    one = check_stream(log(VIOLATING, SECOND, threads=60))
    packed = check_stream(log(VIOLATING, SECOND, threads=60, name="log.jsonl.gz"))
    assert one.clauses == packed.clauses
    assert {broken.clause for broken in one.clauses} >= {"EO", "FI"}
    assert one.clauses == check_file(log(VIOLATING, SECOND, threads=60)).clauses


def _with_last(path: Path, change: Callable[[dict[str, object], list[str]], dict[str, object]]) -> str | None:
    """The refusal of a log to which a line is added, which both ways of checking agree on."""
    lines = path.read_text().splitlines()
    path.write_text("\n".join([*lines, json.dumps(change(json.loads(lines[-1]), lines))]) + "\n")
    found = check_stream(path).error
    assert found == check_file(path).error
    return found


def test_an_operation_of_long_ago_may_not_begin_again(log: Callable[..., Path]) -> None:
    path = log(CONFORMING, threads=800)
    found = _with_last(
        path, lambda last, lines: json.loads(lines[1]) | {"actor": "late", "seq": 1, "t": 0, "thread": "late"}
    )
    assert found is not None
    assert "begins twice (first on line 2)" in found


def test_an_actor_of_long_ago_goes_on_counting(log: Callable[..., Path]) -> None:
    path = log(CONFORMING, threads=800)
    found = _with_last(path, lambda last, lines: json.loads(lines[1]) | {"op": "late", "t": 10**12})
    assert found is not None
    assert "goes back from seq" in found


def test_a_thread_that_never_ends(tmp_path: Path) -> None:
    lines = [CONFORMING.read_text().splitlines()[0]]
    for number in range(MOST_EVENTS // 2 + 1):
        for phase, end in (("begin", {}), ("end", {"checkpoint": None, "index": 0})):
            place = {"thread": "w", "branch": "main", "actor": "p", "seq": len(lines), "t": 0}
            lines.append(json.dumps({"event": "loaded", "phase": phase, "op": f"o{number}"} | place | end))
    path = tmp_path / "long.jsonl"
    path.write_text("\n".join(lines) + "\n")
    found = check_any(path)
    assert found.exit_status == 2
    assert found.error == (
        f"{path}:{MOST_EVENTS + 2}: thread 'w' has more than 20,000 events, too many to search; "
        "give every workflow instance a thread of its own, or record a shorter run"
    )


def test_files_go_the_way_that_their_size_asks_for(
    log: Callable[..., Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    streamed: list[Path] = []
    known = checking.check_stream

    def noted(path: Path, **options: object) -> object:
        streamed.append(path)
        return known(path, **options)  # type: ignore[arg-type]

    monkeypatch.setattr(checking, "check_stream", noted)
    large = log(CONFORMING, threads=200)
    assert large.stat().st_size > many.SMALL
    verdicts = list(check_files([CONFORMING, large, Path("nowhere.jsonl")]))
    assert [verdict.verdict for verdict in verdicts] == ["conforms", "conforms", "unchecked"]
    assert streamed == [large]


def test_several_files_over_several_processes(log: Callable[..., Path]) -> None:
    paths = [CONFORMING, VIOLATING, log(CONFORMING, threads=200)]
    told: list[Path] = []
    verdicts = list(check_files(paths, jobs=2, on_progress=lambda path, _: told.append(path)))
    assert verdicts == [check_any(path) for path in paths]
    assert set(told) == set(paths)
