"""NVIDIA's and AMD's devices: their code, what is refused, and every op and small networks run here.

The oracle is the interpreter, and `host` for networks. What runs kernels is in
`llvm_devices/emulation.py`: their LLVM IR as code of this machine, behind the devices' own hosts.
"""

from __future__ import annotations

import ctypes
import re
import shutil
import subprocess
import sys
from importlib.util import find_spec

import nnc
import numpy as np
import pytest
from nnc.driver.compile import load_module, run_stages
from nnc.ir.diagnostics import NncError
from nnc.ir.syntax.parser import parse_module
from nnc.targets import base
from nnc.targets.base import target
from nnc.targets.device.target import kernels_in
from nnc.targets.groups import GroupMachine
from nnc.targets.llvm.ir import ModuleWriter
from nnc.targets.llvm.kernels import KernelTarget, generated
from nnc.targets.llvm.mathematics import MATHEMATICS
from nnc.tools.nnc import main

from bench.kernels import Usage, usages

from ..lowering.nn_cases import CONVOLUTIONS, MOVEMENT, one_op
from ..lowering.test_nn_to_linalg import example_of
from ..models.test_small_models import assert_close, expected
from ..models.test_small_models import inputs_of as model_inputs
from .device_checks import chain, check_divisions, check_indices, gathering
from .emulated import TOLERANCES
from .llvm_devices import emulation
from .small_networks import NETWORKS
from .test_emulated_operators import GROUPS, check_together
from .test_metal import ADD_AND_SOFTMAX, check, parsed

NAMES = [one.name for family in ("cuda", "amd") for one in base.module_of(family).TARGETS]
needs_ptxas = pytest.mark.skipif(shutil.which("ptxas") is None, reason="ptxas is not installed")
_LONG_SUM = """func.func @main(%x: tensor<4x2048xf32>) -> (tensor<4xf32>) {
  %y = nn.reduce_sum %x {axes = array<i64: 1>, keepdims = false} : (tensor<4x2048xf32>) -> tensor<4xf32>
  func.return %y : tensor<4xf32>
}"""


@pytest.fixture
def emulated(monkeypatch: pytest.MonkeyPatch) -> None:
    """The emulated devices, in the table of targets."""
    if emulation.COMPILER is None:
        pytest.skip("no C compiler")
    monkeypatch.setitem(sys.modules, "nnc.targets.emulated_devices", emulation)
    monkeypatch.setattr(base, "FAMILIES", (*base.FAMILIES, "emulated_devices"))


def kernels_of(text: str, name: str) -> str:
    """The kernels of a program as a device's text."""
    one = target(name)
    assert isinstance(one, KernelTarget)
    module = run_stages(load_module(parsed(text)[0]), target=name)
    return one.text(module, one.code_suffix)


# -- the code ----------------------------------------------------------------------------------


def test_ptx(tmp_path):
    """Threads of a group, the version of the architecture, and no address that may be anywhere."""
    source, made = tmp_path / "m.mlir", tmp_path / "m.ptx"
    source.write_text(str(parsed(ADD_AND_SOFTMAX)[0]))
    assert main(["compile", str(source), "--target", "cuda-sm80", "-o", str(made), "--quiet"]) == 0
    text = made.read_text()
    assert ".version 7.0\n.target sm_80\n" in text
    assert re.search(r"\.visible \.entry \w+\([^{]*\.reqntid \d+, 1, 1\n\.minnctapersm 1\n", text)
    assert not re.findall(r"\b(?:ld|st)\.[bfsuv]\d", text)
    assert "ld.global" in text and "st.global" in text and ".extern" not in text


@needs_ptxas
@pytest.mark.sampled(3)
@pytest.mark.parametrize("name", [name for name in NAMES if name.startswith("cuda")])
def test_ptxas_takes_it(name):
    """Nothing spills, and some threads fit."""
    one = target(name)
    assert isinstance(one, KernelTarget)
    found = usages(kernels_of(ADD_AND_SOFTMAX, name), one)
    assert found
    for usage in found:
        assert usage.spilled == 0 and 0 < usage.occupancy(one.machine) <= 1


