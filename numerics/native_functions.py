"""Functions of a module of the llvm dialect as Python callables, whatever their types.

    NativeFunctions(module, ["f"]).call("f", [3, 2.5, np.ones(4, np.float32)]) -> [value]

For each function LLVM gets a second one that takes its arguments from memory and puts the
result there, so that nothing depends on how a processor passes vectors or structs:

    define void @"nnc.call.f"(ptr %frame)

A value is a Python int or NumPy integer, a NumPy float, an array for a vector, an address for
a pointer, a list for a struct or an array.
"""

from __future__ import annotations

import ctypes
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..dialects import llvm
from ..ir.core import Operation
from ..ir.diagnostics import NncError
from ..ir.numpy_types import type_to_numpy
from ..ir.types import FloatType, IntegerType, Type, VectorType, lane_type
from ..runtime.abi import ALIGNMENT
from ..runtime.memory import aligned_buffer
from ..targets.llvm.constants import symbol_text, type_text
from ..targets.llvm.ir import llvm_ir
from ..targets.llvm.target import llvm_target_of

_CALL = "nnc.call."


@dataclass(frozen=True)
class Leaf:
    """A scalar or vector in a value: its type, the path to it, and its offset in the frame."""

    type: Type
    path: tuple[int, ...]
    offset: int

    @property
    def element(self) -> Type:
        return lane_type(self.type)

    @property
    def count(self) -> int:
        return math.prod(self.type.shape) if isinstance(self.type, VectorType) else 1

    @property
    def element_bytes(self) -> int:
        return _element_bytes(self.element)

    @property
    def stored(self) -> str:
        """The type in memory: an integer has whole bytes, and vectors are not packed."""
        element = self.element
        text = type_text(element)
        if isinstance(element, IntegerType):
            text = f"i{8 * self.element_bytes}"
        return f"<{self.count} x {text}>" if isinstance(self.type, VectorType) else text

    def to_bytes(self, value: Any) -> bytes:
        """The value as it lies in memory."""
        size = self.element_bytes
        if isinstance(self.element, IntegerType):
            mask = (1 << (8 * size)) - 1
            numbers = np.asarray(value).reshape(-1).tolist()
            return b"".join((int(v) & mask).to_bytes(size, "little") for v in numbers)
        if isinstance(self.element, FloatType):
            return np.asarray(value, type_to_numpy(self.element)).tobytes()
        return b"".join(int(v).to_bytes(8, "little") for v in np.asarray(value).reshape(-1))

    def from_bytes(self, data: bytes) -> Any:
        """The value from its bytes; signless integers are signed."""
        size, element = self.element_bytes, self.element
        if isinstance(element, FloatType):
            array = np.frombuffer(data, type_to_numpy(element)).copy()
            return array if isinstance(self.type, VectorType) else array[0]
        parts = [int.from_bytes(data[i : i + size], "little") for i in range(0, len(data), size)]
        if not isinstance(element, IntegerType):
            return np.array(parts, np.uint64) if isinstance(self.type, VectorType) else parts[0]
        wrapped = [element.wrap(v) for v in parts]
        if element.width > 64:
            return wrapped if isinstance(self.type, VectorType) else wrapped[0]
        dtype = type_to_numpy(element)
        if isinstance(self.type, VectorType):
            return np.array(wrapped, dtype)
        return dtype.type(wrapped[0])


