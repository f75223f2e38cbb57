"""64-bit Arm and others: names, what this machine could be, errors before any work. No emulator."""

import json
import platform
from dataclasses import replace
from pathlib import Path

import nnc
import pytest
from nnc.ir.diagnostics import NncError
from nnc.ir.syntax.parser import parse_module
from nnc.targets.aarch64.host import nearest
from nnc.targets.aarch64.names import AARCH64_NAMES
from nnc.targets.attribute import to_attribute
from nnc.targets.base import target
from nnc.targets.llvm.native import emit_object
from nnc.targets.power import TARGETS as POWER
from nnc.tools.nnc import main

NOTHING = "define void @f() { ret void }"
MODEL = """
func.func @main(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %y = nn.relu %x : (tensor<4x8xf32>) -> tensor<4x8xf32>
  return %y : tensor<4x8xf32>
}
"""
A76 = "+neon,+crc,+lse,+rdm,+fullfp16,+rcpc,+dotprod,-sve"


def test_all_names_are_known_to_llvm(capfd: pytest.CaptureFixture[str]):
    """Of an unknown one LLVM prints that it is not recognized, or ends the process."""
    one = target("aarch64")
    for name in sorted(AARCH64_NAMES.processors):
        emit_object(NOTHING, replace(one, cpu=name), opt_level=0)
    unusual = {"all", "ite"} | {n for n in AARCH64_NAMES.features if n.startswith("reserve-x")}
    for name in sorted(AARCH64_NAMES.features - unusual):
        emit_object(NOTHING, replace(one, features=f"+{name}"), opt_level=0)
    (power,) = POWER
    for name in power.names.processors:
        emit_object(NOTHING, replace(power, cpu=name), opt_level=0)
    for name in power.names.features:
        emit_object(NOTHING, replace(power, features=f"+{name}"), opt_level=0)
    assert "not a recognized" not in capfd.readouterr().err


@pytest.mark.parametrize(
    ("cpu", "features", "name"),
    [
        ("cortex-a76", A76, "cortex-a76"),
        ("cortex-a78", A76, "cortex-a76"),
        ("cortex-a76", "+neon,+crc", "aarch64"),
        ("cortex-a72", "+neon,+crc", "cortex-a72"),
        ("neoverse-v2", A76 + ",+bf16,+i8mm,+sve2", "aarch64"),
        ("neoverse-v2", A76 + ",+bf16,+i8mm,+sve,+sve2", "neoverse-v2"),
        ("apple-m2", A76 + ",+fp16fml,+sha3", "apple-m1"),
        ("", "+neon", "aarch64"),
    ],
)
def test_which_arm_this_is(cpu: str, features: str, name: str):
    """A processor that a virtual machine hides features of is not taken for the whole one."""
    assert nearest(cpu, features) is target(name)


V1 = A76 + ",+bf16,+i8mm,+sve"


@pytest.mark.parametrize(
    ("cpu", "features", "length", "name"),
    [
        ("neoverse-v1", V1, 2, "neoverse-v1"),
        ("neoverse-v1", V1, 1, "neoverse-n1"),
        ("neoverse-v1", A76, 0, "neoverse-n1"),
        ("neoverse-v1", "+neon", 0, "aarch64"),
        ("a64fx", "+crc,+lse,+rdm,+fullfp16,+complxnum,+sve", 4, "a64fx"),
        ("a64fx", "+crc,+lse,+rdm,+fullfp16,+complxnum,+sve", 2, "aarch64"),
    ],
)
def test_the_length_of_scalable_vectors_counts(cpu: str, features: str, length: int, name: str):
    """The system may make them shorter for a process; code for longer ones is then wrong."""
    assert nearest(cpu, features, length) is target(name)


def test_code_for_other_lengths_of_vectors_is_not_run(monkeypatch: pytest.MonkeyPatch):
    as_if_here(monkeypatch, "neoverse-n1", V1)
    said = "this machine's scalable vectors are not of 256 bits"
    assert target("neoverse-v1").obstacle() == said


def as_if_here(monkeypatch: pytest.MonkeyPatch, name: str, features: str) -> None:
    here = replace(target(name), features=features, processor=name)
    monkeypatch.setattr("nnc.targets.llvm.target.find_host", lambda: here)


def test_an_arm_runs_what_it_has_the_features_of(monkeypatch: pytest.MonkeyPatch):
    as_if_here(monkeypatch, "cortex-a76", A76)
    for name in ("aarch64", "cortex-a72", "cortex-a76", "neoverse-n1"):
        assert target(name).obstacle() is None
    assert target("neoverse-v2").obstacle() == "this machine has no bf16, i8mm, sve, sve2"
    assert target("apple-m1-linux").obstacle() == "this machine has no fp16fml, sha3"


@pytest.mark.parametrize("name", ["cortex-a76", "neoverse-v2"])
def test_edited_numbers_of_a_machine_are_kept(name: str):
    one = target(name)
    edited = replace(one, machine=replace(one.machine, cores=96))
    assert str(to_attribute(edited)) == (f'{{machine = {{cores = 96 : i64}}, name = "{name}"}}')


# -- errors ----------------------------------------------------------------------------------------


@pytest.fixture
def model(tmp_path: Path) -> Path:
    path = tmp_path / "model.mlir"
    path.write_text(MODEL)
    return path


