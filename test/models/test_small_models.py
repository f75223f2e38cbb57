"""Small whole models: compiled numbers against ONNX Runtime, and resuming at every stage."""

import threading
from pathlib import Path

import nnc
import numpy as np
import onnx
import onnxruntime
import pytest
from nnc.lowering.pipelines import DEFAULT, stages_of
from nnc.targets.base import target

from .small_models import SMALL_MODELS


def inputs_of(model: onnx.ModelProto) -> dict[str, np.ndarray]:
    generator = np.random.default_rng(3)
    values = {}
    for value in model.graph.input:
        shape = [d.dim_value for d in value.type.tensor_type.shape.dim]
        if value.type.tensor_type.elem_type == onnx.TensorProto.INT64:
            values[value.name] = generator.integers(0, 50, shape)
        else:
            values[value.name] = generator.standard_normal(shape).astype(np.float32)
    return values


def expected(model: onnx.ModelProto, inputs: dict[str, np.ndarray]) -> np.ndarray:
    session = onnxruntime.InferenceSession(
        model.SerializeToString(), providers=["CPUExecutionProvider"]
    )
    return session.run(None, inputs)[0]


def assert_close(got: np.ndarray, want: np.ndarray, tolerance: float = 1e-5) -> None:
    assert got.shape == want.shape
    assert got.dtype == want.dtype
    error = np.max(np.abs(got - want)) / np.max(np.abs(want))
    assert error <= tolerance, f"relative error {error:.2e}"


@pytest.mark.parametrize("name", SMALL_MODELS)
def test_numbers(name: str) -> None:
    model = SMALL_MODELS[name]()
    inputs = inputs_of(model)
    assert_close(nnc.compile(model)(**inputs), expected(model, inputs))


@pytest.mark.sampled(4)
@pytest.mark.parametrize("name", SMALL_MODELS)
def test_two_threads_agree_with_one(name: str) -> None:
    model = SMALL_MODELS[name]()
    inputs = inputs_of(model)
    one, two = nnc.compile(model)(**inputs), nnc.compile(model, threads=2)(**inputs)
    np.testing.assert_array_equal(one, two)


def wide_cnn() -> onnx.ModelProto:
    """Convolutions with work for several cores: Winograd's, one of stride 2, a pointwise one."""
    generator = np.random.default_rng(1)
    weights = {
        "w0": generator.standard_normal((32, 32, 3, 3)),
        "w1": generator.standard_normal((64, 32, 3, 3)),
        "w2": generator.standard_normal((48, 64, 1, 1)),
    }
    nodes = [
        onnx.helper.make_node("Conv", ["x", "w0"], ["a"], pads=[1] * 4),
        onnx.helper.make_node("Relu", ["a"], ["b"]),
        onnx.helper.make_node("Conv", ["b", "w1"], ["c"], pads=[1] * 4, strides=[2, 2]),
        onnx.helper.make_node("Conv", ["c", "w2"], ["d"]),
        onnx.helper.make_node("Softmax", ["d"], ["y"], axis=-1),
    ]
    f32 = onnx.TensorProto.FLOAT
    graph = onnx.helper.make_graph(
        nodes,
        "wide",
        [onnx.helper.make_tensor_value_info("x", f32, [1, 32, 56, 56])],
        [onnx.helper.make_tensor_value_info("y", f32, [1, 48, 28, 28])],
        [
            onnx.numpy_helper.from_array((0.05 * w).astype(np.float32), name)
            for name, w in weights.items()
        ],
    )
    return onnx.helper.make_model(
        graph, opset_imports=[onnx.helper.make_opsetid("", 17)], ir_version=8
    )


@pytest.mark.thorough
def test_two_executables_in_two_threads_do_not_disturb_each_other() -> None:
    """Each with two threads of its own, both at once; and all numbers of threads agree."""
    model = wide_cnn()
    inputs = inputs_of(model)
    want = nnc.compile(model)(**inputs)
    assert_close(want, expected(model, inputs), 1e-4)
    executables = [nnc.compile(model, threads=count) for count in (2, 2, 3)]
    found: list[list[np.ndarray]] = [[] for _ in executables]

    def work(number: int) -> None:
        for _ in range(10):
            found[number].append(executables[number](**inputs))

    threads = [threading.Thread(target=work, args=(i,)) for i in range(len(executables))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for outputs in found:
        assert len(outputs) == 10
        for output in outputs:
            np.testing.assert_array_equal(output, want)


STAGED = [
    pytest.param(name, marks=[pytest.mark.thorough] * (name != "cnn")) for name in SMALL_MODELS
]


@pytest.fixture(scope="module", params=STAGED)
def staged(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory):
    """A model's stage files, its inputs and its expected output."""
    from nnc.driver.compile import write_stages

    model = SMALL_MODELS[request.param]()
    folder = tmp_path_factory.mktemp(request.param)
    onnx.save(model, folder / "model.onnx")
    inputs = inputs_of(model)
    return write_stages(folder / "model.onnx", folder / "stages"), inputs, expected(model, inputs)


@pytest.mark.thorough
def test_every_stage_ends_in_the_same_numbers(
    staged, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    """A stage's file through nn-opt with the remaining stages, then run: of other models some."""
    from nnc.tools import nn_opt

    paths, inputs, want = staged
    names = [stage.name for stage in stages_of(target(DEFAULT))]
    each = 1 if request.node.callspec.params["staged"] == "cnn" else 3
    for i, path in list(enumerate(paths))[::each]:
        out = tmp_path / f"{path.stem}-finished.mlir"
        code = nn_opt.main([*(f"--{n}" for n in names[i:]), str(path), "-o", str(out)])
        assert code == 0, path.name
        assert_close(nnc.compile(out)(**inputs), want)


@pytest.mark.sampled(3)
@pytest.mark.parametrize("stage", [stage.name for stage in stages_of(target(DEFAULT))])
def test_every_stage_runs_from_its_file(stage: str, staged) -> None:
    paths, inputs, want = staged
    (path,) = [one for one in paths if one.stem.endswith(f"-{stage}")]
    assert_close(nnc.compile(path)(**inputs), want)


def test_every_stage_is_printed_as_it_is_parsed(staged) -> None:
    from nnc.driver.compile import load_module

    for path in staged[0]:
        text = path.read_text()
        assert str(load_module(path)).rstrip() == text.rstrip(), path.name


def is_upstream_only(text: str) -> bool:
    """Whether the text has no op of our own dialects."""
    import re

    return not re.search(r"^\s*(%\S+ = |%\S+:\d+ = )?\"?(nn|schedule)\.", text, re.M)


@pytest.mark.mlir_opt
def test_upstream_accepts_every_stage(staged, mlir_opt: str) -> None:
    """The generic form of all, the custom form of those below nn and schedule."""
    import subprocess

    from nnc.driver.compile import load_module
    from nnc.ir.syntax.printer import print_op

    customs = 0
    for path in staged[0]:
        text = path.read_text()
        forms = [print_op(load_module(path), generic=True)]
        if is_upstream_only(text):
            customs += 1
            forms.append(text)
        for form in forms:
            command = [mlir_opt, "--allow-unregistered-dialect", "-o", "/dev/null"]
            done = subprocess.run(command, input=form, capture_output=True, text=True, check=False)
            assert done.returncode == 0, f"{path.name}: {done.stderr[:2000]}"
    assert customs >= 2