def test_short_rows_fit_the_memory_of_a_group():
    """Of 33 columns, which threads exchange as 64; 256 rows in a group would take 64 KiB."""
    rows = "func.func @main(%x: tensor<?x?x33xf32>) -> tensor<?x?xf32>"
    sums = "%y = nn.reduce_sum %x {axes = array<i64: 2>, keepdims = false}"
    text = (
        f"{rows} {{ {sums} : (tensor<?x?x33xf32>) -> tensor<?x?xf32> return %y : tensor<?x?xf32> }}"
    )
    found = re.findall(r"\.shared [^;]*\[(\d+)\];", kernels_of(text, "cuda-sm80"))
    assert found and sum(map(int, found)) <= 48 << 10


@pytest.mark.parametrize("name", [name for name in NAMES if name.startswith("amd")])
def test_amd(name):
    one = target(name)
    assert isinstance(one, KernelTarget)
    text = kernels_of(ADD_AND_SOFTMAX, name)
    assert f"amdhsa--{one.cpu}" in text and "flat_load" not in text
    assert f".wavefront_size: {one.machine.subgroup}" in text
    for usage in usages(text, one):
        assert usage.spilled == 0 and 0 < usage.occupancy(one.machine) <= 1


@pytest.mark.skipif(find_spec("ziglang") is None, reason="ziglang is not installed")
def test_code_object():
    """An ELF file of AMD's machine with each kernel's descriptor."""
    one = target("amd-gfx942")
    assert isinstance(one, KernelTarget)
    kernels = kernels_in(run_stages(load_module(parsed(_LONG_SUM)[0]), target=one.name))
    assert kernels is not None
    found = one.code_of(kernels)
    assert found.code is not None and found.code[:4] == b"\x7fELF"
    assert int.from_bytes(found.code[18:20], "little") == 224
    names = [row.split()[0] for row in found.rows]
    assert names and all(f"{name}.kd".encode() in found.code for name in names)


def test_occupancy():
    """Of registers: 65,536 over 256 threads of 72 are 3 groups, 768 threads of 2048."""
    machine = target("cuda-sm80").machine
    assert isinstance(machine, GroupMachine)
    assert Usage("f", 256, 72, 0, 0).occupancy(machine) == 768 / 2048
    # 70 registers are given out as 72; of 164 KiB, groups of 100 KiB are one; 32 groups at most.
    assert Usage("f", 256, 70, 0, 100 << 10).occupancy(machine) == 256 / 2048
    assert Usage("f", 1, 10, 0, 0).occupancy(machine) == 32 * 32 / 2048


def test_functions_of_far_numbers():
    """By this machine's code, over all floats: within half a unit in the last place."""
    text = ModuleWriter().write(parse_module(MATHEMATICS.read_text())).replace("internal ", "")
    here = base.host()
    code = generated(text, "object", here.name, here.triple, here.cpu, here.features)  # type: ignore[attr-defined]
    loaded = here.load(code, ("sinf", "cosf", "tanf"))
    bits = np.random.default_rng(0).integers(0, 1 << 32, 20_000).astype(np.uint32)
    given = np.append(bits.view(np.float32), np.float32([0, -0.0, 0.785, 2.0**18, 3e38, np.nan]))
    for name, exact in (("sinf", np.sin), ("cosf", np.cos), ("tanf", np.tan)):
        function = ctypes.CFUNCTYPE(ctypes.c_float, ctypes.c_float)(loaded[name])
        found = np.float64([function(x) for x in given])
        with np.errstate(all="ignore"):
            wanted = exact(given.astype(np.float64))
        unit = np.maximum(np.spacing(np.abs(wanted).astype(np.float32)), 1e-45)
        there = np.isfinite(given)
        assert (np.abs(found - wanted)[there] <= 0.501 * unit[there]).all()
        assert np.isnan(found[~there]).all()


# -- what is refused ---------------------------------------------------------------------------


