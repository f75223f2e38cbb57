"""What the fuzzer found in ONNX models, made small: results that were wrong, broken models."""

import nnc
import numpy as np
import onnx.parser
import pytest
from nnc.frontends.onnx import import_model
from nnc.ir.diagnostics import NncError
from nnc.numerics.interpreter import Interpreter

HEAD = '<ir_version: 10, opset_import: ["" : 24, "ai.onnx.ml" : 5]>\n'


def parsed(text: str) -> onnx.ModelProto:
    return onnx.parser.parse_model(HEAD + text)


def numbers(*shape: int, kind: str = "float32") -> np.ndarray:
    count = int(np.prod(shape))
    return (np.arange(count) % 13 - 6).astype(kind).reshape(shape)


X = numbers(2, 32)
ROOTS = np.array([3, -5, -5, 2, 2, 3, -5], np.int32)
VALID = {
    # Steps were left out of the extent: elements beyond the operand's end were read.
    "a step along an open axis": (
        """g (float[2,N] x) => (float[2,M] y)
        <int64[1] s = {8}, int64[1] e = {2147483647}, int64[1] a = {1}, int64[1] t = {3}>
        { z = Neg(x)  y = Slice(z, s, e, a, t) }""",
        (X,),
        -X[:, 8::3],
    ),
    # 0 elements do not tell how many rows there are.
    "no repetition beside an open axis": (
        """g (int8[4,8,N] x) => (int8[?,?,?] y) <int64[3] r = {1, 0, 1}> { y = Tile(x, r) }""",
        (numbers(4, 8, 3, kind="int8"),),
        np.empty((4, 0, 3), np.int8),
    ),
    "a root of integers": (
        "g (int32[7] x) => (int32[1] y) { y = ReduceL2(x) }",
        (ROOTS,),
        np.array([np.sqrt((ROOTS**2).sum())], np.int32),
    ),
    "a scalar by an empty shape": (
        "g (float[1] x, int64[0] s) => (float y) { y = Reshape(x, s) }",
        (numbers(1), np.empty(0, np.int64)),
        np.array(-6, np.float32),
    ),
    # Views of a buffer that nobody reads, of which another view has the sizes.
    "an empty convolution": (
        """g (float[1,1,D,D,0] x, float[1,1,3,D,3] w) => (float[?,?,?,?,?] y)
        { y = Conv<auto_pad = "SAME_LOWER", kernel_shape = [3,2,3], strides = [1,1,2],
                   dilations = [1,1,2]>(x, w) }""",
        (numbers(1, 1, 2, 2, 0), numbers(1, 1, 3, 2, 3)),
        np.empty((1, 1, 2, 2, 0), np.float32),
    ),
    # The open extent is not what is left of 0 elements.
    "an empty convolution of open height": (
        """g (float[1,1,D,3] x) => (float[?,?,?,?] y) <float[2,1,2,3] w = {1,1,1,1,1,1,1,1,1,1,1,1}>
        { z = Neg(x)
          y = Conv<dilations = [1,2], kernel_shape = [2,3], pads = [0,1,1,0], strides = [2,1]>(z, w)
        }""",
        (numbers(1, 1, 5, 3),),
        np.empty((1, 2, 3, 0), np.float32),
    ),
    # The first of two elements is taken as the other axis grows.
    "a resize of two to one": (
        """g (float[3,1,2] x) => (float[?,?,?] y) <float[3] s = {1.0, 2.0, 0.5}>
        { y = Resize<coordinate_transformation_mode = "align_corners", mode = "nearest",
                     nearest_mode = "ceil">(x, , s) }""",
        (numbers(3, 1, 2),),
        numbers(3, 1, 2)[:, [0, 0], :1],
    ),
    # Its unrolled loops have no iterations.
    "a convolution of no channels": (
        """g (float[16,0,2,7,1] x, float[2,0,2,3,1] w) => (float[?,?,?,?,?] y)
        { y = Conv<dilations = [1,2,2], kernel_shape = [2,3,1], pads = [0,2,1,2,0,1],
                   strides = [2,1,1]>(x, w) }""",
        (np.empty((16, 0, 2, 7, 1), np.float32), np.empty((2, 0, 2, 3, 1), np.float32)),
        np.zeros((16, 2, 2, 5, 3), np.float32),
    ),
    # Neither is it that of a matrix of 0 columns.
    "an empty matrix": (
        "g (float[D,0,E] x) => (float[?,?] y) { z = Neg(x)  y = Flatten<axis = 1>(z) }",
        (np.empty((4, 0, 3), np.float32),),
        np.empty((4, 0), np.float32),
    ),
    "an empty matrix of open rows": (
        """g (float[D,3,E,2] x) => (float[?,?] y)
        <int64[2] s = {2, 0}> { a, b = Split<axis = -1>(x, s)  y = Flatten<axis = 2>(b) }""",
        (numbers(8, 3, 4, 2),),
        np.empty((24, 0), np.float32),
    ),
    # ONNX Runtime takes no notice of what there is no slice for.
    "a condition longer than the axis": (
        """g (float[2,D] x, bool[5] c) => (float[?,?] y)
        { z = Neg(x)  y = Compress<axis = 1>(z, c) }""",
        (X[:, :3], np.array([True, False, True, True, False])),
        -X[:, [0, 2]],
    ),
    # The layouts that groups get depend on how many filters there are.
    "an open number of filters": (
        """g (float[1,16,2] x, float[D,1,1] w) => (float[?,?,?] y)
        { y = Conv<group = 16, kernel_shape = [1]>(x, w) }""",
        (numbers(1, 16, 2), np.full((32, 1, 1), 2, np.float32)),
        numbers(1, 16, 2).repeat(2, axis=1) * 2,
    ),
}


