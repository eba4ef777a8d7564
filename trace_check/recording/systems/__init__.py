"""A package for each system under test; each is imported only when it is asked for."""

from __future__ import annotations

__all__: list[str] = []
