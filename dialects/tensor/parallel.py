"""Putting parts into tensors in the iterations of a parallel loop."""

from __future__ import annotations

from ..vocabulary import *
from .slices import Inserting, verify_part


class ParallelInsertSlice(
    Inserting,
    name="tensor.parallel_insert_slice",
    traits=(HasParent("scf.forall.in_parallel"),),
):
    """The part of a shared tensor that an iteration of scf.forall writes.

    In the interpreter it gives the destination with the part replaced, which scf.forall keeps.
    Source: upstream tensor.parallel_insert_slice.
    """

    example = """
        %0 = scf.forall (%i) in (4) shared_outs(%o = %t) -> (tensor<4xf32>) {
          scf.forall.in_parallel {
            tensor.parallel_insert_slice %s into %o[%i] [1] [1] : tensor<1xf32> into tensor<4xf32>
          }
        }
    """

    def verify_op(self) -> None:
        verify_part(self, self.dest.type, self.source.type)
        loop = self.parent_op.parent_op if self.parent_op is not None else None
        if loop is None:
            return
        dest = self.dest
        if not (isinstance(dest, BlockArgument) and dest.owner is loop.body_block):
            raise self.error("may only insert into an output block argument")
