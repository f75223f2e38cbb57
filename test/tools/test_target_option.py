"""`--target` of nnc, `nnc targets`, and going on from a stage's file without flags."""

import io
import json
from pathlib import Path

import nnc
import numpy as np
import pytest
from nnc.ir.diagnostics import NncError
from nnc.ir.syntax.parser import parse_module
from nnc.targets.base import host, target
from nnc.tools import nnc as nnc_tool
from nnc.tools.command import Streams

TEXT = """
func.func @main(%x: tensor<3x5xf32>, %y: tensor<5x7xf32>) -> tensor<3x7xf32> {
  %z = nn.matmul %x, %y : (tensor<3x5xf32>, tensor<5x7xf32>) -> tensor<3x7xf32>
  %r = nn.relu %z : (tensor<3x7xf32>) -> tensor<3x7xf32>
  return %r : tensor<3x7xf32>
}
"""

X = np.arange(15, dtype=np.float32).reshape(3, 5)
Y = np.arange(35, dtype=np.float32).reshape(5, 7) - 15


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "in.mlir").write_text(TEXT)
    np.save(tmp_path / "x.npy", X)
    np.save(tmp_path / "y.npy", Y)
    np.save(tmp_path / "want.npy", np.maximum(X @ Y, 0))
    return tmp_path


def run_nnc(folder: Path, *arguments: str) -> tuple[int, str, str]:
    streams = Streams(io.StringIO(), io.StringIO(), io.StringIO(), folder)
    code = nnc_tool.main(arguments, streams)
    return code, streams.stdout.getvalue(), streams.stderr.getvalue()


INPUTS = ("--input", "x.npy", "--input", "y.npy", "--expect", "want.npy", "--no-cache", "-q")


def test_every_stage_goes_on_without_flags(folder: Path) -> None:
    assert run_nnc(folder, "stages", "in.mlir", "-q", "--target", "avx2", "-o", "st")[0] == 0
    files = sorted((folder / "st").glob("*.mlir"))
    assert len(files) == 8
    for path in files:
        says = 'nnc.target = "x86-64-v3"' in path.read_text()
        assert says == (path.name != "0-import.mlir"), path.name
    if target("avx2").obstacle() is None:
        for path in files:
            code, _, said = run_nnc(folder, "run", f"st/{path.name}", *INPUTS)
            assert (code, said) == (0, ""), path.name


@pytest.mark.sampled(5)
@pytest.mark.parametrize(
    ("name", "suffix"),
    [("cuda", ".ptx"), ("opencl", ".cl"), ("webgpu", ".wgsl"), ("metal", ".metal"), ("c", ".c")],
)
def test_every_stage_of_other_targets_goes_on(folder: Path, name: str, suffix: str) -> None:
    """Stages that a file is past are not run again, and the numbers are those of the whole way."""
    assert run_nnc(folder, "stages", "in.mlir", "-q", "--target", name, "-o", "st")[0] == 0
    compiled = "compile", "in.mlir", "-q", "--target", name, "-o"
    assert run_nnc(folder, *compiled, "last.mlir") == (0, "", "")
    own = [one.name for one in target(name).stages]
    for path in [*sorted((folder / "st").glob("*.mlir")), folder / "last.mlir"]:
        given = "compile", str(path), "--target", name, "-o", f"part{suffix}"
        code, _, said = run_nnc(folder, *given)
        assert code == 0, said
        stage = own[-1] if path.stem == "last" else path.stem.partition("-")[2]
        began = [one for one in own if f"{one}: " in said]
        assert began == (own[own.index(stage) + 1 :] if stage in own else own), path.name
        assert ("simplify-graph: " in said) == (stage not in own), path.name
        if target(name).obstacle() is None:
            code, agrees, said = run_nnc(folder, "run", str(path), *INPUTS)
            assert (code, "agrees with" in agrees, said) == (0, True, ""), path.name
    assert (folder / f"part{suffix}").stat().st_size > 0


def test_kernels_are_proven_before_they_are_launched(folder: Path) -> None:
    pytest.importorskip("islpy")
    assert run_nnc(folder, "stages", "in.mlir", "-q", "--target", "opencl", "-o", "st")[0] == 0
    code, _, said = run_nnc(folder, "compile", "st/4-schedule.mlir", "--prove", "-o", "m.cl")
    assert (code, "launches proven" in said) == (0, True)
    code, _, said = run_nnc(folder, "compile", "st/5-launches.mlir", "--prove", "-o", "n.cl")
    assert code == 1
    assert "--prove starts from a schedule, but the IR is past 'launches'" in said
    assert not (folder / "n.cl").exists()


def test_a_stage_for_this_machine_goes_on_here(folder: Path) -> None:
    assert run_nnc(folder, "stages", "in.mlir", "-q", "-o", "st")[0] == 0
    stage = (folder / "st" / "4-schedule.mlir").read_text()
    assert f'name = "{host().name}", processor = "{host().processor}"}}' in stage
    assert run_nnc(folder, "run", "st/4-schedule.mlir", *INPUTS)[0] == 0
    assert run_nnc(folder, "run", "st/4-schedule.mlir", "--target", "host", *INPUTS)[0] == 0


