----------------------------- MODULE Sequencer -----------------------------
(***************************************************************************)
(* A reference sequencer, at the level of its algorithm: processes that    *)
(* resume one workflow from a shared store.  Each of them reads the newest *)
(* checkpoint, then, row by row, what is recorded of the unit behind it;   *)
(* runs what isn't; sends effects to a keyed sink and waits for the        *)
(* answer; asks at a gate, and passes it by one atomic insert or by taking *)
(* over a claim that expired; records each outcome and commits the unit,   *)
(* both as single conditional transactions.  It may die before any step.   *)
(* It continues as any process begins: by loading again.                   *)
(*                                                                         *)
(* The store here is tables as a database has them, not the variables of   *)
(* ResumeContract; Refinement, below the translation, maps the one to the  *)
(* other, and TLC checks it.  Left out: forks (there is one branch),       *)
(* invalid outcomes, and units whose steps are not in line.                *)
(*                                                                         *)
(* Two switches make it wrong, so that the check is seen to fail:          *)
(* AtomicClaim = FALSE inserts a claim without looking again, StepKeys =   *)
(* FALSE sends every attempt of an effect under a key of its own.          *)
(***************************************************************************)
EXTENDS Integers, Sequences, FiniteSets

CONSTANTS
  Runners,      \* a finite set of positive numbers: the processes
  UnitCount,    \* the number of units of the program
  UnitOf,       \* <<u1, ..., un>>: the unit of each step 1 .. n, in rising order
  Kind,         \* [Steps -> {"pure", "effect", "gate"}]
  Deliveries,   \* a set of positive numbers: the answers; an answer is its own value
  Values,       \* a set of positive numbers: outcomes and answers
  F(_, _),      \* F(x, content) \in Values: what the code of step x yields
  MaxCrashes,   \* crashes in a behaviour
  MaxOverruns,  \* leases that end under a live owner
  AtomicClaim,  \* is a claim inserted only if nobody else's is there?
  StepKeys      \* is the key of an effect a function of its step alone?

None == 0
Steps == DOMAIN UnitOf
Gates == {x \in Steps : Kind[x] = "gate"}
Effects == {x \in Steps : Kind[x] = "effect"}
StepsOf == [u \in 1 .. UnitCount |-> {x \in Steps : UnitOf[x] = u}]
GateOf == [u \in 1 .. UnitCount |-> IF Gates \cap StepsOf[u] = {} THEN None
                                    ELSE CHOOSE g \in Gates : UnitOf[g] = u]
Before == [x \in Steps |-> {y \in Steps : y < x}]            \* what a step reads
InLine == [x \in Steps |-> Before[x] \cap StepsOf[UnitOf[x]]]

End == 0                    \* a runner's place behind the last step of its unit
First(u) == CHOOSE x \in StepsOf[u] : InLine[x] = {}
Following(x) == IF x + 1 \in Steps /\ UnitOf[x + 1] = UnitOf[x] THEN x + 1 ELSE End

NoLease == [gate |-> None, epoch |-> 0]

ASSUME StepsStandInLine ==
  /\ UnitCount \in Nat \ {0} /\ Steps = 1 .. Cardinality(Steps)
  /\ \A x \in Steps \ {1} : UnitOf[x] - UnitOf[x - 1] \in {0, 1}
  /\ UnitOf[1] = 1 /\ UnitOf[Cardinality(Steps)] = UnitCount
  /\ \A u \in 1 .. UnitCount : Cardinality(Gates \cap StepsOf[u]) <= 1
ASSUME Numbers ==
  /\ \A n \in Runners \cup Deliveries \cup Values : n \in Nat \ {0}
  /\ Deliveries \subseteq Values /\ AtomicClaim \in BOOLEAN /\ StepKeys \in BOOLEAN

(* The processes beside the runners. *)
TheUser == 0
TheClock == -1
TheSlowness == -2

(*--algorithm Sequencer {

variables
  \* ---- the store: tables
  log = <<>>;                                 \* checkpoints, the outcomes of a unit's steps in each
  writes = [x \in Steps |-> None];            \* recorded outcomes
  asked = {};                                 \* the gates that wait for an answer, or did
  answers = [g \in Gates |-> None];           \* the answer that was accepted
  claims = [g \in Gates |-> [epoch |-> 0, expired |-> FALSE, inserts |-> 0]];
  \* ---- the sink: how many keys it has seen of an effect, and its first answer
  sink = [x \in Effects |-> [keys |-> 0, answer |-> None]];
  \* ---- volatile: the claim whose lease each process renews
  lease = [r \in Runners |-> NoLease];
  \* ---- history: the pure steps that were run
  ran = {};
  \* ---- budgets
  crashes = 0;
  overruns = 0;

define {
  Running == Len(log) < UnitCount
  Sealed(u) == Len(log) >= u
  Stage(g) == IF Sealed(UnitOf[g]) THEN "consumed"
              ELSE IF claims[g].epoch > 0 THEN IF claims[g].expired THEN "expired" ELSE "claimed"
              ELSE IF answers[g] # None THEN "answered"
              ELSE IF g \in asked THEN "parked" ELSE "closed"
  Content(x) == [y \in Before[x] |-> IF Sealed(UnitOf[y]) THEN log[UnitOf[y]][y] ELSE writes[y]]
  Current(l) == l.gate # None => l.epoch = claims[l.gate].epoch
  Renewed(g) == \E r \in Runners : lease[r] = [gate |-> g, epoch |-> claims[g].epoch]
  (* The first step of unit u that has no outcome in W; a gate counts only   *)
  (* for one that passed it.                                               *)
  FirstOpen(W, u, passed) ==
    LET open == {x \in StepsOf[u] : W[x] = None \/ (Kind[x] = "gate" /\ ~passed)}
    IN IF open = {} THEN End ELSE CHOOSE x \in open : \A y \in open : x <= y
}

\* All that a process knows is gone.
macro Forget() {
  unit := 0; at := End; aim := End; out := None;
  lease[self] := NoLease;
}

macro Die() {
  await crashes < MaxCrashes;
  crashes := crashes + 1;
  Forget();
}

fair process (Runner \in Runners)
variables
  unit = 0;     \* the unit it works on; it found unit - 1 checkpoints
  at = End;     \* the step it is at
  out = None;   \* the outcome in hand
  aim = End;    \* history: where ResumeContract says it is; nothing below asks for it
{
Load: \* the first read: the newest checkpoint
  await Running;
  unit := Len(log) + 1;
  at := First(unit);
  aim := FirstOpen(writes, unit, FALSE);

Look: \* the next read: the row of the step it is at
  either { Die(); goto Load; }
  or {
    if (Kind[at] = "gate") {
      if (Stage(at) = "closed") { goto Ask; }
      else if (Stage(at) = "answered") { goto Insert; }
      else if (Stage(at) = "expired") { goto TakeOver; }
      else { Forget(); goto Load; };
    } else if (writes[at] # None) {
      if (at = aim) { aim := FirstOpen(writes, unit, lease[self].gate # None \/ Sealed(unit)); };
      at := Following(at);
      if (at = End) { goto Commit; } else { goto Look; };
    } else if (Kind[at] = "pure") { goto Compute; }
    else { goto Send; };
  };

Ask: \* one insert: the question, if nobody asked it
  either { Die(); goto Load; }
  or {
    if (Stage(at) = "closed") { asked := asked \cup {at}; Forget(); goto Load; }
    else { goto Look; };
  };

Insert: \* one insert: the claim, before anything behind the gate runs
  either { Die(); goto Load; }
  or {
    if (Stage(at) = "answered" \/ ~AtomicClaim) {
      claims[at] := [epoch |-> claims[at].epoch + 1, expired |-> FALSE, inserts |-> claims[at].inserts + 1];
      lease[self] := [gate |-> at, epoch |-> claims[at].epoch];
      out := answers[at];
      goto Record;
    } else { goto Look; };
  };

TakeOver: \* one update: the next epoch of a claim whose lease ended
  either { Die(); goto Load; }
  or {
    if (Stage(at) = "expired") {
      claims[at] := [epoch |-> claims[at].epoch + 1, expired |-> FALSE, inserts |-> claims[at].inserts];
      lease[self] := [gate |-> at, epoch |-> claims[at].epoch];
      out := answers[at];
      goto Record;
    } else { goto Look; };
  };

Compute: \* a pure step
  either { Die(); goto Load; }
  or {
    out := F(at, Content(at));
    ran := ran \cup {at};
    goto Record;
  };

Send: \* the effect reaches the sink, which answers a key that it knows as before
  either { Die(); goto Load; }
  or {
    if (sink[at].keys = 0) { sink[at] := [keys |-> 1, answer |-> F(at, Content(at))]; }
    else if (~StepKeys) { sink[at].keys := sink[at].keys + 1; };
  };

Receive: \* the sink's answer arrives
  either { Die(); goto Load; }
  or { out := sink[at].answer; };

Record: \* one transaction: the outcome, if the claim is still ours and there is none
  either { Die(); goto Load; }
  or {
    if (Running /\ Current(lease[self])) {
      if (writes[at] = None) { writes[at] := out; };
      out := None;
      aim := FirstOpen(writes, unit, lease[self].gate # None \/ Sealed(unit));
      at := Following(at);
      if (at = End) { goto Commit; } else { goto Look; };
    } else { Forget(); goto Load; };
  };

Commit: \* one transaction: the checkpoint, if the log is as long as it was and the claim still ours
  either { Die(); goto Load; }
  or {
    if (Len(log) = unit - 1 /\ lease[self].gate = GateOf[unit] /\ Current(lease[self])) {
      log := Append(log, [x \in StepsOf[unit] |-> writes[x]]);
      if (unit = UnitCount) { Forget(); goto Load; }
      else {
        unit := unit + 1;
        lease[self] := NoLease;
        at := First(unit);
        aim := FirstOpen(writes, unit, FALSE);
        goto Look;
      };
    } else { Forget(); goto Load; };
  };
}

process (User = TheUser) {
Answer: \* the first answer is accepted; a further one changes nothing
  while (TRUE) {
    with (g \in Gates, d \in Deliveries) {
      await Stage(g) = "parked";
      answers[g] := d;
    };
  };
}

fair process (Clock = TheClock) {
Expire: \* the lease of an owner that is gone
  while (TRUE) {
    with (g \in Gates) {
      await Stage(g) = "claimed" /\ ~Renewed(g);
      claims[g].expired := TRUE;
    };
  };
}

process (Slowness = TheSlowness) {
Overrun: \* the lease of an owner that is merely slow
  while (TRUE) {
    with (g \in Gates) {
      await overruns < MaxOverruns /\ Stage(g) = "claimed" /\ Renewed(g);
      claims[g].expired := TRUE;
      overruns := overruns + 1;
    };
  };
}

}*)
\* BEGIN TRANSLATION - the hash of the PCal code: PCal-ea6784a78dd99781d5df6fc0be3159b3
VARIABLES log, writes, asked, answers, claims, sink, lease, ran, crashes, 
          overruns, pc

(* define statement *)
Running == Len(log) < UnitCount
Sealed(u) == Len(log) >= u
Stage(g) == IF Sealed(UnitOf[g]) THEN "consumed"
            ELSE IF claims[g].epoch > 0 THEN IF claims[g].expired THEN "expired" ELSE "claimed"
            ELSE IF answers[g] # None THEN "answered"
            ELSE IF g \in asked THEN "parked" ELSE "closed"
Content(x) == [y \in Before[x] |-> IF Sealed(UnitOf[y]) THEN log[UnitOf[y]][y] ELSE writes[y]]
Current(l) == l.gate # None => l.epoch = claims[l.gate].epoch
Renewed(g) == \E r \in Runners : lease[r] = [gate |-> g, epoch |-> claims[g].epoch]


FirstOpen(W, u, passed) ==
  LET open == {x \in StepsOf[u] : W[x] = None \/ (Kind[x] = "gate" /\ ~passed)}
  IN IF open = {} THEN End ELSE CHOOSE x \in open : \A y \in open : x <= y

VARIABLES unit, at, out, aim

vars == << log, writes, asked, answers, claims, sink, lease, ran, crashes, 
           overruns, pc, unit, at, out, aim >>

ProcSet == (Runners) \cup {TheUser} \cup {TheClock} \cup {TheSlowness}

Init == (* Global variables *)
        /\ log = <<>>
        /\ writes = [x \in Steps |-> None]
        /\ asked = {}
        /\ answers = [g \in Gates |-> None]
        /\ claims = [g \in Gates |-> [epoch |-> 0, expired |-> FALSE, inserts |-> 0]]
        /\ sink = [x \in Effects |-> [keys |-> 0, answer |-> None]]
        /\ lease = [r \in Runners |-> NoLease]
        /\ ran = {}
        /\ crashes = 0
        /\ overruns = 0
        (* Process Runner *)
        /\ unit = [self \in Runners |-> 0]
        /\ at = [self \in Runners |-> End]
        /\ out = [self \in Runners |-> None]
        /\ aim = [self \in Runners |-> End]
        /\ pc = [self \in ProcSet |-> CASE self \in Runners -> "Load"
                                        [] self = TheUser -> "Answer"
                                        [] self = TheClock -> "Expire"
                                        [] self = TheSlowness -> "Overrun"]

Load(self) == /\ pc[self] = "Load"
              /\ Running
              /\ unit' = [unit EXCEPT ![self] = Len(log) + 1]
              /\ at' = [at EXCEPT ![self] = First(unit'[self])]
              /\ aim' = [aim EXCEPT ![self] = FirstOpen(writes, unit'[self], FALSE)]
              /\ pc' = [pc EXCEPT ![self] = "Look"]
              /\ UNCHANGED << log, writes, asked, answers, claims, sink, lease, 
                              ran, crashes, overruns, out >>

