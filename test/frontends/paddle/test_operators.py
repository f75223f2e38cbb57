"""Single operators against numbers that are known."""

import math

import numpy as np
import pytest

from .programs import operator, run, run_program

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
        ("cross_entropy_with_softmax", (np.float32([[0, 0], [3, 3]]), np.int64([[1], [-100]])),
         {"axis": -1, "soft_label": False, "ignore_index": -100, "numeric_stable_mode": True},
         [0.5] * 4),
        ("huber_loss", (np.float32([0, 0]), np.float32([1, 3])), {"delta": 2.0}, [0.5, 4]),
        ("bce_loss", (np.float32([1, 0.5]), np.float32([0, 1])), {}, [100, math.log(2)]),
        ("kldiv_loss", (np.float32([0, 0]), np.float32([0, math.e])), {"reduction": "none"},
         [0, math.e]),
        ("sigmoid_cross_entropy_with_logits", (np.zeros(1, np.float32), ONE[0], np.float32([3])),
         {"ignore_index": -100, "normalize": False}, 3 * math.log(2)),
        ("nll_loss", (np.float32([[-1, -2], [-3, -4]]), np.int64([1, 0]), np.float32([1, 3])),
         {"ignore_index": -100, "reduction": "mean"}, (3 * 2 + 3) / 4),
        ("unique", (np.float32([2, 1, 2]),), {"axis": [], "dtype": "int64", "is_sorted": True},
         [1, 2]),
        ("unique_consecutive", (np.float32([2, 2, 1, 2]),), {"axis": [], "dtype": "int64"},
         [2, 1, 2]),
        ("mode", (np.float32([[3, 1, 3, 1]]),), {"axis": -1, "keepdim": False}, 1),
        ("histogram", (np.float32([0, 1, 1, 4, 9]),), {"bins": 4, "min": 0.0, "max": 4.0},
         [1, 2, 0, 1]),
        ("index_sample", (np.float32([[1, 2, 3], [4, 5, 6]]), np.int64([[2, 0], [1, 1]])), {},
         [3, 1, 5, 5]),
        ("empty", (np.int64([2]),), {"dtype": "float32"}, [0, 0]),
        ("nextafter", (np.float32([0, 1]), np.float32([1, 0])), {}, [2.0**-149, 1 - 2.0**-24]),
        ("bitwise_right_shift", (np.int32([-8]), np.int32([2])), {"is_arithmetic": True}, -2),
        ("svdvals", (np.float32([[0, 2], [3, 0]]),), {}, [3, 2]),
        ("eigvalsh", (np.float32([[1, 9], [2, 1]]),), {"uplo": "L"}, [-1, 3]),
        ("slogdet", (np.float32([[0, 2], [3, 0]]),), {}, [-1, math.log(6)]),
        ("cholesky_solve", (np.float32([[4]]), np.float32([[2]])), {"upper": False}, 1),
        ("prelu", (np.float32([[-1, 2]]), np.float32([0.5])),
         {"mode": "all", "data_format": "NCHW"}, [-0.5, 2]),
        ("lp_pool2d", (np.float32([[[[3, 4], [0, 0]]]]),),
         {"kernel_size": [2, 2], "strides": [1, 1], "paddings": [0, 0], "norm_type": 2.0}, 5),
    ],
)  # fmt: skip
def test_numbers(kind, inputs, attributes, wanted):
    np.testing.assert_allclose(run(kind, inputs, attributes).ravel(), np.ravel(wanted), rtol=1e-6)


@pytest.mark.parametrize(("begin", "end"), [(-0.75, 1.3), (0.1, 0.7), (-1.1, 3.3), (2.3, 2.9)])
@pytest.mark.parametrize("count", [1, 2, 4, 7, 12])
def test_ends_of_evenly_spaced_numbers_are_exact(begin, end, count):
    """So the largest element of a histogram is at its edge."""
    begin, end = np.float32(begin), np.float32(end)
    found = run("linspace", (begin, end, np.int32(count)), {"dtype": "float32"})
    wanted = np.linspace(begin, end, count, dtype=np.float32)
    np.testing.assert_array_equal(found[[0, -1]], [begin, end if count > 1 else begin])
    np.testing.assert_allclose(found, wanted, rtol=1e-6, atol=1e-7)


def test_ends_of_whole_numbers_are_cut_off_first():
    found = run("linspace", (np.float32(0.9), np.float32(9.9), np.int32(4)), {"dtype": "int64"})
    np.testing.assert_array_equal(found, [0, 3, 6, 9])


def test_an_array_that_a_loop_writes():
    """What the body writes, a counter, the condition and an array, it does not pass as operands."""

    def number(at, value):
        given = {"shape": [], "value": value, "dtype": "int64"}
        return operator("full", at, [], given, element="i64")

    array = operator("create_array", 5, [2], {"dtype": "float32"})
    array["O"][0]["TT"]["#"] = "1.t_dense_tensor_array"
    body = [
        operator("array_read", 7, [-1], {}, [5, 2]),
        operator("add", 8, [-1], {}, [7, 7]),
        operator("increment_", 9, [], {"value": 1.0}, [2]),
        operator("array_write_", 10, [2], {}, [5, 8, 2]),
        operator("less_than", 11, [], {}, [2, 3]),
        operator("assign_out_", 12, [], {}, [11, 4]),
        {"#": "2.yield", "A": [], "I": [{"%": 4}], "O": []},
    ]
    loop = {"#": "1.while", "A": [], "I": [{"%": 4}], "O": []}
    ops = [
        operator("data", 1, [2], {"name": "x"}),
        number(2, 0.0),
        number(3, 3.0),
        operator("less_than", 4, [], {}, [2, 3]),
        array,
        operator("array_write_", 6, [2], {}, [5, 1, 2]),
        loop | {"regions": [{"blocks": [{"args": [], "ops": body}]}]},
        operator("array_to_tensor", 13, [-1, 2], {"axis": 0, "use_stack": True}, [5]),
        operator("fetch", 14, [-1, 2], {"name": "y"}, [13]),
    ]
    found = run_program(ops, [np.float32([1, 3])])
    np.testing.assert_array_equal(found, [[1, 3], [2, 6], [4, 12], [8, 24]])
