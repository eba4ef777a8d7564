---------------------------- MODULE MCResumeFaults ----------------------------
(***************************************************************************)
(* Bounds for ResumeFaults.  Programs, identities and budgets are those of *)
(* MCResumeContract; a crash that does more than crash spends the same     *)
(* budget.  A branch has room for MaxLength checkpoints, as a restart from *)
(* an earlier one could go on for ever.                                    *)
(***************************************************************************)
EXTENDS MCResumeContract, ResumeFaults

CONSTANT MaxLength    \* checkpoints of a branch

(* EO is broken at two applications: more needn't be told apart. *)
MCOnceMore(n) == IF n < 2 THEN n + 1 ELSE n

(* A fault has acted.  A model may note it. *)
Did(f) == TRUE

-----------------------------------------------------------------------------
(* There is room for one checkpoint more where r commits. *)
Room(r) == Len(ckpt[run[r].branch]) < MaxLength /\ Len(own[run[r].branch]) < MaxLength

(* Branch identities are taken in order. *)
Following(c) == ~Exists(c) /\ \A a \in Branches : a < c => Exists(a)

Crashing == crashes < MaxCrashes /\ crashes' = crashes + 1 /\ UNCHANGED <<expiries, invalid>>

MCMayCompute(r, ok) == MayRun(r) /\ MCCompute(r, ok)
MCMayFire(r, ok) == MayRun(r) /\ MCFire(r, ok)
MCMayCommit(r) == Committing(r) /\ Room(r) /\ MCCommit(r)
MCMayTakeOver(r) == ~On("orphaned_claim") /\ MCTakeOver(r)
MCMayCrash(r) == MayCrash(r) /\ MCCrash(r)

MCLoadEarlier(r, b) ==
  (\E k \in 0 .. Len(ckpt[b]) : LoadEarlier(r, b, k)) /\ UNCHANGED budgets /\ Did("restart_from_earlier")
MCLoadIgnoringLedger(r, b) == LoadIgnoringLedger(r, b) /\ UNCHANGED budgets /\ Did("ledger_ignored")
MCLoadForking(r, b, c) ==
  /\ Following(c)
  /\ (\E i \in 0 .. Len(ckpt[b]) : LoadForking(r, b, i, c)) /\ UNCHANGED budgets /\ Did("implicit_fork")
MCComputeDiffering(r) == ComputeDiffering(r) /\ UNCHANGED budgets /\ Did("recompute_differs")
MCComputeForked(r) == ComputeForked(r) /\ UNCHANGED budgets /\ Did("fork_nondeterminism")
MCFireForked(r) == FireForked(r) /\ UNCHANGED budgets /\ Did("fork_nondeterminism")
MCFireUnkeyed(r) == FireUnkeyed(r) /\ UNCHANGED budgets /\ Did("unkeyed_effect")
MCFireRecorded(r) == FireRecorded(r) /\ UNCHANGED budgets /\ Did("ledger_ignored")
MCFireRetried(r) == FireRetried(r) /\ UNCHANGED budgets /\ Did("unstable_key")
MCRecordUnfired(r) == RecordUnfired(r) /\ UNCHANGED budgets /\ Did("record_before_fire")
MCRecordInvalid(r) == RecordInvalid(r) /\ UNCHANGED budgets /\ Did("invalid_persisted")
MCCommitSkipping(r) == CommitSkipping(r) /\ UNCHANGED budgets /\ Did("skip_uncommitted")
MCCommitAliasing(r) ==
  Committing(r) /\ Room(r) /\ CommitAliasing(r) /\ UNCHANGED budgets /\ Did("fork_aliases_parent")
MCClaimChecking(r) == ClaimChecking(r) /\ UNCHANGED budgets /\ Did("check_then_claim")
MCClaimWriting(r) == ClaimWriting(r) /\ UNCHANGED budgets /\ Did("check_then_claim")
MCClaimDropping(r) == ClaimDropping(r) /\ UNCHANGED budgets /\ Did("check_then_claim")
MCTakeOverRefused(r) == TakeOverRefused(r) /\ UNCHANGED budgets /\ Did("orphaned_claim")
MCParkInheriting(r) == ParkInheriting(r) /\ UNCHANGED budgets /\ Did("fork_inherits_answer")
MCOutlived(r) == Outlived(r) /\ UNCHANGED budgets /\ Did("lost_commit")
MCDeliverLate(b, g, d) == DeliverLate(b, g, d, d) /\ UNCHANGED budgets /\ Did("late_answer_recorded")
MCDeliverReplacing(b, g, d) == DeliverReplacing(b, g, d, d) /\ UNCHANGED budgets /\ Did("answer_replaced")
MCCrashTearing(r) == Committing(r) /\ Room(r) /\ CrashTearing(r) /\ Crashing /\ Did("torn_checkpoint")
MCCrashLosingCommit(r, b) == CrashLosingCommit(r, b) /\ Crashing /\ Did("lost_commit")
MCCrashLosingAnswer(r, b, g) == CrashLosingAnswer(r, b, g) /\ Crashing /\ Did("lost_answer")
MCCrashSticking(r) == CrashSticking(r) /\ Crashing /\ Did("stuck_running")

MCFaultStep ==
  \/ \E r \in Runners, b \in Branches : MCLoadEarlier(r, b)
  \/ \E r \in Runners, b \in Branches : MCLoadIgnoringLedger(r, b)
  \/ \E r \in Runners, b \in Branches, c \in Branches : MCLoadForking(r, b, c)
  \/ \E r \in Runners : MCComputeDiffering(r)
  \/ \E r \in Runners : MCComputeForked(r)
  \/ \E r \in Runners : MCFireForked(r)
  \/ \E r \in Runners : MCFireUnkeyed(r)
  \/ \E r \in Runners : MCFireRecorded(r)
  \/ \E r \in Runners : MCFireRetried(r)
  \/ \E r \in Runners : MCRecordUnfired(r)
  \/ \E r \in Runners : MCRecordInvalid(r)
  \/ \E r \in Runners : MCCommitSkipping(r)
  \/ \E r \in Runners : MCCommitAliasing(r)
  \/ \E r \in Runners : MCClaimChecking(r)
  \/ \E r \in Runners : MCClaimWriting(r)
  \/ \E r \in Runners : MCClaimDropping(r)
  \/ \E r \in Runners : MCTakeOverRefused(r)
  \/ \E r \in Runners : MCParkInheriting(r)
  \/ \E r \in Runners : MCOutlived(r)
  \/ \E b \in Branches, g \in Gates, d \in Deliveries : MCDeliverLate(b, g, d)
  \/ \E b \in Branches, g \in Gates, d \in Deliveries : MCDeliverReplacing(b, g, d)
  \/ \E r \in Runners : MCCrashTearing(r)
  \/ \E r \in Runners, b \in Branches : MCCrashLosingCommit(r, b)
  \/ \E r \in Runners, b \in Branches, g \in Gates : MCCrashLosingAnswer(r, b, g)
  \/ \E r \in Runners : MCCrashSticking(r)

(* What the faults leave of the reference's steps. *)
MCRemainingStep ==
  \/ \E r \in Runners, b \in Branches : MCLoad(r, b)
  \/ \E r \in Runners, ok \in BOOLEAN : MCMayCompute(r, ok)
  \/ \E r \in Runners, ok \in BOOLEAN : MCMayFire(r, ok)
  \/ \E r \in Runners : MCRecord(r)
  \/ \E r \in Runners : MCMemo(r)
  \/ \E r \in Runners : MCMayCommit(r)
  \/ \E r \in Runners : MCPark(r)
  \/ \E r \in Runners : MCClaim(r)
  \/ \E r \in Runners : MCMayTakeOver(r)
  \/ \E r \in Runners : MCRefuse(r)
  \/ \E r \in Runners : MCStale(r)
  \/ \E r \in Runners : MCReject(r)
  \/ \E b \in Branches, g \in Gates, d \in Deliveries : MCDeliver(b, g, d)
  \/ \E b \in Branches, g \in Gates : MCExpire(b, g)
  \/ \E r \in Runners : MCMayCrash(r)
  \/ \E b \in Branches, c \in Branches : MCFork(b, c)

MCFaultyNext == MCRemainingStep \/ MCFaultStep

MCFaultySpec == MCInit /\ [][MCFaultyNext]_mcvars
MCFaultyFairSpec == MCFaultySpec /\ FaultyFairness
=============================================================================
