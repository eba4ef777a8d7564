---------------------------- MODULE MCSequencer ----------------------------
(***************************************************************************)
(* Programs for the Sequencer.  They, and MCF, are those of                *)
(* MCResumeContract whose units have their steps in line.                  *)
(***************************************************************************)
EXTENDS Sequencer

(* effect | pure | gate | effect *)
LinearUnitOf == <<1, 2, 3, 4>>
LinearKind == <<"effect", "pure", "gate", "effect">>

(* pure | effect ; gate ; effect *)
SandwichUnitOf == <<1, 2, 2, 2>>
SandwichKind == <<"pure", "effect", "gate", "effect">>

(* gate ; effect *)
GatedUnitOf == <<1, 1>>
GatedKind == <<"gate", "effect">>

MCF(x, content) ==
  1 + ((x + Cardinality({y \in DOMAIN content : content[y] % 2 = 1})) % Cardinality(Values))

-----------------------------------------------------------------------------
(* What each part of the fairness is for: without it the part of            *)
(* R!Fairness that it gives is lost.                                       *)
RunnersAreFair == \A r \in Runners : WF_vars(Runner(r))
UnfairClockSpec == Init /\ [][Next]_vars /\ RunnersAreFair
UnfairRunnerSpec == Init /\ [][Next]_vars /\ WF_vars(Clock)
UnfairLoadSpec ==
  /\ Init /\ [][Next]_vars
  /\ \A r \in Runners : WF_vars(pc[r] # "Load" /\ Runner(r))
  /\ WF_vars(Clock)
=============================================================================
