"""Files of Keras 2 and 3 against what Keras computes with them; `make*.py` write both."""

import io
import json
import struct
import zipfile
from pathlib import Path

import h5py
import nnc
import numpy as np
import pytest

from ..interpreted import interpreted
from ..mutate import mutated

FILES = Path(__file__).parent / "files"
MODELS = sorted(p.name for p in FILES.iterdir() if p.suffix in (".keras", ".h5"))
TOLERANCE = {"float16": 2**-9, "bfloat16": 2**-6}
"""By element type: two steps of those that have few bits."""
POLICIES = {"mixed_float16": 2**-7, "mixed_bfloat16": 2**-4}
"""By model: four times as much where Keras rounds each step of a layer."""


def runs_of(name):
    """Those of a file alone, or of a model in all of its forms."""
    own, stem = FILES / f"{name}.npz", name.rpartition(".")[0]
    return [own] if own.exists() else [FILES / f"{stem}.npz", *FILES.glob(f"{stem}.[0-9].npz")]


@pytest.mark.parametrize("name", MODELS)
def test_outputs_are_those_of_keras(name):
    check_outputs(name, interpreted(FILES / name))


@pytest.mark.sampled(5)
@pytest.mark.parametrize("name", MODELS)
def test_outputs_of_machine_code(name):
    check_outputs(name, nnc.compile(FILES / name))


def check_outputs(name, model):
    for path in runs_of(name):
        arrays = np.load(path)
        given = {k[3:]: arrays[k] for k in arrays.files if k.startswith("in:")}
        expected = [arrays[k] for k in arrays.files if k.startswith("out:")]
        found = list(model.run(given).values())
        assert len(found) == len(expected)
        if "types" in arrays.files:
            assert [a.dtype.name for a in found] == arrays["types"].tolist()
        for i, (a, b) in enumerate(zip(found, expected, strict=True)):
            assert a.shape == b.shape, (path.name, i)
            bound = POLICIES.get(path.stem) or TOLERANCE.get(a.dtype.name, 1e-4)
            a, b = a.astype(float), b.astype(float)
            bound *= np.nanmax(np.abs(b))
            np.testing.assert_allclose(a, b, rtol=0, atol=bound, err_msg=f"{path.name}: {i}")


def layer(kind, inbound=(), name=None, **config):
    name = name or kind.lower()
    config = {"name": name, "trainable": True, **config}
    calls = [
        {
            "args": [
                {"class_name": "__keras_tensor__", "config": {"keras_history": [one, 0, 0]}}
                for one in inbound
            ],
            "kwargs": {},
        }
    ]
    return {
        "module": "keras.layers",
        "class_name": kind,
        "config": config,
        "name": name,
        "inbound_nodes": calls if inbound else [],
    }


def archive(config, weights=(), extra=None, version="3.9.0"):
    """The bytes of a `.keras` file."""
    data = io.BytesIO()
    with h5py.File(data, "w") as file:
        for path, value in dict(weights).items():
            file[path] = value
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as made:
        made.writestr("metadata.json", json.dumps({"keras_version": version}))
        made.writestr("config.json", config if isinstance(config, str) else json.dumps(config))
        made.writestr("model.weights.h5", data.getvalue())
        for name, value in (extra or {}).items():
            made.writestr(name, value)
    return out.getvalue()


def functional(*layers, ends=None):
    given = layer("InputLayer", name="x", batch_shape=[None, 3])
    config = {
        "name": "net",
        "layers": [given, *layers],
        "input_layers": ["x", 0, 0],
        "output_layers": [ends or layers[-1]["name"], 0, 0],
    }
    return {"module": "keras", "class_name": "Functional", "config": config}


KERNEL = np.arange(6, dtype=np.float32).reshape(3, 2)
DENSE = layer("Dense", ["x"], use_bias=False)
DENSE_WEIGHTS = {"layers/dense/vars/0": KERNEL}
OWN_RELU = {"module": "builtins", "class_name": "function", "config": "my>relu"}
INT8 = {"module": "keras.dtype_policies", "class_name": "QuantizedDTypePolicy",
        "config": {"mode": "int8", "source_name": "float32"}}  # fmt: skip


def test_names_and_shapes_of_inputs_and_outputs_are_kept():
    model = nnc.compile(archive(functional(DENSE), DENSE_WEIGHTS))
    found = model.run({"x": np.ones((4, 3), np.float32)})
    assert list(found) == ["dense"]
    assert np.array_equal(found["dense"], np.tile(KERNEL.sum(0), (4, 1)))


