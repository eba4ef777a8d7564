"""TLC explains threads: one run for several of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from tlc_runner import Outcome, SpecError, TLCError, TLCResult, run_tlc
from trace_check.by_tlc.writing import EXPLAIN, MODULE, Question, cfg_text, module_text
from trace_check.observations import Thread

__all__ = [
    "DEFAULT_TIMEOUT",
    "TOLD",
    "Explanation",
    "Explanations",
    "Run",
    "Tlc",
    "explain_by_tlc",
    "meaningless",
    "names_of",
    "put_to_tlc",
    "why_stopped",
]

SPECS = Path(__file__).resolve().parents[2] / "specs" / "tla"

DEFAULT_TIMEOUT = 300.0
"""Seconds that one run of TLC may take."""

_SHORT = ("-XX:TieredStopAtLevel=1",)
"""For Java: these runs are so short that to compile more than once costs more than it saves."""

TOLD = "EXPLAINED"
"""What TLC prints of a state in which all is explained begins with this."""

_STOPPED = (Outcome.TIMEOUT, Outcome.OUT_OF_MEMORY)


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
    result = put_to_tlc(module_text(threads, most), cfg_text(threads), EXPLAIN, tlc)
    told: list[set[Explanation]] = [set() for _ in most]
    for value in result.printed_values():
        match value:
            case (kind, int(which), frozenset() as faults, frozenset() as clauses) if kind == TOLD:
                told[which - 1].add(Explanation(names_of(faults), names_of(clauses)))
            case _:
                raise meaningless(EXPLAIN, value)
    why = why_stopped(result)
    return Run(
        tuple(_explanations(found, k, exhausted=not why) for found, k in zip(told, most, strict=True)),
        result.distinct or 0,
        result.generated or 0,
        result.seconds,
        why,
    )


def put_to_tlc(text: str, cfg: str, question: Question, tlc: Tlc | None) -> TLCResult:
    """Run TLC on a module that fixes the constants of the one that asks.

    Args:
        text: the module, of the name `MODULE`.
        cfg: its configuration.
        question: what is asked.
        tlc: what to run it with.

    Returns:
        A run that looked at everything, or that was stopped (see `why_stopped`).

    Raises:
        TLCError: TLC cannot run, or ended in a way that says nothing.
    """
    tlc = tlc or Tlc()
    asking = SPECS / f"{question.module}.tla"
    if not asking.is_file():
        raise SpecError(f"{asking}: no such file: run from a checkout")
    with TemporaryDirectory(prefix="resume-contract-") as folder:
        module = Path(folder) / f"{MODULE}.tla"
        module.write_text(text, encoding="utf-8")
        module.with_suffix(".cfg").write_text(cfg, encoding="utf-8")
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
    if result.outcome is not Outcome.SUCCESS and result.outcome not in _STOPPED:
        raise TLCError(
            f"{question.module}: TLC ended with {result.outcome.name} ({result.message}): mend that first"
        )
    return result


def why_stopped(result: TLCResult) -> str:
    """Why a run did not look at everything; empty if it did."""
    return result.message.removeprefix(f"{MODULE}.tla: ") if result.outcome in _STOPPED else ""


def meaningless(question: Question, value: object) -> TLCError:
    """The error where TLC printed what nobody asked for."""
    return TLCError(f"{question.module}: TLC printed {value!r}, which means nothing here: mend the module")


def names_of(values: frozenset[object]) -> tuple[str, ...]:
    """A set that TLC printed, in order."""
    return tuple(sorted(map(str, values)))


def _explanations(found: set[Explanation], most: int, *, exhausted: bool) -> Explanations:
    clean = {explanation for explanation in found if explanation.is_clean}
    if clean:
        return Explanations(most, tuple(clean), decided=True)
    fewest = min((len(explanation.faults) for explanation in found), default=0)
    cheapest = sorted(explanation for explanation in found if len(explanation.faults) == fewest)
    return Explanations(most, tuple(cheapest), decided=exhausted)
