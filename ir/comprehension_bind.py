"""Binding a comprehension's text to operand types: dimensions, extents, maps, scalar types."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any

from .affine import AffineBinary, AffineConstant, AffineDim, AffineExpr, AffineMap
from .comprehension import (
    Access,
    Apply,
    Comprehension,
    Dimension,
    Extent,
    Load,
    Number,
    Position,
    Scalar,
)
from .comprehension_text import (
    FLOAT_FUNCTIONS,
    Binary,
    Call,
    Element,
    Index,
    Literal,
    Name,
    fault,
    index_names,
    parse_body,
)
from .conversions import CASTS
from .definition import OpDefinition
from .diagnostics import NncError
from .packing import DOTS, PACKINGS
from .types import Dim, FloatType, IntegerType, TensorType, Type, i1

_COMPARE = ("eq", "ne", "lt", "le", "gt", "ge", "is_nan")


class Binder:
    """One run of `bind`; its parameters are described there."""

    def __init__(
        self,
        text: str,
        names: Sequence[str],
        types: Sequence[TensorType],
        scope: Mapping[str, Any],
        extents: Mapping[str, Any],
        result_element: Type | None,
    ) -> None:
        self.text = text
        self.body = parse_body(text)
        self.names = list(names)
        self.types = tuple(types)
        self.scope = scope
        self.given = extents
        self.result_element = result_element
        self.elements = self.body.elements()
        self.group_sizes: dict[str, int] = {}
        self.positions: dict[str, int] = {}  # dimension name -> number
        self.in_group: set[str] = set()  # dimensions that may broadcast
        self.extents: dict[str, Extent] = {}
        self.sizes: dict[str, Dim] = {}

    def fault(self, message: str) -> NncError:
        return fault(self.text, message)

    def bind(self) -> Comprehension:
        operands = [self.operand(e) for e in self.elements]
        self._size_groups(operands)
        indices = [
            self.expand(e, self.types[o].rank) for e, o in zip(self.elements, operands, strict=True)
        ]
        out = self.expand(self.body.out, None)
        for index in (*out, *(i for one in indices for i in one)):
            for name in index_names(index):
                if not self.is_attribute(name.name):
                    self.positions.setdefault(name.name, len(self.positions))
        out_dims = {i.name for i in out if isinstance(i, Name)}
        if len(out_dims) != len(out):
            raise self.fault("the result's indices must be different dimensions")
        self._extents_of_plain(operands, indices)
        self._extents_of_rest(operands, indices)
        dims = tuple(
            Dimension(
                name,
                "parallel" if name in out_dims else "reduction",
                self.sizes[name],
                self.extents[name],
            )
            for name in self.positions
        )
        if not self.body.combiner and len(dims) != len(out):
            missing = next(d.name for d in dims if d.kind == "reduction")
            raise self.fault(f"dimension '{missing}' is not in the result; use a combiner")
        accesses = tuple(self.access(o, index) for o, index in zip(operands, indices, strict=True))
        out_map = AffineMap(len(dims), 0, tuple(self.affine(i) for i in out))
        value = self.typed(self.body.value, self.weak_type())
        return Comprehension(
            self.text, self.types, dims, accesses, out_map, self.body.combiner, value
        )

    def operand(self, element: Element) -> int:
        if element.tensor not in self.names:
            raise self.fault(f"'{element.tensor}' is not an operand")
        return self.names.index(element.tensor)

    def is_attribute(self, name: str) -> bool:
        return name in self.scope

    # -- groups ------------------------------------------------------------------------------

    def _size_groups(self, operands: list[int]) -> None:
        """Set the number of dimensions of each group: the most that any operand has left for it."""
        for name, extent in self.given.items():
            if isinstance(extent, tuple):
                self.group_sizes[name] = len(extent)
        for element, operand in zip(self.elements, operands, strict=True):
            rank = self.types[operand].rank
            vectors = [i for i in element.indices if self.groups_in(i)]
            left = rank - (len(element.indices) - len(vectors))
            if left < 0 or (not vectors and left):
                raise NncError(
                    f"{element.tensor} must have {'at least ' if vectors else ''}rank "
                    f"{len(element.indices) - len(vectors)}, but got '{self.types[operand]}'"
                )
            if len(vectors) > 1:
                raise self.fault("an operand has more than one group of indices")
            for index in vectors:
                for group in self.groups_in(index):
                    self.group_sizes[group] = max(self.group_sizes.get(group, 0), left)

    def groups_in(self, index: Index) -> list[str]:
        return [n.name for n in index_names(index) if n.group]

    def expand(self, element: Element, rank: int | None) -> list[Index]:
        """The indices with groups written out, right-aligned where the operand has fewer."""
        found: list[Index] = []
        single = sum(not self.groups_in(i) for i in element.indices)
        for index in element.indices:
            groups = self.groups_in(index)
            if not groups:
                found.append(index)
                continue
            size = max(self.group_sizes.get(g, 0) for g in groups)
            length = size if rank is None else rank - single
            if not isinstance(index, Name) and any(
                self.group_sizes.get(g, 0) != length for g in groups
            ):
                raise self.fault(f"the groups {', '.join(groups)} have different ranks")
            for i in range(size - length, size):
                found.append(self._member(index, i))
        return found

    def _member(self, index: Index, i: int) -> Index:
        """Element number i of an index that has groups."""
        match index:
            case Name(name, True):
                self.in_group.add(f"{name}{i}")
                return Name(f"{name}{i}")
            case Name(name) if isinstance(values := self.scope.get(name), tuple):
                if i >= len(values):
                    raise NncError(f"{name} has {len(values)} elements, expected {i + 1}")
                return Literal(values[i])
            case Binary(kind, lhs, rhs):
                return Binary(kind, self._member(lhs, i), self._member(rhs, i))
        return index

    # -- extents --------------------------------------------------------------------------------

    def explicit(self, name: str) -> tuple[bool, Dim]:
        """(whether `extents` has the dimension, the extent given there; None if unknown)."""
        if name in self.given:
            return True, self.given[name]
        base = name.rstrip("0123456789")
        value = self.given.get(base)
        if name in self.in_group and isinstance(value, tuple):
            return True, value[int(name[len(base) :])]
        return False, None

    def _extents_of_plain(self, operands: list[int], indices: list[list[Index]]) -> None:
        """Find the extents of dimensions that are given, or that stand alone as an index."""
        found: dict[str, list[tuple[int, int, Dim]]] = {}
        for operand, index in zip(operands, indices, strict=True):
            for axis, one in enumerate(index):
                if isinstance(one, Name) and not self.is_attribute(one.name):
                    source = (operand, axis, self.types[operand].shape[axis])
                    if source not in found.setdefault(one.name, []):
                        found[one.name].append(source)
        for name in self.positions:
            sources = found.get(name, [])
            known, size = self.explicit(name)
            if known and size is not None:
                self._check_against(name, size, sources)
                self.sizes[name] = size
                self.extents[name] = Extent(AffineConstant(size), given=True)
            elif sources:
                self.sizes[name], self.extents[name] = self._join(name, sources)

    def _check_against(self, name: str, size: int, sources: list) -> None:
        """Check a given extent, which may be smaller than an operand's: a slice reads a part."""
        for operand, _, extent in sources:
            enough = extent is None or extent >= size
            if not enough and not (extent == 1 and name in self.in_group):
                raise self._mismatch(name, f"{size} is given", operand, extent)

    def _mismatch(self, name: str, other: str, operand: int, extent: Dim) -> NncError:
        return NncError(
            f"dimension '{name}': {other} but {self.names[operand]} has {extent} "
            f"('{self.types[operand]}')"
        )

    def _join(self, name: str, sources: list[tuple[int, int, Dim]]) -> tuple[Dim, Extent]:
        """The extent that several operands agree on."""
        broadcast = name in self.in_group
        fixed = [s for s in sources if s[2] is not None and not (broadcast and s[2] == 1)]
        for operand, _, extent in fixed[1:]:
            if extent != fixed[0][2]:
                first = self.names[fixed[0][0]]
                raise self._mismatch(name, f"{first} has {fixed[0][2]}", operand, extent)
        if fixed:
            size = fixed[0][2]
            assert size is not None
            return size, Extent(AffineConstant(size))
        unknown = tuple((operand, axis) for operand, axis, extent in sources if extent is None)
        if not unknown:
            return 1, Extent(AffineConstant(1))
        if broadcast and len(unknown) > 1:
            return None, Extent(AffineDim(0), unknown, broadcast=True)
        return None, Extent(AffineDim(0), unknown[:1])

    def _extents_of_rest(self, operands: list[int], indices: list[list[Index]]) -> None:
        """Find the extents of dimensions in index arithmetic: as large as stays in bounds."""
        left = [name for name in self.positions if name not in self.sizes]
        for name in left:
            for operand, index in zip(operands, indices, strict=True):
                for axis, one in enumerate(index):
                    if name in self.sizes or isinstance(one, Name):
                        continue
                    solved = self._solve(name, self.affine(one), operand, axis)
                    if solved is not None:
                        self.extents[name] = solved
                        expr = solved.expr
                        constant = isinstance(expr, AffineConstant)
                        self.sizes[name] = expr.value if constant else None
            if name not in self.sizes:
                raise self.fault(f"no operand determines the extent of dimension '{name}'")

    def _solve(self, name: str, expr: AffineExpr, operand: int, axis: int) -> Extent | None:
        """The largest extent of `name` for which the index stays within the axis.

        For x[p*s + k*d + c]: p < (X - 1 - c - (K - 1)*d) // s + 1.
        """
        linear = expr.linear(len(self.positions))
        if linear is None:
            return None
        factors, offset = linear
        names = list(self.positions)
        factor = factors[self.positions[name]]
        if not factor or any(
            f and names[i] not in self.sizes and names[i] != name for i, f in enumerate(factors)
        ):
            return None
        sources: list[tuple[int, int]] = []

        def extent_of(size: Dim, extent: Extent) -> AffineExpr:
            if size is not None:
                return AffineConstant(size)
            start = len(sources)
            sources.extend(extent.sources)
            return extent.expr.replace(
                [AffineDim(start + i) for i in range(len(extent.sources))], ()
            )

        axis_size = self.types[operand].shape[axis]
        axis_extent = Extent(AffineDim(0), ((operand, axis),))
        if factor > 0:
            room = extent_of(axis_size, axis_extent) - 1 - offset
        else:
            room = AffineConstant(offset)
        for i, other in enumerate(factors):
            if names[i] != name and other * factor > 0:
                reach = extent_of(self.sizes[names[i]], self.extents[names[i]]) - 1
                room = room - reach * abs(other)
        expr = room.__floordiv__(abs(factor)) + 1
        if isinstance(expr, AffineConstant):
            expr = AffineConstant(max(expr.value, 0))
        return Extent(expr, tuple(sources))

    # -- maps ----------------------------------------------------------------------------------

    def access(self, operand: int, indices: list[Index]) -> Access:
        shape = self.types[operand].shape
        results: list[AffineExpr] = []
        uncertain: list[int] = []
        for axis, index in enumerate(indices):
            name = index.name if isinstance(index, Name) and index.name in self.in_group else None
            if name is not None and shape[axis] == 1 and self.sizes[name] != 1:
                results.append(AffineConstant(0))
                continue
            results.append(self.affine(index))
            if name is not None and shape[axis] is None and not self._decides(name, operand, axis):
                uncertain.append(axis)
        dims = len(self.positions)
        return Access(operand, AffineMap(dims, 0, tuple(results)), tuple(uncertain))

    def _decides(self, name: str, operand: int, axis: int) -> bool:
        """Whether the dimension's extent is that of this axis and no other."""
        return self.extents[name].sources == ((operand, axis),)

    def affine(self, index: Index) -> AffineExpr:
        match index:
            case Literal(value):
                return AffineConstant(int(value))
            case Name(name) if self.is_attribute(name):
                value = self.scope[name]
                if not isinstance(value, int):
                    raise self.fault(f"'{name}' is not known, but an index needs it")
                return AffineConstant(value)
            case Name(name):
                return AffineDim(self.positions[name])
            case Binary(kind, lhs, rhs):
                return self._arithmetic(kind, self.affine(lhs), self.affine(rhs))
        raise TypeError(index)

    def _arithmetic(self, kind: str, a: AffineExpr, b: AffineExpr) -> AffineExpr:
        if kind == "+":
            return a + b
        if kind == "-":
            return a - b
        if kind == "*" and isinstance(a, AffineConstant):
            a, b = b, a
        if not isinstance(b, AffineConstant):
            raise self.fault(f"'{kind}' in an index needs an integer on one side")
        if kind == "*":
            return a * b
        if b.value < 1:
            raise self.fault(f"'{kind}' in an index needs a positive integer")
        return a // b if kind == "//" else a % b

    # -- scalars -----------------------------------------------------------------------------------

    def weak_type(self) -> Type:
        """The type of unconstrained numbers: the first operand's element type, or f32."""
        return self.types[0].element_type if self.types else FloatType("f32")

    def typed(self, value: Any, wanted: Type) -> Scalar:
        """A parsed scalar expression with types; plain numbers get the type `wanted`."""
        match value:
            case Element():
                access = self.elements.index(value)
                return Load(access, self.types[self.operand(value)].element_type)
            case Literal(number):
                return self.number(number, wanted)
            case Name(name) if name in self.positions:
                return Position(self.positions[name], wanted)
            case Name(name):
                return self.number(self.scope[name], wanted)
            case Call(function, args):
                return self.call(function, args, wanted)
        raise TypeError(value)

    def number(self, value: int | float, type: Type) -> Number:
        if isinstance(type, IntegerType):
            if isinstance(value, float) and (not math.isfinite(value) or value != int(value)):
                raise NncError(f"needs floats, but got '{type}' (for the number {value})")
            return Number(int(value), type)
        return Number(float(value), type)

    def call(self, function: str, args: tuple, wanted: Type) -> Scalar:
        if function in CASTS:
            target = self.result_element or self.weak_type()
            return Apply(function, (self.typed(args[0], wanted),), target)
        if function == "select":
            condition = self.typed(args[0], i1)
            then, other = self._joint(args[1:], wanted)
            return Apply("select", (condition, then, other), then.type)
        if function == "pow":
            base = self.typed(args[0], wanted)
            return Apply("pow", (base, self.typed(args[1], base.type)), base.type)
        typed = tuple(self._joint(args, wanted))
        if function in _COMPARE:
            return Apply(function, typed, i1)
        if all(isinstance(a, Number) for a in typed) and function in _FOLD:
            return self.number(_FOLD[function](*(a.value for a in typed)), typed[0].type)  # type: ignore[union-attr]
        if function in FLOAT_FUNCTIONS and isinstance(typed[0].type, IntegerType):
            raise NncError(f"needs floats, but got '{typed[0].type}' (for '{function}')")
        sums = PACKINGS[DOTS[function]].sums if function in DOTS else typed[0].type
        return Apply(function, typed, sums)

    def _joint(self, args: tuple, wanted: Type) -> list[Scalar]:
        """Arguments in one type: that of the arguments that are not bare numbers, else `wanted`."""
        strong = [self.typed(a, wanted) for a in args if self._is_strong(a)]
        type = strong[0].type if strong else wanted
        for other in strong[1:]:
            if other.type is not type:
                raise NncError(f"operands have different element types: '{type}', '{other.type}'")
        return [self.typed(a, type) for a in args]

    def _is_strong(self, value: Any) -> bool:
        match value:
            case Element():
                return True
            case Call("eq" | "ne" | "lt" | "le" | "gt" | "ge" | "is_nan", _):
                return True
            case Call(function, _) if function in CASTS:
                return True
            case Call("select", args):
                return any(self._is_strong(a) for a in args[1:])
            case Call(_, args):
                return any(self._is_strong(a) for a in args)
        return False