def test_unknown_architectures_are_refused():
    """LLVM takes them without a word."""
    with pytest.raises(NncError, match="no target is named 'cuda-sm99'; near: cuda-sm"):
        target("cuda-sm99")


def test_functions_of_f64_are_for_the_host(emulated):
    """Which says so; arithmetic, roots and powers of known exponents are the device's."""
    text = """func.func @main(%x: tensor<8xf64>) -> (tensor<8xf64>) {
      %y = nn.exp %x : (tensor<8xf64>) -> tensor<8xf64>
      func.return %y : tensor<8xf64>
    }"""
    with pytest.raises(NncError, match="'emulated-cuda' has no 'exp' of f64"):
        nnc.compile(parsed(text)[0], target="emulated-cuda", cache=False, fallback=False)
    check(text, "emulated-cuda")
    text = text.replace("nn.exp", "nn.sqrt")
    nnc.compile(parsed(text)[0], target="emulated-cuda", cache=False, fallback=False)


def test_what_llvm_cannot_select_is_one_error():
    """LLVM ends its process, not this one."""
    text = 'declare i32 @llvm.x86.rdpid()\ndefine i32 @f() "target-cpu"="x" {\n'
    text += "  %r = call i32 @llvm.amdgcn.workitem.id.x()\n  ret i32 %r\n}\n"
    text += "declare i32 @llvm.amdgcn.workitem.id.x()\n"
    with pytest.raises(NncError, match="LLVM makes no code for 'cuda'"):
        generated(text, "assembly", "cuda", "nvptx64-nvidia-cuda", "sm_80", "")


