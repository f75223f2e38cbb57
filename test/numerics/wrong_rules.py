"""Rules of passes made wrong, one way each, for --check-numerics to find."""

import dataclasses

import pytest
from nnc.dialects import arith, nn
from nnc.ir.core import Operation
from nnc.ir.rewriting import Rewriter, rewrite


def one_is_neutral_to_sums(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(arith.AddF, "identity", 1.0)


def zero_absorbs_maxima(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(arith.MaxSI, "absorbing", 0)


def properties_do_not_matter(patch: pytest.MonkeyPatch) -> None:
    from nnc.passes import cse

    patch.setattr(cse, "_key", lambda op: (op.name, *map(id, op.operands), *op.result_types))


def differences_fold_backwards(patch: pytest.MonkeyPatch) -> None:
    from nnc.passes.nn.constants import constant_array, make_constant
    from nnc.passes.nn.fold_constants import FoldConstants

    real = FoldConstants.by_evaluation

    def wrong(self, op):
        constants = real(self, op)
        if constants is None or not isinstance(op, nn.Sub):
            return constants
        return [make_constant(-constant_array(one.result)) for one in constants]

    patch.setattr(FoldConstants, "by_evaluation", wrong)


def means_are_forgotten(patch: pytest.MonkeyPatch) -> None:
    from nnc.passes.nn import fold_batch_norm

    real = fold_batch_norm._scale_and_shift
    patch.setattr(fold_batch_norm, "_scale_and_shift", lambda b, op: (real(b, op)[0], op.bias))


@rewrite(nn.Softmax)
def softmax_of_negatives(op: nn.Softmax, rewriter: Rewriter) -> None:
    """softmax(x) -> exp(-x) / sum(exp(-x))"""
    b = rewriter
    powers = b(nn.Exp(b(nn.Neg(op.x))))
    total = b(nn.ReduceSum(powers.result, (op.axis,), True))
    rewriter.replace(op, b(nn.Div(powers.result, total.result)))


def softmax_is_negated(patch: pytest.MonkeyPatch) -> None:
    from nnc.passes.nn import decompose

    patch.setattr(decompose, "KERNEL", (softmax_of_negatives,))


def blocks_come_back_in_another_order(patch: pytest.MonkeyPatch) -> None:
    from nnc.passes.nn import choose_layouts
    from nnc.passes.nn.building import reshape, shape_of

    def wrong(b, x, shape):
        order = (*range(len(shape_of(x)) - 2), len(shape_of(x)) - 1, len(shape_of(x)) - 2)
        return reshape(b, b.insert(nn.Transpose(x, order)), shape)

    patch.setattr(choose_layouts, "plain", wrong)
    patch.setattr(choose_layouts, "PATTERNS", ())


def products_are_negated(patch: pytest.MonkeyPatch) -> None:
    from nnc.passes.nn import choose_algorithms

    real = choose_algorithms.use_winograd

    def wrong(conv, *rest):
        block, at = conv.parent, conv._prev
        real(conv, *rest)
        op = block.first if at is None else at.next
        while op is not None:
            if isinstance(op, nn.Matmul | nn.BlockedMatmul):
                negated = nn.Neg(op.operands[1])
                block.insert_before(negated, op)
                op.set_operand(1, negated.results[0])
            op = op.next

    patch.setattr(choose_algorithms, "use_winograd", wrong)


def kernels_take_operands_in_reverse(patch: pytest.MonkeyPatch) -> None:
    from nnc.passes.nn.kernel_maker import KernelMaker

    real = KernelMaker.make

    def wrong(*given):
        kernel = real(*given)
        types = {v.type for v in kernel.operands}
        if len(kernel.operands) > 1 and len(types) == 1:
            kernel.operands = list(reversed(kernel.operands))
        return kernel

    patch.setattr(KernelMaker, "make", wrong)


def kernels_with_equal_names_are_equal(patch: pytest.MonkeyPatch) -> None:
    from nnc.passes.nn import outline_kernels

    patch.setattr(
        outline_kernels,
        "structure",
        lambda kernel: tuple((op.name, *op.result_types) for op in kernel.body.ops),
    )


def maxima_become_minima(patch: pytest.MonkeyPatch) -> None:
    from nnc.lowering.nn_to_linalg import scalars

    patch.setitem(scalars._FLOAT_OPS, "max", arith.MinimumF)


def everything_lies_at_the_start(patch: pytest.MonkeyPatch) -> None:
    from nnc.memory import needs

    real = needs.plan

    def wrong(buffers):
        made = real(buffers)
        return dataclasses.replace(made, offsets=(0,) * len(made.offsets))

    patch.setattr(needs, "plan", wrong)


def masks_forget_the_last_lane(patch: pytest.MonkeyPatch) -> None:
    from nnc.kernels.codegen.tiles.memory import Memory

    real = Memory.mask

    def wrong(self, sizes, active):
        return real(self, sizes, [n - 1 if isinstance(n, int) else n for n in active])

    patch.setattr(Memory, "mask", wrong)


def sums_are_products(patch: pytest.MonkeyPatch) -> None:
    from nnc.kernels.codegen.vectors.expansion import Expansion

    def wrong(self, a, b, total, part, like):
        return self.compute(arith.MulF, [a, b], part, (like.result.type.element_type,), like)[0]

    patch.setattr(Expansion, "multiply_add", wrong)


def constants_of_addresses_go(patch: pytest.MonkeyPatch) -> None:
    from nnc.kernels.codegen.addresses.walk import Walk

    real = Walk.at
    patch.setattr(Walk, "at", lambda self, base, constant: real(self, base, 0))


def a_coefficient_is_off(patch: pytest.MonkeyPatch) -> None:
    from nnc.kernels.math import exponential

    first, second, *rest = exponential.EXP
    patch.setattr(exponential, "EXP", (first, second * 1.1, *rest))


def differences_become_sums(patch: pytest.MonkeyPatch) -> None:
    from nnc.lowering.to_llvm.conversion import LOWERINGS

    patch.setitem(LOWERINGS, arith.SubF, LOWERINGS[arith.AddF])


def ranges_begin_late(patch: pytest.MonkeyPatch) -> None:
    from nnc.memory import outline_parallel

    real = arith.Constant.index
    patch.setattr(
        outline_parallel.arith.Constant,
        "index",
        staticmethod(lambda n: real(n + 1 if n == 0 else n)),
    )


def users_are_forgotten(patch: pytest.MonkeyPatch) -> None:
    from nnc.passes import dead_code

    def wrong(op: Operation, trace=None) -> None:
        for inner in list(op.walk()):
            if inner.name == "memref.store" and inner.parent is not None:
                inner.erase()

    patch.setattr(dead_code, "erase_dead_code", wrong)
