"""MXNet's files: the symbol, the parameters in all their versions, and what may be wrong."""

import copy
import json
import struct
from pathlib import Path

import numpy as np
import pytest
from nnc.frontends.common.source import Source
from nnc.frontends.formats import examine_model, find_format, import_model, model_files
from nnc.frontends.mxnet.params import read_params
from nnc.ir.diagnostics import NncError
from nnc.numerics.interpreter import Interpreter

X = np.random.default_rng(1).standard_normal((2, 3)).astype("f")
W = np.arange(12, dtype="f").reshape(4, 3)
CODES = {"f4": 0, "f8": 1, "f2": 2, "u1": 3, "i4": 4, "i1": 5, "i8": 6}


def symbol(**more) -> dict:
    return {
        "nodes": [
            {"op": "null", "name": "data", "inputs": []},
            {"op": "null", "name": "w", "inputs": []},
            {"op": "FullyConnected", "name": "fc", "inputs": [[0, 0, 0], [1, 0, 0]],
             "attrs": {"num_hidden": "4", "no_bias": "True"}},
        ],
        "heads": [[2, 0, 0]],
        "attrs": {"mxnet_version": ["int", 10901]},
    } | more  # fmt: skip


def array(data: np.ndarray, version: int = 2) -> bytes:
    """An array as MXNet writes it, in one of its versions."""
    rank, shape = len(data.shape), data.shape
    lead = {
        0: struct.pack(f"<I{rank}I", rank, *shape),
        1: struct.pack(f"<Ii{rank}q", 0xF993FAC8, rank, *shape),
        2: struct.pack(f"<Iii{rank}q", 0xF993FAC9, 0, rank, *shape),
        3: struct.pack(f"<Iii{rank}q", 0xF993FACA, 0, rank, *shape),
    }[version]
    return lead + struct.pack("<iii", 1, 0, CODES[data.dtype.str[1:]]) + data.tobytes()


def params(arrays: dict[str, np.ndarray], version: int = 2) -> bytes:
    text = struct.pack("<QQQ", 0x112, 0, len(arrays))
    text += b"".join(array(a, version) for a in arrays.values())
    names = [name.encode() for name in arrays]
    text += struct.pack("<Q", len(names))
    return text + b"".join(struct.pack("<Q", len(name)) + name for name in names)


def write(folder, given: dict | None = None, weights: bytes | None = None):
    path = folder / "net-symbol.json"
    path.write_text(json.dumps(given or symbol()))
    if weights is None:
        weights = params({"arg:w": W})
    (folder / "net-0003.params").write_bytes(weights)
    return path


def run(source, *inputs, **choices):
    module = import_model(source, **choices)
    module.verify()
    return Interpreter(module).call("main", list(inputs))


# -- files -----------------------------------------------------------------------------------------


def test_either_file_is_the_model(tmp_path):
    path = write(tmp_path)
    weights = tmp_path / "net-0003.params"
    (tmp_path / "net-0001.params").write_bytes(params({"arg:w": W * 0}))
    for given in (path, weights):
        assert find_format(Source(given)).name == "MXNet"
        (y,) = run(given, X, shapes={"data": (2, 3)})
        np.testing.assert_allclose(y, X @ W.T, rtol=1e-5)
        assert set(model_files(given)) == {path, weights}


@pytest.mark.parametrize("version", range(4))
@pytest.mark.parametrize("dtype", CODES)
def test_versions_and_element_types_of_arrays(tmp_path, version, dtype):
    path = tmp_path / "a.params"
    arrays = {"arg:a": np.arange(6).reshape(2, 3).astype(dtype), "aux:b": np.ones(1, dtype)}
    path.write_bytes(params(arrays, version))
    found = read_params(Source(path))
    assert list(found) == ["a", "b"]
    for name, wanted in zip("ab", arrays.values(), strict=True):
        assert found[name].dtype == wanted.dtype
        np.testing.assert_array_equal(found[name], wanted)


def test_large_arrays_stay_in_the_file(tmp_path):
    path = tmp_path / "a.params"
    path.write_bytes(params({"a": np.zeros((64, 64), "f")}))
    source = Source(path)
    assert np.shares_memory(read_params(source)["a"], source.data)


def test_what_a_model_says_of_itself(tmp_path):
    examination = examine_model(write(tmp_path), shapes={"data": (2, 3)})
    assert examination.producer == "MXNet, 1.9.1"
    assert [use.name for use in examination.operators] == ["FullyConnected"]


