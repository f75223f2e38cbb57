"""The kinds of fields that the tables of stablehlo's ops name."""

from __future__ import annotations

from ..op_table import OpTable
from ..vocabulary import *
from .attributes import (
    COMPARISON_DIRECTION,
    COMPARISON_TYPE,
    FFT_TYPE,
    RNG_ALGORITHM,
    RNG_DISTRIBUTION,
    TRANSPOSE,
    AnyToken,
    AnyTuple,
    GatherDims,
    ScatterDims,
    parameters_kind,
)

VALUES = {"tensor": AnyTensor, "any": AnyType, "tuple": AnyTuple, "token": AnyToken}

ATTRIBUTES = {
    "any": ANY,
    "array": ARRAY,
    "bool": BOOL,
    "i32": I32,
    "i64": I64,
    "ints": INT_ARRAY,
    "string": STRING,
    "symbol": SYMBOL,
    "symbol_name": SYMBOL_NAME,
    "comparison_direction": COMPARISON_DIRECTION,
    "comparison_type": COMPARISON_TYPE,
    "fft_type": FFT_TYPE,
    "gather": parameters_kind(GatherDims),
    "rng_algorithm": RNG_ALGORITHM,
    "rng_distribution": RNG_DISTRIBUTION,
    "scatter": parameters_kind(ScatterDims),
    "transpose": TRANSPOSE,
}


def table(text: str, *traits: Any, base: type[Op] = Op) -> OpTable:
    """Declare the ops of a table, all with the traits."""
    return OpTable("stablehlo", __name__, VALUES, ATTRIBUTES, text, traits, base)
