"""Parts of tensors, and tensors in other shapes."""

from __future__ import annotations

import math

from ...ir.declare import I64_ARRAYS
from ..index_lists import (
    Mixed,
    by_field,
    check_list,
    dynamic_count,
    mix,
    plain_error,
    split,
    to_dims,
)
from ..memref.layouts import compatible
from ..reassociation import Reassociating, reassociation
from ..slicing import LISTS, Slicing
from ..vocabulary import *
from .elements import Yield


def verify_part(op: Slicing, large: TensorType, small: TensorType) -> None:
    """Check that the op's lists fit the larger tensor and give the smaller one's shape.

    The smaller one may lack dimensions of size 1.
    """
    op.verify_lists(large.rank)
    op.verify_bounds(large.shape)
    sizes = to_dims(op.static_sizes)
    wanted = list(small.shape)
    kept = 0
    for size in sizes:
        if kept < len(wanted) and size == wanted[kept]:
            kept += 1
        elif size != 1:
            break
    else:
        if kept == len(wanted):
            return
    inferred = TensorType(sizes, large.element_type)
    raise plain_error(
        op, f"expected type to be '{inferred}' or a rank-reduced version. (size mismatch)"
    )


class _OfTensor(Op):
    """Base of the ops with a source tensor."""

    source: Operand = operand(AnyRankedTensor)


class _IntoTensor(_OfTensor):
    """Base of the ops with a source and a destination tensor."""

    dest: Operand = operand(AnyRankedTensor)


class ExtractSlice(Slicing, _OfTensor, name="tensor.extract_slice", traits=(Pure,)):
    """A rectangular, possibly strided part; dimensions of size 1 may be dropped."""

    result: Result = result(AnyRankedTensor)

    result_name = "extracted_slice"
    format = f"$source `` {LISTS} attr-dict `:` type($source) `to` type($result)"
    example = (
        "%s = tensor.extract_slice %t[0, %i] [4, 4] [1, 1] : tensor<8x8xf32> to tensor<4x4xf32>"
    )

    @staticmethod
    def of(
        source: Value,
        offsets: Sequence[Mixed],
        sizes: Sequence[Mixed],
        strides: Sequence[Mixed] | None = None,
    ) -> ExtractSlice:
        """Make the op from lists of numbers and values; no dimension is dropped."""
        steps = strides if strides is not None else [1] * len(offsets)
        parts = [split(part) for part in (offsets, sizes, steps)]
        type = TensorType(to_dims(parts[1][1]), source.type.element_type)  # type: ignore[attr-defined]
        return ExtractSlice(source, *(v for v, _ in parts), *(s for _, s in parts), result=type)

    def verify_op(self) -> None:
        verify_part(self, self.source.type, self.result.type)

    def evaluate(self, source: Any, *rest: Any) -> Any:
        window, sizes = self.window(source.shape, source, *rest)
        shape = self.result.type.shape
        if len(shape) == len(sizes):
            return source[window].copy()
        kept = [n for n, s in zip(sizes, to_dims(self.static_sizes), strict=True) if s != 1]
        final = kept if len(kept) == len(shape) else [d or 1 for d in shape]
        return source[window].reshape(final).copy()


class Inserting(Slicing, _IntoTensor):
    """Base of the ops that replace a part of a tensor."""

    format = f"$source `into` $dest `` {LISTS} attr-dict `:` type($source) `into` type($dest)"

    def evaluate(self, source: Any, dest: Any, *rest: Any) -> Any:
        window, sizes = self.window(dest.shape, source, dest, *rest)
        result = dest.copy()
        result[window] = source.reshape(sizes)
        return result


class InsertSlice(Inserting, name="tensor.insert_slice", traits=(Pure,)):
    """A tensor with a part replaced by another tensor."""

    result: Result = result(AnyRankedTensor)

    result_name = "inserted_slice"
    example = (
        "%u = tensor.insert_slice %s into %t[0, %i] [4, 4] [1, 1] : "
        "tensor<4x4xf32> into tensor<8x8xf32>"
    )

    @classmethod
    def infer_result_types(cls, operand_types: Any, properties: Any, regions: Any = ()):
        """The destination's type."""
        return [operand_types[1]]

    def verify_op(self) -> None:
        verify_part(self, self.dest.type, self.source.type)
        if self.result.type is not self.dest.type:
            raise self.error("expected the result to have the type of the destination")


class _Reassociating(Reassociating):
    """Base of the two reshapes that split or join neighbouring dimensions."""

    def _verify_groups(self, small: TensorType, large: TensorType) -> None:
        groups = self.groups
        if len(groups) != small.rank:
            raise self.error(
                f"expected collapsed rank ({small.rank}) to equal the number of reassociation "
                f"maps ({len(groups)})."
            )
        self.verify_contiguous(large.rank)
        for d, (group, extent) in enumerate(zip(groups, small.shape, strict=True)):
            sizes = [large.shape[i] for i in group]
            if None in sizes:
                if extent is not None:
                    raise self.error(
                        f"expected dimension {d} of collapsed type to be dynamic since one or more "
                        "of the corresponding dimensions in the expanded type is dynamic"
                    )
                continue
            total = math.prod(sizes)  # type: ignore[arg-type]
            if total != extent:
                raise self.error(
                    f"expected dimension {d} of collapsed type to be static value of {total}"
                )


