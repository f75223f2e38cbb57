"""Numeric columns made of CatBoost's categorical features.

A categorical feature, which is text, counts as the lower 32 bits of its hash. A *statistic* of one
or several features is a number stored in the model for each combination of their values in
training: how often it occurred, or how often with which labels.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ...dialects import nn
from ...ir.core import Value
from ...ir.types import f64, i64
from ..common.layer import Layer
from ..common.source import Source
from ..common.strings import lookup
from ..common.terms import Term, constant

FACTOR = 0x4906BA494954CB65
"""The factor by which the hashes of a combination are joined."""
EMPTY = (1 << 64) - 1
"""Marks an empty slot of a hash table."""
_LOW = (1 << 32) - 1
Places = Mapping[int, tuple[int, bool]]
"""The column of each numeric feature, by its index, and whether NaN exceeds all borders of it."""


@dataclass(frozen=True)
class Part:
    """A component of a combination: a categorical feature, or a condition on a feature."""

    kind: str
    feature: int
    value: float = 0.0
    """The border of a float feature, or the hash that a category is compared with."""

    @staticmethod
    def of(source: Source, given: Mapping[str, Any]) -> Part:
        """The part that an element of a combination in the model's JSON describes.

        Raises NncError for a kind of element that is not supported.
        """
        kind = str(given["combination_element"])
        match kind:
            case "cat_feature_value":
                return Part(kind, int(given["cat_feature_index"]))
            case "cat_feature_exact_value":
                return Part(kind, int(given["cat_feature_index"]), int(given["value"]))
            case "float_feature":
                return Part(kind, int(given["float_feature_index"]), float(given["border"]))
        raise source.error(f"statistics of '{kind}' are not supported")


@dataclass(frozen=True)
class Counts:
    """Counts from training for each combination of values: [combinations, C]."""

    hashes: np.ndarray
    numbers: np.ndarray
    denominator: float
    """The divisor of counts, in statistics of how often a combination occurs."""

    @staticmethod
    def of_json(table: Mapping[str, Any]) -> Counts:
        """The counts that a JSON object of the file has."""
        rows = np.array(table["hash_map"], dtype=object).reshape(-1, int(table["hash_stride"]))
        rows = rows[[int(h) != EMPTY for h in rows[:, 0]]]
        hashes = np.array([int(h) for h in rows[:, 0]], np.uint64).view(np.int64)
        return Counts(hashes, rows[:, 1:].astype(float), float(table["counter_denominator"]))


@dataclass(frozen=True)
class Statistic:
    """A number for each combination of values, and one for combinations not seen in training."""

    parts: Sequence[Part]
    hashes: np.ndarray
    numbers: np.ndarray
    other: float

    @staticmethod
    def of(source: Source, given: Mapping[str, Any], table: Counts) -> Statistic:
        """The statistic that a JSON object of the file describes. Raises NncError."""
        counts, kind = table.numbers, str(given["ctr_type"])
        border = int(given["target_border_idx"])
        total: Any = counts.sum(axis=1)
        unknown = 0.0
        match kind:
            case "Borders" if 0 <= border < counts.shape[1] - 1:
                good = counts[:, border + 1 :].sum(axis=1)
            case "Buckets":
                good = counts[:, border]
            case "BinarizedTargetMeanValue" | "FloatTargetMeanValue":
                good, total = counts[:, 0], counts[:, 1]
            case "Counter" | "FeatureFreq":
                good, total = counts[:, 0], table.denominator
                unknown = total
            case _:
                text = f"statistics of the type '{kind}' with border {border} are not supported"
                raise source.error(text)
        shift, scale = float(given["shift"]), float(given["scale"])
        above, below = float(given["prior_numerator"]), float(given["prior_denomerator"])

        def number(count: Any, whole: Any) -> Any:
            return (((count + above) / (whole + below)).astype(np.float32) + shift) * scale

        other = number(np.float64(0.0), np.float64(unknown))
        parts = [Part.of(source, part) for part in given["elements"]]
        return Statistic(
            parts,
            table.hashes,
            np.asarray(number(good, total), np.float32),
            float(np.float32(other)),
        )

    def column(self, n: Layer, rows: Term | None, hashes: Term, places: Places) -> Term:
        """The statistic for each row, in f64: [B, 1]."""
        whole = constant(n, 0, i64)
        order = ("cat_feature_value", "float_feature", "cat_feature_exact_value")
        for part in sorted(self.parts, key=lambda part: order.index(part.kind)):
            if part.kind == "float_feature" and rows is not None:
                place, missing = places[part.feature]
                given = rows.column(place)
                above = given > part.value
                own = (above | given.made(nn.IsNan(given.value)) if missing else above).cast(i64)
            else:
                own = hashes.column(part.feature)
                if part.kind == "cat_feature_exact_value":
                    own = own.equals(int(part.value)).cast(i64)
            whole = (whole + own * _signed(FACTOR)) * _signed(FACTOR)
        count = len(self.hashes)
        at = lookup(n, whole.value, self.hashes, np.arange(count), np.array(count))
        numbers = np.append(self.numbers, np.float32(self.other)).astype(np.float64)
        return constant(n, numbers).gather(Term(n, at)).spread(0, 1)


def _signed(word: int) -> int:
    """The signed integer with the same 64 bits."""
    return word - (1 << 64) if word >> 63 else word


@dataclass
class Categories:
    """The categorical features, and the columns made of them: their hashes, then the statistics."""

    count: int
    places: Places
    statistics: list[Statistic] = field(default_factory=list)

    def columns(self, n: Layer, rows: Term | None, words: Value) -> list[Term]:
        """The columns in f64, each [B, C]. `rows` are the numeric features, if there are some."""
        own = Term(n, n(nn.StringHash(words, function="city"))) & _LOW
        own = (own > _LOW >> 1).choose(own - (_LOW + 1), own)
        made = [one.column(n, rows, own, self.places) for one in self.statistics]
        return [own.cast(f64), *made]
