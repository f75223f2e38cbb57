"""How dialects encode attributes and types in bytecode: a row for each code.

A row has the fields, in the notation of `wire.mlir_bytecode`, and the function that makes the
attribute or type of their values.
VHLO, the versioned form of StableHLO, becomes StableHLO and builtin as it is read.

Source: BuiltinDialectBytecode.td of MLIR 22; StablehloBytecode.cpp, VhloBytecode.cpp and
ChloBytecode.cpp of StableHLO 1.17
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ...dialects.chlo import ChloEnumeration
from ...dialects.stablehlo.attributes import (
    COMPARISONS,
    DIRECTIONS,
    Bounds,
    ChannelHandle,
    ConvDims,
    DotAlgorithm,
    DotDims,
    GatherDims,
    OutputOperandAlias,
    ResultAccuracy,
    ResultAccuracyMode,
    ScatterDims,
    StablehloEnumeration,
    TokenType,
)
from ...ir.attributes import (
    ArrayAttr,
    Attribute,
    BoolAttr,
    DenseArrayAttr,
    DenseElements,
    DictAttr,
    FloatAttr,
    IntegerAttr,
    LocationAttr,
    StringAttr,
    SymbolRefAttr,
    UnitAttr,
)
from ...ir.location import (
    UNKNOWN,
    CallSiteLoc,
    FileLineColLoc,
    FileLineColRange,
    FusedLoc,
    Location,
    NameLoc,
)
from ...ir.parameters import ParametrizedAttr
from ...ir.types import (
    ComplexType,
    FloatType,
    FunctionType,
    IndexType,
    IntegerType,
    NoneType,
    ScalarType,
    TensorType,
    TupleType,
    UnrankedTensorType,
    i1,
    i32,
    size_fault,
)
from ..wire.mlir_bytecode import BytecodeError, Cursor

Row = tuple[str, Callable[..., Any]]

UNKNOWN_EXTENT = -(1 << 63)
FEW_BYTES = 1 << 12
"""Constants of more bytes than this are views of the file."""


# -- what makes attributes -------------------------------------------------------------------------


def checked(value: Any, kind: Any, what: str) -> Any:
    """The value, checked to be of a kind. Raises BytecodeError."""
    if not isinstance(value, kind):
        raise BytecodeError(f"expected {what}; found {type(value).__name__}")
    return value


def _text(name: Any) -> str:
    return checked(name, StringAttr, "a string").value


def _dictionary(entries: Sequence[tuple[Any, Any]]) -> DictAttr:
    return DictAttr(tuple((_text(name), value) for name, value in entries))


def _symbol(root: Any, nested: Sequence[Any] = ()) -> SymbolRefAttr:
    parts = [checked(part, SymbolRefAttr, "a symbol").root for part in nested]
    return SymbolRefAttr(_text(root), tuple(parts))


def _tensor(shape: Sequence[int], element: Any, encoding: Any = None) -> TensorType:
    checked(element, ScalarType, "an element type")
    extents = tuple(None if extent == UNKNOWN_EXTENT else extent for extent in shape)
    if any(extent is not None and extent < 0 for extent in extents):
        raise BytecodeError("an extent is negative")
    return TensorType(extents, element, encoding)


def _functional(inputs: Sequence[Any], results: Sequence[Any]) -> FunctionType:
    return FunctionType(tuple(inputs), tuple(results))


def _width(type: Any) -> int:
    match type:
        case IntegerType() | FloatType():
            return type.width
        case IndexType():
            return 64
    raise BytecodeError(f"a number of a type that is none of numbers: {type.__class__.__name__}")


def bits(at: Cursor, width: int) -> int:
    """The bits of a number: a byte, a zigzag integer or a multi-byte one of `width` bits."""
    if width <= 8:
        return at.byte()
    if width <= 64:
        return at.signed()
    return sum((at.signed() % (1 << 64)) << (64 * i) for i in range(at.count("words")))


def _number(at: Cursor) -> IntegerAttr | FloatAttr:
    (type,) = at.fields("t")
    found = bits(at, _width(type))
    if not isinstance(type, FloatType):
        return IntegerAttr(found, type)
    mask = (1 << 8 * type.byte_width) - 1
    return FloatAttr(type.from_bytes((found & mask).to_bytes(type.byte_width, "little")), type)


def _elements(type: Any, data: memoryview) -> DenseElements:
    """The elements in the bytes of a constant: all of them, or one if they are equal.

    Truth values may be bits.
    """
    checked(type, TensorType, "the type of a tensor")
    if not type.has_static_shape or size_fault(type):
        raise BytecodeError(f"elements of type '{type}'")
    count, width = type.num_elements, checked(type.element_type, ScalarType, "a type").byte_width
    if type.element_type is i1 and count and data.nbytes != count:
        if data.nbytes == 1 and data[0] in (0, 0xFF):
            return DenseElements(type, bytes([data[0] & 1]))
        if data.nbytes != -(-count // 8):
            raise BytecodeError(f"{data.nbytes} bytes for '{type}'")
        raw = np.frombuffer(data, np.uint8)
        return DenseElements(type, np.unpackbits(raw, count=count, bitorder="little").tobytes())
    if data.nbytes not in (count * width, width):
        raise BytecodeError(f"{data.nbytes} bytes for '{type}'")
    if type.element_type is i1:
        return DenseElements(type, bytes(byte & 1 for byte in data))
    return DenseElements(type, data if data.nbytes > FEW_BYTES else bytes(data))  # type: ignore[arg-type]


def _array(type: Any, count: int, data: memoryview) -> DenseArrayAttr:
    width = checked(type, IntegerType | FloatType, "a type of numbers").byte_width
    if data.nbytes != count * width:
        raise BytecodeError(f"{data.nbytes} bytes for {count} elements of type '{type}'")
    parts = (bytes(data[i : i + width]) for i in range(0, data.nbytes, width))
    return DenseArrayAttr(type, tuple(type.from_bytes(part) for part in parts))


def conv_dims(*numbers: Any) -> ConvDims:
    """The attribute of nine dimension numbers, three for each of operand, kernel and result.

    These are (batch, feature, spatial dimensions), and (input, output, spatial) for the kernel.
    """
    lists = []
    for letters, at in (("bf", 0), ("io", 3), ("bf", 6)):
        first, second, spatial = numbers[at : at + 3]
        places = {first: letters[0], second: letters[1]}
        places |= {place: str(i) for i, place in enumerate(spatial)}
        lists.append(tuple(places.get(i, "?") for i in range(len(spatial) + 2)))
    return ConvDims(*lists)


def _bounds(bounds: Sequence[int]) -> Bounds:
    return Bounds(tuple("?" if bound == UNKNOWN_EXTENT else str(bound) for bound in bounds))


def in_order(definition: Any) -> Callable[..., ParametrizedAttr]:
    """A function that makes the attribute from the values of its parameters, in order."""
    names = list(definition.parameters)

    def made(*values: Any) -> ParametrizedAttr:
        values = tuple(tuple(v) if isinstance(v, list) else v for v in values)
        return definition(**dict(zip(names, values, strict=True)))

    return made


def _enumeration(kind: str, *words: str, of: Any = StablehloEnumeration, first: int = 0) -> Row:
    def made(code: int) -> Attribute:
        if not 0 <= code - first < len(words):
            raise BytecodeError(f"{kind} {code} is unknown")
        return of(kind, words[code - first])

    return "v", made


def _mode(code: int) -> ResultAccuracyMode:
    if code >= len(ResultAccuracyMode.cases):
        raise BytecodeError(f"result accuracy mode {code} is unknown")
    return ResultAccuracyMode(ResultAccuracyMode.cases[code])


def _constant(value: Any) -> Row:
    return "", lambda: value


def _same(value: Any) -> Any:
    return value


def _tuple_of(make: Callable[..., Any]) -> Callable[..., Any]:
    return lambda values: make(tuple(values))


# -- places ----------------------------------------------------------------------------------------


def location_of(attribute: Any) -> Location:
    """The location that an attribute holds."""
    return attribute.location if isinstance(attribute, LocationAttr) else UNKNOWN


def _range(file: Any, numbers: Sequence[int]) -> LocationAttr:
    """File, line, column, the line where it ends if that is another one, the column there."""
    match numbers:
        case [line, start, end]:
            return LocationAttr(FileLineColRange(_text(file), line, start, line, end))
        case [line, start, last, end]:
            return LocationAttr(FileLineColRange(_text(file), line, start, last, end))
        case _:
            line, column, *_ = [*numbers, 0, 0]
            return LocationAttr(FileLineColLoc(_text(file), line, column))


def _place(make: Callable[..., Location]) -> Callable[..., LocationAttr]:
    return lambda *given: LocationAttr(make(*given))


# -- the rows --------------------------------------------------------------------------------------

F16, BF16, F32, F64 = map(FloatType, ("f16", "bf16", "f32", "f64"))
GATHER = "s* s* s* s* s* s"

BUILTIN_ATTRIBUTES: dict[int, Row | Callable[[Cursor], Any]] = {
    0: ("a*", _tuple_of(ArrayAttr)),
    1: ("aa*", _dictionary),
    2: ("S", StringAttr),
    3: ("S t", StringAttr),
    4: ("a", _symbol),
    5: ("a a*", _symbol),
    6: ("t", _same),
    7: ("", UnitAttr),
    8: _number,
    9: _number,
    10: ("a v", _place(lambda callee, caller: CallSiteLoc(location_of(callee), UNKNOWN))),
    11: ("a v v", _place(lambda file, line, column: FileLineColLoc(_text(file), line, column))),
    12: ("a*", _place(lambda parts: FusedLoc(tuple(map(location_of, parts))))),
    13: ("a* a", _place(lambda parts, data: FusedLoc(tuple(map(location_of, parts)), data))),
    14: ("a a", _place(lambda name, child: NameLoc(_text(name), location_of(child)))),
    15: _constant(LocationAttr(UNKNOWN)),
    17: ("t v b", _array),
    18: ("t b", _elements),
    22: ("a v*", _range),
}
SMALL_FLOATS = (
    "tf32 f8E5M2 f8E4M3 f8E4M3FN f8E5M2FNUZ f8E4M3FNUZ f8E4M3B11FNUZ f8E3M4 f4E2M1FN f6E2M3FN "
    "f6E3M2FN f8E8M0FNU"
)
BUILTIN_TYPES: dict[int, Row | Callable[[Cursor], Any]] = {
    0: ("v", lambda code: IntegerType(code >> 2, ("", "s", "u", "")[code & 3])),
    1: _constant(IndexType()),
    2: ("t* t*", _functional),
    **{code: _constant(type) for code, type in enumerate((BF16, F16, F32, F64), 3)},
    9: ("t", lambda element: ComplexType(checked(element, ScalarType, "a type"))),
    12: _constant(NoneType()),
    13: ("s* t", _tensor),
    14: ("a s* t", lambda encoding, shape, element: _tensor(shape, element, encoding)),
    15: ("t*", _tuple_of(TupleType)),
    18: ("t", UnrankedTensorType),
    **{code: _constant(FloatType(name)) for code, name in enumerate(SMALL_FLOATS.split(), 21)},
}

DIRECTION = _enumeration("comparison_direction", *DIRECTIONS)
COMPARISON = _enumeration("comparison_type", *COMPARISONS)
FFT = _enumeration("fft_type", "FFT", "IFFT", "RFFT", "IRFFT")
PRECISION = _enumeration("precision", "DEFAULT", "HIGH", "HIGHEST")
ALGORITHM = _enumeration("rng_algorithm", "DEFAULT", "THREE_FRY", "PHILOX")
DISTRIBUTION = _enumeration("rng_distribution", "UNIFORM", "NORMAL", first=1)
TRANSPOSED = _enumeration("transpose", "TRANSPOSE_INVALID", "NO_TRANSPOSE", "TRANSPOSE", "ADJOINT")
ALIAS: Row = ("s* s s*", in_order(OutputOperandAlias))
ACCURACY: Row = ("F F s a", in_order(ResultAccuracy))

STABLEHLO_ATTRIBUTES: dict[int, Row | Callable[[Cursor], Any]] = {
    1: ("s s", in_order(ChannelHandle)),
    2: DIRECTION,
    3: COMPARISON,
    4: ("s s s* s s s* s s s*", conv_dims),
    5: ("s* s* s* s*", in_order(DotDims)),
    6: FFT,
    7: (GATHER, in_order(GatherDims)),
    8: PRECISION,
    9: ALGORITHM,
    10: DISTRIBUTION,
    11: (GATHER, in_order(ScatterDims)),
    12: TRANSPOSED,
    13: ("s*", _bounds),
    14: ALIAS,
    15: ("t t t s s s B", lambda *v: in_order(DotAlgorithm)(*v[:-1], bool(v[-1]))),
    16: ("v", _mode),
    17: ACCURACY,
}
STABLEHLO_TYPES: dict[int, Row | Callable[[Cursor], Any]] = {0: _constant(TokenType())}

CHLO_ATTRIBUTES: dict[int, Row | Callable[[Cursor], Any]] = {
    0: _enumeration("comparison_direction", *DIRECTIONS, of=ChloEnumeration),
    1: _enumeration("comparison_type", *COMPARISONS, of=ChloEnumeration),
}

VHLO_ATTRIBUTES: dict[int, Row | Callable[[Cursor], Any]] = {
    1: ("a*", _tuple_of(ArrayAttr)),
    2: ("v", BoolAttr),
    3: DIRECTION,
    4: COMPARISON,
    5: ("v", lambda code: IntegerAttr(code, i32)),  # how a custom call is made
    6: ("aa*", _dictionary),
    7: FFT,
    8: _number,
    9: _number,
    10: ALIAS,
    11: PRECISION,
    12: ALGORITHM,
    13: DISTRIBUTION,
    14: ("S", StringAttr),
    15: ("t b", _elements),
    16: TRANSPOSED,
    17: ("t", _same),
    18: ("s*", _bounds),
    19: ("v", _mode),
    20: ACCURACY,
}
_FLOATS = {
    **dict(enumerate(["bf16", "f16", "f32", "f64", "f8E4M3FN", "f8E5M2"], 2)),
    **dict(enumerate(["f8E4M3FNUZ", "f8E5M2FNUZ", "f8E4M3B11FNUZ"], 27)),
    **dict(enumerate(["tf32", "f8E4M3", "f8E3M4", "f4E2M1FN"], 34)),
    **dict(enumerate(["f6E2M3FN", "f6E3M2FN", "f8E8M0FNU"], 38)),
}
_INTEGERS = {31: 2, 10: 4, 11: 8, 12: 16, 13: 32, 14: 64}
_UNSIGNED = {32: 2, 15: 4, 16: 8, 17: 16, 18: 32, 19: 64}
VHLO_TYPES: dict[int, Row | Callable[[Cursor], Any]] = {
    0: _constant(i1),
    1: BUILTIN_TYPES[9],
    8: BUILTIN_TYPES[2],
    9: BUILTIN_TYPES[1],
    20: BUILTIN_TYPES[13],
    21: BUILTIN_TYPES[14],
    22: _constant(TokenType()),
    23: BUILTIN_TYPES[15],
    25: BUILTIN_TYPES[18],
    33: BUILTIN_TYPES[12],
    **{code: _constant(FloatType(name)) for code, name in _FLOATS.items()},
    **{code: _constant(IntegerType(width)) for code, width in _INTEGERS.items()},
    **{code: _constant(IntegerType(width, "u")) for code, width in _UNSIGNED.items()},
}

ENCODINGS = {
    ("builtin", "attribute"): BUILTIN_ATTRIBUTES,
    ("builtin", "type"): BUILTIN_TYPES,
    ("stablehlo", "attribute"): STABLEHLO_ATTRIBUTES,
    ("stablehlo", "type"): STABLEHLO_TYPES,
    ("chlo", "attribute"): CHLO_ATTRIBUTES,
    ("vhlo", "attribute"): VHLO_ATTRIBUTES,
    ("vhlo", "type"): VHLO_TYPES,
}
