"""The bits of elements, viewed as another type."""

from __future__ import annotations

from functools import reduce

from ...common.vocabulary import *
from ..layer import KerasLayer, element_type, layer


@layer("ops.View")
def view(n: KerasLayer) -> Value:
    """The bits viewed as another type, whose width may differ."""
    x, element = Term(n, n.tensor()), element_type(n.option("dtype"))
    if element is None:
        raise n.error(f"elements of type '{n.option('dtype')}' are not supported")
    own, wanted = nn.bit_width(x.element), nn.bit_width(element)
    if own > wanted:
        x = _apart(_bits_as(x, IntegerType(own, "u")), wanted)
    elif own < wanted:
        x = _together(_bits_as(x, IntegerType(own, "u")), wanted)
    return _bits_as(x, element).value


def _bits_as(x: Term, element: Type) -> Term:
    return x.made(nn.Bitcast(x.value, out=TensorType(x.shape, element)))


def _apart(x: Term, width: int) -> Term:
    """Integers split into several of `width` bits, the lowest bits first."""
    count, part = nn.bit_width(x.element) // width, IntegerType(width, "u")
    parts = [((x >> i * width) & ((1 << width) - 1)).cast(part).spread(0, 1) for i in range(count)]
    groups = [*((i, i + 1) for i in range(x.rank - 1)), (x.rank - 1, x.rank + 1)]
    return Term(x.n, merge(x.n, joined(parts, x.rank).value, groups))


def _together(x: Term, width: int) -> Term:
    """Several integers along the last axis combined into one of more bits."""
    own, whole = nn.bit_width(x.element), IntegerType(width, "u")
    count, last = width // own, x.shape[-1]
    if last is None or last % count:
        raise x.n.error(f"{last} elements along the last axis are not a multiple of {count}")
    leading = [(x.value, i) for i in range(x.rank - 1)]
    apart = x.reshape(*leading, last // count, count).cast(whole)
    return reduce(lambda a, b: a | b, (apart.column(i) << i * own for i in range(count)))
