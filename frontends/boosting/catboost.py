"""CatBoost's models, saved as JSON: trees that ask one question at each depth, and others.

Source: CatBoost's documentation, "Export CatBoost models to JSON".
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ...ir.types import f32
from ..common.graph import Graph
from ..common.source import Source
from ..common.trees import LEAF, MORE
from .ensemble import Ensemble, Forest, front_end, graph_of

LINKS = {
    "Logloss": "sigmoid", "CrossEntropy": "sigmoid", "MultiClass": "softmax",
    "MultiClassOneVsAll": "sigmoid", "MultiLogloss": "sigmoid", "MultiCrossEntropy": "sigmoid",
    "Poisson": "exp", "Tweedie": "exp", "RMSEWithUncertainty": "spread",
}  # fmt: skip
"""What losses make of the sums: probabilities, expectations, variances; others keep them."""
DEEPEST = 16


def _graph(source: Source) -> Graph:
    model = json.loads(source.text)
    features = model["features_info"]
    others = [key for key in features if key not in ("float_features", "ctrs") and features[key]]
    if others or features.get("ctrs"):
        kinds = ", ".join(others or ["ctrs"])
        raise source.error(f"features that are no numbers are not supported: {kinds}")
    floats = features["float_features"]
    missing = [one.get("nan_value_treatment") == "AsTrue" for one in floats]
    places = [int(one["flat_feature_index"]) for one in floats]
    scale, bias = model["scale_and_bias"]
    base = np.asarray(bias, np.float32).reshape(-1)
    loss = str(model["model_info"]["params"]["loss_function"]["type"])
    ensemble = Ensemble(Forest(), len(base), LINKS.get(loss, "identity"), base, f32)
    trees = _Trees(source, ensemble.forest, places, missing, len(base), float(scale))
    for tree in model.get("oblivious_trees", ()):
        trees.add_oblivious(tree["splits"] or (), np.asarray(tree["leaf_values"], np.float64))
    for tree in model.get("trees", ()):
        ensemble.forest.roots.append(trees.add(tree, 0))
    names = [str(one.get("feature_id", "")) for one in floats]
    return graph_of(ensemble, max(places, default=-1) + 1, "", _all_named(names), loss=loss)


def _all_named(names: Sequence[str]) -> Sequence[str]:
    """The names, if all features have one."""
    return names if all(names) else ()


class _Trees:
    """Adds trees to a forest; each leaf has a number for each of the sums."""

    def __init__(
        self,
        source: Source,
        forest: Forest,
        places: Sequence[int],
        missing: Sequence[bool],
        groups: int,
        scale: float,
    ) -> None:
        self.source, self.forest = source, forest
        self.places, self.missing = places, missing
        self.groups, self.scale = groups, scale

    def leaf(self, values: Sequence[float]) -> int:
        """A new leaf."""
        if len(values) != self.groups:
            raise self.source.error(f"a leaf has {len(values)} numbers, expected {self.groups}")
        number = self.forest.add(0, 0.0, LEAF, False)
        pairs = enumerate(values)
        self.forest.weights += [(number, g, float(v) * self.scale) for g, v in pairs]
        return number

    def split(self, split: Mapping[str, Any], no: int, yes: int) -> int:
        """A new node that asks whether a feature is more than a border."""
        kind, index = split.get("split_type", "FloatFeature"), int(split["float_feature_index"])
        if kind != "FloatFeature" or not 0 <= index < len(self.places):
            raise self.source.error(f"splits of type '{kind}' at feature {index} are not supported")
        border = float(split["border"])
        number = self.forest.add(self.places[index], border, MORE, self.missing[index])
        self.forest.successors[number] = [no, yes]
        return number

    def add(self, tree: Mapping[str, Any], depth: int) -> int:
        """A tree of nodes within each other; its root."""
        if depth > 100:
            raise self.source.error("a tree is nested too deeply")
        if "split" not in tree:
            value = tree["value"]
            return self.leaf(value if isinstance(value, list) else [value])
        no, yes = (self.add(tree[side], depth + 1) for side in ("left", "right"))
        return self.split(tree["split"], no, yes)

    def add_oblivious(self, splits: Sequence[Mapping[str, Any]], values: np.ndarray) -> None:
        """A tree whose answers are the bits of a leaf's number, the first the lowest."""
        if len(splits) > DEEPEST:
            raise self.source.error(f"a tree asks {len(splits)} questions, more than {DEEPEST}")
        table = values.reshape(1 << len(splits), self.groups)
        level = [self.leaf(row) for row in table.tolist()]
        for split in splits:
            pairs = zip(level[::2], level[1::2], strict=True)
            level = [self.split(split, no, yes) for no, yes in pairs]
        self.forest.roots.append(level[0])


FRONT_END = front_end("CatBoost", _graph)
