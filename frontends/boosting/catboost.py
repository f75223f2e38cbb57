"""Reads CatBoost's models, JSON or `.cbm`: oblivious trees (one split per depth) and others.

Source: CatBoost's documentation, "Export CatBoost models to JSON".
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ...ir.types import f32
from ..common.fields import Ignored, IgnoredFields
from ..common.graph import Graph
from ..common.source import Source
from ..common.trees import EQUAL, LEAF, MORE
from . import cbm
from .categories import Categories, Counts, Statistic
from .ensemble import Ensemble, Forest, Levels, front_end, graph_of

LINKS = {
    "Logloss": "sigmoid", "CrossEntropy": "sigmoid", "Focal": "sigmoid", "MultiClass": "softmax",
    "MultiClassOneVsAll": "sigmoid", "MultiLogloss": "sigmoid", "MultiCrossEntropy": "sigmoid",
    "Poisson": "exp", "Tweedie": "exp", "RMSEWithUncertainty": "spread",
}  # fmt: skip
"""The link of each loss, which maps sums to probabilities, expectations or variances; other losses
have none."""
SEVERAL_LABELS = ("MultiLogloss", "MultiCrossEntropy", "MultiRMSE", "MultiRMSEWithMissingValues")
DEEPEST = 16
IGNORED = IgnoredFields(
    Ignored("ctr_data cat_features_hash", "not asked for, or words of hashes", "file"),
    Ignored("feature_id feature_name has_nans used", "as the splits have it", "feature"),
    Ignored("borders values string_values", "as the splits have it", "feature"),
    Ignored("*feature_index", "the other way to count", "feature"),
    Ignored("leaf_weights weight", "of training", "tree"),
    Ignored("split_index", "as the borders tell", "split"),
    Ignored("ctr_target_border_idx", "as the statistic has it", "split"),
)
_STATISTIC = (
    "identifier", "target_border_idx", "prior_numerator", "prior_denomerator", "shift", "scale",
)  # fmt: skip
"""The fields of a statistic that identify it, apart from the label that it counts."""
_FEATURES = ("float_features", "categorical_features", "cat_features_hash", "ctrs")


def _graph(source: Source) -> Graph:
    levels = Levels(source, IGNORED)
    model = levels.of("file", _parsed(source))
    features = model["features_info"] or {}
    others = [key for key in features if key not in _FEATURES and features[key]]
    if others:
        raise source.error(f"features of other kinds are not supported: {', '.join(others)}")
    floats, texts = (
        [levels.of("feature", one) for one in features.get(f"{kind}_features") or ()]
        for kind in ("float", "categorical")
    )
    # Beside categories, which are an input of their own, numbers stand as they are counted.
    key = "feature_index" if texts else "flat_feature_index"
    columns = {
        int(one["feature_index"]): (int(one[key]), one.get("nan_value_treatment") == "AsTrue")
        for one in floats
    }
    count = max((place for place, _ in columns.values()), default=-1) + 1
    scale, bias = model["scale_and_bias"]
    base = np.asarray(bias, np.float32).reshape(-1)
    loss = _loss(model["model_info"])
    ensemble = Ensemble(Forest(), len(base), LINKS.get(loss, "identity"), base, f32)
    trees = _Trees(levels, ensemble.forest, columns, len(base), float(scale))
    if texts:
        given, tables = features.get("ctrs") or (), model.get("ctr_data") or {}
        made = [Statistic.of(source, one, _counts(tables[one["identifier"]])) for one in given]
        known = 1 + max(int(one["feature_index"]) for one in texts)
        ensemble.categories = Categories(known, columns, made)
        trees.categories, trees.first = ensemble.categories, count
        trees.find_statistics(floats, texts, given)
    for tree in model.get("oblivious_trees", ()):
        tree = levels.of("tree", tree)
        trees.add_oblivious(tree["splits"] or (), np.asarray(tree["leaf_values"], np.float64))
    for tree in model.get("trees", ()):
        ensemble.forest.roots.append(trees.add(tree, 0))
    names = [str(one.get("feature_id", "")) for one in floats]
    words = [str(one.get("feature_id", "")) for one in texts]
    levels.check()
    notes = {"categories": ", ".join(_all_named(words)), "loss": loss}
    return graph_of(ensemble, count, "", _all_named(names), **notes)


def _parsed(source: Source) -> dict[str, Any]:
    """The model as the objects of its JSON. Raises NncError where JSON has lost a table.

    Statistics of several labels have one table each, but JSON has the last of them only.
    """
    if source.head.startswith(cbm.MAGIC):
        return cbm.parsed(source)
    model = json.loads(source.text)
    alone = ("identifier",) if _loss(model["model_info"]) in SEVERAL_LABELS else _STATISTIC
    found = [
        [one[name] for name in alone] for one in (model["features_info"] or {}).get("ctrs") or ()
    ]
    if any(one in found[:i] for i, one in enumerate(found)):
        text = "statistics of several labels, of which JSON has one; save the model as .cbm"
        raise source.error(text)
    return model


def _counts(table: Any) -> Counts:
    return table if isinstance(table, Counts) else Counts.of_json(table)


def _loss(info: Mapping[str, Any]) -> str:
    """The loss function's name, also in a sum of models; a value may be JSON within a text.

    "" if there is none, as in models that were trained together.
    """

    def value(key: str) -> Any:
        found = info.get(key) or {}
        return json.loads(found) if isinstance(found, str) else found

    loss = value("params").get("loss_function") or value("loss_function")
    return str(loss.get("type", ""))


def _all_named(names: Sequence[str]) -> Sequence[str]:
    """The names of the features if all have one, else none."""
    return names if all(names) else ()


class _Trees:
    """Adds trees to a forest; each leaf has a number for each of the sums."""

    def __init__(
        self,
        levels: Levels,
        forest: Forest,
        columns: Mapping[int, tuple[int, bool]],
        groups: int,
        scale: float,
    ) -> None:
        self.levels, self.source, self.forest = levels, levels.source, forest
        self.columns = columns
        """The column of each float feature, and whether splits of it hold for NaN."""
        self.groups, self.scale = groups, scale
        self.categories: Categories | None = None
        self.first = self.before = 0
        self.asked: list[int] = []

    def find_statistics(
        self, floats: Sequence[Any], texts: Sequence[Any], statistics: Sequence[Any]
    ) -> None:
        """Find the statistics that splits refer to; splits on statistics are numbered after all
        others.
        """
        others = sum(len(one.get("borders") or ()) for one in floats)
        others += sum(len(one.get("values") or ()) for one in texts)
        for i, one in enumerate(statistics):
            self.asked += [i] * len(one["borders"])
        self.before = others

    def compared(self, split: Mapping[str, Any]) -> tuple[int, float, int, bool]:
        """A split's (column, number, comparison, whether it holds for NaN)."""
        split = self.levels.of("split", split)
        match kind := split.get("split_type", "FloatFeature"):
            case "FloatFeature":
                index = int(split["float_feature_index"])
                if index in self.columns:
                    place, missing = self.columns[index]
                    return place, float(split["border"]), MORE, missing
            case "OneHotFeature":
                index = int(split["cat_feature_index"])
                if self.categories is not None and 0 <= index < self.categories.count:
                    return self.first + index, int(split["value"]), EQUAL, False
            case "OnlineCtr":
                index = int(split["split_index"]) - self.before
                if self.categories is not None and 0 <= index < len(self.asked):
                    column = self.first + self.categories.count + self.asked[index]
                    return column, float(split["border"]), MORE, False
            case _:
                index = 0
        raise self.source.error(f"splits of type '{kind}' at feature {index} are not supported")

    def leaf(self, values: Sequence[float]) -> int:
        """The index of a new leaf with these values."""
        if len(values) != self.groups:
            raise self.source.error(f"a leaf has {len(values)} numbers, expected {self.groups}")
        number = self.forest.add(0, 0.0, LEAF, False)
        pairs = enumerate(values)
        self.forest.weights += [(number, g, float(v) * self.scale) for g, v in pairs]
        return number

    def split(self, split: Mapping[str, Any], no: int, yes: int) -> int:
        """The index of a new node: `yes` if a column exceeds a border or equals a category, else
        `no`.
        """
        number = self.forest.add(*self.compared(split))
        self.forest.successors[number] = [no, yes]
        return number

    def add(self, tree: Mapping[str, Any], depth: int) -> int:
        """Add a non-symmetric tree, given as nested nodes; returns the index of its root."""
        if depth > 100:
            raise self.source.error("a tree is nested too deeply")
        if "split" not in tree:
            value = tree["value"]
            return self.leaf(value if isinstance(value, list) else [value])
        no, yes = (self.add(tree[side], depth + 1) for side in ("left", "right"))
        return self.split(tree["split"], no, yes)

    def add_oblivious(self, splits: Sequence[Mapping[str, Any]], values: np.ndarray) -> None:
        """Add a symmetric (oblivious) tree: the answers of its splits are the bits of a leaf's
        index, the first answer the lowest bit.
        """
        if len(splits) > DEEPEST:
            raise self.source.error(f"a tree asks {len(splits)} questions, more than {DEEPEST}")
        table = values.reshape(1 << len(splits), self.groups)
        level = [self.leaf(row) for row in table.tolist()]
        for split in splits:
            pairs = zip(level[::2], level[1::2], strict=True)
            level = [self.split(split, no, yes) for no, yes in pairs]
        self.forest.roots.append(level[0])


FRONT_END = front_end("CatBoost", _graph)
