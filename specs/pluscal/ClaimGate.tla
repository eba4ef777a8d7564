----------------------------- MODULE ClaimGate -----------------------------
(***************************************************************************)
(* K racers resume one parked interrupt over a shared store, and the       *)
(* question is what a claim is worth.  Four ways to claim:                 *)
(*                                                                         *)
(*   absent          nobody claims;                                        *)
(*   check_then_set  the claim is looked up and, later, written;           *)
(*   write_path      the claim is inserted before the result is written,   *)
(*                   when the effect has fired already;                    *)
(*   read_path       one atomic insert before anything fires.              *)
(*                                                                         *)
(* A racer may die before each of its steps (at most MaxCrashes deaths);   *)
(* it then begins again and is not its own predecessor: it has forgotten   *)
(* its claim.  With TakeOver a claim has a lease; who finds it expired     *)
(* goes on under it, and who is refused waits.  Without, the claim stays   *)
(* and who is refused goes away.  The lease of a dead racer's claim ends   *)
(* in the end, that of a living one's at most MaxExpiries times.           *)
(*                                                                         *)
(* Two things are counted.  `applied`: how often the effect reached a sink *)
(* that knows no keys.  `fired`: on whose passage of the gate it did; who  *)
(* takes a claim over fires on the passage of whoever inserted it.         *)
(*                                                                         *)
(* Left out: the value of the answer, later answers, a second gate.        *)
(***************************************************************************)
EXTENDS Naturals, FiniteSets

CONSTANTS
  K,            \* the number of racers
  Variant,      \* how they claim, one of the four above
  TakeOver,     \* may an expired claim be taken over?
  MaxCrashes,   \* how many deaths there may be in all
  MaxExpiries   \* how often a lease may end although its owner lives

ASSUME ConstantsAreRight ==
  /\ K \in Nat \ {0}
  /\ Variant \in {"absent", "check_then_set", "write_path", "read_path"}
  /\ TakeOver \in BOOLEAN /\ MaxCrashes \in Nat /\ MaxExpiries \in Nat

None == 0
Person == 0                                     \* who answers
Racers == 1 .. K
Clocks == IF TakeOver THEN {K + 1} ELSE {}      \* what ends leases

(*
--algorithm ClaimGate
variables
  \* ---- the durable store
  answered = FALSE,   \* the interrupt has its answer
  consumed = FALSE,   \* the result of what the answer allowed is recorded
  epoch = 0,          \* the current claim's number, 0: there is none
  by = None,          \* who inserted the claim
  expired = FALSE,    \* the claim's lease has ended
  \* ---- the world outside
  applied = 0,        \* applications of the effect, keys unknown
  fired = {},         \* the racers on whose passage it was applied
  \* ---- volatile: a death erases a racer's part of it, and its `right`
  mine = [r \in Racers |-> 0],   \* the epoch of the claim in hand
  \* ---- budgets spent
  crashes = 0,
  expiries = 0;

define
  Held == \E r \in Racers : mine[r] = epoch    \* the claim's owner lives
end define;

\* A death loses what only the process knew, and nothing else.
macro Die() begin
  await crashes < MaxCrashes;
  crashes := crashes + 1;
  mine[self] := 0;
  right := None;
  goto Load;
end macro;

\* The answer may come; nobody has to give it.
process person = Person
begin
  Answer:
    answered := TRUE;
end process;

fair process racer \in Racers
variable
  right = None;       \* on whose passage it is through the gate
begin
  Load:
    await answered;
    if consumed then
      goto Done;
    elsif Variant \in {"absent", "write_path"} then
      right := self;
      goto Fire;
    else
      goto Claim;
    end if;
  Claim:
    either
      await epoch = 0;
      if Variant = "check_then_set" then
        goto Set;
      else
        \* unlike the above, seen and written in one step
        epoch := 1;
        by := self;
        mine[self] := 1;
        right := self;
        if Variant = "read_path" then goto Fire; else goto Record; end if;
      end if;
    or
      await epoch # 0 /\ expired /\ ~consumed;
      epoch := epoch + 1;
      expired := FALSE;
      mine[self] := epoch;
      right := by;
      if Variant = "write_path" then goto Record; else goto Fire; end if;
    or
      \* refused; with TakeOver it would wait for the claim to expire
      await epoch # 0 /\ IF TakeOver THEN consumed ELSE TRUE;
      right := None;
      goto Done;
    or
      Die();
    end either;
  Set:
    either
      \* over whatever is there by now
      epoch := 1;
      expired := FALSE;
      by := self;
      mine[self] := 1;
      right := self;
    or
      Die();
    end either;
  Fire:
    either
      applied := applied + 1;
      fired := fired \union {right};
      if Variant = "write_path" then goto Claim; end if;
    or
      Die();
    end either;
  Record:
    either
      \* a result under an epoch that is not the current one is refused
      if mine[self] = epoch then
        consumed := TRUE;
        mine[self] := 0;
        right := None;
        goto Done;
      else
        mine[self] := 0;
        right := None;
        goto Load;
      end if;
    or
      Die();
    end either;
end process;

fair process clock \in Clocks
begin
  Expire:
    while ~consumed do
      await epoch # 0 /\ ~expired;
      if Held then
        await expiries < MaxExpiries;
        expiries := expiries + 1;
      end if;
      expired := TRUE;
    end while;
end process;

end algorithm;
*)
\* BEGIN TRANSLATION - the hash of the PCal code: PCal-39a47cb8ada557f4d1e5c413cfdbc50c
VARIABLES answered, consumed, epoch, by, expired, applied, fired, mine, 
          crashes, expiries, pc

(* define statement *)
Held == \E r \in Racers : mine[r] = epoch

VARIABLE right

vars == << answered, consumed, epoch, by, expired, applied, fired, mine, 
           crashes, expiries, pc, right >>

ProcSet == {Person} \cup (Racers) \cup (Clocks)

Init == (* Global variables *)
        /\ answered = FALSE
        /\ consumed = FALSE
        /\ epoch = 0
        /\ by = None
        /\ expired = FALSE
        /\ applied = 0
        /\ fired = {}
        /\ mine = [r \in Racers |-> 0]
        /\ crashes = 0
        /\ expiries = 0
        (* Process racer *)
        /\ right = [self \in Racers |-> None]
        /\ pc = [self \in ProcSet |-> CASE self = Person -> "Answer"
                                        [] self \in Racers -> "Load"
                                        [] self \in Clocks -> "Expire"]

Answer == /\ pc[Person] = "Answer"
          /\ answered' = TRUE
          /\ pc' = [pc EXCEPT ![Person] = "Done"]
          /\ UNCHANGED << consumed, epoch, by, expired, applied, fired, mine, 
                          crashes, expiries, right >>

person == Answer

Load(self) == /\ pc[self] = "Load"
              /\ answered
              /\ IF consumed
                    THEN /\ pc' = [pc EXCEPT ![self] = "Done"]
                         /\ right' = right
                    ELSE /\ IF Variant \in {"absent", "write_path"}
                               THEN /\ right' = [right EXCEPT ![self] = self]
                                    /\ pc' = [pc EXCEPT ![self] = "Fire"]
                               ELSE /\ pc' = [pc EXCEPT ![self] = "Claim"]
                                    /\ right' = right
              /\ UNCHANGED << answered, consumed, epoch, by, expired, applied, 
                              fired, mine, crashes, expiries >>

Claim(self) == /\ pc[self] = "Claim"
               /\ \/ /\ epoch = 0
                     /\ IF Variant = "check_then_set"
                           THEN /\ pc' = [pc EXCEPT ![self] = "Set"]
                                /\ UNCHANGED << epoch, by, mine, right >>
                           ELSE /\ epoch' = 1
                                /\ by' = self
                                /\ mine' = [mine EXCEPT ![self] = 1]
                                /\ right' = [right EXCEPT ![self] = self]
                                /\ IF Variant = "read_path"
                                      THEN /\ pc' = [pc EXCEPT ![self] = "Fire"]
                                      ELSE /\ pc' = [pc EXCEPT ![self] = "Record"]
                     /\ UNCHANGED <<expired, crashes>>
                  \/ /\ epoch # 0 /\ expired /\ ~consumed
                     /\ epoch' = epoch + 1
                     /\ expired' = FALSE
                     /\ mine' = [mine EXCEPT ![self] = epoch']
                     /\ right' = [right EXCEPT ![self] = by]
                     /\ IF Variant = "write_path"
                           THEN /\ pc' = [pc EXCEPT ![self] = "Record"]
                           ELSE /\ pc' = [pc EXCEPT ![self] = "Fire"]
                     /\ UNCHANGED <<by, crashes>>
                  \/ /\ epoch # 0 /\ IF TakeOver THEN consumed ELSE TRUE
                     /\ right' = [right EXCEPT ![self] = None]
                     /\ pc' = [pc EXCEPT ![self] = "Done"]
                     /\ UNCHANGED <<epoch, by, expired, mine, crashes>>
                  \/ /\ crashes < MaxCrashes
                     /\ crashes' = crashes + 1
                     /\ mine' = [mine EXCEPT ![self] = 0]
                     /\ right' = [right EXCEPT ![self] = None]
                     /\ pc' = [pc EXCEPT ![self] = "Load"]
                     /\ UNCHANGED <<epoch, by, expired>>
               /\ UNCHANGED << answered, consumed, applied, fired, expiries >>

Set(self) == /\ pc[self] = "Set"
             /\ \/ /\ epoch' = 1
                   /\ expired' = FALSE
                   /\ by' = self
                   /\ mine' = [mine EXCEPT ![self] = 1]
                   /\ right' = [right EXCEPT ![self] = self]
                   /\ pc' = [pc EXCEPT ![self] = "Fire"]
                   /\ UNCHANGED crashes
                \/ /\ crashes < MaxCrashes
                   /\ crashes' = crashes + 1
                   /\ mine' = [mine EXCEPT ![self] = 0]
                   /\ right' = [right EXCEPT ![self] = None]
                   /\ pc' = [pc EXCEPT ![self] = "Load"]
                   /\ UNCHANGED <<epoch, by, expired>>
             /\ UNCHANGED << answered, consumed, applied, fired, expiries >>

Fire(self) == /\ pc[self] = "Fire"
              /\ \/ /\ applied' = applied + 1
                    /\ fired' = (fired \union {right[self]})
                    /\ IF Variant = "write_path"
                          THEN /\ pc' = [pc EXCEPT ![self] = "Claim"]
                          ELSE /\ pc' = [pc EXCEPT ![self] = "Record"]
                    /\ UNCHANGED <<mine, crashes, right>>
                 \/ /\ crashes < MaxCrashes
                    /\ crashes' = crashes + 1
                    /\ mine' = [mine EXCEPT ![self] = 0]
                    /\ right' = [right EXCEPT ![self] = None]
                    /\ pc' = [pc EXCEPT ![self] = "Load"]
                    /\ UNCHANGED <<applied, fired>>
              /\ UNCHANGED << answered, consumed, epoch, by, expired, expiries >>

Record(self) == /\ pc[self] = "Record"
                /\ \/ /\ IF mine[self] = epoch
                            THEN /\ consumed' = TRUE
                                 /\ mine' = [mine EXCEPT ![self] = 0]
                                 /\ right' = [right EXCEPT ![self] = None]
                                 /\ pc' = [pc EXCEPT ![self] = "Done"]
                            ELSE /\ mine' = [mine EXCEPT ![self] = 0]
                                 /\ right' = [right EXCEPT ![self] = None]
                                 /\ pc' = [pc EXCEPT ![self] = "Load"]
                                 /\ UNCHANGED consumed
                      /\ UNCHANGED crashes
                   \/ /\ crashes < MaxCrashes
                      /\ crashes' = crashes + 1
                      /\ mine' = [mine EXCEPT ![self] = 0]
                      /\ right' = [right EXCEPT ![self] = None]
                      /\ pc' = [pc EXCEPT ![self] = "Load"]
                      /\ UNCHANGED consumed
                /\ UNCHANGED << answered, epoch, by, expired, applied, fired, 
                                expiries >>

racer(self) == Load(self) \/ Claim(self) \/ Set(self) \/ Fire(self)
                  \/ Record(self)

Expire(self) == /\ pc[self] = "Expire"
                /\ IF ~consumed
                      THEN /\ epoch # 0 /\ ~expired
                           /\ IF Held
                                 THEN /\ expiries < MaxExpiries
                                      /\ expiries' = expiries + 1
                                 ELSE /\ TRUE
                                      /\ UNCHANGED expiries
                           /\ expired' = TRUE
                           /\ pc' = [pc EXCEPT ![self] = "Expire"]
                      ELSE /\ pc' = [pc EXCEPT ![self] = "Done"]
                           /\ UNCHANGED << expired, expiries >>
                /\ UNCHANGED << answered, consumed, epoch, by, applied, fired, 
                                mine, crashes, right >>

clock(self) == Expire(self)

(* Allow infinite stuttering to prevent deadlock on termination. *)
Terminating == /\ \A self \in ProcSet: pc[self] = "Done"
               /\ UNCHANGED vars

Next == person
           \/ (\E self \in Racers: racer(self))
           \/ (\E self \in Clocks: clock(self))
           \/ Terminating

Spec == /\ Init /\ [][Next]_vars
        /\ \A self \in Racers : WF_vars(racer(self))
        /\ \A self \in Clocks : WF_vars(clock(self))

Termination == <>(\A self \in ProcSet: pc[self] = "Done")

\* END TRANSLATION - the hash of the generated TLA code (remove to silence divergence warnings): TLA-f2d3f344819fb82f996a4a7cbf75a1b0

-----------------------------------------------------------------------------
TypeOK ==
  /\ answered \in BOOLEAN /\ consumed \in BOOLEAN /\ expired \in BOOLEAN
  /\ epoch \in Nat /\ by \in Racers \cup {None}
  /\ applied \in Nat /\ fired \in SUBSET Racers
  /\ crashes \in 0 .. MaxCrashes /\ expiries \in 0 .. MaxExpiries
  /\ mine \in [Racers -> Nat] /\ right \in [Racers -> Racers \cup {None}]

(* What the table counts. *)
Firing == Cardinality(fired)
Applied == applied

(* The answer lets one racer through, whoever ends what it began.           *)
ConsumeOnce == Firing <= 1

(* Nothing fires before the answer, and what is consumed has fired.         *)
FiredInBetween == /\ applied > 0 => answered
                  /\ consumed => applied > 0

(* Whatever is answered is consumed in the end, if no racer stands still    *)
(* for ever and a dead racer's lease ends: the weak fairness of the racers  *)
(* and the clock.  Deaths and expiries under a living racer are bounded.    *)
Consumed == answered ~> consumed
=============================================================================
