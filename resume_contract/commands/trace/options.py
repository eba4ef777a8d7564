"""Options that several of the trace commands have."""

from __future__ import annotations

from typing import Annotated

import typer

__all__ = ["BudgetOption", "TornOption"]

BudgetOption = Annotated[
    int | None,
    typer.Option(
        "--budget",
        min=1,
        help="How many places the search may look at for each thread; 200,000 without it.",
    ),
]

TornOption = Annotated[
    bool,
    typer.Option(
        "--allow-torn", help="Leave out a last line that was cut short, instead of refusing the file."
    ),
]
