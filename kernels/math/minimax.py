"""Finds the coefficients of this folder's polynomials: best approximations, rounded to f32.

    python -m nnc.kernels.math.minimax [NAME..]

prints each table as it stands in the code, with its largest error. The error that counts is
that of the function, so `weight` says what one unit of error in the polynomial is worth.

Method: the exchange algorithm of Remez on a grid. A coefficient is rounded to f32 and the
others are found anew, beginning with the constant one, so that later coefficients make up for
the rounding of earlier ones. All arithmetic is mpmath's, in software and of a fixed precision,
so that every machine finds the same bits. Source: E. W. Cheney, "Introduction to Approximation
Theory", ch. 3.
"""

from __future__ import annotations

import itertools
import math
import sys
from bisect import bisect
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from mpmath import MPContext  # type: ignore[import-not-found]

Number = Any
Function = Callable[[Number], Number]

GRID = 256
"""The number of grid points; even, so that none lies in the middle, where x may be 0."""
mp: Any = MPContext()
mp.prec = 160
"""Bits of each number: the systems of equations lose up to 60, quotients like tan's 50."""


def best_combination(basis: Sequence[Sequence[Number]], target: Sequence[Number]) -> list[Number]:
    """The c that make max |basis @ c - target| over the rows least (Remez).

    No combination of the basis, its columns, may be 0 in as many rows as there are columns.
    """
    rows, count = len(basis), len(basis[0])
    at = [round((1 - mp.cos(mp.pi * i / count)) / 2 * (rows - 1)) for i in range(count + 1)]
    for _ in range(100):
        # A row's sign is that of its first function: where all are odd in x, so is the error.
        system = [[*basis[row], sign(basis[row][0]) * (-1) ** i] for i, row in enumerate(at)]
        *found, level = mp.lu_solve(mp.matrix(system), mp.matrix([target[row] for row in at]))
        error = [
            (mp.fdot(row, found) - wanted) * sign(row[0])
            for row, wanted in zip(basis, target, strict=True)
        ]
        if max(map(abs, error)) <= abs(level) * (1 + 2.0**-40):
            return found
        at = exchanged(error, at)
    raise ArithmeticError("the exchange of places does not end")


def sign(x: Number) -> int:
    """-1 for a negative number, else 1."""
    return -1 if x < 0 else 1


def exchanged(error: Sequence[Number], at: Sequence[int]) -> list[int]:
    """Indices of alternating errors, none smaller than those at `at`, including the largest.

    Each index moves to the largest error between two changes of sign. If the largest of all lies
    elsewhere, it replaces the nearest index of its sign, or the last one at the other end.
    """
    ends = [i for i in range(1, len(error)) if sign(error[i]) != sign(error[i - 1])]
    peaks = [
        max(range(first, end), key=lambda i: abs(error[i]))
        for first, end in itertools.pairwise([0, *ends, len(error)])
    ]
    moved = [peaks[bisect(ends, place)] for place in at]
    largest = max(peaks, key=lambda i: abs(error[i]))
    if largest in moved:
        return moved
    after = bisect(moved, largest)
    same = [i for i in (after - 1, after) if 0 <= i < len(moved)]
    same = [i for i in same if sign(error[moved[i]]) == sign(error[largest])]
    if same:
        moved[same[0]] = largest
        return moved
    return [largest, *moved[:-1]] if after == 0 else [*moved[1:], largest]


@dataclass(frozen=True)
class Table:
    """What to approximate: `function` on [low, high] by sum c_i x**powers[i]."""

    function: Function
    low: float
    high: float
    powers: Sequence[int]
    weight: Function
    bits: int = 24
    """The precision of the coefficient's significand."""

    def solve(self) -> list[float]:
        """Compute the coefficients of the minimax polynomial."""
        places = self.places(GRID)
        weights = [self.weight(x) for x in places]
        basis = [[x**p * w for p in self.powers] for x, w in zip(places, weights, strict=True)]
        rest = [self.function(x) * w for x, w in zip(places, weights, strict=True)]
        rounded: list[Number] = []
        for _ in self.powers:
            rounded.append(mp.mpf(best_combination(basis, rest)[0], prec=self.bits))
            rest = [r - row[0] * rounded[-1] for r, row in zip(rest, basis, strict=True)]
            basis = [row[1:] for row in basis]
        return [float(c) for c in rounded]

    def error(self, coefficients: Sequence[float], count: int = GRID) -> float:
        """The largest weighted error of the polynomial with these coefficients."""
        terms = list(zip(map(mp.mpf, coefficients), self.powers, strict=True))
        return float(
            max(
                abs(sum(c * x**p for c, p in terms) - self.function(x)) * self.weight(x)
                for x in self.places(count)
            )
        )

    def places(self, count: int) -> list[Number]:
        """The points of the grid: denser towards the ends, where the extremes are."""
        low, high = mp.mpf(self.low), mp.mpf(self.high)
        steps = [(1 - mp.cos(mp.pi * i / (count - 1))) / 2 for i in range(count)]
        return [low + t * (high - low) for t in steps]


