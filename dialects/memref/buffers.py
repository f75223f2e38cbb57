"""Making and freeing buffers, their sizes, and buffers of a module."""

from __future__ import annotations

import math
import sys

from ...ir.attributes import SparseElements
from ...ir.declare import TYPE
from ...ir.region_edges import verify_yields
from ...ir.symbols import lookup_symbol
from ...ir.traits import AllocatesMemory, Symbol
from ..index_lists import by_field
from ..sized import DimOp, RankOp
from ..vocabulary import *
from .access import check_alignment
from .aliasing import ViewLike
from .views import SubView

OneDimensional = Constraint(
    "1D memref of any type values", lambda t: isinstance(t, MemRefType) and t.rank == 1
)


def check_dynamic_sizes(op: Operation, found: int, type: MemRefType) -> None:
    """Raise unless there is a size for each dynamic extent of the type."""
    wanted = sum(d is None for d in type.shape)
    if found != wanted:
        raise op.error(f"incorrect number of dynamic sizes, has {found}, expected {wanted}")


def new_array(type: MemRefType, sizes: Sequence[Any] = ()) -> Any:
    """A NumPy array of a memref type, with a pattern in it that makes reads of unset elements show.

    `sizes` are the unknown extents. Raises NncError for negative or too large ones.
    """
    rest = iter(sizes)
    shape = [int(next(rest)) if d is None else d for d in type.shape]
    dtype = type_to_numpy(type.element_type)
    if any(extent < 0 for extent in shape):
        raise NncError(f"an extent is negative: {shape}")
    # NumPy takes an extent of 0 for 1 here, as machine code does.
    if math.prod(extent or 1 for extent in shape) * dtype.itemsize > sys.maxsize:
        raise NncError(f"{shortage(type)}: its shape is {shape}")
    try:
        if dtype.kind == "b":
            return np.ones(shape, dtype)
        size = dtype.itemsize * math.prod(shape)
        return np.full(size, 0xFF, np.uint8).view(dtype).reshape(shape)
    except (MemoryError, ValueError):
        raise NncError(f"{shortage(type)}: its shape is {shape}") from None


def shortage(type: MemRefType) -> str:
    """The error message for a buffer that cannot be allocated."""
    return f"there is not enough memory for a {TensorType(type.shape, type.element_type)}"


class _AllocLike(Op):
    """Base of the ops that make an uninitialized buffer with the given unknown sizes."""

    dynamicSizes: Operands = operands(Index)  # noqa: N815
    symbolOperands: Operands = operands(Index)  # noqa: N815
    alignment = attribute(I64, optional=True)
    memref: Result = result(AnyMemRef)

    format = "`(` $dynamicSizes `)` (`` `[` $symbolOperands^ `]`)? attr-dict `:` type($memref)"

    def verify_op(self) -> None:
        type = self.memref.type
        check_dynamic_sizes(self, len(self.dynamicSizes), type)
        symbols = type.layout_symbol_count
        if len(self.symbolOperands) != symbols:
            raise self.error(
                "symbol operand count does not equal memref symbol count: expected "
                f"{symbols}, got {len(self.symbolOperands)}"
            )
        check_alignment(self, self.alignment)

    def interpret(self, operands: list[Any], frame: Any) -> list[Any]:
        return [new_array(self.memref.type, by_field(self, operands)["dynamicSizes"])]


class Alloc(_AllocLike, name="memref.alloc", traits=(AllocatesMemory,)):
    """A new buffer on the heap, freed by `memref.dealloc`."""

    result_name = "alloc"
    example = "%m = memref.alloc(%n) {alignment = 64 : i64} : memref<4x?xf32>"


class Alloca(_AllocLike, name="memref.alloca", traits=(AllocatesMemory,)):
    """A new buffer on the stack, freed where the surrounding function or scope ends."""

    result_name = "alloca"
    example = "%m = memref.alloca() : memref<16xf32>"


