"""Trees: XGBoost, LightGBM and CatBoost predict what their files say."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from ..worker import Run, Task


def load_xgboost(task: Task) -> Run:
    """The margin or probability that the model's objective gives."""
    xgboost = import_module("xgboost")

    booster = xgboost.Booster({"nthread": task.threads}, model_file=task.model)
    rows = _rows(task)
    task.ships(task.model, *task.libraries("xgboost"))
    return lambda: [booster.inplace_predict(rows)]


def load_lightgbm(task: Task) -> Run:
    """The prediction of a text file."""
    lightgbm = import_module("lightgbm")

    booster = lightgbm.Booster(model_file=task.model)
    rows = _rows(task)
    task.ships(task.model, *task.libraries("lightgbm"))
    return lambda: [np.asarray(booster.predict(rows, num_threads=task.threads))]


def load_catboost(task: Task) -> Run:
    """The prediction of a file of JSON."""
    catboost = import_module("catboost")

    model = catboost.CatBoost().load_model(task.model, format="json")
    rows = _rows(task)
    task.ships(task.model, *task.libraries("catboost"))
    return lambda: [np.asarray(model.predict(rows, thread_count=task.threads))]


def _rows(task: Task) -> np.ndarray:
    """The only input: a row for each sample."""
    (rows,) = task.inputs.values()
    return rows
