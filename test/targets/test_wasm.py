"""Modules of WebAssembly and their loader: what is written, refused, and how it behaves in Node."""

import json
import re
import subprocess
from pathlib import Path

import numpy as np
import pytest
from nnc.artifacts.options import ArtifactOptions
from nnc.driver.artifacts import write_artifact
from nnc.driver.compile import load_module, run_stages
from nnc.ir.diagnostics import NncError
from nnc.targets.base import target
from nnc.targets.llvm.native import emit_object
from nnc.targets.wasm.module import LOADER_SOURCE, loader_text
from nnc.targets.wasm.names import WASM_NAMES
from nnc.tools.nnc import main

from ..models.small_models import small_cnn
from ..models.test_small_models import inputs_of, wide_cnn
from .emulated import require_emulator

SIMPLE = """
func.func @main(%x: tensor<2x3xf32> {nn.name = "x"}, %k: tensor<i64>) -> (tensor<2x3xf32>, tensor<i64>) {
  %w = nn.constant dense<[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]> : tensor<2x3xf32>
  %y = nn.mul %x, %w : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  %n = nn.neg %k : (tensor<i64>) -> tensor<i64>
  return %y, %n : tensor<2x3xf32>, tensor<i64>
}
"""
OPEN = """
func.func @main(%x: tensor<?x2xf32>) -> tensor<?x2xf32> {
  %y = nn.neg %x : (tensor<?x2xf32>) -> tensor<?x2xf32>
  return %y : tensor<?x2xf32>
}
"""
KINDS = """
func.func @main(%h: tensor<4xf16>, %b: tensor<4xi1>, %x: tensor<?x2xf32>, %u: tensor<?x?xui8>,
                %q: tensor<3xf8E4M3FN>)
    -> (tensor<4xf16>, tensor<4xi1>, tensor<?x2xf32>, tensor<?x?xui8>, tensor<2x?xi64>,
        tensor<3xf32>) {
  %0 = nn.add %h, %h : (tensor<4xf16>, tensor<4xf16>) -> tensor<4xf16>
  %1 = nn.not %b : (tensor<4xi1>) -> tensor<4xi1>
  %2 = nn.neg %x : (tensor<?x2xf32>) -> tensor<?x2xf32>
  %3 = nn.add %u, %u : (tensor<?x?xui8>, tensor<?x?xui8>) -> tensor<?x?xui8>
  %4 = nn.non_zero %x : (tensor<?x2xf32>) -> tensor<2x?xi64>
  %5 = nn.cast %q : (tensor<3xf8E4M3FN>) -> tensor<3xf32>
  return %0, %1, %2, %3, %4, %5
      : tensor<4xf16>, tensor<4xi1>, tensor<?x2xf32>, tensor<?x?xui8>, tensor<2x?xi64>, tensor<3xf32>
}
"""


def compiled(folder: Path, model, name: str = "wasm32-simd", weights: str | None = None) -> Path:
    """The .mjs file of a model, IR text or a ModelProto."""
    folder.mkdir(exist_ok=True)
    if isinstance(model, str):
        (folder / "model.mlir").write_text(model)
        model = folder / "model.mlir"
    module = load_module(model)
    run_stages(module, target=name)
    files = write_artifact(module, folder / "model.wasm", ArtifactOptions(weights))
    return files[1]


