------------------------- MODULE MCSequencerEnabled -------------------------
(***************************************************************************)
(* When the actions under fairness are enabled: the conditions that        *)
(* Sequencer writes out for R!Fairness, in ResumeContract itself, where    *)
(* TLC can compare them with ENABLED.                                      *)
(***************************************************************************)
EXTENDS MCResumeContract

CanArrive(x) ==
  \E r \in Runners : run[r].phase = "idle" /\ Running(1)
                     /\ x \in Arrivals(ledger[1], 1, UnitAfter(1, Len(ckpt[1])), 0)
CanGoOn(r) == run[r].phase # "idle"
CanExpire(g) == ~Held(1, g) /\ gate[1][g].status = "claimed" /\ ~gate[1][g].expired

EnabledLoads == \A x \in Steps \cup {AtCommit} :
  CanArrive(x) = ENABLED (\E r \in Runners : Load(r, 1) /\ run'[r].step = x)
EnabledRunners == \A r \in Runners : CanGoOn(r) = ENABLED RunnerStep(r)
EnabledExpiry == \A g \in Gates : CanExpire(g) = ENABLED (~Held(1, g) /\ Expire(1, g))
=============================================================================
