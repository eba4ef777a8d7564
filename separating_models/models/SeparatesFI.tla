----------------------------- MODULE SeparatesFI ------------------------------
(*****************************************************************************)
(* A separating model of FI: it breaks FI and no other clause of the         *)
(* RESUME CONTRACT.  It is the reference with the fault                      *)
(* implicit_fork.                                                            *)
(*                                                                           *)
(* Minimal: of 2,559 configurations that are smaller or as small, none       *)
(* separates the clause at less depth, in the order (faults, runners, branches, *)
(* units, crashes, answers, depth) = (1, 1, 2, 1, 0, 1, 6).                  *)
(*                                                                           *)
(*   java -cp tla2tools.jar tlc2.TLC SeparatesFI.tla                         *)
(*       says: Invariant FI is violated                                      *)
(*   java -cp tla2tools.jar tlc2.TLC -config SeparatesFI_others.cfg SeparatesFI.tla *)
(*       finds no error                                                      *)
(*                                                                           *)
(* SeparatesFI.json is the same model for the mirror.  This file is generated: *)
(* resume-contract separate writes it, and resume-contract separate --verify *)
(* checks it.                                                                *)
(*****************************************************************************)
EXTENDS Naturals, Sequences, FiniteSets, TLC

UnitOf == <<1>>
Kind == <<"effect">>
After == <<{}>>
UnitCount == 1
Runners == {1}
Branches == {1, 2}
Deliveries == {1}
Values == {1, 2}
MaxCrashes == 0
MaxExpiries == 0
MaxInvalid == 0
MaxLength == 2
Faults == {"implicit_fork"}
(* The code of a step.  Any function would do that depends on each value it *)
(* reads, so that no lost input goes unnoticed: here on how many are odd.   *)
F(x, content) ==
  1 + ((x + Cardinality({y \in DOMAIN content : content[y] % 2 = 1})) % Cardinality(Values))
