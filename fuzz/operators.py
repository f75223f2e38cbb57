"""The operators of valid models: the operands and attributes that each takes."""

from __future__ import annotations

import numpy as np
from onnx import helper, numpy_helper

from .graphs import ANY, BOOLS, FLOATS, INTEGERS, Graph, RejectedNodeError, Value

PLAIN = ("float32", "float64", "float16")
F32 = ("float32",)
SMOOTH = (
    *("Sigmoid", "Tanh", "Exp", "Erf", "Softplus", "Softsign", "Sin", "Cos", "Atan", "Sinh"),
    *("Elu", "LeakyRelu", "Selu", "HardSigmoid", "HardSwish", "Celu", "Reciprocal", "Sqrt", "Log"),
    *("Asinh", "Mish", "Gelu", "LpNormalization", "Cosh", "Swish"),
)
STEPS = ("Sign", "Floor", "Ceil", "Round", "ThresholdedRelu", "Shrink", "IsNaN", "IsInf")
EXACT = ("Abs", "Neg", "Relu", "Identity")
ARITHMETIC = ("Add", "Sub", "Mul", "Max", "Min")
COMPARISONS = ("Equal", "Less", "Greater", "LessOrEqual", "GreaterOrEqual")
REDUCTIONS = (
    *("ReduceSum", "ReduceMean", "ReduceMax", "ReduceMin", "ReduceL1", "ReduceL2"),
    *("ReduceSumSquare", "ReduceLogSumExp", "ReduceProd", "ReduceLogSum"),
)


def smooth(g: Graph) -> None:
    g.add(g.choice.choice(SMOOTH), [g.pick()])


def steps(g: Graph) -> None:
    g.add(g.choice.choice(STEPS), [g.pick(PLAIN, exact=True)], exact=True)


def exact(g: Graph) -> None:
    g.add(g.choice.choice(EXACT), [g.pick((*FLOATS, "int32", "int64", "int8"))], exact=True)


def logic(g: Graph) -> None:
    op = g.choice.choice(("And", "Or", "Xor", "Not"))
    x = g.pick(BOOLS)
    g.add(op, [x] if op == "Not" else [x, g.partner(x)], exact=True)


def arithmetic(g: Graph) -> None:
    x = g.pick((*FLOATS, *FLOATS, "int32", "int64"))
    operands = [x, g.partner(x)]
    g.choice.shuffle(operands)
    g.add(g.choice.choice(ARITHMETIC), operands, exact=True)


def divide(g: Graph) -> None:
    x = g.pick()
    y = g.pick(
        (x.array.dtype.name,),
        fits=lambda v: bool((v.array != 0).all()) and v.array.shape in ((), x.array.shape),
    )
    g.add(g.choice.choice(("Div", "PRelu")), [x, y])


def remainder(g: Graph) -> None:
    x = g.pick(("int32", "int64", "float32", "uint8"), exact=True)
    y = g.enter(np.array([3, 2, 5], x.array.dtype)[: g.choice.choice((1, 1, 3))])
    g.add("Mod", [x, y], fmod=int(x.array.dtype.kind == "f"), exact=True)


def compare(g: Graph) -> None:
    x = g.pick(("float32", "float64", "int32", "int64"), exact=True)
    g.add(g.choice.choice(COMPARISONS), [x, g.partner(x)], exact=True)


def bits(g: Graph) -> None:
    x = g.pick(INTEGERS)
    g.add(g.choice.choice(("BitwiseAnd", "BitwiseOr", "BitwiseXor")), [x, g.partner(x)], exact=True)


def shift(g: Graph) -> None:
    x = g.pick(("uint8", "uint32", "uint64"))
    y = g.enter(np.array(g.choice.randint(0, 7), x.array.dtype))
    g.add("BitShift", [x, y], direction=g.choice.choice(("LEFT", "RIGHT")), exact=True)


def where(g: Graph) -> None:
    x = g.pick(("float32", "int64", "float16"))
    g.add("Where", [g.enter(g.numbers("bool", x.array.shape)), x, g.partner(x)], exact=True)


def clip(g: Graph) -> None:
    x = g.pick(("float32", "float64", "int32", "int8"))
    low, high = (g.enter(np.array(n, x.array.dtype)) for n in (-1, 2))
    g.add("Clip", [x, g.choice.choice((low, None)), high], exact=True)


def cast(g: Graph) -> None:
    kind = g.choice.choice(ANY)
    x = g.pick(
        ANY, exact=True, fits=lambda v: kind[0] != "u" or bool((v.array.astype("f8") >= 0).all())
    )
    g.add("Cast", [x], to=helper.np_dtype_to_tensor_dtype(g.numbers(kind, ()).dtype), exact=True)


