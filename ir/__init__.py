"""The SSA core: what every level of nnc is made of.

Importing this package loads neither NumPy nor Lark; both come in when first needed.
"""
