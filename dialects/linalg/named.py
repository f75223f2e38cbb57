"""Structured ops with a name, from which their maps, iterators and body follow.

They have a body nonetheless, so that passes see one kind of op; the custom text leaves it out.
"""

from __future__ import annotations

from typing import ClassVar

from ...ir.builder import Builder
from ..index_lists import plain_error
from ..vocabulary import *
from .attributes import TypeFn
from .generic import Yield, maps_attribute
from .scalars import apply, cast_scalar
from .structured import SegmentedOp, StructuredOp, element_of_operand

MEMOIZED_MAPS = "linalg.memoized_indexing_maps"
"""The attribute in which upstream's generic form lists the maps that follow from the op's name."""


def projection(rank: int, *dims: int) -> AffineMap:
    """The map from a space of `rank` dimensions to the given ones of them."""
    return AffineMap(rank, 0, tuple(AffineDim(d) for d in dims))


FORMAT = (
    "custom<ImpliedBody>($body_region) attr-dict (`ins` `(` $inputs^ `:` type($inputs) `)`)? "
    "`outs` `(` $outputs `:` type($outputs) `)` custom<ArrowTypesOrOne>(type($result_tensors))"
)
"""The text of ops with any number of inputs and outputs."""


class NamedOp(StructuredOp):
    """A structured op whose body is made by `build_body`."""

    body_region: RegionField = region()

    memoizes_maps: ClassVar[bool] = False
    """Whether the generic form lists the maps."""

    @classmethod
    def create(cls, *args: Any, **named: Any):
        """Make the op from its parts; if a region is empty, the op's body is put into it."""
        op = super().create(*args, **named)
        if op.regions:
            op.complete()
        return op

    def __init__(self, *args: Any, **named: Any) -> None:
        super().__init__(*args, **named)
        self.complete()

    def complete(self) -> None:
        """Make the body if the text or the constructor left it out."""
        if self.regions[0].blocks:
            return
        self.check_operand_count(len(self.operands))
        block = Block([element_of_operand(t) for t in self.operand_types])
        builder = Builder.at_end(block, self.loc)
        builder.insert(Yield([self.build_body(builder, *block.args)]))
        self.regions[0].append(block)
        if self.memoizes_maps:
            self.attributes.setdefault(MEMOIZED_MAPS, maps_attribute(self.maps))

    operand_count: ClassVar[int | None] = None
    """The number of operands that the body is made for; None if it is made for any number."""

    def check_operand_count(self, found: int) -> None:
        """Raise NncError unless the body can be made for `found` operands."""
        if self.operand_count not in (None, found):
            raise self.region_error(self.operand_count, found)

    def region_error(self, wanted: int | None, found: int) -> NncError:
        """The error of a body that needs `wanted` operands where there are `found`."""
        return NncError(
            "[parseNamedStructuredOpRegion] ods-gen generated region expects "
            f"{wanted} args, got {found}",
            self.loc,
        )

    def given_maps(self) -> list[AffineMap] | None:
        """The maps of the attribute `indexing_maps`, or None if the op has none."""
        given = self.properties.get("indexing_maps")
        if given is None:
            return None
        elements = given.elements if isinstance(given, ArrayAttr) else (given,)
        maps = [a.map for a in elements if isinstance(a, AffineMapAttr)]
        if len(maps) != len(elements):
            raise self.error(
                "attribute 'indexing_maps' failed to satisfy constraint: AffineMap array attribute"
            )
        return maps

    def build_body(self, builder: Builder, *elements: Value) -> Value:
        """Insert the computation on one element of each operand, and return the value to yield."""
        return elements[0]

    @classmethod
    def infer_result_types(cls, operand_types: Any, properties: Any, regions: Any = ()):
        """The output's type if it is a tensor."""
        return [t for t in operand_types[-1:] if isinstance(t, TensorType)]


class Pointwise(NamedOp, SegmentedOp):
    """A function of the elements at the same index; a scalar input is used at every index."""

    @property
    def maps(self) -> list[AffineMap]:
        rank = self._rank
        scalars = [AffineMap(rank, 0, ()), AffineMap.identity(rank)]
        return [scalars[bool(getattr(v.type, "rank", 0))] for v in self.operands]

    @property
    def _rank(self) -> int:
        return getattr(self.outputs[0].type, "rank", 0) if self.outputs else 0

    @property
    def iterators(self) -> list[str]:
        return ["parallel"] * self._rank


class Fill(Pointwise, name="linalg.fill"):
    """Set every element of the output to a scalar."""

    operand_count = 2
    format = FORMAT
    example = "linalg.fill ins(%x : f32) outs(%m : memref<4x8xf32>)"

    def build_body(self, builder: Builder, *elements: Value) -> Value:
        return cast_scalar(builder, elements[0], elements[1].type)


class Copy(Pointwise, name="linalg.copy"):
    """Copy every element of the input to the output."""

    cast = attribute(instance(TypeFn), optional=True)

    operand_count = 2
    format = FORMAT
    example = "linalg.copy ins(%a : memref<4x8xf32>) outs(%b : memref<4x8xf32>)"

    def build_body(self, builder: Builder, *elements: Value) -> Value:
        unsigned = self.cast == "cast_unsigned"
        return cast_scalar(builder, elements[0], elements[1].type, unsigned)


def multiply_add(builder: Builder, lhs: Value, rhs: Value, out: Value, unsigned: bool) -> Value:
    """Insert out + lhs * rhs, computed in the type of `out`, and return its value."""
    lhs, rhs = (cast_scalar(builder, v, out.type, unsigned) for v in (lhs, rhs))
    return apply(builder, "add", out, apply(builder, "mul", lhs, rhs))


