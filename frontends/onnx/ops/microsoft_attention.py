"""Attention of com.microsoft, as written by onnxruntime's optimizer and model builders.

Source: onnxruntime's ContribOperators.md.
"""

from __future__ import annotations

from itertools import pairwise

from ...common.attention import (
    causal,
    joined_heads,
    scores_of,
    seen_until,
    split_heads,
    stored_at,
    weighed,
)
from ...common.vocabulary import *
from ..node import Node
from ..registry import converter
from .microsoft import DOMAIN
from .microsoft_caches import NUMBERS, Stored

LEAST = float(np.finfo(np.float32).min)
"""The score of a key that a query does not see, where scores are an output."""


def _scale(n: Node, width: int) -> float:
    return n.float("scale", 0.0) or 1 / math.sqrt(width)


def _width(x: Term) -> int:
    """The last extent. Raises NncError if it is unknown."""
    width = x.shape[-1]
    if width is None:
        raise x.n.error("the last extents of queries, keys and values must be known")
    return width


def _key_mask(n: Node, mask: Value, q: Term, k: Term) -> Term:
    """The term to add to scores that hides masked keys.

    The mask is ends [B], ends and then begins [2 * B] or places among all queries and keys
    [2 * (B + 1)], or 0s and 1s [B, T] or [B, S, T].
    """
    given = Term(n, mask)
    if given.rank == 1:
        counts = _inside(n, given.cast(i64), q, counting(n, extent(n, (k.value, 2))))
    else:
        before = [1] * (3 - given.rank)
        own = [(mask, i) for i in range(1, given.rank)]
        counts = given.cast(i32).reshape((mask, 0), *before, 1, *own) > 0
    filler = n.float("mask_filter_value", -10000.0)
    return counts.choose(constant(n, 0.0, q.element), filler)


def _inside(n: Node, bounds: Term, q: Term, places: Term) -> Term:
    """Which keys [T] are before the ends, and not before the begins: [B, 1, 1, T]."""
    count, batch = bounds.shape[0], q.shape[0]
    if count is None or batch is None:
        return _inside_open(n, bounds, extent(n, (q.value, 0)), places)
    if count == 3 * batch + 2:
        return places < bounds.part(0, 0, batch).spread(0, 3)
    if count not in (batch, 2 * batch):
        raise n.error(f"a mask of {count} bounds does not fit a batch of {batch}")
    ends = places < bounds.part(0, 0, batch).spread(0, 3)
    return ends if count == batch else ends & (places >= bounds.part(0, batch, count).spread(0, 3))


def _inside_open(n: Node, bounds: Term, batch: Term, places: Term) -> Term:
    """The same where it is known at run time whether there are begins."""
    count = extent(n, (bounds.value, 0))
    has_begins = count.equals(batch * 2)
    fits = has_begins | count.equals(batch) | count.equals(batch * 3 + 2)
    text = "the mask has not one end, or one end and one begin, for each sequence of the batch"
    bounds = bounds.made(nn.Assume(bounds.value, fits.value, text))
    own = counting(n, batch)
    begins = has_begins.choose(bounds.gather((own + batch).min(count - 1)), 0)
    return (places < bounds.gather(own).spread(0, 3)) & (places >= begins.spread(0, 3))


@converter("MultiHeadAttention", domain=DOMAIN)
def multi_head_attention(
    n: Node,
    query: Value,
    key: Value | None = None,
    value: Value | None = None,
    bias: Value | None = None,
    mask: Value | None = None,
    attention_bias: Value | None = None,
    past_key: Value | None = None,
    past_value: Value | None = None,
    past_length: Value | None = None,
    beams: Value | None = None,
) -> list[Value | None]:
    """Attention, and keys, values and scores.

    With `past_length`, keys and values are stored behind so many in caches of a larger extent.
    """
    heads = n.int("num_heads")
    if beams is not None:
        raise n.error("input 'cache_indirection' is not supported")
    q, k, v = _parts(n, query, key, value)
    if bias is not None:
        q, k, v = _with_bias(Term(n, bias), (q, k, v), heads, is_packed=key is None)
    q, k, v = (split_heads(part, heads) if part.rank == 3 else part for part in (q, k, v))
    own, present = k.shape[2], [k, v]
    if past_key is not None and past_value is not None:
        pasts = Term(n, past_key), Term(n, past_value)
        if past_length is None:
            present = k, v = [joined([past, x], 2) for past, x in zip(pasts, (k, v), strict=True)]
        else:
            before, steps = Term(n, as_scalar(n, past_length)).cast(i64), extent(n, (k.value, 2))
            present = [stored_at(past, x, before) for past, x in zip(pasts, (k, v), strict=True)]
            k, v = (x.gather(counting(n, before + steps), 2) for x in present)
    seen = None
    if n.int("unidirectional"):
        is_same = key is None or (q.shape[2] is not None and q.shape[2] == own)
        seen = causal(n, q, k) if is_same else _last_sees_all(q, k, past_key)
    out, scores = _attended(n, (q, k, v), _width(q), attention_bias, mask, seen)
    given = scores.max(LEAST).value if n.wants(3) else None
    return [out.value, *(x.value for x in present), given]


