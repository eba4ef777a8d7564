-------------------------- MODULE MCResumeContract --------------------------
(***************************************************************************)
(* Bounds for ResumeContract: programs, identities and budgets.  Each      *)
(* budget is a variable that one action spends, so that "eventually stop"  *)
(* in LV holds of every behaviour here.                                    *)
(***************************************************************************)
EXTENDS ResumeContract, TLC

CONSTANTS
  MaxCrashes,                 \* crashes in a behaviour
  MaxExpiries,                \* expiries of claims that a runner still holds
  MaxInvalid                  \* invalid outcomes

VARIABLES
  crashes,    \* crashes so far
  expiries,   \* expiries of live claims so far
  invalid     \* invalid outcomes so far

budgets == <<crashes, expiries, invalid>>
mcvars == <<vars, budgets>>

-----------------------------------------------------------------------------
(* Programs.  Steps are numbered in the order in which they stand.          *)

(* effect | pure | gate | effect *)
LinearUnitOf == <<1, 2, 3, 4>>
LinearKind == <<"effect", "pure", "gate", "effect">>
LinearAfter == <<{}, {}, {}, {}>>

(* effect || pure  |  gate  |  effect *)
ParallelUnitOf == <<1, 1, 2, 3>>
ParallelKind == <<"effect", "pure", "gate", "effect">>
ParallelAfter == <<{}, {}, {}, {}>>

(* pure  |  effect ; gate ; effect *)
SandwichUnitOf == <<1, 2, 2, 2>>
SandwichKind == <<"pure", "effect", "gate", "effect">>
SandwichAfter == <<{}, {}, {2}, {2, 3}>>

(* pure ; (gate || effect)  |  pure *)
MixedUnitOf == <<1, 1, 1, 2>>
MixedKind == <<"pure", "gate", "effect", "pure">>
MixedAfter == <<{}, {1}, {1}, {}>>

(* gate ; effect *)
GatedUnitOf == <<1, 1>>
GatedKind == <<"gate", "effect">>
GatedAfter == <<{}, {1}>>

(* gate || effect *)
BesideUnitOf == <<1, 1>>
BesideKind == <<"gate", "effect">>
BesideAfter == <<{}, {}>>

(* pure ; gate *)
AskedUnitOf == <<1, 1>>
AskedKind == <<"pure", "gate">>
AskedAfter == <<{}, {1}>>

(* The code of a step.  Any function would do that depends on each value it *)
(* reads, so that no lost input goes unnoticed: here on how many are odd.   *)
MCF(x, content) ==
  1 + ((x + Cardinality({y \in DOMAIN content : content[y] % 2 = 1})) % Cardinality(Values))

(* The value of an answer is its identity, see MCDeliver. *)
ASSUME Deliveries \subseteq Values

-----------------------------------------------------------------------------
MCInit == Init /\ crashes = 0 /\ expiries = 0 /\ invalid = 0


(* An invalid outcome is chosen here, or it was when the effect was first applied. *)
ChoosesInvalid(r, ok) ==
  ~ok /\ (Kind[run[r].step] = "effect" => world[run[r].branch][run[r].step].applied = 0)
Validity(r, ok) ==
  /\ invalid' = IF ChoosesInvalid(r, ok) THEN invalid + 1 ELSE invalid
  /\ invalid' <= MaxInvalid
  /\ UNCHANGED <<crashes, expiries>>

MCLoad(r, b) == Load(r, b) /\ UNCHANGED budgets
MCCompute(r, ok) == Ready(r, "pure") /\ Validity(r, ok) /\ Compute(r, ok)
MCFire(r, ok) == Ready(r, "effect") /\ Validity(r, ok) /\ Fire(r, ok)
MCRecord(r) == Record(r) /\ UNCHANGED budgets
MCMemo(r) == Memo(r) /\ UNCHANGED budgets
MCCommit(r) == Commit(r) /\ UNCHANGED budgets
MCPark(r) == Park(r) /\ UNCHANGED budgets
MCClaim(r) == Claim(r) /\ UNCHANGED budgets
MCTakeOver(r) == TakeOver(r) /\ UNCHANGED budgets
MCRefuse(r) == Refuse(r) /\ UNCHANGED budgets
MCStale(r) == Stale(r) /\ UNCHANGED budgets
MCReject(r) == Reject(r) /\ UNCHANGED budgets
(* The value of an answer is its identity: two answers always differ. *)
MCDeliver(b, g, d) == Deliver(b, g, d, d) /\ UNCHANGED budgets
(* Only expiries of live claims are bounded: dead ones must be free, or LV fails. *)
MCExpire(b, g) ==
  /\ Expire(b, g)
  /\ expiries' = IF Held(b, g) THEN expiries + 1 ELSE expiries
  /\ expiries' <= MaxExpiries
  /\ UNCHANGED <<crashes, invalid>>
MCCrash(r) ==
  /\ crashes < MaxCrashes
  /\ Crash(r)
  /\ crashes' = crashes + 1
  /\ UNCHANGED <<expiries, invalid>>
(* Branch identities are taken in order: which free one is taken means nothing. *)
MCFork(b, c) ==
  /\ ~Exists(c)
  /\ \A a \in Branches : a < c => Exists(a)
  /\ \E i \in 0 .. Len(ckpt[b]) : Fork(b, i, c)
  /\ UNCHANGED budgets

MCNext ==
  \/ \E r \in Runners, b \in Branches : MCLoad(r, b)
  \/ \E r \in Runners, ok \in BOOLEAN : MCCompute(r, ok)
  \/ \E r \in Runners, ok \in BOOLEAN : MCFire(r, ok)
  \/ \E r \in Runners : MCRecord(r)
  \/ \E r \in Runners : MCMemo(r)
  \/ \E r \in Runners : MCCommit(r)
  \/ \E r \in Runners : MCPark(r)
  \/ \E r \in Runners : MCClaim(r)
  \/ \E r \in Runners : MCTakeOver(r)
  \/ \E r \in Runners : MCRefuse(r)
  \/ \E r \in Runners : MCStale(r)
  \/ \E r \in Runners : MCReject(r)
  \/ \E b \in Branches, g \in Gates, d \in Deliveries : MCDeliver(b, g, d)
  \/ \E b \in Branches, g \in Gates : MCExpire(b, g)
  \/ \E r \in Runners : MCCrash(r)
  \/ \E b \in Branches, c \in Branches : MCFork(b, c)

MCSpec == MCInit /\ [][MCNext]_mcvars
MCFairSpec == MCSpec /\ Fairness

(* What each part of Fairness is for: without it LV fails, see specs/README.md. *)
MCWeakLoadSpec ==    \* a runner may load a parked branch and be refused for ever
  /\ MCSpec
  /\ \A b \in Branches : WF_vars(\E r \in Runners : Load(r, b))
  /\ FairRunners /\ FairExpiry
MCUnfairExpirySpec == MCSpec /\ FairLoads /\ FairRunners    \* a dead claim may stay for ever
MCUnfairRunnerSpec == MCSpec /\ FairLoads /\ FairExpiry     \* a process may stand still without a crash

BudgetsOK == crashes \in 0 .. MaxCrashes /\ expiries \in 0 .. MaxExpiries /\ invalid \in 0 .. MaxInvalid
=============================================================================
