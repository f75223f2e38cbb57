"""Run functions of a module of any level, interpreted or as machine code, and
compare the results.
"""
