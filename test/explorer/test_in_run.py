"""Calls of kernels in the order of a run: where their buffers are, and how a page times them."""

import json
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from nnc.driver.compile import load_module
from nnc.explorer import page
from nnc.explorer.calls import KernelCall
from nnc.explorer.compilation import Part, compile_traced
from nnc.explorer.explore import Source, explore
from nnc.explorer.trials import trial_of

from ..targets.emulated import require_emulator
from .test_page import in_chromium

MODEL = """
func.func @main(%x: tensor<8x16xf32>, %y: tensor<16x16xf32>) -> tensor<8x16xf32> {
  %a = nn.matmul %x, %y : (tensor<8x16xf32>, tensor<16x16xf32>) -> tensor<8x16xf32>
  %b = nn.softmax %a {axis = 0 : i64} : (tensor<8x16xf32>) -> tensor<8x16xf32>
  %c = nn.matmul %b, %y : (tensor<8x16xf32>, tensor<16x16xf32>) -> tensor<8x16xf32>
  %d = nn.softmax %c {axis = 0 : i64} : (tensor<8x16xf32>) -> tensor<8x16xf32>
  return %d : tensor<8x16xf32>
}
"""


def traced(text: str, target: str, folder: Path) -> Part:
    (folder / "model.mlir").write_text(text)
    (part,) = compile_traced("model", load_module(folder / "model.mlir"), target=target).parts
    return part


