------------------------------- MODULE Steps --------------------------------
\* Many ways from one state to another: arguments, disjuncts, self-loops, an instance; strings full of dot syntax.
EXTENDS Naturals
CONSTANT Set
VARIABLES x, y

Init == x = 0 /\ y = "a -> b [label=\"q\\\"];"
Add(n) == x' = (x + n) % 3 /\ UNCHANGED y
One == x' = (x + 1) % 3 /\ UNCHANGED y
Stay == UNCHANGED <<x, y>>
Inner == INSTANCE Inner WITH z <- x
Next == \/ \E n \in 1..4 : Add(n)
        \/ One
        \/ Stay
        \/ \E k \in Set : x' = 0 /\ y' = "z\n" /\ k > 0
        \/ Inner!ToTwo /\ UNCHANGED y
Sum == x + 1
Named(n) == x + n
=============================================================================
