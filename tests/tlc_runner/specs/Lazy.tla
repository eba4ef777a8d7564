-------------------------------- MODULE Lazy --------------------------------
\* For evaluation state by state: arguments that depend on the state, replaced operators, values of every kind.
EXTENDS Integers, Sequences, FiniteSets, TLC
CONSTANTS A, B, Limit
VARIABLES queue, seen

Default == 2
Init == queue = <<A, B>> /\ seen = {}
Take(item, left) == left >= 0 /\ queue' = Tail(queue) /\ seen' = seen \cup {item}
Forget == seen # {} /\ seen' = {} /\ UNCHANGED queue
Shift(left) == Len(queue) = 1 /\ left = 6 /\ queue' = <<>> /\ UNCHANGED seen
Broken == Len(queue) = 0 /\ seen = {A, B} /\ queue' = <<>>
Next == \/ Take(Head(queue), Len(queue) - 1)
        \/ Forget
        \/ \E left \in {5} : Shift(left + Len(queue))
        \/ Broken
Bound == Cardinality(seen) < Limit
Everything == [ints |-> -1..2, strings |-> <<"a\\b\"c", "">>, sets |-> {{}, {A}}, empty |-> <<>>,
               fun |-> [s \in {"x y", "z"} |-> A], pairs |-> (2 :> TRUE @@ 5 :> FALSE), power |-> SUBSET {1, 2},
               seq |-> [i \in 1..2 |-> i * i], lazy |-> [i \in {A, B} |-> i = A]]
Bad == Head(<<>>)
=============================================================================
