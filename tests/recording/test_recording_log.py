"""The event log: numbers and order under threads, brackets, torn tails."""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from trace_check.errors import RecordingError
from trace_check.events import Answer, Header, Recorded
from trace_check.reader import read_trace
from trace_check.recording.log import EventLog, create_log, drop_torn_tail, read_events

HEADER = Header(
    v=1, system="s", version="1", store="s", sink="plain", scenario="x", program="dynamic", observes=[]
)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    create_log(tmp_path / "log.jsonl", HEADER)
    return tmp_path / "log.jsonl"


def test_a_log_is_made_once(path: Path) -> None:
    with pytest.raises(FileExistsError):
        create_log(path, HEADER)


def test_threads_and_actors_share_the_file_and_each_keeps_its_order(path: Path) -> None:
    def work(log: EventLog) -> None:
        for number in range(100):
            operation = log.begin("recorded", step=f"s{number}", outcome=number)
            log.emit("memo_used", step="s")
            operation.end()

    with EventLog(path, "p1", "t") as one, EventLog(path, "p2", "t") as two, ThreadPoolExecutor(6) as pool:
        for future in [pool.submit(work, log) for log in (one, two, one, two, one, two)]:
            future.result()
    trace = read_trace(path)
    assert len(trace.events) == 6 * 100 * 3
    assert len(trace.operations) == 600
    assert all(operation.end is not None for operation in trace.operations.values())


def test_the_end_line_has_the_begins_fields_and_what_is_known_now(path: Path) -> None:
    with EventLog(path, "p1", "t") as log:
        operation = log.begin("answer", gate="g", delivery="d", value="v")
        log.emit("forked", checkpoint=None, index=0, child="b", declared=True)
        log.branch = "b"
        operation.end(accepted=True)
        log.begin("recorded", step="s", outcome=None)
    begin, _, end, recorded = read_trace(path).events
    assert isinstance(begin, Answer)
    assert isinstance(end, Answer)
    assert isinstance(recorded, Recorded)
    assert (begin.op, begin.phase, end.op, end.phase, recorded.op) == ("p1.1", "begin", "p1.1", "end", "p1.2")
    assert (end.gate, end.delivery, end.value, end.accepted) == ("g", "d", "v", True)
    assert (begin.branch, end.branch, recorded.branch) == ("main", "main", "b")


def test_a_parent_goes_on_where_a_dead_child_stopped(path: Path) -> None:
    with EventLog(path, "p1", "t") as log:
        log.emit("memo_used", step="s")
    own = [event for event in read_events(path) if event.actor == "p1"]
    with EventLog(path, "p1", "t", first_seq=len(own) + 1) as log:
        log.emit("crashed", signal="SIGKILL")
    assert [event.seq for event in read_trace(path).events] == [1, 2]


def test_a_torn_tail_is_cut_off(path: Path) -> None:
    whole = path.read_bytes()
    assert not drop_torn_tail(path)
    path.write_bytes(whole + b'{"event":"memo')
    assert read_events(path) == []
    assert drop_torn_tail(path)
    assert path.read_bytes() == whole


def test_a_full_disk_is_told(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with EventLog(path, "p1", "t") as log:
        monkeypatch.setattr(os, "write", lambda fd, data: len(data) - 3)
        with pytest.raises(
            RecordingError, match=r"^the event log took \d+ of \d+ bytes of a line; free space"
        ):
            log.emit("memo_used", step="s")