Look(self) == /\ pc[self] = "Look"
              /\ \/ /\ crashes < MaxCrashes
                    /\ crashes' = crashes + 1
                    /\ unit' = [unit EXCEPT ![self] = 0]
                    /\ at' = [at EXCEPT ![self] = End]
                    /\ aim' = [aim EXCEPT ![self] = End]
                    /\ out' = [out EXCEPT ![self] = None]
                    /\ lease' = [lease EXCEPT ![self] = NoLease]
                    /\ pc' = [pc EXCEPT ![self] = "Load"]
                 \/ /\ IF Kind[at[self]] = "gate"
                          THEN /\ IF Stage(at[self]) = "closed"
                                     THEN /\ pc' = [pc EXCEPT ![self] = "Ask"]
                                          /\ UNCHANGED << lease, unit, at, out, 
                                                          aim >>
                                     ELSE /\ IF Stage(at[self]) = "answered"
                                                THEN /\ pc' = [pc EXCEPT ![self] = "Insert"]
                                                     /\ UNCHANGED << lease, 
                                                                     unit, at, 
                                                                     out, aim >>
                                                ELSE /\ IF Stage(at[self]) = "expired"
                                                           THEN /\ pc' = [pc EXCEPT ![self] = "TakeOver"]
                                                                /\ UNCHANGED << lease, 
                                                                                unit, 
                                                                                at, 
                                                                                out, 
                                                                                aim >>
                                                           ELSE /\ unit' = [unit EXCEPT ![self] = 0]
                                                                /\ at' = [at EXCEPT ![self] = End]
                                                                /\ aim' = [aim EXCEPT ![self] = End]
                                                                /\ out' = [out EXCEPT ![self] = None]
                                                                /\ lease' = [lease EXCEPT ![self] = NoLease]
                                                                /\ pc' = [pc EXCEPT ![self] = "Load"]
                          ELSE /\ IF writes[at[self]] # None
                                     THEN /\ IF at[self] = aim[self]
                                                THEN /\ aim' = [aim EXCEPT ![self] = FirstOpen(writes, unit[self], lease[self].gate # None \/ Sealed(unit[self]))]
                                                ELSE /\ TRUE
                                                     /\ aim' = aim
                                          /\ at' = [at EXCEPT ![self] = Following(at[self])]
                                          /\ IF at'[self] = End
                                                THEN /\ pc' = [pc EXCEPT ![self] = "Commit"]
                                                ELSE /\ pc' = [pc EXCEPT ![self] = "Look"]
                                     ELSE /\ IF Kind[at[self]] = "pure"
                                                THEN /\ pc' = [pc EXCEPT ![self] = "Compute"]
                                                ELSE /\ pc' = [pc EXCEPT ![self] = "Send"]
                                          /\ UNCHANGED << at, aim >>
                               /\ UNCHANGED << lease, unit, out >>
                    /\ UNCHANGED crashes
              /\ UNCHANGED << log, writes, asked, answers, claims, sink, ran, 
                              overruns >>

