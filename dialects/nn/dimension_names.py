"""The attribute `nn.input_dims`, which names the dimensions of a function's arguments.

Unknown extents with one name are equal. A name may be a product, such as "d0*d1".
"""

from __future__ import annotations

from ...ir.polynomial import Poly, Size
from ..vocabulary import *


def names_of(attribute: Any) -> list[list[str]]:
    """The names in `nn.input_dims`, a list for each argument; [] if the attribute is missing.

    A dimension without a name has "".
    """
    if not isinstance(attribute, ArrayAttr):
        return []
    return [
        [name.value if isinstance(name, StringAttr) else "" for name in one]
        if isinstance(one, ArrayAttr)
        else []
        for one in attribute
    ]


def named(shapes: Sequence[Sequence[Size]]) -> ArrayAttr | None:
    """`nn.input_dims` with new names (d0, d1, ..) for arguments of these shapes.

    Equal extents get one name. A product of symbols gets the name "d0*d1" if both d0 and d1 are
    extents of an argument by themselves. None if all extents are known.
    """
    symbols: dict[Any, str] = {}
    whole: dict[Size, str] = {}

    def name(size: Size) -> str:
        if isinstance(size, int):
            return ""
        if size not in whole:
            ((product, factor),) = size.terms.items() if size.is_product else (((), 0),)
            if factor == 1 and all(symbol in symbols for symbol in product):
                whole[size] = "*".join(sorted(symbols[symbol] for symbol in product))
            else:
                whole[size] = f"d{len(whole)}"
        return whole[size]

    for shape in shapes:  # single symbols first: products are made of them
        for size in shape:
            if isinstance(size, Poly) and size.single is not None:
                symbols.setdefault(size.single, "")
    for i, symbol in enumerate(symbols):
        symbols[symbol] = f"d{i}"
        whole[Poly.symbol(symbol)] = f"d{i}"
    found = [[name(size) for size in shape] for shape in shapes]
    if not any(map(any, found)):
        return None
    return ArrayAttr(tuple(ArrayAttr(tuple(map(StringAttr, one))) for one in found))
