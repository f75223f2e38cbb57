"""If, Loop and Scan whose course is known at run time only: interpreted and compiled, against
ONNX Runtime."""

import resource

import nnc
import numpy as np
import onnx.parser
import onnxruntime
import pytest
from nnc.frontends.onnx import import_model
from nnc.ir.diagnostics import NncError
from nnc.numerics.interpreter import Interpreter

HEAD = '<ir_version: 8, opset_import: ["" : 17]>\n'
RANDOM = np.random.default_rng(0)
X = RANDOM.standard_normal((3, 4)).astype(np.float32)

WIDTHS = (("u", 3), ("v", 4))
BRANCHES = """g (bool c, float[N,4] x) => (float[A,4] y, float[N,4] z) {
  y, z = If (c) <
    then_branch = t () => (float[A,4] a, float[N,4] b) { a = Relu(x) b = Neg(x) },
    else_branch = e () => (float[B,4] d, float[N,4] f) { d = Concat<axis=0>(x, x) f = Abs(x) }>
}"""
FIXED = BRANCHES.replace("[N,4]", "[3,4]")
STOPS = """g (int64 m, bool c0, float[2,2] x) => (float[2,2] s, float[K,2,2] rows)
< float[2,2] w = {0.5, -0.25, 1.5, 0.75} >
{
  s, rows = Loop (m, c0, x) <
    body = b (int64 i, bool c, float[2,2] h) => (bool go, float[2,2] n, float[2,2] row) {
      p = MatMul(h, w) n = Tanh(p) row = Identity(h)
      k = Constant<value_int=6>() go = Less(i, k)
    }>
}"""
GROWS = """g (int64 m, float[N] x) => (float[M] s, float[K,Q] rows)
{
  t = Constant<value=bool {1}>()
  s, rows = Loop (m, t, x) <
    body = b (int64 i, bool c, float[P] h) => (bool go, float[P2] n, float[R] row) {
      n = Concat<axis=0>(h, x) row = Add(x, x) go = Identity(c)
    }>
}"""
NESTED = """g (int64 m, float[N,2] x) => (float[A,2] s)
{
  t = Constant<value=bool {1}>()
  s = Loop (m, t, x) <body = b (int64 i, bool c, float[P,2] h) => (bool go, float[P2,2] n) {
    two = Constant<value_int=2>() z = Constant<value_int=0>()
    q = Mod(i, two) e = Equal(q, z)
    n = If(e) <
      then_branch = t1 () => (float[B,2] a) { a = Add(h, h) },
      else_branch = e1 () => (float[C,2] b) { b = Concat<axis=0>(h, x) }>
    go = Identity(c)
  }>
}"""
SCAN = """g (float[2] s0, float[N,2] x) => (float[2] s, float[A,2] y)
{
  s, y = Scan (s0, x) <num_scan_inputs=1, %s
    body = b (float[2] h, float[2] xi) => (float[2] n, float[2] yi) {
      n = Add(h, xi) yi = Mul(n, n)
    }>
}"""
ACROSS = SCAN.replace("float[N,2] x", "float[2,N] x").replace("float[A,2] y", "float[2,A] y")


def count(number):
    return np.array(number, np.int64)


def flag(value):
    return np.array(value)


def scanned(*shape):
    return np.ones(2, np.float32), RANDOM.standard_normal(shape).astype(np.float32)


CASES = {
    "branches": (BRANCHES, [(flag(True), X), (flag(False), X)]),
    "branches of static shape": (FIXED, [(flag(True), X), (flag(False), X)]),
    "a loop that stops": (
        STOPS,
        [(count(m), flag(c), X[:2, :2]) for m in (0, 1, 5, 10**12, -3) for c in (True, False)],
    ),
    "a state that grows": (
        GROWS,
        [(count(m), np.arange(n, dtype=np.float32)) for m in (0, 1, 9) for n in (2, 5)],
    ),
    "nested": (NESTED, [(count(m), X[:n, :2]) for m in (0, 1, 5) for n in (1, 3)]),
    "scan": (SCAN % "", [scanned(1, 2), scanned(5, 2)]),
    "scan, backward": (
        SCAN % "scan_input_directions=[1], scan_output_directions=[1],",
        [scanned(5, 2)],
    ),
    "scan of columns": (ACROSS % "scan_input_axes=[1], scan_output_axes=[1],", [scanned(2, 5)]),
}


def model_of(text):
    model = onnx.parser.parse_model(HEAD + text)
    onnx.checker.check_model(model)
    return model


