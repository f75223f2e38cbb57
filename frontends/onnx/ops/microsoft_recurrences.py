"""Operators of com.microsoft that carry a state from token to token: linear attention, causal
convolutions.

Source: onnxruntime's ContribOperators.md; Yang, Kautz, Hatamizadeh, Gated Delta Networks (2024).
"""

from __future__ import annotations

from ...common.attention import width_of_heads
from ...common.linear_attention import causally_convolved, recurrence, repeated
from ...common.vocabulary import *
from ..node import Node
from ..registry import converter
from .microsoft import DOMAIN
from .microsoft_streams import gate_function, wide

RULES = ("linear", "gated", "delta", "gated_delta")


def heads_of(x: Term, heads: int) -> Term:
    """[B, T, H * D] as [B, T, H, D]."""
    return x.reshape((x.value, 0), (x.value, 1), heads, width_of_heads(x, heads))


@converter("LinearAttention", domain=DOMAIN)
def linear_attention(
    n: Node,
    query: Value,
    key: Value,
    value: Value,
    past: Value | None = None,
    decay: Value | None = None,
    beta: Value | None = None,
) -> list[Value]:
    rule = n.string("update_rule", "gated_delta", RULES)
    if n.int("state_window"):
        raise n.error("windows of states are not supported")
    q = heads_of(wide(n, query), n.int("q_num_heads"))
    groups = n.int("kv_num_heads")
    v, width = heads_of(wide(n, value), groups), q.shape[3]
    assert width is not None
    count = max(n.int("q_num_heads"), groups)
    k = wide(n, key)
    k = repeated(heads_of(k, (k.shape[2] or width) // width), groups)
    q = q * (n.float("scale", 0.0) or 1 / math.sqrt(width))
    gates = [_gate(n, g, groups) for g in (decay, beta)]
    check_gates(n, rule, gates)
    parts = [q, k, v, *gates]
    if past is not None:
        state = wide(n, past)
    else:
        shape = Term(n, shape_vector(n, [(query, 0), groups, width, (v.value, 3)]))
        state = constant(n, 0.0, f32).filled(shape)
    parts[0] = q if count > groups else repeated(q, count)
    found, last = recurrence(n, parts, state)
    kind = query.type.element_type if past is None else past.type.element_type
    out = found.reshape((query, 0), (query, 1), count * (v.shape[3] or 0))
    return [out.cast(query.type.element_type).value, last.cast(kind).value]


def _gate(n: Node, gate: Value | None, heads: int) -> Term | None:
    """[B, T, H * D] or [B, T, 1] as [B, T, H or 1, D]."""
    if gate is None:
        return None
    return heads_of(wide(n, gate), 1 if gate.type.shape[2] == 1 else heads)


def check_gates(n: Node, rule: str, gates: list[Term | None]) -> None:
    """Raise NncError if a gate that the rule needs is missing; drop gates that it does not use."""
    for i, (name, word) in enumerate((("decay", "gated"), ("beta", "delta"))):
        if word not in rule:
            gates[i] = None
        elif gates[i] is None:
            raise n.error(f"the rule '{rule}' needs '{name}'")


# -- convolutions ----------------------------------------------------------------------------------


@converter("CausalConvWithState", domain=DOMAIN)
def causal_convolution(
    n: Node, x: Value, weight: Value, bias: Value | None = None, past: Value | None = None
) -> list[Value]:
    """Each channel convolved with a kernel over past elements, and the past for the next call.

    x [B, C, L], weight [C, 1, K], past [B, C, (K - 1) * dilation]
    """
    if n.int("ndim", 1) != 1 or n.int("state_update_capacity") or n.int("state_window"):
        raise n.error("more dimensions, updates and windows of states are not supported")
    dilation = n.int("dilation", 1)
    reach = (n.extent(weight, 2) - 1) * dilation
    last = bool(n.int("channels_last"))
    data = _first(Term(n, x), 1) if last else Term(n, x)
    if past is not None:
        before = _first(Term(n, past), 1) if last else Term(n, past)
    else:
        shape = Term(n, shape_vector(n, [(data.value, 0), (data.value, 1), reach]))
        before = constant(n, 0.0, data.element).filled(shape)
    found, present = causally_convolved(data, weight, bias, before, dilation)
    out = gate_function(n)(found)
    if not last:
        return [out.value, present.value]
    own = [(x, i) for i in range(2, x.type.rank)]
    return [_last(out, own).value, _last(present, own).value]


def _first(x: Term, axis: int) -> Term:
    """[.., L, D..] with the dimensions after the length merged into one before it: [.., C, L]."""
    order = (*range(axis), axis + 1, axis)
    lead = [(x.value, i) for i in range(axis + 1)]
    width = math.prod(d or 0 for d in x.shape[axis + 1 :])
    return x.reshape(*lead, width).transpose(*order)


def _last(x: Term, extents: Sequence[Extent]) -> Term:
    """[.., C, L] as [.., L, D..]."""
    turned = x.mT
    return turned.reshape(*((turned.value, i) for i in range(x.rank - 1)), *extents)
