"""Decision trees."""

from __future__ import annotations

from functools import lru_cache

from ...ir.attributes import DenseElements, DenseResource
from ...ir.constraints import AnyRankedTensor
from ...ir.declare import BOOL, Operand, Result, attribute, operand, result
from ...ir.diagnostics import NncError
from ...ir.lazy import np
from ...ir.numpy_types import type_to_numpy
from ...ir.types import f32, f64, i32, i64
from .base import NnOp, one_of, tensor
from .creation import ELEMENTS

Elements = DenseElements | DenseResource


class WalkTrees(NnOp, name="nn.walk_trees"):
    """The leaf that each row of x reaches in each tree, as the leaf's number.

    A node is four integers: a feature of x, the bits of what it is compared with, and the nodes
    behind if the comparison does not hold, and if it does. A leaf is behind itself. With
    `missing` the first is twice the feature, and one more where the comparison holds for NaN.

    Shapes: x [B, F], nodes [N, 4], roots [T] -> out [T, B].
    Source: ONNX ai.onnx.ml TreeEnsemble-5.
    """

    x: Operand = operand(AnyRankedTensor)
    nodes: Elements = attribute(ELEMENTS)
    roots: Elements = attribute(ELEMENTS)
    compare: str = attribute(one_of("le", "lt"), default="le")
    missing: bool = attribute(BOOL, default=False)
    out: Result = result(AnyRankedTensor)

    example = (
        "%l = nn.walk_trees %x {nodes = dense<[[0, 0, 1, 2], [0, 0, 1, 1], [0, 0, 2, 2]]> : "
        "tensor<3x4xi32>, roots = dense<[0]> : tensor<1xi32>} : "
        "(tensor<8x2xf32>) -> tensor<1x8xi32>"
    )

    @classmethod
    def infer(cls, types, attrs):
        (x,) = types
        if x.rank != 2 or x.element_type not in (f32, f64):
            raise NncError(f"x must be a matrix of f32 or f64, but got '{x}'")
        nodes, roots = attrs.nodes.type, attrs.roots.type
        bits = i32 if x.element_type is f32 else i64
        if len(nodes.shape) != 2 or nodes.shape[1] != 4 or nodes.element_type is not bits:
            raise NncError(f"nodes must be rows of four {bits}, but are '{nodes}'")
        if len(roots.shape) != 1 or roots.element_type is not i32:
            raise NncError(f"roots must be a 1-D tensor of i32, but are '{roots}'")
        return [tensor((roots.shape[0], x.shape[0]), i32)]

    def check(self) -> None:
        most, _ = extremes(self.nodes, self.roots, self.missing)
        features = self.x.type.shape[1]
        if features is not None and most >= features:
            raise NncError(f"a node compares feature {most}, but x has {features}")

    @property
    def features(self) -> int:
        """How many features x must have."""
        return extremes(self.nodes, self.roots, self.missing)[0] + 1

    @property
    def depth(self) -> int:
        """How many steps lead from a root to the farthest leaf."""
        return extremes(self.nodes, self.roots, self.missing)[1]

    def evaluate(self, x):
        nodes, roots = self.nodes.to_numpy(), self.roots.to_numpy()
        splits = np.ascontiguousarray(nodes[:, 1]).view(type_to_numpy(self.x.type.element_type))
        at = np.repeat(roots[:, None].astype(np.int64), len(x), axis=1)
        rows = np.arange(len(x))
        for _ in range(self.depth):
            feature = nodes[at, 0].astype(np.int64)
            value = x[rows, feature >> 1 if self.missing else feature]
            holds = value <= splits[at] if self.compare == "le" else value < splits[at]
            if self.missing:
                holds |= np.isnan(value) & (feature & 1 == 1)
            at = nodes[at, 2 + holds.astype(np.int64)].astype(np.int64)
        return at.astype(np.int32)


@lru_cache(maxsize=64)
def extremes(nodes: Elements, roots: Elements, missing: bool) -> tuple[int, int]:
    """The largest feature of trees, and their depth. Raises NncError where they are none."""
    table, at = nodes.to_numpy(), roots.to_numpy()
    numbers = np.concatenate([table[:, 2:].reshape(-1), at])
    if numbers.size and not 0 <= numbers.min() <= numbers.max() < len(table):
        raise NncError(f"a node's number is not within the {len(table)} nodes")
    features = table[:, 0] >> 1 if missing else table[:, 0]
    if features.size and features.min() < 0:
        raise NncError("a node compares a feature with a negative number")
    depth, level = 0, np.unique(at)
    while True:
        level = level[(table[level, 2] != level) | (table[level, 3] != level)]
        if not level.size:
            return int(features.max(initial=-1)), depth
        level = np.unique(table[level, 2:])
        depth += 1
        if depth > len(table):
            raise NncError("the nodes of a tree form a cycle")
