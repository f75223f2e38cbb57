"""Sums of trees' leaves, and predictions made of them."""

from __future__ import annotations

from ...common.importer import NodeLayer
from ...common.vocabulary import *
from ..ensemble import ROWS, Ensemble

Link = Callable[[Term, float], Term]

LINKS: dict[str, Link] = {
    "identity": lambda x, scale: x,
    "sigmoid": lambda x, scale: (x if scale == 1 else x * scale).function(nn.Sigmoid),
    "exp": lambda x, scale: x.function(nn.Exp),
    "softmax": lambda x, scale: x.made(nn.Softmax(x.value, axis=1)),
    "argmax": lambda x, scale: x.made(nn.Argmax(x.value, axis=1, keep_dims=True)).cast(x.element),
    "step": lambda x, scale: (x > 0.0).cast(x.element),
    "softplus": lambda x, scale: x.function(nn.Softplus),
    "signed_square": lambda x, scale: x * x.function(nn.Abs),
    "spread": lambda x, scale: joined(
        [x.part(1, 0, 1), (x.part(1, 1, 2) * 2.0).function(nn.Exp)], 1
    ),
}
"""What is made of the sums [B, groups]."""


def _linked(n: NodeLayer, sums: Term, ensemble: Ensemble) -> Value:
    """The prediction: a vector where there is one number for each row."""
    if ensemble.divisor != 1:
        sums = sums / ensemble.divisor
    if ensemble.base.any():
        sums = sums + constant(n, ensemble.base, sums.element)
    found = LINKS[ensemble.link](sums, ensemble.scale)
    return reshape(n, found.value, [(found.value, 0)]) if found.shape[1] == 1 else found.value


@ROWS("trees")
def trees(n: NodeLayer, x: Value) -> Value:
    """The leaf that each row reaches in each tree, and the sum of what they weigh."""
    ensemble: Ensemble = n.attributes
    rows = Term(n, x)
    walk = ensemble.forest.walk(n, rows)
    sums = walk.totals(rows.element, ensemble.groups, "SUM")
    return _linked(n, sums, ensemble)


@ROWS("linear")
def linear(n: NodeLayer, x: Value) -> Value:
    """Products with factors; what is missing counts nothing."""
    ensemble: Ensemble = n.attributes
    rows, factors = Term(n, x), ensemble.linear
    assert factors is not None
    known = rows.made(nn.IsNan(x)).choose(0.0, rows)
    return _linked(n, known @ constant(n, factors, rows.element), ensemble)