(* The value of an answer is its identity, see MCDeliver. *)
ASSUME Deliveries \subseteq Values
(* EO is broken at two applications: more needn't be told apart. *)
OnceMore(n) == IF n < 2 THEN n + 1 ELSE n

VARIABLES
  \* ---- the durable store
  ckpt,      \* [Branches -> Seq of entries]: the checkpoints of a branch, oldest first
  origin,    \* [Branches -> [parent, index, prefix]]: where a branch was forked, and what it started from
  declared,  \* SUBSET Branches: the branches whose fork was declared
  ledger,    \* [Branches -> [Steps -> [out, ok]]]: recorded outcomes (pending writes); out = None: none
  gate,      \* [Branches -> [Gates -> [status, acks, epoch, expired, claims, passed]]]
  status,    \* [Branches -> {"absent", "running", "failed", "uncertain", "done"}]
  \* ---- the external world
  world,     \* [Branches -> [Effects -> [applied, answer, ok]]]: how often applied, the sink's first answer
  \* ---- volatile: a crash erases it and nothing else
  run,       \* [Runners -> [phase, branch, unit, base, step, out, ok, epoch]]
  \* ---- history only: no action but Outcome below looks at it
  own,       \* [Branches -> Seq([entry, acked])]: every entry the branch's own commits wrote
  computed   \* the set of [branch, step, inputs, out] seen: valid outcomes of pure steps

VARIABLES
  crashes,    \* crashes so far
  expiries,   \* expiries of live claims so far
  invalid     \* invalid outcomes so far

-------------------------------------------------------------------------------
(* The reference                                                             *)

Root == 1

Steps == DOMAIN UnitOf

Units == 1 .. UnitCount

None == 0                      \* no outcome, no value, no branch, no claim

AtCommit == 0                  \* a runner's position when nothing is left to do in its unit

StepsIn == [u \in Units |-> {x \in Steps : UnitOf[x] = u}]

Gates == {x \in Steps : Kind[x] = "gate"}

Effects == {x \in Steps : Kind[x] = "effect"}

GateIn == [u \in Units |-> IF \E g \in Gates : UnitOf[g] = u
                           THEN CHOOSE g \in Gates : UnitOf[g] = u ELSE None]

Inputs == [x \in Steps |-> {y \in Steps : UnitOf[y] < UnitOf[x]} \cup After[x]]

vars == <<ckpt, origin, declared, ledger, gate, status, world, run, own, computed>>

IsEntry(e) ==
  /\ DOMAIN e = {"unit", "out", "valid", "complete"} /\ e.unit \in Units
  /\ e.out \in [StepsIn[e.unit] -> Values] /\ e.valid \in BOOLEAN /\ e.complete \in BOOLEAN

IsEntries(q) == \A i \in DOMAIN q : IsEntry(q[i])

Unrecorded == [out |-> None, ok |-> TRUE]

Unapplied == [applied |-> 0, answer |-> None, ok |-> TRUE]

ClosedGate == [status |-> "closed", acks |-> <<>>, epoch |-> 0, expired |-> FALSE, claims |-> 0, passed |-> None]

NoOrigin == [parent |-> None, index |-> 0, prefix |-> <<>>]

Idle == [phase |-> "idle", branch |-> None, unit |-> 0, base |-> 0, step |-> AtCommit,
         out |-> None, ok |-> TRUE, epoch |-> 0]

CkptOK == DOMAIN ckpt = Branches /\ \A b \in Branches : IsEntries(ckpt[b])

OriginOK == DOMAIN origin = Branches /\ \A b \in Branches :
  /\ origin[b].parent \in Branches \cup {None} /\ origin[b].index \in Nat /\ IsEntries(origin[b].prefix)

LedgerOK == ledger \in [Branches -> [Steps -> [out : Values \cup {None}, ok : BOOLEAN]]]

GateOK == DOMAIN gate = Branches /\ \A b \in Branches : DOMAIN gate[b] = Gates /\ \A g \in Gates :
  LET k == gate[b][g] IN
  /\ k.status \in {"closed", "parked", "answered", "claimed", "consumed"}
  /\ \A i \in DOMAIN k.acks : k.acks[i] \in [to : Branches, id : Deliveries, value : Values]
  /\ k.epoch \in Nat /\ k.expired \in BOOLEAN /\ k.claims \in Nat /\ k.passed \in Values \cup {None}

WorldOK == DOMAIN world = Branches /\ \A b \in Branches : DOMAIN world[b] = Effects /\ \A x \in Effects :
  world[b][x].applied \in Nat /\ world[b][x].answer \in Values \cup {None} /\ world[b][x].ok \in BOOLEAN

GhostsOK ==
  /\ DOMAIN own = Branches
  /\ \A b \in Branches : \A i \in DOMAIN own[b] : IsEntry(own[b][i].entry) /\ own[b][i].acked \in BOOLEAN
  /\ \A k \in computed : k.branch \in Branches /\ k.step \in Steps /\ k.out \in Values
                         /\ DOMAIN k.inputs = Inputs[k.step]

Exists(b) == status[b] # "absent"

Running(b) == status[b] = "running"

Has(b, u) == \E i \in DOMAIN ckpt[b] : ckpt[b][i].unit = u

(* The newest checkpoint of unit u in branch b; needs Has(b, u). *)
Newest(b, u) ==
  LET at == {i \in DOMAIN ckpt[b] : ckpt[b][i].unit = u}
  IN ckpt[b][CHOOSE i \in at : \A j \in at : j <= i]

(* The unit that follows the first k checkpoints of branch b. *)
UnitAfter(b, k) == IF k = 0 THEN 1 ELSE ckpt[b][k].unit + 1

(* What step x of branch b reads: the newest outcome of each earlier unit,  *)
(* and what is recorded of its predecessors in its own unit.               *)
Content(b, x) == [y \in Inputs[x] |-> IF UnitOf[y] < UnitOf[x] /\ Has(b, UnitOf[y])
                                      THEN Newest(b, UnitOf[y]).out[y] ELSE ledger[b][y].out]

(* The outcome of step x in branch b.  It is F of the content; were a       *)
(* computation of the same step with the same inputs to have fixed another  *)
(* outcome in this branch, it would be that one (a deviation can, the       *)
(* reference can't).                                                       *)
Outcome(b, x) ==
  LET in == Content(b, x)
      o == F(x, in)
      seen == {k.out : k \in {k \in computed : k.branch = b /\ k.step = x /\ k.inputs = in}}
  IN IF seen = {} \/ o \in seen THEN o ELSE CHOOSE p \in seen : \A q \in seen : p <= q

(* Is step x of branch b recorded for a runner that holds epoch e?  Until   *)
(* its unit is committed, a gate is so only for one that holds an epoch of  *)
(* its claim.  L is the branch's row of the ledger.                        *)
RecordedFor(L, b, x, e) ==
  L[x].out # None /\ (Kind[x] # "gate" \/ e # 0 \/ Has(b, UnitOf[x]))

Available(L, b, u, e) ==
  {x \in StepsIn[u] : ~RecordedFor(L, b, x, e) /\ \A y \in After[x] : RecordedFor(L, b, y, e)}

(* Where a runner may go in unit u: any available step, else to Commit.     *)
Arrivals(L, b, u, e) ==
  IF u > UnitCount THEN {} ELSE
  LET a == Available(L, b, u, e) IN IF a = {} THEN {AtCommit} ELSE a

Arrive(b, u, n, x, e) ==
  [phase |-> "ready", branch |-> b, unit |-> u, base |-> n, step |-> x, out |-> None, ok |-> TRUE, epoch |-> e]

Ready(r, kind) == run[r].phase = "ready" /\ run[r].step # AtCommit /\ Kind[run[r].step] = kind

Holding(r) == run[r].phase = "holds"

Committing(r) == run[r].phase = "ready" /\ run[r].step = AtCommit

GateOf(r) == gate[run[r].branch][run[r].step]

(* Is the claim that r holds, if it holds one, still the current one?       *)
(* (IF, not \/: TLC takes a disjunction inside an action for a choice.)     *)
EpochCurrent(r) == IF run[r].epoch = 0 THEN TRUE
                   ELSE run[r].epoch = gate[run[r].branch][GateIn[run[r].unit]].epoch

CanRecord(r) == Running(run[r].branch) /\ EpochCurrent(r)

CanCommit(r) ==
  LET b == run[r].branch u == run[r].unit IN
  /\ Running(b) /\ Len(ckpt[b]) = run[r].base
  /\ GateIn[u] # None => run[r].epoch # 0 /\ EpochCurrent(r)

CanPark(r) == Running(run[r].branch) /\ GateOf(r).status = "closed"

CanClaim(r) == Running(run[r].branch) /\ GateOf(r).status = "answered"

CanTakeOver(r) == Running(run[r].branch) /\ GateOf(r).status = "claimed" /\ GateOf(r).expired

(* The owner of a claim is its epoch: nobody else continues it.             *)
Held(b, g) == \E r \in Runners :
  run[r].branch = b /\ run[r].unit = UnitOf[g] /\ run[r].epoch # 0 /\ run[r].epoch = gate[b][g].epoch

Init ==
  /\ ckpt = [b \in Branches |-> <<>>]
  /\ origin = [b \in Branches |-> NoOrigin]
  /\ declared = {Root}
  /\ ledger = [b \in Branches |-> [x \in Steps |-> Unrecorded]]
  /\ gate = [b \in Branches |-> [g \in Gates |-> ClosedGate]]
  /\ status = [b \in Branches |-> IF b = Root THEN "running" ELSE "absent"]
  /\ world = [b \in Branches |-> [x \in Effects |-> Unapplied]]
  /\ run = [r \in Runners |-> Idle]
  /\ own = [b \in Branches |-> <<>>]
  /\ computed = {}

(* Read the newest checkpoint.  Any number of runners may load one branch.  *)
Load(r, b) ==
  /\ run[r].phase = "idle"
  /\ Running(b)
  /\ LET u == UnitAfter(b, Len(ckpt[b])) IN
     \E next \in Arrivals(ledger[b], b, u, 0) :
       run' = [run EXCEPT ![r] = Arrive(b, u, Len(ckpt[b]), next, 0)]
  /\ UNCHANGED <<ckpt, origin, declared, ledger, gate, status, world, own, computed>>

(* Run a pure step; `ok` is the environment's choice of a valid outcome.    *)
Compute(r, ok) ==
  /\ Ready(r, "pure")
  /\ LET b == run[r].branch x == run[r].step o == Outcome(b, x) IN
     /\ run' = [run EXCEPT ![r].phase = "holds", ![r].out = o, ![r].ok = ok]
     /\ computed' = IF ok THEN computed \cup {[branch |-> b, step |-> x, inputs |-> Content(b, x), out |-> o]}
                    ELSE computed
  /\ UNCHANGED <<ckpt, origin, declared, ledger, gate, status, world, own>>

(* Send an effect to the sink, under a key that is a function of the        *)
(* logical step <<b, x>>: a repeat isn't applied and gets the first answer. *)
Fire(r, ok) ==
  /\ Ready(r, "effect")
  /\ LET b == run[r].branch x == run[r].step w == world[b][x]
         w2 == IF w.applied = 0 THEN [applied |-> 1, answer |-> Outcome(b, x), ok |-> ok] ELSE w IN
     /\ w2.ok = ok
     /\ world' = [world EXCEPT ![b][x] = w2]
     /\ run' = [run EXCEPT ![r].phase = "holds", ![r].out = w2.answer, ![r].ok = ok]
  /\ UNCHANGED <<ckpt, origin, declared, ledger, gate, status, own, computed>>

(* The outcome in hand becomes durable, once: what is recorded stays.       *)
Record(r) ==
  /\ Holding(r) /\ run[r].ok
  /\ CanRecord(r)
  /\ LET b == run[r].branch x == run[r].step u == run[r].unit e == run[r].epoch
         L == IF ledger[b][x].out = None
              THEN [ledger[b] EXCEPT ![x] = [out |-> run[r].out, ok |-> run[r].ok]] ELSE ledger[b] IN
     /\ ledger' = [ledger EXCEPT ![b] = L]
     /\ \E next \in Arrivals(L, b, u, e) :
          run' = [run EXCEPT ![r] = Arrive(b, u, run[r].base, next, e)]
  /\ UNCHANGED <<ckpt, origin, declared, gate, status, world, own, computed>>

(* The step is recorded already: reuse that, whatever is in hand.           *)
Memo(r) ==
  /\ run[r].step # AtCommit
  /\ Kind[run[r].step] # "gate"
  /\ LET b == run[r].branch u == run[r].unit e == run[r].epoch IN
     /\ ledger[b][run[r].step].out # None
     /\ \E next \in Arrivals(ledger[b], b, u, e) :
          run' = [run EXCEPT ![r] = Arrive(b, u, run[r].base, next, e)]
  /\ UNCHANGED <<ckpt, origin, declared, ledger, gate, status, world, own, computed>>

(* The checkpoint that seals unit u of branch b.                            *)
Sealing(b, u) == [unit |-> u, out |-> [x \in StepsIn[u] |-> ledger[b][x].out],
                  valid |-> \A x \in StepsIn[u] : ledger[b][x].ok, complete |-> TRUE]

(* Append the checkpoint: compare-and-set on the branch's length and, in a  *)
(* unit with a gate, on the claim's epoch.  The gate is consumed by it.     *)
Commit(r) ==
  /\ Committing(r)
  /\ CanCommit(r)
  /\ LET b == run[r].branch u == run[r].unit e == Sealing(b, u) IN
     /\ ckpt' = [ckpt EXCEPT ![b] = Append(@, e)]
     /\ own' = [own EXCEPT ![b] = Append(@, [entry |-> e, acked |-> TRUE])]
     /\ gate' = IF GateIn[u] = None THEN gate ELSE [gate EXCEPT ![b][GateIn[u]].status = "consumed"]
     /\ IF u = UnitCount
        THEN /\ status' = [status EXCEPT ![b] = "done"]
             /\ run' = [run EXCEPT ![r] = Idle]
        ELSE /\ status' = status
             /\ \E next \in Arrivals(ledger[b], b, u + 1, 0) :
                  run' = [run EXCEPT ![r] = Arrive(b, u + 1, run[r].base + 1, next, 0)]
  /\ UNCHANGED <<origin, declared, ledger, world, computed>>

(* Open the gate for an answer, and leave.                                  *)
Park(r) ==
  /\ Ready(r, "gate")
  /\ CanPark(r)
  /\ gate' = [gate EXCEPT ![run[r].branch][run[r].step].status = "parked"]
  /\ run' = [run EXCEPT ![r] = Idle]
  /\ UNCHANGED <<ckpt, origin, declared, ledger, status, world, own, computed>>

(* One atomic insert before anything behind the gate runs.                  *)
Claim(r) ==
  /\ Ready(r, "gate")
  /\ CanClaim(r)
  /\ LET k == GateOf(r) v == Head(k.acks).value IN
     /\ gate' = [gate EXCEPT ![run[r].branch][run[r].step] =
                   [k EXCEPT !.status = "claimed", !.epoch = @ + 1, !.claims = @ + 1, !.passed = v]]
     /\ run' = [run EXCEPT ![r].phase = "holds", ![r].out = v, ![r].epoch = k.epoch + 1]
  /\ UNCHANGED <<ckpt, origin, declared, ledger, status, world, own, computed>>

(* An expired claim passes on, with its value, to a higher epoch.           *)
TakeOver(r) ==
  /\ Ready(r, "gate")
  /\ CanTakeOver(r)
  /\ LET k == GateOf(r) IN
     /\ gate' = [gate EXCEPT ![run[r].branch][run[r].step] = [k EXCEPT !.epoch = @ + 1, !.expired = FALSE]]
     /\ run' = [run EXCEPT ![r].phase = "holds", ![r].out = k.passed, ![r].epoch = k.epoch + 1]
  /\ UNCHANGED <<ckpt, origin, declared, ledger, status, world, own, computed>>

(* At a gate that can't be parked, claimed or taken over: go away.          *)
Refuse(r) ==
  /\ Ready(r, "gate")
  /\ ~CanPark(r) /\ ~CanClaim(r) /\ ~CanTakeOver(r)
  /\ run' = [run EXCEPT ![r] = Idle]
  /\ UNCHANGED <<ckpt, origin, declared, ledger, gate, status, world, own, computed>>

(* The store refuses a write that comes too late.                           *)
Stale(r) ==
  /\ \/ Holding(r) /\ run[r].ok /\ ~CanRecord(r)
     \/ Committing(r) /\ ~CanCommit(r)
  /\ run' = [run EXCEPT ![r] = Idle]
  /\ UNCHANGED <<ckpt, origin, declared, ledger, gate, status, world, own, computed>>

(* An invalid outcome is never stored.  A pure step is tried again in       *)
(* place, its claim kept; what an effect answered stays: the branch fails.  *)
Reject(r) ==
  /\ Holding(r) /\ ~run[r].ok
  /\ IF Kind[run[r].step] = "pure"
     THEN /\ run' = [run EXCEPT ![r].phase = "ready", ![r].out = None, ![r].ok = TRUE]
          /\ status' = status
     ELSE /\ run' = [run EXCEPT ![r] = Idle]
          /\ status' = [status EXCEPT ![run[r].branch] = "failed"]
  /\ UNCHANGED <<ckpt, origin, declared, ledger, gate, world, own, computed>>

(* The first answer to a parked gate is accepted.  The same delivery again  *)
(* is harmless and any other is refused: both leave no durable trace, so    *)
(* that they are no steps here.                                            *)
Deliver(b, g, d, v) ==
  /\ Running(b)
  /\ gate[b][g].status = "parked"
  /\ gate' = [gate EXCEPT ![b][g].status = "answered",
                          ![b][g].acks = <<[to |-> b, id |-> d, value |-> v]>> \o @]
  /\ UNCHANGED <<ckpt, origin, declared, ledger, status, world, run, own, computed>>

(* The lease of a claim ends; it may happen to a live owner.                *)
Expire(b, g) ==
  /\ gate[b][g].status = "claimed" /\ ~gate[b][g].expired
  /\ gate' = [gate EXCEPT ![b][g].expired = TRUE]
  /\ UNCHANGED <<ckpt, origin, declared, ledger, status, world, run, own, computed>>

(* A process dies.                                                          *)
Crash(r) ==
  /\ run[r].phase # "idle"
  /\ run' = [run EXCEPT ![r] = Idle]
  /\ UNCHANGED <<ckpt, origin, declared, ledger, gate, status, world, own, computed>>

(* Branch c begins as the first i checkpoints of branch b.  Its copied      *)
(* gates are consumed, with the value that passed and neither answers nor   *)
(* claims of their own.                                                    *)
BranchOff(b, i, c) ==
  LET prefix == SubSeq(ckpt[b], 1, i)
      copied(g) == \E j \in DOMAIN prefix : prefix[j].unit = UnitOf[g] IN
  /\ ckpt' = [ckpt EXCEPT ![c] = prefix]
  /\ origin' = [origin EXCEPT ![c] = [parent |-> b, index |-> i, prefix |-> prefix]]
  /\ gate' = [gate EXCEPT ![c] = [g \in Gates |->
                IF copied(g) THEN [ClosedGate EXCEPT !.status = "consumed", !.passed = gate[b][g].passed]
                ELSE ClosedGate]]
  /\ status' = [status EXCEPT ![c] = IF UnitAfter(b, i) > UnitCount THEN "done" ELSE "running"]

(* A declared fork c of branch b after its first i checkpoints.             *)
Fork(b, i, c) ==
  /\ Exists(b) /\ ~Exists(c)
  /\ i \in 0 .. Len(ckpt[b])
  /\ BranchOff(b, i, c)
  /\ declared' = declared \cup {c}
  /\ UNCHANGED <<ledger, world, run, own, computed>>

(* Prefix continuation: unit identities only.  An acknowledged commit stays. *)
PC == \A b \in Branches :
  LET n == origin[b].index IN
  /\ Len(ckpt[b]) >= n
  /\ \A i \in DOMAIN ckpt[b] :
       ckpt[b][i].unit = IF i <= n THEN origin[b].prefix[i].unit ELSE UnitAfter(b, i - 1)
  /\ \A i \in DOMAIN own[b] : own[b][i].acked => Has(b, own[b][i].entry.unit)

(* Effect exactly-once: applied at most once, and at least once if it is    *)
(* recorded or was committed by this branch.                               *)
EO == \A b \in Branches : \A x \in Effects :
  IF world[b][x].applied = 0
  THEN /\ ledger[b][x].out = None
       /\ \A i \in DOMAIN own[b] : own[b][i].entry.unit # UnitOf[x]
  ELSE world[b][x].applied = 1

RECURSIVE IsSubsequence(_, _)

IsSubsequence(p, q) ==
  IF p = <<>> THEN TRUE ELSE IF q = <<>> THEN FALSE
  ELSE IsSubsequence(IF Head(p) = Head(q) THEN Tail(p) ELSE p, Tail(q))

(* FD-1: the starting prefix is unchanged, and nobody else's write is there. *)
FD1 == \A b \in Branches :
  LET n == origin[b].index m == Len(ckpt[b]) IN
  /\ m >= n
  /\ \A i \in 1 .. n : ckpt[b][i] = origin[b].prefix[i]
  /\ IF m - n = Len(own[b]) /\ \A i \in DOMAIN own[b] : ckpt[b][n + i] = own[b][i].entry
     THEN TRUE    \* the common case, said first because it is quick to see
     ELSE IsSubsequence(SubSeq(ckpt[b], n + 1, m), [i \in DOMAIN own[b] |-> own[b][i].entry])

(* FD-2: the same unit, with all before it the same, has the same outcomes. *)
SamePast(b, c, u) ==
  /\ \A w \in 1 .. u - 1 : Has(b, w) /\ Has(c, w) /\ Newest(b, w).out = Newest(c, w).out
  /\ \A g \in Gates : UnitOf[g] <= u => gate[b][g].passed = gate[c][g].passed

Differ(p, q) ==
  p.unit = q.unit /\ p.out # q.out /\ p.valid /\ p.complete /\ q.valid /\ q.complete

FD2 == \A b, c \in Branches : b < c =>
  \A i \in DOMAIN ckpt[b] : \A j \in DOMAIN ckpt[c] :
    (Differ(ckpt[b][i], ckpt[c][j]) /\ SamePast(b, c, ckpt[b][i].unit))
    => ckpt[b][i] # Newest(b, ckpt[b][i].unit) \/ ckpt[c][j] # Newest(c, ckpt[c][j].unit)

FD == FD1 /\ FD2

(* Checkpoint validity.                                                     *)
CV == \A b \in Branches : \A i \in DOMAIN ckpt[b] : ckpt[b][i].valid /\ ckpt[b][i].complete

(* Consume-once, value: at most one delivery is acknowledged, to this       *)
(* branch's gate; it stays, and the value that passed is it.               *)
COV == \A b \in Branches : \A g \in Gates :
  LET k == gate[b][g] IN
  /\ Len(k.acks) <= 1
  /\ \A i \in DOMAIN k.acks : k.acks[i].to = b
  /\ k.acks # <<>> => k.status \in {"answered", "claimed", "consumed"}
  /\ k.claims > 0 => k.acks # <<>> /\ k.passed = Head(k.acks).value

(* Consume-once, consumption: claimed at most once; take-overs don't count. *)
COC == \A b \in Branches : \A g \in Gates : gate[b][g].claims <= 1

(* Recovery determinism: same branch, step and inputs, one valid outcome.   *)
RD == \A p, q \in computed :
  (p.branch = q.branch /\ p.step = q.step /\ p.inputs = q.inputs) => p.out = q.out

(* Fork intent: every branch that exists was declared.                      *)
FI == \A b \in Branches : Exists(b) => b \in declared

-------------------------------------------------------------------------------
(* Its steps within the budgets                                              *)

budgets == <<crashes, expiries, invalid>>

mcvars == <<vars, budgets>>

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

-------------------------------------------------------------------------------
(* The deviations                                                            *)

On(f) == f \in Faults

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

(* lost_commit: the branch is shorter than when r reached its unit.         *)
IsOutlived(r) == run[r].phase # "idle" /\ Len(ckpt[run[r].branch]) < run[r].base

MayRun(r) == IF On("lost_commit") THEN ~IsOutlived(r) ELSE TRUE

MayCrash(r) == IF On("stuck_running") THEN run[r].phase # "idle" /\ ~Running(run[r].branch) ELSE TRUE

-------------------------------------------------------------------------------
(* The steps that there are, within the budgets                              *)

(* There is room for one checkpoint more where r commits. *)
Room(r) == Len(ckpt[run[r].branch]) < MaxLength /\ Len(own[run[r].branch]) < MaxLength

(* Branch identities are taken in order. *)
Following(c) == ~Exists(c) /\ \A a \in Branches : a < c => Exists(a)

MCMayCompute(r, ok) == MayRun(r) /\ MCCompute(r, ok)

MCMayFire(r, ok) == MayRun(r) /\ MCFire(r, ok)

MCMayCommit(r) == Committing(r) /\ Room(r) /\ MCCommit(r)

MCMayTakeOver(r) == ~On("orphaned_claim") /\ MCTakeOver(r)

MCMayCrash(r) == MayCrash(r) /\ MCCrash(r)

MCLoadForking(r, b, c) ==
  /\ Following(c)
  /\ (\E i \in 0 .. Len(ckpt[b]) : LoadForking(r, b, i, c)) /\ UNCHANGED budgets

MCFaultStep ==
  \/ \E r \in Runners, b \in Branches, c \in Branches : MCLoadForking(r, b, c)

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

-------------------------------------------------------------------------------
TypeOK == FaultyTypeOK

(* The last disjunct: to have nothing left to do is no deadlock.            *)
Next == MCRemainingStep \/ MCFaultStep \/ UNCHANGED mcvars
Spec == MCInit /\ [][Next]_mcvars
===============================================================================
