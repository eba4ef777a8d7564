"""Traces that are named on a command line."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from resume_contract.errors import ResumeContractError

__all__ = ["ENDINGS", "trace_files"]

ENDINGS = (".jsonl", ".jsonl.gz")


def trace_files(paths: Sequence[Path]) -> list[Path]:
    """The traces: files as they are, and for a folder all in it.

    Raises:
        ResumeContractError: a folder without traces.
    """
    found: list[Path] = []
    for path in paths:
        if not path.is_dir():
            found.append(path)
            continue
        inside = sorted(file for file in path.rglob("*") if file.name.endswith(ENDINGS) and file.is_file())
        if not inside:
            raise ResumeContractError(f"{path}: no file in it ends in {' or '.join(ENDINGS)}: name a trace")
        found += inside
    return found
