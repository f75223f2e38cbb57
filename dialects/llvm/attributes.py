"""Attributes of the llvm dialect, and the integer enumerations of its properties."""

from __future__ import annotations

from typing import ClassVar

from ..vocabulary import *


@attribute_class
class LinkageAttr(EnumAttr):
    """How a symbol is linked with those of other modules: `#llvm.linkage<internal>`."""

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
    """The calling convention of a function or call: `#llvm.cconv<ccc>`."""

    name: ClassVar[str] = "llvm.cconv"
    cases: ClassVar[tuple[str, ...]] = (
        *("ccc", "fastcc", "coldcc", "cc_10", "cc_11", "anyregcc", "preserve_mostcc"),
        *("preserve_allcc", "swiftcc", "cxx_fast_tlscc", "tailcc", "cfguard_checkcc"),
        *("swifttailcc", "x86_stdcallcc", "x86_fastcallcc", "arm_apcscc", "arm_aapcscc"),
        *("arm_aapcs_vfpcc", "msp430_intrcc", "x86_thiscallcc", "ptx_kernelcc", "ptx_devicecc"),
        *("spir_funccc", "spir_kernelcc", "intel_ocl_bicc", "x86_64_sysvcc", "win64cc"),
        *("x86_vectorcallcc", "hhvmcc", "hhvm_ccc", "x86_intrcc", "avr_intrcc"),
        *("avr_builtincc", "amdgpu_vscc", "amdgpu_gscc", "amdgpu_cscc", "amdgpu_kernelcc"),
        *("x86_regcallcc", "amdgpu_hscc", "msp430_builtincc", "amdgpu_lscc", "amdgpu_escc"),
        *("aarch64_vectorcallcc", "aarch64_sve_vectorcallcc", "wasm_emscripten_invokecc"),
        *("amdgpu_gfxcc", "m68k_intrcc"),
    )


@attribute_class
class FramePointerKindAttr(EnumAttr):
    """`#llvm.framePointerKind<"non-leaf">`: which functions keep a frame pointer."""

    name: ClassVar[str] = "llvm.framePointerKind"
    cases: ClassVar[tuple[str, ...]] = (
        *("none", "non-leaf", "all", "reserved", "non-leaf-no-reserve"),
    )

    def parameters_text(self) -> str:
        """The text after the attribute's name; words with dashes are quoted."""
        return f'<"{self.value}">' if "-" in self.value else f"<{self.value}>"


@attribute_class
class UWTableKindAttr(EnumAttr):
    """`#llvm.uwtableKind<sync>`: how exact the table for unwinding is."""

    name: ClassVar[str] = "llvm.uwtableKind"
    cases: ClassVar[tuple[str, ...]] = ("none", "sync", "async")


@attribute_class
class OverflowFlagsAttr(EnumAttr):
    """`#llvm.overflow<nsw, nuw>`"""

    name: ClassVar[str] = "llvm.overflow"
    flags: ClassVar[bool] = True
    cases: ClassVar[tuple[str, ...]] = ("none", "nsw", "nuw")

    def parameters_text(self) -> str:
        """The text after the attribute's name."""
        return f"<{self.value.replace(',', ', ')}>"


@attribute_class
class TailCallKindAttr(EnumAttr):
    """Whether a call may (`tail`), must (`musttail`) or must not (`notail`) become a tail call."""

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
        """The text after the attribute's name."""
        return f"<{self.value.replace(',', ', ')}>"


LINKAGE = instance(LinkageAttr)
CCONV = instance(CallingConventionAttr)
TAIL_CALL_KIND = instance(TailCallKindAttr)
FASTMATH = instance(FastmathFlagsAttr)
FRAME_POINTER = instance(FramePointerKindAttr)
UWTABLE_KIND = instance(UWTableKindAttr)

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
    *("fmaximum", "fminimum"),
)
VISIBILITIES = ("default", "hidden", "protected")
UNNAMED_ADDRESSES = ("none", "local_unnamed_addr", "unnamed_addr")
COMDATS = ("any", "exactmatch", "largest", "nodeduplicate", "samesize")
ROUNDING_MODES = ("towardzero", "tonearest", "upward", "downward", "tonearestaway", "dynamic")
EXCEPTION_BEHAVIORS = ("ignore", "maytrap", "strict")
ASM_DIALECTS = ("att", "intel")


def integer_flags(description: str, bits: dict[str, int]) -> AttrKind[str]:
    """An i32 attribute that is a set of flags; in Python, their names joined by commas."""
    limit = max(bits.values()) * 2

    def encode(text: str) -> IntegerAttr:
        value = 0
        for flag in text.replace(" ", "").split(","):
            if flag not in bits:
                raise NncError(
                    f"'{flag}' is not a {description}; expected one of: {', '.join(bits)}"
                )
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
        f"{description} attribute",
        lambda a: isinstance(a, IntegerAttr) and a.type is i32 and 0 <= a.value < limit,
        decode,
        encode,
    )


ICMP_PREDICATE = int_enum("icmp predicate attribute", INTEGER_PREDICATES)
FCMP_PREDICATE = int_enum("fcmp predicate attribute", FLOAT_PREDICATES)
VISIBILITY = int_enum("visibility attribute", VISIBILITIES)
UNNAMED_ADDR = int_enum("unnamed address attribute", UNNAMED_ADDRESSES)
COMDAT = int_enum("comdat attribute", COMDATS)
ASM_DIALECT = int_enum("asm dialect attribute", ASM_DIALECTS)
ROUNDING_MODE = int_enum(
    "rounding mode attribute",
    {**{word: i for i, word in enumerate(ROUNDING_MODES[:5])}, "dynamic": 7},
)
EXCEPTION_BEHAVIOR = int_enum("floating-point exception attribute", EXCEPTION_BEHAVIORS)
ORDERING = int_enum("atomic ordering attribute", ORDERINGS)
ATOMIC_OPERATION = int_enum("atomicrmw operation attribute", ATOMIC_OPERATIONS)
OVERFLOW_FLAGS = integer_flags("overflow flag", {"none": 0, "nsw": 1, "nuw": 2})
GEP_FLAGS = integer_flags(
    "getelementptr flag", {"none": 0, "inbounds": 3, "inbounds_flag": 1, "nusw": 2, "nuw": 4}
)
