"""What cannot be LLVM IR, linked, called or interpreted; calls of the library itself."""

import io
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import nnc
import numpy as np
import pytest
from nnc.dialects.func import FuncOp
from nnc.driver import cache
from nnc.driver.weights import fill_weights
from nnc.ir.diagnostics import NncError
from nnc.ir.syntax.parser import parse_module, parse_type
from nnc.ir.types import FunctionType
from nnc.numerics.buffer_functions import BufferFunctions
from nnc.numerics.checking.inputs import Attempt, Sample
from nnc.numerics.checking.subjects import Convention, Subject
from nnc.numerics.interpreter import Interpreter
from nnc.numerics.native_functions import NativeFunctions
from nnc.targets.base import host
from nnc.targets.linker import Toolchain
from nnc.targets.llvm import library
from nnc.targets.llvm.constants import float_text
from nnc.targets.llvm.ir import llvm_ir
from nnc.targets.llvm.native import llvm_machine
from nnc.tools import nnc as nnc_tool
from nnc.tools.command import Streams

TO_TEXT = [
    ("llvm.func @f(f8E5M2)", "LLVM IR has no type f8E5M2"),
    (
        "llvm.func @f(%a: vector<[4]xf32>) { llvm.return }",
        r"LLVM IR has no type vector<\[4\]xf32>",
    ),
    (
        'llvm.mlir.global external @g([1, "a"]) : i32',
        "a list is not a constant of type i32",
    ),
    (
        "llvm.mlir.global external @g(affine_map<() -> ()>) : i32",
        "is not a constant that LLVM IR can hold",
    ),
    (
        "llvm.func @f() { %a = llvm.mlir.constant(unit) : i32 llvm.return }",
        "is not a constant that LLVM IR can hold",
    ),
    (
        "llvm.mlir.global external @g() : i32 {\n%a = llvm.mlir.constant(1 : i32) : i32\n"
        "%b = llvm.add %a, %a : i32\nllvm.return %b : i32 }",
        "its region must return one constant",
    ),
    (
        "llvm.func @f(%p: !llvm.ptr, %m: vector<2xi1>) {\n%a = llvm.mlir.undef : vector<2x2xi32>\n"
        '"llvm.intr.masked.store"(%a, %p, %m) {alignment = 4 : i32} : '
        "(vector<2x2xi32>, !llvm.ptr, vector<2xi1>) -> ()\nllvm.return }",
        "no LLVM intrinsic is overloaded on vector<2x2xi32>",
    ),
    (
        "llvm.func @f() {\nllvm.br ^a\n^a(%x: i32):\nllvm.return }",
        "a branch gives 0 of 1 arguments",
    ),
]


@pytest.mark.parametrize(("text", "message"), TO_TEXT, ids=[message for _, message in TO_TEXT])
def test_translation(text: str, message: str) -> None:
    with pytest.raises(NncError, match=message) as caught:
        llvm_ir(parse_module(text, "f.mlir"))
    assert caught.value.location is not None


def test_a_float_that_llvm_lacks() -> None:
    with pytest.raises(NncError, match="LLVM IR has no constant of type f8E5M2"):
        float_text(1.0, "f8E5M2")


# -- running ---------------------------------------------------------------------------------------

INTERPRETED = [
    ("func.func @f() { %a = arith.constant 1 : i32 }", "the block has no terminator to go on from"),
    (
        "func.func @f() {\nfunc.call @g() : () -> ()\nreturn }",
        "there is no function '@g' to call",
    ),
]


@pytest.mark.parametrize(("text", "message"), INTERPRETED, ids=[row[1] for row in INTERPRETED])
def test_interpreting(text: str, message: str) -> None:
    with pytest.raises(NncError, match=message) as caught:
        Interpreter(parse_module(text, "f.mlir")).call("f", [])
    assert caught.value.location is not None


def _weights(entry: str) -> None:
    module = parse_module(f"module attributes {{nn.weights = {{w = {entry}}}}} {{}}")
    fill_weights(module, np.zeros(64, np.uint8))


def _calls(text: str, name: str) -> None:
    NativeFunctions(parse_module(text), [name])


def _convention(text: str, was: str) -> None:
    function = next(iter(parse_module(text).body_block))
    assert isinstance(function, FuncOp)
    was_type = parse_type(was)
    assert isinstance(was_type, FunctionType)
    Convention.of(Subject("f", was_type), function)


