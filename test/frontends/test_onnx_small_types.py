"""Models with elements of 8 bits and less: floats of 8 and 4, integers of 4 and 2."""

from __future__ import annotations

import json

import ml_dtypes
import nnc
import numpy as np
import onnx
import pytest
from nnc.tools.nnc import main
from onnx import TensorProto, helper, numpy_helper
from onnx.reference import ReferenceEvaluator

KINDS = {
    "FLOAT8E4M3FN": ml_dtypes.float8_e4m3fn,
    "FLOAT8E4M3FNUZ": ml_dtypes.float8_e4m3fnuz,
    "FLOAT8E5M2": ml_dtypes.float8_e5m2,
    "FLOAT8E5M2FNUZ": ml_dtypes.float8_e5m2fnuz,
    "FLOAT8E8M0": ml_dtypes.float8_e8m0fnu,
    "FLOAT4E2M1": ml_dtypes.float4_e2m1fn,
    "INT4": ml_dtypes.int4,
    "UINT4": ml_dtypes.uint4,
    "INT2": ml_dtypes.int2,
    "UINT2": ml_dtypes.uint2,
}


def some(kind: str, *shape: int) -> np.ndarray:
    """Numbers that every type but the powers of two has, one after the other."""
    numbers = np.arange(int(np.prod(shape))) % 4 - (2 if kind in ("INT4", "INT2") else 0)
    return numbers.astype(np.float32).astype(KINDS[kind]).reshape(shape)


def model_of(nodes, inputs, outputs, initializers=()) -> onnx.ModelProto:
    """A model of opset 25; `inputs` and `outputs` are (name, kind, shape)."""
    values = [
        [helper.make_tensor_value_info(n, getattr(TensorProto, k), s) for n, k, s in each]
        for each in (inputs, outputs)
    ]
    graph = helper.make_graph(nodes, "g", *values, list(initializers))
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 25)], ir_version=13)


def same(found, wanted) -> None:
    found, wanted = np.asarray(found), np.asarray(wanted)
    assert found.dtype == wanted.dtype
    np.testing.assert_array_equal(found.astype(np.float32), wanted.astype(np.float32))


@pytest.mark.sampled(3)
@pytest.mark.parametrize("place", ["raw", "typed", "beside"])
@pytest.mark.parametrize("count", [0, 1, 7, 400])
@pytest.mark.parametrize("kind", KINDS)
def test_initializers(kind, count, place, tmp_path):
    """Packed ones end in the middle of a byte; long ones are resources."""
    code, array = getattr(TensorProto, kind), some(kind, count)
    tensor = numpy_helper.from_array(array, "w")
    if place == "typed":
        bits = np.frombuffer(tensor.raw_data, np.uint8)
        tensor = TensorProto(name="w", data_type=code, dims=[count], int32_data=bits.tolist())
    same(numpy_helper.to_array(tensor), array)
    nodes = [helper.make_node("Identity", ["w"], ["y"])]
    model = model_of(nodes, [], [("y", kind, [count])], [tensor])
    path = tmp_path / "model.onnx"
    beside = {"save_as_external_data": True, "size_threshold": 0} if place == "beside" else {}
    onnx.save(model, path, **beside)
    same(nnc.compile(path)(), array)


@pytest.mark.parametrize("kind", KINDS)
def test_a_tensor_of_too_few_bytes(kind):
    tensor = numpy_helper.from_array(some(kind, 9), "w")
    tensor.dims[0] = 100
    model = model_of(
        [helper.make_node("Identity", ["w"], ["y"])], [], [("y", kind, [100])], [tensor]
    )
    with pytest.raises(nnc.NncError, match=f"tensor 'w': .* of {kind} needs"):
        nnc.compile(model)


def moving(kind: str) -> onnx.ModelProto:
    """All that moves elements without computing: ONNX lets these take small types."""
    shape = numpy_helper.from_array(np.array([4, 3, 2]), "shape")
    axes = numpy_helper.from_array(np.array([0]), "axes")
    pads = numpy_helper.from_array(np.array([1, 0, 0, 2]), "pads")
    extents = numpy_helper.from_array(np.array([2, 3]), "extents")
    one = numpy_helper.from_array(some(kind, 2)[1:], "")
    branches = [
        helper.make_graph(
            [helper.make_node("Identity", [source], [name])], name, [],
            [helper.make_tensor_value_info(name, getattr(TensorProto, kind), None)],
        )
        for source, name in (("x", "yes"), ("z", "no"))
    ]  # fmt: skip
    node = helper.make_node
    nodes = [
        node("Transpose", ["x"], ["transposed"], perm=[1, 0]),
        node("Reshape", ["x", "shape"], ["reshaped"]),
        node("Unsqueeze", ["x", "axes"], ["unsqueezed"]),
        node("Squeeze", ["unsqueezed", "axes"], ["squeezed"]),
        node("Flatten", ["reshaped"], ["flat"]),
        node("Pad", ["x", "pads"], ["padded"]),
        node("ConstantOfShape", ["extents"], ["full"], value=one),
        node("If", ["which"], ["chosen"], then_branch=branches[0], else_branch=branches[1]),
        node("Size", ["x"], ["size"]),
    ]
    outputs = [(n, kind, None) for n in
               ("transposed", "reshaped", "squeezed", "flat", "padded", "full", "chosen")]  # fmt: skip
    outputs.append(("size", "INT64", []))
    inputs = [("x", kind, [4, 6]), ("z", kind, [4, 6]), ("which", "BOOL", [])]
    return model_of(nodes, inputs, outputs, [shape, axes, pads, extents])


