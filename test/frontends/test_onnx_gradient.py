"""Gradient against differences of values that onnx.reference computes."""

import numpy as np
import pytest
from nnc.frontends.onnx import import_model
from nnc.ir.diagnostics import NncError
from onnx import TensorProto, helper, parser
from onnx.reference import ReferenceEvaluator

from .models import run

D = TensorProto.DOUBLE
FORMULAS = [
    "y = Mul(a, b)",
    "q = Div(a, b) \n y = Sub(q, a)",
    "t = Tanh(a) \n s = Sigmoid(b) \n y = Mul(t, s)",
    "e = Exp(a) \n l = Log(e) \n r = Sqrt(e) \n m = Mul(l, r) \n y = Add(m, b)",
    "m = Gemm<transB = 1>(a, b) \n y = Relu(m)",
    "t = Transpose(b) \n y = MatMul(a, t)",
    "s = Softmax<axis = 1>(a) \n y = Mul(s, b)",
    "axes = Constant<value_ints = [1]>() \n s = ReduceMean<keepdims = 0>(a, axes) \n"
    " k = ReduceSum(b, axes) \n y = Mul(s, k)",
    "c = Concat<axis = 1>(a, b) \n s = Sin(c) \n y = Mul(s, s)",
    "p = Constant<value_float = 3.0>() \n w = CastLike(p, a) \n q = Abs(a) \n h = Pow(q, w) \n"
    " x = Max(h, b) \n y = Neg(x)",
    "s = Constant<value_ints = [4, 3]>() \n r = Reshape(a, s) \n t = Transpose(r) \n"
    " u = Reciprocal(b) \n y = Mul(t, u)",
]


def model(formula, a=(3, 4), b=(3, 4), extra=""):
    """A graph that computes y, and its derivatives by a and b."""
    text = f"""<ir_version: 9, opset_import: ["" : 18, "ai.onnx.preview.training" : 1]>
    g (double[{a[0]},{a[1]}] a, double[{b[0]},{b[1]}] b) => (double[K,L] y, double[M,N] da, double[P,Q] db) {{
        {formula}
        {extra}
        da, db = ai.onnx.preview.training.Gradient<xs = ["a", "b"], y = "y">(a, b)
    }}"""
    made = parser.parse_model(text)
    for output in made.graph.output:
        output.type.tensor_type.ClearField("shape")
    return made


def by_differences(made, arrays, which, step=1e-6):
    """The derivatives of the sum of y by one of the inputs."""
    forward = helper.make_model(
        helper.make_graph(
            [node for node in made.graph.node if node.op_type != "Gradient"],
            "g",
            made.graph.input,
            [helper.make_tensor_value_info("y", D, None)],
        ),
        opset_imports=[helper.make_opsetid("", 18)],
    )
    evaluator, out = ReferenceEvaluator(forward), np.zeros_like(arrays[which])

    def total(shift, at):
        moved = [array.copy() for array in arrays]
        moved[which][at] += shift
        return evaluator.run(None, dict(zip("ab", moved, strict=True)))[0].sum()

    for at in np.ndindex(out.shape):
        out[at] = (total(step, at) - total(-step, at)) / (2 * step)
    return out


@pytest.mark.parametrize("formula", FORMULAS)
def test_derivatives(formula):
    random = np.random.default_rng(len(formula))
    arrays = [random.uniform(0.5, 2, (3, 4)) for _ in range(2)]
    made = model(formula)
    _, *found = run(made, *arrays)
    for which in range(2):
        np.testing.assert_allclose(found[which], by_differences(made, arrays, which), rtol=1e-5)


def test_a_repeated_operand():
    """The derivatives by an element that was repeated are added."""
    random = np.random.default_rng(0)
    arrays = [random.uniform(0.5, 2, shape) for shape in ((3, 4), (1, 4))]
    made = model("m = Mul(a, b) \n y = Mul(m, b)", b=(1, 4))
    _, *found = run(made, *arrays)
    for which in range(2):
        np.testing.assert_allclose(found[which], by_differences(made, arrays, which), rtol=1e-5)


def test_without_a_rule():
    with pytest.raises(NncError, match=r"\(Gradient\): there is no derivative of 'nn.floor'"):
        import_model(model("f = Floor(a) \n y = Mul(f, b)"))
