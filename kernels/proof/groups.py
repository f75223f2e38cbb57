"""What kernels divide a group's id by: ids of loops over several dimensions, numbered in a row.

b = (n*h + i)*4 + j    ->    j = b mod 4, i = floor(b/4) mod h, n = floor(floor(b/4)/h)
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from ...dialects import arith, gpu
from ...ir.core import Operation, Value
from .polynomials import Polynomial

QUOTIENTS = (arith.DivUI, arith.DivSI, arith.FloorDivSI)
REMAINDERS = (arith.RemUI, arith.RemSI)
_ALONG_GROUPS = (gpu.BlockId, gpu.GlobalId, gpu.GridDim)

_ToPolynomial = Callable[[Value], Polynomial | None]


def parted(
    kernel: gpu.GPUFuncOp,
    sizes: Sequence[Polynomial | None],
    polynomial: _ToPolynomial,
    is_natural: Callable[[Polynomial], bool],
) -> tuple[int, Polynomial, Polynomial] | None:
    """(axis, divisor, quotient) of the first axis whose ids all uses divide by an unknown extent.

    `sizes` are the numbers of groups along the axes; the divisor times the quotient is one of them.
    """
    for axis, size in enumerate(sizes):
        by = _unknown_divisor(kernel, axis, polynomial)
        if size is None or by is None or not is_natural(by):
            continue
        times, rest = size.divided(by)
        if not rest.terms:
            return axis, by, times
    return None


def _unknown_divisor(
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


def divided_id(op: Operation, polynomial: _ToPolynomial) -> tuple[int, str] | None:
    """(axis, expression) of what an operation divides: a group's id, or its quotient by a constant.

    None if it divides something else.
    """
    of, times = op.operands[0].defining_op, 1
    while isinstance(of, QUOTIENTS):
        by = polynomial(of.operands[1])
        if by is None or by.constant is None:
            return None
        of, times = of.operands[0].defining_op, times * by.constant
    if not isinstance(of, gpu.BlockId):
        return None
    name = f"b{of.axis}"
    return of.axis, name if times == 1 else f"floor(({name} + 0)/{times})"
