"""Models that deviate from the reference by faults: the fault matrix, the separating models, the lattice.

A :class:`~separating_models.configuration.Configuration` is a program, bounds and faults.  Either engine examines it
(:func:`~separating_models.examining.examine`): which clauses some reachable state breaks, how deep the first of those
states is, and which faults acted at all.
"""
