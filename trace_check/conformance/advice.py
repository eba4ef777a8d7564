"""What to do about what a system was seen to break: one sentence for each clause and cause."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

from trace_check.conformance.atlas import Atlas, SystemEntry
from trace_check.conformance.judging import Finding
from trace_check.conformance.profiles import OUTSIDE
from trace_check.explained import ALL_CLAUSES

__all__ = ["ADVICE", "OTHER", "Advice", "advice_on"]

OTHER: Final = "other"
"""The cause where none of the clause's own faults is part of an explanation."""

ADVICE: Final[dict[str, dict[str, str]]] = {
    "PC": {
        "restart_from_earlier": "Let a resume start over only where the store has nothing of the run: work that was"
        " sealed is done and sealed again.",
        "skip_uncommitted": "Choose a durability that seals each unit before the next one begins: units run ahead of"
        " what a crash leaves.",
        "lost_commit": "Choose a durability that has written a checkpoint when it says so: acknowledged ones were gone"
        " after a crash.",
        OTHER: "Hold what the store has against the program before you go on: a unit is there twice, or is missing.",
    },
    "EO": {
        "window": "Send each effect with the key that the framework offers ({key}), to a receiver that applies the"
        " first of each key only: a crash between firing and recording, or a second process, fires it again.",
        "window_without_key": "Give each effect a key of your own that is the same for a retry, and a receiver that"
        " applies the first of each key only: the framework offers none, and a crash between firing and recording,"
        " or a second process, fires it again.",
        "recorded": "Ask, before an effect is fired, whether its outcome is there already, or give it a key: it is"
        " fired again although its outcome was durably recorded.",
        "key_changes": "Make keys of what your application knows (an order's number, the step), not of the"
        " framework's identities alone ({key}): a retry may have another, and its effect is applied again.",
        "not_applied": "Put the branch into the key where a resume may start a branch: an effect counts there as done"
        " that was applied in the parent only.",
        OTHER: "Hold each effect's record against its receiver's: one is applied twice, or recorded and never applied.",
    },
    "FD": {
        "fork_nondeterminism": "Hand to a fork all that its outcomes depend on: with the same past it comes to"
        " another one.",
        "fork_aliases_parent": "Fork into a copy of your own, or keep the parent's checkpoints elsewhere: a fork"
        " overwrites them.",
        OTHER: "Read back what the store holds of a run before you fork it or build on it: that is something else than"
        " what was committed.",
    },
    "CV": {
        "invalid_persisted": "Validate each outcome before the framework gets it (its type, no NaN, only what its"
        " codec takes): it stores others, too.",
        "torn_checkpoint": "Use a store that writes checkpoints whole or not at all: one that was cut short counts as"
        " the newest.",
        OTHER: "Load each checkpoint once when it is written: some that are stored cannot be loaded, or are not what"
        " was handed over.",
    },
    "CO-V": {
        "late_answer_recorded": "Ask whether the question is still open before you hand an answer over: a later one is"
        " accepted and then ignored.",
        "answer_replaced": "Refuse a second answer yourself: it takes the place of the first, which had been"
        " accepted, and passes.",
        "fork_inherits_answer": "Ask again in a fork whose question was answered before: the parent's answer passes,"
        " not the one that is given.",
        "lost_answer": "Keep each answer yourself until the step behind its question is sealed: it is gone with the"
        " process that had it.",
        OTHER: "Hold the answer that the store has against the one that passed: they may differ, or there is none.",
    },
    "CO-C": {
        "check_then_claim": "Let one process at a time resume a run (a lock, a lease, a queue with one consumer):"
        " of several that come at once more than one passes the gate.",
        OTHER: "Keep who has passed a gate, and refuse all who come later: it opens again for another one.",
    },
    "RD": {
        "recompute_differs": "Record what a step depends on (time, chance, a model's reply) before you use it: computed"
        " again, the step comes to something else.",
        OTHER: "Compare what a step yields with what is recorded of it: they differ.",
    },
    "FI": {
        "implicit_fork": "Resume at the newest checkpoint only, and use the call for forks where there is one: a resume"
        " at an older one starts a branch without a word.",
        OTHER: "List the branches of a run: some were declared by nobody.",
    },
    "LV": {
        "orphaned_claim": "Let claims expire, or release those of dead processes yourself: nobody else takes them over.",
        "stuck_running": "Find runs whose process has died and start them anew with keyed effects: they count as"
        " running for ever, and every load is refused.",
        OTHER: "Watch for runs whose resume fails or gives up, and hand them to a person: left alone they stand still.",
    },
}
"""Clause -> cause -> what to do.

A cause is a fault that breaks the clause, or `OTHER`; those of EO are how an effect came to be applied again (see
:func:`~trace_check.conformance.effects.repeats`) or not at all. ``{key}`` stands for the system's key."""


