"""The common form of the libraries' models: a forest, and what is computed from its sums."""

from __future__ import annotations

import reprlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...dialects.nn.host_types import string
from ...ir.types import TensorType, Type
from ..common.fields import Fields, IgnoredFields
from ..common.front_end import FrontEnd
from ..common.graph import Graph, Node
from ..common.inputs import Input
from ..common.rows import Rows
from ..common.source import Source
from ..common.trees import NOT_MORE, Forest
from .categories import Categories

ROWS = Rows(__package__ or "")


@dataclass(frozen=True)
class Leaf:
    """A linear model: a constant, and a factor for each of some features.

    `instead` is its value if one of them is missing.
    """

    constant: float
    features: Sequence[int]
    factors: Sequence[float]
    instead: float


@dataclass
class Ensemble:
    """Trees, each of which adds to one of several sums, and how the sums become a prediction.

    `base` is added to the sums, which are divided by `divisor`. `link` names the function that
    makes predictions of them, and `scale` is its parameter.
    """

    forest: Forest
    groups: int
    link: str
    base: np.ndarray
    element: Type
    divisor: float = 1.0
    scale: float = 1.0
    linear: np.ndarray | None = None
    """The factors [features, groups] of a linear model, which has no trees."""
    leaves: dict[int, Leaf] | None = None
    """The linear models at leaves, by the leaf's node; None if leaves are numbers."""
    categories: Categories | None = None
    """The columns made of text features, which follow the numeric columns."""


def graph_of(
    ensemble: Ensemble, features: int, producer: str, names: Sequence[str] = (), **notes: str
) -> Graph:
    """A graph with one node, an input `data` and an output `prediction`.

    Categorical features of text are another input, `categories`; without numeric features, it is
    the only one.
    """
    inputs = []
    if features or ensemble.categories is None:
        shape = (None, features)
        inputs.append(Input("data", TensorType(shape, ensemble.element), ("batch", "")))
    if ensemble.categories is not None:
        shape = (None, ensemble.categories.count)
        inputs.append(Input("categories", TensorType(shape, string), ("batch", "")))
    kind = "linear" if ensemble.linear is not None else "trees"
    node = Node(kind, kind, [one.name for one in inputs], ["prediction"], ensemble)
    said = {"features": ", ".join(names), **notes}
    kept = {key: value for key, value in said.items() if value}
    dims = {"prediction": ("batch",)}
    if ensemble.groups > 1 and ensemble.link != "argmax":
        dims = {"prediction": ("batch", "")}
    outputs = [("prediction", "prediction")]
    return Graph(inputs, [node], outputs, {}, dims, producer, kept)


class Levels:
    """Reads a file's nested objects, and remembers which fields were read, for `check`."""

    def __init__(self, source: Source, ignored: IgnoredFields) -> None:
        self.source, self.ignored = source, ignored
        self.found: list[tuple[str, Fields]] = []

    def of(self, name: str, fields: Mapping[str, Any]) -> Fields:
        """An object's fields, which remember what was read; messages use `name` as its kind."""
        self.found.append((name, Fields(fields)))
        return self.found[-1][1]

    def check(self) -> None:
        """Raise NncError if a field that may affect results was not read."""
        for kind, fields in self.found:
            for name, value in self.ignored.refused(kind, fields.unread()):
                shown = reprlib.repr(value)
                raise self.source.error(f"'{name}' of a {kind} is {shown}, which is not supported")


def front_end(library: str, graph: Callable[[Source], Graph]) -> FrontEnd:
    """The front end of a library; any error of Python that a broken file causes becomes an
    NncError.
    """

    def read(source: Source) -> Graph:
        try:
            return graph(source)
        except (AttributeError, LookupError, OverflowError, TypeError, ValueError) as fault:
            text = f"{type(fault).__name__}: {fault}"
            raise source.error(f"broken model of {library}: {text}") from None

    return FrontEnd(library, read, ROWS)


@dataclass
class Member:
    """Nodes that test whether a category is in a set. The category is a feature, truncated to an
    integer.
    """

    forest: Forest
    feature: int
    compare: int
    """LESS or NOT_MORE, the comparison that the forest uses."""
    dtype: Any
    lowest: float = 0.0
    """The least number that counts as category 0."""

    def node(self, categories: Sequence[int], inside: int, outside: int) -> int:
        """The index of a node that leads to `inside` for these categories, else to `outside`."""
        ordered = sorted({int(c) for c in categories})
        bounds: list[tuple[float, bool]] = []
        for c in ordered:  # intervals [c, c + 1), neighbours as one
            if bounds and bounds[-1][0] == c:
                bounds.pop()
            else:
                bounds.append((float(c) if c else self.lowest, True))
            bounds.append((float(c + 1), False))
        sides = [outside, *(inside if opens else outside for _, opens in bounds)]
        return self._search([bound for bound, _ in bounds], sides)

    def _search(self, bounds: list[float], sides: list[int]) -> int:
        """The root of a binary search over ascending bounds, with the nodes `sides`
        between them.
        """
        if not bounds:
            return sides[0]
        middle = len(bounds) // 2
        below = self._search(bounds[:middle], sides[: middle + 1])
        above = self._search(bounds[middle + 1 :], sides[middle + 1 :])
        bound = bounds[middle]
        if self.compare == NOT_MORE:
            bound = float(np.nextafter(self.dtype(bound), self.dtype(-np.inf)))
        number = self.forest.add(self.feature, bound, self.compare, False)
        self.forest.successors[number] = [above, below]
        return number
