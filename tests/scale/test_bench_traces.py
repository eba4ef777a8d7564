"""The bench of traces times the real command, and its rows say what the logs were."""

from __future__ import annotations

from dataclasses import replace

import pytest

from resume_contract.bench_traces import bench_traces


def test_its_rows_and_what_misses_a_target() -> None:
    told: list[str] = []
    found = bench_traces([10_000], runs=1, units=6, rounds=2, on_run=told.append)
    verdicts = {name: row.verdict for name, row in found.rows.items()}
    assert verdicts == {
        "small": "violates",
        "mixed 10000": "violates",
        "conforming 10000": "conforms",
        "short 10000": "conforms",
    }
    assert told == ["small", "mixed", "conforming 10,000", "short 10,000", "races of 16", "beside TLC"]
    assert found.beside_tlc.units == 6
    assert found.beside_tlc.tlc_seconds > found.beside_tlc.mirror_seconds > 0
    assert len(found.beside_tlc.rounds) == 2
    assert sum(found.beside_tlc.rounds) / 2 == pytest.approx(
        found.beside_tlc.tlc_seconds - found.beside_tlc.start_seconds
    )
    assert found.rows["conforming 10000"].events == 81 * found.rows["conforming 10000"].threads
    assert all(row.cpu_seconds > 0.1 and row.peak_megabytes > 20 for row in found.rows.values())
    assert (found.races.traces, found.races.unchecked) == (24, 0)
    assert found.races.cpu_seconds > found.races.slowest_cpu_seconds > 0
    assert found.to_json()["races"]["slowest"] == found.races.slowest
    fast = {
        name: replace(row, cpu_seconds=0.01, start_seconds=0.0, peak_megabytes=100.0)
        for name, row in found.rows.items()
    }
    quick = replace(found.beside_tlc, mirror_seconds=1e-9)
    soon = replace(found.races, slowest_cpu_seconds=0.1)
    found = replace(found, rows=fast, races=soon, beside_tlc=quick)
    assert found.missed == ()
    assert replace(found, beside_tlc=replace(quick, mirror_seconds=1e3)).missed == (
        "beside TLC: 0.0 times as fast, the target is 50 times",
    )
    late = replace(soon, slowest="burr/a", slowest_cpu_seconds=1.5, unchecked=2)
    assert replace(found, races=late).missed == (
        "races of 16: 2 come to no verdict",
        "races of 16: burr/a takes 1.50 s, the target is 1 s",
    )
    heavy = fast | {"mixed 10000": replace(fast["mixed 10000"], cpu_seconds=1.0, peak_megabytes=501.0)}
    assert [line.partition(":")[0] for line in replace(found, rows=heavy).missed] == ["mixed 10000"] * 2
    slow = replace(fast["conforming 10000"], cpu_seconds=1.0)
    for threads, misses in (99_999, 0), (100_000, 1):
        rows = fast | {"conforming 10000": replace(slow, threads=threads)}
        assert len(replace(found, rows=rows).missed) == misses
