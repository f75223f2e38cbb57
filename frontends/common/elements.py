"""Element types by NumPy's names, which most frameworks use too."""

from __future__ import annotations

from collections.abc import Mapping

from ...ir.types import IntegerType, Type, bf16, f16, f32, f64, i1

ELEMENTS: Mapping[str, Type] = {
    "bool": i1, "float16": f16, "bfloat16": bf16, "float32": f32, "float64": f64,
    **{f"int{width}": IntegerType(width) for width in (8, 16, 32, 64)},
    **{f"uint{width}": IntegerType(width, "u") for width in (8, 16, 32, 64)},
}  # fmt: skip
