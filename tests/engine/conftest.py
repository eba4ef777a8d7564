"""Models for the engine's tests: the one on the documentation's page, and one made to be awkward."""

from __future__ import annotations

import importlib.util
import re
import sys
from pathlib import Path
from types import ModuleType

import pytest

PAGE = Path(__file__).parents[2] / "docs" / "writing-a-model.md"


def load_module(path: Path, name: str) -> ModuleType:
    """Import a file under a name."""
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


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
