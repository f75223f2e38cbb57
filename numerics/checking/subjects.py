"""Which functions are compared, and how they are called at each level.

A function is identified by the type that it had first. The pipeline turns this type into:

    (tensor<4xf32>) -> tensor<4xf32>               results
    (memref<4xf32>, memref<4xf32>)                 results of known shape as last arguments
    (.., memref<64xi8> {nn.arena}, .. {nn.weights}, !llvm.ptr {nn.pool})
    llvm.func @f(!llvm.ptr, ..)                    memrefs as pointers
    nnc_run                                        the entry, called as C calls it
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ...dialects import func, llvm
from ...dialects.marks import (
    ARENA,
    ENTRY,
    INPUTS,
    OUTPUTS,
    POOL,
    PORT_NAMES,
    PREPARED,
    SCRATCH,
    WEIGHTS,
)
from ...ir.attributes import ArrayAttr
from ...ir.core import Operation
from ...ir.numpy_types import type_to_numpy
from ...ir.symbols import symbol_name
from ...ir.types import FunctionType, MemRefType, ShapedType, TensorType, Type
from ...runtime.abi import RUN
from ..interpreter import CannotInterpretError
from .inputs import aligned_array

CONSTANTS = (WEIGHTS, PREPARED)
"""The attributes of arguments that are blocks of constants; on a module, they list
the constants.
"""
SPECIAL = (ARENA, *CONSTANTS, SCRATCH, POOL)


@dataclass(frozen=True)
class Subject:
    """A function that is compared: its name, its first type, and whether it is the entry."""

    name: str
    type: FunctionType
    is_entry: bool = False


def find_subjects(module: Operation) -> list[Subject]:
    """The functions to compare: public ones with a body, and those that no other function calls.

    If the module's entry is lowered, only the entry.
    """
    types = [module.attribute(name) for name in (INPUTS, OUTPUTS)]
    if all(isinstance(t, ArrayAttr) for t in types):
        inputs, outputs = (tuple(t.elements) for t in types)  # type: ignore[union-attr]
        return [Subject(RUN, FunctionType(inputs, outputs), is_entry=True)]
    functions = [op for op in module.body_block if is_function(op)]
    called = {
        name
        for op in functions
        for inner in op.walk()
        if (name := callee_of(inner)) is not None and name != symbol_name(op)
    }
    return [
        Subject(str(symbol_name(op)), type_of(op), ENTRY in op.attributes)
        for op in functions
        if _is_public(op) or symbol_name(op) not in called
    ]


def is_function(op: Operation) -> bool:
    """Whether the operation is a function with a body."""
    return isinstance(op, func.FuncOp | llvm.Func) and not op.is_declaration


def callee_of(op: Operation) -> str | None:
    """The name of the function that an operation calls or refers to; None if there is none."""
    match op:
        case func.Call():
            return op.callee
        case func.Constant():
            return op.value
        case llvm.Call():
            return op.callee
        case llvm.AddressOf():
            return op.global_name
    return None


def _is_public(op: Operation) -> bool:
    if ENTRY in op.attributes:
        return True
    if isinstance(op, llvm.Func):
        return op.linkage == "external"
    return op.sym_visibility in (None, "public")  # type: ignore[attr-defined]


def type_of(op: Operation) -> FunctionType:
    """The function type that the caller of a model sees."""
    type = op.function_type  # type: ignore[attr-defined]
    if not isinstance(op, func.FuncOp):
        return type.as_function_type()
    marks = special_arguments(op)
    inputs = [t for i, t in enumerate(type.inputs) if i not in marks]
    return FunctionType(tuple(inputs), type.results)


def special_arguments(op: func.FuncOp) -> dict[int, str]:
    """{index: mark} of the arguments that a model's caller does not pass."""
    return {
        i: name
        for i in range(len(op.function_type.inputs))
        for name in SPECIAL
        if op.arg_attribute(i, name) is not None
    }


# -- how a function is called now ---------------------------------------------------------------


