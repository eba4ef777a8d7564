------------------------------ MODULE GuidedTrace ------------------------------
(***************************************************************************)
(* Is there a behaviour that shows what a thread of a trace shows, along   *)
(* one given way?                                                          *)
(*                                                                         *)
(* Somebody has found an explanation, and says step by step how it goes:   *)
(* the guide.  It only leaves out steps of ResumeTrace, it adds none, so   *)
(* that whoever gets to its end has a behaviour of the specification.      *)
(* That there is none with fewer faults is not asked here.                 *)
(*                                                                         *)
(* One thing is no step of anything: an observation that nothing explains, *)
(* which the guide takes at its word.  It gives the state that comes of    *)
(* it, and what comes before and after is asked for all the same.          *)
(*                                                                         *)
(* The module that fixes the constants is written by trace_check.by_tlc.   *)
(***************************************************************************)
EXTENDS ResumeTrace

CONSTANT
  Guide       \* for each of Cases the way: a sequence of records
              \*   kind      "shown", "unseen", "answer", "expiry" or "asserted"
              \*   seen      the place of the observation, or 0
              \*   actor     whose runners move, or 0: nobody's
              \*   stands    <<phase, branch, step>> of the actor's only runner then, or <<>>: anywhere
              \*   used      all faults used by then
              \*   broken    all clauses broken by then
              \*   before    of what is asserted, what is durable until then
              \*   after     of what is asserted, the whole state that comes of it

VARIABLE
  place       \* the step of the guide that comes next

guidedvars == <<tracevars, place>>

(* As for Given.                                                            *)
Guides == Guide
Path == Guides[which]

(* Counts as a fault more in what is used: so that `most` allows for it.    *)
AtItsWord == "unmodelled"

-----------------------------------------------------------------------------
(* What the guide says of a step that is one of ResumeTrace's.              *)

OnlyOf(a) == \A r \in Runners : (IF a = 0 THEN TRUE ELSE r \notin Crew[a]) => run'[r] = run[r]

Stands(g) ==
  IF g.stands = <<>> THEN TRUE
  ELSE \A r \in Crew[g.actor] : <<run'[r].phase, run'[r].branch, run'[r].step>> = g.stands

NothingShown == UNCHANGED <<first, ahead>>

IsShown(g) == ~Done(g.seen) /\ (g.seen < first' \/ g.seen \in ahead') /\ Stands(g)

IsUnseen(g) == NothingShown /\ OnlyOf(g.actor) /\ Stands(g)

IsAnswer(g) == NothingShown /\ OnlyOf(0) /\
  \E b \in Branches : \E x \in Gates : Len(gate'[b][x].acks) > Len(gate[b][x].acks)

IsExpiry(g) == NothingShown /\ OnlyOf(0) /\
  \E b \in Branches : \E x \in Gates : gate'[b][x].expired /\ ~gate[b][x].expired

Allows(g) ==
  /\ CASE g.kind = "shown" -> IsShown(g)
       [] g.kind = "unseen" -> IsUnseen(g)
       [] g.kind = "answer" -> IsAnswer(g)
       [] g.kind = "expiry" -> IsExpiry(g)
       [] OTHER -> FALSE
  /\ used' = g.used
  /\ broken' = g.broken

ThereAreCrews == \E a \in Actors : Several(a)

(* How a crew moves within its process is no business of the guide's.       *)
WithinCrew ==
  /\ \E a \in Actors : Several(a) /\ OnlyOf(a)
  /\ NothingShown /\ used' = used /\ broken' = broken
  /\ UNCHANGED <<ckpt, origin, declared, ledger, gate, status, world, own, computed, code>>

(* One of the steps that TraceNext takes where it has the choice.           *)
Follows ==
  /\ which' = which
  /\ \/ ThereAreCrews /\ GoesUnseen /\ WithinCrew /\ place' = place
     \/ /\ place \in DOMAIN Path
        /\ IF Path[place].kind = "shown"
           THEN Path[place].seen \in Next1 /\ Explains(Path[place].seen)
           ELSE GoesUnseen
        /\ Allows(Path[place])
        /\ place' = place + 1

-----------------------------------------------------------------------------
(* What nothing explains.                                                   *)

(* What is durable is what the guide says: so far the ways are the same.    *)
IsAsIn(s) ==
  /\ ckpt = s.ckpt /\ origin = s.origin /\ declared = s.declared /\ ledger = s.ledger
  /\ GateView = s.gate /\ status = s.status /\ world = s.world /\ own = s.own /\ computed = s.computed

Becomes(s) ==
  /\ ckpt' = s.ckpt /\ origin' = s.origin /\ declared' = s.declared /\ ledger' = s.ledger
  /\ gate' = s.gate /\ status' = s.status /\ world' = s.world /\ own' = s.own /\ computed' = s.computed
  /\ run' = [r \in Runners |-> IF r \in DOMAIN s.run THEN s.run[r] ELSE Idle]

Asserts ==
  /\ place \in DOMAIN Path
  /\ LET g == Path[place] IN
     /\ g.kind = "asserted"
     /\ g.seen \in Next1
     /\ Mark(g.seen)
     /\ IsAsIn(g.before)
     /\ Becomes(g.after)
     /\ NoCode
     /\ used' = used \cup {AtItsWord}
     /\ broken' = broken \cup Broken'
     /\ used' = g.used /\ broken' = g.broken
  /\ place' = place + 1
  /\ which' = which

-----------------------------------------------------------------------------
GuidedInit == TraceInit /\ place = 1

(* What only tells how things are is taken as soon as it is so, and the     *)
(* guide leaves it out, and how a crew comes and goes.                      *)
GuidedNext ==
  /\ Worthwhile
  /\ IF ToldNow # {} \/ Unsettled
     THEN TraceNext /\ place' = place
     ELSE Follows \/ Asserts

GuidedSpec == GuidedInit /\ [][GuidedNext]_guidedvars

GuidedView == <<TraceView, place>>

-----------------------------------------------------------------------------
(* What TLC is asked for, beside Told.                                      *)

(* Always true.  Tells of each state how far along the guide it is.         *)
Reached == PrintT(<<"REACHED", which, place>>)
=============================================================================
