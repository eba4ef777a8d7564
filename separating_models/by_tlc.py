"""Examine a configuration with TLC: the first depth of every clause, and the counts, in one run.

The invariants of the run hold in every state, but print a line the first time that a clause is broken; one worker goes
level by level, so the first time is the shallowest.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from pymodel.resume.clauses import CLAUSES
from pymodel.resume.model import FAULTS
from pymodel.resume.tla_constants import assignments, program_definitions
from separating_models.configuration import Configuration
from separating_models.errors import SeparationError
from separating_models.examination import Examination
from tlc_runner import Outcome, TLCResult, run_tlc

__all__ = [
    "INVARIANT_OF",
    "SPECS",
    "Tlc",
    "cfg_text",
    "constants",
    "examine_by_tlc",
    "module_text",
]

SPECS = Path(__file__).resolve().parents[1] / "specs" / "tla"

INVARIANT_OF = {
    "PC": "PC",
    "EO": "EO",
    "FD": "FD",
    "CV": "CV",
    "CO-V": "COV",
    "CO-C": "COC",
    "RD": "RD",
    "FI": "FI",
}
"""Clause -> its name in the TLA+."""

_MODULE = "Examined"
_INITIAL = "INITIAL"  # the level of initial states: 0 or, in newer versions, 1
_BROKEN = "BREAKS"
_ACTED = "ACTS"


@dataclass(frozen=True)
class Tlc:
    """What TLC is run with; see :func:`tlc_runner.run_tlc`."""

    jar: Path | None = None
    java: Path | None = None
    heap: str | None = None
    timeout: float | None = None


def examine_by_tlc(configuration: Configuration, *, tlc: Tlc | None = None) -> Examination:
    """Search all states of a configuration; see :func:`separating_models.by_mirror.examine_by_mirror`.

    Raises:
        TLCError: TLC cannot run.
        SeparationError: its run did not end as it must.
    """
    tlc = tlc or Tlc()
    with TemporaryDirectory(prefix="resume-contract-") as folder:
        module = Path(folder) / f"{_MODULE}.tla"
        module.write_text(module_text(configuration), encoding="utf-8")
        cfg = module.with_suffix(".cfg")
        cfg.write_text(cfg_text(configuration), encoding="utf-8")
        result = run_tlc(
            module,
            cfg,
            module_path=[SPECS],
            workers=1,
            coverage=False,
            check_deadlock=False,
            heap=tlc.heap,
            timeout=tlc.timeout,
            jar=tlc.jar,
            java=tlc.java,
        )
    return _examination(configuration, result)


def _examination(configuration: Configuration, result: TLCResult) -> Examination:
    if (
        result.outcome is not Outcome.SUCCESS
        or result.distinct is None
        or result.generated is None
        or result.depth is None
    ):
        raise SeparationError(
            f"{configuration}: TLC ended with {result.outcome.name} ({result.message}): nothing is known of it"
        )
    breaks: dict[str, int] = {}
    reached: set[str] = set()
    first = 0
    for value in result.printed_values():
        match value:
            case (kind, int(level)) if kind == _INITIAL:
                first = level
            case (kind, str(name), int(level)) if kind == _BROKEN and name in CLAUSES:
                breaks.setdefault(name, level - first + 1)
            case (kind, str(name)) if kind == _ACTED:
                reached.add(name)
            case _:
                raise SeparationError(
                    f"{configuration}: TLC printed {value!r}, which means nothing here: mend {_MODULE}"
                )
    return Examination(
        configuration=configuration,
        engine="tlc",
        breaks={name: breaks[name] for name in CLAUSES if name in breaks},
        reached=frozenset(reached),
        distinct=result.distinct,
        generated=result.generated,
        depth=result.depth,
        seconds=result.seconds,
        versions={
            "tlc": result.tlc_version or "unknown",
            "java": result.java_version or "unknown",
            "tla2tools_sha256": result.jar_sha256,
        },
    )


def module_text(configuration: Configuration) -> str:
    """The module ``Examined``, which extends ``MCResumeFaults``."""
    lines = [
        f"---- MODULE {_MODULE} ----",
        "EXTENDS MCResumeFaults",
        *program_definitions(configuration.program, _MODULE),
        f"ASSUME \\A i \\in 1 .. {len(CLAUSES) + len(FAULTS) + 1} : TLCSet(i, 0)",
        "First(i, line) == IF TLCGet(i) = 0 THEN TLCSet(i, 1) /\\ PrintT(line) ELSE TRUE",
    ]
    for number, clause in enumerate(CLAUSES, 1):
        line = f'First({number}, <<"{_BROKEN}", "{clause}", TLCGet("level")>>)'
        lines.append(f"Watch{INVARIANT_OF[clause]} == {INVARIANT_OF[clause]} \\/ {line}")
    number = len(CLAUSES)
    cases = [
        f'f = "{fault}" -> First({number + i}, <<"{_ACTED}", f>>)'
        for i, fault in enumerate(FAULTS, 1)
        if fault in configuration.faults
    ]
    if cases:
        lines.append(f"{_MODULE}Did(f) == CASE " + " [] ".join(cases))
    number = len(CLAUSES) + len(FAULTS) + 1
    lines.append(f'WatchInitial == First({number}, <<"{_INITIAL}", TLCGet("level")>>)')
    lines.append("====")
    return "\n".join(lines) + "\n"


def cfg_text(configuration: Configuration) -> str:
    """Its configuration file."""
    lines = [
        "SPECIFICATION MCFaultySpec",
        "CONSTANTS",
        *(f"  {line}" for line in constants(configuration, _MODULE)),
    ]
    if configuration.faults:
        lines.append(f"  Did <- {_MODULE}Did")
    lines.append(
        "INVARIANTS WatchInitial " + " ".join(f"Watch{INVARIANT_OF[clause]}" for clause in CLAUSES) + ""
    )
    return "\n".join(lines) + "\n"


def constants(configuration: Configuration, prefix: str) -> list[str]:
    """The lines of a configuration file that fix the constants."""
    return [
        *assignments(configuration.program, configuration.bounds, prefix),
        f"MaxLength = {configuration.length}",
        "OnceMore <- MCOnceMore",
        "Faults = {" + ", ".join(f'"{fault}"' for fault in configuration.faults) + "}",
    ]
