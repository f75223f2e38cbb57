"""Metal: its text, what is refused, and every op and small networks on an emulation.

The oracle is the interpreter. What an emulation shows and what it does not is in `metal/emulation.py`.
"""

from __future__ import annotations

import re
import subprocess
import sys
from functools import partial
from typing import Any

import nnc
import numpy as np
import pytest
from nnc.ir.attributes import ArrayAttr, StringAttr, UnitAttr
from nnc.ir.syntax.parser import parse_module
from nnc.numerics.interpreter import Interpreter
from nnc.targets import base
from nnc.targets.metal import TARGETS as METAL
from nnc.tools.nnc import main

from ..lowering.nn_cases import CONVOLUTIONS, MOVEMENT, one_op
from ..lowering.running import check_equal, entry, inputs_of
from ..lowering.test_nn_to_linalg import OPS, example_of
from ..models.test_small_models import assert_close, expected
from ..models.test_small_models import inputs_of as model_inputs
from .device_checks import check_divisions, check_indices
from .emulated import TOLERANCES
from .metal import emulation
from .small_networks import NETWORKS, by_default

ADD_AND_SOFTMAX = """
func.func @main(%a: tensor<?x40xf32>, %b: tensor<40xf32>) -> (tensor<?x40xf32>) {
  %c = nn.add %a, %b : (tensor<?x40xf32>, tensor<40xf32>) -> tensor<?x40xf32>
  %y = nn.softmax %c {axis = 1 : i64} : (tensor<?x40xf32>) -> tensor<?x40xf32>
  func.return %y : tensor<?x40xf32>
}
"""


@pytest.fixture
def emulated(monkeypatch: pytest.MonkeyPatch) -> str:
    """The emulation, in the table of targets."""
    if emulation.COMPILER is None:
        pytest.skip("needs g++")
    monkeypatch.setitem(sys.modules, "nnc.targets.emulated_metal", emulation)
    monkeypatch.setattr(base, "FAMILIES", (*base.FAMILIES, "emulated_metal"))
    return "emulated-metal"


def parsed(text: str):
    """A module whose function is an entry, and the function."""
    module = parse_module(text)
    module.verify()
    function = entry(module)
    function.attributes["nn.entry"] = UnitAttr()
    type = function.function_type
    for kind, count in (("input", len(type.inputs)), ("output", len(type.results))):
        names = tuple(StringAttr(f"{kind}{i}") for i in range(count))
        function.attributes[f"nn.{kind}_names"] = ArrayAttr(names)
    return module, function


def check(text: str, target: str, given=None, sizes=()) -> None:
    """What a program makes of its inputs is what the interpreter makes of them."""
    module, function = parsed(text)
    inputs = inputs_of(function.function_type.inputs, given, sizes, seed=0)
    with np.errstate(all="ignore"):
        wanted = Interpreter(module).call("main", inputs)
    found = nnc.compile(module, target=target, cache=False)(*inputs)
    found = found if isinstance(found, tuple) else (found,)
    for one, other in zip(found, map(np.asarray, wanted), strict=True):
        tolerance = 1e-2 if other.dtype == np.float16 else 1e-5
        check_equal(one, other, tolerance, tolerance)


def metal_text(text: str, tmp_path) -> str:
    """The kernels of a program."""
    made = tmp_path / "m.metal"
    assert compiled(text, made) == 0
    return made.read_text()


def compiled(text: str, made, *options: str) -> int:
    """What the command line says of a program as a file for Metal."""
    source = made.with_suffix(".mlir")
    source.write_text(str(parsed(text)[0]))
    command = ["compile", str(source), "--target", "metal", "-o", str(made), "--quiet", *options]
    return main(command)


# -- the text ----------------------------------------------------------------------------------


def test_text_names_what_a_kernel_takes(tmp_path):
    text = metal_text(ADD_AND_SOFTMAX, tmp_path)
    heads = re.findall(r"\[\[kernel, max_total_threads_per_threadgroup\(\d+\)\]\]\nvoid .*", text)
    assert heads and text.startswith("#include <metal_stdlib>")
    for head in heads:
        numbers = [int(n) for n in re.findall(r"\[\[buffer\((\d+)\)\]\]", head)]
        assert numbers == list(range(len(numbers)))
        assert "uint3 nnc_group [[threadgroup_position_in_grid]]" in head
        assert "constant ulong *nnc_words" in head


@pytest.mark.skipif(emulation.CLANG is None, reason="needs clang")
def test_spaces_of_memory_are_right(tmp_path):
    """By clang's C++ for OpenCL, which has the same ones."""
    text = metal_text(ADD_AND_SOFTMAX, tmp_path)
    assert emulation.fault_of_spaces(text) == ""
    wrong = text.replace("(device float *)", "(threadgroup float *)", 1)
    assert wrong != text and "address space" in emulation.fault_of_spaces(wrong)


