"""Inputs that cases share, all drawn from one generator, and the table of cases."""

import numpy as np

rng = np.random.default_rng(0)


def f(*s):
    return rng.standard_normal(s).astype(np.float32)


def p(*s):
    return (rng.random(s) + 0.1).astype(np.float32)


def i(*s, lo=-10, hi=10):
    return rng.integers(lo, hi, s).astype(np.int32)


def b(*s):
    return rng.random(s) > 0.5


X = f(4, 6)
Y = f(4, 6)
P = p(4, 6)
Q = p(4, 6) * 0.8
I = i(4, 6)
J = i(4, 6, lo=1)
B = b(4, 6)
C = b(4, 6)
T = f(2, 3, 4)
V = f(10)
SPD = (lambda a: a @ a.T + 5 * np.eye(5, dtype=np.float32))(f(5, 5))
M5 = f(5, 5)
CZ = (f(4, 6) + 1j * f(4, 6)).astype(np.complex64)
cases = {}


def case(name, fn, *args):
    cases[name] = (fn, args)
