"""The MIL operations of each layer of a network."""

from __future__ import annotations

import reprlib
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..common.fields import RecordFields
from ..common.graph import Node
from ..wire.protobuf import Record
from . import network_control as control
from . import network_recurrent as recurrent
from . import network_reductions as reductions
from . import network_windows as windows
from .layer import IGNORED
from .network_reader import Reader
from .network_tables import (
    ACTIVATIONS,
    BINARY,
    EVERY,
    LAYERS,
    REDUCTIONS,
    SAMPLING,
    UNARY,
    ZEROS,
    Row,
)
from .network_windows import bias_of, edge_sizes

Convert = Callable[[Reader, Any, Sequence[str], str], None]
_ABOUT = ("name", "input", "output")
_TABLE: dict[str, Convert] = {}


def _layer(*kinds: str) -> Callable[[Convert], Convert]:
    """Register a function of (reader, parameters, inputs, output) for layers of these kinds."""

    def register(function: Convert) -> Convert:
        _TABLE.update(dict.fromkeys(kinds, function))
        return function

    return register


def add_layer(r: Reader, layer: Record) -> None:
    """Add the operations of a layer. A layer without a converter becomes a node that cannot be
    imported.
    """
    kinds = (name for name, _ in layer.fields() if name not in _ABOUT)
    kind = next(kinds, "")
    r.place, r.kind = layer.name, kind
    inputs, outputs = list(layer.input), list(layer.output) or [layer.name]
    r.outputs = outputs
    p: Any = RecordFields(layer.part(kind)) if kind else None
    if r.exact and _works_on_images(kind, p):
        _on_images(r, p, inputs, outputs[0])
    elif kind in _TABLE:
        _TABLE[kind](r, p, inputs or [""], outputs[0])
    elif kind in LAYERS:
        _by_row(r, LAYERS[kind], p, inputs, outputs)
    else:
        values = [r.operand(one) for one in inputs]
        name = f"{kind or 'unknown layer'} of a network"
        r.nodes.append(Node(name, layer.name, values, outputs, {}))
        r.names |= dict(zip(outputs, outputs, strict=True))
        return
    for name, value in IGNORED.refused(kind, p.unread()):
        raise r.error(f"'{name}' is {reprlib.repr(value)}, which is not supported")


_IMAGES = {"batchnorm", "lrn", "convolution", "pooling", "flatten", "embedding"}
"""Layers for the last three dimensions, channels, height and width; others before are examples."""


def _works_on_images(kind: str, p: Any) -> bool:
    own = {name for name, _ in p.fields()} if kind == "activation" else set()
    return kind in _IMAGES or bool(own & {"PReLU", "parametricSoftplus"})


def _on_images(r: Reader, p: Any, inputs: Sequence[str], out: str) -> None:
    """Add a layer of [N, C, H, W] for a blob of any rank, whose leading dimensions become one."""
    images, made = [f"{out} images", *inputs[1:]], f"{out} made"
    r.add("images of a network", images[0], {"x": inputs[0]})
    if r.kind in _TABLE:
        _TABLE[r.kind](r, p, images, made)
    else:
        _by_row(r, LAYERS[r.kind], p, images, [made])
    r.add("blob of a network", out, {"x": made, "ref_tensor": inputs[0]})


def _is_number(text: str) -> bool:
    return text.lstrip("-").isdigit()


def _by_row(
    r: Reader, row: Row, p: Record, inputs: Sequence[str], outputs: list[str], every: bool = False
) -> None:
    """Add an operation as a table row says, with the attributes that are present, or all if `every`
    (missing ones are 0).
    """
    bound: dict[str, Any] = dict(zip(row.inputs, inputs, strict=False))
    if row.inputs[0].startswith("*"):
        bound = {row.inputs[0][1:]: list(inputs)}
    elif len(inputs) > len(row.inputs):
        raise r.error(f"{len(inputs)} inputs, of which {len(row.inputs)} are supported")
    given: dict[str, Any] = {name: int(f) for name, f in row.fields.items() if _is_number(f)}
    fields = {name: f for name, f in row.fields.items() if name not in given}
    for name, field in fields.items():
        value = getattr(p, field)
        if isinstance(value, int | float) and not value:
            value = ZEROS.get((row.op, name), value)
        if every or p.has(field) or isinstance(value, int | float | str):
            given[name] = value
    kept = {name: v if isinstance(v, str) else _array(v) for name, v in given.items()}
    r.add(row.op, outputs, bound, **kept)


