"""The common operators."""

from __future__ import annotations

from ...common.vocabulary import *
from ..layer import Caffe2Layer, in_order, rows

_ACTIVATIONS = ("Relu", "Sigmoid", "Tanh", "Softplus", "Softsign", "Gelu")
_BINARY = "Add Sub Mul Div And Or Xor EQ=Equal LT=Less LE=LessEqual GT=Greater GE=GreaterEqual"
_REDUCTIONS = "ReduceMean ReduceSum ReduceMax ReduceMin ReduceL1 ReduceL2"
_SAME = (
    "EnsureDense",
    "Copy",
    "StopGradient",
    "Alias",
    "EnsureCPUOutput",
    "CopyCPUToGPU",
    "CopyGPUToCPU",
)
_ELEMENTS = {1: f32, 2: i32, 5: i1, 10: i64, 13: f64}


rows.add(direct("Abs Exp Floor Ceil Log Negative=Neg Not Sqrt Sin Cos"))


@rows(*_ACTIVATIONS)
def plain(n: Caffe2Layer, x: Value) -> Value:
    return activation(n, n.kind.lower(), x)


rows.add({name: lambda n, x: x for name in _SAME})


@rows("LeakyRelu", "Elu")
def with_alpha(n: Caffe2Layer, x: Value) -> Value:
    return activation(n, n.kind.lower(), x, n.float("alpha") if n.has("alpha") else None)


@rows("PRelu")
def prelu(n: Caffe2Layer, x: Value, slope: Value) -> Value:
    if slope.type.shape == (1,):
        return n(nn.Prelu(x, slope))
    return n(nn.Prelu(x, reshape(n, slope, [(slope, 0), *(1,) * (x.type.rank - 2)])))


rows.formulas(
    {
        "Clip": lambda n, x: clipped(n, x, n.float("min", -math.inf), n.float("max", math.inf)),
        "Sqr": lambda n, x: n(nn.Mul(x, x)),
        "Swish": lambda n, x: activation(n, "silu", x),
    }
)


@rows("Dropout")
def dropout(n: Caffe2Layer, x: Value) -> list[Value]:
    """x unchanged, in test mode or with a ratio of 0."""
    if not n.int("is_test") and n.float("ratio", 0.5):
        raise n.error("'is_test' is 0, and random elements of training are not supported")
    return [x]


@rows("Pow")
def power(n: Caffe2Layer, x: Value, by: Value | None = None) -> Value:
    return n(nn.Pow(x, n.scalar(n.float("exponent"), x) if by is None else by))


@rows("Cast")
def cast(n: Caffe2Layer, x: Value) -> Value:
    element = _ELEMENTS.get(n.int("to"))
    if element is None:
        raise n.error(f"element type {n.int('to')} is not supported")
    return n.cast(x, element)


def _binary(op: Callable[[Value, Value], Any]) -> Callable[..., Value]:
    def convert(n: Caffe2Layer, x: Value, y: Value) -> Value:
        axis = n.int("axis") if n.int("broadcast") and n.has("axis") else None
        return n(op(x, aligned_by_axis(n, x, y, axis)))

    return convert


def _many(op: Callable[[Value, Value], Any]) -> Callable[..., Value]:
    return lambda n, *inputs: combined(n, op, inputs)


rows.add({name: _binary(op) for name, op in named(_BINARY).items()})
rows.add({name: _many(op) for name, op in named("Sum=Add Max Min").items()})
rows.add(
    {
        name: reduction_row(op, axes="axes", keep=("keepdims", 1))
        for name, op in named(_REDUCTIONS).items()
    }
)


# -- windows and products --------------------------------------------------------------------------


@rows("Conv", "ConvTranspose")
@in_order
def convolved(n: Caffe2Layer, x: Value, weight: Value, bias: Value | None = None) -> Value:
    rank = x.type.rank - 2
    kernel = weight.type.shape[2:]
    if n.gives("kernel") and n.spatial("kernel", rank, 1) != kernel:
        raise n.error(f"its kernel differs from the weight's extents {list(kernel)}")
    how: dict[str, Any] = {
        "strides": n.spatial("stride", rank, 1),
        "dilations": n.spatial("dilation", rank, 1),
        "padding": n.padding(rank),
        "groups": n.int("group", 1),
    }
    if n.kind == "Conv":
        return convolution(n, x, weight, bias, **how)
    if isinstance(how["padding"], str):
        raise n.error(f"padding {how['padding']} of a transposed convolution")
    extra = n.spatial("adj", rank, 0)
    return transposed_convolution(n, x, weight, bias, output_padding=extra, **how)


