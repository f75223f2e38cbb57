"""Layers that mix tokens by a state of fixed size, in place of a cache that grows with the text:
short convolutions, state spaces (Mamba) and gated delta rules.

Each reads the inputs `past.N.conv` [1, channels, kernel - 1], which are the last elements of a
convolution, and `past.N.state` [1, heads, keys, values], and has outputs of the next ones.

Sources: arXiv:2312.00752 (Mamba), arXiv:2405.21060 (Mamba 2), arXiv:2412.06464 (gated delta nets);
llama.cpp's `src/models` for the tensors' names.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ...ir.types import TensorType, f32
from ..common.inputs import Input
from .nodes import Nodes
from .rwkv import is_rwkv, rwkv_inputs


def state_inputs(model: Nodes, i: int) -> list[Input]:
    """The inputs for the states of layer `i`."""
    if is_rwkv(model, i):
        return rwkv_inputs(model, i)
    found = []
    for kind, shape in (("conv", _conv_shape(model, i)), ("state", _state_shape(model, i))):
        if shape:
            dims = ("",) * (1 + len(shape))
            found.append(Input(f"past.{i}.{kind}", TensorType((1, *shape), f32), dims))
    return found


def mixer(model: Nodes, i: int) -> Callable[[Nodes, int, str], str] | None:
    """The function that makes the nodes of a layer with a state, chosen by its tensors; or None."""
    for tensor, found in _MIXERS:
        if model.has(f"blk.{i}.{tensor}.weight"):
            return found
    return None


def _conv_shape(model: Nodes, i: int) -> Sequence[int]:
    """The channels of a layer's convolution, and how many past elements of each it reads."""
    for name in (f"blk.{i}.{one}.weight" for one in _CONVOLUTIONS):
        if model.has(name):
            tensor = model.file.tensors[name]
            if len(tensor.shape) != 2 or tensor.kind.read is not None:
                text = f"is of kind {tensor.kind.name} and shape {list(tensor.shape)}"
                raise model.source.error(f"its tensor '{name}' {text}, expected kernels of floats")
            channels, kernel = tensor.shape
            return channels, kernel - 1
    return ()


def _state_shape(model: Nodes, i: int) -> Sequence[int]:
    found = mixer(model, i)
    if found is state_space:
        return _inner(model), model.integer("ssm.state_size"), 1
    if found in (grouped_state_space, delta_net):
        heads = model.integer("ssm.time_step_rank")
        return heads, model.integer("ssm.state_size"), _value_size(model)
    return ()


def _inner(model: Nodes) -> int:
    return model.integer("ssm.inner_size")


def _value_size(model: Nodes) -> int:
    """The elements of a head's values."""
    inner, heads = _inner(model), model.integer("ssm.time_step_rank")
    if inner % heads:
        raise model.source.error(f"{inner} elements do not divide into {heads} heads")
    return inner // heads


def _convolved(model: Nodes, i: int, name: str, x: str, function: str | None = "silu") -> str:
    lead = f"blk.{i}"
    weight, bias = model.weight(f"{lead}.{name}.weight"), model.bias(f"{lead}.{name}")
    inputs = (x, f"past.{i}.conv", weight, *bias)
    found, present = model.node("CausalConv", f"{lead}.{name}", inputs, 2, function=function)
    model.outputs.append((f"present.{i}.conv", present))
    return found


def _split(model: Nodes, name: str, x: str, sizes: Sequence[int]) -> Sequence[str]:
    return model.node("Split", name, (x,), len(sizes), sizes=tuple(sizes))


def short_convolution(model: Nodes, i: int, x: str) -> str:
    """A convolution between two gates, as in LFM2."""
    lead = f"blk.{i}.shortconv"
    x = model.linear(f"{lead}.in_proj", x)
    first, last, x = _split(model, f"{lead}.parts", x, [model.width] * 3)
    x = model.node("Product", f"{lead}.opened", (first, x))
    x = _convolved(model, i, "shortconv.conv", x, None)
    return model.linear(f"{lead}.out_proj", model.node("Product", f"{lead}.passed", (last, x)))


def state_space(model: Nodes, i: int, x: str) -> str:
    """A state of every channel, which decays by rates and steps that the tokens tell (Mamba)."""
    lead, inner, size = f"blk.{i}.ssm", _inner(model), model.integer("ssm.state_size")
    x, gate = _split(model, f"{lead}_parts", model.linear(f"{lead}_in", x), (inner, inner))
    x = _convolved(model, i, "ssm_conv1d", x)
    sizes = (model.integer("ssm.time_step_rank"), size, size)
    told = list(_split(model, f"{lead}_told", model.linear(f"{lead}_x", x), sizes))
    is_normed = bool(model.get("ssm.dt_b_c_rms"))
    for k, one in enumerate(("dt", "b", "c")):
        name = f"{lead}_{one}_norm"
        own = (model.weight(f"{name}.weight"),) if model.has(f"{name}.weight") else ()
        if own or is_normed:
            given = {"form": "rms", "epsilon": model.epsilon}
            told[k] = model.node("Norm", name, (told[k], *own), **given)
    step, writes, reads = told
    step = model.linear(f"{lead}_dt", step)
    rates = model.parameter(f"{lead}_a", (inner, size))
    parameters = (rates, model.parameter(f"{lead}_d", (inner,)), f"past.{i}.state")
    inputs = (x, step, writes, reads, *parameters)
    x, state = model.node("StateSpace", f"{lead}_scan", inputs, 2)
    model.outputs.append((f"present.{i}.state", state))
    return _leaving(model, lead, x, gate)


