"""Ops that give the same elements another shape, or repeat them."""

from __future__ import annotations

from ...ir.types import Dim, bf16
from ..vocabulary import *
from .base import NnOp, broadcast_shapes, known_product, shape_operand_length, tensor
from .traits import Arranging, Fusion, Total


class Reshape(NnOp, name="nn.reshape", traits=(Total, Arranging)):
    """The same elements, in row-major order, in the result type's shape.

    One unknown extent of the result is computed from the number of elements. If there are more, the
    ones before the last are copied from x, which is possible where both shapes begin alike but for
    extents of 1, or where only known extents are split or joined: tensor<?x64x?xf32> to
    tensor<?x8x8x?xf32>. Otherwise it takes `nn.reshape_dynamic`. Source: ONNX Reshape-25.
    """

    x: Operand = operand(AnyRankedTensor)
    out: Result = result(AnyRankedTensor)

    fusion = Fusion.VIEW
    treats_images_apart = True
    example = "%y = nn.reshape %x : (tensor<4x8xf32>) -> tensor<2x16xf32>"

    @classmethod
    def infer(cls, types, attrs):
        return None

    def check(self) -> None:
        x, out = self.x.type, self.out.type
        if x.element_type is not out.element_type:
            raise NncError(f"cannot change the element type: '{x}' to '{out}'")
        before, after = known_product(x.shape), known_product(out.shape)
        if before is not None and after is not None and before != after:
            raise NncError(f"{before} elements do not fit '{out}'")
        if not is_reshape(x.shape, out.shape):
            raise NncError(
                "at most one dimension may be unknown, but for those that both shapes begin with; "
                "use nn.reshape_dynamic"
            )

    def evaluate(self, x):
        shape = self.out.type.shape
        if None in shape:
            shape = resolve(shape, self.x.type.shape, x.shape)
        return x.reshape(shape)


def copied_axes(before: Sequence[Dim], after: Sequence[Dim]) -> dict[int, int]:
    """Which unknown extents of a reshape's result are copied: {result's dimension: operand's
    dimension}.

    * A single `?` is computed from the number of elements, not copied, unless an extent of 0 makes
      that impossible.
    * If all `?` stay and only the known extents between them are split or joined, all are copied:
      [?, 64, ?, ?] -> [?, 4, 16, ?, ?] gives {0: 0, 3: 2, 4: 3}.
    * Otherwise the dimensions before the last `?` are copied, those of extent 1 left out; the last
      one is computed: [?, ?, 64] -> [?, 1, ?, 8, 8] gives {0: 0}.
    """
    alone = after.count(None) <= 1
    if alone and 0 not in after:
        return {}
    if _products_between(before) == _products_between(after):
        own = (axis for axis, d in enumerate(before) if d is None)
        return {axis: next(own) for axis, d in enumerate(after) if d is None}
    if alone:
        place = after.index(None) if None in after else len(before)
        kept = place < len(before) and tuple(before[: place + 1]) == tuple(after[: place + 1])
        return {place: place} if kept else {}
    last = max(axis for axis, d in enumerate(after) if d is None)
    wanted = [axis for axis in range(last) if after[axis] != 1]
    return dict(zip(wanted, (axis for axis, d in enumerate(before) if d != 1), strict=False))


def _products_between(shape: Sequence[Dim]) -> list[int]:
    """The products of the known extents before, between and behind the unknown ones."""
    found = [1]
    for extent in shape:
        if extent is None:
            found.append(1)
        else:
            found[-1] *= extent
    return found


def is_reshape(before: Sequence[Dim], after: Sequence[Dim]) -> bool:
    """Whether every unknown extent of a reshape's result can be computed from the operand's
    extents.
    """
    unknown = [axis for axis, d in enumerate(after) if d is None]
    if len(unknown) <= 1:
        return True
    copied = copied_axes(before, after)
    if not all(after[axis] == before[of] for axis, of in copied.items()):
        return False
    if all(axis in copied for axis in unknown):
        return True
    left = any(d is None for of, d in enumerate(before) if of not in copied.values())
    return left and all(axis in copied for axis in unknown[:-1])


