"""Mixtures of experts of com.microsoft: feed-forward networks, each token being sent to a few.

Source: onnxruntime's ContribOperators.md.
"""

from __future__ import annotations

from functools import partial

from ...common.loops import branch
from ...common.quantization import packed_numbers
from ...common.vocabulary import *
from ..node import Node
from ..registry import converter
from .microsoft import DOMAIN
from .microsoft_streams import swish, wide

Weights = Callable[[int], Term]
"""The matrix of an expert, by its number."""


@converter("MoE", domain=DOMAIN)
def mixture(
    n: Node,
    x: Value,
    router: Value,
    first: Value,
    first_bias: Value | None,
    second: Value,
    second_bias: Value | None = None,
    third: Value | None = None,
    third_bias: Value | None = None,
) -> Value:
    """A mixture of experts: x [.., D], router [T, E] -> [.., D].

    The first and third weights are [E, I, D], the second ones [E, D, I].
    """
    parts = [
        None if w is None else (_of_expert(n, w), b)
        for w, b in ((first, first_bias), (second, second_bias), (third, third_bias))
    ]
    shares = _shares(n, router, bool(n.int("normalize_routing_weights")))
    return _mixed(n, x, shares, parts, first.type.shape[0])


@converter("QMoE", domain=DOMAIN)
def quantized_mixture(n: Node, x: Value, router: Value, *others: Value | None) -> Value:
    """A mixture whose weights are integers of few bits, with a scale for each row or block of it.

    `others` are weights [E, I, D * bits / 8], scales and bias of three products, their zero points,
    and the weights that mix the experts.
    """
    given = (*others, *(None,) * 13)[:13]
    if (kind := n.string("quant_type", "int")) != "int" or len(others) > 13:
        raise n.error(f"weights of kind '{kind}' are not supported, only integers")
    if n.int("weights_prepacked", -1) > 0:
        raise n.error("prepacked weights are not supported")
    parts = []
    for i, (weights, scales, bias) in enumerate((given[:3], given[3:6], given[6:9])):
        if weights is None or scales is None:
            parts.append(None)
            continue
        bits = n.int(f"fc{i + 1}_expert_weight_bits") or n.int("expert_weight_bits", 4)
        if bits not in (2, 4, 8):
            raise n.error(f"weights of {bits} bits are not supported")
        parts.append((partial(_unpacked, n, weights, scales, given[9 + i], bits), bias))
    if None in parts[:2]:
        raise n.error("weights or their scales are missing")
    sums_to_one = given[12] is None or bool(n.int("normalize_routing_weights"))
    experts = others[0].type.shape[0]  # type: ignore[union-attr]
    return _mixed(n, x, _shares(n, router, sums_to_one, given[12]), parts, experts)


