"""Making tensors, and reading their elements and sizes."""

from __future__ import annotations

from ..index_lists import plain_error
from ..memref.access import check_bounds
from ..memref.layouts import compatible
from ..sized import CastOp, DimOp, RankOp
from ..vocabulary import *


def _check_sizes(op: Operation, type: TensorType, found: int) -> None:
    wanted = sum(d is None for d in type.shape)
    if found != wanted:
        raise op.error(f"incorrect number of dynamic sizes, has {found}, expected {wanted}")


def run_time_shape(type: TensorType, sizes: Sequence[Any]) -> list[int]:
    """The type's shape with `sizes` in place of its unknown extents."""
    rest = iter(sizes)
    return [int(next(rest)) if d is None else d for d in type.shape]


class Empty(Op, name="tensor.empty", traits=(Pure,)):
    """A tensor with unspecified elements (zeros in the interpreter)."""

    dynamicSizes: Operands = operands(Index)  # noqa: N815
    result: Result = result(AnyRankedTensor)

    format = "`(` $dynamicSizes `)` attr-dict `:` type($result)"
    example = "%t = tensor.empty(%n) : tensor<?x4xf32>"

    def verify_op(self) -> None:
        _check_sizes(self, self.result.type, len(self.dynamicSizes))

    def evaluate(self, *sizes: Any) -> Any:
        type = self.result.type
        return np.zeros(run_time_shape(type, sizes), type_to_numpy(type.element_type))


class Extract(Op, name="tensor.extract", traits=(Pure,)):
    """The element at the indices."""

    tensor: Operand = operand(AnyRankedTensor)
    indices: Operands = operands(Index)
    result: Result = result(element_of("tensor"))

    result_name = "extracted"
    format = "$tensor `[` $indices `]` attr-dict `:` type($tensor)"
    example = "%x = tensor.extract %t[%i, %j] : tensor<?x4xf32>"

    def verify_op(self) -> None:
        if len(self.indices) != self.tensor.type.rank:
            raise self.error("incorrect number of indices for extract_element")

    def fold(self) -> Sequence[Value | Attribute] | None:
        """The element, if the tensor is a splat, a constant or from_elements, and the indices
        constants.
        """
        from ...ir.rewriting import constant_value

        if isinstance(inner := self.tensor.defining_op, Splat):
            return [inner.input]
        constant = constant_value(self.tensor)
        if isinstance(constant, DenseElements) and constant.strings is None:
            at = [constant_value(i) for i in self.indices]
            if not constant.is_splat and None in at:
                return None
            values, place = constant.values(), 0
            if not values or isinstance(values[0], tuple):  # of complex numbers
                return None
            if not constant.is_splat:
                for extent, i in zip(constant.type.shape, at, strict=True):
                    if not 0 <= i.value < extent:  # type: ignore[union-attr]
                        return None
                    place = place * extent + i.value  # type: ignore[union-attr]
            kind = FloatAttr if isinstance(values[0], float) else IntegerAttr
            return [kind(values[place], self.result.type)]
        return None

    def evaluate(self, tensor: Any, *indices: Any) -> Any:
        at = tuple(int(i) for i in indices)
        check_bounds(self, tensor, at)
        return tensor[at]


class Insert(Op, name="tensor.insert", traits=(Pure,)):
    """A tensor with one element replaced."""

    scalar: Operand = operand(element_of("dest"))
    dest: Operand = operand(AnyRankedTensor)
    indices: Operands = operands(Index)
    result: Result = result(Same("dest"))

    result_name = "inserted"
    format = "$scalar `into` $dest `[` $indices `]` attr-dict `:` type($dest)"
    example = "%u = tensor.insert %x into %t[%i, %j] : tensor<?x4xf32>"

    def verify_op(self) -> None:
        if len(self.indices) != self.dest.type.rank:
            raise self.error("incorrect number of indices")

    def evaluate(self, scalar: Any, dest: Any, *indices: Any) -> Any:
        at = tuple(int(i) for i in indices)
        check_bounds(self, dest, at)
        result = dest.copy()
        result[at] = scalar
        return result


class Dim(DimOp, name="tensor.dim", traits=(Pure,)):
    """The size of dimension `index`."""

    source: Operand = operand(AnyTensor)
    index: Operand = operand(Index)
    example = "%n = tensor.dim %t, %i : tensor<?x4xf32>"

    def told_by(self, op: Operation | None, position: int) -> Value | None:
        if not isinstance(op, Empty | Generate):
            return None
        return op.operands[self.source.type.shape[:position].count(None)]


class Rank(RankOp, name="tensor.rank", traits=(Pure,)):
    """The number of dimensions."""

    tensor: Operand = operand(AnyTensor)

    result_name = "rank"
    format = "$tensor attr-dict `:` type($tensor)"
    example = "%r = tensor.rank %t : tensor<?x4xf32>"


class FromElements(Op, name="tensor.from_elements", traits=(Pure,)):
    """A tensor of the given scalars, in row-major order."""

    elements: Operands = operands(AnyType)
    result: Result = result(AnyRankedTensor)

    result_name = "from_elements"
    format = "$elements attr-dict `:` custom<ElementsType>(type($elements), type($result))"
    example = "%t = tensor.from_elements %a, %b, %c, %d : tensor<2x2xf32>"

    def verify_op(self) -> None:
        type = self.result.type
        if not type.has_static_shape:
            raise self.error("result type must be a statically shaped tensor")
        if len(self.elements) != type.num_elements:
            raise self.error(
                f"expected {type.num_elements} elements for {type}, found {len(self.elements)}"
            )

    def evaluate(self, *elements: Any) -> Any:
        type = self.result.type
        return np.array(elements, type_to_numpy(type.element_type)).reshape(type.shape)