def _with_bias(bias: Term, parts: Sequence[Term], heads: int, is_packed: bool) -> list[Term]:
    """Queries, keys and values [B, S, H * D] plus their parts of a bias.

    So are those [B, H, S, D] that were packed; keys and values of an encoder have no bias.
    """
    at, biased = 0, []
    for part in parts:
        if part.rank == 4 and not is_packed:
            biased.append(part)
            continue
        width = _width(part) * (heads if part.rank == 4 else 1)
        own = bias.part(0, at, at + width)
        biased.append(part + (own.reshape(heads, 1, _width(part)) if part.rank == 4 else own))
        at += width
    return biased


def _attended(
    n: Node,
    parts: tuple[Term, ...],
    width: int,
    bias: Value | None,
    mask: Value | None,
    seen: Term | None,
) -> tuple[Term, Term]:
    """[B, S, H * D] from queries, keys and values [B, H, S, D] of heads of this width D, and the
    scores [B, H, S, T].

    Scores have `bias`, `mask` and `seen` added, the last one a mask [S, T].
    """
    q, k, v = parts
    added = [] if bias is None else [Term(n, bias)]
    if mask is not None:
        added.append(_key_mask(n, mask, q, k))
    if seen is not None:
        added.append(seen)
    scores = scores_of(q, k, _scale(n, width), added)
    return joined_heads(weighed(scores, v)), scores


def _last_sees_all(q: Term, k: Term, past: Value | None) -> Term:
    """The mask [S, T]: a query sees the past and as many keys as queries up to itself, the last one
    all keys. Source: onnxruntime, which so treats lengths of keys other than those of queries.
    """
    n = q.n
    rows, columns = extent(n, (q.value, 2)), extent(n, (k.value, 2))
    at = counting(n, rows)
    last = at if past is None else at + extent(n, (past, 2))
    return seen_until(q, k, (at < rows - 1).choose(last, columns))


def _parts(n: Node, query: Value, key: Value | None, value: Value | None) -> list[Term]:
    """Queries, keys and values [B, S, H * D], or [B, H, S, D], from inputs that may be packed."""
    q = Term(n, query)
    if key is None:
        if q.rank != 5:
            raise n.error("without keys, the queries must be packed with them, of rank 5")
        return [q.column(i, axis=3).transpose(0, 2, 1, 3) for i in range(3)]
    k = Term(n, key)
    if value is None:
        if k.rank != 5:
            raise n.error("without values, the keys must be packed with them, of rank 5")
        return [q, *(k.column(i, axis=3).transpose(0, 2, 1, 3) for i in range(2))]
    return [q, k, Term(n, value)]


