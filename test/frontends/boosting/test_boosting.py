"""Models of XGBoost, LightGBM and CatBoost against what the libraries predict; `make.py` writes both."""

import json
from pathlib import Path

import nnc
import numpy as np
import pytest
from nnc.frontends.boosting import lightgbm, xgboost

from ..mutate import mutated

FILES = Path(__file__).parent / "files"
WITHOUT_ROUNDS = FILES / "without_rounds.json"
MODELS = sorted(p.name for p in FILES.iterdir() if p.suffix != ".npz" and p != WITHOUT_ROUNDS)


@pytest.mark.parametrize("name", MODELS)
def test_predictions_are_those_of_the_library(name):
    arrays = np.load(FILES / f"{name.replace('.cbm', '.json')}.npz")
    given = [arrays[key] for key in ("x", "words") if key in arrays]
    found = nnc.compile(FILES / name)(*given)
    expected = arrays["y"]
    assert found.shape == expected.shape
    assert np.ptp(expected) > 0
    assert np.abs(found - expected).max() <= 1e-5 * np.abs(expected).max()


def parameters(case):
    return "-".join(map(str, case["parameters"].values()))


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
        (lambda m: first_tree(m)["right_children"].__setitem__(0, 99), "that does not exist"),
        (lambda m: first_tree(m)["split_indices"].__setitem__(0, 7), "that does not exist"),
        (lambda m: m.pop("objective"), "broken model of XGBoost: KeyError: 'objective'"),
        (lambda m: m["learner_model_param"].update(base_score="2"), "is not a probability"),
    ],
)
def test_errors_of_xgboost_name_what_is_wrong(change, message):
    with pytest.raises(nnc.NncError, match=message):
        nnc.load(changed("xgb_logistic.json", change))


def softmax(x):
    powers = np.exp(x - x.max(1, keepdims=True))
    return powers / powers.sum(1, keepdims=True)


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


VALUES = np.float32([[-1.5, 0.75], [0.5, -0.25], [0.1, 0.3]])
"""Of the two leaves of trees, of which each asks whether its own feature is negative."""
ROWS = np.float32([[-1, 2, 3], [1, -2, 3], [1, 1, -1], [-1, -1, -1], [0, 0, 0]])


def summed(groups):
    """What the trees say of the rows: [rows, groups]"""
    left, right = VALUES[:groups].T.astype(float)
    return np.where(ROWS[:, :groups] < 0, left, right)


def stump(feature):
    left, right = VALUES[feature].tolist()
    lists = {"left_children": [1, -1, -1], "right_children": [2, -1, -1], "default_left": [0] * 3}
    return lists | {"split_indices": [feature, 0, 0], "split_conditions": [0.0, left, right]}


@pytest.mark.parametrize(
    "objective, score, margin",
    [
        ("binary:logistic", "0", -13.81551),
        ("reg:logistic", "[1E0]", 13.74516),
        ("binary:logistic", "1e-7", -13.81551),
        ("count:poisson", "[0E0]", -np.inf),
    ],
)
def test_labels_of_one_class_make_a_base_score_of_zero_or_one(objective, score, margin):
    """The margins are what XGBoost 3.2 says of a model whose trees add nothing."""

    def change(learner):
        learner["objective"]["name"] = objective
        learner["learner_model_param"] |= {"base_score": score, "num_feature": "3"}
        trees = {"trees": [stump(0) | {"split_conditions": [0.0] * 3}], "tree_info": [0]}
        learner["gradient_booster"]["model"] |= trees

    want = np.exp(np.float32(margin)) if objective in EXPONENTS else sigmoid(np.float32(margin))
    found = nnc.compile(changed("xgb_square.json", change))(ROWS)
    np.testing.assert_allclose(found, np.full(len(ROWS), want), rtol=1e-5)


EXPONENTS = ("count:poisson", "reg:gamma", "reg:tweedie", "survival:cox", "survival:aft")
SHARES = ("binary:logistic", "reg:logistic")


@pytest.mark.parametrize("case", json.loads(WITHOUT_ROUNDS.read_text()), ids=parameters)
def test_models_without_rounds(case):
    """Each row has the base score that the library predicts."""
    found = nnc.compile(json.dumps(case["model"]).encode())(ROWS)
    np.testing.assert_allclose(found, case["predicted"] * len(ROWS), rtol=1e-6)


@pytest.mark.parametrize("objective", [*xgboost.LINKS, *sorted(xgboost.PLAIN)])
def test_objectives_of_xgboost_are_as_documented(objective):
    """The base score is a probability, an expectation or a number that is added."""
    groups = 3 if objective.startswith("multi") else 1

    def change(learner):
        learner["objective"]["name"] = objective
        classes = {"base_score": "0.25", "num_class": str(groups), "num_feature": "3"}
        learner["learner_model_param"] |= classes
        trees = {"trees": [stump(i) for i in range(groups)], "tree_info": [*range(groups)]}
        learner["gradient_booster"]["model"] |= trees

    bases = dict.fromkeys(SHARES, np.log(1 / 3)) | dict.fromkeys(EXPONENTS, np.log(0.25))
    sums = summed(groups) + bases.get(objective, 0.25)
    one = sums[:, 0]
    links = dict.fromkeys(EXPONENTS, np.exp(one)) | dict.fromkeys(SHARES, sigmoid(one))
    links |= {"binary:hinge": one > 0, "multi:softmax": sums.argmax(1)}
    links |= {"multi:softprob": softmax(sums)}
    found = nnc.compile(changed("xgb_square.json", change))(ROWS)
    np.testing.assert_allclose(found, links.get(objective, one), rtol=1e-5)


