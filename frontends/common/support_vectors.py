"""Support vector machines: kernels, pairwise votes between classes, and class probabilities."""

from __future__ import annotations

from itertools import combinations

from .loops import Iteration, while_loop
from .words import *

MOST_ROUNDS = 100
"""The most iterations of `probabilities`; with more classes than this, as many as classes."""


def kernel(
    rows: Term, vectors: Term, kind: str, gamma: float, offset: float, degree: float
) -> Term:
    """The kernel function of rows [B, F] and vectors [S, F]: [B, S]."""
    if kind == "RBF":
        apart = rows.reshape((rows.value, 0), 1, (rows.value, 1)) - vectors
        return ((apart * apart).sum(2) * -gamma).function(nn.Exp)
    products = rows @ vectors.transpose(1, 0)
    if kind == "LINEAR":
        return products
    scaled = products * gamma + offset
    return scaled**degree if kind == "POLY" else scaled.function(nn.Tanh)


def duels(
    kernels: Term, counts: Sequence[int], coefficients: np.ndarray, offsets: np.ndarray
) -> tuple[Term, Term]:
    """The score of each pair of classes, positive where the first wins, and each class's wins.

    `counts` has the number of each class's vectors: kernels [B, S], coefficients [classes - 1, S],
    offsets [pairs] -> scores [B, pairs], wins [B, classes].
    """
    n, total, classes = kernels.n, sum(counts), len(counts)
    begins = np.concatenate([[0], np.cumsum(counts)])
    pairs = list(combinations(range(classes), 2))
    matrix = np.zeros((total, len(pairs)))
    wins = np.zeros((2, len(pairs), classes))
    for column, (i, j) in enumerate(pairs):
        for one, row in ((i, j - 1), (j, i)):
            part = slice(begins[one], begins[one + 1])
            matrix[part, column] = coefficients[row, part]
        wins[0, column, i] = wins[1, column, j] = 1
    element = kernels.element
    offset = constant(n, offsets[: len(pairs)], element)
    scores = kernels @ constant(n, matrix, element) + offset
    first = (scores > 0.0).cast(element)
    votes = [
        side @ constant(n, w, element) for side, w in zip((first, 1.0 - first), wins, strict=True)
    ]
    return scores, votes[0] + votes[1]


def probabilities(n: Layer, scores: Term, slope: Term, offset: Term, classes: int) -> Term:
    """The probabilities of classes, computed iteratively from those of pairs of classes.

    Source: Wu, Lin and Weng, "Probability estimates for multi-class classification by pairwise
    coupling" (2004), algorithm 2.
    """
    element = scores.element
    won = (-(scores * slope + offset)).function(nn.Sigmoid).max(1e-7).min(1.0 - 1e-7)
    # pair[i][j]: how likely i is, of i and j
    pair: dict[tuple[int, int], Term] = {}
    for column, (i, j) in enumerate(combinations(range(classes), 2)):
        pair[i, j] = won.part(1, column, column + 1)
        pair[j, i] = 1.0 - pair[i, j]
    rows = []
    for i in range(classes):
        others = [j for j in range(classes) if j != i]
        squares = joined([pair[j, i] * pair[j, i] for j in others], 1).sum(1, keep=True)
        entries = [squares if i == j else -(pair[j, i] * pair[i, j]) for j in range(classes)]
        rows.append(joined(entries, 1).spread(0, 1).transpose(0, 2, 1))
    matrix = joined(rows, 1)  # [B, classes, classes]
    start = scores.part(1, 0, 1) * 0.0 + constant(n, np.full(classes, 1 / classes), element)

    def iteration(number: Value, flag: Value, states: list[Value]) -> Iteration:
        before = Term(n, states[0])
        after, apart = _round(before, matrix, rows)
        open_ = apart >= 0.005 / classes
        going = open_.cast(i64).largest(0, 1) > 0
        return Iteration([open_.choose(after, before).value], [], going.value)

    limit = n.constant(max(MOST_ROUNDS, classes), i64)
    (found,), _ = while_loop(n, iteration, [start.value], limit, n.constant(True))
    return Term(n, found)


def _round(chances: Term, matrix: Term, rows: list[Term]) -> tuple[Term, Term]:
    """One iteration, which fits each probability to the others; returns the error before it too."""
    slopes = (matrix @ chances.spread(0, 1)).reshape((chances.value, 0), (chances.value, 1))
    mean = (chances * slopes).sum(1, keep=True)
    apart = (slopes - mean).function(nn.Abs).largest(1, keep=True)
    after = chances
    for t, row in enumerate(rows):
        row = row.reshape((chances.value, 0), (chances.value, 1))
        pivot, slope = row.part(1, t, t + 1), slopes.part(1, t, t + 1)
        step = (mean - slope) / pivot
        rest = step + 1.0
        unit = constant(chances.n, np.eye(len(rows))[t], chances.element)
        after = (after + step * unit) / rest
        mean = (mean + step * (step * pivot + slope * 2.0)) / (rest * rest)
        slopes = (slopes + step * row) / rest
    return after, apart
