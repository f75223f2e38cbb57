"""Support vector machines of ai.onnx.ml.

Source: SVMRegressor-1 and SVMClassifier-1 of ai.onnx.ml, as onnx.reference has them.
"""

from __future__ import annotations

from itertools import combinations

import numpy as np

from ....dialects import nn
from ....ir.core import Value
from ....ir.types import f32, i64
from ...common.loops import Iteration, while_loop
from ...common.terms import Term, constant, joined
from ..node import Node
from ..registry import converter
from .classical import DOMAIN, floats_of, rows_of
from .scores import Labels, class_of, labels_of, transformed, two_classes

MOST_ROUNDS = 100
"""Rounds in which the classes' probabilities are made to agree with those of pairs, at least."""


def _kernel(n: Node, rows: Term, vectors: Term, kind: str = "") -> Term:
    """The kernel function of rows [B, F] and vectors [S, F]: [B, S]."""
    gamma, offset, degree = n.floats("kernel_params") or (0.0, 0.0, 0.0)
    kinds = ("LINEAR", "POLY", "RBF", "SIGMOID")
    kind = kind or n.string("kernel_type", "LINEAR", kinds)
    if kind == "RBF":
        apart = rows.reshape((rows.value, 0), 1, (rows.value, 1)) - vectors
        return ((apart * apart).sum(2) * -gamma).function(nn.Exp)
    products = rows @ vectors.transpose(1, 0)
    if kind == "LINEAR":
        return products
    scaled = products * gamma + offset
    return scaled**degree if kind == "POLY" else scaled.function(nn.Tanh)


@converter("SVMRegressor", domain=DOMAIN)
def svm_regressor(n: Node, x: Value) -> Value:
    rows = rows_of(n, x)
    weights, count = floats_of(n, "coefficients", rows), n.int("n_supports")
    if count:
        vectors = floats_of(n, "support_vectors", rows)
        width = vectors.shape[0] // count  # type: ignore[operator]
        features = _kernel(n, rows, vectors.reshape(count, width))
    else:
        features = _kernel(n, rows, weights.spread(1, 0))
        weights = constant(n, np.ones(1), rows.element)
    found = features @ weights.spread(0, 1) + float((n.floats("rho") or (0.0,))[0])
    if n.int("one_class"):
        found = (found > 0.0).choose(constant(n, 1.0, found.element), -1.0)
    return transformed(found, n.string("post_transform", "NONE")).cast(f32).value


# -- classes ---------------------------------------------------------------------------------------


@converter("SVMClassifier", domain=DOMAIN)
def svm_classifier(n: Node, x: Value) -> list[Value | None]:
    labels = labels_of(n, "classlabels_ints", "classlabels_strings")
    rows, counts = rows_of(n, x), n.ints("vectors_per_class") or ()
    if sum(counts):
        if len(counts) != len(labels):
            raise n.error(f"{len(counts)} counts of vectors for {len(labels)} classes")
        scores, votes = _duels(n, rows, counts)
        best = votes.made(nn.Argmax(votes.value, axis=1))
        most = votes.largest(1)
    else:
        scores = _linear_scores(n, rows, len(labels))
        best, most = scores.made(nn.Argmax(scores.value, axis=1)), scores.largest(1)
    certain = bool(n.floats("prob_a")) and bool(sum(counts))
    if certain:
        scores = _probabilities(n, scores, len(labels))
    chosen, scores = _chosen(n, best, most, labels, certain), _written(n, scores)
    return [chosen, scores.cast(f32).value]


def _linear_scores(n: Node, rows: Term, classes: int) -> Term:
    """Without support vectors: a product for each class, and one number for all."""
    weights = floats_of(n, "coefficients", rows)
    matrix = weights.reshape(classes, weights.shape[0] // classes)  # type: ignore[operator]
    return _kernel(n, rows, matrix, "LINEAR") + float((n.floats("rho") or (0.0,))[0])


def _duels(n: Node, rows: Term, counts: tuple[int, ...]) -> tuple[Term, Term]:
    """A score for each pair of classes, positive where the first wins, and the wins of each."""
    total, classes = sum(counts), len(counts)
    vectors = floats_of(n, "support_vectors", rows)
    kernels = _kernel(n, rows, vectors.reshape(total, vectors.shape[0] // total))  # type: ignore[operator]
    own = np.array(n.floats("coefficients") or ()).reshape(-1, total)
    begins = np.concatenate([[0], np.cumsum(counts)])
    pairs = list(combinations(range(classes), 2))
    matrix = np.zeros((total, len(pairs)))
    wins = np.zeros((2, len(pairs), classes))
    for column, (i, j) in enumerate(pairs):
        for one, row in ((i, j - 1), (j, i)):
            part = slice(begins[one], begins[one + 1])
            matrix[part, column] = own[row, part]
        wins[0, column, i] = wins[1, column, j] = 1
    offsets = np.array(n.floats("rho") or ())[: len(pairs)]
    element = rows.element
    scores = kernels @ constant(n, matrix, element) + constant(n, offsets, element)
    first = (scores > 0.0).cast(element)
    votes = [
        side @ constant(n, w, element) for side, w in zip((first, 1.0 - first), wins, strict=True)
    ]
    return scores, votes[0] + votes[1]


def _chosen(n: Node, best: Term, most: Term, labels: Labels, certain: bool) -> Value | None:
    """The label of the best class; some models of one offset mean two classes or none."""
    if len(n.floats("rho") or ()) != 1:
        return class_of(n, best, labels)
    if len(labels) != 2:
        return (most > 0.0).cast(i64).value
    if not certain and min(n.floats("coefficients") or (0.0,)) >= 0:
        best = (most >= 0.5).choose(1, best)
    return class_of(n, best, labels)


def _written(n: Node, scores: Term) -> Term:
    """The scores as they are given: a single one stands for two classes."""
    post = n.string("post_transform", "NONE")
    if scores.shape[1] != 1 or post == "PROBIT":
        return transformed(scores, post)
    if len(n.floats("rho") or ()) != 1:
        return scores
    return transformed(two_classes(-scores, scores), post)


def _probabilities(n: Node, scores: Term, classes: int) -> Term:
    """The classes' probabilities from those of pairs, found by iteration.

    Source: Wu, Lin and Weng, "Probability estimates for multi-class classification by pairwise
    coupling" (2004), algorithm 2.
    """
    element = scores.element
    slope, offset = (floats_of(n, name, scores) for name in ("prob_a", "prob_b"))
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
    """Each chance moved in turn to where it fits the others best; how far they were apart."""
    slopes = (matrix @ chances.spread(0, 1)).reshape((chances.value, 0), (chances.value, 1))
    mean = (chances * slopes).sum(1, keep=True)
    apart = (slopes - mean).function(nn.Abs).largest(1, keep=True)
    after = chances
    for t, row in enumerate(rows):
        row = row.reshape((chances.value, 0), (chances.value, 1))
        own, slope = row.part(1, t, t + 1), slopes.part(1, t, t + 1)
        step = (mean - slope) / own
        rest = step + 1.0
        unit = constant(chances.n, np.eye(len(rows))[t], chances.element)
        after = (after + step * unit) / rest
        mean = (mean + step * (step * own + slope * 2.0)) / (rest * rest)
        slopes = (slopes + step * row) / rest
    return after, apart