@pytest.mark.parametrize("case", CASES, ids=str)
def test_against_onnxruntime(case):
    text, inputs = CASES[case]
    model = model_of(text)
    session = onnxruntime.InferenceSession(model.SerializeToString())
    names = [i.name for i in session.get_inputs()]
    module = nnc.load(model)
    assert any(op.name in ("nn.if", "nn.while") for op in module.walk())
    module.verify()
    interpreter, compiled = Interpreter(module), nnc.compile(model)
    for values in inputs:
        expected = session.run(None, dict(zip(names, values, strict=True)))
        found = compiled(*values)
        found = found if isinstance(found, list | tuple) else [found]
        for results in (interpreter.call("main", values), found):
            for a, b in zip(results, expected, strict=True):
                assert np.shape(a) == b.shape and np.asarray(a).dtype == b.dtype
                np.testing.assert_allclose(a, b, rtol=1e-5, atol=1e-6)


def test_only_the_branch_taken_is_computed():
    """The other one would fail: its index is out of range."""
    text = """g (bool c, int64[1] i, float[3] x) => (float[A] y) {
      y = If (c) <
        then_branch = t () => (float[A] a) { a = Relu(x) },
        else_branch = e () => (float[B] b) { b = Gather(x, i) }>
    }"""
    compiled = nnc.compile(model_of(text))
    x, far = np.float32([-1, 2, 3]), np.array([7])
    np.testing.assert_array_equal(compiled(flag(True), far, x), [0, 2, 3])
    with pytest.raises(NncError, match="Gather"):
        compiled(flag(False), far, x)
    np.testing.assert_array_equal(compiled(flag(False), np.array([1]), x), [2])


def test_stack_beyond_memory():
    """A loop without end but its trip count: there is no room for 10^12 rows, and none is run."""
    text = GROWS.replace("row = Add(x, x)", "row = Constant<value_floats=[1.0, 2.0]>()")
    compiled = nnc.compile(model_of(text))
    x = np.ones(2, np.float32)
    for far in (10**13, 2**62):
        with pytest.raises(NncError, match=r"\(Loop\): there is not enough memory"):
            compiled(count(far), x)
    assert compiled(count(3), x)[1].shape == (3, 2)


def test_trip_count_without_end():
    """10^12 iterations that keep nothing would run for minutes, and no condition can end them."""
    text = """g (int64 m, float[2] x) => (float[2] s) {
        going = Constant<value_int=1>()
        yes = Cast<to=9>(going)
        s = Loop (m, yes, x) <body = b (int64 i, bool c, float[2] a)
            => (bool d, float[2] e) { d = Identity(c)
            e = Mul(a, a) }>
    }"""
    compiled = nnc.compile(model_of(text))
    x = np.array([0.5, -1], np.float32)
    for far in (10**12, 2**62):
        with pytest.raises(NncError, match=r"\(Loop\): a trip count is more than"):
            compiled(count(far), x)
    np.testing.assert_allclose(compiled(count(2), x), x**4)


def test_failure_in_an_iteration_loses_nothing():
    """An index out of range while a large state and a stack are on the heap, many times."""
    text = """g (int64 m, int64[4] at, float[N] x) => (float[M] s, float[K,Q] rows)
    {
      t = Constant<value=bool {1}>()
      s, rows = Loop (m, t, x) <
        body = b (int64 i, bool c, float[P] h) => (bool go, float[P2] n, float[R] row) {
          one = Gather(at, i) e = Gather(x, one) n = Add(h, e) row = Mul(x, e) go = Identity(c)
        }>
    }"""
    compiled = nnc.compile(model_of(text))
    x, at = np.ones(1 << 18, np.float32), np.array([0, 1, 2, 1 << 20])
    wanted = "Gather.*out of range|index"

    def fail():
        with pytest.raises(NncError, match=wanted):
            compiled(count(4), at, x)

    fail()
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    for _ in range(100):
        fail()
    grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    assert grown < 40_000  # kB; each call has 1,024 of state and more of the stack
    np.testing.assert_array_equal(compiled(count(3), at, x)[0], x + 3)


def test_branch_that_does_not_fit():
    """It is compiled without; where that branch is taken, the program says what did not fit."""
    text = """g (bool c, float[M,N] x) => (float[A,2] y) {
      y = If (c) <
        then_branch = t () => (float[M,2] a) { a = MatMul(x, u) },
        else_branch = f () => (float[M,2] b) { b = MatMul(x, v) }>
    }"""
    model = onnx.parser.parse_model(HEAD + text)
    weights = {name: RANDOM.standard_normal((k, 2)).astype(np.float32) for name, k in WIDTHS}
    for name, array in weights.items():
        model.graph.initializer.append(onnx.numpy_helper.from_array(array, name))
    for (name, width), c in zip(WIDTHS, (True, False), strict=True):
        x = RANDOM.standard_normal((5, width)).astype(np.float32)
        compiled = nnc.compile(model, shapes={"x": [5, width]})
        np.testing.assert_allclose(compiled(np.array(c), x), x @ weights[name], rtol=1e-5)
        with pytest.raises(NncError, match=r"\(If\).*does not fit.*\(MatMul\)"):
            compiled(np.array(not c), x)


