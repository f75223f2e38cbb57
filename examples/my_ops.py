"""Three custom operators, for `--ops my_ops.py` and `nnc.compile(.., ops="my_ops.py")`.

Run as a program, it compiles a model with them, and compares its results with NumPy.
"""

import nnc
import numpy as np
import onnx
from nnc.dialects.nn import UnaryOp
from nnc.ir.declare import F32, attribute


# A comprehension: nnc derives shapes, reference results, loops and fusion from it.
@nnc.operator("com.example.Squareplus")
class Squareplus(UnaryOp, name="example.squareplus"):
    """(x + sqrt(x² + b)) / 2, smooth where ReLU has its corner. Source: Barron 2021."""

    b: float = attribute(F32, default=4.0)

    body = "out[i..] = (x[i..] + sqrt(x[i..] * x[i..] + b)) / 2"
    example = "%y = example.squareplus %x {b = 4.0 : f32} : (tensor<4xf32>) -> tensor<4xf32>"


# A composition of ONNX's operators; keyword-only parameters are its attributes.
@nnc.operator("com.example.ScaledTanh")
def scaled_tanh(op, x, *, alpha=1.7159, beta=2 / 3):
    """LeCun's tanh."""
    return op.Mul(op.Tanh(op.Mul(x, beta)), alpha)


# A function on NumPy arrays, called between the compiled parts; `gives` returns the shape and
# element type of its result.
@nnc.operator("com.example.Median", host=True, gives=lambda x, *, axis: (x.shape[:1], x.dtype))
def median(x, *, axis=1):
    """The median of each row."""
    return np.median(x, axis).astype(x.dtype)


def main() -> None:
    """Check a model: a matrix product and two of the operators in one kernel, then the median."""
    weights = np.random.default_rng(0).standard_normal((8, 4)).astype(np.float32)
    text = """
        <ir_version: 8, opset_import: ["" : 18, "com.example" : 1]>
        net (float[n, 8] x, float[8, 4] w) => (float[n] y) {
            p = MatMul(x, w)
            s = com.example.Squareplus<b = 1.0>(p)
            t = com.example.ScaledTanh(s)
            y = com.example.Median(t)
        }"""
    model = nnc.compile(onnx.parser.parse_model(text), constants={"w": weights})
    x = np.random.default_rng(1).standard_normal((3, 8)).astype(np.float32)
    p = x @ weights
    expected = 1.7159 * np.tanh(2 / 3 * (p + np.sqrt(p * p + 1)) / 2)
    expected = np.median(expected, axis=1)
    np.testing.assert_allclose(model(x), expected, rtol=1e-4, atol=1e-5)
    print("agrees with NumPy")


if __name__ == "__main__":
    main()
