"""What an actor did, in a few words for each line."""

from __future__ import annotations

from trace_check.events import Event, event_kind
from trace_check.reader import Trace

__all__ = ["told"]

_SAID = (
    "what",
    "step",
    "gate",
    "unit",
    "value",
    "accepted",
    "index",
    "outcome",
    "valid",
    "error",
    "signal",
    "status",
)


def told(trace: Trace, actor: str) -> list[str]:
    """The actor's events: the kind, the phase as ``(`` or ``)``, and what it says apart from ids and computed values."""
    return [_line(event) for event in trace.events if event.actor == actor]


def _line(event: Event) -> str:
    phase = {"begin": " (", "end": " )", None: ""}[event.phase]
    said = []
    for name in _SAID:
        value = getattr(event, name, None)
        if value is None or name == "outcome" or (name == "accepted" and event.phase == "begin"):
            continue
        if type(value).__name__ != "UnsetType" and not (name == "valid" and value is True):
            said.append(str(value) if name not in ("accepted", "valid") else f"{name}={value}")
    return " ".join([event_kind(event) + phase, *said])
