"""The converters of layers that carry a state of fixed size from token to token.

Sources: arXiv:2312.00752 (Mamba), arXiv:2405.21060 (Mamba 2), arXiv:2412.06464 (gated delta nets).
"""

from __future__ import annotations

from ...common.importer import NodeLayer
from ...common.linear_attention import causally_convolved, recurrence, repeated
from ...common.vocabulary import *
from ..layer import rows
from .decoder import ACTIVATIONS


@rows("CausalConv")
def causal_convolution(
    n: NodeLayer, x: Value, past: Value, weight: Value, bias: Value | None = None
) -> list[Value]:
    """Each channel of x [1, S, C] convolved with a kernel [C, K] that ends at the own token.

    The past has the K - 1 elements before x [1, C, K - 1].
    """
    channels, width = (n.extent(weight, i) for i in range(2))
    kernels = Term(n, weight).cast(f32).reshape(channels, 1, width)
    found, present = causally_convolved(Term(n, x).mT, kernels.value, None, Term(n, past))
    found = found.mT
    if bias is not None:
        found = found + Term(n, bias).cast(f32)
    if n.attributes["function"] is not None:
        found = ACTIVATIONS[n.attributes["function"]](found)
    return [found.value, present.value]


def _apart(x: Value | Term, n: NodeLayer, heads: int) -> Term:
    """[1, S, H * D] as [1, S, H, D]."""
    term = x if isinstance(x, Term) else Term(n, x)
    width = term.shape[2] or 0
    if width % heads:
        raise n.error(f"{width} elements cannot be divided into {heads} equal heads")
    return term.reshape((term.value, 0), (term.value, 1), heads, width // heads)


@rows("StateSpace")
def state_space(
    n: NodeLayer,
    x: Value,
    step: Value,
    writes: Value,
    reads: Value,
    rates: Value,
    passes: Value,
    past: Value,
) -> list[Value]:
    """What tokens read [1, S, C] of the states [1, C, N, 1] of channels, and the last states.

    x and steps are [1, S, C], writing and reading vectors [1, S, N], rates [C, N]; `passes` [C] is
    the factor with which x itself is added to the result.
    """
    channels = n.extent(x, 2)
    width = Term(n, step).function(nn.Softplus)
    decay = width.spread(0, 1) * Term(n, rates).cast(f32)
    value = (width * Term(n, x)).spread(0, 1)
    query, key = (repeated(_apart(v, n, 1), channels) for v in (reads, writes))
    found, last = recurrence(n, [query, key, value, decay, None], Term(n, past))
    own = found.reshape((x, 0), (x, 1), channels)
    return [(own + Term(n, x) * Term(n, passes).cast(f32)).value, last.value]


@rows("GroupedStateSpace")
def grouped_state_space(
    n: NodeLayer,
    x: Value,
    step: Value,
    writes: Value,
    reads: Value,
    rates: Value,
    passes: Value,
    past: Value,
    bias: Value,
) -> list[Value]:
    """What tokens read [1, S, H * D] of the states [1, H, N, D] of heads, and the last states.

    x is [1, S, H * D], steps [1, S, H], rates [H, 1]; the writing and reading vectors of G groups
    are [1, S, G * N]. `passes` [H, 1] is the factor with which x itself is added to the result.
    """
    heads, groups = n.attributes["heads"], n.attributes["groups"]
    width = (Term(n, step) + Term(n, bias).cast(f32)).function(nn.Softplus)
    decay = (width * Term(n, rates).cast(f32).flat()).spread(0, 1)
    own = _apart(x, n, heads)
    query, key = (repeated(_apart(v, n, groups), heads) for v in (reads, writes))
    value = own * width.spread(0, 1)
    found, last = recurrence(n, [query, key, value, decay, None], Term(n, past))
    found = found + own * Term(n, passes).cast(f32)
    return [found.reshape(*((x, i) for i in range(3))).value, last.value]


@rows("DeltaNet")
def delta_net(
    n: NodeLayer,
    q: Value,
    k: Value,
    v: Value,
    step: Value,
    beta: Value,
    rates: Value,
    bias: Value,
    past: Value,
) -> list[Value]:
    """What tokens read [1, H, S, D] of the states [1, H, K, D] of heads, and the last states.

    Queries and keys of G groups are [1, S, G * K], values [1, S, H * D], steps and shares `beta`
    [1, S, H], rates and the steps' bias [H].
    """
    heads, groups = n.attributes["heads"], n.attributes["groups"]
    query, key = (_unit(_apart(x, n, groups), n.attributes["epsilon"]) for x in (q, k))
    if n.attributes["tiles"]:
        turn = constant(n, np.arange(heads) % groups)
        query, key = query.gather(turn, 2), key.gather(turn, 2)
    else:
        query, key = repeated(query, heads), repeated(key, heads)
    query = query * (1 / math.sqrt(query.shape[3] or 1))
    width = (Term(n, step) + Term(n, bias).cast(f32)).function(nn.Softplus)
    decay = (width * Term(n, rates).cast(f32)).spread(0, 1)
    share = Term(n, beta).function(nn.Sigmoid).spread(0, 1)
    parts = [query, key, _apart(v, n, heads), decay, share]
    found, last = recurrence(n, parts, Term(n, past))
    return [found.transpose(0, 2, 1, 3).value, last.value]


def _unit(x: Term, epsilon: float) -> Term:
    """x over its length along the last axis."""
    return x / ((x * x).sum(x.rank - 1, keep=True) + epsilon).function(nn.Sqrt)
