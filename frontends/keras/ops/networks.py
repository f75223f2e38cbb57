"""Operations of `keras.ops.nn` in functional models that layers have, too."""

from __future__ import annotations

from ...common.attention import causal
from ...common.tensorflow import segments
from ...common.vocabulary import *
from ..layer import KerasLayer, layer
from ..promotion import result_type
from .core import categories
from .functions import add, axes_of, operand
from .normalization import by_spread

# -- normalization ---------------------------------------------------------------------------------


def _along(n: KerasLayer, value: Any, x: Term, axes: Sequence[int]) -> Term:
    """A tensor with the extents of these axes, shaped to broadcast against x."""
    t = operand(n, value, x.element)
    if t.rank != len(axes):
        return t
    return t.reshape(*((t.value, axes.index(i)) if i in axes else 1 for i in range(x.rank)))


@layer("ops.RMSNorm", "ops.LayerNorm")
def layer_norm(n: KerasLayer) -> Value:
    """Layer normalization in f32 or f64; the result has the operand's type, integers too."""
    kept = n.tensor().type.element_type
    return n.cast(_layer_norm(n, Term(n, n.cast(n.tensor(), result_type(kept, f32)))), kept)


def _layer_norm(n: KerasLayer, x: Term) -> Value:
    axes = axes_of(n, x.value, n.option("axis", -1))
    given = n.option("epsilon", None)
    least = 1e-7 if given is None else float(given)
    names = ("scale",) if n.kind == "ops.RMSNorm" else ("gamma", "beta")
    given = (n.argument(1 + i, name) for i, name in enumerate(names))
    scale, bias = [*(None if v is None else operand(n, v, x.element).value for v in given), None][
        :2
    ]
    if n.kind == "ops.RMSNorm":
        return rms_normed(n, x.value, scale, axes, least)
    if n.option("rms_scaling", False):
        return by_spread(n, x.value, scale, axes, least)
    return layer_normed(n, x.value, scale, bias, axes, least)


@layer("ops.BatchNorm")
def batch_normalization(n: KerasLayer) -> Value:
    x = Term(n, n.floating(n.tensor()))
    axes = axes_of(n, x.value, n.option("axis"))
    names = ("mean", "variance", "offset", "scale")
    given = [n.argument(1 + i, name) for i, name in enumerate(names)]
    mean, spread, offset, scale = (None if v is None else _along(n, v, x, axes) for v in given)
    assert mean is not None and spread is not None
    factor = (spread + n.number("epsilon", 1e-3)).function(nn.Rsqrt)
    found = (x - mean) * (factor if scale is None else factor * scale)
    return (found if offset is None else found + offset).value


# -- attention and classes -------------------------------------------------------------------------


@layer("ops.DotProductAttention")
def dot_product_attention(n: KerasLayer) -> Value:
    """Attention of queries [B, S, H, D] to keys and values [B, T, G, D]."""
    q, k, v = (Term(n, x).transpose(0, 2, 1, 3) for x in n.args[:3])
    heads = q.shape[1]
    if not isinstance(q.element, FloatType):
        raise n.error("attention of integers is not supported")
    if heads is None:
        raise n.error("the number of heads must be known")
    k, v = grouped(k, heads), grouped(v, heads)
    given = n.argument(5, "scale")
    added = []
    bias, mask = n.argument(3, "bias"), n.argument(4, "mask")
    if n.option("attn_logits_soft_cap", None):
        raise n.error("a soft cap of attention is not supported")
    if bias is not None:
        added.append(operand(n, bias, q.element))
    if mask is not None:
        least = float(np.finfo(type_to_numpy(q.element)).min) * 0.7
        added.append(operand(n, mask, i1).choose(constant(n, 0.0, q.element), least))
    if n.option("is_causal", False):
        added.append(causal(n, q, k, from_end=False))
    width = q.shape[3] or 1
    scale = 1 / math.sqrt(width) if given is None else float(given)
    return attend(q, k, v, scale, added).transpose(0, 2, 1, 3).value


@layer("ops.MultiHot")
def multi_hot(n: KerasLayer) -> Value:
    """Multi-hot vectors: one-hot vectors along `axis`, combined over the second axis."""
    x, depth = n.tensor(), int(n.option("num_classes", None) or n.option("num_tokens", 0))
    rank, values = x.type.rank, n.constant(np.array([0, 1], np.float32))
    axis = normalize_axis(n, n.integer("axis", -1), rank + 1)
    hot = one_hot(n, categories(n, x, depth), n.constant(depth, i64), values, axis)
    hot = reduced(n, hot, nn.ReduceMax, (min(rank - 1, 1),))
    return n.cast(hot, f32 if n.option("dtype", None) is None else n.element)


@layer("ops.InTopK")
def in_top_k(n: KerasLayer) -> Value:
    """Whether fewer than k scores exceed the target's; False for a target out of range."""
    targets, scores = operand(n, n.argument(0, "targets"), i64), n.argument(1, "predictions")
    scores = operand(n, scores, f32)
    count = extent(n, (scores.value, 1))
    hot = targets.spread(0, 1).equals(counting(n, count))
    own = hot.choose(scores, 0.0).sum(1, keep=True)
    above = (scores > own).cast(i32).sum(1)
    return ((above < n.integer("k")) & (targets >= 0) & (targets < count)).value


def _segments(how: str) -> Callable[[KerasLayer], Value]:
    def convert(n: KerasLayer) -> Value:
        ids = operand(n, n.argument(1, "segment_ids"), i32).value
        count = n.option("num_segments", None)
        number = None if count is None else n.constant(int(count), i32)
        return segments(n, n.tensor(), ids, number, how)

    return convert


add({
    f"Segment{name}": _segments(how)
    for name, how in {"Sum": "add", "Prod": "mul", "Max": "max", "Min": "min"}.items()
})  # fmt: skip
