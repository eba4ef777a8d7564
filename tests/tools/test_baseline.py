"""`trace check --baseline`: violations that are known, new, gone, and what tells them apart."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pytest

from resume_contract.cli import run
from trace_check.baseline import (
    NO_CLAUSE,
    UNMODELLED,
    Violation,
    baseline_text,
    compare,
    read_baseline,
    violations_of,
)
from trace_check.checker import check_file
from trace_check.reader import read_trace
from trace_check.streaming.checking import LISTED, check_stream
from trace_check.streaming.generate import MODELS, write_log

KILL = MODELS / "kill-after-effect.jsonl"
OLD = MODELS / "second-answer-at-old-checkpoint.jsonl"
FINE = MODELS / "park-and-resume.jsonl"


class Ended(NamedTuple):
    status: int
    out: list[str]
    err: str


Check = Callable[..., Ended]


@pytest.fixture
def check(capfd: pytest.CaptureFixture[str]) -> Check:
    def run_it(*arguments: object) -> Ended:
        capfd.readouterr()
        status = run(["trace", "check", *map(str, arguments)])
        printed = capfd.readouterr()
        return Ended(status, printed.out.splitlines(), printed.err)

    return run_it


def test_what_a_violation_is_known_by() -> None:
    assert violations_of(check_file(KILL)) == (
        Violation(
            "langgraph",
            "sqlite",
            "plain",
            "kill-after-effect",
            "EO",
            "effect_fired e1",
            (("unkeyed_effect",),),
        ),
    )
    assert [(one.clause, one.at) for one in violations_of(check_file(OLD))] == [
        ("CO-V", "gate_passed g"),
        ("FI", "forked"),
    ]
    assert violations_of(check_file(FINE)) == ()


def recorded_anew(path: Path, to: Path, **header: str) -> Path:
    """The same trace as another recording would have it: other times, ids, processes, threads and line numbers."""
    text = path.read_text()
    text = re.sub(r'"t":(\d+)', lambda m: f'"t":{int(m[1]) * 3 + 7}', text)
    text = re.sub(r"1f1ec270-", "77777777-", text)
    text = text.replace('"thread":"t1"', '"thread":"other"').replace('"p2', '"q2')
    for name, value in header.items():
        text = re.sub(rf'"{name}":"[^"]*"', f'"{name}":"{value}"', text, count=1)
    to.write_text(text.replace("\n", "\n\n"))
    return to


def test_it_is_known_again_in_another_recording(check: Check, tmp_path: Path) -> None:
    known = tmp_path / "known.json"
    assert check(KILL, OLD, FINE, "--write-baseline", known).status == 1
    again = recorded_anew(KILL, tmp_path / "again.jsonl", version="1.3.0")
    assert check(again).status == 1
    ended = check(again, FINE, "--baseline", known)
    assert (ended.status, ended.err) == (0, "")
    assert f"  all of this is known: {known}" in ended.out
    assert ended.out[-1] == "known of traces that were not checked now: 2, of 1"
    for name, value in (("scenario", "other"), ("store", "postgres"), ("sink", "keyed"), ("system", "other")):
        changed = recorded_anew(KILL, tmp_path / "changed.jsonl", **{name: value})
        if check(changed).status == 1:  # with a keyed sink it is another violation
            assert check(changed, "--baseline", known).status == 1


def test_a_new_violation_fails_and_is_named(check: Check, tmp_path: Path) -> None:
    known = tmp_path / "known.json"
    check(KILL, "--write-baseline", known)
    ended = check(KILL, OLD, "--baseline", known)
    assert ended.status == 1
    assert [line for line in ended.out if "new, not in" in line] == [
        f"  new, not in {known}: CO-V at gate_passed g",
        f"  new, not in {known}: FI at forked",
    ]
    told = json.loads("\n".join(check(KILL, OLD, "--baseline", known, "--json").out))
    assert [(len(one["baseline"]["known"]), len(one["baseline"]["new"])) for one in told] == [(1, 0), (0, 2)]
    assert "baseline" not in json.loads("\n".join(check(KILL, "--json").out))[0]


def test_another_explanation_of_the_same_clause_is_new(check: Check, tmp_path: Path) -> None:
    known = tmp_path / "known.json"
    (one,) = violations_of(check_file(KILL))
    other = Violation(*one.trace, one.clause, one.at, (("ledger_ignored",),))
    known.write_text(baseline_text([other]))
    ended = check(KILL, "--baseline", known)
    assert ended.status == 1
    assert ended.out[-1] == (
        "known and not seen any more: langgraph, kill-after-effect (sqlite, plain sink): EO at effect_fired e1, "
        "explained by ledger_ignored"
    )
    (told,) = json.loads("\n".join(check(KILL, "--baseline", known, "--json").out))
    assert [found["explanations"] for found in told["baseline"]["gone"]] == [[["ledger_ignored"]]]


def test_writing_beside_a_baseline_keeps_what_is_known(check: Check, tmp_path: Path) -> None:
    first, both = tmp_path / "first.json", tmp_path / "both.json"
    check(KILL, "--write-baseline", first)
    assert check(OLD, "--baseline", first, "--write-baseline", both).status == 1
    assert read_baseline(both) == {*violations_of(check_file(KILL)), *violations_of(check_file(OLD))}
    assert check(KILL, OLD, "--baseline", both).status == 0
    check(OLD, KILL, "--write-baseline", first)
    assert first.read_text() == both.read_text()


def test_unmodelled_events_and_faults_that_break_nothing_can_be_known(check: Check, tmp_path: Path) -> None:
    lines = FINE.read_text().splitlines(keepends=True)
    (read,) = [
        i for i, line in enumerate(lines) if '"store_read"' in line and '"open_interrupts":["g"]' in line
    ]
    lines[read] = lines[read].replace('"open_interrupts":["g"]', '"open_interrupts":[]')
    trace = tmp_path / "closed.jsonl"
    trace.write_text("".join(lines))
    found = violations_of(check_file(trace))
    assert {one.clause for one in found} <= {UNMODELLED, NO_CLAUSE}
    assert found
    known = tmp_path / "known.json"
    assert check(trace, "--write-baseline", known).status == 1
    assert check(trace, "--baseline", known).status == 0


def test_a_trace_that_cannot_be_checked_is_never_known(check: Check, tmp_path: Path) -> None:
    known, torn = tmp_path / "known.json", tmp_path / "torn.jsonl"
    torn.write_bytes(KILL.read_bytes()[:-10])
    ended = check(torn, KILL, "--write-baseline", known)
    assert ended.status == 2
    assert f"{known}: not written, as 1 trace could not be checked: mend them first" in ended.err
    assert not known.exists()
    check(KILL, "--write-baseline", known)
    assert check(torn, KILL, "--baseline", known).status == 2
    assert check(torn, "--baseline", known, "--allow-torn").status == 0


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (None, "cannot be read: No such file or directory; give the path of a baseline"),
        ("", "is no JSON: input data was truncated; write it anew with `trace check --write-baseline`"),
        ("[1]", "is no baseline: expected 'object', got 'array'; write it anew"),
        ('{"version": 2}', "the baseline's version is 2, known is 1; use a matching release"),
        ('{"version": 1}', "is no baseline: object missing required field 'violations'; write it anew"),
        ('{"version": 1, "violations": [{}]}', "is no baseline: object missing required field 'system' - at"),
        (
            '{"version": 1, "violations": [], "more": 1}',
            "is no baseline: object contains unknown field 'more'",
        ),
        ('{"version": ' + "[" * 100_000, "is no JSON: "),
    ],
)
def test_a_malformed_baseline_is_one_line(
    check: Check, tmp_path: Path, text: str | None, message: str
) -> None:
    known = tmp_path / "known.json"
    if text is not None:
        known.write_text(text)
    ended = check(KILL, "--baseline", known)
    assert (ended.status, ended.out) == (2, [])
    assert ended.err.startswith(f"error: {known}: {message}")
    assert ended.err.count("\n") == 1
    known.write_bytes(b'{"version": 1, "violations": ["\xff"]}')
    assert check(KILL, "--baseline", known).status == 2


def test_comparing() -> None:
    def violation(scenario: str, clause: str) -> Violation:
        return Violation("s", "-", "plain", scenario, clause, "x", ((),))

    a, b, c, d = violation("1", "EO"), violation("1", "PC"), violation("2", "EO"), violation("1", "CV")
    compared = compare([a, b, c], [a, d], [a.trace])
    assert (compared.known, compared.new, compared.gone, compared.not_checked) == ({a}, {d}, {b}, {c})


def second_effect_twice(to: Path) -> Path:
    """The recording of a kill in which the other effect happens again instead: by a process that dies after it."""
    lines = KILL.read_text().splitlines(keepends=True)
    (at,) = [n for n, line in enumerate(lines) if '"effect_fired","step":"e2"' in line]
    more = [*lines[at - 3 : at + 1], lines[4]]  # it loads, passes the gate and fires; and a crash
    more = [re.sub(r'"actor":"p\d"', '"actor":"p9"', line).replace("p3.2", "p9.1") for line in more]
    more = [re.sub(r'"seq":\d+', f'"seq":{n}', line) for n, line in enumerate(more, 1)]
    whole = [lines[0], *lines[5 : at - 3], *more, *lines[at - 3 :]]
    to.write_text("".join(re.sub(r'"t":\d+', f'"t":{n}', line) for n, line in enumerate(whole)))
    return to


def test_a_new_violation_among_those_that_a_large_log_does_not_list_is_new(
    check: Check, tmp_path: Path
) -> None:
    log, known = tmp_path / "log.jsonl", tmp_path / "known.json"
    models = [read_trace(KILL)] * 150 + [read_trace(second_effect_twice(tmp_path / "other.jsonl"))]
    write_log(log, models, 151, at_once=1)
    verdict = check_stream(log)
    assert verdict.left_out
    assert all(
        broken.event < LISTED * len(models[0].events) for broken in verdict.clauses if broken.clause == "EO"
    )
    found = violations_of(verdict)
    assert found == violations_of(check_file(log))
    assert [(one.clause, one.at) for one in found] == [("EO", "effect_fired e1"), ("EO", "effect_fired e2")]
    known.write_text(baseline_text(found[:1]))
    ended = check(log, "--baseline", known)
    assert ended.status == 1
    assert f"  new, not in {known}: EO at effect_fired e2" in ended.out
    known.write_text(baseline_text(found))
    assert check(log, "--baseline", known).status == 0
