"""Losses, as models give them that are asked for one beside their outputs."""

from __future__ import annotations

from ...common.vocabulary import *
from ..layer import AtenLayer
from ..rows import ROWS
from .normalization import log_softmax

_NONE, _MEAN = 0, 1
"""How losses of elements become one, by ATen's numbers; 2 is their sum."""


def _reduced(loss: Term, reduction: int) -> Value:
    if reduction == _NONE:
        return loss.value
    axes = tuple(range(loss.rank))
    return loss.n((nn.ReduceMean if reduction == _MEAN else nn.ReduceSum)(loss.value, axes=axes))


def _pair(n: AtenLayer, input: Value, target: Value) -> tuple[Term, Term]:
    a, b = n.promoted(input, target)
    return Term(n, a), Term(n, b)


@ROWS("aten.mse_loss", "aten.l1_loss")
def distance_loss(n: AtenLayer, self: Value, target: Value, reduction: int = _MEAN) -> Value:
    x, y = _pair(n, self, target)
    apart = x - y
    return _reduced(apart * apart if "mse" in n.kind else apart.function(nn.Abs), reduction)


@ROWS("aten.smooth_l1_loss", "aten.huber_loss")
def huber_loss(
    n: AtenLayer,
    self: Value,
    target: Value,
    reduction: int = _MEAN,
    delta: float = 1.0,
    beta: float = 1.0,
) -> Value:
    """Quadratic up to a distance, linear beyond; `smooth_l1` is divided by that distance."""
    x, y = _pair(n, self, target)
    size, limit = (x - y).function(nn.Abs), delta if "huber" in n.kind else beta
    near, far = size * size * 0.5, (size - limit / 2) * limit
    loss = (size < limit).choose(near, far)
    if "smooth" in n.kind:
        loss = loss / limit if limit else size
    return _reduced(loss, reduction)


@ROWS("aten.soft_margin_loss")
def soft_margin_loss(n: AtenLayer, self: Value, target: Value, reduction: int = _MEAN) -> Value:
    x, y = _pair(n, self, target)
    return _reduced((-(x * y)).function(nn.Exp).function(nn.Log1p), reduction)


@ROWS("aten.kl_div")
def kl_divergence(
    n: AtenLayer, self: Value, target: Value, reduction: int = _MEAN, log_target: bool = False
) -> Value:
    x, y = _pair(n, self, target)
    if log_target:
        return _reduced(y.function(nn.Exp) * (y - x), reduction)
    entropy = y.equals(0.0).choose(0.0, y * y.function(nn.Log))
    return _reduced(entropy - y * x, reduction)


@ROWS("aten.binary_cross_entropy")
def binary_cross_entropy(
    n: AtenLayer, self: Value, target: Value, weight: Value | None = None, reduction: int = _MEAN
) -> Value:
    """Logarithms are at least -100."""
    x, y = _pair(n, self, target)
    yes, no = x.function(nn.Log).max(-100.0), (-x).function(nn.Log1p).max(-100.0)
    loss = (y - 1.0) * no - y * yes
    return _reduced(loss if weight is None else loss * Term(n, weight), reduction)


@ROWS("aten.binary_cross_entropy_with_logits")
def binary_cross_entropy_with_logits(
    n: AtenLayer,
    self: Value,
    target: Value,
    weight: Value | None = None,
    pos_weight: Value | None = None,
    reduction: int = _MEAN,
) -> Value:
    x, y = _pair(n, self, target)
    tail = (-x).function(nn.Softplus)
    if pos_weight is not None:
        tail = tail * (y * (Term(n, pos_weight) - 1.0) + 1.0)
    loss = (1.0 - y) * x + tail
    return _reduced(loss if weight is None else loss * Term(n, weight), reduction)


# -- classes ---------------------------------------------------------------------------------------


@ROWS(
    *("aten.nll_loss", "aten.nll_loss2d", "aten.nll_loss_nd"),
    *("aten.nll_loss_forward", "aten.nll_loss2d_forward"),
)
def nll_loss(
    n: AtenLayer,
    self: Value,
    target: Value,
    weight: Value | None = None,
    reduction: int = _MEAN,
    ignore_index: Any = -100,
) -> list:
    """What the classes' logarithms [N, C, ..] are at the right classes [N, ..], negated."""
    axis = 1 if self.type.rank > 1 else 0
    right = Term(n, n.cast(target, i64))
    counts = ~right.equals(n.int(ignore_index))
    places = counts.choose(right, 0)
    own = [(target, i) for i in range(target.type.rank)]
    column = places.reshape(*own[:axis], 1, *own[axis:])
    found = Term(n, n(nn.GatherElements(self, column.value, axis=axis)))
    share = counts.cast(found.element)
    if weight is not None:
        share = share * Term(n, weight).gather(places)
    loss = -(found.reshape(*own) * share)
    axes = tuple(range(loss.rank))
    total = share.sum(*axes)
    if reduction == _MEAN:
        return [(loss.sum(*axes) / total).value, total.value]
    return [_reduced(loss, reduction), total.value]


@ROWS("aten.cross_entropy_loss")
def cross_entropy_loss(
    n: AtenLayer,
    self: Value,
    target: Value,
    weight: Value | None = None,
    reduction: int = _MEAN,
    ignore_index: Any = -100,
    label_smoothing: float = 0.0,
) -> Value:
    """Of scores [N, C, ..] and classes [N, ..] or chances [N, C, ..]."""
    axis = 1 if self.type.rank > 1 else 0
    logs = Term(n, log_softmax(n, self, axis))
    if target.type.rank != self.type.rank:
        if not label_smoothing:
            return nll_loss(n, logs.value, target, weight, reduction, ignore_index)[0]
        raise n.error("smoothed labels are supported of chances only, not of classes")
    chances = Term(n, n.cast(target, logs.element))
    if label_smoothing:
        count = extent(n, (self, axis)).cast(logs.element)
        chances = chances * (1 - label_smoothing) + label_smoothing / count
    if weight is not None:
        chances = chances * Term(n, weight).spread(0, self.type.rank - 1 - axis)
    loss = -(logs * chances).sum(axis)
    if reduction != _MEAN:
        return _reduced(loss, reduction)
    places = [extent(n, (loss.value, i)).cast(loss.element) for i in range(loss.rank)]
    total = loss.sum(*range(loss.rank))
    for count in places:
        total = total / count
    return total.value


@ROWS("aten.pairwise_distance")
def pairwise_distance(
    n: AtenLayer, x1: Value, x2: Value, p: float = 2.0, eps: float = 1e-6, keepdim: bool = False
) -> Value:
    from .reductions import norm

    a, b = _pair(n, x1, x2)
    return norm(n, (a - b + eps).value, p, dim=-1, keepdim=keepdim)


@ROWS("aten.dist")
def dist(n: AtenLayer, self: Value, other: Value, p: float = 2.0) -> Value:
    from .reductions import norm

    a, b = _pair(n, self, other)
    return norm(n, (a - b).value, p)


@ROWS("aten.pdist", "aten._pdist_forward")
def pdist(n: AtenLayer, self: Value, p: float = 2.0) -> Value:
    """The distances of all pairs of rows, the first one before the second."""
    from .reductions import norm

    first, second = np.triu_indices(n.int(n.size(self, 0)), 1)
    rows = Term(n, self)
    apart = rows.gather(constant(n, first)) - rows.gather(constant(n, second))
    return norm(n, apart.value, p, dim=-1)