@rows(*(f"{kind}Pool{dims}" for kind in ("Max", "Average") for dims in ("", "1D", "2D", "3D")))
@in_order
def pooling(n: Caffe2Layer, x: Value) -> Value:
    rank, is_max = x.type.rank - 2, n.kind.startswith("Max")
    if n.int("global_pooling"):
        return pooled_whole(n, x, is_max)
    pads = n.padding(rank)
    windows = Windows(
        n.spatial("kernel", rank, 1),
        n.spatial("stride", rank, 1),
        pads,
        n.spatial("dilation", rank, 1),
        n.int("legacy_pad") == 3,
    )
    for axis, extent in enumerate(x.type.shape[2:]) if windows.ceil else ():
        if extent is not None and windows.starts(axis, extent)[-1] >= extent and not any(pads):
            raise n.error(f"a last window behind the {extent} elements of an axis")
    counts = bool(n.int("count_include_pad"))
    if counts and windows.ceil and not is_max:  # also what lies behind the padding counts
        return (Term(n, sum_pooled(n, x, windows)) / float(math.prod(windows.kernel))).value
    return pooled(n, x, windows, is_max, counts)


@rows("FC", "FCTransposed")
def fully_connected(n: Caffe2Layer, x: Value, weight: Value, bias: Value) -> Value:
    axis = normalize_axis(n, n.int("axis", 1), x.type.rank)
    flat = merge(n, x, [*((i, i + 1) for i in range(axis)), (axis, x.type.rank)])
    own = normalize_axis(n, n.int("axis_w", 1), weight.type.rank)
    weight = merge(n, weight, ((0, own), (own, weight.type.rank)))
    if n.kind == "FC":
        weight = n(nn.Transpose(weight, permutation=(1, 0)))
    return n(nn.Add(n(nn.Matmul(flat, weight)), bias))


@rows("MatMul", "BatchMatMul")
def matmul(n: Caffe2Layer, x: Value, y: Value) -> Value:
    def turned(value: Value, name: str) -> Value:
        order = (*range(value.type.rank - 2), value.type.rank - 1, value.type.rank - 2)
        return n(nn.Transpose(value, permutation=order)) if n.int(name) else value

    return n(nn.Matmul(turned(x, "trans_a"), turned(y, "trans_b")))


_NORMS = {
    "InstanceNorm": instance_norm_row("x scale bias", eps=("epsilon", 1e-5)),
    "LRN": local_response_row(size="size", alpha=("alpha", 0), beta=("beta", 0), bias=("bias", 1)),
}


@rows("SpatialBN")
def batch_norm_(n: Caffe2Layer, x: Value, *others: Value) -> Value:
    """A batch norm, also of rows [N, C]."""
    # Caffe2's default is to train.
    eps, inference = ("epsilon", 1e-5), "is_test"
    convert = batch_norm_row("x scale bias mean var", eps=eps, inference=inference)
    return (convert if x.type.rank == 2 else in_order(convert))(n, x, *others)


rows.add({name: in_order(convert) for name, convert in _NORMS.items()})


@rows("Softmax")
def softmax(n: Caffe2Layer, x: Value) -> Value:
    axis = normalize_axis(n, n.int("axis", 1), x.type.rank)
    flat = merge(n, x, ((0, axis), (axis, x.type.rank)))
    out = n(nn.Softmax(flat, axis=1))
    return reshape(n, out, dims(x))


# -- shapes ----------------------------------------------------------------------------------------


@rows("Concat", "DepthConcat")
def concat(n: Caffe2Layer, *inputs: Value) -> list:
    rank = inputs[0].type.rank
    new = n.int("add_axis") * n.has("axis")  # without an axis, it means nothing
    axis = normalize_axis(n, n.int("axis", 1), rank + new)
    if new:
        inputs = tuple(unsqueezed(n, v, axis) for v in inputs)
    sizes = n.cast(shape_vector(n, [(v, axis) for v in inputs]), i32)
    joined = concatenated(n, inputs, axis)
    return [joined, sizes]


@rows("Split")
def split(n: Caffe2Layer, x: Value, sizes: Value | None = None) -> list:
    axis = normalize_axis(n, n.int("axis", 1), x.type.rank)
    parts = n.ints("split") if sizes is None else n.known_ints(sizes, "the sizes")
    if parts:
        found = split_into(n, x, axis, parts)
    else:
        found = split_evenly(n, x, axis, len(n.node.outputs))
    return [squeezed(n, one, axis) for one in found] if n.int("add_axis") else list(found)


