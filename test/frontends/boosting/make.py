"""Writes the models of this folder's tests and what their libraries predict.

Needs XGBoost, LightGBM and CatBoost:

    python make.py FOLDER
"""

import json
import sys
from itertools import product
from pathlib import Path

import catboost
import lightgbm
import numpy as np
import xgboost

rng = np.random.default_rng(11)
FOLDER = Path(sys.argv[1])
ROUNDLESS = ["binary:logistic", "count:poisson", "reg:squarederror"]


def rows(count=160):
    """Numbers, missing values, and two features that are categories."""
    x = rng.normal(0, 1, (count, 6)).astype(np.float32)
    x[rng.random(x.shape) < 0.1] = np.nan
    x[rng.random(count) < 0.2, 1] = 0
    x[:, 4] = rng.integers(0, 9, count)
    x[:, 5] = rng.integers(0, 40, count)
    score = np.nan_to_num(x[:, 0]) - (x[:, 4] % 3 == 1) + (x[:, 5] % 7 < 3) + 0.1 * x[:, 2] ** 2
    return x, np.nan_to_num(score)


X, SCORE = rows()
GIVEN, _ = rows(40)
GIVEN[:4, 4:] = [[-1, 50], [np.nan, -0.5], [2.7, np.nan], [1e9, 39.5]]


def labels(kind):
    """What is to be learnt, as an objective needs it."""
    low = SCORE - SCORE.min() + 0.1
    return {
        "real": SCORE,
        "positive": low,
        "labels": np.stack([SCORE > 0.3, SCORE > 0.8], 1).astype(int),
        "share": 1 / (1 + np.exp(-SCORE)),
        "two": (SCORE > 0.3).astype(float),
        "three": np.digitize(SCORE, [0, 1]).astype(float),
        "rank": np.digitize(SCORE, [0, 1]).astype(float),
    }[kind]


def xgb(name, objective, kind, suffix=".json", target=None, **more):
    data = xgboost.DMatrix(
        X,
        labels(kind) if target is None else target,
        feature_types=["q"] * 4 + ["c"] * 2,
        enable_categorical=True,
    )
    if kind == "rank":
        data.set_group([40] * 4)
    if objective == "survival:aft":
        data.set_float_info("label_lower_bound", labels(kind))
        data.set_float_info("label_upper_bound", labels(kind))
    if more.get("booster") == "gblinear" or "multi_strategy" in more:
        data = xgboost.DMatrix(X, labels(kind) if target is None else target)
    choices = {"max_depth": 3, "eta": 0.5, "tree_method": "hist", "max_cat_to_onehot": 3, **more}
    if more.get("booster") == "gblinear":
        choices = more
    model = xgboost.train({"objective": objective, **choices}, data, 3)
    model.save_model(FOLDER / f"{name}{suffix}")
    given = xgboost.DMatrix(
        GIVEN,
        feature_types=data.feature_types,
        enable_categorical=data.feature_types is not None,
    )
    np.savez_compressed(FOLDER / f"{name}{suffix}.npz", x=GIVEN, y=model.predict(given))


def stopped(name, kind, estimator, **more):
    """An estimator that stopped early: it counts no tree behind the best round's."""
    x, y = X[:, :4], labels(kind)
    choices = {"n_estimators": 30, "learning_rate": 1.0, "max_depth": 2, **more}
    model = estimator(early_stopping_rounds=2, **choices)
    model.fit(x[:80], y[:80], eval_set=[(x[80:], y[80:])], verbose=False)
    model.save_model(FOLDER / f"{name}.json")
    given = GIVEN[:, :4]
    y = model.predict_proba(given) if kind != "real" else model.predict(given)
    np.savez_compressed(FOLDER / f"{name}.json.npz", x=given, y=y)


def without_rounds():
    """Writes models of no rounds and what XGBoost predicts with them, all into one file.

    Training finds a base score in its first round; one of 0.5 that it has not found is a sum.
    """
    data = xgboost.DMatrix(GIVEN[:, :3], labels("two")[: len(GIVEN)])
    told = [{}, {"base_score": 0.3}]
    cases = []
    for booster, objective, score in product(["gbtree", "gblinear"], ROUNDLESS, told):
        parameters = {"objective": objective, "booster": booster, **score}
        model = xgboost.train(parameters, data, 0)
        text = model.save_raw("json").decode()
        predicted = sorted({*model.predict(data).tolist()})
        cases.append({"parameters": parameters, "predicted": predicted, "model": json.loads(text)})
    (FOLDER / "without_rounds.json").write_text(json.dumps(cases))


