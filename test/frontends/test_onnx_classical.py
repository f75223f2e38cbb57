"""Operators of ai.onnx.ml against onnxruntime, and forests against a walk through them."""

import nnc
import numpy as np
import pytest
from nnc.ir.diagnostics import NncError
from onnx import TensorProto
from onnx.reference import ReferenceEvaluator

from .models import run
from .test_onnx_contributed import RANDOM, check, floats, model, whole

ML = "ai.onnx.ml"


def forest(kind, targets, positive=False):
    """Attributes of trees of depth 3 that compare 4 features."""
    nodes = [(tree, i) for tree in range(5) for i in range(15)]
    inner = [i < 7 for _, i in nodes]
    weights = RANDOM.uniform(0.05 if positive else -1, 0.2 if positive else 1, 5 * 8)
    leaves = [(t, i) for (t, i), is_inner in zip(nodes, inner, strict=True) if not is_inner]
    return {
        "nodes_treeids": [t for t, _ in nodes],
        "nodes_nodeids": [i for _, i in nodes],
        "nodes_featureids": [int(f) for f in RANDOM.integers(0, 4, len(nodes))],
        "nodes_values": [float(v) for v in floats(len(nodes))],
        "nodes_modes": ["BRANCH_LEQ" if is_inner else "LEAF" for is_inner in inner],
        "nodes_truenodeids": [2 * i + 1 if i < 7 else 0 for _, i in nodes],
        "nodes_falsenodeids": [2 * i + 2 if i < 7 else 0 for _, i in nodes],
        "nodes_missing_value_tracks_true": [i % 2 for _, i in nodes],
        f"{kind}_treeids": [t for t, _ in leaves],
        f"{kind}_nodeids": [i for _, i in leaves],
        f"{kind}_ids": [int(c) for c in RANDOM.integers(0, targets, len(leaves))],
        f"{kind}_weights": [float(w) for w in weights],
    }


@pytest.mark.parametrize("aggregate", ["SUM", "AVERAGE", "MIN", "MAX"])
@pytest.mark.parametrize("targets", [1, 3])
def test_tree_regressor(aggregate, targets):
    x = floats(20, 4)
    x[3, 1] = np.nan
    trees = forest("target", targets)
    check(
        "TreeEnsembleRegressor",
        x,
        domain=ML,
        n_targets=targets,
        aggregate_function=aggregate,
        **trees,
    )


@pytest.mark.parametrize("post", ["NONE", "LOGISTIC", "SOFTMAX", "SOFTMAX_ZERO"])
@pytest.mark.parametrize("classes", [1, 3])
@pytest.mark.parametrize("positive", [False, True])
def test_tree_classifier(post, classes, positive):
    """With one class of leaves, there are two classes."""
    if classes == 1 and post.startswith("SOFTMAX"):
        return
    check(
        "TreeEnsembleClassifier",
        floats(20, 4),
        domain=ML,
        outputs=[TensorProto.INT64, TensorProto.FLOAT],
        classlabels_int64s=[7, 5, 9][: max(classes, 2)],
        post_transform=post,
        **forest("class", classes, positive),
    )


@pytest.mark.parametrize("post", ["NONE", "LOGISTIC", "SOFTMAX"])
@pytest.mark.parametrize("positive", [False, True])
def test_tree_classifier_with_leaves_of_the_second_class(post, positive):
    trees = forest("class", 1, positive)
    trees["class_ids"] = [1] * len(trees["class_ids"])
    outputs = [TensorProto.INT64, TensorProto.FLOAT]
    check(
        "TreeEnsembleClassifier",
        floats(20, 4),
        domain=ML,
        outputs=outputs,
        classlabels_int64s=[0, 1],
        post_transform=post,
        **trees,
    )


@pytest.mark.parametrize("aggregate", ["SUM", "AVERAGE", "MIN", "MAX"])
@pytest.mark.parametrize("targets", [1, 3])
def test_tree_regressor_whose_leaves_name_a_target_twice(aggregate, targets):
    """Of the only target the first weight counts; MIN and MAX choose among several."""
    trees = forest("target", targets)
    for name in ("target_treeids", "target_nodeids", "target_ids"):
        trees[name] = [v for v in trees[name] for _ in range(2)]
    trees["target_weights"] = [w for v in trees["target_weights"] for w in (v, 2 - v)]
    kind = "TreeEnsembleRegressor"
    check(kind, floats(20, 4), domain=ML, n_targets=targets, aggregate_function=aggregate, **trees)