Ask(self) == /\ pc[self] = "Ask"
             /\ \/ /\ crashes < MaxCrashes
                   /\ crashes' = crashes + 1
                   /\ unit' = [unit EXCEPT ![self] = 0]
                   /\ at' = [at EXCEPT ![self] = End]
                   /\ aim' = [aim EXCEPT ![self] = End]
                   /\ out' = [out EXCEPT ![self] = None]
                   /\ lease' = [lease EXCEPT ![self] = NoLease]
                   /\ pc' = [pc EXCEPT ![self] = "Load"]
                   /\ asked' = asked
                \/ /\ IF Stage(at[self]) = "closed"
                         THEN /\ asked' = (asked \cup {at[self]})
                              /\ unit' = [unit EXCEPT ![self] = 0]
                              /\ at' = [at EXCEPT ![self] = End]
                              /\ aim' = [aim EXCEPT ![self] = End]
                              /\ out' = [out EXCEPT ![self] = None]
                              /\ lease' = [lease EXCEPT ![self] = NoLease]
                              /\ pc' = [pc EXCEPT ![self] = "Load"]
                         ELSE /\ pc' = [pc EXCEPT ![self] = "Look"]
                              /\ UNCHANGED << asked, lease, unit, at, out, aim >>
                   /\ UNCHANGED crashes
             /\ UNCHANGED << log, writes, answers, claims, sink, ran, overruns >>

