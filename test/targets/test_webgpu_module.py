"""Modules for a browser's GPU: what is written, refused, and what they give in Chromium."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from nnc.driver.artifacts import write_artifact
from nnc.driver.compile import load_module, run_stages
from nnc.ir.diagnostics import NncError
from nnc.targets.webgpu.browser import _apart
from nnc.tools.nnc import main

from ..conftest import skip_unless_ci
from .device_checks import gathering, halving
from .emulated import require_emulator
from .test_c import NETWORKS, inputs_for, outputs
from .test_wasm import SIMPLE

ARRAYS = {
    "float32": "Float32Array",
    "float16": "Uint16Array",
    "int64": "BigInt64Array",
    "uint8": "Uint8Array",
}
_HELPERS = """
const post = (body) => fetch("/", { method: "POST", body: JSON.stringify(body, (key, one) =>
  typeof one === "bigint" ? Number(one) : ArrayBuffer.isView(one) ? Array.from(one) : one) });
const fault = async (make) => {
  try { await make(); return "none"; }
  catch (error) { return `${error.constructor.name}: ${error.message}`; } };
const given = async (model, name) => {
  const found = {};
  const about = await (await fetch(`/models/${name}/inputs.json`)).json();
  for (const [i, { kind, dims }] of about.entries()) {
    const bytes = await (await fetch(`/models/${name}/${i}.bin`)).arrayBuffer();
    found[model.inputs[i].name] = { data: new globalThis[kind](bytes), dims };
  }
  return found;
};
const hex = ({ data }) => Array.from(new Uint8Array(data.buffer), (one) => one.toString(16).padStart(2, "0")).join("");
"""


def compiled(folder: Path, model: Any, inputs: list[np.ndarray] | None = None) -> Path:
    """The .mjs file of a model, and files of inputs beside it."""
    folder.mkdir(exist_ok=True)
    if isinstance(model, str):
        (folder / "model.mlir").write_text(model)
        model = folder / "model.mlir"
    module = load_module(model)
    run_stages(module, target="webgpu-browser")
    files = write_artifact(module, folder / "model.mjs")
    about = [{"kind": ARRAYS[str(x.dtype)], "dims": list(x.shape)} for x in inputs or []]
    (folder / "inputs.json").write_text(json.dumps(about))
    for i, x in enumerate(inputs or []):
        (folder / f"{i}.bin").write_bytes(np.ascontiguousarray(x).tobytes())
    return files[0]


def in_page(folder: Path, script: str, count: int = 1, seconds: float = 240) -> list[Any]:
    """What a script posts in a page of Chromium."""
    from bench.browser import GPU_FLAGS, find_chromium, serving, showing

    require_emulator("wasm32-simd")
    if find_chromium() is None:
        skip_unless_ci("Chromium is not installed")
    whole = (
        f"try {{ {script} }} catch (error) {{ await post({{ failure: String(error.stack) }}); }}"
    )
    (folder / "script.mjs").write_text(_HELPERS + whole)
    (folder / "page.html").write_text(
        '<!doctype html><script type="module" src="script.mjs"></script>'
    )
    found = []
    with (
        serving({"models": folder}) as server,
        showing(f"{server.address}/models/page.html", *GPU_FLAGS),
    ):
        for _ in range(count):
            found.append(server.posted(seconds))
            assert "failure" not in found[-1], found[-1]["failure"]
    return found


# -- what is written, and refused: no browser ------------------------------------------------------


@pytest.mark.emulated
def test_files(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    """One module, its weights, and types."""
    (tmp_path / "m.mlir").write_text(SIMPLE)
    command = ["compile", str(tmp_path / "m.mlir"), "--target", "webgpu", "-o"]
    assert main([*command, str(tmp_path / "model.mjs")]) == 0
    assert "2 launches on the device" in capsys.readouterr().err
    types = (tmp_path / "model.d.ts").read_text()
    assert (tmp_path / "model.d.mts").read_text() == types
    assert '"input0": Float32Array | Tensor<Float32Array>;' in types
    assert "run(inputs: Inputs): Promise<Outputs>;" in types and "runSync" not in types
    assert (tmp_path / "model.weights").exists()
    # The loader and the runtime.
    assert (tmp_path / "model.mjs").stat().st_size <= 45_000
    assert main([*command, str(tmp_path / "m.so"), "-q"]) == 1
    assert "needs WebGPU from the program around it" in capsys.readouterr().err


def test_other_files_are_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    module = load_module(gathering())
    run_stages(module, target="webgpu", last="schedule")
    with pytest.raises(NncError, match=r"'m\.mjs' is compiled for 'webgpu-browser', not"):
        write_artifact(module, tmp_path / "m.mjs")
    onnx.save(gathering(), tmp_path / "m.onnx")
    command = [str(tmp_path / "m.onnx"), "-q", "--target", "webgpu-browser"]
    assert main(["run", *command, "--random"]) == 1
    assert "it runs in a browser; 'webgpu' runs the same kernels here" in capsys.readouterr().err
    assert main(["compile", *command, "-o", str(tmp_path / "m.so")]) == 1
    assert "'webgpu-browser' is written as .mjs, .wgsl or .mlir" in capsys.readouterr().err
    assert main(["compile", *command, "--weights", "inside", "-o", str(tmp_path / "m.mjs")]) == 1
    assert "holds weights, not 'm.mjs'" in capsys.readouterr().err


def test_kernels_apart():
    """Each text has what its kernel names, and what that names."""
    text = """
        fn one(a: f32) -> f32 { return two(a); }
        fn two(a: f32) -> f32 { return a; }
        fn three(a: f32) -> f32 { return a; }
        /* the first */
        @group(0) @binding(0) var<storage, read> f_x: array<f32>;
        var<workgroup> f_w: array<f32, 4>;
        @compute @workgroup_size(4)
        fn f(@builtin(workgroup_id) nnc_group: vec3<u32>) {
            f_w[0] = one(f_x[0]);
        }
        @group(0) @binding(0) var<storage, read_write> g_x: array<f32>;
        @compute @workgroup_size(1)
        fn g() {
            g_x[0] = three(1.0f);
        }
    """
    first, second = _apart(text, ["f 4 r", "g 1 a"])
    for part, has, lacks in (
        (first, "one two f_x f_w f", "three g_x g"),
        (second, "three g_x g", "one two f_x f_w f"),
    ):
        names = part.replace("(", " ").replace(":", " ").split()
        assert all(name in names for name in has.split()), part
        assert not any(name in names for name in lacks.split()), part
    assert "@compute @workgroup_size(4) fn f(" in first


# -- in a page -------------------------------------------------------------------------------------

OPEN_TWICE = """
func.func @main(%x: tensor<?x2xf32>) -> (tensor<?x2xf32>, tensor<?x2xf32>) {
  %y = nn.neg %x : (tensor<?x2xf32>) -> tensor<?x2xf32>
  %z = nn.mul %y, %y : (tensor<?x2xf32>, tensor<?x2xf32>) -> tensor<?x2xf32>
  return %y, %z : tensor<?x2xf32>, tensor<?x2xf32>
}
"""

_RUN = """
for (const name of NAMES) {
  const { load } = await import(`/models/${name}/model.mjs`);
  const states = [];
  const model = await load(undefined, { progress: (one) => states.push(one) });
  const x = await given(model, name);
  const first = Object.values(await model.run(x)).map(hex).join();
  const made = Object.values(await model.run(x));
  await post({ name, same: first === made.map(hex).join(), last: states.at(-1),
    made: made.map((one) => ({ dims: one.dims, bytes: hex(one) })) });
  model.dispose();
}
"""


def check_networks(folder: Path, names: list[str]) -> None:
    """Check in one page that networks give what they give here, twice the same."""
    given = {}
    for name in names:
        model = NETWORKS[name]()
        given[name] = model, inputs_for(model)
        compiled(folder / name, *given[name])
    script = _RUN.replace("NAMES", json.dumps(names))
    for found in in_page(folder, script, len(names)):
        model, inputs = given[found["name"]]
        assert found["same"]
        size = (folder / found["name"] / "model.weights").stat().st_size
        assert found["last"] == {"loaded": size, "total": size}
        for got, want in zip(found["made"], outputs(model, inputs, "host"), strict=True):
            array = np.frombuffer(bytes.fromhex(got["bytes"]), want.dtype).reshape(got["dims"])
            tolerance = 4e-3 if want.dtype == np.float16 else 1e-5
            assert array.shape == want.shape
            np.testing.assert_allclose(
                array, want, rtol=tolerance, atol=tolerance, err_msg=found["name"]
            )


@pytest.mark.emulated
def test_networks(tmp_path: Path):
    check_networks(tmp_path, ["lstm", "quantized"])


@pytest.mark.emulated
@pytest.mark.thorough
@pytest.mark.parametrize("name", sorted({*NETWORKS} - {"lstm", "quantized", "forest"}))
def test_more_networks(tmp_path: Path, name: str):
    check_networks(tmp_path, [name])


_FAULTS = """
const { load } = await import("/models/gathering/model.mjs");
const real = await navigator.gpu.requestAdapter();
let device;
const adapter = (changed) => ({ requestAdapter: () => ({
  features: real.features, limits: real.limits,
  async requestDevice(asked) { return (device = await real.requestDevice(asked)); }, ...changed }) });
