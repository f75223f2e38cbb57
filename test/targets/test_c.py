"""Models as C: bit by bit what nnc's library gives, from each compiler that is here."""

import shutil
import subprocess
import sys
from functools import cache
from importlib.util import find_spec

import nnc
import numpy as np
import onnx
import pytest
from nnc.artifacts.options import ArtifactOptions
from nnc.driver.artifacts import write_artifact
from nnc.driver.compile import load_module, run_stages
from nnc.ir.attributes import ArrayAttr, StringAttr, UnitAttr
from nnc.ir.syntax.parser import parse_module
from nnc.targets.c import running
from onnx import TensorProto, helper, numpy_helper

from ..lowering.nn_cases import CONVOLUTIONS, MOVEMENT, one_op
from ..lowering.running import check_equal, entry, inputs_of
from ..lowering.test_nn_to_linalg import example_of
from ..models.small_models import GraphMaker, small_transformer
from .small_networks import (
    classified,
    convolution,
    detector,
    lstm,
    mobilenet_v2,
    resnet18,
    squeezenet,
)
from .test_emulated_operators import GROUPS, one_function, truth_values

STRICT = [
    "-std=c99",
    "-pedantic",
    "-Wall",
    "-Wextra",
    "-Werror",
    "-march=native",
    "-shared",
    "-fPIC",
]
SANITIZED = [*STRICT, *["-O1", "-fsanitize=undefined", "-fno-sanitize-recover=all"]]
COMPILERS = {name: (name,) for name in ("gcc", "clang") if shutil.which(name)}
if find_spec("ziglang"):
    COMPILERS["zig"] = (sys.executable, "-m", "ziglang", "cc")
pytestmark = pytest.mark.skipif("gcc" not in COMPILERS, reason="no C compiler")


@pytest.fixture
def build(monkeypatch):
    """Let models be built by a compiler with other flags than usual."""

    def change(compiler: str, flags: list[str]) -> None:
        monkeypatch.setattr(running, "compiler", lambda: COMPILERS[compiler])
        monkeypatch.setattr(running, "FLAGS", flags)

    change("gcc", [*STRICT, "-O1"])
    return change


def inputs_for(model: onnx.ModelProto, extent: int = 3) -> list[np.ndarray]:
    """Numbers for a model's inputs; extents that it leaves open are `extent`."""
    rng, found = np.random.default_rng(0), []
    weights = {one.name for one in model.graph.initializer}
    for value in model.graph.input:
        if value.name not in weights:
            kind = helper.tensor_dtype_to_np_dtype(value.type.tensor_type.elem_type)
            shape = [d.dim_value or extent for d in value.type.tensor_type.shape.dim]
            numbers = rng.standard_normal(shape) if kind.kind == "f" else rng.integers(0, 5, shape)
            found.append(numbers.astype(kind))
    return found


def outputs(model, inputs, target: str) -> list[np.ndarray]:
    """What a model gives, compiled anew for a target."""
    found = nnc.compile(model, target=target, cache=False)(*inputs)
    return list(found) if isinstance(found, tuple) else [found]


def half() -> onnx.ModelProto:
    """A convolution network in f16."""
    g = GraphMaker(3)
    x = g.op("Relu", convolution(g, "x", 3, 8, 3, strides=[2, 2]))
    x = g.op("Relu", convolution(g, x, 8, 16, 3))
    model = classified(g, x, 16, (1, 3, 17, 19))
    for i, tensor in enumerate(model.graph.initializer):
        array = numpy_helper.to_array(tensor).astype(np.float16)
        model.graph.initializer[i].CopyFrom(numpy_helper.from_array(array, tensor.name))
    for value in (*model.graph.input, *model.graph.output):
        value.type.tensor_type.elem_type = TensorProto.FLOAT16
    return model


def quantized() -> onnx.ModelProto:
    """Convolutions of integers of 8 bits, between steps of quantization."""
    rng = np.random.default_rng(3)
    g = GraphMaker(8)

    def steps(x: str, scale: float, zero: int, kind=np.uint8) -> str:
        s, z = g.constant(np.float32(scale)), g.constant(kind(zero))
        return g.op("DequantizeLinear", g.op("QuantizeLinear", x, s, z), s, z)

    x, channels = steps("x", 0.03, 120), 3
    for cout, group in ((16, 1), (16, 16), (24, 1)):
        w = g.constant(rng.integers(-127, 128, (cout, channels // group, 3, 3)).astype(np.int8))
        scale = g.constant(rng.uniform(0.005, 0.02, cout).astype(np.float32))
        w = g.op("DequantizeLinear", w, scale, g.constant(np.zeros(cout, np.int8)), axis=0)
        x = g.op("Relu", g.op("Conv", x, w, g.weight(cout, scale=0.1), pads=[1] * 4, group=group))
        x, channels = steps(x, 0.05, 0), cout
    model = classified(g, x, channels, (1, 3, 15, 15))
    model.opset_import[0].version = 19
    return model


def forest() -> onnx.ModelProto:
    """Trees of depth 3 over 4 features, for any number of rows."""
    from ..frontends.test_onnx_classical import forest as trees

    node = helper.make_node(
        "TreeEnsembleRegressor",
        ["x"],
        ["y"],
        domain="ai.onnx.ml",
        n_targets=3,
        **trees("target", 3),
    )
    graph = helper.make_graph(
        [node],
        "forest",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["rows", 4])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, ["rows", 3])],
    )
    sets = [helper.make_opsetid("", 19), helper.make_opsetid("ai.onnx.ml", 3)]
    return helper.make_model(graph, opset_imports=sets, ir_version=9)