def node(script: str, *flags: str) -> list:
    """What a script in Node says with `say(..)`, value by value."""
    require_emulator("wasm32-simd")
    text = (
        "const said = []; const say = (...values) => said.push(...values);\n"
        "const fault = async (make) => {"
        " try { await make(); return 'none'; }"
        " catch (error) { return `${error.constructor.name}: ${error.message}`; } };\n"
        f"{script}\nconsole.log(JSON.stringify(said, (key, value) =>"
        " typeof value === 'bigint' ? Number(value) : value));\nprocess.exit(0);"
    )
    done = subprocess.run(
        ["node", *flags, "--input-type=module", "-e", text],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


# -- what is refused, and what is written: no engine -----------------------------------------------


def test_all_names_are_known_to_llvm(capfd: pytest.CaptureFixture[str]):
    from dataclasses import replace

    one = target("wasm32")
    for name in sorted(WASM_NAMES.processors):
        emit_object("define void @f() { ret void }", replace(one, cpu=name), opt_level=0)
    for name in sorted(WASM_NAMES.features):
        changed = replace(one, features=f"+{name}")
        emit_object("define void @f() { ret void }", changed, opt_level=0)
    assert "not a recognized" not in capfd.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            ["--target", "wasm32-simd", "-o", "m.so"],
            "a shared library for 'wasm32-simd' is a .wasm file",
        ),
        (["--target", "cortex-a76", "-o", "m.wasm"], "for 'cortex-a76' is a .so file"),
        (["--target", "wasm32", "-o", "m.wasm", "--prefix", "a"], "--prefix is the start of C"),
    ],
)
def test_other_files(tmp_path: Path, capsys: pytest.CaptureFixture[str], arguments, message):
    (tmp_path / "m.mlir").write_text(SIMPLE)
    *rest, name = arguments if "--prefix" not in arguments else (*arguments[:3], arguments[3])
    extra = arguments[4:] if "--prefix" in arguments else []
    command = ["compile", str(tmp_path / "m.mlir"), "-q", *rest, str(tmp_path / name), *extra]
    assert main(command) == 1
    assert message in capsys.readouterr().err
    assert not list(tmp_path.glob("m.[sw]*"))


def test_more_than_there_can_be(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("nnc.targets.wasm.module.MEMORY", 1 << 20)
    with pytest.raises(NncError, match=r"model\.wasm: the model needs 1 MB .*, and WebAssembly"):
        compiled(tmp_path, SIMPLE)
    assert not (tmp_path / "model.wasm").exists()


def test_an_engine_that_is_missing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
):
    (tmp_path / "m.mlir").write_text(SIMPLE)
    monkeypatch.setenv("PATH", "")
    arguments = ["run", str(tmp_path / "m.mlir"), "--random", "-q", "--target", "wasm32"]
    assert main(arguments) == 1
    assert (
        "code for 'wasm32' does not run here: WebAssembly runs in an engine, and node is not "
        "installed: install Node 20 or newer"
    ) in capsys.readouterr().err


def test_an_unknown_function_of_the_loader():
    """What LLVM may call for one element is what the loader gives, or the C file."""
    from nnc.lowering.to_llvm.mathematics import LIBM

    loader = loader_text(LOADER_SOURCE)
    for name in LIBM.values():
        assert f" {name}" in loader, name


def test_declarations(tmp_path: Path):
    compiled(tmp_path, KINDS)
    text = (tmp_path / "model.d.ts").read_text()
    assert (tmp_path / "model.d.mts").read_text() == text
    for about, declared in (
        ("bool, 4", '"input1": Uint8Array | Tensor<Uint8Array>;'),
        ("uint8, ? x ?", '"input3": Tensor<Uint8Array>;'),
        ("float8_e4m3fn, 3", '"input4": Uint8Array | Tensor<Uint8Array>;'),
        ("int64, 2 x ?", '"output4": Tensor<BigInt64Array>;'),
    ):
        assert re.search(rf"  /\*\* {re.escape(about)}.*\*/\n  {re.escape(declared)}\n", text), text


# -- in Node ---------------------------------------------------------------------------------------


@pytest.mark.emulated
def test_named_outputs(tmp_path: Path):
    path = compiled(tmp_path, SIMPLE)
    assert node(f"""
        import {{ load }} from "{path}";
        const model = await load();
        const input0 = Float32Array.of(1, 1, 1, 2, 2, 2);
        const one = await model.run({{ input0, input1: BigInt64Array.of(7n) }});
        say([...one.output0.data], one.output0.dims, [...one.output1.data], one.output1.dims);
        const other = await model.run({{
          input0: {{ data: input0.map((x) => -x), dims: [2, 3] }}, input1: BigInt64Array.of(-1n) }});
        say([...other.output0.data], one.output0.data[0], model.inputs[0].dims, model.threads);
    """) == [
        [1, 2, 3, 8, 10, 12], [2, 3], [-7], [],
        [-1, -2, -3, -8, -10, -12], 1, [2, 3], 1,
    ]  # fmt: skip


