"""What the front ends share: sampling in odd ratios, loops and branches that are built twice."""

import nnc
import numpy as np
import onnx.parser
import pytest
from nnc.frontends.formats import import_model
from nnc.numerics.interpreter import Interpreter

pytestmark = pytest.mark.formats

SIZES = """<ir_version: 9, opset_import: ["" : 19]>
g (float[1,1,%s] x) => (float[1,1,A,B] y) < int64[4] sizes = {1, 1, %d, %d} >
{ y = Resize<mode="nearest", coordinate_transformation_mode="asymmetric", nearest_mode="floor">
      (x, , , sizes) }"""
SCALES = """<ir_version: 9, opset_import: ["" : 19]>
g (float[1,1,%s] x) => (float[1,1,A,B] y) < float[4] scales = {1, 1, %s, %s} >
{ y = Resize<mode="nearest", coordinate_transformation_mode="asymmetric", nearest_mode="floor">
      (x, , scales) }"""


def both(text: str, x: np.ndarray) -> list[np.ndarray]:
    """What the interpreter and machine code give."""
    model = onnx.parser.parse_model(text)
    interpreted = Interpreter(import_model(model)).call("main", [x])[0]
    return [interpreted, np.asarray(nnc.compile(model)(x)).reshape(interpreted.shape)]


def picture(height: int, width: int) -> np.ndarray:
    return np.arange(height * width, dtype=np.float32).reshape(1, 1, height, width)


@pytest.mark.parametrize("extents", ["%d,%d", "H,W"], ids=["known", "open"])
@pytest.mark.parametrize(("own", "wanted"), [(20, 22), (10, 17), (30, 51), (27, 49), (33, 46)])
def test_positions_of_the_nearest_element_are_those_of_whole_numbers(extents, own, wanted):
    x = picture(own, own + 1)
    text = SIZES % (extents % x.shape[2:] if "%" in extents else extents, wanted, wanted + 3)
    rows, columns = (np.arange(n) * d // n for n, d in ((wanted, own), (wanted + 3, own + 1)))
    for found in both(text, x):
        np.testing.assert_array_equal(found, x[:, :, rows][..., columns])


@pytest.mark.parametrize("extents", ["10,40", "H,W"], ids=["known", "open"])
def test_scales_are_those_of_f32(extents):
    """As f32, 0.7 is a little less and 1.7 a little more; 17 / 1.7 is 10 all the same."""
    x, one = picture(10, 40), np.float32
    counts = (int(one(10) * one(0.7)), int(one(40) * one(1.7)))
    rows, columns = (
        (np.arange(n, dtype="f") / s).astype(int)
        for n, s in zip(counts, (one(0.7), one(1.7)), strict=True)
    )
    assert counts == (7, 68)
    assert columns[17] == 10
    for found in both(SCALES % (extents, 0.7, 1.7), x):
        np.testing.assert_array_equal(found, x[:, :, rows][..., columns])


GROWS = """<ir_version: 8, opset_import: ["" : 17]>
g (int64 m, float[2,3] x) => (float[A,3] s)
{
  t = Constant<value=bool {1}>()
  w = Exp(x)
  s = Loop (m, t, x) <body = b (int64 i, bool c, float[P,3] h) => (bool go, float[P2,3] n) {
    n = Concat<axis=0>(h, w) go = Identity(c)
  }>
}"""
RANKS = """<ir_version: 8, opset_import: ["" : 17]>
g (bool c, float[N,3] x) => (float[A] s)
{
  w = Exp(x)
  s = If (c) <
    then_branch = t () => (float[B] a) { k = Constant<value_ints=[0]>() a = Squeeze(w, k) },
    else_branch = e () => (float[C,3] d) { d = Neg(w) }>
}"""


@pytest.mark.parametrize("text", [GROWS, RANKS], ids=["a loop that grows", "branches by rank"])
def test_operations_that_are_not_kept_use_nothing(text):
    module = import_model(onnx.parser.parse_model(text))
    module.verify()
    kept = set(map(id, module.walk()))
    for op in module.walk():
        for result in op.results:
            assert all(id(user) in kept for user in result.users), op.name


PARTLY_KNOWN = """<ir_version: 8, opset_import: ["" : 17]>
g (int64 k, float[N,6] x) => (float[A,B,C] y)
{
  three = Constant<value_ints=[3]>()
  zero = Constant<value_ints=[0]>()
  kk = Unsqueeze(k, zero)
  shape = Concat<axis=0>(zero, kk, three)
  y = Reshape(x, shape)
}"""


def test_a_shape_of_which_a_part_is_computed():
    """The 0 stands for an extent of the operand, though another element is only known later."""
    module = import_model(onnx.parser.parse_model(PARTLY_KNOWN))
    x = np.arange(24, dtype=np.float32).reshape(4, 6)
    (found,) = Interpreter(module).call("main", [np.array(2), x])
    np.testing.assert_array_equal(found, x.reshape(4, 2, 3))