def test_outputs_in_a_dictionary_have_its_keys():
    net = functional(DENSE)
    net["config"]["output_layers"] = {"b": ["dense", 0, 0], "a": ["x", 0, 0]}
    found = nnc.compile(archive(net, DENSE_WEIGHTS)).run({"x": np.ones((1, 3), np.float32)})
    assert np.array_equal(found["b"], [KERNEL.sum(0)])
    assert np.array_equal(found["a"], np.ones((1, 3)))


def test_text_is_looked_up():
    words = {"vocabulary": ["cat", "dog"], "mask_token": "", "num_oov_indices": 1}
    given = layer("InputLayer", name="x", batch_shape=[None, 3], dtype="string")
    net = functional(layer("StringLookup", ["x"], output_mode="int", **words))
    net["config"]["layers"][0] = given
    text = np.array([["dog", "", "cat"], ["bird", "cat", "dog"]], object)
    found = nnc.compile(archive(net))(text)
    assert np.array_equal(found, [[3, 0, 2], [1, 2, 3]])


HELLO = ("Hello, World! again", "the world  is", "")
WORDS = {"vocabulary": ["hello", "world", "again"]}
LETTERS = {"vocabulary": ["a", "b"]}
WRITTEN = {"max_tokens": 40, "pad_to_max_tokens": False, "idf_weights": None, "encoding": "utf-8",
           "sparse": False, "vocabulary_size": 5}  # fmt: skip
"""What Keras 3.15 writes of each of these layers, whatever its mode."""
TEXTS = [
    ("StringLookup", {**LETTERS, **WRITTEN, "num_oov_indices": 1, "invert": False,
                      "vocabulary_dtype": "string"}, ("a", "zz", "b"), [1, 0, 2]),
    ("TextVectorization", {**WORDS, **WRITTEN, "split": "whitespace", "ragged": False}, HELLO,
     [[2, 3, 4], [1, 3, 1], [0, 0, 0]]),
    ("StringLookup", {**LETTERS, "num_oov_indices": 3}, ("a", "zz", ""), [3, 1, 2]),
    ("StringLookup", {**LETTERS, "num_oov_indices": 3, "salt": [4, 7]}, ("a", "zz", ""), [3, 1, 0]),
    ("TextVectorization", WORDS, HELLO, [[2, 3, 4], [1, 3, 1], [0, 0, 0]]),
    ("TextVectorization", {**WORDS, "output_sequence_length": 2}, HELLO, [[2, 3], [1, 3], [0, 0]]),
    ("TextVectorization", {**WORDS, "output_mode": "count"}, HELLO,
     [[0, 1, 1, 1], [2, 0, 1, 0], [0, 0, 0, 0]]),
    ("TextVectorization", {**WORDS, "output_mode": "multi_hot"}, ("", " "),
     [[0, 0, 0, 0], [0, 0, 0, 0]]),
    ("TextVectorization", {**WORDS, "ngrams": 2}, ("", " "), [[], []]),
    ("TextVectorization", {"vocabulary": ["hello world", "world"], "ngrams": 2}, HELLO,
     [[1, 3, 1, 2, 1], [1, 3, 1, 1, 1], [0, 0, 0, 0, 0]]),
    ("TextVectorization", {"vocabulary": ["l", "o"], "split": "character", "standardize": "lower",
                           "output_sequence_length": 5}, ("Hello",), [[1, 1, 2, 2, 3]]),
    ("Hashing", {"num_bins": 1000}, ("a", "four", "longer than eight", "x" * 40, "y" * 150),
     [939, 544, 303, 852, 890]),
    ("Hashing", {"num_bins": 1000, "salt": [13, 37], "mask_value": ""}, ("a", "", "x" * 40),
     [368, 0, 725]),
]  # fmt: skip
"""Layers, texts, and what Keras 3.15 makes of them."""


@pytest.mark.parametrize("kind, config, texts, expected", TEXTS)
def test_text_becomes_numbers(kind, config, texts, expected):
    net = functional(layer(kind, ["x"], **config))
    net["config"]["layers"][0] = layer("InputLayer", name="x", batch_shape=[None], dtype="string")
    found = nnc.compile(archive(net))(np.array(texts, object))
    assert np.array_equal(found, expected)