NETWORKS = {
    "squeezenet": squeezenet,
    "mobilenet_v2": mobilenet_v2,
    "resnet18": resnet18,
    "bert": small_transformer,
    "lstm": lstm,
    "detector": detector,
    "half": half,
    "quantized": quantized,
    "forest": forest,
}


@cache
def network(name: str) -> tuple[onnx.ModelProto, list[np.ndarray], list[np.ndarray]]:
    """A network, inputs, and what this machine's code makes of them."""
    model = NETWORKS[name]()
    inputs = inputs_for(model)
    return model, inputs, outputs(model, inputs, "host")


def check(name: str) -> None:
    """Check that a network's C gives what its library gives, bit by bit."""
    model, inputs, here = network(name)
    for got, want in zip(outputs(model, inputs, "c"), here, strict=True):
        assert (got.shape, got.dtype, got.tobytes()) == (want.shape, want.dtype, want.tobytes())


@pytest.mark.sampled(3)
@pytest.mark.parametrize("name", ["forest", "lstm", "quantized"])
def test_networks(name, build):
    check(name)


def by_turns():
    """Every network by every compiler, by turns by default: gcc has all of them below."""
    compilers = list(COMPILERS)
    for compiler in compilers:
        for number, name in enumerate(NETWORKS):
            rare = compiler != compilers[number % len(compilers)]
            yield pytest.param(compiler, name, marks=[pytest.mark.thorough] * rare)


@pytest.mark.emulated
@pytest.mark.parametrize(("compiler", "name"), list(by_turns()))
def test_every_network(name, compiler, build):
    build(compiler, [*STRICT, "-O2"])
    check(name)


@pytest.mark.emulated
@pytest.mark.sampled(2)
@pytest.mark.parametrize("name", NETWORKS)
def test_defined_behaviour(name, build):
    build("gcc", SANITIZED)
    check(name)


# -- operators ---------------------------------------------------------------------------------


def check_together(functions, target: str) -> None:
    """Check functions (label, text, inputs or None, sizes) as one model."""
    values = []
    for _, text, given, sizes in functions:
        module = parse_module(text)
        values += inputs_of(entry(module).function_type.inputs, given, sizes, seed=0)
    found = []
    for name in (target, "host"):
        module = parse_module(one_function([text for _, text, *_ in functions]))
        module.verify()
        function = entry(module)
        function.attributes["nn.entry"] = UnitAttr()
        types = function.function_type
        for kind, count in (("input", len(types.inputs)), ("output", len(types.results))):
            names = tuple(StringAttr(f"{kind}{i}") for i in range(count))
            function.attributes[f"nn.{kind}_names"] = ArrayAttr(names)
        found.append(outputs(module, values, name))
    for i, (got, want) in enumerate(zip(*found, strict=True)):
        # Another schedule adds up in another order.
        tolerance = 1e-6 if target == "c" else 2e-2 if want.dtype == np.float16 else 1e-4
        try:
            check_equal(got, want, tolerance, tolerance)
        except AssertionError as error:
            raise AssertionError(f"output {i}: {error}") from None


TARGETS = pytest.mark.parametrize("target", ["c", "c-scalar"])


@pytest.mark.emulated
@pytest.mark.sampled(2)  # each group of operators for one of the targets
@pytest.mark.parametrize("group", GROUPS, ids=lambda ops: f"{ops[0].name}..{ops[-1].name}")
@TARGETS
def test_operators(group, target, build):
    build("gcc", SANITIZED)
    check_together([(cls.name, *example_of(cls)) for cls in group], target)


@pytest.mark.emulated
@pytest.mark.sampled(2)
@TARGETS
def test_convolutions(target, build):
    """Also in groups, of f16, of unknown extents."""
    build("gcc", SANITIZED)
    check_together(
        [(k, one_op(text, *args), None, [3, 7, 5]) for k, (text, args) in CONVOLUTIONS.items()],
        target,
    )


