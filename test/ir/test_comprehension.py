"""Tensor comprehensions: text, binding to types, shapes, evaluation."""

from __future__ import annotations

import numpy as np
import pytest
from nnc.ir.affine import AffineConstant, AffineDim
from nnc.ir.comprehension import Apply, Load, Number, combiner_identity
from nnc.ir.comprehension_bind import bind
from nnc.ir.comprehension_numpy import evaluate
from nnc.ir.diagnostics import DeclarationError, NncError
from nnc.ir.types import IntegerType, TensorType, f32, i1, i32, i64


def t(*shape, element=f32):
    return TensorType(shape, element)


def form(text, *types, extents=None, **scope):
    names = ["x", "y", "z"][: len(types)]
    return bind(text, names, types, scope, extents)


def maps(comprehension):
    return [str(a.map).partition(" -> ")[2] for a in comprehension.accesses]


MATMUL = "out[b.., m, n] += x[b.., m, k] * y[b.., k, n]"


def test_matmul():
    found = form(MATMUL, t(2, 3, 4, 5), t(3, 5, 6))
    assert [(d.name, d.kind, d.size) for d in found.dims] == [
        ("b0", "parallel", 2),
        ("b1", "parallel", 3),
        ("m", "parallel", 4),
        ("n", "parallel", 6),
        ("k", "reduction", 5),
    ]
    assert found.shape == (2, 3, 4, 6)
    assert maps(found) == ["(d0, d1, d2, d4)", "(d1, d4, d3)"]
    assert found.out.results == tuple(AffineDim(i) for i in range(4))
    assert found.value == Apply("mul", (Load(0, f32), Load(1, f32)), f32)
    assert found.combiner == "add" and found.identity == 0


def test_broadcasting_aligns_from_the_right_and_reads_ones_at_0():
    found = form("out[i..] = x[i..] + y[i..]", t(4, 1, 3), t(5, 1))
    assert found.shape == (4, 5, 3)
    assert maps(found) == ["(d0, 0, d2)", "(d1, 0)"]


def test_all_ones_keep_their_dimension():
    """So that the map of an operand of the result's shape is the identity."""
    found = form("out[i..] = x[i..] + y[i..]", t(1, 3), t(1, 3))
    assert maps(found) == ["(d0, d1)", "(d0, d1)"]


def test_windows_are_as_large_as_stays_in_bounds():
    found = form("out[p] max= x[p*s + k*d]", t(10), extents={"k": 3}, s=2, d=2)
    assert found.shape == (3,)  # 0..2*2 + 2*2 = 8
    assert maps(found) == ["(d0 * 2 + d1 * 2)"]
    assert form("out[p] = x[9 + p*-2]", t(10)).shape == (5,)
    assert form("out[p] += x[p + k] * y[k]", t(2), t(5)).shape == (0,)


def test_unknown_extents_are_formulas_of_the_operands():
    found = form("out[n, p] += x[n, p*s + k] * y[k]", t(None, None), t(3), s=2)
    n, p, k = found.dims
    assert found.shape == (None, None) and k.size == 3
    assert n.extent.sources == ((0, 0),) and n.extent.expr == AffineDim(0)
    assert p.extent.sources == ((0, 1),)
    assert [p.extent.expr.evaluate([size]) for size in (3, 4, 5, 9)] == [1, 1, 2, 4]


def test_unknown_extents_may_broadcast_at_run_time():
    found = form("out[i..] = x[i..] + y[i..]", t(None), t(None))
    assert found.dims[0].extent.broadcast
    assert [a.broadcasts for a in found.accesses] == [(0,), (0,)]
    found = form("out[i..] = x[i..] + y[i..]", t(None), t(7))
    assert found.shape == (7,) and [a.broadcasts for a in found.accesses] == [(0,), ()]
    # against 1 there is no doubt
    found = form("out[i..] = x[i..] + y[i..]", t(None), t(1))
    assert [a.broadcasts for a in found.accesses] == [(), ()]


def test_numbers_take_the_type_of_what_they_meet():
    found = form("out[i..] = select(x[i..] < 0, x[i..] * 2, 1)", t(3, element=i32))
    less, product, one = found.value.args
    assert less.type is i1 and less.args[1] == Number(0, i32)
    assert product.args[1] == Number(2, i32) and one == Number(1, i32)
    with pytest.raises(NncError, match="needs floats"):
        form("out[i..] = x[i..] * 0.5", t(3, element=i32))


def test_cast_and_attributes():
    found = bind("out[i] = cast(alpha * x[i])", ["x"], [t(3)], {"alpha": 0.5}, None, i64)
    assert found.value.type is i64
    np.testing.assert_array_equal(
        evaluate(found, [np.array([2, 4, 7], "f4")], np.dtype("i8")), [1, 2, 3]
    )


@pytest.mark.parametrize(
    "combiner,type,value",
    [
        ("max", f32, float("-inf")),
        ("min", IntegerType(8), 127),
        ("max", IntegerType(8), -128),
        ("max", IntegerType(8, "u"), 0),
        ("min", IntegerType(8, "u"), 255),
        ("mul", f32, 1),
    ],
)
def test_identities(combiner, type, value):
    assert combiner_identity(combiner, type) == value


