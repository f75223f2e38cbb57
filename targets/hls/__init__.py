"""HLS C++ for FPGAs, in the dialect of AMD's Vitis: `hls` is a ZU7EV, `hls-PART` another part.

A suffix `-ap` gives arrays of integers exactly the bits that they need; `-fixedN` also replaces
floats with fixed-point numbers of N bits.
"""

from __future__ import annotations

from dataclasses import replace

from ..fpga import FpgaMachine
from .devices import ALVEO_U50, ZU7EV, ZYNQ_7020
from .target import HlsTarget

_BITS = (8, 10, 12, 14, 16, 18, 20, 24, 27, 32)


def host() -> None:
    """None: this machine counts as its processor, never as an FPGA."""


def _target(name: str, summary: str, machine: FpgaMachine) -> HlsTarget:
    plain = HlsTarget(name=name, summary=summary, family="hls", machine=machine, pointer_bits=32)
    exact = replace(
        plain, name=f"{name}-ap", summary=f"{summary}; ap_int of just as many bits", exact=True
    )
    fixed = (
        replace(
            exact,
            name=f"{name}-fixed{bits}",
            summary=f"{summary}; ap_fixed of {bits} bits",
            fixed=bits,
            machine=replace(machine, float_dsps=-(-bits // 27) * -(-bits // 18), sum_cycles=1),
        )
        for bits in _BITS
    )
    return replace(plain, variants=(exact, *fixed))


TARGETS = (
    _target("hls", "HLS C++ for FPGAs: Zynq UltraScale+ ZU7EV", ZU7EV),
    _target("hls-u50", "HLS C++ for the Alveo U50", ALVEO_U50),
    _target("hls-zynq7020", "HLS C++ for the Zynq 7Z020: PYNQ-Z2", ZYNQ_7020),
)
