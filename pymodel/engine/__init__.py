"""An explicit-state engine for models whose states are fixed-width records of small integers.

`docs/writing-a-model.md` shows how to write a model. Importing this package imports neither numba nor networkx:
they are loaded when something is compiled or a graph is built.
"""

from __future__ import annotations

from pymodel.engine.errors import CapacityError, EngineError, LimitError, MemoryLimitError, ModelError
from pymodel.engine.explorer import ActionCount, Exploration, Found, Progress, explore
from pymodel.engine.model import Label, Model, Record, Successor
from pymodel.engine.rows import copy_row

__all__ = [
    "ActionCount",
    "CapacityError",
    "EngineError",
    "Exploration",
    "Found",
    "Label",
    "LimitError",
    "MemoryLimitError",
    "Model",
    "ModelError",
    "Progress",
    "Record",
    "Successor",
    "copy_row",
    "explore",
]
