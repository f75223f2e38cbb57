"""Reading, changing and writing an element in one step, and the kinds of change."""

from __future__ import annotations

from ...ir.traits import AllocatesMemory
from ..index_lists import plain_error
from ..vocabulary import *
from .access import check_bounds

ATOMIC_KINDS = {
    name: number
    for number, name in enumerate(
        (
            *("addf", "addi", "andi", "assign", "maximumf", "maxnumf", "maxs", "maxu"),
            *("minimumf", "minnumf", "mins", "minu", "mulf", "muli", "ori", "xori"),
        )
    )
}
"""Upstream's name and number of each kind of change."""

_FUNCTIONS = {
    "addf": "add", "addi": "add", "andi": "bitwise_and", "maximumf": "maximum", "maxnumf": "fmax",
    "maxs": "maximum", "maxu": "maximum", "minimumf": "minimum", "minnumf": "fmin",
    "mins": "minimum", "minu": "minimum", "mulf": "multiply", "muli": "multiply",
    "ori": "bitwise_or", "xori": "bitwise_xor",
}  # fmt: skip


def combine(kind: str, old: Any, new: Any) -> Any:
    """The NumPy numbers `old` and `new` combined as the kind says."""
    if kind == "assign":
        return new
    if kind in ("maxu", "minu"):
        unsigned = np.dtype(f"u{old.dtype.name}") if old.dtype.kind == "i" else old.dtype
        found = getattr(np, _FUNCTIONS[kind])(old.view(unsigned), new.view(unsigned))
        return found.view(old.dtype)
    with np.errstate(all="ignore"):
        return old.dtype.type(getattr(np, _FUNCTIONS[kind])(old, new))


def identity(kind: str, type: Type) -> Any:
    """The neutral element of a kind for numbers of this type."""
    number = type_to_numpy(type).type
    match kind:
        case "mulf" | "muli":
            return number(1)
        case "andi":
            return number(-1)
        case "maximumf" | "maxnumf":
            return number(-np.inf)
        case "minimumf" | "minnumf":
            return number(np.inf)
        case "maxs":
            return number(np.iinfo(number).min)
        case "mins":
            return number(np.iinfo(number).max)
        case "minu":
            return number(-1)
    return number(0)


def fits_kind(kind: str, type: Type) -> bool:
    """Whether the kind combines values of this type."""
    if kind == "assign":
        return True
    wanted = FloatType if kind.endswith("f") else IntegerType
    return isinstance(type, wanted)


NumberOrFloat = Constraint(
    "signless integer or floating-point",
    lambda t: isinstance(t, FloatType) or (isinstance(t, IntegerType) and t.is_signless),
)
MemRefOfNumbers = Constraint(
    "memref of signless integer or floating-point values",
    lambda t: AnyMemRef.allows(t) and NumberOrFloat.allows(t.element_type),  # type: ignore[attr-defined]
)


class AtomicRMW(Op, name="memref.atomic_rmw", traits=(WritesMemory,)):
    """Combine an element of a memref with a value, in one step; the result is the old element."""

    kind = attribute(int_enum("allowed 64-bit signless integer cases", ATOMIC_KINDS))
    value: Operand = operand(NumberOrFloat)
    memref: Operand = operand(MemRefOfNumbers)
    indices: Operands = operands(Index)
    result: Result = result(NumberOrFloat)

    format = (
        "$kind $value `,` $memref `[` $indices `]` attr-dict `:` `(` type($value) `,` "
        "type($memref) `)` `->` type($result)"
    )
    example = "%0 = memref.atomic_rmw addf %x, %m[%i] : (f32, memref<8xf32>) -> f32"

    def verify_op(self) -> None:
        memory: Any = self.memref.type
        if memory.rank != len(self.indices):
            raise self.error("expects the number of subscripts to be equal to memref rank")
        if self.kind != "assign" and self.kind != "xori":
            is_float = isinstance(self.value.type, FloatType)
            if self.kind.endswith("f") != is_float:
                wanted = "a floating-point" if self.kind.endswith("f") else "an integer"
                raise self.error(f"with kind '{self.kind}' expects {wanted} type")
        if self.value.type is not memory.element_type:
            raise self.error("failed to verify that value type matches element type of memref")
        if self.result.type is not self.value.type:
            raise self.error("failed to verify that all of {value, result} have same type")

    def interpret(self, operands: list[Any], frame: Any) -> list[Any]:
        value, array, *indices = operands
        at = tuple(int(i) for i in indices)
        check_bounds(self, array, at)
        frame.changes(self, array, at)
        old = array[at]
        array[at] = combine(self.kind, old, value)
        return [old]


class GenericAtomicRMW(Op, name="memref.generic_atomic_rmw", traits=(WritesMemory, SingleBlock)):
    """Replace an element of a memref by what the body computes from it, in one step.

    The result is the new element.
    """

    memref: Operand = operand(MemRefOfNumbers)
    indices: Operands = operands(Index)
    result: Result = result(element_of("memref"))
    atomic_body: RegionField = region()

    format = "$memref `[` $indices `]` `:` type($memref) $atomic_body attr-dict"
    example = """
        %0 = memref.generic_atomic_rmw %m[%i] : memref<8xf32> {
        ^bb0(%arg0: f32):
          %1 = arith.mulf %arg0, %x : f32
          memref.atomic_yield %1 : f32
        }
    """

    def verify_op(self) -> None:
        blocks = self.atomic_body.blocks
        if not blocks or len(blocks[0].args) != 1:
            raise self.error("expected single number of entry block arguments")
        if blocks[0].args[0].type is not self.result.type:
            raise self.error("expected block argument of the same type result type")
        for op in blocks[0]:
            if any(op.has_trait(trait) for trait in (ReadsMemory, WritesMemory, AllocatesMemory)):
                raise plain_error(
                    op,
                    "body of 'memref.generic_atomic_rmw' should contain only operations with no "
                    "side effects",
                )

    def interpret(self, operands: list[Any], frame: Any) -> list[Any]:
        array, *indices = operands
        at = tuple(int(i) for i in indices)
        check_bounds(self, array, at)
        frame.changes(self, array, at)
        _, (new,) = frame.run_region(self.atomic_body, [array[at]])
        array[at] = new
        return [new]


class AtomicYield(
    Op,
    name="memref.atomic_yield",
    traits=(Pure, Terminator, HasParent("memref.generic_atomic_rmw")),
):
    """The new element, from the body of `memref.generic_atomic_rmw`."""

    value: Operand = operand(AnyType)

    format = "$value attr-dict `:` type($value)"
    example = """
        %0 = memref.generic_atomic_rmw %m[%i] : memref<8xf32> {
        ^bb0(%arg0: f32):
          memref.atomic_yield %arg0 : f32
        }
    """

    def verify_op(self) -> None:
        parent = self.parent_op
        if parent is not None and parent.results[0].type is not self.value.type:
            raise self.error(
                f"types mismatch between yield op: '{self.value.type}' and its parent: "
                f"'{parent.results[0].type}'"
            )