@pytest.mark.skipif(emulation.CLANG is None, reason="needs clang")
def test_host_is_objective_c():
    """Against declarations of what it names, written after Apple's documentation."""
    source = METAL[0].source
    command = [
        emulation.CLANG,
        "-fsyntax-only",
        "-Wall",
        "-Werror",
        "-Wno-unused-function",
        "-DP=nnc",
    ]
    command += ["-x", "objective-c", f"-I{emulation.HERE / 'objc'}", str(source)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


# -- what is refused ---------------------------------------------------------------------------


def test_f64_is_refused_where_asked(tmp_path, capsys):
    text = """func.func @main(%x: tensor<8xf64>) -> (tensor<8xf64>) {
      %y = nn.relu %x : (tensor<8xf64>) -> tensor<8xf64>
      func.return %y : tensor<8xf64>
    }"""
    assert compiled(text, tmp_path / "m.metal", "--fallback", "error") == 1
    assert "'metal' has no f64" in capsys.readouterr().err


def test_more_buffers_than_a_kernel_may_take_are_refused(tmp_path, capsys):
    count = 40
    given = ", ".join(f"%x{i}: tensor<64xf32>" for i in range(count))
    sums = [
        f"%s{i} = nn.add %{'s' if i > 1 else 'x'}{i - 1}, %x{i} : "
        "(tensor<64xf32>, tensor<64xf32>) -> tensor<64xf32>"
        for i in range(1, count)
    ]
    text = f"""func.func @main({given}) -> (tensor<64xf32>) {{
      {chr(10).join(sums)}
      func.return %s{count - 1} : tensor<64xf32>
    }}"""
    assert compiled(text, tmp_path / "m.metal") == 1
    assert "and Metal gives a kernel 31 at most" in capsys.readouterr().err


@pytest.mark.skipif(sys.platform == "darwin", reason="a Mac links libraries")
@pytest.mark.parametrize("name", ["m.so", "m.a"])
def test_a_library_needs_macos(tmp_path, name, capsys):
    assert compiled(ADD_AND_SOFTMAX, tmp_path / name) == 1
    error = capsys.readouterr().err
    assert "is linked on macOS" in error and error.count("\n") == 1


@pytest.mark.skipif(sys.platform == "darwin", reason="a Mac runs it")
def test_running_needs_macos(tmp_path, capsys):
    source = tmp_path / "m.mlir"
    source.write_text(str(parsed(ADD_AND_SOFTMAX)[0]))
    assert main(["run", str(source), "--target", "metal"])
    error = capsys.readouterr().err
    assert "Metal needs macOS" in error and error.count("\n") == 1


# -- what it computes --------------------------------------------------------------------------


def test_small_program(emulated):
    check(ADD_AND_SOFTMAX, emulated, sizes=[5])


@pytest.mark.emulated
def test_indices_out_of_range(emulated):
    check_indices(emulated)


@pytest.mark.emulated
def test_divisions_are_shared(emulated):
    check_divisions(emulated)


def test_emulation_finds_a_lost_barrier(emulated, monkeypatch):
    """The emulation is no oracle that says yes to everything."""
    text = """func.func @main(%x: tensor<4x2048xf32>) -> (tensor<4xf32>) {
      %y = nn.reduce_sum %x {axes = array<i64: 1>, keepdims = false} : (tensor<4x2048xf32>) -> tensor<4xf32>
      func.return %y : tensor<4xf32>
    }"""
    check(text, emulated)
    whole = emulation.compiled
    lost = lambda text: whole(text.replace("threadgroup_barrier(mem", "(void)(mem"))  # noqa: E731
    monkeypatch.setattr(emulation, "compiled", lost)
    with pytest.raises(AssertionError):
        check(text, emulated)


_CONVOLUTIONS: dict[str, Any] = CONVOLUTIONS
_MOVEMENT: dict[str, Any] = MOVEMENT
CASES: dict[str, Any] = {cls.name: partial(example_of, cls) for cls in OPS}
CASES |= {
    f"convolution {name}": lambda case=case: (one_op(case[0], *case[1]), None, [3, 7, 5])
    for name, case in _CONVOLUTIONS.items()
}
CASES |= {
    f"movement {name}": lambda case=case: (one_op(case[0], *case[1]), None, case[2])
    for name, case in _MOVEMENT.items()
}


@pytest.mark.emulated
@pytest.mark.sampled(3)
@pytest.mark.parametrize("name", CASES)
def test_operator(name, emulated):
    text, given, sizes = CASES[name]()
    check(text, emulated, given, sizes)


@pytest.mark.emulated
@pytest.mark.parametrize("kind", by_default("mobilenet_v2", "bert", "lstm", "detector"))
def test_network(kind, emulated):
    model = NETWORKS[kind]()
    inputs = model_inputs(model)
    found = nnc.compile(model, target=emulated)(**inputs)
    assert_close(found, expected(model, inputs), TOLERANCES[kind])