def concat(g: Graph) -> None:
    x = g.pick(ANY, least=1)
    axis = g.axis(x)
    shape = list(x.array.shape)
    shape[axis] = g.choice.randint(0, 4)
    g.add("Concat", [x, g.like(x, shape), x][: g.choice.choice((1, 2, 3))], axis=axis, exact=True)


def split(g: Graph) -> None:
    x = g.pick(ANY, least=1)
    axis = g.axis(x)
    extent = x.array.shape[axis]
    first = g.choice.randint(0, extent)
    g.add("Split", [x, g.ints([first, extent - first])], 2, axis=axis, exact=True)


def cut(g: Graph) -> None:
    x = g.pick(ANY, least=1)
    axis = g.axis(x)
    pick = g.choice.randint
    step = g.choice.choice((1, 1, 2, -1, -2))
    bounds = [pick(-9, 9), g.choice.choice((pick(-9, 9), 2**31 - 1, -(2**63), 2**63 - 1))]
    if step < 0:  # beyond the ends ONNX Runtime and the reference differ
        bounds[0] = max(bounds[0], -x.array.shape[axis])
        bounds[1] = -(2**63) if bounds[1] >= 2**31 - 1 else bounds[1]
    stored = g.choice.random() < 0.7
    operands = [g.ints([n], stored) for n in (*bounds, axis, step)]
    g.add("Slice", [x, *operands], exact=True)


def gather(g: Graph) -> None:
    x = g.pick(ANY, least=1)
    axis = g.axis(x)
    extent = x.array.shape[axis]
    if not extent:
        raise RejectedNodeError
    shape = g.shape(0, 2)
    count = int(np.prod(shape))
    indices = [g.choice.randrange(-extent, extent) for _ in range(count)]
    kind = g.choice.choice(("int64", "int32"))
    index = g.enter(np.array(indices, kind).reshape(shape))
    g.add("Gather", [x, index], axis=axis, exact=True)


def elements(g: Graph) -> None:
    x = g.pick(("float32", "int64"), least=1)
    axis = g.axis(x)
    shape = [g.choice.randint(1, max(1, n)) for n in x.array.shape]
    extent = x.array.shape[axis]
    if not x.array.size:
        raise RejectedNodeError
    # Along the axis each position once: what is written twice has no one value.
    order = list(range(extent))
    g.choice.shuffle(order)
    shape[axis] = g.choice.randint(1, extent)
    along = [1] * len(shape)
    along[axis] = shape[axis]
    positions = np.array(order[: shape[axis]], np.int64).reshape(along)
    index = g.enter(np.broadcast_to(positions, shape).copy())
    if g.choice.random() < 0.5:
        g.add("GatherElements", [x, index], axis=axis, exact=True)
    else:
        g.add("ScatterElements", [x, index, g.like(x, shape)], axis=axis, exact=True)


def rows(g: Graph) -> None:
    x = g.pick(("float32", "int32"), least=1)
    extent = x.array.shape[0]
    if not extent:
        raise RejectedNodeError
    count = g.choice.randint(1, extent)
    chosen = g.choice.sample(range(extent), count)
    index = g.ints([[n] for n in chosen])
    if g.choice.random() < 0.5:
        g.add("GatherND", [x, index], exact=True)
    else:
        g.add("ScatterND", [x, index, g.like(x, (count, *x.array.shape[1:]))], exact=True)


def transpose(g: Graph) -> None:
    x = g.pick(ANY, least=1)
    order = list(range(x.array.ndim))
    g.choice.shuffle(order)
    g.add("Transpose", [x], perm=order if g.choice.random() < 0.8 else None, exact=True)


def reshape(g: Graph) -> None:
    x = g.pick(ANY)
    shape = list(x.array.shape)
    match g.choice.randrange(5):
        case 0:
            shape = [-1]
        case 1 if len(shape) > 1:
            shape = [shape[0] * shape[1], *shape[2:]]
        case 2 if shape:
            shape = [0, *shape[1:-1], -1] if len(shape) > 1 else [1, -1]
        case 3:
            shape = [1, *shape, 1]
        case _:
            shape = shape[::-1]
    g.add("Reshape", [x, g.ints(shape)], exact=True)


