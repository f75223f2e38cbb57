"""Valid ONNX models made node by node; ONNX's reference computes each node's results."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import ml_dtypes
import numpy as np
import onnx
from onnx import helper, numpy_helper

FLOATS = ("float32", "float32", "float32", "float64", "float16", "bfloat16")
INTEGERS = ("int64", "int64", "int32", "int8", "uint8", "int16", "uint16", "uint32", "uint64")
BOOLS = ("bool",)
NUMBERS = FLOATS + INTEGERS
ANY = NUMBERS + BOOLS
OPSETS = (13, 15, 17, 18, 19, 20, 21, 22, 23, 24)
MOST_ELEMENTS = 4000


class RejectedNodeError(Exception):
    """A node that would not be valid, or that the reference cannot compute."""


@dataclass(frozen=True)
class Value:
    """A tensor of the graph, with its elements for the random inputs.

    `exact`: computed without rounding, so that a step function of it is well defined.
    """

    name: str
    array: np.ndarray
    exact: bool


def dtype_of(kind: str) -> np.dtype:
    """NumPy's type for an element type's name."""
    return np.dtype(getattr(ml_dtypes, kind, None) or kind)


class Graph:
    """A graph that grows. The arrays of its inputs become their default values."""

    def __init__(self, choice: random.Random) -> None:
        self.choice = choice
        self.opset = choice.choice(OPSETS)
        self.values: list[Value] = []
        self.nodes: list[Any] = []
        self.inputs: list[Value] = []
        self.stored: list[Value] = []
        self._count = 0

    # -- values ------------------------------------------------------------------------------

    def name(self, prefix: str = "v") -> str:
        """A name that is not used yet."""
        self._count += 1
        return f"{prefix}{self._count}"

    def shape(self, least: int = 0, most: int = 4) -> tuple[int, ...]:
        """A random small shape, seldom with an extent of 0."""
        rank = self.choice.randint(least, most)
        extents = (1, 1, 2, 2, 3, 4, 5, 7, 8, 9, 16, 17)
        return tuple(
            0 if self.choice.random() < 0.004 else self.choice.choice(extents) for _ in range(rank)
        )

    def numbers(self, kind: str, shape: Sequence[int]) -> np.ndarray:
        """Random elements whose sums and products are mostly exact: quarters, small integers."""
        count = int(np.prod(shape))
        if kind == "bool":
            drawn = [self.choice.random() < 0.5 for _ in range(count)]
        elif kind in FLOATS:
            drawn = [self.choice.randint(-12, 12) / 4 for _ in range(count)]
        else:
            drawn = [self.choice.randint(0 if kind[0] == "u" else -6, 6) for _ in range(count)]
        return np.array(drawn, np.float64).astype(dtype_of(kind)).reshape(tuple(shape))

    def enter(self, array: np.ndarray, stored: bool | None = None) -> Value:
        """A new input, or an initializer if `stored`."""
        if array.size > MOST_ELEMENTS:
            raise RejectedNodeError
        if stored is None:
            stored = self.choice.random() < 0.35
        found = Value(self.name("w" if stored else "x"), np.asarray(array), True)
        (self.stored if stored else self.inputs).append(found)
        self.values.append(found)
        return found

    def ints(self, values: Any, stored: bool | None = None, kind: str = "int64") -> Value:
        """Axes, sizes or indices: mostly initializers, as exporters write them."""
        if stored is None:
            stored = self.choice.random() < 0.8
        return self.enter(np.array(values, kind), stored)

    def pick(
        self,
        kinds: Sequence[str] = FLOATS,
        rank: int | None = None,
        least: int = 0,
        exact: bool = False,
        fits: Callable[[Value], bool] = lambda value: True,
    ) -> Value:
        """A value of one of the element types, and of a rank: an existing one, if there is any."""
        names = set(kinds)
        there = [
            v
            for v in self.values
            if v.array.dtype.name in names
            and (v.array.ndim == rank if rank is not None else v.array.ndim >= least)
            and (v.exact or not exact)
            and fits(v)
        ]
        if there and self.choice.random() < 0.85:
            return self.choice.choice(there[-6:])
        shape = self.shape(least, max(least, 4)) if rank is None else self.shape(rank, rank)
        found = self.enter(self.numbers(self.choice.choice(tuple(kinds)), shape))
        if not fits(found):
            raise RejectedNodeError
        return found

    def like(self, value: Value, shape: Sequence[int], stored: bool | None = None) -> Value:
        """A new value with the element type of another one."""
        return self.enter(self.numbers(value.array.dtype.name, shape), stored)

    def partner(self, value: Value) -> Value:
        """A value of the same type that broadcasts with this one."""
        dtype = value.array.dtype
        there = [
            v
            for v in self.values
            if v.array.dtype == dtype and _broadcasts(v.array.shape, value.array.shape)
        ]
        if there and self.choice.random() < 0.6:
            return self.choice.choice(there)
        shape = list(value.array.shape)[self.choice.choice((0, 0, 1, 2)) :]
        shape = [1 if self.choice.random() < 0.2 else n for n in shape]
        return self.like(value, shape)

    def axis(self, value: Value) -> int:
        """One of a value's axes, counted from either end."""
        rank = value.array.ndim
        if not rank:
            raise RejectedNodeError
        return self.choice.randrange(-rank, rank)

    # -- nodes -------------------------------------------------------------------------------

    def add(self, op: str, inputs: Sequence[Value | None], outputs: int = 1, **given: Any) -> None:
        """Add a node, if the reference computes it. Raises RejectedNodeError."""
        attributes = {key: value for key, value in given.items() if value is not None}
        exact = attributes.pop("exact", False) and all(v is None or v.exact for v in inputs)
        names = [self.name() for _ in range(outputs)]
        node = helper.make_node(
            op, [v.name if v else "" for v in inputs], names, f"{op}_{self._count}", **attributes
        )
        self.put(node, exact)

    def put(self, node: Any, exact: bool = False) -> None:
        """Add a node that is made already."""
        found = [Value(n, a, exact) for n, a in zip(node.output, self.evaluate(node), strict=True)]
        if exact:
            found = [Value(v.name, v.array, _is_coarse(v.array)) for v in found]
        self.nodes.append(node)
        self.values += found

    def evaluate(self, node: Any) -> list[np.ndarray]:
        """The results of a node. Raises RejectedNodeError."""
        from .reference import evaluated

        known = {v.name: v for v in self.values}
        needed = [known[name] for name in free_names([node]) if name in known]
        model = self.model_of([node], needed, [], [(n, None) for n in node.output])
        found = evaluated(model, {v.name: v.array for v in needed})
        if not all(isinstance(a, np.ndarray | np.generic) for a in found):
            raise RejectedNodeError
        arrays = [np.asarray(a) for a in found]
        if any(a.size > MOST_ELEMENTS or a.dtype.name not in ANY for a in arrays):
            raise RejectedNodeError
        return arrays

    def model_of(
        self,
        nodes: Sequence[Any],
        inputs: Sequence[Value],
        stored: Sequence[Value],
        outputs: Sequence[tuple[str, Any]],
        shapes: Callable[[Value], Sequence[Any]] = lambda value: value.array.shape,
    ) -> Any:
        """A model of nodes; outputs are names and, where known, arrays."""
        code = helper.np_dtype_to_tensor_dtype
        ins = [
            helper.make_tensor_value_info(v.name, code(v.array.dtype), shapes(v)) for v in inputs
        ]
        outs = [
            onnx.ValueInfoProto(name=name)
            if array is None
            else helper.make_tensor_value_info(name, code(array.dtype), [None] * array.ndim)
            for name, array in outputs
        ]
        weights = [numpy_helper.from_array(v.array, v.name) for v in stored]
        graph = helper.make_graph(list(nodes), "g", ins, outs, weights)
        opset = helper.make_opsetid("", self.opset)
        return helper.make_model(graph, opset_imports=[opset], ir_version=10)

    # -- the whole ---------------------------------------------------------------------------

    def finished(self) -> Any:
        """The model of all nodes; the arrays of its inputs are their default values."""
        made = {name for node in self.nodes for name in node.output}
        used = set(free_names(self.nodes))
        results = [v for v in self.values if v.name in made and v.name not in used]
        if not results:
            raise RejectedNodeError
        inputs = [v for v in self.inputs if v.name in used]
        stored = [v for v in self.stored if v.name in used]
        open_shapes = self.choice.random() < 0.5
        outputs = [(v.name, v.array) for v in results]

        def shape(value: Value) -> list[Any]:
            return [
                f"d{n}" if open_shapes and n > 1 and self.choice.random() < 0.6 else n
                for n in value.array.shape
            ]

        return self.model_of(self.nodes, inputs, [*stored, *inputs], outputs, shape)


