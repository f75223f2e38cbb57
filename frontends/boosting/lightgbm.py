"""LightGBM's models: text of `name=value` lines in sections.

Source: LightGBM's documentation and `Tree::ToString` in its terms: decision types are bits, leaves
are negative numbers.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from ...ir.types import f64
from ..common.graph import Graph
from ..common.source import Source
from ..common.trees import LEAF, NOT_MORE
from .ensemble import Ensemble, Forest, Member, front_end, graph_of

LINKS = {
    "binary": "sigmoid", "multiclass": "softmax", "multiclassova": "sigmoid",
    "cross_entropy": "sigmoid", "cross_entropy_lambda": "softplus", "poisson": "exp",
    "gamma": "exp", "tweedie": "exp", "regression": "identity", "regression_l1": "identity",
    "huber": "identity", "fair": "identity", "quantile": "identity", "mape": "identity",
    "lambdarank": "identity", "rank_xendcg": "identity", "custom": "identity", "none": "identity",
}  # fmt: skip
"""What objectives make of the sums."""
ZERO = float(np.float32(1e-35))
"""Numbers that are no larger count as zero where zeros are missing values."""
IS_CATEGORICAL, IS_DEFAULT_LEFT = 1, 2
MISSING_NONE, MISSING_ZERO, MISSING_NAN = range(3)


def _graph(source: Source) -> Graph:
    head, trees = _sections(source)
    groups = int(head["num_tree_per_iteration"])
    if not 0 < groups <= 1 << 20:
        raise source.error(f"'num_tree_per_iteration' is {groups}")
    features = int(head["max_feature_idx"]) + 1
    name, *words = head.get("objective", "custom").split() or ["custom"]
    if name not in LINKS:
        raise source.error(f"objective '{name}' is not supported")
    link = LINKS[name]
    if link == "identity" and "sqrt" in words:
        link = "signed_square"
    base = np.zeros(groups)
    ensemble = Ensemble(Forest(), groups, link, base, f64, scale=_option(words, "sigmoid", 1.0))
    if "average_output" in head:
        ensemble.divisor = max(1.0, len(trees) / groups)
    for i, tree in enumerate(trees):
        _Tree(source, tree, features).into(ensemble.forest, i % groups)
    names = head.get("feature_names", "").split()
    return graph_of(ensemble, features, head.get("version", ""), names, objective=name)


def _option(words: list[str], name: str, default: float) -> float:
    """A number behind a name, `sigmoid:1`."""
    found = [word.partition(":")[2] for word in words if word.startswith(f"{name}:")]
    return float(found[0]) if found else default


def _sections(source: Source) -> tuple[dict[str, str], list[dict[str, str]]]:
    """The fields of the head, and those of each tree."""
    sections: list[dict[str, str]] = [{}]
    for line in source.text.splitlines():
        name, _, value = line.strip().partition("=")
        if name == "end of trees":
            return sections[0], sections[1:]
        if name == "Tree":
            sections.append({})
        sections[-1][name] = value
    raise source.error("the text ends before the trees do")


@dataclass
class _Split:
    """An inner node."""

    feature: int
    threshold: float
    kind: int
    left: int
    right: int


class _Tree:
    """One tree; its nodes have numbers from 0, its leaves from -1 downwards."""

    def __init__(self, source: Source, fields: Mapping[str, str], features: int) -> None:
        self.source, self.fields = source, fields
        if int(fields.get("is_linear", "0")):
            raise source.error("linear models in leaves ('linear_tree') are not supported")
        self.values = [float(v) for v in fields["leaf_value"].split()]
        names = ("split_feature", "threshold", "decision_type", "left_child", "right_child")
        columns = [fields.get(name, "").split() for name in names]
        self.splits = [
            _Split(int(f), float(t), int(d), int(l), int(r))
            for f, t, d, l, r in zip(*columns, strict=True)
        ]
        if not self.values or len(self.splits) != len(self.values) - 1:
            raise source.error("a tree has lists of unequal lengths")
        for i, split in enumerate(self.splits):
            ends = range(-len(self.values), len(self.splits))
            if not 0 <= split.feature < features or {split.left, split.right} - set(ends):
                raise source.error(f"node {i} of a tree leads to what is not there")

    def into(self, forest: Forest, group: int) -> None:
        """Add the tree to the forest."""
        nodes = [forest.add(0, 0.0, LEAF, False) for _ in self.splits]
        leaves = [forest.add(0, 0.0, LEAF, False) for _ in self.values]
        forest.weights += [(at, group, v) for at, v in zip(leaves, self.values, strict=True)]
        for number, split in zip(nodes, self.splits, strict=True):
            ends = [leaves[~at] if at < 0 else nodes[at] for at in (split.left, split.right)]
            self._split(forest, number, split, *ends)
        forest.roots.append(nodes[0] if nodes else leaves[0])

    def _split(self, forest: Forest, number: int, split: _Split, left: int, right: int) -> None:
        forest.features[number] = split.feature
        forest.modes[number] = NOT_MORE
        if split.kind & IS_CATEGORICAL:
            # From just above -1 on, what is cut off to an integer is 0.
            above = float(np.nextafter(-1.0, 0.0))
            member = Member(forest, split.feature, NOT_MORE, np.float64, above)
            found = member.node(self._set(int(split.threshold)), left, right)
            forest.splits[number] = -math.inf  # this node is for NaN, and for -infinity
            forest.missing[number] = True
            forest.successors[number] = [found, right]
            return
        missing = split.kind >> 2 & 3
        default = left if split.kind & IS_DEFAULT_LEFT else right
        holds = default == left if missing == MISSING_NAN else split.threshold >= 0
        if missing != MISSING_ZERO:
            forest.splits[number] = split.threshold
            forest.missing[number] = holds
            forest.successors[number] = [right, left]
            return
        plain = forest.add(split.feature, split.threshold, NOT_MORE, holds)
        forest.successors[plain] = [right, left]
        # Zeros, and with them NaN, are those between the smallest numbers.
        below = forest.add(split.feature, float(np.nextafter(-ZERO, -1.0)), NOT_MORE, False)
        forest.successors[below] = [default, plain]
        forest.splits[number] = ZERO
        forest.missing[number] = True
        forest.successors[number] = [plain, below]

    def _set(self, index: int) -> list[int]:
        """The categories of a set, which are bits of words."""
        bounds = [int(v) for v in self.fields["cat_boundaries"].split()]
        words = [int(v) for v in self.fields["cat_threshold"].split()]
        if not 0 <= index < len(bounds) - 1:
            raise self.source.error(f"a tree has no set {index} of categories")
        own = words[bounds[index] : bounds[index + 1]]
        return [32 * i + bit for i, word in enumerate(own) for bit in range(32) if word >> bit & 1]


FRONT_END = front_end("LightGBM", _graph)
