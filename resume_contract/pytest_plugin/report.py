"""The report of a run: its verdicts as JSON, or as JUnit XML, where a trace is a case that fails if its test does."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final
from xml.etree import ElementTree

from resume_contract.writing import write_json, write_text
from trace_check.printing import printable

__all__ = ["REPORT_VERSION", "write_report"]

REPORT_VERSION: Final = 1


def write_report(path: Path, verdicts: Sequence[dict[str, Any]]) -> None:
    """Write the verdicts, in the format of the name's ending (.json or .xml), in one step.

    Args:
        path: the file.
        verdicts: as `resume_contract.pytest_plugin.recorded` says them, with the `outcome` of the test and its `failure`.
    """
    ordered = sorted(verdicts, key=lambda one: (one["test"], one["name"]))  # workers end in any order
    if path.suffix == ".json":
        write_json(path, {"version": REPORT_VERSION, "traces": ordered})
    else:
        write_text(path, _junit(ordered))


def _junit(verdicts: Sequence[dict[str, Any]]) -> str:
    failed = [one for one in verdicts if one["outcome"] == "failed"]
    errors = [one for one in failed if one["status"] == "unchecked"]
    suite = ElementTree.Element(
        "testsuite",
        name="resume-contract",
        tests=str(len(verdicts)),
        failures=str(len(failed) - len(errors)),
        errors=str(len(errors)),
    )
    for one in verdicts:
        case = ElementTree.SubElement(
            suite,
            "testcase",
            classname=printable(one["test"]),
            name=printable(one["name"] or one["status"]),
            file=printable(one["file"]),
        )
        if one["outcome"] == "failed":
            kind = "error" if one["status"] == "unchecked" else "failure"
            lines = one["lines"] if one["status"] in ("violates", "unchecked") else _of_the_test(one)
            told = ElementTree.SubElement(case, kind, message=printable(lines[0]))
            told.text = "\n".join(map(printable, lines))
    root = ElementTree.Element("testsuites")
    root.append(suite)
    ElementTree.indent(root)
    return ElementTree.tostring(root, encoding="unicode", xml_declaration=True) + "\n"


def _of_the_test(one: dict[str, Any]) -> list[str]:
    """Why a test failed although nothing is wrong with its trace."""
    return str(one["failure"]).splitlines() or ["the test failed"]
