"""Functions of the llvm dialect called with any types; work in a process of its own."""

import os
import tempfile
import time
from pathlib import Path

import numpy as np
import pytest
from nnc.ir.diagnostics import NncError
from nnc.ir.syntax.parser import parse_module
from nnc.numerics.isolated import run_isolated
from nnc.numerics.native_functions import NativeFunctions

IDENTITIES = {
    "i1": True,
    "i4": -8,
    "i8": -128,
    "i24": -5,
    "i64": -(2**63),
    "i128": 2**100 + 3,
    "f16": np.float16(1.5),
    "f32": np.float32(-0.0),
    "f64": 0.1,
    "!llvm.ptr": 0x1234567890,
    "vector<4xf32>": np.arange(4, dtype=np.float32),
    "vector<16xi1>": np.arange(16) % 3 == 0,
    "vector<3xi16>": np.array([1, -2, 3], np.int16),
    "!llvm.struct<(i32, f64)>": [np.int32(7), 2.5],
    "!llvm.array<2 x i32>": [5, 6],
    "!llvm.struct<(struct<(i8, vector<2xf64>)>, array<2 x f32>)>": [
        [3, np.array([1.0, 2.0])],
        [0.5, 1.5],
    ],
}


def same(a, b) -> bool:
    if isinstance(a, list):
        return len(a) == len(b) and all(same(x, y) for x, y in zip(a, b, strict=True))
    return np.array_equal(np.asarray(a), np.asarray(b))


@pytest.mark.parametrize("type", IDENTITIES)
def test_values_go_in_and_come_out(type: str) -> None:
    module = parse_module(f"llvm.func @same(%x: {type}) -> {type} {{ llvm.return %x : {type} }}")
    native = NativeFunctions(module)
    (found,) = native.call("same", [IDENTITIES[type]])
    assert same(found, IDENTITIES[type])


def test_memory_and_no_result() -> None:
    module = parse_module("""
      llvm.func internal @set(%p: !llvm.ptr, %v: f32) {
        llvm.store %v, %p : f32, !llvm.ptr
        llvm.return
      }""")
    array = np.zeros(2, np.float32)
    assert NativeFunctions(module, ["set"]).call("set", [array.ctypes.data, 2.5]) == []
    assert array.tolist() == [2.5, 0.0]


def test_faults() -> None:
    module = parse_module("llvm.func @f(%x: vector<2xf32>) { llvm.return }")
    with pytest.raises(NncError, match="there is no function '@g'"):
        NativeFunctions(module, ["g"])
    native = NativeFunctions(module)
    with pytest.raises(NncError, match="takes 1 arguments, but 0 are given"):
        native.call("f", [])
    with pytest.raises(NncError, match="argument 0 of '@f' is not of type vector<2xf32>"):
        native.call("f", [np.zeros(3, np.float32)])


def test_isolated_work_gives_its_value_and_what_it_prints() -> None:
    def work() -> list[int]:
        os.write(1, b"said\n")
        return [1, 2]

    done = run_isolated(work)
    assert done.value == [1, 2] and done.printed == "said\n"


def test_isolated_work_may_fail_in_every_way() -> None:
    def raises() -> None:
        raise NncError("a message")

    def is_defective() -> None:
        raise ValueError("a defect")

    def crashes() -> None:
        import ctypes

        ctypes.string_at(0)

    with pytest.raises(NncError, match="a message"):
        run_isolated(raises)
    with pytest.raises(NncError, match="ValueError: a defect"):
        run_isolated(is_defective)
    with pytest.raises(NncError, match="ended with SIGSEGV"):
        run_isolated(crashes)
    with pytest.raises(NncError, match=r"did not end within 0\.2 s"):
        run_isolated(lambda: time.sleep(30), seconds=0.2)
    with pytest.raises(NncError, match="ended the process with 3"):
        run_isolated(lambda: os._exit(3))


def test_temporary_files_of_isolated_work_are_removed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also where it ends in a way in which nothing of its own is done any more."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))

    def leaves() -> str:
        return tempfile.mkdtemp()

    def hangs() -> None:
        tempfile.mkdtemp()
        time.sleep(30)

    made = Path(run_isolated(leaves).value)
    assert made.is_relative_to(tmp_path)
    with pytest.raises(NncError, match="did not end"):
        run_isolated(hangs, seconds=0.2)
    assert [*tmp_path.iterdir()] == []
