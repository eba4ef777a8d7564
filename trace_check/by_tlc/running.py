"""TLC explains threads: one run for several of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from tlc_runner import Outcome, SpecError, TLCError, TLCResult, run_tlc
from trace_check.by_tlc.writing import MODULE, cfg_text, module_text
from trace_check.observations import Thread

__all__ = ["DEFAULT_TIMEOUT", "Explanation", "Explanations", "Run", "Tlc", "explain_by_tlc"]

SPECS = Path(__file__).resolve().parents[2] / "specs" / "tla"

DEFAULT_TIMEOUT = 300.0
"""Seconds that one run of TLC may take."""

_SHORT = ("-XX:TieredStopAtLevel=1",)
"""For Java: these runs are so short that to compile more than once costs more than it saves."""

_TOLD = "EXPLAINED"


@dataclass(frozen=True)
class Tlc:
    """What TLC is run with; see `tlc_runner.run_tlc`.

    Attributes:
        jar, java, heap: as there.
        timeout: seconds for one run.
        java_args: more arguments for Java.
    """

    jar: Path | None = None
    java: Path | None = None
    heap: str | None = None
    timeout: float = DEFAULT_TIMEOUT
    java_args: tuple[str, ...] = _SHORT


@dataclass(frozen=True, order=True)
class Explanation:
    """A way to explain all of a thread: the faults that it uses, and the clauses that break on it."""

    faults: tuple[str, ...]
    clauses: tuple[str, ...]

    @property
    def is_clean(self) -> bool:
        """It shows that the thread conforms."""
        return not (self.faults or self.clauses)


@dataclass(frozen=True)
class Explanations:
    """What is known of one thread.

    Attributes:
        most: how many faults were allowed.
        cheapest: the explanations with the fewest faults; the clean one alone if there is it.
        decided: whether TLC looked at everything, or found that the thread conforms.
    """

    most: int
    cheapest: tuple[Explanation, ...]
    decided: bool


@dataclass(frozen=True)
class Run:
    """One run of TLC.

    Attributes:
        threads: what it found of each thread, in their order.
        distinct, generated: states.
        seconds: wall time, Java's start included.
        why: why it did not look at everything; empty if it did.
    """

    threads: tuple[Explanations, ...]
    distinct: int
    generated: int
    seconds: float
    why: str


def explain_by_tlc(threads: Sequence[Thread], most: Sequence[int], tlc: Tlc | None = None) -> Run:
    """Explain threads by the reference and few faults.

    Args:
        threads: at least one; all of one program.
        most: for each how many faults an explanation may use.
        tlc: what to run it with.

    Raises:
        TLCError: TLC cannot run, or ended in a way that says nothing.
    """
    tlc = tlc or Tlc()
    if not (SPECS / "ResumeTrace.tla").is_file():
        raise SpecError(f"{SPECS / 'ResumeTrace.tla'}: no such file: run from a checkout")
    with TemporaryDirectory(prefix="resume-contract-") as folder:
        module = Path(folder) / f"{MODULE}.tla"
        module.write_text(module_text(threads, most), encoding="utf-8")
        module.with_suffix(".cfg").write_text(cfg_text(threads), encoding="utf-8")
        result = run_tlc(
            module,
            module_path=[SPECS],
            workers=1,  # the registers of the specification need a single one
            check_deadlock=False,
            timeout=tlc.timeout,
            heap=tlc.heap,
            jar=tlc.jar,
            java=tlc.java,
            java_args=tlc.java_args,
        )
    return _run(result, most)


def _run(result: TLCResult, most: Sequence[int]) -> Run:
    stopped = result.outcome in (Outcome.TIMEOUT, Outcome.OUT_OF_MEMORY)
    if result.outcome is not Outcome.SUCCESS and not stopped:
        raise TLCError(
            f"ResumeTrace: TLC ended with {result.outcome.name} ({result.message}): mend that first"
        )
    told: list[set[Explanation]] = [set() for _ in most]
    for value in result.printed_values():
        match value:
            case (kind, int(which), frozenset() as faults, frozenset() as clauses) if kind == _TOLD:
                told[which - 1].add(Explanation(_names(faults), _names(clauses)))
            case _:
                raise TLCError(
                    f"ResumeTrace: TLC printed {value!r}, which means nothing here: mend the module"
                )
    return Run(
        tuple(_explanations(found, k, exhausted=not stopped) for found, k in zip(told, most, strict=True)),
        result.distinct or 0,
        result.generated or 0,
        result.seconds,
        result.message.removeprefix(f"{MODULE}.tla: ") if stopped else "",
    )


def _names(values: frozenset[object]) -> tuple[str, ...]:
    return tuple(sorted(map(str, values)))


def _explanations(found: set[Explanation], most: int, *, exhausted: bool) -> Explanations:
    clean = {explanation for explanation in found if explanation.is_clean}
    if clean:
        return Explanations(most, tuple(clean), decided=True)
    fewest = min((len(explanation.faults) for explanation in found), default=0)
    cheapest = sorted(explanation for explanation in found if len(explanation.faults) == fewest)
    return Explanations(most, tuple(cheapest), decided=exhausted)
