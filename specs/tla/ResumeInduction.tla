--------------------------- MODULE ResumeInduction ---------------------------
(***************************************************************************)
(* An inductive invariant of ResumeContract: Ind holds at first, every     *)
(* step keeps it, and each safety clause follows from it.  So the clauses  *)
(* hold of behaviours of any length, with any number of crashes, expiries  *)
(* and invalid outcomes: a budget has no part in it.                       *)
(*                                                                         *)
(* What holds all of it together: what a branch has done is a function of  *)
(* the values that passed its gates, and of how far it has come.           *)
(*                                                                         *)
(* The second half are generators: Forms, what a branch may look like, and *)
(* Places, where a runner may be, each built choice by choice so that what *)
(* they yield satisfies Ind, and all that satisfies Ind is yielded (with   *)
(* epochs up to MaxEpoch).  Nothing is filtered out of the typed states.   *)
(* MCResumeInduction takes one step from each state so made.               *)
(***************************************************************************)
EXTENDS ResumeContract, TLC

CONSTANT MaxEpoch    \* the highest epoch that a generated state has; at 2 there are a stale and a current one

-----------------------------------------------------------------------------
(* The conjuncts about branches.                                           *)

Index(b) == origin[b].index                          \* how many checkpoints b was forked with
Mine(b) == Index(b) + 1 .. Len(ckpt[b])              \* where the checkpoints are that b committed
InReach(b) == Index(b) + 1 .. Len(ckpt[b]) + 1       \* the units that b has worked on
IsRecorded(b, x) == ledger[b][x].out # None

Declarations == declared = {b \in Branches : Exists(b)}