@pytest.mark.emulated
@pytest.mark.parametrize("name", ["wasm32", "wasm32-simd"])
def test_kinds_of_elements_and_unknown_shapes(tmp_path: Path, name: str):
    """f16 as bits, booleans as bytes; an open extent follows from the length, two do not."""
    path = compiled(tmp_path, KINDS, name)
    halves = np.float16([0.5, -3, 1e-7, 65504])
    twice = (halves + halves).view(np.uint16).tolist()
    found = node(f"""
        import {{ load }} from "{path}";
        const model = await load();
        const input0 = Uint16Array.from({halves.view(np.uint16).tolist()});
        const input1 = Uint8Array.of(1, 0, 0, 1);
        for (const rows of [3, 0, 1]) {{
          const input2 = new Float32Array(2 * rows).fill(2);
          if (rows) input2[1] = 0;
          const input3 = {{ data: new Uint8Array(2 * rows).fill(200), dims: [rows, 2] }};
          const input4 = Uint8Array.of(0x38, 0xc0, 0x7e);
          const out = await model.run({{ input0, input1, input2, input3, input4 }});
          say(out.output2.dims, [...out.output3.data], out.output4.dims, [...out.output4.data]);
          if (!rows) say([...out.output0.data], [...out.output1.data], [...out.output5.data]);
        }}
    """)
    assert found == [
        [3, 2], [144] * 6, [2, 5], [0, 1, 1, 2, 2, 0, 0, 1, 0, 1],
        [0, 2], [], [2, 0], [], twice, [0, 1, 1, 0], [1, -2, 448],
        [1, 2], [144] * 2, [2, 1], [0, 0],
    ]  # fmt: skip


@pytest.mark.emulated
def test_wrong_inputs_are_named(tmp_path: Path):
    path = compiled(tmp_path, SIMPLE)
    other = compiled(tmp_path / "other", OPEN)
    assert node(f"""
        import {{ load }} from "{path}";
        const model = await load();
        const input0 = new Float32Array(6), input1 = BigInt64Array.of(1n);
        for (const given of [
          {{ input0 }}, {{ input0, input1, z: 1 }}, {{ input0: new Float64Array(6), input1 }},
          {{ input0: new Float32Array(5), input1 }}, {{ input0, input1: 5 }},
          {{ input0: {{ data: input0, dims: [3, 2] }}, input1 }}, {{ input0: [1, 2], input1 }},
        ]) say(await fault(() => model.run(given)));
        const open = await (await import("{other}")).load();
        say(await fault(() => open.run({{ input0: new Float32Array(3) }})));
        say(await fault(() => load(undefined, {{ threads: 0 }})));
        model.dispose();
        say(await fault(() => model.run({{ input0, input1 }})));
    """) == [
        "TypeError: input 'input1' is missing",
        "TypeError: there is no input 'z'; the inputs are 'input0', 'input1'",
        "TypeError: input 'input0': expected Float32Array (f32), found Float64Array",
        "RangeError: input 'input0': expected 6 elements for shape [2, 3], found 5",
        "TypeError: input 'input1': expected BigInt64Array (i64), found Number",
        "RangeError: input 'input0': expected shape [2, 3], found [3, 2] (6 elements)",
        "TypeError: input 'input0': expected Float32Array (f32), found Array",
        "RangeError: input 'input0': expected a multiple of 2 elements for shape [?, 2], found 3",
        "RangeError: the number of threads is a whole number of at least 1, not 0",
        "Error: model.wasm: the model is disposed of",
    ]