def _array(value: Any) -> np.ndarray:
    """The numbers in a layer's field as an array."""
    found = np.asarray(value)
    return found.astype(np.float32) if found.dtype.kind == "f" else found


def _folded(kind: str) -> Convert:
    """A converter that folds two or more blobs, or one and a number, with a binary op."""

    def convert(r: Reader, p: Record, inputs: Sequence[str], out: str) -> None:
        if len(inputs) == 1:
            r.add(kind, out, {"x": inputs[0], "y": np.float32(p.alpha)})
            return
        total = inputs[0]
        for i, one in enumerate(inputs[1:]):
            following = out if i == len(inputs) - 2 else f"{out} {i}"
            r.add(kind, following, {"x": total, "y": one})
            total = following

    return convert


_TABLE.update({layer: _folded(op) for layer, op in BINARY.items()})


@_layer("average")
def _average(r: Reader, p: Record, inputs: Sequence[str], out: str) -> None:
    _folded("add")(r, p, inputs, f"{out} sum")
    r.add("mul", out, {"x": f"{out} sum", "y": np.float32(1 / len(inputs))})


_TABLE.update({layer: reductions.over_axes(op) for layer, op in REDUCTIONS.items()})
_layer("reduce")(reductions.over_images)


@_layer(*EVERY)
def _every(r: Reader, p: Record, inputs: Sequence[str], out: str) -> None:
    _by_row(r, EVERY[r.kind], p, [one for one in inputs if one], [out], every=True)


_layer("simpleRecurrent")(recurrent.simple)
_layer("gru")(recurrent.gru)
_layer("uniDirectionalLSTM", "biDirectionalLSTM")(recurrent.lstm)


@_layer("broadcastToLike", "reshapeLike")
def _like(r: Reader, p: Record, inputs: Sequence[str], out: str) -> None:
    r.add("shape", f"{out} shape", {"x": inputs[1]})
    op = "reshape" if r.kind == "reshapeLike" else "broadcast_to"
    r.add(op, out, {"x": inputs[0], "shape": f"{out} shape"})


_DRAWN = {
    "Normal": {"mean": "mean", "stddev": "stdDev"},
    "Uniform": {"low": "minVal", "high": "maxVal"},
    "Bernoulli": {"prob": "prob"},
}


@_layer(*(f"random{name}{form}" for name in _DRAWN for form in ("Like", "Static", "Dynamic")))
def _random(r: Reader, p: Record, inputs: Sequence[str], out: str) -> None:
    """Random numbers; the shape is a blob's, the layer's, or the contents of a blob."""
    name = next(name for name in _DRAWN if r.kind.startswith(f"random{name}"))
    shape: Any = inputs[0]
    if r.kind.endswith("Like"):
        shape = f"{out} shape"
        r.add("shape", shape, {"x": inputs[0]})
    elif r.kind.endswith("Static"):
        shape = np.array(p.outputShape, np.int32)
    given = {key: np.float32(getattr(p, field)) for key, field in _DRAWN[name].items()}
    r.add(f"random_{name.lower()}", out, {"shape": shape}, seed=np.int64(p.seed), **given)


@_layer("categoricalDistribution")
def _categorical(r: Reader, p: Record, inputs: Sequence[str], out: str) -> None:
    x, mode = inputs[0], "logits" if p.isLogits else "probs"
    if p.temperature not in (0, 1):
        raise r.error(f"a temperature of {p.temperature} is not supported")
    r.add("random_categorical", out, {"x": x}, mode=mode, size=p.numSamples or 1, seed=p.seed)


@_layer("dot")
def _dot(r: Reader, p: Record, inputs: Sequence[str], out: str) -> None:
    """The dot product along channels, or the cosine similarity: that of normalized vectors."""
    sides = list(inputs)
    over = {"axes": np.array([-3]), "keep_dims": True}
    for i, side in enumerate(sides if p.cosineSimilarity else ()):
        r.add("reduce_l2_norm", f"{out} length {i}", {"x": side}, **over)
        sides[i] = f"{out} unit {i}"
        r.add("real_div", sides[i], {"x": side, "y": f"{out} length {i}"})
    r.add("mul", f"{out} products", {"x": sides[0], "y": sides[1]})
    r.add("reduce_sum", out, {"x": f"{out} products"}, **over)


@_layer("sequenceRepeat")
def _repeated(r: Reader, p: Record, inputs: Sequence[str], out: str) -> None:
    if not r.exact:
        raise r.error("sequences of several steps are supported in arrays of exact shape only")
    r.add("tile", out, {"x": inputs[0]}, reps=np.array([p.nRepetitions or 1, 1, 1, 1, 1]))


