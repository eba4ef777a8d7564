------------------------------- MODULE Stops -------------------------------
\* Reaches a state without a successor, in two variables and a parameterised action.
EXTENDS Integers, Sequences
VARIABLES at, log

Init == at = "start" /\ log = <<>>
Move(from, to) == at = from /\ at' = to /\ log' = Append(log, [from |-> from, to |-> to])
Next == Move("start", "middle") \/ Move("middle", "end")
=============================================================================
