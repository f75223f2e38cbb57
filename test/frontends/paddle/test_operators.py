"""Single operators against numbers that are known."""

import math

import numpy as np
import pytest

from .programs import run

ONE = np.float32([1])


@pytest.mark.parametrize(
    ("kind", "inputs", "attributes", "wanted"),
    [
        ("gammaln", (ONE * 5,), {}, math.log(24)),
        ("polygamma", (ONE,), {"n": 0}, -np.euler_gamma),
        ("polygamma", (ONE,), {"n": 1}, math.pi**2 / 6),
        ("polygamma", (ONE,), {"n": 2}, -2 * 1.2020569),
        ("baddbmm", (np.float32([[[2]]]), np.float32([[[1, 2]]]), np.float32([[[3], [4]]])),
         {"beta": 0.5, "alpha": 2.0}, 23),
        ("frobenius_norm", (np.float32([[3], [4]]),), {"keep_dim": True, "reduce_all": True}, 5),
        ("dist", (np.float32([1, 2]), np.float32([4, 6])), {"p": 2.0}, 5),
        ("dist", (np.float32([1, 2]), np.float32([4, 2])), {"p": 0.0}, 1),
        ("renorm", (np.float32([[3, 4], [0.3, 0.4]]),), {"p": 2.0, "axis": 0, "max_norm": 1.0},
         [0.6, 0.8, 0.3, 0.4]),
        ("spectral_norm", (np.float32([[3, 0], [0, 1]]), np.float32([1, 0]), np.float32([1, 0])),
         {"dim": 0, "power_iters": 2}, [1, 0, 0, 1 / 3]),
        ("logcumsumexp", (np.zeros(3, np.float32),), {"axis": 0}, np.log([1, 2, 3])),
        ("cummax", (np.float32([1, 3, 3, 2]),), {"axis": 0}, [1, 3, 3, 3]),
        ("cummin", (np.float32([3, 1, math.nan, 0]),), {"axis": 0}, [3, 1, math.nan, math.nan]),
        ("lp_pool2d", (np.float32([[[[3, 4], [0, 0]]]]),),
         {"kernel_size": [2, 2], "strides": [1, 1], "paddings": [0, 0], "norm_type": 2.0}, 5),
    ],
)  # fmt: skip
def test_numbers(kind, inputs, attributes, wanted):
    np.testing.assert_allclose(run(kind, inputs, attributes).ravel(), np.ravel(wanted), rtol=1e-6)
