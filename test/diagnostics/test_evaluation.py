"""What running says of values that an operation cannot take: a function, its inputs, the message."""

import re

import numpy as np
import pytest
from nnc.ir.diagnostics import NncError
from nnc.ir.syntax.parser import parse_module
from nnc.numerics.interpreter import Interpreter


def floats(*shape):
    return np.zeros(shape, np.float32)


def generic(maps: str, body: str = "linalg.yield %x : f32") -> str:
    """Elements of %m, of unknown size, into %b."""
    dims = maps.partition(" ->")[0]
    kinds = ", ".join(['"parallel"'] * (dims.count("d")))
    return (
        "(%m: memref<?xf32>, %b: memref<4xf32>) { linalg.generic {indexing_maps = "
        f"[affine_map<{maps}>, affine_map<{dims} -> (d0)>], iterator_types = [{kinds}]}} "
        "ins(%m: memref<?xf32>) outs(%b : memref<4xf32>) "
        f"{{ ^bb0(%x: f32, %y: f32): {body} }} return }}"
    )


def unary(op: str, source: str, target: str, extra: str = "%i: index") -> str:
    """A function that returns what `op` makes of %m."""
    return f"(%m: {source}, {extra}) -> {target} {{ %0 = {op} return %0 : {target} }}"


CASES = {
    "elements of a dialect": (
        '() -> tensor<2xf32> { %0 = arith.constant #foreign<"x"> : tensor<2xf32> '
        "return %0 : tensor<2xf32> }",
        (),
        "the elements of dialect 'foreign' are not known",
    ),
    "one value as two": (
        "(%x: i64) -> i32 { %0:2 = builtin.unrealized_conversion_cast %x : i64 to i32, i32 "
        "return %0#0 : i32 }",
        (np.int64(1),),
        "a cast between different numbers of values has no reference semantics",
    ),
    "extents that differ": (
        generic("(d0) -> (d0)"),
        (floats(3), floats(4)),
        "'linalg.generic': dimension d0 has extents 3 and 4",
    ),
    "a window outside": (
        generic("(d0) -> (d0 + 2)"),
        (floats(4), floats(4)),
        "'linalg.generic': indices 2 to 5 of a dimension of size 4",
    ),
    "gathering outside": (
        generic("(d0) -> (d0 floordiv 2)"),
        (floats(1), floats(4)),
        "'linalg.generic': an index of dimension 0 is out of bounds for size 1",
    ),
    "0 to a negative power": (
        "(%x: i32, %p: i32) -> i32 { %0 = math.ipowi %x, %p : i32 return %0 : i32 }",
        (np.int32(0), np.int32(-1)),
        "'math.ipowi' op raises zero to a negative power",
    ),
    "a copy of another size": (
        "(%m: memref<?xf32>, %b: memref<?xf32>) { "
        "memref.copy %m, %b : memref<?xf32> to memref<?xf32> return }",
        (floats(1), floats(4)),
        "'memref.copy': source of shape (1,), target of (4,)",
    ),
    "a memref's dimension": (
        unary("memref.dim %m, %i : memref<?xf32>", "memref<?xf32>", "index"),
        (floats(1), np.int64(4)),
        "'memref.dim': no dimension 4 in rank 1",
    ),
    "a memref of another size": (
        unary("memref.cast %m : memref<?xf32> to memref<4xf32>", "memref<?xf32>", "memref<4xf32>"),
        (floats(1), np.int64(0)),
        "'memref.cast': (1,) is not of type memref<4xf32>",
    ),
    "collapsing what is not contiguous": (
        unary(
            "memref.collapse_shape %m [[0, 1]] : memref<?x?xf32> into memref<?xf32>",
            "memref<?x?xf32>",
            "memref<?xf32>",
        ),
        (floats(4, 4)[:2, :2], np.int64(0)),
        "'memref.collapse_shape': (2, 2) with strides [4, 1] is not a view of [4]",
    ),
    "a transfer of too much": (
        "(%m: memref<4xf32>, %t: memref<1xi32>, %i: index, %n: index) { memref.dma_start %m[%i], "
        "%m[%i], %n, %t[%i] : memref<4xf32>, memref<4xf32>, memref<1xi32> return }",
        (floats(4), np.zeros(1, np.int32), np.int64(0), np.int64(9)),
        "'memref.dma_start': 9 elements are more than the memref holds",
    ),
    "a view past the end": (
        unary(
            "memref.view %m[%i][] : memref<16xi8> to memref<4xf32>",
            "memref<16xi8>",
            "memref<4xf32>",
        ),
        (np.zeros(16, np.int8), np.int64(4)),
        "'memref.view': bytes 4 to 20 of a buffer of 16",
    ),
    "a memref's element": (
        unary("memref.load %m[%i] : memref<?xf32>", "memref<?xf32>", "f32"),
        (floats(4), np.int64(-1)),
        "'memref.load': index -1 of dimension 0 is out of bounds for size 4",
    ),
    "a part of a memref": (
        unary(
            "memref.subview %m[3] [2] [1] : memref<?xf32> to memref<2xf32, strided<[1], offset: 3>>",
            "memref<?xf32>",
            "memref<2xf32, strided<[1], offset: 3>>",
        ),
        (floats(4), np.int64(0)),
        "'memref.subview': offset 3, size 2, stride 1 do not fit dimension 0 of size 4",
    ),
    "a larger memref": (
        unary(
            "memref.reinterpret_cast %m to offset: [0], sizes: [8], strides: [1] : "
            "memref<4xf32> to memref<8xf32>",
            "memref<4xf32>",
            "memref<8xf32>",
        ),
        (floats(4), np.int64(0)),
        "'memref.reinterpret_cast': the view exceeds the buffer",
    ),
    "a range in steps of 0": (
        "(%a: tensor<i64>) -> tensor<?xi64> { %0 = nn.range %a, %a, %a : "
        "(tensor<i64>, tensor<i64>, tensor<i64>) -> tensor<?xi64> return %0 : tensor<?xi64> }",
        (np.array(0),),
        "'nn.range' op delta must not be 0",
    ),
    "parts of another sum": (
        "(%a: tensor<?xf32>) -> tensor<2xf32> { %0:2 = nn.split %a {axis = 0 : i64} : "
        "(tensor<?xf32>) -> (tensor<2xf32>, tensor<3xf32>) return %0#0 : tensor<2xf32> }",
        (floats(4),),
        "'nn.split' op cannot split 4 elements into [2, 3]",
    ),
    "a slice in steps of 0": (
        "(%a: tensor<?xf32>, %s: tensor<1xi64>) -> tensor<?xf32> { %0 = nn.slice_dynamic "
        "%a, %s, %s, %s, %s : (tensor<?xf32>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>, "
        "tensor<1xi64>) -> tensor<?xf32> return %0 : tensor<?xf32> }",
        (floats(4), np.array([0])),
        "steps must not be 0",
    ),
    "more than there are": (
        "(%a: tensor<4xf32>, %k: tensor<1xi64>) -> tensor<?xf32> { %0:2 = nn.top_k %a, %k "
        "{axis = 0 : i64} : (tensor<4xf32>, tensor<1xi64>) -> (tensor<?xf32>, tensor<?xi64>) "
        "return %0#0 : tensor<?xf32> }",
        (floats(4), np.array([9])),
        "'nn.top_k' op k is 9, but axis 0 has 4 elements",
    ),
    "a loop in steps of 0": (
        "(%i: index) { scf.parallel (%a) = (%i) to (%i) step (%i) { scf.reduce } return }",
        (np.int64(0),),
        "the loop runs with steps [0]",
    ),
    "a tensor of another size": (
        unary("tensor.cast %m : tensor<?xf32> to tensor<4xf32>", "tensor<?xf32>", "tensor<4xf32>"),
        (floats(1), np.int64(0)),
        "'tensor.cast': a tensor of shape (1,) does not fit tensor<4xf32>",
    ),
    "a tensor's dimension": (
        unary("tensor.dim %m, %i : tensor<?xf32>", "tensor<?xf32>", "index"),
        (floats(1), np.int64(4)),
        "'tensor.dim': no dimension 4 in rank 1",
    ),
    "a tensor's element": (
        unary("tensor.extract %m[%i] : tensor<?xf32>", "tensor<?xf32>", "f32"),
        (floats(1), np.int64(4)),
        "'tensor.extract': index 4 of dimension 0 is out of bounds for size 1",
    ),
    "a slice outside": (
        unary(
            "tensor.extract_slice %m[%i] [2] [1] : tensor<?xf32> to tensor<2xf32>",
            "tensor<?xf32>",
            "tensor<2xf32>",
        ),
        (floats(4), np.int64(3)),
        "'tensor.extract_slice': offset 3, size 2, stride 1 do not fit dimension 0 of size 4",
    ),
    "rows outside": (
        unary(
            "tensor.gather %m[%i] gather_dims([0]) : "
            "(tensor<4xf32>, tensor<2x1xindex>) -> tensor<2x1xf32>",
            "tensor<4xf32>",
            "tensor<2x1xf32>",
            "%i: tensor<2x1xindex>",
        ),
        (floats(4), np.array([[0], [4]])),
        "'tensor.gather': an index of dimension 0 is out of bounds for size 4",
    ),
    "a vector's element": (
        unary("vector.extract %m[%i] : f32 from vector<4xf32>", "vector<4xf32>", "f32"),
        (floats(4), np.int64(4)),
        "'vector.extract': position 4 is out of bounds for 4",
    ),
    "a vector of more dimensions": (
        unary(
            "vector.maskedload %m[%i], %k, %w : memref<4xf32>, vector<1x2xi1>, vector<1x2xf32> "
            "into vector<1x2xf32>",
            "memref<4xf32>",
            "vector<1x2xf32>",
            "%i: index, %k: vector<1x2xi1>, %w: vector<1x2xf32>",
        ),
        (floats(4), np.int64(0), np.ones((1, 2), np.bool_), floats(1, 2)),
        "'vector.maskedload': the memory has a lower rank than the vector",
    ),
    "a vector past the end": (
        unary(
            "vector.load %m[%i] : memref<4xf32>, vector<2xf32>", "memref<4xf32>", "vector<2xf32>"
        ),
        (floats(4), np.int64(3)),
        "'vector.load': out of bounds in dimension 0 of size 4",
    ),
    "a transfer said to be in bounds": (
        unary(
            "vector.transfer_read %m[%i], %x {in_bounds = [true]} : memref<4xf32>, vector<2xf32>",
            "memref<4xf32>",
            "vector<2xf32>",
            "%i: index, %x: f32",
        ),
        (floats(4), np.int64(3), np.float32(0)),
        "'vector.transfer_read': an access said to be in bounds is not",
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_message(name: str) -> None:
    text, inputs, message = CASES[name]
    module = parse_module(f"func.func @f{text}", allow_unregistered=True)
    module.verify()
    with pytest.raises(NncError, match=re.escape(message)) as caught:
        Interpreter(module).call("f", list(inputs))
    assert caught.value.location is not None
