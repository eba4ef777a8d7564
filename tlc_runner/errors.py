"""The errors this package raises."""

__all__ = [
    "JarError",
    "JavaError",
    "OracleError",
    "PlusCalError",
    "SpecError",
    "TLCError",
    "ValueSyntaxError",
]


class TLCError(RuntimeError):
    """Base class: a one-line message that names the file, the place and the mend."""


class JarError(TLCError):
    """No usable tla2tools.jar."""


class JavaError(TLCError):
    """No Java that runs."""


class SpecError(TLCError):
    """A spec or configuration file that cannot be read, or arguments that do not fit together."""


class OracleError(TLCError):
    """The in-process evaluation of a spec failed."""


class PlusCalError(TLCError):
    """The PlusCal translator refused an algorithm.

    Attributes
    ----------
    line
        The line it complains about, counted from 1, or None when it names none.
    """

    def __init__(self, message: str, line: int | None = None) -> None:
        super().__init__(message)
        self.line = line


class ValueSyntaxError(TLCError, ValueError):
    """Text that is not a TLA+ value."""
