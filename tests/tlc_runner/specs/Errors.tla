------------------------------- MODULE Errors -------------------------------
\* Everything that stops an evaluation.
EXTENDS Integers, TLC
CONSTANT Mode
VARIABLES x, y

Init == x = 0 /\ y = 0
Next == \/ /\ Mode = "choose" /\ x' = (CHOOSE n \in {} : TRUE) /\ y' = y
        \/ /\ Mode = "unassigned" /\ x' = x + 1
        \/ /\ Mode = "assert" /\ Assert(x < 2, "x is too large") /\ x' = x + 1 /\ y' = y
        \/ /\ Mode = "type" /\ x' = x + 1 /\ y' = (x = "a")
        \/ /\ Mode = "ok" /\ x' = (x + 1) % 3 /\ y' = y
Inv == x = 2 => x[1] = 2
Huge == x = 1 => \E s \in SUBSET (SUBSET (1..26)) : s = {{77}}
RECURSIVE Down(_)
Down(n) == IF n = 0 THEN 0 ELSE 1 + Down(n - 1)
Deep == Down(1000000) > 0
=============================================================================