LIGHTGBM = """tree
version=v4
num_tree_per_iteration={groups}
max_feature_idx=2
objective={objective}
feature_names=a b c
{trees}
end of trees
"""
STUMP = """Tree={i}
num_leaves=2
num_cat=0
split_feature={i}
threshold=-1e-35
decision_type=2
left_child=-1
right_child=-2
leaf_value={left} {right}
is_linear=0
"""


def signed_square(x):
    return np.sign(x) * x**2


@pytest.mark.parametrize("objective", [*lightgbm.LINKS, "regression_l1 sqrt", "mape sqrt"])
def test_objectives_of_lightgbm_are_as_documented(objective):
    groups = 3 if objective.startswith("multiclass") else 1
    leaves = VALUES.astype(float).tolist()
    trees = [STUMP.format(i=i, left=leaves[i][0], right=leaves[i][1]) for i in range(groups)]
    text = LIGHTGBM.format(groups=groups, objective=objective, trees="".join(trees))
    sums = summed(groups)
    one = sums[:, 0]
    expected = {
        "binary": sigmoid(one),
        "multiclass": softmax(sums),
        "multiclassova": sigmoid(sums),
        "cross_entropy": sigmoid(one),
        "cross_entropy_lambda": np.log1p(np.exp(one)),
        **dict.fromkeys(("poisson", "gamma", "tweedie"), np.exp(one)),
        **dict.fromkeys(("regression_l1 sqrt", "mape sqrt"), signed_square(one)),
    }.get(objective, one)
    found = nnc.compile(text.encode())(ROWS.astype(float))
    np.testing.assert_allclose(found, expected, rtol=1e-6)


def test_catboosts_means_and_variances():
    model = json.loads((FILES / "cat_three.json").read_text())
    x = np.load(FILES / "cat_three.json.npz")["x"]
    model["scale_and_bias"] = [1, [0.5, -0.25]]
    for tree in model["oblivious_trees"]:
        tree["leaf_values"] = np.reshape(tree["leaf_values"], (-1, 3))[:, :2].ravel().tolist()

    def predicted(loss):
        model["model_info"]["params"]["loss_function"]["type"] = loss
        return nnc.compile(json.dumps(model).encode())(x)

    sums, found = predicted("MultiRMSE"), predicted("RMSEWithUncertainty")
    expected = np.stack([sums[:, 0], np.exp(2 * sums[:, 1])], 1)
    np.testing.assert_allclose(found, expected, rtol=1e-5)


def cat_json(name, change):
    model = json.loads((FILES / name).read_text())
    change(model)
    return json.dumps(model).encode()


def test_a_sum_of_catboosts_models_has_its_loss_as_text():
    loss = {"loss_function": '{"type": "Logloss", "params": {}}'}
    data = cat_json("cat_two.json", lambda model: model.update(model_info=loss))
    arrays = np.load(FILES / "cat_two.json.npz")
    np.testing.assert_allclose(nnc.compile(data)(arrays["x"]), arrays["y"], rtol=1e-5)


def test_statistics_that_json_of_catboost_lacks_are_an_error():
    def change(model):
        statistics = model["features_info"]["ctrs"]
        statistics.append(statistics[0] | {"borders": [0.5]})

    with pytest.raises(nnc.NncError, match="of which JSON has one; save the model"):
        nnc.load(cat_json("cat_words.json", change))


CBM = (FILES / "cat_lossguide.cbm").read_bytes()
VERSION = b"FlabuffersModel_v"


@pytest.mark.parametrize(
    "data, message",
    [
        (CBM[:4], "the file ends within its contents"),
        (CBM[:-1], "the file ends within its contents"),
        (CBM.replace(VERSION + b"1", VERSION + b"2"), "version 'FlabuffersModel_v2' of CatBoost's"),
        (CBM[:8] + b"\xff" * 4 + CBM[12:], "broken model of CatBoost: FlatbufferError"),
    ],
)
def test_errors_of_catboosts_own_format_name_what_is_wrong(data, message):
    with pytest.raises(nnc.NncError, match=message):
        nnc.load(data)


def test_trees_that_lead_back_are_an_error():
    data = changed("xgb_logistic.json", lambda m: first_tree(m)["left_children"].__setitem__(1, 0))
    with pytest.raises(nnc.NncError, match="cycle"):
        nnc.compile(data)


def test_a_mean_of_no_trees_is_an_error():
    """LightGBM gives NaN for such a forest, which `save_model(start_iteration=..)` writes."""
    head = (FILES / "lgb_forest.txt").read_text().partition("Tree=0")[0]
    with pytest.raises(nnc.NncError, match="no trees, of which it asks for the mean"):
        nnc.load(f"{head}end of trees\n".encode())


@pytest.mark.parametrize(
    "old, new, message",
    [
        ("objective=regression", "objective=own", "objective 'own' is not supported"),
        ("is_linear=0", "is_linear=1", "broken model of LightGBM: KeyError: 'leaf_const'"),
        ("end of trees", "", "the text ends before the trees do"),
        ("left_child=", "left_child=77 ", "broken model of LightGBM"),
        ("max_feature_idx=5", "max_feature_idx=0", "has a child or feature that does not exist"),
    ],
)
def test_errors_of_lightgbm_name_what_is_wrong(old, new, message):
    text = (FILES / "lgb_regression.txt").read_text()
    assert old in text
    with pytest.raises(nnc.NncError, match=message):
        nnc.load(text.replace(old, new).encode())


@pytest.mark.parametrize(
    "name",
    [
        "xgb_logistic.json",
        "xgb_softprob.ubj",
        "lgb_binary.txt",
        "cat_two.json",
        "cat_lossguide.cbm",
    ],
)
def test_broken_files_give_errors(name):
    for data in mutated((FILES / name).read_bytes(), 100, 5):
        try:
            nnc.load(data)
        except nnc.NncError:
            continue
