"""The pytest plugin: record a trace in a test, and assert that it conforms (docs/in-your-ci.md).

It is loaded wherever the package is installed, so nothing but pytest is imported here; the checker is by the first test
that asks for the fixture.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator
from typing import TYPE_CHECKING, Any

import pytest

from resume_contract.pytest_plugin.gathering import Gathering, path_option, require_options

if TYPE_CHECKING:
    from resume_contract.pytest_plugin.recorded import TraceFactory

__all__ = ["FIXTURE", "resume_contract_trace"]

FIXTURE = "resume_contract_trace"
_ENDED = pytest.StashKey[str]()


def pytest_addoption(parser: pytest.Parser) -> None:
    """The plugin's options."""
    group = parser.getgroup("resume-contract", "traces checked against the resume contract")
    group.addoption(
        "--resume-contract-report",
        metavar="FILE",
        help="write the verdicts on all traces to this .json or (as JUnit) .xml file",
    )
    group.addoption(
        "--resume-contract-baseline",
        metavar="FILE",
        help="accept the violations that this file lists, and fail on others only",
    )
    group.addoption(
        "--resume-contract-write-baseline",
        metavar="FILE",
        help="list the violations of this run in a file (those of --resume-contract-baseline too)",
    )
    group.addoption(
        "--resume-contract-traces",
        metavar="FOLDER",
        help="keep the traces in this folder, in place of pytest's temporary one",
    )
    group.addoption(
        "--resume-contract-budget",
        metavar="N",
        type=int,
        help="how many states the search may look at for each thread of a trace",
    )


def pytest_configure(config: pytest.Config) -> None:
    """Refuse options that can't be kept before anything runs, and gather the verdicts where the run is controlled."""
    require_options(config)
    if not hasattr(config, "workerinput"):  # a worker of pytest-xdist has its tests' reports carry them
        config.pluginmanager.register(Gathering(config), "resume-contract-gathering")


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, Any, None]:
    """Keep how a test that records traces ended."""
    outcome = yield
    if FIXTURE in getattr(item, "fixturenames", ()):
        report = outcome.get_result()
        if report.when == "call":
            item.stash[_ENDED] = report.outcome


@pytest.fixture
def resume_contract_trace(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[TraceFactory]:
    """Makes traces: ``trace = resume_contract_trace(program=…, observes=…)``, …, ``trace.assert_conforms()``."""
    from resume_contract.pytest_plugin.recorded import TraceFactory

    config = request.config
    factory = TraceFactory(
        folder=path_option(config, "traces") or tmp_path_factory.mktemp("traces"),
        node_id=request.node.nodeid,
        properties=request.node.user_properties,
        baseline=path_option(config, "baseline"),
        budget=config.option.resume_contract_budget,
    )
    yield factory
    factory.close()
    if request.node.stash.get(_ENDED, "") != "passed":
        return
    said = factory.check_the_rest()
    if left := factory.not_checked():
        names = ", ".join(str(trace.path) for trace in left)
        said.append(f"recorded and never checked: {names}; call assert_conforms() or check()")
    if said:
        pytest.fail("\n".join(said), pytrace=False)
