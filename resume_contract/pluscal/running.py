"""A PlusCal model run by one engine."""

from __future__ import annotations

import importlib
import platform
import time
from dataclasses import dataclass, field
from importlib.metadata import version
from typing import Any

from pymodel.constants import Constants
from pymodel.engine import Model, ModelError, explore
from pymodel.liveness import fair_trap
from pymodel.plain_search import PlainSearch, search_plainly
from resume_contract.engines import OnProgress, Tools
from resume_contract.pluscal.configuration import with_constants
from resume_contract.pluscal.manifest import Manifest, ModelEntry, verdict
from resume_contract.pluscal.whole_graph import findings_of, whole_graph_module
from tlc_runner import Outcome, TLCResult, run_tlc

__all__ = ["MAX_PLAIN", "Run", "run_mirror", "run_model", "run_with_tlc"]

MAX_PLAIN = 10_000
"""Up to so many expected states the mirror is run uncompiled, and judges temporal properties."""

QUICK = 20_000
"""Up to so many expected states TLC runs without Java's optimising compiler."""


@dataclass(frozen=True)
class Run:
    """What an engine says of a model.

    Attributes:
        model, engine: what ran.
        outcome, violated: what TLC stops with; another name of :class:`tlc_runner.Outcome` where it could not check.
        fails: each property that fails -> the least depth; of temporal ones None.
        judged: the invariants and properties that the engine judged.
        properties: those of them that are no invariants.
        most: each measure -> its greatest value.
        distinct, generated, depth: of the whole graph; None where the engine did not get so far.
        actions: how often each label was taken; None where nobody counted.
        seconds: wall time, starting or compiling included.
        message: why it could not check, or "".
        versions: what ran, by name.
    """

    model: str
    engine: str
    outcome: str
    violated: str | None
    fails: dict[str, int | None]
    judged: tuple[str, ...]
    properties: tuple[str, ...]
    most: dict[str, int]
    distinct: int | None
    generated: int | None
    depth: int | None
    actions: dict[str, int] | None
    seconds: float
    message: str = ""
    versions: dict[str, str] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """What lines about it begin with."""
        return f"{self.model} by {self.engine}"

    @property
    def reason(self) -> str:
        """What went wrong, in one line."""
        return self.message

    @property
    def is_decided(self) -> bool:
        """Did the engine search the whole graph?"""
        return not self.message

    def to_json(self) -> dict[str, Any]:
        """The run as in ``docs/pluscal.md``."""
        return {
            "model": self.model,
            "engine": self.engine,
            "outcome": self.outcome,
            "property": self.violated,
            "fails": self.fails,
            "judged": list(self.judged),
            "most": self.most,
            "distinct": self.distinct,
            "generated": self.generated,
            "depth": self.depth,
            "actions": self.actions,
            "seconds": round(self.seconds, 3),
            "message": self.message,
        }


def run_model(
    manifest: Manifest, model: ModelEntry, engine: str, tools: Tools, on_progress: OnProgress | None = None
) -> Run:
    """Run a model by "tlc" or "mirror".

    Raises:
        TLCError, EngineError: the engine cannot run; how a run *ends* is in the result.
    """
    if engine == "tlc":
        return run_with_tlc(manifest, model, tools, on_progress)
    return run_mirror(manifest, model, on_progress=on_progress)


def run_with_tlc(
    manifest: Manifest, model: ModelEntry, tools: Tools, on_progress: OnProgress | None = None
) -> Run:
    """Search a model's whole graph by TLC with one worker; see :func:`run_model`."""
    config, properties = manifest.config_of(model), manifest.properties_of(model)
    measures = manifest.algorithm_of(model).measures
    result = _tlc(manifest, model, properties, tools, on_progress)
    fails: dict[str, int | None] = {**findings_of(result, measures).fails}
    seconds = result.seconds
    if result.outcome in (Outcome.ACTION_PROPERTY_VIOLATED, Outcome.LIVENESS_VIOLATED):
        # TLC names it only where there is one
        depth = len(result.trace) if result.outcome is Outcome.ACTION_PROPERTY_VIOLATED else None
        fails |= dict.fromkeys(properties, depth)
        if depth is not None:  # and stops at once, before the graph is whole
            result = _tlc(manifest, model, (), tools, on_progress)
            fails |= findings_of(result, measures).fails
            seconds += result.seconds
    outcome: str
    searched = result.outcome in (Outcome.SUCCESS, Outcome.LIVENESS_VIOLATED)
    outcome, failed = verdict(fails, properties) if searched else (result.outcome.name, result.property)
    return Run(
        model=model.name,
        engine="tlc",
        outcome=outcome,
        violated=failed,
        fails=fails,
        judged=(*config.invariants, *properties),
        properties=properties,
        most=findings_of(result, measures).most,
        distinct=result.distinct,
        generated=result.generated,
        depth=result.depth,
        actions=_actions(result),
        seconds=seconds,
        message="" if searched else result.message or result.outcome.name,
        versions={
            "tlc": result.tlc_version,
            "tla2tools_sha256": result.jar_sha256,
            "java": result.java_version,
        },
    )


