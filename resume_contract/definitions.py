"""The clauses and the faults in plain words."""

from __future__ import annotations

from typing import NamedTuple

__all__ = ["CLAUSES", "FAULTS", "Clause", "Fault", "faults_of"]


class Clause(NamedTuple):
    """A clause of the contract: what it is called, what it says, why that matters."""

    title: str
    says: str
    why: str


class Fault(NamedTuple):
    """A deviation from the reference: the clause that it breaks, and what it does."""

    breaks: str
    does: str


CLAUSES: dict[str, Clause] = {
    "PC": Clause(
        "prefix continuation",
        "A branch consists of the units that it started from, followed by the program's next units in their order:"
        " none twice, none left out. A commit that was acknowledged is never lost.",
        "Without it a resume repeats work that is sealed, or goes on as if work had been done that was not.",
    ),
    "EO": Clause(
        "effects exactly once",
        "An effect step of a branch is applied to the outside world at most once, whatever keys were sent with it;"
        " and where its outcome is recorded or committed, it was applied.",
        "Without it a customer is charged twice, or told of a payment that nobody made.",
    ),
    "FD": Clause(
        "fork determinism",
        "A branch keeps the prefix that it was forked with, and only its own commits are appended to it (FD-1). Two"
        " branches that agree in all earlier units, and in the answers passed up to a unit, agree in that unit (FD-2).",
        "Without it a fork rewrites the history of its parent, or tells another story of the same past.",
    ),
    "CV": Clause(
        "checkpoint validity",
        "Every checkpoint in the store is complete, and its outcomes keep their schema.",
        "Without it a resume starts from half a checkpoint, or from values that the code cannot take.",
    ),
    "CO-V": Clause(
        "consume once: the value",
        "Of the answers to one interrupt at most one is acknowledged. It is addressed to the gate of this branch, it"
        " stays, and its value is the one that passes the gate.",
        "Without it somebody is told that their decision counts, and another one is carried out.",
    ),
    "CO-C": Clause(
        "consume once: the consumption",
        "An interrupt is claimed at most once, by one runner. A claim whose lease has expired may be taken over; that"
        " is the same claim.",
        "Without it two runners both carry out what one answer has allowed.",
    ),
    "RD": Clause(
        "recovery determinism",
        "In one branch a step that is computed again from the same inputs yields the outcome that it had, if both are"
        " valid.",
        "Without it a recovery contradicts what the run before has already shown.",
    ),
    "FI": Clause(
        "fork intent",
        "Every branch that exists was declared by somebody.",
        "Without it a resume at an old checkpoint splits the history in silence.",
    ),
    "LV": Clause(
        "liveness",
        "Again and again each branch is done, failed, uncertain or waiting for an answer, if crashes, forks, invalid"
        " outcomes and expiries of live claims come to an end.",
        "Without it a workflow stands still for ever and nobody is told.",
    ),
}

FAULTS: dict[str, Fault] = {
    "restart_from_earlier": Fault("PC", "A load may go on from an older checkpoint of the branch."),
    "skip_uncommitted": Fault(
        "PC", "A runner goes on to the next unit without committing the one that it has finished."
    ),
    "unkeyed_effect": Fault("EO", "The sink applies every firing, a repeated one too."),
    "ledger_ignored": Fault(
        "EO", "Work that is recorded is done again, and its effect is fired under a new key."
    ),
    "record_before_fire": Fault("EO", "The outcome of an effect is recorded before the effect is fired."),
    "fork_nondeterminism": Fault("FD", "A forked branch fixes, once, another outcome than its parent has."),
    "fork_aliases_parent": Fault(
        "FD",
        "A commit of a fork overwrites the parent's checkpoint of the same unit with the fork's outcome.",
    ),
    "invalid_persisted": Fault(
        "CV", "An invalid outcome is recorded and committed as if it were a valid one."
    ),
    "torn_checkpoint": Fault(
        "CV", "A crash inside a commit leaves an incomplete checkpoint, which is then the newest."
    ),
    "late_answer_recorded": Fault(
        "CO-V", "A second answer is acknowledged and stored, though nobody will look at it."
    ),
    "check_then_claim": Fault(
        "CO-C", "A gate is claimed by a read and a later write, so that two runners can be between the two."
    ),
    "recompute_differs": Fault("RD", "A step that is recorded already may be computed to another outcome."),
    "implicit_fork": Fault("FI", "A resume from an older checkpoint makes a branch that nobody declared."),
    "answer_replaced": Fault(
        "CO-V", "A later answer takes the place of the acknowledged one, and passes the gate."
    ),
    "fork_inherits_answer": Fault(
        "CO-V", "The gate of a fork takes over the answer that its parent's gate was given."
    ),
    "lost_answer": Fault("CO-V", "An answer that was acknowledged is gone after a crash."),
    "lost_commit": Fault(
        "PC",
        "A commit that was acknowledged is gone after a crash, and its gate is claimed and expired again.",
    ),
    "unstable_key": Fault(
        "EO", "A retry sends its effect under another key, so that the sink applies it again."
    ),
    "orphaned_claim": Fault("LV", "A claim whose owner is dead is never taken over."),
    "stuck_running": Fault("LV", "A run whose process has crashed can never be loaded again."),
}


def faults_of(clause: str) -> tuple[str, ...]:
    """The faults that break a clause."""
    return tuple(name for name, fault in FAULTS.items() if fault.breaks == clause)
