------------------------------ MODULE ResumeTrace ------------------------------
(***************************************************************************)
(* Is there a behaviour of the reference, or of the reference with few     *)
(* faults, that shows just what one thread of a trace shows?               *)
(*                                                                         *)
(* A behaviour here explains the observations one by one: each by a step   *)
(* of ResumeContract or ResumeFaults with the parameters that it names, or *)
(* by none where it only tells how things are.  Between them stand steps   *)
(* of kinds that the recorder does not promise to show.  docs/verdicts.md  *)
(* says what each event stands for and what is assumed; this module reads  *)
(* that page on its own, as trace_check does in Python, so that each can   *)
(* be held against the other.                                              *)
(*                                                                         *)
(* The module that fixes the constants is written by trace_check.by_tlc.   *)
(***************************************************************************)
EXTENDS ResumeFaults, Integers, TLC

CONSTANT
  Cases       \* the threads to be explained, all of one program: a sequence of records
              \*   trace     the observations, those first that ended first
              \*   crew      for each actor its runners
              \*   mine      for each actor the places of its observations in the trace
              \*   death     for each actor the place of the line that tells of its end, or 0
              \*   observes  the kinds of which the recorder shows every step
              \*   named     steps that are known by name only: nothing of them need be shown
              \*   sink      "plain" or "keyed"
              \*   shown     for each step, the values that it may have unseen
              \*   forks     whether there is more than one branch
              \*   most      how many faults a behaviour may use

VARIABLES
  which,      \* the thread: it never changes
  first,      \* the first observation, in the order of the trace, that is not explained
  ahead,      \* those after it that are
  used,       \* the faults used
  broken,     \* the clauses that broke on the way
  code,       \* what the code of a step is known to yield: a set of [step, inputs, out]
  now         \* what it yields in the step just taken; no part of the state's identity

tracevars == <<vars, which, first, ahead, used, broken, code, now>>

(* TLC evaluates a constant that a definition stands for at each use, but a *)
(* definition without parameters once.                                     *)
Given == Cases
Trace == Given[which].trace
Crew == Given[which].crew
Mine == Given[which].mine
Death == Given[which].death
Observes == Given[which].observes
Named == Given[which].named
Sink == Given[which].sink
Shown == Given[which].shown
MaxFaults == Given[which].most

Actors == DOMAIN Crew
Others(r) == UNION {Crew[a] \ {r} : a \in {a \in Actors : r \in Crew[a]}}
Promised(k) == k \in Observes
PromisedOf(k, x) == k \in Observes /\ x \notin Named

(* Gone unseen, a process may have done such a thing after its last line.   *)
Quiet == {"effect_fired", "recorded", "committed", "parked", "gate_passed"} \ Observes # {}

-----------------------------------------------------------------------------
(* What is explained.                                                       *)

Left == IF first > Len(Trace) THEN FALSE ELSE ~Trace[first].pending

(* Nothing unexplained ended before these began.                            *)
Next1 == {first} \cup (Trace[first].beside \ ahead)

RECURSIVE Following(_)
Following(i) == IF i \in ahead THEN Following(i + 1) ELSE i
Mark(i) ==
  IF i = first
  THEN LET n == Following(first + 1) IN first' = n /\ ahead' = {j \in ahead : j > n}
  ELSE first' = first /\ ahead' = ahead \cup {i}
Done(i) == i < first \/ i \in ahead

Dead(a) == Death[a] # 0 /\ Done(Death[a])
MayAct(a) == ~Dead(a) /\ (Quiet \/ \E i \in Mine[a] : ~Done(i))

-----------------------------------------------------------------------------
(* What a step costs.                                                       *)

Plain == used' = used
By(f) == (f \in used \/ Cardinality(used) < MaxFaults) /\ used' = used \cup {f}
ByBoth(f, g) == Cardinality(used \cup {f, g}) <= MaxFaults /\ used' = used \cup {f, g}

-----------------------------------------------------------------------------
(* The code of the steps is not known: it is some function, of which each   *)
(* step that runs it for the first time on some inputs tells a value.       *)

