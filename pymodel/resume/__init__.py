"""The resume contract as a mirror of ``specs/tla/ResumeContract.tla``, module by module.

``reading`` reads the state, ``actions`` are the reference's, ``faults`` the deviations, ``transitions`` is Next,
``clauses`` are the invariants; these are plain functions, compiled by the engine.  ``program``, ``layout``,
``decoding`` and ``model`` make a model of them.
"""
