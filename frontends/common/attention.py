"""Attention: scaled products of queries and keys, their softmax, and the sum of values."""

from __future__ import annotations

from .words import *


def split_heads(x: Term, heads: int) -> Term:
    """[B, S, H * D] as [B, H, S, D]."""
    apart = x.reshape((x.value, 0), (x.value, 1), heads, width_of_heads(x, heads))
    return apart.transpose(0, 2, 1, 3)


def width_of_heads(x: Term, heads: int) -> int:
    """The D of [B, S, H * D]. Raises NncError where it is not known or there are no such heads."""
    width = x.shape[2]
    if width is None:
        raise x.n.error(f"the extent that is split into {heads} heads must be known")
    if heads < 1 or width % heads:
        raise x.n.error(f"{width} elements cannot be divided into {heads} equal heads")
    return width // heads


def joined_heads(x: Term) -> Term:
    """[B, H, S, D] as [B, S, H * D]."""
    apart = x.transpose(0, 2, 1, 3).value
    return Term(x.n, merge(x.n, apart, ((0, 1), (1, 2), (2, 4))))


def attend(q: Term, k: Term, v: Term, scale: float | Term, added: Sequence[Term] = ()) -> Term:
    """softmax(q k^T * scale + the sum of `added`) v, for q [.., S, D], k and v [.., T, D]."""
    return weighed(scores_of(q, k, scale, added), v)


def scores_of(q: Term, k: Term, scale: float | Term, added: Sequence[Term] = ()) -> Term:
    """q k^T * scale + the sum of `added`: [.., S, T] of q [.., S, D] and k [.., T, D]."""
    scores = (q * scale) @ k.mT
    for term in added:
        scores = scores + term
    return scores


def weighed(scores: Term, v: Term) -> Term:
    """softmax(scores) v: [.., S, D] of scores [.., S, T] and v [.., T, D]."""
    return scores.made(nn.Softmax(scores.value, axis=scores.rank - 1)) @ v


def causal(n: Layer, q: Term, k: Term, from_end: bool = True) -> Term:
    """The causal mask [S, T] to add to scores: -inf where a query would see a later key, else 0.

    The last query is aligned with the last key if `from_end`, else the first with the first.
    """
    rows, columns = extent(n, (q.value, q.rank - 2)), extent(n, (k.value, k.rank - 2))
    last = counting(n, rows)
    if from_end:
        last = last + (columns - rows)
    return seen_until(q, k, last)


def seen_until(q: Term, k: Term, last: Term) -> Term:
    """The mask [S, T] to add to scores: -inf for keys after the `last` [S] that a query sees."""
    keys = counting(q.n, extent(q.n, (k.value, k.rank - 2)))
    return (keys <= last.spread(0, 1)).choose(constant(q.n, 0.0, q.element), -math.inf)


def stored_at(cache: Term, new: Term, place: Term) -> Term:
    """The cache [B, H, T, D] with new elements [B, H, S, D] from a place on."""
    n = new.n
    steps, at = extent(n, (new.value, 2)), counting(n, extent(n, (cache.value, 2))) - place
    here = ((at >= 0) & (at < steps)).spread(0, 1)
    return here.choose(new.gather(at.max(0).min(steps - 1), 2), cache)


def grouped_like(x: Term, q: Term) -> Term:
    """Keys or values [B, G, T, D] with each head repeated, as many as those of q [B, H, S, D]."""
    if q.shape[1] is not None and x.shape[1] is not None:
        return grouped(x, q.shape[1])
    heads, groups = (extent(x.n, (one.value, 1)) for one in (q, x))
    return x.gather(counting(x.n, heads) / (heads / groups), 1)


def grouped(x: Term, heads: int) -> Term:
    """Keys or values [B, G, T, D] with each head repeated to [B, heads, T, D]."""
    groups = x.shape[1]
    if groups == heads or groups is None:
        return x
    if not groups or heads % groups:
        raise x.n.error(f"{heads} heads of queries do not divide into {groups} of keys")
    batch, _, keys, width = ((x.value, i) for i in range(4))
    apart = x.reshape(batch, groups, 1, keys, width).value
    wide = broadcast(x.n, apart, [batch, groups, heads // groups, keys, width])
    return Term(x.n, wide).reshape(batch, heads, keys, width)


def distance_buckets(n: Layer, distance: Term, count: int, most: int, both_ways: bool) -> Term:
    """The buckets of distances, of keys from their queries: one for each near distance; farther
    ones, up to `most`, share buckets. With `both_ways`, half of the `count` are of keys after the
    query, else all such keys have bucket 0. Raises NncError for too few buckets.

    Source: arXiv:1910.10683 (T5), 2.1.
    """
    begin: Operand = 0
    if both_ways:
        count //= 2
        begin, away = (distance > 0).cast(i64) * count, distance.function(nn.Abs)
    else:
        away = (-distance).max(0)
    exact = count // 2
    if exact < 1 or most <= exact:
        raise n.error(f"{count} buckets do not reach up to a distance of {most}")
    ratio = (away.max(1).cast(f32) / exact).function(nn.Log) / math.log(most / exact)
    far = (ratio * (count - exact)).cast(i64) + exact
    return (away < exact).choose(away, far.min(count - 1)) + begin