class Advice(NamedTuple):
    """What to do about a clause that a system breaks.

    Attributes:
        clause, cause: of :data:`ADVICE`.
        text: what to do, in a sentence.
        certain: some trace breaks the clause for certain by that cause; otherwise possibly.
        trace: one that shows it, below the folder of traces.
        entries: with which stores of the system, and in which versions.
    """

    clause: str
    cause: str
    text: str
    certain: bool
    trace: str
    entries: list[SystemEntry]


class _Seen(NamedTuple):
    """Where a clause breaks by a cause; the first in order is the best to look at."""

    possibly: bool
    varies: bool
    is_unmodelled: bool
    is_no_kill: bool
    number: int
    trace: str


def advice_on(atlas: Atlas, system: str) -> list[Advice]:
    """What the findings on a system, its races included, give reason to do; in the order of the clauses.

    Where a clause breaks for certain with some store, the causes by which it possibly breaks there are left out.

    Args:
        atlas: it has all of them.
        system: as in the headers: all its versions and stores are taken together.
    """
    seen: dict[tuple[str, str, str], list[tuple[_Seen, SystemEntry]]] = {}
    for entry in atlas.systems:
        if entry.system == system:
            findings = _findings(atlas, entry)
            for clause in ALL_CLAUSES:
                for cause, where in _causes(findings, clause, entry).items():
                    text = ADVICE[clause][cause].format(key=entry.key)
                    seen.setdefault((clause, cause, text), []).append((where, entry))
    order = {(clause, cause): n for clause in ALL_CLAUSES for n, cause in enumerate(ADVICE[clause])}
    found = []
    for (clause, cause, text), places in seen.items():
        best = min(where for where, _ in places)
        entries = [entry for where, entry in places if where.possibly == best.possibly]
        found.append(Advice(clause, cause, text, not best.possibly, best.trace, entries))
    return sorted(found, key=lambda one: (ALL_CLAUSES.index(one.clause), order[one.clause, one.cause]))


def _findings(atlas: Atlas, entry: SystemEntry) -> list[Finding]:
    """What was recorded of a system with a store, in scenarios and then in races."""
    version = entry.system, entry.version, entry.store
    raced = [row.finding for row in atlas.races if (row.system, row.version, row.store) == version]
    recorded = [finding for finding in entry.recordings if finding.scenario not in OUTSIDE]
    return recorded + [finding for finding in raced if finding is not None]


def _causes(findings: Sequence[Finding], clause: str, entry: SystemEntry) -> dict[str, _Seen]:
    """Why a clause breaks, and the best trace to see it in."""
    found: dict[str, _Seen] = {}
    for number, finding in enumerate(findings):
        for evidence in finding.breaks:
            if evidence.clause != clause:
                continue
            where = _Seen(
                not evidence.certain,
                finding.varies,
                bool(finding.unmodelled),
                not finding.scenario.startswith("kill-"),
                number,
                finding.trace,
            )
            causes = (
                _of_effects(finding, evidence.kind, entry) if clause == "EO" else _faults(finding, clause)
            )
            for cause in causes:
                found[cause] = min(found.get(cause, where), where)
    certain = {cause: where for cause, where in found.items() if not where.possibly}
    return certain or found


def _faults(finding: Finding, clause: str) -> list[str]:
    """The clause's own faults among the explanations."""
    named = {name for names in finding.explanations for name in names}
    return [cause for cause in ADVICE[clause] if cause in named] or [OTHER]


def _of_effects(finding: Finding, kind: str, entry: SystemEntry) -> Iterator[str]:
    """How an effect came to be applied again, or not at all."""
    if kind != "effect_fired":
        yield "not_applied"
    elif not finding.repeated:
        yield OTHER
    elif finding.sink == "keyed":
        yield "key_changes"
    else:
        if "window" in finding.repeated:
            if entry.key is None:
                yield "window_without_key"
            elif _key_helps(entry):
                yield "window"
            else:
                yield "key_changes"
        if "recorded" in finding.repeated:
            yield "recorded"


def _key_helps(entry: SystemEntry) -> bool:
    """Whether fewer effects were applied again in the window where the sink knew keys, or nothing says so."""
    plain, keyed = (entry.effects.get(sink, {}).get("window", 0) for sink in ("plain", "keyed"))
    return keyed < plain or keyed == 0
