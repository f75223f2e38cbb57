"""nnc check: what a model needs and would get, without compiling it."""

import io
import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import onnx
import pytest
from nnc.driver.checking.work import KernelLoad, Work
from nnc.targets.base import target
from nnc.tools.command import Streams
from nnc.tools.nnc import main
from onnx import TensorProto, helper, numpy_helper

from ..models.small_models import small_cnn

F, I = TensorProto.FLOAT, TensorProto.INT64
info = helper.make_tensor_value_info
node = helper.make_node


def made(nodes, inputs, outputs, initializers=(), functions=(), opsets=()) -> onnx.ModelProto:
    graph = helper.make_graph(nodes, "g", inputs, outputs, initializers)
    imports = [helper.make_opsetid("", 18), *(helper.make_opsetid(d, 1) for d in opsets)]
    return helper.make_model(graph, opset_imports=imports, functions=functions)


def check(model, folder: Path, *argv: str) -> tuple[int, str, str]:
    onnx.save(model, folder / "model.onnx")
    out, err = io.StringIO(), io.StringIO()
    code = main(["check", "model.onnx", *argv], Streams(io.StringIO(), out, err, folder))
    return code, out.getvalue(), err.getvalue()


def as_json(model, folder: Path, *argv: str) -> tuple[int, dict]:
    code, out, err = check(model, folder, "--json", *argv)
    assert not err
    return code, json.loads(out)


def test_operations_bytes_and_memory(tmp_path):
    """Of a product with ReLU, which can be counted by hand."""
    weight = numpy_helper.from_array(np.ones((32, 64), np.float32), "w")
    model = made(
        [node("MatMul", ["x", "w"], ["p"]), node("Relu", ["p"], ["y"])],
        [info("x", F, [16, 32])],
        [info("y", F, [16, 64])],
        [weight],
    )
    code, found = as_json(model, tmp_path, "--target", "x86-64-v4,cortex-a76")
    assert code == 0
    assert found["operations"] == 2 * 16 * 32 * 64 + 16 * 64
    assert found["format"] == "ONNX"
    assert found["inputs"] == [{"name": "x", "type": "f32[16, 32]"}]
    assert found["outputs"] == [{"name": "y", "type": "f32[16, 64]"}]
    assert found["kernels"] == 1
    assert found["weights_bytes"] == 4 * 32 * 64
    assert found["activations_bytes"] == 4 * (16 * 32 + 16 * 64)
    assert found["arena_bytes"] == 0
    assert found["operators"] == [
        {"domain": "", "name": name, "count": 1, "unsupported": 0} for name in ("MatMul", "Relu")
    ]
    assert list(found["seconds"]) == ["x86-64-v4", "cortex-a76"]
    assert 0 < found["seconds"]["x86-64-v4"] < found["seconds"]["cortex-a76"]


def test_time_is_that_of_the_algorithm_that_is_chosen(tmp_path):
    """As many operations by Winograd's algorithm, and with windows that it does not do."""

    def conv(size: tuple[int, int]) -> dict:
        weight = numpy_helper.from_array(np.ones((64, 64, *size), np.float32), "w")
        model = made(
            [node("Conv", ["x", "w"], ["y"], auto_pad="SAME_UPPER")],
            [info("x", F, [1, 64, 56, 56])],
            [info("y", F, [1, 64, 56, 56])],
            [weight],
        )
        return as_json(model, tmp_path, "--target", "x86-64-v4,cortex-a76")[1]

    square, row = conv((3, 3)), conv((1, 9))
    assert square["operations"] == row["operations"]
    for name, seconds in square["seconds"].items():
        assert seconds < 0.8 * row["seconds"][name], name


def test_text(tmp_path):
    code, out, err = check(small_cnn(), tmp_path, "--target", "cortex-a76", "--threads", "2")
    assert code == 0 and not err
    lines, nodes = out.splitlines(), small_cnn().graph.node
    kinds = {one.op_type for one in nodes}
    assert lines[0].endswith(f"model.onnx: {len(nodes)} nodes of {len(kinds)} operators")
    assert any(
        line.split() == [str(sum(n.op_type == "Conv" for n in nodes)), "Conv"] for line in lines
    )
    assert "expected time of a run, 2 thread(s), from the targets' descriptions:" in lines
    assert lines[-1].split()[0] == "cortex-a76"