class ExpandShape(_Reassociating, name="tensor.expand_shape", traits=(Pure,)):
    """The same elements with dimensions split into several."""

    src: Operand = operand(AnyRankedTensor)
    output_shape: Operands = operands(Index)
    reassociation = attribute(I64_ARRAYS)
    static_output_shape = attribute(INT_ARRAY)
    result: Result = result(AnyRankedTensor)

    inverse = "tensor.collapse_shape"
    result_name = "expanded"
    format = (
        "$src $reassociation `output_shape` "
        "custom<DynamicIndexList>($output_shape, $static_output_shape) "
        "attr-dict `:` type($src) `into` type($result)"
    )
    example = (
        "%e = tensor.expand_shape %t [[0], [1, 2]] output_shape [%n, 2, 2] : "
        "tensor<?x4xf32> into tensor<?x2x2xf32>"
    )

    @staticmethod
    def of(src: Value, groups: Sequence[Sequence[int]], shape: Sequence[Mixed]) -> ExpandShape:
        values, static = split(shape)
        type = TensorType(to_dims(static), src.type.element_type)  # type: ignore[attr-defined]
        return ExpandShape(src, values, reassociation(groups), static, result=type)

    def verify_op(self) -> None:
        static, rank = self.static_output_shape, self.result.type.rank
        if len(static) != rank:
            raise self.error(
                f"expected number of static shape dims to be equal to the output rank ({rank}) "
                f"but found {len(static)} inputs instead"
            )
        if dynamic_count(static) != len(self.output_shape):
            raise self.error(
                "mismatch in dynamic dims in output_shape and static_output_shape: "
                f"static_output_shape has {dynamic_count(static)} dynamic dims while "
                f"output_shape has {len(self.output_shape)} values"
            )
        self._verify_groups(self.src.type, self.result.type)

    def evaluate(self, src: Any, *output_shape: Any) -> Any:
        return src.reshape([int(v) for v in mix(self.static_output_shape, output_shape)])


class CollapseShape(_Reassociating, name="tensor.collapse_shape", traits=(Pure,)):
    """The same elements with neighbouring dimensions joined."""

    src: Operand = operand(AnyRankedTensor)
    reassociation = attribute(I64_ARRAYS)
    result: Result = result(AnyRankedTensor)

    inverse = "tensor.expand_shape"
    result_name = "collapsed"
    format = "$src $reassociation attr-dict `:` type($src) `into` type($result)"
    example = "%c = tensor.collapse_shape %t [[0, 1]] : tensor<?x4xf32> into tensor<?xf32>"

    @staticmethod
    def of(src: Value, groups: Sequence[Sequence[int]]) -> CollapseShape:
        sizes = [[src.type.shape[i] for i in group] for group in groups]  # type: ignore[attr-defined]
        shape = tuple(None if None in part else math.prod(part) for part in sizes)
        type = TensorType(shape, src.type.element_type)  # type: ignore[attr-defined]
        return CollapseShape(src, reassociation(groups), result=type)

    def verify_op(self) -> None:
        self._verify_groups(self.result.type, self.src.type)

    def evaluate(self, src: Any) -> Any:
        return src.reshape([math.prod(src.shape[i] for i in group) for group in self.groups])


class Reshape(Op, name="tensor.reshape", traits=(Pure,)):
    """The same elements in the shape that another tensor holds."""

    source: Operand = operand(AnyTensor)
    shape: Operand = operand(AnyRankedTensor)
    result: Result = result(AnyTensor)

    result_name = "reshape"
    format = "$source `(` $shape `)` attr-dict `:` functional-type(operands, results)"
    example = "%r = tensor.reshape %t(%s) : (tensor<8x8xf32>, tensor<2xi64>) -> tensor<?x?xf32>"

    def verify_op(self) -> None:
        if self.source.type.element_type is not self.result.type.element_type:
            raise self.error(
                "element types of source and destination tensor types should be the same"
            )
        count, target = self.shape.type.shape[0], self.result.type
        if isinstance(target, TensorType) and count is not None and count != target.rank:
            raise self.error("length of shape operand differs from the result's tensor rank")

    def evaluate(self, source: Any, shape: Any) -> Any:
        return source.reshape([int(n) for n in shape])