def dimensions(g: Graph) -> None:
    x = g.pick(ANY)
    match g.choice.randrange(4):
        case 0:
            g.add("Flatten", [x], axis=g.choice.randint(0, x.array.ndim), exact=True)
        case 1:
            ones = [i for i, n in enumerate(x.array.shape) if n == 1]
            g.add("Squeeze", [x, g.ints(ones) if g.choice.random() < 0.9 else None], exact=True)
        case 2:
            g.add("Unsqueeze", [x, g.ints([g.choice.randint(0, x.array.ndim)])], exact=True)
        case _:
            g.add(g.choice.choice(("Shape", "Size")), [x], exact=True)


def expand(g: Graph) -> None:
    x = g.pick(ANY)
    if g.choice.random() < 0.5:
        g.add("Tile", [x, g.ints([g.choice.randint(0, 3) for _ in x.array.shape])], exact=True)
        return
    shape = [g.choice.randint(1, 4) if n == 1 else n for n in x.array.shape]
    g.add("Expand", [x, g.ints([*g.shape(0, 1), *shape])], exact=True)


def pad(g: Graph) -> None:
    x = g.pick(("float32", "int64", "float16"), least=1)
    mode = g.choice.choice(("constant", "constant", "edge", "reflect"))
    amounts = [
        g.choice.randint(-1 if mode == "constant" else 0, 2) for _ in range(2 * x.array.ndim)
    ]
    value = g.enter(np.array(3, x.array.dtype)) if g.choice.random() < 0.5 else None
    g.add("Pad", [x, g.ints(amounts), value], mode=mode, exact=True)


def fill(g: Graph) -> None:
    match g.choice.randrange(3):
        case 0:
            value = numpy_helper.from_array(g.numbers(g.choice.choice(PLAIN), (1,)), "value")
            g.add("ConstantOfShape", [g.ints(g.shape(0, 3))], value=value, exact=True)
        case 1:
            bounds = [g.ints(n) for n in (g.choice.randint(-3, 3), g.choice.randint(-3, 9))]
            g.add("Range", [*bounds, g.ints(g.choice.choice((1, 2, 3)))], exact=True)
        case _:
            g.add("EyeLike", [g.pick(("float32", "int64"), rank=2)], k=g.choice.randint(-2, 2))


def one_hot(g: Graph) -> None:
    depth = g.choice.randint(1, 6)
    shape = g.shape(0, 2)
    drawn = [g.choice.randrange(-depth, depth) for _ in range(int(np.prod(shape)))]
    index = g.enter(np.array(drawn, np.int64).reshape(shape))
    values = g.enter(g.numbers("float32", (2,)))
    g.add("OneHot", [index, g.ints(depth), values], axis=g.choice.randint(-1, 0), exact=True)


def triangle(g: Graph) -> None:
    x = g.pick(("float32", "int64", "bool"), least=2)
    k = g.ints(g.choice.randint(-3, 3)) if g.choice.random() < 0.5 else None
    g.add("Trilu", [x, k], upper=g.choice.randint(0, 1), exact=True)


def running_sum(g: Graph) -> None:
    x = g.pick(("float32", "int64", "float64"), least=1)
    flags = {"exclusive": g.choice.randint(0, 1), "reverse": g.choice.randint(0, 1)}
    g.add("CumSum", [x, g.ints(g.axis(x))], exact=True, **flags)


def order(g: Graph) -> None:
    x = g.pick(("float32", "int64"), least=1, exact=True)
    axis = g.axis(x)
    extent = x.array.shape[axis]
    if g.choice.random() < 0.5:
        k = g.ints([g.choice.randint(0, extent)])
        g.add("TopK", [x, k], 2, axis=axis, largest=g.choice.randint(0, 1), exact=True)
    else:
        flags = {"keepdims": g.choice.randint(0, 1), "select_last_index": g.choice.randint(0, 1)}
        g.add(g.choice.choice(("ArgMax", "ArgMin")), [x], axis=axis, exact=True, **flags)


def is_small(array: np.ndarray) -> bool:
    """Whether elements are so small that sums of their squares are in the range of their type."""
    return bool((np.abs(array.astype(np.float64)) < 2**10).all())


def reduce(g: Graph) -> None:
    kinds = ("float32", "float32", "float64", "float16", "int32", "int64")
    x = g.pick(kinds, fits=lambda v: v.array.dtype.kind != "i" or is_small(v.array))
    op = g.choice.choice(REDUCTIONS)
    axes = [n for n in range(x.array.ndim) if g.choice.random() < 0.5]
    keep = g.choice.randint(0, 1)
    if g.opset >= 18 or op == "ReduceSum":
        operand = g.ints(axes) if g.choice.random() < 0.9 else None
        noop = g.choice.randint(0, 1)
        g.add(op, [x, operand], keepdims=keep, noop_with_empty_axes=noop)
    else:
        g.add(op, [x], axes=axes or None, keepdims=keep)


