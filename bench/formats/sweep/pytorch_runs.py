"""Runs a module: by PyTorch, by torch.compile with nnc as its backend, or by nnc on its program."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from typing import Any

import nnc
import numpy as np
import torch
from nnc import NncError
from nnc.dialects.marks import INPUT_NAMES, OUTPUT_NAMES
from nnc.driver import compile as driver
from nnc.driver.torch_backend import backend
from nnc.frontends.pytorch.live import as_array
from nnc.numerics.interpreter import Interpreter
from torch.utils._pytree import tree_leaves

from .cases import Made, UnmakableError
from .judge import Interpreted

Tensors = Sequence[torch.Tensor]


class Of(torch.nn.Module):
    """A function, or an object with weights, as a module that returns a list of tensors."""

    def __init__(self, function: Callable[..., Any]) -> None:
        super().__init__()
        self.function = function

    def forward(self, *given: Any) -> list[Any]:
        return [x for x in tree_leaves(self.function(*given)) if isinstance(x, torch.Tensor)]


@dataclass(frozen=True)
class Outcome:
    """The results of a run, and the inputs and the module's buffers after it."""

    results: Tensors
    inputs: Tensors
    buffers: Tensors

    @property
    def arrays(self) -> list[np.ndarray]:
        """The elements of all results, inputs and buffers."""
        return [array_of(x) for x in (*self.results, *self.inputs, *self.buffers)]

    @property
    def strides(self) -> list[list[int]]:
        """The strides of each result, in dimensions of more than one element."""
        return [_strides(x) for x in self.results]

    @property
    def sharing(self) -> list[int]:
        """The index of the input whose memory each result shares; -1 for one with
        its own memory.
        """
        inputs = [_memory(x) for x in self.inputs]
        return [
            inputs.index(_memory(x)) if x.numel() and _memory(x) in inputs else -1
            for x in self.results
        ]

    @property
    def layout(self) -> list[np.ndarray]:
        """The strides, and where results share memory with inputs."""
        return [np.array(one, int) for one in (*self.strides, self.sharing)]


def _memory(x: torch.Tensor) -> int:
    return x.untyped_storage().data_ptr()


def _strides(x: torch.Tensor) -> list[int]:
    return [s for s, d in zip(x.stride(), x.shape, strict=True) if d > 1 and x.numel()]


def run(function: Callable[..., Any], module: torch.nn.Module, given: Tensors) -> Outcome:
    """Call a function made from a module with copies of tensors; the module's
    buffers are restored.
    """
    inputs, before = [*map(same, given)], [x.clone() for x in module.buffers()]
    with torch.no_grad():
        try:
            results = function(*inputs)
            after = [x.clone() for x in module.buffers()]
        finally:
            for x, old in zip(module.buffers(), before, strict=True):
                if not equal(x, old):
                    x.copy_(old)
    return Outcome(list(results), inputs, after)


def same(x: torch.Tensor) -> torch.Tensor:
    """A copy with the same memory layout, so that a function may write to it."""
    expanded = [not s and d > 1 for s, d in zip(x.stride(), x.shape, strict=True)]
    if any(expanded):
        return x[tuple(slice(0, 1 if e else None) for e in expanded)].clone().expand(x.shape)
    copy = torch.empty_strided(x.shape, x.stride(), dtype=x.dtype)
    return copy.copy_(x)


def equal(one: torch.Tensor, other: torch.Tensor) -> bool:
    """Whether two tensors have the same bits."""
    a, b = (np.ascontiguousarray(array_of(x)) for x in (one, other))
    return a.shape == b.shape and a.tobytes() == b.tobytes()


def array_of(x: torch.Tensor) -> np.ndarray:
    """The tensor as an array."""
    return as_array(x.detach().resolve_conj().resolve_neg())


