"""Operators of com.microsoft on batches without padding, concatenated tokens [N, ..] of sequences,
and on position biases of attention.

Source: onnxruntime's ContribOperators.md; Raffel et al., T5 (2020), for buckets of distances; Chi
et al., XLM-E (2022), for gated distances.
"""

from __future__ import annotations

from itertools import accumulate, pairwise

from ...common.attention import distance_buckets, joined_heads, split_heads
from ...common.vocabulary import *
from ..node import Node
from ..registry import converter
from .microsoft import DOMAIN
from .microsoft_packed_sequences import Rows


@converter("RemovePadding", domain=DOMAIN)
def remove_padding(n: Node, x: Value, lengths: Value) -> list[Value]:
    """The tokens [N, H] of sequences [B, S, H] without the padding; then their positions [B, S],
    followed by those of padding; the cumulative lengths [B + 1]; and the largest length.
    """
    counts = Term(n, lengths).cast(i64)
    inside = (counting(n, extent(n, (x, 1))) < counts.spread(0, 1)).flat()
    kept, others = (_places(mask) for mask in (inside, ~inside))
    tokens = Term(n, x).reshape((inside.value, 0), (x, 2)).gather(kept)
    offsets = joined([kept, others], 0).reshape((x, 0), (x, 1))
    sums = counts.made(nn.Cumsum(counts.value, axis=0))
    ends = joined([constant(n, np.zeros(1, np.int64)), sums], 0)
    whole = (offsets, ends, counts.largest(0, keep=True))
    return [tokens.value, *(v.cast(i32).value for v in whole)]


def _places(mask: Term) -> Term:
    return mask.made(nn.NonZero(mask.value)).column(0, 0)


@converter("RestorePadding", domain=DOMAIN)
def restore_padding(n: Node, tokens: Value, offsets: Value) -> Value:
    """Sequences [B, S, H] from tokens [N, H] at positions [B, S], with zeros as padding."""
    return _restored(Term(n, tokens), Term(n, offsets).cast(i64)).value


def _restored(tokens: Term, offsets: Term) -> Term:
    n, places = tokens.n, offsets.flat()
    number = counting(n, extent(n, (places.value, 0)))
    order = number.made(nn.ScatterElements(number.value, places.value, number.value, axis=0))
    width = (tokens.value, 1)
    zeros = constant(n, 0.0, tokens.element).filled(Term(n, shape_vector(n, [1, width])))
    source = order.min(extent(n, (tokens.value, 0)))
    found = joined([tokens, zeros], 0).gather(source)
    return found.reshape((offsets.value, 0), (offsets.value, 1), width)


# -- attention -------------------------------------------------------------------------------------


