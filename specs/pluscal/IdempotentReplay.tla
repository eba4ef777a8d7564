-------------------------- MODULE IdempotentReplay --------------------------
(***************************************************************************)
(* The life of one step with an effect, INTENT -> EXECUTE -> RECORD, run   *)
(* by workers at least once, and the question is what keeps the effect     *)
(* from happening twice.  An operations table holds one row for the step,  *)
(* under a key that is the same in every attempt.  Three ways to execute:  *)
(*                                                                         *)
(*   keyed           the sink has a unique constraint on the key: one      *)
(*                   atomic insert, and a repeat changes nothing;          *)
(*   check_then_set  the sink is asked whether it has the key and, later,  *)
(*                   written if it had not;                                *)
(*   bare_append     the effect is appended, and the key is not looked at. *)
(*                                                                         *)
(* A worker may die at each boundary (at most MaxCrashes deaths), begins   *)
(* again, and has lost its lease.  The lease of a dead worker ends in the  *)
(* end; that of a living one at most MaxExpiries times: it does not notice *)
(* and goes on, a zombie beside the next owner.                            *)
(*                                                                         *)
(* Left out: the content of results, other steps, and sinks that can       *)
(* neither be asked nor take a key.                                        *)
(***************************************************************************)
EXTENDS Naturals, FiniteSets

CONSTANTS
  W,            \* the number of workers
  Variant,      \* how they execute, one of the three above
  MaxCrashes,   \* how many deaths there may be in all
  MaxExpiries   \* how often a lease may end although its owner lives

ASSUME ConstantsAreRight ==
  /\ W \in Nat \ {0}
  /\ Variant \in {"keyed", "check_then_set", "bare_append"}
  /\ MaxCrashes \in Nat /\ MaxExpiries \in Nat

None == 0
Workers == 1 .. W
Clock == W + 1                                  \* what ends leases

(*
--algorithm IdempotentReplay
variables
  \* ---- the durable store
  intent = FALSE,     \* the operations table has the step's row
  recorded = FALSE,   \* and the row has its result
  lease = None,       \* the worker that owns the step
  \* ---- the world outside
  applied = 0,        \* how often the effect happened
  \* ---- volatile: a death erases a worker's part of it
  owns = [w \in Workers |-> FALSE],   \* it thinks that the lease is its own
  \* ---- budgets spent
  crashes = 0,
  expiries = 0;

\* A death loses what only the process knew, and nothing else.
macro Die() begin
  await crashes < MaxCrashes;
  crashes := crashes + 1;
  owns[self] := FALSE;
  goto Acquire;
end macro;

fair process worker \in Workers
begin
  Acquire:
    await IF recorded THEN TRUE ELSE lease = None;
    if recorded then
      goto Done;
    else
      lease := self;
      owns[self] := TRUE;
    end if;
  Look:
    either
      if recorded then
        goto Release;
      elsif intent then
        goto Execute;
      end if;
    or
      Die();
    end either;
  Intent:
    either
      intent := TRUE;
    or
      Die();
    end either;
  Execute:
    either
      if Variant = "check_then_set" then
        if applied = 0 then goto Set; else goto Record; end if;
      else
        if Variant = "bare_append" \/ applied = 0 then
          applied := applied + 1;
        end if;
        goto Record;
      end if;
    or
      Die();
    end either;
  Set:
    either
      applied := applied + 1;
    or
      Die();
    end either;
  Record:
    either
      recorded := TRUE;
    or
      Die();
    end either;
  Release:
    either
      if lease = self then
        lease := None;
      end if;
      owns[self] := FALSE;
    or
      Die();
    end either;
end process;

fair process clock = Clock
begin
  Expire:
    while ~recorded do
      await lease # None;
      if owns[lease] then
        await expiries < MaxExpiries;
        expiries := expiries + 1;
      end if;
      lease := None;
    end while;
end process;

end algorithm;
*)
\* BEGIN TRANSLATION - the hash of the PCal code: PCal-15a3a9bd6efb2e7f98160916a98b653c
VARIABLES intent, recorded, lease, applied, owns, crashes, expiries, pc

