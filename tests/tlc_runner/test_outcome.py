"""Outcomes from messages and exit status. Streams of newer versions are hand-made: only 2.15 runs."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import pytest

from tlc_runner import Message, ModelValue, Outcome, Value, parse_messages
from tlc_runner.collect import Collector
from tlc_runner.outcome import classify, findings
from tlc_runner.summary import one_line


def collect(text: str) -> Collector:
    collector = Collector()
    for item in parse_messages(text.splitlines()):
        collector.take(item)
    return collector


def frame(code: int, text: str, severity: int = 0) -> str:
    return f"@!@!@STARTMSG {code}:{severity} @!@!@\n{text}\n@!@!@ENDMSG {code} @!@!@\n"


PLACE = "line 8, col 8 to line 8, col 28 of module M"
FINISHED = frame(2186, "Finished in 12ms at (2026-01-01 00:00:00)")
SUCCESS = frame(2193, "Model checking completed. No error has been found.") + FINISHED


def test_success_needs_message_and_status() -> None:
    messages = collect(SUCCESS).messages
    assert classify(messages, 0).outcome is Outcome.SUCCESS
    odd = classify(messages, 12)
    assert (odd.outcome, odd.text.splitlines()[0]) == (
        Outcome.CRASHED,
        "TLC ended with exit status 12 and no known message",
    )
    assert classify([], 0).outcome is Outcome.CRASHED
    assert classify(collect(FINISHED).messages, 0).outcome is Outcome.CRASHED
    assert classify(collect(FINISHED).messages, 0, simulation=True).outcome is Outcome.SUCCESS


def test_continue_exits_with_0_whatever_it_found() -> None:
    text = frame(2110, "Invariant Small is violated.", 1) + SUCCESS
    finding = classify(collect(text).messages, 0, continued=True)
    assert (finding.outcome, finding.property) == (Outcome.INVARIANT_VIOLATED, "Small")
    without = classify(collect(text).messages, 0)
    assert without.outcome is Outcome.CRASHED
    assert without.text.startswith("TLC's exit status 0 does not fit its message: invariant violated")


@pytest.mark.parametrize(
    ("code", "text", "exit_code", "outcome", "name"),
    [
        # Newer versions: another exit status for assertions, and names for temporal properties.
        (2132, "The first argument of Assert evaluated to FALSE", 14, Outcome.ASSERTION_FAILED, None),
        (2116, "Temporal property Live was violated.", 13, Outcome.LIVENESS_VIOLATED, "Live"),
        (2116, "Temporal properties were violated.\n", 13, Outcome.LIVENESS_VIOLATED, None),
        (
            2108,
            "Property P is violated by the initial state:\nx = 1\n",
            13,
            Outcome.ACTION_PROPERTY_VIOLATED,
            "P",
        ),
        (2113, "Evaluating action property Act failed.\nno", 77, Outcome.EVALUATION_ERROR, "Act"),
        (1001, "Out of memory.", 1, Outcome.OUT_OF_MEMORY, None),
        (2118, "There is no state satisfying the initial state predicate.", 255, Outcome.BAD_CONFIG, None),
        (
            2127,
            "when writing the disk (StatePoolWriter.run):\nNo space left on device",
            255,
            Outcome.DISK_FULL,
            None,
        ),
        (2161, "TLC encountered an I/O error: Disk quota exceeded", 153, Outcome.DISK_FULL, None),
        (2111, "Evaluating invariant I failed.\nJava heap space", 76, Outcome.OUT_OF_MEMORY, None),
        (1000, "The exception was a java.lang.NullPointerException", 255, Outcome.CRASHED, None),
        (9999, "Something nobody knows.", 13, Outcome.LIVENESS_VIOLATED, None),
        (9999, "Something nobody knows.", 255, Outcome.CRASHED, None),
    ],
)
def test_errors(code: int, text: str, exit_code: int, outcome: Outcome, name: str | None) -> None:
    finding = classify(collect(frame(code, text, 1) + FINISHED).messages, exit_code)
    assert (finding.outcome, finding.property) == (outcome, name)


def test_lack_of_memory_counts_before_what_it_caused() -> None:
    text = frame(2102, "While working on the initial state:\nx = 0", 1)
    text += frame(1000, "java.lang.OutOfMemoryError : GC overhead limit exceeded", 1)
    assert classify(collect(text).messages, 75).outcome is Outcome.OUT_OF_MEMORY


@pytest.mark.parametrize(
    ("exit_code", "stderr", "outcome"),
    [
        (-15, "", Outcome.INTERRUPTED),
        (130, "", Outcome.INTERRUPTED),
        (-9, "", Outcome.CRASHED),
        (1, "Error: Could not find or load main class tlc2.TLC", Outcome.CRASHED),
        (1, "Error occurred during initialization of VM\nToo small maximum heap", Outcome.OUT_OF_MEMORY),
        (1, "java.io.IOException: No space left on device", Outcome.DISK_FULL),
    ],
)
def test_deaths_without_a_message(exit_code: int, stderr: str, outcome: Outcome) -> None:
    assert classify([], exit_code, stderr=stderr).outcome is outcome


def test_warnings_are_no_findings() -> None:
    text = frame(2401, "Please run the Java VM with -XX:+UseParallelGC", 3) + SUCCESS
    collector = collect(text)
    assert findings(collector.messages) == []
    assert collector.warnings == ["Please run the Java VM with -XX:+UseParallelGC"]


@pytest.mark.parametrize(
    ("header", "action", "location", "params"),
    [
        ("2: <Inc " + PLACE + ">", "Inc", PLACE, None),
        # Newer versions print arguments, and other words before the number.
        ("2: <Take(p1, <<1, 2>>) " + PLACE + ">", "Take",
         PLACE, (ModelValue("p1"), (1, 2))),
        ("State 2: <Inner!Go " + PLACE + ">", "Inner!Go",
         PLACE, None),
        ("2: <Action " + PLACE + ">", None,
         PLACE, None),
        ("2: <Act>", "Act", None, None),
        ("2: <Initial predicate>", None, None, None),
    ],
)  # fmt: skip
def test_state_headers(
    header: str, action: str | None, location: str | None, params: tuple[Value, ...] | None
) -> None:
    text = frame(2110, "Invariant I is violated.", 1) + frame(2217, f"{header}\n/\\ x = 1\n/\\ y = <<>>\n", 4)
    ((state,),) = [violation.trace for violation in collect(text).violations]
    assert (state.number, state.action, state.location, state.params) == (2, action, location, params)
    assert state.variables == {"x": 1, "y": ()}


@pytest.mark.parametrize(
    "header",
    [
        "1: Back to state: <Go line 1, col 1 to line 1, col 2 of module M>",
        "Back to state 1: <Go line 1, col 1 to line 1, col 2 of module M>",
    ],
)
def test_a_loop(header: str) -> None:
    text = frame(2116, "Temporal properties were violated.", 1) + frame(
        2217, "1: <Initial predicate>\nx = 7", 4
    )
    text += frame(2217, "2: <Go line 1, col 1 to line 1, col 2 of module M>\nx = 8", 4) + frame(
        2122, header, 4
    )
    states = collect(text).violations[0].trace
    assert [(state.number, state.kind, state.action, state.variables) for state in states] == [
        (1, "normal", None, {"x": 7}),
        (2, "normal", "Go", {"x": 8}),
        (1, "back_to", "Go", {"x": 7}),
    ]


def test_counts_with_and_without_commas() -> None:
    text = frame(2190, "Finished computing initial states: 1,024 distinct states generated at 2026.")
    text += frame(
        2200,
        "Progress(9) at 2026-11-29 18:38:16: 17,772,047 states generated (15,946,845 s/min), "
        "17,772,046 distinct states found (15,946,917 ds/min), 15,797,375 states left on queue.",
    )
    counts = collect(text).counts
    assert (counts.initial, counts.depth, counts.generated, counts.distinct, counts.queue) == (
        1024, 9, 17772047, 17772046, 15797375,
    )  # fmt: skip
    text += frame(2199, "18000000 states generated, 17999999 distinct states found, 0 states left on queue.")
    text += frame(2194, "The depth of the complete state graph search is 12.")
    counts = collect(text).counts
    assert (counts.depth, counts.generated, counts.distinct, counts.queue) == (12, 18000000, 17999999, 0)


def test_only_the_last_coverage_counts() -> None:
    def report(lines: Iterable[str]) -> str:
        return frame(2201, "The coverage statistics") + "".join(frame(2772, line) for line in lines)

    place = "line 1, col 1 to line 1, col 2 of module M"
    text = report([f"<A {place}>: 1:2", f"<B {place}>: 0:0"])
    text += report([f"<A {place}>: 3:4", f"<A {place} (2 3 4 5)>: 1:1", f"<B {place}>: 0:0"])
    assert collect(text).coverage == {"A": (4, 5), "B": (0, 0)}


def test_every_outcome_has_one_line_and_a_status() -> None:
    finding = classify([Message(9999, 1, "Some\nlines\nof " + "text " * 200)], 255)
    line = one_line(finding, Path("/a/M.tla"), Path("/a/M.cfg"), [], None, [])
    assert line.startswith("M.tla: crashed: TLC ended with exit status 255")
    assert "\n" not in line
    assert len(line) < 400
    statuses = {outcome: outcome.exit_status for outcome in Outcome}
    assert [outcome.name for outcome, status in statuses.items() if status == 1] == [
        "INVARIANT_VIOLATED",
        "ACTION_PROPERTY_VIOLATED",
        "LIVENESS_VIOLATED",
        "DEADLOCK",
        "ASSUMPTION_FAILED",
        "ASSERTION_FAILED",
    ]
    assert [outcome.name for outcome, status in statuses.items() if status == 0] == ["SUCCESS"]
