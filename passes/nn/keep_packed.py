"""Products with packed integers multiply what the words hold, and no matrix of floats is made.

    w = dequantize(bytes, scale, offset)      [N, K], as groups of a row
    x @ transpose(w)                     ->   quantized_matmul(x, words(bytes), scale, offset)

See docs/decisions/0025-packed-weights.md.
"""

from __future__ import annotations

from dataclasses import dataclass

from ...dialects import nn
from ...dialects.strict_math import is_strict
from ...ir.builder import Builder
from ...ir.core import Operation, Value
from ...ir.passes import Pass, PassContext, option
from ...ir.types import TensorType, f32
from ...targets.attribute import target_of
from .building import arranged, cast, element_of, is_arranged_constant, reshape, shape_of
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

    The integers must be constant, in groups that fill words. A module that wants its math as
    written keeps its products of floats.
    """

    numerics = "rounding"

    target: str = option("", help="a target's name (default: the module's)", alias="machine")

    def run(self, op: Operation, context: PassContext) -> None:
        """Each product for itself."""
        if is_strict(op):
            return
        block = target_of(op, self.target).machine.costs.layouts.block
        for product in list(op.walk()):
            if isinstance(product, nn.Matmul) and (packed := packed_rows(product)) is not None:
                multiply_words(product, packed, block)
                context.statistic("products")


def packed_rows(product: nn.Matmul) -> nn.Dequantize | None:
    """The groups that the columns of a product's right-hand side are made of, in order."""
    right = uncast(product.rhs)
    turned = right.defined_by(nn.Transpose)
    if turned is None or turned.permutation != (1, 0) or len(shape_of(product.lhs)) < 2:
        return None
    rows = uncast(turned.x)
    if (cut := rows.defined_by(nn.Slice)) is not None:
        if any(cut.starts) or any(s != 1 for s in cut.steps or ()):
            return None
        if shape_of(cut.x)[0] != shape_of(rows)[0]:
            return None
        rows = cut.x
    view = rows.defined_by(nn.Reshape)
    made = view.x.defined_by(nn.Dequantize) if view is not None else None
    if made is None or not is_arranged_constant(made.x) or len(shape_of(made.x)) != 3:
        return None
    shape = shape_of(made.x)
    if None in shape or 0 in shape or shape[2] % 4 or shape_of(rows)[0] != shape[0]:
        return None
    return made


def uncast(value: Value) -> Value:
    """What was cast to a float, perhaps; the product is computed in f32."""
    made = value.defined_by(nn.Cast)
    return made.x if made is not None and element_of(made.x) is f32 else value


def multiply_words(product: nn.Matmul, packed: nn.Dequantize, block: int) -> None:
    """Replace a product by one of words, in blocks of columns."""
    b = Builder.before_op(product)
    N, groups, width = shape_of(packed.x)
    each, whole = 32 // packed.bits, -(-N // block) * block
    rest = (whole - N, 0, 0)
    words = b.insert(nn.Words(behind(b, packed.x, rest))).result
    words = arranged(b, words, "(no ni) g w -> no g w ni", {"ni": block})
    numbers = [packed.scale] if packed.offset is None else [packed.scale, packed.offset]
    numbers = [
        arranged(b, behind(b, x, rest[:2]), "(no ni) g -> no g ni", {"ni": block}) for x in numbers
    ]
    *lead, K = shape_of(product.lhs)
    x = cast(b, product.lhs, f32)
    missing = groups * width * 8 // packed.bits - K
    if missing:
        x = behind(b, x, (*(0,) * len(lead), missing))
    x = reshape(b, x, (*lead, groups, width // 4, each))
    made = nn.QuantizedMatmul(x, words, *numbers, bits=packed.bits, middle=packed.middle)
    out = reshape(b, b.insert(made), (*lead, whole))
    if whole != N:
        kept = TensorType((*lead, N), f32)
        out = b.insert(nn.Slice(out, (0,) * len(lead) + (0,), out=kept)).result
    out = cast(b, out, element_of(product.out))
    out.name_hint = product.out.name_hint
    product.out.replace_all_uses_with(out)
    product.erase()