def lgb(name, objective, kind, **more):
    choices = {"objective": objective, "num_leaves": 6, "min_data_in_leaf": 5, "verbose": -1}
    choices |= {"min_data_per_group": 5, "cat_smooth": 1, **more}
    categories = choices.pop("categories", [4, 5])
    group = [40] * 4 if kind == "rank" else None
    data = lightgbm.Dataset(X, labels(kind), categorical_feature=categories, group=group)
    model = lightgbm.train(choices, data, 3)
    # The parameters behind the trees have nothing to do with predictions.
    text = model.model_to_string().partition("\nfeature_importances")[0]
    (FOLDER / f"{name}.txt").write_text(text + "\n")
    again = lightgbm.Booster(model_str=model.model_to_string())
    given = GIVEN.astype(np.float64)
    np.savez_compressed(FOLDER / f"{name}.txt.npz", x=given, y=again.predict(given))


def save(model, name, pool=None):
    """Write a model of CatBoost as JSON, without notes on its training, and in its own format."""
    path = FOLDER / f"{name}.json"
    model.save_model(str(path), format="json", pool=pool)
    found = json.loads(path.read_text())
    params = {"loss_function": found["model_info"]["params"]["loss_function"]}
    found["model_info"] = {"params": params}
    path.write_text(json.dumps(found))
    model.save_model(str(path.with_suffix(".cbm")))


def cat(name, loss, kind, how=None, drop=False, **more):
    """A model of CatBoost; with `drop`, the file lacks the features that no tree asks for."""
    choices = {"iterations": 3, "depth": 3, "verbose": 0, "allow_writing_files": False, **more}
    model = catboost.CatBoost({"loss_function": loss, **choices})
    model.fit(X, labels(kind))
    importance = model.get_feature_importance()
    if drop:
        model.drop_unused_features()
    save(model, name)
    y = model.predict(GIVEN, prediction_type=how or "RawFormulaVal")
    y = y[:, 1] if how == "Probability" and y.shape[1] == 2 else y
    used = importance.nonzero()[0].max() + 1 if drop else None
    x = GIVEN[:, :used]
    np.savez_compressed(FOLDER / f"{name}.json.npz", x=x, y=y)


def words(name, loss, kind, how="RawFormulaVal", hashes=False, **more):
    """A model of CatBoost with three features of text, of which one has long ones.

    With `hashes`, the file says which words of the training data have which hash.
    """
    columns = [np.nan_to_num(X[:, 4]).astype(int) % 3, X[:, 5].astype(int), X[:, 4].astype(int)]
    text = np.array([[f"{a}", f"kind {b}", f"{c} " * c * 9] for a, b, c in zip(*columns)])
    frame = [[*row[:2], *own] for row, own in zip(X.tolist(), text.tolist())]
    choices = {"iterations": 5, "depth": 3, "verbose": 0, "allow_writing_files": False, **more}
    model = catboost.CatBoost({"loss_function": loss, "one_hot_max_size": 4, **choices})
    pool = catboost.Pool(frame, labels(kind), cat_features=[2, 3, 4])
    model.fit(pool)
    save(model, name, pool if hashes else None)
    given = [*frame[:40], [0.5, np.nan, "none", "of", "these"]]
    y = model.predict(given, prediction_type=how)
    y = y[:, 1] if loss == "Logloss" else y
    x = np.float32([row[:2] for row in given])
    np.savez_compressed(FOLDER / f"{name}.json.npz", x=x, y=y, words=[row[2:] for row in given])


def alone(name):
    """A model of CatBoost whose features are all text, and have names."""
    frame = np.nan_to_num(X[:, 4:]).astype(int).astype(str)
    pool = catboost.Pool(frame, SCORE, cat_features=[0, 1], feature_names=["colour", "place"])
    choices = {"iterations": 3, "depth": 3, "verbose": 0, "allow_writing_files": False}
    model = catboost.CatBoost({"loss_function": "RMSE", "one_hot_max_size": 10, **choices})
    model.fit(pool)
    save(model, name, pool)
    np.savez_compressed(FOLDER / f"{name}.json.npz", words=frame[:40], y=model.predict(frame[:40]))


def conditions(name):
    """A model of CatBoost with statistics of a category and whether a number exceeds a border,
    which a missing one does.
    """
    words = np.nan_to_num(X[:, 4]).astype(int)
    frame = [[x, f"kind {word}"] for x, word in zip(X[:, 0].tolist(), words.tolist())]
    above = ~(X[:, 0] <= 0.3)
    pool = catboost.Pool(frame, (words % 3 == 1) ^ above, cat_features=[1])
    model = catboost.CatBoost({
        "loss_function": "Logloss", "iterations": 4, "depth": 3, "nan_mode": "Max",
        "max_ctr_complexity": 2, "verbose": 0, "allow_writing_files": False,
    })  # fmt: skip
    model.fit(pool)
    save(model, name, pool)
    given = frame + [[np.nan, f"kind {i}"] for i in range(9)]
    y = model.predict(given, prediction_type="Probability")[:, 1]
    x, words = np.float32([row[:1] for row in given]), [row[1:] for row in given]
    np.savez_compressed(FOLDER / f"{name}.json.npz", x=x, y=y, words=words)