class Compiled:
    """A module that torch.compile passes to nnc; calls return an outcome's arrays
    and its layout.
    """

    def __init__(self, module: Of, is_open: bool) -> None:
        self.module, self.is_open = module, is_open

    def callable(self, interpreted: bool) -> Callable[..., Any]:
        torch.compiler.reset()
        options = {"fallback": False, "cache": False}
        compiled = torch.compile(
            self.module, backend=backend, dynamic=self.is_open or None, options=options
        )

        def call(*given: torch.Tensor) -> list[np.ndarray]:
            try:
                with _interpreting() if interpreted else nullcontext():
                    found = run(compiled, self.module, given)
            except NncError:
                raise
            except Exception:
                self.check_traced(given)
                raise
            return [*found.arrays, *self.layout(found, given)]

        return call

    def check_traced(self, given: Tensors) -> None:
        """Raise UnmakableError if torch.compile rejects the function even without nnc."""
        try:
            self.traced(given, self.is_open or None)
        except Exception as error:
            reason = f"compile: {type(error).__name__}: {str(error)[:150]}"
            raise UnmakableError(reason) from None

    def traced(self, given: Tensors, dynamic: bool | None) -> Outcome:
        """The outcome of PyTorch's own trace."""
        torch.compiler.reset()
        function = torch.compile(self.module, backend="aot_eager", dynamic=dynamic)
        return run(function, self.module, given)

    def layout(self, found: Outcome, given: Tensors) -> list[np.ndarray]:
        """The layout of the results; the eager one if the results' own layout is also allowed.

        A result that is a view of a computed tensor may be returned without the rest of that
        tensor, with the dimensions in the order that PyTorch gives a copy of it: callers see the
        same elements, and torch.compile promises no more. A view of an input must share the input's
        memory. The layout of PyTorch's own trace is also right.
        """
        eager = run(self.module, self.module, given)
        may_be = [
            own == there or (place < 0 and own == _strides(torch.empty_like(x)))
            for own, there, place, x in zip(
                found.strides, eager.strides, eager.sharing, eager.results, strict=True
            )
        ]
        if all(may_be) and found.sharing == eager.sharing:
            return eager.layout
        traced = self.traced(given, None)
        is_traced = found.strides == traced.strides and found.sharing == traced.sharing
        return eager.layout if is_traced else found.layout


class Writing:
    """A program that writes to its inputs or buffers; calls return an outcome's arrays.

    Buffers are not passed, so that they start with the program's values. An input or buffer that
    nnc does not return is unchanged.
    """

    def __init__(self, model: Any, buffers: Mapping[str, torch.Tensor], count: int) -> None:
        self.model, self.count = model, count
        self.buffers = {name: array_of(x).copy() for name, x in buffers.items()}

    def callable(self, interpreted: bool) -> Callable[..., Any]:
        model: Any = (
            Interpreted(Made(self.model, []))
            if interpreted
            else nnc.compile(self.model, cache=False)
        )

        def call(*given: np.ndarray) -> list[np.ndarray]:
            named = dict(zip(model.input_names, given, strict=False))
            found = model.run(named)
            after = {name: found.get(name, x) for name, x in (named | self.buffers).items()}
            return [*list(found.values())[: self.count], *after.values()]

        return call


class _StandIn:
    """The interpreter of a module, in place of the compiled model that torch.compile expects."""

    def __init__(self, module: Any, **_: Any) -> None:
        (main,) = (op for op in module.body_block if INPUT_NAMES in op.attributes)
        self.input_names = [name.value for name in main.attributes[INPUT_NAMES]]
        self.output_names = [name.value for name in main.attributes[OUTPUT_NAMES]]
        self.input_types = [value.type for value in main.body_block.args]
        self.output_types = list(main.function_type.results)
        self.interpreter = Interpreter(module)

    def run(self, given: Mapping[str, Any]) -> dict[str, Any]:
        """The outputs by name, as copies."""
        found = self.interpreter.call("main", [given[name] for name in self.input_names])
        return dict(zip(self.output_names, map(np.array, found), strict=True))


@contextmanager
def _interpreting() -> Iterator[None]:
    own = driver.compile_model
    driver.compile_model = _StandIn  # type: ignore[assignment]
    try:
        yield
    finally:
        driver.compile_model = own
