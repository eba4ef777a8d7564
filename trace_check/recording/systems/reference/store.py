"""The reference's durable store: one SQLite file, each write one conditional statement in one transaction.

This is how a system would keep the contract with SQL alone: the claim of a gate is an insert-once, a commit a
compare-and-set on the branch's length and the claim's epoch.  Each transaction also appends the action that it is to
``history``, so that a replay through the mirror can judge every one of them (:mod:`…systems.reference.replay`).
"""

from __future__ import annotations

import json
import sqlite3
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from pymodel.resume.program import Program
from trace_check.events import ROOT_BRANCH, ProgramUnit

__all__ = ["LEASE", "Checkpoint", "Gate", "Store", "Transaction", "program_of"]

LEASE: Final = 0.5
"""Seconds for which a claim is good."""

_SCHEMA: Final = """
CREATE TABLE branches (name TEXT PRIMARY KEY, parent TEXT, prefix INTEGER NOT NULL, status TEXT NOT NULL);
CREATE TABLE checkpoints (
    branch TEXT NOT NULL, n INTEGER NOT NULL, unit INTEGER NOT NULL, outcomes TEXT NOT NULL,
    PRIMARY KEY (branch, n)
);
CREATE TABLE ledger (branch TEXT NOT NULL, step TEXT NOT NULL, outcome TEXT NOT NULL, PRIMARY KEY (branch, step));
CREATE TABLE gates (
    branch TEXT NOT NULL, gate TEXT NOT NULL, status TEXT NOT NULL, passed TEXT,
    PRIMARY KEY (branch, gate)
);
CREATE TABLE answers (
    branch TEXT NOT NULL, gate TEXT NOT NULL, delivery TEXT NOT NULL, value TEXT NOT NULL,
    PRIMARY KEY (branch, gate)
);
CREATE TABLE claims (
    branch TEXT NOT NULL, gate TEXT NOT NULL, epoch INTEGER NOT NULL, until REAL NOT NULL, expired INTEGER NOT NULL,
    PRIMARY KEY (branch, gate)
);
CREATE TABLE history (n INTEGER PRIMARY KEY, actor TEXT NOT NULL, action TEXT NOT NULL, parameters TEXT NOT NULL);
"""


@dataclass(frozen=True)
class Checkpoint:
    """A stored checkpoint: its place in the branch from 1, the unit that it seals from 1, outcomes by step."""

    n: int
    unit: int
    outcomes: dict[str, str]


@dataclass(frozen=True)
class Gate:
    """A gate as stored.  ``epoch`` is 0 where it was never claimed."""

    status: str = "closed"
    passed: str | None = None
    epoch: int = 0
    until: float = 0.0
    expired: bool = False


def program_of(units: list[ProgramUnit]) -> Program:
    """The header's units as a program of the mirror."""
    from pymodel.resume.program import Step

    return Program(
        "trace",
        tuple(tuple(Step(step.step, step.kind, tuple(step.after)) for step in unit.steps) for unit in units),
    )


