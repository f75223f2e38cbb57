"""Arithmetic of whole vectors: products and reductions. Elementwise work is arith's and math's."""

from __future__ import annotations

from ..arith.attributes import FASTMATH
from ..vocabulary import *
from .attributes import CombiningKind, IteratorType, combine, reduce_along, supports
from .dimensions import dimensions, vector_of, vector_or_element

KIND = instance(CombiningKind)
FloatVector = Constraint(
    "vector of floating-point values",
    lambda t: isinstance(t, VectorType) and isinstance(t.element_type, FloatType),
)


class Fma(Op, name="vector.fma", traits=(Pure,)):
    """lhs * rhs + acc, rounded once."""

    lhs: Operand = operand(FloatVector)
    rhs: Operand = operand(Same("lhs"))
    acc: Operand = operand(Same("lhs"))
    result: Result = result(Same("lhs"))

    format = "$lhs `,` $rhs `,` $acc attr-dict `:` type($lhs)"
    example = "%d = vector.fma %a, %b, %c : vector<8x16xf32>"

    def evaluate(self, lhs: Any, rhs: Any, acc: Any) -> Any:
        """In double precision, so that f32 and narrower are rounded once (but for ties)."""
        wide = np.longdouble if lhs.dtype.itemsize == 8 else np.float64
        with np.errstate(all="ignore"):
            return (lhs.astype(wide) * rhs.astype(wide) + acc.astype(wide)).astype(lhs.dtype)


class Reduction(Op, name="vector.reduction", traits=(Pure,)):
    """All elements of a vector combined into one scalar by `kind`: their sum for `add`.

    If there is an `acc`, it is combined with the result: `acc + v[0] + v[1] + ..`.
    """

    kind = attribute(KIND)
    vector: Operand = operand(AnyVector)
    acc: OptionalOperand = optional_operand(element_of("vector"))
    fastmath = attribute(FASTMATH, default="none")
    dest: Result = result(element_of("vector"))

    format = (
        "$kind `,` $vector (`,` $acc^)? (`fastmath` `` $fastmath^)? attr-dict `:` type($vector) "
        "`into` type($dest)"
    )
    example = "%s = vector.reduction <add>, %v fastmath<reassoc> : vector<16xf32> into f32"

    def verify_op(self) -> None:
        type = self.vector.type
        if type.rank > 1:
            raise self.error(f"unsupported reduction rank: {type.rank}")
        if not supports(self.kind, type.element_type):
            raise self.error(
                f"unsupported reduction type ''{type.element_type}'' for kind '{self.kind}'"
            )

    def evaluate(self, vector: Any, acc: Any = None) -> Any:
        total = reduce_along(self.kind, vector.reshape(-1), 0)
        return total[()] if acc is None else combine(self.kind, acc, total)[()]


class MultiReduction(Op, name="vector.multi_reduction", traits=(Pure,)):
    """A vector with the dimensions `reduction_dims` reduced by `kind`, then combined with `acc`.

    `acc` and the result have the shape of the dimensions that are left; a scalar where none is.
    """

    kind = attribute(KIND)
    source: Operand = operand(AnyVector)
    acc: Operand = operand(AnyType)
    reduction_dims = attribute(INT_ARRAY)
    dest: Result = result(Same("acc"))

    format = (
        "$kind `,` $source `,` $acc attr-dict $reduction_dims `:` type($source) `to` type($dest)"
    )
    example = "%r = vector.multi_reduction <add>, %v, %acc [1] : vector<4x8xf32> to vector<4xf32>"

    def verify_op(self) -> None:
        type = self.source.type
        if any(not 0 <= d < type.rank for d in self.reduction_dims):
            raise self.error("reduction dimension out of bounds")
        kept = [n for d, n in enumerate(dimensions(type)) if d not in self.reduction_dims]
        expected = vector_or_element(kept, type.element_type)
        if self.dest.type is not expected:
            raise self.error(
                f"destination type '{self.dest.type}' is incompatible with source type '{type}'"
            )
        if not supports(self.kind, type.element_type):
            raise self.error(
                f"unsupported reduction type ''{type.element_type}'' for kind '{self.kind}'"
            )

    def evaluate(self, source: Any, acc: Any) -> Any:
        total = source
        for d in sorted(self.reduction_dims, reverse=True):
            total = reduce_along(self.kind, total, d)
        return combine(self.kind, acc, total)[()]