@pytest.mark.parametrize("post", ["NONE", "LOGISTIC", "SOFTMAX"])
@pytest.mark.parametrize("classes", [1, 3])
def test_linear_classifier(post, classes):
    if classes == 1 and post == "SOFTMAX":
        return
    check(
        "LinearClassifier",
        floats(6, 4),
        domain=ML,
        outputs=[TensorProto.INT64, TensorProto.FLOAT],
        classlabels_ints=[7, 5, 9][: max(classes, 2)],
        coefficients=[float(v) for v in floats(classes * 4)],
        intercepts=[float(v) for v in floats(classes)],
        post_transform=post,
    )


@pytest.mark.parametrize("kernel", ["LINEAR", "POLY", "RBF", "SIGMOID"])
def test_svm_regressor(kernel):
    check(
        "SVMRegressor",
        floats(6, 4),
        domain=ML,
        kernel_type=kernel,
        kernel_params=[0.5, 0.25, 3.0],
        n_supports=5,
        support_vectors=[float(v) for v in floats(20)],
        coefficients=[float(v) for v in floats(5)],
        rho=[0.5],
    )


def test_features():
    x = floats(5, 4)
    check("LinearRegressor", x, domain=ML, coefficients=[1.0, 2.0, 3.0, 4.0] * 2, targets=2)
    check("Scaler", x, domain=ML, offset=[0.5, 1.0, 0.0, 2.0], scale=[2.0, 1.0, 3.0, 0.5])
    for norm in ("MAX", "L1", "L2"):
        check("Normalizer", np.abs(x), domain=ML, norm=norm)
    gaps = np.where(x > 0.5, np.nan, x).astype(np.float32)
    values = {"imputed_value_floats": [1.0, 2.0, 3.0, 4.0], "replaced_value_float": float("nan")}
    check("Imputer", gaps, domain=ML, **values)
    check("OneHotEncoder", whole(0, 5, (3, 2)), domain=ML, cats_int64s=[1, 4, 0])
    check("FeatureVectorizer", x, floats(5, 2), domain=ML, inputdimensions=[4, 2])


def test_label_encoder():
    keys, values = [5, 1, 9, 4, 12], [0.5, 1.5, 2.5, 3.5, 4.5]
    more = {"keys_int64s": keys, "values_floats": values, "default_float": -2.0}
    check("LabelEncoder", np.arange(-1, 14), domain=ML, **more)


@pytest.mark.sampled(5)
@pytest.mark.parametrize("kernel", ["LINEAR", "POLY", "RBF", "SIGMOID"])
@pytest.mark.parametrize("classes", [2, 3, 4])
@pytest.mark.parametrize("certain", [False, True])
def test_svm_classifier(kernel, classes, certain):
    pairs, counts = classes * (classes - 1) // 2, [3, 2, 4, 2][:classes]
    vectors = floats(sum(counts) * 4)
    chances = {
        "prob_a": [float(v) for v in -1 - RANDOM.random(pairs)],
        "prob_b": [float(v) for v in floats(pairs) * 0.1],
    }
    check(
        "SVMClassifier",
        floats(9, 4),
        domain=ML,
        outputs=[TensorProto.INT64, TensorProto.FLOAT],
        kernel_type=kernel,
        kernel_params=[0.5, 0.25, 3.0],
        classlabels_ints=[7, 5, 9, 2][:classes],
        vectors_per_class=counts,
        support_vectors=[float(v) for v in vectors],
        coefficients=[float(v) for v in floats((classes - 1) * sum(counts))],
        rho=[float(v) for v in floats(pairs)],
        **(chances if certain else {}),
    )


def test_svm_classifier_of_two_classes_whose_coefficients_are_positive():
    """The class that wins the vote, whatever the signs of the coefficients."""
    check(
        "SVMClassifier",
        np.array([[1, 2], [-1, -2], [3, -1], [-3, 1]], np.float32),
        domain=ML,
        outputs=[TensorProto.INT64, TensorProto.FLOAT],
        classlabels_ints=[7, 5],
        vectors_per_class=[1, 1],
        support_vectors=[1.0, 0.0, 0.0, 1.0],
        coefficients=[1.0, 0.25],
        rho=[0.0],
        kernel_type="LINEAR",
        kernel_params=[0.5, 0.0, 3.0],
    )


def test_svm_classifier_without_vectors():
    made, given = model(
        "SVMClassifier",
        [floats(9, 4)],
        ML,
        [TensorProto.INT64, TensorProto.FLOAT],
        classlabels_ints=[7, 5, 9],
        coefficients=[float(v) for v in floats(12)],
        rho=[0.25, 0.5, 0.75],
        post_transform="SOFTMAX",
    )
    expected = ReferenceEvaluator(made).run(None, {"x0": given[0]})
    for a, b in zip(run(made, *given), expected, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-5)


