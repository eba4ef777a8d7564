"""A model run by one engine, as a row."""

from __future__ import annotations

import platform
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from importlib.metadata import version
from pathlib import Path
from typing import Any

from pymodel.engine import changed, counterexample, explore, render_value
from pymodel.resume.model import build
from pymodel.resume.program import PROGRAMS
from pymodel.resume.transitions import ACTIONS
from resume_contract.agreement import action_name
from resume_contract.levels import counting_module, levels_of
from resume_contract.manifest import CLAUSE_INVARIANTS, Manifest, ModelEntry
from resume_contract.progress import Counts
from resume_contract.rows import Row
from tlc_runner import Outcome, Progress, TLCResult, TraceState, Value, format_value, run_tlc, tlc_command

__all__ = ["Tools", "run_mirror", "run_model", "run_with_tlc", "tlc_command_of"]

OnProgress = Callable[[Counts], None]


@dataclass(frozen=True)
class Tools:
    """What an engine is run with.

    Attributes:
        jar, java: TLC and the Java that runs it; None: those that are found.
        heap: Java's largest heap, such as "4g"; None: Java's own choice.
        workers: threads of either engine; None: TLC as the manifest says, the mirror all processors.
        coverage: may TLC count how often actions are taken?  The manifest may say no as well.
        levels: shall TLC count the states of each depth?  Only where it has one worker.
        timeout: seconds that TLC may take; None: any number.
    """

    jar: Path | None = None
    java: Path | None = None
    heap: str | None = None
    workers: int | None = None
    coverage: bool = True
    levels: bool = False
    timeout: float | None = None

    def tlc_arguments(self, model: ModelEntry) -> dict[str, Any]:
        """The keyword arguments that `run_tlc` and `tlc_command` share."""
        return {
            "workers": self.workers or model.tlc_workers,
            "coverage": self.coverage and model.coverage,
            "heap": self.heap,
            "jar": self.jar,
            "java": self.java,
        }


def tlc_command_of(manifest: Manifest, model: ModelEntry, tools: Tools) -> list[str]:
    """The command line with which TLC checks a model.

    Raises:
        TLCError: TLC, Java or the spec cannot be used.
    """
    return tlc_command(manifest.module(model), manifest.cfg(model), **tools.tlc_arguments(model))


def run_model(
    manifest: Manifest, model: ModelEntry, engine: str, tools: Tools, on_progress: OnProgress | None = None
) -> Row:
    """Run a model by "tlc" or "mirror".

    Raises:
        TLCError, EngineError: the engine cannot run; how a run *ends* is in the row.
    """
    if engine == "tlc":
        return run_with_tlc(manifest, model, tools, on_progress)
    return run_mirror(model, tools, on_progress)


def run_with_tlc(
    manifest: Manifest, model: ModelEntry, tools: Tools, on_progress: OnProgress | None = None
) -> Row:
    """Run a model by TLC; see :func:`run_model`."""
    module, cfg = manifest.module(model), manifest.cfg(model)
    points: list[tuple[int, int]] = []

    def note(progress: Progress) -> None:
        points.append((progress.level, progress.distinct))
        if on_progress is not None:
            on_progress(progress)

    arguments = {**tools.tlc_arguments(model), "timeout": tools.timeout, "on_progress": note}
    counts_levels = tools.levels and arguments["workers"] == 1 and "mirror" in model.engines
    if counts_levels:
        with counting_module(module, cfg) as (counted, counted_cfg):
            result = run_tlc(counted, counted_cfg, module_path=[module.parent], **arguments)
    else:
        result = run_tlc(module, cfg, **arguments)
    row = _tlc_row(model, result, arguments["workers"], points)
    return replace(row, levels=levels_of(result)) if counts_levels else row


def _tlc_row(model: ModelEntry, result: TLCResult, workers: int, points: list[tuple[int, int]]) -> Row:
    actions: dict[str, int] | None = None
    if result.coverage:
        actions = dict.fromkeys(ACTIONS, 0)
        for name, (_, generated) in result.coverage.items():
            actions[action_name(name)] = actions.get(action_name(name), 0) + generated
    return Row(
        model=model.name,
        bound=model.bound,
        engine="tlc",
        outcome=result.outcome.name,
        violated=CLAUSE_INVARIANTS.get(result.property or "", result.property),
        distinct=result.distinct,
        generated=result.generated,
        depth=result.depth,
        depth_is_upper_bound=workers > 1,
        seconds=result.seconds,
        workers=workers,
        actions=actions,
        progress=tuple(points),
        peak_bytes=result.peak_memory_bytes,
        message="" if result.outcome is Outcome.SUCCESS else result.message,
        counterexample=_behaviour(result.trace),
        versions={
            "tlc": result.tlc_version,
            "tla2tools_sha256": result.jar_sha256,
            "java": result.java_version,
        },
    )


def _behaviour(trace: Sequence[TraceState]) -> str:
    """TLC's counterexample: the initial state in full, then actions and what they changed."""
    lines: list[str] = []
    before: Mapping[str, Value] = {}
    for state in trace:
        if state.kind == "stuttering":
            lines.append("     and there it stays for ever")
        elif state.kind == "back_to":
            lines.append(f"     and back to {state.number}")
        elif not before:
            lines.append(f"{state.number:>3}  Initial state")
            lines += [f"       {name} = {format_value(value)}" for name, value in state.variables.items()]
        else:
            lines.append(f"{state.number:>3}  {action_name(state.action or 'a step')}")
            lines += [
                f"       {place}: {render_value(old)} -> {render_value(new)}"
                for place, old, new in changed(before, state.variables)
            ]
        before = state.variables
    return "\n".join(lines)


def run_mirror(model: ModelEntry, tools: Tools, on_progress: OnProgress | None = None) -> Row:
    """Run a model by the mirror; see :func:`run_model`."""
    built = build(PROGRAMS[model.program], model.limits, name=model.name)
    found = explore(built, workers=tools.workers, on_progress=on_progress)
    violated = min(found.violations, key=lambda name: found.violations[name].depth, default=None)
    return Row(
        model=model.name,
        bound=model.bound,
        engine="mirror",
        outcome=(Outcome.SUCCESS if violated is None else Outcome.INVARIANT_VIOLATED).name,
        violated=violated,
        distinct=found.distinct,
        generated=found.generated,
        depth=found.depth,
        depth_is_upper_bound=False,
        seconds=found.total_seconds,
        workers=found.workers,
        actions={name: count.generated for name, count in found.actions.items()},
        sometimes=dict(found.sometimes),
        levels=found.levels,
        peak_bytes=found.peak_bytes,
        message=""
        if violated is None
        else f"{violated} is violated at depth {found.violations[violated].depth}",
        counterexample="" if violated is None else counterexample(found, violated).render(),
        versions={
            "python": platform.python_version(),
            "numba": version("numba"),
            "numpy": version("numpy"),
        },
    )