Insert(self) == /\ pc[self] = "Insert"
                /\ \/ /\ crashes < MaxCrashes
                      /\ crashes' = crashes + 1
                      /\ unit' = [unit EXCEPT ![self] = 0]
                      /\ at' = [at EXCEPT ![self] = End]
                      /\ aim' = [aim EXCEPT ![self] = End]
                      /\ out' = [out EXCEPT ![self] = None]
                      /\ lease' = [lease EXCEPT ![self] = NoLease]
                      /\ pc' = [pc EXCEPT ![self] = "Load"]
                      /\ UNCHANGED claims
                   \/ /\ IF Stage(at[self]) = "answered" \/ ~AtomicClaim
                            THEN /\ claims' = [claims EXCEPT ![at[self]] = [epoch |-> claims[at[self]].epoch + 1, expired |-> FALSE, inserts |-> claims[at[self]].inserts + 1]]
                                 /\ lease' = [lease EXCEPT ![self] = [gate |-> at[self], epoch |-> claims'[at[self]].epoch]]
                                 /\ out' = [out EXCEPT ![self] = answers[at[self]]]
                                 /\ pc' = [pc EXCEPT ![self] = "Record"]
                            ELSE /\ pc' = [pc EXCEPT ![self] = "Look"]
                                 /\ UNCHANGED << claims, lease, out >>
                      /\ UNCHANGED <<crashes, unit, at, aim>>
                /\ UNCHANGED << log, writes, asked, answers, sink, ran, 
                                overruns >>

