"""What the fuzzer found, made small: each text with the message it gives now, or "" if accepted."""

import io
from pathlib import Path

import pytest
from nnc.tools import nn_opt
from nnc.tools.command import Streams

TEXTS = {
    # The types of results are computed from operands that no constraint has been asked about.
    "inference from a wrong type": (
        '%a = "t.s"() : () -> memref<2xf32>\n'
        "%b = vector.shuffle %a, %a [0] : memref<2xf32>, memref<2xf32>",
        "2:6: error: 'vector.shuffle' op operand #0 must be vector of any type values",
    ),
    "element of a number": (
        '%v, %i = "t.s"() : () -> (i32, i64)\n%x = llvm.extractelement %v[%i : i64] : i32',
        "2:6: error: 'llvm.extractelement' op operand #0 must be",
    ),
    "half of a vector without dimensions": (
        '%a = "t.s"() : () -> vector<f32>\n'
        "%b, %c = vector.deinterleave %a : vector<f32> -> vector<f32>",
        "2:10: error: the type of result 'res2' cannot be inferred",
    ),
    "twice a vector without dimensions": (
        '%a = "t.s"() : () -> vector<f32>\n'
        "%b = vector.interleave %a, %a : vector<f32> -> vector<2xf32>",
        "",
    ),
    "a word among dimensions": (
        '%a, %b = "t.s"() : () -> (tensor<2xf32>, tensor<f32>)\n'
        "%c = linalg.reduce { arith.addf } ins(%a : tensor<2xf32>) outs(%b : tensor<f32>) "
        "dimensions = [true]",
        "2:96: error: expected an integer of type i64, found 'true'",
    ),
    "a word among offsets": (
        '%v = "t.s"() : () -> vector<4xf32>\n'
        "%s = vector.extract_strided_slice %v {offsets = [unit], sizes = [2], strides = [1]} "
        ": vector<4xf32> to vector<2xf32>",
        "attribute 'offsets' failed to satisfy constraint: 64-bit integer array attribute",
    ),
    "nothing in a list": ('"t.u"() {a = dense<[]> : tensor<2xi8>} : () -> ()', "1:26: error: "),
    "a switch on a buffer": (
        '"t.r"() ({\n^a(%x: memref<2xi8>):\n  llvm.switch %x : memref<2xi8>, ^b [\n    2: ^b\n  ]\n'
        '^b:\n  "t.e"() : () -> ()\n}) : () -> ()',
        "error: expected an element of type memref<2xi8>, found '2'",
    ),
    "an index of 64 bits": (
        '"t.u"() {a = dense<0xFFFFFFFFFFFFFFFF> : vector<2xindex>} : () -> ()',
        "",
    ),
}


def run(tmp_path: Path, text: str, *arguments: str) -> tuple[int, str, str]:
    streams = Streams(io.StringIO(text), io.StringIO(), io.StringIO(), tmp_path)
    code = nn_opt.main(["--allow-unregistered-dialect", *arguments], streams)
    return code, streams.stdout.getvalue(), streams.stderr.getvalue()


def check(code: int, said: str, message: str) -> None:
    assert "internal error" not in said
    assert "defect" not in said
    assert code == (1 if message else 0), said
    assert message in said


@pytest.mark.parametrize("name", TEXTS)
def test_text(name: str, tmp_path: Path) -> None:
    text, message = TEXTS[name]
    code, _, said = run(tmp_path, text)
    check(code, said, message)


PIPELINES = {
    # Passes on modules say so, and are skipped on other operations.
    "lower-to-linalg on an op without regions": (
        '%0 = "t.s"() : () -> i32',
        "any(any(lower-to-linalg,choose-schedules,apply-schedules,plan-memory))",
        "",
    ),
    "gather at a single index": (
        "func.func @f(%x: tensor<5x4xf32>, %i: tensor<i64>) -> tensor<4xf32> {\n"
        "  %0 = nn.gather %x, %i : (tensor<5x4xf32>, tensor<i64>) -> tensor<4xf32>\n"
        "  return %0 : tensor<4xf32>\n}",
        "builtin.module(bufferize)",
        "",
    ),
    "gather whose type hides what is known": (
        "func.func @f(%x: tensor<5x4xf32>) -> tensor<5x?xf32> {\n"
        "  %i = nn.constant dense<[1, 2]> : tensor<2xi64>\n"
        "  %0 = nn.gather %x, %i {axis = 1 : i64} : (tensor<5x4xf32>, tensor<2xi64>) "
        "-> tensor<5x?xf32>\n  return %0 : tensor<5x?xf32>\n}",
        "builtin.module(canonicalize,simplify-graph)",
        "",
    ),
    "entry without output names": (
        "func.func private @k(%x: memref<4xf32>) attributes {nn.kernel} { return }\n"
        "func.func @f(%x: memref<4xf32>) attributes {nn.entry} {\n"
        "  call @k(%x) : (memref<4xf32>) -> ()\n  return\n}",
        "builtin.module(instrument-kernels)",
        "2:1: error: an entry function needs the array 'nn.outputs'",
    ),
    "an option below its range": (
        "module {}",
        "builtin.module(choose-layouts{block=-1})",
        "1:16: error: option 'block' is at least 0; found '-1'",
    ),
    "pipelines in pipelines": (
        "module {}",
        "builtin.module(" + "any(" * 3000 + ")" * 3001,
        "error: pipelines are nested too deeply",
    ),
    "inner half of a split outside the outer": (
        "func.func @f(%x: memref<6xf32>, %y: memref<f32>) {\n"
        "  linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> ()>], "
        'iterator_types = ["reduction"]} ins(%x : memref<6xf32>) outs(%y : memref<f32>) {\n'
        "  ^bb0(%a: f32, %b: f32):\n    %s = arith.addf %a, %b : f32\n    linalg.yield %s : f32\n"
        "  }\n  return\n}\n"
        "schedule.for @f {\n^bb0(%s: !schedule.stage):\n  %i = schedule.loops 1 of %s\n"
        "  %o, %p = schedule.split %i by 3\n  schedule.reorder %p, %o\n}",
        "builtin.module(apply-schedules)",
        "",
    ),
    "a parallel loop too long to list": (
        "func.func @f(%x: tensor<99999999999x3xf32>) -> tensor<99999999999x3xf32> {\n"
        "  %0 = nn.exp %x : (tensor<99999999999x3xf32>) -> tensor<99999999999x3xf32>\n"
        "  return %0 : tensor<99999999999x3xf32>\n}",
        "builtin.module(make-kernels,bufferize,schedule,loops)",
        "",
    ),
    "a loop too long to count through": (
        "func.func @f(%x: tensor<2147483648xf32>) -> tensor<1xf32> {\n"
        "  %0 = nn.reduce_sum %x {axes = array<i64: 0>, keep_dims = true} : "
        "(tensor<2147483648xf32>) -> tensor<1xf32>\n  return %0 : tensor<1xf32>\n}",
        "builtin.module(make-kernels,bufferize,schedule,loops)",
        "",
    ),
}


@pytest.mark.parametrize("name", PIPELINES)
def test_pipeline(name: str, tmp_path: Path) -> None:
    text, pipeline, message = PIPELINES[name]
    code, _, said = run(tmp_path, text, f"--pass-pipeline={pipeline}")
    check(code, said, message)