@converter("PackedAttention", domain=DOMAIN)
def packed_attention(
    n: Node,
    tokens: Value,
    weights: Value,
    bias: Value,
    offsets: Value,
    ends: Value,
    attention_bias: Value | None = None,
) -> Value:
    """Self-attention of tokens [N, C] within their sequences, with projections [C, Q + K + V]."""
    whole = Term(n, tokens) @ Term(n, weights) + Term(n, bias)
    sizes = n.ints("qkv_hidden_sizes") or (n.extent(bias, 0) // 3,) * 3
    places = pairwise(accumulate(sizes, initial=0))
    parts = [whole.part(1, begin, end) for begin, end in places]
    return _within_sequences(n, parts, Rows.of_ends(n, ends, tokens), attention_bias)


@converter("PackedMultiHeadAttention", domain=DOMAIN)
def packed_multi_head_attention(
    n: Node,
    query: Value,
    key: Value | None,
    value: Value | None,
    bias: Value | None,
    offsets: Value,
    ends: Value,
    attention_bias: Value | None = None,
) -> Value:
    """Attention of queries, keys and values [N, H * D], or of all in one [N, H, 3, D]."""
    if key is None or value is None:
        whole, width = Term(n, query), n.extent(query, 1) * n.extent(query, 3)
        parts = [whole.column(i, 2).reshape((query, 0), width) for i in range(3)]
    else:
        parts = [Term(n, v) for v in (query, key, value)]
    if bias is not None:
        sizes = [n.extent(part.value, 1) for part in parts]
        places = pairwise(accumulate(sizes, initial=0))
        added = (Term(n, bias).part(0, begin, end) for begin, end in places)
        parts = [part + own for part, own in zip(parts, added, strict=True)]
    return _within_sequences(n, parts, Rows.of_ends(n, ends, query), attention_bias)


def _within_sequences(n: Node, parts: Sequence[Term], rows: Rows, bias: Value | None) -> Value:
    """Attention [N, H * D] of queries to keys and values of the same sequence."""
    heads = n.int("num_heads")
    q, k, v = (split_heads(rows.apart(part), heads) for part in parts)
    steps, inside = counting(n, extent(n, (q.value, 2))), rows.inside()
    mask = inside.reshape((inside.value, 0), 1, 1, (inside.value, 1))
    added = [mask.choose(constant(n, 0.0, q.element), -math.inf)]
    if bias is not None:
        added.append(Term(n, bias).gather(steps, 2).gather(steps, 3))
    scale = n.float("scale", 0.0) or 1 / math.sqrt(n.extent(q.value, 3))
    return rows.together(joined_heads(attend(q, k, v, scale, added))).value


# -- positions -------------------------------------------------------------------------------------


@converter("RelativePositionBias", domain=DOMAIN)
def relative_position_bias(n: Node, table: Value, queries: Value, keys: Value) -> Value:
    """The bias of each head by the bucket of a distance: [1, H, S, T].

    The table [buckets, H] is stored transposed, [H, buckets].
    """
    count, heads = (n.extent(table, i) for i in range(2))
    rows, columns = (counting(n, Term(n, as_scalar(n, as_i64(n, v)))) for v in (queries, keys))
    most, both = n.int("max_distance"), bool(n.int("is_bidirectional"))
    bucket = distance_buckets(n, columns - rows.spread(0, 1), count, most, both)
    return Term(n, table).reshape(heads, count).gather(bucket, 1).spread(1, 0).value


@converter("GatedRelativePositionBias", domain=DOMAIN)
def gated_relative_position_bias(
    n: Node,
    query: Value,
    query_bias: Value,
    distances: Value,
    weight: Value,
    bias: Value,
    factor: Value,
    offsets: Value | None = None,
) -> Value:
    """A position bias [1, H, S, S] times gates of the queries [B, S, H * D]: [B, H, S, S]."""
    whole = Term(n, query) + Term(n, query_bias)
    if offsets is not None:
        whole = _restored(whole, Term(n, offsets).cast(i64))
    gates = split_heads(whole, n.int("num_heads")) @ Term(n, weight) + Term(n, bias)
    own = [(gates.value, i) for i in range(3)]
    share = gates.reshape(*own, 2, n.extent(bias, 0) // 2).sum(4).function(nn.Sigmoid)
    update, reset = (share.column(i).spread(0, 1) for i in range(2))
    return ((update * (reset * Term(n, factor) - 1.0) + 2.0) * Term(n, distances)).value


@converter("GemmaRotaryEmbedding", domain=DOMAIN)
def gemma_rotary_embedding(
    n: Node, angles: Value, q: Value, q_turned: Value, k: Value, k_turned: Value
) -> list[Value]:
    """Queries and keys [B, H, S, D] rotated by angles [B, S, D].

    `q_turned` and `k_turned` are these with their halves swapped.
    """
    own = [(angles, i) for i in range(3)]
    apart = Term(n, angles).reshape(own[0], 1, *own[1:])
    cosine, sine = (apart.function(f).cast(q.type.element_type) for f in (nn.Cos, nn.Sin))
    pairs = ((q, q_turned), (k, k_turned))
    return [(Term(n, x) * cosine + Term(n, turned) * sine).value for x, turned in pairs]