@pytest.mark.parametrize("kind", [k for k in KINDS if k != "FLOAT8E8M0"])
def test_elements_are_moved(kind):
    model, x = moving(kind), some(kind, 4, 6)
    z = x[:, ::-1].copy()
    compiled = nnc.compile(model)
    for which in (True, False):
        found = compiled(x, z, np.array(which))
        padded = np.zeros((5, 8), x.dtype)
        padded[1:, :6] = x
        wanted = [
            x.T, x.reshape(4, 3, 2), x, x.reshape(4, 6), padded,
            np.full((2, 3), some(kind, 2)[1]), x if which else z, np.int64(24),
        ]  # fmt: skip
        for f, w in zip(found, wanted, strict=True):
            same(f, w)


@pytest.mark.sampled(5)
@pytest.mark.parametrize("saturate", [0, 1])
@pytest.mark.parametrize("kind", [k for k in KINDS if k != "FLOAT8E8M0"])
def test_blocks_are_quantized_and_back(kind, saturate):
    """Scales for blocks of 4 in a row, as 4-bit weights have them."""
    scale = helper.make_tensor_value_info
    node = helper.make_node
    block = {"axis": 1, "block_size": 4}
    code = getattr(TensorProto, kind)
    nodes = [
        node("QuantizeLinear", ["x", "s"], ["q"], output_dtype=code, saturate=saturate, **block),
        node("DequantizeLinear", ["q", "s"], ["y"], **block),
    ]
    inputs = [("x", "FLOAT", [3, 8]), ("s", "FLOAT", [3, 2])]
    model = model_of(nodes, inputs, [("q", kind, [3, 8]), ("y", "FLOAT", [3, 8])])
    rng = np.random.default_rng(0)
    x = (rng.standard_normal((3, 8)) * 40).astype(np.float32)
    x[0, 0], x[1, 1] = 1e6, -1e6
    scale = np.exp2(rng.integers(-2, 3, (3, 2))).astype(np.float32)
    with np.errstate(all="ignore"):
        wanted = ReferenceEvaluator(model).run(None, {"x": x, "s": scale})
    for f, w in zip(nnc.compile(model)(x, scale), wanted, strict=True):
        same(f, w)


def test_a_rounding_that_is_none():
    code = TensorProto.FLOAT8E8M0
    nodes = [helper.make_node("Cast", ["x"], ["y"], to=code, round_mode="odd")]
    model = model_of(nodes, [("x", "FLOAT", [2])], [("y", "FLOAT8E8M0", [2])])
    with pytest.raises(nnc.NncError, match="'round_mode' is 'odd', expected up or down or nearest"):
        nnc.compile(model)


def test_interfaces_say_how_elements_lie_in_memory(tmp_path):
    nodes = [helper.make_node("Cast", ["x"], ["y"], to=TensorProto.FLOAT8E5M2)]
    path, library = tmp_path / "model.onnx", tmp_path / "m.so"
    onnx.save(model_of(nodes, [("x", "INT4", [3])], [("y", "FLOAT8E5M2", [3])]), path)
    assert main(["compile", str(path), "-o", str(library), "--quiet"]) == 0
    about = json.loads((tmp_path / "m.json").read_text())
    (given,), (made,) = about["inputs"], about["outputs"]
    assert (given["type"], given["element_bytes"]) == ("i4", 1)
    assert made["type"] == "f8E5M2" and "element_bytes" not in made
    assert "take a byte each, of which the low bits count" in (tmp_path / "m.h").read_text()


def test_no_pass_changes_what_small_elements_are(tmp_path, capsys):
    """Quantized, moved and taken apart again, with the results compared after each pass."""
    node = helper.make_node
    nodes = [
        node("QuantizeLinear", ["x", "s"], ["q"], output_dtype=TensorProto.INT4),
        node("Transpose", ["q"], ["t"], perm=[1, 0]),
        node("DequantizeLinear", ["t", "s"], ["y"]),
        node("Cast", ["y"], ["z"], to=TensorProto.FLOAT8E4M3FN, saturate=0),
        node("BitCast", ["z"], ["b"], to=TensorProto.INT8),
    ]
    outputs = [("t", "INT4", [8, 6]), ("z", "FLOAT8E4M3FN", [8, 6]), ("b", "INT8", [8, 6])]
    model = model_of(nodes, [("x", "FLOAT", [6, 8]), ("s", "FLOAT", [])], outputs)
    model.opset_import[0].version = 26
    path = tmp_path / "model.onnx"
    onnx.save(model, path)
    command = ["compile", str(path), "-o", str(tmp_path / "m.so"), "--check-numerics", "--quiet"]
    assert main(command) == 0, capsys.readouterr().err
