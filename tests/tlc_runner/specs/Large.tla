-------------------------------- MODULE Large --------------------------------
\* Too large to finish: for timeouts, interrupts and small heaps.
EXTENDS Naturals, Sequences
VARIABLES log, n
Init == log = <<>> /\ n = 0
Add(k) == log' = Append(log, k) /\ n' = n + 1
Next == \E k \in 1..9 : Add(k)
Huge == n = 2 => \E s \in SUBSET (SUBSET (1..26)) : s = {{77}}
==============================================================================
