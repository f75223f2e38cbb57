"""Converters of ensembles: sums of leaves' values, and predictions from them."""

from __future__ import annotations

from ...common.importer import NodeLayer
from ...common.trees import Walk
from ...common.vocabulary import *
from ..ensemble import ROWS, Ensemble

Link = Callable[[Term, float], Term]

LINKS: dict[str, Link] = {
    "identity": lambda x, scale: x,
    "sigmoid": lambda x, scale: (x if scale == 1 else x * scale).function(nn.Sigmoid),
    "exp": lambda x, scale: x.function(nn.Exp),
    "softmax": lambda x, scale: x.made(nn.Softmax(x.value, axis=1)),
    "argmax": lambda x, scale: x.argmax(1, keep=True).cast(x.element),
    "step": lambda x, scale: (x > 0.0).cast(x.element),
    "softplus": lambda x, scale: x.function(nn.Softplus),
    "signed_square": lambda x, scale: x * x.function(nn.Abs),
    "spread": lambda x, scale: joined(
        [x.part(1, 0, 1), (x.part(1, 1, 2) * 2.0).function(nn.Exp)], 1
    ),
}
"""Functions from the sums [B, groups] to predictions, by the name of the link."""


def _linked(n: NodeLayer, sums: Term, ensemble: Ensemble) -> Value:
    """The predictions made from the sums; a vector if there is one number for each row."""
    if ensemble.divisor != 1:
        sums = sums / ensemble.divisor
    if ensemble.base.any():
        sums = sums + constant(n, ensemble.base, sums.element)
    found = LINKS[ensemble.link](sums, ensemble.scale)
    return reshape(n, found.value, [(found.value, 0)]) if found.shape[1] == 1 else found.value


@ROWS("trees")
def trees(n: NodeLayer, *inputs: Value) -> Value:
    """The prediction of a forest: each tree adds the value of the leaf that a row reaches."""
    ensemble: Ensemble = n.attributes
    rows = Term(n, inputs[0])
    if ensemble.categories is not None:
        numbers = [rows] if len(inputs) == 2 else []
        columns = ensemble.categories.columns(n, rows.cast(f32) if numbers else None, inputs[-1])
        rows = joined([*(one.cast(f64) for one in numbers), *columns], 1)
    walk = ensemble.forest.walk(n, rows)
    if ensemble.leaves is not None:
        sums = _linear_leaf_sums(n, rows, walk, ensemble)
    else:
        sums = walk.totals(rows.element, ensemble.groups, "SUM")
    return _linked(n, sums.cast(ensemble.element), ensemble)


def _linear_leaf_sums(n: NodeLayer, rows: Term, walk: Walk, ensemble: Ensemble) -> Term:
    """The sums of linear models at the reached leaves; tree i belongs to group i modulo their
    number.
    """
    lines = ensemble.leaves or {}
    width = max((len(leaf.features) for leaf in lines.values()), default=0) or 1
    size = 1 + max(walk.places.values(), default=0)
    features, factors = np.zeros((size, width), np.int64), np.zeros((size, width))
    used, ends = np.zeros((size, width), np.bool_), np.zeros((size, 2))
    for node, leaf in lines.items():
        if node in walk.places:
            at, own = walk.places[node], slice(0, len(leaf.features))
            features[at, own], factors[at, own], used[at, own] = leaf.features, leaf.factors, True
            ends[at] = leaf.constant, leaf.instead
    leaves = walk.leaves().transpose(1, 0)  # [B, T]
    first = counting(n, extent(n, (rows.value, 0))) * n.extent(rows.value, 1)
    at = constant(n, features).gather(leaves) + first.spread(0, 2)
    given, counts = rows.flat().gather(at), constant(n, used).gather(leaves)
    parts = counts.choose(given * constant(n, factors).gather(leaves), 0.0)
    known, instead = (constant(n, ends[:, i]).gather(leaves) for i in range(2))
    missing = (counts & given.made(nn.IsNan(given.value))).cast(i64).largest(2) > 0
    found = missing.choose(instead, known + parts.sum(2))
    turns = len(ensemble.forest.roots) // ensemble.groups
    return found.reshape((rows.value, 0), turns, ensemble.groups).sum(1)


@ROWS("linear")
def linear(n: NodeLayer, x: Value) -> Value:
    """The prediction of a linear model; missing features count as 0."""
    ensemble: Ensemble = n.attributes
    rows, factors = Term(n, x), ensemble.linear
    assert factors is not None
    known = rows.made(nn.IsNan(x)).choose(0.0, rows)
    return _linked(n, known @ constant(n, factors, rows.element), ensemble)
