"""Attention: multi-head with projections, grouped, and plain kinds without weights."""

from __future__ import annotations

from functools import reduce

from ...common.vocabulary import *
from ..functions import far_below
from ..layer import KerasLayer, layer
from .quantized import product


def _visible(n: KerasLayer, q: Term, k: Term) -> Term:
    """The causal mask: whether a query [B, S, ..] may see a key [B, T, ..]."""
    rows, columns = counting(n, extent(n, (q.value, 1))), counting(n, extent(n, (k.value, 1)))
    return columns <= rows.spread(0, 1)


def _near(n: KerasLayer, q: Term, k: Term, width: int) -> Term:
    """Whether the distance of a key from a query is below a width: [S, T]."""
    rows, columns = counting(n, extent(n, (q.value, 1))), counting(n, extent(n, (k.value, 1)))
    return (rows.spread(0, 1) - columns).function(nn.Abs) < width


def _mask(n: KerasLayer, q: Term, v: Term) -> Term | None:
    """The mask of queries and keys, combined from all sources: [.., S, T]; None for none."""
    found: list[Term] = []
    query = None if n.kind == "MultiHeadAttention" else n.argument(3, "query_mask")
    query = n.mask_of(0, "query") if query is None else query
    if query is not None:
        found.append(Term(n, n.cast(query, i1)).spread(0, 1))
    for i, name in ((1, "value"), (2, "key")):
        given = n.argument(i + 3, f"{name}_mask")
        given = n.mask_of(i, name) if given is None else given
        if given is not None:
            mask = Term(n, n.cast(given, i1))
            places = [(mask.value, axis) for axis in range(mask.rank)]
            found.append(mask.reshape(*places[:-1], 1, places[-1]))
    if n.argument(9, "use_causal_mask", False):
        found.append(_visible(n, q, v).spread(1, 0))
    width = n.option("sliding_window", None)
    if width is not None:
        found.append(_near(n, q, v, int(width)).spread(1, 0))
    given = n.argument(6, "attention_mask")
    if isinstance(given, Value):
        found.append(Term(n, n.cast(given, i1)))
    return reduce(lambda a, b: a & b, found) if found else None


class _Axes:
    """The axes of heads [B, .., H, C] over which attention goes, and the other axes."""

    def __init__(self, n: KerasLayer, rank: int) -> None:
        given = n.option("attention_axes", None)
        given = [given] if isinstance(given, int) else given
        over = range(1, rank - 2) if given is None else [axis % (rank - 1) for axis in given]
        self.over = tuple(over)
        if not self.over or not all(0 < axis < rank - 2 for axis in self.over):
            raise n.error(f"'attention_axes' is {given!r}, which is not supported")
        stays = [axis for axis in range(rank - 2) if axis not in self.over]
        self.order = (*stays, rank - 2, *self.over, rank - 1)
        self.kept = len(stays) + 1

    def attended(self, heads: Term) -> Term:
        """[B, .., H, positions, C]: the attended dimensions merged into one."""
        turned = heads.transpose(*self.order)
        last, value = turned.rank - 1, turned.value
        parts = [(i, i + 1) for i in range(self.kept)]
        return Term(heads.n, merge(heads.n, value, (*parts, (self.kept, last), (last, last + 1))))

    def restored(self, found: Term, like: Term) -> Term:
        """[B, .., H, C] from [B, .., H, positions, C], with the positions of `like`."""
        kept = [(found.value, i) for i in range(self.kept)]
        places = [(like.value, axis) for axis in self.over]
        apart = found.reshape(*kept, *places, (found.value, found.rank - 1))
        back = [self.order.index(axis) for axis in range(apart.rank)]
        return apart.transpose(*back)

    def pairs(self, scores: Term, q: Term, k: Term) -> Term:
        """Scores [B, .., H, S, T] with the positions of queries and keys as separate dimensions."""
        if len(self.over) == 1:
            return scores
        kept = [(scores.value, i) for i in range(self.kept)]
        places = [(heads.value, axis) for heads in (q, k) for axis in self.over]
        return scores.reshape(*kept, *places)

    def spread(self, n: KerasLayer, mask: Term, q: Term, k: Term) -> Term:
        """A mask broadcast to the rank of scores: [B, .., 1, S, T]."""
        count = len(self.over)
        if mask.rank < 2 * count:
            raise n.error(f"a mask '{mask.value.type}' of {count} axes is not supported")
        if count > 1:
            at = mask.rank - 2 * count
            seen = [(heads.value, axis) for heads in (q, k) for axis in self.over]
            wide = broadcast(n, mask.value, [*((mask.value, i) for i in range(at)), *seen])
            ends = [at, at + count, at + 2 * count]
            parts = [*((i, i + 1) for i in range(at)), (ends[0], ends[1]), (ends[1], ends[2])]
            mask = Term(n, merge(n, wide, tuple(parts)))
        own = [(mask.value, i) for i in range(mask.rank)]
        return mask.reshape(*own[:-2], *[1] * (self.kept + 2 - mask.rank), *own[-2:])


