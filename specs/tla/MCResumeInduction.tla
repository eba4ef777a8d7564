-------------------------- MODULE MCResumeInduction --------------------------
(***************************************************************************)
(* The obligations of ResumeInduction, at the sizes of a configuration     *)
(* file.  Steps are those of ResumeContract itself, without budgets: any   *)
(* step of any state that satisfies Ind, one step from each.               *)
(*                                                                         *)
(*  - initiation: ReachInit, and no step;                                  *)
(*  - consecution and safety: Start, and OneStep;                          *)
(*  - completeness: Typed makes as many states as Start;                   *)
(*  - reachable states satisfy Ind: ReachInit and ReachNext;               *)
(*  - no conjunct is idle: Bent, and OneStep, with Drops = Conjuncts.  Each *)
(*    state satisfies Ind but for one conjunct; Judge prints what fails.   *)
(*                                                                         *)
(* Sample = 0 takes all states that satisfy Ind; else, from larger sets,   *)
(* this many forms of each branch and SampleRuns places of the runners.    *)
(***************************************************************************)
EXTENDS MCResumeContract, ResumeInduction, Randomization

CONSTANTS
  Codes,         \* what the code of the steps may be
  Drops,         \* the conjuncts to leave out in turn, in Bent
  Sample, SampleRuns

VARIABLES
  code,          \* the code of the steps, the same for ever
  dropped,       \* the conjunct that the start states need not satisfy, or ""
  spent          \* has the step been taken?

more == <<crashes, expiries, invalid, code, dropped>>
Same == <<vars, code, dropped>>    \* the VIEW: a successor that is a start state too has been judged

-----------------------------------------------------------------------------
(* effect | pure ; gate *)
BriefUnitOf == <<1, 2, 2>>
BriefKind == <<"effect", "pure", "gate">>
BriefAfter == <<{}, {}, {2}>>

(* gate *)
AloneUnitOf == <<1>>
AloneKind == <<"gate">>
AloneAfter == <<{}>>

(* pure || effect *)
WorkUnitOf == <<1, 1>>
WorkKind == <<"pure", "effect">>
WorkAfter == <<{}, {}>>

(* One code, MCF; or every function from what a step reads to a value.      *)
OneCode == {<<>>}
Coded == Steps \ Gates
AllCodes == Choices(Coded, [x \in Coded |-> [[Inputs[x] -> Values] -> Values]])
CodeF(x, content) == IF content \in DOMAIN code[x] THEN code[x][content] ELSE None

-----------------------------------------------------------------------------
(* Conjuncts and clauses by name.                                          *)

ConjunctNames == <<"TypeOK", "Declarations", "Lives", "Chains", "Wholeness", "Lawfulness", "Origins", "Ownership",
  "Frontier", "Sealed", "Records", "Firings", "Computations", "Answers", "Claims", "Positions", "Reached", "Hands">>
Names == ConjunctNames \o <<"PC", "EO", "FD1", "FD2", "CV", "COV", "COC", "RD", "FI">>
Conjuncts == {ConjunctNames[i] : i \in DOMAIN ConjunctNames}
NumberOf == [name \in {Names[i] : i \in DOMAIN Names} |-> CHOOSE i \in DOMAIN Names : Names[i] = name]

Holds(name) ==
  CASE name = "TypeOK" -> TypeOK
    [] name = "Declarations" -> Declarations
    [] name = "Lives" -> Lives
    [] name = "Chains" -> Chains
    [] name = "Wholeness" -> Wholeness
    [] name = "Lawfulness" -> Lawfulness
    [] name = "Origins" -> Origins
    [] name = "Ownership" -> Ownership
    [] name = "Frontier" -> Frontier
    [] name = "Sealed" -> Sealed
    [] name = "Records" -> Records
    [] name = "Firings" -> Firings
    [] name = "Computations" -> Computations
    [] name = "Answers" -> Answers
    [] name = "Claims" -> Claims
    [] name = "Positions" -> Positions
    [] name = "Reached" -> Reached
    [] name = "Hands" -> Hands
    [] name = "PC" -> PC
    [] name = "EO" -> EO
    [] name = "FD1" -> FD1
    [] name = "FD2" -> FD2
    [] name = "CV" -> CV
    [] name = "COV" -> COV
    [] name = "COC" -> COC
    [] name = "RD" -> RD
    [] name = "FI" -> FI

