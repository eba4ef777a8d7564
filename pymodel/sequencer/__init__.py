"""The mirror of ``specs/pluscal/Sequencer.tla``, and its refinement of :mod:`pymodel.resume`.

``reading`` has the record and the algorithm's ``define`` block, ``steps`` its labels, one function each, ``judging``
the invariants; these are plain functions, compiled by the engine.  ``model`` makes a model of them, ``refinement``
maps it to the mirror of the contract.
"""
