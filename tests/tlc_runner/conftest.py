"""Specs and configurations for the tests of the TLC driver."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tlc_runner import TLCResult, run_tlc

SPECS = Path(__file__).parent / "specs"

Run = Callable[..., TLCResult]


@pytest.fixture
def specs() -> Path:
    return SPECS


@pytest.fixture
def config(tmp_path: Path) -> Callable[[str], Path]:
    """Writes a configuration file."""

    def write(text: str) -> Path:
        path = tmp_path / "Model.cfg"
        path.write_text(text, encoding="utf-8")
        return path

    return write


@pytest.fixture
def run(config: Callable[[str], Path]) -> Run:
    """Runs TLC on a spec of the tests with the text of a configuration, compiling little, for speed."""

    def start(spec: str, text: str, **options: object) -> TLCResult:
        options.setdefault("java_args", ("-XX:TieredStopAtLevel=1",))
        options.setdefault("timeout", 120)
        return run_tlc(SPECS / f"{spec}.tla", config(text), **options)  # type: ignore[arg-type]

    return start
