"""Extents known only at run time as polynomials of symbols, so that equal extents compare equal.

The symbols are the named dimensions of an entry's arguments, or of a kernel's operands. A rule for
each op says how its results' extents are computed. Small integer tensors are followed element by
element, so that the extents of a reshape to a computed shape are known too:

    %x: tensor<?x?x768xf32>                                         [b, s, 768]
    %n = concat(gather(shape_of %x, 0), -1, 12, 64)                 its elements: b, -1, 12, 64
    %y = nn.reshape_dynamic %x, %n -> tensor<?x?x12x64xf32>         [b, s, 12, 64]

Two extents with equal polynomials are equal in every run that gets to where they are used: a
function checks at its begin that extents of one name are equal, and each op checks its operands.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import prod

from ...ir.polynomial import Poly, Size, Symbol, quotient
from ..vocabulary import *
from .symbolic_elements import SymbolicElements
from .symbolic_results import Part, part_of

Shape = tuple[Size, ...]


@dataclass(frozen=True, eq=False)
class NamedExtent(Symbol):
    """The symbol of an extent that is known only at run time.

    With `least`, a pair (size, number), it is the smaller of the two.
    """

    name: str
    least: tuple[Size, int] | None = None

    def __repr__(self) -> str:
        return self.name


class SymbolicShapes:
    """Finds the extents of values as numbers and polynomials; caches what it found.

    `names` has the names of the dimensions of the block's arguments, a list for each argument.
    """

    def __init__(self, block: Block | None = None, names: Sequence[Sequence[str]] = ()) -> None:
        self._shapes: dict[Value, Shape] = {}
        self._elements = SymbolicElements(self)
        self.known = self._elements.known
        self._symbols: dict[Any, NamedExtent] = {}
        self._types: dict[str, TensorType] = {}
        """For each dimension's name, the type of the first argument that has it."""
        if block is None:
            return
        for value, own in zip(block.args, names, strict=False):
            if isinstance(value.type, TensorType) and len(own) == value.type.rank:
                self._shapes[value] = tuple(
                    self._named(value, axis, name) if d is None else d
                    for axis, (d, name) in enumerate(zip(value.type.shape, own, strict=True))
                )
        for op in block:  # in order, so that none is found by a deep recursion
            for result in op.results:
                if isinstance(result.type, TensorType):
                    self.of(result)
                    self.elements(result)

    def _named(self, value: Value, axis: int, name: str) -> Size:
        if not name:
            return self.symbol((value, axis), "")
        self._types.setdefault(name, value.type)
        return prod((self.symbol(one, one) for one in name.split("*")), start=1)

    def symbol(self, key: Any, name: str, least: tuple[Size, int] | None = None) -> Poly:
        """The symbol that belongs to a key; made, with this name, when the key is new."""
        if key not in self._symbols:
            self._symbols[key] = NamedExtent(name or f"d{len(self._symbols)}", least)
        return Poly.symbol(self._symbols[key])

    def sources(self, arguments: Iterable[BlockArgument]) -> dict[Any, tuple[BlockArgument, int]]:
        """{symbol: (argument, dimension)} with the first argument whose extent the symbol is."""
        found: dict[Any, tuple[BlockArgument, int]] = {}
        for value in arguments:
            if isinstance(value.type, TensorType):
                for axis, size in enumerate(self.of(value)):
                    if isinstance(size, Poly) and (symbol := size.single) is not None:
                        found.setdefault(symbol, (value, axis))
        return found

    # -- what is asked -------------------------------------------------------------------------

    def of(self, value: ValueLike) -> Shape:
        """The extents of a tensor: numbers and polynomials."""
        value = as_value(value)
        found = self._shapes.get(value)
        if found is None:
            shape: Any = value.type.shape
            part: Part | None = None
            if None in shape and isinstance(value, OpResult):
                part = part_of(self, value.owner)
            if part is None or len(part) != len(shape):
                part = (None,) * len(shape)
            found = self._shapes[value] = tuple(
                d if d is not None else self.symbol((value, axis), "") if p is None else p
                for axis, (d, p) in enumerate(zip(shape, part, strict=True))
            )
        return found

    def remember(
        self, value: Value, shape: Shape, elements: Sequence[Size | None] | None = None
    ) -> None:
        """Record the extents of a new value, and the elements of a small one."""
        self._shapes[value] = shape
        if elements is not None:
            self._elements.remember(value, elements)

    def elements(self, value: ValueLike) -> list[Size | None] | None:
        """The elements of a small integer tensor, None for unknown ones; None if
        all of them are.
        """
        found = self._elements.array(as_value(value))
        return None if found is None else list(found.reshape(-1))

    def joined(self, sizes: Iterable[Size]) -> Size | None:
        """The extent to which several broadcast; None if it is not known."""
        left = {size for size in sizes if size != 1}
        numbers = [size for size in left if isinstance(size, int)]
        if numbers or not left:
            return numbers[0] if numbers else 1
        # The smaller of n and 512 fits n only where it is n.
        left -= {size for size in left if (low := _least(size)) and low[1] > 1 and low[0] in left}
        return left.pop() if len(left) == 1 else None

    def part(self, size: Size, number: int) -> Size:
        """size / number, rounded down. Whole parts of the constant term are taken out of the
        symbol.

        (n + 5) / 4 is a symbol for (n + 1) / 4, plus 1; so it is one more than (n + 1) / 4.
        """
        if isinstance(size, int):
            return size // number
        found = quotient(size, number)
        if found is not None:
            return found
        whole = size.terms.get((), 0) // number
        return self.symbol(("part", size - whole * number, number), "") + whole

    def estimate(self, size: Size, given: Callable[[TensorType], int], otherwise: int) -> int:
        """An estimate of a size, in which each unknown extent of an argument is `given(its type)`.

        `otherwise` where the size depends on other unknown extents. At least 1 for unknown sizes.
        """
        if isinstance(size, int):
            return size
        keys = {symbol: key for key, symbol in self._symbols.items()}

        def value(size: Size) -> int | None:
            if isinstance(size, int):
                return size
            factors = {symbol: extent(symbol) for symbol in size.symbols}
            if None in factors.values():
                return None
            return sum(
                factor * prod(factors[symbol] for symbol in product)  # type: ignore[misc]
                for product, factor in size.terms.items()
            )

        def extent(symbol: Any) -> int | None:
            match keys.get(symbol):
                case str() as name if name in self._types:
                    return given(self._types[name])
                case (BlockArgument() as argument, _):
                    return given(argument.type)
                case ("part", of, number):
                    whole = value(of)
                    return None if whole is None else whole // number
                case ("least", end, number):
                    whole = value(end)
                    return None if whole is None else min(whole, number)
            return None

        found = value(size)
        return otherwise if found is None else max(found, 1)


def _least(size: Size) -> tuple[Size, int] | None:
    """(size, number) if the size is the symbol of their minimum, else None."""
    symbol = size.single if isinstance(size, Poly) else None
    return symbol.least if isinstance(symbol, NamedExtent) else None
