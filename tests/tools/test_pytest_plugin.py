"""The pytest plugin, by runs of pytest on small test files."""

from __future__ import annotations

import json
import sys
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

import resume_contract.pytest_plugin
import resume_contract.pytest_plugin.recorded  # kept by the runs in this process, which forget what they import
from resume_contract.manifest import ROOT

pytest_plugins = "pytester"

EXAMPLE = ROOT / "docs" / "examples" / "tiny-engine"

HEAD = """
import pytest

def good(trace, actor="p1", thread="t1"):
    log = trace.actor(actor, thread)
    with log.operation("loaded") as load:
        load.end(checkpoint=None, index=0)
    log.emit("effect_fired", step="charge", key="k", applied=True, outcome="ok")
    return log

def commit(log):
    with log.operation("recorded", step="charge", outcome="ok"):
        pass
    with log.operation("committed", unit="order", steps=["charge"], outcomes={"charge": "ok"}, checkpoint="c1",
                       parent=None, valid=True, next=[]):
        pass

def bad(trace):
    good(trace, "p1")
    trace.crashed("p1", signal="SIGKILL")
    good(trace, "p2")

@pytest.fixture
def start(resume_contract_trace):
    return lambda **more: resume_contract_trace(program="order: effect charge", observes="all", **more)
"""
GOOD = (
    HEAD
    + """
def test_good(start):
    trace = start()
    commit(good(trace))
    trace.assert_conforms()
"""
)
BAD = (
    HEAD
    + """
def test_bad(start):
    trace = start()
    bad(trace)
    trace.assert_conforms()
"""
)


def traces(path: Path) -> dict[str, dict[str, Any]]:
    """Of a report: test and name -> its verdict."""
    report = json.loads(path.read_text())
    assert report["version"] == 1
    return {f"{one['test'].rpartition('::')[2]}#{one['name']}": one for one in report["traces"]}


def test_it_is_an_entry_point() -> None:
    (found,) = [point for point in entry_points(group="pytest11") if point.name == "resume-contract"]
    assert found.load() is resume_contract.pytest_plugin


