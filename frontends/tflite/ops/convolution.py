"""Convolutions, dense layers, products and pooling; channels stand last."""

from __future__ import annotations

from ...common.blocks import dilated
from ...common.shapes import product
from ...common.vocabulary import *
from ..hybrid import Rounding, rounded
from ..integers.steps import quantization
from ..layer import TfliteLayer, real, scales_of
from ..rows import ROWS
from ..tensors import element_type

PADDINGS = {0: "SAME_UPPER", 1: "VALID"}


def padding(n: TfliteLayer, number: int) -> str:
    """The name of a padding, by its number in the file. Raises NncError for an unknown one."""
    if number not in PADDINGS:
        raise n.error(f"padding {number} is not known")
    return PADDINGS[number]


def ranked(n: TfliteLayer, x: Value, rank: int, what: str) -> None:
    """Raise NncError, which names `what`, unless x has this rank."""
    if x.type.rank != rank:
        raise n.error(f"{what} has shape {shape_text(x)}, expected rank {rank}")


def _windows(n: TfliteLayer, spatial: str) -> dict[str, Any]:
    o = n.options
    return {
        "strides": [getattr(o, f"stride_{d}") for d in spatial],
        "dilations": [getattr(o, f"dilation_{d}", 1) for d in spatial],
        "padding": padding(n, o.padding),
    }


Product = Callable[[TfliteLayer, Value, Value, Value | None], Value]
"""A function of an operand [N, D.., C], weights as stored in the file, and a bias, to [N, D.., O].
"""


def _conv(order: tuple[int, ...], spatial: str) -> Product:
    """A convolution whose weights, with dimensions permuted to this order, are [O, I, D..].

    There are channels / I groups.
    """

    def product(n: TfliteLayer, x: Value, weight: Value, bias: Value | None) -> Value:
        ranked(n, x, len(order), "the input")
        ranked(n, weight, len(order), "the weight")
        weight = transposed(n, weight, order)
        channels, inner = x.type.shape[-1], weight.type.shape[1]
        if channels is None or not inner or channels % inner:
            raise n.error(f"{channels} channels do not fit weights for {inner}")
        groups, windows = channels // inner, _windows(n, spatial)
        if n.is_hybrid(0, 1):
            x = _rounded_images(n, x, windows, weight, groups)
        out = convolution(n, channels_first(n, x), weight, bias, groups=groups, **windows)
        return channels_last(n, out)

    return product


def _rounded_images(
    n: TfliteLayer, x: Value, windows: dict[str, Any], weight: Value, groups: int
) -> Value:
    """Images rounded to 8 bits, with a scale for each image; or for each pixel, where XNNPACK
    computes the convolution as a product of rows and a matrix.

    XNNPACK computes convolutions of two dimensions whose weights have 8 bits.
    """
    about = quantization(n, n.attributes.inputs[1])
    if n.kind != "CONV_2D" or about.element.width < 8:
        is_plain = n.kind == "CONV_2D" and about.is_one
        how = Rounding.SYMMETRIC if is_plain else Rounding.ASYMMETRIC
        return rounded(n, x, range(1, x.type.rank), how)
    is_matrix = {*weight.type.shape[2:], *windows["strides"], groups} == {1}
    axes = (-1,) if is_matrix else range(1, x.type.rank)
    return rounded(n, x, axes, Rounding.XNNPACK)


CONVOLUTIONS: dict[str, Product] = {
    "CONV_2D": _conv((0, 3, 1, 2), "hw"),
    "DEPTHWISE_CONV_2D": _conv((3, 0, 1, 2), "hw"),
    "CONV_3D": _conv((4, 3, 0, 1, 2), "dhw"),
}


def _convolved(product: Product) -> Any:
    def convert(n: TfliteLayer, x: Value, weight: Value, bias: Value | None = None) -> Value:
        return n.activated(product(n, x, weight, bias))

    return real(convert)


ROWS.add({kind: _convolved(product) for kind, product in CONVOLUTIONS.items()})


