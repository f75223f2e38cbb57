"""Attention: of heads with projections, grouped, and the plain kinds without weights."""

from __future__ import annotations

from ...common.vocabulary import *
from ..layer import KerasLayer, layer
from .core import product

FAR_BELOW = -1e9
"""What is added where a mask hides something."""


def _visible(n: KerasLayer, q: Term, k: Term) -> Term:
    """Whether a query [B, S, ..] may see a key [B, T, ..]: those up to its own place."""
    rows, columns = counting(n, extent(n, (q.value, 1))), counting(n, extent(n, (k.value, 1)))
    return columns <= rows.spread(0, 1)


def _near(n: KerasLayer, q: Term, k: Term, width: int) -> Term:
    """Whether a key is nearer to a query than a width: [S, T]."""
    rows, columns = counting(n, extent(n, (q.value, 1))), counting(n, extent(n, (k.value, 1)))
    return (rows.spread(0, 1) - columns).function(nn.Abs) < width


def _mask(n: KerasLayer, q: Term, k: Term) -> Term | None:
    """What queries [B, S, ..] may see of keys [B, T, ..], of all that says so: [.., S, T]."""
    found: list[Term] = []
    given = n.keyword("attention_mask")
    if isinstance(given, Value):
        found.append(Term(n, n.cast(given, i1)))
    count = sum(isinstance(v, Value) for v in n.args[:3])
    for i, mask in enumerate(n.masks[: max(count, 2)]):
        if mask is not None:
            own = [(mask, 0), (mask, 1)]
            shape = [own[0], own[1], 1] if i == 0 else [own[0], 1, own[1]]
            found.append(Term(n, reshape(n, mask, shape)))
    if n.argument(9, "use_causal_mask", False):
        found.append(_visible(n, q, k))
    width = n.option("sliding_window", None)
    if width is not None:
        found.append(_near(n, q, k, int(width)))
    if not found:
        return None
    total = found[0]
    for term in found[1:]:
        total = total & term
    return total


def _attended(n: KerasLayer, q: Term, k: Term, v: Term, scale: float, mask: Term | None):
    """Outputs [B, H, S, D] and scores [B, H, S, T] of heads [B, H, .., D]."""
    scores = (q * scale) @ k.transpose(0, 1, 3, 2)
    if mask is not None:
        if mask.rank == 3:
            mask = mask.reshape((mask.value, 0), 1, (mask.value, 1), (mask.value, 2))
        scores = scores + mask.choose(constant(n, 0.0, scores.element), FAR_BELOW)
    scores = scores.made(nn.Softmax(scores.value, axis=3))
    return scores @ v, scores


def _projected(n: KerasLayer, x: Value, weights: list[Value], has_bias: bool) -> Term:
    """Heads [B, H, S, D] by a kernel [input, H, D]."""
    if x.type.rank != 3 or weights[0].type.rank != 3:
        raise n.error("attention over several axes is not supported")
    return _weighted(n, "abc,cde->abde", x, weights, has_bias).transpose(0, 2, 1, 3)


def _weighted(n: KerasLayer, equation: str, x: Value, weights: list[Value], has_bias: bool) -> Term:
    """x by the next kernel and its bias, behind which an int8 kernel has its scale."""
    kernel = weights.pop(0)
    bias = weights.pop(0) if has_bias else None
    scale = weights.pop(0) if kernel.type.element_type is i8 else None
    found = Term(n, product(n, equation, x, kernel, scale))
    return found if bias is None else found + Term(n, bias)


@layer("MultiHeadAttention", "GroupQueryAttention", "GroupedQueryAttention")
def multi_head_attention(n: KerasLayer) -> list[Value]:
    has_bias, has_gate = bool(n.option("use_bias", True)), bool(n.option("use_gate", False))
    kernels = 4 + has_gate
    weights = n.weights(kernels * (1 + has_bias), kernels * (2 + has_bias))
    packed = sum(weight.type.element_type is i8 for weight in weights)
    if len(weights) != kernels * (1 + has_bias) + packed:
        raise n.error(f"it has {len(weights)} weights, of which {packed} are int8")
    query, value = n.argument(0, "query"), n.argument(1, "value")
    key = n.argument(2, "key")
    if not isinstance(query, Value) or not isinstance(value, Value):
        raise n.error("it is not called with a query and a value")
    key = key if isinstance(key, Value) else value
    mask = _mask(n, Term(n, query), Term(n, key))
    q = _projected(n, query, weights, has_bias)
    gate = _projected(n, query, weights, has_bias) if has_gate else None
    k, v = (_projected(n, x, weights, has_bias) for x in (key, value))
    heads, width = q.shape[1], q.shape[3]
    assert heads is not None and width is not None
    k, v = (grouped(t, heads) for t in (k, v))
    found, scores = _attended(n, q, k, v, 1 / math.sqrt(width), mask)
    if gate is not None:
        found = found * gate
    joint = found.transpose(0, 2, 1, 3).value
    return [_weighted(n, "acbd,bde->ace", joint, weights, has_bias).value, scores.value]


@layer("Attention", "AdditiveAttention")
def attention(n: KerasLayer) -> list[Value]:
    """Scores of all pairs of a query and a key, without projections."""
    query, value, *rest = n.tensors()
    q, v = Term(n, query), Term(n, value)
    k = Term(n, rest[0]) if rest else v
    scores = _scores(n, q, k)
    masks = [*n.masks[:2], None, None][:2]
    if masks[1] is not None:
        shown = Term(n, reshape(n, masks[1], [(masks[1], 0), 1, (masks[1], 1)]))
        scores = shown.choose(scores, scores - 1e9)
    if n.keyword("use_causal_mask", False) or n.option("causal", False):
        scores = _visible(n, q, k).choose(scores, scores - 1e9)
    scores = scores.made(nn.Softmax(scores.value, axis=2))
    found = scores @ v
    if masks[0] is not None:
        steps = Term(n, reshape(n, masks[0], [(masks[0], 0), (masks[0], 1), 1]))
        found = steps.choose(found, 0.0)
    return [found.value, scores.value]


def _scores(n: KerasLayer, q: Term, k: Term) -> Term:
    """[B, S, T]"""
    weights = [Term(n, value) for value in n.weights()]
    additive = n.kind == "AdditiveAttention"
    if not additive and n.option("score_mode", "dot") == "dot":
        scores = q @ k.transpose(0, 2, 1)
        return scores * weights[0] if n.option("use_scale", False) else scores
    rows = q.reshape((q.value, 0), (q.value, 1), 1, (q.value, 2))
    columns = k.reshape((k.value, 0), 1, (k.value, 1), (k.value, 2))
    total = rows + columns
    if additive:
        found = total.function(nn.Tanh)
        return (found * weights[0] if weights else found).sum(3)
    if n.option("use_scale", False):
        total = total * weights[0]
    return total.function(nn.Tanh).sum(3) * weights[-1]
