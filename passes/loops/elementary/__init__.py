"""Elementary functions of f32 as arithmetic, written on `Float` values; see `formulas.py`.

Each function says its largest measured error in ulp, found by test/passes/loops over sweeps
of all exponents. None assumes more of the arithmetic than IEEE 754 says: NaN gives NaN,
infinities and signed zeros are right, and results underflow gradually.
"""
