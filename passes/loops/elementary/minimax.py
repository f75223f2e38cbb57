"""Finds the coefficients of this folder's polynomials: best approximations, rounded to f32.

    python -m nnc.passes.loops.elementary.minimax [NAME..]

prints each table as it stands in the code, with its largest error. The error that counts is
that of the function, so `weight` says what one unit of error in the polynomial is worth.

Method: the exchange algorithm of Remez on a grid, in 80-bit floats. A coefficient is rounded
to f32 and the others are found anew, beginning with the constant one, so that later
coefficients make up for the rounding of earlier ones. A quotient is found by Loeb's
iteration: its denominator from the last step becomes the weight of the next. Source: E. W.
Cheney, "Introduction to Approximation Theory", ch. 3 and 5.
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
    """What to approximate: `function` on [low, high] by sum c_i x**powers[i].

    With `denominator` > 0, the sum is divided by d_0 + d_1 x**2 + d_2 x**4 + .. of that many
    terms beside d_0, which is `below_zero`: with a good one, f(0) d_0 is nearly an f32.
    """

    function: Function
    low: float
    high: float
    powers: Sequence[int]
    weight: Function = np.ones_like
    denominator: int = 0
    below_zero: float = 1.0
    round_to: type = np.float32

    def grid(self) -> np.ndarray:
        """Where errors are measured, denser towards the ends."""
        t = (1 - np.cos(np.linspace(0, np.pi, GRID, dtype=Number))) / 2
        return Number(self.low) + t * (Number(self.high) - Number(self.low))

    def solve(self) -> tuple[list[float], list[float], float]:
        """Numerator, denominator without d_0, and the largest weighted error."""
        x = self.grid()
        target, weight = self.function(x), self.weight(x)
        columns = [x ** Number(p) for p in self.powers]
        columns += [-target * x ** Number(2 * j) for j in range(1, self.denominator + 1)]
        known: dict[int, Number] = {}
        found = self._best(columns, target, weight, known)
        for i in range(len(columns)):
            known[i] = Number(self.round_to(found[i]))
            found = self._best(columns, target, weight, known)
        rest = sum((-c * k for c, k in zip(columns, found, strict=True)), target * self.below_zero)
        error = float(np.max(np.abs(rest / self._denominator(x, found) * weight)))
        split = len(self.powers)
        return [float(c) for c in found[:split]], [float(c) for c in found[split:]], error

    def _denominator(self, x: np.ndarray, found: Sequence[Number]) -> np.ndarray:
        terms = found[len(self.powers) :]
        return self.below_zero + sum(
            (c * x ** Number(2 * j) for j, c in enumerate(terms, 1)), 0 * x
        )

    def _best(self, columns, target, weight, known) -> list[Number]:
        free = [i for i in range(len(columns)) if i not in known]
        found = [known.get(i, Number(0)) for i in range(len(columns))]
        if not free:
            return found
        x = self.grid()
        for _ in range(12 if self.denominator else 1):
            scale = weight / self._denominator(x, found)
            rest = target * self.below_zero - sum((columns[i] * known[i] for i in known), 0 * x)
            basis = np.column_stack([columns[i] * scale for i in free])
            before = list(found)
            for i, c in zip(free, best_combination(basis, rest * scale), strict=True):
                found[i] = c
            if np.allclose(np.array(before, float), np.array(found, float), rtol=1e-12, atol=0):
                break
        return found


# -- functions that NumPy lacks -----------------------------------------------------------------


def erf(x: np.ndarray) -> np.ndarray:
    """2/sqrt(pi) exp(-x^2) sum 2^n x^(2n+1) / (2n+1)!!: no term is negative for x > 0."""
    term, total = x.copy(), x.copy()
    for n in range(1, 200):
        term = term * (2 * x * x / (2 * n + 1))
        total = total + term
    return 2 / np.sqrt(Number(np.pi) + Number(1.2246467991473532e-16)) * np.exp(-x * x) * total
