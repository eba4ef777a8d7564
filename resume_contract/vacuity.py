"""Did the models of a bound reach what the clauses judge?  A clause holds easily of what never happens."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from pymodel.resume.clauses import SOMETIMES
from pymodel.resume.transitions import ACTIONS
from resume_contract.manifest import Excused
from resume_contract.rows import Row

__all__ = ["Reach", "judge_reach"]


@dataclass(frozen=True)
class Reach:
    """What a bound reached.

    Attributes:
        bound: which.
        actions: action -> the models in which the mirror takes it.
        tlc_actions: the same by TLC's coverage; None where TLC did not count.
        sometimes: "sometimes" property -> the models in which it holds somewhere.
        excused: what the manifest says that the bound cannot reach -> why.
        problems: what is not reached, or reached although excused; one line each.
    """

    bound: str
    actions: dict[str, list[str]]
    tlc_actions: dict[str, list[str]] | None
    sometimes: dict[str, list[str]]
    excused: dict[str, str]
    problems: tuple[str, ...]

    def to_json(self) -> dict[str, Any]:
        """As in ``docs/json.md``."""
        return {
            "bound": self.bound,
            "actions": self.actions,
            "tlc_actions": self.tlc_actions,
            "sometimes": self.sometimes,
            "excused": self.excused,
            "problems": list(self.problems),
        }

    def summary(self) -> str:
        """One line."""
        actions = sum(bool(models) for models in self.actions.values())
        held = sum(bool(models) for models in self.sometimes.values())
        text = (
            f"{self.bound}: {actions} of {len(self.actions)} actions are taken, "
            f"{held} of {len(self.sometimes)} situations occur"
        )
        if self.excused:
            reasons = "; ".join(dict.fromkeys(self.excused.values()))
            text += f" (without {', '.join(self.excused)}: {reasons})"
        return text


def judge_reach(bound: str, rows: Sequence[Row], excused: Iterable[Excused]) -> Reach:
    """What all models of a bound together reached, by their rows."""
    allowed = {name: entry.because for entry in excused for name in (*entry.actions, *entry.sometimes)}
    mirror = [row for row in rows if row.engine == "mirror"]
    counted = [row for row in rows if row.engine == "tlc" and row.actions is not None]
    actions = _where(ACTIONS, mirror, lambda row, name: bool((row.actions or {}).get(name)))
    sometimes = _where(SOMETIMES, mirror, lambda row, name: (row.sometimes or {}).get(name) is not None)
    by_tlc = (
        _where(ACTIONS, counted, lambda row, name: bool((row.actions or {}).get(name))) if counted else None
    )
    problems = _problems(bound, "action", "is taken in", actions, allowed)
    if by_tlc is not None:
        problems += _problems(bound, "action", "is taken, by TLC's coverage, in", by_tlc, allowed)
    problems += _problems(bound, "situation", "occurs in", sometimes, allowed)
    return Reach(bound, actions, by_tlc, sometimes, allowed, tuple(problems))


def _where(
    names: Sequence[str], rows: Sequence[Row], holds: Callable[[Row, str], bool]
) -> dict[str, list[str]]:
    return {name: [row.model for row in rows if holds(row, name)] for name in names}


def _problems(
    bound: str, what: str, verb: str, where: dict[str, list[str]], allowed: dict[str, str]
) -> list[str]:
    found = []
    for name, models in where.items():
        if not models and name not in allowed:
            found.append(f"{bound}: {what} {name} {verb} no model of the bound: the checks of it are vacuous")
        if models and name in allowed:
            found.append(
                f"{bound}: {what} {name} is excused in the manifest and {verb} {models[0]}: strike it there"
            )
    return found
