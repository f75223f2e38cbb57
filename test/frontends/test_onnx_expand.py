"""Expand of extents that only the run tells: 1, or as many as the shape says."""

import nnc
import numpy as np
import pytest
from onnx import TensorProto, helper, numpy_helper


def compiled(shape: list[int]):
    model = helper.make_model(
        helper.make_graph(
            [helper.make_node("Expand", ["x", "s"], ["y"], name="wide")],
            "g",
            [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["n", 2])],
            [helper.make_tensor_value_info("y", TensorProto.FLOAT, None)],
            [numpy_helper.from_array(np.array(shape, np.int64), "s")],
        ),
        opset_imports=[helper.make_opsetid("", 17)],
    )
    return nnc.compile(model, cache=False)


@pytest.mark.parametrize("shape", [[3, 2], [1, 3, 1], [3, 1]])
def test_one_or_as_many(shape):
    run = compiled(shape)
    for rows in (1, 3):
        x = np.arange(2 * rows, dtype=np.float32).reshape(rows, 2)
        np.testing.assert_array_equal(run(x), x * np.ones(shape, np.float32))
    with pytest.raises(nnc.NncError, match=r"'wide' \(Expand\): its operand does not fit extent"):
        run(np.ones((2, 2), np.float32))
