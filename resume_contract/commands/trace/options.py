"""Options that several of the trace commands have."""

from __future__ import annotations

from typing import Annotated

import typer

__all__ = ["TornOption"]

TornOption = Annotated[
    bool,
    typer.Option(
        "--allow-torn", help="Leave out a last line that was cut short, instead of refusing the file."
    ),
]