def _unpacked(
    n: Node, weights: Value, scales: Value, zeros: Value | None, bits: int, number: int
) -> Term:
    """The matrix of an expert, [N, K], unpacked from bytes."""
    data, scale = (Term(n, v).column(number, 0) for v in (weights, scales))
    scale, middle = scale.cast(f32), 1 << (bits - 1)
    rows, width = (n.extent(weights, i) for i in (1, 2))
    offset = None
    if zeros is not None:
        lead = rows if scale.rank == 2 else 1
        points = Term(n, zeros).column(number, 0).reshape(lead, n.extent(zeros, -1))
        one = n.constant(np.ones(lead, np.float32))
        found = packed_numbers(n, points.value, one, None, bits, middle=0)
        offset = -(
            found.part(-1, 0, n.extent(scales, -1)).reshape(
                *(n.extent(scale.value, i) for i in range(scale.rank))
            )
            * scale
        )
    if scale.rank == 2:
        count = n.extent(scales, 2)
        data = data.reshape(rows, count, width // count)
    offsets = None if offset is None else offset.value
    return packed_numbers(n, data.value, scale.value, offsets, bits, middle)


def _of_expert(n: Node, weights: Value) -> Weights:
    return lambda number: wide(n, weights).column(number, 0)


def _shares(n: Node, router: Value, sums_to_one: bool, mixing: Value | None = None) -> Term:
    """The weight of each expert's result for each token [T, E]: mostly 0."""
    logits = wide(n, router)
    if n.int("use_sparse_mixer"):
        raise n.error("use_sparse_mixer is not supported")
    found = logits.made(nn.Softmax(logits.value, axis=1))
    chosen = _among_largest(logits, n.int("k", 1)).cast(f32)
    shares = chosen * (found if mixing is None else wide(n, mixing))
    if sums_to_one:
        total = shares.sum(1, keep=True)
        shares = shares / total.equals(0.0).choose(1.0, total)
    return shares


def _mixed(
    n: Node,
    x: Value,
    shares: Term,
    parts: Sequence[tuple[Weights, Value | None] | None],
    experts: Dim,
) -> Value:
    """The weighted sum of the experts' results; experts without tokens are skipped."""
    rows = wide(n, x).flattened(x.type.rank - 1)
    total, count = rows * 0.0, experts if shares.shape[1] is None else shares.shape[1]
    if count is None:
        raise n.error("the number of experts must be known")
    for number in range(count):
        share = shares.part(1, number, number + 1)

        def sent(total: Term = total, share: Term = share, number: int = number) -> list[Value]:
            return [(total + _expert(n, rows, parts, number) * share).value]

        def not_sent(total: Term = total) -> list[Value]:
            return [total.value]

        is_used = share.function(nn.Abs).largest(0, 1) > 0.0
        (found,) = branch(n, is_used.value, [sent, not_sent])
        total = Term(n, found)
    own = [(x, i) for i in range(x.type.rank)]
    return total.reshape(*own).cast(x.type.element_type).value


def _expert(
    n: Node, rows: Term, parts: Sequence[tuple[Weights, Value | None] | None], number: int
) -> Term:
    """The result of one expert for rows [T, D]."""
    outer, inner, gate = parts

    def product(x: Term, part: tuple[Weights, Value | None]) -> Term:
        weights, bias = part
        made = x @ weights(number).transpose(1, 0)
        return made if bias is None else made + wide(n, bias).column(number, 0)

    assert outer is not None and inner is not None
    hidden = product(rows, outer)
    other = None if gate is None else product(rows, gate)
    return product(_activated(n, hidden, other), inner)


def _activated(n: Node, hidden: Term, other: Term | None) -> Term:
    """The hidden elements after the activation; gated kinds use half of them as gates."""
    kind = n.string("activation_type", "relu")
    simple = {
        "relu": lambda x: x.function(nn.Relu),
        "gelu": lambda x: x.made(nn.Gelu(x.value, approximate="tanh")),
        "silu": swish,
        "identity": lambda x: x,
    }
    if kind in simple:
        found = simple[kind](hidden)
        return found if other is None else found * other
    if kind != "swiglu":
        raise n.error(f"activation '{kind}' is not supported")
    gate, value = _halves(n, hidden, other)
    limit = n.float("swiglu_limit", math.inf)
    if n.has("swiglu_limit"):
        gate, value = gate.min(limit), value.max(-limit).min(limit)
    alpha, beta = n.float("activation_alpha", 1.0), n.float("activation_beta")
    return gate.made(nn.Swish(gate.value, alpha=alpha)) * (value + beta)


def _halves(n: Node, hidden: Term, other: Term | None) -> tuple[Term, Term]:
    """Gates and values: from two products, or from one that interleaves or concatenates them."""
    fusion, width = n.int("swiglu_fusion"), hidden.shape[1]
    if other is not None:
        return hidden, other
    if fusion not in (1, 2) or not width or width % 2:
        raise n.error("a gated activation needs a third matrix, or both in the first one")
    order = np.arange(width).reshape(-1, 2).T if fusion == 1 else np.arange(width).reshape(2, -1)
    gate, value = (hidden.gather(constant(n, places.copy()), 1) for places in order)
    return gate, value


# -- routers ---------------------------------------------------------------------------------------


@converter("MoEGroupRouter", domain=DOMAIN)
def group_router(
    n: Node, logits: Value, bias: Value, projection: Value | None = None
) -> list[Value | None]:
    """The log-scores [T, E] of the best experts in the best groups, a constant for all others.

    If that output is not used: the biased scores and the scores of all experts.
    """
    given, element = wide(n, logits).flattened(logits.type.rank - 1), logits.type.element_type
    if projection is not None:
        given = given @ wide(n, projection).transpose(1, 0)
    shares = given.function(nn.Sigmoid)
    biased = shares + Term(n, bias)
    if not n.wants(0):
        return [None, biased.value, shares.value]
    groups, count = n.int("n_group", 1), n.extent(bias, 0)
    apart = biased.reshape((biased.value, 0), groups, count // groups)
    best = min(n.int("group_topk", 2), count // groups)
    values, _ = largest(n, apart.value, n.constant(best, i64), 2)
    kept = _among_largest(Term(n, values).sum(2), n.int("topk_group", 1))
    apart = kept.spread(0, 1).choose(apart, -math.inf)
    chosen = _among_largest(apart.reshape((biased.value, 0), count), n.int("top_k", 1))
    found = chosen.choose(shares.max(1e-20).function(nn.Log), n.float("router_sentinel", -1e4))
    return [found.cast(element).value, None, None]


def _among_largest(x: Term, count: int) -> Term:
    """Whether each element is among the `count` largest of its row [T, E]."""
    _, places = largest(x.n, x.value, x.n.constant(count, i64), 1)
    own = counting(x.n, extent(x.n, (x.value, 1)))
    hits = Term(x.n, places).cast(i64).spread(0, 1).equals(own)
    return hits.cast(i32).sum(1) > 0
