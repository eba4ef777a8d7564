"""Models for the engine's tests: the one on the documentation's page, and one made to be awkward."""

from __future__ import annotations

import re
from pathlib import Path
from types import ModuleType

import pytest
from engine_modules import PAGE, load_module


@pytest.fixture(scope="session")
def filter_lock(tmp_path_factory: pytest.TempPathFactory) -> ModuleType:
    """The module that the page "Writing a model" writes."""
    blocks = re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    path = tmp_path_factory.mktemp("page") / "filter_lock.py"
    path.write_text("\n\n".join(blocks), encoding="utf-8")
    return load_module(path, "filter_lock")


@pytest.fixture(scope="session")
def sliders() -> ModuleType:
    """`sliders.py`, a synthetic model of any width and size."""
    return load_module(Path(__file__).with_name("sliders.py"), "sliders")
