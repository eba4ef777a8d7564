"""What systems do on resume: recorded, checked, and put together as an atlas.

=============  =====================================================================================
`plan`         which recordings there are to make, and which can't be made, with the reason
`recordings`   making them, several at a time
`judging`      the verdict on a recording, and what of it has to be the same when it is made again
`effects`      how often each effect was applied, and why once more
`races`        the concurrency table: how many of k racers fire
`profiles`     from verdicts to a system's profile over the nine clauses
`atlas`        all of it, as it is kept in ``results/conformance.json``
=============  =====================================================================================
"""

from __future__ import annotations

__all__: list[str] = []