def test_a_learned_vocabulary_is_a_file_beside_the_weights():
    net = functional(layer("TextVectorization", ["x"], vocabulary=None))
    net["config"]["layers"][0] = layer("InputLayer", name="x", batch_shape=[None], dtype="string")
    file = {"assets/layers/text_vectorization/vocabulary.txt": "\n[UNK]\nworld\nhello"}
    found = nnc.compile(archive(net, extra=file))(np.array(["Hello, old world"], object))
    assert np.array_equal(found, [[3, 1, 2]])


def test_crossed_text_and_numbers_are_hashed():
    """Expected is what Keras 3.15 gives."""
    cross = layer("HashedCrossing", name="cross", num_bins=1000)
    net = functional(cross)
    parts = [layer("InputLayer", name=name, batch_shape=[None, 1], dtype=dtype)
             for name, dtype in (("x", "string"), ("y", "int64"))]  # fmt: skip
    tensors = [{"class_name": "__keras_tensor__", "config": {"keras_history": [name, 0, 0]}}
               for name in "xy"]  # fmt: skip
    cross["inbound_nodes"] = [{"args": [tensors], "kwargs": {}}]
    net["config"] |= {"layers": [*parts, cross], "input_layers": [["x", 0, 0], ["y", 0, 0]]}
    text, numbers = np.array([["a"], ["zz"]], object), np.array([[1], [-2]])
    found = nnc.compile(archive(net))(text, numbers)
    assert np.array_equal(found, [[485], [772]])


@pytest.mark.parametrize("dtype", ["int32", "float16", "bfloat16", "float32"])
@pytest.mark.parametrize("given", ["int32", "float32"])
def test_bins_are_of_floats_whatever_the_policy(dtype, given):
    """NumPy's bins, which are those of Keras 3.15: also between 2 and its neighbor in f16."""
    bounds = [-0.5, 0.5, 2.0001]
    net = functional(layer("Discretization", ["x"], dtype=dtype, bin_boundaries=bounds))
    net["config"]["layers"][0] = layer("InputLayer", name="x", batch_shape=[None], dtype=given)
    x = np.array([-1.0, -0.25, 0.0, 0.75, 2.0, 2.0002], np.float32).astype(given)
    assert np.array_equal(nnc.compile(archive(net))(x), np.digitize(x, np.float32(bounds)))


def test_features_that_were_adapted_are_concatenated():
    """As `keras.utils.FeatureSpace` writes it: bounds beside the number of bins."""
    bins = layer("Discretization", ["x"], num_bins=3, bin_boundaries=[0.5, 1.5])
    both = layer("TFDConcat", axis=-1)
    tensors = [{"class_name": "__keras_tensor__", "config": {"keras_history": [name, 0, 0]}}
               for name in ("x", "discretization")]  # fmt: skip
    both["inbound_nodes"] = [{"args": [tensors], "kwargs": {}}]
    found = nnc.compile(archive(functional(bins, both)))(np.array([[0, 1, 2]], np.float32))
    assert np.array_equal(found, [[0, 1, 2, 0, 1, 2]])


@pytest.mark.parametrize("kind, config", [
    ("RandomFlip", {}), ("CenterCrop", {"height": 1, "width": 2}), ("AutoContrast", {}),
])  # fmt: skip
def test_layers_of_images_make_floats_of_bytes(kind, config):
    """As Keras 3.15 does, so that what follows does not compute with bytes."""
    one = layer(kind, ["x"], dtype="float32", data_format="channels_last", **config)
    net = functional(one)
    net["config"]["layers"][0] = layer(
        "InputLayer", name="x", batch_shape=[None, 1, 2, 1], dtype="uint8"
    )
    found = nnc.compile(archive(net))(np.array([[[[0], [255]]]], np.uint8))
    assert found.dtype == np.float32
    assert np.array_equal(found, [[[[0], [255]]]])


OLD_PICTURES = [
    ("Resizing", {"height": 1, "width": 4, "interpolation": "bilinear",
                  "crop_to_aspect_ratio": False}, [0, 63.75, 191.25, 255]),
    ("RandomBrightness", {"factor": 0.5, "value_range": [0, 255], "seed": 1}, [0, 255]),
    ("RandomContrast", {"factor": 0.5, "seed": 1}, [0, 255]),
]  # fmt: skip
"""Layers, and what Keras 2 makes of the integers 0 and 255: floats."""


@pytest.mark.parametrize("kind, config, expected", OLD_PICTURES)
def test_keras_2_makes_floats_of_pictures(kind, config, expected):
    net = functional(layer(kind, ["x"], dtype="float32", **config))
    net["config"]["layers"][0] = layer(
        "InputLayer", name="x", batch_shape=[None, 1, 2, 1], dtype="uint8"
    )
    model = nnc.compile(archive(net, version="2.21.0"))
    found = model(np.array([[[[0], [255]]]], np.uint8))
    assert found.dtype == np.float32
    assert found[0, 0, :, 0].tolist() == expected