class Contract(Op, name="vector.contract", traits=(Pure,)):
    """A generalized matrix product: products of `lhs` and `rhs`, reduced by `kind`, and `acc`.

    The three `indexing_maps` say which iterators index `lhs`, `rhs` and `acc`. The products are
    reduced along the iterators of type `reduction`. With the maps of the example, it is
    `acc[i, j] + sum over k of lhs[i, k] * rhs[k, j]`.
    """

    lhs: Operand = operand(AnyVector)
    rhs: Operand = operand(AnyVector)
    acc: Operand = operand(AnyType)
    indexing_maps = attribute(ARRAY)
    iterator_types = attribute(ARRAY)
    kind = attribute(KIND, default="add")
    result: Result = result(Same("acc"))

    format = (
        "custom<ContractAttributes>($indexing_maps, $iterator_types, $kind) "
        "$lhs `,` $rhs `,` $acc attr-dict `:` custom<ContractTypes>(type($lhs), type($rhs)) "
        "`into` type($acc)"
    )
    example = (
        "%c = vector.contract {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d2)>, "
        "affine_map<(d0, d1, d2) -> (d2, d1)>, affine_map<(d0, d1, d2) -> (d0, d1)>], "
        'iterator_types = ["parallel", "parallel", "reduction"], kind = #vector.kind<add>} '
        "%a, %b, %acc : vector<4x8xf32>, vector<8x4xf32> into vector<4x4xf32>"
    )

    @staticmethod
    def of(
        lhs: Value,
        rhs: Value,
        acc: Value,
        maps: Sequence[AffineMap],
        iterators: Sequence[str],
        kind: str = "add",
    ) -> Contract:
        return Contract(
            lhs,
            rhs,
            acc,
            ArrayAttr(tuple(map(AffineMapAttr, maps))),
            ArrayAttr(tuple(map(IteratorType, iterators))),
            kind,
        )

    @property
    def maps(self) -> list[AffineMap]:
        return [a.map for a in self.indexing_maps]

    @property
    def iterators(self) -> list[str]:
        return [a.value for a in self.iterator_types]

    def extents(self) -> list[int]:
        """The size of each iterator."""
        sizes = [0] * len(self.iterators)
        for map, value in zip(self.maps, (self.lhs, self.rhs), strict=False):
            for e, n in zip(map.results, value.type.shape, strict=True):
                sizes[e.position] = n  # type: ignore[attr-defined]
        return sizes

    def verify_op(self) -> None:
        if not all(isinstance(a, AffineMapAttr) for a in self.indexing_maps):
            raise self.error("'indexing_maps' must be an array of affine maps")
        maps = self.maps
        if len(maps) != 3:
            raise self.error("expected an indexing map for each vector operand")
        for i, (map, value) in enumerate(zip(maps, self.operands, strict=True)):
            if map.symbol_count:
                raise self.error(f"expected indexing map {i} to have no symbols")
            if map.dim_count != len(self.iterators):
                raise self.error(
                    f"expected indexing map {i} to have {len(self.iterators)} number of inputs"
                )
            shape = getattr(value.type, "shape", ())
            if len(map.results) != len(shape):
                raise self.error(
                    f"expected indexing map {i} to have {len(shape)} number of outputs"
                )
            if not map.is_projected_permutation():
                raise self.error(
                    f"expected indexing map {i} to be a projected permutation of its inputs"
                )
        sizes = self.extents()
        shape = tuple(getattr(self.acc.type, "shape", ()))
        for map, type in ((maps[0], self.lhs.type), (maps[1], self.rhs.type)):
            positions = [e.position for e in map.results]  # type: ignore[attr-defined]
            if any(sizes[p] != n for p, n in zip(positions, type.shape, strict=True)):
                raise self.error("invalid contracting dimension map")
        wanted = tuple(sizes[e.position] for e in maps[2].results)  # type: ignore[attr-defined]
        if shape != wanted:
            element = self.lhs.type.element_type
            expected = VectorType(wanted, element) if wanted else element
            raise self.error(f"invalid accumulator/result vector shape, expected: '{expected}'")

    def evaluate(self, lhs: Any, rhs: Any, acc: Any) -> Any:
        dtype, maps = np.asarray(acc).dtype, self.maps
        factors = (self._spread(v.astype(dtype), m) for v, m in zip((lhs, rhs), maps, strict=False))
        points = combine("mul", *factors)
        for d in reversed([i for i, k in enumerate(self.iterators) if k == "reduction"]):
            points = reduce_along(self.kind, points, d)
        left = [i for i, k in enumerate(self.iterators) if k == "parallel"]
        order = [left.index(e.position) for e in maps[2].results]  # type: ignore[attr-defined]
        return combine(self.kind, acc, points.transpose(order))[()]

    def _spread(self, value: Any, map: AffineMap) -> Any:
        """An operand with a dimension for each iterator, of size 1 where it does not have it."""
        positions = [e.position for e in map.results]  # type: ignore[attr-defined]
        sizes = [n if i in positions else 1 for i, n in enumerate(self.extents())]
        return value.transpose(np.argsort(positions)).reshape(sizes)


