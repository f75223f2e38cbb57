"""After a failure no memory is left over: in functions, parallel loops and shipped libraries."""

import ctypes
import json
import subprocess
from pathlib import Path

import nnc
import numpy as np
import onnx
import pytest
from nnc.ir.diagnostics import NncError
from nnc.ir.syntax.parser import parse_module
from nnc.runtime.abi import FIRST_FAILURE
from nnc.tools import nnc as nnc_tool

from ..processor import runnable
from .failing_models import ANY2, LARGE, MODELS, floats, ints, model

# -- nothing is left over --------------------------------------------------------------------------


class _Use(ctypes.Structure):
    """What glibc's mallinfo2 gives."""

    _fields_ = tuple(
        (name, ctypes.c_size_t)
        for name in [
            "arena",
            "ordblks",
            "smblks",
            "hblks",
            "hblkhd",
            "usmblks",
            "fsmblks",
            "uordblks",
            "fordblks",
            "keepcost",
        ]
    )


def bytes_in_use() -> int:
    function = ctypes.CDLL(None).mallinfo2
    function.restype = _Use
    use = function()
    return use.uordblks + use.hblkhd


@pytest.mark.sampled(2)
@pytest.mark.parametrize("threads", [1, 2])
def test_buffers_are_freed_where_a_later_node_fails(threads):
    """Two buffers of 4 MB are alive when the shape is refused; neither stays."""
    nodes = [
        ("Expand", ["x", "s"], ["wide"], {}),
        ("Softmax", ["wide"], ["soft"], {"axis": 0}),
        ("Add", ["soft", "wide"], ["sum"], {}),
        ("Reshape", ["sum", "r"], ["flat"], {}),
        ("Add", ["flat", "b"], ["y"], {}),
    ]
    inputs = {"x": ("f", [1, 1]), "s": ("i", [2]), "r": ("i", [2]), "b": ("f", ["n"])}
    run = nnc.compile(model(nodes, inputs, {"y": ANY2}), threads=threads)
    x, s = floats(1, 1), ints(1024, 1024)

    def call(rows, extent):
        return run(x, s, ints(rows, 512), np.zeros(extent, np.float32))

    def fails():
        with pytest.raises(NncError, match="node 'flat'"):
            call(2047, 512)
        with pytest.raises(NncError, match="node 'y'"):
            call(2048, 3)

    assert call(2048, 512).shape == (2048, 512)
    fails()
    before = bytes_in_use()
    for _ in range(5):
        fails()
    assert bytes_in_use() - before < 1 << 20


# -- parallel loops, nested calls, and functions without an entry ------------------------------------

PARALLEL = """
func.func private @kernel(%n: index, %m: memref<64xi64>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  scf.parallel (%i) = (%c0) to (%c64) step (%c1) {
    %x = memref.load %m[%i] : memref<64xi64>
    %zero = arith.constant 0 : i64
    %positive = arith.cmpi sge, %x, %zero : i64
    cf.assert %positive, "a number is negative"
    %size = arith.index_cast %x : i64 to index
    %t = memref.alloc(%size) : memref<?xi64>
    %some = arith.cmpi sgt, %size, %c0 : index
    scf.if %some {
      %last = arith.subi %size, %c1 : index
      memref.store %x, %t[%c0] : memref<?xi64>
      memref.store %x, %t[%last] : memref<?xi64>
      %same = memref.load %t[%c0] : memref<?xi64>
      memref.store %same, %m[%i] : memref<64xi64>
    }
    memref.dealloc %t : memref<?xi64>
    scf.reduce
  }
  return
}
func.func @main(%m: memref<64xi64>, %out: memref<1xi64>) attributes {
    nn.entry, nn.inputs = [tensor<64xi64>], nn.outputs = [tensor<1xi64>]} {
  %c0 = arith.constant 0 : index
  %x = memref.load %m[%c0] : memref<64xi64>
  %seven = arith.constant 7 : i64
  %fine = arith.cmpi ne, %x, %seven : i64
  cf.assert %fine, "seven"
  func.call @kernel(%c0, %m) : (index, memref<64xi64>) -> ()
  memref.store %x, %out[%c0] : memref<1xi64>
  return
}
"""


@pytest.mark.parametrize("threads", [1, 3])
def test_checks_in_parallel_loops(threads):
    run = nnc.compile(parse_module(PARALLEL, "m.mlir"), threads=threads)
    numbers = np.arange(64) % 5
    assert run(numbers) == 0
    for place, value, text in (
        (63, -1, "a number is negative"),
        (0, -9, "a number is negative"),
        (40, 2**62, "there is not enough memory for a tensor<[?]xi64>"),
        (0, 7, "seven"),
    ):
        wrong = numbers.copy()
        wrong[place] = value
        for _ in range(3):
            with pytest.raises(NncError, match=rf"line \d+, column \d+: {text}"):
                run(wrong)
        assert run(numbers) == 0