def test_shapes_and_types_that_the_symbol_tells(tmp_path):
    given = symbol()
    given["nodes"][0]["attrs"] = {"__shape__": "(0, 3)"}
    path = write(tmp_path, given, params({"w": W.astype("f2")}))
    (y,) = run(path, X.astype("f2"))
    assert y.dtype == np.float16


def test_older_symbols(tmp_path):
    given = symbol()
    given["nodes"][2]["param"] = given["nodes"][2].pop("attrs")
    given["nodes"][2]["inputs"] = [[0, 0], [1, 0]]
    given["heads"] = [[2, 0]]
    (y,) = run(write(tmp_path, given), X, shapes={"data": (2, 3)})
    np.testing.assert_allclose(y, X @ W.T, rtol=1e-5)


def old(*ops, **weights):
    """The symbol of a chain of (operator, parameters, names of weights), as MXNet 0.8 wrote it."""
    names = ["data", *weights]
    nodes = [{"op": "null", "param": {}, "name": n, "inputs": [], "backward_source_id": -1}
             for n in names]  # fmt: skip
    last = 0
    for kind, parameters, needed in ops:
        inputs = [[last, 0], *([names.index(n), 0] for n in needed.split())]
        last = len(nodes)
        nodes.append({"op": kind, "param": parameters, "name": f"n{len(names)}", "inputs": inputs,
                      "backward_source_id": -1, "attr": {"ctx_group": "dev1"}})  # fmt: skip
        names.append(f"n{len(names)}")
    return {"nodes": nodes, "arg_nodes": list(range(1 + len(weights))), "heads": [[last, 0]]}


def test_old_normalizations_have_statistics_that_no_node_names(tmp_path):
    weights = {"g": W[:, 0], "b": W[:, 1]}
    statistics = {"aux:n3_moving_mean": W[:, 2], "aux:n3_moving_var": np.abs(W[:, 0]) + 1}
    told = {"eps": "0.1", "fix_gamma": "False", "momentum": "0.9", "use_global_stats": "False"}
    given = old(("BatchNorm", told, "g b"), **weights)
    saved = params({f"arg:{n}": a for n, a in weights.items()} | statistics)
    x = np.arange(2 * len(W), dtype=np.float32).reshape(2, len(W))
    (y,) = run(write(tmp_path, given, saved), x, shapes={"data": x.shape})
    wanted = (x - W[:, 2]) / np.sqrt(np.abs(W[:, 0]) + 1.1) * W[:, 0] + W[:, 1]
    np.testing.assert_allclose(y, wanted, rtol=1e-5, atol=1e-6)


def test_old_symbols_tell_all_parameters(tmp_path):
    ends = {"grad_scale": "1", "ignore_label": "-1", "multi_output": "True", "use_ignore": "False",
            "normalization": "null", "out_grad": "False", "preserve_shape": "False"}  # fmt: skip
    leaky = {"act_type": "elu", "lower_bound": "0.125", "slope": "0.25", "upper_bound": "0.334"}
    given = old(
        ("LeakyReLU", leaky, ""),
        ("Reshape", {"keep_highest": "False", "reverse": "False", "shape": "(0,3,2)",
                     "target_shape": "(0,0)"}, ""),
        ("SoftmaxOutput", ends, ""),
        ("Reshape", {"target_shape": "(0, 2)", "keep_highest": "False"}, ""),
    )  # fmt: skip
    x = np.linspace(-1, 1, 12, dtype=np.float32).reshape(2, 6)
    (y,) = run(write(tmp_path, given), x, shapes={"data": x.shape})
    powers = np.exp(np.where(x > 0, x, 0.25 * np.expm1(x)).reshape(2, 3, 2))
    wanted = (powers / powers.sum(1, keepdims=True)).reshape(6, 2)
    np.testing.assert_allclose(y, wanted, rtol=1e-5)


def test_labels_are_no_inputs(tmp_path):
    given = symbol(heads=[[4, 0, 0]])
    given["nodes"] += [
        {"op": "null", "name": "label", "inputs": []},
        {"op": "SoftmaxOutput", "name": "softmax", "inputs": [[2, 0, 0], [3, 0, 0]]},
    ]
    (y,) = run(write(tmp_path, given), X, shapes={"data": (2, 3)})
    np.testing.assert_allclose(y.sum(1), 1, rtol=1e-5)


