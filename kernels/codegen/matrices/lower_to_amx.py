"""--lower-to-amx: sums of products of bytes and halves are computed in tile registers."""

from __future__ import annotations

from dataclasses import dataclass

from ....dialects import func, scf
from ....ir.core import Operation
from ....ir.passes import Pass, PassContext, option
from ....targets.processor import processor_of
from .sums import Sums
from .writer import rewrite


@dataclass(frozen=True)
class LowerToAmx(
    Pass,
    name="lower-to-amx",
    anchor="builtin.module",
    statistics={"sums": "Number of sums that are computed in tile registers"},
):
    """Compute sums of products of bytes and bf16 in tile registers, where processors have these.

        %s = scf.for %k = 0 to 192 step 1 (%acc = zeros) {         vectors of 32x2x16 sums
          %a = vector.transfer_read %x[%i, %k]                     32 words, one of each row
          %b = vector.transfer_read %w[%j, %k, 0]                  2x16 words
          %acc + packed.dot "u8s8" %a, %b
        }
        ->
        %t:4 = scf.for %k = 0 to 192 step 16 (%acc:4 = zeros) {    four tiles of 16x16 sums
          %b0 = amx.tile_load %w[%j, %k, 0]                        16 steps of 16 words
          %a0 = amx.tile_load %x[%i, %k]                           16 rows of 16 steps
          amx.tile_muli %a0, %b0, %acc#0                           and so on for the others
        }

    Words of two bf16, `packed.dotf`, become `amx.tile_mulf`. The loop may be in others that carry
    its sums. What the last whole tile leaves is a step of its own. Sums that are stored as they are
    leave the tiles for where they are wanted; others are read again as vectors, from a buffer on
    the stack.

    The rows and vectors of the sums are the schedule's. A loop stays as it is where they need more
    tile registers than there are, where rows are fewer than pays (`TileRegisters`), or where words
    do not lie side by side.
    """

    numerics = "rounding"

    target: str = option("", help="a target's name (default: the module's)", alias="machine")

    def run(self, op: Operation, context: PassContext) -> None:
        """Rewrite the loops of all functions."""
        tiles = processor_of(op, self.target).tiles
        if not tiles.tile_registers:
            return
        for function in func.functions_by_name(op).values():
            for loop in [one for one in function.walk() if isinstance(one, scf.For)]:
                if (found := Sums.of(loop, tiles)) is not None:
                    rewrite(found)
                    context.statistic("sums")
