"""Symbolic numbers of the program: extents and arithmetic on them, here 0-d tensors."""

from __future__ import annotations

from ...common.vocabulary import *
from ..layer import AtenLayer
from ..rows import ROWS, Row
from .elementwise import as_bool, floor_divide, ne, pow_


def _number(op: Any) -> Row:
    return lambda n, a, b: n(op(*n.promoted(a, b)))


_BINARY = """
    add sub mul mod lshift=ShiftLeft rshift=ShiftRight
    eq=Equal lt=Less le=LessEqual gt=Greater ge=GreaterEqual and_=And or_=Or
"""
ROWS.add({f"operator.{name}": _number(op) for name, op in named(_BINARY).items()})
ROWS.add({"torch.sym_max": _number(nn.Max), "torch.sym_min": _number(nn.Min)})


ROWS.formulas(
    {
        "operator.ne": lambda n, a, b: ne(n, a, b),
        "operator.neg": lambda n, a: n(nn.Neg(n.as_value(a))),
        "operator.floordiv": lambda n, a, b: floor_divide(n, a, b),
        "operator.pow": lambda n, a, b: pow_(n, a, b),
        "torch.sym_not operator.not_": lambda n, a: n(nn.Not(as_bool(n, a))),
        "torch.sym_ite": lambda n, b, t, f: n(nn.Where(as_bool(n, b), *n.promoted(t, f))),
        "operator.pos": lambda n, a: n.as_value(a),
        "operator.abs": lambda n, a: n(nn.Abs(n.as_value(a))),
        "torch.sym_sum": lambda n, a: (
            sum((Term(n, n.as_value(v)) for v in a[1:]), Term(n, n.as_value(a[0]))).value
        ),
        "torch.sym_float": lambda n, a: n.as_value(a, f64),
        "math.trunc": lambda n, x: n.cast(n.as_value(x, f64), i64),
        "torch.sym_int": lambda n, a: n.cast(n.as_value(a, f64), i64),
        "aten.item aten._local_scalar_dense": lambda n, self: as_scalar(n, self),
        "torch.sym_sqrt torch._sym_sqrt": lambda n, a: n(nn.Sqrt(n.as_value(a, f64))),
    }
)


@ROWS("operator.truediv", "torch._sym_truediv")
def number_truediv(n: AtenLayer, a: Any, b: Any) -> Value:
    return n(nn.Div(n.as_value(a, f64), n.as_value(b, f64)))


def _rounded(op: Any) -> Row:
    return lambda n, x: n.cast(n(op(n.as_value(x, f64))), i64)


ROWS.add({"math.floor": _rounded(nn.Floor), "math.ceil": _rounded(nn.Ceil)})
ROWS.add({"builtins.round": lambda n, number: _rounded(nn.Round)(n, number)})
