"""A second opinion: the same question about a trace, decided by TLC from the TLA+ alone.

``specs/tla/ResumeTrace.tla`` reads ``docs/verdicts.md`` on its own and takes the steps of the TLA+ reference, where
`trace_check.matching` takes those of the mirror.  Both share the reader and the intervals of `trace_check.observations`.
``GuidedTrace.tla`` looks along one given way only, for threads of which TLC can't look at all.

==============  ==================================================================
`writing`       threads as a module that fixes the constants
`running`       one run of TLC: which sets of faults explain each thread
`opinion`       what TLC says of a trace
`comparing`     that, held against a verdict of the mirror's checker
`guiding`       the mirror's explanations, step by step
`following`     runs of TLC along these: is each a behaviour of the specification?
`confirming`    that, held against the verdict
==============  ==================================================================
"""

from trace_check.by_tlc.comparing import SecondOpinion, second_opinion
from trace_check.by_tlc.confirming import Confirmation, confirm
from trace_check.by_tlc.opinion import Opinion, opinion_of
from trace_check.by_tlc.running import Tlc

__all__ = ["Confirmation", "Opinion", "SecondOpinion", "Tlc", "confirm", "opinion_of", "second_opinion"]
