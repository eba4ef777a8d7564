"""The mirror of ``specs/pluscal/Sequencer.tla``, and its refinement of :mod:`pymodel.resume`.

``reading`` has the record and the algorithm's ``define`` block, ``steps`` its labels, one function each, ``judging``
the invariants; these are plain functions, compiled by the engine.  ``model`` makes a model of them, ``constants``
does so by the names in the PlusCal module, ``refinement`` maps it to the mirror of the contract.
"""

from __future__ import annotations

from pymodel.sequencer.constants import CONSTANTS, LIVENESS, build, fair_process

__all__ = ["CONSTANTS", "LIVENESS", "build", "fair_process"]
