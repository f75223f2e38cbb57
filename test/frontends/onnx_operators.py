"""Models of one operator, and onnxruntime's results."""

import numpy as np
import onnxruntime
from onnx import TensorProto

from .models import initializer, make_model, node, run, value

RANDOM = np.random.default_rng(7)


def random(*shape):
    return RANDOM.standard_normal(shape).astype(np.float32)


def by_onnxruntime(model, *arrays):
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    session = onnxruntime.InferenceSession(model.SerializeToString(), options)
    names = [i.name for i in session.get_inputs()]
    return session.run(None, dict(zip(names, arrays, strict=True)))


def check(model, *arrays, rtol=1e-4, atol=1e-5):
    model.ir_version = 10
    for found, expected in zip(run(model, *arrays), by_onnxruntime(model, *arrays), strict=True):
        assert found.dtype == expected.dtype
        np.testing.assert_allclose(found, expected, rtol=rtol, atol=atol)


def one(
    op_type, arrays, weights=(), outputs=1, opset=21, domain="", results=None, open=False,
    **attributes,
):  # fmt: skip
    """A model of one node; `arrays` are inputs (None for one left out), `weights` constants behind.

    With `open`, extents of the first input but for its channels are known at run time only.
    """
    inputs = [f"x{i}" if a is not None else "" for i, a in enumerate(arrays)]
    shapes = [a.shape if a is not None else () for a in arrays]
    if open:
        shapes[0] = tuple(d if i == 1 else f"d{i}" for i, d in enumerate(shapes[0]))
    names = [f"w{i}" if w is not None else "" for i, w in enumerate(weights)]
    kinds = {"float32": TensorProto.FLOAT, "int64": TensorProto.INT64, "bool": TensorProto.BOOL}
    outs = [f"y{i}" for i in range(outputs)]
    return make_model(
        [node(op_type, inputs + names, outs, "op", domain=domain, **attributes)],
        [
            value(n, shape, kinds[str(a.dtype)])
            for n, shape, a in zip(inputs, shapes, arrays, strict=True)
            if n
        ],
        [
            value(n, None, kind)
            for n, kind in zip(outs, results or [TensorProto.FLOAT] * outputs, strict=True)
        ],
        [initializer(n, w) for n, w in zip(names, weights, strict=True) if n],
        opset=opset,
        domains={"com.microsoft": 1} if domain else {},
    )