def _buffers(names: list[str] | None, arguments: list[Any]) -> None:
    module = parse_module("func.func @f(%a: memref<2xf32>) { return }")
    BufferFunctions(module, names).call("f", arguments)


CALLS: list[tuple[Callable[[], object], str]] = [
    (lambda: _weights("{data = dense<1.0> : tensor<2xf32>}"), "'w' has no offset"),
    (lambda: _weights("{offset = 0 : i64}"), "'w' has no data"),
    (
        lambda: _calls("llvm.func @f(%a: i32, ...) { llvm.return }", "f"),
        "takes a variable number of arguments and cannot be called",
    ),
    (
        lambda: _calls("llvm.func @f(%a: !llvm.token) { llvm.return }", "f"),
        "a value of type !llvm.token cannot be passed from outside",
    ),
    (lambda: _buffers(["g"], []), "there is no function '@g' to run"),
    (lambda: _buffers(None, []), "'@f' takes 1 arguments, but 0 are given"),
    (lambda: _buffers(None, [3]), r"3 is not an array for a memref<2xf32>"),
    (
        lambda: Toolchain(("no-such-command",), ()).shared_library([], Path("x.so")),
        "cannot run no-such-command: No such file",
    ),
    (
        lambda: Sample((parse_type("tuple<i32>"),), "normal", (0,), Attempt(None, 3)).values(),
        "no inputs of type tuple<i32> can be made",
    ),
    (
        lambda: _convention(
            "func.func @f(%a: memref<4xf32>, %b: memref<?xf32>) { return }",
            "(tensor<4xf32>) -> tensor<?xf32>",
        ),
        "what is an input and what an output is not known",
    ),
    (
        lambda: nnc.compile(parse_module("module {}"), shapes={"x": [1]}),
        "shapes can be given for models of other formats than IR only",
    ),
]


@pytest.mark.parametrize(("call", "message"), CALLS, ids=[message for _, message in CALLS])
def test_call(call: Callable[[], object], message: str) -> None:
    with pytest.raises(NncError, match=message):
        call()


RELU = """
func.func @main(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %y = nn.relu %x : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return %y : tensor<2x3xf32>
}
"""


def test_a_model_that_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    model = nnc.compile(parse_module(RELU))
    monkeypatch.setattr(model, "_run", lambda *_: 3)
    with pytest.raises(NncError, match="the compiled model failed with status 3"):
        model(np.zeros((2, 3), np.float32))


def test_weights_that_do_not_fit_inside(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(library, "_INSIDE_LIMIT", -1)
    (tmp_path / "m.mlir").write_text(RELU)
    streams = Streams(io.StringIO(), io.StringIO(), io.StringIO(), tmp_path)
    assert nnc_tool.main(["compile", "m.mlir", "--weights", "inside", "-o", "m.so"], streams) == 1
    assert "MB of weights are too many to put inside" in streams.stderr.getvalue()


def test_a_processor_that_llvm_refuses(monkeypatch: pytest.MonkeyPatch) -> None:
    from llvmlite import binding

    def refused(*_: object, **__: object) -> None:
        raise RuntimeError("no such processor")

    monkeypatch.setattr(binding.Target, "create_target_machine", refused)
    with pytest.raises(NncError, match=r"cannot make code for '.*': no such processor"):
        llvm_machine(host())


def test_a_limit_that_is_no_size(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NNC_CACHE_LIMIT", "much")
    with pytest.raises(NncError, match="is a size such as 500M, 8G or 0, not 'much'"):
        cache.limit()


@pytest.mark.parametrize(("name", "word"), [("stdin", "input"), ("stdout", "output")])
def test_a_closed_stream(name: str, word: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, name, None)
    stream = getattr(Streams.standard(), name)
    with pytest.raises(NncError, match=f"standard {word} is closed"):
        stream.read() if name == "stdin" else stream.write("text")


def test_bytes_between_weights_are_zero():
    # They reach the file beside a shipped model, which would else hold what memory held before.
    weights = (
        "a = {offset = 4 : i64, data = dense<-1> : tensor<2xi8>}, "
        "b = {offset = 12 : i64, data = dense<-1> : tensor<3xi8>}"
    )
    buffer = np.full(20, 7, np.uint8)
    fill_weights(parse_module(f"module attributes {{nn.weights = {{{weights}}}}} {{}}"), buffer)
    assert [*buffer.nonzero()[0]] == [4, 5, 12, 13, 14]
