"""What `nnc compile` tells of a device's program, proves of it and refuses; no device is needed."""

import dataclasses
import re

import onnx
import pytest
from nnc.driver.cache import ModelCache
from nnc.driver.compile import load_module, run_stages
from nnc.driver.program import check_fallback, make_program
from nnc.ir.diagnostics import NncError
from nnc.targets.attribute import target_of
from nnc.tools import nnc as nnc_tool
from onnx import TensorProto, helper


@pytest.fixture
def product(tmp_path):
    """A product, and a normalization of its rows."""
    nodes = [
        helper.make_node("MatMul", ["x", "w"], ["a"]),
        helper.make_node("Softmax", ["a"], ["y"], axis=1),
    ]
    value = lambda name, shape: helper.make_tensor_value_info(name, TensorProto.FLOAT, shape)  # noqa: E731
    graph = helper.make_graph(
        nodes, "g", [value("x", [8, 5]), value("w", [5, 16])], [value("y", [8, 16])]
    )
    path = tmp_path / "m.onnx"
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)]), path)
    return path


@pytest.fixture
def counting(tmp_path):
    """A model whose result is as long as the value of its input says."""
    limits = [
        helper.make_tensor(name, TensorProto.INT64, [], [n]) for name, n in (("a", 0), ("b", 1))
    ]
    graph = helper.make_graph(
        [helper.make_node("Range", ["a", "x", "b"], ["y"], name="numbers")],
        "g",
        [helper.make_tensor_value_info("x", TensorProto.INT64, [])],
        [helper.make_tensor_value_info("y", TensorProto.INT64, [None])],
        limits,
    )
    path = tmp_path / "m.onnx"
    sets = [helper.make_opsetid("", 21)]
    onnx.save(helper.make_model(graph, opset_imports=sets, ir_version=10), path)
    return path


def compiled(path, *options: str, target: str = "opencl", suffix: str = ".cl") -> int:
    """The exit code of a compilation."""
    out = str(path.with_suffix(suffix))
    return nnc_tool.main(["compile", str(path), "--target", target, "-o", out, *options])


def test_a_line_of_what_runs_where(product, capsys):
    assert compiled(product) == 0
    said = capsys.readouterr().err
    assert "launches on the device, 0 steps of the host, " in said
    assert "bytes copied per run, " in said
    assert "__kernel" in product.with_suffix(".cl").read_text()


def test_kernels_are_proven(product, capsys):
    pytest.importorskip("islpy")
    assert compiled(product, "--prove") == 0
    said = capsys.readouterr().err
    proven, _, whole = said.partition(" launches proven")[0].rpartition("]")[2].split()[:3]
    assert proven == whole
    assert int(proven) > 0


LOOPS = {
    "sums": (
        'nn.scatter_elements %a, %b, %c {axis = 0 : i64, reduction = "add"}',
        ["90.xf32", "700.xi64", "700.xf32"],
    ),
    "last elements": (
        'nn.scatter_elements %a, %b, %c {axis = 1 : i64, reduction = "none"}',
        ["3x50.xf32", "2x70xi64", "2x70xf32"],
    ),
    "rows": (
        'nn.scatter_nd %a, %b, %c {reduction = "none"}',
        ["5.x6.xf32", "900.x2xi64", "900.xf32"],
    ),
    "running sums": ("nn.cumsum %a {axis = 1 : i64}", ["2.x3000.xf32"]),
    "short running sums": ("nn.cumsum %a {axis = 0 : i64, reverse = true}", ["300x3xf32"]),
}
"""Operations that one thread alone has on a processor: the text, and its operands' types, in which
extents with a point may be open.
"""


@pytest.mark.sampled(3)
@pytest.mark.parametrize("is_open", [False, True], ids=["fixed", "open"])
@pytest.mark.parametrize("name", LOOPS)
def test_loops_for_all_threads_are_proven(tmp_path, capsys, name, is_open):
    pytest.importorskip("islpy")
    text, operands = LOOPS[name]
    types = [f"tensor<{re.sub(r'[0-9]+[.]', '?', n) if is_open else n}>" for n in operands]
    types = [type.replace(".", "") for type in types]
    arguments = ", ".join(f"%{n}: {type}" for n, type in zip("abc", types, strict=False))
    path = tmp_path / "m.mlir"
    path.write_text(
        f"func.func @main({arguments}) -> {types[0]} {{\n"
        f"  %y = {text} : ({', '.join(types)}) -> {types[0]}\n"
        f"  func.return %y : {types[0]}\n}}\n"
    )
    assert compiled(path, "--prove") == 0
    proven, of, whole = capsys.readouterr().err.partition(" launches proven")[0].split()[-3:]
    assert (proven, of) == (whole, "of")


def test_what_is_not_proven_is_said_once(tmp_path, capsys):
    pytest.importorskip("islpy")
    value = lambda name, shape: helper.make_tensor_value_info(name, TensorProto.FLOAT, shape)  # noqa: E731
    nodes = [helper.make_node("Det", ["x"], ["y"])]  # in rows that are exchanged
    graph = helper.make_graph(nodes, "g", [value("x", [2, 5, 5])], [value("y", [2])])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)])
    onnx.save(model, tmp_path / "rows.onnx")
    assert compiled(tmp_path / "rows.onnx", "--prove") == 0
    notes = [line for line in capsys.readouterr().err.splitlines() if "is not proven" in line]
    assert ["'memref.load'" in notes[0], "'memref.store'" in notes[1]] == [True, True]
    assert len(notes) == 2 and all(one.endswith("depends on data (2 times)") for one in notes)


def test_what_the_host_does_is_listed_or_refused(counting, capsys):
    assert compiled(counting) == 0
    said = capsys.readouterr().err
    assert "1 steps of the host" in said
    assert "on the host: node 'numbers' (Range): how much it computes depends on data" in said
    counting.with_suffix(".cl").unlink()
    assert compiled(counting, "--fallback", "error") == 1
    said = capsys.readouterr().err
    assert "error: 1 steps are not for 'opencl'" in said
    assert not counting.with_suffix(".cl").exists()


def test_a_kept_program_says_it_too(counting, tmp_path):
    module = run_stages(load_module(counting), target="opencl")
    target, program = target_of(module), make_program(module)
    assert program.elsewhere == ("node 'numbers' (Range): how much it computes depends on data",)
    cache = ModelCache(tmp_path / "cache", limit_bytes=1 << 24)
    with cache.new_entry("key") as entry:
        program = dataclasses.replace(program, weights=entry.weights(program.weights.size))
        entry.store(program)
    found = cache.find("key", target)
    assert found.notes == program.notes
    assert found.elsewhere == program.elsewhere
    with pytest.raises(NncError, match="1 steps are not for 'opencl'"):
        check_fallback(found.elsewhere, target)
    check_fallback((), target)


def test_processors_have_no_kernels_to_prove(product, capsys):
    assert compiled(product, "--prove", target="x86-64", suffix=".s") == 1
    assert "--prove is for devices" in capsys.readouterr().err


@pytest.mark.parametrize("target", ["opencl", "opencl-mali", "metal"])
def test_no_object_file(product, target, capsys):
    assert compiled(product, target=target, suffix=".o") == 1
    assert f"'{target}' is written as " in capsys.readouterr().err