def in_node(script: str) -> Any:
    """What a script prints as JSON."""
    done = subprocess.run(
        ["node", "--input-type=module", "-e", script], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.mark.emulated
def test_the_calls_in_order_compute_what_the_model_does(tmp_path: Path) -> None:
    """Each finds at its places what those before it have put there."""
    require_emulator("wasm32-simd")
    part = traced(MODEL, "wasm32-simd", tmp_path)
    calls = part.calls
    assert len({call.kernel for call in calls}) < len(calls), "the products share a kernel"
    trial = trial_of(part)
    assert trial is not None
    (tmp_path / "kernels.wasm").write_bytes(trial.made.code)
    x, y = (np.random.default_rng(0).normal(size=s).astype(np.float32) for s in ((8, 16), (16, 16)))
    made = max(at.block for at in calls[-1].places)
    assert all(at.block != made for call in calls[:-1] for at in call.places), "the output"
    given = [calls[0].places[0].block, calls[0].places[1].block]
    found = in_node(f"""
        import {{ readFileSync }} from "node:fs";
        const memory = new WebAssembly.Memory({{ initial: 1024, maximum: 65536 }});
        const env = {{ memory, sleeps: () => 0, spawn: () => 1 }};
        const module = new WebAssembly.Module(readFileSync({json.dumps(str(tmp_path / "kernels.wasm"))}));
        const code = new WebAssembly.Instance(module, {{ env }}).exports;
        const blocks = [0, 1, 2, 3, 4, 5].map(() => code.nnc_allocate(65536));
        const floats = (block, at, count) => new Float32Array(memory.buffer, blocks[block] + at, count);
        floats({given[0]}, 0, 128).set({x.ravel().tolist()});
        floats({given[1]}, 0, 256).set({y.ravel().tolist()});
        const pools = {json.dumps(trial.pools)};
        for (const [name, places] of {json.dumps(rows(calls))})
          code[name](...places.map(([block, at]) => blocks[block] + at), ...(pools[name] ? [0] : []));
        console.log(JSON.stringify([...floats({made}, 0, 128)]));""")  # fmt: skip
    wanted = softmax(softmax(x.astype(np.float64) @ y) @ y)
    np.testing.assert_allclose(np.reshape(found, (8, 16)), wanted, rtol=1e-5)


def rows(calls: list[KernelCall]) -> list[Any]:
    return [[call.kernel, [[at.block, at.offset] for at in call.places]] for call in calls]


def softmax(x: np.ndarray) -> np.ndarray:
    raised = np.exp(x - x.max(axis=0))
    return raised / raised.sum(axis=0)


_CLOCK = f"""
import {{ timesInRun }} from {json.dumps((page.ASSETS / "in_run.mjs").as_uri())};
let now = 0;
globalThis.performance.now = () => (now += 1e-4);
"""
"""A clock that goes on as the kernels below say, and by a little at each look."""


@pytest.mark.emulated
def test_a_kernel_is_timed_between_those_before_and_after_it() -> None:
    """With what they have written, but for numbers that arithmetic is slow with, and indices."""
    require_emulator("wasm32-simd")
    found = in_node(_CLOCK + """
        const buffer = new ArrayBuffer(1 << 20);
        let used = 64;
        const take = (bytes) => (used += (bytes + 63) & ~63) - ((bytes + 63) & ~63);
        const floats = (at) => new Float32Array(buffer, at, 64);
        const seen = { order: [], addresses: {}, stray: 0, indices: 0, weights: new Set() };
        const note = (name, addresses) => {
          if (seen.order.length < 6) seen.order.push(name);
          seen.addresses[name] = addresses;
        };
        const code = {
          a: (x, out) => { note("a", [x, out]); floats(out).fill(1e-30); now += 5; },
          b: (x, w, out, pool) => {
            note("b", [x, w, out, pool]);
            seen.stray += floats(x).some((one) => !(Math.abs(one) <= 1 && Math.abs(one) > 1e-20));
            seen.weights.add(new Set(floats(w)).size > 32);
            floats(out).fill(-Infinity); now += 2;
          },
          c: (x, index, out) => {
            note("c", [x, index, out]);
            const indices = new Int32Array(buffer, index, 64);
            seen.indices += indices.some((one) => one !== 0);
            seen.stray += seen.order.length > 3 && floats(x).some((one) => one !== -Infinity);
            indices.fill(1e9); now += 1;
          },
        };
        const data = ["memref<64xf32>", 256, "f32", 0], weight = ["memref<64xf32>", 256, "f32", 1], index = ["memref<64xi32>", 256, "zeros", 0];
        const [a, b, c] = [["a", [data, data], false], ["b", [data, weight, data], true], ["c", [data, index, data], false]].map(([kernel, all, pool]) => ({ kernel, arguments: all, pool }));
        const calls = [
          { kernel: a, places: [[0, 0], [2, 0]] },
          { kernel: b, places: [[2, 0], [1, 512], [2, 256]] },
          { kernel: c, places: [[2, 256], [3, 0], [4, 0]] },
        ];
        const times = await timesInRun({ calls, wanted: new Set([b]), code, take, buffer: () => buffer, seconds: 1 });
        console.log(JSON.stringify({ ...seen, weights: [...seen.weights], times: [...times].map(([kernel, time]) => [kernel.kernel, time]) }));
    """)  # fmt: skip
    assert found["order"] == list("abcabc")
    of = found["addresses"]
    assert of["a"][1] == of["b"][0] and of["b"][2] == of["b"][0] + 256 == of["c"][0]
    assert of["b"][3] == 0 and len({of["a"][0], *of["b"][:3], *of["c"][1:]}) == 6
    assert (found["stray"], found["indices"], found["weights"]) == (0, 0, [True])
    ((name, time),) = found["times"]
    assert name == "b"
    assert time["low"] == pytest.approx(2000.1) and time["high"] == pytest.approx(2000.1)
    assert time["calls"] >= 9


@pytest.mark.emulated
def test_only_as_many_calls_as_fill_the_caches_come_before_and_weights_share_memory() -> None:
    """And what the clock cannot tell is left to others."""
    require_emulator("wasm32-simd")
    found = in_node(_CLOCK + """
        const buffer = new ArrayBuffer(640 << 20), starts = [];
        let used = 0;
        const take = (bytes) => { starts.push(bytes); return (used += bytes) - bytes; };
        const seen = new Set();
        const code = { other: (x, w) => { seen.add(w); now += 1; }, last: (x, w) => { seen.add(w); now += 2; }, none: () => {} };
        const all = [["memref<1xi8>", 40 << 20, "bytes", 0], ["memref<1xf32>", 100 << 20, "f32", 1]];
        const small = [["memref<1xi8>", 64, "bytes", 0]];
        const other = { kernel: "other", arguments: all, pool: false }, last = { kernel: "last", arguments: all, pool: false }, none = { kernel: "none", arguments: small, pool: false };
        const calls = [other, other, none, other, other, last].map((kernel, i) => ({ kernel, places: [[0, 0], [1, i << 28]] }));
        const run = (wanted) => timesInRun({ calls, wanted: new Set(wanted), code, take, buffer: () => buffer, seconds: 1 });
        const one = await run([last]);
        const first = { weights: seen.size, taken: used, time: one.get(last).median };
        used = 0; seen.clear();
        const more = await run([other, last, none]);
        console.log(JSON.stringify({ first, weights: seen.size, taken: used, times: [...more].map(([{ kernel }, { median }]) => [kernel, median]) }));
    """)  # fmt: skip
    megabyte = 1 << 20
    # 140 MB of arguments of the call before are more than caches hold.
    assert found["first"]["weights"] == 2 and found["first"]["taken"] == 240 * megabyte
    # Five calls have 500 MB of weights: no more than 256 MB are there, so that two take turns.
    assert found["weights"] == 2 and found["taken"] == 296 * megabyte
    times = dict(found["times"])
    assert times == {"other": pytest.approx(1000.1), "last": pytest.approx(2000.1)}
    assert found["first"]["time"] == pytest.approx(2000.1)


LONGER = """
func.func @main(%x: tensor<256x256xf32>, %y: tensor<256x256xf32>) -> tensor<1x4xf32> {
  %a = nn.matmul %x, %y : (tensor<256x256xf32>, tensor<256x256xf32>) -> tensor<256x256xf32>
  %b = nn.slice %a {starts = array<i64: 3, 5>, steps = array<i64: 1, 2>} : (tensor<256x256xf32>) -> tensor<1x4xf32>
  %c = nn.exp %b : (tensor<1x4xf32>) -> tensor<1x4xf32>
  return %c : tensor<1x4xf32>
}
"""


@pytest.mark.emulated
def test_in_chromium_what_its_clock_cannot_tell_is_called_alone(tmp_path: Path) -> None:
    require_emulator("wasm32-simd")
    (tmp_path / "model.mlir").write_text(LONGER)
    source = Source("model", lambda: load_module(tmp_path / "model.mlir"))
    text = explore([source], ["wasm32-simd"], on_gpu=False)
    script = """
      await explorer.measure(explorer.compilation.kernels);
      await say({ times: explorer.compilation.kernels.map((one) => [one.kernel, explorer.times.get(one)]) });
    """
    found = dict(in_chromium(text, script, tmp_path)["times"])
    (long,) = (time for name, time in found.items() if name.startswith("matmul"))
    (short,) = (time for name, time in found.items() if not name.startswith("matmul"))
    assert "alone" not in long and short["alone"]
    for time in (long, short):
        assert 0 < time["low"] <= time["median"] <= time["high"]
    assert long["median"] > 10 * short["median"]
