"""Reads tensors of torch.save without executing the pickle that names them.

The pickle is interpreted here: dictionaries, lists and tuples of numbers, text and tensors. A
pickle that names any other function is an error, and nothing is ever called by name.

Source: Python's pickletools, and torch/_utils.py.
"""

from __future__ import annotations

import pickletools
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...ir.types import Type
from ..common.source import Source
from ..wire.archive import Archive
from .arguments import ELEMENTS


@dataclass(frozen=True)
class Name:
    """A function or class, by its module and name."""

    text: str


@dataclass(frozen=True)
class Storage:
    """The bytes of one or more tensors: a member of the archive."""

    key: str
    element: str


@dataclass(frozen=True)
class Tensor:
    """The layout of a tensor in its storage, counted in elements."""

    data: np.ndarray
    element: Type
    first: int
    shape: tuple[Any, ...]
    strides: tuple[Any, ...]


_STORAGES = {
    "Float": "float32",
    "Double": "float64",
    "Half": "float16",
    "BFloat16": "bfloat16",
    "Long": "int64",
    "Int": "int32",
    "Short": "int16",
    "Char": "int8",
    "Byte": "uint8",
    "Bool": "bool",
    "ComplexFloat": "complex64",
    "ComplexDouble": "complex128",
}

_MARK = object()
_PLAIN = (
    "BINUNICODE",
    "SHORT_BINUNICODE",
    "UNICODE",
    "BININT",
    "INT",
    "LONG1",
    "LONG4",
    "BINFLOAT",
)
_IGNORED = frozenset(("PROTO", "FRAME"))
_EMPTY = {"EMPTY_DICT": dict, "EMPTY_LIST": list, "EMPTY_TUPLE": tuple}
_KNOWN = {"NEWTRUE": True, "NEWFALSE": False, "NONE": None}
_COUNTED = {"TUPLE1": 1, "TUPLE2": 2, "TUPLE3": 3}


def read_tensors(source: Source, data: np.ndarray) -> Mapping[str, Any]:
    """The contents of a torch.save archive, by name. Raises NncError."""
    inner = Source(memoryview(np.ascontiguousarray(data)))  # type: ignore[arg-type]
    inner.name = source.name
    archive = Archive(inner)
    names = [name for name in archive.members if name.endswith("data.pkl")]
    if len(names) != 1:
        raise source.error("weights are not an archive of torch.save")
    root = names[0].removesuffix("data.pkl")
    order = f"{root}byteorder"
    if order in archive and archive.read(order).tobytes() != b"little":
        raise source.error("weights are big-endian, expected little-endian")
    try:
        found = _Pickle(archive, root).read(archive.read(names[0]).tobytes())
    except _BROKEN as error:
        raise source.error(f"the pickle of weights is broken: {error}") from None
    if not isinstance(found, dict):
        raise source.error("weights are not a dictionary")
    return found


_BROKEN = (KeyError, TypeError, ValueError, IndexError, AttributeError, RecursionError)


class _Pickle:
    def __init__(self, archive: Archive, root: str) -> None:
        self.archive = archive
        self.root = root
        self.stack: list[Any] = []
        self.memo: dict[int, Any] = {}

    def read(self, data: bytes) -> Any:
        """The object that a pickle describes. Raises ValueError for unsupported ones."""
        for opcode, argument, _ in pickletools.genops(data):
            if opcode.name == "STOP":
                return self.stack.pop()
            self.step(opcode.name, argument)
        raise ValueError("it does not end")

    def step(self, name: str, argument: Any) -> None:
        stack = self.stack
        if name in _IGNORED:
            return
        if name in _EMPTY:
            stack.append(_EMPTY[name]())
        elif name in _KNOWN:
            stack.append(_KNOWN[name])
        elif name in _COUNTED:
            count = _COUNTED[name]
            stack[-count:] = [tuple(stack[-count:])]
        elif name == "MARK":
            stack.append(_MARK)
        elif name.startswith(_PLAIN):
            stack.append(argument)
        elif name == "GLOBAL":
            stack.append(Name(argument))
        elif name == "STACK_GLOBAL":
            stack[-2:] = [Name(f"{stack[-2]} {stack[-1]}")]
        elif name.endswith("PUT") or name == "MEMOIZE":
            self.memo[len(self.memo) if argument is None else argument] = stack[-1]
        elif name.endswith("GET"):
            stack.append(self.memo[argument])
        else:
            self.build(name)

    def build(self, name: str) -> None:
        """Execute an opcode that combines several objects."""
        stack = self.stack
        if name == "TUPLE":
            stack.append(tuple(self.marked()))
        elif name in ("SETITEMS", "SETITEM"):
            given = self.marked() if name == "SETITEMS" else [stack.pop(-2), stack.pop()]
            stack[-1].update(zip(given[::2], given[1::2], strict=True))
        elif name in ("APPENDS", "APPEND"):
            given = self.marked() if name == "APPENDS" else [stack.pop()]
            stack[-1].extend(given)
        elif name == "BINPERSID":
            stack.append(self.storage(*stack.pop()))
        elif name == "REDUCE":
            arguments, function = stack.pop(), stack.pop()
            stack.append(self.made(function, arguments))
        elif name == "BUILD":  # attributes of an OrderedDict
            stack.pop()
        else:
            raise ValueError(f"opcode {name} is not read")

    def marked(self) -> list[Any]:
        """Pop the objects above the last mark."""
        at = len(self.stack) - 1 - self.stack[::-1].index(_MARK)
        found = self.stack[at + 1 :]
        del self.stack[at:]
        return found

    def storage(self, kind: str, name: Name, key: str, device: str, count: int) -> Storage:
        own = name.text.rpartition(" ")[2].removesuffix("Storage")
        return Storage(key, _STORAGES.get(own, ""))

    def made(self, function: Name, arguments: tuple[Any, ...]) -> Any:
        """The result of a known function, without calling it."""
        match function.text:
            case "collections OrderedDict":
                return {}
            case "torch._utils _rebuild_parameter":
                return arguments[0]
            case "torch._utils _rebuild_tensor_v2":
                return self.tensor(*arguments[:4])
            case "torch._utils _rebuild_tensor_v3":
                storage, *where = arguments[:4]
                element = arguments[6].text.rpartition(" ")[2]
                return self.tensor(Storage(storage.key, element), *where)
        raise ValueError(f"it names '{function.text}', which is not executed")

    def tensor(self, storage: Storage, first: int, shape: Any, strides: Any) -> Tensor:
        data = self.archive.read(f"{self.root}data/{storage.key}")
        return Tensor(data, ELEMENTS[storage.element], first, tuple(shape), tuple(strides))