class Transaction:
    """One transaction, holding the store's write lock.  Reads see what is committed and what this one wrote."""

    def __init__(self, connection: sqlite3.Connection, actor: str) -> None:
        self._connection = connection
        self._actor = actor

    def _rows(self, sql: str, *values: object) -> list[tuple[Any, ...]]:
        return self._connection.execute(sql, values).fetchall()

    def _changes(self, sql: str, *values: object) -> bool:
        return self._connection.execute(sql, values).rowcount == 1

    def note(self, action: str, *parameters: object) -> None:
        """Append to the history which action this transaction is."""
        self._connection.execute(
            "INSERT INTO history (actor, action, parameters) VALUES (?, ?, ?)",
            (self._actor, action, json.dumps(parameters)),
        )

    # -- reading

    def branches(self) -> list[tuple[str, str | None, int, str]]:
        """Name, parent, length of the prefix, and status of every branch, the root first."""
        return [tuple(row) for row in self._rows("SELECT * FROM branches ORDER BY rowid")]

    def is_running(self, branch: str) -> bool:
        """Does the branch run?"""
        return bool(self._rows("SELECT 1 FROM branches WHERE name = ? AND status = 'running'", branch))

    def checkpoints(self, branch: str) -> list[Checkpoint]:
        """The branch's checkpoints, the oldest first."""
        rows = self._rows("SELECT n, unit, outcomes FROM checkpoints WHERE branch = ? ORDER BY n", branch)
        return [Checkpoint(n, unit, json.loads(outcomes)) for n, unit, outcomes in rows]

    def ledger(self, branch: str) -> dict[str, str]:
        """The recorded outcomes of a branch."""
        return dict(self._rows("SELECT step, outcome FROM ledger WHERE branch = ?", branch))

    def gate(self, branch: str, gate: str) -> Gate:
        """A gate."""
        rows = self._rows(
            "SELECT status, passed, epoch, until, expired FROM gates LEFT JOIN claims USING (branch, gate)"
            " WHERE branch = ? AND gate = ?",
            branch,
            gate,
        )
        if not rows:
            return Gate()
        status, passed, epoch, until, expired = rows[0]
        return Gate(status, passed, epoch or 0, until or 0.0, bool(expired))

    def answer(self, branch: str, gate: str) -> tuple[str, str] | None:
        """The delivery that was acknowledged at a gate, and its value."""
        rows = self._rows("SELECT delivery, value FROM answers WHERE branch = ? AND gate = ?", branch, gate)
        return tuple(rows[0]) if rows else None

    def history(self) -> list[tuple[str, str, list[Any]]]:
        """Actor, action and parameters of all that was done."""
        rows = self._rows("SELECT actor, action, parameters FROM history ORDER BY n")
        return [(actor, action, json.loads(parameters)) for actor, action, parameters in rows]

    def is_current(self, branch: str, gate: str | None, epoch: int) -> bool:
        """Is a claim the current one?  Holding none, there is nothing to outlive."""
        return gate is None or epoch == 0 or self.gate(branch, gate).epoch == epoch

    # -- conditional writes: False, with nothing written, where the condition fails

    def record(self, branch: str, step: str, outcome: str, gate: str | None, epoch: int) -> bool:
        """Keep an outcome, once."""
        if not self.is_running(branch) or not self.is_current(branch, gate, epoch):
            return False
        self._connection.execute(
            "INSERT INTO ledger VALUES (?, ?, ?) ON CONFLICT DO NOTHING", (branch, step, outcome)
        )
        return True

    def commit(
        self, branch: str, base: int, unit: int, outcomes: dict[str, str], gate: str | None, epoch: int
    ) -> bool:
        """Append a checkpoint if the branch still has `base` of them and the claim of the unit's gate is current."""
        if gate is not None and (epoch == 0 or not self.is_current(branch, gate, epoch)):
            return False
        done = self._changes(
            "INSERT INTO checkpoints SELECT ?, ?, ?, ? WHERE"
            " (SELECT count(*) FROM checkpoints WHERE branch = ?) = ?"
            " AND EXISTS (SELECT 1 FROM branches WHERE name = ? AND status = 'running')",
            *(branch, base + 1, unit, json.dumps(outcomes), branch, base, branch),
        )
        if done and gate is not None:
            self._connection.execute(
                "UPDATE gates SET status = 'consumed' WHERE branch = ? AND gate = ?", (branch, gate)
            )
        return done

    def finish(self, branch: str) -> None:
        """The branch is done."""
        self._connection.execute("UPDATE branches SET status = 'done' WHERE name = ?", (branch,))

    def park(self, branch: str, gate: str) -> bool:
        """Open a closed gate for an answer."""
        return self.is_running(branch) and self._changes(
            "INSERT INTO gates (branch, gate, status) VALUES (?, ?, 'parked') ON CONFLICT DO NOTHING",
            branch,
            gate,
        )

    def deliver(self, branch: str, gate: str, delivery: str, value: str) -> bool:
        """Take the first answer to a parked gate."""
        if not self.is_running(branch) or not self._changes(
            "UPDATE gates SET status = 'answered' WHERE branch = ? AND gate = ? AND status = 'parked'",
            branch,
            gate,
        ):
            return False
        self._connection.execute("INSERT INTO answers VALUES (?, ?, ?, ?)", (branch, gate, delivery, value))
        return True

    def claim(self, branch: str, gate: str) -> bool:
        """Claim an answered gate: an insert that only one can make."""
        if not self.is_running(branch) or self.gate(branch, gate).status != "answered":
            return False
        until = time.monotonic() + LEASE
        if not self._changes(
            "INSERT INTO claims VALUES (?, ?, 1, ?, 0) ON CONFLICT DO NOTHING", branch, gate, until
        ):
            return False
        return self._changes(
            "UPDATE gates SET status = 'claimed',"
            " passed = (SELECT value FROM answers a WHERE a.branch = gates.branch AND a.gate = gates.gate)"
            " WHERE branch = ? AND gate = ?",
            branch,
            gate,
        )

    def take_over(self, branch: str, gate: str) -> bool:
        """Pass an expired claim on, to a higher epoch."""
        if not self.is_running(branch) or self.gate(branch, gate).status != "claimed":
            return False
        return self._changes(
            "UPDATE claims SET epoch = epoch + 1, until = ?, expired = 0"
            " WHERE branch = ? AND gate = ? AND expired = 1",
            time.monotonic() + LEASE,
            branch,
            gate,
        )

    def expire(self, branch: str, gate: str) -> bool:
        """End the lease of a claim whose time is up."""
        return self.gate(branch, gate).status == "claimed" and self._changes(
            "UPDATE claims SET expired = 1 WHERE branch = ? AND gate = ? AND expired = 0 AND until <= ?",
            branch,
            gate,
            time.monotonic(),
        )

    def fork(self, parent: str, prefix: int, child: str, gates: list[str], is_whole: bool) -> bool:
        """Copy the first `prefix` checkpoints; `gates`: those that they consumed, whose values are copied."""
        if len(self.checkpoints(parent)) < prefix:
            return False
        status = "done" if is_whole else "running"
        if not self._changes(
            "INSERT INTO branches VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING", child, parent, prefix, status
        ):
            return False
        self._connection.execute(
            "INSERT INTO checkpoints SELECT ?, n, unit, outcomes FROM checkpoints WHERE branch = ? AND n <= ?",
            (child, parent, prefix),
        )
        for gate in gates:
            self._connection.execute(
                "INSERT INTO gates SELECT ?, gate, 'consumed', passed FROM gates WHERE branch = ? AND gate = ?",
                (child, parent, gate),
            )
        return True


class Store:
    """The file, made when it is not there yet."""

    def __init__(self, folder: Path, actor: str) -> None:
        self.path = folder / "reference.sqlite"
        self._actor = actor
        with closing(self._connect()) as connection:
            connection.execute("BEGIN IMMEDIATE")
            if not connection.execute("SELECT 1 FROM sqlite_master").fetchall():
                for statement in _SCHEMA.split(";"):
                    connection.execute(statement)
                connection.execute("INSERT INTO branches VALUES (?, NULL, 0, 'running')", (ROOT_BRANCH,))
            connection.execute("COMMIT")

    def _connect(self) -> sqlite3.Connection:
        connection = sqlite3.connect(self.path, timeout=30, isolation_level=None)
        connection.execute("PRAGMA synchronous = FULL")
        return connection

    @contextmanager
    def transaction(self) -> Iterator[Transaction]:
        """One transaction: committed at the end, rolled back on an exception."""
        with closing(self._connect()) as connection:
            connection.execute("BEGIN IMMEDIATE")
            yield Transaction(connection, self._actor)
            connection.execute("COMMIT")
