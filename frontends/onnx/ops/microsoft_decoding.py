"""Attention of com.microsoft for decoders: block-sparse, for a single token, and with
three-dimensional positions.

Source: onnxruntime's ContribOperators.md; Abdin et al., Phi-3 (2024), for blocks; Wang et al.,
Qwen2-VL (2024), for positions.
"""

from __future__ import annotations

from itertools import pairwise

from ...common.attention import joined_heads, split_heads, stored_at, weighed
from ...common.vocabulary import *
from ..node import Node
from ..registry import converter
from .microsoft import DOMAIN
from .microsoft_attention import cached_attention, separate, turned, with_heads


@converter("SparseAttention", domain=DOMAIN)
def sparse_attention(
    n: Node,
    query: Value,
    key: Value | None,
    value: Value | None,
    past_key: Value,
    past_value: Value,
    row_starts: Value,
    columns: Value,
    total: Value,
    lengths: Value,
    cosines: Value | None = None,
    sines: Value | None = None,
) -> list[Value | None]:
    """Attention to a cache, of which each head sees the blocks in its layout."""
    heads, groups, size = n.int("num_heads"), n.int("kv_num_heads"), n.int("sparse_block_size")
    blocks = _blocks(Term(n, row_starts), Term(n, columns))
    last = extent(n, (blocks.value, 1)) - 1

    def seen(at: Term, places: Term) -> Term:
        rows, across = ((x / size).max(0).min(last) for x in (at, places))
        found = blocks.gather(rows, 1).gather(across, 3) & (places <= at.spread(0, 1))
        if found.shape[0] != 1:
            found = found.gather(constant(n, np.arange(heads) % n.extent(row_starts, 0)))
        lead = (groups, heads // groups) if found.shape[0] != 1 else (1, 1)
        own = [(found.value, i) for i in range(1, 4)]
        return found.reshape(*lead, *own).transpose(2, 0, 1, 3, 4)

    after = Term(n, lengths).cast(i64)
    caches = (past_key, past_value), (cosines, sines)
    parts = separate(n, query, key, value)
    out, *present = cached_attention(n, parts, *caches, after, total, seen)
    kept = counting(n, extent(n, (past_key, 2))) >= after.spread(0, 1)
    kept = kept.reshape((kept.value, 0), 1, (kept.value, 1), 1)
    pairs = zip((past_key, past_value), present, strict=True)
    return [out, *(n(nn.Where(kept.value, old, new)) for old, new in pairs)]


def _blocks(starts: Term, columns: Term) -> Term:
    """Which blocks [L, R, C] are in each layout, which is given in CSR form: the starts [L, R + 1]
    of rows among the column indices [L, N].
    """
    n = starts.n
    count = n.extent(starts.value, 1) - 1
    number = counting(n, extent(n, (columns.value, 1)))
    behind = number >= starts.cast(i64).spread(0, 1)
    inside = behind.part(1, 0, count) & ~behind.part(1, 1, count + 1)
    hits = columns.cast(i64).spread(0, 1).equals(constant(n, np.arange(count)))
    return (inside.cast(f32) @ hits.cast(f32)) > 0.0


@converter("DecoderMaskedMultiHeadAttention", domain=DOMAIN)
def decoder_masked_attention(
    n: Node,
    query: Value,
    key: Value | None = None,
    value: Value | None = None,
    mask: Value | None = None,
    added: Value | None = None,
    past_key: Value | None = None,
    past_value: Value | None = None,
    past_length: Value | None = None,
    beam_width: Value | None = None,
    beams: Value | None = None,
    bias: Value | None = None,
) -> list[Value | None]:
    """Attention of one token to a cache, or to keys [B, H, T, D] of an encoder.

    With `beams` [B / W, W, T], each token of the cache is read from one of W sequences.
    """
    heads = n.int("num_heads")
    q, k, v = _with_bias(n, query, key, value, bias)
    q, width = split_heads(q, heads), n.extent(q.value, 2) // heads
    caches = read = [k, v]
    if k.rank != 4:
        new = [split_heads(x, heads) for x in (k, v)]
        pairs = zip((past_key, past_value), new, strict=True)
        caches = read = [_after(n, past, x, past_length) for past, x in pairs]
        if past_length is not None:
            before = Term(n, as_scalar(n, past_length)).cast(i64)
            if beams is not None:
                read = [_of_beams(x, Term(n, beams).cast(i64), before) for x in caches]
            read = [x.gather(counting(n, before + 1), 2) for x in read]
    scores = (q * (n.float("scale", 0.0) or 1 / math.sqrt(width))) @ read[0].transpose(0, 1, 3, 2)
    if mask is not None:
        counts = (Term(n, mask) > 0).reshape((mask, 0), 1, 1, (mask, 1))
        scores = scores + counts.choose(constant(n, 0.0, f32), n.float("mask_filter_value", -1e4))
    if added is not None:
        scores = scores + Term(n, added)
    kept = [None, None] if k.rank == 4 else [x.value for x in caches]
    return [joined_heads(weighed(scores, read[1])).value, *kept, scores.value]


def _with_bias(
    n: Node, query: Value, key: Value | None, value: Value | None, bias: Value | None
) -> list[Term]:
    """Queries, keys and values, which may be concatenated, with their parts of a bias.

    Keys and values of an encoder have no bias.
    """
    heads, total = n.int("num_heads"), n.extent(query, 2)
    if key is None or value is None:
        # Queries and keys have a third of the columns each, in whole heads; values the rest.
        width = total // 3 // heads * heads
        ends = (0, width, 2 * width, total)
        parts = [Term(n, query).part(2, a, b) for a, b in pairwise(ends)]
    else:
        parts = [Term(n, query), Term(n, key), Term(n, value)]
    if bias is None:
        return parts
    at = 0
    for i, part in enumerate(parts):
        if part.rank == 3:
            width = n.extent(part.value, 2)
            parts[i] = part + Term(n, bias).part(0, at, at + width)
            at += width
    return parts


def _after(n: Node, past: Value | None, new: Term, past_length: Value | None) -> Term:
    """The cache [B, H, T, D] with a new element: at index `past_length` if given, else appended."""
    if past is None:
        return new
    if past_length is None:
        return joined([Term(n, past), new], 2)
    return stored_at(Term(n, past), new, Term(n, as_scalar(n, past_length)).cast(i64))


def _of_beams(cache: Term, beams: Term, before: Term) -> Term:
    """The elements of a cache [B, H, T, D] from the sequences in `beams` [B / W, W, T].

    Only the elements `before` the newest one are reordered.
    """
    n, width = cache.n, cache.n.extent(beams.value, 1)
    rows = cache.transpose(0, 2, 1, 3)
    b, t, h, d = ((rows.value, i) for i in range(4))
    places, own = counting(n, extent(n, t)), counting(n, extent(n, b)).spread(0, 1)
    of = beams.reshape(b, (beams.value, 2)).gather(places, 1) + own / width * width
    index = (places < before).choose(of, own) * extent(n, t) + places
    flat = rows.flattened(2)
    whole = flat.reshape((flat.value, 0), h, d)
    return whole.gather(index).transpose(0, 2, 1, 3)


@converter("MRotaryEmbedding", domain=DOMAIN)
def rotary_embedding_of_sections(
    n: Node, x: Value, positions: Value, cosines: Value, sines: Value
) -> Value:
    """Rotary embedding whose angle columns each use one of three positions [3, B, S]."""
    x4, half = with_heads(n, x, cosines), n.extent(cosines, 1)
    sections = n.ints("mrope_section") or ()
    if len(sections) != 3 or sum(sections) != half or min(sections) < 0:
        raise n.error(
            f"attribute 'mrope_section' is {list(sections)}, expected 3 that sum to {half}"
        )
    of = np.repeat(np.arange(3), sections)
    if n.int("mrope_layout") == 1:
        column = np.arange(half)
        of = np.zeros(half, np.int64)
        for i in (1, 2):
            of[(column % 3 == i) & (column < 3 * sections[i])] = i
    at = Term(n, positions).cast(i64)

    def angles(cache: Value) -> Term:
        found = Term(n, cache).gather(at)
        streams = [found.column(i, 0) for i in range(3)]
        own = constant(n, of)
        mixed = own.equals(0).choose(streams[0], own.equals(1).choose(streams[1], streams[2]))
        return mixed.reshape((at.value, 1), 1, (at.value, 2), half)

    out = turned(x4, angles(cosines), angles(sines), bool(n.int("interleaved")))
    return (joined_heads(out) if x.type.rank == 3 else out).value
