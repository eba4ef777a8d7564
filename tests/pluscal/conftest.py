"""The manifest of the PlusCal models, and the command line in this process."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from resume_contract.cli import run
from resume_contract.pluscal.manifest import MANIFEST, Manifest, load_manifest

Command = Callable[..., tuple[int, str, str]]


@pytest.fixture(scope="session")
def manifest() -> Manifest:
    """The manifest that is kept."""
    return load_manifest()


@pytest.fixture
def specs(tmp_path: Path) -> Path:
    """A copy of its folder, which a test may spoil."""
    folder = tmp_path / "pluscal"
    shutil.copytree(MANIFEST.parent, folder)
    return folder


@pytest.fixture
def command(capfd: pytest.CaptureFixture[str]) -> Command:
    """Runs ``resume-contract pluscal``; its status and what it printed."""

    def run_it(*arguments: object) -> tuple[int, str, str]:
        capfd.readouterr()
        status = run(["pluscal", *map(str, arguments)])
        printed = capfd.readouterr()
        return status, printed.out, printed.err

    return run_it
