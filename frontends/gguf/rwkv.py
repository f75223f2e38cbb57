"""Layers of RWKV 7: a state of each head, of which a token removes a part and to which it writes,
and a feed-forward part; both read each token together with the one before it.

A layer reads the inputs `past.N.mixed` and `past.N.fed` [1, 1, width], what its parts read of the
last token, and `past.N.state` [1, heads, keys, values], and has outputs of the next ones.

Source: arXiv:2503.14456 (RWKV 7).
"""

from __future__ import annotations

from ...ir.types import TensorType, f32
from ..common.inputs import Input
from .nodes import Nodes

MIXES = ["receptance", "decay", "key", "value", "rate", "gate"]
"""What is made of the mixes of a token and the one before it, in the order of the tensor."""


def is_rwkv(model: Nodes, i: int) -> bool:
    """Whether layer `i` is one of RWKV 7."""
    return model.has(f"blk.{i}.time_mix_lerp_fused.weight")


def rwkv_inputs(model: Nodes, i: int) -> list[Input]:
    """The inputs for the states of layer `i`."""
    heads, size = _heads(model)
    last = (1, model.width)
    shapes = {"mixed": last, "state": (heads, size, size), "fed": last}
    return [
        Input(f"past.{i}.{what}", TensorType((1, *shape), f32), ("",) * (1 + len(shape)))
        for what, shape in shapes.items()
    ]


def _heads(model: Nodes) -> tuple[int, int]:
    size = model.integer("wkv.head_size")
    if model.width % size:
        raise model.source.error(f"{model.width} elements do not divide into heads of {size}")
    return model.width // size, size


def rwkv_layer(model: Nodes, i: int, x: str, first: str | None) -> tuple[str, str]:
    """The result of a layer for x, and the first layer's values (`first`, or the layer's own)."""
    lead = f"blk.{i}"
    mixed, first = _time_mix(model, i, model.norm(f"{lead}.attn_norm", x), first)
    x = model.node("Sum", f"{lead}.mixed_residual", (x, mixed))
    fed = _channel_mix(model, i, model.norm(f"{lead}.attn_norm_2", x))
    return model.node("Sum", f"{lead}.residual", (x, fed)), first


def _mixes(model: Nodes, i: int, what: str, x: str, weight: str, shape: tuple[int, ...]):
    """The mixes of each token of x and the one before it, by weights [mixes, .., width]."""
    inputs = (x, f"past.{i}.{what}", model.parameter(weight, shape))
    *found, last = model.node("Mixes", f"blk.{i}.{what}_mixes", inputs, shape[0] + 1)
    model.outputs.append((f"present.{i}.{what}", last))
    return found


def _channel_mix(model: Nodes, i: int, x: str) -> str:
    lead = f"blk.{i}.channel_mix"
    (mixed,) = _mixes(model, i, "fed", x, f"{lead}_lerp_k.weight", (1, 1, model.width))
    hidden = model.linear(f"{lead}_key", mixed)
    given = {"function": "relu_squared", "numbers": ()}
    hidden = model.node("Activation", f"{lead}_hidden", (hidden,), **given)
    return model.linear(f"{lead}_value", hidden)


def _time_mix(model: Nodes, i: int, x: str, first: str | None) -> tuple[str, str]:
    lead, width = f"blk.{i}.time_mix", model.width
    heads, _ = _heads(model)
    fused = f"{lead}_lerp_fused.weight"
    mixes = _mixes(model, i, "mixed", x, fused, (len(MIXES), 1, 1, width))
    of = dict(zip(MIXES, mixes, strict=True))
    r, k, v = (model.linear(f"{lead}_{one}", of[one]) for one in ("receptance", "key", "value"))
    decay = _low_rank(model, lead, "w", of["decay"], "tanh")
    rate = _function(model, f"{lead}_rate", _low_rank(model, lead, "a", of["rate"]))
    if first is None:
        first = v
    else:
        share = _function(model, f"{lead}_share", _low_rank(model, lead, "v", of["value"]))
        v = model.node("Toward", f"{lead}_values", (v, first, share))
    own = [model.parameter(f"{lead}_{one}.weight", (width,)) for one in ("k_k", "k_a", "r_k")]
    inputs = (r, k, v, decay, rate, *own, f"past.{i}.state")
    x, bonus, state = model.node("Wkv", f"{lead}_scan", inputs, 3, heads=heads)
    model.outputs.append((f"present.{i}.state", state))
    norm = [model.parameter(f"{lead}_ln.{one}", (width,)) for one in ("weight", "bias")]
    x = model.node("HeadNorm", f"{lead}_normed", (x, *norm), heads=heads, epsilon=64e-5)
    x = model.node("Sum", f"{lead}_with_bonus", (x, bonus))
    gate = model.linear(f"{lead}_g1", of["gate"])
    gate = model.linear(f"{lead}_g2", _function(model, f"{lead}_opened", gate))
    x = model.node("Product", f"{lead}_gated", (x, gate))
    return model.linear(f"{lead}_output", x), first


def _low_rank(model: Nodes, lead: str, one: str, x: str, function: str | None = None) -> str:
    """The product of x and two matrices, plus a bias: `one` is the letter in the tensors' names."""
    x = model.linear(f"{lead}_{one}1", x)
    if function is not None:
        x = _function(model, f"{lead}_{one}_inner", x, function)
    bias = model.parameter(f"{lead}_{one}0.weight", (model.width,))
    return model.node("Sum", f"{lead}_{one}", (model.linear(f"{lead}_{one}2", x), bias))


def _function(model: Nodes, name: str, x: str, function: str = "sigmoid") -> str:
    return model.node("Activation", name, (x,), function=function, numbers=())
