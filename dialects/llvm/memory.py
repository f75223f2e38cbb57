"""Memory of the llvm dialect: loads, stores, addresses, the stack, atomics."""

# ruff: noqa: N815 - the names of properties are upstream's

from __future__ import annotations

from ...ir.declare import TYPE
from ..vocabulary import *
from .arithmetic import AnyPointer, IntegerLike, LLVMType, PointerLike
from .attributes import ATOMIC_OPERATION, GEP_FLAGS, ORDERING
from .checks import check_access, check_atomic_update, check_compare_exchange
from .metadata import AccessGroup, AliasScope, Dereferenceable, TBAATag, array_of, attribute_of
from .types import ArrayType, StructType

DYNAMIC_INDEX = -(2**31)
"""Stands in `rawConstantIndices` for an index that is an operand."""


_SCOPES = array_of(AliasScope, "LLVM dialect alias scope array")


class MemoryAccess(Op):
    """Base of the ops with alias information on their accesses."""

    access_groups: tuple[Attribute, ...] | None = attribute(
        array_of(AccessGroup, "LLVM dialect access group metadata array"), optional=True
    )
    alias_scopes: tuple[Attribute, ...] | None = attribute(_SCOPES, optional=True)
    noalias_scopes: tuple[Attribute, ...] | None = attribute(_SCOPES, optional=True)
    tbaa: tuple[Attribute, ...] | None = attribute(
        array_of(TBAATag, "LLVM dialect TBAA tag metadata array"), optional=True
    )


class Load(MemoryAccess, name="llvm.load", traits=(ReadsMemory,)):
    """Read a value from memory.

    Units: `alignment` in bytes; without it the type's natural alignment is assumed.
    """

    addr: Operand = operand(PointerLike)
    alignment: int | None = attribute(I64, optional=True)
    volatile_: bool = attribute(UNIT)
    nontemporal: bool = attribute(UNIT)
    invariant: bool = attribute(UNIT)
    invariantGroup: bool = attribute(UNIT)
    dereferenceable: Attribute | None = attribute(attribute_of(Dereferenceable), optional=True)
    ordering: str = attribute(ORDERING, default="not_atomic")
    syncscope: str | None = attribute(STRING, optional=True)
    res: Result = result(LLVMType)

    format = (
        "(`volatile` $volatile_^)? $addr "
        "custom<AtomicAccess>($ordering, $syncscope) (`invariant` $invariant^)? "
        "(`invariant_group` $invariantGroup^)? (`dereferenceable` `` $dereferenceable^)? "
        "attr-dict `:` type($addr) `->` type($res)"
    )
    example = "%v = llvm.load %p {alignment = 4 : i64} : !llvm.ptr -> f32"

    def verify_op(self) -> None:
        """Check the ordering: one that loads can have, with the alignment that atomics need."""
        check_access(self, self.res.type, ("release", "acq_rel"))


class Store(MemoryAccess, name="llvm.store", traits=(WritesMemory,)):
    """Write a value to memory.

    Units: `alignment` in bytes; without it the type's natural alignment is assumed.
    """

    value: Operand = operand(LLVMType)
    addr: Operand = operand(PointerLike)
    alignment: int | None = attribute(I64, optional=True)
    volatile_: bool = attribute(UNIT)
    nontemporal: bool = attribute(UNIT)
    invariantGroup: bool = attribute(UNIT)
    ordering: str = attribute(ORDERING, default="not_atomic")
    syncscope: str | None = attribute(STRING, optional=True)

    format = (
        "(`volatile` $volatile_^)? $value `,` $addr "
        "custom<AtomicAccess>($ordering, $syncscope) (`invariant_group` $invariantGroup^)? "
        "attr-dict `:` type($value) `,` type($addr)"
    )
    example = "llvm.store %v, %p {alignment = 4 : i64} : f32, !llvm.ptr"

    def verify_op(self) -> None:
        """Check the ordering: one that stores can have, with the alignment that atomics need."""
        check_access(self, self.value.type, ("acquire", "acq_rel"))


class Alloca(Op, name="llvm.alloca"):
    """Stack memory for a number of elements, until the function returns."""

    arraySize: Operand = operand(IntegerLike)
    elem_type: Type = attribute(TYPE)
    alignment: int | None = attribute(I64, optional=True)
    inalloca: bool = attribute(UNIT)
    res: Result = result(AnyPointer)

    format = (
        "(`inalloca` $inalloca^)? $arraySize `x` $elem_type custom<HideZero>($alignment) "
        "attr-dict `:` functional-type(operands, results)"
    )
    example = "%p = llvm.alloca %n x f32 {alignment = 64 : i64} : (i64) -> !llvm.ptr"