def _element_bytes(element: Type) -> int:
    match element:
        case IntegerType(width):
            return next((n for n in (1, 2, 4, 8) if width <= 8 * n), -(-width // 64) * 8)
        case FloatType():
            return element.byte_width
        case llvm.PointerType():
            return 8
    raise NncError(f"a value of type {element} cannot be passed from outside")


def _leaves(type: Type, offset: int, path: tuple[int, ...] = ()) -> Iterator[Leaf]:
    """The leaves of a type in order, laid out from an offset in the frame."""
    match type:
        case llvm.StructType(elements):
            inner = list(enumerate(elements))
        case llvm.ArrayType(size, element):
            inner = [(i, element) for i in range(size)]
        case llvm.VoidType():
            return
        case _:
            yield Leaf(type, path, offset)
            return
    for i, element in inner:
        for leaf in _leaves(element, offset, (*path, i)):
            yield leaf
            offset = leaf.offset + _slot(leaf)


def _slot(leaf: Leaf) -> int:
    return -(-leaf.element_bytes * leaf.count // ALIGNMENT) * ALIGNMENT


class _Frame:
    """The memory layout of a function's arguments and result."""

    def __init__(self, function: llvm.Func) -> None:
        type = function.function_type
        if type.variadic:
            raise function.error("takes a variable number of arguments and cannot be called")
        self.name = function.sym_name
        self.type = type
        self.arguments: list[list[Leaf]] = []
        self.size = 0
        for one in type.inputs:
            self.arguments.append(self._place(one))
        self.result = self._place(type.output)

    def _place(self, type: Type) -> list[Leaf]:
        leaves = list(_leaves(type, self.size))
        if leaves:
            self.size = leaves[-1].offset + _slot(leaves[-1])
        return leaves

    def wrapper(self) -> str:
        """The LLVM IR of the function that loads the arguments and stores the result."""
        name = symbol_text(_CALL + self.name)
        lines = [f"define void {name}(ptr %frame) nounwind {{"]
        arguments = []
        for i, (type, leaves) in enumerate(zip(self.type.inputs, self.arguments, strict=True)):
            value = "poison"
            for j, leaf in enumerate(leaves):
                part = f"%a{i}.{j}"
                lines += _load(leaf, part)
                if not leaf.path:
                    value = part
                    continue
                at = ", ".join(map(str, leaf.path))
                made = f"%s{i}.{j}"
                lines.append(
                    f"  {made} = insertvalue {type_text(type)} {value}, "
                    f"{type_text(leaf.type)} {part}, {at}"
                )
                value = made
            arguments.append(f"{type_text(type)} {value}")
        call = (
            f"call {type_text(self.type.output)} {symbol_text(self.name)}({', '.join(arguments)})"
        )
        lines.append(f"  {'%r = ' if self.result else ''}{call}")
        for j, leaf in enumerate(self.result):
            part = "%r"
            if leaf.path:
                part = f"%r.{j}"
                at = ", ".join(map(str, leaf.path))
                lines.append(f"  {part} = extractvalue {type_text(self.type.output)} %r, {at}")
            lines += _store(leaf, part, f"%o{j}")
        return "\n".join([*lines, "  ret void", "}", ""])


def _load(leaf: Leaf, name: str) -> list[str]:
    address = f"  {name}.p = getelementptr i8, ptr %frame, i64 {leaf.offset}"
    text = type_text(leaf.type)
    if leaf.stored == text:
        return [address, f"  {name} = load {text}, ptr {name}.p"]
    return [
        address,
        f"  {name}.w = load {leaf.stored}, ptr {name}.p",
        f"  {name} = trunc {leaf.stored} {name}.w to {text}",
    ]


def _store(leaf: Leaf, value: str, name: str) -> list[str]:
    text = type_text(leaf.type)
    lines = [f"  {name}.p = getelementptr i8, ptr %frame, i64 {leaf.offset}"]
    if leaf.stored != text:
        lines.append(f"  {name}.w = zext {text} {value} to {leaf.stored}")
        value = f"{name}.w"
    return [*lines, f"  store {leaf.stored} {value}, ptr {name}.p"]


class NativeFunctions:
    """Machine code of a module, and calls of its functions. Raises NncError."""

    def __init__(
        self,
        module: Operation,
        names: Sequence[str] | None = None,
    ) -> None:
        defined = {
            op.sym_name: op
            for op in module.body_block
            if isinstance(op, llvm.Func) and not op.is_declaration
        }
        missing = [name for name in names or () if name not in defined]
        if missing:
            raise NncError(f"there is no function '@{missing[0]}' to run", module.loc)
        self.frames = {name: _Frame(defined[name]) for name in (names or defined)}
        text = llvm_ir(module) + "".join(frame.wrapper() for frame in self.frames.values())
        target = llvm_target_of(module)
        code = target.object_of(text)
        self._code = target.load(code, tuple(_CALL + name for name in self.frames))

    def call(self, name: str, arguments: Sequence[Any]) -> list[Any]:
        """Call a function. Returns its result in a list, [] if it returns nothing."""
        frame = self.frames[name]
        if len(arguments) != len(frame.arguments):
            raise NncError(
                f"'@{name}' takes {len(frame.arguments)} arguments, but {len(arguments)} are given"
            )
        memory = aligned_buffer(frame.size)
        memory.fill(0)
        for i, (value, leaves) in enumerate(zip(arguments, frame.arguments, strict=True)):
            for leaf in leaves:
                data = leaf.to_bytes(_at(value, leaf.path))
                if len(data) != leaf.element_bytes * leaf.count:
                    raise NncError(f"argument {i} of '@{name}' is not of type {leaf.type}")
                memory[leaf.offset : leaf.offset + len(data)] = np.frombuffer(data, np.uint8)
        run = ctypes.CFUNCTYPE(None, ctypes.c_void_p)(self._code[_CALL + name])
        run(memory.ctypes.data)
        if not frame.result:
            return []
        found = [
            (
                leaf.path,
                leaf.from_bytes(memory[leaf.offset :][: leaf.element_bytes * leaf.count].tobytes()),
            )
            for leaf in frame.result
        ]
        return [_nested(frame.type.output, dict(found), ())]


def _at(value: Any, path: tuple[int, ...]) -> Any:
    for i in path:
        value = value[i]
    return value


def _nested(type: Type, found: dict[tuple[int, ...], Any], path: tuple[int, ...]) -> Any:
    match type:
        case llvm.StructType(elements):
            return [_nested(t, found, (*path, i)) for i, t in enumerate(elements)]
        case llvm.ArrayType(size, element):
            return [_nested(element, found, (*path, i)) for i in range(size)]
    return found[path]
