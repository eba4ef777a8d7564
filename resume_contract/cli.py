"""The command ``resume-contract``.

Exit status: 0 as expected, 1 a violation or a difference, 2 could not check, 130 interrupted.  An error is one line on
standard error.
"""

from __future__ import annotations

import importlib
import signal
import sys
from collections.abc import Sequence
from typing import Any, NoReturn, cast

import typer

from resume_contract.errors import CHECKED, COULD_NOT_CHECK, INTERRUPTED
from resume_contract.errors import explain as explain_error
from resume_contract.terminal import never_fail
from trace_check.printing import printable

__all__ = ["COMMANDS", "app_for", "main", "run"]

COMMANDS = {
    "check": "check_command",
    "walk": "walk_command",
    "graph": "graph_command",
    "explain": "explain_command",
    "matrix": "matrix_command",
    "separate": "separate_command",
    "induction": "induction_command",
    "pluscal": "pluscal_command",
    "trace": "app",
    "conform": "conform_command",
    "bench": "bench_command",
    "version": "version_command",
}
"""Each command is in its module of `resume_contract.commands`: a function, or a group of commands of its own."""


def app_for(arguments: Sequence[str]) -> typer.Typer:
    """The command line as far as these arguments need it: all commands together take a second to load."""
    app = typer.Typer(
        add_completion=False,
        rich_markup_mode=None,
        pretty_exceptions_enable=False,
        help="Says, and checks, what it means to resume a workflow."
        " Exit status: 0 as expected, 1 a violation or a difference, 2 could not check.",
    )
    app.callback()(_nothing_first)
    named = arguments[0] if arguments else ""
    for name in [named] if named in COMMANDS else COMMANDS:
        found = getattr(importlib.import_module(f"resume_contract.commands.{name}"), COMMANDS[name])
        if isinstance(found, typer.Typer):
            app.add_typer(found, name=name)
        else:
            app.command(name)(found)
    return app


def _nothing_first() -> None:
    pass


# The base of every error of the option parser; typer has brought that parser along since 0.26, and not before.
_UsageError = cast("type[Exception]", typer.BadParameter.__mro__[2])


def main() -> NoReturn:
    """Run the command line and end the process with its status."""
    # a polite request to end takes TLC along, as Ctrl-C does
    signal.signal(signal.SIGTERM, _terminated)
    never_fail()
    raise SystemExit(run(sys.argv[1:]))


def run(arguments: Sequence[str]) -> int:
    """Run a command line; its exit status.  What nobody expected is raised."""
    try:
        app = app_for(arguments)
        status: Any = app(list(arguments) or ["--help"], prog_name="resume-contract", standalone_mode=False)
    except (KeyboardInterrupt, typer.Abort):
        status = INTERRUPTED  # newer versions of typer return it
    except Exception as error:
        line = _usage(error) if isinstance(error, _UsageError) else explain_error(error)
        if line is None:
            raise
        print(f"error: {line}", file=sys.stderr)
        return COULD_NOT_CHECK
    if status == INTERRUPTED:
        print("error: interrupted: files of results are as they were", file=sys.stderr)
    return status if isinstance(status, int) else CHECKED


def _usage(error: Any) -> str:
    """What is wrong with the command line, in one line."""
    return printable(" ".join(str(error.format_message()).split()))


def _terminated(_number: int, _frame: object) -> NoReturn:
    print("error: asked to end: files of results are as they were", file=sys.stderr)
    raise SystemExit(128 + signal.SIGTERM)
