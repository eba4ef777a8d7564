"""Effect sinks: the world outside of a workflow, with a durable line of its own for each effect it gets.

A sink writes the effect durably first and then tells the event log, so the log never shows an effect that did
not happen; :func:`missing_events` finds the effects of a process that died between the two.
"""

from __future__ import annotations

import hashlib
import os
import sqlite3
import uuid
from collections.abc import Iterable
from contextlib import closing
from pathlib import Path
from typing import Literal, Protocol

import msgspec

from trace_check.errors import RecordingError
from trace_check.events import EffectFired, Event, Value
from trace_check.recording.log import EventLog

__all__ = [
    "Effect",
    "KeyedSink",
    "PlainSink",
    "Sink",
    "effect_outcome",
    "fired_effects",
    "missing_events",
    "open_sink",
]


class Effect(msgspec.Struct, frozen=True, kw_only=True):
    """One effect that reached the sink, as the sink keeps it.

    Attributes:
        id: its own mark in the sink.
        actor, thread, branch: who sent it, and from which branch of which instance.
        step: the logical step.
        key: what the caller sent with it.
        applied: whether the world changed.
        outcome: the sink's answer.
    """

    id: str
    actor: str
    thread: str
    branch: str
    step: str
    key: str
    applied: bool
    outcome: Value


class Sink(Protocol):
    """Takes effects."""

    def fire(self, step: str, key: str, content: Value, thread: str | None = None) -> Value:
        """Apply an effect durably, log it, and answer.

        Args:
            step: the logical step.
            key: the caller's key.
            content: what the effect is a function of, as a value or a digest.
            thread: the instance whose step it is, where it is not the log's.
        """
        ...


class PlainSink:
    """Applies whatever comes, and appends one synced line for it to a file."""

    def __init__(self, path: Path, log: EventLog) -> None:
        self._path = path
        self._log = log

    def fire(self, step: str, key: str, content: Value, thread: str | None = None) -> Value:
        """Apply an effect, whether or not its key came before; see :meth:`Sink.fire`."""
        outcome = effect_outcome(step, content)
        effect = Effect(
            id=uuid.uuid4().hex,
            actor=self._log.actor,
            thread=thread or self._log.thread,
            branch=self._log.branch,
            step=step,
            key=key,
            applied=True,
            outcome=outcome,
        )
        _append_synced(self._path, msgspec.json.encode(effect) + b"\n")
        _tell(self._log, effect)
        return outcome


class KeyedSink:
    """Applies the first effect of each key; a repeat changes nothing and gets the first answer."""

    def __init__(self, path: Path, log: EventLog) -> None:
        self._path = path
        self._log = log
        with closing(_connect(path)) as connection, connection:
            connection.execute(
                "CREATE TABLE IF NOT EXISTS answers (key TEXT PRIMARY KEY, outcome TEXT NOT NULL)"
            )
            connection.execute(
                "CREATE TABLE IF NOT EXISTS effects (n INTEGER PRIMARY KEY, effect BLOB NOT NULL)"
            )

    def fire(self, step: str, key: str, content: Value, thread: str | None = None) -> Value:
        """Apply an effect unless its key came before; see :meth:`Sink.fire`."""
        with closing(_connect(self._path)) as connection:
            # The write lock first: the key's answer and the effect's own line are one transaction.
            connection.execute("BEGIN IMMEDIATE")
            cursor = connection.execute(
                "INSERT INTO answers VALUES (?, ?) ON CONFLICT DO NOTHING",
                (key, effect_outcome(step, content)),
            )
            applied = cursor.rowcount == 1
            (outcome,) = connection.execute("SELECT outcome FROM answers WHERE key = ?", (key,)).fetchone()
            effect = Effect(
                id=uuid.uuid4().hex,
                actor=self._log.actor,
                thread=thread or self._log.thread,
                branch=self._log.branch,
                step=step,
                key=key,
                applied=applied,
                outcome=outcome,
            )
            connection.execute("INSERT INTO effects (effect) VALUES (?)", (msgspec.json.encode(effect),))
            connection.execute("COMMIT")
        _tell(self._log, effect)
        return str(outcome)


def open_sink(kind: Literal["plain", "keyed"], folder: Path, log: EventLog) -> Sink:
    """The sink of a recording's folder, made when it is not there yet."""
    return PlainSink(_plain_path(folder), log) if kind == "plain" else KeyedSink(_keyed_path(folder), log)


def fired_effects(folder: Path) -> list[Effect]:
    """Every effect that reached the sink of that folder, in the order in which it took them.

    Raises:
        RecordingError: the effects file has a torn line.
    """
    decoder = msgspec.json.Decoder(Effect)
    try:
        if _plain_path(folder).exists():
            return [decoder.decode(line) for line in _plain_path(folder).read_bytes().splitlines()]
        if _keyed_path(folder).exists():
            with closing(_connect(_keyed_path(folder))) as connection:
                rows = connection.execute("SELECT effect FROM effects ORDER BY n").fetchall()
            return [decoder.decode(row[0]) for row in rows]
    except msgspec.DecodeError as error:
        raise RecordingError(
            f"the effects file of {folder.name} has a torn line ({error})", "record again"
        ) from None
    return []


def missing_events(effects: Iterable[Effect], events: Iterable[Event], actor: str) -> list[Effect]:
    """The actor's effects that its log lines do not show: it died after the effect and before the line.

    Both are taken as multisets of what they say: an actor that fires from several threads may log its effects
    in another order.
    """
    shown = [
        (event.thread, event.branch, event.step, event.key, event.applied)
        for event in events
        if isinstance(event, EffectFired) and event.actor == actor
    ]
    missing = []
    for effect in effects:
        said = (effect.thread, effect.branch, effect.step, effect.key, effect.applied)
        if effect.actor != actor:
            continue
        if said in shown:
            shown.remove(said)
        else:
            missing.append(effect)
    return missing


def effect_outcome(step: str, content: Value) -> str:
    """What a sink answers: a function of the step and its content, so that a repeat is answered alike."""
    told = msgspec.json.encode([step, content])
    return f"{step}:{hashlib.sha256(told).hexdigest()[:8]}"


def _plain_path(folder: Path) -> Path:
    return folder / "effects.jsonl"


def _keyed_path(folder: Path) -> Path:
    return folder / "effects.sqlite"


def _tell(log: EventLog, effect: Effect) -> None:
    log.emit(
        "effect_fired",
        thread=effect.thread,
        branch=effect.branch,
        step=effect.step,
        key=effect.key,
        applied=effect.applied,
        outcome=effect.outcome,
    )


def _append_synced(path: Path, line: bytes) -> None:
    fd = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644)
    try:
        if os.write(fd, line) != len(line):
            raise RecordingError(
                "the effects file took part of a line only", "free space on the disk and record again"
            )
        os.fsync(fd)
    finally:
        os.close(fd)


def _connect(path: Path) -> sqlite3.Connection:
    connection = sqlite3.connect(path, timeout=30, isolation_level=None)
    connection.execute("PRAGMA synchronous = FULL")
    return connection