def test_rank_that_depends_on_a_value():
    """The branch of lower rank is compiled; where the other one is taken, the program says so."""
    text = """g (float[M,N] x) => (float[A] y) {
      s = Shape<start=1>(x) one = Constant<value_ints=[1]>() e = Equal(s, one)
      y = If (e) <
        then_branch = t () => (float[M] a) { a = Squeeze(x, one) },
        else_branch = f () => (float[M,N] b) { b = Identity(x) }>
    }"""
    compiled = nnc.compile(onnx.parser.parse_model(HEAD + text))
    np.testing.assert_array_equal(compiled(np.float32([[1], [2]])), [1, 2])
    with pytest.raises(NncError, match=r"\(If\).*another rank"):
        compiled(np.ones((2, 3), np.float32))


def test_weights_in_a_body():
    """A product with weights of their own in the body, which several calls share."""
    weights = RANDOM.standard_normal((64, 64)).astype(np.float32) / 8
    text = """g (int64 m, float[64,64] x) => (float[64,64] s)
    {
      t = Constant<value=bool {1}>()
      s = Loop (m, t, x) <body = b (int64 i, bool c, float[64,64] h) => (bool go, float[64,64] n) {
        p = MatMul(h, w) q = MatMul(p, w) n = Tanh(q) go = Identity(c)
      }>
    }"""
    model = onnx.parser.parse_model(HEAD + text)
    model.graph.initializer.append(onnx.numpy_helper.from_array(weights, "w"))
    x = RANDOM.standard_normal((64, 64)).astype(np.float32)
    expected = x
    for _ in range(3):
        expected = np.tanh(expected @ weights @ weights)
    np.testing.assert_allclose(nnc.compile(model)(count(3), x), expected, rtol=1e-4, atol=1e-5)


def test_first_states_of_another_rank():
    """PaddlePaddle's converter gives a scalar for what the first iteration writes, and flags of
    one element that gain a dimension."""
    text = """g (int64 m, float[N,2] x) => (float[A,2] last, bool[B] seen)
    {
      t = Constant<value=bool {1}>() unset = Constant<value=int32 {7}>() no = Constant<value=bool {0}>()
      last, seen = Loop (m, t, unset, no) <
        body = b (int64 i, bool c, float[P,2] old, bool[Q] flag) => (bool go, float[R,2] n, bool[1] f) {
          s = Cast<to=1>(i) n = Add(x, s)
          one = Constant<value_ints=[1]>() u = Cast<to=7>(flag) w = Add(u, one) f = Cast<to=9>(w)
          go = Identity(c)
        }>
    }"""
    run = nnc.compile(onnx.parser.parse_model(HEAD + text))
    last, seen = run(count(3), X[:, :2])
    np.testing.assert_array_equal(last, X[:, :2] + 2)
    np.testing.assert_array_equal(seen, [True])
    with pytest.raises(NncError, match=r"\(Loop\).*no iteration.*output 0"):
        run(count(0), X[:, :2])
    assert run(count(1), X[:, :2])[0].shape == (3, 2)


def test_what_a_loop_carries_along():
    """Weights that go in and come out unchanged are no states: the product knows them."""
    weights = RANDOM.standard_normal((8, 8)).astype(np.float32) / 4
    text = """g (int64 m, float[4,8] x) => (float[4,8] s, float[8,8] v)
    {
      t = Constant<value=bool {1}>()
      s, v = Loop (m, t, x, w) <
        body = b (int64 i, bool c, float[4,8] h, float[8,8] u) => (bool go, float[4,8] n, float[8,8] u) {
          p = MatMul(h, u) n = Tanh(p) go = Identity(c)
        }>
    }"""
    model = onnx.parser.parse_model(HEAD + text)
    model.graph.initializer.append(onnx.numpy_helper.from_array(weights, "w"))
    loops = [op for op in import_model(model).walk() if op.name == "nn.while"]
    assert [len(op.results) for op in loops] == [3]  # the number, the condition, one state
    x = RANDOM.standard_normal((4, 8)).astype(np.float32)
    expected = x
    for _ in range(3):
        expected = np.tanh(expected @ weights)
    last, same = nnc.compile(model)(count(3), x)
    np.testing.assert_allclose(last, expected, rtol=1e-5, atol=1e-6)
    np.testing.assert_array_equal(same, weights)
