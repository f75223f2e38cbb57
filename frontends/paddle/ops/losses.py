"""Losses: outputs of models that were saved with the last layer of their training."""

from __future__ import annotations

from ...common.vocabulary import *
from ..layer import PaddleLayer, rows
from .networks import log_softmax

_LOWEST = -100.0
"""The lowest logarithm of a probability in a binary cross entropy."""


def _log(x: Term) -> Term:
    return x.function(nn.Log)


@rows("cross_entropy_with_softmax")
def cross_entropy(n: PaddleLayer, x: Value, label: Value) -> list[Value]:
    """The softmax of x, and its cross entropy with labels: class indices, or with `soft_label`
    probabilities.
    """
    axis = n.axis(x, n.int("axis", -1))
    if n.flag("use_softmax", True):
        logs = Term(n, log_softmax(n, x))
        soft = n(nn.Softmax(x, axis=axis))
    else:
        logs, soft = _log(Term(n, x)), x
    if n.flag("soft_label"):
        return [soft, (Term(n, label) * -logs).sum(axis, keep=True).value]
    if label.type.rank != x.type.rank:
        raise n.error(f"labels '{label.type}' of '{x.type}', expected as many dimensions")
    found = _picked(n, logs, Term(n, label), axis)
    return [soft, found.value]


def _picked(n: PaddleLayer, logs: Term, label: Term, axis: int) -> Term:
    """Minus the logarithm at each label; 0 for those that are ignored."""
    ignored = label.equals(n.int("ignore_index", -100))
    places = ignored.choose(0, label).cast(i64)
    found = Term(n, gathered_elements(n, logs.value, places.value, axis))
    return ignored.choose(0.0, -found)


@rows("nll_loss")
def nll(n: PaddleLayer, x: Value, label: Value, weight: Value | None = None) -> list[Value]:
    """The weighted sum or mean of minus the logarithms at the labels, and the sum of weights."""
    classes = Term(n, unsqueezed(n, label, 1))
    loss = _picked(n, Term(n, x), classes, 1)
    used = ~classes.equals(n.int("ignore_index", -100))
    weights = used.cast(loss.element)
    if weight is not None:
        own = used.choose(classes, 0).cast(i64)
        weights = weights * Term(n, weight).gather(own)
    axes, how = range(loss.rank), n.text("reduction", "mean")
    loss, total = loss * weights, weights.sum(*axes)
    if how == "none":
        return [loss.column(0, 1).value, total.value]
    found = loss.sum(*axes)
    return [(found / total if how == "mean" else found).value, total.value]


@rows("huber_loss")
def huber(n: PaddleLayer, x: Value, y: Value) -> list[Value]:
    """The loss, which is quadratic near zero and linear beyond `delta`; and the differences."""
    delta, apart = n.float("delta", 1.0), Term(n, y) - Term(n, x)
    size = apart.function(nn.Abs)
    loss = (size <= delta).choose(size * size * 0.5, (size - 0.5 * delta) * delta)
    return [loss.value, apart.value]


def _bce(n: PaddleLayer, x: Term, label: Term) -> Term:
    return -(label * _log(x).max(_LOWEST) + (1.0 - label) * _log(1.0 - x).max(_LOWEST))


def _bce_with_logits(n: PaddleLayer, x: Term, label: Term, weight: Term | None = None) -> Term:
    if n.flag("normalize"):
        raise n.error("a loss divided by the number of labels is not supported")
    soft = (-x).function(nn.Softplus)
    loss = (1.0 - label) * x + (soft if weight is None else soft * weight)
    return label.equals(float(n.int("ignore_index", -100))).choose(0.0, loss)


def _kl(n: PaddleLayer, x: Term, target: Term) -> Term:
    if n.flag("log_target"):
        loss = target.function(nn.Exp) * (target - x)
    else:
        loss = (target > 0.0).choose(target * (_log(target) - x), 0.0)
    how, axes = n.text("reduction", "mean"), range(loss.rank)
    if how == "none":
        return loss
    total = loss.sum(*axes)
    if how == "sum":
        return total
    count = extent(n, (x.value, 0))
    for axis in range(1, x.rank if how == "mean" else 1):
        count = count * extent(n, (x.value, axis))
    return total / count.cast(x.element)


def _log_loss(n: PaddleLayer, x: Term, label: Term) -> Term:
    least = n.float("epsilon", 1e-4)
    return -(label * _log(x + least)) - (1.0 - label) * _log(1.0 - x + least)


def of_terms(make: Callable[..., Term]) -> Callable:
    """A converter of the operator whose inputs, as terms, `make` turns into the result."""

    def convert(n: PaddleLayer, *inputs: Value | None) -> Value:
        return make(n, *(None if x is None else Term(n, x) for x in inputs)).value

    return convert


rows.add(
    {
        "bce_loss": of_terms(_bce),
        "sigmoid_cross_entropy_with_logits": of_terms(_bce_with_logits),
        "kldiv_loss": of_terms(_kl),
        "log_loss": of_terms(_log_loss),
        "mean_all": lambda n, x: reduced(n, x, nn.ReduceMean, range(x.type.rank)),
    }
)
