"""Operators of com.microsoft that carry states through concatenated sequences of several lengths.

Source: onnxruntime's ContribOperators.md; Yang, Kautz, Hatamizadeh, Gated Delta Networks (2024).
"""

from __future__ import annotations

from dataclasses import dataclass

from ...common.linear_attention import recurrence, repeated
from ...common.vocabulary import *
from ..node import Node
from ..registry import converter
from .microsoft import DOMAIN
from .microsoft_recurrences import RULES, check_gates
from .microsoft_streams import gate_function, wide


@dataclass(frozen=True)
class Rows:
    """The begins and ends of sequences [B] among all tokens [N], as i64."""

    starts: Term
    lengths: Term
    of: Term
    """The index of each token's sequence [N]."""
    place: Term
    """The position of each token in its sequence [N]."""

    @staticmethod
    def of_ends(n: Node, ends: Value, tokens: Value) -> Rows:
        """The rows from cumulative lengths [B + 1], which begin with 0."""
        sums, count = Term(n, ends).cast(i64), extent(n, (ends, 0)) - 1
        number = counting(n, count)
        starts, after = sums.gather(number), sums.gather(number + 1)
        at = counting(n, extent(n, (tokens, 0)))
        of = (after <= at.spread(0, 1)).cast(i64).sum(1)
        return Rows(starts, after - starts, of, at - starts.gather(of))

    def apart(self, x: Term) -> Term:
        """Tokens [N, ..] as [B, T, ..], with zeros after the end of a sequence."""
        inside = self.inside()
        at = (self.starts.spread(0, 1) + self._steps()).min(extent(x.n, (x.value, 0)) - 1)
        own = [(inside.value, i) for i in range(2)]
        return inside.reshape(*own, *[1] * (x.rank - 1)).choose(x.gather(at), 0.0)

    def together(self, x: Term) -> Term:
        """[B, T, ..] as tokens [N, ..]."""
        places = joined([self.of.spread(0, 1), self.place.spread(0, 1)], 1)
        return x.gather_nd(places)

    def _steps(self) -> Term:
        return counting(self.starts.n, self.lengths.largest(0))

    def inside(self) -> Term:
        """The mask of tokens in [B, T]."""
        return self._steps() < self.lengths.spread(0, 1)


@converter("GatedDeltaNet", domain=DOMAIN)
def gated_delta_net(
    n: Node,
    query: Value,
    key: Value | None = None,
    value: Value | None = None,
    ends: Value | None = None,
    decay: Value | None = None,
    beta: Value | None = None,
    initial: Value | None = None,
    factor: Value | None = None,
    bias: Value | None = None,
    *others: Value | None,
) -> list[Value | None]:
    """Linear attention of tokens [N, H, D], or [B, S, H, D], with states [B, H, V, K] of f32."""
    if n.int("state_update_capacity") or (initial is None and ends is None):
        raise n.error("updates of states, and no initial state or sequence ends, are not supported")
    rule = n.string("update_rule", "gated_delta", RULES)
    parts = _tokens(n, query, key, value, initial)
    gates = [_decay(n, decay, factor, bias, parts[2]), _beta(n, beta)]
    check_gates(n, rule, gates)
    if n.int("qk_l2_norm"):
        parts[:2] = [
            x / ((x * x).sum(x.rank - 1, keep=True) + 1e-6).function(nn.Sqrt) for x in parts[:2]
        ]
    width = n.extent(parts[0].value, parts[0].rank - 1)
    parts[0] = parts[0] * (n.float("scale", 0.0) or 1 / math.sqrt(width))
    whole = [*parts, *gates]
    rows = None if ends is None else Rows.of_ends(n, ends, query)
    if rows is not None:
        whole = [x and rows.apart(x) for x in whole]
    elif initial is not None and query.type.rank != 4:
        whole = [x and _in_batch(x, initial) for x in whole]
    q, k, v = whole[:3]
    heads = n.extent(v.value, 2)
    if initial is None:
        extents = [(v.value, 0), heads, width, (v.value, 3)]
        state = constant(n, 0.0, f32).filled(Term(n, shape_vector(n, extents)))
    else:
        state = Term(n, initial).transpose(0, 1, 3, 2)
    found, last = recurrence(n, [repeated(q, heads), repeated(k, heads), v, *whole[3:]], state)
    if rows is not None:
        found = rows.together(found)
    elif query.type.rank != 4:
        found = found.reshape((query, 0), heads, (found.value, 3))
    return [found.cast(query.type.element_type).value, last.transpose(0, 1, 3, 2).value, None]


