------------------------------- MODULE Assume -------------------------------
\* N = 0 makes an assumption false, N = 5 makes one impossible to evaluate.
EXTENDS Integers
CONSTANT N
VARIABLE x
ASSUME N > 0
ASSUME Named == 10 \div (N - 5) # 77
Init == x = 0
Next == x' = x
=============================================================================
