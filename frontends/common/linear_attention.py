"""Linear attention: what a token reads from a state [K, V] of each head, which it then changes; and
causal convolutions.

Sources: Yang, Kautz, Hatamizadeh, Gated Delta Networks (2024); Dao, Gu, Transformers are SSMs
(2024), of which Mamba's state spaces are the case without `beta`.
"""

from __future__ import annotations

from .convolution import convolution
from .loops import Iteration, while_loop
from .words import *


def repeated(x: Term, heads: int) -> Term:
    """[B, T, G, D] with each head repeated consecutively, to `heads` heads."""
    own = x.shape[2]
    if own == heads:
        return x
    if not own or heads % own:
        raise x.n.error(f"{own} heads do not divide {heads}")
    return x.gather(constant(x.n, np.arange(heads) // (heads // own)), 2)


def transition(state: Term, token: Sequence[Term | None]) -> tuple[Term, Term]:
    """The state [B, H, K, V] after a token, and the values its queries read there [B, H, R, V].

    The token is queries [B, H, R, K], key [B, H, K], value [B, H, V], the logarithm of the kept
    part of the state [B, H, 1 or K], and the written part [B, H, 1] of the difference to what the
    key reads.
    """
    query, key, value, decay, beta = token
    assert query is not None and key is not None and value is not None
    if decay is not None:
        state = state * decay.function(nn.Exp).spread(0, 1)
    column, row = key.spread(0, 1), _row(value)
    if beta is not None:
        row = (row - _row(key) @ state) * beta.spread(0, 1)
    state = state + column * row
    return state, query @ state


def _row(x: Term) -> Term:
    """[B, H, D] as [B, H, 1, D]."""
    *lead, last = ((x.value, i) for i in range(3))
    return x.reshape(*lead, 1, last)


Token = Sequence[Term | None]
"""What a token has: queries first, then what the transition asks for."""


def recurrence(
    n: Layer,
    parts: Token,
    state: Term,
    after: Callable[[Term, Token], tuple[Term, Term]] = transition,
) -> tuple[Term, Term]:
    """The values that each token reads [B, T, H * R, V], and the last state.

    `parts` are those of the transition, with tokens [B, T, ..]; queries are [B, T, H * R, K].
    """
    query, *others = parts
    assert query is not None
    groups = state.shape[1] or 1
    heads, *own = (query.shape[2] or 1), *((query.value, i) for i in (0, 1, 3))
    query = query.reshape(*own[:2], groups, heads // groups, own[2])

    def step(number: Value, flag: Value, states: list[Value]) -> Iteration:
        at = Term(n, number)
        token = [None if part is None else part.gather(at, 1) for part in (query, *others)]
        changed, found = after(Term(n, states[0]), token)
        return Iteration([changed.value], [found.value])

    (last,), (rows,) = while_loop(n, step, [state.value], extent(n, own[1]).value)
    found = Term(n, rows).transpose(1, 0, 2, 3, 4)
    return found.reshape(*own[:2], heads, (state.value, 3)), Term(n, last)


def causally_convolved(
    x: Term, weight: Value, bias: Value | None, past: Term, dilation: int = 1
) -> tuple[Term, Term]:
    """Each channel of x [B, C, L] convolved with its kernel, which ends at the own element.

    `weight` is [C, 1, K], and `past` the elements before x: [B, C, (K - 1) * dilation]. Returns
    the convolution [B, C, L] and the past of what follows x.
    """
    n, reach, whole = x.n, past.shape[2], joined([past, x], 2)
    assert reach is not None
    found = convolution(
        n, whole.value, weight, bias, strides=(1,), dilations=(dilation,), padding=(0, 0),
        groups=weight.type.shape[0] or 1,
    )  # fmt: skip
    places = extent(n, (x.value, 2)) + constant(n, np.arange(reach))
    return Term(n, found), whole.gather(places, 2)
