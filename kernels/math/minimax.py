"""Finds the coefficients of this folder's polynomials: best approximations, rounded to f32.

    python -m nnc.kernels.math.minimax [NAME..]

prints each table as it stands in the code, with its largest error. The error that counts is
that of the function, so `weight` says what one unit of error in the polynomial is worth.

Method: the exchange algorithm of Remez on a grid, in 80-bit floats. A coefficient is rounded
to f32 and the others are found anew, beginning with the constant one, so that later
coefficients make up for the rounding of earlier ones. Source: E. W. Cheney,
"Introduction to Approximation Theory", ch. 3.
"""

from __future__ import annotations

import itertools
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

Number = np.longdouble
Function = Callable[[Any], Any]

GRID = 4001


def solve(matrix: np.ndarray, right: np.ndarray) -> np.ndarray:
    """The solution of linear equations, by elimination in 80-bit floats."""
    a = np.column_stack([matrix, right]).astype(Number)
    n = len(a)
    for i in range(n):
        pivot = i + int(np.argmax(np.abs(a[i:, i])))
        a[[i, pivot]] = a[[pivot, i]]
        a[i] /= a[i, i]
        for j in range(n):
            if j != i:
                a[j] -= a[j, i] * a[i]
    return a[:, n]


def best_combination(basis: np.ndarray, target: np.ndarray) -> np.ndarray:
    """The c that make max |basis @ c - target| over the rows least (Remez)."""
    rows, count = basis.shape
    at = np.round((1 - np.cos(np.linspace(0, np.pi, count + 1))) / 2 * (rows - 1)).astype(int)
    signs = (-1.0) ** np.arange(count + 1)
    found = np.zeros(count, Number)
    for _ in range(60):
        found = solve(np.column_stack([basis[at], signs]), target[at])
        level, found = abs(found[-1]), found[:-1]
        error = basis @ found - target
        at = alternation(error, count + 1)
        if np.max(np.abs(error)) <= level * (1 + 1e-6):
            break
    return found


def alternation(error: np.ndarray, count: int) -> np.ndarray:
    """Places of alternating extremes, `count` of them, the largest included."""
    ends = np.flatnonzero(np.diff(np.sign(error)) != 0) + 1
    runs = np.split(np.arange(len(error)), ends)
    peaks = [int(run[np.argmax(np.abs(error[run]))]) for run in runs if len(run)]
    while len(peaks) > count:
        # Neighbours go in pairs so that the signs still alternate, unless one is at an end.
        if len(peaks) == count + 1:
            peaks.pop(0 if abs(error[peaks[0]]) < abs(error[peaks[-1]]) else -1)
        else:
            pairs = [max(abs(error[a]), abs(error[b])) for a, b in itertools.pairwise(peaks)]
            i = int(np.argmin(pairs))
            del peaks[i : i + 2]
    if len(peaks) < count:
        step = (len(error) - 1) / (count - 1)
        return np.round(np.arange(count) * step).astype(int)
    return np.array(peaks)


@dataclass
class Table:
    """What to approximate: `function` on [low, high] by sum c_i x**powers[i]."""

    function: Function
    low: float
    high: float
    powers: Sequence[int]
    weight: Function
    round_to: type = np.float32

    def solve(self) -> tuple[list[float], float]:
        """The coefficients and the largest weighted error."""
        # Denser towards the ends, where the extremes are.
        t = (1 - np.cos(np.linspace(0, np.pi, GRID, dtype=Number))) / 2
        x = Number(self.low) + t * (Number(self.high) - Number(self.low))
        weight = self.weight(x)
        basis = np.column_stack([x ** Number(p) * weight for p in self.powers])
        rest = self.function(x) * weight
        rounded: list[float] = []
        for i in range(len(self.powers)):
            rounded.append(float(self.round_to(best_combination(basis[:, i:], rest)[0])))
            rest = rest - basis[:, i] * Number(rounded[i])
        return rounded, float(np.max(np.abs(rest)))


# -- what is approximated -------------------------------------------------------------------------

LN2 = np.log(Number(2))
PI = np.arctan2(Number(0), Number(-1))


def series(first: Number, ratio: Callable[[int, Any], Any], terms: int = 120) -> Function:
    """The sum of `first` and of what each term times ratio(n, x) gives, n from 1."""

    def total(x: np.ndarray) -> np.ndarray:
        term = np.full_like(x, first)
        result = term.copy()
        for n in range(1, terms):
            term = term * ratio(n, x)
            result = result + term
        return result

    return total


def erf(x: np.ndarray) -> np.ndarray:
    """2/sqrt(pi) exp(-x^2) sum 2^n x^(2n+1) / (2n+1)!!: no term is negative for x > 0."""
    tail = series(Number(1), lambda n, x: 2 * x * x / (2 * n + 1), 200)
    return 2 / np.sqrt(PI) * np.exp(-x * x) * x * tail(x)


