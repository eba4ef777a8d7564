"""The generators of random traces are beside the checker's tests, the reader's refusals beside the reader's."""

from __future__ import annotations

import sys
from pathlib import Path

for folder in ("checker", "trace_events"):
    sys.path.append(str(Path(__file__).parents[1] / folder))
