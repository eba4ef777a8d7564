------------------------------ MODULE UsesMore ------------------------------
\* Its other module lives in another folder.
EXTENDS Elsewhere
VARIABLE x
Init == x = Start
Next == x' = x
=============================================================================