const said = [];
for (const gpu of [
  null, { requestAdapter: () => null },
  adapter({ limits: new Proxy(real.limits, { get: (one, name) => name === "maxBufferSize" ? 8 : one[name] }) }),
  adapter({ requestDevice() { throw new Error("it is busy"); } }),
]) said.push(await fault(() => load(undefined, { gpu })));
const text = await (await fetch("/models/gathering/model.mjs")).text();
const other = URL.createObjectURL(new Blob(
  [text.replace('"features": []', '"features": ["shader-f99"]').replaceAll("import.meta.url", "location.href")],
  { type: "text/javascript" }));
said.push(await fault(async () => (await import(other)).load("/models/gathering/model.weights")));
said.push(await fault(() => load("/models/gathering/model.mjs")));

const model = await load(undefined, { gpu: adapter({}) });
const x = Float32Array.from({ length: 12 }, (_, i) => i);
const rows = async (...which) => (await model.run({ x, i: BigInt64Array.from(which) })).y.data;
const several = await Promise.all([rows(3n, -1n), fault(() => rows(0n, 9n)), rows(1n, 0n)]);
said.push(await fault(() => model.run({ x })));
const running = fault(() => rows(0n, 1n));
device.destroy();
said.push(await running, await fault(() => rows(0n, 1n)));
model.dispose();
said.push(await fault(() => rows(0n, 1n)));

