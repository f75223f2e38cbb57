"""Folding and evaluating integer arithmetic, against NumPy."""

import operator
from functools import cache

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from nnc.dialects import arith
from nnc.ir.attributes import DenseElements, IntegerAttr
from nnc.ir.diagnostics import NncError
from nnc.ir.types import IntegerType, VectorType, i1, i8, i32, i64, index

WIDTHS = (8, 16, 32, 64)


def truncated(a, b):
    """C's quotient, from floor division of magnitudes in unbounded Python ints."""
    return np.array(
        [
            int(abs(int(x)) // abs(int(y))) * (1 if (x < 0) == (y < 0) else -1)
            for x, y in zip(a, b, strict=True)
        ],
        dtype=object,
    )


def c_remainder(a, b):
    return np.array([int(x) for x in a], dtype=object) - truncated(a, b) * np.array(
        [int(y) for y in b], dtype=object
    )


def as_objects(array):
    return np.array([int(x) for x in array], dtype=object)


# What each operation computes, on unbounded integers: signed or unsigned reading, function.
ORACLES = {
    arith.AddI: ("s", operator.add),
    arith.SubI: ("s", operator.sub),
    arith.MulI: ("s", operator.mul),
    arith.DivUI: ("u", operator.floordiv),
    arith.DivSI: ("s", truncated),
    arith.CeilDivUI: ("u", lambda a, b: -(-a // b)),
    arith.CeilDivSI: ("s", lambda a, b: -(-a // b)),
    arith.FloorDivSI: ("s", operator.floordiv),
    arith.RemUI: ("u", operator.mod),
    arith.RemSI: ("s", c_remainder),
    arith.AndI: ("s", operator.and_),
    arith.OrI: ("s", operator.or_),
    arith.XOrI: ("s", operator.xor),
    arith.MaxSI: ("s", np.maximum),
    arith.MaxUI: ("u", np.maximum),
    arith.MinSI: ("s", np.minimum),
    arith.MinUI: ("u", np.minimum),
}
DIVISIONS = {c for c in ORACLES if "div" in c.name or "rem" in c.name}
SHIFTS = {
    arith.ShLI: ("s", operator.lshift),
    arith.ShRUI: ("u", operator.rshift),
    arith.ShRSI: ("s", operator.rshift),
}


def reduce_to(values, width):
    return [IntegerType(width).wrap(int(v)) for v in values]


def interesting(width):
    low, high = -(1 << (width - 1)), (1 << (width - 1)) - 1
    return st.one_of(st.sampled_from([0, 1, -1, 2, low, low + 1, high]), st.integers(low, high))


@cache
def lists_of_pairs(width, shift):
    """Made once: Hypothesis examines each strategy that is new to it."""
    right = st.integers(0, width - 1) if shift else interesting(width)
    return st.lists(st.tuples(interesting(width), right), min_size=1, max_size=5)


@st.composite
def pairs(draw, divisor=False, shift=False):
    width = draw(st.sampled_from(WIDTHS))
    a, b = map(list, zip(*draw(lists_of_pairs(width, shift)), strict=True))
    if divisor:
        low = -(1 << (width - 1))
        b = [3 if y == 0 or (y == -1 and x == low) else y for x, y in zip(a, b, strict=True)]
    return width, a, b


def check(op_class, reading, function, width, a, b):
    type = VectorType((len(a),), IntegerType(width))
    dtype = np.dtype(f"{'u' if reading == 'u' else ''}int{width}")
    left, right = (as_objects(np.array(x, dtype=f"int{width}").view(dtype)) for x in (a, b))
    expected = reduce_to(function(left, right), width)
    constants = [arith.Constant(DenseElements.from_list(x, type)) for x in (a, b)]
    op = op_class(*constants)
    (folded,) = op.fold()
    if not isinstance(folded, DenseElements):
        folded = folded.defining_op.value  # an identity: one of the operands
    assert np.broadcast_to(np.array(folded.values(), object), len(a)).tolist() == expected
    evaluated = op.evaluate(*(np.array(x, f"int{width}") for x in (a, b)))
    assert evaluated.dtype == np.dtype(f"int{width}")
    assert evaluated.tolist() == expected
    scalar = op_class(*(arith.Constant(IntegerAttr(x[0], IntegerType(width))) for x in (a, b)))
    (one,) = scalar.fold()
    one = one if isinstance(one, IntegerAttr) else one.defining_op.value
    assert one.value == expected[0]
    value = scalar.evaluate(*(np.dtype(f"int{width}").type(x[0]) for x in (a, b)))
    assert value == expected[0] and value.dtype == np.dtype(f"int{width}") and value.ndim == 0


@pytest.mark.parametrize(
    "op_class", [c for c in ORACLES if c not in DIVISIONS], ids=lambda c: c.name
)
@given(case=pairs())
def test_total_operations(op_class, case):
    check(op_class, *ORACLES[op_class], *case)


@pytest.mark.parametrize("op_class", sorted(DIVISIONS, key=lambda c: c.name), ids=lambda c: c.name)
@given(case=pairs(divisor=True))
def test_divisions(op_class, case):
    check(op_class, *ORACLES[op_class], *case)


@pytest.mark.parametrize("op_class", SHIFTS, ids=lambda c: c.name)
@given(case=pairs(shift=True))
def test_shifts(op_class, case):
    check(op_class, *SHIFTS[op_class], *case)


@pytest.mark.parametrize("op_class", sorted(DIVISIONS, key=lambda c: c.name), ids=lambda c: c.name)
def test_division_by_zero_is_left_alone_and_reported(op_class):
    five, zero = arith.Constant.of(5, i32), arith.Constant.of(0, i32)
    op = op_class(five, zero)
    assert op.fold() is None
    assert not op.is_speculatable()
    with pytest.raises(NncError, match="divides by zero"):
        op.evaluate(np.int32(5), np.int32(0))


@pytest.mark.parametrize(
    "op_class", [arith.DivSI, arith.CeilDivSI, arith.FloorDivSI], ids=lambda c: c.name
)
def test_overflowing_quotient_is_left_alone(op_class):
    op = op_class(arith.Constant.of(-128, i8), arith.Constant.of(-1, i8))
    assert op.fold() is None
    assert not op.is_speculatable()


@pytest.mark.parametrize("op_class", SHIFTS, ids=lambda c: c.name)
def test_shift_by_the_width_is_left_alone(op_class):
    assert op_class(arith.Constant.of(1, i8), arith.Constant.of(8, i8)).fold() is None


@pytest.mark.parametrize("width", [1, 3, 7, 65, 128])
@given(data=st.data())
def test_odd_widths_fold_modulo_the_width(width, data):
    type = IntegerType(width)
    a, b = (data.draw(st.integers(0, (1 << width) - 1)) for _ in range(2))
    for op_class, function in (
        (arith.AddI, operator.add),
        (arith.SubI, operator.sub),
        (arith.MulI, operator.mul),
    ):
        (folded,) = op_class(arith.Constant.of(a, type), arith.Constant.of(b, type)).fold()
        value = folded if isinstance(folded, IntegerAttr) else folded.defining_op.value
        assert value.value % (1 << width) == function(a, b) % (1 << width)


def test_index_wraps_at_64_bits():
    (folded,) = arith.AddI(arith.Constant.index(2**63 - 1), arith.Constant.index(1)).fold()
    assert folded is IntegerAttr(-(2**63), index)


@pytest.mark.parametrize(
    ("op_class", "expected"),
    [
        (arith.AddI, [0, 1, 1, 0]),
        (arith.MulI, [0, 0, 0, 1]),
        (arith.MaxSI, [0, 0, 0, 1]),
        (arith.MaxUI, [0, 1, 1, 1]),
        (arith.MinSI, [0, 1, 1, 1]),
        (arith.MinUI, [0, 0, 0, 1]),
        (arith.XOrI, [0, 1, 1, 0]),
    ],
    ids=lambda c: getattr(c, "name", ""),
)
def test_booleans(op_class, expected):
    """i1 as a signed number is 0 or -1."""
    a, b = np.array([0, 0, 1, 1], bool), np.array([0, 1, 0, 1], bool)
    type = VectorType((4,), i1)
    op = op_class(*(arith.Constant(DenseElements.from_numpy(x, type)) for x in (a, b)))
    assert op.evaluate(a, b).tolist() == [bool(e) for e in expected]
    assert op.fold()[0].values() == expected


class TestIdentities:
    """Folds that need one constant operand, or none."""

    x = arith.IndexCast(arith.Constant.index(7), out=i32)

    @pytest.mark.parametrize(
        ("op_class", "number"),
        [
            (arith.AddI, 0),
            (arith.SubI, 0),
            (arith.MulI, 1),
            (arith.DivSI, 1),
            (arith.DivUI, 1),
            (arith.CeilDivSI, 1),
            (arith.FloorDivSI, 1),
            (arith.AndI, -1),
            (arith.OrI, 0),
            (arith.XOrI, 0),
            (arith.ShLI, 0),
            (arith.ShRSI, 0),
            (arith.MaxSI, -(2**31)),
            (arith.MaxUI, 0),
            (arith.MinSI, 2**31 - 1),
            (arith.MinUI, -1),
        ],
    )
    def test_neutral(self, op_class, number):
        op = op_class(self.x, arith.Constant.of(number, i32))
        assert op.fold() == [self.x.result]

    @pytest.mark.parametrize(
        ("op_class", "number", "expected"),
        [
            (arith.MulI, 0, 0),
            (arith.AndI, 0, 0),
            (arith.OrI, -1, -1),
            (arith.MaxSI, 2**31 - 1, 2**31 - 1),
            (arith.MaxUI, -1, -1),
            (arith.MinUI, 0, 0),
            (arith.RemSI, 1, 0),
            (arith.RemUI, 1, 0),
        ],
    )
    def test_absorbing(self, op_class, number, expected):
        op = op_class(self.x, arith.Constant.of(number, i32))
        assert op.fold() == [IntegerAttr(expected, i32)]

    @pytest.mark.parametrize("op_class", [arith.AndI, arith.OrI, arith.MaxSI, arith.MinUI])
    def test_idempotent(self, op_class):
        assert op_class(self.x, self.x).fold() == [self.x.result]

    @pytest.mark.parametrize("op_class", [arith.SubI, arith.XOrI])
    def test_with_itself(self, op_class):
        assert op_class(self.x, self.x).fold() == [IntegerAttr(0, i32)]

    def test_division_by_itself_stays(self):
        assert arith.DivSI(self.x, self.x).fold() is None
        assert arith.DivSI(arith.Constant.of(0, i32), self.x).fold() is None

    def test_opposite_operations(self):
        y = arith.IndexCast(arith.Constant.index(3), out=i32)
        assert arith.SubI(arith.AddI(self.x, y), y).fold() == [self.x.result]
        assert arith.SubI(arith.AddI(self.x, y), self.x).fold() == [y.result]
        assert arith.AddI(arith.SubI(self.x, y), y).fold() == [self.x.result]
        assert arith.AddI(y, arith.SubI(self.x, y)).fold() == [self.x.result]
        assert arith.XOrI(arith.XOrI(self.x, y), y).fold() == [self.x.result]


PREDICATES = {
    "eq": ("s", operator.eq),
    "ne": ("s", operator.ne),
    "slt": ("s", operator.lt),
    "sle": ("s", operator.le),
    "sgt": ("s", operator.gt),
    "sge": ("s", operator.ge),
    "ult": ("u", operator.lt),
    "ule": ("u", operator.le),
    "ugt": ("u", operator.gt),
    "uge": ("u", operator.ge),
}


@pytest.mark.parametrize("predicate", PREDICATES)
@given(case=pairs())
def test_comparisons(predicate, case):
    width, a, b = case
    reading, relation = PREDICATES[predicate]
    dtype = np.dtype(f"{'u' if reading == 'u' else ''}int{width}")
    left, right = (np.array(x, dtype=f"int{width}") for x in (a, b))
    expected = relation(left.view(dtype), right.view(dtype)).tolist()
    type = VectorType((len(a),), IntegerType(width))
    op = arith.CmpI(predicate, *(arith.Constant(DenseElements.from_list(x, type)) for x in (a, b)))
    folded = np.broadcast_to(op.fold()[0].to_numpy(), len(a))
    assert folded.tolist() == expected
    assert op.evaluate(left, right).tolist() == expected
    assert op.result.type is VectorType((len(a),), i1)


@given(case=pairs())
def test_extended_operations(case):
    width, a, b = case
    type = VectorType((len(a),), IntegerType(width))
    constants = [arith.Constant(DenseElements.from_list(x, type)) for x in (a, b)]
    arrays = [np.array(x, f"int{width}") for x in (a, b)]
    unsigned = [[v % (1 << width) for v in x] for x in (a, b)]

    def both(op):
        folded = [np.broadcast_to(np.array(r.values(), object), len(a)).tolist() for r in op.fold()]
        evaluated = [r.tolist() for r in op.evaluate(*arrays)]
        assert [[int(v) for v in column] for column in evaluated] == folded
        return [[v % (1 << width) for v in column] for column in folded]

    low, high = both(arith.MulSIExtended(*constants))
    products = [x * y for x, y in zip(a, b, strict=True)]
    assert low == [p % (1 << width) for p in products]
    assert high == [(p >> width) % (1 << width) for p in products]
    low, high = both(arith.MulUIExtended(*constants))
    products = [x * y for x, y in zip(*unsigned, strict=True)]
    assert low == [p % (1 << width) for p in products]
    assert high == [p >> width for p in products]
    sums = [x + y for x, y in zip(*unsigned, strict=True)]
    evaluated = arith.AddUIExtended(*constants).evaluate(*arrays)
    assert [int(v) % (1 << width) for v in evaluated[0]] == [s % (1 << width) for s in sums]
    assert evaluated[1].tolist() == [s >= 1 << width for s in sums]


@given(value=interesting(32), to=st.sampled_from([i8, i1]))
def test_narrowing_and_widening(value, to):
    narrow = arith.TruncI(arith.Constant.of(value, i32), out=to)
    (bits,) = narrow.fold()
    assert bits.value % (1 << to.width) == value % (1 << to.width)
    assert int(narrow.evaluate(np.int32(value))) == bits.value
    for extension in (arith.ExtSI, arith.ExtUI):
        wide = extension(arith.Constant(bits), out=i64)
        (result,) = wide.fold()
        unsigned = value % (1 << to.width)
        signed = unsigned - (1 << to.width) if unsigned >> (to.width - 1) else unsigned
        assert result.value == (signed if extension is arith.ExtSI else unsigned)
        dtype = np.bool_ if to is i1 else np.int8
        assert int(wide.evaluate(dtype(bits.value))) == result.value
        assert arith.TruncI(wide, out=to).fold() == [wide.input]


@given(value=interesting(32))
def test_index_casts(value):
    constant = arith.Constant.of(value, i32)
    for op_class, expected in ((arith.IndexCast, value), (arith.IndexCastUI, value % 2**32)):
        op = op_class(constant, out=index)
        assert op.fold()[0].value == expected
        assert op.evaluate(np.int32(value)) == expected
        assert op_class(op, out=i32).fold() == [constant.result]
    wide = arith.Constant.index(value * 2**16 + 5)
    assert arith.IndexCast(wide, out=i32).fold()[0].value == IntegerType(32).wrap(value * 2**16 + 5)
