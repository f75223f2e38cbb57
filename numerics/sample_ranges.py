"""Runs sample inputs in the interpreter, and records the outputs and the ranges of buffers."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from ..dialects import func, linalg
from ..dialects.marks import ENTRY, INPUT_NAMES, RANGE, SAMPLES
from ..ir.attributes import ArrayAttr, Attribute, DenseElements, DictAttr, FloatAttr
from ..ir.core import Operation
from ..ir.diagnostics import NncError
from ..ir.numpy_types import type_to_numpy
from ..ir.passes import Pass, PassContext, option
from ..ir.types import FloatType, MemRefType, f64
from .interpreter import Interpreter, Observer

_MOST_POINTS = 1 << 28
"""The most elements that all operations may have together; with more, the interpreter takes
minutes.
"""


@dataclass(frozen=True)
class SampleRanges(
    Pass,
    name="sample-ranges",
    anchor="builtin.module",
    statistics={"runs": "Number of inputs that were run"},
):
    """Run a module of linalg on buffers, and record the ranges of its kernels' arguments.

    The module gets `nn.samples`, with the first inputs and their outputs; kernels' arguments that
    are buffers of floats get `nn.range`. Nothing is run if the module has samples already, has
    unknown shapes, or is so large that the interpreter would take minutes.
    """

    inputs: str = option("", help="a .npz with inputs by name, the samples of each along its "
                         "first axis (default: random numbers)")  # fmt: skip
    runs: int = option(4, help="how many random inputs are run")
    seed: int = option(0, help="of random numbers")

    def run(self, op: Operation, context: PassContext) -> None:
        entries = [f for f in op.body_block if isinstance(f, func.FuncOp) and ENTRY in f.attributes]
        if len(entries) != 1 or SAMPLES in op.attributes or not _can_run(op, entries[0]):
            return
        entry = entries[0]
        given = self._samples(entry)
        kernels = _Ranges(op)
        interpreter = Interpreter(op)
        interpreter.observer = kernels
        for number, inputs in enumerate(given):
            types = entry.function_type.inputs[len(inputs) :]
            outputs = [np.zeros(t.shape, type_to_numpy(t.element_type)) for t in types]
            try:
                with np.errstate(all="ignore"):
                    interpreter.call(entry.sym_name, [*(one.copy() for one in inputs), *outputs])
            except NncError as error:
                context.remark(
                    f"the model does not take these inputs: {error.message}", error.location
                )
                return
            if number == 0:
                op.attributes[SAMPLES] = DictAttr(
                    (("inputs", _arrays(inputs)), ("outputs", _arrays(outputs)))
                )
            context.statistic("runs")
        kernels.write()

    def _samples(self, entry: func.FuncOp) -> list[list[np.ndarray]]:
        """The inputs of each run."""
        names = [one.value for one in entry.attributes[INPUT_NAMES]]  # type: ignore[attr-defined]
        types: Any = entry.function_type.inputs[: len(names)]
        if not self.inputs:
            rng = np.random.default_rng(self.seed)
            return [[_random(type, rng) for type in types] for _ in range(self.runs)]
        try:
            with np.load(Path(self.inputs)) as file:
                arrays = {name: file[name] for name in file.files}
        except (OSError, ValueError) as error:
            raise NncError(f"cannot read samples from '{self.inputs}': {error}") from None
        found = []
        for name, type in zip(names, types, strict=True):
            if name not in arrays:
                raise NncError(f"'{self.inputs}' has no samples of input '{name}'")
            array, shape = arrays[name], tuple(type.shape)
            if array.shape[1:] != shape or not len(array):
                raise NncError(
                    f"samples of '{name}' have the shape {array.shape}; expected (N, "
                    f"{', '.join(map(str, shape))})"
                )
            found.append(list(array.astype(type_to_numpy(type.element_type))))
        if len({len(one) for one in found}) > 1:
            raise NncError(f"'{self.inputs}' has different numbers of samples of the inputs")
        return [list(one) for one in zip(*found, strict=True)]


def _can_run(module: Operation, entry: func.FuncOp) -> bool:
    """Whether the module is one of linalg on buffers of known size, and not too large."""
    types = (*entry.function_type.inputs, *entry.function_type.results)
    if not all(isinstance(t, MemRefType) and t.has_static_shape for t in types):
        return False
    if INPUT_NAMES not in entry.attributes:
        return False
    points = 0
    for one in module.walk():
        if isinstance(one, linalg.StructuredOp):
            shapes = [v.type.shape for v in one.operands if isinstance(v.type, MemRefType)]
            if any(None in shape for shape in shapes):
                return False
            points += sum(int(np.prod(shape)) for shape in shapes)
    return points < _MOST_POINTS


def _random(type: Any, rng: np.random.Generator) -> np.ndarray:
    dtype = type_to_numpy(type.element_type)
    if isinstance(type.element_type, FloatType):
        return rng.standard_normal(type.shape).astype(dtype)
    most = 100 if dtype.itemsize == 1 and dtype != np.bool_ else 2  # Wide ones may be indices.
    return rng.integers(0, most, type.shape).astype(dtype)


def _arrays(arrays: list[np.ndarray]) -> ArrayAttr:
    return ArrayAttr(tuple(map(DenseElements.from_numpy, arrays)))


class _Ranges(Observer):
    """The ranges of values in the float buffers that kernels are called with."""

    def __init__(self, module: Operation) -> None:
        self._functions = func.functions_by_name(module)
        self._found: dict[tuple[str, int], tuple[float, float]] = {}

    def after_op(self, op: Operation, operands: list[Any], results: list[Any]) -> None:
        if not isinstance(op, func.Call) or op.callee not in self._functions:
            return
        for i, (value, array) in enumerate(zip(op.operands, operands, strict=True)):
            type = value.type
            if not isinstance(type, MemRefType) or not isinstance(type.element_type, FloatType):
                continue
            low, high = self._found.get((op.callee, i), (np.inf, -np.inf))
            if array.size:
                low, high = min(low, float(array.min())), max(high, float(array.max()))
            self._found[op.callee, i] = low, high

    def write(self) -> None:
        """Put the ranges on the arguments of the kernels."""
        for (name, i), bounds in self._found.items():
            pair: tuple[Attribute, ...] = tuple(FloatAttr(one, f64) for one in bounds)
            self._functions[name].set_arg_attribute(i, RANGE, ArrayAttr(pair))
