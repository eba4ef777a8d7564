"""Init: where every behaviour begins."""

from __future__ import annotations

from pymodel.resume import reading
from pymodel.resume.layout import Layout

__all__ = ["initial_state"]


def initial_state(layout: Layout) -> bytes:
    """The only initial state: the root runs, nothing else is there."""
    record = bytearray(layout.width)
    root = reading.branch_at(layout.config, 1)
    record[root + reading.STATUS] = reading.RUNNING
    record[root + reading.DECLARED] = 1
    return bytes(record)