(* The registers in which Judge keeps what it has printed already. *)
ASSUME \A d \in DOMAIN ConjunctNames : \A p \in DOMAIN Names : TLCSet(100 * d + p, 0)

(* Prints, once for each conjunct that is dropped, what fails without it:   *)
(* in a start state (safety) or after a step from one (consecution).        *)
Note(d, p) ==
  IF TLCGet(100 * d + p) = 0
  THEN TLCSet(100 * d + p, 1) /\ PrintT(<<"FAILS", Names[d], Names[p], IF spent THEN "step" ELSE "start">>)
  ELSE TRUE
Judge == \A p \in DOMAIN Names :
  IF Names[p] = dropped THEN TRUE ELSE IF Holds(Names[p]) THEN TRUE ELSE Note(NumberOf[dropped], p)

-----------------------------------------------------------------------------
(* Start states.                                                           *)

Few(S, n) == IF Sample = 0 THEN S ELSE IF Cardinality(S) <= n THEN S ELSE RandomSubset(n, S)

Rigid == code \in Codes /\ spent = FALSE /\ crashes = 0 /\ expiries = 0 /\ invalid = 0
Put(t) ==
  /\ ckpt = t.ckpt /\ origin = t.origin /\ declared = t.declared /\ ledger = t.ledger /\ gate = t.gate
  /\ status = t.status /\ world = t.world /\ own = t.own /\ computed = t.computed

(* All states that satisfy Ind, or a sample of them. *)
Start ==
  /\ Rigid /\ dropped = ""
  /\ LET roots == Few(RootForms, Sample)
         others == Few(OtherForms, Sample) IN
     \E p \in roots : \E q \in [Branches \ {Root} -> others] : \E t \in Stores((Root :> p) @@ q) : Put(t)
  /\ LET places == Places IN \E q \in Few([Runners -> places], SampleRuns) : run = q