@_layer("cropResize")
def _crop_resize(r: Reader, p: Record, inputs: Sequence[str], out: str) -> None:
    """Regions of images [1, N, C, H, W], which have four dimensions unless shapes are exact."""
    x = inputs[0]
    if r.exact:
        x = f"{out} images"
        r.add("squeeze", x, {"x": inputs[0]}, axes=np.array([0]))
    rows, columns = list(p.targetSize) or [1, 1]
    given = {
        "target_height": rows,
        "target_width": columns,
        "normalized_coordinates": p.normalizedCoordinates,
        "spatial_scale": np.float32(p.spatialScale if p.has("spatialScale") else 1),
        "box_coordinate_mode": p.part("boxIndicesMode").boxMode,
        "sampling_mode": SAMPLING[p.part("mode").samplingMethod],
    }
    r.add("crop_resize", out, {"x": x, "roi": inputs[1]}, **given)


_layer("branch")(control.branch)
_layer("loop")(control.loop)
_layer("loopBreak", "loopContinue")(control.leave)
_layer("convolution")(windows.convolution)
_layer("convolution3d")(windows.convolution3d)
_layer("pooling")(windows.pooling)
_layer("pooling3d", "globalPooling3d")(windows.pooling3d)

# -- products --------------------------------------------------------------------------------------


@_layer("innerProduct")
def _inner_product(r: Reader, p: Record, inputs: Sequence[str], out: str) -> None:
    bound = {"weight": r.weight(p.part("weights"), [p.outputChannels, p.inputChannels])}
    bound |= bias_of(r, p, p.outputChannels)
    if r.exact:
        r.add("product of a network", out, {"x": inputs[0], **bound})
        return
    r.reshaped(f"{out} flat", inputs[0], [-1, p.inputChannels])
    r.add("linear", f"{out} row", {"x": f"{out} flat", **bound})
    r.reshaped(out, f"{out} row", [-1, p.outputChannels, 1, 1])


def _biased(r: Reader, op: str, out: str, bound: dict, bias: Any, **given: Any) -> None:
    """Add an operation, then the addition of a bias if there is one."""
    final = out if bias is None else f"{out} unbiased"
    r.add(op, final, bound, **given)
    if bias is not None:
        r.add("add", out, {"x": final, "y": bias})


@_layer("embedding", "embeddingND")
def _embedding(r: Reader, p: Record, inputs: Sequence[str], out: str) -> None:
    """Rows of a table; of the older kind, images of one element [N, 1, 1, 1] become [N, C, 1, 1]"""
    older = p.has("inputDim")
    width = p.outputChannels if older else p.embeddingSize
    table = r.weight(p.part("weights"), [width, p.inputDim if older else p.vocabSize]).T
    bias = bias_of(r, p, width).get("bias")
    r.add("cast", f"{out} ids", {"x": inputs[0]}, dtype="int32")
    if not older:
        r.add("squeeze", f"{out} flat", {"x": f"{out} ids"}, axes=np.array([-1]))
        _biased(r, "gather", out, {"x": table, "indices": f"{out} flat"}, bias, axis=0)
        return
    r.reshaped(f"{out} flat", f"{out} ids", [-1])
    _biased(r, "gather", f"{out} row", {"x": table, "indices": f"{out} flat"}, bias, axis=0)
    r.reshaped(out, f"{out} row", [-1, width, 1, 1])


@_layer("batchedMatmul")
def _batched_matmul(r: Reader, p: Record, inputs: Sequence[str], out: str) -> None:
    bias, other = None, inputs[-1]
    if len(inputs) == 1:
        columns = p.weightMatrixSecondDimension  # which stand one after the other
        other = r.weight(p.part("weights"), [columns, p.weightMatrixFirstDimension]).T
        bias = bias_of(r, p, columns).get("bias")
    turned = {"transpose_x": p.transposeA, "transpose_y": p.transposeB}
    _biased(r, "matmul", out, {"x": inputs[0], "y": other}, bias, **turned)


# -- elementwise, normalizations -------------------------------------------------------------------