NoCode == now' = None /\ code' = code
Freely(v) == now' = v /\ code' = code

(* In one branch `computed` and `world` keep what was yielded; across       *)
(* branches it is `code` that does.                                         *)
Yields(b, x, v) ==
  LET in == Content(b, x)
      here == {k.out : k \in {k \in computed : k.branch = b /\ k.step = x /\ k.inputs = in}}
      known == {k.out : k \in {k \in code : k.step = x /\ k.inputs = in}} IN
  /\ IF here = {} THEN known \subseteq {v}
     ELSE IF known = {} THEN v \in here
     ELSE IF known \subseteq here THEN v \in known
     ELSE v \in here /\ \A w \in here : v <= w
  /\ now' = v
  /\ code' = IF ~Given[which].forks \/ here # {} \/ known # {} THEN code
             ELSE code \cup {[step |-> x, inputs |-> in, out |-> v]}
YieldsOther(b, x, v) == \E w \in Shown[x] \ {v} : Yields(b, x, w)

(* Stand in place of Outcome and F.                                         *)
TraceOutcome(b, x) == now'
TraceF(x, content) == 1
TraceOnceMore(n) == IF n < 2 THEN n + 1 ELSE n

-----------------------------------------------------------------------------
(* Where a runner is.                                                       *)

Busy(r) == run[r].phase # "idle"
At(r, b, x) == Busy(r) /\ run[r].branch = b /\ run[r].step = x
In(r, b) == Busy(r) /\ run[r].branch = b
Open(b, g) == Running(b) /\ gate[b][g].status = "parked"
(* Runners of one process are alike: of those that do nothing, one will do. *)
Foremost(r) == ~Busy(r) /\ \A q \in Others(r) : Busy(q) \/ r < q

(* Does the process of r, which stands at a gate, hold its claim already?   *)
Ours(r) == \E q \in Others(r) :
  In(q, run[r].branch) /\ run[q].unit = run[r].unit /\ run[q].epoch # 0 /\ run[q].epoch = GateOf(r).epoch

-----------------------------------------------------------------------------
(* What each event stands for.  r is the runner that did it.                *)

