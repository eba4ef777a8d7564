-------------------------- MODULE MCResumeContract --------------------------
(***************************************************************************)
(* Bounds for ResumeContract: programs, identities and budgets.  Each      *)
(* budget is a variable that one action spends, so that "eventually stop"  *)
(* in LV holds of every behaviour here.                                    *)
(***************************************************************************)
EXTENDS ResumeContract, TLC

CONSTANTS
  RunnerCount, BranchCount,   \* identities are 1 .. n
  AnswerCount,                \* delivery d carries the value d
  ValueCount,                 \* outcomes are 1 .. n, n >= AnswerCount
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

Program(units, kinds, after) == [units |-> units, kinds |-> kinds, after |-> after]

(* effect | pure | gate | effect *)
Linear == Program(<<1, 2, 3, 4>>, <<"effect", "pure", "gate", "effect">>, <<{}, {}, {}, {}>>)
(* effect || pure  |  gate  |  effect *)
Parallel == Program(<<1, 1, 2, 3>>, <<"effect", "pure", "gate", "effect">>, <<{}, {}, {}, {}>>)
(* pure  |  effect ; gate ; effect *)
Sandwich == Program(<<1, 2, 2, 2>>, <<"pure", "effect", "gate", "effect">>, <<{}, {}, {2}, {2, 3}>>)
(* pure ; gate || effect, the gate first in no order with the effect, then a pure *)
Mixed == Program(<<1, 1, 1, 2>>, <<"pure", "gate", "effect", "pure">>, <<{}, {1}, {1}, {}>>)
(* gate ; effect *)
Gated == Program(<<1, 1>>, <<"gate", "effect">>, <<{}, {1}>>)
(* pure ; gate *)
Asked == Program(<<1, 1>>, <<"pure", "gate">>, <<{}, {1}>>)

CONSTANT TheProgram
MCSteps == DOMAIN TheProgram.units
MCUnitOf == TheProgram.units
MCUnitCount == TheProgram.units[Len(TheProgram.units)]
MCKind == TheProgram.kinds
MCAfter == TheProgram.after
MCRunners == 1 .. RunnerCount
MCBranches == 1 .. BranchCount
MCDeliveries == 1 .. AnswerCount
MCValues == 1 .. ValueCount

(* The code of a step.  Any function would do that depends on all it reads, *)
(* so that no lost input goes unnoticed.                                   *)
RECURSIVE Sum(_, _)
Sum(f, S) == IF S = {} THEN 0 ELSE LET y == CHOOSE y \in S : TRUE IN f[y] + Sum(f, S \ {y})
MCF(x, content) == 1 + ((x + Sum(content, DOMAIN content)) % ValueCount)

ASSUME AnswerCount <= ValueCount

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
MCCompute(r, ok) == Compute(r, ok) /\ Validity(r, ok)
MCFire(r, ok) == Fire(r, ok) /\ Validity(r, ok)
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
MCFork(b, i, c) ==
  /\ \A a \in Branches : a < c => Exists(a)
  /\ Fork(b, i, c)
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
  \/ \E b \in Branches, c \in Branches : \E i \in 0 .. Len(ckpt[b]) : MCFork(b, i, c)

MCSpec == MCInit /\ [][MCNext]_mcvars
MCFairSpec == MCSpec /\ Fairness

BudgetsOK == crashes \in 0 .. MaxCrashes /\ expiries \in 0 .. MaxExpiries /\ invalid \in 0 .. MaxInvalid
=============================================================================