# -- what is approximated -------------------------------------------------------------------------


def exp_rest(x: Number) -> Number:
    """(exp(x) - 1 - x) / x^2"""
    return (mp.expm1(x) - x) / x**2


def exp2_rest(x: Number) -> Number:
    """(2^x - 1) / x"""
    return mp.expm1(x * mp.ln2) / x


def log_rest(f: Number) -> Number:
    """(log(1 + f) - f) / f^2"""
    return (mp.log1p(f) - f) / f**2


def cos_rest(x: Number) -> Number:
    """(cos(x) - 1 + x^2 / 2) / x^4"""
    return (mp.cos(x) - 1 + x**2 / 2) / x**4


def odd_rest(function: Function) -> Function:
    """(function(x) - x) / x^3"""
    return lambda x: (function(x) - x) / x**3


def of_cube(function: Function) -> Function:
    """The weight of an error of `odd_rest` in the function's result."""
    return lambda x: x**3 / abs(function(x))


def erfc_log2(x: Number) -> Number:
    """-log2(erfc(x))"""
    return -mp.log(mp.erfc(x), 2)


def erfc_root_rest(x: Number) -> Number:
    """(1 - erfc(x)^(1/8)) / x"""
    return (1 - mp.root(mp.erfc(x), 8)) / x


def log2_of_s(s: Number) -> Number:
    """log2((1 + s) / (1 - s)) / s"""
    return 2 * mp.atanh(s) / (mp.ln2 * s)


def erfc_of_t(t: Number) -> Number:
    """erfc(a) exp(a^2) / t with t = 1 / (1 + a/2)"""
    a = 2 / t - 2
    return mp.erfc(a) * mp.exp(a * a) / t


def _even(count: int) -> range:
    return range(0, 2 * count, 2)


HALF_LN2 = math.log(2) / 2 * 1.0001
QUARTER = math.pi / 4 * 1.0001
LOW, HIGH = (math.sqrt(0.5) - 1) * 1.0001, (math.sqrt(2.0) - 1) * 1.0001
WIDE_S = (3 - 2 * math.sqrt(2.0)) * 1.0001
TINY = 2.0**-10
"""Used instead of x = 0, where the quotients are 0 / 0; they are flat below it."""

TABLES = {
    "exponential.EXP": Table(
        exp_rest, -HALF_LN2, HALF_LN2, range(5), weight=lambda x: x * x / mp.exp(x)
    ),
    "exponential.EXP2": Table(exp2_rest, -0.5, 0.5, range(6), weight=lambda x: abs(x) / 2**x),
    "exponential.SINH": Table(odd_rest(mp.sinh), TINY, 1.0, _even(4), weight=of_cube(mp.sinh)),
    "logarithm.LOG": Table(
        log_rest, LOW, HIGH, range(9), weight=lambda f: f * f / abs(mp.log1p(f))
    ),
    "trigonometric.SIN": Table(odd_rest(mp.sin), TINY, QUARTER, _even(3), weight=of_cube(mp.sin)),
    "trigonometric.COS": Table(
        cos_rest, TINY, QUARTER, _even(3), weight=lambda x: x**4 / mp.cos(x)
    ),
    "trigonometric.TAN": Table(odd_rest(mp.tan), TINY, QUARTER, _even(6), weight=of_cube(mp.tan)),
    "trigonometric.ASIN": Table(odd_rest(mp.asin), TINY, 0.5001, _even(5), weight=of_cube(mp.asin)),
    "trigonometric.ATAN": Table(odd_rest(mp.atan), TINY, 1.0, _even(8), weight=of_cube(mp.atan)),
    "error_function.ERF": Table(
        lambda x: mp.erf(x) / x - 1, TINY, 0.85, _even(6), weight=lambda x: x / mp.erf(x)
    ),
    "error_function.ERFC_LOG2": Table(
        erfc_log2, 0.85, 3.925, range(7), weight=lambda x: mp.erfc(x) * mp.ln2 / mp.erf(x)
    ),
    "error_function.WHOLE": Table(
        erfc_root_rest, TINY, 4.0, range(8), weight=lambda x: 8 * x * mp.root(mp.erfc(x), 8) ** 7
    ),
    "power.LOG2": Table(
        log2_of_s, TINY, WIDE_S, _even(5), weight=lambda s: 1 / log2_of_s(s), bits=53
    ),
    "power.EXP2": Table(exp2_rest, -0.5, 0.5, range(7), weight=lambda x: abs(x) / 2**x, bits=53),
    "power.ERFC": Table(
        erfc_of_t, 1 / 6.1, 1.0, range(11), weight=lambda t: 1 / erfc_of_t(t), bits=53
    ),
}


def main(names: Sequence[str]) -> None:
    """Print the tables of these names, or all."""
    for name in names or TABLES:
        coefficients = TABLES[name].solve()
        error = TABLES[name].error(coefficients) / 2**-23
        print(f"{name} = ({', '.join(map(repr, coefficients))})  # {error:.2g} ulp")


if __name__ == "__main__":
    main(sys.argv[1:])
