"""Sums of products: matrix products and convolutions."""

from __future__ import annotations

from ...ir.packing import PACKINGS
from ..vocabulary import *
from .base import NnOp, numbers, one_of, tensor
from .traits import Fusion
from .windows import Window


class ProductOp(NnOp):
    """Base of the sums of products with weights."""

    fusion = Fusion.PRODUCT
    prologue = (Fusion.MOVEMENT,)
    weight_operand = 1

    @classmethod
    def result_element(cls, types, attrs):
        packing = getattr(attrs, "packing", "none")
        if packing == "none":
            return super().result_element(types, attrs)
        return i32 if packing == SINGLE else PACKINGS[packing].sums


SINGLE = "single"
"""The packing of integers of 8 bits that are multiplied one by one, as i32."""
PACKING = one_of("none", SINGLE, *PACKINGS)
"""How a product's operands are stored: as elements, or as words of several integers each (see
`ir/packing.py`).
"""


def product_body(body: str | None, packing: str) -> str:
    """A body `out[..] += x[..] * weight[..]`, adapted to operands stored in the packing."""
    assert body is not None
    if packing == "none":
        return body
    out, _, product = body.partition(" += ")
    lhs, rhs = product.split(" * ")
    if packing == SINGLE:
        return f"{out} += cast({lhs}) * cast({rhs})"
    return f"{out} += dot_{packing}({lhs}, {rhs})"


def check_factors(x: TensorType, weight: TensorType, packing: str) -> None:
    """Raise NncError where operands of these types cannot be multiplied in the packing."""
    if packing == SINGLE:
        if not all(isinstance(t.element_type, IntegerType) for t in (x, weight)):
            raise NncError(f"x and weight must be of integers: '{x}' and '{weight}'")
    elif x.element_type is not weight.element_type:
        raise NncError(f"x and weight have different element types: '{x}' and '{weight}'")


class Matmul(ProductOp, name="nn.matmul"):
    """Batched matrix product; NumPy broadcasting over the leading dimensions.

    Shapes: lhs [B.., M, K], rhs [B.., K, N] -> out [B.., M, N]; an operand of rank 1 is a
    row on the left, a column on the right, and its dimension is absent from the result.
    Numerics: f16 and bf16 accumulate in f32.
    Source: ONNX MatMul-13.
    """

    lhs: Operand = operand(AnyRankedTensor)
    rhs: Operand = operand(AnyRankedTensor)
    out: Result = result(AnyRankedTensor)

    body = "out[b.., m, n] += lhs[b.., m, k] * rhs[b.., k, n]"
    example = "%c = nn.matmul %a, %b : (tensor<4x8xf32>, tensor<8x2xf32>) -> tensor<4x2xf32>"

    @classmethod
    def comprehend(cls, types, attrs, results=()):
        lhs, rhs = types
        if lhs.element_type is not rhs.element_type:
            raise NncError(f"operands have different element types: '{lhs}' and '{rhs}'")
        if lhs.rank == 0 or rhs.rank == 0:
            raise NncError("operands must have at least rank 1")
        match lhs.rank, rhs.rank:
            case 1, 1:
                body = "out[] += lhs[k] * rhs[k]"
            case 1, _:
                body = "out[b.., n] += lhs[k] * rhs[b.., k, n]"
            case _, 1:
                body = "out[b.., m] += lhs[b.., m, k] * rhs[k]"
            case _:
                body = cls.body
        return cls.bind(body, types, attrs)


class _ConvOp(ProductOp):
    """Base of the convolutions."""

    x: Operand = operand(AnyRankedTensor)
    weight: Operand = operand(AnyRankedTensor)
    bias: OptionalOperand = optional_operand(AnyRankedTensor)
    strides: tuple[int, ...] = attribute(INT_ARRAY, optional=True)
    dilations: tuple[int, ...] = attribute(INT_ARRAY, optional=True)
    pads: tuple[int, ...] = attribute(INT_ARRAY, optional=True)
    groups: int = attribute(I64, default=1)

    treats_images_apart = True

    @classmethod
    def window(cls, types, attrs) -> Window:
        """Kernel, strides, dilations and pads, with defaults filled in."""
        return Window.of(attrs, types[0], kernel=types[1].shape[2:])


