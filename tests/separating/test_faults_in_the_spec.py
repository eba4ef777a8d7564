"""The faults of the TLA+ and of the mirror are the same places, and with none of them on there is only the reference."""

from __future__ import annotations

from pathlib import Path

import pytest

from pymodel.resume import faulty
from pymodel.resume.layout import Bounds
from pymodel.resume.model import FAULTS
from pymodel.resume.program import PROGRAMS
from pymodel.resume.stepping import Stepper
from resume_contract.agreement import SPECS, compare_graphs, walk
from separating_models.by_tlc import cfg_text, module_text
from separating_models.configuration import Configuration
from tlc_runner.oracle import SpecOracle


def written(configuration: Configuration, folder: Path) -> tuple[Path, Path]:
    """The configuration as a module and its configuration file, beside the specs."""
    for path in SPECS.glob("*.tla"):
        (folder / path.name).write_bytes(path.read_bytes())
    module = folder / "Examined.tla"
    module.write_text(module_text(configuration), encoding="utf-8")
    module.with_suffix(".cfg").write_text(cfg_text(configuration), encoding="utf-8")
    return module, module.with_suffix(".cfg")


def test_without_a_fault_the_state_graph_is_that_of_the_reference(tmp_path: Path) -> None:
    program, bounds = PROGRAMS["Gated"], Bounds(runners=2, branches=2, answers=2)
    files = written(Configuration(program, bounds), tmp_path)
    for stepper in (Stepper(program, bounds), Stepper(program, bounds, next_module=faulty)):
        report = compare_graphs(program, bounds, model=files, stepper=stepper)
        assert [difference.describe() for difference in report.differences] == []
        assert report.agree
        assert report.tlc.distinct == 1056, "the model small-answers of the manifest"


# The three that take something away hide what they take: they are off once.
@pytest.mark.parametrize(
    "off", [(), ("lost_commit", "orphaned_claim", "stuck_running")], ids=["all", "adding"]
)
@pytest.mark.parametrize("name", ["Sandwich", "Mixed"])
def test_tlc_and_the_mirror_have_the_same_steps_with_faults(
    name: str, off: tuple[str, ...], tmp_path: Path
) -> None:
    faults = tuple(fault for fault in FAULTS if fault not in off)
    program = PROGRAMS[name]
    bounds = Bounds(
        runners=2, branches=3, answers=2, crashes=3, expiries=1, invalid=2, length=5, computations=12
    )
    module, cfg = written(Configuration(program, bounds, faults), tmp_path)
    stepper = Marking(Stepper(program, bounds, faults))
    report = walk(
        program, bounds, states=400, seed=3, length=60, oracle=SpecOracle(module, cfg), stepper=stepper
    )  # type: ignore[arg-type]
    assert [difference.describe() for difference in report.differences] == []
    assert report.states == 400
    unused = {fault for i, fault in enumerate(FAULTS) if fault in faults and not stepper.used >> i & 1}
    assert unused == set(), "faults whose steps were never compared"


class Marking:
    """A stepper that notes which faults its steps used."""

    def __init__(self, stepper: Stepper) -> None:
        self._stepper = stepper
        self.used = 0
        self.initial, self.decode = stepper.initial, stepper.decode

    def successors(self, state: bytes):  # type: ignore[no-untyped-def]
        found = self._stepper.successors(state)
        for step in found:
            self.used |= step.label[5]
        return found
