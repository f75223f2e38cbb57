"""From a plan to loops: scf, memref, vector and arith."""