@dataclass
class Convention:
    """Converts inputs to the arguments that a function has at present, and its outputs back."""

    subject: Subject
    type: FunctionType
    special: Mapping[int, str]
    weights: Mapping[str, np.ndarray] = field(default_factory=dict)

    @staticmethod
    def of(
        subject: Subject, op: func.FuncOp, weights: Mapping[str, np.ndarray] | None = None
    ) -> Convention:
        """How to call a function. Raises NncError if it cannot be called with the
        subject's inputs.
        """
        if PORT_NAMES in op.attributes:
            raise CannotInterpretError(
                f"'@{subject.name}' is a circuit, whose constants are memories outside"
            )
        made = Convention(subject, op.function_type, special_arguments(op), weights or {})
        made.outs  # noqa: B018 - raises
        return made

    @property
    def plain(self) -> list[Type]:
        """The types of the arguments that are inputs or outputs."""
        return [t for i, t in enumerate(self.type.inputs) if i not in self.special]

    @property
    def outs(self) -> list[int]:
        """The indices of the subject's results that are written to an argument.

        Further buffers are outputs that a pass has added, and are not compared.
        """
        subject = self.subject.type
        extra = len(self.plain) - len(subject.inputs)
        if extra == 0 and len(self.type.results) == len(subject.results):
            return []
        found = [
            i
            for i, t in enumerate(subject.results)
            if isinstance(t, TensorType) and t.has_static_shape
        ]
        added = self.plain[len(subject.inputs) + len(found) :]
        known = len(self.type.results) == len(subject.results) - len(found)
        if not known or len(found) > extra or not all(map(_is_static_buffer, added)):
            raise CannotInterpretError(
                f"'@{self.subject.name}' was of type {subject} and is of type {self.type}: what is "
                "an input and what an output is not known"
            )
        return found

    def arguments(self, inputs: Sequence[Any]) -> list[Any]:
        """All arguments in order; outputs and scratch memory are filled with a pattern."""
        outs = [_filled(self.subject.type.results[i]) for i in self.outs]
        outs += [_filled(t) for t in self.plain[len(inputs) + len(outs) :]]
        rest = iter(
            converted(value, type) for value, type in zip([*inputs, *outs], self.plain, strict=True)
        )
        return [
            self._special(self.special[i], type) if i in self.special else next(rest)
            for i, type in enumerate(self.type.inputs)
        ]

    def _special(self, name: str, type: Type) -> Any:
        if name == POOL:
            return 0
        if name in self.weights:
            return self.weights[name].view(np.int8)
        return _filled(type)

    def outputs(self, arguments: Sequence[Any], results: Sequence[Any]) -> list[Any]:
        """The subject's results, then the contents of its memref arguments after the run."""
        plain = [a for i, a in enumerate(arguments) if i not in self.special]
        subject = self.subject.type
        written = iter(plain[len(subject.inputs) :])
        returned = iter(results)
        outs = set(self.outs)
        found = [next(written if i in outs else returned) for i in range(len(subject.results))]
        values = [converted(v, t) for v, t in zip(found, subject.results, strict=True)]
        buffers = zip(plain, subject.inputs, strict=False)
        return values + [
            np.array(a) for a, t in buffers if isinstance(t, MemRefType | llvm.PointerType)
        ]


def _is_static_buffer(type: Type) -> bool:
    return isinstance(type, MemRefType) and type.has_static_shape


def _filled(type: Type) -> np.ndarray:
    """A buffer of a static type, filled with the interpreter's pattern for new buffers."""
    assert isinstance(type, ShapedType)
    dtype = type_to_numpy(type.element_type)
    array = aligned_array(type.shape, dtype)
    if dtype.kind == "b":
        array[...] = True
    else:
        array.reshape(-1).view(np.uint8)[...] = 0xFF
    return array


def converted(value: Any, type: Type) -> Any:
    """The value in the dtype of a type of the same width, since lowering drops signedness."""
    if not isinstance(type, ShapedType) or not isinstance(value, np.ndarray):
        return value
    dtype = type_to_numpy(type.element_type)
    return value.view(dtype) if value.dtype.itemsize == dtype.itemsize else value
