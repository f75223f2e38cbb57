"""Grouped matrix products, with a matrix for each group of rows: mixtures of experts."""

from __future__ import annotations

from ...common.loops import Iteration, branch, while_loop
from ...common.vocabulary import *
from ..layer import AtenLayer
from ..rows import ROWS
from .products import matmul


@ROWS("transformers.grouped_mm_fallback")
def grouped_fallback(n: AtenLayer, input: Value, weight: Value, offs: Value) -> Value:
    """A grouped product by transformers' fallback. Source: transformers/integrations/moe.py."""
    return _of_row_groups(n, Term(n, input), Term(n, weight), Term(n, offs)).value


@ROWS("aten._grouped_mm")
def grouped_mm(
    n: AtenLayer,
    self: Value,
    mat2: Value,
    offs: Value | None = None,
    bias: Value | None = None,
    out_dtype: Type | None = None,
) -> Value:
    """A grouped product: groups of the left operand's rows, or a batch of matrices."""
    if offs is None:
        out = matmul(n, self, mat2)
    elif self.type.rank == 2 and mat2.type.rank == 3:
        out = _of_row_groups(n, Term(n, self), Term(n, mat2), Term(n, offs)).value
    else:
        raise n.error("groups of columns are not supported")
    out = out if bias is None else n(nn.Add(out, bias))
    return out if out_dtype is None else n.cast(out, out_dtype)


def _of_row_groups(n: AtenLayer, x: Term, weight: Term, ends: Term) -> Term:
    """Rows of x [S, K], in groups that end at `ends` [E], times their group's matrix of weights
    [E, K, N]; rows after the last group give 0. Matrices of empty groups are not read.
    """
    shape = Term(n, n.vector([n.size(x.value, 0), n.size(weight.value, 2)]))
    zeros = constant(n, 0.0, x.element).filled(shape)

    def step(number: Value, flag: Value, states: list[Value]) -> Iteration:
        begin, total = (Term(n, v) for v in states)
        end = ends.gather(Term(n, number)).cast(i64)

        def product() -> list[Value]:
            rows = begin + counting(n, end - begin)
            found = x.gather(rows) @ weight.gather(Term(n, number))
            return [n(nn.ScatterNd(total.value, rows.spread(0, 1).value, found.value))]

        (made,) = branch(n, (begin < end).value, [product, lambda: [total.value]])
        return Iteration([end.value, made])

    states = [n.constant(0, i64), zeros.value]
    count = extent(n, (weight.value, 0)).value
    return Term(n, while_loop(n, step, states, count)[0][1])