TakeOver(self) == /\ pc[self] = "TakeOver"
                  /\ \/ /\ crashes < MaxCrashes
                        /\ crashes' = crashes + 1
                        /\ unit' = [unit EXCEPT ![self] = 0]
                        /\ at' = [at EXCEPT ![self] = End]
                        /\ aim' = [aim EXCEPT ![self] = End]
                        /\ out' = [out EXCEPT ![self] = None]
                        /\ lease' = [lease EXCEPT ![self] = NoLease]
                        /\ pc' = [pc EXCEPT ![self] = "Load"]
                        /\ UNCHANGED claims
                     \/ /\ IF Stage(at[self]) = "expired"
                              THEN /\ claims' = [claims EXCEPT ![at[self]] = [epoch |-> claims[at[self]].epoch + 1, expired |-> FALSE, inserts |-> claims[at[self]].inserts]]
                                   /\ lease' = [lease EXCEPT ![self] = [gate |-> at[self], epoch |-> claims'[at[self]].epoch]]
                                   /\ out' = [out EXCEPT ![self] = answers[at[self]]]
                                   /\ pc' = [pc EXCEPT ![self] = "Record"]
                              ELSE /\ pc' = [pc EXCEPT ![self] = "Look"]
                                   /\ UNCHANGED << claims, lease, out >>
                        /\ UNCHANGED <<crashes, unit, at, aim>>
                  /\ UNCHANGED << log, writes, asked, answers, sink, ran, 
                                  overruns >>

Compute(self) == /\ pc[self] = "Compute"
                 /\ \/ /\ crashes < MaxCrashes
                       /\ crashes' = crashes + 1
                       /\ unit' = [unit EXCEPT ![self] = 0]
                       /\ at' = [at EXCEPT ![self] = End]
                       /\ aim' = [aim EXCEPT ![self] = End]
                       /\ out' = [out EXCEPT ![self] = None]
                       /\ lease' = [lease EXCEPT ![self] = NoLease]
                       /\ pc' = [pc EXCEPT ![self] = "Load"]
                       /\ ran' = ran
                    \/ /\ out' = [out EXCEPT ![self] = F(at[self], Content(at[self]))]
                       /\ ran' = (ran \cup {at[self]})
                       /\ pc' = [pc EXCEPT ![self] = "Record"]
                       /\ UNCHANGED <<lease, crashes, unit, at, aim>>
                 /\ UNCHANGED << log, writes, asked, answers, claims, sink, 
                                 overruns >>

Send(self) == /\ pc[self] = "Send"
              /\ \/ /\ crashes < MaxCrashes
                    /\ crashes' = crashes + 1
                    /\ unit' = [unit EXCEPT ![self] = 0]
                    /\ at' = [at EXCEPT ![self] = End]
                    /\ aim' = [aim EXCEPT ![self] = End]
                    /\ out' = [out EXCEPT ![self] = None]
                    /\ lease' = [lease EXCEPT ![self] = NoLease]
                    /\ pc' = [pc EXCEPT ![self] = "Load"]
                    /\ sink' = sink
                 \/ /\ IF sink[at[self]].keys = 0
                          THEN /\ sink' = [sink EXCEPT ![at[self]] = [keys |-> 1, answer |-> F(at[self], Content(at[self]))]]
                          ELSE /\ IF ~StepKeys
                                     THEN /\ sink' = [sink EXCEPT ![at[self]].keys = sink[at[self]].keys + 1]
                                     ELSE /\ TRUE
                                          /\ sink' = sink
                    /\ pc' = [pc EXCEPT ![self] = "Receive"]
                    /\ UNCHANGED <<lease, crashes, unit, at, out, aim>>
              /\ UNCHANGED << log, writes, asked, answers, claims, ran, 
                              overruns >>

