"""What can go wrong while a model is compiled or explored."""

from __future__ import annotations

__all__ = ["CapacityError", "EngineError", "LimitError", "MemoryLimitError", "ModelError"]


class EngineError(RuntimeError):
    """Base of every error the engine raises on purpose; the message is one line."""


class ModelError(EngineError):
    """The model breaks its contract with the engine (wrong widths, too many successors, …)."""


class CapacityError(EngineError):
    """A value would not fit the record: the model refused to truncate it.

    Attributes:
        model: the model's name.
        field: which field was too small, from `Model.overflow`.
    """

    def __init__(self, model: str, field: str) -> None:
        super().__init__(
            f"model {model}: the field {field!r} of its record is too small for a reachable state: "
            f"give {field!r} more room in the model's layout, or tighten the bound that feeds it"
        )
        self.model = model
        self.field = field


class LimitError(EngineError):
    """The state space is larger than the engine can number."""


class MemoryLimitError(LimitError):
    """The exploration needs more memory than it was allowed, or than the machine has."""
