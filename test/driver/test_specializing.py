"""A Squeeze without axes behind open extents: what an extent of 1 takes away, and what it does not."""

import nnc
import numpy as np
import onnx
import pytest
from nnc.driver import specializing
from nnc.driver.specializing import Specializing
from nnc.ir.diagnostics import NncError
from nnc.tools import nnc as nnc_tool
from onnx import TensorProto, helper
from onnx.reference import ReferenceEvaluator


def squeezed(kind=TensorProto.FLOAT, shape=("n", 1, 3)):
    """abs(squeeze(-x)) * 2, whose rank is declared nowhere; texts are only squeezed."""
    x = helper.make_tensor_value_info("x", kind, shape)
    y = helper.make_empty_tensor_value_info("y")
    y.type.tensor_type.elem_type = kind
    nodes = [
        helper.make_node("Neg", ["x"], ["a"], name="before"),
        helper.make_node("Squeeze", ["a"], ["b"], name="rank"),
        helper.make_node("Abs", ["b"], ["c"]),
        helper.make_node("Add", ["c", "c"], ["y"]),
    ]
    if kind == TensorProto.STRING:
        nodes = [helper.make_node("Squeeze", ["x"], ["y"], name="rank")]
    graph = helper.make_graph(nodes, "g", [x], [y])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


def check(model, proto, *shape):
    x = np.random.default_rng(0).standard_normal(shape).astype(np.float32)
    (want,) = ReferenceEvaluator(proto).run(None, {"x": x})
    got = model(x)
    assert got.shape == want.shape
    np.testing.assert_allclose(got, want, rtol=1e-6)


def test_an_extent_of_1_is_taken_away():
    proto = squeezed()
    model = nnc.compile(proto, cache=False)
    for n in (4, 1, 2, 1):
        check(model, proto, n, 1, 3)
    assert len(model.parts) == 2  # one for open shapes, one for n = 1


def test_so_is_each_of_several(tmp_path):
    """Here a file, which is compiled through the cache."""
    proto = squeezed(shape=("n", "m", 3))
    onnx.save(proto, tmp_path / "m.onnx")
    for _ in range(2):
        model = nnc.compile(tmp_path / "m.onnx")
        for n, m in ((4, 5), (1, 5), (4, 1), (1, 1), (2, 3)):
            check(model, proto, n, m, 3)
        assert len(model.parts) == 4


def test_texts_as_well():
    proto = squeezed(TensorProto.STRING, ("n", 1))
    model = nnc.compile(proto, cache=False)
    for texts in (["a", "b"], ["c"]):
        x = np.array(texts, object).reshape(-1, 1)
        got, want = np.asarray(model(x)), x.squeeze()
        assert got.shape == want.shape and got.tolist() == want.tolist()


def test_only_the_last_shapes_are_kept(monkeypatch):
    monkeypatch.setattr(specializing, "MOST_KEPT", 1)
    proto = squeezed(shape=("n", "m", 3))
    model = nnc.compile(proto, cache=False)
    for n, m in ((1, 5), (4, 1), (1, 5)):
        check(model, proto, n, m, 3)
        assert len(model.parts) == 2


def test_a_model_of_fixed_shapes_is_no_such_model():
    assert not isinstance(nnc.compile(squeezed(), shapes={"x": (1, 1, 3)}), Specializing)


def test_other_failures_stay():
    model = nnc.compile(squeezed(), cache=False)
    with pytest.raises(NncError, match="expected tensor"):
        model(np.zeros((2, 2, 3), np.float32))


def test_a_library_says_which_node_it_is(tmp_path, capsys):
    onnx.save(squeezed(), tmp_path / "m.onnx")
    command = ["compile", str(tmp_path / "m.onnx"), "-o", str(tmp_path / "m.o")]
    assert nnc_tool.main(command) == 0
    said = capsys.readouterr().err
    assert "node 'rank' (Squeeze): may fail at run time: an unknown extent is 1" in said
    assert "--shape" in said
    assert nnc_tool.main([*command, "--shape", "x=1,1,3"]) == 0
    assert "may fail" not in capsys.readouterr().err