Receive(self) == /\ pc[self] = "Receive"
                 /\ \/ /\ crashes < MaxCrashes
                       /\ crashes' = crashes + 1
                       /\ unit' = [unit EXCEPT ![self] = 0]
                       /\ at' = [at EXCEPT ![self] = End]
                       /\ aim' = [aim EXCEPT ![self] = End]
                       /\ out' = [out EXCEPT ![self] = None]
                       /\ lease' = [lease EXCEPT ![self] = NoLease]
                       /\ pc' = [pc EXCEPT ![self] = "Load"]
                    \/ /\ out' = [out EXCEPT ![self] = sink[at[self]].answer]
                       /\ pc' = [pc EXCEPT ![self] = "Record"]
                       /\ UNCHANGED <<lease, crashes, unit, at, aim>>
                 /\ UNCHANGED << log, writes, asked, answers, claims, sink, 
                                 ran, overruns >>

Record(self) == /\ pc[self] = "Record"
                /\ \/ /\ crashes < MaxCrashes
                      /\ crashes' = crashes + 1
                      /\ unit' = [unit EXCEPT ![self] = 0]
                      /\ at' = [at EXCEPT ![self] = End]
                      /\ aim' = [aim EXCEPT ![self] = End]
                      /\ out' = [out EXCEPT ![self] = None]
                      /\ lease' = [lease EXCEPT ![self] = NoLease]
                      /\ pc' = [pc EXCEPT ![self] = "Load"]
                      /\ UNCHANGED writes
                   \/ /\ IF Running /\ Current(lease[self])
                            THEN /\ IF writes[at[self]] = None
                                       THEN /\ writes' = [writes EXCEPT ![at[self]] = out[self]]
                                       ELSE /\ TRUE
                                            /\ UNCHANGED writes
                                 /\ out' = [out EXCEPT ![self] = None]
                                 /\ aim' = [aim EXCEPT ![self] = FirstOpen(writes', unit[self], lease[self].gate # None \/ Sealed(unit[self]))]
                                 /\ at' = [at EXCEPT ![self] = Following(at[self])]
                                 /\ IF at'[self] = End
                                       THEN /\ pc' = [pc EXCEPT ![self] = "Commit"]
                                       ELSE /\ pc' = [pc EXCEPT ![self] = "Look"]
                                 /\ UNCHANGED << lease, unit >>
                            ELSE /\ unit' = [unit EXCEPT ![self] = 0]
                                 /\ at' = [at EXCEPT ![self] = End]
                                 /\ aim' = [aim EXCEPT ![self] = End]
                                 /\ out' = [out EXCEPT ![self] = None]
                                 /\ lease' = [lease EXCEPT ![self] = NoLease]
                                 /\ pc' = [pc EXCEPT ![self] = "Load"]
                                 /\ UNCHANGED writes
                      /\ UNCHANGED crashes
                /\ UNCHANGED << log, asked, answers, claims, sink, ran, 
                                overruns >>

Commit(self) == /\ pc[self] = "Commit"
                /\ \/ /\ crashes < MaxCrashes
                      /\ crashes' = crashes + 1
                      /\ unit' = [unit EXCEPT ![self] = 0]
                      /\ at' = [at EXCEPT ![self] = End]
                      /\ aim' = [aim EXCEPT ![self] = End]
                      /\ out' = [out EXCEPT ![self] = None]
                      /\ lease' = [lease EXCEPT ![self] = NoLease]
                      /\ pc' = [pc EXCEPT ![self] = "Load"]
                      /\ log' = log
                   \/ /\ IF Len(log) = unit[self] - 1 /\ lease[self].gate = GateOf[unit[self]] /\ Current(lease[self])
                            THEN /\ log' = Append(log, [x \in StepsOf[unit[self]] |-> writes[x]])
                                 /\ IF unit[self] = UnitCount
                                       THEN /\ unit' = [unit EXCEPT ![self] = 0]
                                            /\ at' = [at EXCEPT ![self] = End]
                                            /\ aim' = [aim EXCEPT ![self] = End]
                                            /\ out' = [out EXCEPT ![self] = None]
                                            /\ lease' = [lease EXCEPT ![self] = NoLease]
                                            /\ pc' = [pc EXCEPT ![self] = "Load"]
                                       ELSE /\ unit' = [unit EXCEPT ![self] = unit[self] + 1]
                                            /\ lease' = [lease EXCEPT ![self] = NoLease]
                                            /\ at' = [at EXCEPT ![self] = First(unit'[self])]
                                            /\ aim' = [aim EXCEPT ![self] = FirstOpen(writes, unit'[self], FALSE)]
                                            /\ pc' = [pc EXCEPT ![self] = "Look"]
                                            /\ out' = out
                            ELSE /\ unit' = [unit EXCEPT ![self] = 0]
                                 /\ at' = [at EXCEPT ![self] = End]
                                 /\ aim' = [aim EXCEPT ![self] = End]
                                 /\ out' = [out EXCEPT ![self] = None]
                                 /\ lease' = [lease EXCEPT ![self] = NoLease]
                                 /\ pc' = [pc EXCEPT ![self] = "Load"]
                                 /\ log' = log
                      /\ UNCHANGED crashes
                /\ UNCHANGED << writes, asked, answers, claims, sink, ran, 
                                overruns >>

