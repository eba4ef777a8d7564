"""PlusCal translation."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tlc_runner import PlusCalError, is_translation_current, translate


def test_the_translation_is_reproducible(specs: Path, tmp_path: Path) -> None:
    current = (specs / "Euclid.tla").read_text()
    assert "BEGIN TRANSLATION" in current
    assert translate(specs / "Euclid.tla") == current
    assert is_translation_current(specs / "Euclid.tla")
    lines = current.splitlines(keepends=True)
    begin = next(i for i, line in enumerate(lines) if "BEGIN TRANSLATION" in line)
    end = next(i for i, line in enumerate(lines) if "END TRANSLATION" in line)
    fresh = tmp_path / "Euclid.tla"
    fresh.write_text("".join(lines[:begin] + lines[end + 1 :]))
    fresh.chmod(0o640)
    assert translate(fresh) == current
    assert "TRANSLATION" not in fresh.read_text()
    assert not is_translation_current(fresh)
    assert translate(fresh, in_place=True) == current
    assert fresh.read_text() == current
    assert fresh.stat().st_mode & 0o777 == 0o640
    assert [path.name for path in tmp_path.iterdir()] == ["Euclid.tla"]


def test_a_drift_is_seen(specs: Path, tmp_path: Path) -> None:
    drifted = tmp_path / "Euclid.tla"
    drifted.write_text((specs / "Euclid.tla").read_text().replace("v := v - u", "v := v - u - 0"))
    assert not is_translation_current(drifted)


def test_errors_name_the_line(specs: Path, tmp_path: Path) -> None:
    wrong = tmp_path / "Euclid.tla"
    wrong.write_text((specs / "Euclid.tla").read_text().replace("end if;", "end iff;"))
    before = wrong.read_text()
    with pytest.raises(PlusCalError) as caught:
        translate(wrong, in_place=True)
    assert str(caught.value) == f'{wrong} line 10, column 52: Expected "if" but found "iff"'
    assert caught.value.line == 10
    assert wrong.read_text() == before
    with pytest.raises(PlusCalError, match="Beginning of algorithm string --algorithm not found") as caught:
        translate(shutil.copy(specs / "Counter.tla", tmp_path))
    assert caught.value.line is None
    with pytest.raises(PlusCalError, match=r"Absent.tla: cannot be read \(No such file or directory\)"):
        translate(tmp_path / "Absent.tla")
