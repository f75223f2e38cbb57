"""Decision trees."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

from ..vocabulary import *
from .base import NnOp, tensor
from .creation import ELEMENTS

if TYPE_CHECKING:
    import numpy

Elements = DenseElements | DenseResource


class TreesOp(NnOp):
    """Base of the decision trees, which each row of x walks from a root to a leaf.

    Node i has `splits[i]` and `links[i]`, a pair (next, feature). It compares x[feature] with the
    split, both as unsigned integers. The walk goes on at node `next` if x is not more than the
    split, else at `next + 1`. A leaf has the largest split and itself as `next`.
    Shapes: x [B, F], splits [N], links [N, 2], roots [T].
    """

    x: Operand = operand(AnyRankedTensor)
    splits: Elements = attribute(ELEMENTS)
    links: Elements = attribute(ELEMENTS)
    roots: Elements = attribute(ELEMENTS)
    out: Result = result(AnyRankedTensor)

    @classmethod
    def check_types(cls, types, attrs) -> None:
        """Raise NncError where the types of operands and attributes do not fit each other."""
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

    def leaves(self, x: numpy.ndarray) -> numpy.ndarray:
        """The leaf that each row of x reaches in each tree: [T, B]."""
        table, keys = self.table, x.view(np.uint64)
        at = np.repeat(table.roots[:, None], len(x), axis=1)
        rows = np.arange(len(x))
        for _ in range(table.depths.max(initial=0)):
            at = table.behind[at] + (keys[rows, table.features[at]] > table.splits[at])
        return at


class WalkTrees(TreesOp, name="nn.walk_trees"):
    """The number of the leaf that each row of x reaches in each tree.

    A node compares a feature of x with its split, both unsigned. Its links are (next, feature): the
    walk goes on at node `next` if x <= split, else at `next + 1`. A leaf has the largest split and
    itself as `next`.
    Shapes: x [B, F], splits [N], links [N, 2], roots [T] -> out [T, B].
    Source: ONNX ai.onnx.ml TreeEnsemble-5.
    """

    example = (
        "%l = nn.walk_trees %x {splits = dense<[5, -1, -1]> : tensor<3xi64>, "
        "links = dense<[[1, 0], [1, 0], [2, 0]]> : tensor<3x2xi32>, "
        "roots = dense<[0]> : tensor<1xi32>} : "
        "(tensor<8x2xi64>) -> tensor<1x8xi32>"
    )

    @classmethod
    def infer(cls, types, attrs):
        cls.check_types(types, attrs)
        return [tensor((attrs.roots.type.shape[0], types[0].shape[0]), i32)]

    def evaluate(self, x):
        return self.leaves(x).astype(np.int32)


class SumTrees(TreesOp, name="nn.sum_trees"):
    """For each target, the sum of the weights of the leaves that a row of x reaches in the trees.

    The trees are those of `nn.walk_trees`. Row i of `weights` has node i's weight for each of K
    targets; or, with `targets`, its one weight, which counts for target `targets[i]` of `count`.
    Shapes: x [B, F], weights [N, K] -> out [B, K]; with targets [N], weights [N, 1] -> [B, count].
    Source: ONNX ai.onnx.ml TreeEnsemble-5.
    """

    weights: Elements = attribute(ELEMENTS)
    targets: Elements | None = attribute(ELEMENTS, optional=True)
    count: int = attribute(I64, default=1)

    example = (
        "%s = nn.sum_trees %x {splits = dense<[5, -1, -1]> : tensor<3xi64>, "
        "links = dense<[[1, 0], [1, 0], [2, 0]]> : tensor<3x2xi32>, "
        "roots = dense<[0]> : tensor<1xi32>, "
        "weights = dense<[[0.0], [1.5], [2.5]]> : tensor<3x1xf32>} : "
        "(tensor<8x2xi64>) -> tensor<8x1xf32>"
    )

    @classmethod
    def infer(cls, types, attrs):
        cls.check_types(types, attrs)
        nodes, weights, targets = attrs.splits.type.shape[0], attrs.weights.type, attrs.targets
        if len(weights.shape) != 2 or weights.shape[0] != nodes:
            raise NncError(f"weights must be a row for each split, but are '{weights}'")
        count = weights.shape[1]
        if targets is not None:
            if count != 1 or targets.type.shape != (nodes,) or targets.type.element_type is not i32:
                raise NncError(f"targets must be an i32 for each weight, but are '{targets.type}'")
            count = attrs.count
        return [tensor((types[0].shape[0], count), weights.element_type)]

    def check(self) -> None:
        super().check()
        if self.targets is not None:
            numbers = self.targets.to_numpy()
            if not 0 <= numbers.min(initial=0) <= numbers.max(initial=0) < self.count:
                raise NncError(f"a target is not within the {self.count} targets")

    def evaluate(self, x):
        leaves, weights = self.leaves(x), self.weights.to_numpy()
        if self.targets is None:
            return weights[leaves].sum(axis=0, dtype=weights.dtype)
        chosen = self.targets.to_numpy()[leaves][..., None] == np.arange(self.count)
        return (weights[leaves] * chosen).sum(axis=0, dtype=weights.dtype)


@dataclass(frozen=True)
class TreeTable:
    """The nodes of trees, in arrays [N] with an element for each node; roots and depths [T].

    `behind` is the node that follows if x is not more than the split. A depth is the number of
    steps from a root to its farthest leaf.
    """

    splits: numpy.ndarray
    behind: numpy.ndarray
    features: numpy.ndarray
    roots: numpy.ndarray
    depths: numpy.ndarray


@lru_cache(maxsize=64)
def _table(compared: Elements, links: Elements, roots: Elements) -> TreeTable:
    """The nodes in arrays. Raises NncError if they do not form trees."""
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
    """The number of steps from each node to its farthest leaf, [N]; `behind` is [N, 2], both
    successors.

    Raises NncError where nodes form a cycle.
    """
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