def _tokens(
    n: Node, query: Value, key: Value | None, value: Value | None, initial: Value | None
) -> list[Term]:
    """Queries, keys and values, from inputs that may be concatenated."""
    if key is not None and value is not None:
        return [wide(n, x) for x in (query, key, value)]
    if initial is None:
        raise n.error("packed queries need an initial state")
    heads, wide_v, wide_k = (n.extent(initial, i) for i in (1, 2, 3))
    lead, total = query.type.rank - 1, n.extent(query, -1)
    each = (total - heads * wide_v) // 2
    ends, found = (0, each, 2 * each, total), []
    for i, width in enumerate((wide_k, wide_k, wide_v)):
        part = wide(n, query).part(lead, ends[i], ends[i + 1])
        own = [(query, j) for j in range(lead)]
        found.append(part.reshape(*own, (ends[i + 1] - ends[i]) // width, width))
    return found


def _in_batch(x: Term, initial: Value) -> Term:
    """Tokens [N, ..] as [B, N / B, ..]."""
    n = x.n
    steps = counting(n, extent(n, (x.value, 0)) / extent(n, (initial, 0)))
    own = [(x.value, i) for i in range(1, x.rank)]
    return x.reshape((initial, 0), (steps.value, 0), *own)


def _decay(
    n: Node, decay: Value | None, factor: Value | None, bias: Value | None, like: Term
) -> Term | None:
    """The logarithm of the part of the state that is kept, [.., H, 1 or K]."""
    if decay is None:
        return None
    kind = n.string("gate_activation", "none", ("none", "softplus", "qwen", "sigmoid", "kda"))
    found = wide(n, decay)
    if found.rank < like.rank:
        found = found.spread(0, 1)
    if kind == "none":
        return found
    if factor is None:
        raise n.error(f"the gate '{kind}' needs 'a_log'")
    power = Term(n, factor).function(nn.Exp).spread(0, 1)
    if bias is not None:
        heads = n.extent(factor, 0)
        count = math.prod(n.extent(bias, i) for i in range(bias.type.rank))
        found = found + Term(n, bias).reshape(heads, count // heads)
    if kind in ("softplus", "qwen"):
        return -power * found.function(nn.Softplus)
    return (power * found).function(nn.Sigmoid) * n.float("gate_lower_bound", -5.0)


def _beta(n: Node, beta: Value | None) -> Term | None:
    """The part of the update that is written, [.., H, 1]."""
    if beta is None:
        return None
    kind = n.string("beta_activation", "none", ("none", "sigmoid"))
    found = wide(n, beta)
    return (found.function(nn.Sigmoid) if kind == "sigmoid" else found).spread(0, 1)


@converter("VarlenCausalConvWithState", domain=DOMAIN)
def varied_causal_convolution(
    n: Node,
    x: Value,
    weight: Value,
    ends: Value,
    bias: Value | None,
    initial: Value,
    *others: Value | None,
) -> list[Value | None]:
    """Causal convolution of each channel of tokens [N, C] by a kernel [C, 1, K], per sequence.

    The states [B, C, (K - 1) * dilation] are the previous elements, then those for the next call.
    """
    if n.int("state_update_capacity") or any(v is not None for v in others):
        raise n.error("updates of states, and deltas of kernels, are not supported")
    rows, taps, dilation = Rows.of_ends(n, ends, x), n.extent(weight, 2), n.int("dilation", 1)
    reach, data = (taps - 1) * dilation, wide(n, x)
    before = wide(n, initial).transpose(0, 2, 1)
    history = joined([before.flattened(2), data], 0)
    first = extent(n, (initial, 0)) * reach

    def read(of: Term, place: Term) -> Term:
        """The tokens at positions in sequences; negative positions read the states."""
        old = of * reach + place + reach
        return history.gather((place < 0).choose(old, first + rows.starts.gather(of) + place))

    steps = constant(n, np.arange(taps) * dilation - reach)
    window = read(rows.of.spread(0, 1), rows.place.spread(0, 1) + steps)
    kernel = wide(n, weight).reshape(n.extent(weight, 0), taps).transpose(1, 0)
    y = (window * kernel).sum(1)
    if bias is not None:
        y = y + wide(n, bias)
    y = gate_function(n)(y).cast(x.type.element_type)
    number = counting(n, extent(n, (initial, 0))).spread(0, 1)
    last = rows.lengths.spread(0, 1) + constant(n, np.arange(reach) - reach)
    state = read(number + last * 0, last).transpose(0, 2, 1).cast(initial.type.element_type)
    return [y.value, state.value, None]