vars == << intent, recorded, lease, applied, owns, crashes, expiries, pc >>

ProcSet == (Workers) \cup {Clock}

Init == (* Global variables *)
        /\ intent = FALSE
        /\ recorded = FALSE
        /\ lease = None
        /\ applied = 0
        /\ owns = [w \in Workers |-> FALSE]
        /\ crashes = 0
        /\ expiries = 0
        /\ pc = [self \in ProcSet |-> CASE self \in Workers -> "Acquire"
                                        [] self = Clock -> "Expire"]

Acquire(self) == /\ pc[self] = "Acquire"
                 /\ IF recorded THEN TRUE ELSE lease = None
                 /\ IF recorded
                       THEN /\ pc' = [pc EXCEPT ![self] = "Done"]
                            /\ UNCHANGED << lease, owns >>
                       ELSE /\ lease' = self
                            /\ owns' = [owns EXCEPT ![self] = TRUE]
                            /\ pc' = [pc EXCEPT ![self] = "Look"]
                 /\ UNCHANGED << intent, recorded, applied, crashes, expiries >>

Look(self) == /\ pc[self] = "Look"
              /\ \/ /\ IF recorded
                          THEN /\ pc' = [pc EXCEPT ![self] = "Release"]
                          ELSE /\ IF intent
                                     THEN /\ pc' = [pc EXCEPT ![self] = "Execute"]
                                     ELSE /\ pc' = [pc EXCEPT ![self] = "Intent"]
                    /\ UNCHANGED <<owns, crashes>>
                 \/ /\ crashes < MaxCrashes
                    /\ crashes' = crashes + 1
                    /\ owns' = [owns EXCEPT ![self] = FALSE]
                    /\ pc' = [pc EXCEPT ![self] = "Acquire"]
              /\ UNCHANGED << intent, recorded, lease, applied, expiries >>

Intent(self) == /\ pc[self] = "Intent"
                /\ \/ /\ intent' = TRUE
                      /\ pc' = [pc EXCEPT ![self] = "Execute"]
                      /\ UNCHANGED <<owns, crashes>>
                   \/ /\ crashes < MaxCrashes
                      /\ crashes' = crashes + 1
                      /\ owns' = [owns EXCEPT ![self] = FALSE]
                      /\ pc' = [pc EXCEPT ![self] = "Acquire"]
                      /\ UNCHANGED intent
                /\ UNCHANGED << recorded, lease, applied, expiries >>

Execute(self) == /\ pc[self] = "Execute"
                 /\ \/ /\ IF Variant = "check_then_set"
                             THEN /\ IF applied = 0
                                        THEN /\ pc' = [pc EXCEPT ![self] = "Set"]
                                        ELSE /\ pc' = [pc EXCEPT ![self] = "Record"]
                                  /\ UNCHANGED applied
                             ELSE /\ IF Variant = "bare_append" \/ applied = 0
                                        THEN /\ applied' = applied + 1
                                        ELSE /\ TRUE
                                             /\ UNCHANGED applied
                                  /\ pc' = [pc EXCEPT ![self] = "Record"]
                       /\ UNCHANGED <<owns, crashes>>
                    \/ /\ crashes < MaxCrashes
                       /\ crashes' = crashes + 1
                       /\ owns' = [owns EXCEPT ![self] = FALSE]
                       /\ pc' = [pc EXCEPT ![self] = "Acquire"]
                       /\ UNCHANGED applied
                 /\ UNCHANGED << intent, recorded, lease, expiries >>

Set(self) == /\ pc[self] = "Set"
             /\ \/ /\ applied' = applied + 1
                   /\ pc' = [pc EXCEPT ![self] = "Record"]
                   /\ UNCHANGED <<owns, crashes>>
                \/ /\ crashes < MaxCrashes
                   /\ crashes' = crashes + 1
                   /\ owns' = [owns EXCEPT ![self] = FALSE]
                   /\ pc' = [pc EXCEPT ![self] = "Acquire"]
                   /\ UNCHANGED applied
             /\ UNCHANGED << intent, recorded, lease, expiries >>

