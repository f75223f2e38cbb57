"""Gradient of ai.onnx.preview.training: reverse-mode differentiation of the imported ops.

From the target back to the variables, each op turns the gradient of its result into those of its
operands, which are added up. The gradient of a tensor is that of the sum of its elements.
"""

from __future__ import annotations

from ....ir.core import Operation
from ...common.vocabulary import *
from ..node import Node
from ..registry import converter
from .training import DOMAIN

Parts = Sequence[Term | None]
Rule = Callable[[Any, Term, Sequence[Term], Term], Parts]
"""(op, derivative by its result, its operands, its result) -> the derivatives by its operands."""


@converter("Gradient", domain=DOMAIN)
def gradient(n: Node, *inputs: Value) -> list[Value | None]:
    """The gradients of `y` by each of `xs`."""
    variables, others = n.strings("xs") or (), n.strings("zs") or ()
    names = (*variables, *others)
    found = [n.builder.lookup(name, n) for name in names]
    if len(inputs) != len(names) or any(a is not b for a, b in zip(inputs, found, strict=False)):
        raise n.error("inputs other than the tensors that 'xs' and 'zs' name are not supported")
    for name, value in zip(variables, found, strict=False):
        if value.defined_by(nn.Constant) is not None:
            text = "what depends on it alone was computed at import, and has no derivative"
            raise n.error(f"'{name}' is a constant: {text}")
    target = n.builder.lookup(n.string("y"), n)
    if not isinstance(target.type.element_type, FloatType):
        raise n.error(f"the target has elements of {target.type.element_type}, expected floats")
    made = derivatives(n, target, found[: len(variables)])
    return [None if not n.wants(i) else one.value for i, one in enumerate(made)]


def derivatives(n: Node, target: Value, variables: Sequence[Value]) -> list[Term]:
    """The gradients of the sum of a tensor's elements; 0 for variables it does not depend on."""
    total = {target: _filled(n, 1.0, target)}
    for op in reversed(_between(n, target, variables)):
        result = op.results[0]
        if result not in total or result in variables:
            continue
        rule = _RULES.get(type(op))
        if rule is None:
            raise n.error(f"there is no derivative of '{op.name}'")
        operands = [Term(n, v) for v in op.operands]
        parts = rule(op, total[result], operands, Term(n, result))
        for operand, part in zip(op.operands, parts, strict=False):
            if part is not None and isinstance(operand.type.element_type, FloatType):
                part = _summed_to(n, part, operand)
                total[operand] = total[operand] + part if operand in total else part
    return [total[v] if v in total else _filled(n, 0.0, v) for v in variables]


def _filled(n: Node, number: float, like: Value) -> Term:
    """A tensor filled with a number, with the shape and type of `like`."""
    return Term(n, n.scalar(number, like)).filled(Term(n, shape_of(n, like)))


def _between(n: Node, target: Value, variables: Sequence[Value]) -> list[Operation]:
    """The ops, in order, through which the target depends on the variables."""
    needed, depends = {target}, set(variables)
    ops = list(n.builder.block)
    for op in reversed(ops):
        if any(r in needed for r in op.results) and not any(r in depends for r in op.results):
            needed.update(op.operands)
    found = []
    for op in ops:
        if any(r in needed for r in op.results) and any(v in depends for v in op.operands):
            found.append(op)
            depends.update(op.results)
    return found


def _summed_to(n: Node, part: Term, operand: Value) -> Term:
    """A gradient summed over the dimensions along which the operand was broadcast."""
    shape = operand.type.shape
    lead = part.rank - len(shape)
    if lead:
        part = part.sum(*range(lead))
    for axis, (own, wide) in enumerate(zip(shape, part.shape, strict=True)):
        if own == 1 and wide != 1:
            part = part.sum(axis, keep=True)
        elif own is None and wide is not None:
            raise n.error("an operand may be broadcast along a dimension of unknown extent")
    return part


# -- rules -----------------------------------------------------------------------------------------


def _reshaped(op: nn.Reshape, g: Term, x: Sequence[Term], y: Term) -> Parts:
    return [g.reshape(*((x[0].value, i) for i in range(x[0].rank)))]


def _transposed(op: nn.Transpose, g: Term, x: Sequence[Term], y: Term) -> Parts:
    return [g.transpose(*(op.permutation.index(i) for i in range(g.rank)))]


