"""CatBoost's own files, `.cbm`, as the objects that its JSON has.

`CBM1`, the size of a flatbuffer and the flatbuffer; tables of statistics of categories may follow.

Source: model.fbs, features.fbs and ctr_data.fbs of CatBoost.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import islice
from typing import Any

import numpy as np

from ..common.source import Source
from ..wire.flatbuffers import Schema, Table
from ..wire.reader import ByteReader
from .categories import EMPTY, Counts

MAGIC = b"CBM1"
STATISTICS = "static_provider_v1"
"""The name of the part that has the tables of statistics."""
CTR_TYPES = (
    "Borders", "Buckets", "BinarizedTargetMeanValue", "FloatTargetMeanValue", "Counter",
    "FeatureFreq",
)  # fmt: skip
NAN_TREATMENTS = ("AsIs", "AsFalse", "AsTrue")
_BUCKET = np.dtype([("hash", "<u8"), ("row", "<u4")])
_MEAN = np.dtype([("sum", "<f4"), ("count", "<i4")])

# Vectors of structures are vectors of numbers of the same size.
SCHEMA = Schema("""
Core
  0 version string
  1 trees Trees
  2 info KeyValue*
  3 parts string*
KeyValue
  0 key string
  1 value string
Trees
  0 dimension i32
  1 splits i32*
  2 sizes i32*
  3 starts i32*
  4 categorical_features Feature*
  5 float_features FloatFeature*
  6 one_hot_features OneHotFeature*
  7 ctrs Ctr*
  8 leaf_values f64*
  9 leaf_weights f64*
  10 steps u32*
  11 leaves u32*
  12 text_features Feature*
  13 estimated_features OneHotFeature*
  14 scale f64 =1
  15 bias f64
  16 biases f64*
  17 bins u32*
  18 embedding_features Feature*
Feature
  0 feature_index i32 =-1
  1 flat_feature_index i32 =-1
  2 feature_id string
  3 used bool =1
FloatFeature
  0 has_nans bool
  1 feature_index i32 =-1
  2 flat_feature_index i32 =-1
  3 borders f32*
  4 feature_id string
  5 nan_value_treatment u8
OneHotFeature
  0 cat_feature_index i32 =-1
  1 values i32*
  2 string_values string*
Ctr
  0 ctr CtrOfBase
  1 borders f32*
CtrOfBase
  0 base Base
  1 target_border_idx i32
  2 prior_numerator f32
  3 prior_denomerator f32 =1
  4 shift f32
  5 scale f32 =1
Base
  0 combination Combination
  1 type u8
  2 target_classifier i32
Combination
  0 categories i32*
  1 float_splits u64*
  2 one_hot_splits u64*
StatisticTable
  0 base Base
  1 buckets u8*
  2 numbers u8*
  3 denominator i32
  4 classes i32
