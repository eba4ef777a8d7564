"""The obligations, and specs that a test may spoil."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from resume_contract.manifest import ROOT


@pytest.fixture
def specs(tmp_path: Path) -> Path:
    """A copy of the specs; `specs / "induction.yaml"` lists the obligations."""
    folder = tmp_path / "specs"
    shutil.copytree(ROOT / "specs", folder)
    return folder
