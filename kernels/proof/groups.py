"""What kernels divide a group's id by: ids of loops over several dimensions, numbered in a row.

b = (n*h + i)*4 + j    ->    j = b mod 4, i = floor(b/4) mod h, n = floor(floor(b/4)/h)
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from ...dialects import arith, gpu
from ...ir.core import Operation, Value
from .polynomials import Polynomial

QUOTIENTS = (arith.DivUI, arith.DivSI, arith.FloorDivSI)
REMAINDERS = (arith.RemUI, arith.RemSI)
_ALONG_GROUPS = (gpu.BlockId, gpu.GlobalId, gpu.GridDim)

_ToPolynomial = Callable[[Value], Polynomial | None]


def unknown_divisor(
    kernel: gpu.GPUFuncOp, axis: int, polynomial: _ToPolynomial
) -> Polynomial | None:
    """The unknown extent by which all uses of a group's id divide it; None if there is none.

    In the example above it is 4*h. Divisors that are constants divide it.
    """
    along = [op for op in kernel.walk() if isinstance(op, _ALONG_GROUPS) and op.axis == axis]
    if not all(isinstance(op, gpu.BlockId) for op in along):
        return None
    found = [by for op in along for by in _divisors(op.results[0], polynomial)]
    unknown = {by for by in found if by is None or by.constant is None}
    one = unknown.pop() if len(unknown) == 1 else None
    if one is None:
        return None
    known = [by.constant for by in found if by is not None and by.constant is not None]
    return one if all(n % by == 0 for by in known for n in one.terms.values()) else None


def _divisors(
    value: Value, polynomial: _ToPolynomial, times: int = 1
) -> Iterator[Polynomial | None]:
    """What the uses of a group's id divided by `times` divide the id by; None for other uses."""
    for user, place in value.uses:
        is_quotient = isinstance(user, QUOTIENTS)
        is_division = place == 0 and (is_quotient or isinstance(user, REMAINDERS))
        by = polynomial(user.operands[1]) if is_division else None
        if by is None or (by.constant is not None and by.constant <= 0):
            yield None
        elif is_quotient and by.constant is not None:
            yield from _divisors(user.results[0], polynomial, times * by.constant)
        else:
            yield by * times


def divided_id(op: Operation, polynomial: _ToPolynomial) -> tuple[gpu.BlockId, int] | None:
    """(id, n) if an operation divides a group's id divided by the constant n; else None."""
    of, times = op.operands[0].defining_op, 1
    while isinstance(of, QUOTIENTS):
        by = polynomial(of.operands[1])
        if by is None or by.constant is None:
            return None
        of, times = of.operands[0].defining_op, times * by.constant
    return (of, times) if isinstance(of, gpu.BlockId) else None