const loop = await import("/models/halving/model.mjs");
const halves = await loop.load(), found = [], opened = [];
for (const scale of [0.01, 1, 1e4])
  found.push((await halves.run({ x: new Float32Array(15).fill(scale) })).y.data[0]);
const open = await (await import("/models/open/model.mjs")).load();
for (const size of [6, 0, 2]) {
  const { output0, output1 } = await open.run({ input0: new Float32Array(size).fill(size) });
  opened.push([output0.dims, output0.data, output1.data]);
}
delete WebAssembly.Suspending;
said.push(await fault(() => loop.load()));
await post({ said, several, found, opened });
"""


@pytest.mark.emulated
def test_what_goes_wrong(tmp_path: Path):
    """Each limit and each missing thing is one line; the next run is right; a loop waits."""
    compiled(tmp_path / "gathering", gathering())
    compiled(tmp_path / "halving", halving())
    assert '"waits": 0' in compiled(tmp_path / "open", OPEN_TWICE).read_text()
    (found,) = in_page(tmp_path, _FAULTS)
    first, wrong, last = found["several"]
    assert (first, last) == ([9.0, 10, 11, 9, 10, 11], [3.0, 4, 5, 0, 1, 2])
    assert wrong.startswith("Error: model.mjs: node 'rows' (Gather): an index is out of range")
    starts = (
        "Error: model.mjs: there is no WebGPU here",
        "Error: model.mjs: no WebGPU adapter is here",
        "Error: model.mjs: the model needs maxBufferSize of ",
        "Error: model.mjs: the adapter gives no device: it is busy",
        "Error: model.mjs: the adapter has no shader-f99, which the model needs",
        "Error: http://",
        "TypeError: input 'i' is missing",
        "Error: model.mjs: the device was lost: ",
        "Error: model.mjs: the device is lost (",
        "Error: model.mjs: the model is disposed of",
        "Error: model.mjs: 1 steps need the host in the middle of a run, for which this browser",
    )
    for said, start in zip(found["said"], starts, strict=True):
        assert said.startswith(start), said
    assert "belongs to another model than this file, or is damaged" in found["said"][5]
    want = []
    for scale in (0.01, 1.0, 1e4):
        one = scale / 2
        while 15 * one > 1:
            one /= 2
        want.append(one)
    np.testing.assert_allclose(found["found"], want, rtol=1e-6)
    assert found["opened"] == [
        [[size // 2, 2], [-size] * size, [size**2] * size] for size in (6, 0, 2)
    ]


_BYTES = """
const text = await (await fetch("/models/simple/model.mjs")).text();
const { Device, makeKernels, openDevice } = await import(URL.createObjectURL(new Blob(
  [text.replaceAll("import.meta.url", "location.href"), "export { Device, makeKernels, openDevice };"],
  { type: "text/javascript" })));
