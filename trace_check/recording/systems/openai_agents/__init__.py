"""The OpenAI Agents SDK: `system` is what is recorded, the other modules are its parts."""

from __future__ import annotations

__all__: list[str] = []
