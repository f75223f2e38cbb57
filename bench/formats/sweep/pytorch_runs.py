"""A run of a module: by PyTorch, by torch.compile with nnc inside it, or by nnc of its program."""

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
    """A function, or what holds weights, as a module that gives a list of tensors."""

    def __init__(self, function: Callable[..., Any]) -> None:
        super().__init__()
        self.function = function

    def forward(self, *given: Any) -> list[Any]:
        return [x for x in tree_leaves(self.function(*given)) if isinstance(x, torch.Tensor)]


@dataclass(frozen=True)
class Outcome:
    """The results of a run, and the inputs and the module's buffers as they are after it."""

    results: Tensors
    inputs: Tensors
    buffers: Tensors

    @property
    def arrays(self) -> list[np.ndarray]:
        """The elements of all."""
        return [array_of(x) for x in (*self.results, *self.inputs, *self.buffers)]

    @property
    def strides(self) -> list[list[int]]:
        """Where the elements of each result lie, in dimensions that have several."""
        return [_strides(x) for x in self.results]

    @property
    def sharing(self) -> list[int]:
        """The input in whose memory each result lies; -1 for one in its own."""
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
    """Call what is made of a module with copies of tensors; its buffers are then as before."""
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
    """A copy that lies as the tensor does, so that a function may write to it."""
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
    """The elements of a tensor."""
    return as_array(x.detach().resolve_conj().resolve_neg())


class Compiled:
    """A module that torch.compile hands to nnc. It gives an outcome's arrays and its layout."""

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
        """Raises UnmakableError where torch.compile takes no such function either without nnc."""
        try:
            self.traced(given, self.is_open or None)
        except Exception as error:
            reason = f"compile: {type(error).__name__}: {str(error)[:150]}"
            raise UnmakableError(reason) from None

    def traced(self, given: Tensors, dynamic: bool | None) -> Outcome:
        """What PyTorch computes by its own trace."""
        torch.compiler.reset()
        function = torch.compile(self.module, backend="aot_eager", dynamic=dynamic)
        return run(function, self.module, given)

    def layout(self, found: Outcome, given: Tensors) -> list[np.ndarray]:
        """That of the results; the eager one where they lie as may be.

        A result that is part of what was computed may come without the rest, in the order of
        dimensions that PyTorch gives a copy of it: callers see the same elements, and no graph of
        torch.compile promises more. One that lies in an input has to lie there. What PyTorch's own
        trace gives is right, too.
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
    """A program that writes to its inputs or buffers; it gives an outcome's arrays.

    Buffers are left out, so that they start as the program has them. An input or buffer that nnc
    does not give is as it was.
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
    """The interpreter of a module where torch.compile expects a compiled model."""

    def __init__(self, module: Any, **_: Any) -> None:
        (main,) = (op for op in module.body_block if INPUT_NAMES in op.attributes)
        self.input_names = [name.value for name in main.attributes[INPUT_NAMES]]
        self.output_names = [name.value for name in main.attributes[OUTPUT_NAMES]]
        self.input_types = [value.type for value in main.body_block.args]
        self.output_types = list(main.function_type.results)
        self.interpreter = Interpreter(module)

    def run(self, given: Mapping[str, Any]) -> dict[str, Any]:
        """The outputs by name, in memory of their own."""
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
