"""The base class of structured ops: operands with indexing maps, and their verification."""

from __future__ import annotations

from ...ir.types import Dim
from ..vocabulary import *

AnyShaped = Constraint(
    "shaped of any type values", lambda t: isinstance(t, MemRefType | TensorType)
)


def element_of_operand(type: Type) -> Any:
    """The type of the body's argument for an operand: the element type if it is shaped."""
    return type.element_type if isinstance(type, MemRefType | TensorType) else type


class StructuredOp(Op, traits=(WritesMemory, SingleBlock)):
    """A loop nest over an iteration space; its region is the body, which runs at every point.

    A subclass defines `inputs`, `outputs`, `maps` (one for each operand, inputs first) and
    `iterators`.
    """

    inputs: Any
    outputs: Any

    @property
    def maps(self) -> list[AffineMap]:
        """For each operand, the map from a point of the iteration space to the
        element used there.
        """
        raise NotImplementedError

    @property
    def iterators(self) -> list[str]:
        """`parallel` or `reduction` for each dimension of the iteration space."""
        raise NotImplementedError

    @property
    def ranges(self) -> list[Dim]:
        """The extent of each dimension of the iteration space; None if it is not known."""
        return static_ranges(self.maps, self.operand_types, len(self.iterators))

    output_name = "out"
    """The name of an output's element in printed bodies."""

    def block_argument_names(self, region: Region) -> list[str | None]:
        """Upstream's names for the elements."""
        return [*(["in"] * len(self.inputs)), *([self.output_name] * len(self.outputs))]

    def verify_op(self) -> None:
        self.verify_structure()

    def verify_structure(self) -> None:
        """Check that maps, ranges and the block's arguments agree with the operands."""
        if not self.outputs:
            raise self.error("expected at least one output operand")
        maps, rank = self.maps, len(self.iterators)
        if len(maps) != len(self.operands):
            raise self.error(
                f"expected the number of indexing_map ({len(maps)}) to be equal to the "
                f"number of input/output operands ({len(self.operands)})"
            )
        for i, (map, type) in enumerate(zip(maps, self.operand_types, strict=True)):
            if map.symbol_count:
                raise self.error(f"unexpected symbols in indexing_map #{i}")
            operand_rank = type.rank if isinstance(type, MemRefType | TensorType) else 0
            if len(map.results) != operand_rank:
                raise self.error(
                    f"expected operand #{i} rank ({operand_rank}) to match the result rank of "
                    f"indexing_map ({len(map.results)})"
                )
            if map.dim_count != rank:
                raise self.error(
                    f"expected indexing_map #{i} to have {rank} dim(s) to match the number of loops"
                )
        bare = {e.position for m in maps for e in m.results if isinstance(e, AffineDim)}
        if len(bare) != rank:
            concatenated = AffineMap(rank, 0, tuple(e for m in maps for e in m.results))
            raise self.error(f"invalid indexing maps are non-invertible: ({concatenated})")
        self._verify_ranges()
        self._verify_block()
        self._verify_results()

    def _verify_results(self) -> None:
        tensors = [v.type for v in self.outputs if isinstance(v.type, TensorType)]
        if len(tensors) != len(self.results):
            raise self.error(
                f"expected the number of tensor results ({len(self.results)}) to be equal "
                f"to the number of output tensors ({len(tensors)})"
            )
        for i, (out, found) in enumerate(zip(tensors, self.result_types, strict=True)):
            if out is not found:
                raise self.error(
                    f"expected type of operand #{len(self.inputs) + i} ('{out}') to match type "
                    f"of corresponding result ('{found}')"
                )

    def _verify_ranges(self) -> None:
        """Check that no operand is accessed outside of its shape, as far as shapes are known."""
        ranges = self.ranges
        for i, (map, type) in enumerate(zip(self.maps, self.operand_types, strict=True)):
            for d, expr in enumerate(map.results):
                extent, used = type.shape[d], expr.dims_used()
                linear = expr.linear(map.dim_count)
                if extent is None or linear is None or any(not ranges[j] for j in used):
                    continue
                low, top = _bounds(linear, ranges)
                if low < 0:
                    raise self.error(f"unexpected result less than 0 at expression #{d} in {map}")
                exact = isinstance(expr, AffineDim)
                if top + 1 > extent or (exact and top + 1 != extent):
                    be = "to be" if exact else "to be greater than or equal to"
                    raise self.error(
                        f"inferred input/output operand #{i} has shape's dimension #{d} {be} "
                        f"{top + 1}, but found {extent}"
                    )

    def _verify_block(self) -> None:
        if not self.regions or not self.regions[0].blocks:
            raise self.error("expects to have 1 region with 1 block")
        block = self.regions[0].blocks[0]
        if len(block.args) != len(self.operands):
            raise self.error(
                "expected as many non-induction variable region arguments as the number of "
                "input/output operands"
            )
        for i, (arg, type) in enumerate(zip(block.args, self.operand_types, strict=True)):
            if arg.type is not element_of_operand(type):
                raise self.error(
                    f"expected type of bb argument #{i} ('{arg.type}') to match element or self "
                    f"type of the corresponding operand ('{element_of_operand(type)}')"
                )

    def interpret(self, operands: list[Any], frame: Any) -> list[Any]:
        from .interpretation import run

        return run(self, operands, frame)


class SegmentedOp(StructuredOp):
    """A structured op with any number of inputs and outputs; a property holds the two numbers."""

    inputs: Operands = operands(AnyType)
    outputs: Operands = operands(AnyShaped)
    result_tensors: Results = results(AnyType)


def _bounds(linear: tuple[list[int], int], ranges: Sequence[Dim]) -> tuple[int, int]:
    """The least and greatest value of a linear expression over the iteration space."""
    low = top = linear[1]
    for factor, extent in zip(linear[0], ranges, strict=True):
        if factor:
            reach = factor * (extent - 1)  # type: ignore[operator]
            low, top = low + min(0, reach), top + max(0, reach)
    return low, top


def static_ranges(maps: Sequence[AffineMap], types: Sequence[Type], rank: int) -> list[Dim]:
    """The extents of the iteration space, from the operands that a bare dimension indexes."""
    ranges: list[Dim] = [None] * rank
    for map, type in zip(maps, types, strict=True):
        for expr, extent in zip(map.results, getattr(type, "shape", ()), strict=False):
            if isinstance(expr, AffineDim) and extent is not None and ranges[expr.position] is None:
                ranges[expr.position] = extent
    return ranges
