"""Models that break one clause alone.

The place for them; there are none yet.  Until then, ``resume-contract explain CLAUSE`` shows for each clause a fault
that breaks it and no other, and ``tests/agreement`` holds every fault to that.
"""
