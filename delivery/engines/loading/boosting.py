"""Tree models in XGBoost, LightGBM and CatBoost."""

from __future__ import annotations

import json
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from ..worker import Run, Task


def load_xgboost(task: Task) -> Run:
    """Load an XGBoost model; its output is what its objective defines, margins or probabilities."""
    xgboost = import_module("xgboost")

    booster = xgboost.Booster({"nthread": task.threads}, model_file=task.model)
    rows = _rows(task)
    task.ships(task.model, *task.libraries("xgboost"))
    try:
        booster.inplace_predict(rows)
    except xgboost.core.XGBoostError:  # of linear models, as these have no trees
        matrix = xgboost.DMatrix(rows)
        return lambda: [booster.predict(matrix)]
    return lambda: [booster.inplace_predict(rows)]


def load_lightgbm(task: Task) -> Run:
    """Load a LightGBM model from a text file."""
    lightgbm = import_module("lightgbm")

    booster = lightgbm.Booster(model_file=task.model)
    rows = _rows(task)
    task.ships(task.model, *task.libraries("lightgbm"))
    return lambda: [np.asarray(booster.predict(rows, num_threads=task.threads))]


_MEANINGS = {
    "Logloss": "Probability", "CrossEntropy": "Probability", "MultiClass": "Probability",
    "MultiClassOneVsAll": "Probability", "MultiLogloss": "Probability",
    "MultiCrossEntropy": "Probability", "Poisson": "Exponent", "Tweedie": "Exponent",
    "RMSEWithUncertainty": "RMSEWithUncertainty",
}  # fmt: skip
"""The prediction type of CatBoost that nnc computes for each loss; for other losses, the raw sums.
"""


def load_catboost(task: Task) -> Run:
    """Load a CatBoost model: it gives probabilities, expectations or values, by its loss.

    For two classes it gives the second one's probability.
    """
    catboost = import_module("catboost")

    is_json = Path(task.model).suffix == ".json"
    model = catboost.CatBoost().load_model(task.model, format="json" if is_json else "cbm")
    loss = json.loads(model.get_metadata()["params"])["loss_function"]["type"]
    meaning = _MEANINGS.get(loss, "RawFormulaVal")
    rows = _rows(task)
    task.ships(task.model, *task.libraries("catboost"))

    def run() -> list[np.ndarray]:
        found = model.predict(rows, prediction_type=meaning, thread_count=task.threads)
        found = np.asarray(found)
        is_of_two = loss in ("Logloss", "CrossEntropy") and found.ndim == 2
        return [found[:, 1] if is_of_two else found]

    return run


def _rows(task: Task) -> np.ndarray:
    """The only input: one row per sample."""
    (rows,) = task.inputs.values()
    return rows
