"""Decision trees."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

from ...ir.attributes import DenseElements, DenseResource
from ...ir.constraints import AnyRankedTensor
from ...ir.declare import Operand, Result, attribute, operand, result
from ...ir.diagnostics import NncError
from ...ir.lazy import np
from ...ir.types import i32, i64
from .base import NnOp, tensor
from .creation import ELEMENTS

if TYPE_CHECKING:
    import numpy

Elements = DenseElements | DenseResource


class WalkTrees(NnOp, name="nn.walk_trees"):
    """The leaf that each row of x reaches in each tree, as the leaf's number.

    A node compares a feature of x with its split, both without signs. Its links are the node
    behind it if x is not more, which the one for x that is more comes after, and the feature.
    A leaf compares with the largest number, and is behind itself.

    Shapes: x [B, F], splits [N], links [N, 2], roots [T] -> out [T, B].
    Source: ONNX ai.onnx.ml TreeEnsemble-5.
    """

    x: Operand = operand(AnyRankedTensor)
    splits: Elements = attribute(ELEMENTS)
    links: Elements = attribute(ELEMENTS)
    roots: Elements = attribute(ELEMENTS)
    out: Result = result(AnyRankedTensor)

    example = (
        "%l = nn.walk_trees %x {splits = dense<[5, -1, -1]> : tensor<3xi64>, "
        "links = dense<[[1, 0], [1, 0], [2, 0]]> : tensor<3x2xi32>, "
        "roots = dense<[0]> : tensor<1xi32>} : "
        "(tensor<8x2xi64>) -> tensor<1x8xi32>"
    )

    @classmethod
    def infer(cls, types, attrs):
        (x,) = types
        if x.rank != 2 or x.element_type is not i64:
            raise NncError(f"x must be a matrix of i64, but got '{x}'")
        splits, links, roots = attrs.splits.type, attrs.links.type, attrs.roots.type
        if len(splits.shape) != 1 or splits.element_type is not i64:
            raise NncError(f"splits must be a 1-D tensor of i64, but are '{splits}'")
        if links.shape != (*splits.shape, 2) or links.element_type is not i32:
            raise NncError(f"links must be a pair of i32 for each split, but are '{links}'")
        if len(roots.shape) != 1 or roots.element_type is not i32:
            raise NncError(f"roots must be a 1-D tensor of i32, but are '{roots}'")
        return [tensor((roots.shape[0], x.shape[0]), i32)]

    def check(self) -> None:
        features = self.x.type.shape[1]
        if features is None:
            raise NncError("the number of features must be known")
        most = int(self.table.features.max(initial=-1))
        if most >= features:
            raise NncError(f"a node compares feature {most}, but x has {features}")

    @property
    def table(self) -> TreeTable:
        """The nodes, in arrays."""
        return _table(self.splits, self.links, self.roots)

    def evaluate(self, x):
        table, keys = self.table, x.view(np.uint64)
        at = np.repeat(table.roots[:, None], len(x), axis=1)
        rows = np.arange(len(x))
        for _ in range(table.depths.max(initial=0)):
            at = table.behind[at] + (keys[rows, table.features[at]] > table.splits[at])
        return at.astype(np.int32)


@dataclass(frozen=True)
class TreeTable:
    """The nodes of trees: arrays [N], and the roots and depths of the trees, [T].

    A depth is how many steps lead from a root to the farthest leaf.
    """

    splits: numpy.ndarray
    behind: numpy.ndarray
    features: numpy.ndarray
    roots: numpy.ndarray
    depths: numpy.ndarray


@lru_cache(maxsize=64)
def _table(compared: Elements, links: Elements, roots: Elements) -> TreeTable:
    """Raises NncError where nodes are no trees."""
    splits = np.ascontiguousarray(compared.to_numpy()).view(np.uint64)
    behind, features = links.to_numpy().astype(np.int64).T
    starts = roots.to_numpy().astype(np.int64)
    if features.min(initial=0) < 0:
        raise NncError("a node compares a feature with a negative number")
    other = behind + (splits != np.iinfo(np.uint64).max)  # nothing is more than the largest
    numbers = np.concatenate([other, starts])
    if numbers.size and not 0 <= numbers.min() <= numbers.max() < len(splits):
        raise NncError(f"a node's number is not within the {len(splits)} nodes")
    heights = _heights(np.stack([behind, other], axis=1))
    return TreeTable(splits, behind, features, starts, heights[starts])


def _heights(behind: numpy.ndarray) -> numpy.ndarray:
    """How many steps lead from each node to the farthest leaf: [N], of the nodes behind [N, 2]."""
    heights = np.where((behind == np.arange(len(behind))[:, None]).all(axis=1), 0, -1)
    left = np.flatnonzero(heights)
    while left.size:
        below = heights[behind[left]]
        known = below.min(axis=1) >= 0
        if not known.any():
            raise NncError("the nodes of a tree form a cycle")
        heights[left[known]] = below[known].max(axis=1) + 1
        left = left[~known]
    return heights
