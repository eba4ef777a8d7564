"""The sinks: what is applied, what is answered, and that an effect outlives SIGKILL."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Literal

import pytest

from trace_check.errors import RecordingError
from trace_check.events import EffectFired, Header
from trace_check.recording.log import EventLog, create_log, drop_torn_tail, read_events
from trace_check.recording.sink import effect_outcome, fired_effects, missing_events, open_sink

HEADER = Header(
    v=1, system="s", version="1", store="s", sink="plain", scenario="x", program="dynamic", observes=[]
)

Kind = Literal["plain", "keyed"]
SINKS: list[Kind] = ["plain", "keyed"]

FIRE_FOR_EVER = """
import itertools, sys
from pathlib import Path
from trace_check.recording.log import EventLog
from trace_check.recording.sink import open_sink
folder = Path(sys.argv[1])
log = EventLog(folder / "log.jsonl", sys.argv[2], "t")
sink = open_sink(sys.argv[3], folder, log)
print("up", flush=True)
for n in itertools.count():
    sink.fire("e", f"k{n}", n)
"""


@pytest.fixture
def log(tmp_path: Path) -> EventLog:
    create_log(tmp_path / "log.jsonl", HEADER)
    return EventLog(tmp_path / "log.jsonl", "p1", "t")


def shown(tmp_path: Path) -> list[tuple[str, bool, object]]:
    events = read_events(tmp_path / "log.jsonl")
    return [(e.key, e.applied, e.outcome) for e in events if isinstance(e, EffectFired)]


def test_a_plain_sink_applies_every_firing(tmp_path: Path, log: EventLog) -> None:
    sink = open_sink("plain", tmp_path, log)
    first, again = sink.fire("e", "k", "a"), sink.fire("e", "k", "a")
    assert first == again == effect_outcome("e", "a")
    other = sink.fire("e", "k", "b")
    assert other == effect_outcome("e", "b") != first
    assert shown(tmp_path) == [("k", True, first), ("k", True, first), ("k", True, other)]
    assert [effect.applied for effect in fired_effects(tmp_path)] == [True, True, True]


def test_a_keyed_sink_applies_a_key_once_and_repeats_the_first_answer(tmp_path: Path, log: EventLog) -> None:
    sink = open_sink("keyed", tmp_path, log)
    first = sink.fire("e", "k", "a")
    assert sink.fire("e", "k", "b") == first == effect_outcome("e", "a")
    other = sink.fire("e", "k2", "b")
    assert shown(tmp_path) == [("k", True, first), ("k", False, first), ("k2", True, other)]
    assert [effect.applied for effect in fired_effects(tmp_path)] == [True, False, True]
    assert open_sink("keyed", tmp_path, log).fire("e", "k2", "c") == other


def test_of_racing_firings_of_one_key_one_is_applied(tmp_path: Path, log: EventLog) -> None:
    sink = open_sink("keyed", tmp_path, log)
    with ThreadPoolExecutor(4) as pool:
        answers = set(pool.map(lambda n: sink.fire("e", "k", n), range(12)))
    assert len(answers) == 1
    assert sorted(effect.applied for effect in fired_effects(tmp_path)) == [False] * 11 + [True]


@pytest.mark.parametrize("kind", SINKS)
def test_an_effect_is_durable_before_it_is_logged(tmp_path: Path, log: EventLog, kind: Kind) -> None:
    sink = open_sink(kind, tmp_path, log)
    seen: list[int] = []
    emit = log.emit

    def spy(event: str, **fields: object) -> object:
        seen.append(len(fired_effects(tmp_path)))
        return emit(event, **fields)

    log.emit = spy  # type: ignore[method-assign,assignment]
    sink.fire("e", "k", 1)
    sink.fire("e", "k2", 1)
    assert seen == [1, 2]


@pytest.mark.parametrize("kind", SINKS)
def test_sigkill_at_any_moment_loses_no_effect(tmp_path: Path, log: EventLog, kind: Kind) -> None:
    path = tmp_path / "log.jsonl"
    for number in range(3):
        actor = f"q{number}"
        command = [sys.executable, "-c", FIRE_FOR_EVER, str(tmp_path), actor, kind]
        with subprocess.Popen(command, stdout=subprocess.PIPE) as process:
            assert process.stdout is not None
            assert process.stdout.readline() == b"up\n"
            time.sleep(0.05 + 0.03 * number)
            os.kill(process.pid, signal.SIGKILL)
        drop_torn_tail(path)
        events = [event for event in read_events(path) if event.actor == actor]
        effects = [effect for effect in fired_effects(tmp_path) if effect.actor == actor]
        assert len(effects) > 0
        missing = missing_events(effects, events, actor)
        assert len(missing) <= 1
        assert len(events) == len(effects) - len(missing)
        assert missing == effects[len(events) :]


def test_an_effect_without_its_line_is_found(tmp_path: Path, log: EventLog) -> None:
    sink = open_sink("plain", tmp_path, log)
    sink.fire("e", "k", 1)
    sink.fire("e", "k", 1)
    sink.fire("e", "k2", 1)
    effects, events = fired_effects(tmp_path), read_events(tmp_path / "log.jsonl")
    assert missing_events(effects, events, "p1") == []
    assert missing_events(effects, events[1:], "p1") == [effects[1]]
    assert missing_events(effects, events[:2], "p1") == [effects[2]]
    assert missing_events(effects, [], "p2") == []


def test_a_torn_effects_file_is_told(tmp_path: Path, log: EventLog) -> None:
    open_sink("plain", tmp_path, log).fire("e", "k", 1)
    with (tmp_path / "effects.jsonl").open("a") as file:
        file.write('{"id":"x"')
    with pytest.raises(RecordingError, match=r"^the effects file of .* has a torn line .*; record again$"):
        fired_effects(tmp_path)


def test_no_effects_yet(tmp_path: Path) -> None:
    assert fired_effects(tmp_path) == []
