"""The streaming checker gives the verdict of the offline one, whatever the file: to the letter of its messages."""

from __future__ import annotations

import gzip
import json
import random
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest
import test_trace_reader as refusals
from logs import Json, random_log, renumbered, written

from trace_check.checker import Verdict, check_file
from trace_check.streaming import checking
from trace_check.streaming.checking import check_stream
from trace_check.streaming.generate import MODELS

STORED = {
    "kill-after-effect": ("violates", {"EO"}),
    "park-and-resume": ("conforms", set()),
    "race-two-resumers": ("violates", {"EO", "CO-C"}),
    "races-crashes-and-a-fork": ("conforms", set()),
    "second-answer-at-old-checkpoint": ("violates", {"CO-V", "FI"}),
}
"""The kept traces, by the stems of their names -> the verdict, and the clauses that break for certain."""


def compared(path: Path, allow_torn: bool = False, budget: int = 20_000) -> Verdict:
    """The verdict that both agree on."""
    streamed = check_stream(path, allow_torn=allow_torn, budget=budget)
    offline = check_file(path, allow_torn=allow_torn, budget=budget)
    assert replace(streamed, expanded=0) == replace(offline, expanded=0)
    return streamed


@pytest.fixture
def alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """The streaming checker has to do without the reader."""

    def fail(*_: object) -> Verdict:
        raise AssertionError("the file was left to the reader")

    monkeypatch.setattr(checking, "_by_the_reader", fail)


@pytest.mark.usefixtures("alone")
@pytest.mark.parametrize("stem", STORED)
def test_on_stored_traces(stem: str) -> None:
    found = compared(MODELS / f"{stem}.jsonl")
    assert (found.verdict, {b.clause for b in found.clauses if b.certain}) == STORED[stem]


@pytest.mark.usefixtures("alone")
def test_on_random_logs_of_many_threads(tmp_path: Path) -> None:
    verdicts: Counter[str] = Counter()
    clauses: set[str] = set()
    for seed in range(20):
        rng = random.Random(f"log {seed}")
        header, events = random_log(rng, threads=rng.randint(1, 4))
        if events:
            found = compared(written(tmp_path / "log.jsonl", header, events), budget=5_000)
            verdicts[found.verdict] += 1
            clauses.update(broken.clause for broken in found.clauses)
    assert verdicts["conforms"] >= 4
    assert verdicts["violates"] >= 6
    assert len(clauses) >= 3


@pytest.mark.parametrize("case", refusals.BAD)
def test_on_what_the_reader_refuses(case: str, tmp_path: Path) -> None:
    lines, message = refusals.BAD[case]
    path = refusals.write(tmp_path / "bad.jsonl", *lines)
    found = compared(path)
    assert found.error == f"{path}{message}"
    assert found.exit_status == 2


