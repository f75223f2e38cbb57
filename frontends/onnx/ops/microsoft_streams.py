"""Operators of com.microsoft on gated norms, and on several parallel streams of features.

All compute in f32 and round their result. Source: onnxruntime's ContribOperators.md, and for the
streams Zhu et al., Hyper-Connections (2024).
"""

from __future__ import annotations

from ...common.vocabulary import *
from ..node import Node
from ..registry import converter
from .microsoft import DOMAIN


def wide(n: Node, x: Value) -> Term:
    """x in f32."""
    return Term(n, x).cast(f32)


def swish(x: Term) -> Term:
    """x times its sigmoid."""
    return x.made(nn.Swish(x.value, alpha=1.0))


def gate_function(n: Node, default: str = "none") -> Callable[[Term], Term]:
    """The function named by the attribute 'activation', in upper or lower case."""
    kinds = {
        "none": lambda x: x,
        "silu": swish,
        "swish": swish,
        "sigmoid": lambda x: x.function(nn.Sigmoid),
    }
    name = n.string("activation", default).lower()
    if name not in kinds:
        raise n.error(f"attribute 'activation' is '{name}', expected {' or '.join(kinds)}")
    return kinds[name]


def rms_norm(n: Node, x: Term, scale: Term | None = None) -> Term:
    """x divided by the root mean square over its last axis, then scaled."""
    mean = (x * x).mean(x.rank - 1, keep=True)
    found = x / (mean + n.float("epsilon", 1e-5)).function(nn.Sqrt)
    return found if scale is None else found * scale