class OuterProduct(Op, name="vector.outerproduct", traits=(Pure,)):
    """The products of all pairs of elements of two vectors: lhs[i] * rhs[j] at [i, j].

    Where `rhs` is a scalar, the result is the vector lhs[i] * rhs. An `acc` is combined with the
    products by `kind`.
    """

    lhs: Operand = operand(AnyVector)
    rhs: Operand = operand(AnyType)
    acc: OptionalOperand = optional_operand(AnyVector)
    kind = attribute(KIND, default="add")
    result: Result = result(AnyVector)

    format = (
        "$lhs `,` $rhs (`,` $acc^)? custom<OuterProductKind>($kind, $acc, attr-dict) "
        "`:` custom<OuterProductTypes>(type($lhs), type($rhs), type($acc))"
    )
    example = (
        "%p = vector.outerproduct %a, %b, %c {kind = #vector.kind<add>} : "
        "vector<4xf32>, vector<8xf32>"
    )

    @classmethod
    def infer_result_types(cls, operand_types: Any, properties: Any, regions: Any = ()):
        """A matrix [i, j] of two vectors' products; a vector [i] if the second is a scalar."""
        lhs, rhs = operand_types[:2]
        return [vector_of([*dimensions(lhs), *dimensions(rhs)], lhs.element_type)]

    def verify_op(self) -> None:
        lhs, rhs = self.lhs.type, self.rhs.type
        if lhs.rank != 1:
            raise self.error("expected 1-d vector for operand #1")
        if isinstance(rhs, VectorType) and rhs.rank != 1:
            raise self.error("expected 1-d vector for operand #2")
        expected = self.infer_result_types([lhs, rhs], {})[0]
        if self.result.type is not expected:
            raise self.error(f"expected result of type {expected}, found {self.result.type}")
        if self.acc is not None and self.acc.type is not expected:
            raise self.error("expected operand #3 of same type as result type")
        if not supports(self.kind, lhs.element_type):
            raise self.error("unsupported outerproduct type")

    def evaluate(self, lhs: Any, rhs: Any, acc: Any = None) -> Any:
        product = np.multiply.outer(lhs, rhs).astype(lhs.dtype)
        return product if acc is None else combine(self.kind, acc, product)


class Scan(Op, name="vector.scan", traits=(Pure,)):
    """Running combinations of the elements along a dimension, and the last of them.

    With `inclusive`, element i of `dest` combines elements 0 to i of the source; otherwise
    `initial_value` and elements 0 to i - 1.
    """

    kind = attribute(KIND)
    source: Operand = operand(AnyVector)
    initial_value: Operand = operand(AnyVector)
    reduction_dim = attribute(I64)
    inclusive = attribute(BOOL)
    dest: Result = result(Same("source"))
    accumulated_value: Result = result(Same("initial_value"))

    format = (
        "$kind `,` $source `,` $initial_value attr-dict `:` type($source) `,` type($initial_value)"
    )
    example = (
        "%d, %last = vector.scan <add>, %v, %start {inclusive = true, reduction_dim = 1 : i64} : "
        "vector<4x8xf32>, vector<4xf32>"
    )

    def result_names(self) -> list[str | None]:
        """Upstream's names for the results."""
        return ["dest", "accumulated_value"]

    def verify_op(self) -> None:
        source, start = self.source.type, self.initial_value.type
        if not 0 <= self.reduction_dim < source.rank:
            raise self.error(
                f"reduction dimension {self.reduction_dim} has to be less than {source.rank}"
            )
        kept = tuple(n for d, n in enumerate(source.shape) if d != self.reduction_dim)
        if start.shape != kept:
            raise self.error("incompatible input/initial value shapes")

    def evaluate(self, source: Any, initial_value: Any) -> Any:
        axis, running, steps = self.reduction_dim, initial_value, []
        for i in range(source.shape[axis]):
            item = source.take(i, axis=axis)
            if self.inclusive:
                running = combine(self.kind, running, item) if i else item
                steps.append(running)
            else:
                steps.append(running)
                running = combine(self.kind, running, source.take(i, axis=axis))
        result = np.stack(steps, axis=axis)
        return result, steps[-1]
