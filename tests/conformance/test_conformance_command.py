"""Recording, keeping, comparing and checking again, on this project's own reference."""

from __future__ import annotations

import gzip
import json
import re
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec
import pytest
from rich.table import Table

from resume_contract import conforming
from resume_contract.cli import run
from resume_contract.conforming import Conformance, check_stored, compare, conform, keep
from resume_contract.manifest import ROOT
from resume_contract.tables import print_table
from resume_contract.writing import write_json
from trace_check.conformance.atlas import read_atlas
from trace_check.conformance.plan import Omitted
from trace_check.conformance.races import Cell, run_race
from trace_check.errors import TraceError
from trace_check.recording.system import SYSTEMS

SCENARIOS = ("park-and-resume", "kill-after-effect")


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Results with two recordings of the reference."""
    results = tmp_path_factory.mktemp("results")
    made = conform(tmp_path_factory.mktemp("traces"), systems=["reference"], scenarios=SCENARIOS)
    assert not made.not_recorded
    atlas = keep(made, results, ["reference"])
    write_json(results / "conformance.json", atlas.to_json())
    return results


def command(arguments: Sequence[str], capsys: pytest.CaptureFixture[str]) -> tuple[int, str, str]:
    status = run(arguments)
    said = capsys.readouterr()
    return status, said.out, said.err


def test_what_is_kept(kept: Path) -> None:
    (entry,) = read_atlas(kept / "conformance.json").systems
    assert (entry.system, entry.version, entry.store) == ("reference", "1", "sqlite")
    assert entry.profile == {
        "PC": "holds",
        "EO": "holds",
        "FD": "not_exercised",
        "CV": "holds",
        "CO-V": "holds",
        "CO-C": "not_exercised",
        "RD": "not_exercised",
        "FI": "not_exercised",
        "LV": "holds",
    }
    assert [(f.scenario, f.sink, f.verdict) for f in entry.recordings] == [
        ("park-and-resume", "keyed", "conforms"),
        ("kill-after-effect", "keyed", "conforms"),
    ]
    assert all((kept / "traces" / f.trace).is_file() for f in entry.recordings)
    assert entry.effects == {"keyed": {"recorded": 0, "window": 0, "not_applied": 0}}


def test_checked_again_it_is_the_same(kept: Path, capsys: pytest.CaptureFixture[str]) -> None:
    status, out, err = command(["conform", "--stored", "--results", str(kept)], capsys)
    assert (status, err) == (0, "")
    assert out.count("conforms") == 2
    assert out.splitlines()[-1] == "2 checked again, 2 compared, 0 differences, 0 not recorded"


def test_as_json(kept: Path, capsys: pytest.CaptureFixture[str]) -> None:
    status, out, err = command(["conform", "--stored", "--json", "--results", str(kept)], capsys)
    assert (status, err) == (0, "")
    told = json.loads(out)
    fields = ["version", "recordings", "races", "omitted", "not_recorded", "compared", "differences"]
    assert list(told) == fields
    assert told["version"] == 1
    assert [one["outcomes"] for one in told["recordings"]] == [{"conforms": 1}] * 2
    section = (ROOT / "docs" / "json.md").read_text(encoding="utf-8").split("With `--json` (version 1):")[1]
    assert re.findall(r"^\| `(\w+)` \|", section.split("\n## ")[0], re.MULTILINE) == fields


def test_a_piped_table_breaks_no_line(capsys: pytest.CaptureFixture[str]) -> None:
    names = [f"a_fault_with_a_long_name_{n}" for n in range(12)]
    table = Table(box=None)
    table.add_column("verdict", overflow="fold")
    table.add_row(f"violates; through {' and '.join(names)}")
    print_table(table, whole_lines=True)
    out = capsys.readouterr().out
    assert len(out.splitlines()) == 2
    assert " and ".join(names) in out


def test_how_many_there_are_of_what() -> None:
    made = Conformance(compared=3, differences=["a"], mistaken=["b"], unread=["c"])
    made.not_recorded.append(Omitted("s", "db", "", "", "gone", "not recorded"))
    assert made.closing_line(stored=False) == (
        "0 recorded, 3 compared, 2 differences, 1 unchecked, 1 not recorded"
    )


def test_a_trace_that_was_tampered_with_is_found(kept: Path, tmp_path: Path) -> None:
    atlas = read_atlas(kept / "conformance.json")
    write_json(tmp_path / "conformance.json", atlas.to_json())
    for finding in atlas.systems[0].recordings:
        target = tmp_path / "traces" / finding.trace
        target.parent.mkdir(parents=True, exist_ok=True)
        text = gzip.decompress((kept / "traces" / finding.trace).read_bytes()).decode()
        if finding.scenario == "kill-after-effect":
            text = text.replace('"applied":false', '"applied":true')
        target.write_bytes(gzip.compress(text.encode()))
    (difference,) = check_stored(tmp_path).differences[:1]
    assert "kept is conforms; checked now: violates; EO; through unstable_key" in difference


def test_a_trace_that_is_gone_is_found(
    kept: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write_json(tmp_path / "conformance.json", read_atlas(kept / "conformance.json").to_json())
    status, _, err = command(["conform", "--stored", "--results", str(tmp_path)], capsys)
    assert status == 2
    assert (err.count("difference: "), err.count("unchecked: ")) == (0, 2)
    assert "there is no such file" in err


def test_nothing_is_kept_where_a_kept_trace_has_no_verdict(
    kept: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    shutil.copytree(kept, tmp_path / "results")
    path = tmp_path / "results" / "conformance.json"
    before = path.read_bytes()
    gone = read_atlas(path).systems[0].recordings[0].trace
    (tmp_path / "results" / "traces" / gone).unlink()
    folder = str(tmp_path / "results")
    status, _, err = command(["conform", "--stored", "--results", folder, "--write", folder], capsys)
    assert status == 2
    assert err.splitlines()[-1].startswith(f"error: {folder}: not written, as 1 kept trace has no verdict")
    assert path.read_bytes() == before
    assert not (tmp_path / "results" / "conformance.md").exists()


@pytest.mark.parametrize(
    ("name", "value"),
    [("system", "other"), ("version", "7"), ("store", "json"), ("scenario", "else"), ("sink", "plain")],
)
def test_a_trace_of_something_else_is_a_difference(
    name: str, value: str, kept: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    shutil.copytree(kept, tmp_path / "results")
    path = tmp_path / "results" / "conformance.json"
    before = path.read_bytes()
    trace = tmp_path / "results" / "traces" / read_atlas(path).systems[0].recordings[0].trace
    first, _, rest = gzip.decompress(trace.read_bytes()).partition(b"\n")
    header = json.loads(first) | {name: value}
    trace.write_bytes(gzip.compress(json.dumps(header).encode() + b"\n" + rest))
    folder = str(tmp_path / "results")
    status, _, err = command(["conform", "--stored", "--results", folder], capsys)
    assert status == 1
    assert f"difference: {trace}: the atlas has it as {name} " in err
    assert f"; its header says {name} {value}\n" in err
    status, _, err = command(["conform", "--stored", "--results", folder, "--write", folder], capsys)
    assert status == 2
    assert path.read_bytes() == before


def test_the_trace_of_a_race_is_held_against_the_table(
    kept: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    shutil.copytree(kept, tmp_path / "results")
    path = tmp_path / "results" / "conformance.json"
    atlas = read_atlas(path).to_json()
    row = {"system": "reference", "version": "1", "store": "sqlite", "k": 2, "behind_gate": 0.0}
    row |= {"effects": [1], "per_racer": 0.5, "trace": atlas["systems"][0]["recordings"][0]["trace"]}
    write_json(path, atlas | {"races": [row]})
    status, _, err = command(["conform", "--stored", "--results", str(tmp_path / "results")], capsys)
    assert status == 1
    assert "the atlas has it as scenario racers-2x0s; its header says scenario park-and-resume" in err
    write_json(path, atlas | {"races": [row | {"trace": "gone.jsonl.gz"}]})
    status, _, err = command(["conform", "--stored", "--results", str(tmp_path / "results")], capsys)
    assert status == 2
    assert "gone.jsonl.gz: cannot be read" in err or "gone.jsonl.gz: there is no such file" in err
    assert err.count("\n") == 1


def test_the_verdict_on_a_race_is_checked_again(
    kept: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    shutil.copytree(kept, tmp_path / "results")
    folder, path = str(tmp_path / "results"), tmp_path / "results" / "conformance.json"
    _, trace = run_race(Cell("reference", "sqlite", 2, 0.0), tmp_path / "results" / "traces")
    row: dict[str, Any] = {
        "system": "reference",
        "version": "1",
        "store": "sqlite",
        "k": 2,
        "behind_gate": 0.0,
    }
    row |= {"effects": [1], "per_racer": 0.5, "trace": trace.relative_to(path.parent / "traces").as_posix()}
    write_json(path, read_atlas(path).to_json() | {"races": [row]})
    assert command(["conform", "--stored", "--results", folder, "--write", folder], capsys)[0] == 0
    (judged,) = read_atlas(path).races
    assert judged.finding is not None
    assert (judged.finding.verdict, judged.finding.varies) == ("conforms", True)
    assert f"[1](traces/{row['trace']}) | 0.50 | conforms |" in (path.parent / "conformance.md").read_text()
    atlas = read_atlas(path).to_json()
    atlas["races"][0]["finding"]["verdict"] = "violates"
    write_json(path, atlas)
    status, _, err = command(["conform", "--stored", "--results", folder], capsys)
    assert status == 1
    assert err == f"difference: {trace}: kept is violates; checked now: conforms\n"


def test_recorded_anew_it_is_the_same_or_the_difference_is_said(kept: Path, tmp_path: Path) -> None:
    made = conform(tmp_path, systems=["reference"], scenarios=SCENARIOS[:1], repeat=2)
    (recording,) = made.findings
    assert dict(made.distribution(recording)) == {"conforms": 2}
    compare(made, read_atlas(kept / "conformance.json"))
    assert (made.compared, made.differences) == (1, [])
    other = read_atlas(kept / "conformance.json").to_json()
    other["systems"][0]["recordings"][0]["verdict"] = "violates"
    write_json(tmp_path / "conformance.json", other)
    compare(made, read_atlas(tmp_path / "conformance.json"))
    (difference,) = made.differences
    assert difference.endswith("park-and-resume keyed: kept is violates; recorded now: conforms")


def test_judged_again_an_atlas_has_the_verdicts_of_now(
    kept: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    shutil.copytree(kept, tmp_path / "results")
    path = tmp_path / "results" / "conformance.json"
    other = read_atlas(path).to_json()
    other["systems"][0]["recordings"][0]["verdict"] = "violates"
    other["systems"][0]["profile"]["PC"] = "breaks"
    write_json(path, other)
    folder = str(tmp_path / "results")
    assert command(["conform", "--stored", "--results", folder], capsys)[0] == 1
    assert command(["conform", "--stored", "--results", folder, "--write", folder], capsys)[::2] == (0, "")
    assert read_atlas(path) == read_atlas(kept / "conformance.json")
    assert command(["conform", "--stored", "--results", folder], capsys)[0] == 0


def test_a_race_of_the_reference_fires_once(tmp_path: Path) -> None:
    fired, trace = run_race(Cell("reference", "sqlite", 3, 0.0), tmp_path)
    assert fired == 1
    assert trace == tmp_path / "reference-1" / "racers-3x0s.keyed.jsonl.gz"


def test_the_row_of_a_race_has_the_first_trace_that_is_decided(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cell = Cell("reference", "sqlite", 2, 0.0)
    _, trace = run_race(cell, tmp_path / "recorded")
    judge, asked = conforming.judge_race, iter(["unchecked", "conforms", "conforms"])
    monkeypatch.setattr(conforming, "cells", lambda _: [cell])
    counts = iter([5, 1, 3])
    monkeypatch.setattr(conforming, "run_race", lambda *_: (next(counts), trace))
    monkeypatch.setattr(
        conforming,
        "judge_race",
        lambda *args, **named: msgspec.structs.replace(judge(*args, **named), verdict=next(asked)),
    )
    made = conform(tmp_path, systems=["reference"], races=True, only_races=True)
    (row,) = made.races
    assert row.finding is not None
    assert row.finding.verdict == "conforms"
    assert (tmp_path / row.trace).read_bytes() == trace.read_bytes()
    assert list(asked) == ["conforms"]
    assert row.effects == [1, 5, 3]


@pytest.mark.parametrize("fired", [[1, 0, 1], [0, 0, 0]])
def test_a_repetition_in_which_nobody_fires_counts(
    fired: list[int], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cell = Cell("reference", "sqlite", 2, 0.0)
    _, trace = run_race(cell, tmp_path / "recorded")
    counts = iter(fired)
    monkeypatch.setattr(conforming, "cells", lambda _: [cell])
    monkeypatch.setattr(conforming, "run_race", lambda *_: (next(counts), trace))
    made = conform(tmp_path, systems=["reference"], races=True, only_races=True)
    assert [(row.effects, row.per_racer) for row in made.races] == ([(fired, 0.333)] if any(fired) else [])
    said = [missing.reason for missing in made.not_recorded]
    assert said == (
        [] if any(fired) else [f"{cell.label}: no racer fired the effect; look at the trace of it"]
    )


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--system", "cobol"], "system cobol is unknown: one of"),
        (["--system", "reference", "--scenario", "teleport"], "nothing to record for 'teleport'"),
        (["--stored", "--system", "reference"], "--stored checks all kept traces: give no option"),
        (["--stored", "--results", "{tmp}"], "conformance.json: cannot be read: No such file or directory"),
        (["--write", "{tmp}", "--scenario", "park-and-resume"], "--write keeps whole systems"),
    ],
)
def test_bad_input_is_one_line(
    arguments: list[str], said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    status, out, err = command(["conform", *(a.format(tmp=tmp_path) for a in arguments)], capsys)
    assert (status, out) == (2, "")
    assert err.startswith("error: ")
    assert said in err
    assert err.count("\n") == 1


@pytest.mark.parametrize("trace", ["/etc/hostname", "../conformance.json", "a/../../b", "", ".", "a\0b"])
def test_an_atlas_names_traces_of_its_own_folder_only(trace: str, kept: Path, tmp_path: Path) -> None:
    atlas = read_atlas(kept / "conformance.json").to_json()
    atlas["systems"][0]["recordings"][0]["trace"] = trace
    write_json(tmp_path / "conformance.json", atlas)
    with pytest.raises(TraceError, match=r"the trace is not below the folder of traces - at `.*0].trace`"):
        read_atlas(tmp_path / "conformance.json")


def damaged(atlas: dict[str, Any], what: str) -> object:
    (entry,) = atlas["systems"]
    row = {"system": "reference", "version": "1", "store": "sqlite", "k": 2, "behind_gate": 0.0}
    row |= {"effects": [], "per_racer": 0.5, "trace": "t.jsonl.gz"}
    if what == "race":
        atlas["races"] = [row]
    elif what == "share":
        atlas["races"] = [row | {"effects": [1, 2]}]
    elif what == "race twice":
        atlas["races"] = [row | {"effects": [1]}] * 2
    elif what == "finding":
        atlas["races"] = [row | {"effects": [1], "finding": entry["recordings"][0]}]
    elif what == "profile":
        del entry["profile"]["PC"]
    elif what == "effects":
        entry["effects"] = {"plain": {}}
    elif what == "twice":
        entry["recordings"].append(entry["recordings"][0])
    elif what == "other":
        entry["recordings"][0]["store"] = "json"
    elif what == "type":
        entry["recordings"] = {"a": 1}
    return atlas


@pytest.mark.parametrize(
    "what", ["race", "share", "race twice", "finding", "profile", "effects", "twice", "other", "type"]
)
def test_a_damaged_atlas_is_one_line(
    what: str, kept: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    shutil.copytree(kept, tmp_path / "results")
    path = tmp_path / "results" / "conformance.json"
    write_json(path, damaged(read_atlas(path).to_json(), what))
    status, out, err = command(["conform", "--stored", "--results", str(tmp_path / "results")], capsys)
    assert (status, out) == (2, "")
    assert err.startswith(f"error: {path}: is no atlas (")
    assert err.count("\n") == 1


@pytest.mark.parametrize("data", [b"", b"[" * 100_000, b'{"systems": "' + b"\xff", b'{"x":' * 90_000])
def test_what_is_no_json_is_no_atlas(data: bytes, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "conformance.json").write_bytes(data)
    status, out, err = command(["conform", "--stored", "--results", str(tmp_path)], capsys)
    assert (status, out) == (2, "")
    assert err.startswith(f"error: {tmp_path / 'conformance.json'}: is no atlas (")
    assert err.count("\n") == 1


def test_an_atlas_that_is_to_be_written_is_read_before_anything_is_recorded(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "conformance.json").write_text("{}")
    status, out, err = command(["conform", "--system", "reference", "--write", str(tmp_path)], capsys)
    assert (status, out) == (2, "")
    assert "is no atlas" in err
    assert (tmp_path / "conformance.json").read_text() == "{}"


def test_a_malformed_atlas_is_one_line(tmp_path: Path) -> None:
    (tmp_path / "conformance.json").write_text(json.dumps({"systems": [1]}))
    with pytest.raises(TraceError, match=r"is no atlas \(Expected `object`, got `int` - at `\$.systems"):
        read_atlas(tmp_path / "conformance.json")


def test_a_system_without_an_environment_is_said_to_be_missing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    (tmp_path / "nowhere.py").write_text(
        "from trace_check.recording.systems.reference.system import ReferenceSystem\n"
        "class Nowhere(ReferenceSystem):\n    name = 'nowhere'\n    extra = 'no-such-extra'\n"
    )
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setitem(SYSTEMS, "nowhere", "nowhere:Nowhere")
    made = conform(tmp_path / "traces", systems=["nowhere"], scenarios=SCENARIOS)
    assert made.findings == {}
    (left,) = made.not_recorded
    assert (left.system, left.because) == ("nowhere", "not recorded")
    assert "has no extra 'no-such-extra'" in left.reason


def test_a_recorder_of_ones_own_is_conformed_without_anything_kept_of_it(
    kept: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    example = str(ROOT / "docs" / "examples" / "own-recorder")
    monkeypatch.syspath_prepend(example)
    monkeypatch.setenv("PYTHONPATH", example)
    name = "journal_recorder:JournalSystem"
    own = ["conform", "--system", name, "--scenario", "park-and-resume", "--repeat", "2"]
    for results in (tmp_path / "nothing", kept):
        status, out, err = command([*own, "--results", str(results)], capsys)
        assert (status, err) == (0, "")
        assert "2 times conforms" in out
    status, _, err = command(["conform", "--system", "no_such_module:X"], capsys)
    assert status == 2
    assert "put its folder on PYTHONPATH" in err
