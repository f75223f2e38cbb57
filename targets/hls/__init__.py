"""HLS C++ for FPGAs, in the dialect of AMD's Vitis: `hls` is a ZU7EV, `hls-PART` another part."""

from __future__ import annotations

from ..fpga import FpgaMachine
from .devices import ALVEO_U50, ZU7EV, ZYNQ_7020
from .target import HlsTarget


def host() -> None:
    """No machine is an FPGA alone."""


def _target(name: str, summary: str, machine: FpgaMachine) -> HlsTarget:
    return HlsTarget(name=name, summary=summary, family="hls", machine=machine, pointer_bits=32)


TARGETS = (
    _target("hls", "HLS C++ for FPGAs: Zynq UltraScale+ ZU7EV", ZU7EV),
    _target("hls-u50", "HLS C++ for the Alveo U50", ALVEO_U50),
    _target("hls-zynq7020", "HLS C++ for the Zynq 7Z020: PYNQ-Z2", ZYNQ_7020),
)