def test_a_stage_of_another_target(folder: Path) -> None:
    run_nnc(folder, "stages", "in.mlir", "-q", "--target", "avx2", "-o", "st")
    for command in ("run", "bench"):
        code, _, said = run_nnc(folder, command, "st/4-schedule.mlir", "-q", "--target", "sse")
        assert code == 1
        assert "is for target 'x86-64-v3', but 'x86-64' is asked for" in said.splitlines()[0]
    code, _, said = run_nnc(folder, "compile", "st/4-schedule.mlir", "--target=sse", "-o", "m.o")
    assert (code, "'x86-64' is asked for" in said) == (1, True)
    assert not (folder / "m.o").exists()


@pytest.mark.parametrize("command", ["compile", "run", "bench", "profile", "stages"])
@pytest.mark.parametrize("option", ["--target", "--machine"])
def test_an_unknown_target(folder: Path, command: str, option: str) -> None:
    out = ("-o", "m.o") if command in ("compile", "stages") else ()
    code, _, said = run_nnc(folder, command, "in.mlir", option, "avx515", *out)
    assert code == 1
    assert said == (
        "error: no target is named 'avx515'; near: avx512, avx2; `nnc targets` lists all\n"
    )


def test_the_list_of_targets(folder: Path) -> None:
    code, said, _ = run_nnc(folder, "targets")
    lines = said.splitlines()
    assert code == 0
    assert lines[0].startswith(f"host: '{host().name}' (processor {host().processor}, ")
    assert any(line.split()[:4] == ["x86-64,", "sse", "runs", "here"] for line in lines)


def test_a_target_that_does_not_run_here(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("nnc.targets.llvm.target.find_host", lambda: target("x86-64"))
    monkeypatch.setattr(
        "nnc.targets.emulator.Emulator.missing", lambda self: "an emulator is missing"
    )
    message = (
        "code for 'x86-64-v3' does not run here: this machine is no more than x86-64, "
        "and an emulator is missing"
    )
    for more in ((), ("--no-cache",)):
        code, _, said = run_nnc(folder, "run", "in.mlir", "-q", "--target", "avx2", *more)
        assert (code, said) == (1, f"error: {message}\n")
    with pytest.raises(NncError, match=message):
        nnc.compile(parse_module(TEXT), target="avx2")
    assert run_nnc(folder, "compile", "in.mlir", "-q", "--target", "avx2", "-o", "m.o")[0] == 0
    assert json.loads((folder / "m.json").read_text())["target"] == "x86-64-v3"
    _, said, _ = run_nnc(folder, "targets")
    assert [line.split()[2] for line in said.splitlines() if " avx2 " in line] == ["compiles"]


@pytest.mark.parametrize(
    "target,output,message",
    [
        (
            "avx2",
            "m.so",
            "a library for x86_64-unknown-linux-gnu needs a linker: "
            "`pip install 'nnc[cross]'`; or write a .o instead",
        ),
        *(
            (target, f"m.{suffix}", f"{what} a linker: `pip install 'nnc[cross]'`")
            for target, suffix, what in (
                ("wasm32", "wasm", "a module of WebAssembly needs"),
                ("webgpu", "mjs", "a module of WebAssembly needs"),
                ("amd-gfx90a", "so", "code objects need"),
            )
        ),
    ],
)
def test_a_linker_of_another_system_is_asked_for_before_any_work(
    folder: Path, monkeypatch: pytest.MonkeyPatch, target: str, output: str, message: str
) -> None:
    if target == "avx2":
        monkeypatch.setattr("nnc.targets.llvm.target.find_host", lambda: None)
    for module in ("linker", "wasm.linker", "amd"):
        monkeypatch.setattr(f"nnc.targets.{module}.find_spec", lambda name: None)
    code, _, said = run_nnc(folder, "compile", "in.mlir", "--target", target, "-o", output)
    assert code == 1
    assert said.splitlines()[-1] == f"error: {message}"
    assert not any("stage" in line or "simplify" in line for line in said.splitlines())


def test_the_older_name_in_python() -> None:
    found = nnc.compile(parse_module(TEXT), machine="sse", cache=False)(X, Y)
    np.testing.assert_array_equal(found, np.maximum(X @ Y, 0))


@pytest.mark.parametrize("command", ["profile", "bench"])
@pytest.mark.parametrize("name", ["wasm32-simd", "power8", "riscv64", "aarch64-windows"])
def test_what_is_measured_has_to_run_here(
    folder: Path, monkeypatch: pytest.MonkeyPatch, command: str, name: str
) -> None:
    def compiled(*_: object, **__: object) -> None:
        raise AssertionError("something was compiled")

    for place in ("compile", "profiling.collect"):
        monkeypatch.setattr(f"nnc.driver.{place}.run_stages", compiled)
    monkeypatch.setattr("nnc.targets.wasm.engine.Node.missing", lambda self: "no engine is here")
    if target(name).obstacle() is None:
        pytest.skip("runs here")
    code, _, said = run_nnc(folder, command, "in.mlir", "-q", "--target", name)
    assert (code, said.count("\n")) == (1, 1)
    assert said.startswith(f"error: code for '{name}' does not run here: ")


def test_an_unknown_level(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NNC_LEVEL", "x86-64-v2")
    assert run_nnc(folder, "check", "in.mlir")[0] == 0
    monkeypatch.setenv("NNC_LEVEL", "nonsense")
    for command in ("run", "compile", "bench", "check"):
        out = ("-o", "m.so") if command == "compile" else ()
        code, _, said = run_nnc(folder, command, "in.mlir", *out)
        assert code == 1
        assert said == "error: NNC_LEVEL: no target is named 'nonsense'; `nnc targets` lists all\n"