def test_packed_weights_of_many_rows_whose_scales_are_rounded():
    """Policy mixed_bfloat16: scales are bfloat16; 600 rows are in 5 groups."""
    rng = np.random.default_rng(4)
    numbers, groups = rng.integers(-8, 8, (600, 2)), np.arange(600) // 128
    low, high = (numbers & 15).T
    weights = {
        "0": (low | high << 4).astype(np.uint8).view(np.int8)[:, None],
        "1": rng.uniform(0.5, 1, (5, 2)).astype(np.float32),
        "2": rng.integers(-3, 3, (5, 2)).astype(np.int8),
        "3": groups.astype(np.float32),
    }
    policy = {"class_name": "Int4DTypePolicy",
              "config": {"mode": "int4/128", "source_name": "mixed_bfloat16"}}  # fmt: skip
    net = functional(layer("Dense", ["x"], use_bias=False, dtype=policy))
    net["config"]["layers"][0] = layer("InputLayer", name="x", batch_shape=[None, 600])
    model = nnc.compile(archive(net, {f"layers/dense/vars/{k}": v for k, v in weights.items()}))
    x = rng.choice([-1.0, 0.0, 0.5, 2.0], (3, 600)).astype(np.float32)
    scales = (weights["1"].view(np.uint32) + 0x7FFF + (weights["1"].view(np.uint32) >> 16 & 1)
              & 0xFFFF0000).view(np.float32)  # fmt: skip
    expected = x @ ((numbers - weights["2"][groups]) * scales[groups])
    bound = np.abs(expected).max() * 2**-7
    np.testing.assert_allclose(model(x).astype(np.float32), expected, rtol=0, atol=bound)


def test_all_missing_layers_are_in_one_error():
    net = functional(layer("Foo", ["x"]), layer("Bar", ["foo"]), layer("Dense", ["bar"]))
    with pytest.raises(nnc.NncError) as error:
        nnc.load(archive(net))
    assert "layer 'foo' (Foo)" in str(error.value)
    assert "layer 'bar' (Bar)" in str(error.value)
    assert "Dense" not in str(error.value)


@pytest.mark.parametrize(
    "net, message",
    [
        (functional(layer("Lambda", ["x"], function="f")), "Python code, which is never executed"),
        (functional(DENSE), r"layer 'dense' \(Dense\): it has 0 weights, expected 1"),
        (functional(layer("Dense", ["y"])), "broken configuration"),
        (functional(layer("Dropout", ["dropout"])), "its inputs are never computed"),
        (functional(layer("Activation", ["x"], activation="what")), "activation 'what' is not"),
        (functional(layer("Activation", ["x"], activation=OWN_RELU)), "activation 'my>relu' is not"),
        (functional({**DENSE, "module": None, "registered_name": "my>Dense"}),
         r"layer 'dense' \(my>Dense\): not supported"),
        (functional({**DENSE, "class_name": "my>Dense"}), r"layer 'dense' \(my>Dense\): not"),
        (functional(layer("TimeDistributed", ["x"], layer=layer("Dense", dtype=INT8))),
         r"Keras ignores that the layer inside is quantized \(int8\)"),
        (functional(layer("Discretization", ["x"], num_bins=4, bin_boundaries=None)),
         "it was not adapted"),
        (functional(layer("Permute", ["x"], dims="no")), "'dims' is 'no', expected 1 integers"),
        (functional(layer("Reshape", ["x"], target_shape=[2, 2])), "3 elements do not"),
        ({"class_name": "Mine", "config": {}}, "only sequential and functional models"),
        ({"class_name": "Sequential"}, "broken configuration: KeyError: 'config'"),
        ({"class_name": "Sequential", "config": {"name": "s", "layers": []}}, "it was not built"),
        ("[1]", "the configuration is not a JSON object"),
        ("{", "the configuration is not JSON"),
    ],
)  # fmt: skip
def test_errors_name_what_is_wrong(net, message):
    with pytest.raises(nnc.NncError, match=message):
        nnc.load(archive(net))


def test_models_that_contain_themselves_are_an_error():
    text = '{"class_name": "Sequential", "config": {"name": "s", "layers": [' * 200
    text += "]}}" * 200
    with pytest.raises(nnc.NncError, match=r"nested too deeply|not built"):
        nnc.load(archive(text))