@pytest.mark.emulated
@pytest.mark.parametrize("weights", ["inside", "beside"])
def test_progress_and_faulty_files(tmp_path: Path, weights: str):
    path = compiled(tmp_path / "a", small_cnn(), weights=weights)
    other = compiled(tmp_path / "b", SIMPLE, weights=weights)
    file = path.with_suffix(".wasm" if weights == "inside" else ".weights")
    wrong = other.with_suffix(file.suffix)
    total = sum(path.with_suffix(s).stat().st_size for s in {".wasm", file.suffix})
    (weights_bytes,) = re.findall(r'"weights": (\d+)', path.read_text())
    key = "undefined, { weights: bytes }" if weights == "beside" else "bytes"
    found = node(f"""
        import {{ load }} from "{path}";
        import {{ readFileSync }} from "node:fs";
        const states = [];
        await load(undefined, {{ progress: (state) => states.push(state) }});
        say(states.every(({{ loaded }}, i) => !i || loaded > states[i - 1].loaded));
        say(states.at(-1));
        const whole = readFileSync("{file}");
        for (const bytes of [
          whole, whole.subarray(0, whole.length - 5), whole.subarray(0, 60),
          Buffer.concat([whole, Buffer.alloc(3)]), whole.buffer.slice(0),
        ]) say(await fault(() => load({key})));
        const changed = (at) => Buffer.from(whole).fill(whole.at(at) ^ 4, whole.length + at, whole.length + at + 1);
        for (const bytes of [changed(-9), changed(-{weights_bytes} - 8)]) say(await fault(() => load({key})));
        const bytes = readFileSync("{wrong}");
        say((await fault(() => load({key}))).slice(0, 16));
        if ({json.dumps(weights == "inside")})
          say(await fault(() => load(Buffer.from("<!doctype html>".repeat(9999)))));
        say(await fault(() => load("{tmp_path}/none.wasm")));
    """)
    end = "it is truncated"
    assert found[:2] == [True, {"loaded": total, "total": total}]
    assert found[2] == "none" and found[6] == "none"
    size = file.stat().st_size
    assert found[3] == f"Error: the model ends after {size - 5} of {size} bytes: {end}"
    assert found[4] == f"Error: the model ends after 60 of {size} bytes: {end}"
    assert found[5].startswith("Error: the model belongs to another model than this file")
    assert found[7] == found[8] == "Error: the model is damaged"
    assert found[9] == "Error: the model"
    if weights == "inside":
        assert found[10] == "Error: the model is not WebAssembly"
    assert "no such file" in found[-1]


@pytest.mark.emulated
def test_several_models_and_instances(tmp_path: Path):
    """Each has a memory of its own; threads do not change a number."""
    model = wide_cnn()
    (values,) = inputs_of(model).values()
    (tmp_path / "x.bin").write_bytes(values.tobytes())
    wide, simple = compiled(tmp_path / "wide", model), compiled(tmp_path / "simple", SIMPLE)
    name = next(iter(inputs_of(model)))
    found = node(f"""
        import {{ load as loadWide }} from "{wide}";
        import {{ load as loadSimple }} from "{simple}";
        import {{ readFileSync }} from "node:fs";
        const x = new Float32Array(new Uint8Array(readFileSync("{tmp_path}/x.bin")).buffer);
        const models = await Promise.all([
          loadWide(), loadWide(undefined, {{ threads: 2 }}), loadWide(undefined, {{ threads: 3 }})]);
        const small = await loadSimple(undefined, {{ threads: 2 }});
        say(models.map((one) => one.threads), small.threads);
        const firsts = [];
        for (let turn = 0; turn < 4; turn++)
          for (const one of models) {{
            const [{{ data }}] = Object.values(await one.run({{ {name}: x }}));
            const input0 = new Float32Array(6).fill(turn), input1 = BigInt64Array.of(1n);
            say((await small.run({{ input0, input1 }})).output0.data[5]);
            firsts.push(Buffer.from(data.buffer).toString("hex"));
          }}
        say(new Set(firsts).size);
        for (const one of models) one.dispose();
    """)
    assert found == [[1, 2, 3], 1, *[6.0 * turn for turn in range(4) for _ in range(3)], 1]


@pytest.mark.emulated
def test_addresses_above_two_gigabytes(tmp_path: Path):
    """An engine gives them as negative numbers. The memory is asked for, and not written."""
    path = compiled(tmp_path, OPEN)
    text = re.sub(r'("arena|"pages)": \d+', r'\1": %s', path.read_text())
    path.write_text(text.replace('"arena": %s', '"arena": 2200000000').replace("%s", "34000"))
    assert node(f"""
        import {{ load }} from "{path}";
        const model = await load();
        say([...(await model.run({{ input0: Float32Array.of(1, 2, 3, 4) }})).output0.data]);
    """) == [[-1, -2, -3, -4]]


