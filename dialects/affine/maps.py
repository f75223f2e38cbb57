"""Indices computed by affine maps, or converted to and from digits in a basis."""

from __future__ import annotations

from functools import reduce
from typing import ClassVar

from ...ir.affine import IntegerSet
from ...ir.rewriting import constant_int
from ..index_lists import DYNAMIC_INDEX, dynamic_count, mix, plain_error
from ..vocabulary import *
from .scope import affine_scope, is_dimension, is_symbol

MAP = instance(AffineMapAttr)


def values_at(map_: AffineMap, operands: Sequence[Any]) -> tuple[int, ...]:
    """The results of a map for these operands, of which the dims come first."""
    numbers = [int(v) for v in operands]
    return map_.evaluate(numbers[: map_.dim_count], numbers[map_.dim_count :])


def check_count(op: Op, whole: AffineMap | IntegerSet, found: int) -> None:
    """Raise unless a map or set has as many inputs as there are operands."""
    wanted = whole.dim_count + whole.symbol_count
    if found != wanted:
        raise op.error("operand count and affine map dimension and symbol count must match")


class _MapOp(Op, traits=(Pure,)):
    """Base of the ops that compute an index from their operands by a map."""

    mapOperands: Operands = operands(Index)  # noqa: N815
    map = attribute(MAP)
    result: Result = result(Index)

    format = "custom<AffineApplied>($map, $mapOperands) attr-dict"

    splits_inputs: ClassVar[bool] = False
    """Whether the text separates dimensions from symbols; if not, only their total number is
    checked.
    """

    def choose(self, values: Sequence[int]) -> int:
        """The op's result from the map's results: the only one, unless overridden."""
        return values[0]

    def choose_each(self, values: Sequence[Any]) -> Any:
        """The same for arrays of the map's results, element by element."""
        return values[0]

    def verify_op(self) -> None:
        check_count(self, self.map.map, len(self.mapOperands))

    def fold(self) -> Sequence[Value | Attribute] | None:
        """Fold to a constant if all operands are constants."""
        known = [constant_int(v) for v in self.mapOperands]
        if None in known:
            return None
        return [IndexAttr(self.choose(values_at(self.map.map, known)))]

    def evaluate(self, *operands: Any) -> Any:
        if all(np.ndim(v) == 0 for v in operands):
            return np.int64(self.choose(values_at(self.map.map, operands)))
        map_ = self.map.map  # the indices of many iterations of a linalg operation at once
        values = map_.evaluate(operands[: map_.dim_count], operands[map_.dim_count :])
        return self.choose_each([np.asarray(v, np.int64) for v in values])


class Apply(_MapOp, name="affine.apply"):
    """The value of an affine map with one result."""

    splits_inputs = True
    example = "%0 = affine.apply affine_map<(d0)[s0] -> (d0 + s0)>(%i)[%n]"

    def verify_op(self) -> None:
        super().verify_op()
        if len(self.map.map.results) != 1:
            raise self.error("mapping must produce one value")
        scope = affine_scope(self)
        symbols = self.mapOperands[self.map.map.dim_count :] if scope is not None else ()
        for value in symbols:
            if is_dimension(value, scope) and not is_symbol(value, scope):  # type: ignore[arg-type]
                raise plain_error(self, "dimensional operand cannot be used as a symbol")


class Min(_MapOp, name="affine.min"):
    """The smallest of an affine map's results."""

    example = "%0 = affine.min affine_map<(d0)[s0] -> (d0 + s0, 4)>(%i)[%n]"

    def choose(self, values: Sequence[int]) -> int:
        return min(values)

    def choose_each(self, values: Sequence[Any]) -> Any:
        return reduce(np.minimum, values)


class Max(_MapOp, name="affine.max"):
    """The greatest result of an affine map."""

    example = "%0 = affine.max affine_map<(d0)[s0] -> (d0 + s0, 4)>(%i)[%n]"

    def choose(self, values: Sequence[int]) -> int:
        return max(values)

    def choose_each(self, values: Sequence[Any]) -> Any:
        return reduce(np.maximum, values)


# -- a basis ------------------------------------------------------------------------------------


def _check_basis(op: Any, indices: Sequence[Value]) -> None:
    basis = op.static_basis
    if len(basis) not in (len(indices), len(indices) - 1):
        raise op.error(
            "should return an index for each basis element and up to one extra index"
            if isinstance(op, DelinearizeIndex)
            else "should be passed a basis element for each index except possibly the first"
        )
    if dynamic_count(basis) != len(op.dynamic_basis):
        raise op.error(
            "mismatch between dynamic and static basis (kDynamic marker but no corresponding "
            "dynamic basis entry) -- this can only happen due to an incorrect fold/rewrite"
        )
    if any(n <= 0 for n in basis if n != DYNAMIC_INDEX):
        raise op.error("no basis element may be statically non-positive")


