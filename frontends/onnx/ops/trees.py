"""Ensembles of decision trees of ai.onnx.ml.

Source: TreeEnsemble-5, TreeEnsembleRegressor-5 and TreeEnsembleClassifier-5 of ai.onnx.ml.
"""

from __future__ import annotations

from ...common.scores import transformed, two_classes
from ...common.trees import LEAF, MODES, Forest
from ...common.vocabulary import *
from ..node import Node
from ..registry import converter
from .classical import class_of, labels_of

DOMAIN = "ai.onnx.ml"
_MEMBER = 6
"""TreeEnsemble's mode for a test of membership in a set."""
_AGGREGATES = ("AVERAGE", "SUM", "MIN", "MAX")


def _input(n: Node, x: Value) -> Term:
    """x [B, F] in the type in which it is compared."""
    if x.type.rank not in (1, 2):
        raise n.error(f"the input has rank {x.type.rank}, expected 2")
    rows = Term(n, x) if x.type.rank == 2 else Term(n, x).spread(1, 0)
    return rows.cast(f64 if x.type.element_type is f64 else f32)


@converter("TreeEnsemble", domain=DOMAIN)
def tree_ensemble(n: Node, x: Value) -> Value:
    aggregate = _AGGREGATES[n.int("aggregate_function", 1)]
    forest, rows = _forest(n), _input(n, x)
    walk = forest.walk(n, rows)
    found = walk.totals(rows.element, n.int("n_targets"), aggregate)
    names = ("NONE", "SOFTMAX", "LOGISTIC", "SOFTMAX_ZERO", "PROBIT")
    return transformed(found, names[n.int("post_transform")]).cast(x.type.element_type).value


def _forest(n: Node) -> Forest:
    """The trees of TreeEnsemble, which numbers leaves and inner nodes separately."""
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
        # A test of membership becomes a chain of tests of equality.
        values = next(sets, []) if mode == _MEMBER else [float(splits[i])]
        kind = 4 if mode == _MEMBER else int(mode)
        chains.append([forest.add(features[i], value, kind, tracks) for value in values])
    leaves = [forest.add(0, 0.0, LEAF, False) for _ in range(len(weights))]
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
    """Raise NncError if a list has a wrong length, or an index that is out of range."""
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
                    raise n.error(f"attribute '{name}' has {at}, which is not a node")
    for root in n.ints("tree_roots") or ():
        if not 0 <= root < nodes:
            raise n.error(f"attribute 'tree_roots' has {root}, which is not a node")
    if len(n.ints("leaf_targetids") or ()) != leaves:
        raise n.error(
            f"attribute 'leaf_targetids' has {len(n.ints('leaf_targetids') or ())} elements, "
            f"expected {leaves}"
        )


def _sets(members: np.ndarray | None) -> list[list[float]]:
    """The sets of numbers in a list, in which each set ends with NaN."""
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
    if n.int("n_targets", 1) == 1:
        _keep_first_weights(n, forest)
    walk = forest.walk(n, rows)
    found = walk.totals(rows.element, n.int("n_targets", 1), aggregate)
    base = _numbers(n, "base_values")
    if base is not None:
        found = found + constant(n, base, found.element)
        if len(base) > 1 and base.any():
            n.warn("a target that no leaf scores has its base value, in ONNX Runtime 0")
    post = n.string("post_transform", "NONE")
    if n.int("n_targets", 1) == 1 and post not in ("NONE", "PROBIT"):
        n.warn(f"the only target's score is transformed by {post}, in ONNX Runtime it is not")
    return transformed(found, post).cast(f32).value


def _keep_first_weights(n: Node, forest: Forest) -> None:
    """Keep only the first weight of a leaf for the only target.

    ONNX Runtime does this, and skl2onnx relies on it: for trees of several classes it writes each
    leaf's number once for each class.
    """
    first = {(leaf, target): weight for leaf, target, weight in reversed(forest.weights)}
    if len(first) < len(forest.weights):
        n.warn(
            "the only target gets the first weight of each leaf, in ONNX's reference all of them"
        )
        forest.weights = [(*key, weight) for key, weight in first.items()]


@converter("TreeEnsembleClassifier", domain=DOMAIN)
def tree_classifier(n: Node, x: Value) -> list[Value | None]:
    labels = labels_of(n, "classlabels_int64s", "classlabels_strings")
    forest = _old_forest(n, "class")
    rows = _input(n, x)
    walk = forest.walk(n, rows)
    found = walk.totals(rows.element, len(labels), "SUM")
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
        if only == 1:  # the other score stays 0
            scores = transformed(two_classes(score * 0.0, score), post)
        elif post == "LOGISTIC":
            scores = transformed(two_classes(-score, score), post)
        else:
            scores = two_classes(1.0 - score if positive else -score, score)
        return [class_of(n, wins.cast(i64).column(0), labels), scores.cast(f32).value]
    if base is not None:
        found = found + constant(n, base, found.element)
    compared = found if base is not None else walk.reached(len(labels)).choose(found, -math.inf)
    best = compared.argmax(1)
    return [class_of(n, best, labels), transformed(found, post).cast(f32).value]


def _old_forest(n: Node, what: str) -> Forest:
    """The trees of the operators before TreeEnsemble, whose nodes are numbered within each tree."""
    forest = Forest()
    trees, numbers = n.ints("nodes_treeids") or (), n.ints("nodes_nodeids") or ()
    features, modes = n.ints("nodes_featureids") or (), n.strings("nodes_modes") or ()
    missing = n.ints("nodes_missing_value_tracks_true")
    splits = _numbers(n, "nodes_values")
    assert splits is not None
    index = {}
    for i, key in enumerate(zip(trees, numbers, strict=True)):
        mode = LEAF if modes[i] == "LEAF" else MODES.index(modes[i])
        index[key] = forest.add(features[i], float(splits[i]), mode, bool(missing and missing[i]))
        if not i or trees[i] != trees[i - 1]:
            forest.roots.append(index[key])
    sides = n.ints("nodes_falsenodeids") or (), n.ints("nodes_truenodeids") or ()
    for i, (tree, no, yes) in enumerate(zip(trees, *sides, strict=True)):
        if forest.modes[i] != LEAF:
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
    """A list attribute of floats, or its variant as a tensor under another name."""
    found = n.tensor(f"{name}_as_tensor")
    if found is not None:
        return found
    values = n.floats(name)
    return None if values is None else np.array(values, np.float32)