def test_weights_without_a_model_are_an_error(tmp_path):
    path = tmp_path / "only.weights.h5"
    with h5py.File(path, "w") as file:
        file["layers/dense/vars/0"] = KERNEL
    with pytest.raises(nnc.NncError, match=r"weights only; save the whole model"):
        nnc.load(path)


def test_links_to_other_files_are_not_followed(tmp_path):
    with h5py.File(tmp_path / "secret.h5", "w") as file:
        file["a"] = KERNEL
    data = io.BytesIO()
    with h5py.File(data, "w") as file:
        file["layers/dense/vars/1"] = KERNEL
        file["layers/dense/vars/0"] = h5py.ExternalLink(str(tmp_path / "secret.h5"), "a")
        file.create_dataset(
            "layers/dense_1/vars/0", (3, 2), "f4", external=[(str(tmp_path / "secret.h5"), 0, 24)]
        )
    for name, message in (("dense", ""), ("dense_1", "lies in other files")):
        first = DENSE if name == "dense" else layer("Dense", ["x"], "dense_1", use_bias=False)
        nets = [first] if name == "dense" else [DENSE, first]
        out = io.BytesIO()
        with zipfile.ZipFile(out, "w") as made:
            made.writestr("metadata.json", "{}")
            made.writestr("config.json", json.dumps(functional(*nets)))
            made.writestr("model.weights.h5", data.getvalue())
        if message:
            with pytest.raises(nnc.NncError, match=message):
                nnc.load(out.getvalue())
        else:
            assert nnc.load(out.getvalue())  # the link is not there, the other weight is


@pytest.mark.parametrize("member", ["config.json", "model.weights.h5"])
def test_members_that_inflate_to_much_are_an_error(tmp_path, member):
    """Before anything is inflated."""
    path = tmp_path / "bomb.keras"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as made:
        for name in ("metadata.json", "config.json", "model.weights.h5"):
            made.writestr(name, bytes(80 << 20) if name == member else '{"config": {}}')
    with pytest.raises(nnc.NncError, match="inflates to more than 100 times its size"):
        nnc.load(path)


def test_datasets_that_inflate_to_much_are_an_error(tmp_path):
    data = io.BytesIO()
    with h5py.File(data, "w") as file:
        chunks = {"shape": (1 << 14, 1 << 12), "chunks": (64, 64), "compression": "gzip"}
        file.create_dataset("layers/dense/vars/0", dtype="f4", **chunks)
    out = archive(functional(DENSE))
    with zipfile.ZipFile(io.BytesIO(out)) as old, zipfile.ZipFile(tmp_path / "n.keras", "w") as new:
        for name in old.namelist():
            new.writestr(name, data.getvalue() if name.endswith("h5") else old.read(name))
    with pytest.raises(nnc.NncError, match="is larger than the file"):
        nnc.load(tmp_path / "n.keras")


def test_a_heap_whose_objects_have_no_size_is_an_error(tmp_path):
    """libhdf5 goes over such a heap for ever."""
    data = bytearray((FILES / "nested.h5").read_bytes())
    heap = data.index(b"GCOL")
    first, *_ = struct.unpack_from("<H6xQ", data, heap + 16)
    assert first == 1
    data[heap + 16 : heap + 32] = bytes(16)
    (tmp_path / "net.h5").write_bytes(data)
    with pytest.raises(nnc.NncError, match="an object of a global heap has no size"):
        nnc.load(tmp_path / "net.h5")


def test_large_weights_are_views_of_the_file(tmp_path):
    """A file of 64 MB is read without its bytes."""
    kernel = np.zeros((4096, 4096), np.float32)
    net = functional(layer("Dense", ["x"], use_bias=False))
    net["config"]["layers"][0]["config"]["batch_shape"] = [None, 4096]
    path = tmp_path / "large.keras"
    path.write_bytes(archive(net, {"layers/dense/vars/0": kernel}))
    from nnc.frontends.common.source import Source
    from nnc.frontends.keras.model import read

    graph = read(Source(path))
    (found,) = graph.constants.values()
    base = found
    while isinstance(base.base, np.ndarray):
        base = base.base
    assert isinstance(base, np.memmap) or not base.flags.owndata
    assert not found.flags.writeable


@pytest.mark.parametrize("name", ["nested.keras", "nested_2.h5"])
def test_broken_files_give_errors(name):
    for data in mutated((FILES / name).read_bytes(), 60, 3):
        try:
            nnc.load(data)
        except nnc.NncError:
            continue