def main():
    words("cat_words", "RMSE", "real")
    words("cat_words_two", "Logloss", "two", "Probability", simple_ctr=["Buckets", "Counter"])
    words("cat_words_three", "MultiClass", "three", "Probability", grow_policy="Depthwise")
    words("cat_words_hashes", "RMSE", "real", hashes=True, iterations=2)
    mean = {"simple_ctr": ["BinarizedTargetMeanValue"], "max_ctr_complexity": 3}
    words("cat_words_mean", "RMSE", "real", combinations_ctr=["Borders"], depth=5, **mean)
    words("cat_words_labels", "MultiLogloss", "labels", "Probability", iterations=10)
    (FOLDER / "cat_words_labels.json").unlink()  # it lacks the statistics of a label
    alone("cat_words_alone")
    conditions("cat_words_conditions")
    cat("cat_few", "RMSE", "real", drop=True, iterations=1, depth=2)
    cat("cat_square", "RMSE", "real")
    cat("cat_two", "Logloss", "two", "Probability")
    cat("cat_focal", "Focal:focal_alpha=0.5;focal_gamma=1", "two", "Probability")
    cat("cat_three", "MultiClass", "three", "Probability")
    cat("cat_poisson", "Poisson", "positive", "Exponent")
    cat("cat_lossguide", "RMSE", "real", grow_policy="Lossguide", nan_mode="Max")
    xgb("xgb_logistic", "binary:logistic", "two")
    xgb("xgb_logistic", "binary:logistic", "two", ".ubj")
    xgb("xgb_raw", "binary:logitraw", "two", base_score=0.3)
    xgb("xgb_hinge", "binary:hinge", "two", max_depth=2)
    xgb("xgb_softprob", "multi:softprob", "three", ".ubj", num_class=3)
    xgb("xgb_softmax", "multi:softmax", "three", ".ubj", num_class=3, num_parallel_tree=2)
    xgb("xgb_square", "reg:squarederror", "real")
    xgb("xgb_share", "reg:logistic", "share", max_depth=2)
    xgb("xgb_poisson", "count:poisson", "positive", max_depth=2)
    xgb("xgb_tweedie", "reg:tweedie", "positive", max_depth=2)
    xgb("xgb_aft", "survival:aft", "positive", max_depth=2)
    xgb("xgb_rank", "rank:ndcg", "rank", max_depth=2)
    xgb("xgb_dart", "reg:squarederror", "real", booster="dart", rate_drop=0.5)
    xgb("xgb_linear", "reg:squarederror", "real", booster="gblinear")
    three = {"booster": "gblinear", "num_class": 3}
    xgb("xgb_linear_three", "multi:softprob", "three", **three)
    xgb("xgb_linear_three", "multi:softprob", "three", ".ubj", **three)
    two = np.stack([SCORE, SCORE**2], 1)
    xgb("xgb_targets", "reg:squarederror", "real", target=two, max_depth=2)
    vectors = {"target": two, "max_depth": 2, "multi_strategy": "multi_output_tree"}
    xgb("xgb_vectors", "reg:squarederror", "real", **vectors)
    xgb("xgb_vectors_median", "reg:absoluteerror", "real", **vectors)
    stopped("xgb_stopped", "real", xgboost.XGBRegressor)
    stopped("xgb_stopped_three", "three", xgboost.XGBClassifier, num_parallel_tree=2, subsample=0.7)
    without_rounds()
    lgb("lgb_binary", "binary", "two", sigmoid=0.7)
    lgb("lgb_multiclass", "multiclass", "three", num_class=3)
    lgb("lgb_ova", "multiclassova", "three", num_class=3)
    lgb("lgb_regression", "regression", "real")
    lgb("lgb_sqrt", "regression", "real", reg_sqrt=True)
    lgb("lgb_poisson", "poisson", "positive")
    lgb("lgb_entropy", "cross_entropy", "share")
    lgb("lgb_lambda", "cross_entropy_lambda", "share")
    lgb("lgb_rank", "lambdarank", "rank")
    lgb("lgb_zeros", "regression", "real", zero_as_missing=True)
    lgb("lgb_no_missing", "regression", "real", use_missing=False)
    forest = {"boosting": "rf", "bagging_freq": 1, "bagging_fraction": 0.7}
    lgb("lgb_forest", "regression", "real", **forest)
    lgb("lgb_lines", "regression", "real", linear_tree=True, categories=[])
    lines = {"linear_tree": True, "num_class": 3}
    lgb("lgb_lines_three", "multiclass", "three", categories=[5], **lines)


if __name__ == "__main__":
    main()