def softmax(g: Graph) -> None:
    x = g.pick(("float32", "float32", "float64", "float16"), least=1)
    op = g.choice.choice(("Softmax", "LogSoftmax"))
    g.add(op, [x], axis=g.axis(x))


def normalize(g: Graph) -> None:
    x = g.pick(F32, least=3, fits=lambda v: v.array.ndim < 5)
    channels = x.array.shape[1]

    def numbers(positive: bool = False) -> Value:
        drawn = g.numbers("float32", (channels,))
        return g.enter(np.abs(drawn) + np.float32(0.5) if positive else drawn)

    match g.choice.randrange(4):
        case 0:
            statistics = [numbers(), numbers(), numbers(), numbers(True)]
            g.add("BatchNormalization", [x, *statistics])
        case 1:
            g.add("InstanceNormalization", [x, numbers(), numbers()])
        case 2:
            scale = g.like(x, x.array.shape[-1:])
            g.add("LayerNormalization", [x, scale], axis=-1)
        case _:
            g.add("LRN", [x], size=g.choice.choice((1, 3, 5)))


def product(g: Graph) -> None:
    x = g.pick((*F32, "float64", "float16", "float32"), least=1)
    inner, columns = x.array.shape[-1], g.shape(1, 1)[0]
    if g.choice.random() < 0.3 and x.array.ndim == 2:
        swap = g.choice.randint(0, 1)
        y = g.like(x, (columns, inner) if swap else (inner, columns))
        bias = g.like(x, (columns,)) if g.choice.random() < 0.5 else None
        g.add("Gemm", [x, y, bias], transB=swap, alpha=g.choice.choice((1.0, 0.5)))
        return
    outer = x.array.shape[:-2] if g.choice.random() < 0.4 else ()
    g.add("MatMul", [x, g.like(x, (*outer, inner, columns))])


def einsum(g: Graph) -> None:
    text = g.choice.choice(
        ("ij,jk->ik", "bij,bkj->bik", "ij->ji", "i,j->ij", "bij,bjk->b", "ii->i")
    )
    given, _, _ = text.partition("->")
    extents = {letter: g.choice.choice((1, 2, 3, 5)) for letter in "bijk"}
    operands = [
        g.enter(g.numbers("float32", [extents[c] for c in part])) for part in given.split(",")
    ]
    g.add("Einsum", operands, equation=text)