@_layer("activation")
def _activation(r: Reader, p: Record, inputs: Sequence[str], out: str) -> None:
    kind = next((name for name, _ in p.fields()), "linear")
    own = p.part(kind)
    if kind == "PReLU":
        r.add("prelu", out, {"x": inputs[0], "alpha": own.part("alpha").floatValue})
    elif kind == "parametricSoftplus":
        both = {name: own.part(name).floatValue for name in ("alpha", "beta")}
        r.add("softplus_parametric", out, {"x": inputs[0], **both})
    elif kind in ACTIVATIONS:
        _by_row(r, ACTIVATIONS[kind], own, inputs, [out], every=True)
    else:
        raise r.error(f"activation {kind} is not supported")


@_layer("unary")
def _unary(r: Reader, p: Record, inputs: Sequence[str], out: str) -> None:
    given = {"alpha": np.float32(p.scale or 1), "beta": np.float32(p.shift)}
    r.add("linear_activation", f"{out} in", {"x": inputs[0]}, **given)
    if p.type == "POWER":
        r.add("pow", out, {"x": f"{out} in", "y": np.float32(p.alpha)})
    else:
        if p.type not in UNARY:
            raise r.error(f"a function {p.type} is not supported")
        _by_row(r, UNARY[p.type], p, [f"{out} in"], [out], every=True)


@_layer("batchnorm")
def _batchnorm(r: Reader, p: Record, inputs: Sequence[str], out: str) -> None:
    epsilon = np.float32(p.epsilon or 1e-5)
    if p.computeMeanVar and not p.instanceNormalization:
        raise r.error("mean and variance that are computed from the batch are not supported")
    names = ["gamma", "beta"] if p.instanceNormalization else ["gamma", "beta", "mean", "variance"]
    parts = {name: r.weight(p.part(name), [p.channels]) for name in names}
    op = "instance_norm" if p.instanceNormalization else "batch_norm"
    r.add(op, out, {"x": inputs[0], **parts}, epsilon=epsilon)


@_layer("layerNormalization")
def _layer_normalization(r: Reader, p: Record, inputs: Sequence[str], out: str) -> None:
    shape = list(p.normalizedShape)
    parts = {name: r.weight(p.part(name), shape) for name in ("gamma", "beta")}
    given = {"axes": np.arange(-len(shape), 0), "epsilon": np.float32(p.eps)}
    r.add("layer_norm", out, {"x": inputs[0], **parts}, **given)


@_layer("mvn")
def _moments(r: Reader, p: Record, inputs: Sequence[str], out: str) -> None:
    axes = np.arange(-3 if p.acrossChannels else -2, 0)
    if not p.normalizeVariance:
        r.add("reduce_mean", f"{out} mean", {"x": inputs[0]}, axes=axes, keep_dims=True)
        r.add("sub", out, {"x": inputs[0], "y": f"{out} mean"})
        return
    epsilon = np.float32(p.epsilon or 1e-6)
    r.add("layer_norm", out, {"x": inputs[0]}, axes=axes, epsilon=epsilon)


def _of_channels(shape: Sequence[int]) -> list[int]:
    """The shape of numbers for [C, H, W]; a single extent is that of the channels."""
    return [*shape, 1, 1] if len(shape) == 1 else list(shape)


@_layer("scale")
def _scale(r: Reader, p: Record, inputs: Sequence[str], out: str) -> None:
    bias = bias_of(r, p, *_of_channels(p.shapeBias)).get("bias")
    scale = r.weight(p.part("scale"), _of_channels(p.shapeScale))
    _biased(r, "mul", out, {"x": inputs[0], "y": scale}, bias)


@_layer("bias")
def _add_bias(r: Reader, p: Record, inputs: Sequence[str], out: str) -> None:
    r.add("add", out, {"x": inputs[0], "y": r.weight(p.part("bias"), _of_channels(p.shape))})


@_layer("loadConstant", "loadConstantND")
def _constant(r: Reader, p: Record, inputs: Sequence[str], out: str) -> None:
    r.add("identity", out, {"x": r.weight(p.part("data"), p.shape)})


# -- shapes ----------------------------------------------------------------------------------------


@_layer("padding")
def _pad(r: Reader, p: Record, inputs: Sequence[str], out: str) -> None:
    mode = p.which("constant", "reflection", "replication")
    given = {
        "pad": np.array(edge_sizes(p.part("paddingAmounts")) or [0] * 4),
        "mode": {"reflection": "reflect", "replication": "replicate"}.get(mode, "constant"),
        "constant_val": np.float32(p.part("constant").value),
    }
    r.add("pad", out, {"x": inputs[0]}, **given)