def test_copies_on_both_sides_of_a_call() -> None:
    """They do not share loops, since what is called reads the first one's result."""
    text = """g (double x, double high) => (double[?] a, double[?] b, double[?] c)
    <int64[1] s = {-1}> { a = Reshape(x, s)  b = Concat<axis = -1>(a)  c = Clip(a, , high) }"""
    found = nnc.compile(parsed(text), cache=False)(np.array(5.0), np.array(3.0))
    assert [a.tolist() for a in found] == [[5.0], [5.0], [3.0]]


@pytest.mark.parametrize("how", ["compiled", "interpreted"])
@pytest.mark.parametrize("name", VALID)
def test_result(name: str, how: str) -> None:
    text, inputs, expected = VALID[name]
    if how == "compiled":
        found = nnc.compile(parsed(text), cache=False)(*inputs)
    else:
        (found,) = Interpreter(import_model(parsed(text))).call("main", list(inputs))
    assert found.dtype == expected.dtype
    np.testing.assert_array_equal(found, expected)


def test_directions_that_the_weights_leave_open() -> None:
    """Their number is the attribute's."""
    fixed = """g (float[2,1,3] x, float[2,4,3] w, float[2,4,4] r) => (float[2,2,1,4] y)
    { y = RNN<hidden_size = 4, direction = "bidirectional">(x, w, r) }"""
    inputs = [numbers(2, 1, 3) / 8, numbers(2, 4, 3) / 8, numbers(2, 4, 4) / 8]
    results = [
        Interpreter(import_model(parsed(text))).call("main", inputs)[0]
        for text in (fixed, fixed.replace("float[2,4", "float[D,4"))
    ]
    np.testing.assert_array_equal(*results)


TREE = """g (float[1,2] x) => (float[1,1] y)
{ y = ai.onnx.ml.TreeEnsemble<n_targets = 1, tree_roots = [ROOT], nodes_modes = uint8[1] {0},
  nodes_splits = float[1] {0.5}, nodes_featureids = [0], nodes_falsenodeids = [AT],
  nodes_truenodeids = [1], nodes_falseleafs = [1], nodes_trueleafs = [1],
  leaf_targetids = [0, 0], leaf_weights = float[2] {1, 2}>(x) }"""
