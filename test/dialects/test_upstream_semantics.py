"""Atomic accesses, transfers, parallel loops, gathering and layout changes against NumPy."""

import numpy as np
import pytest
from nnc.dialects.memref.atomics import ATOMIC_KINDS
from nnc.ir.syntax.parser import parse_module
from nnc.numerics.interpreter import Interpreter

RNG = np.random.default_rng(3)


def call(text: str, *arguments):
    module = parse_module(text)
    module.verify()
    return Interpreter(module).call("f", list(arguments))


REDUCED = {
    "addf": np.add, "mulf": np.multiply, "maximumf": np.maximum, "minimumf": np.minimum,
    "addi": np.add, "muli": np.multiply, "maxs": np.maximum, "mins": np.minimum,
    "andi": np.bitwise_and, "ori": np.bitwise_or, "xori": np.bitwise_xor,
}  # fmt: skip


@pytest.mark.parametrize("kind", REDUCED)
def test_parallel_reductions_and_atomics(kind):
    """A parallel loop's reduction, and the same done to an element in memory."""
    is_float = kind.endswith("f")
    type = "f32" if is_float else "i32"
    values = RNG.integers(-9, 9, 6).astype(np.float32 if is_float else np.int32)
    (found,) = call(
        f"func.func @f(%m: memref<6x{type}>) -> {type} {{\n"
        f'%0 = affine.parallel (%i) = (0) to (6) reduce ("{kind}") -> ({type}) {{\n'
        f"%1 = affine.load %m[%i] : memref<6x{type}>\naffine.yield %1 : {type}\n}}\n"
        f"return %0 : {type}\n}}",
        values,
    )
    assert found == REDUCED[kind].reduce(values)
    memory = values.copy()
    (old,) = call(
        f"func.func @f(%m: memref<6x{type}>, %x: {type}) -> {type} {{\n"
        "%c = arith.constant 2 : index\n"
        f"%0 = memref.atomic_rmw {kind} %x, %m[%c] : ({type}, memref<6x{type}>) -> {type}\n"
        f"return %0 : {type}\n}}",
        memory,
        values[0],
    )
    assert old == values[2]
    assert memory[2] == REDUCED[kind](values[2], values[0])
    assert kind in ATOMIC_KINDS


def test_generic_atomic():
    memory = np.array([1.0, 2.0, 3.0], np.float32)
    (new,) = call(
        """func.func @f(%m: memref<3xf32>, %i: index) -> f32 {
          %0 = memref.generic_atomic_rmw %m[%i] : memref<3xf32> {
          ^bb0(%old: f32):
            %1 = arith.mulf %old, %old : f32
            memref.atomic_yield %1 : f32
          }
          return %0 : f32
        }""",
        memory,
        np.int64(2),
    )
    assert new == 9.0
    np.testing.assert_array_equal(memory, [1.0, 2.0, 9.0])


def test_transfers():
    source, target = np.arange(24, dtype=np.float32).reshape(4, 6), np.zeros(10, np.float32)
    call(
        """func.func @f(%s: memref<4x6xf32>, %d: memref<10xf32>, %t: memref<1xi32>) {
          %c0 = arith.constant 0 : index
          %c1 = arith.constant 1 : index
          %c2 = arith.constant 2 : index
          %c4 = arith.constant 4 : index
          %c6 = arith.constant 6 : index
          affine.dma_start %s[%c1, %c1 + 1], %d[%c2], %t[%c0], %c4, %c6, %c2
            : memref<4x6xf32>, memref<10xf32>, memref<1xi32>
          affine.dma_wait %t[%c0], %c4 : memref<1xi32>
          memref.dma_start %s[%c0, %c1], %d[%c0], %c2, %t[%c0]
            : memref<4x6xf32>, memref<10xf32>, memref<1xi32>
          memref.dma_wait %t[%c0], %c2 : memref<1xi32>
          return
        }""",
        source,
        target,
        np.zeros(1, np.int32),
    )
    np.testing.assert_array_equal(target, [1, 2, 8, 9, 14, 15, 0, 0, 0, 0])


def test_gather_and_scatter():
    source = RNG.standard_normal((3, 4, 5)).astype(np.float32)
    indices = np.array([[2], [0]], np.int64)
    (found,) = call(
        """func.func @f(%s: tensor<3x4x5xf32>, %i: tensor<2x1xindex>) -> tensor<2x3x5xf32> {
          %0 = tensor.gather %s[%i] gather_dims([1])
            : (tensor<3x4x5xf32>, tensor<2x1xindex>) -> tensor<2x3x5xf32>
          return %0 : tensor<2x3x5xf32>
        }""",
        source,
        indices,
    )
    np.testing.assert_array_equal(found, np.moveaxis(source[:, [2, 0]], 1, 0))
    (back,) = call(
        """func.func @f(%p: tensor<2x3x5xf32>, %d: tensor<3x4x5xf32>, %i: tensor<2x1xindex>)
            -> tensor<3x4x5xf32> {
          %0 = tensor.scatter %p into %d[%i] scatter_dims([1]) unique
            : (tensor<2x3x5xf32>, tensor<3x4x5xf32>, tensor<2x1xindex>) -> tensor<3x4x5xf32>
          return %0 : tensor<3x4x5xf32>
        }""",
        found,
        np.zeros_like(source),
        indices,
    )
    kept = np.zeros_like(source)
    kept[:, [2, 0]] = source[:, [2, 0]]
    np.testing.assert_array_equal(back, kept)


def test_pack_and_unpack():
    source = RNG.standard_normal((10, 8)).astype(np.float32)
    packed, back = call(
        """func.func @f(%a: tensor<10x8xf32>, %b: tensor<2x3x4x4xf32>, %p: f32)
            -> (tensor<2x3x4x4xf32>, tensor<10x8xf32>) {
          %0 = linalg.pack %a padding_value(%p : f32) outer_dims_perm = [1, 0]
            inner_dims_pos = [1, 0] inner_tiles = [4, 4] into %b
            : tensor<10x8xf32> -> tensor<2x3x4x4xf32>
          %1 = linalg.unpack %0 outer_dims_perm = [1, 0] inner_dims_pos = [1, 0]
            inner_tiles = [4, 4] into %a : tensor<2x3x4x4xf32> -> tensor<10x8xf32>
          return %0, %1 : tensor<2x3x4x4xf32>, tensor<10x8xf32>
        }""",
        source,
        np.zeros((2, 3, 4, 4), np.float32),
        np.float32(7),
    )
    padded = np.pad(source, ((0, 2), (0, 0)), constant_values=7)
    np.testing.assert_array_equal(packed, padded.reshape(3, 4, 2, 4).transpose(2, 0, 3, 1))
    np.testing.assert_array_equal(back, source)


def test_softmax():
    x = RNG.standard_normal((3, 5)).astype(np.float32) * 50
    (found,) = call(
        """func.func @f(%a: tensor<3x5xf32>) -> tensor<3x5xf32> {
          %0 = linalg.softmax dimension(1) ins(%a : tensor<3x5xf32>) outs(%a : tensor<3x5xf32>)
            -> tensor<3x5xf32>
          return %0 : tensor<3x5xf32>
        }""",
        x,
    )
    powers = np.exp(x.astype(np.float64) - x.max(1, keepdims=True))
    np.testing.assert_allclose(found, powers / powers.sum(1, keepdims=True), rtol=1e-6, atol=1e-30)