class Realloc(Op, name="memref.realloc", traits=(AllocatesMemory, WritesMemory)):
    """A one-dimensional buffer of another size with the old elements; the old buffer is freed."""

    source: Operand = operand(OneDimensional)
    dynamicResultSize: OptionalOperand = optional_operand(Index)  # noqa: N815
    alignment = attribute(I64, optional=True)
    result: Result = result(OneDimensional)

    format = "$source (`(` $dynamicResultSize^ `)`)? attr-dict `:` type($source) `to` type($result)"
    example = "%m = memref.realloc %old(%n) : memref<64xf32> to memref<?xf32>"

    def verify_op(self) -> None:
        source, target = self.source.type, self.result.type
        if source.element_type is not target.element_type:
            raise self.error("source memref and result memref should have same element type")
        if (target.shape[0] is None) != (self.dynamicResultSize is not None):
            missing = "missing" if target.shape[0] is None else "unnecessary"
            raise self.error(f"{missing} dimension operand for result type {target}")

    def interpret(self, operands: list[Any], frame: Any) -> list[Any]:
        old = operands[0]
        new = new_array(self.result.type, operands[1:])
        kept = min(len(old), len(new))
        new[:kept] = old[:kept]
        return [new]


class Dealloc(Op, name="memref.dealloc", traits=(WritesMemory,)):
    """Free a buffer made by `memref.alloc`."""

    memref: Operand = operand(AnyRankedOrUnrankedMemRef)

    format = "$memref attr-dict `:` type($memref)"
    example = "memref.dealloc %m : memref<4x?xf32>"

    def interpret(self, operands: list[Any], frame: Any) -> list[Any]:
        return []


class AllocaScopeReturn(
    Op, name="memref.alloca_scope.return", traits=(Terminator, HasParent("memref.alloca_scope"))
):
    """Leave a `memref.alloca_scope` with its results."""

    values: Operands = operands(AnyType)

    format = "attr-dict ($values^ `:` type($values))?"
    example = """
        %0 = memref.alloca_scope  -> (f32) {
          memref.alloca_scope.return %x : f32
        }
    """


class AllocaScope(
    Op,
    name="memref.alloca_scope",
    traits=(RecursiveEffects, SingleBlockImplicitTerminator("memref.alloca_scope.return")),
):
    """A region at whose end the buffers of its `memref.alloca`s are freed."""

    outputs: Results = results(AnyType)
    body: RegionField = region()

    format = "custom<ScopeTypes>(type($outputs)) $body attr-dict"
    example = "memref.alloca_scope  {\n  %a = memref.alloca() : memref<4xf32>\n}"

    def verify_op(self) -> None:
        if not self.body.blocks:
            raise self.error(
                "region #0 ('bodyRegion') failed to verify constraint: region with 1 blocks"
            )
        if self.body.blocks[0].args:
            raise self.error("region should have no arguments")
        verify_yields(self, self.regions, "memref.alloca_scope.return")

    def interpret(self, operands: list[Any], frame: Any) -> list[Any]:
        return frame.run_region(self.body, [])[1]


class AssumeAlignment(Op, name="memref.assume_alignment", traits=(Pure, ViewLike)):
    """The same memref, with the promise that its address is a multiple of `alignment` bytes."""

    memref: Operand = operand(AnyMemRef)
    alignment = attribute(I32)
    result: Result = result(Same("memref"))

    result_name = "assume_align"
    format = "$memref `,` $alignment attr-dict `:` type($memref)"
    example = "%b = memref.assume_alignment %a, 64 : memref<8x8xf32>"

    def verify_op(self) -> None:
        if self.alignment <= 0 or self.alignment & (self.alignment - 1):
            raise self.error("alignment must be power of 2")

    def evaluate(self, memref: Any) -> Any:
        return memref


class DistinctObjects(Op, name="memref.distinct_objects", traits=(Pure, ViewLike)):
    """The same memrefs, with the promise that they do not overlap."""

    memrefs: Operands = operands(AnyMemRef)
    distinct: Results = results(AnyMemRef)

    format = "$memrefs attr-dict `:` type($memrefs)"
    example = "%0:2 = memref.distinct_objects %a, %b : memref<?xf32>, memref<4xf32>"

    @classmethod
    def infer_result_types(cls, operand_types, properties, regions=()):
        """The types of the operands."""
        return operand_types

    def verify_op(self) -> None:
        if not self.memrefs:
            raise self.error("expected at least one operand")
        if [v.type for v in self.memrefs] != [v.type for v in self.distinct]:
            raise self.error("operand types and result types must match")

    def evaluate(self, *memrefs: Any) -> Any:
        return memrefs


