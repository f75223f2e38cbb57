"""Replaces convolutions by Winograd's algorithm: transform tiles, multiply, transform back.

A tile is transformed to its values at a number of points. The product at each point is, by kind of
convolution:

plain      a matrix product of values and weights
in groups  a matrix product for each group
in depth   for images with three directions, a convolution along the first one: Winograd's algorithm
           is applied to the last two directions only
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ...dialects import nn
from ...dialects.nn.winograd import points_of
from ...ir.builder import Builder
from ...ir.core import Value
from ...ir.types import FloatType, TensorType
from .building import element_of, is_arranged_constant, reshape, scalar, shape_of
from .dilations import dilations_of, undilate

Convolution = nn.BlockedConv | nn.BlockedGroupedConv
"""The ops to which Winograd's algorithm applies."""
Multiply = Callable[[Builder, Value, Value], Value]
"""A function that gives the products of the transformed values and weights at all points."""


def is_winograd(conv: Convolution) -> bool:
    """Whether the algorithm applies to a convolution.

    It must be f32 with constant weights, with 3x3 windows over the last two directions, of stride
    1, or of stride 2 without dilations. If images have unknown extents, it must have two
    directions, no groups and no dilations.
    """
    strides, dilations = planar(conv.strides), planar(conv.dilations)
    is_open = None in shape_of(conv.x)
    is_plain = isinstance(conv, nn.BlockedConv) and directions(conv) == 2
    is_other = directions(conv) == (2 if isinstance(conv, nn.BlockedGroupedConv) else 3)
    return (
        is_arranged_constant(conv.weight)
        and element_of(conv.x) is FloatType("f32")
        and (is_plain or (is_other and dilations == (1, 1) and not is_open))
        and shape_of(conv.weight)[-4:-2] == (3, 3)
        and (strides == (1, 1) or (strides == (2, 2) and dilations == (1, 1)))
        and (not is_open or dilations == (1, 1))
        and 0 not in shape_of(conv.out)
    )


def directions(conv: Convolution) -> int:
    """The number of spatial dimensions of a convolution."""
    return conv.x.type.rank - 3 - conv.outer_rank


def planar(numbers: Sequence[int] | None) -> tuple[int, ...]:
    """The strides or dilations of the last two directions; 1 by default."""
    return tuple(numbers[-2:]) if numbers else (1, 1)


def use_winograd(conv: Convolution, tile: int) -> None:
    """Replace a convolution for which `is_winograd` is true by the transforms and products."""
    b = Builder.before_op(conv)
    if isinstance(conv, nn.BlockedGroupedConv):
        out = _in_groups(b, conv, tile)
    elif directions(conv) == 3:
        out = _in_depth(b, conv, tile)
    else:
        if dilations_of(conv) != (1, 1):
            conv = undilate(conv)
            b = Builder.before_op(conv)
        out = _plain(b, conv, tile)
    conv.replace_with(out)


def _plain(b: Builder, conv: nn.BlockedConv, tile: int) -> Value:
    if None not in shape_of(conv.out)[2:4]:
        return _by_tiles(b, conv, tile, conv.x, conv.weight, _product)
    stride = planar(conv.strides)[0]
    x = _with_whole_tiles(b, conv.x, shape_of(conv.out)[2:4], tile, stride)
    values = b.insert(nn.WinogradInput(x, tile=tile, stride=stride)).result
    weight = b.insert(nn.WinogradWeight(conv.weight, tile=tile, stride=stride)).result
    products = _product(b, values, weight)
    image, more = _image_of(conv)
    return b.insert(
        nn.WinogradOutput(products, tile=tile, stride=stride, image=image, more=more)
    ).result


def _product(b: Builder, values: Value, weight: Value) -> Value:
    return b.insert(nn.BlockedMatmul(values, weight)).result


def _in_groups(b: Builder, conv: nn.BlockedGroupedConv, tile: int) -> Value:
    """The result for grouped channels: all are transformed, and each is multiplied within its
    group.
    """
    N, G, Co, H, W, B = shape_of(conv.x)
    _, Mo, _, K, L, _, A = shape_of(conv.weight)

    def multiply(b: Builder, values: Value, weight: Value) -> Value:
        points, _, *images = shape_of(values)
        values = reshape(b, values, (points * G, Co, *images))
        weight = reshape(b, weight, (points * G, Mo, Co, B, A))
        products = _product(b, values, weight)
        return reshape(b, products, (points, G * Mo, *images[:-1], A))

    x = reshape(b, conv.x, (N, G * Co, H, W, B))
    weight = reshape(b, conv.weight, (G * Mo, Co, K, L, B, A))
    return reshape(b, _by_tiles(b, conv, tile, x, weight, multiply), shape_of(conv.out))