@pytest.mark.parametrize(
    ("name", "message"), [("cuda", "no libcuda is here"), ("amd-gfx90a", "no libamdhip64 is here")]
)
def test_running_needs_a_driver(name, message, tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(f"nnc.targets.{target(name).family}.find_library", lambda name: None)
    source = tmp_path / "m.mlir"
    source.write_text(str(parsed(ADD_AND_SOFTMAX)[0]))
    assert main(["run", str(source), "--target", name])
    error = capsys.readouterr().err
    assert message in error and error.count("\n") == 1


# -- what it computes --------------------------------------------------------------------------

EVERY = ("emulated-cuda-sm80", "emulated-amd-gfx90a", "emulated-amd-gfx1100")


@pytest.mark.emulated
@pytest.mark.parametrize("name", EVERY)
def test_small_program(name, emulated):
    check(ADD_AND_SOFTMAX, name, sizes=[5])


@pytest.mark.emulated
def test_emulation_finds_a_lost_barrier(emulated, monkeypatch):
    """The emulation is no oracle that says yes to everything."""
    check(_LONG_SUM, "emulated-cuda-sm80")
    whole = emulation.compiled
    lost = lambda text: whole(re.sub(r".*call void @emulated_\w*barrier\w*\(.*", "", text))  # noqa: E731
    monkeypatch.setattr(emulation, "compiled", lost)
    with pytest.raises(AssertionError):
        check(_LONG_SUM, "emulated-cuda-sm80")


@pytest.mark.emulated
@pytest.mark.sampled(4)
@pytest.mark.parametrize("name", EVERY)
@pytest.mark.parametrize("group", GROUPS, ids=lambda ops: f"{ops[0].name}..{ops[-1].name}")
def test_operators(group, name, emulated):
    check_together([(cls.name, *example_of(cls)) for cls in group], name)


@pytest.mark.emulated
@pytest.mark.sampled(3)
@pytest.mark.parametrize("name", EVERY)
def test_convolutions(name, emulated):
    """Also in groups, of f16, of unknown extents."""
    check_together(
        [(k, one_op(text, *args), None, [3, 7, 5]) for k, (text, args) in CONVOLUTIONS.items()],
        name,
    )


@pytest.mark.emulated
@pytest.mark.sampled(3)
@pytest.mark.parametrize("name", EVERY)
def test_movement(name, emulated):
    check_together(
        [(k, one_op(text, *args), None, sizes) for k, (text, args, sizes) in MOVEMENT.items()],
        name,
    )


@pytest.mark.emulated
@pytest.mark.sampled(7)  # no multiple of the devices, so that each has its turn
@pytest.mark.parametrize("name", EVERY)
@pytest.mark.parametrize("kind", NETWORKS)
def test_networks(kind, name, emulated):
    model = NETWORKS[kind]()
    inputs = model_inputs(model)
    found = nnc.compile(model, target=name)(**inputs)
    assert_close(found, expected(model, inputs), TOLERANCES[kind])


# -- hosts -------------------------------------------------------------------------------------

HOSTS = ("emulated-cuda", "emulated-amd-gfx942")


@pytest.mark.emulated
@pytest.mark.parametrize("name", HOSTS)
def test_indices_out_of_range(name, emulated):
    check_indices(name)


@pytest.mark.emulated
@pytest.mark.parametrize("name", HOSTS)
def test_divisions_are_shared(name, emulated):
    check_divisions(name)


@pytest.mark.emulated
@pytest.mark.parametrize("name", HOSTS)
@pytest.mark.parametrize(
    ("variable", "value", "message"),
    [
        ("EMULATED_DEVICES", "0", "device is here"),
        (
            "NNC_CUDA_DEVICE NNC_HIP_DEVICE",
            "7",
            "there is no device 7: NNC_[A-Z]*_DEVICE is at most 0",
        ),
        (
            "NNC_CUDA_DEVICE NNC_HIP_DEVICE",
            "a",
            "_DEVICE is the number of a device, from 0, not 'a'",
        ),
        (
            "NNC_CUDA_DEVICE NNC_HIP_DEVICE",
            "-1",
            "_DEVICE is the number of a device, from 0, not '-1'",
        ),
        (
            "EMULATED_BYTES",
            "8",
            "the device has too little memory: it gives no buffer of [0-9]+ bytes",
        ),
        ("EMULATED_THREADS", "1", "the device runs groups of 1 threads"),
        ("EMULATED_LOSS", "1", "the device failed: the device is lost"),
    ],
)
def test_what_a_host_says(name, variable, value, message, emulated, monkeypatch):
    """One error; where the cause is gone, the next run is right."""
    compiled = nnc.compile(gathering(), target=name, cache=False)
    x = np.arange(12, dtype=np.float32).reshape(4, 3)
    for one in variable.split():
        monkeypatch.setenv(one, value)
    with pytest.raises(NncError, match=message):
        compiled(x, np.int64([0, 1]))
    for one in variable.split():
        monkeypatch.delenv(one)
    np.testing.assert_array_equal(compiled(x, np.int64([3, -1])), x[[3, 3]])


@pytest.mark.emulated
@pytest.mark.parametrize("name", HOSTS)
def test_memory_of_other_sizes_is_given_back_where_it_is_scarce(name, emulated, monkeypatch):
    """What an earlier run of larger extents has left does not keep a run from its own."""
    compiled = nnc.compile(chain(), target=name, cache=False)
    here = nnc.compile(chain(), target="host", cache=False)
    rng = np.random.default_rng(0)

    def check_sizes(n: int, k: int, m: int) -> None:
        x, w = (rng.standard_normal(shape, np.float32) for shape in ((n, k), (k, m)))
        np.testing.assert_allclose(compiled(x, w), here(x, w), rtol=1e-5, atol=1e-5)

    monkeypatch.setenv("EMULATED_TOTAL", str(1_000_000))
    check_sizes(64, 512, 64)
    check_sizes(256, 8, 256)
    with pytest.raises(NncError, match="the device has too little memory: it gives no buffer of"):
        check_sizes(512, 8, 512)
    check_sizes(64, 512, 64)


@pytest.mark.parametrize("family", ["cuda", "amd"])
def test_hosts_are_plain_c(family):
    source = base.module_of(family).TARGETS[0].source
    command = ["gcc", "-std=c99", "-Wall", "-Werror", "-Wno-unused-function", "-fsyntax-only"]
    if shutil.which("gcc") is None:
        pytest.skip("no C compiler")
    done = subprocess.run(
        [*command, "-DP=nnc", source], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
