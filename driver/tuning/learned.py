"""A learned model of the analytical model's errors, from all measurements so far.

It predicts the logarithm of measured over expected time, both relative to the default schedule. It
is used only if it ranks schedules of unseen kernels better than the analytical model does.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from math import log2, sqrt
from typing import TYPE_CHECKING, Any

import numpy as np

from ...kernels.policy.features import VERSION, Features
from .measurements import Measurement

if TYPE_CHECKING:
    from numpy.typing import NDArray

LEAST_TRIALS = 6
"""The least measured schedules of a kernel for a ranking of them to be meaningful."""
LEAST_KERNELS = 8
"""The least number of such kernels for learning."""
MOST = 6_000
"""The most measurements that are learned from, the newest, to limit the time."""
FOLDS = 5
_GROWN = 1.25
"""The growth of the measurements after which the model is fitted again."""
_SURE = 0.02
"""The spread of a ratio that halves its weight, relative to an exact one."""

_ABSOLUTE = ("kernel.", "machine.", "ops.", "inner.trips", "tile.along", "tile.across")
"""Prefixes of features that would let trees recognize a kernel or a model instead of learning about
schedules: they are recorded, but not learned from."""

Fit = Callable[["NDArray", "NDArray", "NDArray"], Callable[["NDArray"], "NDArray"]]
"""(rows of features, targets, weights) -> a function that predicts targets from rows."""


@dataclass(frozen=True)
class Verified:
    """Mean rank correlations with measured times, over held-out kernels."""

    learned: float
    analytical: float
    error: float
    """The standard error of the difference."""
    kernels: int

    @property
    def is_better(self) -> bool:
        """Whether the learned model ranks better, beyond the statistical error."""
        return self.learned - self.analytical > self.error

    def __str__(self) -> str:
        used = "is used" if self.is_better else "is not used"
        return (
            f"the learned model {used}: rank correlation {self.learned:.2f} on {self.kernels} "
            f"kernels that it has not seen, {self.analytical:.2f} of the analytical model"
        )


class Learned:
    """Ranks schedules by the analytical model, or by the learned one once that ranks better.

    `fit` is LightGBM's if it is installed; without it nothing is learned, and a message says so.
    """

    def __init__(
        self,
        measurements: Sequence[Measurement] = (),
        say: Callable[[str], None] = lambda message: None,
        fit: Fit | None = None,
    ) -> None:
        self.measurements = [one for one in measurements if one.version == VERSION]
        self._say, self._fit = say, fit or (boosted if is_installed() else None)
        self._learned_from = 0
        self._predict: Callable[[Sequence[Features]], NDArray] | None = None
        if self._fit is None:
            say("LightGBM is not installed (pip install 'nnc[tune]'): nothing is learned")
        self.learn()

    @property
    def is_used(self) -> bool:
        """Whether the learned model ranks better than the analytical model."""
        return self._predict is not None

    def add(self, measurements: Sequence[Measurement]) -> None:
        """Add measurements, and learn from all if there are enough new ones."""
        self.measurements += measurements
        if len(self.measurements) > _GROWN * self._learned_from:
            self.learn()

    def learn(self) -> None:
        """Learn from all measurements; use the result if it ranks better than the cost model."""
        newest = self.measurements[-MOST:]
        if self._fit is None or len(rankings(newest)) < LEAST_KERNELS:
            return
        self._learned_from = len(self.measurements)
        found = verified(newest, self._fit)
        self._say(str(found))
        self._predict = predictor(newest, self._fit) if found.is_better else None

    def rank(self, schedules: Sequence[Features]) -> list[float]:
        """The expected time of each schedule relative to the default, as base-2 logarithms."""
        if self._predict is None or not schedules:
            return [one.get("predicted", 0.0) for one in schedules]
        return [float(one) for one in self._predict(schedules)]


def is_installed() -> bool:
    """Whether LightGBM is installed."""
    return find_spec("lightgbm") is not None


def predictor(
    measurements: Sequence[Measurement], fit: Fit
) -> Callable[[Sequence[Features]], NDArray]:
    """Learn from measurements; returns a function that predicts relative times as logarithms."""
    found = {name for one in measurements for name in one.features}
    names = sorted(name for name in found if not name.startswith(_ABSOLUTE))
    rows = _rows([one.features for one in measurements], names)
    predict = fit(rows, _residuals(measurements), _weights(measurements))

    def times(schedules: Sequence[Features]) -> NDArray:
        expected = np.array([one.get("predicted", 0.0) for one in schedules])
        return expected + predict(_rows(schedules, names))

    return times


def verified(measurements: Sequence[Measurement], fit: Fit) -> Verified:
    """Cross-validate: each kernel is ranked by a model learned from the other kernels."""
    by_kernel = rankings(measurements)
    kernels = sorted(by_kernel)
    scores: list[tuple[float, float]] = []
    for fold in range(FOLDS):
        held = set(kernels[fold::FOLDS])
        if not held:
            continue
        times = predictor([one for one in measurements if one.kernel not in held], fit)
        for kernel in sorted(held):
            own = by_kernel[kernel]
            measured = np.array([one.ratio for one in own])
            learned = times([one.features for one in own])
            expected = np.array([one.predicted for one in own])
            scores.append(
                (rank_correlation(learned, measured), rank_correlation(expected, measured))
            )
    found = np.array(scores)
    difference = found[:, 0] - found[:, 1]
    error = float(np.std(difference, ddof=1)) / sqrt(len(found)) if len(found) > 1 else 1.0
    return Verified(float(found[:, 0].mean()), float(found[:, 1].mean()), error, len(found))


def rankings(measurements: Sequence[Measurement]) -> dict[str, list[Measurement]]:
    """The measurements by kernel, of kernels with enough to be ranked."""
    found: dict[str, list[Measurement]] = {}
    for one in measurements:
        found.setdefault(one.kernel, []).append(one)
    return {key: own for key, own in found.items() if len(own) >= LEAST_TRIALS}


def rank_correlation(one: NDArray, other: NDArray) -> float:
    """Spearman's rank correlation; 0 if all values of one side are equal."""
    ranks = [_ranks(values) - (len(values) - 1) / 2 for values in (one, other)]
    norm = sqrt(float((ranks[0] ** 2).sum() * (ranks[1] ** 2).sum()))
    return float((ranks[0] * ranks[1]).sum()) / norm if norm else 0.0