@pytest.mark.parametrize("modes", ["LEQ", "LT GTE", "LEQ GT LT", "EQ NEQ", "EQ LT GTE NEQ LEQ GT"])
@pytest.mark.parametrize("missing", [False, True])
def test_tree_modes(modes, missing):
    """Whole numbers, so that they are often equal, and NaN and infinities."""
    trees = forest("target", 1)
    kinds = [f"BRANCH_{mode}" for mode in modes.split()]
    inner = [mode != "LEAF" for mode in trees["nodes_modes"]]
    trees["nodes_modes"] = [str(RANDOM.choice(kinds)) if i else "LEAF" for i in inner]
    trees["nodes_values"] = [
        float(v) for v in RANDOM.choice([-1, 0, 1, -np.inf, np.inf], len(inner))
    ]
    if not missing:
        trees["nodes_missing_value_tracks_true"] = [0] * len(inner)
    x = RANDOM.choice([-2, -1, 0, 1, 2, np.nan, np.inf, -np.inf], (40, 4)).astype(np.float32)
    made, given = model("TreeEnsembleRegressor", [x], ML, [TensorProto.FLOAT], n_targets=1, **trees)
    (found,) = run(made, *given)
    np.testing.assert_allclose(found, walked(trees, x), rtol=1e-5, atol=1e-5)


def walked(trees, x):
    """The forest's sums, one row and tree after the other."""
    names = ("treeids", "nodeids", "featureids", "values", "modes", "truenodeids", "falsenodeids")
    columns = [trees[f"nodes_{name}"] for name in names]
    tracks = trees["nodes_missing_value_tracks_true"]
    rows = zip(*columns, tracks, strict=True)
    nodes = {(tree, number): rest for tree, number, *rest in rows}
    leaves = zip(
        *(trees[f"target_{name}"] for name in ("treeids", "nodeids", "weights")), strict=True
    )
    weights = {(t, i): w for t, i, w in leaves}
    holds = {
        "BRANCH_LEQ": np.less_equal,
        "BRANCH_LT": np.less,
        "BRANCH_GTE": np.greater_equal,
        "BRANCH_GT": np.greater,
        "BRANCH_EQ": np.equal,
        "BRANCH_NEQ": np.not_equal,
    }
    out = np.zeros((len(x), 1), np.float32)
    for b, row in enumerate(x):
        for tree in sorted({t for t, _ in nodes}):
            at = 0
            while (mode := nodes[tree, at][2]) != "LEAF":
                feature, split, _, yes, no, missing = nodes[tree, at]
                value = row[feature]
                goes = holds[mode](value, np.float32(split)) or (missing and np.isnan(value))
                at = yes if goes else no
            out[b] += np.float32(weights[tree, at])
    return out


def chains(count, length):
    """Trees in which each inner node has a leaf, and the next inner node."""
    trees = {name: [] for name in forest("target", 1)}
    for tree in range(count):
        for i in range(2 * length + 1):
            is_inner = i % 2 == 0 and i < 2 * length
            trees["nodes_treeids"].append(tree)
            trees["nodes_nodeids"].append(i)
            trees["nodes_featureids"].append(int(RANDOM.integers(0, 4)))
            trees["nodes_values"].append(float(np.float32(RANDOM.uniform(-2, -1))))
            trees["nodes_modes"].append("BRANCH_LEQ" if is_inner else "LEAF")
            trees["nodes_truenodeids"].append(i + 1 if is_inner else 0)
            trees["nodes_falsenodeids"].append(i + 2 if is_inner else 0)
            trees["nodes_missing_value_tracks_true"].append(0)
            if not is_inner:
                trees["target_treeids"].append(tree)
                trees["target_nodeids"].append(i)
                trees["target_ids"].append(0)
                trees["target_weights"].append(float(np.float32(RANDOM.uniform())))
    return trees


@pytest.mark.sampled(2)
@pytest.mark.parametrize("length", [2, 40])
@pytest.mark.parametrize("element", [np.float32, np.float64])
def test_trees_of_any_depth_on_any_number_of_rows(length, element):
    """Rows and trees that do not fill eight walks; rows with too few features are an error."""
    trees = chains(11, length)
    x = floats(19, 4).astype(element)
    made, _ = model("TreeEnsembleRegressor", [x], ML, [TensorProto.FLOAT], n_targets=1, **trees)
    for i, name in enumerate(("rows", "features")):
        made.graph.input[0].type.tensor_type.shape.dim[i].dim_param = name
    compiled, expected = nnc.compile(made), walked(trees, x)
    for rows in (19, 8, 1, 0):
        np.testing.assert_allclose(compiled(x[:rows]), expected[:rows], rtol=1e-5, atol=1e-6)
    with pytest.raises(NncError, match=r"\(TreeEnsembleRegressor\): .* less than 4 features"):
        compiled(x[:, :3])