class Splat(Op, name="tensor.splat", traits=(Pure,)):
    """A tensor whose elements all are one scalar."""

    input: Operand = operand(element_of("aggregate"))
    dynamicSizes: Operands = operands(Index)  # noqa: N815
    aggregate: Result = result(AnyRankedTensor)

    result_name = "splat"
    format = "$input (`[` $dynamicSizes^ `]`)? attr-dict `:` type($aggregate)"
    example = "%t = tensor.splat %x[%n] : tensor<4x?xf32>"

    def verify_op(self) -> None:
        wanted = sum(d is None for d in self.aggregate.type.shape)
        if len(self.dynamicSizes) != wanted:
            raise self.error(
                f"incorrect number of dynamic sizes, has {len(self.dynamicSizes)}, "
                f"expected {wanted}"
            )

    def fold(self) -> Sequence[Value | Attribute] | None:
        from ...ir.rewriting import constant_value

        value: Any = constant_value(self.input)
        if value is None or not self.aggregate.type.has_static_shape:
            return None
        return [DenseElements.splat(value.value, self.aggregate.type)]

    def evaluate(self, input: Any, *sizes: Any) -> Any:
        type = self.aggregate.type
        return np.full(run_time_shape(type, sizes), input, type_to_numpy(type.element_type))


class Cast(CastOp, name="tensor.cast", traits=(Pure,)):
    """The same tensor under a type with more or fewer known extents."""

    source: Operand = operand(AnyTensor)
    dest: Result = result(AnyTensor)

    example = "%c = tensor.cast %t : tensor<8x8xf32> to tensor<?x8xf32>"

    def verify_op(self) -> None:
        a, b = self.source.type, self.dest.type
        fits = a.element_type is b.element_type
        if fits and isinstance(a, TensorType) and isinstance(b, TensorType):
            fits = a.rank == b.rank and all(
                None in pair or pair[0] == pair[1] for pair in zip(a.shape, b.shape, strict=True)
            )
        if not fits:
            raise self.error(f"operand type '{a}' and result type '{b}' are cast incompatible")

    def evaluate(self, source: Any) -> Any:
        type = self.dest.type
        if isinstance(type, TensorType) and (
            source.ndim != type.rank
            or any(d not in (None, n) for d, n in zip(type.shape, source.shape, strict=True))
        ):
            raise NncError(
                f"'tensor.cast': a tensor of shape {source.shape} does not fit {type}", self.loc
            )
        return source


class Bitcast(Op, name="tensor.bitcast", traits=(Pure,)):
    """The same bits as elements of another type of the same width."""

    source: Operand = operand(AnyTensor)
    dest: Result = result(AnyTensor)

    format = "$source attr-dict `:` type($source) `to` type($dest)"
    example = "%b = tensor.bitcast %t : tensor<8x8xf32> to tensor<8x8xi32>"

    def verify_op(self) -> None:
        a, b = self.source.type, self.dest.type
        widths = {getattr(t.element_type, "width", None) for t in (a, b)}
        shapes = [t.shape for t in (a, b) if isinstance(t, TensorType)]
        same_shape = len(shapes) < 2 or (
            len(shapes[0]) == len(shapes[1]) and all(map(compatible, *shapes))
        )
        if len(widths) != 1 or None in widths or not same_shape:
            raise self.error(f"operand type '{a}' and result type '{b}' are cast incompatible")

    def evaluate(self, source: Any) -> Any:
        return source.copy().view(type_to_numpy(self.dest.type.element_type))


class Yield(Op, name="tensor.yield", traits=(Pure, Terminator)):
    """Ends a region of `tensor.generate` or `tensor.pad` with an element."""

    value: Operand = operand(AnyType)

    format = "$value attr-dict `:` type($value)"
    example = """
        %t = tensor.generate %n {
        ^bb0(%i: index):
          tensor.yield %i : index
        } : tensor<?xindex>
    """


class Generate(Op, name="tensor.generate", traits=(RecursiveEffects, SingleBlock)):
    """A tensor whose elements the region computes from their indices."""

    dynamicExtents: Operands = operands(Index)  # noqa: N815
    body: RegionField = region()
    result: Result = result(AnyRankedTensor)

    result_name = "generated"
    format = "$dynamicExtents $body attr-dict `:` type($result)"
    example = Yield.example

    def verify_op(self) -> None:
        type = self.result.type
        wanted = sum(d is None for d in type.shape)
        if len(self.dynamicExtents) != wanted:
            raise self.error(
                "must have as many index operands as dynamic extents in the result type"
            )
        check_index_body(self, self.body, type.rank, type.element_type)

    def interpret(self, operands: list[Any], frame: Any) -> list[Any]:
        type = self.result.type
        result = np.empty(run_time_shape(type, operands), type_to_numpy(type.element_type))
        for at in np.ndindex(result.shape):
            _, (result[at],) = frame.run_region(self.body, [np.int64(i) for i in at])
        return [result]


def check_index_body(op: Operation, body: Any, rank: int, element: Type) -> None:
    """Raise an error unless the region takes an index for each dimension and yields an element."""
    block = body.block
    if len(block.args) != rank:
        raise plain_error(op, "must have one body argument per input dimension")
    if any(not isinstance(a.type, IndexType) for a in block.args):
        raise op.error("all body arguments must be index")
    last = block.last
    if not isinstance(last, Yield):
        raise op.error("expected a 'tensor.yield' at the end of the body")
    if last.value.type is not element:
        raise op.error(
            "body must be terminated with a `yield` operation of the tensor element type"
        )