-----------------------------------------------------------------------------
(* States that satisfy Ind but for one conjunct: states that satisfy it,    *)
(* bent in one place.  A few will do: the root has got somewhere, and other *)
(* branches, where they matter, aren't there or were forked just now.       *)

Plain(f) == f.status # "failed" /\ \A g \in Gates : f.gate[g].status \notin {"parked", "answered"} /\ ~f.gate[g].expired
Fresh(f) == f.status = "absent" \/
  /\ f.status # "failed" /\ Len(f.ckpt) = f.index /\ f.seen = {}
  /\ \A x \in Effects : f.world[x].applied = 0
  /\ \A x \in Steps : f.ledger[x].out = None
  /\ \A g \in Gates : f.gate[g].claims = 0 /\ f.gate[g].status # "answered"

Committed(t) == {b \in Branches : t.own[b] # <<>>}
Forked(t) == {b \in Branches : t.origin[b].index > 0}
Applied(o) == [applied |-> 1, answer |-> o, ok |-> TRUE]
Early(t, b, x) ==
  LET in == [y \in Inputs[x] |-> t.ledger[b][y].out] IN [branch |-> b, step |-> x, inputs |-> in, out |-> F(x, in)]

BentStores(t) ==
  CASE dropped = "Declarations" -> {[t EXCEPT !.declared = @ \ {b}] : b \in t.declared}
    [] dropped = "Lives" ->    \* an effect of a branch that isn't there
         {[t EXCEPT !.world[b][x] = Applied(F(x, <<>>))] :
            b \in Branches \ t.declared, x \in {y \in Effects : Inputs[y] = {}}}
    [] dropped = "Chains" ->    \* the last unit once more
         {[t EXCEPT !.ckpt[b] = Append(@, @[Len(@)]), !.own[b] = Append(@, @[Len(@)])] : b \in Committed(t)}
    [] dropped = "Wholeness" ->
         {[t EXCEPT !.ckpt[b][Len(t.ckpt[b])].valid = FALSE, !.own[b][Len(t.own[b])].entry.valid = FALSE] :
            b \in Committed(t)}
    [] dropped = "Lawfulness" ->    \* a copied outcome that isn't the code's
         {[t EXCEPT !.ckpt[b][1].out[x] = v, !.origin[b].prefix[1].out[x] = v] :
            b \in Forked(t), x \in StepsIn[1] \ Gates, v \in Values}
    [] dropped = "Origins" ->
         {[t EXCEPT !.origin[b].prefix[1].out[x] = v] : b \in Forked(t), x \in StepsIn[1], v \in Values}
    [] dropped = "Ownership" -> {[t EXCEPT !.own[b] = Tail(@)] : b \in Committed(t)}
    [] dropped = "Frontier" ->    \* a step before its time
         {[t EXCEPT !.computed = @ \cup {Early(t, b, x)}] : b \in t.declared, x \in {y \in Steps : Kind[y] = "pure"}}
    [] dropped = "Sealed" ->
         {[t EXCEPT !.ledger[b][x] = Unrecorded, !.world[b][x] = Unapplied] : b \in Committed(t), x \in Effects}
    [] dropped = "Records" ->
         {[t EXCEPT !.ledger[b][x] = [out |-> v, ok |-> TRUE]] : b \in t.declared, x \in Effects, v \in Values}
    [] dropped = "Firings" -> {[t EXCEPT !.world[b][x].applied = 2] : b \in t.declared, x \in Effects}
    [] dropped = "Computations" ->
         {[t EXCEPT !.computed = @ \cup {[k EXCEPT !.out = v]}] : k \in t.computed, v \in Values}
    [] dropped = "Answers" -> {[t EXCEPT !.gate[b][g].acks = @ \o @] : b \in t.declared, g \in Gates}
    [] dropped = "Claims" -> {[t EXCEPT !.gate[b][g].claims = 2] : b \in t.declared, g \in Gates}
    [] OTHER -> {t}

BentRuns(q) ==
  CASE dropped = "TypeOK" ->    \* at a step of another unit
         {[q EXCEPT ![r].step = x] : r \in {r \in Runners : q[r].phase = "ready"}, x \in Steps}
    [] dropped = "Positions" ->    \* takes its unit for the next one
         {[q EXCEPT ![r].base = Len(ckpt[q[r].branch])] : r \in {r \in Runners : q[r].phase = "ready"}}
    [] dropped = "Reached" ->
         {[q EXCEPT ![r].step = AtCommit] : r \in {r \in Runners : q[r].phase = "ready"}}
    [] dropped = "Hands" ->
         {[q EXCEPT ![r].out = v] : r \in {r \in Runners : q[r].phase = "holds"}, v \in Values}
    [] OTHER -> {q}

(* Each of these conjuncts holds, but for the one that is left out, which doesn't. *)
OfBranches == Conjuncts \ {"TypeOK", "Positions", "Reached", "Hands"}
Without(names) == \A name \in names : Holds(name) = (name # dropped)

Bent ==
  /\ Rigid /\ dropped \in Drops
  /\ LET roots == {f \in RootForms : Plain(f)}
         others == IF dropped \in {"Lives", "Lawfulness", "Origins"} THEN {f \in OtherForms : Fresh(f)}
                   ELSE {AbsentForm} IN
     \E p \in roots : \E q \in [Branches \ {Root} -> others] :
     \E t \in Stores((Root :> p) @@ q) : \E s \in BentStores(t) : Put(s)
  /\ Without(OfBranches)
  /\ LET places == IF dropped \in OfBranches \ {"Frontier"} THEN {Idle} ELSE Places IN
     \E q \in [Runners -> places] : \E p \in BentRuns(q) : run = p
  /\ Without(Conjuncts)

-----------------------------------------------------------------------------
(* All that satisfies Ind, by brute force: typed states, each conjunct as   *)
(* soon as what it reads is there.  Their number must be that of Start.     *)
(* The types are as wide as Ind allows outright: one answer, one claim, one *)
(* application, as many checkpoints as units.                               *)

Upto(n, S) == UNION {[1 .. m -> S] : m \in 0 .. n}
Entries == UNION {[unit : {u}, out : [StepsIn[u] -> Values], valid : BOOLEAN, complete : BOOLEAN] : u \in Units}
Acks == [to : Branches, id : Deliveries, value : Values]
GateRecords == [status : {"closed", "parked", "answered", "claimed", "consumed"}, acks : Upto(1, Acks),
                epoch : 0 .. MaxEpoch, expired : BOOLEAN, claims : 0 .. 1, passed : Values \cup {None}]
Keys == UNION {[branch : Branches, step : {x}, inputs : [Inputs[x] -> Values \cup {None}], out : Values] : x \in Steps}
Runs == {Idle} \cup [phase : {"ready", "holds"}, branch : Branches, unit : Units, base : 0 .. UnitCount,
                     step : Steps \cup {AtCommit}, out : Values \cup {None}, ok : BOOLEAN, epoch : 0 .. MaxEpoch]

Typed ==
  /\ Rigid /\ dropped = ""
  /\ ckpt \in [Branches -> Upto(UnitCount, Entries)] /\ Chains /\ Wholeness
  /\ status \in [Branches -> {"absent", "running", "failed", "uncertain", "done"}]
  /\ origin \in [Branches -> [parent : Branches \cup {None}, index : 0 .. UnitCount, prefix : Upto(UnitCount, Entries)]]
  /\ Origins
  /\ declared \in SUBSET Branches /\ Declarations
  /\ own \in [Branches -> Upto(UnitCount, [entry : Entries, acked : BOOLEAN])] /\ Ownership
  /\ gate \in [Branches -> [Gates -> GateRecords]] /\ Answers /\ Claims /\ Lawfulness
  /\ ledger \in [Branches -> [Steps -> [out : Values \cup {None}, ok : BOOLEAN]]] /\ Sealed
  /\ world \in [Branches -> [Effects -> [applied : 0 .. 1, answer : Values \cup {None}, ok : BOOLEAN]]]
  /\ Records /\ Firings
  /\ computed \in SUBSET Keys /\ Computations /\ Frontier /\ Lives
  /\ run \in [Runners -> Runs] /\ TypeOK /\ Positions /\ Reached /\ Hands

-----------------------------------------------------------------------------
(* One step from a start state.                                            *)

Once == ~spent /\ spent' = TRUE /\ UNCHANGED more

OneLoad(r, b) == Once /\ Load(r, b)
OneCompute(r, ok) == Once /\ Compute(r, ok)
OneFire(r, ok) == Once /\ Fire(r, ok)
OneRecord(r) == Once /\ Record(r)
OneMemo(r) == Once /\ Memo(r)
OneCommit(r) == Once /\ Commit(r)
OnePark(r) == Once /\ Park(r)
OneClaim(r) == Once /\ Claim(r)
OneTakeOver(r) == Once /\ TakeOver(r)
OneRefuse(r) == Once /\ Refuse(r)
OneStale(r) == Once /\ Stale(r)
OneReject(r) == Once /\ Reject(r)
OneDeliver(b, g, d, v) == Once /\ Deliver(b, g, d, v)
OneExpire(b, g) == Once /\ Expire(b, g)
OneCrash(r) == Once /\ Crash(r)
OneFork(b, c) == Once /\ \E i \in 0 .. Len(ckpt[b]) : Fork(b, i, c)

OneStep ==
  \/ \E r \in Runners, b \in Branches : OneLoad(r, b)
  \/ \E r \in Runners, ok \in BOOLEAN : OneCompute(r, ok)
  \/ \E r \in Runners, ok \in BOOLEAN : OneFire(r, ok)
  \/ \E r \in Runners : OneRecord(r)
  \/ \E r \in Runners : OneMemo(r)
  \/ \E r \in Runners : OneCommit(r)
  \/ \E r \in Runners : OnePark(r)
  \/ \E r \in Runners : OneClaim(r)
  \/ \E r \in Runners : OneTakeOver(r)
  \/ \E r \in Runners : OneRefuse(r)
  \/ \E r \in Runners : OneStale(r)
  \/ \E r \in Runners : OneReject(r)
  \/ \E b \in Branches, g \in Gates, d \in Deliveries, v \in Values : OneDeliver(b, g, d, v)
  \/ \E b \in Branches, g \in Gates : OneExpire(b, g)
  \/ \E r \in Runners : OneCrash(r)
  \/ \E b \in Branches, c \in Branches : OneFork(b, c)

(* The same, not taken apart; OneStep is so that TLC can count each action.   *)
OneNext == Once /\ Next

-----------------------------------------------------------------------------
(* The reference, within its budgets.                                      *)

ReachInit == MCInit /\ code \in Codes /\ dropped = "" /\ spent = FALSE
ReachNext == MCNext /\ UNCHANGED <<code, dropped, spent>>
NoStep == FALSE /\ UNCHANGED <<vars, more, spent>>
=============================================================================
