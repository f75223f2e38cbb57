"""Windows of convolutions, poolings and resampling where PaddlePaddle has rules of its own."""

import numpy as np
import pytest

from .programs import run

ROW = np.float32([[[[1, 2, 3, 4, 5]]]])
ONES = np.ones((1, 1, 1, 3), np.float32)


SAME = {"padding_algorithm": "SAME", "paddings": [0, 0], "data_format": "NCHW", "groups": 1}
MEANS = {"pooling_type": "avg", "exclusive": False, "data_format": "NCHW", "kernel_size": [1, 3]}
LINES = np.float32([10, 11, 13, 17, 25, 41])
OLD = {"is_test": True, "workspace_size_MB": 512, "fuse_relu": False, "Scale_in": 1.0,
       "fuse_activation": "", "fuse_alpha": 0.0, "exhaustive_search": False}  # fmt: skip
"""What PaddlePaddle before 2.3 writes of each convolution."""
TO_ONE = {"align_corners": False, "align_mode": 0, "data_format": "NCHW"}


@pytest.mark.parametrize(
    ("kind", "inputs", "attributes", "wanted"),
    [
        # SAME has no dilations, whatever the attribute is.
        ("conv2d", (ROW, ONES), {"strides": [1, 1], "dilations": [2, 2], **SAME}, [3, 6, 9, 12, 9]),
        ("depthwise_conv2d", (ROW, ONES), {"strides": [1, 2], "dilations": [1, 1], **SAME, **OLD},
         [3, 9, 9]),
        # Of 1 1 3 2 5 3 3, an element at each end is the padding of a convolution's input.
        ("conv2d_transpose", (ROW[..., :3], ONES), {"strides": [2, 2], "dilations": [1, 1], **SAME},
         [1, 3, 2, 5, 3]),
        # The last window has two elements: padding is counted as far as it lies before the input.
        ("pool2d", (ROW,), {"strides": [1, 1], "paddings": [0, 0, 0, 1], **MEANS}, [2, 3, 4, 4.5]),
        ("pool2d", (ROW[..., :4],), {"strides": [1, 2], "padding_algorithm": "SAME", **MEANS},
         [2, 3.5]),
        # With extents rounded up, SAME is the padding that it has, here none; a window may begin
        # behind the input, where Paddle has no elements.
        ("pool2d", (ROW,), {"strides": [1, 3], "padding_algorithm": "SAME", "ceil_mode": True,
                            **MEANS, "kernel_size": [1, 1]}, [1, 4, 0]),
        ("pool2d", (ROW,), {"strides": [1, 2], "paddings": [0, 0, 1, 2], "ceil_mode": True,
                            **MEANS, "exclusive": True, "kernel_size": [1, 2]},
         [1, 2.5, 4.5, np.nan]),
        ("pool2d", (ROW,), {"strides": [1, 2], "paddings": [0, 0, 1, 2], "ceil_mode": True,
                            **MEANS, "pooling_type": "max", "kernel_size": [1, 2]},
         [1, 3, 5, np.finfo("f4").min]),
        ("bilinear_interp", (LINES.reshape(1, 1, 1, 6),), {"out_h": 1, "out_w": 1, **TO_ONE}, [10]),
        ("bilinear_interp", (LINES.reshape(1, 1, 6, 1),), {"scale": [0.2, 2.0], **TO_ONE},
         [10, 10]),
        ("bicubic_interp", (LINES.reshape(1, 1, 6, 1),), {"scale": [0.2, 2.0], **TO_ONE},
         [10 - 3 / 32] * 2),
        ("bicubic_interp", (LINES.reshape(1, 1, 1, 6),), {"out_h": 1, "out_w": 1, **TO_ONE},
         [10 - 3 / 32]),
        ("trilinear_interp", (LINES.reshape(1, 1, 6, 1, 1),),
         {"out_d": 1, "out_h": 1, "out_w": 1, **TO_ONE, "data_format": "NCDHW"}, [15]),
    ],
)  # fmt: skip
def test_windows(kind, inputs, attributes, wanted):
    np.testing.assert_allclose(run(kind, inputs, attributes).ravel(), wanted, rtol=1e-6)
