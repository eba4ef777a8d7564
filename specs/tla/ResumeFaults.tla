----------------------------- MODULE ResumeFaults -----------------------------
(***************************************************************************)
(* ResumeContract with faults: each is one named deviation of one action,  *)
(* switched on by its name in the constant Faults.  With the empty set the *)
(* behaviours are exactly the reference's.                                 *)
(*                                                                         *)
(* A fault adds steps beside those of the action from which it deviates;   *)
(* it may act at every place where it could, and need not.  Three also     *)
(* take something away: lost_commit (a runner that outlived the commit     *)
(* runs no code), orphaned_claim (no take-over) and stuck_running (no      *)
(* ordinary crash of a running branch's runner).                           *)
(*                                                                         *)
(* The places are those of the mirror, pymodel/resume/faults.py, under the *)
(* same names and in the same order.  There are no bounds here: those are  *)
(* in MCResumeFaults.                                                      *)
(***************************************************************************)
EXTENDS ResumeContract

CONSTANT Faults    \* the names of the faults that are on

FaultNames ==
  {"restart_from_earlier", "skip_uncommitted", "unkeyed_effect", "ledger_ignored", "record_before_fire",
   "fork_nondeterminism", "fork_aliases_parent", "invalid_persisted", "torn_checkpoint",
   "late_answer_recorded", "check_then_claim", "recompute_differs", "implicit_fork",
   "answer_replaced", "fork_inherits_answer", "lost_answer", "lost_commit", "unstable_key",
   "orphaned_claim", "stuck_running"}

ASSUME FaultsAreKnown == Faults \subseteq FaultNames

On(f) == f \in Faults

(* One application more.  A model may let the count saturate above 1.       *)
OnceMore(n) == n + 1

-----------------------------------------------------------------------------
(* Types: two faults have a phase, or a status, of their own.               *)

FaultyRunOK == DOMAIN run = Runners /\ \A r \in Runners :
  \/ run[r] = Idle
  \/ /\ run[r].phase \in {"ready", "holds"} \cup (IF On("check_then_claim") THEN {"checked"} ELSE {})
     /\ run[r].branch \in Branches /\ run[r].unit \in Units
     /\ run[r].base \in Nat /\ run[r].step \in StepsIn[run[r].unit] \cup {AtCommit} /\ run[r].epoch \in Nat
     /\ run[r].ok \in BOOLEAN
     /\ run[r].out \in IF run[r].phase = "holds" THEN Values ELSE {None}
FaultyStatusOK ==
  status \in [Branches -> {"absent", "running", "failed", "uncertain", "done"}
                          \cup (IF On("stuck_running") THEN {"stuck"} ELSE {})]

FaultyTypeOK ==
  /\ CkptOK /\ OriginOK /\ declared \subseteq Branches /\ LedgerOK /\ GateOK /\ FaultyStatusOK
  /\ WorldOK /\ FaultyRunOK /\ GhostsOK

-----------------------------------------------------------------------------
(* Load                                                                     *)

(* restart_from_earlier: Load continues from the k-th checkpoint, an older  *)
(* one of the same branch.  What it commits is appended all the same.      *)
LoadEarlier(r, b, k) ==
  /\ On("restart_from_earlier")
  /\ run[r].phase = "idle"
  /\ Running(b)
  /\ k < Len(ckpt[b])
  /\ LET u == UnitAfter(b, k) IN
     \E next \in Arrivals(ledger[b], b, u, 0) :
       run' = [run EXCEPT ![r] = Arrive(b, u, Len(ckpt[b]), next, 0)]
  /\ UNCHANGED <<ckpt, origin, declared, ledger, gate, status, world, own, computed>>

(* ledger_ignored: Load arrives at a step of the next unit although it is   *)
(* recorded.                                                               *)
LoadIgnoringLedger(r, b) ==
  /\ On("ledger_ignored")
  /\ run[r].phase = "idle"
  /\ Running(b)
  /\ LET u == UnitAfter(b, Len(ckpt[b])) IN
     /\ u <= UnitCount
     /\ \E next \in {x \in StepsIn[u] : Kind[x] # "gate" /\ ledger[b][x].out # None} :
          run' = [run EXCEPT ![r] = Arrive(b, u, Len(ckpt[b]), next, 0)]
  /\ UNCHANGED <<ckpt, origin, declared, ledger, gate, status, world, own, computed>>

(* implicit_fork: a resume from an older checkpoint makes a branch that     *)
(* nobody declared.                                                        *)
LoadForking(r, b, i, c) ==
  /\ On("implicit_fork")
  /\ run[r].phase = "idle"
  /\ Exists(b) /\ ~Exists(c)
  /\ i < Len(ckpt[b])
  /\ BranchOff(b, i, c)
  /\ LET u == UnitAfter(b, i) IN
     \E next \in {x \in StepsIn[u] : After[x] = {}} : run' = [run EXCEPT ![r] = Arrive(c, u, i, next, 0)]
  /\ UNCHANGED <<declared, ledger, world, own, computed>>

-----------------------------------------------------------------------------
(* Compute and Fire                                                         *)

(* recompute_differs: a runner whose step is recorded already computes      *)
(* another outcome.                                                        *)
ComputeDiffering(r) ==
  /\ On("recompute_differs")
  /\ Ready(r, "pure")
  /\ LET b == run[r].branch x == run[r].step IN
     /\ ledger[b][x].out # None
     /\ \E o \in Values \ {Outcome(b, x)} :
          /\ run' = [run EXCEPT ![r].phase = "holds", ![r].out = o, ![r].ok = TRUE]
          /\ computed' = computed \cup {[branch |-> b, step |-> x, inputs |-> Content(b, x), out |-> o]}
  /\ UNCHANGED <<ckpt, origin, declared, ledger, gate, status, world, own>>

(* fork_nondeterminism: the first computation of a step in a forked branch  *)
(* fixes another outcome there.                                            *)
ComputeForked(r) ==
  /\ On("fork_nondeterminism")
  /\ Ready(r, "pure")
  /\ LET b == run[r].branch x == run[r].step IN
     /\ origin[b].parent # None
     /\ \A k \in computed : ~(k.branch = b /\ k.step = x)
     /\ \E o \in Values \ {Outcome(b, x)} :
          /\ run' = [run EXCEPT ![r].phase = "holds", ![r].out = o, ![r].ok = TRUE]
          /\ computed' = computed \cup {[branch |-> b, step |-> x, inputs |-> Content(b, x), out |-> o]}
  /\ UNCHANGED <<ckpt, origin, declared, ledger, gate, status, world, own>>

(* fork_nondeterminism: the first firing of an effect in a forked branch    *)
(* fixes another answer there.                                             *)
FireForked(r) ==
  /\ On("fork_nondeterminism")
  /\ Ready(r, "effect")
  /\ LET b == run[r].branch x == run[r].step IN
     /\ origin[b].parent # None
     /\ world[b][x].applied = 0
     /\ \E o \in Values \ {Outcome(b, x)} :
          /\ world' = [world EXCEPT ![b][x] = [applied |-> 1, answer |-> o, ok |-> TRUE]]
          /\ run' = [run EXCEPT ![r].phase = "holds", ![r].out = o, ![r].ok = TRUE]
  /\ UNCHANGED <<ckpt, origin, declared, ledger, gate, status, own, computed>>

(* An effect that was applied is applied again, with the first answer.      *)
FireAgain(r) ==
  /\ Ready(r, "effect")
  /\ LET b == run[r].branch x == run[r].step w == world[b][x] IN
     /\ w.applied # 0
     /\ world' = [world EXCEPT ![b][x].applied = OnceMore(@)]
     /\ run' = [run EXCEPT ![r].phase = "holds", ![r].out = w.answer, ![r].ok = w.ok]
  /\ UNCHANGED <<ckpt, origin, declared, ledger, gate, status, own, computed>>
AtRecorded(r) == ledger[run[r].branch][run[r].step].out # None

(* unkeyed_effect: any repeat is applied.                                   *)
FireUnkeyed(r) == On("unkeyed_effect") /\ FireAgain(r)
(* ledger_ignored: recorded work is fired again, under a new key.           *)
FireRecorded(r) == On("ledger_ignored") /\ Ready(r, "effect") /\ AtRecorded(r) /\ FireAgain(r)
(* unstable_key: a retry of what isn't recorded yet sends another key.      *)
FireRetried(r) == On("unstable_key") /\ Ready(r, "effect") /\ ~AtRecorded(r) /\ FireAgain(r)

-----------------------------------------------------------------------------
(* Record                                                                   *)

(* record_before_fire: the outcome of an effect becomes durable before it   *)
(* is fired.                                                               *)
RecordUnfired(r) ==
  /\ On("record_before_fire")
  /\ Ready(r, "effect")
  /\ CanRecord(r)
  /\ LET b == run[r].branch x == run[r].step IN
     /\ world[b][x].applied = 0 /\ ledger[b][x].out = None
     /\ ledger' = [ledger EXCEPT ![b][x] = [out |-> Outcome(b, x), ok |-> TRUE]]
  /\ UNCHANGED <<ckpt, origin, declared, gate, status, world, run, own, computed>>

(* invalid_persisted: an invalid outcome is recorded, its value kept; only  *)
(* its flag tells.                                                         *)
RecordInvalid(r) ==
  /\ On("invalid_persisted")
  /\ Holding(r) /\ ~run[r].ok
  /\ CanRecord(r)
  /\ LET b == run[r].branch x == run[r].step u == run[r].unit e == run[r].epoch
         L == IF ledger[b][x].out = None
              THEN [ledger[b] EXCEPT ![x] = [out |-> run[r].out, ok |-> FALSE]] ELSE ledger[b] IN
     /\ ledger' = [ledger EXCEPT ![b] = L]
     /\ \E next \in Arrivals(L, b, u, e) :
          run' = [run EXCEPT ![r] = Arrive(b, u, run[r].base, next, e)]
  /\ UNCHANGED <<ckpt, origin, declared, gate, status, world, own, computed>>

-----------------------------------------------------------------------------
(* Commit                                                                   *)

(* skip_uncommitted: go on to the next unit without a commit, using the     *)
(* recorded outcomes.                                                      *)
CommitSkipping(r) ==
  /\ On("skip_uncommitted")
  /\ Committing(r)
  /\ Running(run[r].branch) /\ EpochCurrent(r)
  /\ run[r].unit < UnitCount
  /\ LET b == run[r].branch u == run[r].unit + 1 IN
     \E next \in Arrivals(ledger[b], b, u, 0) :
       run' = [run EXCEPT ![r] = Arrive(b, u, run[r].base, next, 0)]
  /\ UNCHANGED <<ckpt, origin, declared, ledger, gate, status, world, own, computed>>

(* fork_aliases_parent: a child's commit overwrites the parent's newest     *)
(* checkpoint of the same unit with the child's outcomes.                  *)
CommitAliasing(r) ==
  /\ On("fork_aliases_parent")
  /\ Committing(r)
  /\ CanCommit(r)
  /\ LET b == run[r].branch u == run[r].unit e == Sealing(b, u) p == origin[b].parent IN
     /\ p # None
     /\ Has(p, u)
     /\ LET at == {i \in DOMAIN ckpt[p] : ckpt[p][i].unit = u}
            i == CHOOSE i \in at : \A j \in at : j <= i IN
        ckpt' = [ckpt EXCEPT ![b] = Append(@, e), ![p][i].out = e.out]
     /\ own' = [own EXCEPT ![b] = Append(@, [entry |-> e, acked |-> TRUE])]
     /\ gate' = IF GateIn[u] = None THEN gate ELSE [gate EXCEPT ![b][GateIn[u]].status = "consumed"]
     /\ IF u = UnitCount
        THEN /\ status' = [status EXCEPT ![b] = "done"]
             /\ run' = [run EXCEPT ![r] = Idle]
        ELSE /\ status' = status
             /\ \E next \in Arrivals(ledger[b], b, u + 1, 0) :
                  run' = [run EXCEPT ![r] = Arrive(b, u + 1, run[r].base + 1, next, 0)]
  /\ UNCHANGED <<origin, declared, ledger, world, computed>>

-----------------------------------------------------------------------------
(* Claim and TakeOver                                                       *)

(* check_then_claim: the read.  The gate is answered; the write comes later. *)
ClaimChecking(r) ==
  /\ On("check_then_claim")
  /\ Ready(r, "gate")
  /\ CanClaim(r)
  /\ run' = [run EXCEPT ![r].phase = "checked"]
  /\ UNCHANGED <<ckpt, origin, declared, ledger, gate, status, world, own, computed>>

(* check_then_claim: the later write, whatever has happened to the gate.    *)
(* The second writer shares the epoch of the first.                        *)
ClaimWriting(r) ==
  /\ On("check_then_claim")
  /\ run[r].phase = "checked"
  /\ Running(run[r].branch)
  /\ LET k == GateOf(r) IN
     /\ k.acks # <<>>
     /\ LET v == Head(k.acks).value e == IF k.epoch = 0 THEN 1 ELSE k.epoch IN
        /\ gate' = [gate EXCEPT ![run[r].branch][run[r].step] =
                      [k EXCEPT !.status = IF @ = "consumed" THEN @ ELSE "claimed",
                                !.epoch = e, !.claims = @ + 1, !.passed = v]]
        /\ run' = [run EXCEPT ![r].phase = "holds", ![r].out = v, ![r].ok = TRUE, ![r].epoch = e]
  /\ UNCHANGED <<ckpt, origin, declared, ledger, status, world, own, computed>>

(* check_then_claim: who has read, and can't write as the branch isn't      *)
(* running any more, goes away.                                            *)
ClaimDropping(r) ==
  /\ On("check_then_claim")
  /\ run[r].phase = "checked"
  /\ ~Running(run[r].branch)
  /\ run' = [run EXCEPT ![r] = Idle]
  /\ UNCHANGED <<ckpt, origin, declared, ledger, gate, status, world, own, computed>>

(* orphaned_claim: an expired claim isn't passed on, who comes is refused.  *)
TakeOverRefused(r) ==
  /\ On("orphaned_claim")
  /\ Ready(r, "gate")
  /\ CanTakeOver(r)
  /\ run' = [run EXCEPT ![r] = Idle]
  /\ UNCHANGED <<ckpt, origin, declared, ledger, gate, status, world, own, computed>>

-----------------------------------------------------------------------------
(* Park                                                                     *)

(* fork_inherits_answer: a forked branch's gate has its parent's answer,    *)
(* without being asked.                                                    *)
ParkInheriting(r) ==
  /\ On("fork_inherits_answer")
  /\ Ready(r, "gate")
  /\ CanPark(r)
  /\ LET b == run[r].branch g == run[r].step p == origin[b].parent IN
     /\ p # None
     /\ gate[p][g].acks # <<>>
     /\ gate' = [gate EXCEPT ![b][g].status = "answered", ![b][g].acks = gate[p][g].acks]
  /\ UNCHANGED <<ckpt, origin, declared, ledger, status, world, run, own, computed>>

-----------------------------------------------------------------------------
(* Stale                                                                    *)

(* lost_commit: the branch is shorter than when r reached its unit.         *)
IsOutlived(r) == run[r].phase # "idle" /\ Len(ckpt[run[r].branch]) < run[r].base
(* Who outlived the branch's last checkpoint is refused, and runs no code.  *)
Outlived(r) ==
  /\ On("lost_commit")
  /\ IsOutlived(r)
  /\ run' = [run EXCEPT ![r] = Idle]
  /\ UNCHANGED <<ckpt, origin, declared, ledger, gate, status, world, own, computed>>
MayRun(r) == IF On("lost_commit") THEN ~IsOutlived(r) ELSE TRUE

-----------------------------------------------------------------------------
(* Deliver                                                                  *)

Acknowledged(b, g, d) == \E i \in DOMAIN gate[b][g].acks : gate[b][g].acks[i].id = d

(* late_answer_recorded: a second answer is acknowledged and durable, and   *)
(* isn't consulted.                                                        *)
DeliverLate(b, g, d, v) ==
  /\ On("late_answer_recorded")
  /\ Exists(b)
  /\ gate[b][g].status \in {"answered", "claimed", "consumed"}
  /\ gate[b][g].acks # <<>> /\ ~Acknowledged(b, g, d)
  /\ gate' = [gate EXCEPT ![b][g].acks = Append(@, [to |-> b, id |-> d, value |-> v])]
  /\ UNCHANGED <<ckpt, origin, declared, ledger, status, world, run, own, computed>>

(* answer_replaced: a later answer takes the first one's place, and passes. *)
(* Once a claim is out, only while nobody holds it and nothing of it is     *)
(* recorded: going on with another answer than passed is another deviation. *)
DeliverReplacing(b, g, d, v) ==
  /\ On("answer_replaced")
  /\ Running(b)
  /\ gate[b][g].acks # <<>> /\ ~Acknowledged(b, g, d)
  /\ LET k == gate[b][g] IN
     /\ IF k.status = "answered" THEN TRUE
        ELSE k.status = "claimed" /\ ledger[b][g].out = None /\ ~Held(b, g)
     /\ gate' = [gate EXCEPT ![b][g] =
                   [k EXCEPT !.acks = <<[to |-> b, id |-> d, value |-> v]>> \o @,
                             !.passed = IF k.status = "claimed" THEN v ELSE @]]
  /\ UNCHANGED <<ckpt, origin, declared, ledger, status, world, run, own, computed>>

-----------------------------------------------------------------------------
(* Crash                                                                    *)

(* torn_checkpoint: a crash inside Commit leaves an incomplete checkpoint,  *)
(* which counts as the newest.                                             *)
CrashTearing(r) ==
  /\ On("torn_checkpoint")
  /\ Committing(r)
  /\ CanCommit(r)
  /\ LET b == run[r].branch e == [Sealing(b, run[r].unit) EXCEPT !.complete = FALSE] IN
     /\ ckpt' = [ckpt EXCEPT ![b] = Append(@, e)]
     /\ own' = [own EXCEPT ![b] = Append(@, [entry |-> e, acked |-> FALSE])]
  /\ run' = [run EXCEPT ![r] = Idle]
  /\ UNCHANGED <<origin, declared, ledger, gate, status, world, computed>>

(* lost_commit: an acknowledged commit is gone after a crash; its gate is   *)
(* claimed and expired again.                                              *)
CrashLosingCommit(r, b) ==
  /\ On("lost_commit")
  /\ run[r].phase # "idle"
  /\ own[b] # <<>>
  /\ LET n == Len(ckpt[b]) IN
     /\ n > origin[b].index
     /\ ckpt' = [ckpt EXCEPT ![b] = SubSeq(@, 1, n - 1)]
     /\ LET g == GateIn[ckpt[b][n].unit] IN
        gate' = IF g = None THEN gate
                ELSE [gate EXCEPT ![b][g].status = "claimed", ![b][g].expired = TRUE]
  /\ status' = [status EXCEPT ![b] = "running"]
  /\ run' = [run EXCEPT ![r] = Idle]
  /\ UNCHANGED <<origin, declared, ledger, world, own, computed>>

(* lost_answer: an acknowledged answer is gone after a crash.               *)
CrashLosingAnswer(r, b, g) ==
  /\ On("lost_answer")
  /\ run[r].phase # "idle"
  /\ gate[b][g].status = "answered"
  /\ gate' = [gate EXCEPT ![b][g].status = "parked"]
  /\ run' = [run EXCEPT ![r] = Idle]
  /\ UNCHANGED <<ckpt, origin, declared, ledger, status, world, own, computed>>

(* stuck_running: the run of a crashed process can never be loaded again.   *)
CrashSticking(r) ==
  /\ On("stuck_running")
  /\ run[r].phase # "idle"
  /\ Running(run[r].branch)
  /\ status' = [status EXCEPT ![run[r].branch] = "stuck"]
  /\ run' = [run EXCEPT ![r] = Idle]
  /\ UNCHANGED <<ckpt, origin, declared, ledger, gate, world, own, computed>>
MayCrash(r) == IF On("stuck_running") THEN run[r].phase # "idle" /\ ~Running(run[r].branch) ELSE TRUE

-----------------------------------------------------------------------------
(* What runs: the reference's steps, those less that a fault takes away,    *)
(* and those that the faults add.                                          *)

FaultyRunnerStep(r) ==
  \/ (MayRun(r) /\ \E ok \in BOOLEAN : Compute(r, ok) \/ Fire(r, ok))
  \/ Record(r) \/ Memo(r) \/ Commit(r)
  \/ Park(r) \/ Claim(r) \/ (~On("orphaned_claim") /\ TakeOver(r)) \/ Refuse(r) \/ Stale(r) \/ Reject(r)
  \/ ComputeDiffering(r) \/ ComputeForked(r) \/ FireForked(r)
  \/ FireUnkeyed(r) \/ FireRecorded(r) \/ FireRetried(r)
  \/ RecordUnfired(r) \/ RecordInvalid(r) \/ CommitSkipping(r) \/ CommitAliasing(r)
  \/ ClaimChecking(r) \/ ClaimWriting(r) \/ ClaimDropping(r) \/ TakeOverRefused(r)
  \/ ParkInheriting(r) \/ Outlived(r)

FaultyNext ==
  \/ \E r \in Runners : \E b \in Branches :
       \/ Load(r, b) \/ LoadIgnoringLedger(r, b) \/ CrashLosingCommit(r, b)
       \/ \E i \in 0 .. Len(ckpt[b]) : LoadEarlier(r, b, i) \/ \E c \in Branches : LoadForking(r, b, i, c)
  \/ \E r \in Runners : FaultyRunnerStep(r)
  \/ \E r \in Runners : (MayCrash(r) /\ Crash(r)) \/ CrashTearing(r) \/ CrashSticking(r)
  \/ \E b \in Branches : \E g \in Gates :
       \/ \E r \in Runners : CrashLosingAnswer(r, b, g)
       \/ \E d \in Deliveries : \E v \in Values :
            Deliver(b, g, d, v) \/ DeliverLate(b, g, d, v) \/ DeliverReplacing(b, g, d, v)
       \/ Expire(b, g)
  \/ \E b, c \in Branches : \E i \in 0 .. Len(ckpt[b]) : Fork(b, i, c)

(* The fairness of the reference; a runner's own steps are those that it    *)
(* has now.                                                                *)
FaultyFairness == FairLoads /\ (\A r \in Runners : WF_vars(FaultyRunnerStep(r))) /\ FairExpiry

FaultySpec == Init /\ [][FaultyNext]_vars /\ FaultyFairness
=============================================================================