def test_all_that_is_not_supported_at_once(tmp_path):
    """Unknown operators, also in functions, and nodes that are wrong; not what depends on them."""
    function = helper.make_function(
        "own",
        "Twice",
        ["a"],
        ["b"],
        [node("Add", ["a", "a"], ["t"]), node("Frob", ["t"], ["b"], name="inner", domain="own")],
        [helper.make_opsetid("", 18), helper.make_opsetid("own", 1)],
    )
    then = helper.make_graph(
        [node("Frob", ["x"], ["t"], name="in_then", domain="own")], "then", [], [info("t", F, None)]
    )
    otherwise = helper.make_graph([node("Neg", ["x"], ["e"])], "else", [], [info("e", F, None)])
    model = made(
        [
            node("Frob", ["x"], ["f"], name="frob", domain="own"),
            node("Relu", ["f"], ["r"], name="after"),
            node("Conv", ["x", "w"], ["c"], name="bad_conv"),
            node("Twice", ["x"], ["d"], name="twice", domain="own"),
            node("If", ["cond"], ["i"], name="if", then_branch=then, else_branch=otherwise),
            node("Exp", ["x"], ["y"], name="fine"),
        ],
        [info("x", F, [2, 4]), info("w", F, [3, 3, 3]), info("cond", TensorProto.BOOL, [])],
        [info(name, F, None) for name in ("r", "c", "d", "i", "y")],
        functions=[function],
        opsets=["own"],
    )
    code, found = as_json(model, tmp_path)
    assert code == 1
    assert found["unsupported"] == [
        "node 'frob' (Frob): not supported: Frob of own, opset 1",
        "node 'bad_conv' (Conv): input 'X' has rank 2, expected at least 3",
        "node 'twice' (Twice): not supported: Twice of own, opset 1, whose body needs Frob",
        "node 'in_then' (Frob): not supported: Frob of own, opset 1",
    ]
    assert found["unexamined"] == 2  # what follows from `frob`, and the If itself
    used = {one["name"]: (one["count"], one["unsupported"]) for one in found["operators"]}
    assert used["Frob"] == (3, 2) and used["Conv"] == (1, 1) and used["Exp"] == (1, 0)
    assert found["operations"] is None and found["seconds"] == {}
    code, out, _ = check(model, tmp_path)
    assert code == 1 and "not supported (4):" in out and "'bad_conv'" in out


def test_branch_that_does_not_fit(tmp_path):
    """As for a compilation, it is no fault: one of two branches may be left out."""
    fits = helper.make_graph([node("MatMul", ["x", "v"], ["a"])], "then", [], [info("a", F, None)])
    other = helper.make_graph([node("MatMul", ["x", "w"], ["b"])], "else", [], [info("b", F, None)])
    model = made(
        [node("If", ["cond"], ["y"], name="if", then_branch=fits, else_branch=other)],
        [info("x", F, [2, 4]), info("cond", TensorProto.BOOL, [])],
        [info("y", F, None)],
        [
            numpy_helper.from_array(np.ones((k, 3), np.float32), k_name)
            for k, k_name in ((4, "v"), (5, "w"))
        ],
    )
    code, found = as_json(model, tmp_path)
    assert code == 0
    assert found["unsupported"] == [] and found["unexamined"] == 0


def test_where_open_dimensions_come_from(tmp_path):
    model = made(
        [
            node("NonZero", ["x"], ["nz"], name="nonzero"),
            node("Relu", ["x"], ["r"], name="relu"),
            node("Shape", ["x"], ["s"], name="shape"),
            node("ConstantOfShape", ["s"], ["z"], name="zeros"),
            node("Range", ["zero", "n", "one"], ["rg"], name="range"),
            node("Transpose", ["nz"], ["t"], name="transpose"),
        ],
        [info("x", F, ["batch", 4]), info("n", I, [])],
        [info("t", I, None), info("r", F, None), info("z", F, None), info("rg", I, None)],
        [numpy_helper.from_array(np.int64(i), name) for i, name in enumerate(("zero", "one"))],
    )
    code, found = as_json(model, tmp_path)
    assert code == 0
    assert found["open_dimensions"] == [
        {"place": "input 'x'", "type": "f32[batch, 4]", "because": "given by the caller"},
        {
            "place": "node 'nonzero' (NonZero)",
            "type": "i64[2, ?]",
            "because": "values of input 'x'",
        },
        {"place": "node 'range' (Range)", "type": "i64[?]", "because": "values of input 'n'"},
    ]
    assert found["assumed_shapes"] == {"x": [1, 4]}
    code, found = as_json(model, tmp_path, "--shape", "x=7,4", "--constant", "n=3")
    assert [one["place"] for one in found["open_dimensions"]] == ["node 'nonzero' (NonZero)"]
    assert found["assumed_shapes"] == {}


def test_shapes_that_are_assumed_may_not_fit(tmp_path):
    """They are said, and there are no figures; giving others helps."""
    model = made(
        [node("MatMul", ["x", "w"], ["y"])],
        [info("x", F, ["n", "k"])],
        [info("y", F, None)],
        [numpy_helper.from_array(np.full((5, 3), 2, np.float32), "w")],
    )
    code, out, _ = check(model, tmp_path)
    assert code == 0
    assert "no figures: x=1,128 do not fit the model; --shape gives others" in out
    _, found = as_json(model, tmp_path, "--shape", "x=2,5")
    assert found["operations"] == 2 * 2 * 5 * 3


