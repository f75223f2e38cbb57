"""What cannot be lowered to the llvm dialect or translated to LLVM IR: a body, the message."""

import pytest
from nnc.ir.diagnostics import NncError
from nnc.ir.passes import PassManager
from nnc.ir.syntax.parser import parse_module
from nnc.lowering.pipelines import pipeline
from nnc.targets.llvm.ir import llvm_ir

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
        "arguments and results of an entry function must be memrefs",
    ),
    (
        "(%a: memref<4xf32>) attributes {nn.entry} { return }",
        "an entry function needs 'nn.inputs' and 'nn.outputs'",
    ),
    (
        "(%a: memref<4xf32, strided<[2]>>) "
        "attributes {nn.entry, nn.inputs = [tensor<4xf32>], nn.outputs = [], "
        'nn.input_names = ["a"], nn.output_names = []} { return }',
        "an entry function takes contiguous memrefs",
    ),
    (
        "(%a: memref<4xf32>) attributes {nn.entry, nn.inputs = [], nn.outputs = [], "
        "nn.input_names = [], nn.output_names = []} { return }",
        "with 0 inputs and 0 outputs of static shape takes 0 memrefs, not 1",
    ),
    (
        "(%a: f8E5M2) { %b = arith.extf %a : f8E5M2 to f32 return }",
        "there is no conversion of f8E5M2",
    ),
    ("() {\ncf.br ^a\n^a:\n}", "a block has no terminator"),
    (
        '() { %a = "arith.constant"() {value = #t.v} : () -> vector<2xf32> return }',
        "is not a vector constant",
    ),
    (
        "() { return }\nfunc.func @aligned_alloc(%a: i64) {\n"
        "%m = memref.alloc() : memref<4xf32>\nreturn }",
        "'aligned_alloc' is a C function that the code needs",
    ),
    (
        "(%m: memref<2x?xf32>) {\n"
        '%v = "memref.subview"(%m) {operandSegmentSizes = array<i32: 1, 0, 0, 0>, '
        "static_offsets = array<i64: 0, 0>, static_sizes = array<i64: 3, 2>, "
        "static_strides = array<i64: 1, 1>} : (memref<2x?xf32>) -> "
        "memref<7xf32, strided<[1]>>\nreturn }",
        "cannot tell which dimensions .* drops",
    ),
    (
        "(%m: memref<4xf32>, %s: memref<?xindex>) {\n"
        "%r = memref.reshape %m(%s) : (memref<4xf32>, memref<?xindex>) -> memref<*xf32>\nreturn }",
        "unranked memrefs have no form in the llvm dialect",
    ),
    (
        "(%b: memref<64xi8>, %i: index, %p: vector<2xf32>) {\n"
        "%m = memref.view %b[%i][] : memref<64xi8> to memref<4xvector<2xf32>>\n"
        "%r = vector.transfer_read %m[%i], %p : memref<4xvector<2xf32>>, vector<4x2xf32>\nreturn }",
        "elements of type vector<2xf32> cannot be in memory",
    ),
    ("(%a: f8E5M2) { %b = arith.addf %a, %a : f8E5M2 return }", "there is no arithmetic on f8E5M2"),
]


@pytest.mark.parametrize(("body", "message"), TO_LLVM, ids=[body[:60] for body, _ in TO_LLVM])
def test_lowering(body: str, message: str) -> None:
    module = parse_module(f"func.func @f{body}", "f.mlir", allow_unregistered=True)
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


# pass; type of the operand; type of the result; op; its attributes; message
GRAPHS = [
    (
        "lower-to-linalg",
        "tensor<4xf32>",
        "tensor<?xi64>",
        "shape_of",
        "",
        "the extents of a tensor<.xi64> are not known",
    ),
    (
        "lower-to-linalg",
        "tensor<4xi32>",
        "tensor<4xi32>",
        "exp",
        "",
        "'nn.exp' op needs floats, but got 'i32' .for 'exp'.",
    ),
    (
        "lower-to-linalg",
        "tensor<4xf32>",
        "tensor<4xf32>",
        "not",
        "",
        "'not' is not defined for f32",
    ),
    (
        "lower-to-linalg",
        "tensor<4xcomplex<f32>>",
        "tensor<4xf32>",
        "cast",
        "",
        "there is no conversion from complex<f32> to f32",
    ),
]


@pytest.mark.parametrize("case", GRAPHS, ids=[case[-1] for case in GRAPHS])
def test_graph(case: tuple[str, ...]) -> None:
    name, operand, result, op, attributes, message = case
    text = f"""func.func @f(%x: {operand}) -> {result} {{
      %y = nn.{op} %x {attributes} : ({operand}) -> {result}
      return %y : {result}
    }}"""
    with pytest.raises(NncError, match=message) as caught:
        PassManager(pipeline(f"builtin.module({name})")).run(parse_module(text, "f.mlir"))
    assert caught.value.location is not None


def test_shapes_that_turn_out_to_differ() -> None:
    text = """func.func @f(%x: tensor<3xf32>, %y: tensor<4xf32>) -> tensor<?xf32> {
      %a = nn.relu %x : (tensor<3xf32>) -> tensor<?xf32>
      %b = nn.add %a, %y : (tensor<?xf32>, tensor<4xf32>) -> tensor<?xf32>
      return %b : tensor<?xf32>
    }"""
    module = parse_module(text, "f.mlir")
    module.verify()
    with pytest.raises(NncError, match=r"'nn\.add' op dimension 'i0': lhs has 3 but rhs has 4"):
        PassManager(pipeline("builtin.module(infer-shapes)")).run(module)
