"""A converter's view of an ATen node: numbers, shapes and element types by PyTorch's rules."""

from __future__ import annotations

from ..common.importer import NodeLayer
from ..common.movement import as_vector
from ..common.runtime_axes import source_of
from ..common.vocabulary import *

Number = int | float | bool | Value
"""A number, or a 0-d tensor."""

Size = int | Value


class AtenLayer(NodeLayer):
    """A node of an ATen graph."""

    def axis(self, dim: int, rank: int) -> int:
        """The dimension counted from the front; a 0-d tensor has dimension 0."""
        return normalize_axis(self, self.int(dim), max(rank, 1), "dimension")

    def axes(self, dims: Any, rank: int) -> tuple[int, ...]:
        """Dimensions sorted and counted from the front; None or an empty list means all."""
        if dims is None or (isinstance(dims, list) and not dims):
            return tuple(range(rank))
        given = dims if isinstance(dims, list | tuple) else [dims]
        return tuple(sorted({self.axis(d, rank) for d in given})) if rank else ()

    def int(self, value: Any) -> int:
        """A number that must be known at import."""
        return self.known_int(value, "a number") if isinstance(value, Value) else int(value)

    def number(self, value: Any) -> Any:
        """A number as a Python value; a tensor whose element is unknown at import is unchanged."""
        if isinstance(value, Value) and (known := self.known(value)) is not None:
            return known.reshape(())[()].item()
        return value

    def value(self, name: str) -> Any:
        """An attribute of a custom operator."""
        return self.attributes.get(name)

    def as_value(self, value: Any, element: Type | None = None) -> Value:
        """A number as a 0-d tensor, by default of PyTorch's type for it; integers wrap."""
        if isinstance(value, Value):
            return value if element is None else self.cast(value, element)
        element = element or element_of_number(value)
        if isinstance(value, int) and isinstance(element, IntegerType) and element is not i1:
            least = int(limits_of(element)[0])
            value = (value - least) % 2**element.width + least
        return self.constant(value, element)

    # -- shapes -----------------------------------------------------------------------------------

    def sizes(self, sizes: Sequence[Size]) -> tuple[list[Extent | None], Value]:
        """Extents (numbers, values, or None if only the vector has one), and the vector of all."""
        found: list[Extent | None] = []
        for size in sizes:
            size = self.number(size)
            found.append(source_of(size, 0) if isinstance(size, Value) else int(size))
        return found, self.vector(sizes)

    def vector(self, sizes: Sequence[Size]) -> Value:
        """Numbers as a 1-D tensor of i64."""
        numbers = [self.number(size) for size in sizes]
        if not any(isinstance(number, Value) for number in numbers):
            return self.constant(np.array(numbers, np.int64))
        parts = [as_vector(self, number) for number in numbers]
        return concatenated(self, parts)

    def reshape(self, x: Value, sizes: Sequence[Size]) -> Value:
        """x in another shape; one size may be -1."""
        extents, vector = self.sizes(sizes)
        own = [e if not isinstance(e, tuple) or e[0] is x else None for e in extents]
        return reshape_by(self, x, vector, own)

    def expand(self, x: Value, sizes: Sequence[Size]) -> Value:
        """x broadcast to a shape; -1 keeps x's own extent."""
        lead = len(sizes) - x.type.rank
        own = [self.number(size) for size in sizes]
        kept = [i for i, size in enumerate(own) if i >= lead and _is_own(size)]
        extents, vector = self.sizes(
            [self.size(x, i - lead) if i in kept else size for i, size in enumerate(own)]
        )
        for i in kept:
            extents[i] = (x, i - lead)
        if None not in extents:
            return broadcast(self, x, [e for e in extents if e is not None])
        known = tuple(resolve(e) for e in extents)
        return expand_by(self, x, vector, known)

    def filled(self, value: Value, sizes: Sequence[Size]) -> Value:
        """A tensor of a shape filled with a 0-d value."""
        extents, vector = self.sizes(sizes)
        shape = tuple(resolve(e) for e in extents)
        out = TensorType(shape, value.type.element_type)
        if None not in shape:
            return self(nn.Fill(value, out=out)) if shape else value
        return self(nn.FillDynamic(vector, value, out=out))

    def size(self, x: Value, axis: int) -> Size:
        """An extent: a number, or a computed value."""
        extent = x.type.shape[axis]
        if extent is not None:
            return extent
        return gathered(self, self(nn.ShapeOf(x)), self.constant(axis, i64))

    def shape(self, x: Value) -> list[Size]:
        """All extents."""
        return [self.size(x, i) for i in range(x.type.rank)]

    # -- element types ----------------------------------------------------------------------------

    def promoted(self, *operands: Any) -> list[Value]:
        """Tensors and numbers converted to their promoted element type."""
        element = common_element(operands)
        return [self.as_value(x, element) for x in operands]

    def promoted_floating(self, *operands: Any) -> list[Value]:
        """As `promoted`, but integers become f32."""
        element = common_element(operands)
        element = element if isinstance(element, FloatType) else f32
        return [self.as_value(x, element) for x in operands]

    def floating(self, x: Any) -> Value:
        """The value as floats: integers become f32."""
        return super().floating(self.as_value(x))


def _is_own(size: Any) -> bool:
    return not isinstance(size, Value) and size == -1


def element_of_number(value: Any) -> Type:
    """The element type of a Python number."""
    if isinstance(value, bool):
        return i1
    return i64 if isinstance(value, int) else f32


def _kind(element: Type | None) -> int:
    if element is None:
        return -1
    if element is i1:
        return 0
    return 1 if isinstance(element, IntegerType) else 2


def promote(a: Type | None, b: Type | None) -> Type:
    """The promoted type of two tensors with dimensions."""
    if a is None or b is None or a is b:
        return a or b  # type: ignore[return-value]
    if _kind(a) != _kind(b):
        return a if _kind(a) > _kind(b) else b
    if _kind(a) == 2:
        if a.width == b.width:  # type: ignore[attr-defined]
            return f32
        return a if a.width > b.width else b  # type: ignore[attr-defined]
    signed = [t for t in (a, b) if t.signedness != "u"]  # type: ignore[attr-defined]
    width = max(a.width, b.width)  # type: ignore[attr-defined]
    if len(signed) == 1 and signed[0].width <= min(a.width, b.width):  # type: ignore[attr-defined]
        width = min(2 * width, 64)
    return IntegerType(width, "" if signed else "u") if signed else max(a, b, key=_width)


def _width(element: Any) -> int:
    return element.width


def _combined(higher: Type | None, lower: Type | None) -> Type | None:
    """The promoted type of two groups of operands, where the first decides within one kind."""
    if _kind(higher) == 2:
        return higher
    if higher is i1 or (_kind(lower) == 2 and higher is not None):
        return promote(higher, lower)
    return higher or lower


def common_element(operands: Sequence[Any]) -> Type:
    """The promoted type of operands: that of the tensors with dimensions, unless a 0-d tensor or a
    number is of a higher kind (truth values, integers, floats).
    """
    ranks: list[Type | None] = [None, None, None]
    for x in operands:
        if isinstance(x, Value):
            place, element = (0 if x.type.rank else 1), x.type.element_type
        else:
            place, element = 2, element_of_number(x)
        ranks[place] = promote(ranks[place], element)
    found = _combined(ranks[0], _combined(ranks[1], ranks[2]))
    assert found is not None
    return found
