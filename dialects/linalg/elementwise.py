"""linalg.elementwise: a function given by its kind, over maps that may be given."""

from __future__ import annotations

from ...ir.builder import Builder
from ..vocabulary import *
from .attributes import ElementwiseKind
from .generic import maps_attribute
from .named import NamedOp
from .scalars import apply, arity
from .structured import SegmentedOp


class Elementwise(NamedOp, SegmentedOp, name="linalg.elementwise"):
    """The function `kind` of elements at the same index, or where `indexing_maps` says."""

    kind = attribute(instance(ElementwiseKind))
    indexing_maps = attribute(ARRAY, optional=True)

    format = (
        "`kind` `` `=` `` qualified($kind) custom<ImpliedBody>($body_region) attr-dict "
        "(`ins` `(` $inputs^ `:` type($inputs) `)`)? "
        "`outs` `(` $outputs `:` type($outputs) `)` custom<ArrowTypesOrOne>(type($result_tensors))"
    )
    example = """
        linalg.elementwise kind=#linalg.elementwise_kind<add> ins(%x, %y : memref<4x8xf32>, memref<4x8xf32>) outs(%z : memref<4x8xf32>)
    """  # noqa: E501

    def check_operand_count(self, found: int) -> None:
        wanted = arity(self.kind) + 1
        if found != wanted:
            raise self.region_error(wanted, found)

    def complete(self) -> None:
        super().complete()
        if self.indexing_maps is None:
            self.indexing_maps = self.implied_maps()

    def implied_maps(self) -> ArrayAttr:
        """The maps that the text leaves out: the identity for every operand."""
        return maps_attribute([AffineMap.identity(self._rank)] * len(self.operands))

    @property
    def _rank(self) -> int:
        return getattr(self.outputs[0].type, "rank", 0) if self.outputs else 0

    @property
    def maps(self) -> list[AffineMap]:
        given = self.given_maps()
        return [AffineMap.identity(self._rank)] * len(self.operands) if given is None else given

    @property
    def iterators(self) -> list[str]:
        return ["parallel"] * self._rank

    def build_body(self, builder: Builder, *elements: Value) -> Value:
        return apply(builder, self.kind, *elements[:-1])
