"""The package's own names."""

from __future__ import annotations

import subprocess
import sys

import pytest

import trace_check
from trace_check import checker


def test_names_are_those_of_the_modules() -> None:
    assert trace_check.check_file is checker.check_file
    assert set(trace_check.__all__) <= set(dir(trace_check))
    assert all(getattr(trace_check, name).__name__ == name for name in trace_check.__all__)
    with pytest.raises(AttributeError, match="has no attribute 'nothing'"):
        trace_check.nothing  # noqa: B018


def test_importing_the_package_imports_no_model() -> None:
    code = (
        "import sys, trace_check; print(sorted(m for m in sys.modules if m.startswith(('numba', 'pymodel'))))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"