def test_branches_and_loops(tmp_path):
    """The branch with more operations counts, one iteration of a loop, and it is said."""
    then = helper.make_graph(
        [node("MatMul", ["x", "x"], ["t"])], "then", [], [info("t", F, [8, 8])]
    )
    otherwise = helper.make_graph([node("Neg", ["x"], ["e"])], "else", [], [info("e", F, [8, 8])])
    body = helper.make_graph(
        [node("Identity", ["go"], ["on"]), node("Add", ["v", "x"], ["w"])],
        "body",
        [info("i", I, []), info("go", TensorProto.BOOL, []), info("v", F, [8, 8])],
        [info("on", TensorProto.BOOL, []), info("w", F, [8, 8])],
    )
    model = made(
        [
            node("If", ["c"], ["b"], then_branch=then, else_branch=otherwise),
            node("Loop", ["n", "c", "b"], ["y"], body=body),
        ],
        [info("x", F, [8, 8]), info("c", TensorProto.BOOL, []), info("n", I, [])],
        [info("y", F, [8, 8])],
    )
    code, found = as_json(model, tmp_path)
    assert code == 0 and found["loops"] == 1
    product, total = 2 * 8 * 8 * 8, found["operations"]
    assert product + 8 * 8 <= total < product + 3 * 8 * 8
    assert (
        "counted for one iteration of each loop, of which there are 1" in check(model, tmp_path)[1]
    )


def test_external_data_is_not_read(tmp_path):
    """Only counted; but a file that is missing is told."""
    model = made(
        [node("MatMul", ["x", "w"], ["y"])],
        [info("x", F, [1, 64])],
        [info("y", F, [1, 64])],
        [numpy_helper.from_array(np.ones((64, 64), np.float32), "w")],
    )
    path = tmp_path / "outside.onnx"
    onnx.save(model, path, save_as_external_data=True, size_threshold=0, location="w.bin")
    out = io.StringIO()
    argv = ["check", "outside.onnx", "--json"]
    assert main(argv, Streams(io.StringIO(), out, io.StringIO(), tmp_path)) == 0
    assert json.loads(out.getvalue())["weights_bytes"] == 4 * 64 * 64
    (tmp_path / "w.bin").unlink()
    out = io.StringIO()
    assert main(argv, Streams(io.StringIO(), out, io.StringIO(), tmp_path)) == 1
    (fault,) = json.loads(out.getvalue())["unsupported"]
    assert "tensor 'w': external data file 'w.bin' does not exist" in fault


def test_ir_of_the_graph(tmp_path):
    (tmp_path / "m.mlir").write_text("""
      func.func @main(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
        %y = nn.exp %x : (tensor<4x8xf32>) -> tensor<4x8xf32>
        return %y : tensor<4x8xf32>
      }""")
    out = io.StringIO()
    argv = ["check", "m.mlir", "--json"]
    assert main(argv, Streams(io.StringIO(), out, io.StringIO(), tmp_path)) == 0
    found = json.loads(out.getvalue())
    assert found["operations"] == 32
    assert {"domain": "nn", "name": "exp", "count": 1, "unsupported": 0} in found["operators"]


@pytest.mark.parametrize(
    "argv,message",
    [
        (["--target", "x86-64-v4,z80"], "z80"),
        (["--shape", "y=1"], "'y', which is not an input"),
        (["--threads", "0"], "--threads is at least 1"),
    ],
)
def test_errors(tmp_path, argv, message):
    code, out, err = check(small_cnn(), tmp_path, *argv)
    assert code == 1 and message in err and not out and err.count("\n") == 1


def test_time_by_the_machine():
    """More operations, more bytes or fewer cores take longer; a thread more than there are cores
    does not help.
    """
    machine = target("x86-64-v3")

    def seconds(operations=10**9, weights=0, threads=1):
        kernel = KernelLoad(operations, weights, 10**6)
        return Work((kernel,), weights, 10**6, 0).seconds(machine.machine, threads)

    assert seconds(2 * 10**9) > 1.9 * seconds()
    assert seconds(weights=10**9) > seconds()
    assert seconds(threads=machine.machine.cores) < seconds() or machine.machine.cores == 1
    assert seconds(threads=1000) == seconds(threads=machine.machine.cores)


def test_time_of_a_device():
    """Each kernel begins with a launch, and has all cores whatever the caller's threads are."""
    machine = target("opencl").machine

    def seconds(kernels, operations, threads=1, machine=machine):
        load = KernelLoad(operations, 0, 10**3)
        return Work((load,) * kernels, 0, 10**3, 0).seconds(machine, threads)

    launch = 1e-6 * machine.launch_microseconds
    assert seconds(3, 0) == pytest.approx(3 * launch, rel=0.01)
    assert seconds(1, 10**11, threads=8) == seconds(1, 10**11)
    half = replace(machine, cores=machine.cores // 2)
    assert seconds(1, 10**11, machine=half) == pytest.approx(2 * seconds(1, 10**11), rel=0.01)
