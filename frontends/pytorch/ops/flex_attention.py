"""Attention whose scores and mask are functions of positions: graphs of one element each.

Source: torch/_higher_order_ops/flex_attention.py.
"""

from __future__ import annotations

from ...common.attention import grouped_like
from ...common.vocabulary import *
from ..layer import AtenLayer
from ..rows import ROWS
from .reductions import logsumexp


@ROWS("higher_order.flex_attention")
def flex_attention(n: AtenLayer, arguments: list[Any]) -> list:
    """Attention of queries [B, H, S, D], keys and values [B or 1, G, T, D]: [B, H, S, D]; then the
    scores' logsumexp and maximum, of base 2.

    A score function gets the score and its indices, a mask function the indices: batch, head, query
    and key. Here these cover all elements, as numbers that broadcast against the scores.
    """
    query, key, value, score, block_mask, scale, _, *captured = arguments
    q, k, v = (Term(n, x) for x in (query, key, value))
    k, v = grouped_like(k, q), grouped_like(v, q)
    wide = f64 if q.element is f64 else f32
    raw = (q.cast(wide) @ k.cast(wide).transpose(0, 1, 3, 2)) * n.number(scale)
    places = [_place(n, raw, axis) for axis in range(4)]
    buffers = [*captured, [], []]
    (post,) = n.graph(score.name, raw.value, *places, *_values(n, buffers[0]))
    (seen,) = n.graph(block_mask[-1].name, *places, *_values(n, buffers[1]))
    scores, known = Term(n, post), n.array(seen)
    if known is None or not known.all():
        scores = scores + Term(n, seen).choose(constant(n, 0.0, wide), -math.inf)
    shares = scores.made(nn.Softmax(scores.value, axis=3))
    if post is not raw.value or known is None or not np.atleast_1d(known).any(axis=-1).all():
        some = scores.largest(3, keep=True) > -math.inf
        shares = some.choose(shares, 0.0)
    out = shares.cast(q.element) @ v
    found: list[Any] = [out.value, None, None]
    if n.wants(1):
        found[1] = (Term(n, logsumexp(n, scores.value, [3])) / math.log(2)).value
    if n.wants(2):
        found[2] = (scores.largest(3) / math.log(2)).value
    return found


def _place(n: AtenLayer, scores: Term, axis: int) -> Value:
    """The indices along an axis of the scores, shaped to broadcast against them."""
    return counting(n, extent(n, (scores.value, axis))).spread(axis, 3 - axis).value


def _values(n: AtenLayer, given: Any) -> list[Value]:
    return [n.as_value(v) for v in given]