BROKEN = {
    "a leaf that is not there": (TREE.replace("ROOT", "0").replace("AT", "7"), "7, which is no"),
    "a root that is not there": (TREE.replace("ROOT", "3").replace("AT", "0"), "3, which is no"),
    "a scale that is not a number": (
        "g (float[1,2] x) => (float[?,?] y) <float[2] s = {1.0, -1.0}> { y = Resize(x, , s) }",
        "a scale is -1, expected a positive number",
    ),
    "offsets of no dimension": (
        """g (float[1,1,4,4] x, float[1,1,2,2] w, float o) => (float[?,?,?,?] y)
        { y = DeformConv(x, w, o) }""",
        "input 'offset' has shape [], 'X' [1, 1, 4, 4]",
    ),
    "a signal of no dimension": (
        "g (float x, int64 s, float[4] w) => (float[?,?,?,?] y) { y = STFT(x, s, w) }",
        "the signal has rank 0",
    ),
    "scores of no class": (
        """g (float[1,4,4] b, float[4] s) => (int64[?,3] y)
        { y = NonMaxSuppression(b, s) }""",
        "input 'scores' is 'tensor<4xf32>', expected rank 3",
    ),
    "an update of no dimension": (
        "g (float[1,4,4] c, float u) => (float[1,4,4] y) { y = TensorScatter(c, u) }",
        "the update is 'tensor<f32>', the cache 'tensor<1x4x4xf32>'",
    ),
    "a scale of more dimensions": (
        "g (float[3,4] x, float[2,3,4] s) => (float[3,4] y) { y = RMSNormalization(x, s) }",
        "the scale is 'tensor<2x3x4xf32>', the input 'tensor<3x4xf32>'",
    ),
    "a tensor too large to count": (
        """g (float[1] x) => (float[?] y)
        <float[0,4611686018427387904,4611686018427387904] w = {}> { y = Add(x, w) }""",
        "is too large",
    ),
}


@pytest.mark.parametrize("name", BROKEN)
def test_message(name: str) -> None:
    text, message = BROKEN[name]
    with pytest.raises(NncError) as caught:
        import_model(parsed(text))
    assert message in str(caught.value)
    assert "node '" in str(caught.value) or "(" in str(caught.value)


TOO_MANY = {
    "gathered": """g (float[A,B] x, int64[C,D] i) => (float[?,?] y)
    { y = GatherElements<axis = 0>(x, i) }""",
    "scattered": """g (float[A,B] x, int64[C,D] i) => (float[?,?] y)
    { u = CastLike(i, x)  y = ScatterElements<axis = 0>(x, i, u) }""",
}


@pytest.mark.parametrize("name", TOO_MANY)
def test_more_indices_than_data(name: str) -> None:
    """Along another axis than theirs: memory beyond the data was read or written."""
    model = nnc.compile(parsed(TOO_MANY[name]), cache=False)
    x = numbers(3, 4)
    with pytest.raises(NncError, match="its indices are more than the data along 1"):
        model(x, np.zeros((5, 104), np.int64))
    assert model(x, np.zeros((2, 3), np.int64)).shape == ((2, 3) if name == "gathered" else (3, 4))
    for shape in ("3,4", "5,104"):
        text = TOO_MANY[name].replace("A,B", "3,4").replace("C,D", shape)
        if shape == "3,4":
            import_model(parsed(text))
            continue
        with pytest.raises(NncError, match="more indices in dimension 1 than"):
            import_model(parsed(text))


def test_updates_that_do_not_fit() -> None:
    text = """g (float[A,B] x, int64[C,1] i, float[D,E] u) => (float[?,?] y)
    { y = ScatterND(x, i, u) }"""
    model = nnc.compile(parsed(text), cache=False)
    x, i = numbers(3, 4), np.array([[2], [0]])
    np.testing.assert_array_equal(model(x, i, x[:2]), x[[1, 1, 0]])
    for shape in ((2, 3), (1, 4), (2, 99)):
        with pytest.raises(NncError, match="of its updates does not fit its indices"):
            model(x, i, numbers(*shape))