def _transposed_conv(order: tuple[int, ...], spatial: str) -> Callable[..., Value]:
    """A transposed convolution whose weights, permuted to this order, are [I, O, D..]."""

    def product(n: TfliteLayer, shape: Value, weight: Value, x: Value, bias: Value | None) -> Value:
        rank = len(order)
        ranked(n, x, rank, "the input")
        ranked(n, weight, rank, "the weight")
        wanted = n.extents(shape) or (None,) * rank
        if len(wanted) != rank:
            raise n.error(f"the shape of the result is {list(wanted)}, expected {rank} numbers")
        windows = _windows(n, spatial)
        if n.is_hybrid(2, 1):
            how = Rounding.ASYMMETRIC if n.known(shape) is None else Rounding.XNNPACK
            x = rounded(n, x, range(1, rank), how)
        known = [d for d in wanted[1:-1] if d is not None]
        if len(known) == rank - 2:
            windows["extents"] = known
        elif windows["padding"] != "VALID":
            windows["extents"] = Term(n, as_i64(n, shape)).part(0, 1, rank - 1).value
        out = transposed_convolution(
            n, channels_first(n, x), transposed(n, weight, order), bias, **windows
        )
        return channels_last(n, out)

    return product


TRANSPOSED_CONVOLUTIONS = {
    "TRANSPOSE_CONV": _transposed_conv((3, 0, 1, 2), "hw"),
    "CONV_3D_TRANSPOSE": _transposed_conv((4, 3, 0, 1, 2), "dhw"),
}


def _transposed_convolved(product: Callable[..., Value]) -> Any:
    def convert(
        n: TfliteLayer, shape: Value, weight: Value, x: Value, bias: Value | None = None
    ) -> Value:
        return n.activated(product(n, shape, weight, x, bias))

    return real(convert)


ROWS.add(
    {kind: _transposed_convolved(product) for kind, product in TRANSPOSED_CONVOLUTIONS.items()}
)


def transposed_image(
    n: TfliteLayer,
    x: Value,
    weight: Value,
    bias: Value | None,
    strides: tuple[int, int],
    pads: str,
    extents: tuple[int, ...] | None,
) -> Value:
    """A transposed convolution with weights [O, H, W, I]."""
    out = transposed_convolution(
        n,
        channels_first(n, x),
        transposed(n, weight, (3, 0, 1, 2)),
        bias,
        strides=strides,
        dilations=(1, 1),
        padding=pads,
        extents=extents,
    )
    return channels_last(n, out)


def dense(n: TfliteLayer, x: Value, weight: Value) -> Value:
    """The products of rows with a matrix [O, I]; without `keep_dims`, x is read as rows."""
    ranked(n, weight, 2, "the weight")
    if n.options.weights_format:
        raise n.error("shuffled weights are not supported")
    width = weight.type.shape[1]
    if n.options.keep_dims:
        own = x.type.shape[-1]
        if own != width and None not in (own, width):
            raise n.error(f"rows have {own} elements, but the weight expects {width}")
        x = reshape(n, x, [*dims(x)[:-1], (weight, 1)])
    elif x.type.rank != 2 or x.type.shape[-1] != width:
        total = product(x.type.shape)
        if total is not None and (not width or total % width):
            raise n.error(f"{total} elements do not fit rows of {width}")
        rows = total // width if total is not None else None
        x = n(nn.Reshape(x, out=nn_type(x, (rows, width))))
    if n.is_hybrid(0, 1):
        x = rounded(n, x, (-1,), _of_matrices(n, weight, n.options.activation in _OF_XNNPACK))
    return n(nn.Matmul(x, swapped(n, weight, 0, 1)))


_OF_XNNPACK = (0, 1, 2, 3)
"""The numbers of the fused activations that XNNPACK's products support."""


def _of_matrices(n: TfliteLayer, weight: Value, is_taken: bool) -> Rounding:
    """How rows of the first operand are rounded.

    XNNPACK takes constant weights only, whose rows fill whole bytes; those of 2 bits only with a
    scale for each row.
    """
    stored = n.attributes.inputs[1]
    assert stored is not None
    element, (rows, width) = element_type(stored.type), weight.type.shape[-2:]
    bits = element.width if isinstance(element, IntegerType) else 8
    scales = scales_of(stored)
    has_scales = bits > 2 or scales is None or scales.size == rows
    is_taken &= n.attributes.stored[1] and has_scales and (width or 0) * bits % 8 == 0
    return Rounding.XNNPACK if is_taken else Rounding.asked(n)


