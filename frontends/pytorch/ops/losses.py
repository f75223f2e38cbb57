"""Losses, which models return when asked for them."""

from __future__ import annotations

from ...common.vocabulary import *
from ..layer import AtenLayer
from ..rows import ROWS
from .creation import triangle
from .normalization import log_softmax
from .products import linear

_NONE, _MEAN = 0, 1
"""ATen's numbers of reductions of losses; 2 is the sum."""


def _reduced(loss: Term, reduction: int) -> Value:
    if reduction == _NONE:
        return loss.value
    axes = tuple(range(loss.rank))
    return (loss.mean(*axes) if reduction == _MEAN else loss.sum(*axes)).value


def _pair(n: AtenLayer, input: Value, target: Value, floating=False) -> tuple[Term, Term]:
    a, b = (n.promoted_floating if floating else n.promoted)(input, target)
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
    """Quadratic up to `delta`, linear beyond; `smooth_l1` has `beta` instead, and divides by it."""
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
    """The binary cross entropy; logarithms are at least -100."""
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
    """The negated log-probabilities [N, C, ..] of the target classes [N, ..]."""
    axis = 1 if self.type.rank > 1 else 0
    right = Term(n, n.cast(target, i64))
    counts = ~right.equals(n.int(ignore_index))
    places = counts.choose(right, 0)
    own = [(target, i) for i in range(target.type.rank)]
    column = places.reshape(*own[:axis], 1, *own[axis:])
    found = Term(n, gathered_elements(n, self, column.value, axis))
    share = counts.cast(found.element)
    if weight is not None:
        share = share * Term(n, weight).gather(places)
    loss = counts.choose(-found.reshape(*own) * share, 0.0)
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
    """The cross entropy of scores [N, C, ..] and classes [N, ..] or probabilities [N, C, ..]."""
    axis = 1 if self.type.rank > 1 else 0
    logs = Term(n, log_softmax(n, self, axis))
    if target.type.rank != self.type.rank:
        loss, total = nll_loss(n, logs.value, target, weight, reduction, ignore_index)
        if not label_smoothing:
            return loss
        each = logs if weight is None else logs * Term(n, weight).spread(0, logs.rank - 1 - axis)
        counts = ~Term(n, n.cast(target, i64)).equals(n.int(ignore_index))
        rest = counts.choose(-each.sum(axis), 0.0)
        if reduction != _NONE:
            rest = rest.sum(*range(rest.rank))
        if reduction == _MEAN:
            rest = rest / Term(n, total)
        classes = extent(n, (self, axis)).cast(logs.element)
        return (Term(n, loss) * (1 - label_smoothing) + rest * label_smoothing / classes).value
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


# -- margins ---------------------------------------------------------------------------------------


@ROWS("aten.hinge_embedding_loss")
def hinge_embedding_loss(
    n: AtenLayer, self: Value, target: Value, margin: float = 1.0, reduction: int = _MEAN
) -> Value:
    x, y = _pair(n, self, target)
    far = y.equals(1.0).choose(0.0, (margin - x).max(0.0))
    return _reduced(far + y.equals(-1.0).choose(0.0, x), reduction)


@ROWS("aten.margin_ranking_loss")
def margin_ranking_loss(
    n: AtenLayer,
    input1: Value,
    input2: Value,
    target: Value,
    margin: float = 0.0,
    reduction: int = _MEAN,
) -> Value:
    x, y = _pair(n, input1, input2)
    scores = Term(n, n.floating((Term(n, target) * (x - y)).value))
    return _reduced((margin - scores).max(0.0), reduction)


@ROWS("aten.cosine_embedding_loss")
def cosine_embedding_loss(
    n: AtenLayer,
    input1: Value,
    input2: Value,
    target: Value,
    margin: float = 0.0,
    reduction: int = _MEAN,
) -> Value:
    """The loss of cosine similarities; 1e-12 is added to squared lengths."""
    x, y = _pair(n, input1, input2, floating=True)
    last = x.rank - 1
    lengths = ((x * x).sum(last) + 1e-12) * ((y * y).sum(last) + 1e-12)
    cosine, sign = (x * y).sum(last) / lengths.function(nn.Sqrt), Term(n, target)
    other = Term(n, n.as_value(-1, sign.element))  # 255 for u8
    apart = sign.equals(other).choose((cosine - margin).max(0.0), 0.0)
    return _reduced(sign.equals(1).choose(1.0 - cosine, apart), reduction)


@ROWS("aten.triplet_margin_loss")
def triplet_margin_loss(
    n: AtenLayer,
    anchor: Value,
    positive: Value,
    negative: Value,
    margin: float = 1.0,
    p: float = 2.0,
    eps: float = 1e-6,
    swap: bool = False,
    reduction: int = _MEAN,
) -> Value:
    near = Term(n, pairwise_distance(n, anchor, positive, p, eps))
    far = Term(n, pairwise_distance(n, anchor, negative, p, eps))
    if swap:
        far = far.min(Term(n, pairwise_distance(n, positive, negative, p, eps)))
    return _reduced((near - far + margin).max(0.0), reduction)


