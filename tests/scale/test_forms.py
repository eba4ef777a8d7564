"""What a form leaves out changes no verdict, and what it keeps is kept."""

from __future__ import annotations

import json
import random
from dataclasses import replace
from pathlib import Path
from typing import Any

from logs import Json, random_log, written

from trace_check.checker import check_file, check_trace
from trace_check.events import EVENT_KINDS, CheckpointRead
from trace_check.reader import read_trace
from trace_check.streaming.forms import trace_of
from trace_check.streaming.scanner import layout
from trace_check.streaming.scanning import scan
from trace_check.streaming.vocabulary import FIELDS, KINDS, field_masks

LEFT_OUT = ("key", "digest", "id", "error", "parent")


def _scrambled(rng: random.Random, value: Any) -> Any:
    """The same with everything that a form leaves out made up anew."""
    if isinstance(value, list):
        return [_scrambled(rng, one) for one in value]
    if not isinstance(value, dict):
        return value
    found = {name: _scrambled(rng, one) for name, one in value.items()}
    for name in LEFT_OUT:
        if isinstance(found.get(name), str) and "seconds" not in found:
            found[name] = f"made up {rng.randrange(3)}"
    if "checkpoint" in found and found["event"] == "loaded":
        found["checkpoint"] = rng.choice([None, "made up"])
    return found


def test_what_a_form_leaves_out_changes_no_verdict(tmp_path: Path) -> None:
    for seed in range(12):
        rng = random.Random(f"log {seed}")
        header, events = random_log(rng, threads=2)
        if not events:
            continue
        before = check_file(written(tmp_path / "log.jsonl", header, events), budget=5_000)
        t = 0
        changed: list[Json] = []
        for event in _scrambled(rng, events):
            t += rng.randrange(10**9)
            changed.append(event | {"t": t, "inferred": rng.random() < 0.5})
        after = check_file(written(tmp_path / "log.jsonl", header, changed), budget=5_000)
        assert after == before


def test_a_form_with_its_own_names_is_the_thread(tmp_path: Path) -> None:
    """Read back, every field that a form keeps is the one in the file."""
    for seed in range(8):
        header, events = random_log(random.Random(f"log {seed}"), threads=1)
        if not events:
            continue
        path = written(tmp_path / "log.jsonl", header, events)
        found = scan(path, allow_torn=False, longest=1000)
        whole = read_trace(path)
        for thread in range(found.threads):
            name = found.thread_name(thread)
            letters = found.letters(int(found.ends[thread]))
            again = trace_of(path, found.header, letters, found.names(thread), name)
            own = [event for event in whole.events if event.thread == name]
            assert len(own) == len(again.events)
            for one, other in zip(own, again.events, strict=True):
                assert type(one) is type(other)
                for field in one.__struct_fields__:
                    if field not in (
                        *LEFT_OUT,
                        "t",
                        "seq",
                        "op",
                        "inferred",
                        "checkpoint",
                        "seconds",
                        "signal",
                    ):
                        assert _kept(getattr(one, field)) == _kept(getattr(other, field)), field
            alone = written(
                tmp_path / "alone.jsonl", header, [event for event in events if event["thread"] == name]
            )
            _renumber(alone)
            assert replace(check_trace(again, budget=5_000), file="", expanded=0) == replace(
                check_file(alone, budget=5_000), file="", expanded=0
            )


def _kept(value: Any) -> Any:
    if isinstance(value, list):
        return [_kept(one) for one in value]
    if isinstance(value, CheckpointRead):
        return value.unit, value.outcomes, value.valid, value.complete, value.next
    return value


def _renumber(path: Path) -> None:
    """Each actor's lines from 1: those of other threads are gone."""

    first, *rest = path.read_text().splitlines()
    seq: dict[str, int] = {}
    lines = []
    for line in map(json.loads, rest):
        seq[line["actor"]] = line["seq"] = seq.get(line["actor"], 0) + 1
        lines.append(json.dumps(line))
    path.write_text("\n".join([first, *lines]) + "\n")


def test_the_scanner_knows_the_whole_format() -> None:
    """Otherwise it would leave every file to the reader that has what it does not know."""
    assert set(KINDS) == EVENT_KINDS
    assert all(not required >> 62 & 1 for _, required in field_masks())
    for name, field in {"EVENT": "event", "TIME": "t", "ACCEPTED": "accepted", "DECLARED": "declared",
                        "SECONDS": "seconds", "PROCESS": "process", "STEPS_": "steps"}.items():  # fmt: skip
        assert FIELDS.index(field) == getattr(layout, name)
    for name, kind in {"LOADED": "loaded", "FIRED": "effect_fired", "PASSED": "gate_passed", "READ": "store_read",
                       "COMMITTED": "committed", "GAVE_UP": "resume_gave_up"}.items():  # fmt: skip
        assert KINDS.index(kind) == getattr(layout, name)
    known = {name for kind in EVENT_KINDS for name in _fields(kind)}
    assert known <= set(FIELDS)


def _fields(kind: str) -> tuple[str, ...]:
    from trace_check.events import EVENT_TYPES

    return EVENT_TYPES[kind].__struct_fields__
