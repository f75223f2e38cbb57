"""Models as C: bit by bit what nnc's library gives, from each compiler that is here."""

import shutil
import sys
from importlib.util import find_spec

import nnc
import numpy as np
import onnx
import pytest
from nnc.ir.attributes import ArrayAttr, StringAttr, UnitAttr
from nnc.ir.syntax.parser import parse_module
from nnc.targets.c import running
from onnx import TensorProto, helper, numpy_helper

from ..lowering.running import check_equal, entry, inputs_of
from ..lowering.test_nn_to_linalg import example_of
from ..lowering.test_nn_to_linalg_cases import CONVOLUTIONS, MOVEMENT, one_op
from ..models.small_models import GraphMaker, small_transformer
from .small_networks import classified, convolution, lstm, mobilenet_v2, resnet18, squeezenet
from .test_emulated_operators import GROUPS, one_function

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
pytestmark = pytest.mark.skipif("gcc" not in COMPILERS, reason="gcc is not installed")


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
    "half": half,
    "quantized": quantized,
    "forest": forest,
}


def check(model) -> None:
    """Check that a model's C gives what its library gives, bit by bit."""
    inputs = inputs_for(model)
    pairs = zip(outputs(model, inputs, "c"), outputs(model, inputs, "host"), strict=True)
    for got, want in pairs:
        assert (got.shape, got.dtype, got.tobytes()) == (want.shape, want.dtype, want.tobytes())


@pytest.mark.parametrize("name", ["lstm", "quantized", "forest"])
def test_networks(name, build):
    check(NETWORKS[name]())


@pytest.mark.emulated
@pytest.mark.parametrize("name", NETWORKS)
@pytest.mark.parametrize("compiler", COMPILERS)
def test_every_network(name, compiler, build):
    build(compiler, [*STRICT, "-O2"])
    check(NETWORKS[name]())


@pytest.mark.emulated
@pytest.mark.parametrize("name", NETWORKS)
def test_defined_behaviour(name, build):
    build("gcc", SANITIZED)
    check(NETWORKS[name]())


# -- operators ---------------------------------------------------------------------------------


def check_together(functions) -> None:
    """Check functions (label, text, inputs or None, sizes) as one model."""
    values = []
    for _, text, given, sizes in functions:
        module = parse_module(text)
        values += inputs_of(entry(module).function_type.inputs, given, sizes, seed=0)
    found = []
    for name in ("c", "host"):
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
        try:
            check_equal(got, want, 1e-6, 1e-6)
        except AssertionError as error:
            raise AssertionError(f"output {i}: {error}") from None


@pytest.mark.emulated
@pytest.mark.parametrize("group", GROUPS, ids=lambda ops: f"{ops[0].name}..{ops[-1].name}")
def test_operators(group, build):
    build("gcc", SANITIZED)
    check_together([(cls.name, *example_of(cls)) for cls in group])


@pytest.mark.emulated
def test_convolutions(build):
    """Also in groups, of f16, of unknown extents."""
    build("gcc", SANITIZED)
    check_together(
        [(k, one_op(text, *args), None, [3, 7, 5]) for k, (text, args) in CONVOLUTIONS.items()]
    )


@pytest.mark.emulated
def test_movement(build):
    build("gcc", SANITIZED)
    check_together(
        [(k, one_op(text, *args), None, sizes) for k, (text, args, sizes) in MOVEMENT.items()]
    )
