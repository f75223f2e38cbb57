"""Between nnc's element types and NumPy's dtypes (`ml_dtypes` for the small floats)."""

from __future__ import annotations

from functools import cache

from .diagnostics import NncError
from .lazy import np
from .types import ComplexType, FloatType, IndexType, IntegerType, Type, f16, f32, f64, i1

_SMALL = {
    "bf16": "bfloat16",
    "f8E5M2": "float8_e5m2",
    "f8E4M3": "float8_e4m3",
    "f8E3M4": "float8_e3m4",
    "f8E4M3FN": "float8_e4m3fn",
    "f8E5M2FNUZ": "float8_e5m2fnuz",
    "f8E4M3FNUZ": "float8_e4m3fnuz",
    "f8E4M3B11FNUZ": "float8_e4m3b11fnuz",
    "f8E8M0FNU": "float8_e8m0fnu",
    "f6E3M2FN": "float6_e3m2fn",
    "f6E2M3FN": "float6_e2m3fn",
    "f4E2M1FN": "float4_e2m1fn",
}
_SMALL_INTEGERS = {
    IntegerType(4): "int4",
    IntegerType(4, "u"): "uint4",
    IntegerType(2): "int2",
    IntegerType(2, "u"): "uint2",
}
"""Types that take a byte per element in memory, in whose low bits they are."""

_OBJECTS: list[Type] = []


def hold_as_objects(type: Type) -> None:
    """Let the dtype `object` stand for elements of a dialect's type; only one type can have it."""
    assert not _OBJECTS, "arrays of objects have one element type"
    _OBJECTS.append(type)


@cache
def type_to_numpy(type: Type) -> np.dtype:
    """The dtype of an element type; signless integers are signed. Raises NncError if none.

    An integer of another width than NumPy's or ml_dtypes' is held in the next larger one.
    """
    match type:
        case IndexType():
            return np.dtype(np.int64)
        case IntegerType(1):
            return np.dtype(np.bool_)
        case IntegerType() if type in _SMALL_INTEGERS:
            import ml_dtypes

            return np.dtype(getattr(ml_dtypes, _SMALL_INTEGERS[type]))
        case IntegerType(width, signedness) if 0 < width <= 64:
            held = next(w for w in (8, 16, 32, 64) if w >= width)
            return np.dtype(f"{'u' if signedness == 'u' else ''}int{held}")
        case FloatType("f16" | "f32" | "f64" as kind):
            return np.dtype(f"float{kind[1:]}")
        case FloatType(kind) if kind in _SMALL:
            import ml_dtypes

            return np.dtype(getattr(ml_dtypes, _SMALL[kind]))
        case ComplexType(FloatType("f32")):
            return np.dtype(np.complex64)
        case ComplexType(FloatType("f64")):
            return np.dtype(np.complex128)
    if type in _OBJECTS:
        return np.dtype(object)
    raise NncError(f"NumPy has no element type for {type}")


def number_kind(dtype: np.dtype) -> str:
    """`b`, `i`, `u`, `f` or `c` as NumPy has it, for the dtypes of ml_dtypes too."""
    if dtype.kind not in "Vf":
        return dtype.kind
    for type, name in _SMALL_INTEGERS.items():
        if dtype.name == name:
            return type.signedness or "i"
    return "f" if dtype.kind == "f" or dtype.name in _SMALL.values() else dtype.kind


def numpy_to_type(dtype: np.dtype) -> Type:
    """The element type of a dtype; signed integers are signless. Raises NncError if none."""
    dtype = np.dtype(dtype)
    match dtype.kind:
        case "b":
            return i1
        case "i":
            return IntegerType(8 * dtype.itemsize)
        case "u":
            return IntegerType(8 * dtype.itemsize, "u")
        case "f" if dtype.itemsize in (2, 4, 8):
            return {2: f16, 4: f32, 8: f64}[dtype.itemsize]
        case "c" if dtype.itemsize in (8, 16):
            return ComplexType({8: f32, 16: f64}[dtype.itemsize])
        case "O" if _OBJECTS:
            return _OBJECTS[0]
    for kind, name in _SMALL.items():
        if dtype.name == name:
            return FloatType(kind)
    for type, name in _SMALL_INTEGERS.items():
        if dtype.name == name:
            return type
    raise NncError(f"nnc has no element type for NumPy's {dtype}")
