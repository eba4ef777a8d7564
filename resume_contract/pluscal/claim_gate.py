"""How many effects fire when k racers meet at one parked interrupt: ``claim-gate.json`` and ``claim-gate.md``."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from resume_contract.errors import ResumeContractError
from resume_contract.manifest import ENGINES
from resume_contract.pluscal.checking import PlusCalReport
from resume_contract.pluscal.manifest import Manifest, ModelEntry
from resume_contract.pluscal.running import Run
from resume_contract.writing import write_atomically, write_json

__all__ = [
    "ALGORITHM",
    "FORMAT_VERSION",
    "GateRow",
    "gate_rows",
    "markdown",
    "require_all",
    "write_claim_gate",
]

ALGORITHM = "ClaimGate"
FORMAT_VERSION = 1

_VARIANTS = {
    "absent": "no claim",
    "check_then_set": "check, then set",
    "write_path": "insert on the write path",
    "read_path": "atomic insert on the read path",
}


@dataclass(frozen=True)
class GateRow:
    """What k racers come to.

    Attributes:
        variant: how they claim, as in the constant Variant.
        k: how many racers.
        crashes: deaths there may be.
        take_over: may an expired claim be taken over?
        expiries: how often a lease may end under a living owner.
        firing: the most racers on whose passage of the gate the effect fires.
        applied: the most applications at a sink without keys.
        consume_once: does at most one racer's passage fire, always?
        live: is every answered gate consumed in the end?  None: not judged at this k.
        depth: of the shortest behaviour in which a second passage fires; None: there is none.
        judges_of_live: the engines that judged `live`.
    """

    variant: str
    k: int
    crashes: int
    take_over: bool
    expiries: int
    firing: int
    applied: int
    consume_once: bool
    live: bool | None
    depth: int | None
    judges_of_live: tuple[str, ...]

    @property
    def case(self) -> tuple[str, int, bool, int]:
        """All but k."""
        return self.variant, self.crashes, self.take_over, self.expiries


def require_all(manifest: Manifest, models: Sequence[ModelEntry], engines: Sequence[str]) -> None:
    """Refuse to write a table from a part of the models or from one engine.

    Raises:
        ResumeContractError: something is missing.
    """
    missing = [m.name for m in manifest.models if m.algorithm == ALGORITHM and m not in models]
    if missing or tuple(engines) != ENGINES:
        raise ResumeContractError(
            f"--write needs all models of {ALGORITHM} and both engines: run"
            f" `resume-contract pluscal {ALGORITHM} --write …`"
        )


def gate_rows(manifest: Manifest, runs: Iterable[Run]) -> list[GateRow]:
    """The rows, of runs that agree."""
    by_model: dict[str, list[Run]] = {}
    for run in runs:
        by_model.setdefault(run.model, []).append(run)
    rows = []
    for model in manifest.models:
        if model.algorithm == ALGORITHM and model.name in by_model:
            rows.append(_row(manifest.constants_of(model), by_model[model.name]))
    return rows


def _row(constants: dict[str, Any], runs: list[Run]) -> GateRow:
    judges = [run for run in runs if "Consumed" in run.judged]
    run = (judges or runs)[0]
    return GateRow(
        variant=constants["Variant"],
        k=constants["K"],
        crashes=constants["MaxCrashes"],
        take_over=constants["TakeOver"],
        expiries=constants["MaxExpiries"],
        firing=run.most["Firing"],
        applied=run.most["Applied"],
        consume_once="ConsumeOnce" not in run.fails,
        live="Consumed" not in run.fails if judges else None,
        depth=run.fails.get("ConsumeOnce"),
        judges_of_live=tuple(run.engine for run in judges),
    )


def write_claim_gate(manifest: Manifest, report: PlusCalReport, folder: Path) -> None:
    """Write both files, each in one step.

    Raises:
        OSError: the folder cannot be written.
    """
    rows = gate_rows(manifest, report.runs)
    text = markdown(rows, report.versions)
    data = {
        "version": FORMAT_VERSION,
        "rows": [asdict(row) for row in rows],
        "k_effects_without_a_claim": _one_each(rows),
        "engines": list(ENGINES),
        "versions": report.versions,
    }
    write_json(folder / "claim-gate.json", data)

    def write(part: Path) -> None:
        part.write_text(text, encoding="utf-8")

    write_atomically(folder / "claim-gate.md", write)


def _one_each(rows: Sequence[GateRow]) -> dict[str, bool]:
    """For each k: do k racers without a claim, none of which dies, fire k effects at most, and can they?"""
    calm = [row for row in rows if row.case == ("absent", 0, False, 0)]
    return {str(row.k): row.firing == row.applied == row.k for row in calm}


def markdown(rows: Sequence[GateRow], versions: dict[str, str]) -> str:
    """The table as Markdown."""
    sizes = sorted({row.k for row in rows})
    cases: dict[tuple[str, int, bool, int], dict[int, GateRow]] = {}
    for row in rows:
        cases.setdefault(row.case, {})[row.k] = row
    lines = [
        "# k racers at one parked interrupt",
        "",
        "How many effects can fire for one answer: the greatest numbers in any reachable state of",
        f"`specs/pluscal/ClaimGate.tla`, by TLC {versions['tlc']} and by the mirror, which agree.",
        "Each cell has two numbers: the racers on whose own passage of the gate the effect fires (who takes a claim over",
        "fires on the passage of whoever inserted it), and how often the effect is applied at a sink that knows no keys.",
        "A sink with a unique constraint on the answer would apply it once in every row.",
        "",
        "| claim | deaths | take-over | expiries under a living owner | "
        + " | ".join(f"k = {k}" for k in sizes)
        + " | consume-once | live |",
        "|---|---|---|---|" + "---|" * len(sizes) + "---|---|",
    ]
    for (variant, crashes, take_over, expiries), by_k in cases.items():
        cells = [f"{by_k[k].firing} / {by_k[k].applied}" if k in by_k else "" for k in sizes]
        parts = [_VARIANTS[variant], crashes, _yes(take_over), expiries, *cells]
        parts += [_all({k: row.consume_once for k, row in by_k.items()})]
        parts += [_all({k: row.live for k, row in by_k.items()})]
        lines.append(f"| {' | '.join(map(str, parts))} |")
    lines += ["", *_says(rows), ""]
    return "\n".join(lines)


def _says(rows: Sequence[GateRow]) -> list[str]:
    """What the rows mean; each sentence is there only if the rows say so."""
    found = []
    calm = _one_each(rows)
    if calm and all(calm.values()):
        found.append(
            "- Without a claim k racers can fire k effects, for each k here, and no more while nobody dies: what the"
            " paper reports."
        )
    once = {row.variant for row in rows if row.consume_once}
    never = {row.variant for row in rows if not row.consume_once}
    if once - never == {"read_path"} and never == set(_VARIANTS) - {"read_path"}:
        found.append("- Only the atomic insert on the read path is consume-once, and it is with deaths, too.")
    crashing = [row for row in rows if row.crashes]
    fine = {(row.variant, row.take_over) for row in crashing if row.consume_once and row.live}
    wrong = {(row.variant, row.take_over) for row in crashing if not row.consume_once or row.live is False}
    if fine - wrong == {("read_path", True)} and wrong | fine == {
        (row.variant, row.take_over) for row in crashing
    }:
        found.append(
            "- Where a racer can die, only that one with take-over is consume-once and live. Without take-over the claim"
            " of the dead stays, and nobody consumes the answer."
        )
    twice = [row for row in rows if row.consume_once and row.applied > 1]
    if twice:
        found.append(
            "- Who takes over cannot know whether its predecessor fired. So even then a sink without keys can see an"
            " effect more than once: take-over wants a keyed sink."
        )
    others = [_case(row) for row in crashing if row.live and not row.consume_once]
    if others:
        found.append(f"- Live with deaths, but not consume-once: {'; '.join(dict.fromkeys(others))}.")
    return found


def _case(row: GateRow) -> str:
    return _VARIANTS[row.variant] + (" with take-over" if row.take_over else "")


def _yes(value: bool) -> str:
    return "yes" if value else "no"


def _all(by_k: Mapping[int, bool | None]) -> str:
    """Yes or no, and up to which k that was judged if not for all."""
    judged = {k: value for k, value in by_k.items() if value is not None}
    if len(set(judged.values())) != 1:
        return "for some k"
    answer = _yes(judged[max(judged)])
    return answer if len(judged) == len(by_k) else f"{answer} (k ≤ {max(judged)})"