ShowsLoaded(o, r) ==
  LET b == o.branch n == Len(ckpt[b]) k == IF o.index < 0 THEN n ELSE o.index IN
  /\ NoCode
  /\ \/ k = n /\ Foremost(r) /\ Plain /\ Load(r, b)
     \/ k = n /\ Foremost(r) /\ By("ledger_ignored") /\ LoadIgnoringLedger(r, b)
     \/ k = n /\ (Busy(r) \/ ~Running(b)) /\ Plain /\ UNCHANGED vars
     \/ k < n /\ Foremost(r) /\ By("restart_from_earlier") /\ LoadEarlier(r, b, k)
     \/ /\ k < n /\ Foremost(r) /\ Running(b)
        /\ ByBoth("restart_from_earlier", "ledger_ignored")
        /\ LET u == UnitAfter(b, k) IN
           \E x \in {x \in StepsIn[u] : Kind[x] # "gate" /\ ledger[b][x].out # None} :
             run' = [run EXCEPT ![r] = Arrive(b, u, n, x, 0)]
        /\ UNCHANGED <<ckpt, origin, declared, ledger, gate, status, world, own, computed>>

ShowsComputed(o, r) ==
  LET b == o.branch x == o.step v == o.out IN
  /\ At(r, b, x) /\ Ready(r, "pure") /\ ~IsOutlived(r)
  /\ IF o.valid
     THEN \/ Yields(b, x, v) /\ Plain /\ Compute(r, TRUE)
          \/ /\ By("recompute_differs") /\ YieldsOther(b, x, v) /\ ComputeDiffering(r)
             /\ run'[r].out = v
          \/ /\ By("fork_nondeterminism") /\ YieldsOther(b, x, v) /\ ComputeForked(r)
             /\ run'[r].out = v
     ELSE Freely(v) /\ Plain /\ Compute(r, FALSE)

ShowsFired(o, r) ==
  LET b == o.branch x == o.step v == o.out new == world[b][x].applied = 0 IN
  /\ At(r, b, x) /\ Ready(r, "effect") /\ ~IsOutlived(r)
  /\ \/ /\ new = o.applied
        /\ IF new /\ o.valid THEN Yields(b, x, v) ELSE Freely(v)
        /\ Plain /\ Fire(r, o.valid)
     \/ new /\ o.applied /\ o.valid /\ By("fork_nondeterminism") /\ YieldsOther(b, x, v) /\ FireForked(r)
     \/ /\ ~new /\ o.applied /\ NoCode
        /\ \/ Sink = "plain" /\ By("unkeyed_effect") /\ FireUnkeyed(r)
           \/ By("ledger_ignored") /\ FireRecorded(r)
           \/ Sink = "keyed" /\ By("unstable_key") /\ FireRetried(r)
  /\ run'[r].out = v

(* At the end of its branch, but acknowledged, and already so: a repeat.      *)
ShowsRecorded(o, r) ==
  /\ At(r, o.branch, o.step)
  /\ \/ Holding(r) /\ run[r].out = o.out /\ NoCode /\ Plain /\ Record(r)
     \/ /\ Holding(r) /\ run[r].out = o.out /\ ledger[o.branch][o.step].out = o.out
        /\ ~Running(o.branch) /\ EpochCurrent(r) /\ NoCode /\ Plain /\ Memo(r)
     \/ Holding(r) /\ run[r].out = o.out /\ NoCode /\ By("invalid_persisted") /\ RecordInvalid(r)
     \/ Freely(o.out) /\ By("record_before_fire") /\ RecordUnfired(r)

(* Where it was recorded before the runner came, the line only says what is *)
(* so.                                                                      *)
ShowsMemo(o, r) ==
  /\ NoCode /\ Plain
  /\ IF At(r, o.branch, o.step) THEN Memo(r)
     ELSE In(r, o.branch) /\ ledger[o.branch][o.step].out # None /\ UNCHANGED vars

ShowsParked(o, r) ==
  /\ At(r, o.branch, o.step) /\ NoCode /\ Plain
  /\ \/ Park(r)
     \/ gate[o.branch][o.step].status = "parked" /\ Refuse(r)

ShowsAnswer(o) ==
  LET b == o.branch g == o.step IN
  /\ NoCode
  /\ IF o.accepted
     THEN \/ Plain /\ Deliver(b, g, o.id, o.out)
          \/ Acknowledged(b, g, o.id) /\ Plain /\ UNCHANGED vars
          \/ By("late_answer_recorded") /\ DeliverLate(b, g, o.id, o.out)
          \/ By("answer_replaced") /\ DeliverReplacing(b, g, o.id, o.out)
     ELSE ~Open(b, g) /\ Plain /\ UNCHANGED vars

ShowsPassed(o, r) ==
  /\ At(r, o.branch, o.step) /\ NoCode
  /\ \/ /\ \/ Plain /\ Claim(r)
           \/ Plain /\ ~Ours(r) /\ TakeOver(r)
           \/ By("check_then_claim") /\ ClaimWriting(r)
        /\ o.out # None => run'[r].out = o.out
     \/ /\ By("check_then_claim") /\ ClaimChecking(r)     \* the code saw what was read
        /\ o.out # None => Head(GateOf(r).acks).value = o.out

(* Is it what runner r stands at, as far as the refusal names it?           *)
IsNamed(o, r) ==
  /\ o.unit # None => run[r].unit = o.unit
  /\ \A x \in o.named : IF o.what = "commit" THEN UnitOf[x] = run[r].unit ELSE run[r].step = x

ShowsRefused(o, r) ==
  /\ In(r, o.branch) /\ NoCode
  /\ \/ /\ IsNamed(o, r)
        /\ \/ o.what = "gate" /\ Plain /\ Refuse(r)
           \/ o.what = "gate" /\ By("check_then_claim") /\ ClaimDropping(r)
           \/ o.what = "gate" /\ By("orphaned_claim") /\ TakeOverRefused(r)
           \/ o.what = "record" /\ Holding(r) /\ Plain /\ Stale(r)
           \/ o.what = "commit" /\ Committing(r) /\ Plain /\ Stale(r)
           \/ o.what = "outcome" /\ Plain /\ Reject(r)
     \/ o.what \in {"record", "commit"} /\ By("lost_commit") /\ Outlived(r)

Matches(outs, entry) == \A p \in outs : entry.out[p[1]] = p[2]

ShowsCommitted(o, r) ==
  LET b == o.branch u == o.unit IN
  /\ In(r, b) /\ Committing(r) /\ run[r].unit = u /\ NoCode
  /\ o.next \subseteq {u + 1}                               \* it declares no other unit to come
  /\ o.steps # {} => StepsIn[u] \subseteq o.steps           \* and leaves out no step
  /\ \/ /\ \A p \in o.outs : ledger[b][p[1]].out = p[2]
        /\ (\A x \in StepsIn[u] : ledger[b][x].ok) = o.valid
        /\ \/ Plain /\ Commit(r)
           \/ By("fork_aliases_parent") /\ CommitAliasing(r)
     \/ Has(b, u) /\ Matches(o.outs, Newest(b, u)) /\ Plain /\ Stale(r)

(* The death of a process: the rest of its crew has gone before, see Dying. *)
ShowsCrashed(o, r) ==
  /\ \A q \in Others(r) : ~Busy(q)
  /\ NoCode
  /\ \/ ~Busy(r) /\ Plain /\ UNCHANGED vars
     \/ Plain /\ Crash(r)
     \/ By("torn_checkpoint") /\ CrashTearing(r)
     \/ By("stuck_running") /\ CrashSticking(r)
     \/ By("lost_commit") /\ \E b \in Branches : CrashLosingCommit(r, b)
     \/ By("lost_answer") /\ \E b \in Branches : \E g \in Gates : CrashLosingAnswer(r, b, g)

ShowsForked(o) ==
  /\ NoCode
  /\ IF o.declared THEN Plain /\ Fork(o.branch, o.index, o.child)
     ELSE /\ By("implicit_fork")
          /\ Exists(o.branch) /\ ~Exists(o.child) /\ o.index <= Len(ckpt[o.branch])
          /\ BranchOff(o.branch, o.index, o.child)
          /\ UNCHANGED <<declared, ledger, world, run, own, computed>>

(* A reading of the store agrees with the state.                            *)
Agrees(o) ==
  LET b == o.branch IN
  /\ Exists(b) /\ Len(ckpt[b]) = Len(o.ckpts)
  /\ \A i \in DOMAIN ckpt[b] :
       LET e == ckpt[b][i] s == o.ckpts[i] IN
       /\ e.complete = s.complete
       /\ s.complete => e.valid = s.valid /\ e.unit = s.unit /\ Matches(s.outs, e)
  /\ \A g \in Gates :
       LET k == gate[b][g] IN
       /\ k.status = "parked" => g \in o.open
       /\ g \in o.open => k.status \notin {"closed", "consumed"}
       /\ k.status \in {"answered", "claimed", "consumed"} =>
            \A i \in IF used \cap {"lost_answer", "answer_replaced"} = {} THEN DOMAIN k.acks ELSE {1} \cap DOMAIN k.acks :
               <<g, k.acks[i].value>> \in o.answers

(* Events that only say how things are: is it so?                           *)
Tells(o) == o.kind \in {"store_read", "completed", "failed", "not_loaded", "not_delivered"}
IsSo(o) ==
  CASE o.kind = "store_read" -> Agrees(o)
    [] o.kind = "completed" -> status[o.branch] = "done"
    [] o.kind = "failed" -> status[o.branch] = "failed"
    [] o.kind = "not_loaded" ->
         ~Running(o.branch) \/ Waiting(o.branch) \/ \E r \in o.alive : In(r, o.branch)
    [] o.kind = "not_delivered" -> o.step # None => ~Open(o.branch, o.step)

(* LV: a resume got nowhere, the branch is at no end and does not wait, and *)
(* nobody else who is alive holds it.                                       *)
Starves(o) ==
  LET b == o.branch IN
  /\ status[b] \in {"running", "stuck"} /\ ~Waiting(b)
  /\ \A r \in o.alive : ~In(r, b)

Shows(o) ==
  LET by(Is(_, _)) == \E r \in Crew[o.actor] : Is(o, r) IN
  CASE o.kind = "loaded" -> by(ShowsLoaded)
    [] o.kind = "computed" -> by(ShowsComputed)
    [] o.kind = "effect_fired" -> by(ShowsFired)
    [] o.kind = "recorded" -> by(ShowsRecorded)
    [] o.kind = "memo_used" -> by(ShowsMemo)
    [] o.kind = "parked" -> by(ShowsParked)
    [] o.kind = "answer" -> ShowsAnswer(o)
    [] o.kind = "gate_passed" -> by(ShowsPassed)
    [] o.kind = "refused" -> by(ShowsRefused)
    [] o.kind = "committed" -> by(ShowsCommitted)
    [] o.kind = "crashed" -> by(ShowsCrashed)
    [] o.kind = "forked" -> ShowsForked(o)
    [] o.kind = "got_nowhere" -> NoCode /\ Plain /\ UNCHANGED vars
    [] OTHER -> IsSo(o) /\ NoCode /\ Plain /\ UNCHANGED vars

-----------------------------------------------------------------------------
(* What goes unseen.                                                        *)

UnseenAtCommit(r) ==
  /\ Committing(r) /\ NoCode
  /\ \/ ~Promised("committed") /\ Plain /\ Commit(r)
     \/ ~Promised("refused") /\ Plain /\ Stale(r)
     \/ By("skip_uncommitted") /\ CommitSkipping(r)

UnseenAtGate(r) ==
  /\ NoCode
  /\ \/ ~Promised("parked") /\ Plain /\ Park(r)
     \/ ~Promised("gate_passed") /\ Plain /\ (Claim(r) \/ (~Ours(r) /\ TakeOver(r)))
     \/ ~Promised("refused") /\ Plain /\ Refuse(r)
     \/ By("check_then_claim") /\ (ClaimChecking(r) \/ ClaimWriting(r))
     \/ By("fork_inherits_answer") /\ ParkInheriting(r)

UnseenRun(r) ==
  LET b == run[r].branch x == run[r].step w == world[b][x] IN
  \/ /\ ~PromisedOf("computed", x) /\ Ready(r, "pure") /\ ~IsOutlived(r) /\ Plain
     /\ \E v \in Shown[x] : \/ Yields(b, x, v) /\ Compute(r, TRUE)
                            \/ Freely(v) /\ Compute(r, FALSE)
  \/ /\ ~Promised("effect_fired") /\ Ready(r, "effect") /\ ~IsOutlived(r) /\ Plain
     /\ IF w.applied # 0 THEN Freely(w.answer) /\ Fire(r, w.ok)
        ELSE \E v \in Shown[x] : \/ Yields(b, x, v) /\ Fire(r, TRUE)
                                 \/ Freely(v) /\ Fire(r, FALSE)
  \/ /\ ~PromisedOf("recorded", x) /\ Ready(r, "effect") /\ By("record_before_fire")
     /\ \E v \in Shown[x] : Freely(v) /\ RecordUnfired(r)

UnseenWrite(r) ==
  /\ NoCode
  /\ \/ ~PromisedOf("memo_used", run[r].step) /\ Plain /\ Memo(r)
     \/ /\ Holding(r)
        /\ \/ (~PromisedOf("recorded", run[r].step) \/ Kind[run[r].step] = "gate") /\ Plain /\ Record(r)
           \/ ~PromisedOf("recorded", run[r].step) /\ By("invalid_persisted") /\ RecordInvalid(r)
           \/ ~Promised("refused") /\ Plain /\ (Stale(r) \/ Reject(r))

(* A crew has one runner at a step, moves together, and holds one claim.    *)
(* Another one of it comes to what is open in the unit where it is, with    *)
(* the claim of the process if it takes one; who has nothing in hand leaves *)
(* where he is one too many, and where another one has recorded the step he *)
(* goes on.  Only in the claim is this more than the reference's own Load,  *)
(* Crash and Memo.                                                          *)

(* Is q in a later unit than r?                                             *)
Ahead(q, r) == In(q, run[r].branch) /\ run[q].unit > run[r].unit /\ run[q].base >= run[r].base
Beside(q, r) == In(q, run[r].branch) /\ run[q].unit = run[r].unit
IsGate(x) == x # AtCommit /\ x \in Gates

(* One too many: another one stands there, or has the claim, or is ahead.   *)
Spare(r) ==
  IF run[r].phase # "ready" THEN FALSE
  ELSE \E q \in Others(r) :
    \/ Ahead(q, r)
    \/ /\ Beside(q, r) /\ run[r].epoch = 0
       /\ \/ IsGate(run[r].step) /\ run[q].epoch # 0
          \/ run[q].step = run[r].step /\ (q < r \/ run[q].phase # "ready" \/ run[q].epoch # 0)

(* Is anything still to be shown of r's process at step x, or need it not?  *)
Expected(r, x) ==
  \/ \E a \in Actors : r \in Crew[a] /\ \E i \in Mine[a] : ~Done(i) /\ Trace[i].at = x
  \/ CASE Kind[x] = "pure" -> ~PromisedOf("computed", x) \/ ~PromisedOf("recorded", x)
       [] Kind[x] = "effect" -> ~Promised("effect_fired") \/ ~PromisedOf("recorded", x)
       [] Kind[x] = "gate" -> ~Promised("gate_passed") \/ ~Promised("parked")

(* Where r, who does nothing, is wanted by q of its process: <<step, epoch>>. *)
Wanted(r, q) ==
  LET b == run[q].branch u == run[q].unit
      claim == run[q].epoch
      free(x) == Expected(r, x) /\ \A p \in Others(r) : ~(At(p, b, x) \/ Ahead(p, q))
      sole == \A p \in Others(r) : Beside(p, q) => run[p].epoch = 0 IN
  IF ~(Busy(q) /\ Running(b)) THEN {}
  ELSE LET at0 == {x \in Available(ledger[b], b, u, 0) : free(x) /\ (IsGate(x) => sole)}
           at1 == IF claim = 0 THEN {} ELSE {x \in Available(ledger[b], b, u, claim) : free(x)} IN
       {<<x, 0>> : x \in at0} \cup {<<x, claim>> : x \in at1 \ at0}
(* Has q come to a step that is recorded?  Then the load ignored the ledger, *)
(* and it is the load of the whole crew.                                    *)
RunsAnew(q) ==
  IF run[q].phase # "ready" \/ run[q].step = AtCommit THEN FALSE
  ELSE Kind[run[q].step] # "gate" /\ ledger[run[q].branch][run[q].step].out # None
Joins(r) ==
  /\ Foremost(r) /\ NoCode /\ Plain
  /\ \E q \in Others(r) :
       \/ /\ \E w \in Wanted(r, q) :
               run' = [run EXCEPT ![r] = Arrive(run[q].branch, run[q].unit, run[q].base, w[1], w[2])]
          /\ UNCHANGED <<ckpt, origin, declared, ledger, gate, status, world, own, computed>>
       \/ /\ "ledger_ignored" \in used /\ RunsAnew(q)
          /\ \E x \in {x \in StepsIn[run[q].unit] : Kind[x] # "gate" /\ ledger[run[q].branch][x].out # None} :
               /\ \A p \in Others(r) : ~At(p, run[q].branch, x)
               /\ run' = [run EXCEPT ![r] = Arrive(run[q].branch, run[q].unit, run[q].base, x, 0)]
          /\ UNCHANGED <<ckpt, origin, declared, ledger, gate, status, world, own, computed>>
Leaves(r) ==
  /\ run[r].phase = "ready" /\ Others(r) # {}
  /\ LET b == run[r].branch x == run[r].step
         again == \E i \in Next1 : Trace[i].kind = "loaded" /\ r \in Crew[Trace[i].actor] IN
     IF again \/ Has(b, run[r].unit) THEN TRUE
     ELSE IF \A q \in Others(r) : ~Busy(q) THEN FALSE
     ELSE IF run[r].epoch # 0 THEN ~EpochCurrent(r)        \* a claim is kept
     ELSE IF x = AtCommit THEN TRUE
     ELSE IF IsGate(x) \/ ledger[b][x].out # None THEN TRUE ELSE ~Expected(r, x)
  /\ NoCode /\ Plain /\ Crash(r)

(* What a crew does at once: otherwise each order of it would be looked at. *)
Several(a) == Cardinality(Crew[a]) > 1
ToLeave == {r \in Runners : Others(r) # {} /\ Spare(r)}
Eager(r) == Others(r) # {} /\ Foremost(r) /\ ~\E a \in Actors : r \in Crew[a] /\ Death[a] \in Next1
ToJoin == {r \in Runners : Eager(r) /\ \E q \in Others(r) : Wanted(r, q) # {}}
Settles ==
  /\ UNCHANGED <<first, ahead, broken>>
  /\ IF ToLeave # {}
     THEN NoCode /\ Plain /\ Crash(CHOOSE r \in ToLeave : \A q \in ToLeave : r <= q)
     ELSE Joins(CHOOSE r \in ToJoin : \A q \in ToJoin : r <= q)
GoesOn(r) ==
  /\ run[r].phase = "ready" /\ run[r].step # AtCommit /\ Others(r) # {}
  /\ \E a \in Actors : r \in Crew[a] /\ \E i \in Mine[a] :
       Done(i) /\ Trace[i].kind = "recorded" /\ Trace[i].at = run[r].step /\ Trace[i].branch = run[r].branch
  /\ NoCode /\ Plain /\ Memo(r)
Dying(a) ==
  /\ Cardinality(Crew[a]) > 1 /\ Death[a] \in Next1
  /\ \E r \in Crew[a] : Busy(r) /\ (\E q \in Others(r) : Busy(q)) /\ NoCode /\ Plain /\ Crash(r)

UnseenOf(r) ==
  IF ~Busy(r)
  THEN \/ /\ ~Promised("loaded") /\ Foremost(r) /\ NoCode /\ Plain
          /\ \E b \in Branches : Load(r, b)
       \/ Joins(r)
  ELSE \/ Leaves(r)
       \/ GoesOn(r)
       \/ UnseenAtCommit(r)
       \/ /\ run[r].step # AtCommit
          /\ \/ Kind[run[r].step] = "gate" /\ UnseenAtGate(r)
             \/ run[r].phase = "ready" /\ UnseenRun(r)
             \/ UnseenWrite(r)

(* A lease ends when somebody stands there who takes over.                  *)
UnseenExpiry ==
  /\ NoCode /\ Plain
  /\ \E a \in Actors : \E r \in Crew[a] :
       /\ Ready(r, "gate")
       /\ ~Promised("gate_passed") \/ \E i \in Next1 : Trace[i].kind = "gate_passed" /\ Trace[i].actor = a
       /\ Expire(run[r].branch, run[r].step)

UnseenAnswer ==
  /\ ~Promised("answer") /\ NoCode /\ Plain
  /\ \E b \in Branches : \E g \in Gates : \E v \in Shown[g] :
       Deliver(b, g, CHOOSE d \in Deliveries : \A c \in Deliveries : c <= d, v)

(* Nothing ever shows that a fork inherits an answer: so it may come after  *)
(* the last line of the process that brings it about.                       *)
UnseenInheriting ==
  /\ Given[which].forks /\ By("fork_inherits_answer") /\ NoCode
  /\ \E a \in Actors : ~Dead(a) /\ \E r \in Crew[a] : ParkInheriting(r)

Unseen ==
  \/ \E a \in Actors : MayAct(a) /\ \E r \in Crew[a] : UnseenOf(r)
  \/ UnseenInheriting
  \/ \E a \in Actors : Dying(a)
  \/ UnseenExpiry
  \/ UnseenAnswer

-----------------------------------------------------------------------------
(* Of the safety clauses none breaks without a fault: that is checked of    *)
(* the reference elsewhere.                                                 *)
Broken ==
  IF used = {} THEN {} ELSE
  {c \in {"PC", "EO", "FD", "CV", "CO-V", "CO-C", "RD", "FI"} :
     ~CASE c = "PC" -> PC [] c = "EO" -> EO [] c = "FD" -> FD [] c = "CV" -> CV
        [] c = "CO-V" -> COV [] c = "CO-C" -> COC [] c = "RD" -> RD [] c = "FI" -> FI}

TraceInit ==
  /\ Init
  /\ which \in DOMAIN Given
  /\ first = 1 /\ ahead = {} /\ used = {} /\ broken = {} /\ code = {} /\ now = None

(* A register for each thread: how many faults its cheapest explanation so  *)
(* far uses; -1 where it conforms, so that nothing more is to be looked for. *)
(* They only spare work, and need a single worker.                          *)
ASSUME RegistersAreSet == \A i \in DOMAIN Given : TLCSet(i, Given[i].most)
Worthwhile == Left /\ Cardinality(used) <= TLCGet(which)

Explains(i) ==
  /\ Shows(Trace[i])
  /\ Mark(i)
  /\ broken' = broken \cup Broken' \cup
       (IF Trace[i].kind = "got_nowhere" /\ Starves(Trace[i]) THEN {"LV"} ELSE {})
GoesUnseen ==
  /\ Unseen
  /\ UNCHANGED <<first, ahead>>
  /\ broken' = broken \cup Broken'

(* What only tells is taken as soon as it is so: later it could but be less *)
(* so.                                                                      *)
ToldNow == {i \in Next1 : Tells(Trace[i]) /\ ~Trace[i].pending /\ IsSo(Trace[i])}
Unsettled == IF \A a \in Actors : ~Several(a) THEN FALSE ELSE ToLeave # {} \/ ToJoin # {}
TraceNext ==
  /\ Worthwhile
  /\ which' = which
  /\ LET so == ToldNow IN
     IF so # {}
     THEN /\ Mark(CHOOSE i \in so : \A j \in so : i <= j)
          /\ NoCode /\ UNCHANGED <<vars, used, broken>>
     ELSE IF Unsettled THEN Settles
     ELSE (\E i \in Next1 : Explains(i)) \/ GoesUnseen

TraceSpec == TraceInit /\ [][TraceNext]_tracevars

(* Of a claim's epoch only this matters: is it none, an old one, or the     *)
(* current one?  Where passes go unseen it could grow for ever.             *)
Aged(e, g) == IF e = 0 THEN 0 ELSE IF e = g THEN 2 ELSE 1
RunView == [r \in Runners |-> IF run[r].epoch = 0 THEN run[r] ELSE
  [run[r] EXCEPT !.epoch = Aged(@, gate[run[r].branch][GateIn[run[r].unit]].epoch)]]
GateView == [b \in Branches |-> [g \in Gates |->
  [gate[b][g] EXCEPT !.epoch = IF @ = 0 THEN 0 ELSE 1, !.claims = IF @ < 2 THEN @ ELSE 2]]]
TraceView ==
  <<which, first, ahead, used, broken, code, ckpt, origin, declared, ledger, GateView, status, world, RunView, own, computed>>

-----------------------------------------------------------------------------
(* What TLC is asked for.                                                   *)

Cost == IF used = {} /\ broken = {} THEN -1 ELSE Cardinality(used)
(* Always true.  Tells of each state in which all is explained: of a trace  *)
(* that conforms, of one behaviour of the reference that shows all of it    *)
(* and in which no clause breaks.                                           *)
Told ==
  IF Left THEN TRUE
  ELSE IF Cardinality(used) > TLCGet(which) THEN TRUE
  ELSE IF Cost >= TLCGet(which) THEN PrintT(<<"EXPLAINED", which, used, broken>>)
  ELSE PrintT(<<"EXPLAINED", which, used, broken>>) /\ TLCSet(which, Cost)
=============================================================================
