"""Types and constants as LLVM IR text."""

from __future__ import annotations

import struct
from functools import cache

from ...dialects.llvm.types import (
    ArrayType,
    LLVMFunctionType,
    PointerType,
    StructType,
    VoidType,
    X86AMXType,
)
from ...ir.attributes import (
    ArrayAttr,
    Attribute,
    DenseElements,
    DenseResource,
    FloatAttr,
    IntegerAttr,
    StringAttr,
    SymbolRefAttr,
)
from ...ir.diagnostics import NncError
from ...ir.types import FloatType, IndexType, IntegerType, Type, VectorType

_FLOAT_NAMES = {"f16": "half", "bf16": "bfloat", "f32": "float", "f64": "double"}

MAX_LISTED_ELEMENTS = 64
"""The most elements of an array constant that are listed; larger ones are strings of bytes, which
parse faster."""


@cache
def type_text(type: Type) -> str:
    """The type in LLVM IR. Raises NncError for one that LLVM does not have."""
    match type:
        case IntegerType(width, ""):
            return f"i{width}"
        case FloatType(kind) if kind in _FLOAT_NAMES:
            return _FLOAT_NAMES[kind]
        case VectorType((int(size),), element) if not type.scalable:
            return f"<{size} x {type_text(element)}>"
        case X86AMXType():
            return "x86_amx"
        case PointerType(0):
            return "ptr"
        case PointerType(space):
            return f"ptr addrspace({space})"
        case VoidType():
            return "void"
        case ArrayType(size, element):
            return f"[{size} x {type_text(element)}]"
        case StructType(elements, packed):
            inner = ", ".join(type_text(t) for t in elements)
            return f"<{{ {inner} }}>" if packed else f"{{ {inner} }}" if inner else "{}"
        case LLVMFunctionType(output, inputs, variadic):
            parts = [type_text(t) for t in inputs] + (["..."] if variadic else [])
            return f"{type_text(output)} ({', '.join(parts)})"
    raise NncError(f"LLVM IR has no type {type}")


@cache
def mangled(type: Type) -> str:
    """The type as a part of an overloaded intrinsic's name: `v4f32`."""
    match type:
        case IntegerType(width):
            return f"i{width}"
        case FloatType(kind):
            return kind
        case VectorType((size,), element):
            return f"v{size}{mangled(element)}"
        case PointerType(space):
            return f"p{space}"
        case StructType(elements):
            return f"sl_{''.join(map(mangled, elements))}s"
    raise NncError(f"no LLVM intrinsic is overloaded on {type}")


def float_text(value: float, kind: str) -> str:
    """A float constant in hexadecimal, exact: LLVM writes f32 in the form of a double."""
    match kind:
        case "f32" | "f64":
            return f"0x{struct.unpack('<Q', struct.pack('<d', value))[0]:016X}"
        case "f16":
            return f"0xH{int.from_bytes(FloatType('f16').to_bytes(value), 'little'):04X}"
        case "bf16":
            return f"0xR{int.from_bytes(FloatType('bf16').to_bytes(value), 'little'):04X}"
    raise NncError(f"LLVM IR has no constant of type {kind}")


def _scalar_text(value: int | float, type: Type) -> str:
    if isinstance(type, FloatType):
        return float_text(value, type.kind)
    if type is IntegerType(1):
        return "true" if value else "false"
    return str(int(value))


_BYTES = [chr(b) if 32 <= b < 127 and chr(b) not in '"\\' else f"\\{b:02X}" for b in range(256)]


def quoted(text: str) -> str:
    """The text as an LLVM string literal."""
    return '"' + "".join([_BYTES[b] for b in text.encode("utf-8", "surrogateescape")]) + '"'


def bytes_text(data: bytes) -> str:
    """A byte array constant, in LLVM's quotes."""
    table = _BYTES
    return 'c"' + "".join([table[b] for b in data]) + '"'


def constant_text(value: Attribute, type: Type) -> str:
    """The value of a constant, without its type."""
    match value:
        case IntegerAttr(number):
            return _scalar_text(number, type)
        case FloatAttr(number):
            return _scalar_text(number, type)
        case DenseElements():
            return _dense_text(value, type)
        case StringAttr(text):
            return bytes_text(text.encode("utf-8", "surrogateescape"))
        case SymbolRefAttr(root):
            return symbol_text(root)
        case ArrayAttr(elements):
            return _members_text(elements, type)
    raise NncError(f"{value} is not a constant that LLVM IR can hold")


def _members_text(elements: tuple[Attribute, ...], type: Type) -> str:
    match type:
        case StructType(types):
            parts = zip(elements, types, strict=True)
        case ArrayType(_, element):
            parts = ((e, element) for e in elements)
        case _:
            raise NncError(f"a list is not a constant of type {type}")
    inner = ", ".join(f"{type_text(t)} {constant_text(e, t)}" for e, t in parts)
    return f"{{ {inner} }}" if isinstance(type, StructType) else f"[{inner}]"


def _dense_text(value: DenseElements, type: Type) -> str:
    if not any(value.data):
        return "zeroinitializer"
    shaped = value.type
    element = IntegerType(64) if isinstance(shaped.element_type, IndexType) else shaped.element_type
    name = type_text(element)
    numbers = value.values()
    if isinstance(type, VectorType):
        if value.is_splat:
            return f"splat ({name} {_scalar_text(numbers[0], element)})"
        return "<" + ", ".join([f"{name} {_scalar_text(n, element)}" for n in numbers]) + ">"
    if value.is_splat:
        numbers = numbers * shaped.num_elements
    parts = [f"{name} {_scalar_text(n, element)}" for n in numbers]
    return _nested(parts, type)


def _nested(parts: list[str], type: Type) -> str:
    """Flat elements in the brackets of a nested array type."""
    if not isinstance(type, ArrayType):
        return parts[0]
    if not isinstance(type.element_type, ArrayType):
        return "[" + ", ".join(parts) + "]"
    step = len(parts) // type.size
    rows = [
        f"{type_text(type.element_type)} {_nested(parts[i : i + step], type.element_type)}"
        for i in range(0, len(parts), step)
    ]
    return "[" + ", ".join(rows) + "]"


def global_text(value: Attribute, type: Type) -> tuple[str, str]:
    """The type and the initial value of a global; large data become a byte array."""
    match value:
        case DenseElements() if value.strings is None and value.type.num_elements:
            count = value.type.num_elements
            if not any(value.data):
                return type_text(type), "zeroinitializer"
            if count > MAX_LISTED_ELEMENTS and value.type.element_type is not IntegerType(1):
                data = value.data * count if value.is_splat else value.data
                return f"[{len(data)} x i8]", bytes_text(data)
        case DenseResource():
            data = value.blob.bytes().tobytes()
            return f"[{len(data)} x i8]", bytes_text(data)
    return type_text(type), constant_text(value, type)


@cache
def symbol_text(name: str) -> str:
    """`@name`, quoted where it has to be."""
    plain = name.replace("_", "a").replace(".", "a").replace("$", "a").replace("-", "a")
    if plain.isascii() and plain.isalnum() and not name[0].isdigit():
        return f"@{name}"
    return '@"' + "".join(_BYTES[b] for b in name.encode()) + '"'