class GetElementPtr(Op, name="llvm.getelementptr", traits=(Pure,)):
    """The address of an element: `base + index0 * sizeof(elem_type) + ..`.

    `rawConstantIndices` lists all indices; `DYNAMIC_INDEX` marks those that are operands.
    `GetElementPtr.of(base, [i, 3], f32)` makes one from Values and ints.
    """

    base: Operand = operand(PointerLike)
    dynamicIndices: Sequence[Value] = operands(IntegerLike)
    rawConstantIndices: tuple[int, ...] = attribute(I32_ARRAY)
    elem_type: Type = attribute(TYPE)
    noWrapFlags: str = attribute(GEP_FLAGS, default="none")
    res: Result = result(PointerLike)

    format = (
        "custom<GepFlags>($noWrapFlags) $base `[` "
        "custom<GepIndices>($dynamicIndices, $rawConstantIndices) `]` attr-dict `:` "
        "functional-type(operands, results) `,` $elem_type"
    )
    example = (
        "%q = llvm.getelementptr inbounds|nuw %p[%i, 3] : (!llvm.ptr, i64) -> !llvm.ptr, "
        "!llvm.array<4 x f32>"
    )

    @staticmethod
    def of(
        base: ValueLike,
        indices: Sequence[ValueLike | int],
        elem_type: Type,
        flags: str = "none",
        loc: Location = UNKNOWN,
    ) -> GetElementPtr:
        """The address at indices, each a value or a constant that fits 32 bits."""
        base = as_value(base)
        values = [as_value(i) for i in indices if not isinstance(i, int)]
        raw = tuple(i if isinstance(i, int) else DYNAMIC_INDEX for i in indices)
        res = base.type
        for value in values:
            if isinstance(value.type, VectorType) and not isinstance(res, VectorType):
                res = VectorType(value.type.shape, base.type)
        return GetElementPtr.create(
            [base, *values],
            [res],
            properties={
                "rawConstantIndices": DenseArrayAttr(i32, raw),
                "elem_type": elem_type,
                "noWrapFlags": GEP_FLAGS.from_python(flags),
            },
            loc=loc,
        )

    def verify_op(self) -> None:
        """Check that there are as many dynamic marks as operands, and constants for structs."""
        dynamic = sum(i == DYNAMIC_INDEX for i in self.rawConstantIndices)
        if dynamic != len(self.dynamicIndices):
            raise self.error(
                f"expected {dynamic} dynamic indices, found {len(self.dynamicIndices)}"
            )
        at = self.elem_type
        for n, i in enumerate(self.rawConstantIndices[1:], start=1):
            match at:
                case ArrayType(_, element) | VectorType(_, element):
                    at = element
                case StructType(elements):
                    if i == DYNAMIC_INDEX:
                        raise self.error(f"expected index {n} indexing a struct to be constant")
                    if not 0 <= i < len(elements):
                        raise self.error(f"index {n} indexing a struct is out of bounds")
                    at = elements[i]
                case _:
                    raise self.error(f"type '{at}' cannot be indexed (index #{n})")


class AtomicRMW(MemoryAccess, name="llvm.atomicrmw", traits=(WritesMemory,)):
    """Combine a value into memory in one step; gives the old value."""

    bin_op: str = attribute(ATOMIC_OPERATION)
    addr: Operand = operand(PointerLike)
    val: Operand = operand(LLVMType)
    ordering: str = attribute(ORDERING)
    syncscope: str | None = attribute(STRING, optional=True)
    alignment: int | None = attribute(I64, optional=True)
    volatile_: bool = attribute(UNIT)
    res: Result = result(Same("val"))

    format = (
        "(`volatile` $volatile_^)? $bin_op $addr `,` $val (`syncscope` `(` $syncscope^ `)`)? "
        "$ordering attr-dict `:` type($addr) `,` type($val)"
    )
    example = "%old = llvm.atomicrmw add %p, %v monotonic : !llvm.ptr, i64"

    def verify_op(self) -> None:
        """Check that the type can be combined atomically by this kind."""
        check_atomic_update(self, self.bin_op, self.val.type)


class CmpXchg(MemoryAccess, name="llvm.cmpxchg", traits=(WritesMemory,)):
    """Compare and exchange; gives the old value and whether it was exchanged."""

    addr: Operand = operand(PointerLike)
    cmp: Operand = operand(LLVMType)
    val: Operand = operand(Same("cmp"))
    success_ordering: str = attribute(ORDERING)
    failure_ordering: str = attribute(ORDERING)
    syncscope: str | None = attribute(STRING, optional=True)
    alignment: int | None = attribute(I64, optional=True)
    weak: bool = attribute(UNIT)
    volatile_: bool = attribute(UNIT)
    res: Result = result(LLVMType)

    format = (
        "(`weak` $weak^)? (`volatile` $volatile_^)? $addr `,` $cmp `,` $val "
        "(`syncscope` `(` $syncscope^ `)`)? $success_ordering $failure_ordering attr-dict "
        "`:` type($addr) `,` type($val)"
    )
    example = "%r = llvm.cmpxchg %p, %old, %new acq_rel monotonic : !llvm.ptr, i64"

    def verify_op(self) -> None:
        """Check that the instruction exists for the orderings and the type."""
        check_compare_exchange(self, self.val.type)

    @classmethod
    def infer_result_types(cls, operand_types, properties, regions=()):
        """`{old value, i1}`"""
        return [StructType((operand_types[1], i1))]


class Fence(Op, name="llvm.fence", traits=(WritesMemory,)):
    """Order memory accesses of threads."""

    ordering: str = attribute(ORDERING)
    syncscope: str | None = attribute(STRING, optional=True)

    format = "(`syncscope` `(` $syncscope^ `)`)? $ordering attr-dict"
    example = "llvm.fence seq_cst"

    def verify_op(self) -> None:
        """Check that the ordering is acquire or stronger."""
        if self.ordering in ("not_atomic", "unordered", "monotonic"):
            raise self.error("can be given only acquire, release, acq_rel, and seq_cst orderings")
