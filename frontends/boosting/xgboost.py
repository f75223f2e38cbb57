"""XGBoost's models: JSON, or the same in UBJSON.

Source: XGBoost's documentation, "Introduction to Model IO" and its JSON schema.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from ...ir.types import f32
from ..common.fields import Ignored, IgnoredFields
from ..common.graph import Graph
from ..common.source import Source
from ..common.trees import LEAF, LESS
from ..wire import ubjson
from .ensemble import Ensemble, Forest, Levels, Member, front_end, graph_of

LINKS = {
    "binary:logistic": "sigmoid", "reg:logistic": "sigmoid", "binary:hinge": "step",
    "multi:softmax": "argmax", "multi:softprob": "softmax", "count:poisson": "exp",
    "reg:gamma": "exp", "reg:tweedie": "exp", "survival:cox": "exp", "survival:aft": "exp",
}  # fmt: skip
"""The link of each objective, which maps sums to predictions; other objectives have none."""
LOGITS = {"binary:logistic", "reg:logistic"}
"""Objectives whose base score is a probability: its logit is added to the sums."""
SMALLEST_SHARE = np.float32(1e-6)
"""The base scores of these objectives are limited to this share and to 1 minus this share."""
PLAIN = {
    "binary:logitraw", "rank:pairwise", "rank:ndcg", "rank:map", "reg:squarederror", "reg:linear",
    "reg:squaredlogerror", "reg:pseudohubererror", "reg:absoluteerror", "reg:quantileerror",
    "reg:expectileerror",
}  # fmt: skip


IGNORED = IgnoredFields(
    Ignored("*", "notes; which rounds count is read", "attributes"),
    Ignored("feature_types", "as the trees compare", "learner"),
    Ignored("*_param", "of training", "objective"),
    Ignored("gbtree_model_param iteration_indptr", "read where early stopping says so", "model"),
    Ignored("boosted_rounds param", "of training", "model"),
    Ignored("cats", "rows have the numbers of categories", "model"),
    Ignored("id loss_changes parents sum_hessian base_weights", "of training", "tree"),
    Ignored("categories* leaf_weights", "not asked for", "tree"),
)


def _parsed(source: Source) -> dict[str, Any]:
    if source.head.lstrip()[1:2] in b'" \n\r\t':
        return json.loads(source.text)
    return ubjson.parse(source.data, source.error)


def _graph(source: Source) -> Graph:
    levels = Levels(source, IGNORED)
    model = levels.of("file", _parsed(source))
    learner = levels.of("learner", model["learner"])
    parameters = levels.of("learner_model_param", learner["learner_model_param"])
    objective = levels.of("objective", learner["objective"])["name"]
    if objective not in LINKS and objective not in PLAIN:
        raise source.error(f"objective '{objective}' is not supported")
    features = int(parameters["num_feature"])
    groups = max(int(parameters.get("num_class", 0)), int(parameters.get("num_target", 1)), 1)
    booster = levels.of("gradient_booster", learner["gradient_booster"])
    weights: Any = None
    if booster["name"] == "dart":
        weights = booster["weight_drop"]
        booster = levels.of("gradient_booster", booster["gbtree"])
    inner = booster["model"]
    first = _rounds(levels, learner)
    rounds = len(inner.get("trees", ())) or int(inner.get("boosted_rounds", 0))
    # A score that training should have found is one of sums until the first round.
    is_sum = parameters.get("boost_from_average") == "1" and not rounds
    base = _base(source, parameters["base_score"], "" if is_sum else objective)
    if len(base) not in (1, groups):
        raise source.error(f"there are {len(base)} base scores for {groups} sums")
    ensemble = Ensemble(Forest(), groups, LINKS.get(objective, "identity"), base, f32)
    if booster["name"] == "gblinear":
        linear = levels.of("model", inner)
        given = np.asarray(linear["weights"], np.float32)
        if not given.size:  # none before any round
            given = np.zeros((features + 1) * groups, np.float32)
        table = given.reshape(features + 1, groups)
        # Of several base scores, gblinear of XGBoost 3.2 adds the first to every class.
        ensemble.linear, ensemble.base = table[:-1], base[:1] + table[-1]
    elif booster["name"] == "gbtree":
        _read_trees(levels, inner, ensemble, features, weights, first)
    else:
        raise source.error(f"booster '{booster['name']}' is not supported")
    version = ".".join(str(part) for part in model.get("version", ()))
    names = [str(name) for name in learner.get("feature_names") or ()]
    levels.check()
    return graph_of(ensemble, features, version, names, objective=objective)


def _base(source: Source, text: Any, objective: str) -> np.ndarray:
    """What is added to the sums: the base score, or its logit or logarithm, by the objective.

    One number or one for each group, from text.
    """
    found = json.loads(text) if isinstance(text, str) else text
    scores = [float(v) for v in (found if isinstance(found, list) else [found])]
    if objective in LOGITS:
        if not all(0 <= v <= 1 for v in scores):
            raise source.error(f"the base score {text} is not a probability")
        # Labels of one class alone make it 0 or 1, which XGBoost moves inside in 32 bits.
        one = np.float32(1)
        shares = np.clip(np.array(scores, np.float32), SMALLEST_SHARE, one - SMALLEST_SHARE)
        return -np.log(one / shares - one)
    if LINKS.get(objective) == "exp":
        if not all(v >= 0 for v in scores):
            raise source.error(f"the base score {text} is negative")
        with np.errstate(divide="ignore"):
            return np.log(np.array(scores, np.float32))
    return np.array(scores, np.float32)


def _rounds(levels: Levels, learner: Mapping[str, Any]) -> int | None:
    """How many rounds count; None for all.

    The estimators (`XGBClassifier`, ..) leave out what training did after the best round; they mark
    the files that they save. `Booster.predict` counts all rounds.
    """
    about = levels.of("attributes", learner.get("attributes") or {})
    best = about.get("best_iteration")
    if "scikit_learn" not in about or best is None:
        return None
    if not str(best).isdecimal():
        raise levels.source.error(f"the best iteration is '{best}', expected a number")
    return int(best) + 1


def _counted(source: Source, model: Mapping[str, Any], groups: int, rounds: int | None) -> int:
    """How many trees the first rounds have."""
    trees = len(model["trees"])
    if rounds is None:
        return trees
    ends = model.get("iteration_indptr")
    if ends is None:  # before XGBoost 2.0, all rounds have equally many
        about = model.get("gbtree_model_param") or {}
        own = groups * max(1, int(about.get("num_parallel_tree", 1)))
        return min(trees, rounds * own)
    ends = [int(end) for end in ends]
    if sorted(ends) != ends or not ends or ends[0] or ends[-1] != trees:
        raise source.error(f"'iteration_indptr' does not divide {trees} trees into rounds")
    return ends[min(rounds, len(ends) - 1)]


def _read_trees(
    levels: Levels,
    given: Mapping[str, Any],
    ensemble: Ensemble,
    features: int,
    weights: Any,
    rounds: int | None,
) -> None:
    source, model = levels.source, levels.of("model", given)
    groups = [int(v) for v in model["tree_info"]]
    if len(groups) != len(model["trees"]) or not all(0 <= g < ensemble.groups for g in groups):
        raise source.error(
            f"'tree_info' has {len(groups)} entries for {len(model['trees'])} trees, expected one "
            f"for each, from 0 to {ensemble.groups - 1}"
        )
    for i in range(_counted(source, model, ensemble.groups, rounds)):
        tree, group = levels.of("tree", model["trees"][i]), groups[i]
        _Tree(source, tree, features).into(ensemble, group, 1.0 if weights is None else weights[i])


class _Tree:
    """One tree, as lists with an element for each node."""

    def __init__(self, source: Source, tree: Mapping[str, Any], features: int) -> None:
        self.source, self.tree, self.features = source, tree, features
        self.left = [int(v) for v in tree["left_children"]]
        self.right = [int(v) for v in tree["right_children"]]
        self.index = [int(v) for v in tree["split_indices"]]
        self.default = [bool(v) for v in tree["default_left"]]
        self.splits = np.asarray(tree["split_conditions"], np.float32)
        self.size = max(1, int(tree.get("tree_param", {}).get("size_leaf_vector", 1)))
        count = len(self.left)
        lists = (self.right, self.index, self.default, self.splits)
        if not count or any(len(one) != count for one in lists):
            raise source.error("a tree has lists of unequal lengths")
        self.sets = self._sets(count)

    def _sets(self, count: int) -> dict[int, list[int]]:
        """For each node that compares categories, those that lead to the right."""
        tree = self.tree
        nodes = [int(v) for v in tree.get("categories_nodes", ())]
        begins, sizes = tree.get("categories_segments", ()), tree.get("categories_sizes", ())
        values = [int(v) for v in tree.get("categories", ())]
        found = {}
        for node, begin, size in zip(nodes, begins, sizes, strict=True):
            if not 0 <= begin <= begin + size <= len(values):
                raise self.source.error("the categories of a tree are out of range")
            found[node] = values[int(begin) : int(begin) + int(size)]
        for node, kind in enumerate(tree.get("split_type", ())):
            if kind and node not in found and node < count and self.left[node] >= 0:
                found[node] = []
        return found

    def into(self, ensemble: Ensemble, group: int, weight: float) -> None:
        """Add the tree to the forest."""
        forest, count = ensemble.forest, len(self.left)
        numbers = [forest.add(0, 0.0, LEAF, False) for _ in range(count)]
        roots = list(numbers)
        vectors = self._vectors(count, ensemble.groups)
        for i, (left, right) in enumerate(zip(self.left, self.right, strict=True)):
            if left < 0:
                leaf = [(group, self.splits[i])] if vectors is None else enumerate(vectors[i])
                forest.weights += [(numbers[i], g, float(v) * weight) for g, v in leaf]
                continue
            if not (left < count and 0 <= right < count and 0 <= self.index[i] < self.features):
                raise self.source.error(
                    f"node {i} of a tree has a child or feature that does not exist"
                )
            self._split(forest, numbers, i)
        forest.roots.append(roots[0])

    def _split(self, forest: Forest, numbers: list[int], i: int) -> None:
        left, right = numbers[self.left[i]], numbers[self.right[i]]
        number = numbers[i]
        forest.features[number] = self.index[i]
        forest.modes[number] = LESS
        if i not in self.sets:
            forest.splits[number] = float(self.splits[i])
            forest.missing[number] = self.default[i]
            forest.successors[number] = [right, left]
            return
        member = Member(forest, self.index[i], LESS, np.float32)
        default = left if self.default[i] else right
        found = member.node(self.sets[i], right, left)
        forest.splits[number] = -math.inf  # nothing is less: this node is for NaN only
        forest.missing[number] = True
        forest.successors[number] = [found, default]

    def _vectors(self, count: int, groups: int) -> np.ndarray | None:
        """The leaves' values for each group, if leaves have several; else None."""
        if self.size == 1:
            return None
        table = np.asarray(self.tree["base_weights"], np.float32)
        leaves = np.asarray(self.tree.get("leaf_weights", ()), np.float32)
        if leaves.size:  # since XGBoost 3.1; a leaf has its row as its right child
            rows = [
                right if left < 0 else 0 for left, right in zip(self.left, self.right, strict=True)
            ]
            table = leaves.reshape(-1, self.size)[rows]
        if self.size != groups or table.size != count * self.size:
            raise self.source.error(f"leaves of {self.size} numbers do not fit {groups} sums")
        return table.reshape(count, self.size)


FRONT_END = front_end("XGBoost", _graph)
