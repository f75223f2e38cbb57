"""Lowering of nn.bitcast: the bits of elements read as another type."""

from __future__ import annotations

from ...dialects import arith, nn
from ...ir.core import Value
from ...ir.types import i1
from .emitter import Emitter
from .scalars import convert, low_bits
from .storage import storage_type
from .table import lowers


@lowers(nn.Bitcast)
def lower_bitcast(e: Emitter, op: nn.Bitcast) -> None:
    """Copy the bits. Booleans are bytes of 0 or 1, small numbers the low bits of a byte."""
    source = e.buffer(op.x)
    out = e.destination(op.out, e.sizes(source))
    element = op.out.type.element_type
    wanted = storage_type(element)

    def read(e: Emitter, x: Value, _: Value) -> Value:
        if x.type is wanted:
            return low_bits(e, x, element) if nn.bit_width(element) < 8 else x
        if i1 in (x.type, wanted):
            return convert(e, x, x.type, wanted)
        return e.insert(arith.Bitcast(x, out=wanted)).result

    e.elementwise([source], out, read)
