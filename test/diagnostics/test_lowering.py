"""What cannot be lowered to the llvm dialect or translated to LLVM IR: a body, the message."""

import pytest
from nnc.ir.diagnostics import NncError
from nnc.ir.passes import PassManager
from nnc.ir.syntax.parser import parse_module
from nnc.lowering.pipelines import pipeline
from nnc.targets.llvm_ir import llvm_ir

TO_LLVM = [
    (
        "(%a: f32) { %b = arith.truncf %a upward : f32 to bf16 return }",
        "rounding mode upward is not supported",
    ),
    (
        "() { %a = memref.alloc() : memref<4xf32, strided<[2]>> return }",
        "a new buffer must have a contiguous layout",
    ),
    (
        "(%a: memref<4xf32, affine_map<(d0) -> (d0 mod 2)>>) { return }",
        "is not strided, so it has no form in the llvm dialect",
    ),
    (
        "(%a: memref<4xf32>) {\n%c = arith.constant 5 : index\n"
        "%d = memref.dim %a, %c : memref<4xf32>\nreturn }",
        "there is no dimension 5",
    ),
    (
        "(%a: memref<*xf32>) {\n%b = memref.reinterpret_cast %a to offset: [0], sizes: [4], "
        "strides: [1] : memref<*xf32> to memref<4xf32>\nreturn }",
        "",
    ),
    (
        "(%a: f32) attributes {nn.entry} { return }",
        "an entry function takes and gives memrefs only",
    ),
    (
        "(%a: memref<4xf32>) attributes {nn.entry} { return }",
        "an entry function needs 'nn.inputs' and 'nn.outputs'",
    ),
    ("(%a: f8E5M2) { %b = arith.addf %a, %a : f8E5M2 return }", "there is no arithmetic on f8E5M2"),
]


@pytest.mark.parametrize(("body", "message"), TO_LLVM, ids=[body[:60] for body, _ in TO_LLVM])
def test_lowering(body: str, message: str) -> None:
    module = parse_module(f"func.func @f{body}", "f.mlir")
    module.verify()
    with pytest.raises(NncError, match=message) as caught:
        PassManager(pipeline("builtin.module(lower-to-llvm)")).run(module)
    assert caught.value.location is not None


TO_TEXT = [
    ('llvm.func @f() { "t.u"() : () -> () llvm.return }', "has no translation to LLVM IR"),
    (
        'llvm.func @f(%a: i32 {llvm.odd = "x"}) { llvm.return }',
        "argument attribute 'llvm.odd' has no translation to LLVM IR",
    ),
    (
        "llvm.func @f() attributes {passthrough = [1 : i8]} { llvm.return }",
        "'passthrough' holds 1 : i8, not a string or a pair of them",
    ),
]


@pytest.mark.parametrize(("text", "message"), TO_TEXT, ids=[message for _, message in TO_TEXT])
def test_translation(text: str, message: str) -> None:
    module = parse_module(text, "f.mlir", allow_unregistered=True)
    with pytest.raises(NncError, match=message):
        llvm_ir(module)