def convolve(g: Graph) -> None:
    rank = g.choice.choice((1, 2, 2, 3))
    x = g.pick((*F32, "float32", "float64"), rank=rank + 2)
    channels = x.array.shape[1]
    groups = g.choice.choice([n for n in (1, 1, 2, channels) if n and channels % n == 0] or [1])
    kernel = [g.choice.choice((1, 2, 3)) for _ in range(rank)]
    outputs = groups * g.choice.choice((1, 2, 3, 4))
    window = {
        "kernel_shape": kernel,
        "strides": [g.choice.choice((1, 1, 2)) for _ in range(rank)],
        "dilations": [g.choice.choice((1, 1, 2)) for _ in range(rank)],
        "group": groups,
    }
    if g.choice.random() < 0.3:
        window["auto_pad"] = g.choice.choice(("SAME_UPPER", "SAME_LOWER", "VALID"))
    else:
        window["pads"] = [g.choice.choice((0, 1, 1, 2)) for _ in range(2 * rank)]
    bias = g.like(x, (outputs,)) if g.choice.random() < 0.5 else None
    if g.choice.random() < 0.25 and "auto_pad" not in window:
        weight = g.like(x, (channels, outputs // groups, *kernel))
        g.add("ConvTranspose", [x, weight, bias], **window)
    else:
        weight = g.like(x, (outputs, channels // groups, *kernel))
        g.add("Conv", [x, weight, bias], **window)


def pool(g: Graph) -> None:
    rank = g.choice.choice((1, 2, 2, 3))
    x = g.pick((*F32, "float32", "float64"), rank=rank + 2)
    if g.choice.random() < 0.25:
        g.add(g.choice.choice(("GlobalAveragePool", "GlobalMaxPool")), [x])
        return
    kernel = [min(g.choice.choice((1, 2, 3)), n or 1) for n in x.array.shape[2:]]
    strides = [g.choice.choice((1, 2)) for _ in range(rank)]
    pads = [g.choice.randint(0, min(1, n - 1)) for n in (*kernel, *kernel)]
    window = {"kernel_shape": kernel, "strides": strides, "pads": pads}
    op = g.choice.choice(("MaxPool", "AveragePool"))
    if op == "AveragePool":
        window["count_include_pad"] = g.choice.randint(0, 1)
    g.add(op, [x], **window)


def blocks(g: Graph) -> None:
    n, c, h, w = 1, g.choice.choice((1, 3)), g.choice.choice((1, 2)), g.choice.choice((2, 3))
    if g.choice.random() < 0.5:
        x = g.enter(g.numbers("float32", (n, 4 * c, h, w)))
        mode = g.choice.choice(("DCR", "CRD"))
        g.add("DepthToSpace", [x], blocksize=2, mode=mode, exact=True)
    else:
        x = g.enter(g.numbers("float32", (n, c, 2 * h, 2 * w)))
        g.add("SpaceToDepth", [x], blocksize=2, exact=True)


def resize(g: Graph) -> None:
    x = g.pick(F32, rank=4)
    scales = [1.0, 1.0, *(g.choice.choice((0.5, 1.0, 2.0, 1.5)) for _ in range(2))]
    how = g.choice.choice(("asymmetric", "half_pixel", "align_corners", "pytorch_half_pixel"))
    mode = g.choice.choice(("nearest", "linear", "cubic"))
    operand = g.enter(np.array(scales, np.float32), True)
    near = {"nearest_mode": g.choice.choice(("floor", "ceil"))} if mode == "nearest" else {}
    g.add("Resize", [x, None, operand], mode=mode, coordinate_transformation_mode=how, **near)


def recurrent(g: Graph) -> None:
    op, gates = g.choice.choice((("LSTM", 4), ("GRU", 3), ("RNN", 1)))
    steps, batch, inputs, hidden = (g.choice.choice((1, 2, 3, 5)) for _ in range(4))
    direction = g.choice.choice(("forward", "reverse", "bidirectional"))
    ways = 1 + (direction == "bidirectional")
    x = g.enter(g.numbers("float32", (steps, batch, inputs)), False)
    operands: list[Value | None] = [
        x,
        g.enter(g.numbers("float32", (ways, gates * hidden, inputs))),
        g.enter(g.numbers("float32", (ways, gates * hidden, hidden))),
    ]
    if g.choice.random() < 0.6:
        operands.append(g.enter(g.numbers("float32", (ways, 2 * gates * hidden))))
    g.add(op, operands, 3 if op == "LSTM" else 2, hidden_size=hidden, direction=direction)


def quantize(g: Graph) -> None:
    x = g.pick(F32, exact=True)
    scale = g.enter(np.array(g.choice.choice((0.25, 0.5, 0.125)), np.float32))
    zero = g.enter(np.array(g.choice.choice((0, 1, 3)), g.choice.choice(("uint8", "int8"))))
    g.add("QuantizeLinear", [x, scale, zero], exact=True)
    g.add("DequantizeLinear", [g.values[-1], scale, zero], exact=True)


def integer_product(g: Graph) -> None:
    kind = g.choice.choice(("uint8", "int8"))
    m, k, n = (g.choice.choice((1, 2, 3, 5, 8, 17)) for _ in range(3))
    a, b = g.enter(g.numbers(kind, (m, k)), False), g.enter(g.numbers(kind, (k, n)))
    zeros = [g.enter(np.array(g.choice.randint(0, 3), kind)) for _ in range(2)]
    if g.choice.random() < 0.5:
        g.add("MatMulInteger", [a, b, *zeros], exact=True)
        return
    scales = [g.enter(np.array(s, np.float32)) for s in (0.5, 0.25, 0.5)]
    zero = g.enter(np.array(2, kind))
    operands = [a, scales[0], zeros[0], b, scales[1], zeros[1], scales[2], zero]
    g.add("QLinearMatMul", operands, exact=True)


def select(g: Graph) -> None:
    match g.choice.randrange(3):
        case 0:
            g.add("NonZero", [g.pick(("float32", "int64"), least=1, exact=True)], exact=True)
        case 1:
            x = g.pick(("float32", "int64"), least=1)
            axis = g.axis(x)
            mask = g.enter(g.numbers("bool", (x.array.shape[axis],)))
            g.add("Compress", [x, mask], axis=axis, exact=True)
        case _:
            g.add("Unique", [g.pick(("float32", "int64"), exact=True)], 4, exact=True)
