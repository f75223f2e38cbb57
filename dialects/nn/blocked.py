"""Convolutions on blocked layouts, in which a block of channels is the last dimension.

A tensor [N, C, D..] is stored as [N, C / B, D.., B], so that a vector of B channels lies together
in memory. Weights are blocked too, by A channels of the result. `choose-layouts` brings graphs
into this form; the other passes treat these ops as they treat any op.
"""

from __future__ import annotations

from operator import add
from typing import ClassVar

from ..vocabulary import *
from .base import check_length, numbers
from .products import PACKING, ProductOp, check_factors, product_body
from .traits import Fusion


class BlockedConvOp(ProductOp):
    """Base of the blocked convolutions, without padding and bias, for which there are other ops.

    `arrangement` says how the weight of `nn.conv`, [M, C / groups, K..], is rearranged for this op.
    In "(mo mi) (co ci) k.. -> mo co k.. ci mi", M is split into mo blocks of mi channels and C into
    co blocks of ci channels, and then the dimensions come in the order on the right. `g` are groups
    of channels, split into `go` blocks of `gi` groups.
    """

    x: Operand = operand(AnyRankedTensor)
    weight: Operand = operand(AnyRankedTensor)
    strides: tuple[int, ...] = attribute(INT_ARRAY, optional=True)
    dilations: tuple[int, ...] = attribute(INT_ARRAY, optional=True)
    packing: str = attribute(PACKING, default="none")
    out: Result = result(AnyRankedTensor)

    prologue = (Fusion.MOVEMENT, Fusion.PADDING)
    arrangement: ClassVar[str]
    outer_rank = 0
    """How many dimensions x has for groups, before the blocks of channels."""
    weight_rank = 0
    """The rank of weight less that of x."""

    @classmethod
    def comprehend(cls, types, attrs, results=()):
        x, weight = types
        if x.rank < 4 + cls.outer_rank or weight.rank != x.rank + cls.weight_rank:
            raise NncError(f"the ranks of x and weight do not fit: '{x}' and '{weight}'")
        check_factors(x, weight, attrs.packing)
        spatial = x.rank - 3 - cls.outer_rank
        scope = {
            "strides": numbers(attrs.strides, spatial, 1, "strides"),
            "dilations": numbers(attrs.dilations, spatial, 1, "dilations"),
        }
        element = cls.result_element(types, attrs)
        return cls.bind(product_body(cls.body, attrs.packing), types, scope, result_element=element)


class BlockedConv(BlockedConvOp, name="nn.blocked_conv"):
    """Convolution of blocked channels.

    Shapes: x [N, C / B, D.., B], weight [M / A, C / B, K.., B, A] -> out [N, M / A, P.., A].
    Numerics: f16 and bf16 accumulate in f32.
    """

    arrangement = "(mo mi) (co ci) k.. -> mo co k.. ci mi"
    weight_rank = 1
    body = (
        "out[n, mo, p.., mi] += x[n, co, p..*strides + k..*dilations, ci]"
        " * weight[mo, co, k.., ci, mi]"
    )
    example = (
        "%y = nn.blocked_conv %x, %w {strides = array<i64: 2, 2>} : "
        "(tensor<1x2x5x5x8xf32>, tensor<2x2x3x3x8x4xf32>) -> tensor<1x2x2x2x4xf32>"
    )


class BlockedPaddedConv(BlockedConvOp, name="nn.blocked_padded_conv"):
    """Convolution of blocked channels with zeros around x, which are not multiplied.

    This pays where dilations make much of the window fall on the padding: with 28 rows and columns
    and a 3x3 kernel of dilation 18, only a third of the products remain.
    Shapes: x [N, C / B, D.., B], weight [M / A, K.., C / B, B, A] -> out [N, M / A, P.., A];
    `pads` is the number of zeros before each of D.., then the number after each. The weights of one
    place of the kernel lie together, because a part of the result needs only some places.
    Numerics: f16 and bf16 accumulate in f32. An infinite weight times a zero of the padding adds
    nothing, where `nn.conv` would add NaN.
    """

    pads: tuple[int, ...] = attribute(INT_ARRAY)

    has_own_lowering = True
    arrangement = "(mo mi) (co ci) k.. -> mo k.. co ci mi"
    weight_rank = 1
    body = (
        "out[n, mo, p.., mi] += x[n, co, p..*strides + k..*dilations, ci]"
        " * weight[mo, k.., co, ci, mi]"
    )
    example = (
        "%y = nn.blocked_padded_conv %x, %w {dilations = array<i64: 6, 6>, "
        "pads = array<i64: 6, 6, 6, 6>} : "
        "(tensor<1x2x7x7x8xf32>, tensor<2x3x3x2x8x4xf32>) -> tensor<1x2x7x7x4xf32>"
    )

    @classmethod
    def comprehend(cls, types, attrs, results=()):
        return None

    @classmethod
    def part(cls, types, attrs):
        """The comprehension of a convolution without padding.

        The lowering divides the result into parts to which the same places of the kernel
        contribute. For each it takes this comprehension, with the types of the pieces of x and
        weight that are in use.
        """
        return super().comprehend(types, attrs)

    @classmethod
    def infer(cls, types, attrs):
        x, weight = types
        spatial = x.rank - 3
        check_length(attrs.pads, 2 * spatial, "pads")
        if min(attrs.pads, default=0) < 0:
            raise NncError("pads must not be negative")
        around = (0, 0, *map(add, attrs.pads[:spatial], attrs.pads[spatial:]), 0)
        extents = [d if d is None else d + p for d, p in zip(x.shape, around, strict=True)]
        form = cls.part([TensorType(tuple(extents), x.element_type), weight], attrs)
        return [TensorType(form.shape, cls.result_element(types, attrs))]

    def evaluate(self, *operands):
        from ...ir.comprehension_numpy import evaluate
        from ...ir.numpy_types import numpy_to_type

        x, weight = operands
        spatial = x.ndim - 3
        begin, end = self.pads[:spatial], self.pads[spatial:]
        x = np.pad(x, [(0, 0), (0, 0), *zip(begin, end, strict=True), (0, 0)])
        types = [TensorType(v.shape, numpy_to_type(v.dtype)) for v in (x, weight)]
        form = self.part(types, self)
        return evaluate(form, [x, weight], x.dtype)