def resolve(
    shape: tuple[Dim, ...], operand: tuple[Dim, ...], of: tuple[int, ...]
) -> tuple[int, ...]:
    """The actual shape of a reshape's result; `shape` is the result type's, `operand` the operand
    type's.

    `of` are the operand's actual extents.
    """
    copied = copied_axes(operand, shape)
    last = max((axis for axis, d in enumerate(shape) if d is None), default=len(shape))
    total = known_product([d for axis, d in enumerate(of) if axis not in copied.values()]) or 0
    rest = known_product([d for axis, d in enumerate(shape) if d and axis not in copied]) or 1
    own = {last: total // rest} | {axis: of[one] for axis, one in copied.items()}
    return tuple(own.get(axis, 0) if d is None else d for axis, d in enumerate(shape))


class ReshapeDynamic(NnOp, name="nn.reshape_dynamic"):
    """The same elements in a shape given at run time; an extent of -1 is computed from their
    number.

    Source: ONNX Reshape-25 with allowzero = 1.
    """

    x: Operand = operand(AnyRankedTensor)
    shape: Operand = operand(AnyRankedTensor)
    out: Result = result(AnyRankedTensor)

    fusion = Fusion.VIEW
    example = (
        "%y = nn.reshape_dynamic %x, %shape : (tensor<?x8xf32>, tensor<2xi64>) -> tensor<?x?xf32>"
    )

    @classmethod
    def infer(cls, types, attrs):
        x, shape = types
        rank = shape_operand_length(shape, "shape")
        if rank is None:
            raise NncError("shape must have a known length")
        return [tensor([None] * rank, x.element_type)]

    def evaluate(self, x, shape):
        if any(d < -1 for d in shape):  # which NumPy takes for -1
            raise self.error(f"an extent is less than -1: {shape.tolist()}")
        return x.reshape([int(d) for d in shape])


class Words(NnOp, name="nn.words", traits=(Total, Arranging)):
    """Each four neighbouring integers of 8 bits, or two bf16, as one i32, the first in the lowest
    bits.

    It is a view: no bytes are moved. Shapes: x [.., N] -> out [.., N / 4], or [.., N / 2] of bf16.
    """

    x: Operand = operand(AnyRankedTensor)
    out: Result = result(AnyRankedTensor)

    fusion = Fusion.VIEW
    example = "%y = nn.words %x : (tensor<4x8xui8>) -> tensor<4x2xi32>"

    @classmethod
    def infer(cls, types, attrs):
        (x,) = types
        is_byte = isinstance(x.element_type, IntegerType) and x.element_type.width == 8
        if not is_byte and x.element_type is not bf16:
            raise NncError(f"expected integers of 8 bits or bf16, but got '{x}'")
        count = 4 // x.element_type.byte_width
        if x.rank == 0 or x.shape[-1] is None or x.shape[-1] % count:
            raise NncError(f"the last dimension is not a multiple of {count}: '{x}'")
        return [tensor((*x.shape[:-1], x.shape[-1] // count), i32)]

    def evaluate(self, x):
        return np.ascontiguousarray(x).view("<i4").astype(np.int32, copy=False)


class Pairs(NnOp, name="nn.pairs"):
    """Each two neighbouring integers of 8 bits, less `zero`, as one i32 of two halves of 16 bits.

    The first one is in the low half. Shapes: x [.., N], zero [] of i32 -> out [.., N / 2].
    """

    x: Operand = operand(AnyRankedTensor)
    zero: Operand = operand(AnyRankedTensor)
    out: Result = result(AnyRankedTensor)

    body = (
        "out[b.., k] = or(and(cast(x[b.., k*2]) - zero[], 65535),"
        " shift_left(cast(x[b.., k*2 + 1]) - zero[], 16))"
    )
    example = "%y = nn.pairs %x, %z : (tensor<4x8xui8>, tensor<i32>) -> tensor<4x4xi32>"

    @classmethod
    def comprehend(cls, types, attrs, results=()):
        return cls.bind(cls.body, types, {}, None, i32)

    @classmethod
    def infer(cls, types, attrs):
        x, zero = types
        if x.rank == 0 or x.shape[-1] is None or x.shape[-1] % 2:
            raise NncError(f"the last dimension is not a multiple of 2: '{x}'")
        if zero.element_type is not i32:
            raise NncError(f"expected a number of type i32, but got '{zero}'")
        return [tensor(cls.comprehend(types, attrs).shape, i32)]


class BroadcastTo(NnOp, name="nn.broadcast_to"):
    """x broadcast to the result's shape: new leading dimensions, and those of extent 1, repeat it.

    Source: ONNX Expand-13.
    """

    x: Operand = operand(AnyRankedTensor)
    out: Result = result(AnyRankedTensor)

    fusion = Fusion.MOVEMENT
    keeps_rows = True
    example = "%y = nn.broadcast_to %x : (tensor<8xf32>) -> tensor<4x8xf32>"

    @classmethod
    def infer(cls, types, attrs):
        return None

    def check(self) -> None:
        x, out = self.x.type, self.out.type
        if x.element_type is not out.element_type or x.rank > out.rank:
            raise NncError(f"cannot broadcast '{x}' to '{out}'")
        lead = out.rank - x.rank
        for i, extent in enumerate(out.shape):
            given = x.shape[i - lead] if i >= lead else 1
            if given not in (1, extent) and None not in (given, extent):
                raise NncError(f"cannot broadcast '{x}' to '{out}'")
            if extent is None and given is not None:
                raise NncError(f"dimension {i} of '{out}' is not known; use nn.broadcast_dynamic")

    @classmethod
    def comprehend(cls, types, attrs, results=()):
        (out,) = results
        return cls.bind("out[i..] = x[i..]", types, attrs, {"i": out.shape})


class BroadcastDynamic(NnOp, name="nn.broadcast_dynamic"):
    """x broadcast together with a shape that is given at run time. Source: ONNX Expand-13."""

    x: Operand = operand(AnyRankedTensor)
    shape: Operand = operand(AnyRankedTensor)
    out: Result = result(AnyRankedTensor)

    example = (
        "%y = nn.broadcast_dynamic %x, %shape : (tensor<8xf32>, tensor<2xi64>) -> tensor<?x8xf32>"
    )

    @classmethod
    def infer(cls, types, attrs):
        x, shape = types
        rank = shape_operand_length(shape, "shape")
        if rank is None:
            raise NncError("shape must have a known length")
        out = broadcast_shapes((None,) * rank, x.shape)
        return [tensor(out, x.element_type)]

    def evaluate(self, x, shape):
        wanted = broadcast_shapes(x.shape, tuple(int(d) for d in shape))
        return np.array(np.broadcast_to(x, wanted), order="C")