@converter("GatedRMSNorm", domain=DOMAIN)
def gated_rms_norm(n: Node, x: Value, scale: Value, gate: Value) -> Value:
    """Groups of as many elements as `scale` has, RMS-normalized, times a function of the gate."""
    width, last = n.extent(scale, 0), n.extent(x, -1)
    if not width or last % width:
        raise n.error(f"{last} elements do not divide into runs of {width}")
    lead = [(x, i) for i in range(x.type.rank - 1)]
    apart = [wide(n, v).reshape(*lead, last // width, width) for v in (x, gate)]
    found = rms_norm(n, apart[0], wide(n, scale)) * gate_function(n, "silu")(apart[1])
    return found.reshape(*lead, last).cast(x.type.element_type).value


@converter("LinearAttentionGate", domain=DOMAIN)
def linear_attention_gate(
    n: Node, a: Value, bias: Value, scale: Value, b: Value | None = None
) -> list[Value | None]:
    element = a.type.element_type
    decay = (wide(n, a) + Term(n, bias)).function(nn.Softplus) * Term(n, scale)
    beta = None if b is None else wide(n, b).function(nn.Sigmoid).cast(element).value
    return [decay.cast(element).value, beta]


@converter("ScaledSiLU", domain=DOMAIN)
def scaled_silu(n: Node, x: Value, scale: Value | None = None) -> Value:
    """The Swish of x times a number, each step rounded to x's type."""
    element = x.type.element_type
    factor = n.float("alpha", 1.0) if scale is None else Term(n, as_scalar(n, scale)).cast(f32)
    scaled = (wide(n, x) * factor).cast(element)
    share = scaled.cast(f32).function(nn.Sigmoid).cast(element)
    return (scaled.cast(f32) * share.cast(f32)).cast(element).value


@converter("GatedAdd", domain=DOMAIN)
def gated_add(n: Node, x: Value, y: Value, gate: Value, gate_weight: Value | None = None) -> Value:
    """x + y * gate, rounded to x's type; the gate may be the result of a projection."""
    element, share = x.type.element_type, wide(n, gate)
    if gate_weight is not None:
        share = (share @ wide(n, gate_weight)).cast(element).cast(f32)
        share = share.function(nn.Sigmoid).cast(element).cast(f32)
    product = (wide(n, y) * share).cast(element).cast(f32)
    return (wide(n, x) + product).cast(element).value


# -- streams ---------------------------------------------------------------------------------------


def _streams(n: Node, x: Value, count: int) -> Term:
    """Streams [.., C, H] in f32 from [.., C * H], where C is `count`."""
    whole = wide(n, x)
    if not count:
        return whole
    last = n.extent(x, -1)
    if count < 0 or last % count:
        raise n.error(f"{last} elements do not divide into {count} streams")
    lead = [(x, i) for i in range(x.type.rank - 1)]
    return whole.reshape(*lead, count, last // count)


def _as_given(n: Node, found: Term, x: Value) -> Value:
    """Streams in the shape and type of input x."""
    own = [(x, i) for i in range(x.type.rank)]
    return found.reshape(*own).cast(x.type.element_type).value


def _gates(n: Node, gate: Value, streams: Term) -> Term:
    """Gates [.., C], [.., C, 1 or H] or [.., C * H], shaped to be multiplied with streams."""
    given = wide(n, gate)
    if given.rank == streams.rank:
        return given
    lead = [(gate, i) for i in range(given.rank - 1)]
    if given.shape[-1] == streams.shape[-2]:
        return given.spread(0, 1)
    return given.reshape(*lead, *_last_two(streams))


def _last_two(x: Term) -> list[Extent]:
    return [(x.value, i) for i in (x.rank - 2, x.rank - 1)]


@converter("BranchwiseRMSNorm", domain=DOMAIN)
def branchwise_rms_norm(n: Node, x: Value, scale: Value | None = None) -> Value:
    streams = _streams(n, x, n.int("num_branches"))
    factor = None if scale is None else wide(n, scale)
    if factor is not None and factor.rank == 1 and factor.shape != streams.shape[-1:]:
        factor = factor.reshape(*_last_two(streams))
    return _as_given(n, rms_norm(n, streams, factor), x)


@converter("HyperConnectionPreMix", domain=DOMAIN)
def hyper_connection_pre_mix(n: Node, x: Value, gate: Value) -> Value:
    """The sum of the streams, each times its gate."""
    streams = _streams(n, x, n.int("num_branches"))
    total = (streams * _gates(n, gate, streams)).sum(streams.rank - 2)
    return (total * n.float("reduction_scale", 1.0)).cast(x.type.element_type).value


@converter("HyperConnectionPostMix", domain=DOMAIN)
def hyper_connection_post_mix(
    n: Node, x: Value, output: Value, gate: Value, mix: Value | None = None
) -> Value:
    """Mixed streams, each plus a gated part of a branch's output."""
    streams = _streams(n, x, n.int("num_branches"))
    mixed = streams
    if mix is not None:
        mixed = wide(n, mix).mT @ streams
    lead = [(output, i) for i in range(output.type.rank)]
    branch = wide(n, output).reshape(*lead[:-1], 1, lead[-1])
    return _as_given(n, mixed + _gates(n, gate, streams) * branch, x)


@converter("EngramGate", domain=DOMAIN)
def engram_gate(
    n: Node,
    key: Value,
    query: Value,
    value: Value,
    key_scale: Value,
    query_scale: Value,
    scale: Value | None = None,
) -> list[Value | None]:
    """A value added to each stream, gated by the similarity of the stream's key and query.

    key, query [B, S, C, H], value [B, S, H] -> [B, S, C, H]
    """
    element, width = key.type.element_type, n.extent(key, -1)
    parts = ((key, key_scale), (query, query_scale))
    normal = [rms_norm(n, wide(n, v), wide(n, s)) for v, s in parts]
    likeness = (normal[0] * normal[1]).sum(3, keep=True) / math.sqrt(width)
    root = likeness.function(nn.Abs).max(1e-6).function(nn.Sqrt)
    gate = (likeness.function(nn.Sign) * root).function(nn.Sigmoid)
    found = gate * wide(n, value).reshape((value, 0), (value, 1), 1, width)
    normed = None if scale is None else rms_norm(n, found, wide(n, scale)).cast(element).value
    return [found.cast(element).value, normed]
