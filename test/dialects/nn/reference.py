"""Running one nn op on arrays, and the ONNX reference implementation beside it."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import onnx
from nnc.ir.core import Block
from nnc.ir.numpy_types import numpy_to_type
from nnc.ir.types import TensorType
from onnx import TensorProto, helper
from onnx.reference import ReferenceEvaluator

SMALL = {np.dtype(ml_dtypes.bfloat16): TensorProto.BFLOAT16}


def run(factory, *arrays, dynamic: bool = False):
    """Build the op on the arrays' types, verify it, check its result types, evaluate it."""
    types = [
        TensorType([None] * a.ndim if dynamic else a.shape, numpy_to_type(a.dtype)) for a in arrays
    ]
    block = Block(types)
    op = factory(*block.args)
    op.verify()
    outs = op.evaluate(*arrays)
    outs = outs if isinstance(outs, tuple) else (outs,)
    assert len(outs) == len(op.results)
    for out, result in zip(outs, op.results, strict=True):
        assert isinstance(out, np.ndarray), type(out)
        assert numpy_to_type(out.dtype) is result.type.element_type, (out.dtype, result.type)
        assert len(result.type.shape) == out.ndim, (out.shape, result.type)
        for extent, declared in zip(out.shape, result.type.shape, strict=True):
            assert declared in (None, extent), (out.shape, result.type)
    return outs if len(outs) != 1 else outs[0]


def onnx_type(dtype) -> int:
    return SMALL.get(np.dtype(dtype)) or helper.np_dtype_to_tensor_dtype(np.dtype(dtype))


def reference(op_type: str, *arrays, opset: int = 23, outputs: int = 1, **attributes):
    """The ONNX reference implementation's results; None is an operand left out."""
    names = ["" if a is None else f"x{i}" for i, a in enumerate(arrays)]
    outs = [f"y{i}" for i in range(outputs)]
    node = helper.make_node(op_type, names, outs, **attributes)
    given = {n: a for n, a in zip(names, arrays, strict=True) if n}
    inputs = [
        helper.make_tensor_value_info(n, onnx_type(a.dtype), a.shape) for n, a in given.items()
    ]
    results = [onnx.ValueInfoProto(name=o) for o in outs]
    graph = helper.make_graph([node], "g", inputs, results)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)])
    found = ReferenceEvaluator(model).run(None, given)
    return tuple(found) if outputs > 1 else found[0]


def close(found, expected, dtype=None) -> None:
    """Equal for integers; for floats within what their width allows."""
    expected = np.asarray(expected)
    assert found.shape == expected.shape, (found.shape, expected.shape)
    if found.dtype.kind in "biu":
        np.testing.assert_array_equal(found, expected)
        return
    tolerance = {2: 2e-2, 4: 2e-5, 8: 1e-9}[found.dtype.itemsize]
    np.testing.assert_allclose(
        found.astype(np.float64), expected.astype(np.float64), rtol=tolerance, atol=tolerance
    )


def runtime(op_type: str, *arrays, opset: int = 22, outputs: int = 1, **attributes):
    """The results of onnxruntime."""
    import onnxruntime

    names = [f"x{i}" for i in range(len(arrays))]
    outs = [f"y{i}" for i in range(outputs)]
    node = helper.make_node(op_type, names, outs, **attributes)
    inputs = [
        helper.make_tensor_value_info(n, onnx_type(a.dtype), a.shape)
        for n, a in zip(names, arrays, strict=True)
    ]
    results = [onnx.ValueInfoProto(name=o) for o in outs]
    graph = helper.make_graph([node], "g", inputs, results)
    imports = [helper.make_opsetid("", opset)]
    model = helper.make_model(graph, opset_imports=imports, ir_version=10)
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    session = onnxruntime.InferenceSession(
        model.SerializeToString(), options, providers=["CPUExecutionProvider"]
    )
    found = session.run(None, dict(zip(names, arrays, strict=True)))
    return tuple(found) if outputs > 1 else found[0]
