------------------------------ MODULE Counter ------------------------------
\* One variable: TLC prints its states without the leading conjunction sign.
EXTENDS Naturals, TLC
CONSTANT Max
VARIABLE x

Init == x = 0
Inc == x < Max /\ x' = x + 1
Reset == x = Max /\ x' = 0
Never == x > Max /\ x' = 0
Next == Inc \/ Reset \/ Never
Spec == Init /\ [][Next]_x
FairSpec == Spec /\ WF_x(Next)

Small == x < 3
NonNegative == x >= 0
NotZero == x # 0
Growing == [][x' >= x]_x
ReachesTop == <>(x = Max)
Stays == <>[](x = Max)
Prints == PrintT(<<"seen", x>>)
Odd == IF x = 2 THEN x[1] ELSE TRUE
Asserted == Assert(x < 2, "x is too large")
=============================================================================
