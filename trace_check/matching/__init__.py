"""From an observation, or unseen, to the mirror's steps: which states may a state turn into, using which faults?

Every step here is an action of :mod:`pymodel.resume.actions` or a deviation of :mod:`pymodel.resume.faults`, called
with the parameters that the event names.  Budgets play no part: their counters are kept at zero.
"""

from trace_check.matching.asserting import REMEMBERED
from trace_check.matching.forcing import Forcing
from trace_check.matching.hiding import Hiding
from trace_check.matching.moving import Move
from trace_check.matching.seeing import Seeing

__all__ = ["REMEMBERED", "Matcher", "Move"]


class Matcher(Seeing, Hiding, Forcing):
    """The steps of one thread: what its observations may be, what may go unseen, and what is only asserted."""
