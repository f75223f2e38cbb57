"""Attributes of the llvm dialect, and the integer enumerations of its properties."""

from __future__ import annotations

from typing import ClassVar

from ...ir.attributes import EnumAttr, IntegerAttr, attribute_class
from ...ir.declare import AttrKind, instance, int_enum
from ...ir.diagnostics import NncError
from ...ir.types import i32


@attribute_class
class LinkageAttr(EnumAttr):
    """`#llvm.linkage<internal>`"""

    name: ClassVar[str] = "llvm.linkage"
    cases: ClassVar[tuple[str, ...]] = (
        "private",
        "internal",
        "available_externally",
        "linkonce",
        "weak",
        "common",
        "appending",
        "extern_weak",
        "linkonce_odr",
        "weak_odr",
        "external",
    )


@attribute_class
class CallingConventionAttr(EnumAttr):
    """`#llvm.cconv<ccc>`"""

    name: ClassVar[str] = "llvm.cconv"
    cases: ClassVar[tuple[str, ...]] = ("ccc", "fastcc", "coldcc")


@attribute_class
class TailCallKindAttr(EnumAttr):
    """`#llvm.tailcallkind<none>`"""

    name: ClassVar[str] = "llvm.tailcallkind"
    cases: ClassVar[tuple[str, ...]] = ("none", "tail", "musttail", "notail")


@attribute_class
class FastmathFlagsAttr(EnumAttr):
    """`#llvm.fastmath<nnan, contract>`; `none`, `fast`, or a set of flags."""

    name: ClassVar[str] = "llvm.fastmath"
    flags: ClassVar[bool] = True
    cases: ClassVar[tuple[str, ...]] = (
        "none",
        "nnan",
        "ninf",
        "nsz",
        "arcp",
        "contract",
        "afn",
        "reassoc",
        "fast",
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        if set(self.value.split(",")) >= set(self.cases) - {"none", "fast"}:
            object.__setattr__(self, "value", "fast")

    def parameters_text(self) -> str:
        """What follows the attribute's name."""
        return f"<{self.value.replace(',', ', ')}>"


LINKAGE = instance(LinkageAttr)
CCONV = instance(CallingConventionAttr)
TAIL_CALL_KIND = instance(TailCallKindAttr)
FASTMATH = instance(FastmathFlagsAttr)

INTEGER_PREDICATES = ("eq", "ne", "slt", "sle", "sgt", "sge", "ult", "ule", "ugt", "uge")
FLOAT_PREDICATES = (
    *("_false", "oeq", "ogt", "oge", "olt", "ole", "one", "ord"),
    *("ueq", "ugt", "uge", "ult", "ule", "une", "uno", "_true"),
)
ORDERINGS = (
    *("not_atomic", "unordered", "monotonic", "consume"),
    *("acquire", "release", "acq_rel", "seq_cst"),
)
ATOMIC_OPERATIONS = (
    *("xchg", "add", "sub", "_and", "nand", "_or", "_xor", "max", "min", "umax", "umin"),
    *("fadd", "fsub", "fmax", "fmin", "uinc_wrap", "udec_wrap", "usub_cond", "usub_sat"),
)


def integer_flags(words: str, bits: dict[str, int]) -> AttrKind[str]:
    """An i32 attribute that is a set of flags; in Python, their names joined by commas."""
    limit = max(bits.values()) * 2

    def encode(text: str) -> IntegerAttr:
        value = 0
        for flag in text.replace(" ", "").split(","):
            if flag not in bits:
                raise NncError(f"'{flag}' is not a {words}; expected one of: {', '.join(bits)}")
            value |= bits[flag]
        return IntegerAttr(value, i32)

    def decode(attribute: IntegerAttr) -> str:
        left, names = attribute.value, []
        for flag, bit in sorted(bits.items(), key=lambda item: -item[1].bit_count()):
            if bit and left & bit == bit:
                names.append(flag)
                left &= ~bit
        names.sort(key=list(bits).index)
        return ", ".join(names) or "none"

    return AttrKind(
        f"{words} attribute",
        lambda a: isinstance(a, IntegerAttr) and a.type is i32 and 0 <= a.value < limit,
        decode,
        encode,
    )


ICMP_PREDICATE = int_enum("icmp predicate attribute", INTEGER_PREDICATES)
FCMP_PREDICATE = int_enum("fcmp predicate attribute", FLOAT_PREDICATES)
ORDERING = int_enum("atomic ordering attribute", ORDERINGS)
ATOMIC_OPERATION = int_enum("atomicrmw operation attribute", ATOMIC_OPERATIONS)
OVERFLOW_FLAGS = integer_flags("overflow flag", {"none": 0, "nsw": 1, "nuw": 2})
GEP_FLAGS = integer_flags(
    "getelementptr flag", {"none": 0, "inbounds": 3, "inbounds_flag": 1, "nusw": 2, "nuw": 4}
)
