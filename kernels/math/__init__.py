"""Elementary functions of f32 as arithmetic, written on `Float` values; see `formulas.py`.

Each function says its largest measured error in ulp, found with native code on 20 million
numbers of all exponents; test/kernels looks at some hundred thousand of them. None
assumes more of the arithmetic than IEEE 754 says: NaN gives NaN, infinities and signed
zeros are right, and results underflow gradually.
"""
