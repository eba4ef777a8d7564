"""One step of a model, by its plain or its compiled functions."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from pymodel.engine.model import Model, Record, Successor

__all__ = ["stepper"]


def stepper(model: Model, *, compiled: bool) -> Callable[[Record], list[Successor]]:
    """A function from a state to all its transitions, in the order `Next` gives them.

    With `compiled` False it is `model.successors`, and numba is not imported. Both raise the same errors. The
    compiled one has buffers of its own: use one in each thread.
    """
    if not compiled:
        return model.successors
    from pymodel.engine._config_type import ConfigHandle
    from pymodel.engine.compiling import compile_model

    compiled_step = compile_model(model).step
    config = ConfigHandle(model.config)
    # Twice the rows: a model that writes too many is found out before it does harm.
    out = np.zeros((2 * model.fanout, model.width), np.uint8)[: model.fanout]
    labels = np.zeros((2 * model.fanout, model.label_width), np.int32)[: model.fanout]
    state = np.array(model.initial[0])
    compiled_step.prepare(config, state, out, labels)
    step = compiled_step.dispatcher

    def successors(record: Record) -> list[Successor]:
        state[:] = record
        count = int(step(config, state, out, labels))
        model.check_fanout(count)
        found = [Successor(tuple(labels[i].tolist()), out[i].copy()) for i in range(count)]
        for label, after in found:
            model.check_action(label[0])
            model.check_capacity(int(after[0]))
        return found

    return successors
