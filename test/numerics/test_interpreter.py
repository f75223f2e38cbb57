"""The reference interpreter: control flow, calls, structured loops, hooks, errors."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from nnc.ir.diagnostics import NncError
from nnc.ir.syntax.parser import parse_module
from nnc.numerics.interpreter import Interpreter


def run(text, *args, function="main", **options):
    module = parse_module(text, "test.mlir", allow_unregistered=True)
    module.verify()
    return Interpreter(module, **options).call(function, args)


GCD = """
func.func @main(%a: i64, %b: i64) -> i64 {
  %zero = arith.constant 0 : i64
  cf.br ^head(%a, %b : i64, i64)
^head(%x: i64, %y: i64):
  %done = arith.cmpi eq, %y, %zero : i64
  cf.cond_br %done, ^exit, ^step
^step:
  %r = arith.remsi %x, %y : i64
  cf.br ^head(%y, %r : i64, i64)
^exit:
  return %x : i64
}
"""


@given(a=st.integers(0, 10**12), b=st.integers(0, 10**12))
def test_branches(a, b):
    (result,) = run(GCD, a, b)
    assert result == math.gcd(a, b)
    assert result.dtype == np.int64


def test_branch_that_swaps_block_arguments():
    text = """
    func.func @main(%n: index, %a: i32, %b: i32) -> (i32, i32) {
      %zero = arith.constant 0 : index
      %one = arith.constant 1 : index
      cf.br ^head(%n, %a, %b : index, i32, i32)
    ^head(%i: index, %x: i32, %y: i32):
      %more = arith.cmpi sgt, %i, %zero : index
      %next = arith.subi %i, %one : index
      cf.cond_br %more, ^head(%next, %y, %x : index, i32, i32), ^exit
    ^exit:
      return %x, %y : i32, i32
    }"""
    assert run(text, 3, 10, 20) == [20, 10]
    assert run(text, 4, 10, 20) == [10, 20]


def test_switch():
    text = """
    func.func @main(%a: i8) -> i32 {
      %x = arith.constant 100 : i32
      %y = arith.constant 200 : i32
      cf.switch %a : i8, [
        default: ^out(%x : i32),
        5: ^out(%y : i32),
        -1: ^minus
      ]
    ^minus:
      %z = arith.constant -300 : i32
      cf.br ^out(%z : i32)
    ^out(%r: i32):
      return %r : i32
    }"""
    assert [run(text, v)[0] for v in (0, 5, -1)] == [100, 200, -300]


def test_recursive_calls():
    text = """
    func.func @main(%n: i64) -> i64 {
      %one = arith.constant 1 : i64
      %base = arith.cmpi sle, %n, %one : i64
      %r = scf.if %base -> (i64) {
        scf.yield %one : i64
      } else {
        %m = arith.subi %n, %one : i64
        %f = func.call @main(%m) : (i64) -> i64
        %p = arith.muli %n, %f : i64
        scf.yield %p : i64
      }
      return %r : i64
    }"""
    assert run(text, 20) == [math.factorial(20)]


def test_calls_of_function_values():
    text = """
    func.func private @twice(%x: i32) -> i32 {
      %r = arith.addi %x, %x : i32
      return %r : i32
    }
    func.func @main(%x: i32) -> i32 {
      %f = func.constant @twice : (i32) -> i32
      %r = func.call_indirect %f(%x) : (i32) -> i32
      return %r : i32
    }"""
    assert run(text, 21) == [42]


FOR = """
func.func @main(%lower: index, %upper: index, %step: index, %init: f32) -> (f32, index) {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %sum, %count = scf.for %i = %lower to %upper step %step
      iter_args(%s = %init, %n = %zero) -> (f32, index) {
    %k = arith.index_cast %i : index to i64
    %f = arith.sitofp %k : i64 to f32
    %t = arith.addf %s, %f : f32
    %m = arith.addi %n, %one : index
    scf.yield %t, %m : f32, index
  }
  return %sum, %count : f32, index
}
"""


@given(lower=st.integers(-20, 20), upper=st.integers(-20, 20), step=st.integers(1, 7))
def test_for(lower, upper, step):
    total, count = run(FOR, lower, upper, step, np.float32(0.5))
    assert total == sum(range(lower, upper, step)) + 0.5
    assert count == len(range(lower, upper, step))
    assert total.dtype == np.float32


def test_for_compares_unsigned_if_told():
    text = """
    func.func @main(%lower: i8, %upper: i8) -> i8 {
      %ten = arith.constant 10 : i8
      %zero = arith.constant 0 : i8
      %r = scf.for unsigned %i = %lower to %upper step %ten iter_args(%last = %zero) -> (i8) : i8 {
        scf.yield %i : i8
      }
      return %r : i8
    }"""
    assert run(text, 100, np.uint8(200).view(np.int8)) == [np.uint8(190).view(np.int8)]
    assert run(text.replace("unsigned ", ""), 100, np.uint8(200).view(np.int8)) == [0]


def test_while():
    text = """
    func.func @main(%start: i64) -> (i64, i64) {
      %zero = arith.constant 0 : i64
      %one = arith.constant 1 : i64
      %two = arith.constant 2 : i64
      %three = arith.constant 3 : i64
      %last, %steps = scf.while (%n = %start, %k = %zero) : (i64, i64) -> (i64, i64) {
        %more = arith.cmpi ne, %n, %one : i64
        scf.condition(%more) %n, %k : i64, i64
      } do {
      ^bb0(%n: i64, %k: i64):
        %bit = arith.andi %n, %one : i64
        %odd = arith.cmpi eq, %bit, %one : i64
        %half = arith.shrui %n, %one : i64
        %triple = arith.muli %n, %three : i64
        %up = arith.addi %triple, %one : i64
        %next = arith.select %odd, %up, %half : i64
        %j = arith.addi %k, %one : i64
        scf.yield %next, %j : i64, i64
      }
      return %last, %steps : i64, i64
    }"""
    assert run(text, 27) == [1, 111]


def test_parallel_reduces():
    text = """
    func.func @main(%n: index, %m: index, %a: i64, %b: i64) -> (i64, i64) {
      %zero = arith.constant 0 : index
      %one = arith.constant 1 : index
      %two = arith.constant 2 : index
      %sum, %most = scf.parallel (%i, %j) = (%zero, %one) to (%n, %m) step (%one, %two)
          init (%a, %b) -> (i64, i64) {
        %p = arith.muli %i, %j : index
        %v = arith.index_cast %p : index to i64
        scf.reduce(%v, %v : i64, i64) {
        ^bb0(%x: i64, %y: i64):
          %z = arith.addi %x, %y : i64
          scf.reduce.return %z : i64
        }, {
        ^bb0(%x: i64, %y: i64):
          %z = arith.maxsi %x, %y : i64
          scf.reduce.return %z : i64
        }
      }
      return %sum, %most : i64, i64
    }"""
    products = [i * j for i in range(5) for j in range(1, 8, 2)]
    assert run(text, 5, 8, 1000, -1) == [1000 + sum(products), max(products)]
    assert run(text, 0, 8, 1000, -1) == [1000, -1]


def test_index_switch_and_execute_region():
    text = """
    func.func @main(%n: index) -> i32 {
      %r = scf.index_switch %n -> i32
      case 2 {
        %x = arith.constant 20 : i32
        scf.yield %x : i32
      }
      case -5 {
        %x = scf.execute_region -> i32 {
          %c = arith.constant true
          cf.cond_br %c, ^bb1, ^bb2
        ^bb1:
          %y = arith.constant 50 : i32
          scf.yield %y : i32
        ^bb2:
          %z = arith.constant 60 : i32
          scf.yield %z : i32
        }
        scf.yield %x : i32
      }
      default {
        %x = arith.constant 7 : i32
        scf.yield %x : i32
      }
      return %r : i32
    }"""
    assert [run(text, v)[0] for v in (2, -5, 0)] == [20, 50, 7]


def test_forall_fills_parts():
    text = """
    func.func @main(%t: tensor<6xi64>, %n: index) -> tensor<6xi64> {
      %one = arith.constant 1 : index
      %r = scf.forall (%i) = (0) to (%n) step (2) shared_outs(%o = %t) -> (tensor<6xi64>) {
        %old = tensor.extract %o[%i] : tensor<6xi64>
        %k = arith.index_cast %i : index to i64
        %v = arith.addi %old, %k : i64
        %s = tensor.from_elements %v : tensor<1xi64>
        scf.forall.in_parallel {
          tensor.parallel_insert_slice %s into %o[%i] [1] [1] : tensor<1xi64> into tensor<6xi64>
        }
      }
      return %r : tensor<6xi64>
    }"""
    given = np.arange(100, 106)
    (result,) = run(text, given, 6)
    assert result.tolist() == [100, 101, 104, 103, 108, 105]
    assert given.tolist() == list(range(100, 106))


def test_tensors_and_elementwise_ops():
    text = """
    func.func @main(%x: tensor<2x3xf32>, %y: tensor<2x3xf32>) -> tensor<2x3xf32> {
      %half = arith.constant dense<0.5> : tensor<2x3xf32>
      %p = arith.mulf %x, %y : tensor<2x3xf32>
      %c = arith.cmpf ogt, %p, %half : tensor<2x3xf32>
      %e = math.exp %p : tensor<2x3xf32>
      %r = arith.select %c, %e, %half : tensor<2x3xi1>, tensor<2x3xf32>
      return %r : tensor<2x3xf32>
    }"""
    rng = np.random.default_rng(0)
    x, y = (rng.standard_normal((2, 3), np.float32) for _ in range(2))
    (result,) = run(text, x, y)
    np.testing.assert_array_equal(result, np.where(x * y > 0.5, np.exp(x * y), np.float32(0.5)))


def test_memory_is_shared():
    text = """
    func.func @main(%m: memref<4xf32>) {
      %zero = arith.constant 0 : index
      %one = arith.constant 1 : index
      %four = arith.constant 4 : index
      scf.for %i = %zero to %four step %one {
        %v = memref.load %m[%i] : memref<4xf32>
        %w = arith.addf %v, %v : f32
        memref.store %w, %m[%i] : memref<4xf32>
      }
      return
    }"""
    array = np.arange(4, dtype=np.float32)
    assert run(text, array) == []
    assert array.tolist() == [0, 2, 4, 6]


def test_hook_sees_every_result():
    seen = []
    run(GCD, 12, 8, on_value=lambda op, results: seen.append((op.name, *map(int, results))))
    assert ("arith.remsi", 4) in seen
    assert seen[0] == ("arith.constant", 0)


def test_external_functions():
    text = """
    func.func private @sine(f64) -> f64
    func.func @main(%x: f64) -> f64 {
      %r = call @sine(%x) : (f64) -> f64
      return %r : f64
    }"""
    assert run(text, 1.0, externals={"sine": np.sin}) == [np.sin(1.0)]
    with pytest.raises(NncError, match="'@sine' has no body to interpret"):
        run(text, 1.0)


# -- errors ----------------------------------------------------------------------------------------


def fails(text, *args, match, **options):
    with pytest.raises(NncError, match=match) as caught:
        run(text, *args, **options)
    return caught.value


def test_operation_without_semantics():
    error = fails(
        'func.func @main() {\n  "test.op"() : () -> ()\n  return\n}',
        match="'test.op' op has no semantics to interpret",
    )
    assert error.location.describe() == "test.mlir:2:3"


def test_step_limit():
    fails(
        "func.func @main() {\n  cf.br ^bb1\n^bb1:\n  cf.br ^bb1\n}",
        match="stopped after 100 operations",
        max_steps=100,
    )


def test_endless_recursion():
    text = "func.func @main() {\n  call @main() : () -> ()\n  return\n}"
    fails(text, match="nests calls or regions too deeply")


def test_undefined_behaviour_is_reported():
    divide = (
        "func.func @main(%x: i32) -> i32 {\n  %r = arith.divsi %x, %x : i32\n  return %r : i32\n}"
    )
    assert run(divide, 3) == [1]
    error = fails(divide, 0, match="'arith.divsi' op divides by zero")
    assert error.location.describe() == "test.mlir:2:8"
    fails("func.func @main() {\n  ub.unreachable\n}", match="reached 'ub.unreachable'")
    check = 'func.func @main(%c: i1) {\n  cf.assert %c, "size"\n  return\n}'
    assert run(check, True) == []
    fails(check, False, match="assertion failed: size")
    loop = """
    func.func @main(%n: index) {
      scf.for %i = %n to %n step %n {
      }
      return
    }"""
    fails(loop, 0, match="runs with a step of 0")


def test_arguments_are_checked():
    text = "func.func @main(%x: tensor<2x?xf32>, %y: i32) {\n  return\n}"
    good = np.zeros((2, 5), np.float32)
    assert run(text, good, 1) == []
    assert run(text, good, np.int32(1)) == []
    fails(text, good, match="takes 2 arguments, but 1 are given")
    fails(text, good.astype(np.float64), 1, match="argument 0 of '@main' has shape .* float64")
    fails(text, good.T.copy(), 1, match=r"argument 0 of '@main' has shape \[5, 2\]")
    fails(text, good, np.int64(1), match="argument 1 of '@main' is int64, expected i32")
    fails(text, good, match="no function '@other'", function="other")
    memory = "func.func @main(%x: memref<2xf32>) {\n  return\n}"
    fails(memory, [1.0, 2.0], match="is not a NumPy array")


def test_poison_is_some_value():
    text = """
    func.func @main() -> (f32, vector<2xi8>) {
      %a = ub.poison : f32
      %b = ub.poison : vector<2xi8>
      return %a, %b : f32, vector<2xi8>
    }"""
    a, b = run(text)
    assert a.dtype == np.float32
    assert b.shape == (2,) and b.dtype == np.int8