@ROWS("FULLY_CONNECTED")
@real
def fully_connected(n: TfliteLayer, x: Value, weight: Value, bias: Value | None = None) -> Value:
    out = dense(n, x, weight)
    return n.activated(out if bias is None else n(nn.Add(out, bias)))


def nn_type(x: Value, shape: tuple[int | None, ...]) -> Any:
    """The type of a tensor of this shape with x's element type."""
    return type(x.type)(shape, x.type.element_type)


def matrices(n: TfliteLayer, lhs: Value, rhs: Value) -> Value:
    """The products of matrices, either of which may be transposed."""
    if min(lhs.type.rank, rhs.type.rank) < 2:
        raise n.error(f"operands of shapes {shape_text(lhs)} and {shape_text(rhs)}")
    if n.options.adj_x:
        lhs = swapped(n, lhs, -2, -1)
    if n.options.adj_y:
        rhs = swapped(n, rhs, -2, -1)
    if n.is_hybrid(0, 1):
        lhs = rounded(n, lhs, (-1,), _of_matrices(n, rhs, True))
    return n(nn.Matmul(lhs, rhs))


ROWS.add({"BATCH_MATMUL": real(matrices)})


# -- pooling ---------------------------------------------------------------------------------------


def pool_windows(n: TfliteLayer, x: Value) -> Windows:
    """The windows of a pooling, of channels that stand first."""
    ranked(n, x, 4, "the input")
    o = n.options
    kernel, strides = (o.filter_h, o.filter_w), (o.stride_h, o.stride_w)
    if min(*kernel, *strides) < 1:
        raise n.error(f"windows of {kernel} with strides {strides}, expected 1 or more")
    return Windows(kernel, strides, padding(n, o.padding))


def _pooled(n: TfliteLayer, x: Value, pool: Callable[[Any, Value, Windows], Value]) -> Value:
    windows = pool_windows(n, x)
    return n.activated(channels_last(n, pool(n, channels_first(n, x), windows)))


ROWS.add(
    {
        "AVERAGE_POOL_2D": real(lambda n, x: _pooled(n, x, average_pooled)),
        "MAX_POOL_2D": real(lambda n, x: _pooled(n, x, max_pooled)),
    }
)


@ROWS("L2_POOL_2D")
def l2_pool(n: TfliteLayer, x: Value) -> Value:
    def root(n: TfliteLayer, x: Value, windows: Windows) -> Value:
        return n(nn.Sqrt(average_pooled(n, n(nn.Mul(x, x)), windows)))

    return _pooled(n, x, root)


@ROWS("LOCAL_RESPONSE_NORMALIZATION")
def by_neighbours(n: TfliteLayer, x: Value) -> Value:
    """Local response normalization over channels i - radius up to, but without, i + radius."""
    ranked(n, x, 4, "the input")
    o = n.options
    size, alpha = 2 * o.radius, o.alpha  # alpha is read also where there are no neighbours
    if size < 0:
        raise n.error(f"a radius of {o.radius}")
    if size == 0:
        return (Term(n, x) / Term(n, n.scalar(o.bias, x)) ** o.beta).value
    # nn.lrn has the odd channel behind: the channels go backwards.
    data = reversed_axes(n, channels_first(n, x), [1])
    found = local_response(n, data, size, alpha * size, o.beta, o.bias)
    return channels_last(n, reversed_axes(n, found, [1]))


def _blocks(op: Any) -> Any:
    def convert(n: TfliteLayer, x: Value) -> Value:
        ranked(n, x, 4, "the input")
        return channels_last(n, n(op(channels_first(n, x), block=n.options.block)))

    return convert


ROWS.add({"SPACE_TO_DEPTH": _blocks(nn.SpaceToDepth), "DEPTH_TO_SPACE": _blocks(nn.DepthToSpace)})


@ROWS("DILATE")
def dilate(n: TfliteLayer, x: Value, dilations: Value, value: Value) -> Value:
    """Elements with `value` between them, as many as dilations - 1."""
    return dilated(n, x, n.known_ints(dilations, "dilations"), value)