class Contraction(NamedOp, SegmentedOp):
    """out += lhs * rhs, over the maps of `indexing_maps` or those that follow from the name."""

    indexing_maps = attribute(ARRAY, optional=True)
    cast = attribute(instance(TypeFn), optional=True)

    operand_count = 3
    default_maps: ClassVar[tuple[AffineMap, ...]] = ()
    default_iterators: ClassVar[tuple[str, ...]] = ()

    def complete(self) -> None:
        super().complete()
        if self.indexing_maps is None and self.default_maps:
            self.indexing_maps = maps_attribute(self.default_maps)

    def implied_maps(self) -> ArrayAttr | None:
        """The maps that follow from the name, which the text leaves out."""
        return maps_attribute(self.default_maps)

    @property
    def maps(self) -> list[AffineMap]:
        given = self.given_maps()
        return list(self.default_maps) if given is None else given

    @property
    def iterators(self) -> list[str]:
        return list(self.default_iterators)

    def build_body(self, builder: Builder, *elements: Value) -> Value:
        lhs, rhs, out = elements
        return multiply_add(builder, lhs, rhs, out, self.cast == "cast_unsigned")

    def verify_op(self) -> None:
        if not self.maps:
            raise self.error("requires attribute 'indexing_maps'")
        if len(self.maps) == len(self.operands):
            self.verify_maps()
        self.verify_structure()

    def verify_maps(self) -> None:
        """Check that each given map uses only dimensions that the implied one uses.

        So an operand may be transposed or broadcast.
        """
        for found, wanted in zip(self.maps, self.default_maps, strict=True):
            used = {e.position for e in wanted.results if isinstance(e, AffineDim)}
            if any(not isinstance(e, AffineDim) or e.position not in used for e in found.results):
                raise self.error("Unexpected dim expression in map result.")


class Matmul(Contraction, name="linalg.matmul"):
    """out[m, n] += lhs[m, k] * rhs[k, n]"""

    default_maps = (projection(3, 0, 2), projection(3, 2, 1), projection(3, 0, 1))
    default_iterators = ("parallel", "parallel", "reduction")

    format = FORMAT
    example = (
        "linalg.matmul ins(%a, %b : memref<4x8xf32>, memref<8x2xf32>) outs(%c : memref<4x2xf32>)"
    )


class BatchMatmul(Contraction, name="linalg.batch_matmul"):
    """out[b, m, n] += lhs[b, m, k] * rhs[b, k, n]"""

    default_maps = (projection(4, 0, 1, 3), projection(4, 0, 3, 2), projection(4, 0, 1, 2))
    default_iterators = ("parallel", "parallel", "parallel", "reduction")

    format = FORMAT
    example = (
        "linalg.batch_matmul ins(%a, %b : memref<3x4x8xf32>, memref<3x8x2xf32>) "
        "outs(%c : memref<3x4x2xf32>)"
    )


class BatchReduceMatmul(Contraction, name="linalg.batch_reduce_matmul"):
    """out[m, n] += lhs[b, m, k] * rhs[b, k, n]"""

    default_maps = (projection(4, 0, 1, 3), projection(4, 0, 3, 2), projection(4, 1, 2))
    default_iterators = ("reduction", "parallel", "parallel", "reduction")

    format = FORMAT
    example = (
        "linalg.batch_reduce_matmul ins(%a, %b : memref<3x4x8xf32>, memref<3x8x2xf32>) "
        "outs(%c : memref<4x2xf32>)"
    )


class Contract(Contraction, name="linalg.contract"):
    """out += lhs * rhs, over maps that each pick some dimensions.

    The dimensions that `out` does not use are summed over.
    """

    format = FORMAT
    example = """
        linalg.contract indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d2)>, affine_map<(d0, d1, d2) -> (d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1)>] ins(%a, %b : memref<4x8xf32>, memref<2x8xf32>) outs(%c : memref<4x2xf32>)
    """  # noqa: E501

    def implied_maps(self) -> ArrayAttr | None:
        """None: all maps are in the text."""
        return None

    @property
    def iterators(self) -> list[str]:
        maps = self.maps
        kept = {e.position for e in maps[-1].results if isinstance(e, AffineDim)} if maps else ()
        rank = maps[0].dim_count if maps else 0
        return ["parallel" if d in kept else "reduction" for d in range(rank)]

    def verify_maps(self) -> None:
        """Check that the maps pick dimensions, and that lhs and rhs share one that `out` does not
        have.

        No dimension may be used by lhs alone or rhs alone.
        """
        maps = self.maps
        rank = maps[0].dim_count
        uses = [[e.position for e in m.results if isinstance(e, AffineDim)] for m in maps]
        for map_, dims, type in zip(maps, uses, self.operand_types, strict=True):
            if map_.dim_count != rank:
                raise plain_error(self, "iteration spaces of provided affine_maps differ")
            if len(set(dims)) != len(map_.results) or map_.symbol_count:
                raise plain_error(self, "provided affine_map is not a projected permutation")
            if len(dims) != getattr(type, "rank", 0):
                raise plain_error(
                    self, "ranks of shaped operand and results of corresponding affine_map differ"
                )
        contracted = False
        for d in range(rank):
            inputs, outputs = sum(d in dims for dims in uses[:-1]), int(d in uses[-1])
            if not inputs and not outputs:
                raise plain_error(
                    self, f"iteration space dim at index {d} not used to access any operand"
                )
            if inputs == 1 and not outputs:
                raise plain_error(
                    self,
                    f"iteration space dim at index {d} is neither a contracting dim nor of "
                    "parallel iteration type",
                )
            contracted |= inputs == 2 and not outputs
        if not contracted:
            raise plain_error(self, "'indexing_maps' do not specify a contracting dimension")