@pytest.mark.emulated
@pytest.mark.sampled(2)
@TARGETS
def test_movement(target, build):
    build("gcc", SANITIZED)
    check_together(
        [(k, one_op(text, *args), None, sizes) for k, (text, args, sizes) in MOVEMENT.items()],
        target,
    )


@pytest.mark.sampled(2)
@TARGETS
def test_truth_values(target, build):
    build("gcc", SANITIZED)
    check_together(truth_values(), target)


@pytest.mark.emulated
@pytest.mark.parametrize("compiler", COMPILERS)
def test_vectors_of_three_lanes(compiler, build):
    """The image, class and box of each box that non-maximum suppression keeps."""
    build(compiler, [*STRICT, "-O1"])
    node = helper.make_node("NonMaxSuppression", ["boxes", "scores", "most", "overlap"], ["kept"])
    inputs = [
        helper.make_tensor_value_info("boxes", TensorProto.FLOAT, [1, 3, 4]),
        helper.make_tensor_value_info("scores", TensorProto.FLOAT, [1, 1, 3]),
        helper.make_tensor_value_info("most", TensorProto.INT64, [1]),
        helper.make_tensor_value_info("overlap", TensorProto.FLOAT, [1]),
    ]
    kept = helper.make_tensor_value_info("kept", TensorProto.INT64, [None, 3])
    model = helper.make_model(helper.make_graph([node], "nms", inputs, [kept]))
    boxes = np.array([[[0, 0, 1, 1], [0, 0.1, 1, 1.1], [0, 10, 1, 11]]], np.float32)
    scores = np.array([[[0.9, 0.75, 0.6]]], np.float32)
    found = nnc.compile(model, target="c", cache=False)(
        boxes, scores, np.array([3]), np.array([0.5], np.float32)
    )
    np.testing.assert_array_equal(found, [[0, 0, 0], [0, 0, 2]])


def test_products_with_the_numbers_of_a_processor_with_tile_registers(build):
    """C has no words for them."""
    build("gcc", SANITIZED)
    rng = np.random.default_rng(8)
    rows, weights = rng.integers(0, 256, (40, 64)), rng.integers(-128, 128, (64, 48))
    node = helper.make_node("MatMulInteger", ["x", "w"], ["y"])
    x = helper.make_tensor_value_info("x", TensorProto.UINT8, rows.shape)
    y = helper.make_tensor_value_info("y", TensorProto.INT32, [40, 48])
    constant = numpy_helper.from_array(weights.astype(np.int8), "w")
    model = helper.make_model(helper.make_graph([node], "product", [x], [y], [constant]))
    program = nnc.compile(model, target="c-sapphirerapids", cache=False)
    np.testing.assert_array_equal(program(rows.astype(np.uint8)), rows @ weights)


def test_copies_without_a_heap(build):
    """A loop's values, which are copied whole."""
    body = helper.make_graph(
        [helper.make_node("Add", ["v", "v"], ["w"]), helper.make_node("Identity", ["go"], ["on"])],
        "body",
        [
            helper.make_tensor_value_info("i", TensorProto.INT64, []),
            helper.make_tensor_value_info("go", TensorProto.BOOL, []),
            helper.make_tensor_value_info("v", TensorProto.FLOAT, [3]),
        ],
        [
            helper.make_tensor_value_info("on", TensorProto.BOOL, []),
            helper.make_tensor_value_info("w", TensorProto.FLOAT, [3]),
        ],
    )
    x, y = (helper.make_tensor_value_info(name, TensorProto.FLOAT, [3]) for name in "xy")
    count = numpy_helper.from_array(np.int64(4), "n")
    loop = helper.make_node("Loop", ["n", "", "x"], ["y"], body=body)
    model = helper.make_model(helper.make_graph([loop], "g", [x], [y], [count]), ir_version=10)
    build("gcc", SANITIZED)
    (found,) = outputs(model, [np.float32([1, -2, 0.5])], "c")
    np.testing.assert_array_equal(found, np.float32([16, -32, 8]))


# -- files, and what is wrong ------------------------------------------------------------------


MAIN = """
#include <stdio.h>
#include <stdlib.h>
#include "model.h"
int main(int count, char **given) {{
    float x[8] = {{1, 2, 3, 4, 5, 6, 7, 8}}, *y = NULL;
    int64_t rows[2] = {{2, 4}}, shape[2], made[2];
    int32_t status;
    shape[0] = strtol(given[1], NULL, 10);
    shape[1] = 2;
    status = {load};
    if (status == 0) status = nnc_call(x, rows, shape, &y, made);
    if (status == 0) printf("%ld %ld %g\\n", (long)made[0], (long)made[1], (double)y[7]);
    else puts(nnc_message(status));
    free(y);
    return count != 2;
}}
"""


