"""Forests of decision trees: tables of nodes, and what the leaves that rows reach weigh.

`nn.walk_trees` finds the leaves, whose weights are gathered and added. It compares in one way, so
that nodes of other ways exchange what is behind them, or become two.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from ...dialects import nn
from ...ir.numpy_types import type_to_numpy
from ...ir.types import Type, f64
from .layer import Layer
from .terms import Term, constant

MODES = ("BRANCH_LEQ", "BRANCH_LT", "BRANCH_GTE", "BRANCH_GT", "BRANCH_EQ", "BRANCH_NEQ")
NOT_MORE, LESS, NOT_LESS, MORE, EQUAL, UNEQUAL = range(6)
LEAF = len(MODES)
"""The ways to compare, in the order of ONNX's TreeEnsemble; a leaf compares in none."""


@dataclass
class Forest:
    """Tables of nodes: what each compares, and where it leads to."""

    roots: list[int] = field(default_factory=list)
    features: list[int] = field(default_factory=list)
    splits: list[float] = field(default_factory=list)
    modes: list[int] = field(default_factory=list)
    missing: list[bool] = field(default_factory=list)
    successors: list[list[int]] = field(default_factory=list)
    """Of each node, where it leads to if the comparison does not hold, and if it does."""
    weights: list[tuple[int, int, float]] = field(default_factory=list)
    """(node, target, weight)"""

    def add(self, feature: int, split: float, mode: int, missing: bool) -> int:
        """A new node, at first its own successor."""
        number = len(self.features)
        self.features.append(feature)
        self.splits.append(split)
        self.modes.append(mode)
        self.missing.append(missing)
        self.successors.append([number, number])
        return number

    def leaves(self, n: Layer, x: Term) -> Term:
        """The leaf of each row of x in each tree: [T, B]."""
        self._ordered(type_to_numpy(x.element))
        missing, count = any(self.missing), len(self.features)
        nodes = np.zeros((count, 4), np.int64 if x.element is f64 else np.int32)
        with np.errstate(over="ignore"):
            splits = np.array(self.splits, type_to_numpy(x.element))
        nodes[:, 0] = self.features
        if missing:
            nodes[:, 0] = 2 * nodes[:, 0] + self.missing
        nodes[:, 1] = splits.view(nodes.dtype)
        nodes[:, 2:] = self.successors
        tables = (nodes, np.array(self.roots, np.int32))
        held = [constant(n, table).value.defined_by(nn.Constant) for table in tables]
        way = "lt" if LESS in self.modes else "le"
        values = [op.value for op in held if op is not None]
        return x.made(nn.WalkTrees(x.value, *values, compare=way, missing=missing))

    def _ordered(self, dtype: np.dtype) -> None:
        """Make all comparisons of one kind, `<` if all are such or the contrary, else `<=`."""
        kinds = set(self.modes) - {LEAF}
        strict = bool(kinds) and kinds <= {LESS, NOT_LESS}
        for i, mode in enumerate(list(self.modes)):
            if mode in (EQUAL, UNEQUAL):
                self._as_two(i, dtype)
                continue
            if mode in (NOT_LESS, MORE):
                self.successors[i].reverse()
                self.missing[i] = not self.missing[i]
            if mode in (LESS, NOT_LESS) and not strict:
                self._below(i, dtype)
            if mode != LEAF:
                self.modes[i] = LESS if strict else NOT_MORE

    def _below(self, i: int, dtype: np.dtype) -> None:
        """x < split as x <= the number before; nothing is less than -infinity."""
        split = dtype.type(self.splits[i])
        if np.isneginf(split):
            split = dtype.type(np.nan)
        self.splits[i] = float(np.nextafter(split, dtype.type(-np.inf)))

    def _as_two(self, i: int, dtype: np.dtype) -> None:
        """x == split as x <= split and not x <= the number before."""
        no, yes = self.successors[i]
        if self.modes[i] == UNEQUAL:
            no, yes = yes, no
            self.missing[i] = False  # NaN is unequal to all
        second = self.add(self.features[i], self.splits[i], LESS, not self.missing[i])
        self.successors[second] = [yes, no]
        self._below(second, dtype)
        self.modes[second] = self.modes[i] = 0
        self.successors[i] = [no, second]

    def reached(self, n: Layer, at: Term, targets: int) -> Term:
        """Whether one of the leaves [T, B] has a weight for each target: [B, targets]."""
        named = np.zeros((len(self.features), targets), np.int64)
        for node, target, _ in self.weights:
            named[node, target] = 1
        return constant(n, named).gather(at).largest(0) > 0

    def totals(self, n: Layer, at: Term, element: Type, targets: int, aggregate: str) -> Term:
        """The weights of leaves [T, B] for each target, over all trees: [B, targets]."""
        dtype = type_to_numpy(element)
        weights = np.zeros((len(self.features), targets), dtype)
        named = np.zeros(weights.shape, np.bool_)
        for node, target, weight in self.weights:
            if not 0 <= target < targets:
                raise n.error(f"a leaf is for target {target}, but there are {targets}")
            weights[node, target] += weight
            named[node, target] = True
        if aggregate in ("SUM", "AVERAGE"):
            total = constant(n, weights).gather(at).sum(0)
            return total / float(len(self.roots)) if aggregate == "AVERAGE" else total
        # Leaves that have no weight for a target do not count for it.
        sign = 1 if aggregate == "MAX" else -1
        best = constant(n, np.where(named, sign * weights, -np.inf).astype(dtype)).gather(at)
        best = best.largest(0)
        return best.function(nn.IsInf).choose(0.0, best * float(sign))
