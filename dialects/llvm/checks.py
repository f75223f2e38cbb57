"""LLVM's rules for accesses, casts, constants and branches, in upstream's words."""

from __future__ import annotations

from ...ir.types import lane_type
from ..index_lists import plain_error
from ..vocabulary import *
from .types import ArrayType, PointerType, StructType

_WIDTHS = (8, 16, 32, 64, 128)


def check_initializer(op: Operation, body: Region, type: Type | None) -> None:
    """Check that a body returns a global's `type`, or a pointer, for an alias (`type` is None)."""
    for block in body.blocks:
        last = block.last
        if last is None or last.name != "llvm.return":
            continue
        found = last.operands[0].type if last.operands else None
        if type is None:
            if found is None or found.name != "llvm.ptr":
                raise op.error("initializer region must always return a pointer")
        elif found is None:
            raise op.error("initializer region cannot return void")
        elif found is not type:
            raise op.error(f"initializer region type '{found}' does not match global type '{type}'")


def is_atomic_type(type: Type) -> bool:
    """Whether a value of the type can be accessed atomically."""
    match type:
        case IntegerType(width):
            return width in _WIDTHS
        case FloatType() | PointerType():
            return True
        case VectorType(shape, element):
            width = 64 if isinstance(element, PointerType) else getattr(element, "bit_width", 0)
            return width * shape[0] in _WIDTHS
    return False


def check_access(op: Any, type: Type, unsupported: tuple[str, ...]) -> None:
    """Check the ordering, alignment and type of a load or store; raises NncError."""
    if op.ordering == "not_atomic":
        if op.syncscope is not None:
            raise op.error("expected syncscope to be null for non-atomic access")
        return
    if op.ordering in unsupported:
        raise op.error(f"unsupported ordering '{op.ordering}'")
    if not is_atomic_type(type):
        raise op.error(f"unsupported type '{type}' for atomic access")
    if op.alignment is None:
        raise op.error("expected alignment for atomic access")


def check_atomic_update(op: Any, kind: str, type: Type) -> None:
    """Check the operand type of an atomic read-modify-write."""
    inner = lane_type(type)
    if kind in ("fadd", "fsub", "fmin", "fmax", "fminimum", "fmaximum"):
        if not isinstance(inner, FloatType):
            raise op.error("expected LLVM IR floating point type")
    elif kind == "xchg":
        if not is_atomic_type(type):
            raise op.error("unexpected LLVM IR type for 'xchg' bin_op")
    elif not (isinstance(type, IntegerType) and is_atomic_type(type)):
        raise op.error("expected LLVM IR integer type")
    if op.ordering in ("not_atomic", "unordered"):
        raise op.error("expected at least 'monotonic' ordering")


def check_compare_exchange(op: Any, type: Type) -> None:
    """Check the orderings and the type of a compare-and-exchange."""
    if not isinstance(type, IntegerType | PointerType) or not is_atomic_type(type):
        raise op.error("unexpected LLVM IR type")
    both = (op.success_ordering, op.failure_ordering)
    if any(ordering in ("not_atomic", "unordered") for ordering in both):
        raise op.error("ordering must be at least 'monotonic'")
    if op.failure_ordering in ("release", "acq_rel"):
        raise op.error("failure ordering cannot be 'release' or 'acq_rel'")


def check_weights(op: Any, successors: Sequence[Any]) -> None:
    """Check that there are as many branch weights as successors."""
    weights = op.branch_weights
    if weights is not None and len(weights) != len(successors):
        raise plain_error(
            op,
            "expects number of branch weights to match number of successors: "
            f"{len(weights)} vs {len(successors)}",
        )


def check_bundles(op: Any) -> None:
    """Check that each operand bundle has a tag, and that their sizes fit the operands."""
    tags, sizes = op.op_bundle_tags or (), op.op_bundle_sizes
    if len(tags) != len(sizes):
        message = f"expected {len(sizes)} operand bundle tags, but actually got {len(tags)}"
        raise plain_error(op, message)
    found = len(op.op_bundle_operands)
    if sum(sizes) != found:
        raise op.error(
            f"op_bundle_operands count ({found}) does not match with the total size "
            f"({sum(sizes)}) specified in attribute 'op_bundle_sizes'"
        )


# -- casts -----------------------------------------------------------------------------------------


def check_extension(op: Any, source: Type, target: Type) -> None:
    """Check that an integer becomes wider and keeps its shape."""
    if isinstance(source, VectorType) != isinstance(target, VectorType):
        first, second = ("a vector", "an integer")
        if not isinstance(source, VectorType):
            first, second = "an integer", "a vector"
        raise plain_error(op, f"input type is {first} but output type is {second}")
    if isinstance(source, VectorType):
        if source.shape != target.shape:  # type: ignore[attr-defined]
            raise plain_error(op, "input and output vectors are of incompatible shape")
        source, target = source.element_type, target.element_type  # type: ignore[attr-defined]
    if target.width <= source.width:  # type: ignore[attr-defined]
        raise plain_error(
            op,
            "integer width of the output type is smaller or equal to the integer width of the "
            "input type",
        )


def check_bitcast(op: Any, source: Type, target: Type) -> None:
    """Check that pointers are cast to pointers only."""

    def is_pointer(type: Any) -> bool:
        return isinstance(lane_type(type), PointerType)

    if is_pointer(source) != is_pointer(target):
        raise op.error("can only cast pointers from and to pointers")
    if is_pointer(source) and isinstance(source, VectorType) != isinstance(target, VectorType):
        raise op.error("cannot cast pointer to vector of pointers" if isinstance(target, VectorType)
                       else "cannot cast vector of pointers to pointer")  # fmt: skip


# -- constants and globals -------------------------------------------------------------------------


def check_constant(op: Any, value: Any, type: Any) -> None:
    """Check that the attribute fits the type."""
    match value:
        case StringAttr(text):
            size = len(text.encode("utf-8", "surrogateescape"))
            if not is_bytes(type, size):
                raise op.error(f"expected array type of {size} i8 elements for the string constant")
        case ArrayAttr(elements) if isinstance(type, StructType):
            if len(elements) != len(type.elements):
                raise op.error(f"expected array attribute of size {len(type.elements)}")
        case IntegerAttr() if isinstance(type, FloatType):
            # The bits of a small float that LLVM has not.
            if type.kind in ("f16", "bf16", "f32", "f64", "f80", "f128"):
                raise op.error("expected integer type")
        case DenseElements() | DenseResource():
            if not isinstance(type, VectorType | ArrayType):
                raise op.error("expected vector or array type")


def is_bytes(type: Any, size: int) -> bool:
    """Whether the type is an array of `size` bytes."""
    return isinstance(type, ArrayType) and type.size == size and type.element_type is IntegerType(8)