def free_names(nodes: Sequence[Any]) -> list[str]:
    """The names that nodes and their subgraphs use but do not define."""
    found: dict[str, None] = {}
    made: set[str] = set()
    for node in nodes:
        names = list(node.input)
        for attribute in node.attribute:
            if attribute.type == onnx.AttributeProto.GRAPH:
                inner = attribute.g
                own = {v.name for v in (*inner.input, *inner.initializer)}
                free = [*free_names(inner.node), *(o.name for o in inner.output)]
                own |= {name for one in inner.node for name in one.output}
                names += [name for name in free if name not in own]
        found.update((name, None) for name in names if name and name not in made)
        made.update(node.output)
    return list(found)


def _broadcasts(one: Sequence[int], other: Sequence[int]) -> bool:
    pairs = zip(reversed(one), reversed(other), strict=False)
    return all(a == b or 1 in (a, b) for a, b in pairs)


def _is_coarse(array: np.ndarray) -> bool:
    """Whether one more sum or product of the elements is still exact."""
    if array.dtype.kind not in "fV":
        return True
    wide = array.astype(np.float64)
    limit = 2048 if array.dtype.itemsize > 2 else 32
    with np.errstate(all="ignore"):
        return bool(np.all((np.abs(wide) <= limit) & (wide * 16 == np.round(wide * 16))))