class Conv(_ConvOp, name="nn.conv"):
    """Convolution (as in machine learning, a correlation: the kernel is not flipped) and bias.

    Shapes: x [N, C, D..], weight [M, C / groups, K..], bias [M] -> out [N, M, P..].
    Numerics: f16 and bf16 accumulate in f32.
    Source: ONNX Conv-22.
    """

    out: Result = result(AnyRankedTensor)

    has_own_lowering = True
    result_channels = 0
    """The dimension of `weight` whose extent is the number of the result's channels."""

    @property
    def is_depthwise(self) -> bool:
        """Whether channel c of the result needs only channel c of x."""
        return self.groups == self.x.type.shape[1] == self.out.type.shape[1]

    @property
    def keeps_channels(self):
        return self.groups == self.weight.type.shape[0]

    body = "out[n, m, p..] += x[n, c, p..*strides + k..*dilations] * weight[m, c, k..]"
    grouped = (
        "out[n, m, p..] += x[n, (m // M)*C + c, p..*strides + k..*dilations] * weight[m, c, k..]"
    )
    groups_apart = (
        "out[n, g, m, p..] += x[n, g, c, p..*strides + k..*dilations] * weight[g, m, c, k..]"
    )
    depthwise = "out[n, m, p..] += x[n, m, p..*strides + k..*dilations] * weight[m, c, k..]"
    example = (
        "%y = nn.conv %x, %w, %b {strides = array<i64: 2, 2>} : "
        "(tensor<1x3x9x9xf32>, tensor<8x3x3x3xf32>, tensor<8xf32>) -> tensor<1x8x4x4xf32>"
    )

    @classmethod
    def comprehend(cls, types, attrs, results=()):
        """The comprehension of the sums of products, on an operand that has been padded already.

        The bias is not in it. None if the number of channels of a group is known only at run time.
        """
        x, weight = types[:2]
        cls._check(x, weight, attrs.groups)
        M, C = weight.shape[:2]
        if attrs.groups == 1:
            return cls._bound(cls.body, x.shape[1], types, attrs)
        if M is None or C is None:
            return None
        M //= attrs.groups
        body = cls.depthwise if M == C == 1 else cls.grouped
        return cls._bound(body, x.shape[1], types, attrs, M=M, C=C)

    @classmethod
    def _bound(cls, body, channels, types, attrs, **extents):
        """A body bound to the padded input with `channels` channels."""
        x, weight = types[:2]
        window = cls.window(types, attrs)
        shape = (x.shape[0], channels, *window.padded_shape(x.shape[2:]))
        scope = {"strides": window.strides, "dilations": window.dilations, **extents}
        return cls.bind(body, (tensor(shape, x.element_type), weight), scope)

    @classmethod
    def infer(cls, types, attrs):
        # What is left for groups of unknown channels is as without groups, but for x's channels.
        form = cls.comprehend(types, attrs) or cls._bound(cls.body, None, types, attrs)
        return [tensor(form.shape, types[0].element_type)]

    @staticmethod
    def _check(x, weight, groups) -> None:
        if x.rank < 3 or weight.rank != x.rank:
            raise NncError(f"x and weight must have one rank of at least 3: '{x}' and '{weight}'")
        if x.element_type is not weight.element_type:
            raise NncError(f"x and weight have different element types: '{x}' and '{weight}'")
        C, (M, per_group) = x.shape[1], weight.shape[:2]
        if C is not None and per_group is not None and per_group * groups != C:
            raise NncError(
                f"x has {C} channels but weight expects {per_group * groups}"
                + (f" ({groups} groups of {per_group})" if groups != 1 else "")
            )
        if M is not None and (groups < 1 or M % groups):
            raise NncError(f"{M} output channels do not split into {groups} groups")

    def evaluate(self, x, weight, bias=None):
        from ...ir.comprehension_numpy import evaluate, pad

        window = Window.of(self, self.x.type, kernel=weight.shape[2:])
        x = pad(x, [(0, 0), (0, 0), *zip(window.begin, window.end, strict=True)])
        scope = {"strides": window.strides, "dilations": window.dilations}
        M, C = weight.shape[0] // self.groups, weight.shape[1]
        # One matrix product for each group, or one of all channels that are groups of their own.
        count, body = (1, self.depthwise) if M == C == 1 else (self.groups, self.body)
        parts = []
        for xs, ws in zip(np.split(x, count, axis=1), np.split(weight, count), strict=True):
            types = [tensor(part.shape, self.x.type.element_type) for part in (xs, ws)]
            parts.append(evaluate(self.bind(body, types, scope), (xs, ws), x.dtype))
        out = np.concatenate(parts, axis=1)
        if bias is not None:
            out = (out + bias.reshape(-1, *[1] * (x.ndim - 2))).astype(x.dtype)
        return out


