"""The certificate of independence: each separating model verified by both engines and by plain TLC on its own file."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from separating_models.by_mirror import examine_by_mirror
from separating_models.by_tlc import INVARIANT_OF, Tlc, examine_by_tlc
from separating_models.errors import SeparationError
from separating_models.examination import Examination
from separating_models.models import write_model
from separating_models.standalone import LIVENESS, Standalone
from tlc_runner import Outcome, TLCResult, run_tlc

__all__ = ["Verified", "verify"]


@dataclass(frozen=True)
class Verified:
    """A model whose outcome was reproduced.

    Attributes:
        model: what was verified.
        mirror, tlc: what the engines found of its configuration; they agree.
        plain: what plain TLC says of the module and its configuration file.
        others: the same of the configuration file without what is broken.
    """

    model: Standalone
    mirror: Examination
    tlc: Examination
    plain: TLCResult
    others: TLCResult

    def to_json(self) -> dict[str, Any]:
        """As in ``docs/json.md``."""
        return {
            "module": f"{self.model.name}.tla",
            "configuration": self.model.configuration.to_json(),
            "breaks": dict(self.mirror.breaks) | ({LIVENESS: None} if LIVENESS in self.model.broken else {}),
            "keeps": list(self.model.kept),
            "outcome": self.plain.outcome.name,
            "property": self.plain.property,
            "others": self.others.outcome.name,
            "depth": self.mirror.breaks.get(self.model.broken[0]),
            "distinct": self.mirror.distinct,
            "generated": self.mirror.generated,
            "engines": ["tlc", "mirror"],
            "versions": dict(self.mirror.versions) | dict(self.tlc.versions),
        }


def verify(model: Standalone, folder: Path | None = None, tlc: Tlc | None = None) -> Verified:
    """Reproduce what a model claims: by both engines, and by plain TLC on its module.

    Args:
        model: what to verify.
        folder: where its files are; None: they are written to a temporary folder.
        tlc: what TLC is run with.

    Raises:
        SeparationError: it doesn't verify; the message has the first difference.
        TLCError, EngineError: an engine cannot run.
    """
    if folder is None:
        with TemporaryDirectory(prefix="resume-contract-") as temporary:
            write_model(model, Path(temporary))
            return verify(model, Path(temporary), tlc)
    tlc = tlc or Tlc()
    mirror = examine_by_mirror(model.configuration)
    if (difference := _wrongly_broken(model, mirror)) is not None:
        raise SeparationError(f"{model.name} does not verify: {difference}")
    found = Verified(
        model=model,
        mirror=mirror,
        tlc=examine_by_tlc(model.configuration, tlc=tlc),
        plain=_plain(folder / f"{model.name}.tla", folder / f"{model.name}.cfg", tlc),
        others=_plain(folder / f"{model.name}.tla", folder / f"{model.name}_others.cfg", tlc),
    )
    for difference in _differences(found):
        raise SeparationError(f"{model.name} does not verify: {difference}")
    return found


def _plain(module: Path, cfg: Path, tlc: Tlc) -> TLCResult:
    return run_tlc(module, cfg, workers=1, jar=tlc.jar, java=tlc.java, heap=tlc.heap, timeout=tlc.timeout)


def _wrongly_broken(model: Standalone, mirror: Examination) -> str | None:
    safety = {clause for clause in model.broken if clause != LIVENESS}
    if set(mirror.breaks) == safety:
        return None
    broken = ", ".join(mirror.breaks) or "nothing"
    return f"the mirror finds that it breaks {broken}, not {', '.join(safety) or 'nothing'}"


def _differences(found: Verified) -> Iterator[str]:
    """How the outcomes differ from what the model claims, and from each other."""
    model, mirror, plain, others = found.model, found.mirror, found.plain, found.others
    for name, value in mirror.figures.items():
        if found.tlc.figures[name] != value:
            yield f"{name} is {found.tlc.figures[name]} by TLC, {value} by the mirror"
    if LIVENESS in model.broken:
        if plain.outcome is not Outcome.LIVENESS_VIOLATED:
            yield f"plain TLC says {_said(plain)} of it, not that {LIVENESS} is violated"
    else:
        (clause,) = model.broken
        if (plain.outcome, plain.property) != (Outcome.INVARIANT_VIOLATED, INVARIANT_OF[clause]):
            yield f"plain TLC says {_said(plain)} of it, not that {INVARIANT_OF[clause]} is violated"
        elif len(plain.trace) != mirror.breaks.get(clause):
            yield f"plain TLC's counterexample has {len(plain.trace)} states, the mirror's {mirror.breaks.get(clause)}"
    if others.outcome is not Outcome.SUCCESS:
        yield f"plain TLC says {_said(others)} of the other clauses: {_trace(others)}"
    elif (others.distinct, others.depth) != (mirror.distinct, mirror.depth):
        yield (
            f"plain TLC finds {others.distinct} states at depths up to {others.depth},"
            f" the mirror {mirror.distinct} up to {mirror.depth}"
        )
    elif others.generated != mirror.generated + mirror.distinct:
        # the module says in each state that nothing need happen
        yield f"plain TLC generates {others.generated} states, not {mirror.generated} and one for each"


def _said(result: TLCResult) -> str:
    return f"{result.outcome.name} {result.property or ''}".strip()


def _trace(result: TLCResult) -> str:
    """The actions of a counterexample."""
    return " -> ".join(state.action or "initial state" for state in result.trace) or result.message
