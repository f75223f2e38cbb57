"""scikit-learn's estimators, with values that their own parameter constraints allow, by skl2onnx.

The model is what skl2onnx makes of a fitted estimator. The expected outputs are ONNX Runtime's, as
the converter itself differs from scikit-learn in places; if it lacks an operator, those of
scikit-learn. Invalid models are unmakable.
"""

from __future__ import annotations

import numbers
import warnings
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import onnxruntime
from skl2onnx import convert_sklearn, supported_converters
from skl2onnx.common.data_types import FloatTensorType
from sklearn.base import RegressorMixin, is_classifier, is_outlier_detector, is_regressor
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.utils import all_estimators
from sklearn.utils._param_validation import Interval, Options

from .cases import Config, Made, Subject, UnmakableError
from .judge import difference
from .sampled import SampledSubject

FIXED: Mapping[str, Any] = {"random_state": 0, "max_iter": 50, "n_estimators": 4, "n_jobs": None}
"""Parameters with fixed values: they affect only how long fitting takes, or nothing."""

IGNORED = "verbose warm_start copy copy_X copy_x cache_size memory tol random_state n_jobs".split()  # noqa: SIM905
KINDS = ("classes", "two classes", "texts", "numbers", "several numbers")


def subjects() -> Iterator[Subject]:
    """Yield the subjects of this file."""
    known = {name.removeprefix("Sklearn") for name in supported_converters()}
    for name, estimator in all_estimators():
        constraints = getattr(estimator, "_parameter_constraints", None)
        if name not in known or not constraints:
            continue
        kinds = KINDS if not issubclass(estimator, RegressorMixin) else (*KINDS[3:], *KINDS[:3])
        choices: dict[str, Sequence[Any]] = {
            "target": kinds, "rows": [3, 1, 0], "open": [True, False], "whole": [False, True],
        }  # fmt: skip
        for parameter, allowed in constraints.items():
            if parameter in IGNORED or parameter in FIXED or allowed == "no_validation":
                continue
            values = [v for one in allowed for v in _values(one)]
            if values:
                choices[f"@{parameter}"] = ["default", *values]
        yield SampledSubject(name, choices, _maker(estimator), single=14, pairs=10)


def _values(constraint: Any) -> list[Any]:
    """Some values that a constraint allows and JSON can represent."""
    match constraint:
        case "boolean":
            return [False, True]
        case None:
            return [None]
        case Options():
            options = constraint.options
            return sorted(v for v in options if isinstance(v, str)) if options else []
        case Interval():
            return _numbers(constraint)
    return []


def _numbers(interval: Interval) -> list[Any]:
    tried = [1, 2, 3] if interval.type is numbers.Integral else [0.3, 1.0, 2.5]
    return [value for value in tried if value in interval]


def _maker(estimator: Any) -> Any:
    def make(config: Config, rng: np.random.Generator, folder: Path) -> Made:
        given = {k[1:]: v for k, v in config.items() if k[0] == "@" and v != "default"}
        own = estimator._parameter_constraints
        given |= {k: v for k, v in FIXED.items() if k in own}
        x, y = _data(config, rng)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            fitted = estimator(**given)
            _check_target(fitted, config["target"])
            fitted.fit(x, y)
            rows = None if config["open"] else config["rows"]
            types = [("x", FloatTensorType([rows, x.shape[1]]))]
            options = {id(fitted): {"zipmap": False}} if is_classifier(fitted) else None
            proto = convert_sklearn(fitted, initial_types=types, options=options)
            some = x[: config["rows"]] + np.float32(0.25 if not config["whole"] else 0)
            wanted = _computed(proto, some, fitted)
            _check_digits(fitted, some, wanted)
        path = folder / "model.onnx"
        path.write_bytes(proto.SerializeToString())
        return Made(path, [([some], wanted)])

    return make


def _check_target(fitted: Any, target: str) -> None:
    """Raise UnmakableError if the estimator does not accept this kind of target."""
    classes = target in KINDS[:3]
    if (is_classifier(fitted) and not classes) or (is_regressor(fitted) and classes):
        raise UnmakableError("another kind of target")


def _data(config: Config, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    x = rng.standard_normal((40, 5)).astype(np.float32)
    x = np.round(x * 2) if config["whole"] else x
    total = x[:, 0] + x[:, 1] * x[:, 2]
    match config["target"]:
        case "classes":
            return x, np.digitize(total, [-0.5, 0.5])
        case "two classes":
            return x, (total > 0).astype(np.int64)
        case "texts":
            return x, np.array(["low", "mid", "high"])[np.digitize(total, [-0.5, 0.5])]
        case "numbers":
            return x, np.abs(total)
    return x, np.stack([total, x[:, 3] - x[:, 4]], 1)


def _check_digits(fitted: Any, x: np.ndarray, wanted: Sequence[Any]) -> None:
    """Raise UnmakableError if sums cancel so far that no digit of f32 is left."""
    if is_outlier_detector(fitted) and len(x):
        own, found = fitted.decision_function(x), wanted[1]
    elif isinstance(fitted, GaussianProcessRegressor) and len(x):
        own, found = fitted.predict(x), wanted[0]
    else:
        return
    wide = np.asarray(own, np.float32).reshape(np.shape(found))
    if difference([np.asarray(found, np.float32)], [wide]):
        raise UnmakableError("the converter's model is no closer to scikit-learn")


def _computed(proto: Any, x: np.ndarray, fitted: Any) -> list[Any]:
    """The outputs by ONNX Runtime, or by scikit-learn if ONNX Runtime cannot run the model."""
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    options.intra_op_num_threads = 1
    try:
        session = onnxruntime.InferenceSession(proto.SerializeToString(), options)
        return list(session.run(None, {"x": x}))
    except Exception as error:  # the binding raises several kinds
        # Where no feature is selected, the converter writes the data as a shape.
        if not len(x) or "INVALID_GRAPH" in str(error):
            raise UnmakableError(str(error)) from None
    method = next(m for m in ("predict", "transform") if hasattr(fitted, m))
    found = np.asarray(getattr(fitted, method)(x))
    found = found.astype(np.float32) if found.dtype.kind == "f" else found
    if is_regressor(fitted):
        return [found.reshape(len(x), -1)]
    if is_classifier(fitted) and len(proto.graph.output) == 2:
        return [found, fitted.predict_proba(x).astype(np.float32)]
    return [found]
