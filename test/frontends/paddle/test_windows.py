"""Windows of convolutions, poolings and resampling where PaddlePaddle has rules of its own."""

import json

import nnc
import numpy as np
import pytest

ROW = np.float32([[[[1, 2, 3, 4, 5]]]])
ONES = np.ones((1, 1, 1, 3), np.float32)


def attribute(name, value):
    """An attribute as PIR's JSON has it."""
    kinds = {bool: "bool", int: "i32", float: "f32", str: "str"}
    if isinstance(value, list):
        return {"N": name, "AT": {"#": "0.a_array", "D": [attribute("", v)["AT"] for v in value]}}
    return {"N": name, "AT": {"#": f"0.a_{kinds[type(value)]}", "D": value}}


def operator(kind, number, shape, attributes, inputs=()):
    made = {"%": number, "TT": {"#": "0.t_dtensor", "D": [{"#": "0.t_f32"}, list(shape)]}}
    given = [attribute(name, value) for name, value in attributes.items()]
    return {"#": f"1.{kind}", "A": given, "I": [{"%": i} for i in inputs], "O": [made]}


def run(kind, inputs, attributes):
    """What an operator makes of its inputs."""
    ops = [operator("data", i, x.shape, {"name": f"x{i}"}) for i, x in enumerate(inputs, 1)]
    numbers = range(1, len(inputs) + 1)
    ops.append(operator(kind, 9, [-1] * inputs[0].ndim, attributes, numbers))
    ops.append(operator("fetch", 10, [-1] * inputs[0].ndim, {"name": "y"}, [9]))
    program = {"regions": [{"blocks": [{"args": [], "ops": ops}]}]}
    whole = {"base_code": {"magic": "pir", "version": 1}, "program": program}
    return nnc.compile(json.dumps(whole).encode(), cache=False)(*inputs)


SAME = {"padding_algorithm": "SAME", "paddings": [0, 0], "data_format": "NCHW", "groups": 1}
MEANS = {"pooling_type": "avg", "exclusive": False, "data_format": "NCHW", "kernel_size": [1, 3]}
LINES = np.float32([10, 11, 13, 17, 25, 41])
TO_ONE = {"align_corners": False, "align_mode": 0, "data_format": "NCHW"}


@pytest.mark.parametrize(
    ("kind", "inputs", "attributes", "wanted"),
    [
        # SAME has no dilations, whatever the attribute is.
        ("conv2d", (ROW, ONES), {"strides": [1, 1], "dilations": [2, 2], **SAME}, [3, 6, 9, 12, 9]),
        # Of 1 1 3 2 5 3 3, an element at each end is the padding of a convolution's input.
        ("conv2d_transpose", (ROW[..., :3], ONES), {"strides": [2, 2], "dilations": [1, 1], **SAME},
         [1, 3, 2, 5, 3]),
        # The last window has two elements: padding is counted as far as it lies before the input.
        ("pool2d", (ROW,), {"strides": [1, 1], "paddings": [0, 0, 0, 1], **MEANS}, [2, 3, 4, 4.5]),
        ("pool2d", (ROW[..., :4],), {"strides": [1, 2], "padding_algorithm": "SAME", **MEANS},
         [2, 3.5]),
        ("bilinear_interp", (LINES.reshape(1, 1, 1, 6),), {"out_h": 1, "out_w": 1, **TO_ONE}, [10]),
        ("trilinear_interp", (LINES.reshape(1, 1, 6, 1, 1),),
         {"out_d": 1, "out_h": 1, "out_w": 1, **TO_ONE, "data_format": "NCDHW"}, [15]),
    ],
)  # fmt: skip
def test_windows(kind, inputs, attributes, wanted):
    np.testing.assert_allclose(run(kind, inputs, attributes).ravel(), wanted, rtol=1e-6)