class BlockedDepthwiseConv(BlockedConvOp, name="nn.blocked_depthwise_conv"):
    """Depthwise convolution (each channel has a kernel of its own) of blocked channels.

    Shapes: x [N, C / B, D.., B], weight [C / B, K.., B] -> out [N, C / B, P.., B].
    """

    arrangement = "(mo mi) 1 k.. -> mo k.. mi"
    weight_rank = -1
    body = "out[n, mo, p.., mi] += x[n, mo, p..*strides + k..*dilations, mi] * weight[mo, k.., mi]"
    example = (
        "%y = nn.blocked_depthwise_conv %x, %w : "
        "(tensor<1x2x5x5x8xf32>, tensor<2x3x3x8xf32>) -> tensor<1x2x3x3x8xf32>"
    )


class BlockedGroupedConv(BlockedConvOp, name="nn.blocked_grouped_conv"):
    """Grouped convolution in which a block holds channels of one group.

    Shapes: x [N, G, C / B, D.., B], weight [G, M / A, C / B, K.., B, A]
    -> out [N, G, M / A, P.., A], with C and M the channels of one group.
    Numerics: f16 and bf16 accumulate in f32.
    """

    arrangement = "(g mo mi) (co ci) k.. -> g mo co k.. ci mi"
    outer_rank = 1
    weight_rank = 1
    body = (
        "out[n, g, mo, p.., mi] += x[n, g, co, p..*strides + k..*dilations, ci]"
        " * weight[g, mo, co, k.., ci, mi]"
    )
    example = (
        "%y = nn.blocked_grouped_conv %x, %w : "
        "(tensor<1x4x1x5x5x8xf32>, tensor<4x2x1x3x3x8x4xf32>) -> tensor<1x4x2x3x3x4xf32>"
    )


class BlockedNarrowConv(BlockedConvOp, name="nn.blocked_narrow_conv"):
    """Grouped convolution in which a block holds one channel of each of B groups.

    It is for groups of few channels, which would not fill a block.
    Shapes: x [N, G / B, C, D.., B], weight [G / B, M, C, K.., B] -> out [N, G / B, M, P.., B],
    with C and M the channels of one group.
    Numerics: f16 and bf16 accumulate in f32.
    """

    arrangement = "(go gi m) c k.. -> go m c k.. gi"
    outer_rank = 1
    body = (
        "out[n, go, m, p.., gi] += x[n, go, c, p..*strides + k..*dilations, gi]"
        " * weight[go, m, c, k.., gi]"
    )
    example = (
        "%y = nn.blocked_narrow_conv %x, %w : "
        "(tensor<1x2x4x5x5x8xf32>, tensor<2x4x4x3x3x8xf32>) -> tensor<1x2x4x3x3x8xf32>"
    )


class PackedMatmul(ProductOp, name="nn.packed_matmul"):
    """Matrix product with a right-hand side whose columns are in blocks of A.

    A block holds its columns of all rows, row by row.
    Shapes: lhs [B.., M, K], rhs [B.., N / A, K, A] -> out [B.., M, N / A, A].
    Numerics: f16 and bf16 accumulate in f32.
    """

    lhs: Operand = operand(AnyRankedTensor)
    rhs: Operand = operand(AnyRankedTensor)
    packing: str = attribute(PACKING, default="none")
    out: Result = result(AnyRankedTensor)

    body = "out[b.., m, no, ni] += lhs[b.., m, k] * rhs[b.., no, k, ni]"

    @classmethod
    def comprehend(cls, types, attrs, results=()):
        return cls.bind(product_body(cls.body, attrs.packing), types, {})

    example = (
        "%c = nn.packed_matmul %a, %b : (tensor<4x8xf32>, tensor<3x8x16xf32>) -> tensor<4x3x16xf32>"
    )


class BlockedMatmul(ProductOp, name="nn.blocked_matmul"):
    """Matrix product of matrices whose columns are in blocks: C of lhs, A of rhs and the result.

    A block holds its few columns of all rows, row by row.
    Shapes: lhs [B, K / C, M.., C], rhs [B, N / A, K / C, C, A] -> out [B, N / A, M.., A].
    Numerics: f16 and bf16 accumulate in f32.
    """

    lhs: Operand = operand(AnyRankedTensor)
    rhs: Operand = operand(AnyRankedTensor)
    out: Result = result(AnyRankedTensor)

    body = "out[b, no, m.., ni] += lhs[b, ko, m.., ki] * rhs[b, no, ko, ki, ni]"
    example = (
        "%c = nn.blocked_matmul %a, %b : "
        "(tensor<2x2x3x2x4xf32>, tensor<2x3x2x4x8xf32>) -> tensor<2x3x3x2x8xf32>"
    )