def test_a_loop_that_fails_midway_leaves_nothing():
    text = """
func.func @main(%m: memref<64xi64>, %out: memref<1xi64>) attributes {
    nn.entry, nn.inputs = [tensor<64xi64>], nn.outputs = [tensor<1xi64>]} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %size = arith.constant 1000000 : index
  %zero = arith.constant 0 : i64
  scf.for %i = %c0 to %c64 step %c1 {
    %x = memref.load %m[%i] : memref<64xi64>
    %t = memref.alloc(%size) : memref<?xi64>
    memref.store %x, %t[%c0] : memref<?xi64>
    %positive = arith.cmpi sge, %x, %zero : i64
    cf.assert %positive, "a number is negative"
    memref.dealloc %t : memref<?xi64>
  }
  memref.store %zero, %out[%c0] : memref<1xi64>
  return
}
"""
    run = nnc.compile(parse_module(text, "m.mlir"))
    assert run(np.arange(64)) == 0

    def fails():
        with pytest.raises(NncError, match="a number is negative"):
            run(np.where(np.arange(64) == 40, -1, 1))

    fails()
    before = bytes_in_use()
    for _ in range(5):
        fails()
    assert bytes_in_use() - before < 1 << 20


# -- the library -----------------------------------------------------------------------------------

MAIN = r"""
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "model.h"

int main(void) {
    nnc_context *context;
    if (nnc_create(&context, NULL, 1)) return 2;
    float x[3] = {1, 2, 3};
    int64_t bad[][2] = {{-1, 3}, {(int64_t)1 << 40, (int64_t)1 << 40}, {2, 4}}, good[2] = {2, 1};
    int64_t shape[2] = {5, 5};
    nnc_tensor inputs[2] = {{x, NULL}, {NULL, NULL}}, output = {x, shape};
    for (int i = 0; i < 3; i++) {
        inputs[1].data = bad[i];
        const int32_t status = nnc_call(context, inputs, &output);
        if (status < NNC_FIRST_FAILURE) return 3;
        if (output.data != x || shape[0] != 5) return 4;
        if (strcmp(nnc_message(status), nnc_failure(status))) return 5;
        puts(nnc_message(status));
    }
    inputs[1].data = good;
    if (nnc_call(context, inputs, &output)) return 6;
    const float *y = output.data;
    printf("%d x %d, %g %g\n", (int)shape[0], (int)shape[1], y[0], y[5]);
    free(output.data);
    if (nnc_failure(0) || nnc_failure(NNC_FIRST_FAILURE - 1) || nnc_failure(1000)) return 7;
    puts(nnc_message(1000));
    nnc_destroy(context);
    return 0;
}
"""


@pytest.mark.sampled(2)
@pytest.mark.parametrize("targets", [["host"], runnable("x86-64", "x86-64-v2")])
def test_library_says_what_failed_and_leaks_nothing(targets: list[str], tmp_path: Path):
    """For one target as for several levels."""
    if not targets:
        pytest.skip("the levels are those of x86")
    onnx.save(MODELS["expand"], tmp_path / "m.onnx")
    arguments = ["compile", str(tmp_path / "m.onnx"), "--quiet", "-o", str(tmp_path / "model.so")]
    arguments += ["--target", ",".join(targets)]
    assert nnc_tool.main(arguments) == 0
    (tmp_path / "main.c").write_text(MAIN)
    build = ["cc", "-std=c11", "-Wall", "-Wextra", "-Werror", "-fsanitize=address"]
    subprocess.run([*build, "main.c", "./model.so", "-o", "main"], cwd=tmp_path, check=True)
    done = subprocess.run(["./main"], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    start = "node 'y' (Expand): "
    assert done.stdout.splitlines() == [
        f"{start}an extent is negative",
        f"{start}its operand does not fit extent 1 of the shape",
        f"{start}its operand does not fit extent 1 of the shape",
        "2 x 3, 1 3",
        "unknown status",
    ]
    about = json.loads((tmp_path / "model.json").read_text())["failures"]
    assert [one["status"] for one in about] == [FIRST_FAILURE + i for i in range(len(about))]
    assert f"{start}{LARGE}<?x3xf32>" in [one["message"] for one in about]


def test_command_line_names_the_model(tmp_path: Path, capsys):
    onnx.save(MODELS["expand"], tmp_path / "m.onnx")
    files = []
    for name, array in (("x", floats(1, 3)), ("s", ints(-1, 3))):
        np.save(tmp_path / f"{name}.npy", array)
        files += ["--input", f"{name}={tmp_path}/{name}.npy"]
    arguments = ["run", str(tmp_path / "m.onnx"), "--quiet", *files]
    assert nnc_tool.main(arguments) == 1
    said = capsys.readouterr().err
    assert said == (
        f"{tmp_path}/m.onnx: error: node 'y' (Expand): an extent is negative\n"
        "note: input 's' is [-1, 3]\n"
    )