class ConvTranspose(_ConvOp, name="nn.conv_transpose"):
    """Transposed convolution: each element of x adds the kernel, times the element, to the result.

    Shapes: x [N, C, D..], weight [C, M / groups, K..], bias [M] -> out [N, M, P..] with
    P = (D - 1) * stride + (K - 1) * dilation + 1 + output_padding - pads.
    Source: ONNX ConvTranspose-22.
    """

    output_padding: tuple[int, ...] = attribute(INT_ARRAY, optional=True)
    out: Result = result(AnyRankedTensor)

    result_channels = 1
    """The dimension of `weight` whose extent is the number of a group's channels of the result."""

    example = (
        "%y = nn.conv_transpose %x, %w {strides = array<i64: 2, 2>} : "
        "(tensor<1x8x4x4xf32>, tensor<8x3x2x2xf32>) -> tensor<1x3x8x8xf32>"
    )

    @classmethod
    def extra(cls, attrs, spatial: int) -> tuple[int, ...]:
        """The output padding for each spatial dimension, with defaults filled in."""
        return numbers(attrs.output_padding, spatial, 0, "output_padding")

    @classmethod
    def infer(cls, types, attrs):
        x, weight = types[:2]
        if x.rank < 3 or weight.rank != x.rank:
            raise NncError(f"x and weight must have one rank of at least 3: '{x}' and '{weight}'")
        if x.element_type is not weight.element_type:
            raise NncError(f"x and weight have different element types: '{x}' and '{weight}'")
        if None not in (x.shape[1], weight.shape[0]) and x.shape[1] != weight.shape[0]:
            raise NncError(f"x has {x.shape[1]} channels but weight expects {weight.shape[0]}")
        if attrs.groups < 1 or (x.shape[1] or 0) % attrs.groups:
            raise NncError(f"{x.shape[1]} channels do not split into {attrs.groups} groups")
        window = cls.window(types, attrs)
        spatial: list[int | None] = []
        for i, extra in enumerate(cls.extra(attrs, x.rank - 2)):
            D, K = x.shape[2 + i], window.kernel[i]
            if D is None or K is None:
                spatial.append(None)
                continue
            full = (D - 1) * window.strides[i] + (K - 1) * window.dilations[i] + 1 + extra
            spatial.append(full - window.begin[i] - window.end[i])
        M = None if weight.shape[1] is None else weight.shape[1] * attrs.groups
        return [tensor((x.shape[0], M, *spatial), x.element_type)]

    def evaluate(self, x, weight, bias=None):
        from ...ir.comprehension_numpy import accumulator

        types = [tensor(a.shape, self.x.type.element_type) for a in (x, weight)]
        inferred: Any = self.infer(types, self)
        window, (shape,) = self.window(types, self), [t.shape for t in inferred]
        dtype = accumulator(x.dtype)
        full = [p + b + e for p, b, e in zip(shape[2:], window.begin, window.end, strict=True)]
        out = np.zeros((*shape[:2], *full), dtype)
        groups, C = self.groups, x.shape[1] // self.groups
        M = weight.shape[1]
        for g in range(groups):
            part = x[:, g * C : (g + 1) * C].astype(dtype)
            for k in np.ndindex(*weight.shape[2:]):
                w = weight[g * C : (g + 1) * C, :, *k].astype(dtype)
                where = tuple(
                    slice(i * d, i * d + (n - 1) * s + 1 if n else 0, s)
                    for i, d, s, n in zip(
                        k, window.dilations, window.strides, x.shape[2:], strict=True
                    )
                )
                value = np.tensordot(part, w, axes=([1], [0]))
                out[(slice(None), slice(g * M, (g + 1) * M), *where)] += np.moveaxis(value, -1, 1)
        crop = tuple(slice(b, b + p) for b, p in zip(window.begin, shape[2:], strict=True))
        out = out[(slice(None), slice(None), *crop)]
        if bias is not None:
            out = out + bias.astype(dtype).reshape(-1, *[1] * len(crop))
        return np.ascontiguousarray(out).astype(x.dtype)