def _tlc(
    manifest: Manifest,
    model: ModelEntry,
    properties: tuple[str, ...],
    tools: Tools,
    on_progress: OnProgress | None,
) -> TLCResult:
    """A run of the model's whole graph with these of its temporal properties."""
    module, config = manifest.module_of(model), manifest.config_of(model)
    algorithm = manifest.algorithm_of(model)
    text = with_constants(manifest.place(model.cfg), config.bare_text, model.constants)
    with whole_graph_module(module, config.invariants, properties, text, algorithm.measures) as (
        watched,
        cfg,
    ):
        return run_tlc(
            watched,
            cfg,
            check_deadlock=config.check_deadlock,
            coverage=tools.coverage and not properties,  # judging them evaluates labels, too, and counts them
            heap=tools.heap,
            jar=tools.jar,
            java=tools.java,
            timeout=tools.timeout,
            module_path=[module.parent, *map(manifest.place, algorithm.module_path)],
            # Java's quick compiler alone: most models are done before the other would pay
            java_args=["-XX:TieredStopAtLevel=1"] if model.expect.distinct < QUICK else [],
            extra_args=["-lncheck", "final"],  # else it may stop before the graph is whole
            on_progress=on_progress,
        )


def _actions(result: TLCResult) -> dict[str, int] | None:
    return {name: generated for name, (_, generated) in result.coverage.items()} or None


def run_mirror(
    manifest: Manifest,
    model: ModelEntry,
    *,
    compiled: bool | None = None,
    on_progress: OnProgress | None = None,
) -> Run:
    """Search a model's whole graph by its mirror; see :func:`run_model`.

    Args:
        manifest: where it is from.
        model: which.
        compiled: by the compiled explorer, which judges no temporal properties; None: if more than `MAX_PLAIN` states
            are expected.
        on_progress: told how far the compiled explorer is.
    """
    began = time.perf_counter()
    algorithm, config = manifest.algorithm_of(model), manifest.config_of(model)
    mirror = importlib.import_module(algorithm.mirror)
    constants: Constants = manifest.constants_of(model)
    built: Model = mirror.build(constants)
    if compiled is None:
        compiled = model.expect.distinct > MAX_PLAIN
    fails: dict[str, int | None]
    judged = [name for name in config.invariants if name in built.invariants]
    if compiled:
        found = explore(built, on_progress=on_progress)
        fails = {name: at.depth for name, at in found.violations.items() if name in judged}
        actions = {name: count.generated for name, count in found.actions.items()}
        search: PlainSearch | None = None
        counts = found.distinct, found.generated, found.depth
        sometimes, terminal = found.sometimes, found.terminal
    else:
        search = search_plainly(built)
        fails = {name: depth for name, depth in search.violations.items() if name in judged}
        actions = search.actions
        counts = search.distinct, search.generated, search.depth
        sometimes, terminal = search.sometimes, search.terminal
        temporal = getattr(mirror, "LIVENESS", {})
        for name in manifest.properties_of(model):
            if name in temporal:
                judged.append(name)
                if fair_trap(search, temporal[name], mirror.fair_process) is not None:
                    fails[name] = None
    properties = tuple(name for name in judged if name in config.properties)
    outcome: str
    outcome, failed = verdict({name: fails[name] for name in judged if name in fails}, properties)
    if terminal and config.check_deadlock is not False:
        outcome, failed = Outcome.DEADLOCK.name, None
    return Run(
        model=model.name,
        engine="mirror",
        outcome=outcome,
        violated=failed,
        fails=fails,
        judged=tuple(judged),
        properties=properties,
        most={name: _most(built, name, sometimes) for name in algorithm.measures},
        distinct=counts[0],
        generated=counts[1],
        depth=counts[2],
        actions=actions,
        seconds=time.perf_counter() - began,
        message=f"{terminal} states have no successor" if outcome == Outcome.DEADLOCK.name else "",
        versions={
            "python": platform.python_version(),
            "numba": version("numba"),
            "numpy": version("numpy"),
        },
    )


def _most(model: Model, measure: str, sometimes: dict[str, int | None]) -> int:
    """A measure's greatest value, by the mirror's properties ``MEASURE >= n`` for n = 1, 2, …

    Raises:
        ModelError: there are none, or the last of them holds, so that the value may be greater.
    """
    reached = [sometimes[name] is not None for name in model.sometimes if name.startswith(f"{measure} >= ")]
    if not reached or reached[-1]:
        raise ModelError(f"model {model.name}: give it sometimes properties {measure} >= n for greater n")
    return sum(reached)