def _in_depth(b: Builder, conv: nn.BlockedConv, tile: int) -> Value:
    """The result in three directions: planes are transformed, and convolved over the third at each
    point.
    """
    N, Co, D, H, W, B = shape_of(conv.x)
    Mo, _, J, K, L, _, A = shape_of(conv.weight)
    E, P, Q = shape_of(conv.out)[2:5]
    strides, dilations = conv.strides or (1,), conv.dilations or (1,)

    def multiply(b: Builder, values: Value, weight: Value) -> Value:
        points, _, _, S, T, _ = shape_of(values)
        values = reshape(b, values, (1, points, Co, N, D, S * T, B))
        weight = reshape(b, weight, (points, J, Mo, Co, B, A))
        weight = b.insert(nn.Transpose(weight, (0, 2, 3, 1, 4, 5))).result
        weight = reshape(b, weight, (points, Mo, Co, 1, J, 1, B, A))
        steps, apart = (1, strides[0], 1), (1, dilations[0], 1)
        form = nn.BlockedGroupedConv(values, weight, strides=steps, dilations=apart)
        products = b.insert(form).result
        return reshape(b, products, (points, Mo, N * E, S, T, A))

    x = b.insert(nn.Transpose(conv.x, (0, 2, 1, 3, 4, 5))).result
    x = reshape(b, x, (N * D, Co, H, W, B))
    weight = b.insert(nn.Transpose(conv.weight, (2, 0, 1, 3, 4, 5, 6))).result
    weight = reshape(b, weight, (J * Mo, Co, K, L, B, A))
    out = _by_tiles(b, conv, tile, x, weight, multiply)
    out = reshape(b, out, (N, E, Mo, P, Q, A))
    return b.insert(nn.Transpose(out, (0, 2, 1, 3, 4, 5))).result


def _by_tiles(
    b: Builder, conv: Convolution, tile: int, x: Value, weight: Value, multiply: Multiply
) -> Value:
    """Results [N, M / A, P, Q, A] of images [N, C / B, H, W, B] of known extents."""
    stride, extents = planar(conv.strides)[0], shape_of(conv.out)[-3:-1]
    x = _with_whole_tiles(b, x, extents, tile, stride)
    values = b.insert(nn.WinogradInput(x, tile=tile, stride=stride)).result
    weight = b.insert(nn.WinogradWeight(weight, tile=tile, stride=stride)).result
    products = multiply(b, values, weight)
    out = b.insert(nn.WinogradOutput(products, tile=tile, stride=stride)).result
    N, Mo, *whole, A = shape_of(out)
    if tuple(whole) == tuple(extents):
        return out
    type = TensorType((N, Mo, *extents, A), element_of(out))
    return b.insert(nn.Slice(out, (0,) * 5, out=type)).result


def _with_whole_tiles(
    b: Builder, x: Value, results: Sequence[int | None], tile: int, stride: int
) -> Value:
    """Images with zeros at their ends, so that whole tiles cover all results.

    If extents are unknown, the zeros are enough for another tile but for one result.
    """
    points, short = points_of(tile, stride), []
    for extent, count in zip(shape_of(x)[2:4], results, strict=True):
        if extent is None or count is None:
            short.append(points - 3)
        else:
            short.append(max(0, stride * tile * (-(-count // tile) - 1) + points - extent))
    if not any(short):
        return x
    pads = (0,) * 7 + (*short, 0)
    return b.insert(nn.Pad(x, scalar(b, 0, element_of(x)), pads=pads)).result


def _image_of(conv: nn.BlockedConv) -> tuple[Value, tuple[int, int]]:
    """The operand before its padding, and `more` of `nn.winograd_output` for rows and columns.

    (rows of the operand + more) / stride, rounded down, is the number of the result's rows.
    """
    stride, pad = planar(conv.strides)[0], conv.x.defined_by(nn.Pad)
    if pad is None:
        return conv.x, (stride - 3, stride - 3)
    rank = pad.x.type.rank
    begin, end = pad.pads[2:4], pad.pads[rank + 2 : rank + 4]
    rows, columns = (first + last + stride - 3 for first, last in zip(begin, end, strict=True))
    return pad.x, (rows, columns)
