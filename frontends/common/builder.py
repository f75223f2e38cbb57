"""The function that an import makes: where its operations and constants go."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

from ...dialects import func, nn
from ...dialects.builtin import ModuleOp
from ...dialects.marks import (
    COMPLEX_OUTPUTS,
    ENTRY,
    INPUT_DIMS,
    INPUT_NAMES,
    INPUT_STARTS,
    OUTPUT_DIMS,
    OUTPUT_NAMES,
)
from ...dialects.nn.known_values import KnownValues, Partial
from ...ir.attributes import ArrayAttr, DenseElements, DenseResource, StringAttr, UnitAttr
from ...ir.core import Block, Operation, Region, Value
from ...ir.diagnostics import NncError
from ...ir.location import Location, NameLoc
from ...ir.numpy_types import numpy_to_type
from ...ir.resources import MemoryBlob
from ...ir.traits import is_erasable
from ...ir.types import Dim, FloatType, FunctionType, TensorType, Type, f32, f64

INLINE_ELEMENTS = 64
"""Constants of up to so many elements stand in the text; larger ones are resources."""

MOST_INTEGERS = 4096
"""The most elements of an integer tensor that is folded at import, such as a shape or indices."""

MOST_FLOATS = 64

DimensionNames = Mapping[str, Sequence[str]]
"""The names of each value's dimensions, by the value's name; "" for one without a name."""


def is_small(type: Any) -> bool:
    """Whether a tensor of this type is folded at import."""
    if not isinstance(type, TensorType) or not type.has_static_shape:
        return False
    most = MOST_FLOATS if isinstance(type.element_type, FloatType) else MOST_INTEGERS
    return type.num_elements <= most


class Builder:
    """Builds `func.func @main` of a model that is being imported; `loc` is the model's location."""

    def __init__(self, loc: Location) -> None:
        self.loc = loc
        self.block = self.entry = Block()
        """Where operations go: the function's block, or that of a branch or a loop's body."""
        self.known = KnownValues(is_small, mixes=False)
        self.warnings: list[str] = []
        """Messages on layers for which other runtimes are known to compute something else."""
        self._constants: dict[Any, Value] = {}
        self._keys = {"__metadata__"}  # safetensors keeps this name for itself

    def error(self, message: str) -> NncError:
        """An error that names the model."""
        return NncError(message, self.loc)

    def argument(self, name: str, type: Type) -> Value:
        """A new input of the model."""
        value = self.entry.add_arg(type, NameLoc(name, self.loc))
        value.name_hint = identifier(name)
        return value

    def emit(self, op: Operation, loc: Location) -> list[Value]:
        """Insert the op, or the constants that it folds to, and return its results."""
        found = self.known.results(op)
        if found is not None and all(known.is_known for known in found):
            op.drop_all_references()
            return [self.constant(known.elements, loc) for known in found]
        op.loc = loc
        self.block.append(op)
        for result, known in zip(op.results, found or (), strict=False):
            self.known.remember(result, known)
        return list(op.results)

    @contextmanager
    def inside(self, block: Block) -> Iterator[None]:
        """Insert ops into `block` in this context; the op that owns the block comes later."""
        outer, self.block = self.block, block
        try:
            yield
        finally:
            self.block = outer

    def constant(self, array: np.ndarray, loc: Location, key: str | None = None) -> Value:
        """A constant, named by `key`; equal small ones are one op. Its data is not copied."""
        type = TensorType(array.shape, numpy_to_type(array.dtype))
        strings = array.dtype == object
        small = array.size <= INLINE_ELEMENTS or strings
        identity = (type, tuple(array.flat) if strings else array.tobytes()) if small else None
        if identity in self._constants:
            return self._constants[identity]
        if small:
            attribute: Any = DenseElements.from_numpy(np.ascontiguousarray(array), type)
        else:
            attribute = DenseResource(self._key(key or "constant"), type, MemoryBlob(array))
        op = nn.Constant(attribute, loc=loc)
        self.entry.append(op)  # every region sees it
        if key:
            op.result.name_hint = identifier(key)
        if identity is not None:
            self._constants[identity] = op.result
        if is_small(type):
            self.known.remember(op.result, Partial.known(array))
        return op.result

    def _key(self, name: str) -> str:
        """A resource's name, unique in the module."""
        key, n = name, 0
        while key in self._keys:
            n += 1
            key = f"{name}_{n}"
        self._keys.add(key)
        return key

    def as_value(self, value: Any, loc: Location) -> Value:
        """The value itself; a Python sequence of values becomes a sequence of the program."""
        if isinstance(value, Value):
            return value
        if not isinstance(value, Iterable):  # a format's own, such as a list that a loop fills
            raise NncError("it is not a tensor outside of the graph", loc)
        elements = [self.as_value(element, loc) for element in value]
        return self.emit(nn.SequenceConstruct(elements), loc)[0]

    def is_unknown(self, value: Value) -> bool:
        """Whether no element of the value is known at import."""
        return self.known.partial(value) is None

    def extents(self, value: Value) -> tuple[Dim, ...] | None:
        """The elements of a 1-D integer tensor, unknown ones as None; see `Layer.extents`."""
        if (elements := self.known.elements(value)) is not None:
            return tuple(elements)
        if value.type.rank == 1 and (op := value.defined_by(nn.Concat)) is not None:
            parts = [self.extents(part) for part in op.inputs]
            if None not in parts:
                return tuple(d for part in parts for d in part or ())
        count = value.type.shape[0] if value.type.rank == 1 else None
        return None if count is None else (None,) * count

    def module(
        self,
        inputs: Sequence[str],
        outputs: Mapping[str, Value] | Sequence[tuple[str, Value]],
        dims: DimensionNames,
        starts: Mapping[str, Any] | None = None,
        complex_outputs: Collection[str] = (),
    ) -> ModuleOp:
        """The module with the function, whose arguments and results have these names.

        `starts` has the values of inputs that a caller leaves out, `complex_outputs` the names of
        outputs whose last dimension is the real and the imaginary part of complex numbers.
        """
        named = list(outputs.items()) if isinstance(outputs, Mapping) else list(outputs)
        names, values = [name for name, _ in named], [value for _, value in named]
        self.block.append(func.Return(values, loc=self.loc))
        self._drop_unused()
        type = FunctionType(tuple(a.type for a in self.block.args), tuple(v.type for v in values))
        main = func.FuncOp(
            sym_name="main",
            function_type=type,
            body=Region([self.block]),
            loc=self.loc,
            attributes={
                ENTRY: UnitAttr(),
                INPUT_NAMES: ArrayAttr(tuple(StringAttr(name) for name in inputs)),
                OUTPUT_NAMES: ArrayAttr(tuple(StringAttr(name) for name in names)),
            },
        )
        for key, order, types in (
            (INPUT_DIMS, inputs, type.inputs),
            (OUTPUT_DIMS, names, type.results),
        ):
            found = [_open_names(dims.get(n, ()), t) for n, t in zip(order, types, strict=True)]
            if any(map(any, found)):
                strings = (ArrayAttr(tuple(map(StringAttr, one))) for one in found)
                main.attributes[key] = ArrayAttr(tuple(strings))
        if starts:
            texts = (_numbers(starts[name]) if name in starts else "" for name in inputs)
            main.attributes[INPUT_STARTS] = ArrayAttr(tuple(map(StringAttr, texts)))
        pairs = [name for name, v in named if name in complex_outputs and _element(v) in (f32, f64)]
        if pairs:
            main.attributes[COMPLEX_OUTPUTS] = ArrayAttr(tuple(map(StringAttr, pairs)))
        module = ModuleOp.of([main])
        module.loc = self.loc
        return module

    def _drop_unused(self) -> None:
        """Erase ops without uses: mostly constants whose values went into types."""
        for op in reversed(self.block):
            if is_erasable(op) and not any(r.has_uses for r in op.results):
                op.erase()


def _element(value: Value) -> Type | None:
    return value.type.element_type if isinstance(value.type, TensorType) else None


def _numbers(value: Any) -> str:
    """The numbers of an array in their shortest exact text, separated by spaces."""
    return " ".join(map(_number, np.asarray(value).reshape(-1).tolist()))


def _number(value: float) -> str:
    """The shortest text that parses to exactly this number."""
    text = f"{value:g}" if isinstance(value, float) else str(int(value))
    return text if float(text) == value and len(text) < 16 else repr(value)


def _open_names(names: Sequence[str], type: Type) -> list[str]:
    """The names of the dimensions whose extent is unknown, and "" for the others."""
    if not isinstance(type, TensorType):
        return []
    if len(names) != len(type.shape):
        return [""] * len(type.shape)
    return [name if d is None else "" for name, d in zip(names, type.shape, strict=True)]


_NO_NAME = re.compile(r"[^\w$.-]", re.ASCII)


def identifier(name: str) -> str:
    """`name` as a valid SSA name: other characters become `_`, and no digit comes first."""
    text = _NO_NAME.sub("_", name)
    return text if text and not text[0].isdigit() else "_" + text