@pytest.mark.parametrize("case", refusals.ENDS)
def test_on_ends_that_agree_with_their_begins(
    case: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = refusals.write(tmp_path / "log.jsonl", refusals.header(), *refusals.ENDS[case])
    assert compared(path).verdict != "unchecked"
    if "order" not in case:
        monkeypatch.setattr(checking, "_by_the_reader", None)
        check_stream(path)


def _tampered(rng: random.Random, events: list[Json]) -> list[Json]:
    """A log in which something is wrong, or only different."""
    events = [dict(event) for event in events]
    place = rng.randrange(len(events))
    one = events[place]
    other = events[rng.randrange(len(events))]
    choice = rng.randrange(10)
    if choice == 0:
        del events[place]
    elif choice == 1:
        events.insert(rng.randrange(len(events)), one)
    elif choice == 2:
        del one[rng.choice(list(one))]
    elif choice == 3:
        name = rng.choice(list(one))
        one[name] = rng.choice(
            [None, True, 7, -1, 0, "", "main", "harness", [], {}, "begin", 10**19, 1.0, 1.5]
        )
    elif choice == 4:
        name = rng.choice(list(other))
        one[name] = other[name]
    elif choice == 5:
        one[rng.choice(["step", "gate", "op", "value", "surplus"])] = rng.choice(["s1", "s3", "x"])
    elif choice == 6:
        del events[place]
        events = renumbered(events)
    elif choice == 7:
        events.insert(rng.randrange(len(events)), dict(one))
        events = renumbered(events)
    elif choice == 8:
        events = events[:place] + events[place + 1 :] + [one]
    else:
        name = rng.choice(
            ["branch", "thread", "actor", "op", "step", "gate", "delivery", "checkpoint", "outcome"]
        )
        for event in events:
            if name in event and rng.random() < 0.3:
                event[name] = other.get(name, "x")
        events = renumbered(events)
    return events


def test_on_logs_that_were_tampered_with(tmp_path: Path) -> None:
    verdicts: Counter[str] = Counter()
    errors: set[str] = set()
    for seed in range(10):
        header, events = random_log(random.Random(f"log {seed}"), threads=1, faulty=0.3)
        for turn in range(20 if events else 0):
            rng = random.Random(f"tampered {seed} {turn}")
            path = written(tmp_path / "log.jsonl", header, _tampered(rng, events))
            found = compared(path, budget=2_000)
            verdicts[found.verdict] += 1
            errors.add("".join(char for char in (found.error or "").partition("; ")[2] if char.isalpha()))
    assert verdicts["unchecked"] >= 60
    assert verdicts["conforms"] >= 20
    assert verdicts["violates"] >= 12
    assert len(errors) >= 12


def test_on_logs_with_damaged_bytes(tmp_path: Path) -> None:
    path = tmp_path / "log.jsonl"
    unchecked = 0
    for seed in range(3):
        header, events = random_log(random.Random(f"log {seed}"), threads=2)
        whole = written(path, header, events[:25]).read_bytes()
        for turn in range(50):
            rng = random.Random(f"damaged {seed} {turn}")
            data = bytearray(whole)
            for _ in range(rng.choice((1, 1, 2))):
                place = rng.randrange(len(data))
                if rng.random() < 0.5:
                    data[place] = rng.choice(
                        [0, 9, 10, 13, 32, 34, 44, 45, 48, 58, 92, 93, 123, 125, 195, 255]
                    )
                elif rng.random() < 0.5:
                    del data[place]
                else:
                    data.insert(place, rng.choice(b'\n" ,:{}[]0-\\e.'))
            path.write_bytes(data)
            unchecked += compared(path, allow_torn=rng.random() < 0.5, budget=2_000).verdict == "unchecked"
    assert unchecked >= 60


@pytest.mark.parametrize("allow_torn", [False, True])
def test_on_torn_tails(tmp_path: Path, allow_torn: bool) -> None:
    header, events = random_log(random.Random("torn"), threads=3)
    whole = written(tmp_path / "log.jsonl", header, events).read_bytes()
    path = tmp_path / "torn.jsonl"
    warned = 0
    for cut in [*range(1, 240, 11), len(whole) - len(header) - 1, len(whole) - 10]:
        path.write_bytes(whole[:-cut])
        warned += len(compared(path, allow_torn, budget=2_000).warnings)
    assert (warned > 8) == allow_torn


HOSTILE = (
    *("1" * 4300, "1" * 4301, "-" + "1" * 4299, "-" + "1" * 4300, "-" + "1" * 4301, str(2**63), str(2**64)),
    *("1" * 5000 + ".0", "1e400", "-1e400", "1.0", "2e0", "NaN", "Infinity", "-Infinity", "-0", "01", "1_0"),
    *(
        '"\\ud800"',
        '"\\udc00x"',
        '"\\ud83d\\ude00"',
        '"\\u0000"',
        '"\x7f"',
        '"\\udcff0a"',
        '"\\u00ff0a"',
        "[]",
    ),
)
"""Values of fields, as they stand in a line."""


@pytest.mark.parametrize("field", ["outcome", "key", "seq", "t", "thread", "op"])
def test_on_hostile_values(field: str, tmp_path: Path) -> None:
    verdicts: Counter[str] = Counter()
    for value in HOSTILE:
        bracket = [refusals.recorded(seq, phase) for seq, phase in ((1, "begin"), (2, "end"))]
        lines = bracket if field in ("outcome", "op") else [refusals.fired(1), refusals.fired(2)]
        held = [
            json.dumps(line | {field: "@"}).replace('"@"', value, 1).encode() + b"\n"
            for line in lines[: 1 if field == "seq" else 2]
        ]
        path = refusals.write(tmp_path / "log.jsonl", refusals.header(), *held)
        found = compared(path, budget=2_000)
        verdicts[found.verdict] += 1
        if value.strip("-1") == "" and len(value) > 4300:
            assert f"the field '{field}' is wrong: " in (found.error or "")
    assert verdicts["unchecked"] >= 10


@pytest.mark.parametrize(
    ("tail", "torn"),
    [
        (b'{"event":"effect_fired","seq":2,"thr', True),
        (b'{"event":"effect_fired","seq":"2","thr', False),
        (b'{"event":"teleported","seq":2,"thr', False),
        (b'{"event":"effect_fired","seq":1_0}', True),
        (b'{"event":"effect_fired","key":1_0}', False),
        (b"[" * 100_000, False),
        (b"\x0c", None),
    ],
)
def test_on_tails_that_may_be_left_out(tail: bytes, torn: bool | None, tmp_path: Path) -> None:
    path = refusals.write(tmp_path / "log.jsonl", refusals.header(), refusals.fired(1), tail)
    found = compared(path, allow_torn=True, budget=2_000)
    assert (found.verdict == "unchecked") == (torn is False)
    assert len(found.warnings) == (torn is True)
    compared(path, budget=2_000)


@pytest.mark.parametrize("allow_torn", [False, True])
def test_on_gzip_whole_cut_and_damaged(tmp_path: Path, allow_torn: bool) -> None:
    header, events = random_log(random.Random("torn"), threads=3)
    packed = gzip.compress(written(tmp_path / "log.jsonl", header, events).read_bytes(), mtime=0)
    path = tmp_path / "log.jsonl.gz"
    path.write_bytes(packed)
    assert compared(path, allow_torn).verdict != "unchecked"
    rng = random.Random("gzip")
    seen: set[str] = set()
    for _ in range(12):
        path.write_bytes(packed[: rng.randrange(2, len(packed))])
        seen.add(compared(path, allow_torn, budget=2_000).verdict)
        damaged = bytearray(packed)
        damaged[rng.randrange(10, len(damaged))] ^= 0x55
        path.write_bytes(damaged)
        seen.add(compared(path, allow_torn, budget=2_000).verdict)
    assert "unchecked" in seen
    assert allow_torn == (seen != {"unchecked"})


def _odd(rng: random.Random, event: Json) -> bytes:
    """The same event in a form that no recorder here writes, but that is the same JSON."""
    items = list(event.items())
    rng.shuffle(items)
    separators = rng.choice([(",", ":"), (", ", ": "), (" ,\t", " : ")])
    text = json.dumps(dict(items), separators=separators, ensure_ascii=rng.random() < 0.5)
    if rng.random() < 0.3:
        text = text.replace('"main"', '"m\\u0061in"').replace('"thread"', '"thr\\u0065ad"')
    return rng.choice(["", " ", "\t"]).encode() + text.encode() + rng.choice(["", " ", "\r"]).encode() + b"\n"


@pytest.mark.usefixtures("alone")
def test_on_other_ways_to_write_the_same(tmp_path: Path) -> None:
    for seed in range(6):
        rng = random.Random(f"log {seed}")
        header, events = random_log(rng, threads=2)
        plain = compared(written(tmp_path / "log.jsonl", header, events), budget=5_000)
        strange = json.loads(json.dumps(events).replace("thread 0", 'fa\\"den \\u00fc\\\\ 0\\n'))
        path = tmp_path / "odd.jsonl"
        path.write_bytes(b"\n \n" + header + b"\n".join(_odd(rng, event) for event in strange))
        odd = compared(path, budget=5_000)
        assert (odd.verdict, odd.explanations) == (plain.verdict, plain.explanations)
        assert odd.threads == plain.threads


@pytest.mark.usefixtures("alone")
def test_by_several_processes(tmp_path: Path) -> None:
    header, events = random_log(random.Random("several"), threads=30)
    path = written(tmp_path / "log.jsonl", header, events)
    one, two = (check_stream(path, budget=2_000, jobs=jobs) for jobs in (1, 2))
    assert one == two
    assert one.verdict == "violates"


@pytest.mark.parametrize("length", [40_000, 70_000])
def test_on_names_longer_than_a_table(length: int, tmp_path: Path) -> None:
    header, events = random_log(random.Random("long"), threads=3)
    path = written(
        tmp_path / "log.jsonl", header, json.loads(json.dumps(events).replace("thread 0", "x" * length))
    )
    assert compared(path, budget=5_000).threads == 3