@converter("Attention", domain=DOMAIN)
def attention(
    n: Node,
    x: Value,
    weights: Value,
    bias: Value | None = None,
    mask: Value | None = None,
    past: Value | None = None,
    attention_bias: Value | None = None,
) -> list[Value | None]:
    heads = n.int("num_heads")
    if n.int("do_rotary"):
        raise n.error("do_rotary is not supported")
    made = Term(n, x) @ Term(n, weights)
    if bias is not None:
        made = made + Term(n, bias)
    whole = made.shape[2]
    if whole is None:
        raise n.error("the extents of the weights must be known")
    sizes = n.ints("qkv_hidden_sizes") or (whole // 3,) * 3
    parts, at = [], 0
    for size in sizes:
        parts.append(split_heads(made.part(2, at, at + size), heads))
        at += size
    q, k, v = parts
    if past is not None:
        before = Term(n, past)
        k, v = joined([before.column(0, 0), k], 2), joined([before.column(1, 0), v], 2)
    seen = causal(n, q, k) if n.int("unidirectional") else None
    out, _ = _attended(n, (q, k, v), sizes[0] // heads, attention_bias, mask, seen)
    present = joined([k.spread(1, 0), v.spread(1, 0)], 0) if n.wants(1) else None
    return [out.value, None if present is None else present.value]


@converter("RotaryEmbedding", domain=DOMAIN)
def rotary_embedding(n: Node, x: Value, positions: Value, cosines: Value, sines: Value) -> Value:
    x4 = with_heads(n, x, cosines)
    at = Term(n, positions).cast(i64)
    if at.rank == 1:
        at = (counting(n, extent(n, (x4.value, 2))) + at.reshape()).spread(1, 0)
    out = rotate(n, x4, at, cosines, sines, bool(n.int("interleaved")))
    return (joined_heads(out) if x.type.rank == 3 else out).value


def with_heads(n: Node, x: Value, cosines: Value) -> Term:
    """x with separate heads, [B, H, S, D]; it may have them already."""
    whole, half = Term(n, x), cosines.type.shape[1]
    rotated, heads = n.int("rotary_embedding_dim"), n.int("num_heads")
    if whole.rank != 3:
        if heads and whole.shape[1] not in (heads, None):
            raise n.error(f"the input has {whole.shape[1]} heads, num_heads says {heads}")
        return whole
    if not heads and (whole.shape[2] is None or half is None or rotated):
        raise n.error("num_heads is needed")
    return split_heads(whole, heads or whole.shape[2] // (2 * half))  # type: ignore[operator]


def rotate(n: Node, x: Term, at: Term, cosines: Value, sines: Value, interleaved: bool) -> Term:
    """Rotary embedding: pairs of x [B, H, S, D] rotated by the angles at positions [B, S]."""
    half = n.extent(cosines, 1)
    cosine, sine = (
        Term(n, cache).gather(at).reshape((at.value, 0), 1, (at.value, 1), half)
        for cache in (cosines, sines)
    )
    return turned(x, cosine, sine, interleaved)


def turned(x: Term, cosine: Term, sine: Term, interleaved: bool) -> Term:
    """Pairs of x [B, H, S, D] rotated by angles [B, 1, S, D / 2 or less]; the rest unchanged."""
    n, half, width = x.n, cosine.shape[3], x.shape[3]
    if half is None or width is None:
        raise n.error("the extents of heads and caches must be known")
    part = x.part(3, 0, 2 * half) if width > 2 * half else x
    order = np.arange(2 * half)
    pairs = order.reshape(half, 2).T if interleaved else order.reshape(2, half)
    first, second = (part.gather(constant(n, places.copy()), 3) for places in pairs)
    parts = [first * cosine - second * sine, first * sine + second * cosine]
    out = joined(parts, 3)
    if interleaved:
        out = out.gather(constant(n, np.argsort(pairs.reshape(-1))), 3)
    return out if width == 2 * half else joined([out, x.part(3, 2 * half, width)], 3)


@converter("GroupQueryAttention", domain=DOMAIN)
def group_query_attention(
    n: Node,
    query: Value,
    key: Value | None,
    value: Value | None,
    past_key: Value | None,
    past_value: Value | None,
    lengths: Value,
    total: Value,
    cosines: Value | None = None,
    sines: Value | None = None,
    positions: Value | None = None,
    attention_bias: Value | None = None,
    sink: Value | None = None,
    key_scale: Value | None = None,
    value_scale: Value | None = None,
    query_norm: Value | None = None,
    key_norm: Value | None = None,
) -> list[Value | None]:
    """Attention with several query heads per head of keys and values, and a cache of these.

    `lengths` is the number of elements that the cache then holds of each sequence, minus 1.
    keys [B, G, T, D], queries [B, G, H / G, S, D]
    """
    sinks = None if sink is None else Term(n, sink)
    if n.int("smooth_softmax") and sinks is None:
        sinks = constant(n, np.zeros(n.int("num_heads")), query.type.element_type)
    biases = None if attention_bias is None else Term(n, attention_bias)
    after = Term(n, flatten(n, lengths, lengths.type.rank)).cast(i64).column(0) + 1
    window = n.int("local_window_size", -1)
    causal = n.int("causal", 1)
    if not causal and window > 0:
        raise n.error("a window needs causal attention")

    def seen(at: Term, places: Term) -> Term:
        ends = after.spread(0, 1) - 1
        last = (at.min(ends) if causal else ends + at * 0).spread(0, 1)
        found = places <= last
        if window > 0:
            found = found & (places > last - window)
        return found.reshape((at.value, 0), 1, 1, (at.value, 1), (places.value, 0))

    caches = (past_key, past_value), (cosines, sines)
    turned_at = None
    if positions is not None:
        turned_at = _turned_at(Term(n, positions).cast(i64), Term(n, as_scalar(n, total)))
    q, k, v = separate(n, query, key, value)
    if query_norm is not None and key_norm is not None:
        q, k = _normed(n, "q", q, query_norm), _normed(n, "k", k, key_norm)
    elif query_norm is not None or key_norm is not None:
        raise n.error("only one of 'q_norm_weight' and 'k_norm_weight' is given")
    parts, scales = (q, k, v), (key_scale, value_scale)
    stored = [Stored.of(n, *one) for one in zip("kv", caches[0], scales, strict=True)]
    more = biases, sinks, turned_at, stored
    return cached_attention(n, parts, *caches, after, total, seen, *more)


def _normed(n: Node, letter: str, x: Term, weight: Value) -> Term:
    """Queries or keys [B, H, S, D], each head's divided by their root mean square."""
    epsilon = n.float("qk_norm_epsilon", 1e-6)
    own = f"{letter}_norm_epsilon"
    epsilon = n.float(own) if n.has(own) else epsilon
    return Term(n, rms_normed(n, x.value, weight, (3,), epsilon))


def _turned_at(positions: Term, total: Term) -> Term:
    """The positions [B, S] for the rotary embedding.

    If the S elements are a prompt (`total` equals S), they count up from the first position.
    """
    n, steps = positions.n, extent(positions.n, (positions.value, 1))
    following = positions.column(0).column(0) + counting(n, steps)
    return total.cast(i64).equals(steps).choose(following, positions)


Cache = tuple[Value | None, Value | None]


def cached_attention(
    n: Node,
    parts: Sequence[Term],
    past: Cache,
    angles: Cache,
    after: Term,
    total: Value,
    seen: Callable[[Term, Term], Term],
    biases: Term | None = None,
    sinks: Term | None = None,
    turned_at: Term | None = None,
    stored: Sequence[Stored] = (NUMBERS, NUMBERS),
) -> list[Value | None]:
    """Attention [B, S, H * D] to cached keys and values, and the cache with the new ones added.

    `parts` are queries [B, H, S, D], keys and values [B, G, S, D].
    `after` is the number of elements that the cache then holds of each sequence, `total` the
    largest of these; `seen(query positions [B, S], cache positions [T])` is the mask of visible
    keys [B, G, R, S, T]. `biases` [B or 1, H or 1, S, T] are added to the scores. `sinks` [H] are
    one more score of each head, whose value is 0. `turned_at` [B, S] are the positions for the
    rotary embedding, by default those in the cache. `stored` is how keys and values are cached.
    """
    heads, groups = n.int("num_heads"), n.int("kv_num_heads")
    q, k, v = parts
    steps = counting(n, extent(n, (q.value, 2)))
    before = (after - extent(n, (q.value, 2))).max(0).spread(0, 1)
    at = before + steps
    if n.int("do_rotary"):
        cosines, sines = angles
        if cosines is None or sines is None:
            raise n.error("do_rotary needs the caches of cosines and sines")
        turn = bool(n.int("rotary_interleaved"))
        angle = at if turned_at is None else turned_at
        q, k = (rotate(n, part, angle, cosines, sines, turn) for part in (q, k))
    count = Term(n, as_scalar(n, total)).cast(i64)
    if past[0] is not None:
        count = count.max(extent(n, (past[0], 2)))
    places = counting(n, count)
    present = [
        _cached(how, old, new, places, before)
        for how, old, new in zip(stored, past, (k, v), strict=True)
    ]
    whole = [how.real(found, q.element) for how, found in zip(stored, present, strict=True)]
    width = _width(q)
    own = q.reshape((q.value, 0), groups, heads // groups, (q.value, 2), width)
    keys, values = (
        part.reshape((part.value, 0), groups, 1, (part.value, 2), width) for part in whole
    )
    visible = seen(at, places)
    mask = visible.choose(constant(n, 0.0, q.element), -math.inf)
    scores = (own * _scale(n, width)) @ keys.transpose(0, 1, 2, 4, 3)
    cap = n.float("softcap", 0.0)
    if cap:
        scores = (scores / cap).function(nn.Tanh) * cap
    scores = scores + mask
    if biases is not None:
        if past[0] is not None and biases.shape[3] != scores.shape[4]:
            # Behind the biases are places of the cache that are not used yet.
            biases = biases.gather(places.min(extent(n, (biases.value, 3)) - 1), 3)
        batch, *places_of = ((biases.value, i) for i in (0, 2, 3))
        if biases.shape[1] is None:
            whole = broadcast(n, biases.value, [batch, heads, *places_of])
            biases = Term(n, whole)
        kinds = (groups, heads // groups) if biases.shape[1] == heads else (1, 1)
        scores = scores + biases.reshape(batch, *kinds, *places_of)
    logits = None if sinks is None else sinks.reshape(groups, heads // groups, 1, 1)
    shares, values = _shares(scores, values, logits)
    found = (shares @ values).reshape((q.value, 0), heads, (q.value, 2), width)
    outputs: list[Value | None] = [joined_heads(found).value]
    outputs += (how.to_cache(one) for how, one in zip(stored, present, strict=True))
    if n.wants(3):
        kind = n.int("qk_output")
        if kind not in (1, 2):
            raise n.error(f"attribute 'qk_output' is {kind}, expected 1 or 2 for output 3")
        found = visible.choose(scores, 0.0) if kind == 1 else shares
        rows = found.reshape((q.value, 0), heads, (q.value, 2), (found.value, 4))
        outputs.append(rows.gather(counting(n, Term(n, as_scalar(n, total)).cast(i64)), 3).value)
    return outputs


def _shares(scores: Term, values: Term, sinks: Term | None) -> tuple[Term, Term]:
    """The softmax of scores [B, G, R, S, T], and the values [B, G, 1, T, D] that it weighs.

    `sinks` [G, R, 1, 1] are scores of one more key each, whose value is 0.
    """
    if sinks is not None:
        scores = joined([scores, scores.column(0).zeros().spread(0, 1) + sinks], 4)
        own = [(values.value, i) for i in (0, 1, 4)]
        nothing = values.column(0, 3).zeros().reshape(*own[:2], 1, 1, own[2])
        values = joined([values, nothing], 3)
    return scores.made(nn.Softmax(scores.value, axis=4)), values


def separate(n: Node, query: Value, key: Value | None, value: Value | None) -> list[Term]:
    """Queries, keys and values with separate heads, from inputs that may be packed."""
    heads, groups = n.int("num_heads"), n.int("kv_num_heads")
    if key is not None and value is not None:
        parts = [(Term(n, query), heads), (Term(n, key), groups), (Term(n, value), groups)]
        return [split_heads(part, count) for part, count in parts]
    packed = split_heads(Term(n, query), heads + 2 * groups)
    ends = (0, heads, heads + groups, heads + 2 * groups)
    return [packed.part(1, a, b) for a, b in pairwise(ends)]


def _cached(how: Stored, past: Value | None, new: Term, places: Term, before: Term) -> Term:
    """The cache [B, G, T, D] with new elements stored after its first `before` [B, 1] ones."""
    n: Any = new.n
    rows = how.rounded(new).transpose(0, 2, 1, 3)
    held = constant(n, 0, i64)
    if past is not None:
        held = extent(n, (past, 2))
        rows = joined([how.from_cache(past, n).transpose(0, 2, 1, 3), rows], 1)
    own = (places - before).max(0).min(extent(n, (new.value, 2)) - 1) + held
    index = (places < before).choose(places, own)
    found = rows.gather_nd(index.spread(0, 1), 1)
    beyond = places >= before + extent(n, (new.value, 2))
    zeros = beyond.reshape((index.value, 0), (index.value, 1), 1, 1)
    return zeros.choose(how.nothing, found).transpose(0, 2, 1, 3)


@converter("EmbedLayerNormalization", domain=DOMAIN)
def embed_layer_normalization(
    n: Node,
    ids: Value,
    segments: Value | None,
    words: Value,
    places: Value,
    kinds: Value | None,
    gamma: Value,
    beta: Value,
    mask: Value | None = None,
    positions: Value | None = None,
) -> list[Value | None]:
    """Embeddings of words, positions and segments, added and normalized."""
    at = counting(n, extent(n, (ids, 1))) if positions is None else Term(n, positions)
    total = Term(n, words).gather(Term(n, ids)) + Term(n, places).gather(at)
    if segments is not None and kinds is not None:
        total = total + Term(n, kinds).gather(Term(n, segments))
    epsilon = n.float("epsilon", 1e-12)
    y = layer_normed(n, total.value, gamma, beta, (2,), epsilon)
    index = None
    if n.wants(1):
        used = Term(n, ids) * 0 if mask is None else Term(n, mask)
        index = used.cast(i32).sum(1).value
    return [y, index, total.value]
