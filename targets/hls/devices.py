"""AMD's FPGA parts, by its product tables.

Sources: DS891 (Zynq UltraScale+: ZU7EV), DS965 (Alveo U50), DS190 (Zynq-7000: 7Z020). The clocks
are those that pipelined designs usually reach there, below what the tables allow.
"""

from __future__ import annotations

from ..fpga import FpgaMachine

ZU7EV = FpgaMachine(gigahertz=0.25, dsps=1728, bram_blocks=312, uram_blocks=96)
ALVEO_U50 = FpgaMachine(gigahertz=0.3, dsps=5952, bram_blocks=1344, uram_blocks=640)
ZYNQ_7020 = FpgaMachine(gigahertz=0.1, dsps=220, bram_blocks=140, uram_blocks=0)
