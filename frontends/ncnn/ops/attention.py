"""Attention, and rotary position embeddings."""

from __future__ import annotations

from ...common.attention import joined_heads, split_heads
from ...common.vocabulary import *
from ..layer import NcnnLayer, rows
from .integers import integers, product


def _attended(n: NcnnLayer, q: Value, k: Value, v: Value, scale: float, mask: Value | None) -> Term:
    """softmax(q @ k^T * scale + mask) @ v; each is [1, heads, positions, features]."""
    added = [] if mask is None else [Term(n, n.with_rank(mask, q.type.rank))]
    terms = Term(n, q), Term(n, k), Term(n, v)
    if not n.int(18):
        return attend(*terms, scale, added)
    scores = product(terms[0] * scale, Term(n, swapped(n, k, -2, -1)))
    scores = scores + added[0] if added else scores
    return product(scores.made(nn.Softmax(scores.value, axis=scores.rank - 1)), terms[2])


@rows("SDPA")
def sdpa(n: NcnnLayer, q: Value, k: Value, v: Value, *more: Value) -> list[Value]:
    given = list(more)
    mask = given.pop(0) if n.int(5) and given else None
    if n.int(7) and len(given) == 2:
        k, v = (n(nn.Concat([old, new], axis=2)) for old, new in zip(given, (k, v), strict=True))
    keys, values = k, v
    heads, size = n.extent(q, 1), n.extent(q, -1)
    k, v = (grouped(Term(n, x), heads).value for x in (k, v))
    found = _attended(n, q, k, v, n.float(6) or 1 / math.sqrt(size), mask).value
    return [found, keys, values]


@rows("MultiHeadAttention")
def multi_head_attention(n: NcnnLayer, *inputs: Value) -> Value:
    if n.int(7):
        raise n.error("kept keys are not supported")
    given = list(inputs)
    mask = given.pop() if n.int(5) and len(given) > 1 else None
    if not 1 <= len(given) <= 3:
        raise n.error(f"{len(given)} inputs, expected up to three")
    query, key = given[0], given[1] if len(given) > 1 else given[0]
    value = given[2] if len(given) > 2 else key
    embed, heads = n.int(0), n.int(1, 1)
    if heads < 1 or embed % heads:
        raise n.error(f"{embed} features do not split into {heads} heads")

    def affine(name: str, x: Value) -> Value:
        weight = n.stored(name, n.array_of(name).T)
        if n.int(18):
            found = _integer_product(n, name, Term(n, x), Term(n, weight)).value
        else:
            found = n(nn.Matmul(x, weight))
        return n(nn.Add(found, n.weight(f"{name}_bias")))

    q, k, v = (
        split_heads(Term(n, affine(name, x)), heads).value
        for name, x in (("q", query), ("k", key), ("v", value))
    )
    found = _attended(n, q, k, v, n.float(6, 1 / math.sqrt(embed // heads)), mask)
    return affine("out", joined_heads(found).value)


def _integer_product(n: NcnnLayer, name: str, x: Term, weight: Term) -> Term:
    """x [1, S, I] @ weight [I, O], with a scale for each row of the weight; the output's has one
    for all.
    """
    scales = Term(n, n.weight(f"{name}_scales"))
    if name == "out":
        return product(x, (weight, scales))
    whole, scale = integers(x, 1, 2)
    return product((whole, scale), (weight, scales))


@rows("RotaryEmbed")
def rotary(n: NcnnLayer, x: Value, cos: Value, sin: Value) -> Value:
    """Rotary embedding: pairs of features rotated by an angle that depends on the position."""
    size = x.type.shape[-1]
    if size is None or size % 2 or x.type.rank != 4:
        raise n.error("it needs heads with an even, known number of features")
    t, half = Term(n, x), size // 2
    if n.int(0):
        pairs = t.reshape(*((x, i) for i in range(3)), half, 2)
        first, second = pairs.column(0), pairs.column(1)
    else:
        first, second = t.part(3, 0, half), t.part(3, half, size)
    c, s = Term(n, n.with_rank(cos, 4)), Term(n, n.with_rank(sin, 4))
    turned = first * c - second * s, first * s + second * c
    if not n.int(0):
        return n(nn.Concat([v.value for v in turned], axis=3))
    columns = [v.reshape(*((v.value, i) for i in range(4)), 1).value for v in turned]
    joined = n(nn.Concat(columns, axis=4))
    return reshape(n, joined, [(joined, 0), (joined, 1), (joined, 2), size])
