----------------------------- MODULE FilterLock -----------------------------
(* Peterson's lock for any number of processes: each must pass every waiting *)
(* level, and at each of them the last one to arrive lets the others by.     *)
EXTENDS Naturals, FiniteSets

CONSTANTS Processes, Levels

VARIABLES pc, level, victim

vars == <<pc, level, victim>>

Init == /\ pc = [p \in Processes |-> "idle"]
        /\ level = [p \in Processes |-> 0]
        /\ victim = [l \in 1..Levels |-> 0]

Start(p) == /\ pc[p] = "idle"
            /\ pc' = [pc EXCEPT ![p] = "claim"]
            /\ level' = [level EXCEPT ![p] = 1]
            /\ UNCHANGED victim

Claim(p) == /\ pc[p] = "claim"
            /\ pc' = [pc EXCEPT ![p] = "wait"]
            /\ victim' = [victim EXCEPT ![level[p]] = p]
            /\ UNCHANGED level

MayPass(p) == \/ victim[level[p]] # p
              \/ \A q \in Processes \ {p} : level[q] < level[p]

Pass(p) == /\ pc[p] = "wait"
           /\ MayPass(p)
           /\ IF level[p] < Levels
              THEN /\ pc' = [pc EXCEPT ![p] = "claim"]
                   /\ level' = [level EXCEPT ![p] = @ + 1]
              ELSE /\ pc' = [pc EXCEPT ![p] = "critical"]
                   /\ UNCHANGED level
           /\ UNCHANGED victim

Leave(p) == /\ pc[p] = "critical"
            /\ pc' = [pc EXCEPT ![p] = "idle"]
            /\ level' = [level EXCEPT ![p] = 0]
            /\ UNCHANGED victim

Next == \E p \in Processes : Start(p) \/ Claim(p) \/ Pass(p) \/ Leave(p)

Spec == Init /\ [][Next]_vars

MutualExclusion == Cardinality({p \in Processes : pc[p] = "critical"}) <= 1
=============================================================================