def _inner_basis(op: DelinearizeIndex | LinearizeIndex) -> list[Any]:
    """The basis without the element that only bounds the first digit."""
    mixed = mix(op.static_basis, op.dynamic_basis)
    return mixed[len(mixed) + 1 - len(op.multi_index) :]


class DelinearizeIndex(Op, name="affine.delinearize_index", traits=(Pure,)):
    """The digits of an index in a mixed basis, the most significant first.

    `into (B, C)` with three results gives x / (B * C), then x / C mod B, then x mod C. If there are
    only as many results as elements of the basis, the first element only bounds the first digit.
    """

    linear_index: Operand = operand(Index)
    dynamic_basis: Operands = operands(Index)
    static_basis = attribute(INT_ARRAY)
    multi_index: Results = results(Index)

    format = (
        "$linear_index `into` custom<DynamicIndexTuple>($dynamic_basis, $static_basis) "
        "attr-dict `:` type($multi_index)"
    )
    example = "%0:3 = affine.delinearize_index %i into (%n, 4, 5) : index, index, index"

    def verify_op(self) -> None:
        _check_basis(self, self.multi_index)

    def fold(self) -> Sequence[Value | Attribute] | None:
        """The digits as constants; None unless the index and the basis are constant."""
        known = constant_int(self.linear_index)
        if known is None or self.dynamic_basis:
            return None
        return [IndexAttr(int(digit)) for digit in self._digits(known, self.static_basis)]

    def _digits(self, number: Any, basis: Sequence[Any]) -> list[Any]:
        inner = list(basis)[len(basis) + 1 - len(self.multi_index) :]
        digits = []
        for factor in reversed(inner):
            digits.append(number % factor)
            number = number // factor
        return [number, *reversed(digits)]

    def evaluate(self, linear_index: Any, *dynamic: Any) -> Any:
        return tuple(self._digits(linear_index, mix(self.static_basis, dynamic)))


def _flag(value: Any) -> Attribute:
    return UnitAttr() if value else BoolAttr(False)


# Upstream keeps this one as a truth value, which generic text shows.
_UNIT_OR_FALSE = AttrKind[bool](
    "unit attribute",
    lambda a: isinstance(a, UnitAttr) or a is BoolAttr(False),
    lambda a: isinstance(a, UnitAttr),
    _flag,
)


class LinearizeIndex(Op, name="affine.linearize_index", traits=(Pure,)):
    """The index that has the operands as digits in a mixed basis, the most significant first.

    `[z, y, x] by (B, C)` is (z * B + y) * C + x. If the basis has as many elements as there are
    operands, the first only bounds the first digit. `disjoint` promises that digits are within
    bounds.
    """

    multi_index: Operands = operands(Index)
    dynamic_basis: Operands = operands(Index)
    static_basis = attribute(INT_ARRAY)
    disjoint = attribute(_UNIT_OR_FALSE, default=False)
    linear_index: Result = result(Index)

    format = (
        "(`disjoint` $disjoint^)? ` ` `[` $multi_index `]` `by` "
        "custom<DynamicIndexTuple>($dynamic_basis, $static_basis) "
        "attr-dict `:` type($linear_index)"
    )
    example = "%0 = affine.linearize_index disjoint [%i, %j] by (%n, 4) : index"

    def verify_op(self) -> None:
        if not self.multi_index and not self.static_basis:
            return
        _check_basis(self, self.multi_index)

    def fold(self) -> Sequence[Value | Attribute] | None:
        """Fold constant digits, and digits that a `delinearize_index` in the same basis gave."""
        inner = self.multi_index[0].defined_by(DelinearizeIndex) if self.multi_index else None
        if inner is not None and list(inner.multi_index) == list(self.multi_index):
            ours, theirs = _inner_basis(self), _inner_basis(inner)
            if ours == theirs:
                return [inner.linear_index]
        known = [constant_int(v) for v in self.multi_index]
        if not known or None in known or self.dynamic_basis:
            return None
        return [IndexAttr(int(self._number(known, self.static_basis)))]

    def _number(self, digits: Sequence[Any], basis: Sequence[Any]) -> Any:
        inner = list(basis)[len(basis) + 1 - len(digits) :]
        number = digits[0]
        for digit, factor in zip(digits[1:], inner, strict=True):
            number = number * factor + digit
        return number

    def evaluate(self, *operands: Any) -> Any:
        count = len(self.multi_index)
        if not count:
            return np.int64(0)
        return self._number(operands[:count], mix(self.static_basis, operands[count:]))