def fails(capsys: pytest.CaptureFixture[str], *arguments: object) -> str:
    """The first line that a command line says before it ends with 1; the source may follow."""
    assert main([*map(str, arguments), "-q"]) == 1
    return capsys.readouterr().err.splitlines()[0]


@pytest.fixture
def on_x86(monkeypatch: pytest.MonkeyPatch) -> str:
    """This machine is an x86, whatever it is; what errors call it."""
    monkeypatch.setattr("nnc.targets.llvm.target.find_host", lambda: target("x86-64"))
    return f"this machine is {platform.machine()} on {platform.system()}"


def test_an_unknown_target_names_the_nearest(model: Path, capsys: pytest.CaptureFixture[str]):
    said = fails(capsys, "run", model, "--random", "--target", "cortex-a77")
    assert "no target is named 'cortex-a77'; near: cortex-a7, cortex-a76, cortex-a72" in said
    said = fails(capsys, "run", model, "--random", "--target", "x86-64-v2,x86-64-v3")
    assert "several targets, 'x86-64-v2,x86-64-v3', are for the library of `nnc compile`" in said


def test_a_missing_emulator(
    model: Path, on_x86: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("PATH", "")
    assert fails(capsys, "run", model, "--random", "--target", "aarch64").endswith(
        f"code for 'aarch64' does not run here: {on_x86}, and qemu-aarch64 "
        "is not installed: `apt-get install qemu-user libc6-arm64-cross`, or what has them elsewhere"
    )


def test_a_missing_libc(
    model: Path, on_x86: str, tmp_path: Path, capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
):  # fmt: skip
    """QEMU is there; what it would load is not."""
    program = tmp_path / "qemu-aarch64"
    program.write_text("")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setenv("QEMU_LD_PREFIX", str(tmp_path / "none"))
    said = fails(capsys, "run", model, "--random", "--target", "aarch64")
    assert f"qemu-aarch64 needs the processor's libc in {tmp_path / 'none'}: `apt-get" in said


@pytest.mark.parametrize(
    ("version", "processor"), [((7, 2), "rv64,v=true"), ((10, 1), "max,vlen=256")]
)
def test_what_an_emulator_calls_a_processor(
    monkeypatch: pytest.MonkeyPatch, version: tuple[int, int], processor: str
):
    monkeypatch.setattr("nnc.targets.emulator.Emulator.missing", lambda self: None)
    monkeypatch.setattr("nnc.targets.emulator.Emulator.version", lambda self: version)
    emulator = target("spacemit-x60").emulator
    assert emulator is not None
    assert emulator.command()[2].startswith(processor)


@pytest.mark.parametrize("command", ["bench", "profile"])
def test_times_are_not_taken_in_an_emulator(
    command: str, model: Path, on_x86: str, capsys: pytest.CaptureFixture[str]
):
    said = fails(capsys, command, model, "--target", "cortex-a76")
    assert said.endswith(f"code for 'cortex-a76' does not run here: {on_x86}")


def test_what_no_emulator_runs(on_x86: str):
    """QEMU has no AVX-512."""
    message = "code for 'x86-64-v4' does not run here: this machine is no more than x86-64"
    with pytest.raises(NncError, match=message):
        nnc.compile(parse_module(MODEL), target="x86-64-v4")


@pytest.mark.parametrize("command", ["compile", "run"])
def test_a_missing_linker(
    command: str, model: Path, on_x86: str, capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
):  # fmt: skip
    monkeypatch.setattr("nnc.targets.linker.find_spec", lambda name: None)
    monkeypatch.setattr("nnc.targets.emulator.Emulator.missing", lambda self: None)
    rest = ["-o", model.with_suffix(".so")] if command == "compile" else ["--random"]
    said = fails(capsys, command, model, "--target", "cortex-a76", *rest)
    assert said.endswith(
        "a library for aarch64-unknown-linux-gnu needs a linker: `pip install 'nnc[cross]'`; "
        "or write a .o instead"
    )


def test_a_stage_of_another_target(model: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    assert main(["stages", str(model), "--target", "cortex-a76", "-o", str(tmp_path / "s")]) == 0
    capsys.readouterr()
    stage = tmp_path / "s" / "4-schedule.mlir"
    said = fails(capsys, "compile", stage, "--target", "neoverse-n1", "-o", tmp_path / "m.o")
    assert "the module is for target 'cortex-a76', but 'neoverse-n1' is asked for" in said


def test_an_object_file_needs_no_linker(model: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("nnc.targets.linker.find_spec", lambda name: None)
    output = model.with_suffix(".o")
    assert main(["compile", str(model), "-q", "--target", "neoverse-v2", "-o", str(output)]) == 0
    header = output.read_bytes()[:20]
    assert header[:5] == b"\x7fELF\x02" and header[18:] == b"\xb7\x00", "64 bits, AArch64"
    assert json.loads(output.with_suffix(".json").read_text())["target"] == "neoverse-v2"


def test_a_kernel_that_a_target_cannot_hold(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    """LLVM ends the process where no instruction does what an intrinsic says."""
    path = tmp_path / "kernel.mlir"
    path.write_text("""
llvm.func @llvm.x86.sse2.pause()
llvm.func @f() {
  llvm.call @llvm.x86.sse2.pause() : () -> ()
  llvm.return
}
""")
    said = fails(capsys, "compile", path, "--target", "cortex-a76", "-o", tmp_path / "m.s")
    assert said.endswith(
        "'cortex-a76' has no 'llvm.x86.sse2.pause', an intrinsic of other processors"
    )