@rows("Reshape")
def reshape_(n: Caffe2Layer, x: Value, shape: Value | None = None) -> list:
    wanted = n.ints("shape") if shape is None else n.known_ints(shape, "the shape")
    extents: list[Any] = [(x, i) if d == 0 else d for i, d in enumerate(wanted)]
    known = [x.type.shape[e[1]] if isinstance(e, tuple) else e for e in extents]
    old = shape_of(n, x)
    if -1 not in known:
        return [reshape(n, x, extents), old]
    rest = math.prod(d for d in known if d not in (None, -1))
    total = math.prod(d for d in x.type.shape if d is not None)
    if None in known and known.count(None) == x.type.shape.count(None) and total % rest == 0:
        extents[known.index(-1)] = total // rest
        return [reshape(n, x, extents), old]
    out = TensorType(tuple(None if d == -1 else d for d in known), x.type.element_type)
    return [n(nn.Reshape(x, out=out)), old]


@rows("Flatten", "FlattenToVec")
def flatten(n: Caffe2Layer, x: Value) -> Value:
    if n.kind == "FlattenToVec":
        return merge(n, x, ((0, x.type.rank),))
    axis, rank = n.int("axis", 1), x.type.rank
    if not 0 <= axis <= rank:
        raise n.error(f"axis {axis} of {shape_text(x)}, expected 0 to {rank}")
    return merge(n, x, ((0, axis), (axis, rank)))


@rows("Transpose")
def transpose(n: Caffe2Layer, x: Value) -> Value:
    order = n.ints("axes", range(x.type.rank - 1, -1, -1))
    return n(nn.Transpose(x, permutation=normalize_axes(n, order, x.type.rank)))


@rows("Squeeze")
def squeeze(n: Caffe2Layer, x: Value) -> Value:
    axes = normalize_axes(n, n.ints("dims"), x.type.rank)
    return squeezed(n, x, *axes)


@rows("ExpandDims")
def expand_dims(n: Caffe2Layer, x: Value) -> Value:
    return unsqueezed(n, x, *sorted(n.ints("dims")))


@rows("Slice")
def slice_(n: Caffe2Layer, x: Value, *bounds: Value) -> Value:
    starts, ends = n.ints("starts"), n.ints("ends")
    if len(bounds) == 2:
        starts, ends = (n.known_ints(one, "the bounds") for one in bounds)
    if len(starts) != x.type.rank or len(ends) != x.type.rank:
        raise n.error(f"bounds {list(starts)} and {list(ends)} of {shape_text(x)}")

    def place(given: int) -> int:
        """A slice end as Python counts it: -1 means after the last element."""
        return given if given >= 0 else FAR if given == -1 else given + 1

    pairs = enumerate(zip(starts, ends, strict=True))
    return sliced(n, x, {axis: (place(b), place(e), 1) for axis, (b, e) in pairs})


@rows("Gather")
def gather(n: Caffe2Layer, x: Value, indices: Value) -> Value:
    return gathered(n, x, indices, normalize_axis(n, n.int("axis"), x.type.rank))


@rows("ArgMax")
def argmax(n: Caffe2Layer, x: Value) -> Value:
    axis = normalize_axis(n, n.int("axis", -1), x.type.rank)
    return extreme_at(n, x, nn.Argmax, axis, keep=bool(n.int("keepdims", 1)))


@rows("ChannelShuffle")
@in_order
def shuffle(n: Caffe2Layer, x: Value) -> Value:
    return channels_shuffled(n, x, n.int("group", 1))


@rows("ResizeNearest")
@in_order
def resize(n: Caffe2Layer, x: Value, scales: Value | None = None) -> Value:
    if scales is None:
        given = [n.float("height_scale", 1), n.float("width_scale", 1)]
        scales = n.constant(np.array(given, np.float32))
    how = {"coordinate_transform": "asymmetric", "nearest_mode": "floor"}
    return resized_by_scales(n, x, scales, (2, 3), how)


@rows("PadImage")
@in_order
def pad(n: Caffe2Layer, x: Value) -> Value:
    rank = x.type.rank - 2
    pads = n.padding(rank)
    mode = {"constant": "constant", "reflect": "reflect", "edge": "edge"}.get(
        n.text("mode", "constant")
    )
    if isinstance(pads, str) or mode is None:
        raise n.error(f"padding {pads} by mode '{n.text('mode')}'")
    return padded_by(n, x, (0, 0, *pads[:rank], 0, 0, *pads[rank:]), n.float("value"), mode)
