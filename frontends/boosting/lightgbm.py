"""LightGBM's models: text in sections of `name=value` lines.

Source: LightGBM's documentation and `Tree::ToString`. Decision types are bit fields, and leaves
have negative numbers.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np

from ...ir.types import f64
from ..common.fields import Ignored, IgnoredFields
from ..common.graph import Graph
from ..common.source import Source
from ..common.trees import LEAF, NOT_MORE
from .ensemble import Ensemble, Forest, Leaf, Levels, Member, front_end, graph_of

LINKS = {
    "binary": "sigmoid", "multiclass": "softmax", "multiclassova": "sigmoid",
    "cross_entropy": "sigmoid", "cross_entropy_lambda": "softplus", "poisson": "exp",
    "gamma": "exp", "tweedie": "exp", "regression": "identity", "regression_l1": "identity",
    "huber": "identity", "fair": "identity", "quantile": "identity", "mape": "identity",
    "lambdarank": "identity", "rank_xendcg": "identity", "custom": "identity", "none": "identity",
}  # fmt: skip
"""The link of each objective, which maps sums to predictions."""
ZERO = float(np.float32(1e-35))
"""Numbers with absolute values up to this count as zero, so as missing if zero is missing."""
IS_CATEGORICAL, IS_DEFAULT_LEFT = 1, 2
MISSING_NONE, MISSING_ZERO, MISSING_NAN = range(3)


IGNORED = IgnoredFields(
    Ignored("label_index feature_infos tree_sizes monotone_constraints", "of training", "head"),
    Ignored("num_class feature_importance", "as the number of sums tells", "head"),
    Ignored("tree", "the first line", "head"),
    Ignored("num_leaves num_cat Tree", "as the lists tell", "tree"),
    Ignored("shrinkage split_gain *_weight *_count internal_value", "of training", "tree"),
    Ignored("leaf_const num_features leaf_features leaf_coeff cat_*", "not asked for", "tree"),
)


def _graph(source: Source) -> Graph:
    own, sections = _sections(source)
    levels = Levels(source, IGNORED)
    head, trees = levels.of("head", own), [levels.of("tree", one) for one in sections]
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
        if not trees:
            raise source.error("it has no trees, of which it asks for the mean")
        ensemble.divisor = len(trees) / groups
    if any(int(tree.get("is_linear", "0")) for tree in trees):
        if len(trees) % groups:
            raise source.error(f"{len(trees)} trees for {groups} sums")
        ensemble.leaves = {}
    for i, tree in enumerate(trees):
        _Tree(source, tree, features).into(ensemble, i % groups)
    names, version = head.get("feature_names", "").split(), head.get("version", "")
    levels.check()
    return graph_of(ensemble, features, version, names, objective=name)


def _option(words: list[str], name: str, default: float) -> float:
    """The number of an option such as `sigmoid:1`."""
    found = [word.partition(":")[2] for word in words if word.startswith(f"{name}:")]
    return float(found[0]) if found else default


def _sections(source: Source) -> tuple[dict[str, str], list[dict[str, str]]]:
    """The fields of the header, and those of each tree."""
    sections: list[dict[str, str]] = [{}]
    for line in source.text.splitlines():
        name, _, value = line.strip().partition("=")
        if not name:
            continue
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


def _threshold(number: float) -> float:
    """The threshold to compare with; numbers within ZERO of 0 compare like 0."""
    if -ZERO <= number < 0:
        return float(np.nextafter(-ZERO, -1.0))
    return ZERO if 0 <= number < ZERO else number


class _Tree:
    """One tree; its nodes have numbers from 0, its leaves from -1 downwards."""

    def __init__(self, source: Source, fields: Mapping[str, str], features: int) -> None:
        self.source, self.fields, self.features = source, fields, features
        self.values = [float(v) for v in fields["leaf_value"].split()]
        names = ("split_feature", "threshold", "decision_type", "left_child", "right_child")
        columns = [fields.get(name, "").split() for name in names]
        self.splits = [
            _Split(int(f), _threshold(float(t)), int(d), int(l), int(r))
            for f, t, d, l, r in zip(*columns, strict=True)
        ]
        if not self.values or len(self.splits) != len(self.values) - 1:
            raise source.error("a tree has lists of unequal lengths")
        for i, split in enumerate(self.splits):
            ends = range(-len(self.values), len(self.splits))
            if not 0 <= split.feature < features or {split.left, split.right} - set(ends):
                raise source.error(f"node {i} of a tree has a child or feature that does not exist")

    def lines(self) -> Iterator[Leaf]:
        """The linear models of the leaves; constants if the tree has no models."""
        if not int(self.fields.get("is_linear", "0")):
            yield from (Leaf(value, (), (), value) for value in self.values)
            return
        names = ("leaf_const", "num_features", "leaf_features", "leaf_coeff")
        constants, counts, features, factors = (self.fields[name].split() for name in names)
        for start, count, value in zip(constants, counts, self.values, strict=True):
            own = [int(f) for f in features[: int(count)]]
            by = [float(f) for f in factors[: int(count)]]
            del features[: int(count)], factors[: int(count)]
            if len(own) != int(count) or len(by) != len(own):
                raise self.source.error("a tree has lists of unequal lengths")
            if not set(own) <= set(range(self.features)):
                raise self.source.error(
                    f"a leaf uses features {own}, but the model has {self.features}"
                )
            yield Leaf(float(start), own, by, value)

    def into(self, ensemble: Ensemble, group: int) -> None:
        """Add the tree to the forest."""
        forest = ensemble.forest
        nodes = [forest.add(0, 0.0, LEAF, False) for _ in self.splits]
        leaves = [forest.add(0, 0.0, LEAF, False) for _ in self.values]
        forest.weights += [(at, group, v) for at, v in zip(leaves, self.values, strict=True)]
        if ensemble.leaves is not None:
            ensemble.leaves |= zip(leaves, self.lines(), strict=True)
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
        """The categories of a set, which is stored as a bit mask."""
        bounds = [int(v) for v in self.fields["cat_boundaries"].split()]
        words = [int(v) for v in self.fields["cat_threshold"].split()]
        if not 0 <= index < len(bounds) - 1:
            raise self.source.error(f"a tree has no set {index} of categories")
        own = words[bounds[index] : bounds[index + 1]]
        return [32 * i + bit for i, word in enumerate(own) for bit in range(32) if word >> bit & 1]


FRONT_END = front_end("LightGBM", _graph)
