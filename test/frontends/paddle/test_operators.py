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
    ],
)  # fmt: skip
def test_numbers(kind, inputs, attributes, wanted):
    np.testing.assert_allclose(run(kind, inputs, attributes).ravel(), [wanted], rtol=1e-6)