def _attended(
    n: KerasLayer, axes: _Axes, q: Term, k: Term, v: Term, scale: float, mask: Term | None
) -> tuple[Term, Term]:
    """The outputs and scores of heads [B, .., H, C].

    Keras has two ways: by its operation, which gives a query without keys the mean of all values,
    and by its Softmax layer, which gives it 0.
    """
    queries, keys, values = (axes.attended(heads) for heads in (q, k, v))
    scores = (queries * scale) @ keys.mT
    if mask is not None:
        mask = axes.spread(n, mask, q, k)
        scores = mask.choose(scores, far_below(scores.element))
    by_layer = (
        (n.option("dropout", None) or 0) > 0
        or bool(n.argument(7, "return_attention_scores", False))
        or q.rank != 4
    )
    shares = scores.made(nn.Softmax(scores.value, axis=scores.rank - 1))
    if mask is not None and by_layer and not n.is_old:
        shares = mask.choose(shares, 0.0)
    return axes.restored(shares @ values, q), axes.pairs(shares, q, k)


def _projected(n: KerasLayer, x: Value, weights: list[Value], has_bias: bool) -> Term:
    """Heads [B, .., H, C], projected by a kernel [input, H, C]."""
    if x.type.rank < 3 or weights[0].type.rank != 3:
        raise n.error(f"an input is '{x.type}', expected three dimensions or more")
    places = "abcdefgh"[: x.type.rank - 1]
    return _weighted(n, f"{places}x,xyz->{places}yz", x, weights, has_bias)


def _weighted(n: KerasLayer, equation: str, x: Value, weights: list[Value], has_bias: bool) -> Term:
    """x times the next kernel, plus its bias; an int8 kernel is followed by its scale."""
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
    mask = _mask(n, Term(n, query), Term(n, value))
    q, k = (_projected(n, x, weights, has_bias) for x in (query, key))
    gate = _projected(n, query, weights, has_bias) if has_gate else None
    v = _projected(n, value, weights, has_bias)
    axes = _Axes(n, q.rank)
    heads, width = q.shape[-2], q.shape[-1]
    assert heads is not None and width is not None
    k, v = (_repeated(n, t, heads) for t in (k, v))
    found, scores = _attended(n, axes, q, k, v, 1 / math.sqrt(width), mask)
    if gate is not None:
        found = found * gate.function(nn.Sigmoid)
    kernel, places = weights[0], "abcdefgh"[: found.rank - 2]
    out = "mnop"[: kernel.type.rank - 2]
    equation = f"{places}xy,xy{out}->{places}{out}"
    return [_weighted(n, equation, found.value, weights, has_bias).value, scores.value]


def _repeated(n: KerasLayer, x: Term, heads: int) -> Term:
    """Keys or values [B, .., G, C] with each of their heads repeated: [B, .., heads, C]."""
    if x.shape[-2] == heads:
        return x
    return grouped(x.transpose(0, 2, 1, 3), heads).transpose(0, 2, 1, 3)


@layer("Attention", "AdditiveAttention")
def attention(n: KerasLayer) -> list[Value]:
    """Attention of queries to keys, without projections."""
    query, value, *rest = n.tensors()
    q, v = Term(n, query), Term(n, value)
    k = Term(n, rest[0]) if rest else v
    scores = _scores(n, q, k)
    masks = [*n.masks[:2], None, None][:2]
    shown = None
    if masks[1] is not None:
        shown = Term(n, reshape(n, n.cast(masks[1], i1), [(masks[1], 0), 1, (masks[1], 1)]))
    if n.keyword("use_causal_mask", False) or n.option("causal", False):
        near = _visible(n, q, k)
        shown = near if shown is None else shown & near
    if shown is not None:
        scores = shown.choose(scores, scores - (65504.0 if scores.element is f16 else 1e9))
    scores = scores.made(nn.Softmax(scores.value, axis=2))
    found = scores @ v
    if masks[0] is not None:
        counted = n.cast(masks[0], i1)
        steps = Term(n, reshape(n, counted, [(counted, 0), (counted, 1), 1]))
        found = steps.choose(found, 0.0)
    return [found.value, scores.value]


def _scores(n: KerasLayer, q: Term, k: Term) -> Term:
    """The scores [B, S, T]."""
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
