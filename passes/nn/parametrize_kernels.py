"""Kernels that differ in numbers alone take these as operands, and are one function then.

In a quantized network each layer has scales and zero points of its own, and its blocks would be
compiled again and again otherwise.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from itertools import compress

from ...dialects import nn
from ...dialects.marks import EXPECTED_EXTENTS, INPUT_DIMS
from ...ir.attributes import ArrayAttr, I64Array, StringAttr
from ...ir.builder import Builder
from ...ir.core import Operation
from ...ir.passes import Pass, PassContext
from ...ir.types import FloatType
from ...targets.attribute import target_of
from .building import element_of, shape_of
from .outline_kernels import structure

ARITHMETIC = (nn.Add, nn.Sub, nn.Mul, nn.Div)
"""The ops that take a number as well from memory. Others become simpler by its value."""


@dataclass(frozen=True)
class ParametrizeKernels(
    Pass,
    name="parametrize-kernels",
    anchor="builtin.module",
    statistics={
        "kernels-parametrized": "Number of kernels that take numbers as operands",
        "numbers-passed": "Number of numbers that became operands of kernels",
    },
):
    """Make numbers operands of kernels, if other kernels differ in nothing else.

        nn.kernel (%x = %a) {                        nn.kernel (%x = %a, %s = %half) {
          %s = nn.constant dense<0.5>          ->      nn.mul %x, %s
          nn.mul %x, %s                              }
        }                                            nn.kernel (%x = %b, %s = %third) {
        nn.kernel (%x = %b) {                          nn.mul %x, %s
          %s = nn.constant dense<0.3>                }
          nn.mul %x, %s
        }

    Such are single floats that are added, subtracted, multiplied or divided. Numbers in which all
    these kernels agree stay. Devices and circuits keep theirs: each operand is a buffer there.
    """

    def run(self, op: Operation, context: PassContext) -> None:
        """Compare the kernels of all functions."""
        if target_of(op).policy != "processor":
            return
        alike: defaultdict[Hashable, list[tuple[nn.Kernel, list[nn.Constant]]]] = defaultdict(list)
        for kernel in op.walk():
            if isinstance(kernel, nn.Kernel) and (numbers := numbers_of(kernel)):
                alike[structure(kernel, numbers)].append((kernel, numbers))
        for members in alike.values():
            columns = list(zip(*(numbers for _, numbers in members), strict=True))
            differ = [len({number.value for number in column}) > 1 for column in columns]
            if not any(differ):
                continue
            for kernel, numbers in members:
                passed = list(compress(numbers, differ))
                pass_numbers(kernel, passed)
                context.statistic("kernels-parametrized")
                context.statistic("numbers-passed", len(passed))


def numbers_of(kernel: nn.Kernel) -> list[nn.Constant]:
    """The constants of a kernel that could be operands, in order."""
    return [op for op in kernel.body.ops if isinstance(op, nn.Constant) and _could_be_passed(op)]


def _could_be_passed(constant: nn.Constant) -> bool:
    out = constant.result
    is_number = isinstance(element_of(out), FloatType) and set(shape_of(out)) <= {1}
    return is_number and all(isinstance(user, ARITHMETIC) for user, _ in out.uses)


def pass_numbers(kernel: nn.Kernel, numbers: Sequence[nn.Constant]) -> None:
    """Move constants of a kernel before it, as its last operands."""
    body, before = kernel.body.block, Builder.before_op(kernel)
    inputs = len(kernel.operands)
    for number in numbers:
        inside = body.add_arg(number.result.type, number.loc)
        number.result.replace_all_uses_with(inside)
        number.detach()
        before.insert(number)
    kernel.operands = [*kernel.operands, *(number.result for number in numbers)]
    _describe(kernel, inputs, numbers)


def _describe(kernel: nn.Kernel, inputs: int, numbers: Sequence[nn.Constant]) -> None:
    """Add the numbers to what a kernel's attributes say of each operand and result."""
    ranks = [len(shape_of(number.result)) for number in numbers]
    unnamed = [ArrayAttr((StringAttr(""),) * rank) for rank in ranks]
    unexpected = [I64Array((0,) * rank) for rank in ranks]
    for name, more in ((INPUT_DIMS, unnamed), (EXPECTED_EXTENTS, unexpected)):
        each = kernel.attributes.get(name)
        if isinstance(each, ArrayAttr):
            told = each.elements
            kernel.attributes[name] = ArrayAttr((*told[:inputs], *more, *told[inputs:]))
