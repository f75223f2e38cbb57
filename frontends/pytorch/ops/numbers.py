"""Numbers of the program: extents and what is computed of them, 0-d tensors here."""

from __future__ import annotations

from ...common.vocabulary import *
from ..layer import AtenLayer
from ..rows import ROWS, Row
from .elementwise import as_bool, floor_divide, ne, pow_


def _number(op: Any) -> Row:
    return lambda n, a, b: n(op(*n.promoted(a, b)))


ROWS.add(
    {
        f"operator.{name}": _number(op)
        for name, op in {
            "add": nn.Add,
            "sub": nn.Sub,
            "mul": nn.Mul,
            "mod": nn.Mod,
            "eq": nn.Equal,
            "lt": nn.Less,
            "le": nn.LessEqual,
            "gt": nn.Greater,
            "ge": nn.GreaterEqual,
            "and_": nn.And,
            "or_": nn.Or,
        }.items()
    }
)
ROWS.add({"torch.sym_max": _number(nn.Max), "torch.sym_min": _number(nn.Min)})


@ROWS("operator.ne")
def number_ne(n: AtenLayer, a: Any, b: Any) -> Value:
    return ne(n, a, b)


@ROWS("operator.neg")
def number_neg(n: AtenLayer, a: Any) -> Value:
    return n(nn.Neg(n.as_value(a)))


@ROWS("operator.floordiv")
def number_floordiv(n: AtenLayer, a: Any, b: Any) -> Value:
    return floor_divide(n, a, b)


@ROWS("operator.truediv", "torch._sym_truediv")
def number_truediv(n: AtenLayer, a: Any, b: Any) -> Value:
    return n(nn.Div(n.as_value(a, f64), n.as_value(b, f64)))


@ROWS("operator.pow")
def number_pow(n: AtenLayer, a: Any, b: Any) -> Value:
    return pow_(n, a, b)


@ROWS("torch.sym_not", "operator.not_")
def number_not(n: AtenLayer, a: Any) -> Value:
    return n(nn.Not(as_bool(n, a)))


@ROWS("torch.sym_ite")
def number_where(n: AtenLayer, a: Any, b: Any, c: Any) -> Value:
    return n(nn.Where(as_bool(n, a), *n.promoted(b, c)))


@ROWS("torch.sym_float")
def number_float(n: AtenLayer, a: Any) -> Value:
    return n.as_value(a, f64)


def _rounded(op: Any) -> Row:
    return lambda n, a: n.cast(n(op(n.as_value(a, f64))), i64)


ROWS.add({"math.floor": _rounded(nn.Floor), "math.ceil": _rounded(nn.Ceil)})
ROWS.add({"builtins.round": _rounded(nn.Round)})


@ROWS("math.trunc", "torch.sym_int")
def number_int(n: AtenLayer, a: Any) -> Value:
    return n.cast(n.as_value(a, f64), i64)


@ROWS("aten.item", "aten._local_scalar_dense")
def item(n: AtenLayer, self: Value) -> Value:
    return as_scalar(n, self)


@ROWS("torch.sym_sqrt", "torch._sym_sqrt")
def number_sqrt(n: AtenLayer, a: Any) -> Value:
    return n(nn.Sqrt(n.as_value(a, f64)))
