"""`nnc bench` and `nnc profile` of WebAssembly: runs that Node times, without what pipes take."""

from pathlib import Path

import nnc
import numpy as np
import onnx
import pytest
from nnc.delivery.engines.loading import compiled as compiled_engine
from nnc.delivery.engines.worker import Engine
from nnc.dialects import nn
from nnc.driver.compile import compile_model, load_module
from nnc.driver.profiling import collect
from nnc.driver.profiling.peaks import Level, Peaks
from nnc.ir.diagnostics import NncError
from nnc.tools.nnc import main
from onnx.reference import ReferenceEvaluator

from .emulated import require_emulator

pytestmark = pytest.mark.emulated

TARGET = "wasm32-simd"
RESHAPED = """
    <ir_version: 8, opset_import: ["" : 17]>
    g (float[n,4] x, int64[2] shape) => (float[a,b] y, float[n,4] z) {
      h = Reshape(x, shape)
      y = Exp(h)
      z = Relu(x)
    }
"""
SQUEEZED = """
    <ir_version: 8, opset_import: ["" : 17]>
    g (float[n,1,3] x) => (float[k] y) {
      a = Neg(x)
      b = Squeeze(a)
      c = Relu(b)
      shape = Constant <value_ints = [-1]> ()
      y = Reshape(c, shape)
    }
"""
PRODUCT = """
func.func @main(%x: tensor<8x16xf32>, %w: tensor<16x4xf32>) -> tensor<8x4xf32> {
  %0 = nn.matmul %x, %w : (tensor<8x16xf32>, tensor<16x4xf32>) -> tensor<8x4xf32>
  %1 = nn.relu %0 : (tensor<8x4xf32>) -> tensor<8x4xf32>
  return %1 : tensor<8x4xf32>
}
"""


@pytest.fixture(autouse=True)
def engine():
    require_emulator(TARGET)


def compiled(text: str):
    return compile_model(onnx.parser.parse_model(text), target=TARGET, cache=False, emulate=False)


def test_runs_give_the_model_s_outputs_and_go_on_after_a_failure():
    """Also outputs whose shapes are known only then, which the engine makes room for anew."""
    proto = onnx.parser.parse_model(RESHAPED)
    model = compiled(RESHAPED)
    x = np.random.default_rng(0).standard_normal((3, 4)).astype(np.float32)
    for shape in ((6, 2), (1, 12)):
        inputs = {"x": x, "shape": np.array(shape, np.int64)}
        wanted = ReferenceEvaluator(proto).run(None, inputs)
        timed = model.timed_on(inputs)
        assert timed.where == "in the engine"
        for _ in range(3):
            assert timed.run() > 0
            for want, got in zip(wanted, timed.outputs().values(), strict=True):
                assert got.shape == want.shape
                np.testing.assert_allclose(got, want, rtol=1e-5)
    bad = model.timed_on({"x": x, "shape": np.array((5, 2), np.int64)})
    for _ in range(2):
        with pytest.raises(NncError, match="h"):
            bad.run()
    with pytest.raises(NncError, match="there is no input 'q'"):
        model.timed_on({"q": x})


def test_shapes_that_ask_for_code_of_their_own_are_timed_in_that():
    model = compiled(SQUEEZED)
    for n in (4, 1):
        x = -np.arange(3 * n, dtype=np.float32).reshape(n, 1, 3)
        timed = model.timed_on({"x": x})
        assert timed.run() > 0 and timed.where == "in the engine"
        np.testing.assert_array_equal(timed.outputs()["y"], -x.reshape(-1))


def test_a_run_that_goes_to_and_fro_is_not_timed():
    name = "timed.f"
    nn.host_function(name)(lambda x: x)
    text = f"""
        func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {{
          %y = nn.relu %x : (tensor<4xf32>) -> tensor<4xf32>
          %z = nn.host_call "{name}"(%y) {{arguments = {{}}}} : (tensor<4xf32>) -> tensor<4xf32>
          %w = nn.exp %z : (tensor<4xf32>) -> tensor<4xf32>
          return %w : tensor<4xf32>
        }}
    """
    model = nnc.compile(nnc.parse(text), target=TARGET, cache=False)
    with pytest.raises(NncError, match="alternates between this process and the engine"):
        model.timed_on({"input0": np.zeros(4, np.float32)})


def test_bench_is_timed_in_the_engine(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    file = tmp_path / "model.onnx"
    onnx.save(onnx.parser.parse_model(RESHAPED.replace("float[n,4]", "float[3,4]")), file)
    options = ["--constant", "shape=[6,2]", "--runs", "3", "-q", "--target", TARGET]
    assert main(["bench", str(file), *options]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].split() == ["median", "ms", "min", "max", "10", "%", "90", "%"]
    name, *numbers = lines[1].split()
    median, least, most, low, high = map(float, numbers)
    assert name == "nnc" and 0 <= least <= low <= median <= high <= most
    assert "3 runs each, nnc's timed in the engine" in "\n".join(lines)
    (difference,) = [line for line in lines if line.startswith("largest relative difference")]
    assert float(difference.split()[-1]) < 1e-5


@pytest.mark.parametrize("threads", [1, 2])
def test_the_engine_s_clock_has_the_kernels_in_each_run(
    threads: int, monkeypatch: pytest.MonkeyPatch
):
    asked = []

    def peaks(threads, engine):
        asked.append((threads, engine.name))
        return Peaks(10.0, [Level("memory", np.inf, 5.0)])

    monkeypatch.setattr(collect, "measure_peaks", peaks)
    x, w = np.ones((8, 16), np.float32), np.ones((16, 4), np.float32)
    profile = collect.profile_model(
        "product",
        load_module(nnc.parse(PRODUCT)),
        lambda executable: dict(zip(executable.input_names, (x, w), strict=True)),
        target=TARGET,
        threads=threads,
        runs=3,
    )
    assert asked == [(threads, TARGET)]
    assert len(profile.kernels) >= 1 and len(profile.runs) == 3
    for run in profile.runs:
        assert all(took >= 0 for took in run.kernels)
        assert run.outside >= 0  # the stamps lie in the run: both are of one clock


def test_a_package_s_worker_takes_the_engine_s_times(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    """Not those of calls through pipes."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setenv("NNC_CACHE_LIMIT", "64G")
    file = tmp_path / "model.onnx"
    onnx.save(onnx.parser.parse_model(SQUEEZED.replace("float[n,1,3]", "float[4,1,3]")), file)
    x = -np.arange(12, dtype=np.float32).reshape(4, 1, 3)
    np.savez(tmp_path / "inputs.npz", x=x)
    job = {
        "file": compiled_engine.__file__,
        "function": "load",
        "imports": ["nnc"],
        "distributions": [],
        "model": str(file),
        "inputs": str(tmp_path / "inputs.npz"),
        "threads": 1,
        "options": {"target": TARGET},
    }
    engine = Engine(job)
    engine.load()
    assert engine.task.timed is not None
    monkeypatch.setattr(engine.task, "timed", lambda: 7.0)
    assert engine.times(3) == {"ms": [7.0, 7.0, 7.0], "seconds": pytest.approx(0.021)}
    engine.save(str(tmp_path / "outputs.npz"))
    np.testing.assert_array_equal(np.load(tmp_path / "outputs.npz")["0000"], -x.reshape(-1))
