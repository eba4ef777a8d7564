"""What two recordings of one scenario have in common."""

from __future__ import annotations

from typing import Any

import msgspec

from trace_check.events import Committed, Event, event_kind
from trace_check.reader import Trace

__all__ = ["shape"]


def shape(trace: Trace) -> dict[str, tuple[list[Any], list[Any]]]:
    """For each actor, its events without times and ids: those in a fixed order, and the others sorted.

    A framework stores answers and a node's outcomes from a pool of threads, so where these lines lie among
    the actor's others differs from run to run; how the lines of different actors mingle does too.
    """
    names = {e.checkpoint: f"{e.branch}:{e.unit}" for e in trace.events if isinstance(e, Committed)}
    actors: dict[str, tuple[list[Any], list[Any]]] = {}
    for event in trace.events:
        fixed, others = actors.setdefault(event.actor, ([], []))
        (others if _wanders(event) else fixed).append(_plain(event, names))
    for _, others in actors.values():
        others.sort(key=str)
    return actors


def _wanders(event: Event) -> bool:
    kind = event_kind(event)
    return kind == "recorded" or (kind == "answer" and event.phase == "end")


def _plain(event: Event, names: dict[str, str]) -> Any:
    def rename(value: Any) -> Any:
        if isinstance(value, dict):
            return {
                key: rename(item) for key, item in value.items() if key not in ("t", "seq", "op", "digest")
            }
        if isinstance(value, list):
            return [rename(item) for item in value]
        return names.get(value, value) if isinstance(value, str) else value

    return rename(msgspec.to_builtins(event))