""")


def parsed(source: Source) -> dict[str, Any]:
    """The objects that JSON of the same model has. Raises NncError, ValueError, LookupError."""
    reader = ByteReader(source)
    reader.take(len(MAGIC))
    core = SCHEMA.read("Core", _sized(reader))
    trees = core.trees
    if core.version != "FlabuffersModel_v1" or trees is None:
        raise source.error(f"version '{core.version}' of CatBoost's format is not supported")
    if unknown := [name for name, _ in [*core.fields(), *trees.fields()] if " " in name]:
        raise source.error(f"its format is newer than what is supported: {', '.join(unknown)}")
    features = {
        "float_features": [_float_feature(one) for one in trees.float_features],
        "categorical_features": [_categories(one, trees) for one in trees.categorical_features],
        "ctrs": [_statistic(one) for one in trees.ctrs],
        "text_features": [one.feature_id for one in trees.text_features],
        "embedding_features": [one.feature_id for one in trees.embedding_features],
    }
    model = {
        "features_info": features,
        "scale_and_bias": [trees.scale, trees.biases.tolist() or [trees.bias] * trees.dimension],
        "model_info": {one.key: one.value for one in core.info},
        "ctr_data": {},
    }
    if any(features[f"{kind}_features"] for kind in ("text", "embedding")):
        return model  # which is refused
    for part in core.parts:
        if part != STATISTICS:
            raise source.error(f"its part '{part}' is not supported")
        model["ctr_data"] = dict(_tables(reader))
    splits = _splits(trees, features)
    if len(trees.steps):
        model["trees"] = list(_trees(trees, splits))
    else:
        model["oblivious_trees"] = list(_oblivious_trees(trees, splits))
    return model


def _sized(reader: ByteReader) -> np.ndarray:
    """The next bytes, which follow their count."""
    return reader.take(reader.number("I"))


def _fields(table: Table) -> dict[str, Any]:
    """The fields of a table that are not left out; vectors become lists."""
    return {
        name: value.tolist() if isinstance(value, np.ndarray) else value
        for name, value in table.fields()
    }


def _float_feature(table: Table) -> dict[str, Any]:
    treatment = NAN_TREATMENTS[table.nan_value_treatment]
    return {"feature_index": -1, **_fields(table), "nan_value_treatment": treatment}


def _categories(table: Table, trees: Table) -> dict[str, Any]:
    index = table.feature_index
    own = [one.values for one in trees.one_hot_features if one.cat_feature_index == index]
    return _fields(table) | {"feature_index": index, "values": np.concatenate(own or [[]]).tolist()}


def _identity(base: Table) -> str:
    """A key that distinguishes the table of a statistic from others."""
    return str([base.type, base.target_classifier, _elements(base)])


def _elements(base: Table) -> list[dict[str, Any]]:
    combination = base.combination
    elements: list[dict[str, Any]] = [
        {"combination_element": "cat_feature_value", "cat_feature_index": feature}
        for feature in combination.categories.tolist()
    ]
    for feature, border in combination.float_splits.view([("at", "<i4"), ("border", "<f4")]):
        own = {"float_feature_index": int(feature), "border": float(border)}
        elements.append({"combination_element": "float_feature", **own})
    for feature, value in combination.one_hot_splits.view([("at", "<i4"), ("value", "<i4")]):
        own = {"cat_feature_index": int(feature), "value": int(value)}
        elements.append({"combination_element": "cat_feature_exact_value", **own})
    return elements


def _statistic(feature: Table) -> dict[str, Any]:
    ctr = feature.ctr
    names = ("prior_numerator", "prior_denomerator", "shift", "scale", "target_border_idx")
    return {
        "identifier": _identity(ctr.base),
        "elements": _elements(ctr.base),
        "ctr_type": CTR_TYPES[ctr.base.type],
        **{name: getattr(ctr, name) for name in names},
        "borders": feature.borders.tolist(),
    }


def _tables(reader: ByteReader) -> Iterator[tuple[str, Counts]]:
    """The tables of statistics by their identities."""
    for _ in range(reader.number("I")):
        table = SCHEMA.read("StatisticTable", _sized(reader))
        buckets = table.buckets.view(_BUCKET)
        buckets = buckets[buckets["hash"] != EMPTY]
        match CTR_TYPES[table.base.type]:
            case "BinarizedTargetMeanValue" | "FloatTargetMeanValue":
                pairs = table.numbers.view(_MEAN)
                numbers = np.stack([pairs["sum"], pairs["count"]], 1)
            case "Counter" | "FeatureFreq":
                numbers = table.numbers.view("<i4").reshape(-1, 1)
            case _:
                numbers = table.numbers.view("<i4").reshape(-1, max(table.classes, 1))
        numbers = numbers[buckets["row"]].astype(float)
        yield (
            _identity(table.base),
            Counts(buckets["hash"].view(np.int64), numbers, table.denominator),
        )


def _splits(trees: Table, features: dict[str, Any]) -> dict[int, dict[str, Any]]:
    """The splits by the numbers that trees have for them."""
    found = []
    for one in features["float_features"]:
        own = {"split_type": "FloatFeature", "float_feature_index": one["feature_index"]}
        found += [own | {"border": border} for border in one.get("borders", ())]
    for one in trees.one_hot_features:
        own = {"split_type": "OneHotFeature", "cat_feature_index": one.cat_feature_index}
        found += [own | {"value": value} for value in one.values.tolist()]
    for one in features["ctrs"]:
        own = {"split_type": "OnlineCtr"}
        found += [own | {"border": border} for border in one["borders"]]
    return {i: one | {"split_index": i} for i, one in enumerate(found)}


def _oblivious_trees(trees: Table, splits: Mapping[int, Any]) -> Iterator[dict[str, Any]]:
    asked, values = iter(trees.splits.tolist()), iter(trees.leaf_values.tolist())
    for size in trees.sizes.tolist():
        own = [splits[at] for at in islice(asked, size)]
        yield {"splits": own, "leaf_values": list(islice(values, trees.dimension << len(own)))}


def _trees(trees: Table, splits: Mapping[int, Any]) -> Iterator[dict[str, Any]]:
    """Non-symmetric trees. A node has the distances to the next nodes, 0 where a leaf follows."""
    steps = trees.steps.view("<u2").reshape(-1, 2).tolist()
    asked, leaves, values = trees.splits.tolist(), trees.leaves.tolist(), trees.leaf_values
    start = 0
    for size in trees.sizes.tolist():
        nodes: dict[int, dict[str, Any]] = {}
        for at in reversed(range(start, start + size)):
            no, yes = steps[at]
            leaf = {}
            if not no or not yes:
                leaf = {"value": values[leaves[at] : leaves[at] + trees.dimension].tolist()}
            # Each node is taken once: none follows two others.
            sides = [nodes.pop(at + step) if step else leaf for step in (no, yes)]
            pair = {"left": sides[0], "right": sides[1]}
            nodes[at] = {"split": splits[asked[at]], **pair} if no or yes else leaf
        yield nodes[start]
        start += size
