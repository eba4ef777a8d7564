"""``resume-contract trace``: record, check, show and shrink; one module for each of its commands."""

from __future__ import annotations

import typer

from resume_contract.commands.trace.check import check_command
from resume_contract.commands.trace.record import record_command
from resume_contract.commands.trace.show import show_command
from resume_contract.commands.trace.shrink import shrink_command
from resume_contract.commands.trace.trials import trials_command

__all__ = ["app"]

app = typer.Typer(
    help="Record traces of a framework, check them against the reference, show and shrink them.",
    rich_markup_mode=None,
)
app.command("record")(record_command)
app.command("check")(check_command)
app.command("show")(show_command)
app.command("shrink")(shrink_command)
app.command("trials")(trials_command)