class Concat(Op, name="tensor.concat", traits=(Pure,)):
    """Tensors concatenated along dimension `dim`."""

    dim = attribute(I64)
    inputs: Operands = operands(AnyRankedTensor)
    result: Result = result(AnyRankedTensor)

    result_name = "concat"
    format = "`dim` `(` $dim `)` $inputs attr-dict `:` functional-type(operands, results)"
    example = (
        "%c = tensor.concat dim(0) %a, %b : (tensor<3x6xf32>, tensor<5x6xf32>) -> tensor<8x6xf32>"
    )

    def verify_op(self) -> None:
        if not self.inputs:
            raise self.error("requires at least one input")
        rank = self.result.type.rank
        if any(v.type.rank != rank for v in self.inputs):
            raise self.error("rank of concatenated inputs must match result rank")
        if not 0 <= self.dim < rank:
            raise self.error("concatenation dim must be less than the tensor rank")
        if any(v.type.element_type is not self.result.type.element_type for v in self.inputs):
            raise self.error("inputs and result element type must match")
        self._verify_sizes()

    def _verify_sizes(self) -> None:
        target: Any = self.result.type
        shape: list[int | None] = []
        for d in range(target.rank):
            sizes = [v.type.shape[d] for v in self.inputs]  # type: ignore[attr-defined]
            known = {n for n in sizes if n is not None}
            if d == self.dim:
                shape.append(None if None in sizes else sum(known and sizes))
                continue
            if len(known) > 1:
                raise self.error(
                    f"static concatenation size mismatch along non-concatenated dimension {d}"
                )
            shape.append(known.pop() if known else None)
        if not all(map(compatible, shape, target.shape)):
            inferred = TensorType(tuple(shape), target.element_type)
            raise self.error(
                f"result type '{target}' does not match inferred shape '{inferred}' static sizes"
            )

    def evaluate(self, *inputs: Any) -> Any:
        return np.concatenate(inputs, axis=self.dim)


class Pad(Op, name="tensor.pad", traits=(RecursiveEffects, SingleBlock)):
    """A tensor with elements added around it, which the region computes from their indices."""

    source: Operand = operand(AnyRankedTensor)
    low: Operands = operands(Index)
    high: Operands = operands(Index)
    static_low = attribute(INT_ARRAY)
    static_high = attribute(INT_ARRAY)
    nofold = attribute(UNIT, optional=True)
    body: RegionField = region()
    result: Result = result(AnyRankedTensor)

    result_name = "padded"
    format = (
        "$source (`nofold` $nofold^)? `low` `` custom<DynamicIndexList>($low, $static_low) "
        "`high` `` custom<DynamicIndexList>($high, $static_high) "
        "$body attr-dict `:` type($source) `to` type($result)"
    )
    example = """
        %p = tensor.pad %t low[1, %n] high[1, 2] {
        ^bb0(%i: index, %j: index):
          tensor.yield %x : f32
        } : tensor<8x8xf32> to tensor<10x?xf32>
    """

    def verify_op(self) -> None:
        source, target = self.source.type, self.result.type
        lists = to_dims(self.static_low), to_dims(self.static_high)
        if any(len(one) != source.rank for one in lists) or target.rank != source.rank:
            raise plain_error(
                self,
                f"failed to infer expectedType from sourceType '{source}', specified resultType "
                f"is '{target}'",
            )
        for what in ("low", "high"):
            check_list(self, getattr(self, f"static_{what}"), getattr(self, what), what)
        shape = tuple(
            None if None in (low, n, high) else low + n + high  # type: ignore[operator]
            for low, n, high in zip(lists[0], source.shape, lists[1], strict=True)
        )
        if any(n is not None and n != m for n, m in zip(shape, target.shape, strict=True)):
            inferred = TensorType(shape, source.element_type)
            raise plain_error(
                self, f"specified type '{target}' does not match the inferred type '{inferred}'"
            )
        args = self.body.block.args
        if len(args) != target.rank:
            raise plain_error(self, f"expected the block to have {target.rank} arguments")
        for i, arg in enumerate(args):
            if not isinstance(arg.type, IndexType):
                raise self.error(f"expected block argument {i + 1} to be an index")
        last = self.body.block.last
        if isinstance(last, Yield) and last.value.type is not target.element_type:
            raise self.error("expected yield type to match shape element type")

    def interpret(self, operands: list[Any], frame: Any) -> list[Any]:
        given = by_field(self, operands)
        source = given["source"]
        low = [int(v) for v in mix(self.static_low, given["low"])]
        high = [int(v) for v in mix(self.static_high, given["high"])]
        shape = [a + n + b for a, n, b in zip(low, source.shape, high, strict=True)]
        result = np.empty(shape, source.dtype)
        inner = tuple(slice(a, a + n) for a, n in zip(low, source.shape, strict=True))
        outside = np.ones(shape, np.bool_)
        outside[inner] = False
        for at in np.argwhere(outside):
            _, (result[tuple(at)],) = frame.run_region(self.body, [np.int64(i) for i in at])
        result[inner] = source
        return [result]