RANDOM = [
    (MATMUL, [(2, 1, 3, 4), (5, 4, 2)], lambda x, y: x @ y),
    ("out[j, i] = x[i, j]", [(3, 4)], np.transpose),
    ("out[i] = x[i, i]", [(4, 4)], np.diagonal),
    ("out[] += x[i] * y[i]", [(5,), (5,)], np.dot),
    ("out[i, j] += x[i] * y[j]", [(5,), (3,)], np.outer),
    ("out[i] += x[i, j] * y[k]", [(3, 4), (5,)], lambda x, y: x.sum(1) * y.sum()),
    ("out[i] max= x[i, j] + y[j]", [(3, 4), (4,)], lambda x, y: (x + y).max(1)),
    ("out[i] min= -x[i, j]", [(3, 4)], lambda x: (-x).min(1)),
    ("out[i] *= x[j, i]", [(3, 4)], lambda x: x.prod(0)),
    ("out[i] += x[i, j] * x[i, j]", [(3, 4)], lambda x: (x * x).sum(1)),
    ("out[i, j] = x[i // 2, j % 3]", [(2, 3)], lambda x: np.tile(np.repeat(x, 2, 0), (1, 2))),
    (
        "out[i] += x[2 + i*3 + k]",
        [(12,)],
        lambda x: np.array([x[2:4].sum(), x[5:7].sum(), x[8:10].sum()]),
    ),
    (
        "out[i..] = exp(x[i..]) / (1 + abs(y[i..]))",
        [(3, 1), (4,)],
        lambda x, y: np.exp(x) / (1 + abs(y)),
    ),
    ("out[i] += x[i, j]", [(3, 0)], lambda x: np.zeros(3)),
    ("out[i, j] += x[i, k] * y[k, j]", [(3, 0), (0, 2)], lambda x, y: np.zeros((3, 2))),
]
EXTENTS = {10: {"i": 4, "j": 6}, 11: {"i": 3, "k": 2}}


@pytest.mark.parametrize("number", range(len(RANDOM)), ids=[r[0] for r in RANDOM])
def test_evaluation(number):
    text, shapes, expected = RANDOM[number]
    rng = np.random.default_rng(number)
    arrays = [rng.standard_normal(s) for s in shapes]
    types = [t(*s, element=TensorType((), f32).element_type) for s in shapes]
    found = form(text, *types, extents=EXTENTS.get(number))
    np.testing.assert_allclose(
        evaluate(found, arrays, np.dtype("f8")), expected(*arrays), rtol=1e-12
    )


def test_reading_through_a_copy():
    """matmul(transpose(x), y) as one comprehension on x."""
    product = form(MATMUL, t(3, 5), t(5, 2))
    copy = form("out[i1, i0] = x[i0, i1]", t(5, 3))
    through = product.read_through(0, copy)
    assert maps(through) == ["(d2, d0)", "(d2, d1)"]
    rng = np.random.default_rng(0)
    x, y = rng.standard_normal((5, 3)), rng.standard_normal((5, 2))
    np.testing.assert_allclose(evaluate(through, [x, y], np.dtype("f8")), x.T @ y)


def test_indices_out_of_bounds_are_an_error():
    found = form("out[p] = x[p + k]", t(4), extents={"p": 4}, k=1)
    with pytest.raises(NncError, match="leave an axis of 4 elements"):
        evaluate(found, [np.zeros(4)], np.dtype("f8"))


@pytest.mark.parametrize(
    "text,message",
    [
        ("out[i] = ", "it is cut off"),
        ("out = x[i]", "expected the result's element"),
        ("out[i] ~ x[i]", "unexpected character '~'"),
        ("out[i] = x[i] x[i]", "unexpected 'x'"),
        ("out[i] = foo(x[i])", "there is no function 'foo'"),
        ("out[i] = exp(x[i], x[i])", "'exp' takes 1 arguments, not 2"),
        ("out[i] = x[i, j]", "dimension 'j' is not in the result; use a combiner"),
        ("out[i, i] = x[i]", "must be different dimensions"),
        ("out[i, j] = x[i]", "no operand determines the extent of dimension 'j'"),
        ("out[i] = w[i]", "'w' is not an operand"),
        ("out[i] = x[i*j]", "needs an integer on one side"),
        ("out[i] = x[i // 0]", "needs a positive integer"),
        ("out[i] = x[i.., j..]", "more than one group"),
    ],
)
def test_faulty_texts(text, message):
    types = [t(3, 3)] if "x[i, j]" in text else [t(3)]
    with pytest.raises(NncError, match=message):
        form(text, *types)


def test_misfits_name_both_operands():
    with pytest.raises(NncError, match=r"dimension 'k': x has 4 but y has 5 \('tensor<5x2xf32>'\)"):
        form(MATMUL, t(3, 4), t(5, 2))
    with pytest.raises(NncError, match="x must have at least rank 2"):
        form(MATMUL, t(4), t(4, 2))


def test_a_faulty_body_is_found_when_the_class_is_made():
    from nnc.dialects.nn.unary import UnaryOp

    with pytest.raises(DeclarationError, match="'y' is not an operand of the op"):

        class Bad(UnaryOp, name="nn.bad_operand"):
            """Refers to what it has not."""

            body = "out[i..] = y[i..]"
            example = "%y = nn.bad_operand %x : (tensor<4xf32>) -> tensor<4xf32>"

    with pytest.raises(DeclarationError, match="'alpha' is not an attribute of the op"):

        class Worse(UnaryOp, name="nn.bad_attribute"):
            """Refers to what it has not."""

            body = "out[i..] = alpha * x[i..]"
            example = "%y = nn.bad_attribute %x : (tensor<4xf32>) -> tensor<4xf32>"


def test_constants_fold():
    found = form("out[i] = x[i] * (1 + 2)", t(3))
    assert found.value.args[1] == Number(3.0, f32)
    assert form("out[i] = x[0 + i]", t(3)).accesses[0].map.results == (AffineDim(0),)
    assert form("out[i] = x[i] + y[0]", t(3), t(2)).accesses[1].map.results == (AffineConstant(0),)
