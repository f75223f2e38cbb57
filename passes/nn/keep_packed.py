"""Products with packed integers work on the words; the matrix of floats is never made.

    w = dequantize(bytes, scale, offset)      [N, K], as groups of a row
    x @ transpose(w)                     ->   quantized_matmul(x, words(bytes), scale, offset)
    gather(w, i)                         ->   dequantize(gather(bytes, i), gather(scale, i), ..)

Matrices of 8 bits with a scale for each column stay bytes if few rows are multiplied: see
`byte_columns.py`. Rows that may be rounded to bytes are: see `byte_rows.py`.

See docs/decisions/0025-packed-weights.md.
"""

from __future__ import annotations

from dataclasses import dataclass

from ...dialects import nn
from ...dialects.strict_math import is_strict
from ...ir.builder import Builder
from ...ir.core import Operation, Value
from ...ir.passes import Pass, PassContext, option
from ...ir.types import TensorType, bf16, f16, f32
from ...targets.attribute import target_of
from ...targets.machine import Machine
from .building import (
    arranged,
    cast,
    element_of,
    is_arranged_constant,
    reshape,
    shape_of,
)
from .byte_columns import byte_columns
from .byte_rows import byte_packing, multiply_bytes
from .integer_products import behind


@dataclass(frozen=True)
class KeepPacked(
    Pass,
    name="keep-packed",
    anchor="func.func",
    statistics={"products": "Number of products whose weights stay packed"},
):
    """Compute products with packed integers on words that hold several of them.

        %d = nn.dequantize %bytes, %scale         %words = nn.words ..
        %w = nn.transpose (nn.reshape %d)    ->   nn.quantized_matmul %x, %words, %scale
        %y = nn.matmul %x, %w

    The integers must be constant, in groups that fill words. Gathered rows are gathered as
    integers. A module with strict math keeps its products of floats. A matrix of 8-bit integers
    with one scale, or one for each column, stays integers if it is too large for a core's cache and
    few rows are multiplied with it.
    """

    numerics = "rounding"

    target: str = option("", help="a target's name (default: the module's)", alias="machine")

    def run(self, op: Operation, context: PassContext) -> None:
        """Rewrite each product and gather separately."""
        if is_strict(op):
            return
        machine = target_of(op, self.target).machine
        for user in list(op.walk()):
            if isinstance(user, nn.Matmul) and (
                packed := packed_rows(user) or byte_columns(user, machine)
            ):
                multiply_words(user, packed, machine)
                context.statistic("products")
            elif isinstance(user, nn.Gather) and (packed := gathered_rows(user)) is not None:
                gather_groups(user, packed)


def packed_rows(product: nn.Matmul) -> nn.Dequantize | None:
    """The constant integers, in groups, of which each dequantized row is a column of `rhs`.

    None if `rhs` is not the transpose of such rows, which may be cut at their end.
    """
    turned = uncast(product.rhs).defined_by(nn.Transpose)
    if turned is None or turned.permutation != (1, 0) or len(shape_of(product.lhs)) < 2:
        return None
    rows = uncast(turned.x)
    if (cut := rows.defined_by(nn.Slice)) is not None:
        if any(cut.starts) or any(s != 1 for s in cut.steps or ()):
            return None
        if shape_of(cut.x)[0] != shape_of(rows)[0]:
            return None
        rows = cut.x
    made = dequantized(rows)
    return made if made is not None and shape_of(made.x)[2] % 4 == 0 else None


def gathered_rows(gather: nn.Gather) -> nn.Dequantize | None:
    """The packed groups of which a gather takes whole rows; None if it does not."""
    return dequantized(gather.data) if gather.axis == 0 else None


def dequantized(rows: Value) -> nn.Dequantize | None:
    """The groups of constant integers from which rows [N, K] are dequantized; None
    if they are not.
    """
    view = rows.defined_by(nn.Reshape)
    made = view.x.defined_by(nn.Dequantize) if view is not None else None
    if made is None or not is_arranged_constant(made.x) or len(shape_of(made.x)) != 3:
        return None
    shape = shape_of(made.x)
    same = len(shape_of(rows)) == 2 and shape_of(rows)[0] == shape[0]
    return made if same and None not in shape and 0 not in shape else None


def uncast(value: Value) -> Value:
    """The value before a cast to a 16-bit float, since the product is computed in f32."""
    made = value.defined_by(nn.Cast)
    return made.x if made is not None and element_of(value) in (f16, bf16) else value


def gather_groups(gather: nn.Gather, packed: nn.Dequantize) -> None:
    """gather(dequantize(x, scale, offset)) -> dequantize(gather(x), gather(scale), ..)"""
    b = Builder.before_op(gather)
    parts = [v for v in (packed.x, packed.scale, packed.offset) if v is not None]
    chosen = [b.insert(nn.Gather(part, gather.indices, axis=0)).result for part in parts]
    made = nn.Dequantize(*chosen, bits=packed.bits, middle=packed.middle)
    rows = reshape(b, b.insert(made), shape_of(gather.out))
    gather.replace_with(rows)


def multiply_words(product: nn.Matmul, packed: nn.Dequantize, machine: Machine) -> None:
    """Replace a product with packed weights by one that reads them as 32-bit words.

    The words are rearranged in blocks of the target's layout width along the columns.
    """
    b = Builder.before_op(product)
    block = machine.costs.layouts.block
    N, groups, width = shape_of(packed.x)
    each, whole = 32 // packed.bits, -(-N // block) * block
    rest = (whole - N, 0, 0)
    words = b.insert(nn.Words(behind(b, packed.x, rest))).result
    words = arranged(b, words, "(no ni) g w -> no g w ni", {"ni": block})
    numbers = [packed.scale] if packed.offset is None else [packed.scale, packed.offset]
    numbers = [
        arranged(b, behind(b, x, rest[:2]), "(no ni) g -> no g ni", {"ni": block}) for x in numbers
    ]
    *lead, _ = shape_of(product.lhs)
    K = shape_of(product.rhs)[0]
    x = cast(b, product.lhs, f32)
    missing = groups * width * 8 // packed.bits - K
    if missing:
        x = behind(b, x, (*(0,) * len(lead), missing))
    x = reshape(b, x, (*lead, groups, width // 4, each))
    if (packing := byte_packing(packed, machine)) is not None:
        made = multiply_bytes(b, x, words, numbers, packed, packing)
    else:
        bits, middle = packed.bits, packed.middle
        made = b.insert(nn.QuantizedMatmul(x, words, *numbers, bits=bits, middle=middle)).result
    out = reshape(b, made, (*lead, whole))
    if whole != N:
        kept = TensorType((*lead, N), f32)
        out = b.insert(nn.Slice(out, (0,) * len(lead) + (0,), out=kept)).result
    out = cast(b, out, element_of(product.out))
    product.replace_with(out)