def reshaped() -> onnx.ModelProto:
    """Numbers scaled by stored ones, in a shape that only the run tells."""
    value = helper.make_tensor_value_info
    graph = helper.make_graph(
        [
            helper.make_node("Mul", ["x", "w"], ["z"]),
            helper.make_node("Reshape", ["z", "s"], ["y"]),
        ],
        "g",
        [value("x", TensorProto.FLOAT, ["n", 4]), value("s", TensorProto.INT64, [2])],
        [value("y", TensorProto.FLOAT, ["a", "b"])],
        [numpy_helper.from_array(np.linspace(1, 2, 4, dtype=np.float32), "w")],
    )
    sets = [helper.make_opsetid("", 17)]
    return helper.make_model(graph, opset_imports=sets, ir_version=9)


def program(folder, load: str, *flags: str) -> None:
    """Build a program that reshapes numbers."""
    (folder / "main.c").write_text(MAIN.format(load=load))
    sources = [folder / "main.c", folder / "model.c"]
    flags = (*STRICT[:5], "-march=native", "-g", "-fsanitize=address,undefined", *flags)
    subprocess.run(["gcc", *flags, *sources, "-o", folder / "main", "-lm"], check=True)


def said(folder, rows: int) -> str:
    """What the program prints of a shape."""
    found = subprocess.run([folder / "main", str(rows)], capture_output=True, text=True, cwd=folder)
    return found.stdout.strip() + found.stderr


def written(folder, model, **options) -> None:
    """Write a model's C files."""
    module = run_stages(load_module(model), target="c")
    write_artifact(module, folder / "model.c", ArtifactOptions(**options))


def test_a_program(tmp_path):
    """Open shapes, and the status of a check that fails; nothing leaks."""
    written(tmp_path, reshaped())
    program(tmp_path, "0")
    assert said(tmp_path, 4) == "4 2 16"
    assert said(tmp_path, 3).startswith("node 'y' (Reshape): the shape does not hold")


def test_weights_beside(tmp_path):
    """A matrix, which is no constant of the code."""
    model = reshaped()
    model.graph.node[0].op_type = "MatMul"
    matrix = np.float32([1, 2, 3, 4])[:, None] + np.zeros((4, 1024), np.float32)
    model.graph.initializer[0].CopyFrom(numpy_helper.from_array(matrix, "w"))
    written(tmp_path, model, weights="beside")
    stored = tmp_path / "model.weights"
    program(tmp_path, 'nnc_load("model.weights")')
    assert said(tmp_path, 1024) == "1024 2 30"
    bytes = bytearray(stored.read_bytes())
    bytes[1] ^= 1
    stored.write_bytes(bytes)
    assert said(tmp_path, 1024) == "the weights file is another model's, or damaged"
    stored.unlink()
    assert said(tmp_path, 1024) == "the weights file cannot be read, or no weights are given"


def test_names(tmp_path):
    """Words of C, names that are not ASCII, and one that would end a comment."""
    value = helper.make_tensor_value_info
    graph = helper.make_graph(
        [helper.make_node("Relu", ["float"], ["größe"], name="é*/"),
         helper.make_node("Neg", ["größe"], ["for-1"], name="int")],
        "g",
        [value("float", TensorProto.FLOAT, [2, 3])],
        [value("größe", TensorProto.FLOAT, [2, 3]), value("for-1", TensorProto.FLOAT, [2, 3])],
    )  # fmt: skip
    sets = [helper.make_opsetid("", 17)]
    written(tmp_path, helper.make_model(graph, opset_imports=sets, ir_version=9))
    subprocess.run(["gcc", *STRICT, tmp_path / "model.c", "-o", tmp_path / "model.so"], check=True)
    assert "nnc_call(const float *float_, float *gr__e, float *for_1)" in (
        tmp_path / "model.h"
    ).read_text(encoding="utf-8")


def test_too_little_memory(tmp_path):
    with pytest.raises(nnc.NncError, match=r"a run needs an arena of [\d,]+ bytes .* --memory"):
        written(tmp_path, squeezenet(), memory=1000)


def test_no_compiler(monkeypatch):
    monkeypatch.setattr(running, "compiler", lambda: ())
    with pytest.raises(nnc.NncError, match="no C compiler is here: install gcc, clang, or zig"):
        nnc.compile(lstm(), target="c", cache=False)


def test_text_that_no_compiler_takes(build):
    build("gcc", [*STRICT, "-Dint32_t=?"])
    with pytest.raises(nnc.NncError, match=r"'gcc' cannot build the C text: .*error"):
        nnc.compile(forest(), target="c", cache=False)
