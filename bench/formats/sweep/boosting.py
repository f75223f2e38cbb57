"""Subjects of XGBoost, LightGBM and CatBoost: training parameters, rows to
predict, file formats.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import catboost
import lightgbm
import numpy as np
import xgboost

from .cases import Config, Made, Subject, UnmakableError

ROWS = {
    "plain": ["plain", "one", "none", "missing", "huge", "zeros", "thresholds"],
}
"""The kinds of rows to predict: as in training, a single one, none, with NaN, with the largest
numbers, with zeros of both signs, and with the thresholds of the trees.
"""
CATEGORIES = {"none": 0, "few": 3, "many": 40}


def _training(rng: np.random.Generator, config: Config) -> np.ndarray:
    """Training data [200, 5], whose last two columns may be categories."""
    x = rng.normal(0, 1, (200, 5)).astype(np.float32)
    x[:, 2] = np.round(x[:, 2], 1)
    x[rng.random(200) < 0.3, 1] = 0
    if count := CATEGORIES[config["categories"]]:
        x[:, 3:] = rng.integers(0, count, (200, 2))
    if config["missing"] != "none":
        gone = rng.random(x.shape) < 0.1
        if config["missing"] == "column":
            gone = np.zeros(x.shape, bool)
            gone[:, 0] = True
        x[gone] = np.nan
    return x


def _given(x: np.ndarray, kind: str, rng: np.random.Generator, categories: bool) -> np.ndarray:
    """The rows to predict, of a kind of `ROWS`."""
    rows = x[rng.integers(0, len(x), {"one": 1, "none": 0}.get(kind, 24))].copy()
    numbers = rows[:, :3] if categories else rows
    match kind:
        case "missing":
            rows[rng.random(rows.shape) < 0.4] = np.nan
            rows[:1] = np.nan
        case "huge":
            numbers[rng.random(numbers.shape) < 0.3] = 3e38
            numbers[rng.random(numbers.shape) < 0.3] = -3e38
            numbers[rng.random(numbers.shape) < 0.1] = 1e-40
        case "zeros":
            numbers[rng.random(numbers.shape) < 0.5] = 0
            numbers[rng.random(numbers.shape) < 0.3] = -0.0
        case "unknown":
            if categories:
                rows[:, 3:] = rng.integers(30, 60, (len(rows), 2))
    return rows


def _labels(x: np.ndarray, kind: str) -> np.ndarray:
    """Labels of the form that an objective needs."""
    known = np.nan_to_num(x)
    score = known[:, 1] - np.abs(known[:, 2]) + (known[:, 3] % 3 == 1) + 0.3 * known[:, 4]
    match kind:
        case "positive":
            return score - score.min() + 0.1
        case "share":
            return 1 / (1 + np.exp(-score))
        case "two":
            return (score > 0).astype(float)
        case "three":
            return np.digitize(score, [-1, 0.5]).astype(float)
        case "pair":
            return np.stack([score, np.sin(score)], 1)
        case "bits":
            return np.stack([score > 0, score > 1, known[:, 1] > 0], 1).astype(float)
    return score


def _made(path: Path, rows: np.ndarray, wanted: Any, *more: Any, **options: Any) -> Made:
    return Made(path, [([rows, *more], [np.asarray(wanted)])], interpreted=True, **options)


# -- XGBoost ---------------------------------------------------------------------------------------

_XGBOOST = {
    "reg:squarederror": "real", "reg:squaredlogerror": "positive", "reg:logistic": "share",
    "reg:pseudohubererror": "real", "reg:absoluteerror": "real", "reg:quantileerror": "real",
    "binary:logistic": "two", "binary:logitraw": "two", "binary:hinge": "two",
    "count:poisson": "positive", "survival:cox": "positive", "survival:aft": "positive",
    "multi:softmax": "three", "multi:softprob": "three", "rank:ndcg": "three", "rank:map": "two",
    "rank:pairwise": "three", "reg:gamma": "positive", "reg:tweedie": "positive",
}  # fmt: skip
_MULTIPLE = ("reg:squarederror", "binary:logistic", "reg:absoluteerror", "reg:pseudohubererror")


def _xgboost(config: Config, rng: np.random.Generator, folder: Path) -> Made:
    x, objective, booster = _training(rng, config), config["objective"], config["booster"]
    labels = _labels(x, _XGBOOST[objective])
    if config["targets"] > 1:
        labels = np.stack([labels, labels[::-1]], 1)
    kinds = None
    if config["categories"] != "none":
        kinds = ["q"] * 3 + ["c"] * 2
    data = xgboost.DMatrix(x, labels, feature_types=kinds, enable_categorical=kinds is not None)
    if objective.startswith("rank"):
        data.set_group([50] * 4)
    if objective == "survival:aft":
        data.set_float_info("label_lower_bound", labels)
        data.set_float_info("label_upper_bound", labels)
    choices: dict[str, Any] = {"objective": objective, "booster": booster}
    if config["base"] == "one":
        choices["base_score"] = 0.3
    elif config["base"] == "each":
        count = 3 if objective.startswith("multi") else config["targets"]
        choices["base_score"] = str([0.2 + 0.1 * i for i in range(count)])
    if objective.startswith("multi"):
        choices["num_class"] = 3
    if objective == "reg:quantileerror":
        choices["quantile_alpha"] = [0.2, 0.7] if config["targets"] == 1 else 0.4
    if booster == "gblinear":
        choices |= {"updater": config["updater"], "reg_lambda": config["regularization"]}
    else:
        names = ("max_depth", "tree_method", "grow_policy", "num_parallel_tree", "multi_strategy")
        choices |= {name: config[name] for name in names} | {"eta": 0.5}
        choices |= {"lambda": config["regularization"], "max_cat_to_onehot": config["onehot"]}
        if config["monotone"]:
            choices["monotone_constraints"] = "(1,0,-1,0,0)"
        if config["subsample"] < 1:
            choices |= {"subsample": config["subsample"], "colsample_bytree": 0.7}
    if booster == "dart":
        choices |= {"rate_drop": 0.5, "normalize_type": config["normalize_type"]}
    try:
        model = xgboost.train(choices, data, config["rounds"])
        path = folder / f"model{config['suffix']}"
        model.save_model(path)
        rows = _given(x, config["rows"], rng, kinds is not None)
        if config["rows"] == "thresholds" and booster != "gblinear":
            rows = _at_thresholds(rows, model.get_dump(dump_format="text"), kinds is not None)
        given = xgboost.DMatrix(rows, feature_types=kinds, enable_categorical=kinds is not None)
        wanted = model.predict(given)
        if not len(rows):  # of which XGBoost does not tell how many columns there are
            some = xgboost.DMatrix(x, feature_types=kinds, enable_categorical=kinds is not None)
            wanted = model.predict(some)[:0]
        return _made(path, rows, wanted)
    except xgboost.core.XGBoostError as error:
        raise UnmakableError(str(error).splitlines()[0][-200:]) from None


def _at_thresholds(rows: np.ndarray, dumps: list[str], categories: bool) -> np.ndarray:
    """The rows with some numbers replaced by thresholds, found as `[f2<0.5]` in text dumps of
    trees.
    """
    import re

    for i, (name, number) in enumerate(re.findall(r"\[f(\d+)<([^\]]+)\]", " ".join(dumps))):
        if not (categories and int(name) > 2):
            rows[i % len(rows), int(name)] = np.float32(number)
    return rows


def _xgboost_subject(name: str, booster: str, **fixed: Any) -> Subject:
    choices: dict[str, Any] = {
        "booster": [booster],
        "objective": list(_XGBOOST),
        "base": ["none", "one", "each"],
        "targets": [1, 2],
        "categories": list(CATEGORIES),
        "missing": ["none", "some", "column"],
        "rows": ROWS["plain"],
        "suffix": [".json", ".ubj"],
        "rounds": [3, 1, 12],
        "regularization": [1, 0, 20],
    }

    def allowed(config: Config) -> bool:
        pairs = config["objective"] in _MULTIPLE or config["targets"] == 1
        strategy = config.get("multi_strategy", "one_output_per_tree")
        one = strategy == "one_output_per_tree"
        return pairs and (one or (config["tree_method"] == "hist" and not config["monotone"]))

    if booster == "gblinear":
        choices |= {"updater": ["coord_descent", "shotgun"], "categories": ["none"]}
    else:
        choices |= {
            "max_depth": [3, 1, 7],
            "tree_method": ["hist", "approx", "exact"],
            "grow_policy": ["depthwise", "lossguide"],
            "num_parallel_tree": [1, 3],
            "multi_strategy": ["one_output_per_tree", "multi_output_tree"],
            "monotone": [False, True],
            "subsample": [1, 0.6],
            "onehot": [4, 100],
            "normalize_type": ["tree", "forest"] if booster == "dart" else ["tree"],
        }
    return Subject(name, choices | fixed, _xgboost, allowed)


# -- LightGBM --------------------------------------------------------------------------------------

_LIGHTGBM = {
    "regression": "real", "regression_l1": "real", "huber": "real", "fair": "real",
    "quantile": "real", "mape": "positive", "poisson": "positive", "gamma": "positive",
    "tweedie": "positive", "binary": "two", "multiclass": "three", "multiclassova": "three",
    "cross_entropy": "share", "cross_entropy_lambda": "share", "lambdarank": "three",
    "rank_xendcg": "three",
}  # fmt: skip


def _lightgbm(config: Config, rng: np.random.Generator, folder: Path) -> Made:
    x, objective = _training(rng, config).astype(np.float64), config["objective"]
    names = (
        "boosting", "num_leaves", "max_depth", "use_missing", "zero_as_missing", "linear_tree",
        "boost_from_average", "max_cat_to_onehot", "max_bin", "lambda_l2", "reg_sqrt",
        "extra_trees", "path_smooth",
    )  # fmt: skip
    choices = {name: config[name] for name in names}
    choices |= {"objective": objective, "verbose": -1, "min_data_in_leaf": 5, "cat_smooth": 1}
    choices |= {"min_data_per_group": 5, "sigmoid": config["sigmoid"], "num_threads": 1}
    if objective.startswith("multiclass"):
        choices["num_class"] = 3
    if config["boosting"] == "rf":
        choices |= {"bagging_freq": 1, "bagging_fraction": 0.7}
    if config["monotone"]:
        choices["monotone_constraints"] = [1, 0, -1, 0, 0]
    columns = [3, 4] if config["categories"] != "none" else []
    group = [50] * 4 if objective in ("lambdarank", "rank_xendcg") else None
    labels = _labels(x, _LIGHTGBM[objective])
    try:
        data = lightgbm.Dataset(x, labels, categorical_feature=columns, group=group)
        model = lightgbm.train(choices, data, config["rounds"])
        model.save_model(folder / "model.txt")
        again = lightgbm.Booster(model_file=folder / "model.txt")
        rows = _given(x, config["rows"], rng, bool(columns)).astype(np.float64)
        if config["rows"] == "thresholds":
            for i, (at, number) in enumerate(_thresholds(model.dump_model()["tree_info"])):
                rows[i % len(rows), at] = number
        wanted = again.predict(rows) if len(rows) else None
    except lightgbm.basic.LightGBMError as error:
        raise UnmakableError(str(error)) from None
    if wanted is None:
        wanted = np.zeros((0, 3) if objective.startswith("multiclass") else (0,))
    return _made(folder / "model.txt", rows, wanted)


def _thresholds(value: Any) -> Iterator[tuple[int, float]]:
    """Yields the feature and the threshold of each node, in nested JSON of trees."""
    if isinstance(value, list):
        for one in value:
            yield from _thresholds(one)
    elif isinstance(value, Mapping):
        if value.get("decision_type") == "<=":
            yield value["split_feature"], value["threshold"]
        yield from _thresholds([v for v in value.values() if isinstance(v, Mapping | list)])


def _lightgbm_subject() -> Subject:
    choices: dict[str, Any] = {
        "objective": list(_LIGHTGBM),
        "boosting": ["gbdt", "dart", "rf", "goss"],
        "categories": list(CATEGORIES),
        "missing": ["none", "some", "column"],
        "rows": [*ROWS["plain"], "unknown"],
        "rounds": [3, 1, 12],
        "num_leaves": [6, 2, 31],
        "max_depth": [-1, 2],
        "use_missing": [True, False],
        "zero_as_missing": [False, True],
        "linear_tree": [False, True],
        "boost_from_average": [True, False],
        "max_cat_to_onehot": [4, 1, 100],
        "max_bin": [255, 4],
        "lambda_l2": [0, 10],
        "reg_sqrt": [False, True],
        "sigmoid": [1.0, 0.4],
        "monotone": [False, True],
        "extra_trees": [False, True],
        "path_smooth": [0, 2],
    }

    def allowed(config: Config) -> bool:
        """What LightGBM itself ends the process for is left out."""
        if config["linear_tree"]:
            plain = not config["zero_as_missing"] and not config["monotone"]
            return plain and config["objective"] != "regression_l1"
        return not (config["monotone"] and config["categories"] != "none")

    return Subject("LightGBM", choices, _lightgbm, allowed)


# -- CatBoost --------------------------------------------------------------------------------------

_CATBOOST = {
    "RMSE": ("real", "RawFormulaVal"), "MAE": ("real", "RawFormulaVal"),
    "Quantile": ("real", "RawFormulaVal"), "Huber:delta=1": ("real", "RawFormulaVal"),
    "LogCosh": ("real", "RawFormulaVal"), "Expectile": ("real", "RawFormulaVal"),
    "MAPE": ("positive", "RawFormulaVal"), "Lq:q=1.5": ("real", "RawFormulaVal"),
    "Poisson": ("positive", "Exponent"), "Tweedie:variance_power=1.5": ("positive", "Exponent"),
    "Logloss": ("two", "Probability"), "CrossEntropy": ("share", "Probability"),
    "MultiClass": ("three", "Probability"), "MultiClassOneVsAll": ("three", "Probability"),
    "MultiRMSE": ("pair", "RawFormulaVal"), "MultiLogloss": ("bits", "Probability"),
    "RMSEWithUncertainty": ("real", "RMSEWithUncertainty"),
    "QueryRMSE": ("real", "RawFormulaVal"), "YetiRank": ("real", "RawFormulaVal"),
    "PairLogit": ("two", "RawFormulaVal"),
}  # fmt: skip


def _catboost(config: Config, rng: np.random.Generator, folder: Path) -> Made:
    x, loss = _training(rng, config), config["loss"]
    kind, form = _CATBOOST[loss]
    texts = config["categories"] != "none"
    names = (
        "depth", "grow_policy", "nan_mode", "one_hot_max_size", "max_ctr_complexity",
        "border_count", "l2_leaf_reg", "feature_border_type", "boosting_type", "bootstrap_type",
        "iterations", "leaf_estimation_iterations", "random_strength",
    )  # fmt: skip
    choices = {name: config[name] for name in names}
    choices |= {"loss_function": loss, "verbose": 0, "allow_writing_files": False}
    choices |= {"thread_count": 1, "learning_rate": 0.3}
    if config["ctr"]:
        choices |= {"simple_ctr": [config["ctr"]], "combinations_ctr": [config["ctr"]]}
    if config["monotone"]:
        choices["monotone_constraints"] = [0, 1, -1]
    group = np.arange(200) // 20 if loss in ("QueryRMSE", "YetiRank", "PairLogit") else None

    def frame(rows: np.ndarray) -> Any:
        if not texts:
            return rows
        return [[*row[:3], *(_word(v, config["words"]) for v in row[3:])] for row in rows.tolist()]

    try:
        model = catboost.CatBoost(choices)
        columns = [3, 4] if texts else None
        labels = _labels(x, kind)
        model.fit(catboost.Pool(frame(x), labels, cat_features=columns, group_id=group))
        model.save_model(str(folder / "model.json"), format="json")
        borders = sorted(model.get_borders().items())
        # CatBoost itself does not always predict the same before and behind a file.
        model = catboost.CatBoost().load_model(str(folder / "model.json"), format="json")
        rows = _given(x, config["rows"], rng, texts)
        if config["rows"] == "thresholds":
            for i, (at, own) in enumerate(borders):
                for j, border in enumerate(own):
                    rows[(i + j) % len(rows), at] = border
        wanted = np.asarray(model.predict(frame(rows), prediction_type=form), np.float32)
    except catboost.CatBoostError as error:
        raise UnmakableError(str(error)[:200]) from None
    if form == "Probability" and kind in ("two", "share"):
        wanted = wanted[:, 1]
    if not texts:
        return _made(folder / "model.json", rows, wanted)
    words = np.array([[str(v) for v in row[3:]] for row in frame(rows)], object).reshape(-1, 2)
    return _made(folder / "model.json", rows[:, :3], wanted, words)


def _word(value: float, form: str) -> Any:
    """A category as an integer, or as short or long text."""
    number = -1 if np.isnan(value) else int(value)
    return number if form == "integers" else f"{'kind of ' * (number % 11)}{number}"


def _catboost_subject() -> Subject:
    choices: dict[str, Any] = {
        "loss": list(_CATBOOST),
        "categories": list(CATEGORIES),
        "words": ["integers", "text"],
        "missing": ["none", "some", "column"],
        "rows": [*ROWS["plain"], "unknown"],
        "iterations": [5, 1, 20],
        "depth": [3, 1, 6],
        "grow_policy": ["SymmetricTree", "Depthwise", "Lossguide"],
        "nan_mode": ["Min", "Max"],
        "one_hot_max_size": [4, 2, 50],
        "max_ctr_complexity": [1, 3],
        "ctr": ["", "Borders", "Buckets", "BinarizedTargetMeanValue", "Counter"],
        "border_count": [254, 4],
        "l2_leaf_reg": [3, 0.1],
        "feature_border_type": ["GreedyLogSum", "Uniform", "MinEntropy"],
        "boosting_type": ["Plain", "Ordered"],
        "bootstrap_type": ["Bayesian", "Bernoulli", "MVS", "No"],
        "leaf_estimation_iterations": [1, 3],
        "random_strength": [1, 0],
        "monotone": [False, True],
    }

    def allowed(config: Config) -> bool:
        symmetric = config["grow_policy"] == "SymmetricTree"
        ordered = config["boosting_type"] == "Ordered"
        multiple = config["loss"].startswith("Multi") or config["loss"] == "RMSEWithUncertainty"
        if config["monotone"] and (config["categories"] != "none" or multiple or ordered):
            return False
        if ordered and (multiple or not symmetric):
            return False
        newton = config["loss"] not in ("MAE", "Quantile", "MAPE", "Lq:q=1.5", "LogCosh")
        return newton or config["leaf_estimation_iterations"] == 1

    return Subject("CatBoost", choices, _catboost, allowed)


def subjects() -> Iterator[Subject]:
    """Yield the subjects of this file."""
    warnings.filterwarnings("ignore")
    for booster in ("gbtree", "dart", "gblinear"):
        yield _xgboost_subject(f"XGBoost {booster}", booster)
    yield _lightgbm_subject()
    yield _catboost_subject()