def erfc_scaled(a: np.ndarray) -> np.ndarray:
    """erfc(a) exp(a^2), by its continued fraction where 1 - erf(a) would cancel."""
    near = np.minimum(a, Number(2.5))
    fraction = np.zeros_like(a)
    for k in range(300, 0, -1):
        fraction = (Number(k) / 2) / (np.maximum(a, 2) + fraction)
    far = 1 / (np.maximum(a, 2) + fraction) / np.sqrt(PI)
    return np.where(a < 2.5, (1 - erf(near)) * np.exp(near * near), far)


def log_rest(f: np.ndarray) -> np.ndarray:
    """(log(1 + f) - f) / f^2"""
    away = np.where(np.abs(f) < 0.2, Number(0.2), f)
    near = -series(Number(1), lambda n, f: -f * (n + 1) / (n + 2))(f) / 2
    return np.where(np.abs(f) < 0.2, near, (np.log1p(away) - away) / (away * away))


def odd_rest(function: Function) -> Function:
    """(function(x) - x) / x^3"""
    return lambda x: (function(x) - x) / x**3


def of_cube(function: Function) -> Function:
    """What an error of `odd_rest` is worth."""
    return lambda x: x**3 / function(x)


def _even(count: int) -> range:
    return range(0, 2 * count, 2)


HALF_LN2 = float(LN2) / 2 * 1.0001
QUARTER = float(PI) / 4 * 1.0001
LOW, HIGH = float(np.sqrt(0.5) - 1) * 1.0001, float(np.sqrt(2.0) - 1) * 1.0001
WIDE_S = float(3 - 2 * np.sqrt(2.0)) * 1.0001

exp_rest = series(Number(0.5), lambda n, x: x / (n + 2))
exp2_rest = series(LN2, lambda n, x: x * LN2 / (n + 1))
sin_rest = series(Number(-1) / 6, lambda n, x: -x * x / ((2 * n + 2) * (2 * n + 3)))
cos_rest = series(Number(1) / 24, lambda n, x: -x * x / ((2 * n + 3) * (2 * n + 4)))
tiny = 1e-2
"""Where the quotients with a cube still have bits enough; they are flat from there to 0."""


def erfc_log2(x: np.ndarray) -> np.ndarray:
    """-log2(erfc(x))"""
    return -np.log2(1 - erf(x))


def log2_of_s(s: np.ndarray) -> np.ndarray:
    """log2((1 + s) / (1 - s)) / s"""
    return 2 / LN2 * sum((s ** Number(2 * k) / (2 * k + 1) for k in range(40)), 0 * s)


def erfc_of_t(t: np.ndarray) -> np.ndarray:
    """erfc(a) exp(a^2) / t with t = 1 / (1 + a/2)"""
    return erfc_scaled(2 / t - 2) / t


TABLES = {
    "exponential.EXP": Table(
        exp_rest, -HALF_LN2, HALF_LN2, range(5), weight=lambda x: x * x / np.exp(x)
    ),
    "exponential.EXP2": Table(exp2_rest, -0.5, 0.5, range(6), weight=lambda x: np.abs(x) / 2**x),
    "exponential.SINH": Table(odd_rest(np.sinh), tiny, 1.0, _even(4), weight=of_cube(np.sinh)),
    "logarithm.LOG": Table(
        log_rest, LOW, HIGH, range(9), weight=lambda f: np.abs(f) / (1 + f * log_rest(f))
    ),
    "trigonometric.SIN": Table(sin_rest, tiny, QUARTER, _even(3), weight=of_cube(np.sin)),
    "trigonometric.COS": Table(
        cos_rest, tiny, QUARTER, _even(3), weight=lambda x: x**4 / np.cos(x)
    ),
    "trigonometric.TAN": Table(odd_rest(np.tan), tiny, QUARTER, _even(6), weight=of_cube(np.tan)),
    "trigonometric.ASIN": Table(
        odd_rest(np.arcsin), tiny, 0.5001, _even(5), weight=of_cube(np.arcsin)
    ),
    "trigonometric.ATAN": Table(
        odd_rest(np.arctan), tiny, 1.0, _even(8), weight=of_cube(np.arctan)
    ),
    "error_function.ERF": Table(
        lambda x: erf(x) / x - 1, tiny, 0.85, _even(6), weight=lambda x: x / erf(x)
    ),
    "error_function.ERFC_LOG2": Table(
        erfc_log2, 0.85, 3.925, range(7), weight=lambda x: (1 - erf(x)) * LN2 / erf(x)
    ),
    "power.LOG2": Table(
        log2_of_s, 0.0, WIDE_S, _even(5), lambda s: 1 / log2_of_s(s), round_to=np.float64
    ),
    "power.EXP2": Table(
        exp2_rest, -0.5, 0.5, range(7), lambda x: np.abs(x) / 2**x, round_to=np.float64
    ),
    "power.ERFC": Table(
        erfc_of_t, 1 / 6.1, 1.0, range(11), lambda t: 1 / erfc_of_t(t), round_to=np.float64
    ),
}


def main(names: Sequence[str]) -> None:
    """Print the tables of these names, or all."""
    for name in names or TABLES:
        coefficients, error = TABLES[name].solve()
        print(f"{name} = ({', '.join(map(repr, coefficients))})  # {error / 2**-23:.2g} ulp")


if __name__ == "__main__":
    main(sys.argv[1:])