def test_a_run_without_traces_imports_no_checker(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(
        "import sys\n"
        "def test_nothing():\n"
        "    heavy = ('trace_check', 'numba', 'numpy', 'msgspec', 'pymodel', 'matplotlib')\n"
        "    assert [m for m in sys.modules if m.split('.')[0] in heavy] == []\n"
        "    ours = sorted(m for m in sys.modules if m.startswith('resume_contract'))\n"
        "    assert ours == ['resume_contract', 'resume_contract.pytest_plugin', "
        "'resume_contract.pytest_plugin.gathering']\n"
    )
    result = bare(pytester)
    result.assert_outcomes(passed=1)
    assert "resume-contract" not in result.stdout.str()


@pytest.fixture(autouse=True)
def _no_other_plugin(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")
    for told in ("CI", "BUILD_NUMBER"):  # there pytest repeats each failure in full at its end
        monkeypatch.delenv(told, raising=False)


def inside(pytester: pytest.Pytester, *arguments: str) -> pytest.RunResult:
    """Run pytest in this process, with this plugin and no other."""
    # A Java that other tests started in this process answers to SIGSEGV: the handler must stay its own. That the plugin
    # is imported already is so for these runs only.
    return pytester.runpytest_inprocess(
        *("-p", "no:faulthandler", "-W", "ignore::pytest.PytestAssertRewriteWarning"),
        *("-p", "resume_contract.pytest_plugin", *arguments),
    )


def bare(pytester: pytest.Pytester, *arguments: str) -> pytest.RunResult:
    """The same in a process of its own."""
    return pytester.run(
        sys.executable, "-m", "pytest", "-q", "-p", "resume_contract.pytest_plugin", *arguments
    )


def test_conforming(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(GOOD)
    result = inside(pytester, "--resume-contract-report", "report.json")
    result.assert_outcomes(passed=1)
    result.stdout.fnmatch_lines(["*resume-contract: 1 trace: 1 conforms*"])
    said = traces(pytester.path / "report.json")["test_good#"]
    assert (said["status"], said["verdict"], said["violations"]) == ("conforms", "conforms", [])
    assert said["exercised"] == ["PC", "EO", "CV"]
    assert Path(said["file"]).is_file()


def test_violating_says_why_and_where_the_trace_is(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(BAD)
    result = inside(pytester, "--resume-contract-traces", "kept", "--junitxml", "junit.xml")
    result.assert_outcomes(failed=1)
    (kept,) = (pytester.path / "kept").iterdir()
    result.stdout.fnmatch_lines(
        [
            f"{kept}: violates",
            "  EO is certainly broken, at event 7",
            "  explained by unkeyed_effect",
            "  the first event that the reference cannot explain: 7, effect_fired, line 8",
            "    the closest action is Fire; what it lacks: charge was not applied before in branch main",
            f"see it: resume-contract trace show {kept}",
            "*resume-contract: 1 trace: 1 violates*",
        ],
        consecutive=False,
    )
    assert "pytest_plugin" not in result.stdout.str()  # no traceback through the plugin
    (held,) = ElementTree.parse(pytester.path / "junit.xml").iter("property")
    assert held.get("name") == "resume_contract"
    said = json.loads(held.get("value") or "")
    assert (said["file"], said["verdict"], said["explanations"]) == (
        str(kept),
        "violates",
        [["unkeyed_effect"]],
    )


def test_unchecked_never_passes(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(
        HEAD
        + """
def test_empty(start):
    start().assert_conforms()

def test_wrong_step(start):
    trace = start()
    trace.actor("p1").emit("effect_fired", step="nope", key="k", applied=True)
    trace.check()

def test_forgotten(start):
    good(start())

def test_skipped(start):
    good(start())
    pytest.skip("not today")

def test_failed_already(start):
    good(start())
    assert 1 == 2
"""
    )
    result = inside(pytester, "--resume-contract-report", "report.xml")
    result.assert_outcomes(failed=3, passed=1, errors=1, skipped=1)
    text = result.stdout.str()
    assert "the trace has a header and no events" in text
    assert "unknown step 'nope'" in text
    assert text.count("recorded and never checked") == 1
    suite = ElementTree.parse(pytester.path / "report.xml").find("testsuite")
    assert suite is not None
    assert (suite.get("tests"), suite.get("failures"), suite.get("errors")) == ("2", "0", "2")
    told = [error.get("message") or "" for error in suite.iter("error")]
    assert [message.partition("jsonl")[2] for message in told] == [
        ": the trace has a header and no events; record the trace again: nothing was observed",
        ":2: unknown step 'nope'; the header's program has charge; or say \"dynamic\" there",
    ]


def test_a_budget_that_is_too_small_fails(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(BAD)
    result = inside(pytester, "--resume-contract-budget", "1")
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["*could not be checked: *budget of 1 is used up*"])


def test_what_has_to_be_put_to_a_test(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(
        HEAD
        + """
def test_enough(start):
    trace = start()
    commit(good(trace))
    trace.assert_conforms(exercises=["EO", "PC"])

def test_too_little(start):
    trace = start()
    commit(good(trace))
    trace.assert_conforms(exercises=["EO", "FD", "CO-C"])

def test_no_clause(start):
    trace = start()
    commit(good(trace))
    with pytest.raises(ValueError, match="^XX is no clause; the clauses are PC, EO, FD, CV, CO-V, CO-C, RD, FI, LV$"):
        trace.assert_conforms(exercises=["EO", "XX"])
    trace.assert_conforms(exercises="EO")

def test_nothing_at_all(start):
    trace = start()
    with trace.actor("p1").operation("loaded") as load:
        load.end(checkpoint=None, index=0)
    trace.assert_conforms()
"""
    )
    result = inside(pytester)
    result.assert_outcomes(passed=3, failed=1, warnings=1)
    result.stdout.fnmatch_lines(["*: conforms, and never puts FD, CO-C to a test"])
    result.stdout.fnmatch_lines(["*NoEvidence: *puts no clause to a test, so it is no evidence"])


def test_several_traces_of_one_test_and_a_verdict_to_look_at(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(
        HEAD
        + """
def test_two(start):
    first, second = start(name="first"), start(name="second")
    commit(good(first))
    first.assert_conforms()
    bad(second)
    verdict = second.check()
    assert [broken.clause for broken in verdict.clauses] == ["EO"]
    assert second.check() == verdict

def test_names(start):
    start(name="x").checked = True
    with pytest.raises(RuntimeError, match="a trace named 'x' already"):
        start(name="x")

def test_threads(start):
    trace = start()
    commit(good(trace, "p1", "t1"))
    commit(good(trace, "p2", "t2"))
    with pytest.raises(RuntimeError, match="actor 'p2' is of thread 't2'"):
        trace.actor("p2", "t1")
    trace.assert_conforms()
    assert trace.check().threads == 2
"""
    )
    result = inside(pytester, "--resume-contract-report", "report.json")
    result.assert_outcomes(passed=3)
    said = traces(pytester.path / "report.json")
    assert {name: one["status"] for name, one in said.items()} == {
        "test_two#first": "conforms",
        "test_two#second": "violates",
        "test_threads#": "conforms",
    }


def test_a_baseline_accepts_what_it_lists_and_nothing_else(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(test_it=BAD)
    inside(pytester, "--resume-contract-write-baseline", "known.json").assert_outcomes(failed=1)
    (listed,) = json.loads((pytester.path / "known.json").read_text())["violations"]
    assert (listed["scenario"], listed["clause"], listed["at"], listed["explanations"]) == (
        "test_it.py::test_bad",
        "EO",
        "effect_fired charge",
        [["unkeyed_effect"]],
    )
    result = inside(pytester, "--resume-contract-baseline", "known.json")
    result.assert_outcomes(passed=1)
    result.stdout.fnmatch_lines(["*resume-contract: 1 trace: 1 known*"])

    pytester.makepyfile(
        test_it=BAD.replace('    good(trace, "p2")', '    commit(good(trace, "p2"))\n    bad_too(trace)')
    )
    path = pytester.path / "test_it.py"
    path.write_text(path.read_text() + '\ndef bad_too(trace):\n    good(trace, "p3")\n')
    inside(pytester, "--resume-contract-baseline", "known.json").assert_outcomes(failed=1)

    path.write_text(GOOD.replace("test_good", "test_bad"))
    result = inside(pytester, "--resume-contract-baseline", "known.json")
    result.assert_outcomes(passed=1)
    result.stdout.fnmatch_lines(
        ["in the baseline and not seen any more: *test_bad *: EO at effect_fired charge*"]
    )


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--resume-contract-report", "report.txt"], "*report.txt: name a file that ends in .json or .xml"),
        (["--resume-contract-budget", "0"], "*--resume-contract-budget 0: give a number from 1 on"),
        (["--resume-contract-baseline", "nowhere.json"], "*nowhere.json: cannot be read: No such file*"),
        (["--resume-contract-report", "test_it.py/r.json"], "*test_it.py: File exists: give a place*"),
    ],
)
def test_bad_options_are_refused_before_any_test(
    pytester: pytest.Pytester, arguments: list[str], message: str
) -> None:
    pytester.makepyfile(test_it=GOOD)
    result = inside(pytester, *arguments)
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines([f"ERROR: {message}"])


def test_the_example_of_the_docs_with_xdist(pytester: pytest.Pytester) -> None:
    for file in EXAMPLE.glob("*.py"):
        (pytester.path / file.name).write_bytes(file.read_bytes())
    found = ["-p", "xdist", "-n", "2", "--resume-contract-report", "report.json", "--junitxml", "junit.xml"]
    result = bare(pytester, *found)
    result.assert_outcomes(passed=1, failed=1)
    result.stdout.fnmatch_lines(["*resume-contract: 2 traces: 1 conforms, 1 violates*"])
    said = traces(pytester.path / "report.json")
    assert {name: (one["status"], one["explanations"]) for name, one in said.items()} == {
        "test_a_run_that_nothing_disturbs#": ("conforms", [[]]),
        "test_a_resume_after_a_kill#": ("violates", [["ledger_ignored"]]),
    }
    held = list(ElementTree.parse(pytester.path / "junit.xml").iter("property"))
    assert sorted(json.loads(one.get("value") or "")["verdict"] for one in held) == ["conforms", "violates"]


def test_the_example_of_the_docs_once_it_is_mended(pytester: pytest.Pytester) -> None:
    page = (ROOT / "docs" / "in-your-ci.md").read_text()
    for file in EXAMPLE.glob("*.py"):
        (pytester.path / file.name).write_bytes(file.read_bytes())
    engine = pytester.path / "tiny_engine.py"
    last = '                sealed.append(entry["sealed"])\n'
    mend = '            else:\n                recorded[entry["recorded"]] = entry["outcome"]\n'
    assert last in engine.read_text()
    assert mend.strip().splitlines()[1].strip() in page
    engine.write_text(engine.read_text().replace(last, last + mend))
    result = bare(pytester)
    result.assert_outcomes(passed=2)
    result.stdout.fnmatch_lines(["*resume-contract: 2 traces: 2 conforms*"])


def test_an_output_is_a_file_of_its_own(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(GOOD)
    pytester.mkdir("folder.xml")
    baseline = pytester.path / "known.json"
    baseline.write_text('{"version": 1, "violations": []}')
    for options, said in (
        (["report=folder.xml"], "folder.xml: is a folder: name a file to write to"),
        (["write-baseline=folder.xml"], "folder.xml: is a folder: name a file to write to"),
        (["report=known.json", "baseline=known.json"], "known.json: would be written over"),
        (["report=new.json", "write-baseline=new.json"], "new.json: is named for the report and for the"),
    ):
        result = inside(pytester, *(f"--resume-contract-{option}" for option in options))
        assert result.ret == pytest.ExitCode.USAGE_ERROR
        result.stderr.fnmatch_lines([f"ERROR: *{said}*"])
        assert "Traceback" not in result.stderr.str() + result.stdout.str()
    assert baseline.read_text() == '{"version": 1, "violations": []}'


def test_what_comes_after_the_verdict_is_checked_as_well(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(
        HEAD
        + """
def test_fine(start):
    trace = start()
    log = good(trace)
    trace.assert_conforms()
    commit(log)

def test_late(start):
    trace = start()
    good(trace, "p1")
    trace.crashed("p1", signal="SIGKILL")
    trace.assert_conforms()
    good(trace, "p2")

def test_looked_at_too_early(start):
    trace = start()
    good(trace, "p1")
    trace.crashed("p1", signal="SIGKILL")
    trace.check()
    good(trace, "p2")

def test_nothing_of_it_is_new(start):
    trace = start()
    bad(trace)
    trace.check()
    trace.crashed("p2", signal="SIGKILL")

def test_spoiled(start):
    trace = start()
    good(trace)
    trace.assert_conforms()
    with trace.path.open("a") as file:
        file.write("no event\\\\n")
"""
    )
    result = inside(pytester, "--resume-contract-report", "report.json")
    result.assert_outcomes(passed=5, errors=3)
    said = traces(pytester.path / "report.json")
    assert {name: one["status"] for name, one in said.items()} == {
        "test_fine#": "conforms",
        "test_late#": "violates",
        "test_looked_at_too_early#": "violates",
        "test_nothing_of_it_is_new#": "violates",
        "test_spoiled#": "unchecked",
    }
    text = result.stdout.str()
    assert text.count("events were written after its last verdict") == 3
    assert text.count("  EO is certainly broken, at event 7") == 2
    assert text.count("check() did not see all of it: call it once more, after the last event") == 1


def test_a_baseline_stays_where_a_trace_could_not_be_checked(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(
        HEAD
        + """
def test_expected(start):
    with pytest.raises(BaseException):
        start().check()
"""
    )
    baseline = pytester.path / "known.json"
    baseline.write_text("as it was")
    result = inside(pytester, "--resume-contract-write-baseline", "known.json")
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    result.stdout.fnmatch_lines(
        [f"resume-contract: error: {baseline}: not written, as 1 trace could not be checked: mend them first"]
    )
    assert baseline.read_text() == "as it was"


def test_a_report_that_cannot_be_written_fails_the_run(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(GOOD + "    import os\n    os.mkdir('report.xml')\n")
    result = inside(pytester, "--resume-contract-report", "report.xml")
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    result.stdout.fnmatch_lines(["resume-contract: error: *report.xml: is a folder: name a file to write to"])
    assert "Traceback" not in result.stdout.str() + result.stderr.str()


def test_junit_is_xml_whatever_the_names_are(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(
        HEAD
        + """
@pytest.mark.parametrize("x", ["a"])
def test_odd(start, x):
    trace = start(name="a\\\\x00\\\\x1b[31m\\\\x0c<&\\\\ufffe")
    commit(good(trace))
    trace.assert_conforms()
"""
    )
    inside(pytester, "--resume-contract-report", "report.xml").assert_outcomes(passed=1)
    (case,) = ElementTree.parse(pytester.path / "report.xml").iter("testcase")
    assert case.get("name") == "a\\x00\\x1b[31m\\x0c<&\\ufffe"


def test_a_case_of_the_report_fails_where_its_test_does(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(
        HEAD
        + """
def test_expected(start):
    trace = start()
    bad(trace)
    assert trace.check().verdict == "violates"

def test_unexpected(start):
    trace = start()
    bad(trace)
    assert trace.check().verdict == "conforms"

def test_too_little(start):
    trace = start()
    commit(good(trace))
    trace.assert_conforms(exercises=["FD"])

def test_late(start):
    trace = start()
    good(trace, "p1")
    trace.crashed("p1", signal="SIGKILL")
    trace.assert_conforms()
    good(trace, "p2")

@pytest.mark.xfail(reason="is known to fail")  # a test in a test: that the report doesn't count it is the subject
def test_known_to_fail(start):
    trace = start()
    bad(trace)
    trace.assert_conforms()

def test_of_its_own(start):
    trace = start()
    commit(good(trace))
    trace.assert_conforms()
    assert 1 == 2
"""
    )
    inside(pytester, "--resume-contract-report", "report.xml").assert_outcomes(
        passed=2, failed=3, errors=1, xfailed=1
    )
    suite = ElementTree.parse(pytester.path / "report.xml").find("testsuite")
    assert suite is not None
    assert (suite.get("tests"), suite.get("failures"), suite.get("errors")) == ("6", "4", "0")
    told = {
        (case.get("classname") or "").rpartition("::")[2]: failure.get("message") or ""
        for case in suite
        for failure in case
    }
    assert {name: message.rpartition("jsonl")[2] for name, message in told.items()} == {
        "test_unexpected": ": violates",
        "test_too_little": ": conforms, and never puts FD to a test",
        "test_late": ": violates",
        "test_of_its_own": "assert 1 == 2",
    }

    inside(pytester, "--resume-contract-report", "report.json")
    said = traces(pytester.path / "report.json")
    assert {name: (one["status"], one["outcome"]) for name, one in said.items()} == {
        "test_expected#": ("violates", "passed"),
        "test_unexpected#": ("violates", "failed"),
        "test_too_little#": ("conforms", "failed"),
        "test_late#": ("violates", "failed"),
        "test_known_to_fail#": ("violates", "skipped"),
        "test_of_its_own#": ("conforms", "failed"),
    }
    assert said["test_expected#"]["failure"] is None
    assert said["test_too_little#"]["failure"].endswith("never puts FD to a test")