@pytest.mark.emulated
def test_an_engine_without_vectors(tmp_path: Path):
    """V8 on an x86 without SSE4.1 has none."""
    path = compiled(tmp_path, SIMPLE)
    message = node(
        f'import {{ load }} from "{path}"; say(await fault(load));', "--no-enable-sse4-1"
    )
    assert message == [
        "Error: model.wasm: this engine has no 128-bit vectors (SIMD), which target 'wasm32-simd' "
        "needs; an older one runs what is compiled with --target wasm32"
    ]
    plain = compiled(tmp_path / "plain", SIMPLE, "wasm32")
    script = f'import {{ load }} from "{plain}"; say((await load()).threads);'
    assert node(script, "--no-enable-sse4-1") == [1]


@pytest.mark.emulated
def test_what_is_not_the_model_is_small(tmp_path: Path):
    """The loader, the pool and the rest of the runtime: at most 30 kB."""
    require_emulator("wasm32-simd")
    alone, parallel = (
        compiled(tmp_path / kind, f"""
            func.func @main(%x: tensor<{n}xf32>) -> tensor<{n}xf32> {{
              %y = nn.exp %x : (tensor<{n}xf32>) -> tensor<{n}xf32>
              return %y : tensor<{n}xf32>
            }}""")
        for kind, n in (("alone", 8), ("parallel", 1 << 22))
    )  # fmt: skip
    assert '"parallel": true' in parallel.read_text()
    for path in (alone, parallel):
        size = path.stat().st_size + path.with_suffix(".wasm").stat().st_size
        assert size <= 30_000, size


@pytest.mark.emulated
def test_functions_without_instructions(tmp_path: Path):
    """f64 has no expansions: the engine's Math, and what the loader adds, within 1e-15."""
    require_emulator("wasm32-simd")
    import nnc

    names = ("exp", "log", "sin", "cos", "tan", "tanh", "erf", "sinh", "asinh", "atan")
    values = "\n".join(
        f"%{name} = nn.{name} %x : (tensor<64xf64>) -> tensor<64xf64>" for name in names
    )
    types = ", ".join(["tensor<64xf64>"] * len(names))
    text = (
        f"func.func @main(%x: tensor<64xf64>) -> ({types}) {{\n{values}\n"
        f"return {', '.join('%' + name for name in names)} : {types} }}"
    )
    x = np.linspace(0.01, 9, 64)
    found = nnc.compile(nnc.parse(text), target="wasm32-simd")(x)
    here = nnc.compile(nnc.parse(text))(x)
    for name, got, want in zip(names, found, here, strict=True):
        np.testing.assert_allclose(got, want, rtol=4e-15, atol=1e-15, err_msg=name)


@pytest.mark.emulated
def test_a_run_that_cannot_go_on_says_why(tmp_path: Path):
    """By the node of the model; and the next call works."""
    import nnc

    from ..driver.failing_models import BAD, MODELS

    require_emulator("wasm32-simd")
    for name in ("expand", "reshape", "gather", "top"):
        model = nnc.compile(MODELS[name], target="wasm32-simd")
        for message, *values in (row[1:] for row in BAD if row[0] == name):
            with pytest.raises(NncError, match=message):
                model(*values)
    path = compiled(tmp_path, MODELS["expand"])
    names = [f"model.inputs[{i}].name" for i in range(2)]
    (message, dims) = node(f"""
        import {{ load }} from "{path}";
        const model = await load();
        const given = (rows) => ({{
          [{names[0]}]: {{ data: new Float32Array(3), dims: [1, 3] }},
          [{names[1]}]: BigInt64Array.of(rows, 3n) }});
        say(await fault(() => model.run(given(-1n))));
        say(Object.values(await model.run(given(2n)))[0].dims);
    """)
    assert message.startswith("Error: model.wasm: ") and "an extent is negative" in message
    assert dims == [2, 3]