Record(self) == /\ pc[self] = "Record"
                /\ \/ /\ recorded' = TRUE
                      /\ pc' = [pc EXCEPT ![self] = "Release"]
                      /\ UNCHANGED <<owns, crashes>>
                   \/ /\ crashes < MaxCrashes
                      /\ crashes' = crashes + 1
                      /\ owns' = [owns EXCEPT ![self] = FALSE]
                      /\ pc' = [pc EXCEPT ![self] = "Acquire"]
                      /\ UNCHANGED recorded
                /\ UNCHANGED << intent, lease, applied, expiries >>

Release(self) == /\ pc[self] = "Release"
                 /\ \/ /\ IF lease = self
                             THEN /\ lease' = None
                             ELSE /\ TRUE
                                  /\ lease' = lease
                       /\ owns' = [owns EXCEPT ![self] = FALSE]
                       /\ pc' = [pc EXCEPT ![self] = "Done"]
                       /\ UNCHANGED crashes
                    \/ /\ crashes < MaxCrashes
                       /\ crashes' = crashes + 1
                       /\ owns' = [owns EXCEPT ![self] = FALSE]
                       /\ pc' = [pc EXCEPT ![self] = "Acquire"]
                       /\ lease' = lease
                 /\ UNCHANGED << intent, recorded, applied, expiries >>

worker(self) == Acquire(self) \/ Look(self) \/ Intent(self)
                   \/ Execute(self) \/ Set(self) \/ Record(self)
                   \/ Release(self)

Expire == /\ pc[Clock] = "Expire"
          /\ IF ~recorded
                THEN /\ lease # None
                     /\ IF owns[lease]
                           THEN /\ expiries < MaxExpiries
                                /\ expiries' = expiries + 1
                           ELSE /\ TRUE
                                /\ UNCHANGED expiries
                     /\ lease' = None
                     /\ pc' = [pc EXCEPT ![Clock] = "Expire"]
                ELSE /\ pc' = [pc EXCEPT ![Clock] = "Done"]
                     /\ UNCHANGED << lease, expiries >>
          /\ UNCHANGED << intent, recorded, applied, owns, crashes >>

clock == Expire

(* Allow infinite stuttering to prevent deadlock on termination. *)
Terminating == /\ \A self \in ProcSet: pc[self] = "Done"
               /\ UNCHANGED vars

Next == clock
           \/ (\E self \in Workers: worker(self))
           \/ Terminating

Spec == /\ Init /\ [][Next]_vars
        /\ \A self \in Workers : WF_vars(worker(self))
        /\ WF_vars(clock)

Termination == <>(\A self \in ProcSet: pc[self] = "Done")

\* END TRANSLATION - the hash of the generated TLA code (remove to silence divergence warnings): TLA-3f7fe877e5cac22ce9d92444c38578a5

-----------------------------------------------------------------------------
TypeOK ==
  /\ intent \in BOOLEAN /\ recorded \in BOOLEAN
  /\ lease \in Workers \cup {None}
  /\ applied \in Nat
  /\ crashes \in 0 .. MaxCrashes /\ expiries \in 0 .. MaxExpiries
  /\ owns \in [Workers -> BOOLEAN]

(* What the table counts. *)
Applied == applied
Executing == Cardinality({w \in Workers : pc[w] \in {"Execute", "Set"}})

(* The effect happens no more than once.                                    *)
AtMostOnce == applied <= 1

(* Nothing happens that was not intended, or is recorded and did not happen. *)
InOrder == /\ applied > 0 => intent
           /\ recorded => applied > 0

(* In the end it has happened exactly once, and that is known, if no worker *)
(* stands still for ever and a dead worker's lease ends: the weak fairness  *)
(* of the workers and the clock.  Deaths and zombies are bounded.           *)
ExactlyOneEffect == <>[](recorded /\ applied = 1)
=============================================================================
