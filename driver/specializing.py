"""A model that compiles code for input shapes which its code for dynamic shapes cannot handle.

The rank of a value may depend on an extent (ONNX's Squeeze without axes). Code for dynamic shapes
assumes that unknown extents are not 1, so that ranks are fixed; other shapes get code of their own.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping, Sequence
from threading import Lock
from typing import Any

import numpy as np

from ..dialects import nn
from ..dialects.marks import BY_SHAPES
from ..ir.core import Operation
from ..ir.diagnostics import NncError
from ..ir.location import node_of
from ..runtime.model import Model
from ..runtime.timed import TimedRuns

MOST_KEPT = 16
"""The most models of fixed shapes that are kept; the least recently used ones go."""

Shapes = Mapping[str, Sequence[int]]


def specializing(model: Model, compiled: Callable[..., Model], shapes: Shapes) -> Model:
    """The model itself, or, if it may fail for some input shapes, a model that compiles code for
    such shapes when they occur.

    `compiled` makes a model for the keyword `shapes`; the given `shapes` apply to each such model.
    """
    return Specializing(model, compiled, shapes) if any(failures_by_shapes(model)) else model


def failures_by_shapes(model: Model) -> Iterator[str]:
    """The failure messages of a run that models of fixed shapes do not have."""
    yield from (text for text in model.signature.failures if text.endswith(BY_SHAPES))
    for part in model.parts:
        yield from failures_by_shapes(part)


def notes_on_shapes(module: Operation) -> Iterator[str]:
    """Warnings where code for dynamic shapes may fail, but code for fixed shapes would not."""
    for op in module.walk():
        if isinstance(op, nn.Assume) and op.message.endswith(BY_SHAPES):
            yield f"{node_of(op.loc)}: may fail at run time: {op.message}"


class Specializing(Model):
    """A model whose first part is the code for dynamic shapes; the others are for fixed ones."""

    def __init__(self, model: Model, compiled: Callable[..., Model], shapes: Shapes) -> None:
        super().__init__(model.signature)
        self._open, self._compiled, self._shapes = model, compiled, shapes
        self._fixed: OrderedDict[tuple[tuple[int, ...], ...], Model] = OrderedDict()
        self._lock = Lock()

    def __reduce__(self):
        return Specializing, (self._open, self._compiled, self._shapes)

    @property
    def parts(self) -> tuple[Model, ...]:  # type: ignore[override]
        return (self._open, *self._fixed.values())

    @property
    def threads(self) -> int:
        return self._open.threads

    @threads.setter
    def threads(self, count: int) -> None:
        for part in self.parts:
            part.threads = count  # type: ignore[misc]

    def _call(self, inputs: list[np.ndarray]) -> list[np.ndarray]:
        shapes = tuple(np.shape(array) for array in inputs)
        if shapes not in self._fixed:
            try:
                return self._open._call(inputs)
            except NncError as error:
                if not error.message.endswith(BY_SHAPES):
                    raise
        return self._for(shapes)._call(inputs)

    def timed_on(self, inputs: Mapping[str, Any]) -> TimedRuns:
        """Timed runs of the code for the shapes of these inputs."""
        arrays = self._in_order((), inputs)
        self._call(arrays)  # compiles it where there is none yet
        shapes = tuple(np.shape(array) for array in arrays)
        return self._fixed.get(shapes, self._open).timed_on(inputs)

    def _for(self, shapes: tuple[tuple[int, ...], ...]) -> Model:
        """The model for these shapes, compiled on first use. Raises NncError."""
        with self._lock:
            if (found := self._fixed.get(shapes)) is None:
                known = zip(self.input_names, self.input_types, shapes, strict=True)
                asked = {n: s for n, t, s in known if not t.has_static_shape}
                found = self._compiled(shapes={**self._shapes, **asked})
                if found.threads != self.threads:
                    found.threads = self.threads  # type: ignore[misc]
                self._fixed[shapes] = found
                if len(self._fixed) > MOST_KEPT:
                    self._fixed.popitem(last=False)
            self._fixed.move_to_end(shapes)
            return found
