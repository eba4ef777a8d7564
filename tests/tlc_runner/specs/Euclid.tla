------------------------------- MODULE Euclid -------------------------------
\* Greatest common divisor, in PlusCal.
EXTENDS Naturals
CONSTANT N

(* --algorithm Euclid
variables u \in 1..N, v \in 1..N;
begin
  Loop: while u # v do
    if u < v then v := v - u; else u := u - v; end if;
  end while;
end algorithm; *)
\* BEGIN TRANSLATION - the hash of the PCal code: PCal-36fccfbf55456525e8c0598a5755fa0c
VARIABLES u, v, pc

vars == << u, v, pc >>

Init == (* Global variables *)
        /\ u \in 1..N
        /\ v \in 1..N
        /\ pc = "Loop"

Loop == /\ pc = "Loop"
        /\ IF u # v
              THEN /\ IF u < v
                         THEN /\ v' = v - u
                              /\ u' = u
                         ELSE /\ u' = u - v
                              /\ v' = v
                   /\ pc' = "Loop"
              ELSE /\ pc' = "Done"
                   /\ UNCHANGED << u, v >>

(* Allow infinite stuttering to prevent deadlock on termination. *)
Terminating == pc = "Done" /\ UNCHANGED vars

Next == Loop
           \/ Terminating

Spec == Init /\ [][Next]_vars

Termination == <>(pc = "Done")

\* END TRANSLATION - the hash of the generated TLA code (remove to silence divergence warnings): TLA-b5a53e7f37ccb40e0abe6d46ae8031d9
=============================================================================
