"""Models of XGBoost, LightGBM and CatBoost against what the libraries predict; `make.py` writes both."""

import json
from pathlib import Path

import nnc
import numpy as np
import pytest

from ..mutate import mutated

FILES = Path(__file__).parent / "files"
MODELS = sorted(p.name for p in FILES.iterdir() if p.suffix != ".npz")


@pytest.mark.parametrize("name", MODELS)
def test_predictions_are_those_of_the_library(name):
    arrays = np.load(FILES / f"{name}.npz")
    found = nnc.compile(FILES / name)(arrays["x"])
    expected = arrays["y"]
    assert found.shape == expected.shape
    assert np.ptp(expected) > 0
    assert np.abs(found - expected).max() <= 1e-5 * np.abs(expected).max()


def changed(name, change):
    model = json.loads((FILES / name).read_text())
    change(model["learner"])
    return json.dumps(model).encode()


def first_tree(learner):
    return learner["gradient_booster"]["model"]["trees"][0]


@pytest.mark.parametrize(
    "change, message",
    [
        (lambda m: m["objective"].update(name="my:own"), "objective 'my:own' is not supported"),
        (lambda m: m["gradient_booster"].update(name="gbforest"), "booster 'gbforest' is not"),
        (lambda m: first_tree(m)["left_children"].pop(), "lists of unequal lengths"),
        (lambda m: first_tree(m)["right_children"].__setitem__(0, 99), "leads to what is not"),
        (lambda m: first_tree(m)["split_indices"].__setitem__(0, 7), "leads to what is not"),
        (lambda m: m.pop("objective"), "broken model of XGBoost: KeyError: 'objective'"),
        (lambda m: m["learner_model_param"].update(base_score="2"), "is no probability"),
    ],
)
def test_errors_of_xgboost_name_what_is_wrong(change, message):
    with pytest.raises(nnc.NncError, match=message):
        nnc.load(changed("xgb_logistic.json", change))


def test_trees_that_lead_back_are_an_error():
    data = changed("xgb_logistic.json", lambda m: first_tree(m)["left_children"].__setitem__(1, 0))
    with pytest.raises(nnc.NncError, match="cycle"):
        nnc.compile(data)


@pytest.mark.parametrize(
    "old, new, message",
    [
        ("objective=regression", "objective=own", "objective 'own' is not supported"),
        ("is_linear=0", "is_linear=1", "linear models in leaves"),
        ("end of trees", "", "the text ends before the trees do"),
        ("left_child=", "left_child=77 ", "broken model of LightGBM"),
        ("max_feature_idx=5", "max_feature_idx=0", "leads to what is not there"),
    ],
)
def test_errors_of_lightgbm_name_what_is_wrong(old, new, message):
    text = (FILES / "lgb_regression.txt").read_text()
    assert old in text
    with pytest.raises(nnc.NncError, match=message):
        nnc.load(text.replace(old, new).encode())


@pytest.mark.parametrize(
    "name", ["xgb_logistic.json", "xgb_softprob.ubj", "lgb_binary.txt", "cat_two.json"]
)
def test_broken_files_give_errors(name):
    for data in mutated((FILES / name).read_bytes(), 100, 5):
        try:
            nnc.load(data)
        except nnc.NncError:
            continue
