"""The faults of the TLA+ and of the mirror are the same places, and with none of them on there is only the reference."""

from __future__ import annotations

import random
from collections import Counter
from pathlib import Path

import pytest

from pymodel.resume import faulty
from pymodel.resume.layout import Bounds
from pymodel.resume.model import FAULTS, fault_bits, fault_names
from pymodel.resume.program import PROGRAMS
from pymodel.resume.stepping import Stepper
from resume_contract.agreement import SPECS, action_name, compare_graphs
from separating_models.by_tlc import cfg_text, module_text
from separating_models.configuration import Configuration
from tlc_runner.oracle import SpecOracle
from tlc_runner.values import Value


def written(configuration: Configuration, folder: Path) -> tuple[Path, Path]:
    """The configuration as a module and its configuration file, beside the specs."""
    for path in SPECS.glob("*.tla"):
        (folder / path.name).write_bytes(path.read_bytes())
    module = folder / "Examined.tla"
    module.write_text(module_text(configuration), encoding="utf-8")
    # TLC notes what acted only while it searches
    lines = [line for line in cfg_text(configuration).splitlines(keepends=True) if "Did" not in line]
    module.with_suffix(".cfg").write_text("".join(lines), encoding="utf-8")
    return module, module.with_suffix(".cfg")


def test_without_a_fault_the_state_graph_is_that_of_the_reference(tmp_path: Path) -> None:
    program, bounds = PROGRAMS["Gated"], Bounds(runners=2, branches=2, answers=1)
    files = written(Configuration(program, bounds), tmp_path)
    report = compare_graphs(program, bounds, model=files)
    assert [difference.describe() for difference in report.differences] == []
    assert report.agree
    assert report.tlc.distinct > 300


def test_without_a_fault_the_mirror_has_the_steps_of_the_reference() -> None:
    program, bounds = PROGRAMS["Gated"], Bounds(runners=2, branches=2, answers=2)
    reference, deviating = Stepper(program, bounds), Stepper(program, bounds, next_module=faulty)
    known = {reference.initial}
    queue = [reference.initial]
    while queue:
        state = queue.pop()
        steps = reference.successors(state)
        assert Counter(deviating.successors(state)) == Counter(steps)
        queue += {step.state for step in steps} - known
        known |= {step.state for step in steps}
    assert len(known) == 1056, "the model small-answers of the manifest"


# The three that take something away hide what they take: they are off once.
@pytest.mark.parametrize(
    ("name", "off"),
    [("Sandwich", ()), ("Sandwich", ("lost_commit", "orphaned_claim", "stuck_running"))],
    ids=["all", "adding"],
)
def test_tlc_and_the_mirror_have_the_same_steps_with_faults(
    name: str, off: tuple[str, ...], tmp_path: Path
) -> None:
    faults = tuple(fault for fault in FAULTS if fault not in off)
    program = PROGRAMS[name]
    bounds = Bounds(
        runners=2, branches=3, answers=2, crashes=3, expiries=1, invalid=2, length=4, computations=12
    )
    oracle = SpecOracle(*written(Configuration(program, bounds, faults), tmp_path))
    stepper = Stepper(program, bounds, faults)
    compared: Counter[str] = Counter()
    for state in states_with(stepper, faults, each=4):
        known = stepper.decode(state)
        steps = stepper.successors(state)
        theirs = Counter((action_name(action), key(after)) for action, _, after in oracle.successors(known))
        assert theirs == Counter((step.action, key(stepper.decode(step.state))) for step in steps)
        compared.update({fault for step in steps for fault in fault_names(step.label[5])})
    assert compared.keys() == set(faults), "faults whose steps were never compared"
    assert min(compared.values()) >= 4


def key(state: dict[str, Value]) -> tuple[Value, ...]:
    return tuple(state[name] for name in sorted(state))


def states_with(stepper: Stepper, faults: tuple[str, ...], each: int) -> set[bytes]:
    """For each fault some states on random walks under it alone in which it can act."""
    found: set[bytes] = set()
    config = stepper.config
    for fault in faults:
        generator = random.Random(fault)
        stepper.config = config._replace(faults=fault_bits([fault]))
        mine: set[bytes] = set()
        while len(mine) < each:
            state = stepper.initial
            for _ in range(60):
                steps = stepper.successors(state)
                if any(step.label[5] for step in steps):
                    mine.add(state)
                if not steps:
                    break
                # rare actions as often as those with many parameters
                action = generator.choice(sorted({step.action for step in steps}))
                state = generator.choice([step for step in steps if step.action == action]).state
        found |= set(sorted(mine)[:each])
    stepper.config = config
    return found
