"""The converters of RWKV's layers, see `rwkv`."""

from __future__ import annotations

from ...common.attention import joined_heads, split_heads
from ...common.importer import NodeLayer
from ...common.linear_attention import recurrence
from ...common.vocabulary import *
from ..layer import rows

_FASTEST = -0.606531
"""The logarithm of the smallest part of a state that remains: exp(-1/2). Source: RWKV 7, 4.1."""
_SHORTEST = 1e-12
"""No key counts as shorter when it is divided by its length."""


@rows("Mixes")
def mixes(n: NodeLayer, x: Value, past: Value, weights: Value) -> list[Value]:
    """x [1, S, D] plus shares of the differences to the tokens before, one by each of the weights
    [count, .., D]; and the last token. The token before the first is `past` [1, 1, D].
    """
    own, count = Term(n, x), n.extent(weights, 0)
    whole, length = joined([Term(n, past), own], 1), extent(n, (x, 1))
    change = whole.gather(counting(n, length), 1) - own
    shares = Term(n, weights).cast(f32).reshape(count, n.extent(x, 2))
    found = [(own + change * shares.column(k, 0)).value for k in range(count)]
    return [*found, whole.gather(length.spread(0, 1), 1).value]


@rows("Toward")
def toward(n: NodeLayer, x: Value, other: Value, share: Value) -> Value:
    """x, and a share of the difference to another value."""
    own = Term(n, x)
    return (own + (Term(n, other) - own) * Term(n, share)).value


@rows("HeadNorm")
def head_norm(n: NodeLayer, x: Value, weight: Value, bias: Value) -> Value:
    """The norm of each head of x [1, S, H * D], by mean and variance, times weights [H * D]."""
    heads = split_heads(Term(n, x), n.attributes["heads"]).value
    normed = Term(n, layer_normed(n, heads, None, None, (3,), n.attributes["epsilon"]))
    return (joined_heads(normed) * Term(n, weight).cast(f32) + Term(n, bias).cast(f32)).value


def _transition(state: Term, token: Sequence[Term | None]) -> tuple[Term, Term]:
    """The state [1, H, K, V] after a token, and what its query reads there.

    The token is a query [1, H, 1, K], key, value, the logarithm of the kept part of the state, the
    key at which the state is read, and the one at which what was read there is added.
    """
    query, *rest = token
    key, value, decay, at, added = (one for one in rest if one is not None)
    lead = [(key.value, i) for i in range(2)]
    read = at.reshape(*lead, 1, (at.value, 2)) @ state
    row = value.reshape(*lead, 1, (value.value, 2))
    state = state * decay.function(nn.Exp).spread(0, 1)
    state = state + key.spread(0, 1) * row + added.spread(0, 1) * read
    assert query is not None
    return state, query @ state


@rows("Wkv")
def wkv(
    n: NodeLayer,
    r: Value,
    k: Value,
    v: Value,
    decay: Value,
    rate: Value,
    turn: Value,
    growth: Value,
    reward: Value,
    past: Value,
) -> list[Value]:
    """What tokens read [1, S, D] of the states [1, H, K, V] of heads, what they have of their own
    values [1, S, D], and the last states.

    Receptances, keys, values, decays and rates are [1, S, D]; `turn`, `growth` and `reward` [D] are
    factors of keys: of those that are removed, by the rate, and in a token's own share.
    """
    heads = n.attributes["heads"]
    speed, turned, grown, own = (Term(n, one).cast(f32) for one in (rate, turn, growth, reward))
    removed = _apart(Term(n, k) * turned, heads)
    length = (removed * removed).sum(3, keep=True).function(nn.Sqrt).max(_SHORTEST)
    removed = removed / length
    key = Term(n, k) * ((speed - 1.0) * grown + 1.0)
    kept = Term(n, decay).function(nn.Sigmoid) * _FASTEST
    query, value, share = _apart(Term(n, r), heads), _apart(Term(n, v), heads), key * Term(n, r)
    parts = [
        query, _apart(key, heads), value, _apart(kept, heads), -removed,
        removed * _apart(speed, heads),
    ]  # fmt: skip
    found, last = recurrence(n, parts, Term(n, past), _transition)
    bonus = value * _apart(share * own, heads).sum(3, keep=True)
    whole = [(r, i) for i in range(3)]
    return [found.reshape(*whole).value, bonus.reshape(*whole).value, last.value]


def _apart(x: Term, heads: int) -> Term:
    """[1, S, H * D] as [1, S, H, D]."""
    return x.reshape((x.value, 0), (x.value, 1), heads, (x.shape[2] or 0) // heads)
