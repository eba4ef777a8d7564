"""``python -m tlc_runner``."""

from .cli import main

__all__: list[str] = []

main()
