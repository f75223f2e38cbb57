"""The first node at which two ways to run a model differ."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from onnx import ModelProto

from ...frontends.onnx.cutting import CutGraph, model_tensors, with_outputs
from .difference import Difference, Tolerance, differences
from .inside import inside
from .sides import Side, Values

Progress = Callable[[str], None]


@dataclass(frozen=True)
class Culprit:
    """The nodes at which two sides differ though their operands agree, and the difference.

    With several nodes, each of them agrees alone, and they differ together.
    """

    nodes: tuple[str, ...]
    differences: tuple[Difference, ...]


class Bisection:
    """Bisects a graph until the difference is in one node.

    Both sides run each part on the reference's values of its inputs, so that no earlier error
    counts; all parts together are hardly more to compile than the model.
    """

    def __init__(
        self,
        graph: CutGraph,
        ours: Side,
        reference: Side,
        inputs: Mapping[str, np.ndarray],
        tolerance: Tolerance,
        progress: Progress,
    ) -> None:
        self.graph = graph
        self.ours, self.reference = ours, reference
        self.tolerance = tolerance
        self.progress = progress
        self.values: Values = dict(inputs)
        """The reference's values computed so far."""

    def culprit(self, known: Mapping[str, np.ndarray] | None = None) -> Culprit | None:
        """The nodes at fault; None if everything agrees.

        `known` are the reference's outputs, if it is known that ours differ.
        """
        first, last = 0, len(self.graph.nodes)
        self.values |= known or {}
        if not last or (known is None and not self._differ(first, last)):
            return None
        while last - first > 1:
            middle = self._middle(first, last)
            if middle is None:
                break
            if self._differ(first, middle):
                last = middle
            elif self._differ(middle, last):
                first = middle
            else:
                first, last = self._narrowed(first, middle, last)
                break
        inner = self._inside(first) if last - first == 1 else None
        if inner is not None:
            return inner
        nodes = tuple(self.graph.label(i) for i in range(first, last))
        return Culprit(nodes, tuple(self._compare(first, last)))

    def _inside(self, at: int) -> Culprit | None:
        """The nodes at fault in a graph nested in node `at`."""
        self._need(self.graph.used(self.graph.nodes[at]), at)
        found = inside(self.graph, at, self.values, self.reference, self._differ_on)
        if found is None:
            return None
        label = self.graph.label(at)
        self.progress(f"in {label}, {found.words}")
        inner = Bisection(
            found.graph, self.ours, self.reference, found.inputs, self.tolerance, self.progress
        ).culprit()
        if inner is None:
            return None
        nodes = (f"{label}, {found.words} {node}" for node in inner.nodes)
        return Culprit(tuple(nodes), inner.differences)

    def _narrowed(self, first: int, middle: int, last: int) -> tuple[int, int]:
        """The smallest range of nodes around the middle that differs as a whole."""
        low, high = first, middle
        while high - low > 1:
            at = (low + high) // 2
            low, high = (at, high) if self._can_cut(at) and self._differ(at, last) else (low, at)
        first = low
        low, high = middle, last
        while high - low > 1:
            at = (low + high) // 2
            low, high = (low, at) if self._can_cut(at) and self._differ(first, at) else (at, high)
        return first, high

    def _middle(self, first: int, last: int) -> int | None:
        """The cut position nearest to the middle at which all live values are tensors."""
        places = sorted(range(first + 1, last), key=lambda at: abs(2 * at - first - last))
        return next((at for at in places if self._can_cut(at)), None)

    def _can_cut(self, at: int) -> bool:
        names = self._names(at)
        self._need(names, at)
        return bool(names) and all(isinstance(self.values[n], np.ndarray) for n in names)

    def _names(self, at: int) -> list[str]:
        """The names of values live after `at` nodes; at the end, of the outputs that differ."""
        return self.graph.outputs if at == len(self.graph.nodes) else self.graph.frontier(at)

    def _need(self, names: Iterable[str], at: int) -> None:
        """Have the reference compute missing values that the first `at` nodes make."""
        missing = [n for n in names if n not in self.values and n in self.graph.makers]
        if missing:
            self.values |= self.reference.run(*self.graph.part(0, at, missing, self.values))

    def _differ(self, first: int, last: int) -> bool:
        found = any(one.differs for one in self._compare(first, last))
        says = "differ" if found else "agree"
        self.progress(f"nodes {first + 1} to {last} of {len(self.graph.nodes)} {says}")
        return found

    def _differ_on(self, proto: ModelProto, inputs: Mapping[str, np.ndarray]) -> bool:
        sides = (self.ours.run(proto, inputs), self.reference.run(proto, inputs))
        return any(one.differs for one in differences(*sides, self.tolerance))

    def _compare(self, first: int, last: int) -> list[Difference]:
        made = {name for node in self.graph.nodes[first:last] for name in node.output}
        names = [name for name in self._names(last) if name in made]
        if not names:
            return []
        self._need(self._names(first) if first else (), first)
        self._need(names, last)
        found = self.ours.run(*self.graph.part(first, last, names, self.values))
        theirs = {name: self.values[name] for name in names}
        return differences(found, theirs, self.tolerance)


def first_common(
    model: str,
    other: str,
    ours: Side,
    reference: Side,
    inputs: Sequence[Mapping[str, np.ndarray]],
    tolerance: Tolerance,
) -> Culprit | None:
    """The first value that differs, of those that have the same name in both models."""
    theirs = set(model_tensors(other))
    names = [name for name in model_tensors(model) if name in theirs]
    if not names:
        return None
    found = ours.run(with_outputs(model, names), inputs[0])
    wanted = reference.run(with_outputs(other, names), inputs[1])
    for name in names:
        (one,) = differences({name: found[name]}, {name: wanted[name]}, tolerance)
        if one.differs:
            return Culprit((CutGraph(model, [name]).label(-1),), (one,))
    return None
