"""What the executors of an Agent Framework workflow send, and what one of its checkpoints says about them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from trace_check.recording.nodes import Progress

__all__ = ["Ask", "Handoff", "ancestry", "asked", "delivered", "progress"]

_EXECUTOR_STATE = "_executor_state"
"""Where a checkpoint keeps what its executors saved; its documentation names the key."""


@dataclass
class Handoff:
    """The message from one executor to the next: each instance's outcomes so far, by step."""

    outcomes: dict[str, dict[str, Any]] = field(default_factory=dict)


@dataclass
class Ask:
    """What an executor asks for: the gate, its place among the executor's steps, and the outcomes before it."""

    thread: str
    gate: str
    position: int
    outcomes: dict[str, dict[str, Any]]


def asked(checkpoint: Any) -> dict[tuple[str, str], str]:
    """The requests that a checkpoint holds open: (thread, gate) -> the request's id."""
    pending = checkpoint.pending_request_info_events
    return {(event.data.thread, event.data.gate): request for request, event in pending.items()}


def delivered(checkpoint: Any) -> list[tuple[str, str, Any]]:
    """The answers that a checkpoint holds and nobody took yet: (thread, gate, value)."""
    return [
        (
            message.original_request_info_event.data.thread,
            message.original_request_info_event.data.gate,
            message.data,
        )
        for messages in checkpoint.messages.values()
        for message in messages
        if message.original_request_info_event is not None
    ]


def ancestry(known: Mapping[str, Any], name: str | None) -> list[Any]:
    """A checkpoint and its ancestors among those known, the oldest first."""
    line = []
    while name is not None and name in known:
        line.append(known[name])
        name = known[name].previous_checkpoint_id
    return line[::-1]


def progress(checkpoint: Any) -> Progress:
    """What a checkpoint holds, by the states that its executors saved."""
    runs: dict[tuple[str, str], int] = {}
    outcomes: dict[str, dict[str, Any]] = {}
    for executor, state in checkpoint.state.get(_EXECUTOR_STATE, {}).items():
        runs |= {(executor, mark): times for mark, times in state.get("runs", {}).items()}
        for thread, steps in state.get("outcomes", {}).items():
            outcomes.setdefault(thread, {}).update(steps)
    return Progress(runs, outcomes)