_FOLD = {
    "add": lambda a, b: a + b,
    "sub": lambda a, b: a - b,
    "mul": lambda a, b: a * b,
    "neg": lambda a: -a,
}


def is_plain(expr: AffineExpr) -> bool:
    """Whether an index is a dimension or a constant, without arithmetic."""
    return not isinstance(expr, AffineBinary)


def bind(
    text: str,
    operand_names: Sequence[str],
    operand_types: Sequence[TensorType],
    scope: Mapping[str, Any],
    extents: Mapping[str, Any] | None = None,
    result_element: Type | None = None,
) -> Comprehension:
    """The comprehension of a text for operands of these types.

    `scope` maps names to numbers (a group to a tuple of numbers); any other name in an index is a
    dimension. `extents` maps dimensions to extents (a group to a tuple) that need not follow from
    the operands; None is unknown. `result_element` is the type that `cast` converts to.

    Raises NncError where the operands do not fit together.
    """
    return _bind(
        text,
        tuple(operand_names),
        tuple(operand_types),
        tuple(scope.items()),
        tuple((extents or {}).items()),
        result_element,
    )


@lru_cache(maxsize=4096)
def _bind(text, names, types, scope, extents, result_element) -> Comprehension:
    # Verifying after every pass asks for the same few forms over and over.
    return Binder(text, names, types, dict(scope), dict(extents), result_element).bind()


def check_body(text: str, definition: OpDefinition) -> None:
    """Check a class's `body` against its fields. Raises NncError where it is faulty."""
    body = parse_body(text)
    operands = {f.name for f in definition.operands}
    results = {f.name for f in definition.results}
    if body.out.tensor not in results:
        raise fault(text, f"'{body.out.tensor}' is not a result of the op")
    for element in body.elements():
        if element.tensor not in operands:
            raise fault(text, f"'{element.tensor}' is not an operand of the op")
    indices = [i for element in (body.out, *body.elements()) for i in element.indices]
    dimensions = {name.name for index in indices for name in index_names(index)}
    for name in sorted(body.attributes() - dimensions):
        if name not in definition.attributes:
            raise fault(text, f"'{name}' is not an attribute of the op")
