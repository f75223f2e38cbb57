"""Ensembles of decision trees of ai.onnx.ml.

`nn.walk_trees` finds the leaves, whose weights are gathered and added. It compares in one way, so
that nodes of other ways exchange what is behind them, or become two.

Source: TreeEnsemble-5, TreeEnsembleRegressor-5 and TreeEnsembleClassifier-5 of ai.onnx.ml.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np

from ....dialects import nn
from ....ir.core import Value
from ....ir.numpy_types import type_to_numpy
from ....ir.types import Type, f32, f64, i64
from ...common.terms import Term, constant
from ..node import Node
from ..registry import converter
from .scores import class_of, labels_of, transformed, two_classes

DOMAIN = "ai.onnx.ml"
_MODES = ("BRANCH_LEQ", "BRANCH_LT", "BRANCH_GTE", "BRANCH_GT", "BRANCH_EQ", "BRANCH_NEQ")
_LESS, _NOT_LESS, _MORE, _EQUAL, _UNEQUAL = range(1, 6)
_LEAF = len(_MODES)
_MEMBER = 6
"""The number of TreeEnsemble for what compares with a set."""
_AGGREGATES = ("AVERAGE", "SUM", "MIN", "MAX")


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

    def leaves(self, n: Node, x: Term) -> Term:
        """The leaf of each row of x in each tree: [T, B]."""
        self._ordered(type_to_numpy(x.element))
        missing, count = any(self.missing), len(self.features)
        nodes = np.zeros((count, 4), np.int64 if x.element is f64 else np.int32)
        splits = np.array(self.splits, type_to_numpy(x.element))
        nodes[:, 0] = self.features
        if missing:
            nodes[:, 0] = 2 * nodes[:, 0] + self.missing
        nodes[:, 1] = splits.view(nodes.dtype)
        nodes[:, 2:] = self.successors
        tables = (nodes, np.array(self.roots, np.int32))
        held = [constant(n, table).value.defined_by(nn.Constant) for table in tables]
        way = "lt" if _LESS in self.modes else "le"
        values = [op.value for op in held if op is not None]
        return x.made(nn.WalkTrees(x.value, *values, compare=way, missing=missing))

    def _ordered(self, dtype: np.dtype) -> None:
        """Make all comparisons of one kind, `<` if all are such or the contrary, else `<=`."""
        kinds = set(self.modes) - {_LEAF}
        strict = bool(kinds) and kinds <= {_LESS, _NOT_LESS}
        for i, mode in enumerate(list(self.modes)):
            if mode in (_EQUAL, _UNEQUAL):
                self._as_two(i, dtype)
                continue
            if mode in (_NOT_LESS, _MORE):
                self.successors[i].reverse()
                self.missing[i] = not self.missing[i]
            if mode in (_LESS, _NOT_LESS) and not strict:
                self._below(i, dtype)
            if mode != _LEAF:
                self.modes[i] = _LESS if strict else 0

    def _below(self, i: int, dtype: np.dtype) -> None:
        """x < split as x <= the number before; nothing is less than -infinity."""
        split = dtype.type(self.splits[i])
        if np.isneginf(split):
            split = dtype.type(np.nan)
        self.splits[i] = float(np.nextafter(split, dtype.type(-np.inf)))

    def _as_two(self, i: int, dtype: np.dtype) -> None:
        """x == split as x <= split and not x <= the number before."""
        no, yes = self.successors[i]
        if self.modes[i] == _UNEQUAL:
            no, yes = yes, no
            self.missing[i] = False  # NaN is unequal to all
        second = self.add(self.features[i], self.splits[i], _LESS, not self.missing[i])
        self.successors[second] = [yes, no]
        self._below(second, dtype)
        self.modes[second] = self.modes[i] = 0
        self.successors[i] = [no, second]

    def reached(self, n: Node, at: Term, targets: int) -> Term:
        """Whether one of the leaves [T, B] has a weight for each target: [B, targets]."""
        named = np.zeros((len(self.features), targets), np.int64)
        for node, target, _ in self.weights:
            named[node, target] = 1
        return constant(n, named).gather(at).largest(0) > 0

    def totals(self, n: Node, at: Term, element: Type, targets: int, aggregate: str) -> Term:
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


def _input(n: Node, x: Value) -> Term:
    """x [B, F] as it is compared."""
    if x.type.rank not in (1, 2):
        raise n.error(f"the input has rank {x.type.rank}, expected 2")
    rows = Term(n, x) if x.type.rank == 2 else Term(n, x).spread(1, 0)
    return rows.cast(f64 if x.type.element_type is f64 else f32)


@converter("TreeEnsemble", domain=DOMAIN)
def tree_ensemble(n: Node, x: Value) -> Value:
    aggregate = _AGGREGATES[n.int("aggregate_function", 1)]
    forest, rows = _forest(n), _input(n, x)
    at = forest.leaves(n, rows)
    found = forest.totals(n, at, rows.element, n.int("n_targets"), aggregate)
    names = ("NONE", "SOFTMAX", "LOGISTIC", "SOFTMAX_ZERO", "PROBIT")
    return transformed(found, names[n.int("post_transform")]).cast(x.type.element_type).value


def _forest(n: Node) -> Forest:
    """The trees of TreeEnsemble, whose leaves are numbered apart."""
    forest = Forest()
    modes, splits, members, weights = (
        n.tensor(name)
        for name in ("nodes_modes", "nodes_splits", "membership_values", "leaf_weights")
    )
    assert modes is not None and splits is not None and weights is not None
    features = n.ints("nodes_featureids") or ()
    missing = n.ints("nodes_missing_value_tracks_true")
    sides = [
        (n.ints(f"nodes_{side}nodeids") or (), n.ints(f"nodes_{side}leafs") or ())
        for side in ("false", "true")
    ]
    _check_lists(n, len(modes), len(splits), len(weights))
    sets = iter(_sets(members))
    chains: list[list[int]] = []
    for i, mode in enumerate(modes.tolist()):
        tracks = bool(missing and missing[i])
        # To be a member is to be equal to the first, or the second, and so on.
        values = next(sets, []) if mode == _MEMBER else [float(splits[i])]
        kind = 4 if mode == _MEMBER else int(mode)
        chains.append([forest.add(features[i], value, kind, tracks) for value in values])
    leaves = [forest.add(0, 0.0, _LEAF, False) for _ in range(len(weights))]
    for i, chain in enumerate(chains):
        no, yes = (leaves[ids[i]] if leafs[i] else chains[ids[i]][0] for ids, leafs in sides)
        for own, after in zip(chain, [*chain[1:], no], strict=True):
            forest.successors[own] = [after, yes]
    targets = n.ints("leaf_targetids") or ()
    forest.weights = [
        (leaf, target, float(weight))
        for leaf, target, weight in zip(leaves, targets, weights.tolist(), strict=True)
    ]
    forest.roots = [chains[root][0] for root in n.ints("tree_roots") or ()]
    return forest


def _check_lists(n: Node, nodes: int, splits: int, leaves: int) -> None:
    """Raises NncError where a list has another length, or a number that is none of a node."""
    lists = {
        "nodes_featureids": None,
        "nodes_falsenodeids": "nodes_falseleafs",
        "nodes_truenodeids": "nodes_trueleafs",
        "nodes_falseleafs": None,
        "nodes_trueleafs": None,
    }
    lengths = {name: len(n.ints(name) or ()) for name in lists} | {"nodes_splits": splits}
    tracks = n.ints("nodes_missing_value_tracks_true")
    if tracks:
        lengths["nodes_missing_value_tracks_true"] = len(tracks)
    for name, length in lengths.items():
        if length != nodes:
            raise n.error(f"attribute '{name}' has {length} elements for {nodes} nodes")
    for name, kind in lists.items():
        if kind is not None:
            for at, leaf in zip(n.ints(name) or (), n.ints(kind) or (), strict=True):
                if not 0 <= at < (leaves if leaf else nodes):
                    raise n.error(f"attribute '{name}' has {at}, which is no node")
    for root in n.ints("tree_roots") or ():
        if not 0 <= root < nodes:
            raise n.error(f"attribute 'tree_roots' has {root}, which is no node")
    if len(n.ints("leaf_targetids") or ()) != leaves:
        raise n.error(f"attribute 'leaf_targetids' has not {leaves} elements")


def _sets(members: np.ndarray | None) -> list[list[float]]:
    """The sets of numbers, each of which ends with NaN."""
    found: list[list[float]] = [[]]
    for value in [] if members is None else members.tolist():
        if value == value:
            found[-1].append(value)
        else:
            found.append([])
    return found


@converter("TreeEnsembleRegressor", domain=DOMAIN)
def tree_regressor(n: Node, x: Value) -> Value:
    aggregate = n.string("aggregate_function", "SUM", _AGGREGATES)
    forest, rows = _old_forest(n, "target"), _input(n, x)
    at = forest.leaves(n, rows)
    found = forest.totals(n, at, rows.element, n.int("n_targets", 1), aggregate)
    base = _numbers(n, "base_values")
    if base is not None:
        found = found + constant(n, base, found.element)
    return transformed(found, n.string("post_transform", "NONE")).cast(f32).value


@converter("TreeEnsembleClassifier", domain=DOMAIN)
def tree_classifier(n: Node, x: Value) -> list[Value | None]:
    labels = labels_of(n, "classlabels_int64s", "classlabels_strings")
    forest = _old_forest(n, "class")
    rows = _input(n, x)
    at = forest.leaves(n, rows)
    found = forest.totals(n, at, rows.element, len(labels), "SUM")
    base = _numbers(n, "base_values")
    post = n.string("post_transform", "NONE")
    named = {target for _, target, _ in forest.weights}
    if len(labels) == 2 and len(named) == 1:
        (only,) = named
        score = found.part(1, only, only + 1)
        if base is not None:
            score = score + float(base[-1])
        positive = all(weight >= 0 for _, _, weight in forest.weights)
        wins = score > (0.5 if positive else 0.0)
        if post == "LOGISTIC":
            scores = transformed(two_classes(-score, score), post)
        else:
            scores = two_classes(1.0 - score if positive else -score, score)
        return [class_of(n, wins.cast(i64).column(0), labels), scores.cast(f32).value]
    if base is not None:
        found = found + constant(n, base, found.element)
    compared = (
        found if base is not None else forest.reached(n, at, len(labels)).choose(found, -math.inf)
    )
    best = compared.made(nn.Argmax(compared.value, axis=1))
    return [class_of(n, best, labels), transformed(found, post).cast(f32).value]


def _old_forest(n: Node, what: str) -> Forest:
    """The trees of the operators before TreeEnsemble: nodes have a number within their tree."""
    forest = Forest()
    trees, numbers = n.ints("nodes_treeids") or (), n.ints("nodes_nodeids") or ()
    features, modes = n.ints("nodes_featureids") or (), n.strings("nodes_modes") or ()
    missing = n.ints("nodes_missing_value_tracks_true")
    splits = _numbers(n, "nodes_values")
    assert splits is not None
    index = {}
    for i, key in enumerate(zip(trees, numbers, strict=True)):
        mode = _LEAF if modes[i] == "LEAF" else _MODES.index(modes[i])
        index[key] = forest.add(features[i], float(splits[i]), mode, bool(missing and missing[i]))
        if not i or trees[i] != trees[i - 1]:
            forest.roots.append(index[key])
    sides = n.ints("nodes_falsenodeids") or (), n.ints("nodes_truenodeids") or ()
    for i, (tree, no, yes) in enumerate(zip(trees, *sides, strict=True)):
        if forest.modes[i] != _LEAF:
            forest.successors[i] = [index[tree, no], index[tree, yes]]
    targets = n.ints(f"{what}_ids") or ()
    keys = zip(n.ints(f"{what}_treeids") or (), n.ints(f"{what}_nodeids") or (), strict=True)
    weights = _numbers(n, f"{what}_weights")
    assert weights is not None
    forest.weights = [
        (index[key], target, float(weight))
        for key, target, weight in zip(keys, targets, weights, strict=True)
    ]
    return forest


def _numbers(n: Node, name: str) -> np.ndarray | None:
    """An attribute that is a list of floats, or a tensor of another name."""
    found = n.tensor(f"{name}_as_tensor")
    if found is not None:
        return found
    values = n.floats(name)
    return None if values is None else np.array(values, np.float32)
