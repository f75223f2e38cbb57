"""Support vector machines of ai.onnx.ml.

Source: SVMRegressor-1 and SVMClassifier-1 of ai.onnx.ml, as onnx.reference has them.
"""

from __future__ import annotations

from ...common.scores import transformed, two_classes
from ...common.support_vectors import duels, kernel, probabilities
from ...common.vocabulary import *
from ..node import Node
from ..registry import converter
from .classical import DOMAIN, Labels, class_of, floats_of, labels_of, rows_of


def _kernel(n: Node, rows: Term, vectors: Term, kind: str = "") -> Term:
    """The kernel function of rows [B, F] and vectors [S, F]: [B, S]."""
    gamma, offset, degree = n.floats("kernel_params") or (0.0, 0.0, 0.0)
    kinds = ("LINEAR", "POLY", "RBF", "SIGMOID")
    kind = kind or n.string("kernel_type", "LINEAR", kinds)
    return kernel(rows, vectors, kind, gamma, offset, degree)


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
        chosen = class_of(n, votes.argmax(1), labels)
    else:
        scores = _linear_scores(n, rows, len(labels))
        chosen = _best_scored(n, scores, labels)
    certain = bool(n.floats("prob_a")) and bool(sum(counts))
    if certain:
        slope, offset = (floats_of(n, name, scores) for name in ("prob_a", "prob_b"))
        scores = probabilities(n, scores, slope, offset, len(labels))
    return [chosen, _written(n, scores).cast(f32).value]


def _linear_scores(n: Node, rows: Term, classes: int) -> Term:
    """The scores of linear models without support vectors: a product per class, plus an offset."""
    weights = floats_of(n, "coefficients", rows)
    matrix = weights.reshape(classes, weights.shape[0] // classes)  # type: ignore[operator]
    return _kernel(n, rows, matrix, "LINEAR") + float((n.floats("rho") or (0.0,))[0])


def _duels(n: Node, rows: Term, counts: tuple[int, ...]) -> tuple[Term, Term]:
    """The score of each pair of classes, positive where the first wins, and each class's wins."""
    total = sum(counts)
    vectors = floats_of(n, "support_vectors", rows)
    kernels = _kernel(n, rows, vectors.reshape(total, vectors.shape[0] // total))  # type: ignore[operator]
    own = np.array(n.floats("coefficients") or ()).reshape(-1, total)
    return duels(kernels, counts, own, np.array(n.floats("rho") or ()))


def _best_scored(n: Node, scores: Term, labels: Labels) -> Value | None:
    """The label of the best score; for one offset and other than two classes, if it is positive."""
    best, most = scores.argmax(1), scores.largest(1)
    if len(n.floats("rho") or ()) != 1:
        return class_of(n, best, labels)
    if len(labels) != 2:
        return (most > 0.0).cast(i64).value
    if min(n.floats("coefficients") or (0.0,)) >= 0:
        best = (most >= 0.5).choose(1, best)
    return class_of(n, best, labels)


def _written(n: Node, scores: Term) -> Term:
    """The scores as the operator returns them: a single one stands for two classes."""
    post = n.string("post_transform", "NONE")
    if scores.shape[1] != 1 or post == "PROBIT":
        return transformed(scores, post)
    if len(n.floats("rho") or ()) != 1:
        return scores
    return transformed(two_classes(-scores, scores), post)
