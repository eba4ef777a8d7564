"""Many trials, and what came of them: no false alarm, no deviation missed that shows, no explanation too large."""

from __future__ import annotations

import random
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pymodel.resume.layout import Bounds
from pymodel.resume.model import FAULTS, fault_names
from pymodel.resume.program import PROGRAMS, Program
from pymodel.resume.transitions import ACTIONS
from trace_check.checker import Verdict, check_file
from trace_check.trials.programs import random_bounds, random_program
from trace_check.trials.rendering import Behaviour, Rendering, random_behaviour, render, write
from trace_check.trials.visible import plainly_broken

__all__ = [
    "BUDGET",
    "FaultCounts",
    "Trials",
    "faulty_bounds",
    "faulty_case",
    "program_for",
    "reference_case",
    "run_trials",
]

FORMAT_VERSION = 1
"""The version of the JSON that `trace trials` prints."""

BUDGET = 4_000
"""Places of the search that a trial may take; what takes more is tried again with those that a trace gets elsewhere."""

_SECOND_FAULT = 0.3
_SHOWN_ERRORS = 20
_PROGRAMS_OF = {
    "check_then_claim": ("Gated", "Sandwich"),
    "fork_aliases_parent": ("Asked", "Mixed", "Gated"),
}
"""The programs in which a fault has most occasion to show, where that matters."""


@dataclass
class FaultCounts:
    """What came of the behaviours in which one fault was used, alone or with another.

    Attributes:
        behaviours: how many there were.
        rejected: "violates".
        unseen: "conforms": the reference has a behaviour that shows the same events.
        unseen_broken: of these, how many break a clause, in a way that the events don't tell.
        unchecked: the budget was used up.
        plain: how many lines contradict a clause by themselves (`visible.plainly_broken`): all are to be rejected.
    """

    behaviours: int = 0
    rejected: int = 0
    unseen: int = 0
    unseen_broken: int = 0
    unchecked: int = 0
    plain: int = 0


@dataclass
class Trials:
    """The outcome.

    Attributes:
        count: behaviours of the reference, and as many with faults.
        reference: verdicts on those of the reference.
        hidden: how many of them conform with steps that had to be supposed.
        pending: how many of them have an operation without an end.
        actions: how often each action was taken in them.
        faulty: verdicts on those with faults.
        by_fault: the same by fault.
        smaller: how many are explained by fewer faults than were used.
        errors: what must not be, one line each, with the seed: a false alarm, a missed deviation, an explanation that is
            larger than what was injected or has an unmodelled event.
        error_count: how many of these there are in all.
        unchecked: the first of those for which the budget was used up, by their seeds.
        seconds: CPU time.
    """

    count: int
    reference: Counter[str] = field(default_factory=Counter)
    hidden: int = 0
    pending: int = 0
    actions: Counter[str] = field(default_factory=Counter)
    faulty: Counter[str] = field(default_factory=Counter)
    by_fault: dict[str, FaultCounts] = field(default_factory=dict)
    smaller: int = 0
    errors: list[str] = field(default_factory=list)
    error_count: int = 0
    unchecked: list[str] = field(default_factory=list)
    seconds: float = 0.0

    def fail(self, text: str) -> None:
        """Count what must not be; the first of them are kept."""
        self.error_count += 1
        if len(self.errors) < _SHOWN_ERRORS:
            self.errors.append(text)

    def leave(self, text: str) -> None:
        """Note what was not decided; the first of them are kept."""
        if len(self.unchecked) < _SHOWN_ERRORS:
            self.unchecked.append(text)

    def to_json(self) -> dict[str, Any]:
        """As JSON values; without the time, so that a second run gives the same."""
        return {
            "version": FORMAT_VERSION,
            "count": self.count,
            "budget": BUDGET,
            "reference": {
                "verdicts": dict(sorted(self.reference.items())),
                "with_supposed_steps": self.hidden,
                "with_pending_operations": self.pending,
                "actions": {name: self.actions[name] for name in ACTIONS},
            },
            "faulty": {
                "verdicts": dict(sorted(self.faulty.items())),
                "explained_by_fewer_faults_than_used": self.smaller,
                "by_fault": {name: vars(counts) for name, counts in sorted(self.by_fault.items())},
            },
            "error_count": self.error_count,
            "errors": self.errors,
            "unchecked": self.unchecked,
        }


def reference_case(seed: int) -> tuple[Behaviour, Rendering]:
    """A behaviour of the reference, some kinds of its events unseen, its operations overlapping, some without an end."""
    rng = random.Random(seed)
    behaviour = random_behaviour(rng, random_program(rng), random_bounds(rng), length=rng.randint(3, 30))
    hide, overlap = rng.choice((0, 0.1, 0.3)), rng.choice((0, 0.3, 0.7))
    return behaviour, render(rng, behaviour, hide=hide, overlap=overlap, pending=0.4)