def grouped_state_space(model: Nodes, i: int, x: str) -> str:
    """A layer with a state for each head that decays by one rate; all heads of a group use the same
    vectors to write and to read (Mamba 2).
    """
    lead, inner, size = f"blk.{i}.ssm", _inner(model), model.integer("ssm.state_size")
    heads, groups = model.integer("ssm.time_step_rank"), model.integer("ssm.group_count")
    vectors = groups * size
    sizes = (inner, inner + 2 * vectors, heads)
    gate, x, step = _split(model, f"{lead}_parts", model.linear(f"{lead}_in", x), sizes)
    x = _convolved(model, i, "ssm_conv1d", x)
    x, writes, reads = _split(model, f"{lead}_told", x, (inner, vectors, vectors))
    bias = model.parameter(f"{lead}_dt.bias", (heads,))
    rates = model.parameter(f"{lead}_a", (heads, 1))
    parameters = (rates, model.parameter(f"{lead}_d", (heads, 1)), f"past.{i}.state")
    inputs = (x, step, writes, reads, *parameters, bias)
    x, state = model.node(
        "GroupedStateSpace", f"{lead}_scan", inputs, 2, heads=heads, groups=groups
    )
    model.outputs.append((f"present.{i}.state", state))
    norm = f"{lead}_norm"
    if not model.has(f"{norm}.weight"):
        return _leaving(model, lead, x, gate)
    x = model.node("Gate", f"{lead}_gated", (gate, x), function="silu")
    x = model.node("Heads", f"{lead}_heads", (x,), heads=groups)
    x = model.node("JoinHeads", f"{lead}_joined", (model.norm(norm, x),))
    return model.linear(f"{lead}_out", x)


def delta_net(model: Nodes, i: int, x: str) -> str:
    """A layer with a state for each head, into which a token writes the difference between its
    value and the value that it reads from the state (gated delta nets, as in Qwen3-Next).
    """
    lead, block = f"blk.{i}.ssm", f"blk.{i}"
    heads, groups = model.integer("ssm.time_step_rank"), model.integer("ssm.group_count")
    size, values = model.integer("ssm.state_size"), _value_size(model)
    if heads % groups:
        raise model.source.error(f"{heads} heads of values do not divide into {groups} of keys")
    each = heads // groups
    if model.has(f"{block}.attn_qkv.weight"):
        qkv, gate = model.linear(f"{block}.attn_qkv", x), model.linear(f"{block}.attn_gate", x)
    else:
        sizes = (size, size, each * values, each * values)
        *parts, gate = _by_group(model, f"{lead}_in", x, groups, sizes)
        qkv = model.node("Join", f"{lead}_qkv", parts)
    if model.has(f"{lead}_ba.weight"):
        beta, step = _by_group(model, f"{lead}_ba", x, groups, (each, each))
    else:
        beta, step = (model.linear(f"{lead}_{one}", x) for one in ("beta", "alpha"))
    qkv = _convolved(model, i, "ssm_conv1d", qkv)
    rates, bias = (model.parameter(f"{lead}_{one}", (heads,)) for one in ("a", "dt.bias"))
    inputs = (
        *_split(model, f"{lead}_parts", qkv, (groups * size, groups * size, heads * values)),
        step, beta, rates, bias, f"past.{i}.state",
    )  # fmt: skip
    given = {"heads": heads, "groups": groups, "epsilon": model.epsilon}
    given["tiles"] = model.kind.tiles_keys
    x, state = model.node("DeltaNet", f"{lead}_scan", inputs, 2, **given)
    model.outputs.append((f"present.{i}.state", state))
    x = model.node("JoinHeads", f"{lead}_joined", (model.norm(f"{lead}_norm", x),))
    return _leaving(model, lead, x, gate)


def _by_group(model: Nodes, name: str, x: str, groups: int, sizes: Sequence[int]) -> Sequence[str]:
    """The parts of a product whose rows are stored group by group: each with its rows of all
    groups.
    """
    x = model.node("Heads", f"{name}_heads", (model.linear(name, x),), heads=groups)
    parts = _split(model, f"{name}_parts", x, sizes)
    return [model.node("JoinHeads", f"{name}_part.{k}", (part,)) for k, part in enumerate(parts)]


def _leaving(model: Nodes, lead: str, x: str, gate: str) -> str:
    """A layer's result: x times its gate, times the last matrix."""
    x = model.node("Gate", f"{lead}_gated", (gate, x), function="silu")
    return model.linear(f"{lead}_out", x)


_CONVOLUTIONS = ("shortconv.conv", "ssm_conv1d")
_MIXERS = (
    ("shortconv.in_proj", short_convolution),
    ("ssm_beta", delta_net),
    ("ssm_ba", delta_net),
    ("ssm_x", state_space),
    ("ssm_in", grouped_state_space),
)
"""The makers of nodes, by a tensor that only such a layer has (the first that a layer has)."""