def _ranks(values: NDArray) -> NDArray:
    """The rank of each value; equal values share the mean of their ranks."""
    _, where, counts = np.unique(values, return_inverse=True, return_counts=True)
    ends = np.cumsum(counts)
    return (ends - (counts + 1) / 2)[where]


def _rows(schedules: Sequence[Mapping[str, float]], names: Sequence[str]) -> NDArray:
    return np.array([[one.get(name, 0.0) for name in names] for one in schedules])


def _residuals(measurements: Sequence[Measurement]) -> NDArray:
    return np.array([log2(one.ratio / one.predicted) for one in measurements])


def _weights(measurements: Sequence[Measurement]) -> NDArray:
    """The weight of each measurement; those with a wide spread count less."""
    spreads = np.array([(one.high - one.low) / (2 * one.ratio) for one in measurements])
    return 1 / (1 + np.maximum(spreads, 0) / _SURE)


def boosted(rows: NDArray, targets: NDArray, weights: NDArray) -> Callable[[NDArray], NDArray]:
    """LightGBM's boosted trees: deterministic, on one thread."""
    import lightgbm

    options: dict[str, Any] = {
        "objective": "l1",
        "learning_rate": 0.06,
        "num_leaves": 15,
        "min_data_in_leaf": 8,
        "feature_fraction": 0.7,
        "lambda_l2": 1.0,
        "deterministic": True,
        "force_row_wise": True,
        "num_threads": 1,
        "seed": 0,
        "verbosity": -1,
    }
    data = lightgbm.Dataset(rows, targets, weight=weights)
    trees = lightgbm.train(options, data, num_boost_round=120)
    return lambda asked: np.asarray(trees.predict(asked))
