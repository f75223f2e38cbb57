"""Flags of arith operations, and the words for their predicates."""

from __future__ import annotations

from typing import ClassVar

from ..vocabulary import *


@attribute_class
class FastMathAttr(EnumAttr):
    """`#arith.fastmath<nnan,ninf>`: what the optimizer may assume of, and do to, floats."""

    name = "arith.fastmath"
    cases: ClassVar[tuple[str, ...]] = (
        "none",
        "reassoc",
        "nnan",
        "ninf",
        "nsz",
        "arcp",
        "contract",
        "afn",
        "fast",
    )
    flags: ClassVar[bool] = True

    def __post_init__(self) -> None:
        super().__post_init__()
        flags = set(self.value.split(",")) - {"none"}
        single = self.cases[1:-1]
        if "fast" in flags or flags >= set(single):
            text = "fast"
        else:
            text = ",".join(case for case in single if case in flags) or "none"
        object.__setattr__(self, "value", text)

    def allows(self, flag: str) -> bool:
        """Whether one flag, such as "nnan", is set; "fast" sets all."""
        return self.value == "fast" or flag in self.value.split(",")


@attribute_class
class IntegerOverflowAttr(EnumAttr):
    """`#arith.overflow<nsw,nuw>`: the result is poison where the signed (unsigned) sum wraps."""

    name = "arith.overflow"
    cases: ClassVar[tuple[str, ...]] = ("none", "nsw", "nuw")
    flags: ClassVar[bool] = True

    def __post_init__(self) -> None:
        super().__post_init__()
        flags = [flag for flag in self.value.split(",") if flag != "none"]
        object.__setattr__(self, "value", ",".join(flags) or "none")

    def parameters_text(self) -> str:
        """The flags as they are printed: `<nsw, nuw>`. Other flags have no space there."""
        return f"<{self.value.replace(',', ', ')}>"


FASTMATH = instance(FastMathAttr, "Floating point fast math flags")
OVERFLOW = instance(IntegerOverflowAttr, "Integer overflow arith flags")

INTEGER_PREDICATES = ("eq", "ne", "slt", "sle", "sgt", "sge", "ult", "ule", "ugt", "uge")
INTEGER_PREDICATE = int_enum(
    "allowed 64-bit signless integer cases: 0, 1, 2, 3, 4, 5, 6, 7, 8, 9", INTEGER_PREDICATES, i64
)
FLOAT_PREDICATES = (
    "false",
    "oeq",
    "ogt",
    "oge",
    "olt",
    "ole",
    "one",
    "ord",
    "ueq",
    "ugt",
    "uge",
    "ult",
    "ule",
    "une",
    "uno",
    "true",
)
FLOAT_PREDICATE = int_enum(
    "allowed 64-bit signless integer cases: 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15",
    FLOAT_PREDICATES,
    i64,
)
ROUNDING_MODE = int_enum(
    "Floating point rounding mode",
    ("to_nearest_even", "downward", "upward", "toward_zero", "to_nearest_away"),
    i32,
)