Runner(self) == Load(self) \/ Look(self) \/ Ask(self) \/ Insert(self)
                   \/ TakeOver(self) \/ Compute(self) \/ Send(self)
                   \/ Receive(self) \/ Record(self) \/ Commit(self)

Answer == /\ pc[TheUser] = "Answer"
          /\ \E g \in Gates:
               \E d \in Deliveries:
                 /\ Stage(g) = "parked"
                 /\ answers' = [answers EXCEPT ![g] = d]
          /\ pc' = [pc EXCEPT ![TheUser] = "Answer"]
          /\ UNCHANGED << log, writes, asked, claims, sink, lease, ran, 
                          crashes, overruns, unit, at, out, aim >>

User == Answer

Expire == /\ pc[TheClock] = "Expire"
          /\ \E g \in Gates:
               /\ Stage(g) = "claimed" /\ ~Renewed(g)
               /\ claims' = [claims EXCEPT ![g].expired = TRUE]
          /\ pc' = [pc EXCEPT ![TheClock] = "Expire"]
          /\ UNCHANGED << log, writes, asked, answers, sink, lease, ran, 
                          crashes, overruns, unit, at, out, aim >>

Clock == Expire

Overrun == /\ pc[TheSlowness] = "Overrun"
           /\ \E g \in Gates:
                /\ overruns < MaxOverruns /\ Stage(g) = "claimed" /\ Renewed(g)
                /\ claims' = [claims EXCEPT ![g].expired = TRUE]
                /\ overruns' = overruns + 1
           /\ pc' = [pc EXCEPT ![TheSlowness] = "Overrun"]
           /\ UNCHANGED << log, writes, asked, answers, sink, lease, ran, 
                           crashes, unit, at, out, aim >>

Slowness == Overrun

Next == User \/ Clock \/ Slowness
           \/ (\E self \in Runners: Runner(self))

Spec == /\ Init /\ [][Next]_vars
        /\ \A self \in Runners : WF_vars(Runner(self))
        /\ WF_vars(Clock)

\* END TRANSLATION - the hash of the generated TLA code (remove to silence divergence warnings): TLA-2403477907112d0f76941b6a0138ddcb

