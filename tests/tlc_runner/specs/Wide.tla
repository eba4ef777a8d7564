------------------------------- MODULE Wide --------------------------------
\* Values of every kind, some long enough for TLC to wrap them over several lines.
EXTENDS Integers, Sequences, FiniteSets, TLC
CONSTANTS P, NULL
VARIABLES table, rec, set, step

Big == "a rather long string value, so that lines are wrapped"
Init == /\ table = [p \in P |-> [owner |-> NULL, text |-> Big, seen |-> {}]]
        /\ rec = [a |-> 1, b |-> <<1, "two", {3}>>]
        /\ set = {<<p, q>> : p \in P, q \in 1..2}
        /\ step = 0
Take(p, n) == /\ table[p].owner = NULL
              /\ n = Cardinality({q \in P : table[q].owner # NULL})
              /\ table' = [table EXCEPT ![p] = [owner |-> p, text |-> Big, seen |-> {n, -n}]]
              /\ step' = step + 1
              /\ UNCHANGED <<rec, set>>
Next == \E p \in P, n \in 0..5 : Take(p, n)
NotAll == step < Cardinality(P)
=============================================================================
