"""The base of reshapes that group adjacent dimensions, of tensors and of buffers."""

from __future__ import annotations

from typing import ClassVar

from ..ir.attributes import I64Attr
from .vocabulary import *


def reassociation(groups: Sequence[Sequence[int]]) -> ArrayAttr:
    """`[[0], [1, 2]]` as upstream's attribute of i64 arrays."""
    return ArrayAttr(tuple(ArrayAttr(tuple(I64Attr(i) for i in group)) for group in groups))


class Reassociating(Op):
    """Base of the reshapes that split or join the dimensions of a group."""

    src: Any
    inverse: ClassVar[str]
    """The name of the inverse op."""

    @property
    def groups(self) -> list[list[int]]:
        """For each dimension of the smaller shape, those of the larger shape that form it."""
        return [[int(i) for i in group] for group in self.reassociation]  # type: ignore[attr-defined]

    def verify_contiguous(self, rank: int) -> None:
        """Check that the groups name all dimensions of the larger shape, in order."""
        groups = self.groups
        if groups and [i for group in groups for i in group] != list(range(rank)):
            raise self.error("expected reassociation indices to be contiguous")

    def fold(self) -> Sequence[Value | Attribute] | None:
        """Fold a reshape to its own type, or one that undoes another, to the source."""
        inner: Any = self.src.defining_op
        type: Any = self.result.type
        back = inner.src if inner is not None and inner.name == self.inverse else None
        if back is not None and back.type is type and type.has_static_shape:
            return [back]
        return [self.src] if self.src.type is type else None
