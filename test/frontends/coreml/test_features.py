"""CoreML's classifiers of neighbors and what prepares features, against NumPy."""

from __future__ import annotations

import nnc
import numpy as np
import pytest
from nnc.ir.diagnostics import NncError
from nnc.test.frontends.coreml.test_coreml import feature, small

WORDS = {"values": ["red", "green", "blue"]}
TEXT = {"name": "x", "type": {"stringType": {}}}
NUMBER = {"name": "x", "type": {"int64Type": {}}}


def run(x, about: dict, **model):
    """What a model makes of an input."""
    given = {"input": [about], "output": [feature("y", 3)]}
    return nnc.compile(small(description=given, **model)).run({"x": x})["y"]


@pytest.mark.parametrize(
    ("x", "about", "categories"),
    [
        ("green", TEXT, {"stringCategories": WORDS}),
        (7, NUMBER, {"int64Categories": {"values": [5, 7, 9]}}),
    ],
)
def test_categories_as_vectors(x, about, categories):
    given = np.array(x, object if isinstance(x, str) else np.int64)
    assert run(given, about, oneHotEncoder=categories).tolist() == [0, 1, 0]
    other = np.array("pink", object) if isinstance(x, str) else np.array(1)
    with pytest.raises(NncError, match="the category is not known"):
        run(other, about, oneHotEncoder=categories)
    ignored = {**categories, "handleUnknown": "IgnoreUnknown"}
    assert run(other, about, oneHotEncoder=ignored).tolist() == [0, 0, 0]


def test_categories_are_mapped():
    to_number = {"stringToInt64Map": {"map": {"red": 4, "blue": 6}}, "int64Value": -1}
    found = [
        run(np.array(word, object), TEXT, categoricalMapping=to_number).item()
        for word in ("red", "blue", "pink")
    ]
    assert found == [4, 6, -1]
    to_word = {"int64ToStringMap": {"map": {4: "red"}}, "strValue": "none"}
    found = [run(np.array(n), NUMBER, categoricalMapping=to_word).item() for n in (4, 5)]
    assert found == ["red", "none"]


def test_dictionaries_as_vectors():
    about = {"name": "x", "type": {"dictionaryType": {"stringKeyType": {}}}}
    found = run({"blue": 2.5, "pink": 9.0}, about, dictVectorizer={"stringToIndex": WORDS})
    assert found.tolist() == [0, 0, 2.5]


@pytest.mark.parametrize("weighted", [False, True])
def test_neighbors_vote(weighted):
    random = np.random.default_rng(8)
    samples = random.standard_normal((30, 4)).astype(np.float32)
    words = np.array(["low", "high", "none"])[random.integers(0, 3, 30)]
    p = {
        "nearestNeighborsIndex": {
            "numberOfDimensions": 4,
            "floatSamples": [{"vector": row} for row in samples],
        },
        "numberOfNeighbors": {"defaultValue": 5},
        "stringClassLabels": {"values": words.tolist()},
        "inverseDistanceWeighting" if weighted else "uniformWeighting": {},
    }
    about = {
        "input": [feature("x", 4)],
        "output": [feature("y", 1), feature("p", 3)],
        "predictedFeatureName": "y",
        "predictedProbabilitiesName": "p",
    }
    model = nnc.compile(small(description=about, kNearestNeighborsClassifier=p))
    for x in (*random.standard_normal((4, 4)).astype(np.float32), samples[3]):
        apart = np.linalg.norm(samples.astype(np.float64) - x, axis=1)
        near = np.argsort(apart)[:5]
        weights = np.ones(5)
        if weighted:
            weights = 1 / apart[near] if apart[near].all() else (apart[near] == 0).astype(float)
        names = np.unique(words)
        votes = np.array([weights[words[near] == name].sum() for name in names])
        found = model.run({"x": x})
        assert found["y"].item() == names[votes.argmax()]
        np.testing.assert_allclose(found["p"], votes / votes.sum(), rtol=1e-5)


def columns(counts):
    """A vectorizer of features `a`, `b`, .. of these numbers of elements."""
    return {"inputList": [{"inputColumn": name, "inputDimensions": count}
                          for name, count in zip("abc", counts, strict=False)]}  # fmt: skip


def test_features_are_joined_in_a_row():
    about = {
        "input": [feature("a", 2), {"name": "b", "type": {"doubleType": {}}}],
        "output": [feature("y", 3)],
    }
    model = nnc.compile(small(description=about, featureVectorizer=columns([2, 1])))
    found = model.run({"a": np.array([3, 4], np.float32), "b": np.float64(5)})
    np.testing.assert_array_equal(found["y"], [3, 4, 5])
    with pytest.raises(NncError, match="not 3 elements"):
        nnc.compile(small(description=about, featureVectorizer=columns([3, 1])))
