"""The verdicts of a run: gathered from the tests' reports, summed up, and written to files at its end."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Final

import pytest

__all__ = ["PROPERTY", "Gathering", "path_option", "require_options"]

PROPERTY: Final = "resume_contract"
"""The property of a test's report that holds a verdict: JSON, see `resume_contract.pytest_plugin.recorded`."""

_REPORTS: Final = (".json", ".xml")
_ORDER: Final = ("conforms", "known", "violates", "unchecked")


def path_option(config: pytest.Config, name: str) -> Path | None:
    """A file or folder that an option names; a relative one is where pytest was started."""
    given = getattr(config.option, f"resume_contract_{name}")
    return None if given is None else config.invocation_params.dir / given


def require_options(config: pytest.Config) -> None:
    """Try before the run that its options can be kept.

    Raises:
        pytest.UsageError: one can't be.
    """
    budget = config.option.resume_contract_budget
    if budget is not None and budget < 1:
        raise pytest.UsageError(f"--resume-contract-budget {budget}: give a number from 1 on")
    report = path_option(config, "report")
    if report is not None and report.suffix not in _REPORTS:
        raise pytest.UsageError(
            f"--resume-contract-report {report}: name a file that ends in {' or '.join(_REPORTS)}"
        )
    _require_outputs(config)
    folders = [path.parent for path in (report, path_option(config, "write_baseline")) if path is not None]
    if (traces := path_option(config, "traces")) is not None:
        folders.append(traces)
    for folder in folders:
        from resume_contract.writing import require_folder

        try:
            require_folder(folder)
        except OSError as error:
            raise pytest.UsageError(f"{folder}: {error.strerror}: give a place that can be written") from None
    if (baseline := path_option(config, "baseline")) is not None:
        from trace_check.baseline import read_baseline
        from trace_check.errors import TraceError

        try:
            read_baseline(baseline)
        except TraceError as error:
            raise pytest.UsageError(str(error)) from None


def _require_outputs(config: pytest.Config) -> None:
    report, target = path_option(config, "report"), path_option(config, "write_baseline")
    baseline = path_option(config, "baseline")
    if report is None and target is None:
        return
    from resume_contract.errors import ResumeContractError
    from resume_contract.writing import require_output

    if report is not None and target is not None and report.resolve() == target.resolve():
        raise pytest.UsageError(f"{report}: is named for the report and for the baseline: name two files")
    try:
        if report is not None:
            require_output(report, [] if baseline is None else [baseline])
        if target is not None:
            require_output(target)
    except ResumeContractError as error:
        raise pytest.UsageError(str(error)) from None


def _ended(phases: Sequence[pytest.TestReport]) -> dict[str, str | None]:
    """How a test ended, in pytest's word, and why it failed."""
    for report in phases:
        if report.failed:
            crash = getattr(report.longrepr, "reprcrash", None)
            why = str(report.longrepr if crash is None else crash.message)
            return {"outcome": "failed", "failure": why.removeprefix("Failed: ")}
    return {"outcome": "skipped" if any(report.skipped for report in phases) else "passed", "failure": None}


class Gathering:
    """A plugin of the process that controls a run.

    Attributes:
        verdicts: what was said of each trace, in the order in which the tests ended.
        not_written: why a file that was asked for isn't there; one line each.
    """

    def __init__(self, config: pytest.Config) -> None:
        self.config = config
        self.verdicts: list[dict[str, Any]] = []
        self.not_written: list[str] = []
        self._running: dict[str, list[pytest.TestReport]] = {}

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Take the verdicts of a test that is over, and how it ended; with pytest-xdist it ran elsewhere."""
        if report.when == "setup":
            self._running[report.nodeid] = []
        phases = self._running.setdefault(report.nodeid, [])
        phases.append(report)
        if report.when == "teardown":
            del self._running[report.nodeid]
            ended = _ended(phases)
            self.verdicts += [
                json.loads(str(value)) | ended for name, value in report.user_properties if name == PROPERTY
            ]

    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        """Write the files that were asked for; a run in which one can't be written doesn't pass."""
        if (report := path_option(self.config, "report")) is not None:
            from resume_contract.pytest_plugin.report import write_report

            self._attempt(report, lambda: write_report(report, self.verdicts))
        target = path_option(self.config, "write_baseline")
        if target is not None and self.verdicts:  # a run without any trace says nothing of what is known
            self._attempt(target, lambda: self._write_baseline(target))
        if self.not_written and session.exitstatus == pytest.ExitCode.OK:
            session.exitstatus = pytest.ExitCode.TESTS_FAILED

    def _attempt(self, path: Path, write: Callable[[], None]) -> None:
        from resume_contract.errors import explain

        try:
            write()
        except Exception as error:
            if (line := explain(error)) is None:
                raise
            self.not_written.append(line if str(path) in line else f"{path}: {line}")

    def _write_baseline(self, target: Path) -> None:
        from resume_contract.errors import ResumeContractError
        from resume_contract.writing import write_text
        from trace_check.baseline import baseline_text, read_baseline

        left = sum(one["status"] == "unchecked" for one in self.verdicts)
        if left:  # the list might lack some of what is known now
            traces = "1 trace" if left == 1 else f"{left} traces"
            raise ResumeContractError(
                f"{target}: not written, as {traces} could not be checked: mend them first"
            )
        baseline = path_option(self.config, "baseline")
        known = frozenset() if baseline is None else read_baseline(baseline)
        write_text(target, baseline_text(known | self._violations()))

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        """Sum up, where there was a trace."""
        for line in self.not_written:
            terminalreporter.write_line(f"resume-contract: error: {line}")
        if not self.verdicts:
            return
        counts = {status: sum(one["status"] == status for one in self.verdicts) for status in _ORDER}
        said = ", ".join(f"{count} {status}" for status, count in counts.items() if count)
        number = len(self.verdicts)
        terminalreporter.write_sep("-", f"resume-contract: {number} trace{'s' * (number != 1)}: {said}")
        for one in self.verdicts:
            if one["status"] != "conforms":
                terminalreporter.write_line(f"{one['status']}: {one['file']}")
        if (baseline := path_option(self.config, "baseline")) is not None:
            from trace_check.baseline import compare, read_baseline

            traces = [tuple(one["trace"]) for one in self.verdicts]
            for violation in sorted(compare(read_baseline(baseline), self._violations(), traces).gone):
                terminalreporter.write_line(f"in the baseline and not seen any more: {violation}")

    def _violations(self) -> frozenset[Any]:
        import msgspec

        from trace_check.baseline import Violation

        return frozenset(
            msgspec.convert(violation, Violation) for one in self.verdicts for violation in one["violations"]
        )