@ROWS("aten.poisson_nll_loss")
def poisson_nll_loss(
    n: AtenLayer,
    input: Value,
    target: Value,
    log_input: bool,
    full: bool,
    eps: float,
    reduction: int,
) -> Value:
    """The Poisson loss; if `full`, with Stirling's approximation for targets above 1."""
    x, y = _pair(n, input, target, floating=True)
    loss = x.function(nn.Exp) - y * x if log_input else x - y * (x + eps).function(nn.Log)
    if full:
        above = (y > 1.0).choose(y, 1.0)
        stirling = y * above.function(nn.Log) - y + (above * (2 * math.pi)).function(nn.Log) * 0.5
        loss = loss + (y > 1.0).choose(stirling, 0.0)
    return _reduced(loss, reduction)


@ROWS("aten.multi_margin_loss")
def multi_margin_loss(
    n: AtenLayer,
    self: Value,
    target: Value,
    p: Any = 1,
    margin: Any = 1,
    weight: Value | None = None,
    reduction: int = _MEAN,
) -> Value:
    """The hinge loss: by how much each wrong class exceeds the right class minus `margin`."""
    x, right = Term(n, self), Term(n, target)
    if x.rank < 2:
        x, right = x.spread(2 - x.rank, 0), right.reshape(1)
    column = right.spread(0, 1)
    own = x.gather_elements(column, 1)
    near = (float(margin) - own + x).max(0.0)
    near = near if p == 1 else near * near
    if weight is not None:
        near = near * Term(n, weight).gather(right).spread(0, 1)
    wrong = ~column.equals(counting(n, extent(n, (x.value, 1))))
    found = wrong.choose(near, 0.0).sum(1) / extent(n, (x.value, 1)).cast(x.element)
    found = found.column(0, 0) if self.type.rank < 2 and reduction == _NONE else found
    return _reduced(found, reduction)


@ROWS("aten.multilabel_margin_loss", "aten.multilabel_margin_loss_forward")
def multilabel_margin_loss(
    n: AtenLayer, self: Value, target: Value, reduction: int = _MEAN
) -> list[Value]:
    """The hinge loss between right classes, those in a row before its first -1, and all others."""
    x, y = Term(n, self), Term(n, n.cast(target, i64))
    if x.rank < 2:
        x, y = x.spread(2 - x.rank, 0), y.spread(2 - y.rank, 0)
    ended = Term(n, n(nn.Cumsum((y < 0).cast(i64).value, axis=1)))
    named, places = ended.equals(0), y.max(0)
    classes = counting(n, extent(n, (x.value, 1)))
    hits = places.spread(0, 1).equals(classes) & named.spread(0, 1)
    is_target = hits.cast(i64).sum(1) > 0
    own = x.gather_elements(places, 1)
    near = (1.0 - own.spread(0, 1) + x.reshape((x.value, 0), 1, (x.value, 1))).max(0.0)
    wanted = named.spread(0, 1) & ~is_target.reshape((x.value, 0), 1, (x.value, 1))
    found = wanted.choose(near, 0.0).sum(1, 2) / extent(n, (x.value, 1)).cast(x.element)
    found = found.column(0, 0) if self.type.rank < 2 and reduction == _NONE else found
    return [_reduced(found, reduction), is_target.cast(x.element).reshape(*dims(self)).value]


@ROWS(
    *("torch_nn._linear_cross_entropy_batch_chunked",),
    *("torch_nn._linear_cross_entropy_batch_chunked_no_reduction",),
)
def linear_cross_entropy(
    n: AtenLayer,
    input: Value,
    linear_weight: Value,
    target: Value,
    linear_bias: Value | None = None,
    weight: Value | None = None,
    reduction: str = "none",
    ignore_index: Any = -100,
    label_smoothing: float = 0.0,
    **given: Any,
) -> list[Any]:
    """The cross entropy of x @ transpose(w) + b; gradients, the other results, are missing."""
    scores = linear(n, input, linear_weight, linear_bias)
    kind = ("none", "mean", "sum").index(reduction)
    return [
        cross_entropy_loss(n, scores, target, weight, kind, ignore_index, label_smoothing),
        *[None] * (3 if given.get("allow_retain_graph") is not None else 0),
    ]


@ROWS("aten.pairwise_distance")
def pairwise_distance(
    n: AtenLayer, x1: Value, x2: Value, p: float = 2.0, eps: float = 1e-6, keepdim: bool = False
) -> Value:
    from .reductions import norm

    a, b = _pair(n, x1, x2)
    apart = Term(n, n.floating((a - b).value))
    return norm(n, (apart + eps).value, p, dim=-1, keepdim=keepdim)


@ROWS("aten.dist")
def dist(n: AtenLayer, self: Value, other: Value, p: float = 2.0) -> Value:
    from .reductions import norm

    a, b = _pair(n, self, other)
    return norm(n, (a - b).value, p)


@ROWS("aten.pdist", "aten._pdist_forward")
def pdist(n: AtenLayer, self: Value, p: float = 2.0) -> Value:
    """The distances of all pairs of rows i < j."""
    from .reductions import norm

    rows, size = Term(n, self), n.size(self, 0)
    found = Term(n, triangle(n, size, size, offset=1))
    apart = rows.gather(found.column(0, 0)) - rows.gather(found.column(1, 0))
    return norm(n, apart.value, p, dim=-1)
