"""Models of other libraries by their converters: skl2onnx, onnxmltools, tf2onnx.

A row gives the ONNX model, its input at two batch sizes, and the outputs of the library itself.
Each library is imported when its row is made, so that not all have to be installed.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import onnx

from .keras_models import KERAS

Arrays = list[np.ndarray]
Made = tuple[onnx.ModelProto, Callable[[np.ndarray], Arrays]]

FEATURES, CLASSES, ROWS_TO_LEARN = 12, 3, 400
BATCHES = (5, 64)


@dataclass(frozen=True)
class Converted:
    """A row: `make` returns the model and the library's own function for it."""

    make: Callable[[np.ndarray, np.ndarray], Made]
    shape: tuple[int, ...] = (FEATURES,)


def learnable() -> tuple[np.ndarray, np.ndarray]:
    """Training data: points around three centres, and the index of each one's centre."""
    random = np.random.default_rng(0)
    y = random.integers(0, CLASSES, ROWS_TO_LEARN)
    centres = random.standard_normal((CLASSES, FEATURES))
    x = centres[y] + 0.7 * random.standard_normal((ROWS_TO_LEARN, FEATURES))
    return x.astype(np.float32), y


def export_other(name: str, row: Converted, folder: Path, again: bool = False) -> str:
    """Write the model and its values, as `export.py` does, unless they exist.

    Returns the converter's error message, or "". Raises ImportError if the library is missing.
    """
    if (folder / f"{name}.npz").exists() and not again:
        return ""
    try:
        model, call = row.make(*learnable())
    except ImportError:
        raise
    except Exception as error:  # a converter fails in any way it likes
        return f"{type(error).__name__}: {error}"
    if len(model.graph.input) != 1:
        return f"{len(model.graph.input)} inputs: constants of the network among them"
    arrays: dict[str, np.ndarray] = {}
    random = np.random.default_rng(1)
    for at, batch in enumerate(BATCHES):
        given = random.standard_normal((batch, *row.shape)).astype(np.float32)
        arrays[f"{at}/in/{model.graph.input[0].name}"] = given
        arrays |= {f"{at}/out/{i}": np.asarray(one) for i, one in enumerate(call(given))}
    np.savez(folder / f"{name}.npz", allow_pickle=False, **arrays)
    onnx.save(model, folder / f"{name}.convert.dynamic.onnx")
    return ""


def sklearn_row(module: str, kind: str, **options: Any) -> Converted:
    """An estimator or transformer of scikit-learn, trained and converted by skl2onnx."""

    def make(x: np.ndarray, y: np.ndarray) -> Made:
        from skl2onnx import to_onnx

        learned = getattr(importlib.import_module(f"sklearn.{module}"), kind)(**options).fit(x, y)
        no_map = {"zipmap": False} if hasattr(learned, "classes_") else {}
        model = to_onnx(learned, x[:1], options={id(learned): no_map} if no_map else None)
        return model, partial(_sklearn_outputs, learned)

    return Converted(make)


def _sklearn_outputs(learned: Any, x: np.ndarray) -> Arrays:
    if hasattr(learned, "predict_proba"):
        return [learned.predict(x), learned.predict_proba(x).astype(np.float32)]
    if hasattr(learned, "predict"):
        return [learned.predict(x).astype(np.float32).reshape(-1, 1)]
    return [learned.transform(x).astype(np.float32)]


def boosted_row(package: str, kind: str, **options: Any) -> Converted:
    """Trees of LightGBM or XGBoost, converted by onnxmltools."""

    def make(x: np.ndarray, y: np.ndarray) -> Made:
        import onnxmltools
        from onnxmltools.convert.common.data_types import FloatTensorType

        learned = getattr(importlib.import_module(package), kind)(**options).fit(x, y)
        convert = getattr(onnxmltools, f"convert_{package}")
        more = {"zipmap": False} if package == "lightgbm" else {}
        types = [("x", FloatTensorType([None, FEATURES]))]
        return convert(learned, initial_types=types, **more), partial(_sklearn_outputs, learned)

    return Converted(make)


def keras_row(build: Callable[[Any], Any], shape: tuple[int, ...]) -> Converted:
    """A Keras model converted by tf2onnx; `build` gets TensorFlow's `keras` module."""

    def make(_x: np.ndarray, _y: np.ndarray) -> Made:
        import tensorflow
        import tf2onnx

        model = build(tensorflow.keras)
        signature = [tensorflow.TensorSpec((None, *shape), tensorflow.float32, name="x")]
        function = tensorflow.function(lambda x: model(x, training=False), signature)
        found, _ = tf2onnx.convert.from_function(function, signature, opset=18)
        return found, lambda x: [np.asarray(function(x))]

    return Converted(make, shape)


_TREES = {"n_estimators": 20, "random_state": 0}
OTHERS: dict[str, Converted] = {
    "skl_logistic": sklearn_row("linear_model", "LogisticRegression"),
    "skl_ridge": sklearn_row("linear_model", "Ridge"),
    "skl_svc": sklearn_row("svm", "SVC", probability=True),
    "skl_svr": sklearn_row("svm", "SVR"),
    "skl_forest": sklearn_row("ensemble", "RandomForestClassifier", **_TREES),
    "skl_forest_regressor": sklearn_row("ensemble", "RandomForestRegressor", **_TREES),
    "skl_boosting": sklearn_row("ensemble", "GradientBoostingClassifier", **_TREES),
    "skl_histogram_boosting": sklearn_row(
        "ensemble", "HistGradientBoostingClassifier", max_iter=10
    ),
    "skl_adaboost": sklearn_row("ensemble", "AdaBoostClassifier", **_TREES),
    "skl_tree": sklearn_row("tree", "DecisionTreeClassifier", random_state=0),
    "skl_neighbours": sklearn_row("neighbors", "KNeighborsClassifier"),
    "skl_kmeans": sklearn_row("cluster", "KMeans", n_clusters=4, n_init=1, random_state=0),
    "skl_mlp": sklearn_row("neural_network", "MLPClassifier", max_iter=50, random_state=0),
    "skl_bayes": sklearn_row("naive_bayes", "GaussianNB"),
    "skl_scaler": sklearn_row("preprocessing", "StandardScaler"),
    "skl_polynomial": sklearn_row("preprocessing", "PolynomialFeatures"),
    "skl_pca": sklearn_row("decomposition", "PCA", n_components=4),
    "skl_gaussian_process": sklearn_row("gaussian_process", "GaussianProcessRegressor"),
    "lightgbm": boosted_row("lightgbm", "LGBMClassifier", n_estimators=20, verbose=-1),
    "lightgbm_regressor": boosted_row("lightgbm", "LGBMRegressor", n_estimators=20, verbose=-1),
    "xgboost": boosted_row("xgboost", "XGBClassifier", n_estimators=20),
    "xgboost_regressor": boosted_row("xgboost", "XGBRegressor", n_estimators=20),
    **{name: keras_row(*row) for name, row in KERAS.items()},
}
