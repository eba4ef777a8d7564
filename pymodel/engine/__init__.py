"""An explicit-state engine for models whose states are fixed-width records of small integers.

`docs/writing-a-model.md` shows how to write a model. Importing this package imports neither numba nor networkx:
they are loaded when something is compiled or a graph is built.
"""

from __future__ import annotations

from pymodel.engine.explorer import ActionCount, Exploration, Found, Progress, explore
from pymodel.engine.graph import state_graph
from pymodel.engine.model import Label, Model, Record, Successor
from pymodel.engine.stepping import stepper
from pymodel.engine.traces import Difference, Step, Trace, counterexample, steps_of, trace_to, witness
from pymodel.engine.values import FrozenDict, changed, decoded, freeze, render_value
from pymodel.engine.walk import WalkStep, random_walk
from pymodel.errors import CapacityError, EngineError, LimitError, MemoryLimitError, ModelError
from pymodel.rows import copy_row

__all__ = [
    "ActionCount",
    "CapacityError",
    "Difference",
    "EngineError",
    "Exploration",
    "Found",
    "FrozenDict",
    "Label",
    "LimitError",
    "MemoryLimitError",
    "Model",
    "ModelError",
    "Progress",
    "Record",
    "Step",
    "Successor",
    "Trace",
    "WalkStep",
    "changed",
    "copy_row",
    "counterexample",
    "decoded",
    "explore",
    "freeze",
    "random_walk",
    "render_value",
    "state_graph",
    "stepper",
    "steps_of",
    "trace_to",
    "witness",
]