@_layer("crop")
def _crop(r: Reader, p: Record, inputs: Sequence[str], out: str) -> None:
    """A crop by amounts at each side, or from an offset to the size of another blob."""
    if len(inputs) > 1:
        offset = np.array(list(p.offset) or [0, 0])
        r.add("crop_like", out, {"x": inputs[0], "ref_tensor": inputs[1]}, offset=offset)
        return
    edges = np.array(edge_sizes(p.part("cropAmounts")) or [0] * 4)
    if len(edges) != 4:
        raise r.error(f"{len(edges)} numbers, expected 4")
    r.add("crop", out, {"x": inputs[0]}, crop_height=edges[:2], crop_width=edges[2:])


@_layer("upsample")
def _upsample(r: Reader, p: Record, inputs: Sequence[str], out: str) -> None:
    given = list(p.fractionalScalingFactor) or list(p.scalingFactor) or [1, 1]
    how: dict[str, Any] = {"scale_factor_height": given[0], "scale_factor_width": given[1]}
    kind = "nearest_neighbor"
    if p.mode != "NN":
        kind, corners = "bilinear", p.linearUpsampleMode
        how["align_corners"] = corners == "ALIGN_CORNERS_TRUE"
        how["half_pixel_centers"] = corners == "ALIGN_CORNERS_FALSE"
    r.add(f"upsample_{kind}", out, {"x": inputs[0]}, **how)


@_layer("resizeBilinear")
def _resize_bilinear(r: Reader, p: Record, inputs: Sequence[str], out: str) -> None:
    rows, columns = list(p.targetSize) or [1, 1]
    how = SAMPLING.get(p.part("mode").samplingMethod, "")
    given = {"target_size_height": rows, "target_size_width": columns, "sampling_mode": how}
    r.add("resize_bilinear", out, {"x": inputs[0]}, **given)


@_layer("reorganizeData")
def _reorganize(r: Reader, p: Record, inputs: Sequence[str], out: str) -> None:
    op = str(p.mode).lower()
    size = "upscale_factor" if op == "pixel_shuffle" else "block_size"
    r.add(op, out, {"x": inputs[0]}, **{size: p.blockSize})


@_layer("flatten", "reshape")
def _reshape(r: Reader, p: Record, inputs: Sequence[str], out: str) -> None:
    """[N, C, H, W] reshaped to another [N, ..] of rank 4; flattened, all elements are channels."""
    x, last = inputs[0], p.mode == "CHANNEL_LAST"
    if last:
        r.add("transpose", f"{out} last", {"x": x}, perm=np.array([0, 2, 3, 1]))
        x = f"{out} last"
    if not (wanted := list(getattr(p, "targetShape", ()))[-3:]):
        r.reshaped(f"{out} row", x, [0, -1])
        r.add("expand_dims", out, {"x": f"{out} row"}, axes=np.array([2, 3]))
    elif last:
        r.reshaped(f"{out} moved", x, [-1, *wanted[1:], wanted[0]])
        r.add("transpose", out, {"x": f"{out} moved"}, perm=np.array([0, 3, 1, 2]))
    else:
        r.reshaped(out, x, [-1, *wanted])


@_layer("slice")
def _slice(r: Reader, p: Record, inputs: Sequence[str], out: str) -> None:
    """A slice of one of the dimensions C, H and W."""
    if p.axis.isdigit():
        raise r.error(f"a slice of {p.axis} is not supported")
    axis = "CHW".index(p.axis[0]) - 3
    given = {"axis": axis, "begin": p.startIndex, "end": p.endIndex, "stride": p.stride or 1}
    r.add("slice of a network", out, {"x": inputs[0]}, **given)


@_layer("squeeze")
def _squeeze(r: Reader, p: Record, inputs: Sequence[str], out: str) -> None:
    given = {} if p.squeezeAll or not p.axes else {"axes": np.array(p.axes)}
    r.add("squeeze", out, {"x": inputs[0]}, **given)


@_layer("argMax", "argMin")
def _arg_extreme(r: Reader, p: Record, inputs: Sequence[str], out: str) -> None:
    r.add(f"reduce_{r.kind.lower()}", out, {"x": inputs[0]}, axis=p.axis, keep_dims=not p.removeDim)


@_layer("argSort")
def _arg_sort(r: Reader, p: Record, inputs: Sequence[str], out: str) -> None:
    r.add("argsort", out, {"x": inputs[0]}, axis=p.axis, ascending=not p.descending)


@_layer("reverse")
def _reverse(r: Reader, p: Record, inputs: Sequence[str], out: str) -> None:
    r.add("reverse", out, {"x": inputs[0]}, axes=np.flatnonzero(np.array(p.reverseDim)))
