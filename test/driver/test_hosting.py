"""Programs with steps that only a host takes: how they are cut, run, and refused as libraries."""

from __future__ import annotations

from itertools import count

import nnc
import numpy as np
import pytest
from nnc.dialects import nn
from nnc.driver.compile import run_stages
from nnc.runtime.hosted import Hosted

_numbers = count()


def called(function, text: str) -> Hosted:
    """The compiled model of text that calls the function as CALL."""
    name = f"test.f{next(_numbers)}"
    nn.host_function(name)(function)
    module = nnc.parse(text.replace("CALL", f'nn.host_call "{name}"'))
    model = nnc.compile(module, cache=False)
    assert isinstance(model, Hosted)
    return model


MIDDLE = """
func.func @main(%x: tensor<?x4xf32>) -> tensor<?x4xf32> {
  %y = nn.relu %x : (tensor<?x4xf32>) -> tensor<?x4xf32>
  %z = CALL(%y) {arguments = {by = 3 : i64}} : (tensor<?x4xf32>) -> tensor<?x4xf32>
  %a = nn.exp %x : (tensor<?x4xf32>) -> tensor<?x4xf32>
  %w = nn.add %z, %a : (tensor<?x4xf32>, tensor<?x4xf32>) -> tensor<?x4xf32>
  return %w : tensor<?x4xf32>
}
"""


def test_a_function_is_called_between_two_parts():
    model = called(lambda x, by: np.flip(x, 1) * np.float32(by), MIDDLE)
    x = np.random.default_rng(0).standard_normal((5, 4), np.float32)
    want = np.flip(np.maximum(x, 0), 1) * 3 + np.exp(x)
    np.testing.assert_allclose(model(x), want, rtol=1e-6)
    # `exp` waits for the addition: it needs no part of its own.
    assert len(model.parts) == 2


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (lambda x, by: x[0], "should be tensor<?x4xf32>, but is float32 (4,)"),
        (lambda x, by: x.astype(np.float64), "but is float64 (5, 4)"),
        (lambda x, by: (x, x), "gives 2 results, expected 1"),
        (lambda x, by: x / {}[by], "KeyError: 3"),
        (lambda x: x, "TypeError: "),
    ],
)
def test_a_result_that_is_not_as_declared(function, message):
    model = called(function, MIDDLE)
    with pytest.raises(nnc.NncError) as raised:
        model(np.zeros((5, 4), np.float32))
    assert message in str(raised.value)


def test_a_function_that_is_not_there():
    model = nnc.compile(nnc.parse(MIDDLE.replace("CALL", 'nn.host_call "nowhere"')), cache=False)
    with pytest.raises(nnc.NncError, match="there is no host function 'nowhere'"):
        model(np.zeros((5, 4), np.float32))


def test_several_results_and_operands():
    model = called(
        lambda a, b: (a + b, np.asarray(len(a))),
        """
        func.func @main(%a: tensor<?xi64>, %b: tensor<?xi64>) -> (tensor<?xi64>, tensor<i64>) {
          %r:2 = CALL(%a, %b) : (tensor<?xi64>, tensor<?xi64>) -> (tensor<?xi64>, tensor<i64>)
          return %r#0, %r#1 : tensor<?xi64>, tensor<i64>
        }
        """,
    )
    total, length = model(np.arange(3), np.arange(3))
    assert total.tolist() == [0, 2, 4] and length == 3 and not model.parts


def test_branches_with_calls_inside():
    model = called(
        lambda x: x[::-1],
        """
        func.func @main(%c: tensor<i1>, %x: tensor<8xf32>) -> tensor<8xf32> {
          %e = nn.exp %x : (tensor<8xf32>) -> tensor<8xf32>
          %y = nn.if %c -> (tensor<8xf32>) {
            %r = CALL(%e) : (tensor<8xf32>) -> tensor<8xf32>
            %s = nn.add %r, %x : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
            nn.yield %s : tensor<8xf32>
          } else {
            nn.yield %x : tensor<8xf32>
          }
          return %y : tensor<8xf32>
        }
        """,
    )
    x = np.linspace(0, 1, 8, dtype=np.float32)
    np.testing.assert_allclose(model(np.array(True), x), np.exp(x)[::-1] + x, rtol=1e-6)
    np.testing.assert_array_equal(model(np.array(False), x), x)


def test_loops_with_calls_inside():
    model = called(
        lambda x, n: x * np.float32(n + 1),
        """
        func.func @main(%n: tensor<i64>, %x: tensor<3xf32>) -> (tensor<3xf32>, tensor<?x3xf32>) {
          %zero = nn.constant dense<0> : tensor<i64>
          %one = nn.constant dense<1> : tensor<i64>
          %i, %last, %rows = nn.while (%i = %zero, %v = %x) : (tensor<i64>, tensor<3xf32>)
              -> (tensor<i64>, tensor<3xf32>, tensor<?x3xf32>) {
            %go = nn.less %i, %n : (tensor<i64>, tensor<i64>) -> tensor<i1>
            nn.condition(%go)
          } do {
          ^bb0(%i: tensor<i64>, %v: tensor<3xf32>):
            %w = CALL(%v, %i) : (tensor<3xf32>, tensor<i64>) -> tensor<3xf32>
            %next = nn.add %i, %one : (tensor<i64>, tensor<i64>) -> tensor<i64>
            nn.yield %next, %w, %v : tensor<i64>, tensor<3xf32>, tensor<3xf32>
          }
          return %last, %rows : tensor<3xf32>, tensor<?x3xf32>
        }
        """,
    )
    x = np.array([1, 2, 3], np.float32)
    last, rows = model(np.array(3), x)
    np.testing.assert_array_equal(last, 6 * x)
    np.testing.assert_array_equal(rows, np.stack([x, x, 2 * x]))
    # The counting is the host's own: no part is called for one number.
    assert not model.parts


def test_a_library_says_what_keeps_it_from_being_one():
    text = """
    func.func @main(%s: tensor<?x!nn.string>, %x: tensor<4xf32>) -> tensor<4xf32> {
      %y = nn.host_call "f"(%x) : (tensor<4xf32>) -> tensor<4xf32>
      return %y : tensor<4xf32>
    }
    """
    module = nnc.load(nnc.parse(text))
    with pytest.raises(nnc.NncError) as raised:
        run_stages(module)
    assert "input 'input0' is a value that only a host handles: tensor<?x!nn.string>" in str(
        raised.value
    )
    assert "line 3, column" in str(raised.value) and "nn.host_call" in str(raised.value)