-----------------------------------------------------------------------------
(* The refinement mapping: the variables of ResumeContract, in terms of the *)
(* algorithm's.                                                            *)

Sealing(i) == [unit |-> i, out |-> log[i], valid |-> TRUE, complete |-> TRUE]
ckptOf == <<[i \in DOMAIN log |-> Sealing(i)]>>
ownOf == <<[i \in DOMAIN log |-> [entry |-> Sealing(i), acked |-> TRUE]]>>
originOf == <<[parent |-> None, index |-> 0, prefix |-> <<>>]>>
ledgerOf == <<[x \in Steps |-> [out |-> writes[x], ok |-> TRUE]]>>
statusOf == <<IF Running THEN "running" ELSE "done">>
worldOf == <<[x \in Effects |-> [applied |-> sink[x].keys, answer |-> sink[x].answer, ok |-> TRUE]]>>
gateOf ==
  <<[g \in Gates |->
      [status |-> IF Stage(g) = "expired" THEN "claimed" ELSE Stage(g),
       acks |-> IF answers[g] = None THEN <<>> ELSE <<[to |-> 1, id |-> answers[g], value |-> answers[g]]>>,
       epoch |-> claims[g].epoch, expired |-> claims[g].expired, claims |-> claims[g].inserts,
       passed |-> IF claims[g].epoch > 0 THEN answers[g] ELSE None]]>>
(* An effect's outcome is in hand from the moment it was sent.  A process   *)
(* that has yet to read rows that are recorded is, there, behind them.      *)
runOf ==
  [r \in Runners |->
    IF pc[r] = "Load"
    THEN [phase |-> "idle", branch |-> None, unit |-> 0, base |-> 0, step |-> End, out |-> None, ok |-> TRUE,
          epoch |-> 0]
    ELSE [phase |-> IF pc[r] \in {"Receive", "Record"} THEN "holds" ELSE "ready",
          branch |-> 1, unit |-> unit[r], base |-> unit[r] - 1, step |-> aim[r],
          out |-> IF pc[r] = "Receive" THEN sink[at[r]].answer ELSE out[r], ok |-> TRUE,
          epoch |-> lease[r].epoch]]
(* What a step read then is what it would read now: rows only ever appear.  *)
computedOf == {[branch |-> 1, step |-> x, inputs |-> Content(x), out |-> F(x, Content(x))] : x \in ran}

R == INSTANCE ResumeContract WITH
       Branches <- {1}, After <- InLine,
       ckpt <- ckptOf, origin <- originOf, declared <- {1}, ledger <- ledgerOf, gate <- gateOf,
       status <- statusOf, world <- worldOf, run <- runOf, own <- ownOf, computed <- computedOf

(* Every step of the algorithm is a step of the contract, or none. *)
RefinesInit == R!Init
RefinesNext == [][R!Next]_(R!vars)
Refinement == RefinesInit /\ RefinesNext

(* R!Fairness, with the three conditions under which its actions are        *)
(* enabled written out, so that nothing rests on how TLC evaluates ENABLED  *)
(* through a mapping (in an invariant, 2.15 fails to).  MCSequencerEnabled  *)
(* has TLC check, in ResumeContract itself, that they are the conditions.   *)
CanArrive(x) ==
  \E r \in Runners : runOf[r].phase = "idle" /\ R!Running(1)
                     /\ x \in R!Arrivals(ledgerOf[1], 1, R!UnitAfter(1, Len(log)), 0)
CanGoOn(r) == runOf[r].phase # "idle"
CanExpire(g) == ~R!Held(1, g) /\ gateOf[1][g].status = "claimed" /\ ~gateOf[1][g].expired
Arrives(x) == \E r \in Runners : R!Load(r, 1) /\ runOf'[r].step = x
Expires(g) == ~R!Held(1, g) /\ R!Expire(1, g)

FairLoads == \A x \in Steps \cup {End} : []<>CanArrive(x) => []<><<Arrives(x)>>_(R!vars)
FairRunners == \A r \in Runners : <>[]CanGoOn(r) => []<><<R!RunnerStep(r)>>_(R!vars)
FairExpiry == \A g \in Gates : <>[]CanExpire(g) => []<><<Expires(g)>>_(R!vars)

LV == R!LV

-----------------------------------------------------------------------------
(* Invariants of the algorithm itself. *)

TypeOK ==
  /\ Len(log) <= UnitCount /\ \A i \in DOMAIN log : log[i] \in [StepsOf[i] -> Values]
  /\ writes \in [Steps -> Values \cup {None}]
  /\ asked \subseteq Gates
  /\ answers \in [Gates -> Deliveries \cup {None}]
  /\ claims \in [Gates -> [epoch : Nat, expired : BOOLEAN, inserts : Nat]]
  /\ sink \in [Effects -> [keys : Nat, answer : Values \cup {None}]]
  /\ ran \in SUBSET {x \in Steps : Kind[x] = "pure"}
  /\ crashes \in 0 .. MaxCrashes /\ overruns \in 0 .. MaxOverruns
  /\ \A r \in Runners :
       /\ lease[r] = NoLease \/ (lease[r].gate \in Gates /\ lease[r].epoch \in 1 .. claims[lease[r].gate].epoch)
       /\ unit[r] \in 0 .. UnitCount /\ at[r] \in Steps \cup {End} /\ aim[r] \in Steps \cup {End}
       /\ out[r] \in Values \cup {None}
       /\ pc[r] \in {"Load", "Look", "Ask", "Insert", "TakeOver", "Compute", "Send", "Receive", "Record", "Commit"}
       /\ (pc[r] = "Load") = (unit[r] = 0)
       /\ (pc[r] = "Record") = (out[r] # None)
       /\ pc[r] \notin {"Load", "Commit"} => at[r] \in StepsOf[unit[r]]

(* What is committed is what was recorded. *)
LogIsWhatWasRecorded == \A i \in DOMAIN log : \A x \in StepsOf[i] : log[i][x] = writes[x]

(* A process acts where ResumeContract says it is, or has rows to read      *)
(* until it is there.  One that waits at a gate may be past it there: its   *)
(* unit was committed by another, and the gate will send it away.          *)
AimIsAhead == \A r \in Runners :
  /\ pc[r] \in {"Compute", "Send", "Receive", "Record"} => aim[r] = at[r]
  /\ pc[r] = "Commit" => aim[r] = End
  /\ pc[r] \in {"Ask", "Insert", "TakeOver"} => aim[r] = at[r] \/ (aim[r] = End /\ Sealed(unit[r]))
  /\ pc[r] = "Look" => aim[r] = End \/ aim[r] >= at[r]

(* The clauses EO and CO-C of the contract, in the algorithm's words. *)
EffectOnce == \A x \in Effects : sink[x].keys <= 1 /\ (writes[x] # None => sink[x].keys = 1)
ClaimedOnce == \A g \in Gates : claims[g].inserts <= 1
=============================================================================
