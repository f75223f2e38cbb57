"""Arithmetic, comparisons, functions of single elements, and what looks at a whole row."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ....dialects import nn
from ....ir.core import Value
from ....ir.types import FloatType, TensorType, i1, i32
from ...common.terms import Term
from ..layer import ACTIVATIONS, Complex, TfliteLayer, moved, real
from ..rows import ROWS

Op = Callable[..., Any]


def _unary(op: Op) -> Op:
    @real
    def convert(n: TfliteLayer, x: Value) -> Value:
        return n(op(x))

    return convert


def _binary(op: Op) -> Op:
    """An operation with an activation behind it."""

    @real
    def convert(n: TfliteLayer, lhs: Value, rhs: Value) -> Value:
        return n.activated(n(op(lhs, rhs)))

    return convert


def _plain(op: Op) -> Op:
    @real
    def convert(n: TfliteLayer, lhs: Value, rhs: Value) -> Value:
        return n(op(lhs, rhs))

    return convert


def _activation(number: int) -> Op:
    @real
    def convert(n: TfliteLayer, x: Value) -> Value:
        return ACTIVATIONS[number](n, x)

    return convert


ROWS.add(
    {
        **{
            name: _unary(op)
            for name, op in {
                "FLOOR": nn.Floor,
                "CEIL": nn.Ceil,
                "ROUND": nn.Round,
                "LOGISTIC": nn.Sigmoid,
                "STABLEHLO_LOGISTIC": nn.Sigmoid,
                "EXP": nn.Exp,
                "LOG": nn.Log,
                "SQRT": nn.Sqrt,
                "RSQRT": nn.Rsqrt,
                "SIN": nn.Sin,
                "COS": nn.Cos,
                "ABS": nn.Abs,
                "NEG": nn.Neg,
                "SIGN": nn.Sign,
                "ELU": nn.Elu,
                "HARD_SWISH": nn.HardSwish,
            }.items()
        },
        **{name: _binary(op) for name, op in {"ADD": nn.Add, "SUB": nn.Sub, "MUL": nn.Mul}.items()},
        **{
            name: _plain(op)
            for name, op in {
                "MAXIMUM": nn.Max,
                "MINIMUM": nn.Min,
                "POW": nn.Pow,
                "FLOOR_MOD": nn.Mod,
                "EQUAL": nn.Equal,
                "LESS": nn.Less,
                "LESS_EQUAL": nn.LessEqual,
                "GREATER": nn.Greater,
                "GREATER_EQUAL": nn.GreaterEqual,
                "LOGICAL_AND": nn.And,
                "LOGICAL_OR": nn.Or,
                "BITWISE_XOR": nn.Xor,
                "RIGHT_SHIFT": nn.ShiftRight,
            }.items()
        },
        "LOGICAL_NOT": lambda n, x: n(nn.Not(x)),
        "RELU": _activation(1),
        "RELU_N1_TO_1": _activation(2),
        "RELU6": _activation(3),
        "TANH": _activation(4),
    }
)


@ROWS("RELU_0_TO_1")
@real
def relu_0_to_1(n: TfliteLayer, x: Value) -> Value:
    return n(nn.Clip(x, n.scalar(0, x), n.scalar(1, x)))


@ROWS("DIV")
@real
def div(n: TfliteLayer, lhs: Value, rhs: Value) -> Value:
    return n.activated(n(nn.Div(lhs, _divisor(n, rhs))))


@ROWS("FLOOR_DIV")
@real
def floor_div(n: TfliteLayer, lhs: Value, rhs: Value) -> Value:
    if isinstance(lhs.type.element_type, FloatType):
        return n(nn.Floor(n(nn.Div(lhs, rhs))))
    # The quotient that is cut off, less 1 where signs differ and something is left.
    divisor = Term(n, _divisor(n, rhs))
    whole = Term(n, n(nn.Div(lhs, divisor.value)))
    rest = Term(n, lhs) - whole * divisor
    below = ~rest.equals(0) & ((rest < 0) ^ (divisor < 0))
    return (whole - below.cast(whole.element)).value


def _divisor(n: TfliteLayer, x: Value) -> Value:
    """A divisor of integers, for which the program fails where an element is 0."""
    known = n.array(x)
    if isinstance(x.type.element_type, FloatType) or (known is not None and known.all()):
        return x
    zeros = Term(n, x).equals(0).cast(i32)
    if zeros.rank:
        zeros = zeros.largest(*range(zeros.rank))
    return n(nn.Assume(x, zeros.equals(0).value, "an integer is divided by 0"))


@ROWS("NOT_EQUAL")
@real
def not_equal(n: TfliteLayer, lhs: Value, rhs: Value) -> Value:
    return n(nn.Not(n(nn.Equal(lhs, rhs))))


@ROWS("SQUARE")
@real
def square(n: TfliteLayer, x: Value) -> Value:
    return n(nn.Mul(x, x))


@ROWS("SQUARED_DIFFERENCE")
@real
def squared_difference(n: TfliteLayer, lhs: Value, rhs: Value) -> Value:
    apart = n(nn.Sub(lhs, rhs))
    return n(nn.Mul(apart, apart))


@ROWS("ADD_N")
def add_n(n: TfliteLayer, first: Value, *others: Value) -> Value:
    for value in others:
        first = n(nn.Add(first, value))
    return first


@ROWS("ATAN2")
def atan2(n: TfliteLayer, y: Value, x: Value) -> Value:
    top, right = Term(n, y), Term(n, x)
    angle = (top / right).function(nn.Atan)
    turn = (top < 0.0).choose(-np.pi, (top * 0.0) + np.pi)
    found = (right < 0.0).choose(angle + turn, angle)
    upright = top.function(nn.Sign) * (np.pi / 2)
    return right.equals(0.0).choose(upright + right * 0.0, found).value


@ROWS("LEAKY_RELU")
@real
def leaky_relu(n: TfliteLayer, x: Value) -> Value:
    return n(nn.LeakyRelu(x, alpha=n.options.alpha))


@ROWS("PRELU")
@real
def prelu(n: TfliteLayer, x: Value, slope: Value) -> Value:
    return n(nn.Prelu(x, slope))


@ROWS("GELU")
@real
def gelu(n: TfliteLayer, x: Value) -> Value:
    return n(nn.Gelu(x, approximate="tanh" if n.options.approximate else "none"))


@ROWS("SOFTMAX")
@real
def softmax(n: TfliteLayer, x: Value) -> Value:
    beta = n.options.beta
    scaled = x if beta == 1 else n(nn.Mul(x, n.scalar(beta, x)))
    return n(nn.Softmax(scaled, axis=x.type.rank - 1))


@ROWS("LOG_SOFTMAX")
@real
def log_softmax(n: TfliteLayer, x: Value) -> Value:
    return n(nn.LogSoftmax(x, axis=x.type.rank - 1))


@ROWS("L2_NORMALIZATION")
@real
def l2_normalization(n: TfliteLayer, x: Value) -> Value:
    length = Term(n, n(nn.ReduceL2(x, axes=(x.type.rank - 1,), keep_dims=True)))
    return n.activated((Term(n, x) / length.max(1e-6)).value)


@ROWS("SELECT")
@moved
def select(n: TfliteLayer, condition: Value, lhs: Value, rhs: Value) -> Value:
    """A condition of one dimension chooses whole rows."""
    chosen = Term(n, condition)
    if chosen.rank == 1 and lhs.type.rank > 1:
        chosen = chosen.spread(0, lhs.type.rank - 1)
    return n(nn.Where(chosen.value, lhs, rhs))


@ROWS("SELECT_V2")
@moved
def select_v2(n: TfliteLayer, condition: Value, lhs: Value, rhs: Value) -> Value:
    return n(nn.Where(condition, lhs, rhs))


@ROWS("ZEROS_LIKE")
def zeros_like(n: TfliteLayer, x: Value) -> Value:
    return n(nn.Sub(x, x)) if not isinstance(x.type.element_type, FloatType) else _zeros(n, x)


def _zeros(n: TfliteLayer, x: Value) -> Value:
    nothing = n.constant(False, i1)
    return n(nn.Where(nothing, x, n.scalar(0, x)))


@ROWS("CAST")
def cast(n: TfliteLayer, x: Any) -> Value:
    """Of a complex number its real part."""
    if isinstance(x, Complex):
        x = x.real
    return n.cast(x, n.output_type())


@ROWS("BITCAST")
def bitcast(n: TfliteLayer, x: Value) -> Value:
    element = n.output_type()
    if nn.bit_width(element) != nn.bit_width(x.type.element_type):
        raise n.error(f"{x.type.element_type} and {element} differ in size")
    return n(nn.Bitcast(x, out=TensorType(x.type.shape, element)))


@ROWS("BUCKETIZE")
def bucketize(n: TfliteLayer, x: Value) -> Value:
    """How many boundaries are not above each element."""
    bounds = n.constant(n.options.boundaries)
    apart = Term(n, x).spread(0, 1).cast(bounds.type.element_type)
    return (apart >= Term(n, bounds)).cast(i32).sum(x.type.rank).value


@ROWS("REAL")
def real_part(n: TfliteLayer, x: Any) -> Value:
    return x.real


@ROWS("IMAG")
def imaginary_part(n: TfliteLayer, x: Any) -> Value:
    return x.imaginary


@ROWS("COMPLEX_ABS")
def complex_abs(n: TfliteLayer, x: Any) -> Value:
    parts = Term(n, x.real), Term(n, x.imaginary)
    return (parts[0] * parts[0] + parts[1] * parts[1]).function(nn.Sqrt).value
