"""Where the checkout's files are, and the engines' names: without what it takes to read them."""

from __future__ import annotations

from pathlib import Path

__all__ = ["ENGINES", "MANIFEST", "ROOT"]

ROOT = Path(__file__).resolve().parents[1]
"""The checkout: the specs and the results are beside the packages."""

MANIFEST = ROOT / "specs" / "manifest.yaml"

ENGINES = ("tlc", "mirror")
