"""Where the command starts: what comes after this module is loaded takes a moment, and may be interrupted."""

from __future__ import annotations

import os
import signal
import sys
import traceback
from typing import NoReturn

__all__ = ["main"]

_INTERRUPTED, _COULD_NOT_CHECK = 130, 2  # as in errors.py, which isn't loaded yet


def main() -> NoReturn:
    """Run the command line and end the process with its status."""
    signal.signal(signal.SIGTERM, _terminated)
    # Nothing here multiplies matrices: without its threads' stacks NumPy loads where memory is short, too.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    try:
        from resume_contract.cli import main as run_and_end

        run_and_end()
    except KeyboardInterrupt:
        print("error: interrupted: nothing was begun", file=sys.stderr)
        raise SystemExit(_INTERRUPTED) from None
    except Exception:
        # A defect, of this project or of a recorder that it was given: whoever mends it needs all of it. The status
        # must not be that of a violation.
        traceback.print_exc()
        raise SystemExit(_COULD_NOT_CHECK) from None


def _terminated(_number: int, _frame: object) -> NoReturn:
    print("error: asked to end: nothing was begun", file=sys.stderr)
    raise SystemExit(128 + signal.SIGTERM)
