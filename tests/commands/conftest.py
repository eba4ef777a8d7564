"""The command line in this process, and manifests that a test may spoil."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from command_line import Command, Ended

from resume_contract.cli import run
from resume_contract.manifest import ROOT


@pytest.fixture
def command(capfd: pytest.CaptureFixture[str]) -> Command:
    """Runs a command line; its status and what it printed."""

    def run_it(*arguments: object) -> Ended:
        capfd.readouterr()
        status = run([str(argument) for argument in arguments])
        printed = capfd.readouterr()
        return Ended(status, printed.out, printed.err)

    return run_it


@pytest.fixture
def specs(tmp_path: Path) -> Path:
    """A copy of the specs; `specs / "manifest.yaml"` is its manifest."""
    folder = tmp_path / "specs"
    shutil.copytree(ROOT / "specs", folder)
    return folder