def _matmul(op: nn.Matmul, g: Term, x: Sequence[Term], y: Term) -> Parts:
    if min(x[0].rank, x[1].rank) < 2:
        raise g.n.error("there is no derivative of products with vectors")
    return [g @ x[1].mT, x[0].mT @ g]


def _spread(op: Any, g: Term, x: Term) -> Term:
    """The gradient of a reduction's result, expanded to each element of its operand."""
    kept = [1 if i in op.axes else (x.value, i) for i in range(x.rank)]
    return Term(g.n, broadcast_by(g.n, g.reshape(*kept).value, shape_of(g.n, x.value)))


def _mean(op: nn.ReduceMean, g: Term, x: Sequence[Term], y: Term) -> Parts:
    extents = [x[0].shape[axis] for axis in op.axes]
    if None in extents:
        raise g.n.error("the derivative of a mean needs known extents")
    return [_spread(op, g, x[0]) / float(math.prod(extents))]  # type: ignore[arg-type]


def _power(op: nn.Pow, g: Term, x: Sequence[Term], y: Term) -> Parts:
    base, exponent = x
    if exponent.element is not base.element:
        exponent = exponent.cast(base.element)
    return [g * exponent * base ** (exponent - 1.0), g * y * base.function(nn.Log)]


def _softmax(op: nn.Softmax, g: Term, x: Sequence[Term], y: Term) -> Parts:
    weighted = g * y
    return [weighted - y * weighted.sum(op.axis, keep=True)]


def _cast(op: nn.Cast, g: Term, x: Sequence[Term], y: Term) -> Parts:
    return [g.cast(x[0].element) if isinstance(x[0].element, FloatType) else None]


def _concat(op: nn.Concat, g: Term, x: Sequence[Term], y: Term) -> Parts:
    at, parts = 0, []
    for one in x:
        extent = one.shape[op.axis]
        if extent is None:
            raise g.n.error("the derivative of a concatenation needs known extents")
        parts.append(g.part(op.axis, at, at + extent))
        at += extent
    return parts


_RULES: dict[type, Rule] = {
    nn.Add: lambda op, g, x, y: [g, g],
    nn.Sub: lambda op, g, x, y: [g, -g],
    nn.Mul: lambda op, g, x, y: [g * x[1], g * x[0]],
    nn.Div: lambda op, g, x, y: [g / x[1], -(g * y / x[1])],
    nn.Neg: lambda op, g, x, y: [-g],
    nn.Abs: lambda op, g, x, y: [g * x[0].function(nn.Sign)],
    nn.Exp: lambda op, g, x, y: [g * y],
    nn.Log: lambda op, g, x, y: [g / x[0]],
    nn.Sqrt: lambda op, g, x, y: [g / (y * 2.0)],
    nn.Reciprocal: lambda op, g, x, y: [-(g * y * y)],
    nn.Sin: lambda op, g, x, y: [g * x[0].function(nn.Cos)],
    nn.Cos: lambda op, g, x, y: [-(g * x[0].function(nn.Sin))],
    nn.Tanh: lambda op, g, x, y: [g * (1.0 - y * y)],
    nn.Sigmoid: lambda op, g, x, y: [g * y * (1.0 - y)],
    nn.Relu: lambda op, g, x, y: [(x[0] > 0.0).choose(g, 0.0)],
    nn.Where: lambda op, g, x, y: [None, x[0].choose(g, 0.0), x[0].choose(0.0, g)],
    nn.Max: lambda op, g, x, y: [(x[0] >= x[1]).choose(g, 0.0), (x[0] >= x[1]).choose(0.0, g)],
    nn.Min: lambda op, g, x, y: [(x[0] <= x[1]).choose(g, 0.0), (x[0] <= x[1]).choose(0.0, g)],
    nn.BroadcastTo: lambda op, g, x, y: [g],
    nn.ReduceSum: lambda op, g, x, y: [_spread(op, g, x[0])],
    nn.ReduceMean: _mean,
    nn.Pow: _power,
    nn.Matmul: _matmul,
    nn.Reshape: _reshaped,
    nn.Transpose: _transposed,
    nn.Softmax: _softmax,
    nn.Cast: _cast,
    nn.Concat: _concat,
}