const memory = new WebAssembly.Memory({ initial: 1 });
const real = await navigator.gpu.requestAdapter();
const limits = new Proxy(real.limits, {
  get: (one, name) => (name === "maxStorageBufferBindingSize" ? 1 << 27 : one[name]) });
const gpu = await openDevice({ requestAdapter: () => ({
  features: real.features, limits, requestDevice: (asked) => real.requestDevice(asked) }) },
  { features: [], limits: { maxStorageBufferBindingSize: 1 } });
const device = new Device(gpu, await makeKernels(gpu, [], []), memory, { checks: [], waits: 0 });
const host = device.imports(), bytes = new Uint8Array(memory.buffer);
bytes.set(Array.from({ length: 100 }, (_, i) => 100 + i), 1000);
device.begin();
const one = host.nnc_device_take(64), other = host.nnc_device_take(61);
host.nnc_device_copy(one, 1000, 64, 0);
host.nnc_device_copy(other, 1000, 61, 0);
host.nnc_device_copy(one + 5, 1050, 3, 0);
host.nnc_device_copy(one + 9, other + 2, 14, 2);
host.nnc_device_copy(one + 33, one + 30, 21, 2);
host.nnc_device_copy(other + 60, 1099, 1, 0);
host.nnc_device_copy(2000, one, 64, 3);
host.nnc_device_copy(3001, other + 1, 60, 3);
host.nnc_device_give(one);
await device.end();
device.begin();
const large = host.nnc_device_take(1 << 30);
const limit = await fault(() => device.end());
await post({ one: bytes.slice(2000, 2064), other: bytes.slice(3001, 3061), large, limit });
"""


@pytest.mark.emulated
def test_copies_within_words(tmp_path: Path):
    """Bytes beside those that are copied stay; a buffer that is too large is an error of the run."""
    compiled(tmp_path / "simple", SIMPLE)
    (found,) = in_page(tmp_path, _BYTES)
    one, other = np.arange(100, 164), np.arange(100, 161)
    one[5:8] = (150, 151, 152)
    one[9:23] = other[2:16]
    one[33:54] = one[30:51].copy()
    other[60] = 199
    assert found["one"] == one.tolist()
    assert found["other"] == other[1:].tolist()
    assert found["large"] == 0
    assert found["limit"] == (
        "Error: model.mjs: a buffer of 1073741824 bytes is needed, and the adapter lets kernels see "
        f"{1 << 27}"
    )
