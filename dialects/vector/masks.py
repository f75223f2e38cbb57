"""Masks, and operations under one."""

from __future__ import annotations

from ..vocabulary import *
from .dimensions import dimensions
from .memory import MaskVector

IndexVectorResult = Constraint(
    "vector of index values of ranks 1",
    lambda t: isinstance(t, VectorType) and isinstance(t.element_type, IndexType) and t.rank == 1,
)


class Step(Op, name="vector.step", traits=(Pure,)):
    """0, 1, 2, .. as a vector."""

    result: Result = result(IndexVectorResult)

    format = "attr-dict `:` type($result)"
    example = "%v = vector.step : vector<4xindex>"

    def evaluate(self) -> Any:
        return np.arange(self.result.type.shape[0], dtype=np.int64)


class CreateMask(Op, name="vector.create_mask", traits=(Pure,)):
    """True where every coordinate is below its bound."""

    sizes: Operands = operands(Index)
    result: Result = result(MaskVector)

    format = "$sizes attr-dict `:` type($result)"
    example = "%m = vector.create_mask %n, %k : vector<4x8xi1>"

    def verify_op(self) -> None:
        rank = self.result.type.rank
        if rank == 0 and len(self.sizes) != 1:
            raise self.error("must specify exactly one operand for 0-D create_mask")
        if rank and len(self.sizes) != rank:
            raise self.error("must specify an operand for each result vector dimension")

    def evaluate(self, *sizes: Any) -> Any:
        shape = self.result.type.shape
        mask = np.ones(shape, np.bool_)
        if not shape:
            return np.bool_(int(sizes[0]) > 0)
        for grid, bound in zip(np.indices(shape, sparse=True), sizes, strict=True):
            mask &= grid < int(bound)
        return mask


class ConstantMask(Op, name="vector.constant_mask", traits=(Pure,)):
    """True where every coordinate is below its constant bound."""

    mask_dim_sizes = attribute(INT_ARRAY)
    result: Result = result(MaskVector)

    format = "$mask_dim_sizes attr-dict `:` type($result)"
    example = "%m = vector.constant_mask [3, 4] : vector<4x8xi1>"

    def verify_op(self) -> None:
        type = self.result.type
        shape, sizes = type.shape, self.mask_dim_sizes
        if not shape:
            if len(sizes) != 1:
                raise self.error("array attr must have length 1 for 0-D vectors")
            if sizes[0] not in (0, 1):
                raise self.error("mask dim size must be either 0 or 1 for 0-D vectors")
            return
        if len(sizes) != len(shape):
            raise self.error("must specify array attr of size equal vector result rank")
        if any(not 0 <= n <= extent for n, extent in zip(self.mask_dim_sizes, shape, strict=True)):
            raise self.error("array attr of size out of bounds of vector result dimension size")
        if 0 in sizes and any(sizes):
            raise self.error("expected all mask dim sizes to be zeros, as a result of conjunction "
                             "with zero mask dim")  # fmt: skip
        for size, (extent, scalable) in zip(sizes, dimensions(type), strict=True):
            if scalable and size not in (0, extent):
                raise self.error("only supports 'none set' or 'all set' scalable dimensions")

    def evaluate(self) -> Any:
        mask = np.zeros(self.result.type.shape, np.bool_)
        if not mask.ndim:
            return np.bool_(self.mask_dim_sizes[0])
        mask[tuple(slice(0, n) for n in self.mask_dim_sizes)] = True
        return mask


class Yield(Op, name="vector.yield", traits=(Pure, Terminator)):
    """The results of the operation in a vector.mask."""

    values: Operands = operands(AnyType)

    format = "attr-dict ($values^ `:` type($values))?"
    example = (
        "%s = vector.mask %m { vector.yield %v : vector<4xf32> } : vector<4xi1> -> vector<4xf32>"
    )


class Mask(Op, name="vector.mask", traits=(RecursiveEffects, SingleBlock)):
    """Run the operation in the region for the lanes that the mask selects only.

    The other lanes of its result are those of `passthru`, if there is one.
    """

    mask: Operand = operand(MaskVector)
    passthru: OptionalOperand = optional_operand(AnyType)
    maskRegion: RegionField = region()  # noqa: N815
    outputs: Results = results(AnyType)

    format = (
        "$mask (`,` $passthru^)? custom<MaskedRegion>($maskRegion, ref($passthru)) attr-dict "
        "`:` type($mask) (`->` type($outputs)^)?"
    )
    example = (
        "%s = vector.mask %m { vector.reduction <add>, %v : vector<4xf32> into f32 } : "
        "vector<4xi1> -> f32"
    )

    @property
    def masked(self) -> Operation | None:
        """The operation under the mask."""
        first = self.maskRegion.block.first
        return None if isinstance(first, Yield) else first

    def verify_op(self) -> None:
        if len(self.maskRegion.blocks) != 1:
            raise self.error(
                "region #0 ('maskRegion') failed to verify constraint: region with 1 blocks"
            )
        ops = self.maskRegion.block.ops
        if len(ops) > 2:
            raise self.error("expects only one operation to mask")
        if not ops or not isinstance(ops[-1], Yield):
            raise self.error("expects a terminator within the mask region")
        if len(self.outputs) != len(ops[-1].operands):
            raise self.error("expects number of results to match mask region yielded values")
        if len(ops) == 1:
            return
        for out, value in zip(self.outputs, ops[-1].operands, strict=True):
            if out.type is not value.type:
                raise self.error("expects result type to match maskable operation result type")

    def interpret(self, operands: list[Any], frame: Any) -> list[Any]:
        from .masking import run_masked

        return run_masked(self, operands, frame)
