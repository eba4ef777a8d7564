"""``resume-contract matrix`` and ``separate``: outcomes, files and bad input."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from command_line import Command, one_line

from pymodel.resume.clauses import CLAUSES
from pymodel.resume.model import FAULTS


def test_matrix_tells_what_a_cell_breaks(command: Command) -> None:
    ended = command("matrix", "--fault", "unkeyed_effect", "--path", "interrupt", "--engine", "mirror")
    assert (ended.status, ended.err) == (0, "")
    line = next(line for line in ended.out.splitlines() if line.startswith("unkeyed_effect"))
    assert "EO at 8" in line
    assert "(reference)" in ended.out


def test_matrix_writes_its_files(command: Command, tmp_path: Path) -> None:
    arguments = ("--fault", "torn_checkpoint", "--path", "crash", "--path", "fork", "--engine", "mirror")
    ended = command("matrix", *arguments, "--json", "--write", tmp_path)
    assert ended.status == 0
    data = json.loads(ended.out)
    assert data == json.loads((tmp_path / "matrix.json").read_text(encoding="utf-8"))
    assert [(each["path"], each["verdict"]) for each in data["cells"]] == [
        ("crash", "breaks"),
        ("fork", "unreached"),
    ]
    assert data["cells"][0]["breaks"] == {"CV": 5}
    assert data["disagreements"] == data["failures"] == []
    page = (tmp_path / "matrix.md").read_text(encoding="utf-8")
    assert "| `torn_checkpoint` | CV at 5 | unreached |" in page
    assert (tmp_path / "matrix.png").stat().st_size > 5_000


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("matrix", "--fault", "none"), f"fault none is unknown: one of {', '.join(FAULTS)}"),
        (("matrix", "--path", "away"), "path away is unknown: one of interrupt, crash, fork"),
        (("matrix", "--engine", "both ways"), "engine both ways is unknown: one of tlc, mirror, both"),
        (("separate", "XX"), f"clause XX is unknown: one of {', '.join(CLAUSES)}"),
    ],
)
def test_an_unknown_name_is_refused_with_those_that_there_are(
    command: Command, arguments: tuple[str, ...], said: str
) -> None:
    ended = command(*arguments)
    assert (ended.status, one_line(ended.err)) == (2, said)


def test_a_jar_that_is_none_fails_every_cell_and_writes_nothing(command: Command, tmp_path: Path) -> None:
    jar = tmp_path / "broken.jar"
    jar.write_text("no jar", encoding="utf-8")
    results = tmp_path / "results"
    ended = command(
        *("matrix", "--fault", "unkeyed_effect", "--path", "interrupt", "--engine", "tlc"),
        *("--tlc-jar", jar, "--write", results),
    )
    assert ended.status == 2
    assert ended.err.count("error: ") == 2, "the cell and its reference"
    assert "broken.jar" in ended.err
    assert list(results.iterdir()) == []


def test_separate_verify_needs_models(command: Command, tmp_path: Path) -> None:
    ended = command("separate", "--verify", "--models", tmp_path)
    assert ended.status == 2
    assert "there is no model" in one_line(ended.err)


@pytest.mark.slow
def test_separate_finds_one_clause_and_writes_its_model(command: Command, tmp_path: Path) -> None:
    folder = tmp_path / "models"
    ended = command("separate", "EO", "--write", tmp_path / "results", "--models", folder)
    assert (ended.status, ended.err) == (0, "")
    assert sorted(path.name for path in folder.iterdir()) == [
        "SeparatesEO.cfg",
        "SeparatesEO.json",
        "SeparatesEO.tla",
        "SeparatesEO_others.cfg",
    ]
    assert list((tmp_path / "results").iterdir()) == [], "a certificate of one clause is none"
    again = command("separate", "--verify", "--models", folder, "--json")
    assert again.status == 0
    data = json.loads(again.out)
    assert data["separating"]["EO"]["breaks"] == {"EO": 3}