# -- errors ----------------------------------------------------------------------------------------


def check(message: str, source, **choices):
    with pytest.raises(NncError) as caught:
        import_model(source, **choices)
    assert message in str(caught.value)
    assert "net" in str(caught.value) or "bytes" in str(caught.value)


def test_an_input_without_a_shape(tmp_path):
    check("the rank of input 'data' is unknown; give its shape (--shape", write(tmp_path))


def test_operators_that_are_missing_are_told_together(tmp_path):
    given = symbol()
    given["nodes"][2]["op"] = "Custom"
    check("layer 'fc' (Custom): not supported", write(tmp_path, given), shapes={"data": (2, 3)})


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"nodes": ["op", 3]}, "no list of nodes"),
        ({"heads": [[9, 0, 0]]}, "uses node 9 of 3"),
        ({"heads": [["a", 0]]}, "damaged inputs or heads"),
        ({"heads": None}, "damaged inputs or heads"),
    ],
)
def test_damaged_symbols(tmp_path, change, message):
    check(message, write(tmp_path, symbol(**change)))


def test_cycles(tmp_path):
    given = symbol()
    given["nodes"][2]["inputs"][0] = [2, 0, 0]
    check("cycle", write(tmp_path, given))


@pytest.mark.parametrize("attribute", ["kernel", "pool_type"])
def test_damaged_attributes(tmp_path, attribute):
    given = symbol(heads=[[1, 0, 0]])
    given["nodes"][1:] = [
        {"op": "Pooling", "name": "pool", "inputs": [[0, 0, 0]],
         "attrs": {"kernel": "(2,)", attribute: "(-1,)"}},
    ]  # fmt: skip
    with pytest.raises(NncError, match=r"net-symbol.json.*layer 'pool' \(Pooling\).*expected"):
        import_model(write(tmp_path, given), shapes={"data": (2, 3, 4)})


@pytest.mark.parametrize("cut", [30, 60, 100])
def test_parameters_that_end_too_early(tmp_path, cut):
    whole = params({"arg:w": W})
    check("ends within its arrays", write(tmp_path, None, whole[:cut]))


def test_parameters_without_a_symbol(tmp_path):
    (tmp_path / "net-0000.params").write_bytes(params({"w": W}))
    check("'net-symbol.json' is missing", tmp_path / "net-0000.params")


def test_broken_files():
    """Symbols with other attributes and inputs are imported, or are one error."""
    words = ["(0, 0)", "-1", "None", "1e30", "abc", "()", "(1,)", "99999999999", "nan", "{}"]
    random = np.random.default_rng(0)
    folder = Path(__file__).parent / "files"
    arrays = np.load(folder / "operators.npz")
    for case, whole in json.loads((folder / "operators.json").read_text()).items():
        lead = f"{case}/in/"
        shapes = {k.removeprefix(lead): arrays[k].shape for k in arrays if k.startswith(lead)}
        nodes = [i for i, node in enumerate(whole["nodes"]) if node.get("attrs")]
        for i in nodes[:6]:
            given = copy.deepcopy(whole) | {"heads": [[i, 0, 0]]}
            attributes = given["nodes"][i]["attrs"]
            attributes[random.choice(list(attributes))] = str(random.choice(words))
            try:
                import_model(json.dumps(given).encode(), shapes=shapes).verify()
            except NncError as error:
                assert "<bytes>" in str(error)


def test_ranks_that_no_operator_can_have(tmp_path):
    """What a converter runs into in a damaged model is an error with the layer's name."""
    given = symbol()
    kind = "_contrib_AdaptiveAvgPooling2D"
    given["nodes"][2] |= {"op": kind, "attrs": {"output_size": "2"}, "inputs": [[0, 0, 0]]}
    path = write(tmp_path, given)
    with pytest.raises(NncError, match=rf"'fc' \({kind}\): its inputs or attributes do not fit"):
        import_model(path, shapes={"data": (2, 3)})


def test_an_array_of_no_element_with_absurd_extents(tmp_path):
    weights = params({"arg:w": W}).replace(struct.pack("<qq", 4, 3), struct.pack("<qq", 0, 1 << 62))
    with pytest.raises(NncError, match="an array has shape"):
        import_model(write(tmp_path, None, weights), shapes={"data": (2, 3)})