class Dim(DimOp, name="memref.dim", traits=(Pure,)):
    """The size of dimension `index`."""

    source: Operand = operand(AnyRankedOrUnrankedMemRef)
    index: Operand = operand(Index)
    example = "%n = memref.dim %m, %i : memref<4x?xf32>"

    def told_by(self, op: Operation | None, position: int) -> Value | None:
        match op:
            case Alloc() | Alloca():
                return op.dynamicSizes[self.source.type.shape[:position].count(None)]
            case SubView() if op.result.type.rank == op.source.type.rank:
                size = op.mixed_sizes[position]
                return size if isinstance(size, Value) else None
        return None


class Rank(RankOp, name="memref.rank", traits=(Pure,)):
    """The number of dimensions."""

    memref: Operand = operand(AnyRankedOrUnrankedMemRef)

    format = "$memref attr-dict `:` type($memref)"
    example = "%r = memref.rank %m : memref<4x?xf32>"


class Global(Op, name="memref.global", traits=(Symbol,)):
    """A buffer of the module: with given elements, `uninitialized`, or external."""

    sym_name = attribute(SYMBOL_NAME)
    type = attribute(TYPE)
    initial_value = attribute(ANY, optional=True)
    constant = attribute(UNIT, optional=True)
    sym_visibility = attribute(STRING, optional=True)
    alignment = attribute(I64, optional=True)

    format = (
        "($sym_visibility^)? (`constant` $constant^)? $sym_name `:` "
        "custom<GlobalMemrefOpTypeAndInitialValue>($type, $initial_value) attr-dict"
    )
    example = 'memref.global "private" constant @ones : memref<4xf32> = dense<1.000000e+00>'

    def verify_op(self) -> None:
        type = self.type
        if not isinstance(type, MemRefType) or not type.has_static_shape:
            raise self.error(f"type should be static shaped memref, but got '{type}'")
        match self.initial_value:
            case None | UnitAttr():
                pass
            case DenseElements(type=held) | DenseResource(type=held) | SparseElements(type=held):
                expected = TensorType(type.shape, type.element_type)
                if held is not expected:
                    raise self.error(
                        f"initial value expected to be of type '{expected}', "
                        f"but was of type '{held}'"
                    )
            case other:
                raise self.error(
                    f"initial value should be a unit or elements attribute, but got {other}"
                )
        check_alignment(self, self.alignment)

    def initial_array(self) -> Any:
        """A new array with the initial elements; it is writable unless the global is `constant`."""
        value = self.initial_value
        if value is None or isinstance(value, UnitAttr):
            return new_array(self.type, ())
        array = np.array(value.to_numpy())
        array.flags.writeable = not self.constant
        return array


class GetGlobal(Op, name="memref.get_global", traits=(Pure,)):
    """The buffer of a `memref.global`."""

    symbol = attribute(SYMBOL, key="name")
    result: Result = result(AnyMemRef)

    format = "$name `:` type($result) attr-dict"
    example = """
        memref.global "private" @ones : memref<4xf32>
        func.func @f() {
          %0 = memref.get_global @ones : memref<4xf32>
          return
        }
    """

    def verify_op(self) -> None:
        if self.parent is None or self.parent_op is None:
            return
        target = lookup_symbol(self, self.symbol)
        if not isinstance(target, Global):
            raise self.error(f"'{self.symbol}' does not reference a valid global memref")
        if target.type is not self.result.type:
            raise self.error(
                f"result type '{self.result.type}' does not match type '{target.type}' "
                f"of the global memref @{self.symbol}"
            )

    def interpret(self, operands: list[Any], frame: Any) -> list[Any]:
        target = lookup_symbol(self, self.symbol)
        assert isinstance(target, Global)
        return [frame.shared(target, target.initial_array)]