(* The root is there; what isn't there has left no trace; done is all done. *)
Lives ==
  /\ Exists(Root)
  /\ \A b \in Branches :
       /\ status[b] # "uncertain"
       /\ (status[b] = "done") = (Len(ckpt[b]) >= UnitCount)
       /\ ~Exists(b) =>
            /\ ckpt[b] = <<>> /\ own[b] = <<>> /\ origin[b] = NoOrigin
            /\ ledger[b] = [x \in Steps |-> Unrecorded]
            /\ gate[b] = [g \in Gates |-> ClosedGate]
            /\ world[b] = [x \in Effects |-> Unapplied]
            /\ \A k \in computed : k.branch # b

(* The checkpoints of a branch are of the first units, in order. *)
Chains == \A b \in Branches :
  Len(ckpt[b]) <= UnitCount /\ \A i \in DOMAIN ckpt[b] : ckpt[b][i].unit = i

Wholeness == \A b \in Branches : \A i \in DOMAIN ckpt[b] : ckpt[b][i].valid /\ ckpt[b][i].complete

(* What step x read when it went into checkpoint e of branch b. *)
Past(b, e, x) == [y \in Inputs[x] |->
  IF UnitOf[y] < e.unit THEN IF Has(b, UnitOf[y]) THEN Newest(b, UnitOf[y]).out[y] ELSE None ELSE e.out[y]]

(* A checkpoint holds what the code yields, and at its gate what passed:    *)
(* so of the same past and the same answers it is the same in any branch.   *)
Lawfulness == \A b \in Branches : \A i \in DOMAIN ckpt[b] : \A x \in StepsIn[ckpt[b][i].unit] :
  ckpt[b][i].out[x] = IF Kind[x] = "gate" THEN gate[b][x].passed ELSE F(x, Past(b, ckpt[b][i], x))

Origins == \A b \in Branches :
  /\ Index(b) <= Len(ckpt[b])
  /\ origin[b].prefix = SubSeq(ckpt[b], 1, Index(b))
  /\ IF b = Root \/ ~Exists(b) THEN origin[b] = NoOrigin
     ELSE origin[b].parent \in {a \in Branches \ {b} : Exists(a)}

Ownership == \A b \in Branches :
  own[b] = [j \in 1 .. Len(ckpt[b]) - Index(b) |-> [entry |-> ckpt[b][Index(b) + j], acked |-> TRUE]]

(* A branch works on what follows its starting prefix, no further than one  *)
(* unit beyond its newest checkpoint, and on a step after its predecessors. *)
HasBegun(b, x) ==
  \/ IsRecorded(b, x)
  \/ Kind[x] = "pure" /\ \E k \in computed : k.branch = b /\ k.step = x
  \/ Kind[x] = "effect" /\ world[b][x].applied # 0
  \/ Kind[x] = "gate" /\ gate[b][x].status # "closed" /\ UnitOf[x] > Index(b)
Frontier == \A b \in Branches : \A x \in Steps :
  HasBegun(b, x) => UnitOf[x] \in InReach(b) /\ \A y \in After[x] : IsRecorded(b, y)

(* What a branch has committed it had recorded, and gates are consumed by   *)
(* being committed or copied.                                              *)
Sealed == \A b \in Branches :
  /\ \A i \in Mine(b) : \A x \in StepsIn[ckpt[b][i].unit] : ledger[b][x].out = ckpt[b][i].out[x]
  /\ \A g \in Gates : (gate[b][g].status = "consumed") = Has(b, UnitOf[g])

(* What is recorded is valid, and the code, the sink or the gate gave it.   *)
Records == \A b \in Branches : \A x \in Steps :
  IF ~IsRecorded(b, x) THEN ledger[b][x] = Unrecorded
  ELSE /\ ledger[b][x].ok
       /\ CASE Kind[x] = "pure" -> ledger[b][x].out = F(x, Content(b, x))
            [] Kind[x] = "effect" -> world[b][x] = [applied |-> 1, answer |-> ledger[b][x].out, ok |-> TRUE]
            [] Kind[x] = "gate" -> ledger[b][x].out = gate[b][x].passed

Firings == \A b \in Branches : \A x \in Effects :
  IF world[b][x].applied = 0 THEN world[b][x] = Unapplied
  ELSE world[b][x].applied = 1 /\ world[b][x].answer = F(x, Content(b, x))

Computations == \A k \in computed :
  Kind[k.step] = "pure" /\ k.inputs = Content(k.branch, k.step) /\ k.out = F(k.step, k.inputs)

(* Was gate g of branch b claimed there, and not only copied? *)
IsClaimed(b, g) ==
  gate[b][g].status = "claimed" \/ (gate[b][g].status = "consumed" /\ UnitOf[g] > Index(b))

(* One answer to a gate that has one, addressed to it, and it is what passes. *)
Answers == \A b \in Branches : \A g \in Gates :
  LET k == gate[b][g] IN
  /\ IF k.status = "answered" \/ IsClaimed(b, g) THEN Len(k.acks) = 1 /\ k.acks[1].to = b ELSE k.acks = <<>>
  /\ IF IsClaimed(b, g) THEN k.passed = k.acks[1].value
     ELSE (k.passed # None) = (k.status = "consumed")

(* One claim of a gate that was claimed; epochs and leases are of claims.   *)
Claims == \A b \in Branches : \A g \in Gates :
  LET k == gate[b][g] IN
  /\ k.claims = IF IsClaimed(b, g) THEN 1 ELSE 0
  /\ (k.epoch # 0) = IsClaimed(b, g)
  /\ k.expired => IsClaimed(b, g)

-----------------------------------------------------------------------------
(* The conjuncts about runners.                                            *)

(* A runner is in a unit that its branch has worked on, with an epoch of    *)
(* the gate there, if any, once it has the gate's answer in hand or        *)
(* recorded.                                                               *)
Positions == \A r \in Runners : run[r].phase # "idle" =>
  LET b == run[r].branch u == run[r].unit e == run[r].epoch g == GateIn[u]
      inHand == Holding(r) /\ run[r].step = g IN
  /\ Exists(b) /\ u \in InReach(b) /\ run[r].base = u - 1
  /\ IF g = None THEN e = 0 ELSE
       /\ e <= gate[b][g].epoch
       /\ e # 0 => inHand \/ IsRecorded(b, g)
       /\ run[r].step = g => inHand = (e # 0)

(* All that comes before its step is recorded for it. *)
Reached == \A r \in Runners : run[r].phase # "idle" =>
  LET before == IF run[r].step = AtCommit THEN StepsIn[run[r].unit] ELSE After[run[r].step] IN
  \A y \in before : RecordedFor(ledger[run[r].branch], run[r].branch, y, run[r].epoch)

(* What it has in hand the code, the sink or the gate gave it. *)
Hands == \A r \in Runners :
  IF ~Holding(r) THEN run[r].out = None /\ run[r].ok ELSE
  LET b == run[r].branch x == run[r].step IN
  /\ x # AtCommit
  /\ CASE Kind[x] = "pure" -> run[r].out = F(x, Content(b, x))
       [] Kind[x] = "effect" -> world[b][x] = [applied |-> 1, answer |-> run[r].out, ok |-> run[r].ok]
       [] Kind[x] = "gate" -> run[r].ok /\ run[r].out = gate[b][x].passed

-----------------------------------------------------------------------------
Ind ==
  /\ TypeOK
  /\ Declarations /\ Lives /\ Chains /\ Wholeness /\ Lawfulness /\ Origins /\ Ownership
  /\ Frontier /\ Sealed /\ Records /\ Firings /\ Computations /\ Answers /\ Claims
  /\ Positions /\ Reached /\ Hands

-----------------------------------------------------------------------------
(* The generator: branches.                                                *)

(* All functions f on the set D with f[d] \in S[d]. *)
RECURSIVE Choices(_, _)
Choices(D, S) ==
  IF D = {} THEN {<<>>} ELSE
  LET d == CHOOSE d \in D : TRUE IN {(d :> v) @@ f : v \in S[d], f \in Choices(D \ {d}, S)}

(* The gate of step g in a branch forked with i checkpoints that has n.     *)
(* Whom answers are addressed to is filled in when the branch is known.     *)
Passable(s) ==
  {[status |-> s, acks |-> <<[to |-> None, id |-> d, value |-> v]>>, epoch |-> e, expired |-> x,
    claims |-> 1, passed |-> v] : d \in Deliveries, v \in Values, e \in 1 .. MaxEpoch, x \in BOOLEAN}
GateForms(g, i, n) ==
  LET u == UnitOf[g] IN
  IF u <= i THEN {[ClosedGate EXCEPT !.status = "consumed", !.passed = v] : v \in Values}
  ELSE IF u <= n THEN Passable("consumed")
  ELSE IF u > n + 1 THEN {ClosedGate}
  ELSE {ClosedGate, [ClosedGate EXCEPT !.status = "parked"]}
       \cup {[ClosedGate EXCEPT !.status = "answered", !.acks = <<[to |-> None, id |-> d, value |-> v]>>] :
             d \in Deliveries, v \in Values}
       \cup Passable("claimed")

(* What each step yields if these are the branch's gates. *)
Yields(k) ==
  LET o[x \in Steps] == IF Kind[x] = "gate" THEN k[x].passed ELSE F(x, [y \in Inputs[x] |-> o[y]]) IN o

(* The sets of steps of unit n + 1 that may be recorded if these are its gates. *)
Recordable(n, k) == IF n = UnitCount THEN {{}} ELSE
  {R \in SUBSET StepsIn[n + 1] :
     \A x \in StepsIn[n + 1] :
       /\ x \in R \/ (Kind[x] = "gate" /\ k[x].status # "closed") => After[x] \subseteq R
       /\ x \in R /\ Kind[x] = "gate" => k[x].status = "claimed"}

Fired(o, x, ok) == [applied |-> 1, answer |-> o[x], ok |-> ok]

(* What a branch looks like that was forked with i checkpoints, has n, has  *)
(* these gates and has recorded R of unit n + 1.                            *)
FormsWith(i, n, k, R) ==
  LET o == Yields(k)
      recorded == R \cup {x \in Steps : UnitOf[x] \in i + 1 .. n}
      begun == recorded \cup {x \in Steps : UnitOf[x] = n + 1 /\ After[x] \subseteq R}
      applied == [x \in Effects |-> IF x \in recorded THEN {Fired(o, x, TRUE)}
                  ELSE IF x \in begun THEN {Unapplied, Fired(o, x, TRUE), Fired(o, x, FALSE)} ELSE {Unapplied}]
      entries == [u \in 1 .. n |-> [unit |-> u, out |-> [x \in StepsIn[u] |-> o[x]], valid |-> TRUE, complete |-> TRUE]]
      rows == [x \in Steps |-> IF x \in recorded THEN [out |-> o[x], ok |-> TRUE] ELSE Unrecorded]
      seen(P) == {[step |-> x, inputs |-> [y \in Inputs[x] |-> o[y]], out |-> o[x]] : x \in P}
  IN {[status |-> s, index |-> i, ckpt |-> entries, gate |-> k, ledger |-> rows, world |-> w, seen |-> seen(P)] :
        s \in IF n = UnitCount THEN {"done"} ELSE {"running", "failed"},
        w \in Choices(Effects, applied),
        P \in SUBSET {x \in begun : Kind[x] = "pure"}}

FormsFrom(i) == UNION {UNION {UNION {
    FormsWith(i, n, k, R) : R \in Recordable(n, k)} :
    k \in Choices(Gates, [g \in Gates |-> GateForms(g, i, n)])} :
    n \in i .. UnitCount}

AbsentForm == [status |-> "absent", index |-> 0, ckpt |-> <<>>, gate |-> [g \in Gates |-> ClosedGate],
               ledger |-> [x \in Steps |-> Unrecorded], world |-> [x \in Effects |-> Unapplied], seen |-> {}]

RootForms == FormsFrom(0)
OtherForms == {AbsentForm} \cup UNION {FormsFrom(i) : i \in 0 .. UnitCount}

(* The store and the world in which each branch has its form; who was       *)
(* forked from whom is chosen here.                                        *)
Stores(form) ==
  LET there == {b \in Branches : form[b].status # "absent"}
      entries(b) == form[b].ckpt
      after(b) == Len(entries(b)) - form[b].index
      addressed(b, k) == [k EXCEPT !.acks = [j \in DOMAIN @ |-> [@[j] EXCEPT !.to = b]]]
      from(parent, b) == IF b \notin there \ {Root} THEN NoOrigin
        ELSE [parent |-> parent[b], index |-> form[b].index, prefix |-> SubSeq(entries(b), 1, form[b].index)]
  IN {[ckpt |-> [b \in Branches |-> entries(b)],
       origin |-> [b \in Branches |-> from(parent, b)],
       declared |-> there,
       ledger |-> [b \in Branches |-> form[b].ledger],
       gate |-> [b \in Branches |-> [g \in Gates |-> addressed(b, form[b].gate[g])]],
       status |-> [b \in Branches |-> form[b].status],
       world |-> [b \in Branches |-> [x \in Effects |-> form[b].world[x]]],
       own |-> [b \in Branches |->
                  [j \in 1 .. after(b) |-> [entry |-> entries(b)[form[b].index + j], acked |-> TRUE]]],
       computed |-> UNION {{[branch |-> b, step |-> q.step, inputs |-> q.inputs, out |-> q.out] :
                            q \in form[b].seen} : b \in there}] :
      parent \in Choices(there \ {Root}, [b \in there |-> there \ {b}])}

-----------------------------------------------------------------------------
(* The generator: runners, in the store that has been chosen.              *)

EpochsAt(b, u) == {0} \cup IF GateIn[u] = None THEN {} ELSE 1 .. gate[b][GateIn[u]].epoch

(* The steps of unit u, or Commit, that a runner of epoch e may stand at;   *)
(* with an epoch it has the gate's answer in hand or recorded.              *)
StepsAt(b, u, e) ==
  LET g == GateIn[u]
      all(S) == \A y \in S : RecordedFor(ledger[b], b, y, e) IN
  {x \in StepsIn[u] : all(After[x]) /\ (e # 0 /\ x # g => IsRecorded(b, g))}
    \cup IF all(StepsIn[u]) THEN {AtCommit} ELSE {}

Take(b, u, x, e, o, ok) == [Arrive(b, u, u - 1, x, e) EXCEPT !.phase = "holds", !.out = o, !.ok = ok]

HoldingAt(b, u, x, e) ==
  IF x = AtCommit THEN {}
  ELSE CASE Kind[x] = "pure" -> {Take(b, u, x, e, F(x, Content(b, x)), ok) : ok \in BOOLEAN}
         [] Kind[x] = "effect" -> IF world[b][x].applied = 0 THEN {}
                                  ELSE {Take(b, u, x, e, world[b][x].answer, world[b][x].ok)}
         [] Kind[x] = "gate" -> IF e = 0 THEN {} ELSE {Take(b, u, x, e, gate[b][x].passed, TRUE)}

ReadyAt(b, u, x, e) ==
  IF x # AtCommit /\ x = GateIn[u] /\ e # 0 THEN {} ELSE {Arrive(b, u, u - 1, x, e)}

RunnersAt(b, u, e) == UNION {ReadyAt(b, u, x, e) \cup HoldingAt(b, u, x, e) : x \in StepsAt(b, u, e)}

Places == {Idle} \cup
  UNION {UNION {UNION {RunnersAt(b, u, e) : e \in EpochsAt(b, u)} :
                u \in InReach(b) \cap Units} : b \in {b \in Branches : Exists(b)}}
=============================================================================