def faulty_bounds(rng: random.Random) -> Bounds:
    """Two runners with room for every fault to show."""
    return Bounds(
        runners=2,
        branches=rng.choice((1, 2)),
        answers=2,
        values=3,
        crashes=2,
        expiries=1,
        invalid=1,
        computations=3,
    )


def program_for(rng: random.Random, fault: str) -> Program:
    """A program in which a fault can show."""
    return PROGRAMS[rng.choice(_PROGRAMS_OF.get(fault, tuple(PROGRAMS)))]


def faulty_case(fault: str, seed: int) -> tuple[Behaviour, Rendering]:
    """A behaviour in which a fault is used, now and then together with another one."""
    attempt = 0
    while True:
        rng = random.Random(f"{fault} {seed} {attempt}")
        faults = [fault]
        if rng.random() < _SECOND_FAULT:
            faults.append(rng.choice([name for name in FAULTS if name != fault]))
        bounds = faulty_bounds(rng)
        program = program_for(rng, fault)
        behaviour = random_behaviour(rng, program, bounds, faults, rng.randint(10, 30))
        if fault in fault_names(behaviour.faults()):
            return behaviour, render(rng, behaviour, reads=0.15, overlap=rng.choice((0, 0.2)))
        attempt += 1


def run_trials(count: int, *, first: int = 0, report: Callable[[str], None] = lambda _: None) -> Trials:
    """Judge so many behaviours of the reference, and as many with faults, each fault in turn.

    Args:
        count: how many of each.
        first: the seed of the first; the others follow.
        report: is told how far it is.
    """
    started = time.process_time()
    trials = Trials(count)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "trace.jsonl"
        for seed in range(first, first + count):
            if seed % 20 == 0:
                report(f"{seed - first} of {count} of the reference")
            _try_reference(trials, seed, path)
        for seed in range(first, first + count):
            if seed % 20 == 0:
                report(f"{seed - first} of {count} with faults")
            _try_faulty(trials, FAULTS[seed % len(FAULTS)], seed // len(FAULTS), path)
    trials.seconds = time.process_time() - started
    return trials


def _try_reference(trials: Trials, seed: int, path: Path) -> None:
    behaviour, rendering = reference_case(seed)
    if not rendering.lines:
        trials.reference["shows nothing"] += 1
        return
    found = _check(write(path, rendering))
    verdict = _verdict(found)
    trials.reference[verdict] += 1
    trials.actions.update(step.action for _, step in behaviour.steps)
    ended = {line.op for line in rendering.lines if line.phase == "end"}
    trials.pending += any(line.phase == "begin" and line.op not in ended for line in rendering.lines)
    trials.hidden += verdict == "conforms" and found.hidden_steps > 0
    if verdict == "unchecked":
        trials.leave(f"seed {seed}")
    elif verdict != "conforms":
        trials.fail(f"seed {seed}: a behaviour of the reference {verdict}: {found.explanations}")


def _try_faulty(trials: Trials, fault: str, seed: int, path: Path) -> None:
    behaviour, rendering = faulty_case(fault, seed)
    used = fault_names(behaviour.faults())
    if not rendering.lines:
        trials.faulty["shows nothing"] += 1
        return
    found = _check(write(path, rendering))
    verdict = _verdict(found)
    trials.faulty[verdict] += 1
    counts = trials.by_fault.setdefault(fault, FaultCounts())
    plain = plainly_broken(rendering)
    broken = behaviour.broken() - {"NeverStuck"}
    counts.behaviours += 1
    counts.rejected += verdict == "violates"
    counts.unseen += verdict == "conforms"
    counts.unseen_broken += verdict == "conforms" and bool(broken)
    counts.unchecked += verdict == "unchecked"
    counts.plain += bool(plain)
    where = f"{fault}, seed {seed}"
    if verdict == "conforms" and plain:
        trials.fail(f"{where}: it conforms, and its lines break {', '.join(sorted(plain))}")
    if verdict == "violates":
        size = len(found.explanations[0])
        trials.smaller += size < len(used)
        if found.unmodelled:
            trials.fail(f"{where}: event {found.unmodelled[0]} is unmodelled; used were {', '.join(used)}")
        elif size > len(used):
            trials.fail(f"{where}: explained by {found.explanations}, used were {', '.join(used)}")
    elif verdict == "unchecked":
        trials.leave(where)
    elif verdict != "conforms":
        trials.fail(f"{where}: {verdict}")


def _check(path: Path) -> Verdict:
    """The verdict: nearly always a quick one."""
    found = check_file(path, budget=BUDGET)
    return check_file(path) if found.verdict == "unchecked" else found


def _verdict(found: Verdict) -> str:
    """The verdict; what is unchecked for another reason than the budget gives the reason."""
    if found.verdict == "unchecked" and "budget" not in (found.error or ""):
        return f"cannot be checked: {(found.error or '').rpartition(': ')[2]}"
    return found.verdict
