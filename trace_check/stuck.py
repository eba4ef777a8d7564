"""Where a search without faults gets stuck: the first event that nothing explains, and the states before it."""

from __future__ import annotations

from trace_check.explained import Explained
from trace_check.observations import Thread

__all__ = ["stuck_before"]


def stuck_before(thread: Thread, explained: Explained) -> tuple[int, list[bytes]] | None:
    """The first observation, by its index, that no faultless place explains, and the states before it.

    Of the places that explain most, those count whose first unexplained observation ends first.  None: there are none.
    """
    missing: dict[int, list[bytes]] = {}
    for node in explained.stuck:
        left = [i for i, o in enumerate(thread.observations) if not node.done >> i & 1 and not o.pending]
        if left:
            first = min(left, key=lambda i: (thread.observations[i].high, i))
            missing.setdefault(first, []).append(node.state)
    if not missing:
        return None
    index = min(missing, key=lambda i: thread.observations[i].high)
    return index, missing[index]
