"""The rendering of behaviours as traces, which the trials use as well."""

from __future__ import annotations

from trace_check.trials.rendering import (
    Behaviour,
    Line,
    Rendering,
    header_of,
    random_behaviour,
    render,
    write,
)

__all__ = ["Behaviour", "Line", "Rendering", "header_of", "random_behaviour", "render", "write"]
